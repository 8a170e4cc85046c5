#include "rank.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ascent.h"
#include "face.h"

namespace leafgrad {
namespace {

template <class I>
std::size_t at(I i) {
    return static_cast<std::size_t>(i);
}

// A face of more moving players has too many corners, and one that holds for a few steps only does not pay.
constexpr std::size_t most_moving = 4;
constexpr double worth = 0.6;  // walks of a face, of those left without it

// The rows of one block, each at its own step.
class Climb {
public:
    Climb(Stage& stage, const Rows& rows, const Optimizer& how, std::int64_t begin, std::int64_t count, double* trace)
        : players(stage.game.used_players.size()),
          how_(how),
          begin_(begin),
          lanes_(at(stage.lanes)),
          trace_(trace),
          ascent_(stage, rows),
          padded_((players + most_width - 1) / most_width * most_width),
          z_(at(count) * padded_),
          sum_(at(count) * padded_),
          g_(at(count) * padded_),
          m_(how.adam ? at(count) * padded_ : 0),
          v_(how.adam ? at(count) * padded_ : 0),
          objective_(at(count), 0.0),
          states_(at(count),
                  {0, {how.rate, smallest_z, how.adam, how.beta1, how.beta2, how.eps, how.eps_inside, 1, 1}, {}, 0}) {
        std::fill_n(z_.data(), at(count) * padded_, 0.5);
    }

    void run(Pulse& pulse) {
        std::vector<std::size_t> walking(states_.size()), waiting, next;
        for (std::size_t i = 0; i < walking.size(); ++i) walking[i] = i;
        while (!walking.empty()) {
            for (waiting.clear(); !walking.empty(); std::swap(walking, next)) {
                walk(walking, true, pulse);
                next.clear();
                for (const std::size_t row : walking) {
                    while (unfinished(row) && !step(row)) {
                    }
                    if (unfinished(row)) (face_pays(row) ? waiting : next).push_back(row);
                }
            }
            follow_faces(waiting, walking, pulse);
        }
        if (trace_ == nullptr) return;
        for (std::size_t i = 0; i < states_.size(); ++i) walking.push_back(i);
        walk(walking, false, pulse);
        for (const std::size_t row : walking) record(row);
    }

    // Of a row, in used players: where it is, and the sum of its gradients so far.
    double* z(std::size_t row) const { return z_.data() + row * padded_; }
    const double* sum(std::size_t row) const { return sum_.data() + row * padded_; }

    const std::size_t players;  // the used ones

private:
    struct State {
        std::int64_t t;  // steps done
        Stride how;
        std::vector<std::size_t> moving;  // the players that a waiting row's face moves
        std::int64_t no_face_before = 0;  // a step
    };

    double* g(std::size_t row) const { return g_.data() + row * padded_; }

    bool unfinished(std::size_t row) const { return states_[row].t < how_.steps; }

    void walk(const std::vector<std::size_t>& rows, bool gradients, Pulse& pulse) {
        places_.clear();
        for (const std::size_t row : rows)
            places_.push_back(
                {begin_ + static_cast<std::int64_t>(row), z(row), gradients ? g(row) : nullptr, &objective_[row]});
        ascent_.walk(places_, pulse);
    }

    // With the gradient and the objective at z known: one step. Tells whether z has moved.
    bool step(std::size_t row) {
        State& state = states_[row];
        record(row);
        ++state.t;
        state.how.power1 *= state.how.beta1;
        state.how.power2 *= state.how.beta2;
        const std::size_t from = row * padded_, smooth = state.how.adam ? from : 0;
        return kernels().stride(state.how, static_cast<std::int64_t>(padded_), g(row), z(row), sum_.data() + from,
                                m_.data() + smooth, v_.data() + smooth);
    }

    void record(std::size_t row) {
        if (trace_ == nullptr) return;
        const std::size_t line = at(begin_) + row;
        trace_[line * at(how_.steps + 1) + at(states_[row].t)] = objective_[row];
    }

