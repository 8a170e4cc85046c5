// The game a walk plays: a Forest's trees put in walking order, its features owned by players, its outputs chosen.
//
// A tree becomes a list of splits in preorder, the child with more splits first, and a list of steps, `enter` and
// `leave`, that a walk runs from front to back: no recursion, so a chain of any depth is walked, and no more than
// log2(splits) finished subtrees wait for their sibling. A split right above two leaves is a *twig*: its parent
// finishes it, so it has no steps of its own (unless it is the root).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "forest.h"
#include "split.h"

namespace leafgrad {

// An argument does not fit (leafgrad.errors.InputError).
struct ArgumentError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Tree {
    std::vector<Split> splits;
    std::vector<Test> tests;
    std::vector<Repeat> repeats;  // each behind the one it goes by
    std::vector<Step> steps;
    std::vector<double> leaves;     // leaf x outputs
    std::int32_t outputs = 0;       // values per leaf
    std::int32_t first_output = 0;  // where they go among the game's outputs
    std::int32_t levels = 0;        // most branches on a path
    std::int32_t waiting = 0;       // most finished subtrees kept at a time
    std::int32_t most_players = 0;  // U: most distinct players on a path
};

class Game {
public:
    Game(const Forest& forest, std::span<const std::int32_t> player, std::int32_t n_players,
         std::span<const std::int32_t> outputs);

    const Forest& forest;
    std::vector<Tree> trees;            // those with a split that add to a chosen output
    std::vector<std::int64_t> tree_of;  // their place in the forest
    std::int32_t n_players, n_outputs;
    std::vector<std::int32_t> used_players;  // players that own a split, sorted
    std::vector<std::int32_t> player_slot;   // player -> its place in used_players, or -1
};

}  // namespace leafgrad
