#include "rank.h"

#include <algorithm>
#include <cmath>
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
          z(at(count) * players, 0.5),
          sum(at(count) * players, 0.0),
          how_(how),
          begin_(begin),
          lanes_(at(stage.lanes)),
          trace_(trace),
          ascent_(stage, rows),
          g_(at(count) * players, 0.0),
          m_(how.adam ? g_.size() : 0, 0.0),
          v_(m_.size(), 0.0),
          objective_(at(count), 0.0),
          states_(at(count)) {}

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

    std::size_t players;         // the used ones
    std::vector<double> z, sum;  // rows x players: the last point, the sum of the gradients before it

private:
    struct State {
        std::int64_t t = 0;               // steps done
        double power1 = 1, power2 = 1;    // of ADAM's betas
        std::vector<std::size_t> moving;  // the players that a waiting row's face moves
    };

    bool unfinished(std::size_t row) const { return states_[row].t < how_.steps; }

    void walk(const std::vector<std::size_t>& rows, bool gradients, Pulse& pulse) {
        places_.clear();
        for (const std::size_t row : rows)
            places_.push_back({begin_ + static_cast<std::int64_t>(row), z.data() + row * players,
                               gradients ? g_.data() + row * players : nullptr, &objective_[row]});
        ascent_.walk(places_, pulse);
    }

    // With the gradient and the objective at z known: one step. Tells whether z has moved.
    bool step(std::size_t row) {
        State& state = states_[row];
        record(row);
        ++state.t;
        state.power1 *= how_.beta1;
        state.power2 *= how_.beta2;
        return how_.adam ? move<true>(row, state) : move<false>(row, state);
    }

    // No branches: the compiler makes vectors of it.
    template <bool adam>
    bool move(std::size_t row, const State& state) {
        const std::size_t from = row * players;
        double* to_z = z.data() + from;
        double* to_sum = sum.data() + from;
        const double* g = g_.data() + from;
        std::int64_t moved = 0;
        for (std::size_t i = 0; i < players; ++i) {
            to_sum[i] += g[i];
            const double direction = adam ? smoothed(from + i, g[i], state) : g[i];
            double to = to_z[i] + how_.rate * direction;
            to = to < 1.0 ? to : 1.0;
            to = to < smallest_z ? 0.0 : to;
            moved |= to != to_z[i];
            to_z[i] = to;
        }
        return moved != 0;
    }

    double smoothed(std::size_t i, double g, const State& state) {
        m_[i] = how_.beta1 * m_[i] + (1 - how_.beta1) * g;
        v_[i] = how_.beta2 * v_[i] + (1 - how_.beta2) * (g * g);
        const double m = m_[i] / (1 - state.power1), v = v_[i] / (1 - state.power2);
        if (how_.eps_inside) return m / std::sqrt(v + how_.eps);
        // A gradient that was always 0 moves nothing, whatever eps is.
        return m == 0 ? 0 : m / (std::sqrt(v) + how_.eps);
    }

    void record(std::size_t row) {
        if (trace_ == nullptr) return;
        const std::size_t line = at(begin_) + row;
        trace_[line * at(how_.steps + 1) + at(states_[row].t)] = objective_[row];
    }

    // After a step: whether the corners of the face on which the row moves are fewer walks than the steps left. A walk
    // at a corner of the cube counts half. ADAM leaps from corner to corner, and stays on no face.
    bool face_pays(std::size_t row) {
        if (how_.adam) return false;
        std::vector<std::size_t> moving;
        std::size_t still = 0;
        for (std::size_t i = row * players; i < (row + 1) * players; ++i) {
            if (z[i] == 0.0 || z[i] == 1.0) continue;
            if (g_[i] == 0.0)
                ++still;
            else if (moving.size() == most_moving)
                return false;
            else
                moving.push_back(i - row * players);
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
                faces.emplace_back(begin_ + static_cast<std::int64_t>(row), z.data() + row * players, players,
                                   std::move(states_[row].moving));
                faces.back().add_places(places_);
            }
            ascent_.walk(places_, pulse);
            for (std::size_t i = 0; i < faces.size(); ++i) {
                const std::size_t row = waiting[first + i];
                do {
                    faces[i].look(z.data() + row * players, g_.data() + row * players, objective_[row]);
                    step(row);
                } while (unfinished(row) && faces[i].holds(z.data() + row * players));
                if (unfinished(row)) left.push_back(row);
            }
        }
    }

    const Optimizer& how_;
    std::int64_t begin_;
    std::size_t lanes_;
    double* trace_;
    Ascent ascent_;
    std::vector<double> g_, m_, v_;  // rows x players
    std::vector<double> objective_;  // (F(z) - F(1 - z)) / 2
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
                           zeta[to] = climb.sum[i * climb.players + slot] / static_cast<double>(optimizer.steps);
                           z[to] = climb.z[i * climb.players + slot];
                       }
               });
}

}  // namespace leafgrad
