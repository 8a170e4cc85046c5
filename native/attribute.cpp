#include "attribute.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

namespace leafgrad {
namespace {

template <class I>
std::size_t at(I i) {
    return static_cast<std::size_t>(i);
}

// A nonzero z below this is taken as 0: its reciprocal would overflow, and no result changes by more.
constexpr double smallest_z = 1e-290;
constexpr std::int64_t most_workspace = std::int64_t{16} << 20;  // bytes of one buffer of lanes
constexpr double least_work = 3e6;                               // splits x points worth a thread's start

enum class Mode { diagonal, general, value };

// The points a tree is walked at together. It may depend on nothing but the tree and the rule: a row's bits
// must not change with the rows around it or the number of threads.
int points_together(const Tree& tree, std::int64_t n_points) {
    const std::int64_t level = most_lanes * static_cast<std::int64_t>(sizeof(double));
    const std::int64_t fit = std::clamp<std::int64_t>(most_workspace / 2 / (tree.levels * level), 1, most_points);
    const std::int64_t passes = (n_points + fit - 1) / fit;
    return static_cast<int>((n_points + passes - 1) / passes);
}

struct Sizes {
    std::int64_t splits = 0, reach = 0, waiting = 0;  // the last two in doubles per lane
    double work = 0;                                  // splits x points of one row
    Sizes(const Game& game, Mode mode, const Rules* rules) {
        for (const Tree& tree : game.trees) {
            std::int64_t n = 1, together = 1;
            if (mode == Mode::diagonal) {
                const auto u = at(tree.most_players);
                n = rules->start[u + 1] - rules->start[u];
                together = points_together(tree, n);
            }
            splits = std::max(splits, static_cast<std::int64_t>(tree.splits.size()));
            reach = std::max(reach, tree.levels * together);
            waiting = std::max(waiting, tree.waiting * together * tree.outputs);
            work += static_cast<double>(tree.splits.size()) * static_cast<double>(n * tree.outputs);
        }
    }
};

// What a worker owns.
struct Workspace {
    BlockBuffer block;
    std::vector<std::uint64_t> first, agreed;
    Aligned<double> reach, waiting, z, result;
    Workspace(const Game& game, Mode mode, const Sizes& sizes, int lanes)
        : block(game.forest),
          first(at(sizes.splits)),
          agreed(at(sizes.splits)),
          reach(at(mode == Mode::value ? 0 : sizes.reach * lanes)),
          waiting(at(sizes.waiting * lanes)),
          z(mode == Mode::diagonal ? 0 : game.used_players.size() * at(lanes)),
          result((mode == Mode::value ? 1 : game.used_players.size()) * at(game.n_outputs) * at(lanes)) {}
};

// Rows that agree with the path at all earlier splits on a split's player; all of them at a first split.
void find_agreed(const Tree& tree, const std::uint64_t* first, std::uint64_t* agreed) {
    std::fill_n(agreed, tree.splits.size(), ~std::uint64_t{0});
    for (const Repeat& repeat : tree.repeats) {
        const std::uint64_t taken = repeat.side == 0 ? first[repeat.previous] : ~first[repeat.previous];
        agreed[repeat.split] = agreed[repeat.previous] & taken;
    }
}

struct Job {
    const Game& game;
    Mode mode;
    const Rows& rows;
    const Rules* rules;
    const Points* points;
    double* out;
    std::int64_t n;  // results

