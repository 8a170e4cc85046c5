// Gradients, and weighted sums of gradients, for whole matrices of rows; and the extension itself.
#pragma once

#include <cstdint>
#include <span>

#include "game.h"
#include "rows.h"
#include "stage.h"

namespace leafgrad {

// Quadrature rules by U, the most players on a path: rule U is nodes[start[U]] .. nodes[start[U + 1] - 1].
struct Rules {
    std::span<const std::int64_t> start;
    std::span<const double> nodes, weights;

    std::int64_t points(std::int32_t players) const;  // throws where there are none
};

// Points of the extension: row-major, `n` x players. Where one of X and z has a single row, all of the other share it.
struct Points {
    const double* z = nullptr;
    std::int64_t n = 0;
};

// Calls of so few rows work on them one by one, with other roundings: a block of them costs more than that.
inline constexpr std::int64_t rows_alone = 2;

// out: rows x players x outputs, zero at first. The sum over each rule of weight times gradient at t (1, ..., 1).
// `rows_in_all` is of the user's call, of which these rows may be a part: it says which way they go, so that a row's
// bits do not depend on how the call was cut.
void attribute(const Game& game, const Rows& rows, const Rules& rules, double* out, const Run& run,
               std::int64_t rows_in_all);
// out: max(rows, points) x players x outputs, zero at first.
void gradient(const Game& game, const Rows& rows, const Points& points, double* out, const Run& run);
// out: max(rows, points) x outputs, zero at first; the walk's part, without the root means.
void extension(const Game& game, const Rows& rows, const Points& points, double* out, const Run& run);

}  // namespace leafgrad
