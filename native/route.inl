// The router: which rows of a block every split sends to its first child. The only place that decides a direction.
//
// Included by walk_isa.cpp. A comparison is done in the model's own width, float32 or float64, 64 rows to a word of the
// mask.

namespace leafgrad {
namespace {

template <int n, class Real>
LG_INLINE std::uint64_t first_not_above(const Real* x, Real threshold) {
    constexpr int step = sizeof(Real) == 4 ? Lanes::floats_compared : Lanes::doubles_compared;
    std::uint64_t bits = 0;
#pragma GCC unroll 16
    for (int i = 0; i < n; i += step) bits |= Lanes::not_above(x + i, threshold) << i;
    return bits;
}

template <class Real>
LG_INLINE std::uint64_t rows_not_above(const Real* x, Real threshold, int lanes) {
    return lanes > 16 ? first_not_above<64>(x, threshold) : first_not_above<16>(x, threshold);
}

// Rows whose code is in the set, or beyond it when others go left. NaN is in no set.
template <class Real>
std::uint64_t rows_in_set(const Real* x, const Test& test, const std::uint32_t* set_words, int lanes) {
    const std::uint32_t* words = set_words + test.set_begin;
    const double size = 32.0 * static_cast<double>(test.set_end - test.set_begin);
    std::uint64_t bits = 0;
    for (int i = 0; i < lanes; ++i) {
        const double code = static_cast<double>(x[i]);
        bool left = (test.flags & other_left) != 0;
        if (code > -1.0 && code < size && size > 0) {
            const auto c = static_cast<std::int64_t>(code);
            left = (words[c >> 5] >> (c & 31)) & 1;
        }
        bits |= static_cast<std::uint64_t>(left && code == code) << i;
    }
    return bits;
}

template <class Real>
void route_in(const Block& block, const Test* tests, std::int64_t n, const std::uint32_t* set_words,
              std::uint64_t* out) {
    const Real* columns = static_cast<const Real*>(block.columns);
    for (std::int64_t i = 0; i < n; ++i) {
        const Test& test = tests[i];
        for (int w = 0; w * 64 < block.lanes; ++w) {
            const Real* x = columns + static_cast<std::int64_t>(test.feature) * most_lanes + w * 64;
            const int lanes = block.lanes - w * 64 < 64 ? block.lanes - w * 64 : 64;
            std::uint64_t left = (test.flags & categorical)
                                     ? rows_in_set(x, test, set_words, lanes)
                                     : rows_not_above(x, static_cast<Real>(test.threshold), lanes);
            std::uint64_t missing = block.missing[test.feature * mask_words + w];
            if (test.flags & zero_missing) {
                constexpr auto zero = static_cast<Real>(largest_zero);
                constexpr auto next_below = static_cast<Real>(-zero - zero * (sizeof(Real) == 4 ? 0x1p-24F : 0x1p-53));
                static_assert(next_below < -zero);
                const std::uint64_t zeros = rows_not_above(x, zero, lanes) & ~rows_not_above(x, next_below, lanes);
                left &= ~zeros;
                missing |= zeros;
            }
            if (test.flags & missing_left) left |= missing;
            out[i * mask_words + w] = test.first_is_right ? ~left : left;
        }
    }
}

void route(const Block& block, const Test* tests, std::int64_t n, const std::uint32_t* set_words, std::uint64_t* out) {
    if (block.single)
        route_in<float>(block, tests, n, set_words, out);
    else
        route_in<double>(block, tests, n, set_words, out);
}

}  // namespace
}  // namespace leafgrad
