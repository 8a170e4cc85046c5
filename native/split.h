// What a walk and a router read of a tree: plain records, safe to share with the units of every instruction set.
#pragma once

#include <cstdint>

namespace leafgrad {

// How a split decides. `x <= threshold` goes left; the flags say what the comparison does not.
enum Flag : std::uint8_t {
    missing_left = 1,     // NaN goes left (else right)
    categorical = 2,      // goes left iff the code trunc(x) is in the node's set
    other_left = 4,       // codes outside the set's range, negative ones too, go left (else right)
    zero_missing = 8,     // numbers no larger than `largest_zero` count as NaN
    negative_other = 16,  // numbers between -1 and 0 are outside the set too, not cut to code 0
};

// What LightGBM takes for zero: a float, compared in double.
inline constexpr double largest_zero = 1e-35F;

// The rule of one split.
struct Test {
    union {
        double threshold;
        struct {
            std::uint32_t begin, size;  // words of the category set
        } set;
    };
    std::int32_t feature;
    std::uint8_t flags;   // Flag
    bool first_is_right;  // the mask answers "goes to the first child" in walking order
};
static_assert(sizeof(Test) == 16);

// A `twig` is a split right above two leaves: its parent finishes it in passing. Any other split is a `branch`.
enum class Kind : std::uint8_t { leaf, twig, branch };

// A split in the recursion. "First" and "second" are the children in walking order; the first has more splits.
struct Split {
    double share[2];        // w of the first and of the second child
    std::int32_t player;    // its place in Game::used_players
    std::int32_t parent;    // -1 at the root
    std::int32_t level;     // splits above
    std::int32_t side;      // 0: first child of its parent, 1: second
    std::int32_t repeat;    // its place among the repeats, or -1
    std::int32_t child[2];  // index among the tree's splits (twig, branch) or leaves
};

// A split whose player was split on before: who agrees with the path is told from the last time. (And a twig of a
// first split beside a twig that repeats: what one of them needs, both are asked for.)
struct Repeat {
    double earlier;         // W: product of the shares of this player's earlier edges on the path
    std::int32_t previous;  // the last split on the player; -1: none, all agree
    std::int32_t side;      // of `previous`, that the path took
    std::int32_t before;    // the place of `previous` among the repeats, or -1
};

// A walk is a list of steps. `leave` comes after the steps of the split's branches; a split without branches has no
// other step than a leave that passes by (the root's is always stored).
struct Step {
    std::int32_t split;
    std::int32_t code;
};

// Codes: 0 enter the root; 1, 2 enter from a parent that is a player's first split, a later one; then leaves, four of
// each row of this table (+1: the split repeats its player, +2: a twig below it does).
enum class Leave : std::int32_t {
    leaf_leaf,  // stored s
    twig_leaf,
    twig_twig,
    branch_leaf,
    branch_twig,
    branch_branch,
    passing_twig_leaf,  // s from the parent's
    passing_twig_twig,
    passing_repeat_twig_leaf,  // s from that of a parent that repeats its player
    passing_repeat_twig_twig,
};
inline constexpr std::int32_t enter_root = 0;
constexpr std::int32_t enter_code(bool parent_repeats, bool repeats) {
    return 1 + (parent_repeats ? 1 : 0) + (repeats ? 2 : 0);
}
constexpr std::int32_t leave_code(Leave kind, bool repeats, bool twig_repeats) {
    return 5 + 4 * static_cast<std::int32_t>(kind) + (repeats ? 1 : 0) + (twig_repeats ? 2 : 0);
}
inline constexpr std::int32_t n_step_codes = 5 + 4 * 10;

}  // namespace leafgrad
