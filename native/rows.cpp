#include "rows.h"

#include <algorithm>

namespace leafgrad {

BlockBuffer::BlockBuffer(const Forest& forest, std::int64_t lanes)
    : forest_(forest),
      stride_(lanes > 16  ? (lanes + 63) / 64 * 64
              : lanes > 1 ? 16
                          : 1),
      // Doubles are room enough for either width. The columns of unused features are never touched.
      columns_(static_cast<std::size_t>(forest.n_features * stride_), Aligned<double>::untouched),
      missing_(static_cast<std::size_t>(forest.n_features) * mask_words, 0) {
    for (const std::int32_t j : forest.used_features) std::fill_n(columns_.data() + j * stride_, stride_, 0.0);
}

Block BlockBuffer::fill(const Rows& rows, std::span<const std::int64_t> which) {
    // What float32 holds exactly (counts, codes, what was float32 before) is compared as float32 in half of the time: x
    // <= t says the same there of t rounded down. The first number that is no float32 ends the attempt.
    bool single = true;
    if (forest_.single) {
        fill_as<float>(rows, which);
    } else if (!fill_as<float, true>(rows, which)) {
        single = false;
        fill_as<double>(rows, which);
    }
    const int lanes = (static_cast<int>(which.size()) + 15) / 16 * 16;
    return {columns_.data(), missing_.data(), stride_, single, lanes, any_missing_};
}

Block BlockBuffer::fill_alone(const Rows& rows, std::int64_t row) {
    if (forest_.single)
        fill_as<float>(rows, {&row, 1});
    else
        fill_as<double>(rows, {&row, 1});
    return {columns_.data(), missing_.data(), stride_, forest_.single, 1, any_missing_};
}

template <class Real, bool exactly>
bool BlockBuffer::fill_as(const Rows& rows, std::span<const std::int64_t> which) {
    Real* columns = reinterpret_cast<Real*>(columns_.data());
    const auto take = [&](const auto* from) {
        std::uint64_t any_missing = 0;
        for (const std::int32_t j : forest_.used_features) {
            Real* column = columns + j * stride_;
            std::uint64_t missing[mask_words] = {};
            bool exact = true;
            for (std::size_t i = 0; i < which.size(); ++i) {
                const auto given = from[which[i] * rows.n_features + j];
                const Real x = static_cast<Real>(given);
                column[i] = x;
                if constexpr (exactly) exact &= x == given || x != x;
                missing[i / 64] |= static_cast<std::uint64_t>(x != x) << (i % 64);
            }
            if (!exact) return false;
            for (const std::uint64_t word : missing) any_missing |= word;
            std::copy_n(missing, mask_words, missing_.data() + static_cast<std::size_t>(j) * mask_words);
        }
        any_missing_ = any_missing != 0;
        return true;
    };
    return rows.single ? take(rows.single) : take(rows.full);
}

}  // namespace leafgrad
