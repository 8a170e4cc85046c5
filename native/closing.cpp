// The moves of a tree (moves.h): where players close, of which degree the polynomials are, and where they stand.
#include "closing.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace leafgrad {
namespace {

template <class I>
std::size_t at(I i) {
    return static_cast<std::size_t>(i);
}

// The last split on a player above some place, and the side that the path took there.
struct Last {
    std::int32_t split, side;
};

// The edge below a split: the player of the split closes there, or is split on again; others may close there too.
struct Edge {
    std::int32_t child = -1;  // a split, or -1: the leaf
    std::int32_t leaf = -1;
    bool own = false;
    std::vector<Last> closing;
    std::int32_t degree = 0;  // of the polynomial that the split meets
};

struct Node {
    Edge edges[2];
    std::int32_t degree = 0;
    bool both = false;   // its player closes at both edges: else the split only adds the two polynomials
    bool twins = false;  // above a twig and a twig or leaf, with nothing else to close
    bool is_twig() const { return edges[0].child < 0; }
};

class Closer {
public:
    Closer(const Tree& tree, std::int64_t n_players, ClosedGame::Program& out)
        : tree_(tree),
          n_players_(n_players),
          out_(out),
          nodes_(tree.splits.size()) {}

    void close() {
        find_edges();
        count_degrees();
        emit({move::root, 0, 0, 0, nodes_[0].degree - 1, 0, 0, 0});
        out_.reach = nodes_[0].degree;
        lay_out();
    }

private:
    // A player that is split on at `previous` and again below is open on every edge between.
    void find_edges() {
        const auto n = static_cast<std::int32_t>(nodes_.size());
        std::vector<std::vector<Last>> open(nodes_.size());  // players split on above a split, and at it or below
        std::vector<std::int32_t> again;
        for (std::int32_t s = 0; s < n; ++s)
            if (repeats(s)) again.push_back(s);
        std::stable_sort(again.begin(), again.end(),
                         [&](std::int32_t a, std::int32_t b) { return repeat_of(a).previous < repeat_of(b).previous; });
        std::vector<std::int32_t> from(nodes_.size(), -1);
        for (const std::int32_t below : again) {
            const Repeat& repeat = repeat_of(below);
            for (std::int32_t s = below; s != repeat.previous; s = tree_.splits[at(s)].parent) {
                if (from[at(s)] == repeat.previous) break;
                from[at(s)] = repeat.previous;
                open[at(s)].push_back({repeat.previous, repeat.side});
            }
        }
        for (std::int32_t s = 1; s < n; ++s) {
            const Split& split = tree_.splits[at(s)];
            nodes_[at(split.parent)].edges[split.side].child = s;
        }
        std::vector<std::int64_t> goes_on(at(n_players_), -1);  // the last edge that the player is open on
        for (std::int32_t s = 0; s < n; ++s)
            for (int side = 0; side < 2; ++side) {
                Edge& edge = nodes_[at(s)].edges[side];
                const std::int64_t here = 2 * std::int64_t{s} + side;
                if (edge.child < 0)
                    edge.leaf = tree_.splits[at(s)].child[side];
                else
                    for (const Last& last : open[at(edge.child)]) goes_on[at(player_of(last.split))] = here;
                edge.own = goes_on[at(player_of(s))] != here;
                for (const Last& last : open[at(s)]) {
                    const std::int32_t player = player_of(last.split);
                    if (player != player_of(s) && goes_on[at(player)] != here) edge.closing.push_back(last);
                }
            }
    }

    void count_degrees() {
        for (auto s = static_cast<std::int32_t>(nodes_.size()) - 1; s >= 0; --s) {  // children come behind their parent
            Node& node = nodes_[at(s)];
            node.both = node.edges[0].own && node.edges[1].own;
            std::int32_t highest = 0;
            for (int side = 0; side < 2; ++side) {
                Edge& edge = node.edges[side];
                if (!node.both && edge.own) edge.closing.insert(edge.closing.begin(), {s, side});
                edge.degree = static_cast<std::int32_t>(edge.closing.size()) +
                              (edge.child < 0 ? 0 : nodes_[at(edge.child)].degree);
                highest = std::max(highest, edge.degree);
            }
            node.degree = highest + node.both;
            const auto plain_twig = [&](const Edge& edge) {
                return edge.child >= 0 && edge.closing.empty() && nodes_[at(edge.child)].is_twig();
            };
            const auto plain_leaf = [](const Edge& edge) { return edge.child < 0 && edge.closing.empty(); };
            node.twins =
                node.both && plain_twig(node.edges[0]) && (plain_twig(node.edges[1]) || plain_leaf(node.edges[1]));
        }
    }