    // After a step: whether the corners of the face on which the row moves are fewer walks than the steps left. A walk
    // at a corner of the cube counts half. ADAM leaps from corner to corner, and stays on no face.
    bool face_pays(std::size_t row) {
        if (how_.adam || states_[row].t < states_[row].no_face_before) return false;
        std::vector<std::size_t> moving;
        std::size_t still = 0;
        for (std::size_t player = 0; player < players; ++player) {
            if (z(row)[player] == 0.0 || z(row)[player] == 1.0) continue;
            if (g(row)[player] == 0.0)
                ++still;
            else if (moving.size() == most_moving)
                return false;
            else
                moving.push_back(player);
        }
        const double walks = static_cast<double>(std::size_t{1} << moving.size()) * (still == 0 ? 0.5 : 1);
        if (walks > worth * static_cast<double>(how_.steps - states_[row].t)) return false;
        states_[row].moving = std::move(moving);
        return true;
    }

    void follow_faces(const std::vector<std::size_t>& waiting, std::vector<std::size_t>& left, Pulse& pulse) {
        std::vector<Face> faces;
        for (std::size_t first = 0; first < waiting.size(); first += faces.size()) {
            faces.clear();
            places_.clear();
            // As many as fill a block: all of them might be much to keep.
            for (std::size_t i = first; i < waiting.size() && places_.size() < lanes_; ++i) {
                const std::size_t row = waiting[i];
                faces.emplace_back(begin_ + static_cast<std::int64_t>(row), z(row), players,
                                   std::move(states_[row].moving));
                faces.back().add_places(places_);
            }
            ascent_.walk(places_, pulse);
            for (std::size_t i = 0; i < faces.size(); ++i) {
                const std::size_t row = waiting[first + i];
                // A row may leap from face to face (at a high rate): then as many steps are walked as the face had
                // corners, before another one is tried.
                const auto corners = static_cast<std::int64_t>(faces[i].corners());
                do {
                    faces[i].look(z(row), g(row), objective_[row]);
                    step(row);
                } while (unfinished(row) && faces[i].holds(z(row)));
                if (!unfinished(row)) continue;
                states_[row].no_face_before = states_[row].t + corners;
                left.push_back(row);
            }
        }
    }

    const Optimizer& how_;
    std::int64_t begin_;
    std::size_t lanes_;
    double* trace_;
    Ascent ascent_;
    const std::size_t padded_;             // players, in whole vectors
    Aligned<double> z_, sum_, g_, m_, v_;  // rows x padded
    std::vector<double> objective_;        // (F(z) - F(1 - z)) / 2
    std::vector<State> states_;
    std::vector<Place> places_;
};

}  // namespace

void rank(const Game& game, const Rows& rows, const Optimizer& optimizer, double* zeta, double* z, double* trace,
          const Run& run) {
    const auto n_players = at(game.n_players);
    std::fill_n(z, at(rows.n) * n_players, 0.5);
    const Room room = Ascent::room_of(game, optimizer.steps);
    // Rows leave one by one, and two blocks of them fill one another up; what is kept of more leaves the caches.
    each_block(game, rows.n, 2 * room.lanes(), room, run,
               [&](Stage& stage, std::int64_t begin, std::int64_t count, Pulse& pulse) {
                   Climb climb(stage, rows, optimizer, begin, count, trace);
                   climb.run(pulse);
                   for (std::size_t i = 0; i < at(count); ++i)
                       for (std::size_t slot = 0; slot < climb.players; ++slot) {
                           const auto to = (at(begin) + i) * n_players + at(game.used_players[slot]);
                           zeta[to] = climb.sum(i)[slot] / static_cast<double>(optimizer.steps);
                           z[to] = climb.z(i)[slot];
                       }
               });
}

}  // namespace leafgrad
