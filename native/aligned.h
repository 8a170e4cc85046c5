// An array on a 64-byte boundary, zero at first unless told otherwise: what the kernels' vectors load from.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>

namespace leafgrad {

template <class T>
class Aligned {
public:
    explicit Aligned(std::size_t size) : Aligned(size, untouched) {
        std::memset(static_cast<void*>(data_), 0, size * sizeof(T) + 64);
    }
    // Of no values: pages that are never written to take no memory.
    struct Untouched {};
    static constexpr Untouched untouched{};
    Aligned(std::size_t size, Untouched)
        : data_(static_cast<T*>(::operator new(size * sizeof(T) + 64, std::align_val_t{64}))) {}
    ~Aligned() { ::operator delete(data_, std::align_val_t{64}); }
    Aligned(const Aligned&) = delete;
    Aligned& operator=(const Aligned&) = delete;
    T* data() const { return data_; }

private:
    T* data_;
};

}  // namespace leafgrad
