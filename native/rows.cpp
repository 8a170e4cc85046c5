#include "rows.h"

namespace leafgrad {

BlockBuffer::BlockBuffer(const Forest& forest)
    : forest_(forest),
      // Doubles are room enough for either width.
      columns_(static_cast<std::size_t>(forest.n_features) * most_lanes),
      missing_(static_cast<std::size_t>(forest.n_features), 0) {}

Block BlockBuffer::fill(const Rows& rows, std::int64_t begin, int count, bool repeat) {
    if (forest_.single)
        fill_as<float>(rows, begin, count, repeat);
    else
        fill_as<double>(rows, begin, count, repeat);
    const int lanes = repeat ? most_lanes : (count + 15) / 16 * 16;
    return {columns_.data(), missing_.data(), forest_.single, lanes};
}

template <class Real>
void BlockBuffer::fill_as(const Rows& rows, std::int64_t begin, int count, bool repeat) {
    Real* columns = reinterpret_cast<Real*>(columns_.data());
    const auto take = [&](const auto* from) {
        for (const std::int32_t j : forest_.used_features) {
            Real* column = columns + static_cast<std::int64_t>(j) * most_lanes;
            std::uint64_t missing = 0;
            for (int i = 0; i < count; ++i) {
                const Real x = static_cast<Real>(from[(begin + i) * rows.n_features + j]);
                column[i] = x;
                missing |= static_cast<std::uint64_t>(x != x) << i;
            }
            if (repeat) {
                for (int i = 1; i < most_lanes; ++i) column[i] = column[0];
                missing = missing ? ~std::uint64_t{0} : 0;
            }
            missing_[static_cast<std::size_t>(j)] = missing;
        }
    };
    if (rows.single)
        take(rows.single);
    else
        take(rows.full);
}

}  // namespace leafgrad
