// TreeGrad-Ranker (the paper's two algorithms, gradient ascent and ADAM), whole loops.
//
// Many rows are stepped side by side, and only those whose gradient is not known yet are walked, packed into full
// blocks: a row that has not moved knows it, and so does one that moves on a face whose corners were walked.
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

}  // namespace leafgrad