    void run(const Run& how) const;
    void do_block(std::int64_t begin, int count, Workspace& work, Pulse& pulse) const;
    void load_points(std::int64_t begin, int count, int lanes, double* z) const;
    void store(std::int64_t begin, int count, int lanes, const double* result) const;
};

void Job::load_points(std::int64_t begin, int count, int lanes, double* z) const {
    for (std::size_t slot = 0; slot < game.used_players.size(); ++slot) {
        const std::int64_t player = game.used_players[slot];
        for (int i = 0; i < lanes; ++i) {
            const std::int64_t row = points->n == 1 ? 0 : begin + std::min(i, count - 1);
            const double zi = points->z[row * game.n_players + player];
            z[slot * at(lanes) + at(i)] = zi < smallest_z ? 0.0 : zi;
        }
    }
}

void Job::store(std::int64_t begin, int count, int lanes, const double* result) const {
    const auto K = at(game.n_outputs);
    for (int i = 0; i < count; ++i) {
        if (mode == Mode::value) {
            for (std::size_t k = 0; k < K; ++k) out[at(begin + i) * K + k] = result[k * at(lanes) + at(i)];
            continue;
        }
        double* row = out + at(begin + i) * at(game.n_players) * K;
        for (std::size_t slot = 0; slot < game.used_players.size(); ++slot)
            for (std::size_t k = 0; k < K; ++k)
                row[at(game.used_players[slot]) * K + k] = result[(slot * K + k) * at(lanes) + at(i)];
    }
}

void Job::do_block(std::int64_t begin, int count, Workspace& work, Pulse& pulse) const {
    static constexpr double one = 1;
    const Kernels& kernel = kernels();
    const int lanes = (count + kernel.width - 1) / kernel.width * kernel.width;
    const bool one_row = rows.n == 1;
    const Block block = work.block.fill(rows, one_row ? 0 : begin, one_row ? 1 : count, one_row && count > 1);
    if (mode != Mode::diagonal) load_points(begin, count, lanes, work.z.data());
    const auto result_rows = mode == Mode::value ? 1 : game.used_players.size();
    std::fill_n(work.result.data(), result_rows * at(game.n_outputs) * at(lanes), 0.0);

    Walk walk{};
    walk.lanes = lanes;
    walk.first = work.first.data();
    walk.agreed = work.agreed.data();
    walk.z = work.z.data();
    walk.reach = work.reach.data();
    walk.waiting = work.waiting.data();
    walk.gradient = walk.extension = work.result.data();
    walk.game_outputs = game.n_outputs;
    for (const Tree& tree : game.trees) {
        pulse();
        kernel.route(block, tree.tests.data(), static_cast<std::int64_t>(tree.tests.size()),
                     game.forest.set_words.data(), work.first.data());
        find_agreed(tree, work.first.data(), work.agreed.data());
        walk.tree = {tree.splits.data(), tree.steps.data(),
                     tree.leaves.data(), static_cast<std::int64_t>(tree.steps.size()),
                     tree.outputs,       tree.first_output};
        if (mode != Mode::diagonal) {
            walk.n_points = 1;
            walk.weights = &one;
            (mode == Mode::general ? kernel.general : kernel.value)(walk);
            continue;
        }
        const std::int64_t end = rules->start[at(tree.most_players) + 1];
        std::int64_t q = rules->start[at(tree.most_players)];
        const int together = points_together(tree, end - q);
        for (; q < end; q += together) {
            walk.n_points = static_cast<int>(std::min<std::int64_t>(together, end - q));
            walk.t = rules->nodes.data() + q;
            walk.weights = rules->weights.data() + q;
            kernel.diagonal[walk.n_points - 1](walk);
            pulse();
        }
    }
    store(begin, count, lanes, work.result.data());
}

void Job::run(const Run& how) const {
    if (n == 0 || game.trees.empty()) return;
    const Sizes sizes(game, mode, rules);
    const auto results = static_cast<std::int64_t>(mode == Mode::value ? 1 : game.used_players.size()) * game.n_outputs;
    const std::int64_t lane_size =
        std::max({sizes.reach, sizes.waiting, results}) * static_cast<std::int64_t>(sizeof(double));
    // As many rows together as the buffers hold, in whole vectors: 8 lanes are a multiple of every width.
    const std::int64_t lanes = std::clamp<std::int64_t>(most_workspace / lane_size / 8 * 8, 8, most_lanes);
    const std::int64_t n_blocks = (n + lanes - 1) / lanes;

    const double worth = static_cast<double>(n) * sizes.work / least_work;
    const int threads = static_cast<int>(std::clamp(worth, 1.0, static_cast<double>(std::max(how.threads, 1))));
    std::vector<std::unique_ptr<Workspace>> crew(at(threads));
    parallel(
        n_blocks, threads,
        [&](std::int64_t block, int worker, Pulse& pulse) {
            auto& work = crew[at(worker)];
            if (!work) work = std::make_unique<Workspace>(game, mode, sizes, static_cast<int>(std::min(lanes, n + 7)));
            const std::int64_t begin = block * lanes;
            const std::int64_t count = std::min(lanes, n - begin);
            do_block(begin, static_cast<int>(count), *work, pulse);
            return count;
        },
        how.poll);
}

std::int64_t shared_length(std::int64_t rows, std::int64_t points) {
    if (rows != points && rows != 1 && points != 1)
        throw ArgumentError("X has " + std::to_string(rows) + " rows and z " + std::to_string(points) +
                            "; wanted as many, or one of either");
    return rows == 0 || points == 0 ? 0 : std::max(rows, points);
}

}  // namespace

void attribute(const Game& game, const Rows& rows, const Rules& rules, double* out, const Run& run) {
    for (const Tree& tree : game.trees) {
        const auto u = at(tree.most_players);
        if (u + 1 >= rules.start.size() || rules.start[u + 1] <= rules.start[u])
            throw ArgumentError("there is no rule for " + std::to_string(u) + " players on a path");
    }
    Job{game, Mode::diagonal, rows, &rules, nullptr, out, rows.n}.run(run);
}

void gradient(const Game& game, const Rows& rows, const Points& points, double* out, const Run& run) {
    Job{game, Mode::general, rows, nullptr, &points, out, shared_length(rows.n, points.n)}.run(run);
}

void extension(const Game& game, const Rows& rows, const Points& points, double* out, const Run& run) {
    Job{game, Mode::value, rows, nullptr, &points, out, shared_length(rows.n, points.n)}.run(run);
}

}  // namespace leafgrad
