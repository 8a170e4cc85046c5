// Chooses among the instruction sets that were built, once, by what the CPU runs.
#include <atomic>
#include <cstring>
#include <string>

#include "game.h"
#include "kernels.h"

namespace leafgrad {

extern const Kernels kernels_generic;
#ifdef LEAFGRAD_X86
extern const Kernels kernels_avx2;
extern const Kernels kernels_avx512;
#endif

namespace {

struct Available {
    const Kernels* list[4] = {};
    Available() {
        int n = 0;
#ifdef LEAFGRAD_X86
        __builtin_cpu_init();
        const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                          __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
        if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
            list[n++] = &kernels_avx512;
        if (avx2) list[n++] = &kernels_avx2;
#endif
        list[n] = &kernels_generic;
    }
};

std::atomic<const Kernels*> chosen{nullptr};

}  // namespace

const Kernels* const* available_kernels() {
    static const Available available;
    return available.list;
}

const Kernels& kernels() {
    const Kernels* in_use = chosen.load(std::memory_order_relaxed);
    return in_use ? *in_use : *available_kernels()[0];
}

const Kernels& kernels_for(std::int64_t points) {
    const Kernels& in_use = kernels();
#ifdef LEAFGRAD_X86
    if (&in_use == &kernels_avx512 && points <= kernels_avx2.width) return kernels_avx2;
#endif
    return in_use;
}

void use_kernels(const char* name) {
    if (name == nullptr) {
        chosen = nullptr;
        return;
    }
    std::string known;
    for (auto k = available_kernels(); *k; ++k) {
        if (std::strcmp((*k)->name, name) == 0) {
            chosen = *k;
            return;
        }
        known += std::string(known.empty() ? "" : ", ") + (*k)->name;
    }
    throw ArgumentError("LEAFGRAD_ISA names \"" + std::string(name) + "\"; this build on this CPU has " + known);
}

}  // namespace leafgrad
