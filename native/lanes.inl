// Lanes: the vector of doubles of one instruction set, and the mask that chooses among its lanes.
//
// Included by walk_isa.cpp alone, once per instruction set. Everything has internal linkage: an inline function with
// linkage compiled for AVX could be the copy that the linker keeps for every CPU. For the same reason nothing of the
// C++ library with a body is used here. Multiply-add is written out (`fma`): the compiler contracts nothing, so that
// a row's bits do not depend on which template it went through.
#pragma once

#include <cstdint>
#include <type_traits>

#if defined(__AVX2__) || defined(__SSE2__)
#include <immintrin.h>
#endif

namespace leafgrad {
namespace {

#define LG_INLINE [[gnu::always_inline]] static inline

// For the instruction sets without: patterns bit by bit, and a table in memory.
LG_INLINE void patterns_of_64(const std::uint64_t* words, int n, std::uint8_t* out) {
    for (int lane = 0; lane < 64; ++lane) out[lane] = 0;
    for (int i = 0; i < n; ++i)
        for (int lane = 0; lane < 64; ++lane)
            out[lane] = static_cast<std::uint8_t>(out[lane] | ((words[i * mask_words] >> lane) & 1) << i);
}

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512VL__)

struct Lanes {
    using Vec = __m512d;
    using Mask = __mmask8;
    static constexpr int width = 8;
    static constexpr Mask every = 0xff;  // of a masked instruction, where g++ 12 warns of the plain one's own header
    LG_INLINE Vec zero() { return _mm512_setzero_pd(); }
    LG_INLINE Vec all(double x) { return _mm512_set1_pd(x); }
    LG_INLINE Vec load(const double* p) { return _mm512_load_pd(p); }
    LG_INLINE void store(double* p, Vec a) { _mm512_store_pd(p, a); }
    LG_INLINE Vec add(Vec a, Vec b) { return _mm512_add_pd(a, b); }
    LG_INLINE Vec sub(Vec a, Vec b) { return _mm512_sub_pd(a, b); }
    LG_INLINE Vec mul(Vec a, Vec b) { return _mm512_mul_pd(a, b); }
    LG_INLINE Vec fma(Vec a, Vec b, Vec c) { return _mm512_fmadd_pd(a, b, c); }
    LG_INLINE Vec div(Vec a, Vec b) { return _mm512_div_pd(a, b); }
    LG_INLINE Vec sqrt(Vec a) { return _mm512_maskz_sqrt_pd(every, a); }
    LG_INLINE Vec lesser(Vec a, Vec b) { return _mm512_maskz_min_pd(every, a, b); }
    // Of the lanes that begin at `lane`, a multiple of the width: a byte of the words.
    LG_INLINE Mask mask(const std::uint64_t* words, int lane) { return reinterpret_cast<const Mask*>(words)[lane / 8]; }
    LG_INLINE Mask mask(const std::uint64_t* words, int lane, std::uint64_t flip) {
        return static_cast<Mask>(mask(words, lane) ^ flip);
    }
    LG_INLINE Mask is_zero(Vec a) { return _mm512_cmp_pd_mask(a, zero(), _CMP_EQ_OQ); }
    LG_INLINE Mask less(Vec a, Vec b) { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); }
    LG_INLINE Vec choose(Mask m, Vec yes, Vec no) { return _mm512_mask_blend_pd(m, no, yes); }
    LG_INLINE Vec keep(Mask m, Vec a) { return _mm512_maskz_mov_pd(m, a); }
    LG_INLINE Vec add_where(Mask m, Vec a, Vec b) { return _mm512_mask_add_pd(a, m, a, b); }  // m ? a + b : a
    // Per lane of 64 a pattern, whose bit i is the lane's bit of word i. Words stand `mask_words` apart.
    LG_INLINE void patterns(const std::uint64_t* words, int n, std::uint8_t* out) {
        __m512i all = _mm512_setzero_si512();
        for (int i = 0; i < n; ++i)
            all = _mm512_mask_add_epi8(all, words[i * mask_words], all, _mm512_set1_epi8(static_cast<char>(1 << i)));
        _mm512_store_si512(out, all);
    }
    // A number for each of 64 patterns.
    struct Table {
        Vec part[8];
        explicit Table(const double* values) {
            for (int i = 0; i < 8; ++i) part[i] = _mm512_loadu_pd(values + 8 * i);
        }
        [[gnu::always_inline]] Vec pick(const std::uint8_t* patterns) const {
            const __m512i index =
                _mm512_maskz_cvtepu8_epi64(every, _mm_loadl_epi64(reinterpret_cast<const __m128i*>(patterns)));
            const Mask bit4 = _mm512_test_epi64_mask(index, _mm512_set1_epi64(16));
            const Mask bit5 = _mm512_test_epi64_mask(index, _mm512_set1_epi64(32));
            Vec quarter[4];
            for (int i = 0; i < 4; ++i) quarter[i] = _mm512_permutex2var_pd(part[2 * i], index, part[2 * i + 1]);
            return choose(bit5, choose(bit4, quarter[3], quarter[2]), choose(bit4, quarter[1], quarter[0]));
        }
    };
    // Bit i: x[i] <= t.
    LG_INLINE std::uint64_t not_above_16(const float* x, float t) { return compared(x, _mm512_set1_ps(t)); }
    LG_INLINE std::uint64_t not_above_64(const float* x, float t) {
        const __m512 all = _mm512_set1_ps(t);
        const __mmask32 low = _mm512_kunpackw(compared(x + 16, all), compared(x, all));
        const __mmask32 high = _mm512_kunpackw(compared(x + 48, all), compared(x + 32, all));
        return _cvtmask64_u64(_mm512_kunpackd(high, low));
    }
    LG_INLINE std::uint64_t not_above_16(const double* x, double t) { return compared(x, _mm512_set1_pd(t)); }
    LG_INLINE std::uint64_t not_above_64(const double* x, double t) {
        const __m512d all = _mm512_set1_pd(t);
        const __mmask32 low = _mm512_kunpackw(compared(x + 16, all), compared(x, all));
        const __mmask32 high = _mm512_kunpackw(compared(x + 48, all), compared(x + 32, all));
        return _cvtmask64_u64(_mm512_kunpackd(high, low));
    }

private:
    LG_INLINE __mmask16 compared(const float* x, __m512 t) {
        return _mm512_cmp_ps_mask(_mm512_load_ps(x), t, _CMP_LE_OQ);
    }
    LG_INLINE __mmask16 compared(const double* x, __m512d t) {
        const __mmask8 low = _mm512_cmp_pd_mask(_mm512_load_pd(x), t, _CMP_LE_OQ);
        return static_cast<__mmask16>(_mm512_kunpackb(_mm512_cmp_pd_mask(_mm512_load_pd(x + 8), t, _CMP_LE_OQ), low));
    }
};

