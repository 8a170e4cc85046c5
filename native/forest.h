// The model: the flat arrays of all trees, checked once and never changed.
//
// A structure of arrays over one global node index; a tree is a range of it and its first node is its root.
// Nothing here knows of rows, players or values: `Game` (game.h) turns a Forest into what the walk reads.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "split.h"

namespace leafgrad {

// The model's own data are damaged or inconsistent (leafgrad.errors.ModelFormatError).
struct FormatError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct ForestArrays {
    std::span<const std::int64_t> tree_start;    // T + 1: tree t is nodes [tree_start[t], tree_start[t + 1])
    std::span<const std::int32_t> left, right;   // child, counted from its tree's root; -1 at a leaf
    std::span<const std::int32_t> feature;       // column tested
    std::span<const double> threshold;           // float32-representable when `single`
    std::span<const std::uint8_t> flags;         // Flag
    std::span<const std::int32_t> category_set;  // set of a categorical node, -1 elsewhere
    std::span<const std::int64_t> set_start;     // m + 1, in words of set_words
    std::span<const std::uint32_t> set_words;    // bit c % 32 of word c / 32: code c goes left
    std::span<const double> cover;               // training weight that reached the node
    std::span<const double> value;               // nodes x width; only leaf rows are read
    std::span<const std::int32_t> tree_output;   // the output a tree of scalar leaves adds to; -1: vector leaves
    // Empty, or trees x width: the arrays are those of a Forest that was saved, `cover` its shares, `value` its
    // centred leaves and this their means, to be kept to the bit.
    std::span<const double> root_mean;
    std::int32_t n_features = 0;
    std::int32_t n_outputs = 0;  // K
    std::int32_t width = 0;      // values per leaf: 1 or K
    bool single = false;         // the model compares in float32
};

class Forest {
public:
    explicit Forest(const ForestArrays& from);

    std::int64_t n_trees() const { return static_cast<std::int64_t>(tree_start.size()) - 1; }
    std::int64_t n_nodes() const { return static_cast<std::int64_t>(left.size()); }
    bool is_leaf(std::int64_t node) const { return left[static_cast<std::size_t>(node)] < 0; }

    Test test(std::int64_t node, bool first_is_right = false) const;

    std::vector<std::int64_t> tree_start;
    std::vector<std::int32_t> left, right, feature;
    std::vector<double> threshold;
    std::vector<std::uint8_t> flags;
    std::vector<std::int32_t> category_set;
    std::vector<std::int64_t> set_start;
    std::vector<std::uint32_t> set_words;
    std::vector<double> share;  // cover share of the node in its parent; 1/2 where both covers are 0; 1 at roots
    std::vector<double> value;  // nodes x width; leaves minus their tree's root mean, 0 at inner nodes
    std::vector<std::int32_t> tree_output;
    std::vector<double> root_mean;            // trees x width: the cover-weighted mean of a tree's leaves
    std::vector<std::int32_t> used_features;  // sorted
    std::int32_t n_features, n_outputs, width;
    bool single;
    std::int64_t n_leaves = 0;
    std::int32_t max_depth = 0;

private:
    void check_arrays(const ForestArrays& from) const;
    void check_node(std::int64_t tree, std::int64_t node) const;
    void take_tree(std::int64_t tree, const ForestArrays& from, std::vector<std::int64_t>& order);
    void centre(std::int64_t tree, const std::vector<std::int64_t>& order);
};

}  // namespace leafgrad
