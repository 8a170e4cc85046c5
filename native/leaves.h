// Which leaf every row reaches in every tree, and the model's own prediction: the router without a game.
#pragma once

#include <cstdint>

#include "forest.h"
#include "parallel.h"
#include "rows.h"

namespace leafgrad {

// out: rows x trees; the leaf's node, counted from its tree's root.
void leaves(const Forest& forest, const Rows& rows, std::int32_t* out, int threads, const Poll& poll);
// out: rows x outputs, zero at first: the sum of the leaves, without the model's constant.
void predict(const Forest& forest, const Rows& rows, double* out, int threads, const Poll& poll);

}  // namespace leafgrad
