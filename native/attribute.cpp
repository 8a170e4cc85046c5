#include "attribute.h"

#include <algorithm>
#include <optional>
#include <string>

#include "alone.h"
#include "patterns.h"

namespace leafgrad {
namespace {

template <class I>
std::size_t at(I i) {
    return static_cast<std::size_t>(i);
}

constexpr std::int64_t lanes_of_short_rules = 256;

// The points a tree is walked at together. It may depend on nothing but the tree and the rule: a row's bits
// must not change with the rows around it or the number of threads.
std::int64_t points_together(std::int64_t n_points) {
    const std::int64_t passes = (n_points + most_points - 1) / most_points;
    return (n_points + passes - 1) / passes;
}

void store_values(const Stage& stage, std::int64_t begin, std::int64_t count, double* out) {
    const auto K = at(stage.game.n_outputs), lanes = at(stage.walk.lanes);
    for (std::size_t i = 0; i < at(count); ++i)
        for (std::size_t k = 0; k < K; ++k) out[(at(begin) + i) * K + k] = stage.results.data()[k * lanes + i];
}

void load_points(const Points& points, std::int64_t begin, std::int64_t count, Stage& stage) {
    const Game& game = stage.game;
    double* z = stage.z.data();
    for (const std::int32_t player : game.used_players)
        for (std::int64_t i = 0; i < stage.walk.lanes; ++i) {
            const std::int64_t row = points.n == 1 ? 0 : begin + std::min(i, count - 1);
            const double zi = points.z[row * game.n_players + player];
            *z++ = zi < smallest_z ? 0.0 : zi;
        }
}

std::int64_t shared_length(std::int64_t rows, std::int64_t points) {
    if (rows != points && rows != 1 && points != 1)
        throw ArgumentError("X has " + std::to_string(rows) + " rows and z " + std::to_string(points) +
                            "; wanted as many, or one of either");
    return rows == 0 || points == 0 ? 0 : std::max(rows, points);
}

const Filled ones(1);

template <class Kernel, class Store>
void at_points(const Game& game, const Rows& rows, const Points& points, const Run& run, Room room,
               std::int64_t rows_of_results, Kernel kernel, Store store) {
    room.reach *= 2;  // general walks keep 1 / P beside s
    room.results = rows_of_results;
    room.z = static_cast<std::int64_t>(game.used_players.size());
    each_block(game, shared_length(rows.n, points.n), room.lanes(), room, run,
               [&](Stage& stage, std::int64_t begin, std::int64_t count, Pulse& pulse) {
                   stage.take(rows, RowNumbers(rows, begin, count));
                   load_points(points, begin, count, stage);
                   stage.clear_results(rows_of_results);
                   stage.walk.n_points = 1;
                   stage.walk.weights = ones.lanes;
                   kernel(stage, pulse);
                   store(stage, begin, count);
               });
}

}  // namespace

std::int64_t Rules::points(std::int32_t players) const {
    const auto u = at(players);
    if (u + 1 >= start.size() || start[u + 1] <= start[u])
        throw ArgumentError("there is no rule for " + std::to_string(u) + " players on a path");
    return start[u + 1] - start[u];
}

void attribute(const Game& game, const Rows& rows, const Rules& rules, double* out, const Run& run,
               std::int64_t rows_in_all) {
    const auto points = [&](const Tree& tree) { return rules.points(tree.most_players); };
    if (rows_in_all <= rows_alone) return attribute_alone(game, rows, rules, out, run);
    Room room = Room::of(game, true, [&](const Tree& tree) { return points_together(points(tree)); }, points);
    // The trees of long rules are deep, and of many small steps: the more rows, the better they are spread.
    const bool long_rules =
        std::any_of(game.trees.begin(), game.trees.end(), [&](const Tree& tree) { return points(tree) > most_points; });
    room.most_lanes = long_rules ? most_lanes : lanes_of_short_rules;
    room.results = static_cast<std::int64_t>(game.used_players.size()) * game.n_outputs;
    const auto walk_tree = [&](Stage& stage, const Tree& tree, auto&& pulse) {
        Walk& walk = stage.walk;
        std::int64_t q = rules.start[at(tree.most_players)];
        const std::int64_t end = q + points(tree), together = points_together(end - q);
        for (; q < end; q += together) {
            walk.n_points = static_cast<int>(std::min(together, end - q));
            walk.t = rules.nodes.data() + q;
            walk.weights = rules.weights.data() + q;
            kernels().diagonal[walk.n_points - 1](walk);
            pulse();
        }
    };
    std::optional<Patterns> patterns;
    if (rows_in_all >= rows_by_pattern)
        patterns.emplace(game, room, [&](Stage& stage, const Tree& tree) { walk_tree(stage, tree, [] {}); });
    each_block(game, rows.n, room.lanes(), room, run,
               [&](Stage& stage, std::int64_t begin, std::int64_t count, Pulse& pulse) {
                   stage.take(rows, RowNumbers(rows, begin, count));
                   stage.clear_results(room.results);
                   stage.walk.gradient = stage.results.data();
                   for (std::size_t i = 0; i < game.trees.size(); ++i) {
                       const Tree& tree = game.trees[i];
                       if (patterns && patterns->knows(i)) {
                           patterns->add(i, stage);
                       } else {
                           stage.set(tree);
                           walk_tree(stage, tree, pulse);
                       }
                       pulse(static_cast<std::int64_t>(tree.splits.size()) * stage.walk.lanes);
                   }
                   store_gradient(stage, begin, count, out);
               });
}

void gradient(const Game& game, const Rows& rows, const Points& points, double* out, const Run& run) {
    const auto once = [](const Tree&) { return 1; };
    at_points(
        game, rows, points, run, Room::of(game, true, once, once),
        static_cast<std::int64_t>(game.used_players.size()) * game.n_outputs,
        [](Stage& stage, Pulse& pulse) {
            stage.walk.gradient = stage.results.data();
            stage.each_tree(pulse, [&](const Tree&) { kernels().general[0](stage.walk); });
        },
        [&](const Stage& stage, std::int64_t begin, std::int64_t count) { store_gradient(stage, begin, count, out); });
}

void extension(const Game& game, const Rows& rows, const Points& points, double* out, const Run& run) {
    const auto once = [](const Tree&) { return 1; };
    at_points(
        game, rows, points, run, Room::of(game, false, once, once), game.n_outputs,
        [](Stage& stage, Pulse& pulse) {
            stage.walk.extension = stage.results.data();
            stage.each_tree(pulse, [&](const Tree&) { kernels().value(stage.walk); });
        },
        [&](const Stage& stage, std::int64_t begin, std::int64_t count) { store_values(stage, begin, count, out); });
}

}  // namespace leafgrad
