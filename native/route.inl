// The router: which rows of a block every split sends to its first child. The only place that decides a direction.
//
// Included by walk_isa.cpp. A comparison is done in the model's own width, float32 or float64, or in float32 where that
// holds the numbers exactly; 64 rows to a word of the mask.

namespace leafgrad {
namespace {

// 64 of x that are not above the threshold, or the first 16, or one.
template <class Real>
LG_INLINE std::uint64_t rows_not_above(const Real* x, Real threshold, int lanes) {
    if (lanes == 1) return x[0] <= threshold;
    return lanes > 16 ? Lanes::not_above_64(x, threshold) : Lanes::not_above_16(x, threshold);
}

// Never of -inf.
LG_INLINE float next_below(float x) {
    std::int32_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    bits = x > 0 ? bits - 1 : x < 0 ? bits + 1 : std::int32_t{-0x7fffffff};  // below 0: the first negative number
    __builtin_memcpy(&x, &bits, sizeof bits);
    return x;
}

// The largest number of this width that is not above t. What this width holds is not above the one where it is not
// above the other.
template <class Real>
LG_INLINE Real rounded_down(double t) {
    if constexpr (std::is_same_v<Real, float>) {
        const float nearest = static_cast<float>(t);
        return static_cast<double>(nearest) > t ? next_below(nearest) : nearest;
    } else {
        return t;
    }
}

// Rows whose code is in the set, or beyond it when others go left. NaN is in no set.
template <class Real>
std::uint64_t rows_in_set(const Real* x, const Test& test, const std::uint32_t* set_words, int lanes) {
    const std::uint32_t* words = set_words + test.set.begin;
    const double size = 32.0 * static_cast<double>(test.set.size);
    const double lowest = (test.flags & negative_other) ? 0.0 : -1.0 + 0x1p-53;
    std::uint64_t bits = 0;
    for (int i = 0; i < lanes; ++i) {
        const double code = static_cast<double>(x[i]);
        bool left = (test.flags & other_left) != 0;
        if (code >= lowest && code < size && size > 0) {
            const auto c = static_cast<std::int64_t>(code);
            left = (words[c >> 5] >> (c & 31)) & 1;
        }
        bits |= static_cast<std::uint64_t>(left && code == code) << i;
    }
    return bits;
}

template <class Real>
std::uint64_t rows_left(const Real* x, const Test& test, std::uint64_t missing, const std::uint32_t* set_words,
                        int lanes) {
    std::uint64_t left = (test.flags & categorical) ? rows_in_set(x, test, set_words, lanes)
                                                    : rows_not_above(x, rounded_down<Real>(test.threshold), lanes);
    if (test.flags & zero_missing) {
        constexpr auto zero = static_cast<Real>(largest_zero);
        constexpr auto next_below = static_cast<Real>(-zero - zero * (sizeof(Real) == 4 ? 0x1p-24F : 0x1p-53));
        static_assert(next_below < -zero);
        const std::uint64_t zeros = rows_not_above(x, zero, lanes) & ~rows_not_above(x, next_below, lanes);
        left &= ~zeros;
        missing |= zeros;
    }
    return (test.flags & missing_left) ? left | missing : left;
}

template <class Real, bool any_missing>
void route_in(const Block& block, const Test* tests, std::int64_t n, const std::uint32_t* set_words,
              std::uint64_t* out) {
    const Real* columns = static_cast<const Real*>(block.columns);
    const int all_lanes = block.lanes;
    for (std::int64_t i = 0; i < n; ++i, out += mask_words) {
        const Test& test = tests[i];
        const Real* x = columns + test.feature * block.stride;
        const std::uint64_t flip = -static_cast<std::uint64_t>(test.first_is_right);
        // Most tests are plain numbers, and a comparison is all there is to them. Where none is missing, it matters
        // little where missing values go.
        if (test.flags <= (any_missing ? 0 : missing_left)) {
            const auto threshold = rounded_down<Real>(test.threshold);
            for (int w = 0; w * 64 < all_lanes; ++w)
                out[w] = rows_not_above(x + w * 64, threshold, all_lanes - w * 64) ^ flip;
        } else {
            const std::uint64_t* missing = block.missing + test.feature * mask_words;
            for (int w = 0; w * 64 < all_lanes; ++w)
                out[w] = rows_left(x + w * 64, test, missing[w], set_words,
                                   all_lanes - w * 64 < 64 ? all_lanes - w * 64 : 64) ^
                         flip;
        }
    }
}

// A row alone: its features side by side, and a bit for an answer.
template <class Real, bool any_missing>
void route_alone_in(const Block& block, const Test* tests, std::int64_t n, const std::uint32_t* set_words,
                    std::uint32_t* out) {
    const Real* row = static_cast<const Real*>(block.columns);
#pragma GCC unroll 4
    for (const Test* test = tests; test != tests + n; ++test, ++out) {
        const Real* x = row + test->feature;
        std::uint64_t left;
        if (test->flags <= (any_missing ? 0 : missing_left))
            left = rows_not_above(x, static_cast<Real>(test->threshold), 1);
        else
            left = rows_left(x, *test, block.missing[std::int64_t{test->feature} * mask_words], set_words, 1);
        *out = static_cast<std::uint32_t>(left) ^ std::uint32_t{test->first_is_right} ^ 1U;
    }
}

void route(const Block& block, const Test* tests, std::int64_t n, const std::uint32_t* set_words, std::uint64_t* out) {
    if (block.any_missing)
        (block.single ? route_in<float, true> : route_in<double, true>)(block, tests, n, set_words, out);
    else
        (block.single ? route_in<float, false> : route_in<double, false>)(block, tests, n, set_words, out);
}

void route_alone(const Block& block, const Test* tests, std::int64_t n, const std::uint32_t* set_words,
                 std::uint32_t* out) {
    if (block.any_missing)
        (block.single ? route_alone_in<float, true> : route_alone_in<double, true>)(block, tests, n, set_words, out);
    else
        (block.single ? route_alone_in<float, false> : route_alone_in<double, false>)(block, tests, n, set_words, out);
}

}  // namespace
}  // namespace leafgrad
