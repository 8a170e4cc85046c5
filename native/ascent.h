// Gradients of the relaxed objective (F(z) - F(1 - z)) / 2 of many rows, each at its own z.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stage.h"

namespace leafgrad {

// Where one row is asked: numbers of used players, in their order.
struct Place {
    std::int64_t row;
    const double* z;
    double* gradient;   // nullptr: the objective alone
    double* objective;  // nullptr: the gradient alone
};

// z and 1 - z in one walk. Most of the Ranker's points are corners of the cube, which are walked by masks, and all rows
// start in its centre, which is its own mirror. Which walk a place takes is its own matter, so that its bits do not
// depend on the others.
class Ascent {
public:
    // The room that a stage for this game wants, for so many walks of a row.
    static Room room_of(const Game& game, std::int64_t walks);

    Ascent(Stage& stage, const Rows& rows);

    // All places with a gradient, or none.
    void walk(std::span<const Place> places, Pulse& pulse);

private:
    enum Where : std::size_t { inside, corner, centre };
    Where where(const double* z) const;
    void walk_block(std::span<const Place> places, Where where, Pulse& pulse);
    void walk_gradient(Where where, Pulse& pulse);
    void walk_objective(Where where, Pulse& pulse);
    void take(std::span<const Place> places);
    void load_points(std::span<const Place> places);
    void load_corners(std::span<const Place> places);

    Stage& stage_;
    const Rows& rows_;
    std::size_t players_;
    std::vector<std::int64_t> taken_;   // the stage's rows
    std::vector<std::uint64_t> known_;  // at the corners, then at those opposite
    std::vector<Place> sorted_[3];
};

}  // namespace leafgrad
