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
    if (forest_.single)
        fill_as<float>(rows, which);
    else
        fill_as<double>(rows, which);
    const int lanes = (static_cast<int>(which.size()) + 15) / 16 * 16;
    return {columns_.data(), missing_.data(), stride_, forest_.single, lanes, true};
}

Block BlockBuffer::fill_alone(const Rows& rows, std::int64_t row) {
    Block block = fill(rows, {&row, 1});
    block.lanes = 1;
    block.any_missing = std::any_of(forest_.used_features.begin(), forest_.used_features.end(), [&](std::int32_t j) {
        return missing_[static_cast<std::size_t>(j) * mask_words] != 0;
    });
    return block;
}

template <class Real>
void BlockBuffer::fill_as(const Rows& rows, std::span<const std::int64_t> which) {
    Real* columns = reinterpret_cast<Real*>(columns_.data());
    const auto take = [&](const auto* from) {
        for (const std::int32_t j : forest_.used_features) {
            Real* column = columns + j * stride_;
            std::uint64_t missing[mask_words] = {};
            for (std::size_t i = 0; i < which.size(); ++i) {
                const Real x = static_cast<Real>(from[which[i] * rows.n_features + j]);
                column[i] = x;
                missing[i / 64] |= static_cast<std::uint64_t>(x != x) << (i % 64);
            }
            std::copy_n(missing, mask_words, missing_.data() + static_cast<std::size_t>(j) * mask_words);
        }
    };
    if (rows.single)
        take(rows.single);
    else
        take(rows.full);
}

}  // namespace leafgrad
