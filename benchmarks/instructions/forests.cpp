#include "forests.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <queue>
#include <utility>

namespace leafgrad::instructions {
namespace {

template <class I>
std::size_t at(I i) {
    return static_cast<std::size_t>(i);
}

constexpr std::int32_t codes = 64;  // of a category, two words of a set

enum class Column { plain, zeros_missing, category };
Column column(const Shape& shape, std::int32_t feature) {
    if (!shape.mixed) return Column::plain;
    return static_cast<Column>(feature % 3);
}

using Range = std::pair<double, double>;

// A leaf that may be split.
struct Open {
    double promise;
    std::int32_t node, level, samples;
    std::vector<Range> ranges;  // of each feature, that reach it
    bool operator<(const Open& other) const { return promise < other.promise; }
};

// The arrays of a forest while it grows.
class Nursery {
public:
    explicit Nursery(const Shape& shape) : shape_(shape), draws_(1) {}

    void tree() {
        const auto root = static_cast<std::int64_t>(left_.size());
        choose_levels();
        std::priority_queue<Open> open;
        const std::vector<Range> everything(at(shape_.features), Range{0, 1});
        open.push({0, add(shape_.samples, root), 0, shape_.samples, everything});
        for (std::int32_t leaves = 1; leaves < shape_.leaves && !open.empty();) {
            Open here = open.top();
            open.pop();
            if (here.level == shape_.levels || here.samples < 2) continue;
            ++leaves;
            split(root, here, open);
        }
        tree_start_.push_back(static_cast<std::int64_t>(left_.size()));
        tree_output_.push_back(shape_.outputs == 1 ? 0 : -1);
    }

    Forest forest() const {
        ForestArrays arrays;
        arrays.tree_start = tree_start_;
        arrays.left = left_;
        arrays.right = right_;
        arrays.feature = feature_;
        arrays.threshold = threshold_;
        arrays.flags = flags_;
        arrays.category_set = category_set_;
        arrays.set_start = set_start_;
        arrays.set_words = set_words_;
        arrays.cover = cover_;
        arrays.value = value_;
        arrays.tree_output = tree_output_;
        arrays.n_features = shape_.features;
        arrays.n_outputs = arrays.width = shape_.outputs;
        arrays.single = shape_.single;
        return Forest(arrays);
    }

private:
    // Each tree of an oblivious forest has features and shares of its own, and no feature twice.
    void choose_levels() {
        if (!shape_.oblivious) return;
        level_feature_.resize(at(shape_.features));
        std::iota(level_feature_.begin(), level_feature_.end(), 0);
        level_share_.clear();
        for (std::int32_t level = 0; level < shape_.levels; ++level) {
            const std::int32_t other = level + draws_.below(shape_.features - level);
            std::swap(level_feature_[at(level)], level_feature_[at(other)]);
            level_share_.push_back(draw_share());
        }
    }

    double draw_share() { return 0.1 + 0.8 * draws_.unit(); }

    std::int32_t add(std::int32_t samples, std::int64_t root) {
        const auto node = static_cast<std::int32_t>(static_cast<std::int64_t>(left_.size()) - root);
        left_.push_back(-1);
        right_.push_back(-1);
        feature_.push_back(0);
        threshold_.push_back(0);
        flags_.push_back(0);
        category_set_.push_back(-1);
        cover_.push_back(samples);
        for (std::int32_t k = 0; k < shape_.outputs; ++k) value_.push_back(2 * draws_.unit() - 1);
        return node;
    }

    void split(std::int64_t root, Open& here, std::priority_queue<Open>& open) {
        const auto i = at(root + here.node);
        const bool oblivious = shape_.oblivious;
        const std::int32_t j = oblivious ? level_feature_[at(here.level)] : draws_.below(shape_.features);
        const double share = oblivious ? level_share_[at(here.level)] : draw_share();
        const Range range = here.ranges[at(j)];
        const auto cut = static_cast<double>(static_cast<float>(range.first + share * (range.second - range.first)));
        feature_[i] = j;
        if (column(shape_, j) == Column::category) {
            category_set_[i] = static_cast<std::int32_t>(set_start_.size()) - 1;
            flags_[i] = categorical;
            for (int word = 0; word < codes / 32; ++word)
                set_words_.push_back(static_cast<std::uint32_t>(draws_.unit() * 0x1p32));
            set_start_.push_back(static_cast<std::int64_t>(set_words_.size()));
        } else {
            threshold_[i] = cut;
            if (column(shape_, j) == Column::zeros_missing) flags_[i] = zero_missing;
        }
        if (shape_.mixed && draws_.unit() < 0.5) flags_[i] |= missing_left;

        const auto wanted = static_cast<std::int32_t>(share * here.samples);
        const std::int32_t samples[2] = {std::clamp(wanted, 1, here.samples - 1),
                                         here.samples - std::clamp(wanted, 1, here.samples - 1)};
        for (const int side : {0, 1}) {
            const std::int32_t child = add(samples[side], root);
            (side == 0 ? left_ : right_)[i] = child;
            Open below{samples[side] * draws_.unit(), child, here.level + 1, samples[side], here.ranges};
            (side == 0 ? below.ranges[at(j)].second : below.ranges[at(j)].first) = cut;
            open.push(std::move(below));
        }
    }

    const Shape& shape_;
    Draws draws_;
    std::vector<std::int32_t> level_feature_;
    std::vector<double> level_share_;
    std::vector<std::int64_t> tree_start_{0}, set_start_{0};
    std::vector<std::int32_t> left_, right_, feature_, category_set_, tree_output_;
    std::vector<double> threshold_, cover_, value_;
    std::vector<std::uint8_t> flags_;
    std::vector<std::uint32_t> set_words_;
};

}  // namespace

double Draws::unit() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(state_ >> 11) * 0x1p-53;
}

std::int32_t Draws::below(std::int32_t limit) { return static_cast<std::int32_t>(unit() * limit); }

Forest grow(const Shape& shape) {
    Nursery nursery(shape);
    for (std::int32_t tree = 0; tree < shape.trees; ++tree) nursery.tree();
    return nursery.forest();
}

Rows Matrix::rows() const {
    return {single.empty() ? nullptr : single.data(), full.empty() ? nullptr : full.data(), n, n_features};
}

Matrix draw_rows(const Shape& shape, std::int64_t n) {
    Draws draws(2);
    Matrix made{{}, {}, n, shape.features};
    for (std::int64_t row = 0; row < n; ++row)
        for (std::int32_t j = 0; j < shape.features; ++j) {
            double x = draws.unit();
            if (column(shape, j) == Column::category) x = static_cast<std::int32_t>(x * codes);
            const double kind = shape.mixed ? draws.unit() : 1;
            if (kind < 0.1)
                x = std::numeric_limits<double>::quiet_NaN();
            else if (kind < 0.2)
                x = 0;
            if (shape.single)
                made.single.push_back(static_cast<float>(x));
            else
                made.full.push_back(x);
        }
    return made;
}

}  // namespace leafgrad::instructions