    // One split on the way, first down and then up.
    struct Frame {
        std::int32_t split;
        int next_side = 0;
        std::int32_t reach;           // where its functional stands, of degree - 1 of the split
        std::int32_t free;            // behind it
        std::int32_t at;              // where its polynomial goes
        std::vector<Move> on_return;  // of the edge that is being walked: what to do when its child is finished
    };

    // Depth first on an explicit stack: trees may be chains of any depth.
    void lay_out() {
        stack_.push_back({0, 0, 0, nodes_[0].degree, 0, {}});
        if (is_bottom(0)) {
            leave_bottom(stack_.back(), nullptr);
            return;
        }
        while (!stack_.empty()) {
            Frame& frame = stack_.back();
            const Node& node = nodes_[at(frame.split)];
            for (const Move& m : frame.on_return) emit(m);
            frame.on_return.clear();
            if (frame.next_side == 2) {
                leave(frame);
                stack_.pop_back();
                continue;
            }
            const int side = frame.next_side++;
            const std::int32_t place =
                side == 0 ? frame.at : frame.at + node.degree + 1;  // the first child's grows in its place to that
            follow(frame.split, side, frame.reach, frame.free, place, highest(node));
        }
    }

    std::int32_t highest(const Node& node) const { return node.degree - node.both; }

    // The functional down an edge, closing by closing, and what is to be done on the way up.
    void follow(std::int32_t split, int side, std::int32_t reach, std::int32_t free, std::int32_t place,
                std::int32_t high) {
        const Node& node = nodes_[at(split)];
        const Edge& edge = node.edges[side];
        if (edge.degree == 0) return;  // a leaf that the split takes as it is
        std::vector<Move> up;          // last first
        const std::int32_t by = high - edge.degree;
        if (by > 0) up.push_back({move::raise, 0, 0, 0, edge.degree, by, 0, place});
        std::int32_t degree = node.degree - 1;  // of the functional at `reach`
        if (by > 0) {
            emit({move::reduce, 0, 0, 0, degree, by, reach, free});
            degree -= by;
            reach = free;
            free += degree + 1;
            out_.reach = std::max(out_.reach, free);
        }
        // The functional stands above these closings; only below the last of them it is the child's.
        std::vector<Last> closing = edge.closing;
        if (node.both) closing.insert(closing.begin(), {split, side});
        for (std::size_t i = 0; i < closing.size(); ++i) {
            const auto [last, on] = closing[i];
            const bool to_leaf = edge.child < 0 && i + 1 == closing.size();
            if (!(node.both && i == 0)) {
                if (to_leaf)
                    up.push_back({move::close_leaf, 0, last, on, 0, edge.leaf, reach, place});
                else
                    up.push_back({move::close + move::by_degree(degree), 0, last, on, degree, 0, reach, place});
            }
            if (to_leaf) break;
            if (i + 1 == closing.size() && is_bottom(edge.child)) break;  // takes this closing in passing
            emit({move::enter + move::by_degree(degree), 0, last, on, degree, free, reach, 0});
            reach = free;
            free += degree;
            --degree;
            out_.reach = std::max(out_.reach, free);
        }
        std::reverse(up.begin(), up.end());
        if (edge.child < 0) {
            use(place + edge.degree + 1);
            for (const Move& m : up) emit(m);
            return;
        }
        stack_.back().on_return = std::move(up);
        Frame child{edge.child, 0, reach, free, place, {}};
        if (is_bottom(edge.child))
            leave_bottom(child, closing.empty() ? nullptr : &closing.back());
        else
            stack_.push_back(std::move(child));
    }

    bool is_bottom(std::int32_t split) const { return nodes_[at(split)].is_twig() || nodes_[at(split)].twins; }

