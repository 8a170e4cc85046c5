#include "alone.h"

#include <algorithm>
#include <memory>

namespace leafgrad {
namespace {

template <class I>
std::size_t at(I i) {
    return static_cast<std::size_t>(i);
}

constexpr int sums_a_player = 2 * most_width;
constexpr std::size_t most_points_alone = most_vectors * most_width;

// What a worker needs: no more than one row does, as the room is made for every call.
class Desk {
public:
    Desk(const Game& game, const Rules& rules);
    void work(const Rows& rows, std::int64_t row, double* out, Pulse& pulse);

private:
    // The most that a tree of the game wants.
    struct Sizes {
        std::size_t splits = 0, repeats = 0, levels = 0, waiting = 0;
        explicit Sizes(const Game& game) {
            for (const Tree& tree : game.trees) {
                splits = std::max(splits, tree.splits.size());
                repeats = std::max(repeats, tree.repeats.size());
                levels = std::max(levels, at(tree.levels));
                waiting = std::max(waiting, at(tree.waiting) * at(tree.outputs));
            }
        }
    };
    Desk(const Game& game, const Rules& rules, const Sizes& sizes);
    void walk_points(std::int64_t begin, std::int64_t end);

    const Game& game_;
    const Rules& rules_;
    BlockBuffer buffer_;
    Aligned<std::uint32_t> ways_;
    Aligned<const double*> places_;
    Aligned<double> terms_, reach_, waiting_, sums_;
    std::int64_t begin_ = -1;  // of the points in
    alignas(64) double t_[most_points_alone], weights_[most_points_alone];
    WalkAlone walk_{};
};

Desk::Desk(const Game& game, const Rules& rules) : Desk(game, rules, Sizes(game)) {}

Desk::Desk(const Game& game, const Rules& rules, const Sizes& sizes)
    : game_(game),
      rules_(rules),
      buffer_(game.forest, 1),
      ways_(sizes.splits + 1, Aligned<std::uint32_t>::untouched),
      places_(sizes.repeats + 1, Aligned<const double*>::untouched),
      terms_((sizes.repeats + 3) * 4 * most_points_alone, Aligned<double>::untouched),
      reach_((sizes.levels + 1) * 2 * most_points_alone, Aligned<double>::untouched),
      waiting_(sizes.waiting * most_points_alone, Aligned<double>::untouched),
      sums_(game.used_players.size() * at(game.n_outputs) * sums_a_player, Aligned<double>::untouched) {
    ways_.data()[0] = 0;
    walk_.ways = ways_.data() + 1;
    walk_.places = places_.data() + 1;
    walk_.terms = terms_.data();
    walk_.t = t_;
    walk_.weights = weights_;
    walk_.reach = reach_.data();
    walk_.waiting = waiting_.data();
    walk_.gradient_stride = static_cast<std::int64_t>(game.used_players.size()) * sums_a_player;
}

// As many vectors at a time as there are; points of weight 0 fill up the last.
void Desk::walk_points(std::int64_t begin, std::int64_t end) {
    const Kernels& kernels = kernels_for(end - begin);
    while (begin < end) {
        const auto vectors = std::min<std::int64_t>((end - begin + kernels.width - 1) / kernels.width, most_vectors);
        const std::int64_t n = std::min(end - begin, vectors * kernels.width);
        if (begin != begin_) {
            std::fill(std::begin(t_), std::end(t_), 0.5);
            std::fill(std::begin(weights_), std::end(weights_), 0.0);
            std::copy_n(rules_.nodes.data() + begin, n, t_);
            std::copy_n(rules_.weights.data() + begin, n, weights_);
            begin_ = begin;
        }
        begin += n;
        kernels.alone[vectors - 1](walk_);
    }
}

void Desk::work(const Rows& rows, std::int64_t row, double* out, Pulse& pulse) {
    const Block block = buffer_.fill_alone(rows, row);
    double* sums = sums_.data();
    std::fill_n(sums, game_.used_players.size() * at(game_.n_outputs) * sums_a_player, 0.0);
    for (const Tree& tree : game_.trees) {
        kernels().route_alone(block, tree.tests.data(), static_cast<std::int64_t>(tree.tests.size()),
                              game_.forest.set_words.data(), ways_.data() + 1);
        walk_.tree = view_of(tree);
        walk_.gradient = sums_.data() + tree.first_output * walk_.gradient_stride;
        const std::int64_t begin = rules_.start[at(tree.most_players)];
        walk_points(begin, begin + rules_.points(tree.most_players));
        pulse(static_cast<std::int64_t>(tree.splits.size()) * most_width);
    }
    for (std::int32_t k = 0; k < game_.n_outputs; ++k)
        for (const std::int32_t player : game_.used_players) {
            double sum = sums[0];
            for (int i = 1; i < sums_a_player; ++i) sum += sums[i];
            out[(row * game_.n_players + player) * game_.n_outputs + k] = sum;
            sums += sums_a_player;
        }
}

}  // namespace

void attribute_alone(const Game& game, const Rows& rows, const Rules& rules, double* out, const Run& run) {
    double points = 0;
    for (const Tree& tree : game.trees)
        points += static_cast<double>(tree.splits.size()) * static_cast<double>(rules.points(tree.most_players));
    const int threads = threads_worth(static_cast<double>(rows.n) * points, run);
    std::vector<std::unique_ptr<Desk>> crew(at(threads));
    parallel(
        rows.n, threads,
        [&](std::int64_t row, int worker, Pulse& pulse) {
            auto& desk = crew[at(worker)];
            if (!desk) desk = std::make_unique<Desk>(game, rules);
            desk->work(rows, row, out, pulse);
            return 1;
        },
        run.poll);
}

}  // namespace leafgrad
