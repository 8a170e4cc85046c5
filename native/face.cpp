#include "face.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace leafgrad {

Face::Face(std::int64_t row, const double* z, std::size_t players, std::vector<std::size_t> moving)
    : row_(row),
      players_(players),
      moving_(std::move(moving)),
      z_(z, z + players),
      at_(corners() * players),
      objective_(corners()),
      weights_(corners()) {
    for (std::size_t corner = 0; corner < corners(); ++corner) {
        double* here = at_.data() + corner * players;
        std::copy_n(z, players, here);
        for (std::size_t i = 0; i < moving_.size(); ++i) here[moving_[i]] = (corner >> i) & 1 ? 1.0 : 0.0;
    }
    for (const std::size_t player : moving_) z_[player] = std::numeric_limits<double>::quiet_NaN();
}

void Face::add_places(std::vector<Place>& places) {
    for (std::size_t corner = 0; corner < corners(); ++corner) {
        double* here = at_.data() + corner * players_;  // z is read before the gradient takes its place
        places.push_back({row_, here, here, &objective_[corner]});
    }
}

void Face::look(const double* z, double* gradient, double& objective) {
    weights_[0] = 1;
    for (std::size_t i = 0; i < moving_.size(); ++i) {
        const double known = z[moving_[i]], unknown = 1 - known;
        const std::size_t half = std::size_t{1} << i;
        for (std::size_t corner = 0; corner < half; ++corner) {
            weights_[corner + half] = weights_[corner] * known;
            weights_[corner] *= unknown;
        }
    }
    std::fill_n(gradient, players_, 0.0);
    objective = 0;
    for (std::size_t corner = 0; corner < corners(); ++corner) {
        const double weight = weights_[corner];
        const double* here = at_.data() + corner * players_;
        for (std::size_t player = 0; player < players_; ++player) gradient[player] += weight * here[player];
        objective += weight * objective_[corner];
    }
}

bool Face::holds(const double* z) {
    for (std::size_t i = moving_.size(); i-- > 0;) {
        const std::size_t player = moving_[i];
        if (z[player] != 0.0 && z[player] != 1.0) continue;
        z_[player] = z[player];
        stop(i, z[player] == 1.0);
    }
    std::int64_t left = 0;
    for (std::size_t player = 0; player < players_; ++player)
        left |= (z[player] != z_[player]) & (z_[player] == z_[player]);
    return left == 0;
}

// Keeps the corners on the side where the player stopped.
void Face::stop(std::size_t which, bool at_one) {
    const std::size_t bit = std::size_t{1} << which, below = bit - 1;
    moving_.erase(moving_.begin() + static_cast<std::ptrdiff_t>(which));
    for (std::size_t corner = 0; corner < corners(); ++corner) {
        const std::size_t from = (corner & below) | ((corner & ~below) << 1) | (at_one ? bit : 0);
        if (from == corner) continue;
        std::copy_n(at_.data() + from * players_, players_, at_.data() + corner * players_);
        objective_[corner] = objective_[from];
    }
}

}  // namespace leafgrad
