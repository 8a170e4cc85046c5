#include "game.h"

#include <algorithm>
#include <string>

namespace leafgrad {
namespace {

template <class I>
std::size_t at(I i) {
    return static_cast<std::size_t>(i);
}

// Below this a product of shares is so near the end of float64 that its quotients lose digits.
constexpr double smallest_product = 1e-290;

// What the path from the root knows of a player.
struct Trail {
    std::int32_t split = -1;  // the last split that tested the player
    std::int32_t side = 0;    // the side of it that the path took
    double product = 1;       // shares of the player's edges so far
};

// Puts one tree in walking order. A depth-first descent on an explicit stack; `trails` holds one entry a player and
// is as it was before when the descent ends.
class Arranger {
public:
    Arranger(const Forest& forest, std::int64_t tree, std::span<const std::int32_t> player, std::vector<Trail>& trails,
             Tree& out)
        : forest_(forest),
          tree_(tree),
          root_(forest.tree_start[at(tree)]),
          player_(player),
          trails_(trails),
          out_(out) {
        count_splits();
    }

    std::int32_t n_splits() const { return splits_below_[0]; }

    // Tells the nodes of the leaves in the order of their new indices.
    std::vector<std::int64_t> arrange() {
        out_.splits.reserve(at(n_splits()));
        out_.tests.reserve(at(n_splits()));
        std::vector<std::int64_t> leaves;
        leaves.reserve(at(n_splits()) + 1);
        open(root_, -1, 0);
        while (!stack_.empty()) {
            Frame& frame = stack_.back();
            Split& split = out_.splits[at(frame.split)];
            trails_[at(split.player)] = frame.before;
            if (frame.next_side == 2) {
                close(frame);
                continue;
            }
            const int side = frame.next_side++;
            trails_[at(split.player)] = {frame.split, side, follow(frame, side)};
            const std::int64_t child = frame.child[side];
            if (kind(child) == Kind::leaf) {
                split.child[side] = static_cast<std::int32_t>(leaves.size());
                leaves.push_back(child);
            } else {
                split.child[side] = static_cast<std::int32_t>(out_.splits.size());
                open(child, frame.split, side);
            }
        }
        return leaves;
    }

private:
    struct Frame {
        std::int32_t split;
        int next_side;
        std::int64_t child[2];
        Trail before;  // the trail of the split's player above it
    };

    // Children may stand anywhere behind their root: list the nodes top down, then add up from below.
    void count_splits() {
        splits_below_.assign(at(forest_.tree_start[at(tree_) + 1] - root_), 0);
        std::vector<std::int32_t> order{0};
        for (std::size_t next = 0; next < order.size(); ++next) {
            const std::int64_t node = root_ + order[next];
            if (forest_.is_leaf(node)) continue;
            order.push_back(forest_.left[at(node)]);
            order.push_back(forest_.right[at(node)]);
        }
        for (auto node = order.rbegin(); node != order.rend(); ++node) {
            const auto i = at(root_ + *node);
            if (forest_.left[i] >= 0)
                splits_below_[at(*node)] = 1 + splits_below_[at(forest_.left[i])] + splits_below_[at(forest_.right[i])];
        }
    }

    std::int32_t splits_below(std::int64_t node) const { return splits_below_[at(node - root_)]; }

    Kind kind(std::int64_t node) const {
        const std::int32_t n = splits_below(node);
        return n == 0 ? Kind::leaf : n == 1 ? Kind::twig : Kind::branch;
    }

    void open(std::int64_t node, std::int32_t parent, std::int32_t side) {
        const std::int64_t a = root_ + forest_.left[at(node)], b = root_ + forest_.right[at(node)];
        const bool swap = splits_below(b) > splits_below(a);
        const std::int64_t first = swap ? b : a, second = swap ? a : b;
        const std::int32_t feature = forest_.feature[at(node)];
        const std::int32_t player = player_[at(feature)];
        const Trail& trail = trails_[at(player)];
        const auto here = static_cast<std::int32_t>(out_.splits.size());

        Split split{};
        split.share[0] = forest_.share[at(first)];
        split.share[1] = forest_.share[at(second)];
        split.player = player;
        split.parent = parent;
        split.side = side;
        split.level = parent < 0 ? 0 : out_.splits[at(parent)].level + 1;
        out_.levels = std::max(out_.levels, split.level + 1);
        repeats_.push_back(trail.split >= 0);
        split.repeat = -1;
        if (trail.split >= 0) {
            const std::int32_t before = out_.splits[at(trail.split)].repeat;
            split.repeat = add({trail.product, trail.split, trail.side, before});
        }
        out_.splits.push_back(split);
        out_.tests.push_back(forest_.test(node, swap));
        stack_.push_back({here, 0, {first, second}, trail});

        distinct_ += !repeats(here);
        out_.most_players = std::max(out_.most_players, distinct_);
        if (parent < 0)
            out_.steps.push_back({here, enter_root});
        else if (splits_below(first) > 1)
            out_.steps.push_back({here, enter_code(repeats(parent), repeats(here))});
    }

