// The Ranker's greedy rival: the player that gains most comes next.
#pragma once

#include <cstdint>

#include "game.h"
#include "rows.h"
#include "stage.h"

namespace leafgrad {

// The players in the order in which the greedy baseline takes them; order: rows x players. Games of one output.
void greedy(const Game& game, const Rows& rows, std::int32_t* order, const Run& run);

}  // namespace leafgrad
