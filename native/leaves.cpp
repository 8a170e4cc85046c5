#include "leaves.h"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <utility>

namespace leafgrad {
namespace {

template <class I>
std::size_t at(I i) {
    return static_cast<std::size_t>(i);
}

constexpr int rows_a_word = 64;

struct Visit {
    std::int64_t node;
    std::uint64_t rows;  // of the block, that reach it
};

// on_leaf(node, rows) for every leaf of the tree that a row of the block reaches.
template <class OnLeaf>
void drop(const Forest& forest, std::int64_t tree, const Block& block, std::uint64_t rows, std::vector<Visit>& stack,
          OnLeaf on_leaf) {
    const std::int64_t root = forest.tree_start[at(tree)];
    stack.assign(1, {root, rows});
    while (!stack.empty()) {
        const Visit here = stack.back();
        stack.pop_back();
        if (forest.is_leaf(here.node)) {
            on_leaf(here.node, here.rows);
            continue;
        }
        const Test test = forest.test(here.node);
        std::uint64_t mask[mask_words] = {};
        kernels().route(block, &test, 1, forest.set_words.data(), mask);
        const std::uint64_t left = mask[0];
        if (here.rows & ~left) stack.push_back({root + forest.right[at(here.node)], here.rows & ~left});
        if (here.rows & left) stack.push_back({root + forest.left[at(here.node)], here.rows & left});
    }
}

template <class F>
void each_row(std::uint64_t rows, F f) {
    for (; rows != 0; rows &= rows - 1) f(__builtin_ctzll(rows));
}

// on_leaf(tree, node, first row of the block, rows) over all blocks and trees.
template <class OnLeaf>
void drop_all(const Forest& forest, const Rows& rows, int threads, const Poll& poll, OnLeaf on_leaf) {
    const std::int64_t n_blocks = (rows.n + rows_a_word - 1) / rows_a_word;
    if (n_blocks < 4) threads = 1;
    std::vector<std::unique_ptr<BlockBuffer>> buffers(at(std::max(threads, 1)));
    parallel(
        n_blocks, threads,
        [&](std::int64_t item, int worker, Pulse& pulse) {
            auto& buffer = buffers[at(worker)];
            if (!buffer) buffer = std::make_unique<BlockBuffer>(forest, rows_a_word);
            const std::int64_t begin = item * rows_a_word;
            const auto count = static_cast<int>(std::min<std::int64_t>(rows_a_word, rows.n - begin));
            std::array<std::int64_t, rows_a_word> which;
            std::iota(which.begin(), which.end(), begin);
            const Block block = buffer->fill(rows, std::span(which).first(static_cast<std::size_t>(count)));
            const std::uint64_t all = ~std::uint64_t{0} >> (rows_a_word - count);
            std::vector<Visit> stack;
            for (std::int64_t tree = 0; tree < forest.n_trees(); ++tree) {
                pulse();
                drop(forest, tree, block, all, stack,
                     [&](std::int64_t node, std::uint64_t reached) { on_leaf(tree, node, begin, reached); });
            }
            return std::int64_t{count};
        },
        poll);
}

}  // namespace

void leaves(const Forest& forest, const Rows& rows, std::int32_t* out, int threads, const Poll& poll) {
    drop_all(forest, rows, threads, poll,
             [&](std::int64_t tree, std::int64_t node, std::int64_t begin, std::uint64_t reached) {
                 const auto leaf = static_cast<std::int32_t>(node - forest.tree_start[at(tree)]);
                 each_row(reached, [&](int i) { out[(begin + i) * forest.n_trees() + tree] = leaf; });
             });
}

void predict(const Forest& forest, const Rows& rows, double* out, int threads, const Poll& poll) {
    drop_all(forest, rows, threads, poll,
             [&](std::int64_t tree, std::int64_t node, std::int64_t begin, std::uint64_t reached) {
                 const std::int32_t scalar = forest.tree_output[at(tree)];
                 for (std::int32_t k = 0; k < forest.width; ++k) {
                     const double value =
                         forest.value[at(node * forest.width + k)] + forest.root_mean[at(tree * forest.width + k)];
                     const std::int32_t to = scalar < 0 ? k : scalar;
                     each_row(reached, [&](int i) { out[(begin + i) * forest.n_outputs + to] += value; });
                 }
             });
}

}  // namespace leafgrad
