// What every kind of call costs in instructions: one named workload a run, for valgrind to count.
//
//     leafgrad_instructions              the names, one a line
//     LEAFGRAD_ISA=avx2 leafgrad_instructions NAME
//
// Only what happens within `leafgrad_measured` is counted (callgrind's --toggle-collect). What the workload was comes
// out as JSON, for benchmarks/instructions to divide by.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "attribute.h"
#include "closing.h"
#include "curves.h"
#include "forests.h"
#include "game.h"
#include "greedy.h"
#include "kernels.h"
#include "leaves.h"
#include "probabilistic.h"
#include "rank.h"

// Time stands still: a call looks at the clock to tell its progress, and slow days would have instructions of their
// own.
extern "C" [[gnu::visibility("default")]] int clock_gettime(clockid_t, timespec* now) noexcept {
    *now = {};
    return 0;
}

// The answer keeps the call from being the last thing done here, a jump that ends the counting at once.
extern "C" bool leafgrad_measured(const std::function<void()>& work) {
    work();
    return true;
}

namespace leafgrad::instructions {
namespace {

template <class I>
std::size_t at(I i) {
    return static_cast<std::size_t>(i);
}

// Kinds of models: those of the issues, reports and papers that leafgrad is measured with.
const Shape boosted{.trees = 200, .features = 50, .leaves = 64, .levels = 6, .samples = 3'000, .single = true};
const Shape leafwise{.trees = 200, .features = 50, .leaves = 63, .levels = 64, .samples = 3'000};
const Shape oblivious{.trees = 200, .features = 50, .leaves = 64, .levels = 6, .samples = 3'000, .oblivious = true};
const Shape mixed{.trees = 200, .features = 50, .leaves = 64, .levels = 6, .samples = 3'000, .mixed = true};
const Shape vectors{.trees = 50, .features = 50, .leaves = 64, .levels = 6, .samples = 3'000, .outputs = 10};
const Shape deep{.trees = 1, .features = 12, .leaves = 1'500, .levels = 1'500, .samples = 1'500};
const Shape large{.trees = 1, .features = 20, .leaves = 2'000, .levels = 2'000, .samples = 20'000};
const Shape wide{.trees = 1, .features = 57, .leaves = 166, .levels = 166, .samples = 4'000};

constexpr std::int64_t block = most_lanes;

// A model, its rows, and room for what is found of them.
class Bench {
public:
    Bench(const Shape& shape, std::int64_t n)
        : forest(grow(shape)),
          game(forest, players(shape.features), shape.features, players(shape.outputs)),
          matrix(draw_rows(shape, n)),
          rows(matrix.rows()) {}

    // Splits of all trees, each times the passes over its tree that a row asks for.
    template <class Times>
    double passes(Times times) const {
        double sum = 0;
        for (const Tree& tree : game.trees) sum += static_cast<double>(tree.splits.size()) * times(tree);
        return sum;
    }
    double passes() const {
        return passes([](const Tree&) { return 1.0; });
    }
    std::size_t values() const { return at(rows.n * game.n_players * game.n_outputs); }

    const Forest forest;
    const Game game;
    const Matrix matrix;
    const Rows rows;
    const Run run{1, [](std::int64_t) {}};

private:
    static std::vector<std::int32_t> players(std::int32_t n) {
        std::vector<std::int32_t> each(at(n));
        std::iota(each.begin(), each.end(), 0);
        return each;
    }
};

// A pointer that no compiler sees through: a copy of the function goes by another name, and would not be counted.
bool (*volatile counted)(const std::function<void()>&) = leafgrad_measured;

// Counts the work, and sees to it that there was some.
template <class T>
void measure(const std::vector<T>& results, const std::function<void()>& work) {
    counted(work);
    const auto number = [](T x) { return std::isfinite(static_cast<double>(x)); };
    const auto zero = [](T x) { return x == T{}; };
    if (!std::all_of(results.begin(), results.end(), number) || std::all_of(results.begin(), results.end(), zero))
        throw std::runtime_error("the results are no numbers, or all 0: nothing was measured");
}

// Midpoints, as many a tree as the exact rule has: where the points stand changes no instruction.
double attributed(const Bench& bench, const std::function<std::int64_t(std::int64_t)>& points) {
    std::vector<std::int64_t> start{0};
    std::vector<double> nodes, weights;
    for (std::int64_t players = 0; players <= bench.game.n_players; ++players) {
        const std::int64_t n = points(players);
        for (std::int64_t q = 0; q < n; ++q) {
            nodes.push_back((static_cast<double>(q) + 0.5) / static_cast<double>(n));
            weights.push_back(1 / static_cast<double>(n));
        }
        start.push_back(static_cast<std::int64_t>(nodes.size()));
    }
    std::vector<double> out(bench.values());
    measure(out,
            [&] { attribute(bench.game, bench.rows, {start, nodes, weights}, out.data(), bench.run, bench.rows.n); });
    return bench.passes([&](const Tree& tree) { return static_cast<double>(points(tree.most_players)); });
}

double shapley(const Bench& bench) {
    return attributed(bench, [](std::int64_t players) { return std::max<std::int64_t>(1, (players + 1) / 2); });
}

double banzhaf(const Bench& bench) {
    return attributed(bench, [](std::int64_t) { return 1; });
}

double by_size(const Bench& bench) {
    const ClosedGame closed(bench.game);
    std::vector<std::int64_t> start{0};
    std::vector<double> probabilities;
    for (std::int64_t players = 0; players <= bench.game.n_players; ++players) {
        for (std::int64_t size = 0; size < players; ++size)  // any numbers will do
            probabilities.push_back(2.0 * static_cast<double>(size + 1) / static_cast<double>(players * (players + 1)));
        start.push_back(static_cast<std::int64_t>(probabilities.size()));
    }
    std::vector<double> out(bench.values());
    measure(out, [&] { probabilistic(closed, bench.rows, {start, probabilities}, out.data(), bench.run); });
    return bench.passes();
}

std::vector<double> somewhere(const Bench& bench) {
    Draws draws(3);
    std::vector<double> z(at(bench.rows.n * bench.game.n_players));
    for (double& zi : z) zi = draws.unit();
    return z;
}

double gradient_at_z(const Bench& bench) {
    const std::vector<double> z = somewhere(bench);
    std::vector<double> out(bench.values());
    measure(out, [&] { gradient(bench.game, bench.rows, {z.data(), bench.rows.n}, out.data(), bench.run); });
    return bench.passes();
}

double extension_at_z(const Bench& bench) {
    const std::vector<double> z = somewhere(bench);
    std::vector<double> out(at(bench.rows.n * bench.game.n_outputs));
    measure(out, [&] { extension(bench.game, bench.rows, {z.data(), bench.rows.n}, out.data(), bench.run); });
    return bench.passes();
}

double ranked(const Bench& bench, const Optimizer& optimizer) {
    std::vector<double> zeta(bench.values()), z(bench.values());
    measure(zeta, [&] { rank(bench.game, bench.rows, optimizer, zeta.data(), z.data(), nullptr, bench.run); });
    return bench.passes() * 2 * static_cast<double>(optimizer.steps);
}

double ascent_10(const Bench& bench) { return ranked(bench, {.steps = 10, .rate = 5}); }

Optimizer adam(std::int64_t steps) {
    return {.steps = steps, .rate = 5, .adam = true, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8};
}
double adam_10(const Bench& bench) { return ranked(bench, adam(10)); }
double adam_100(const Bench& bench) { return ranked(bench, adam(100)); }

double greedily(const Bench& bench) {
    std::vector<std::int32_t> order(at(bench.rows.n * bench.game.n_players));
    measure(order, [&] { greedy(bench.game, bench.rows, order.data(), bench.run); });
    return bench.passes() * 2 * static_cast<double>(bench.game.used_players.size());
}

double both_curves(const Bench& bench) {
    Draws draws(4);
    const std::int32_t players = bench.game.n_players;
    std::vector<std::int32_t> order(at(bench.rows.n * players));
    for (auto row = order.begin(); row != order.end(); row += players) {
        std::iota(row, row + players, 0);
        for (std::int32_t i = players - 1; i > 0; --i) std::swap(row[i], row[draws.below(i + 1)]);
    }
    std::vector<double> insertion(at(bench.rows.n * (players + 1))), deletion(insertion.size());
    measure(insertion,
            [&] { curves(bench.game, bench.rows, order.data(), insertion.data(), deletion.data(), bench.run); });
    return bench.passes() * 2 * static_cast<double>(bench.game.used_players.size() + 1);
}

double predicted(const Bench& bench) {
    std::vector<double> out(at(bench.rows.n * bench.forest.n_outputs));
    measure(out, [&] { predict(bench.forest, bench.rows, out.data(), 1, bench.run.poll); });
    return bench.passes();
}

struct Workload {
    const char* name;
    const Shape& shape;
    std::int64_t rows;
    double (*task)(const Bench&);  // returns the splits x points that it asks for a row
};

const Workload workloads[] = {
    {"Shapley, boosted", boosted, block, shapley},
    {"Shapley, leaf-wise", leafwise, block, shapley},
    {"Shapley, oblivious", oblivious, block, shapley},
    {"Shapley, full depth", deep, block, shapley},
    {"Shapley, 2,000 leaves", large, block, shapley},
    {"Shapley, ten outputs", vectors, block, shapley},
    {"Shapley of one row, boosted", boosted, 1, shapley},
    {"Shapley of one row, 2,000 leaves", large, 1, shapley},
    {"Banzhaf, boosted", boosted, block, banzhaf},
    {"Banzhaf, missing and categories", mixed, block, banzhaf},
    {"by size, boosted", boosted, block, by_size},
    {"by size, full depth", deep, block, by_size},
    {"gradient, boosted", boosted, block, gradient_at_z},
    {"extension, boosted", boosted, block, extension_at_z},
    {"gradient ascent of 10 steps, 2,000 leaves", large, block, ascent_10},
    {"gradient ascent of 10 steps, 57 features", wide, block, ascent_10},
    {"ADAM of 10 steps, 2,000 leaves", large, 2 * block,
     adam_10},  // two blocks: rows of one fill up those of the other
    {"ADAM of 100 steps, 57 features", wide, 2 * block, adam_100},
    {"greedy, 57 features", wide, block, greedily},
    {"both curves, 2,000 leaves", large, block, both_curves},
    {"both curves, 57 features", wide, block, both_curves},
    {"prediction, boosted", boosted, block, predicted},
    {"prediction, missing and categories", mixed, block, predicted},
};

int run(const char* name) {
    if (const char* isa = std::getenv("LEAFGRAD_ISA"); isa != nullptr && *isa != '\0') use_kernels(isa);
    for (const Workload& workload : workloads) {
        if (std::strcmp(workload.name, name) != 0) continue;
        const Bench bench(workload.shape, workload.rows);
        const double passes = workload.task(bench);
        std::printf(R"({"isa": "%s", "compiler": "%s", "rows": %lld, "passes": %.0f})"
                    "\n",
                    kernels().name, LEAFGRAD_COMPILER, static_cast<long long>(workload.rows), passes);
        return 0;
    }
    throw std::runtime_error("no such workload; without an argument the names are listed");
}

}  // namespace
}  // namespace leafgrad::instructions

int main(int argc, char** argv) {
    using namespace leafgrad::instructions;
    if (argc < 2) {
        for (const Workload& workload : workloads) std::puts(workload.name);
        return 0;
    }
    try {
        return run(argv[1]);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s: %s\n", argv[1], e.what());
        return 1;
    }
}
