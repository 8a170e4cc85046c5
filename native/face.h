// The gradient on a face of the cube, where a few players move and the others stand still.
//
// F is multilinear, so on such a face every gradient is the mean of those at its 2^m corners, each weighted by the
// probability that exactly its players are known. Those walked once, any number of steps cost no walk. And corners are
// where the cheapest walk goes (see ascent.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ascent.h"

namespace leafgrad {

class Face {
public:
    // Through z, in the direction of the players listed.
    Face(std::int64_t row, const double* z, std::size_t players, std::vector<std::size_t> moving);

    // The walks that it takes to know the corners.
    void add_places(std::vector<Place>& places);

    // The gradient and the objective at z, a point of the face.
    void look(const double* z, double* gradient, double& objective);

    // After a step: whether z is still on the face. A player that has come to an end of its way stands still from then
    // on.
    bool holds(const double* z);

    std::size_t corners() const { return std::size_t{1} << moving_.size(); }

private:
    void stop(std::size_t which, bool at_one);

    std::int64_t row_;
    std::size_t players_;
    std::vector<std::size_t> moving_;  // bit i of a corner's number: player moving_[i] is known
    std::vector<double> z_;            // of the players that stand still; those that move are NaN
    std::vector<double> at_;           // corners x players: z until walked, then the gradients
    std::vector<double> objective_;    // at the corners
    std::vector<double> weights_;
};

}  // namespace leafgrad
