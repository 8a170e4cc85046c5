// Weighted sums of gradients, as `attribute` gives them, of one row after another.
#pragma once

#include "attribute.h"

namespace leafgrad {

// out: rows x players x outputs, zero at first.
void attribute_alone(const Game& game, const Rows& rows, const Rules& rules, double* out, const Run& run);

}  // namespace leafgrad