    // A split that is finished in one move. Its functional is the one at `reach`, with `passing` still to be closed.
    void leave_bottom(const Frame& frame, const Last* passing) {
        const Node& node = nodes_[at(frame.split)];
        const auto flag = [](bool on, int bit) { return on ? bit : 0; };
        Move m{0, frame.split, 0, 0, node.degree - 1, 0, frame.reach, frame.at};
        if (passing != nullptr) m.closing = passing->split, m.side = passing->side;
        const bool again = repeats(frame.split);
        if (node.is_twig()) {
            m.code = move::twig + flag(passing != nullptr, 2) + flag(again, 1);
        } else {
            const bool leaf = node.edges[1].child < 0;
            const bool twig_again = repeats(node.edges[0].child) || (!leaf && repeats(node.edges[1].child));
            m.code = move::twins + flag(passing != nullptr, 8) + flag(leaf, 4) + flag(again, 2) + flag(twig_again, 1);
        }
        use(frame.at + node.degree + 1);
        emit(m);
    }

    void leave(const Frame& frame) {
        const Node& node = nodes_[at(frame.split)];
        const std::int32_t degree = highest(node);
        if (!node.both) {
            use(frame.at + 2 * (degree + 1));
            emit({move::join, frame.split, 0, 0, degree, 0, 0, frame.at});
            return;
        }
        const bool leaf = node.edges[1].degree == 0;
        use(frame.at + node.degree + 1 + (leaf ? 0 : degree + 1));
        const std::int32_t code = move::split + ((leaf ? 2 : 0) + (repeats(frame.split) ? 1 : 0)) * n_degrees;
        emit({code + move::by_degree(degree), frame.split, 0, 0, degree, 0, frame.reach, frame.at});
    }

    void emit(const Move& m) {
        out_.moves.push_back(m);
        out_.work += m.degree + 2;
    }
    void use(std::int32_t coefficients) { out_.waiting = std::max(out_.waiting, coefficients); }

    std::int32_t player_of(std::int32_t split) const { return tree_.splits[at(split)].player; }
    const Repeat& repeat_of(std::int32_t split) const { return tree_.repeats[at(tree_.splits[at(split)].repeat)]; }
    bool repeats(std::int32_t split) const {
        return tree_.splits[at(split)].repeat >= 0 && repeat_of(split).previous >= 0;
    }

    const Tree& tree_;
    std::int64_t n_players_;
    ClosedGame::Program& out_;
    std::vector<Node> nodes_;
    std::vector<Frame> stack_;
};

}  // namespace

ClosedGame::ClosedGame(const Game& of) : game(of), programs(of.trees.size()) {
    std::int32_t most = 0;
    for (std::size_t i = 0; i < programs.size(); ++i) {
        const Tree& tree = of.trees[i];
        double largest = 0;
        for (const double leaf : tree.leaves) largest = std::max(largest, std::abs(leaf));
        // 53 bits of the smallest coefficient, and some to spare.
        if (tree.most_players > most_degree ||
            (largest > 0 && halvings(tree.most_players) + 64 + std::abs(std::ilogb(largest)) > 960))
            throw ArgumentError("tree " + std::to_string(of.tree_of[i]) + " has " + std::to_string(tree.most_players) +
                                " different players on one path, with leaves as far as " + std::to_string(largest) +
                                " from their mean: coalition sizes are for paths of up to " +
                                std::to_string(most_degree) +
                                " players and leaves that leave float64 room; semivalues " +
                                "such as Shapley(), Banzhaf(p) and Semivalue(nodes, weights) take any");
        Closer(tree, static_cast<std::int64_t>(of.used_players.size()), programs[i]).close();
        most = std::max(most, tree.most_players);
    }
    // Pascal's triangle, with 11 bits to spare where long double has them.
    std::vector<long double> row{1};
    binomials.reserve(at(most + 1) * at(most + 2) / 2);
    for (std::int32_t r = 0; r <= most; ++r) {
        for (const long double number : row) binomials.push_back(static_cast<double>(number));
        row.push_back(0);
        for (std::size_t j = row.size() - 1; j > 0; --j) row[j] += row[j - 1];
    }
}

}  // namespace leafgrad
