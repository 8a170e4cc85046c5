// Insertion and deletion: F_x where the top players of a ranking are known, and where they alone are not.
#pragma once

#include <cstdint>

#include "game.h"
#include "rows.h"
#include "stage.h"

namespace leafgrad {

// order: rows x players, a permutation a row, best first. insertion, deletion: rows x (players + 1) x outputs, zero at
// first; the walk's part, without the root means.
void curves(const Game& game, const Rows& rows, const std::int32_t* order, double* insertion, double* deletion,
            const Run& run);

}  // namespace leafgrad
