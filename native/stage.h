// What a worker needs to walk a game's trees for a block of rows, and the blocks of a whole matrix over threads.
//
// `attribute`, `rank` and `curves` differ in the points at which they walk and in what they make of the results; the
// rows, the routing, the buffers and the threads are the same for all, and stand here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "aligned.h"
#include "game.h"
#include "parallel.h"
#include "rows.h"

namespace leafgrad {

// A nonzero z below this is taken as 0: its reciprocal would overflow, and no result changes by more.
inline constexpr double smallest_z = 1e-290;

// One number in every lane.
struct Filled {
    explicit Filled(double x) { std::fill_n(lanes, most_lanes, x); }
    alignas(64) double lanes[most_lanes];
};

struct Run {
    int threads = 1;
    Poll poll;
};

// How many threads this work is worth, in splits x points.
int threads_worth(double work, const Run& run);

TreeView view_of(const Tree& tree);

// Room that a kind of walk wants, per lane and in doubles.
struct Room {
    std::int64_t reach = 0;  // 0: walks without gradients
    std::int64_t waiting = 0;
    std::int64_t results = 0;  // gradients or values
    std::int64_t z = 0;
    double work = 0;  // splits x points of one row, to judge what threads are worth
    std::int64_t most_lanes = leafgrad::most_lanes;

    // For walks of at most `points_of(tree)` points at a time and `all_points_of(tree)` in all.
    template <class F, class G>
    static Room of(const Game& game, bool gradients, F points_of, G all_points_of) {
        Room room;
        for (const Tree& tree : game.trees) {
            const std::int64_t points = points_of(tree);
            if (gradients) room.reach = std::max(room.reach, tree.levels * points);
            room.waiting = std::max(room.waiting, tree.waiting * points * tree.outputs);
            room.work += static_cast<double>(tree.splits.size()) * static_cast<double>(all_points_of(tree));
        }
        return room;
    }
    // Lanes of a block: as many as keep each buffer within bounds, at least 8.
    std::int64_t lanes() const;
};

class Stage {
public:
    Stage(const Game& game, const Room& room, std::int64_t lanes);

    const Game& game;
    const std::int64_t lanes;  // the most that it takes
    Walk walk{};               // buffers are set, and lanes by `take`
    Aligned<double> results, z;

    // The rows of these numbers are the lanes from now on.
    void take(const Rows& rows, std::span<const std::int64_t> which);
    // Routes the lanes through each tree and calls visit(tree), with walk.tree set. A lone tree is routed once for the
    // rows taken, however often it is walked.
    template <class Visit>
    void each_tree(Pulse& pulse, Visit visit) {
        for (const Tree& tree : game.trees) {
            set(tree);
            visit(tree);
            pulse(static_cast<std::int64_t>(tree.splits.size()) * walk.lanes);
        }
    }
    void clear_results(std::int64_t rows_of_lanes);
    // So many lanes, of no row, with results of 0. `answer` tells which way they go in a tree: a word per split, of
    // those that go to the first child.
    void clear_lanes(int lanes, std::int64_t rows_of_lanes);
    void answer(const Tree& tree, const std::uint64_t* first);
    // Routes the lanes through a tree; it is what the walk is for from now on.
    void set(const Tree& tree);
    // Per test a mask of the lanes that it sends left. The stage then is set for no tree.
    const std::uint64_t* route(std::span<const Test> tests);

private:
    void view(const Tree& tree);

    BlockBuffer buffer_;
    Block block_{};
    const Tree* routed_ = nullptr;  // the masks are this tree's, for the rows taken
    std::vector<std::uint64_t> first_, agreed_;
    Aligned<double> posteriors_, reach_, waiting_;
};

// body(stage, begin, count, pulse) for blocks of rows 0 .. n-1, each of at most `rows_a_block`.
using BlockBody = std::function<void(Stage& stage, std::int64_t begin, std::int64_t count, Pulse& pulse)>;
void each_block(const Game& game, std::int64_t n, std::int64_t rows_a_block, const Room& room, const Run& run,
                const BlockBody& body);

// Gradients of a block, players x outputs x lanes in `results`, to rows begin, ... of `out`, players x outputs each.
void store_gradient(const Stage& stage, std::int64_t begin, std::int64_t count, double* out);

// begin, begin + 1, ..., or one row again and again where `rows` has but one.
class RowNumbers {
public:
    RowNumbers(const Rows& rows, std::int64_t begin, std::int64_t count);
    operator std::span<const std::int64_t>() const { return {numbers_, count_}; }

private:
    std::int64_t numbers_[most_lanes];
    std::size_t count_;
};

}  // namespace leafgrad