#elif defined(__AVX2__) && defined(__FMA__)

// Bit i of the index is lane i.
alignas(32) constexpr std::int64_t nibble_masks[16][4] = {
    {0, 0, 0, 0},   {-1, 0, 0, 0},   {0, -1, 0, 0},   {-1, -1, 0, 0},  {0, 0, -1, 0},  {-1, 0, -1, 0},
    {0, -1, -1, 0}, {-1, -1, -1, 0}, {0, 0, 0, -1},   {-1, 0, 0, -1},  {0, -1, 0, -1}, {-1, -1, 0, -1},
    {0, 0, -1, -1}, {-1, 0, -1, -1}, {0, -1, -1, -1}, {-1, -1, -1, -1}};

struct Lanes {
    using Vec = __m256d;
    using Mask = __m256d;
    static constexpr int width = 4;
    LG_INLINE Vec zero() { return _mm256_setzero_pd(); }
    LG_INLINE Vec all(double x) { return _mm256_set1_pd(x); }
    LG_INLINE Vec load(const double* p) { return _mm256_load_pd(p); }
    LG_INLINE void store(double* p, Vec a) { _mm256_store_pd(p, a); }
    LG_INLINE Vec add(Vec a, Vec b) { return _mm256_add_pd(a, b); }
    LG_INLINE Vec sub(Vec a, Vec b) { return _mm256_sub_pd(a, b); }
    LG_INLINE Vec mul(Vec a, Vec b) { return _mm256_mul_pd(a, b); }
    LG_INLINE Vec fma(Vec a, Vec b, Vec c) { return _mm256_fmadd_pd(a, b, c); }
    LG_INLINE Vec div(Vec a, Vec b) { return _mm256_div_pd(a, b); }
    LG_INLINE Vec sqrt(Vec a) { return _mm256_sqrt_pd(a); }
    LG_INLINE Vec lesser(Vec a, Vec b) { return _mm256_min_pd(a, b); }
    LG_INLINE Mask mask(const std::uint64_t* words, int lane, std::uint64_t flip = 0) {
        const std::uint64_t bits = (words[lane / 64] ^ flip) >> (lane % 64);
        return _mm256_castsi256_pd(_mm256_load_si256(reinterpret_cast<const __m256i*>(nibble_masks[bits & 15])));
    }
    LG_INLINE Mask is_zero(Vec a) { return _mm256_cmp_pd(a, zero(), _CMP_EQ_OQ); }
    LG_INLINE Mask less(Vec a, Vec b) { return _mm256_cmp_pd(a, b, _CMP_LT_OQ); }
    LG_INLINE Vec choose(Mask m, Vec yes, Vec no) { return _mm256_blendv_pd(no, yes, m); }
    LG_INLINE Vec keep(Mask m, Vec a) { return _mm256_and_pd(m, a); }
    LG_INLINE Vec add_where(Mask m, Vec a, Vec b) { return _mm256_add_pd(a, _mm256_and_pd(m, b)); }
    LG_INLINE void patterns(const std::uint64_t* words, int n, std::uint8_t* out) { patterns_of_64(words, n, out); }
    struct Table {
        const double* values;
        explicit Table(const double* of) : values(of) {}
        [[gnu::always_inline]] Vec pick(const std::uint8_t* p) const {
            return _mm256_set_pd(values[p[3]], values[p[2]], values[p[1]], values[p[0]]);
        }
    };
    // Bit i: x[i] <= t.
    LG_INLINE std::uint64_t not_above_16(const float* x, float t) {
        const __m256 all = _mm256_set1_ps(t);
        return compared(x, all) | compared(x + 8, all) << 8;
    }
    LG_INLINE std::uint64_t not_above_16(const double* x, double t) {
        const __m256d all = _mm256_set1_pd(t);
        return compared(x, all) | compared(x + 4, all) << 4 | compared(x + 8, all) << 8 | compared(x + 12, all) << 12;
    }
    template <class Real>
    LG_INLINE std::uint64_t not_above_64(const Real* x, Real t) {
        return not_above_16(x, t) | not_above_16(x + 16, t) << 16 | not_above_16(x + 32, t) << 32 |
               not_above_16(x + 48, t) << 48;
    }

private:
    LG_INLINE std::uint64_t compared(const float* x, __m256 t) {
        return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps(_mm256_load_ps(x), t, _CMP_LE_OQ)));
    }
    LG_INLINE std::uint64_t compared(const double* x, __m256d t) {
        return static_cast<std::uint32_t>(_mm256_movemask_pd(_mm256_cmp_pd(_mm256_load_pd(x), t, _CMP_LE_OQ)));
    }
};

