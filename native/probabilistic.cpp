#include "probabilistic.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace leafgrad {
namespace {

template <class I>
std::size_t at(I i) {
    return static_cast<std::size_t>(i);
}

// Functionals and polynomials of a block, in bytes. Most of a deep tree's are asked for long after they were made.
constexpr std::int64_t kept_bytes = std::int64_t{2} << 20;

}  // namespace

void probabilistic(const ClosedGame& closed, const Rows& rows, const Sizes& sizes, double* out, const Run& run) {
    const Game& game = closed.game;
    Room room;
    std::vector<std::vector<double>> weights(1);  // by U
    for (std::size_t i = 0; i < game.trees.size(); ++i) {
        const Tree& tree = game.trees[i];
        const auto& program = closed.programs[i];
        room.reach = std::max<std::int64_t>(room.reach, program.reach);
        room.waiting = std::max<std::int64_t>(room.waiting, std::int64_t{program.waiting} * tree.outputs);
        room.work += program.work;
        const auto u = at(tree.most_players);
        if (u + 1 >= sizes.start.size() || sizes.start[u + 1] - sizes.start[u] != tree.most_players ||
            at(sizes.start[u + 1]) > sizes.probabilities.size())
            throw ArgumentError("there are no sizes for " + std::to_string(u) + " players on a path");
        if (weights.size() <= u) weights.resize(u + 1);
        if (!weights[u].empty()) continue;
        // The weight of one coalition: 1 in C(U - 1, s) of its size.
        const double* count = closed.binomials.data() + (u - 1) * u / 2;
        for (std::size_t s = 0; s < u; ++s)
            weights[u].push_back(
                std::ldexp(sizes.probabilities[at(sizes.start[u]) + s], halvings(tree.most_players - 1)) / count[s]);
    }
    room.results = static_cast<std::int64_t>(game.used_players.size()) * game.n_outputs;
    const std::int64_t kept = kept_bytes / 8 / std::max<std::int64_t>(1, room.reach + room.waiting);
    const std::int64_t step = kept < 64 ? 16 : 64;  // whole words of the masks
    room.most_lanes = std::clamp<std::int64_t>(kept / step * step, 8, 256);
    each_block(
        game, rows.n, room.lanes(), room, run, [&](Stage& stage, std::int64_t begin, std::int64_t count, Pulse& pulse) {
            stage.take(rows, RowNumbers(rows, begin, count));
            stage.clear_results(room.results);
            stage.walk.gradient = stage.results.data();
            std::size_t i = 0;
            stage.each_tree(pulse, [&](const Tree& tree) {
                const auto& moves = closed.programs[i++].moves;
                kernels().polynomials(stage.walk, {moves.data(), static_cast<std::int64_t>(moves.size()),
                                                   weights[at(tree.most_players)].data(), closed.binomials.data()});
            });
            store_gradient(stage, begin, count, out);
        });
}

}  // namespace leafgrad