    void close(const Frame& frame) {
        distinct_ -= !repeats(frame.split);
        const Split& split = out_.splits[at(frame.split)];
        const Kind first = kind(frame.child[0]), second = kind(frame.child[1]);
        // A twig is finished by its parent; a lone split has none.
        if (first != Kind::leaf || split.parent < 0) {
            const bool twig_repeats =
                (first == Kind::twig && repeats(split.child[0])) || (second == Kind::twig && repeats(split.child[1]));
            for (int side = 0; twig_repeats && side < 2; ++side)
                if (kind(frame.child[side]) == Kind::twig && !repeats(split.child[side]))
                    out_.splits[at(split.child[side])].repeat = add({1, -1, 0, -1});
            const Leave how = how_to_leave(first, second, split.parent);
            out_.steps.push_back({frame.split, leave_code(how, repeats(frame.split), twig_repeats)});
            waiting_ += 1 - (first == Kind::branch) - (second == Kind::branch);
            out_.waiting = std::max(out_.waiting, waiting_);
        }
        stack_.pop_back();
    }

    std::int32_t add(Repeat repeat) {
        out_.repeats.push_back(repeat);
        return static_cast<std::int32_t>(out_.repeats.size()) - 1;
    }

    bool repeats(std::int32_t split) const { return repeats_[at(split)] != 0; }

    Leave how_to_leave(Kind first, Kind second, std::int32_t parent) const {
        if (first == Kind::leaf) return Leave::leaf_leaf;
        const bool leaf = second == Kind::leaf;
        if (first == Kind::branch)
            return leaf ? Leave::branch_leaf : second == Kind::twig ? Leave::branch_twig : Leave::branch_branch;
        if (parent < 0) return leaf ? Leave::twig_leaf : Leave::twig_twig;
        if (repeats(parent)) return leaf ? Leave::passing_repeat_twig_leaf : Leave::passing_repeat_twig_twig;
        return leaf ? Leave::passing_twig_leaf : Leave::passing_twig_twig;
    }

    double follow(const Frame& frame, int side) const {
        const double earlier = frame.before.product, share = out_.splits[at(frame.split)].share[side];
        const double product = earlier * share;
        if (earlier > 0 && share > 0 && product < smallest_product)
            throw FormatError("tree " + std::to_string(tree_) + ": on one path the cover shares of one player (its " +
                              "feature or group) multiply to less than 1e-290, which float64 cannot carry; pass " +
                              "covers of a smaller range, or a cover of 0 where no row came");
        return product;
    }

    const Forest& forest_;
    std::int64_t tree_, root_;
    std::span<const std::int32_t> player_;
    std::vector<Trail>& trails_;
    Tree& out_;
    std::vector<std::int32_t> splits_below_;
    std::vector<char> repeats_;
    std::vector<Frame> stack_;
    std::int32_t distinct_ = 0, waiting_ = 0;
};

}  // namespace

Game::Game(const Forest& of, std::span<const std::int32_t> player, std::int32_t players,
           std::span<const std::int32_t> outputs)
    : forest(of),
      n_players(players),
      n_outputs(static_cast<std::int32_t>(outputs.size())) {
    if (player.size() != at(forest.n_features)) throw ArgumentError("players: wanted one player a feature");
    for (const std::int32_t p : player)
        if (p < 0 || p >= n_players) throw ArgumentError("players: a feature's player is not in 0..n_players-1");
    for (const std::int32_t k : outputs)
        if (k < 0 || k >= forest.n_outputs) throw ArgumentError("outputs: no output " + std::to_string(k));

    std::vector<Trail> trails(at(n_players));
    std::vector<std::int32_t> place(at(forest.n_outputs), -1);
    for (std::size_t k = 0; k < outputs.size(); ++k) place[at(outputs[k])] = static_cast<std::int32_t>(k);
    for (std::int64_t tree = 0; tree < forest.n_trees(); ++tree) {
        const std::int32_t scalar = forest.tree_output[at(tree)];
        if (scalar >= 0 && place[at(scalar)] < 0) continue;
        Tree out;
        Arranger arranger(forest, tree, player, trails, out);
        if (arranger.n_splits() == 0) continue;
        const auto leaves = arranger.arrange();
        out.outputs = scalar >= 0 ? 1 : n_outputs;
        out.first_output = scalar >= 0 ? place[at(scalar)] : 0;
        out.leaves.reserve(leaves.size() * at(out.outputs));
        for (const std::int64_t node : leaves)
            for (std::int32_t k = 0; k < out.outputs; ++k)
                out.leaves.push_back(forest.value[at(node * forest.width + (scalar >= 0 ? 0 : outputs[at(k)]))]);
        trees.push_back(std::move(out));
        tree_of.push_back(tree);
    }

    player_slot.assign(at(n_players), -1);
    for (const Tree& tree : trees)
        for (const Split& split : tree.splits) player_slot[at(split.player)] = 0;
    for (std::int32_t p = 0; p < n_players; ++p)
        if (player_slot[at(p)] == 0) {
            player_slot[at(p)] = static_cast<std::int32_t>(used_players.size());
            used_players.push_back(p);
        }
    for (Tree& tree : trees)
        for (Split& split : tree.splits) split.player = player_slot[at(split.player)];
}

}  // namespace leafgrad
