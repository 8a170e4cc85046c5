// Any probabilistic value: weights for the coalitions of the others by their size. See probabilistic.inl.
#pragma once

#include <cstdint>
#include <span>

#include "closing.h"
#include "rows.h"
#include "stage.h"

namespace leafgrad {

// Distributions over coalition sizes by U, the most players on a path: distribution U is the U numbers from
// probabilities[start[U]] on.
struct Sizes {
    std::span<const std::int64_t> start;
    std::span<const double> probabilities;
};

// out: rows x players x outputs, zero at first.
void probabilistic(const ClosedGame& closed, const Rows& rows, const Sizes& sizes, double* out, const Run& run);

}  // namespace leafgrad
