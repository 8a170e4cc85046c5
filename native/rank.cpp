#include "rank.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace leafgrad {
namespace {

template <class I>
std::size_t at(I i) {
    return static_cast<std::size_t>(i);
}

// z, 1 - z and the gradient of many players would push one another out of the caches: then blocks have fewer rows.
constexpr std::int64_t few_players = 32;

const Filled halves(0.5);

Room room_of(const Game& game, std::int64_t walks) {
    const auto two = [](const Tree&) { return 2; };
    Room room = Room::of(game, true, two, [&](const Tree&) { return 2 * walks; });
    room.results = static_cast<std::int64_t>(game.used_players.size());
    room.z = 2 * room.results;
    room.reach *= 2;  // general walks keep 1 / P beside s
    room.most_lanes = room.results <= few_players ? most_lanes : most_lanes / 2;
    return room;
}

// Many rows' points and the gradients of their objectives there. Players are the used ones, rows those of the block.
class Ascent {
public:
    Ascent(Stage& stage, const Rows& rows, std::int64_t begin, std::int64_t count, std::int64_t lanes)
        : players(stage.game.used_players.size()),
          n(at(count)),
          z(n * players, 0.5),
          g(n * players, 0.0),
          objective(n, 0.0),
          stage_(stage),
          rows_(rows),
          begin_(begin),
          lanes_(lanes) {}

    // g and objective of the rows listed (numbers within the block).
    void walk(const std::vector<std::int64_t>& listed, bool gradients, Pulse& pulse) {
        for (std::size_t from = 0; from < listed.size(); from += at(lanes_))
            walk_block(listed.data() + from, std::min(at(lanes_), listed.size() - from), gradients, pulse);
    }

    std::size_t players, n;
    std::vector<double> z, g;       // rows x players
    std::vector<double> objective;  // (F(z) - F(1 - z)) / 2

private:
    void walk_block(const std::int64_t* listed, std::size_t count, bool gradients, Pulse& pulse) {
        if (!std::equal(taken_.begin(), taken_.end(), listed, listed + count)) {
            taken_.assign(listed, listed + count);
            std::int64_t numbers[most_lanes];
            for (std::size_t i = 0; i < count; ++i) numbers[i] = begin_ + listed[i];
            stage_.take(rows_, {numbers, count});
        }
        Walk& walk = stage_.walk;
        const auto lanes = at(walk.lanes);
        alignas(64) double values[2 * most_lanes] = {};
        double* known = stage_.z.data();
        double* unknown = known + players * lanes;
        for (std::size_t first = 0; first < lanes; first += 8)
            for (std::size_t slot = 0; slot < players; ++slot)
                for (std::size_t i = first; i < std::min(first + 8, lanes); ++i) {
                    const double zi = z[at(listed[std::min(i, count - 1)]) * players + slot];
                    known[slot * lanes + i] = zi;
                    unknown[slot * lanes + i] = 1 - zi;
                }
        walk.extension = values;
        if (gradients) {
            walk.n_points = 2;
            walk.weights = halves.lanes;
            walk.gradient = stage_.results.data();
            stage_.clear_results(static_cast<std::int64_t>(players));
            stage_.each_tree(pulse, [&](const Tree&) { kernels().general[1](walk); });
            for (std::size_t first = 0; first < count; first += 8)  // a cache line of lanes: see store_gradient
                for (std::size_t slot = 0; slot < players; ++slot)
                    for (std::size_t i = first; i < std::min(first + 8, count); ++i)
                        g[at(listed[i]) * players + slot] = walk.gradient[slot * lanes + i];
        } else {
            walk.n_points = 1;
            stage_.each_tree(pulse, [&](const Tree&) {
                walk.z = known;
                walk.extension = values;
                kernels().value(walk);
                walk.z = unknown;
                walk.extension = values + lanes;
                kernels().value(walk);
            });
            walk.z = known;
        }
        for (std::size_t i = 0; i < count; ++i) objective[at(listed[i])] = 0.5 * (values[i] - values[lanes + i]);
    }

    Stage& stage_;
    const Rows& rows_;
    std::int64_t begin_, lanes_;
    std::vector<std::int64_t> taken_;
};

// One row's step; tells whether z has moved.
class Stepper {
public:
    Stepper(const Optimizer& optimizer, std::size_t size)
        : how_(optimizer),
          m_(optimizer.adam ? size : 0, 0.0),
          v_(optimizer.adam ? size : 0, 0.0) {}

    void begin_step() {
        power1_ *= how_.beta1;
        power2_ *= how_.beta2;
    }

    bool step(std::size_t from, std::size_t count, const double* g, double* z) {
        bool moved = false;
        for (std::size_t i = from; i < from + count; ++i) {
            double to = std::min(z[i] + how_.rate * direction(i, g[i]), 1.0);
            if (to < smallest_z) to = 0;
            moved |= to != z[i];
            z[i] = to;
        }
        return moved;
    }

private:
    double direction(std::size_t i, double g) {
        if (!how_.adam) return g;
        m_[i] = how_.beta1 * m_[i] + (1 - how_.beta1) * g;
        v_[i] = how_.beta2 * v_[i] + (1 - how_.beta2) * (g * g);
        const double m = m_[i] / (1 - power1_), v = v_[i] / (1 - power2_);
        if (how_.eps_inside) return m / std::sqrt(v + how_.eps);
        // A gradient that was always 0 moves nothing, whatever eps is.
        return m == 0 ? 0 : m / (std::sqrt(v) + how_.eps);
    }

