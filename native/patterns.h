// Trees of few tests, by the patterns of their answers.
//
// An oblivious tree of depth 6 asks six tests at its 63 splits, so that its rows are of no more than 64 kinds. All of
// them are walked once, and every row picks what its kind has got. The walk is the same, and so are the numbers but for
// the order of additions.
#pragma once

#include <cstdint>
#include <vector>

#include "game.h"
#include "stage.h"

namespace leafgrad {

inline constexpr std::int64_t most_patterns = 64;
inline constexpr std::int64_t rows_by_pattern = 4 * most_patterns;  // fewer rows are sooner walked themselves

class Patterns {
public:
    // walk(stage, tree) is the walk of one tree for the lanes of a stage with this room.
    template <class WalkTree>
    Patterns(const Game& game, const Room& room, WalkTree walk) : known_(game.trees.size()) {
        if (!any_fits(game)) return;
        Stage stage(game, room, most_patterns);
        stage.clear_lanes(most_patterns, room.results);
        stage.walk.gradient = stage.results.data();
        for (std::size_t i = 0; i < game.trees.size(); ++i) {
            if (!fits(game.trees[i])) continue;
            stage.answer(game.trees[i], answers_.data());
            walk(stage, game.trees[i]);
            keep(game.trees[i], stage, known_[i]);
        }
    }

    bool knows(std::size_t tree) const { return !known_[tree].tests.empty(); }
    // Adds the gradients of a tree to those of the stage's rows.
    void add(std::size_t tree, Stage& stage) const;

private:
    struct Known {
        std::vector<Test> tests;          // pattern bit i: a row that test i sends left
        std::vector<std::int64_t> slots;  // of the gradient's rows of lanes
        std::vector<double> values;       // slots x patterns
    };

    bool any_fits(const Game& game);
    // Whether the tree is worth it; sets tests_, and answers_ to those of all patterns.
    bool fits(const Tree& tree);
    void keep(const Tree& tree, Stage& stage, Known& known);

    std::vector<Known> known_;
    std::vector<Test> tests_;
    std::vector<std::uint64_t> answers_;
    std::int64_t numbers_ = 0;
};

}  // namespace leafgrad
