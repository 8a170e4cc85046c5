#include "forest.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace leafgrad {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

[[noreturn]] void damaged(const std::string& what) { throw FormatError("the trees are damaged: " + what); }

std::string where(std::int64_t tree, std::int64_t node) {
    return "tree " + std::to_string(tree) + ", node " + std::to_string(node) + ": ";
}

template <class T>
std::vector<T> copy(std::span<const T> from) {
    return {from.begin(), from.end()};
}

}  // namespace

Forest::Forest(const ForestArrays& from)
    : tree_start(copy(from.tree_start)),
      left(copy(from.left)),
      right(copy(from.right)),
      feature(copy(from.feature)),
      threshold(copy(from.threshold)),
      flags(copy(from.flags)),
      category_set(copy(from.category_set)),
      set_start(copy(from.set_start)),
      set_words(copy(from.set_words)),
      share(from.left.size(), 1.0),
      value(copy(from.value)),
      tree_output(copy(from.tree_output)),
      n_features(from.n_features),
      n_outputs(from.n_outputs),
      width(from.width),
      single(from.single) {
    check_arrays(from);
    root_mean.assign(tree_output.size() * at(width), 0.0);
    if (!from.root_mean.empty()) {
        if (from.root_mean.size() != root_mean.size()) damaged("root_mean does not have one row a tree");
        root_mean = copy(from.root_mean);
    }
    std::vector<std::int64_t> order;
    for (std::int64_t tree = 0; tree < n_trees(); ++tree) take_tree(tree, from, order);

    std::vector<char> used(at(n_features), 0);
    for (std::int64_t node = 0; node < n_nodes(); ++node)
        if (!is_leaf(node)) used[at(feature[at(node)])] = 1;
    for (std::int32_t j = 0; j < n_features; ++j)
        if (used[at(j)]) used_features.push_back(j);
}

Test Forest::test(std::int64_t node, bool first_is_right) const {
    const auto i = at(node);
    const std::int32_t set = category_set[i];
    Test test{{threshold[i]}, feature[i], flags[i], first_is_right};
    if (set >= 0) {
        const std::int64_t begin = set_start[at(set)], end = set_start[at(set + 1)];
        test.set = {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end - begin)};
    }
    return test;
}

void Forest::check_arrays(const ForestArrays& from) const {
    const auto nodes = left.size();
    const auto same = [&](std::size_t size, const char* name) {
        if (size != nodes)
            damaged(std::string(name) + " has " + std::to_string(size) + " entries for " + std::to_string(nodes) +
                    " nodes; every node array wants one entry a node");
    };
    same(right.size(), "right");
    same(feature.size(), "feature");
    same(threshold.size(), "threshold");
    same(flags.size(), "flags");
    same(category_set.size(), "category_set");
    same(from.cover.size(), "cover");
    if (n_features < 0 || n_outputs < 1) damaged("n_features must be at least 0 and n_outputs at least 1");
    if (width != 1 && width != n_outputs)
        damaged("a leaf has " + std::to_string(width) +
                " values; wanted 1 or n_outputs = " + std::to_string(n_outputs));
    if (value.size() != nodes * at(width)) damaged("value does not have one row a node");
    if (tree_start.empty() || tree_start.front() != 0 || tree_start.back() != n_nodes())
        damaged("tree_start must begin with 0 and end with the number of nodes");
    if (tree_output.size() + 1 != tree_start.size()) damaged("tree_output does not have one entry a tree");
    for (std::size_t t = 0; t + 1 < tree_start.size(); ++t) {
        if (tree_start[t + 1] <= tree_start[t]) damaged("tree " + std::to_string(t) + " has no node");
        if (tree_start[t + 1] - tree_start[t] > INT32_MAX / 2) damaged("tree " + std::to_string(t) + " is too large");
        const bool vector_leaves = tree_output[t] == -1;
        if (vector_leaves ? width != n_outputs : (width != 1 || tree_output[t] < 0 || tree_output[t] >= n_outputs))
            damaged("tree " + std::to_string(t) + " adds to output " + std::to_string(tree_output[t]) + " of " +
                    std::to_string(n_outputs) + " with " + std::to_string(width) + " values a leaf");
    }
    if (set_start.empty() || set_start.front() != 0 ||
        set_start.back() != static_cast<std::int64_t>(set_words.size()) ||
        !std::is_sorted(set_start.begin(), set_start.end()))
        damaged("set_start must rise from 0 to the number of set_words");
}

