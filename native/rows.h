// The user's rows, and blocks of them laid out feature by feature for the router.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "aligned.h"
#include "forest.h"
#include "kernels.h"

namespace leafgrad {

// A row-major matrix, float32 or float64; one of the two pointers is set.
struct Rows {
    const float* single = nullptr;
    const double* full = nullptr;
    std::int64_t n = 0;
    std::int64_t n_features = 0;
};

// Room for one block; a worker keeps one and refills it.
class BlockBuffer {
public:
    BlockBuffer(const Forest& forest, std::int64_t lanes);

    // The rows of these numbers as lanes; lanes behind them hold what was there before, or 0.
    Block fill(const Rows& rows, std::span<const std::int64_t> which);
    // One row.
    Block fill_alone(const Rows& rows, std::int64_t row);

private:
    // False, and not done, where `exactly` is asked for and a number is no float32.
    template <class Real, bool exactly = false>
    bool fill_as(const Rows& rows, std::span<const std::int64_t> which);

    const Forest& forest_;
    std::int64_t stride_;
    Aligned<double> columns_;
    bool any_missing_ = false;
    std::vector<std::uint64_t> missing_;
};

}  // namespace leafgrad
