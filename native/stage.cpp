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

std::int64_t most_splits(const Game& game) {
    std::size_t most = 0;
    for (const Tree& tree : game.trees) most = std::max(most, tree.splits.size());
    return static_cast<std::int64_t>(most);
}

// Rows that agree with the path at all earlier splits on a split's player; all of them at a first split.
void find_agreed(const Tree& tree, const std::uint64_t* first, std::uint64_t* agreed) {
    std::fill_n(agreed, tree.splits.size() * mask_words, ~std::uint64_t{0});
    for (const Repeat& repeat : tree.repeats)
        for (int w = 0; w < mask_words; ++w) {
            const std::int64_t before = std::int64_t{repeat.previous} * mask_words + w;
            const std::uint64_t taken = repeat.side == 0 ? first[before] : ~first[before];
            agreed[std::int64_t{repeat.split} * mask_words + w] = agreed[before] & taken;
        }
}

}  // namespace

std::int64_t Room::lanes() const {
    const std::int64_t largest = std::max({reach, waiting, results, z, std::int64_t{1}});
    // Whole vectors: 8 lanes are a multiple of every width.
    return std::clamp<std::int64_t>(most_bytes / 8 / largest / 8 * 8, 8, most_lanes);
}

Stage::Stage(const Game& of, const Room& room, std::int64_t lanes)
    : game(of),
      results(at(room.results * lanes)),
      z(at(room.z * lanes)),
      buffer_(of.forest),
      first_(at(most_splits(of)) * mask_words),
      agreed_(first_.size()),
      reach_(at(room.reach * lanes)),
      waiting_(at(room.waiting * lanes)) {
    walk.first = first_.data();
    walk.agreed = agreed_.data();
    walk.reach = reach_.data();
    walk.waiting = waiting_.data();
    walk.z = z.data();
    walk.game_outputs = of.n_outputs;
}

void Stage::take(const Rows& rows, std::span<const std::int64_t> which) {
    block_ = buffer_.fill(rows, which);
    const int width = kernels().width;
    walk.lanes = (static_cast<int>(which.size()) + width - 1) / width * width;
}

void Stage::clear_results(std::int64_t rows_of_lanes) {
    std::fill_n(results.data(), at(rows_of_lanes * walk.lanes), 0.0);
}

void Stage::set(const Tree& tree) {
    kernels().route(block_, tree.tests.data(), static_cast<std::int64_t>(tree.tests.size()),
                    game.forest.set_words.data(), first_.data());
    find_agreed(tree, first_.data(), agreed_.data());
    walk.tree = {tree.splits.data(), tree.steps.data(),
                 tree.leaves.data(), static_cast<std::int64_t>(tree.steps.size()),
                 tree.outputs,       tree.first_output};
}

void each_block(const Game& game, std::int64_t n, std::int64_t rows_a_block, const Room& room, const Run& run,
                const BlockBody& body) {
    if (n == 0) return;
    const std::int64_t n_blocks = (n + rows_a_block - 1) / rows_a_block;
    const double worth = static_cast<double>(n) * room.work / least_work;
    const int threads = static_cast<int>(std::clamp(worth, 1.0, static_cast<double>(std::max(run.threads, 1))));
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

RowNumbers::RowNumbers(const Rows& rows, std::int64_t begin, std::int64_t count) : count_(at(count)) {
    for (std::int64_t i = 0; i < count; ++i) numbers_[i] = rows.n == 1 ? 0 : begin + i;
}

}  // namespace leafgrad