void Forest::check_node(std::int64_t tree, std::int64_t node) const {
    const std::int64_t root = tree_start[at(tree)];
    const std::int64_t size = tree_start[at(tree) + 1] - root;
    const auto name = [&] { return where(tree, node - root); };
    const std::int64_t a = left[at(node)], b = right[at(node)];
    if ((a < 0) != (b < 0)) damaged(name() + "has one child; a node has two or, as a leaf, none (-1)");
    if (a < 0) {
        for (std::int32_t k = 0; k < width; ++k)
            if (!std::isfinite(value[at(node * width + k)])) damaged(name() + "its leaf value is not finite");
        return;
    }
    // A root is nobody's child: that, one parent a node, and all nodes reached make it a tree.
    if (a < 1 || b < 1 || a >= size || b >= size || a == b)
        damaged(name() + "has children " + std::to_string(a) + " and " + std::to_string(b) +
                "; wanted two different nodes in 1.." + std::to_string(size - 1));
    const std::int32_t j = feature[at(node)];
    if (j < 0 || j >= n_features)
        damaged(name() + "splits on feature " + std::to_string(j) + " of " + std::to_string(n_features));
    const std::int32_t set = category_set[at(node)];
    if (flags[at(node)] & categorical) {
        if (set < 0 || at(set) + 1 >= set_start.size())
            damaged(name() + "is categorical and its set " + std::to_string(set) + " does not exist");
    } else if (std::isnan(threshold[at(node)])) {
        damaged(name() + "its threshold is NaN");
    } else if (single && static_cast<double>(static_cast<float>(threshold[at(node)])) != threshold[at(node)]) {
        damaged(name() + "its threshold is no float32, and the model compares in float32");
    }
}

// Checks one tree and derives its shares, root mean and centred leaves. An explicit list: trees may be chains of any
// depth. `order` is scratch, filled so that parents come before their children.
void Forest::take_tree(std::int64_t tree, const ForestArrays& from, std::vector<std::int64_t>& order) {
    const std::int64_t root = tree_start[at(tree)];
    const std::int64_t size = tree_start[at(tree) + 1] - root;
    const bool saved = !from.root_mean.empty();
    std::vector<std::int32_t> depth(at(size), -1);
    order.assign(1, root);
    depth[0] = 0;
    for (std::size_t next = 0; next < order.size(); ++next) {
        const std::int64_t node = order[next];
        check_node(tree, node);
        const double c = from.cover[at(node)];
        if (!(c >= 0) || !std::isfinite(c) || (saved && c > 1))
            damaged(where(tree, node - root) + "its cover is " + std::to_string(c) + "; wanted a finite number >= 0");
        if (is_leaf(node)) {
            ++n_leaves;
            max_depth = std::max(max_depth, depth[at(node - root)]);
            continue;
        }
        const std::int64_t children[2] = {root + left[at(node)], root + right[at(node)]};
        for (const std::int64_t child : children) {
            if (depth[at(child - root)] >= 0) damaged(where(tree, child - root) + "has two parents");
            depth[at(child - root)] = depth[at(node - root)] + 1;
            order.push_back(child);
        }
        double a = from.cover[at(children[0])], b = from.cover[at(children[1])];
        if (std::isinf(a + b)) a /= 2, b /= 2;
        const double total = a + b;
        if (saved && !(std::abs(total - 1) < 1e-9)) damaged(where(tree, node - root) + "its shares do not add up to 1");
        if (!saved) {
            // The larger as what the smaller leaves: it loses nothing, and that the two add up to 1 as nearly as they
            // can keeps a chain of a hundred thousand splits from drifting. (The smaller as what the larger leaves
            // would.)
            a = total > 0 ? a / total : 0.5;
            b = total > 0 ? b / total : 0.5;
            (a > b ? a : b) = 1 - (a > b ? b : a);
        }
        share[at(children[0])] = a;
        share[at(children[1])] = b;
    }
    if (static_cast<std::int64_t>(order.size()) != size)
        damaged("tree " + std::to_string(tree) + " has " + std::to_string(size) + " nodes, of which " +
                std::to_string(order.size()) + " hang from its root");
    if (!saved) centre(tree, order);
}

// The root mean is f_x of nothing known, bottom up: m = w_a A_a + w_b A_b.
void Forest::centre(std::int64_t tree, const std::vector<std::int64_t>& order) {
    const std::int64_t root = tree_start[at(tree)];
    std::vector<double> mean(order.size());
    for (std::int32_t k = 0; k < width; ++k) {
        for (auto node = order.rbegin(); node != order.rend(); ++node) {
            double& m = mean[at(*node - root)];
            if (is_leaf(*node)) {
                m = value[at(*node * width + k)];
            } else {
                const std::int64_t a = left[at(*node)], b = right[at(*node)];
                m = share[at(root + a)] * mean[at(a)] + share[at(root + b)] * mean[at(b)];
            }
        }
        root_mean[at(tree * width + k)] = mean[0];
        for (const std::int64_t node : order) {
            double& v = value[at(node * width + k)];
            v = is_leaf(node) ? v - mean[0] : 0.0;
            if (!(std::abs(v) < std::numeric_limits<double>::max() / 4))  // differences of leaves must be finite
                damaged("tree " + std::to_string(tree) + ": the range of its leaves overflows float64");
        }
    }
}

}  // namespace leafgrad
