#include "stage.h"

#include <algorithm>
#include <memory>

namespace leafgrad {
namespace {

template <class I>
std::size_t at(I i) {
    return static_cast<std::size_t>(i);
}

constexpr std::int64_t most_bytes = std::int64_t{16} << 20;  // of one buffer of lanes
constexpr double least_work = 3e6;                           // splits x points worth a thread's start

template <class T>
std::size_t most(const Game& game, std::vector<T> Tree::* of) {
    std::size_t most = 0;
    for (const Tree& tree : game.trees) most = std::max(most, (tree.*of).size());
    return most;
}

// Rows that agree with the path at all earlier splits on a repeat's player.
void find_agreed(const Tree& tree, const std::uint64_t* first, std::uint64_t* agreed, int words) {
    // Without branches: which way a repeat goes is as good as random.
    std::uint64_t* out = agreed;
    for (const Repeat& repeat : tree.repeats) {
        const std::uint64_t* went = first + std::int64_t{std::max(repeat.previous, 0)} * mask_words;
        const std::uint64_t* before = agreed + std::int64_t{std::max(repeat.before, 0)} * mask_words;
        const std::uint64_t flip = repeat.side == 0 ? 0 : ~std::uint64_t{0};
        const std::uint64_t all = repeat.previous < 0 ? ~std::uint64_t{0} : 0;
        const std::uint64_t all_before = repeat.before < 0 ? ~std::uint64_t{0} : 0;
        for (int w = 0; w < words; ++w) out[w] = ((went[w] ^ flip) | all) & (before[w] | all_before);
        out += mask_words;
    }
}

}  // namespace

int threads_worth(double work, const Run& run) {
    return static_cast<int>(std::clamp(work / least_work, 1.0, static_cast<double>(std::max(run.threads, 1))));
}

TreeView view_of(const Tree& tree) {
    return {tree.splits.data(),
            tree.steps.data(),
            tree.repeats.data(),
            tree.leaves.data(),
            static_cast<std::int64_t>(tree.steps.size()),
            static_cast<std::int64_t>(tree.repeats.size()),
            tree.outputs,
            tree.first_output};
}

std::int64_t Room::lanes() const {
    const std::int64_t largest = std::max({reach, waiting, results, z, std::int64_t{1}});
    // Whole vectors: 8 lanes are a multiple of every width.
    return std::clamp<std::int64_t>(most_bytes / 8 / largest / 8 * 8, 8, most_lanes);
}

Stage::Stage(const Game& of, const Room& room, std::int64_t at_most)
    : game(of),
      lanes(at_most),
      results(at(room.results * lanes)),
      z(at(room.z * lanes)),
      buffer_(of.forest, lanes),
      first_(most(of, &Tree::splits) * mask_words),
      agreed_(most(of, &Tree::repeats) * mask_words),
      posteriors_(most(of, &Tree::repeats) * 3 * most_width),
      reach_(at(room.reach * lanes)),
      waiting_(at(room.waiting * lanes)) {
    walk.first = first_.data();
    walk.agreed = agreed_.data();
    walk.reach = reach_.data();
    walk.waiting = waiting_.data();
    walk.z = z.data();
    walk.posteriors = posteriors_.data();
    walk.game_outputs = of.n_outputs;
}

void Stage::take(const Rows& rows, std::span<const std::int64_t> which) {
    block_ = buffer_.fill(rows, which);
    routed_ = nullptr;
    const int width = kernels().width;
    walk.lanes = (static_cast<int>(which.size()) + width - 1) / width * width;
}

void Stage::clear_results(std::int64_t rows_of_lanes) {
    std::fill_n(results.data(), at(rows_of_lanes * walk.lanes), 0.0);
}

void Stage::clear_lanes(int n, std::int64_t rows_of_lanes) {
    walk.lanes = n;
    clear_results(rows_of_lanes);
}

void Stage::answer(const Tree& tree, const std::uint64_t* first) {
    routed_ = nullptr;
    for (std::size_t i = 0; i < tree.splits.size(); ++i) first_[i * mask_words] = first[i];
    view(tree);
}

void Stage::set(const Tree& tree) {
    if (routed_ == &tree) return;
    route(tree.tests);
    routed_ = &tree;
    view(tree);
}

const std::uint64_t* Stage::route(std::span<const Test> tests) {
    routed_ = nullptr;
    kernels().route(block_, tests.data(), static_cast<std::int64_t>(tests.size()), game.forest.set_words.data(),
                    first_.data());
    return first_.data();
}

void Stage::view(const Tree& tree) {
    find_agreed(tree, first_.data(), agreed_.data(), (walk.lanes + 63) / 64);
    walk.tree = view_of(tree);
}

void each_block(const Game& game, std::int64_t n, std::int64_t rows_a_block, const Room& room, const Run& run,
                const BlockBody& body) {
    if (n == 0) return;
    const std::int64_t n_blocks = (n + rows_a_block - 1) / rows_a_block;
    const int threads = threads_worth(static_cast<double>(n) * room.work, run);
    const std::int64_t lanes = std::min(room.lanes(), (n + 7) / 8 * 8);
    std::vector<std::unique_ptr<Stage>> crew(at(threads));
    parallel(
        n_blocks, threads,
        [&](std::int64_t block, int worker, Pulse& pulse) {
            auto& stage = crew[at(worker)];
            if (!stage) stage = std::make_unique<Stage>(game, room, lanes);
            const std::int64_t begin = block * rows_a_block;
            const std::int64_t count = std::min(rows_a_block, n - begin);
            body(*stage, begin, count, pulse);
            return count;
        },
        run.poll);
}

void store_gradient(const Stage& stage, std::int64_t begin, std::int64_t count, double* out) {
    const Game& game = stage.game;
    const auto K = at(game.n_outputs), lanes = at(stage.walk.lanes);
    // A cache line of lanes at a time: lines of one lane stand a power of two apart, and push each other out.
    for (std::size_t first = 0; first < at(count); first += 8)
        for (std::size_t slot = 0; slot < game.used_players.size(); ++slot)
            for (std::size_t k = 0; k < K; ++k) {
                const double* from = stage.results.data() + (slot * K + k) * lanes;
                double* to = out + at(begin) * at(game.n_players) * K + at(game.used_players[slot]) * K + k;
                for (std::size_t i = first; i < std::min(first + 8, at(count)); ++i)
                    to[i * at(game.n_players) * K] = from[i];
            }
}

RowNumbers::RowNumbers(const Rows& rows, std::int64_t begin, std::int64_t count) : count_(at(count)) {
    for (std::int64_t i = 0; i < count; ++i) numbers_[i] = rows.n == 1 ? 0 : begin + i;
}

}  // namespace leafgrad