#else

// Any CPU that gcc or clang compiles for: two doubles, by the compilers' own vector types. No fused multiply-add.
struct Lanes {
    typedef double Vec __attribute__((vector_size(16)));
    typedef std::int64_t Mask __attribute__((vector_size(16)));
    static constexpr int width = 2;
    LG_INLINE Vec zero() { return Vec{0, 0}; }
    LG_INLINE Vec all(double x) { return Vec{x, x}; }
    LG_INLINE Vec load(const double* p) { return *reinterpret_cast<const Vec*>(p); }
    LG_INLINE void store(double* p, Vec a) { *reinterpret_cast<Vec*>(p) = a; }
    LG_INLINE Vec add(Vec a, Vec b) { return a + b; }
    LG_INLINE Vec sub(Vec a, Vec b) { return a - b; }
    LG_INLINE Vec mul(Vec a, Vec b) { return a * b; }
    LG_INLINE Vec fma(Vec a, Vec b, Vec c) { return a * b + c; }
    LG_INLINE Vec div(Vec a, Vec b) { return a / b; }
    LG_INLINE Vec sqrt(Vec a) { return Vec{__builtin_sqrt(a[0]), __builtin_sqrt(a[1])}; }
    LG_INLINE Vec lesser(Vec a, Vec b) { return choose(less(a, b), a, b); }
    LG_INLINE Mask mask(const std::uint64_t* words, int lane, std::uint64_t flip = 0) {
        const auto bits = static_cast<std::int64_t>((words[lane / 64] ^ flip) >> (lane % 64));
        return Mask{-(bits & 1), -((bits >> 1) & 1)};
    }
    LG_INLINE Mask is_zero(Vec a) { return (Mask)(a == zero()); }
    LG_INLINE Mask less(Vec a, Vec b) { return (Mask)(a < b); }
    LG_INLINE Vec choose(Mask m, Vec yes, Vec no) { return (Vec)((m & (Mask)yes) | (~m & (Mask)no)); }
    LG_INLINE Vec keep(Mask m, Vec a) { return (Vec)(m & (Mask)a); }
    LG_INLINE Vec add_where(Mask m, Vec a, Vec b) { return a + keep(m, b); }
    LG_INLINE void patterns(const std::uint64_t* words, int n, std::uint8_t* out) { patterns_of_64(words, n, out); }
    struct Table {
        const double* values;
        explicit Table(const double* of) : values(of) {}
        Vec pick(const std::uint8_t* p) const { return Vec{values[p[0]], values[p[1]]}; }
    };
    // Bit i: x[i] <= t.
    template <class Real>
    LG_INLINE std::uint64_t not_above_16(const Real* x, Real t) {
        std::uint64_t bits = 0;
        for (int i = 0; i < 16; ++i) bits |= static_cast<std::uint64_t>(x[i] <= t) << i;
        return bits;
    }
    template <class Real>
    LG_INLINE std::uint64_t not_above_64(const Real* x, Real t) {
        return not_above_16(x, t) | not_above_16(x + 16, t) << 16 | not_above_16(x + 32, t) << 32 |
               not_above_16(x + 48, t) << 48;
    }
};

#endif

}  // namespace
}  // namespace leafgrad