    const Optimizer& how_;
    std::vector<double> m_, v_;
    double power1_ = 1, power2_ = 1;
};

}  // namespace

void rank(const Game& game, const Rows& rows, const Optimizer& optimizer, double* zeta, double* z, double* trace,
          const Run& run) {
    const auto n_players = at(game.n_players);
    std::fill_n(z, at(rows.n) * n_players, 0.5);
    const Room room = room_of(game, optimizer.steps);
    const std::int64_t lanes = room.lanes();
    // Rows of ADAM stop one by one, and two blocks of them fill one another up; what it keeps of more leaves the
    // caches. Those of gradient ascent seldom stop, and a block that stays together is filled and routed once.
    const std::int64_t together = optimizer.adam ? 2 * lanes : lanes;
    each_block(game, rows.n, together, room, run,
               [&](Stage& stage, std::int64_t begin, std::int64_t count, Pulse& pulse) {
                   Ascent ascent(stage, rows, begin, count, lanes);
                   Stepper stepper(optimizer, ascent.z.size());
                   std::vector<double> sum(ascent.g.size(), 0.0);
                   std::vector<std::int64_t> moved;
                   for (std::int64_t i = 0; i < count; ++i) moved.push_back(i);
                   const auto record = [&](std::int64_t t) {
                       if (trace == nullptr) return;
                       for (std::size_t i = 0; i < ascent.n; ++i)
                           trace[(at(begin) + i) * at(optimizer.steps + 1) + at(t)] = ascent.objective[i];
                   };
                   for (std::int64_t t = 0; t < optimizer.steps; ++t) {
                       ascent.walk(moved, true, pulse);
                       record(t);
                       moved.clear();
                       stepper.begin_step();
                       for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += ascent.g[i];
                       for (std::size_t i = 0; i < ascent.n; ++i)
                           if (stepper.step(i * ascent.players, ascent.players, ascent.g.data(), ascent.z.data()))
                               moved.push_back(static_cast<std::int64_t>(i));
                   }
                   if (trace != nullptr) ascent.walk(moved, false, pulse);
                   record(optimizer.steps);
                   for (std::size_t i = 0; i < ascent.n; ++i)
                       for (std::size_t slot = 0; slot < ascent.players; ++slot) {
                           const auto to = (at(begin) + i) * n_players + at(game.used_players[slot]);
                           zeta[to] = sum[i * ascent.players + slot] / static_cast<double>(optimizer.steps);
                           z[to] = ascent.z[i * ascent.players + slot];
                       }
               });
}

// f is multilinear: f(S + i) - f(rest - i) is the objective at S plus the two gradients at S and at the rest, so one
// walk ranks every candidate. Players without a split have the gradient 0 and need none.
void greedy(const Game& game, const Rows& rows, std::int32_t* order, const Run& run) {
    const auto used = game.used_players.size();
    const Room room = room_of(game, static_cast<std::int64_t>(used));
    const std::int64_t lanes = room.lanes();
    // What is equal comes out equal but for roundings, and then the lowest number counts.
    double tie = 0;
    for (const Tree& tree : game.trees) {
        const auto [least, most] = std::minmax_element(tree.leaves.begin(), tree.leaves.end());
        tie += 1e-14 * (*most - *least);
    }
    std::vector<std::int32_t> unused;
    for (std::int32_t player = 0; player < game.n_players; ++player)
        if (game.player_slot[at(player)] < 0) unused.push_back(player);

    each_block(game, rows.n, lanes, room, run, [&](Stage& stage, std::int64_t begin, std::int64_t count, Pulse& pulse) {
        Ascent ascent(stage, rows, begin, count, lanes);
        std::fill(ascent.z.begin(), ascent.z.end(), 0.0);
        std::vector<std::size_t> next_unused(ascent.n, 0), taken(ascent.n, 0);
        std::vector<std::int64_t> all(ascent.n);
        for (std::size_t i = 0; i < ascent.n; ++i) all[i] = static_cast<std::int64_t>(i);
        for (std::size_t round = 0; round < used; ++round) {
            ascent.walk(all, true, pulse);
            for (std::size_t i = 0; i < ascent.n; ++i) {
                std::int32_t* out = order + (at(begin) + i) * at(game.n_players);
                double* z = ascent.z.data() + i * used;
                const double* g = ascent.g.data() + i * used;
                std::size_t best = used;
                for (std::size_t slot = 0; slot < used; ++slot)
                    if (z[slot] == 0.0 && (best == used || g[slot] > g[best])) best = slot;
                const double enough = g[best] - tie;
                best = 0;
                while (z[best] != 0.0 || g[best] < enough) ++best;
                const std::int32_t player = game.used_players[best];
                // The unused, with a gain of 0, come first where they are better, or as good and of a lower
                // number.
                std::size_t& next = next_unused[i];
                while (next < unused.size() && (enough + 2 * tie < 0 || (enough <= 0 && unused[next] < player)))
                    out[taken[i]++] = unused[next++];
                out[taken[i]++] = player;
                z[best] = 1.0;
            }
        }
        for (std::size_t i = 0; i < ascent.n; ++i)
            for (std::size_t next = next_unused[i]; next < unused.size(); ++next)
                order[(at(begin) + i) * at(game.n_players) + taken[i]++] = unused[next];
    });
}

}  // namespace leafgrad
