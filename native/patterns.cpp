#include "patterns.h"

#include <algorithm>

namespace leafgrad {
namespace {

template <class I>
std::size_t at(I i) {
    return static_cast<std::size_t>(i);
}

constexpr std::size_t most_tests = 6;
constexpr std::int64_t most_numbers = std::int64_t{1} << 21;  // 16 MB of all trees
// Lane p is pattern p: the lanes whose bit i is set.
constexpr std::uint64_t with_bit[most_tests] = {0xaaaaaaaaaaaaaaaa, 0xcccccccccccccccc, 0xf0f0f0f0f0f0f0f0,
                                                0xff00ff00ff00ff00, 0xffff0000ffff0000, 0xffffffff00000000};

// Whether they send the same rows left.
bool same(const Test& a, const Test& b) {
    if (a.feature != b.feature || a.flags != b.flags) return false;
    if (a.flags & categorical) return a.set.begin == b.set.begin && a.set.size == b.set.size;
    return a.threshold == b.threshold;
}

}  // namespace

bool Patterns::any_fits(const Game& game) {
    return std::any_of(game.trees.begin(), game.trees.end(), [&](const Tree& tree) { return fits(tree); });
}

bool Patterns::fits(const Tree& tree) {
    tests_.clear();
    answers_.clear();
    for (const Test& test : tree.tests) {
        std::size_t which = 0;
        while (which < tests_.size() && !same(tests_[which], test)) ++which;
        if (which == most_tests) return false;
        if (which == tests_.size()) {
            tests_.push_back(test);
            tests_.back().first_is_right = false;
        }
        answers_.push_back(test.first_is_right ? ~with_bit[which] : with_bit[which]);
    }
    return tree.splits.size() > 2 * tests_.size();
}

void Patterns::keep(const Tree& tree, Stage& stage, Known& known) {
    std::vector<std::int64_t> slots;
    for (const Split& split : tree.splits)
        for (std::int32_t k = 0; k < tree.outputs; ++k)
            slots.push_back(std::int64_t{split.player} * stage.walk.game_outputs + tree.first_output + k);
    std::sort(slots.begin(), slots.end());
    slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
    const auto numbers = static_cast<std::int64_t>(slots.size()) * most_patterns;
    const bool room = numbers_ + numbers <= most_numbers;
    for (const std::int64_t slot : slots) {
        double* found = stage.results.data() + slot * most_patterns;
        if (room) known.values.insert(known.values.end(), found, found + most_patterns);
        std::fill_n(found, most_patterns, 0.0);
    }
    if (!room) return;
    numbers_ += numbers;
    known.tests = tests_;
    known.slots = std::move(slots);
}

void Patterns::add(std::size_t tree, Stage& stage) const {
    const Known& known = known_[tree];
    const std::uint64_t* left = stage.route(known.tests);
    kernels().look_up({left, static_cast<int>(known.tests.size()), known.slots.data(),
                       static_cast<std::int64_t>(known.slots.size()), known.values.data(), stage.walk.lanes,
                       stage.walk.gradient});
}

}  // namespace leafgrad
