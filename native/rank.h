// TreeGrad-Ranker (the paper's two algorithms, gradient ascent and ADAM) and its greedy rival, whole loops.
//
// All of them walk at z and 1 - z together: the gradient of the relaxed objective (F(z) - F(1 - z)) / 2. Many rows are
// stepped side by side, and only those whose z has moved are walked again, packed into full blocks.
#pragma once

#include <cstdint>

#include "game.h"
#include "rows.h"
#include "stage.h"

namespace leafgrad {

struct Optimizer {
    std::int64_t steps = 0;
    double rate = 0;
    bool adam = false;
    double beta1 = 0, beta2 = 0, eps = 0;
    bool eps_inside = true;  // m / sqrt(v + eps), as the paper prints it, or m / (sqrt(v) + eps)
};

// Games of one output. zeta, z: rows x players, zero at first; trace: rows x (steps + 1), or nullptr.
void rank(const Game& game, const Rows& rows, const Optimizer& optimizer, double* zeta, double* z, double* trace,
          const Run& run);

// The players in the order in which the greedy baseline takes them; order: rows x players.
void greedy(const Game& game, const Rows& rows, std::int32_t* order, const Run& run);

}  // namespace leafgrad
