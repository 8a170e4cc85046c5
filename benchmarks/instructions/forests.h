// Forests and rows made up here, to the bit the same on every machine: what is counted must not change with a library
// that trains models.
#pragma once

#include <cstdint>
#include <vector>

#include "forest.h"
#include "rows.h"

namespace leafgrad::instructions {

// Numbers from a seed (Knuth's linear congruential generator; its upper bits).
class Draws {
public:
    explicit Draws(std::uint64_t seed) : state_(seed) {}
    double unit();                           // in [0, 1)
    std::int32_t below(std::int32_t limit);  // 0 .. limit - 1

private:
    std::uint64_t state_;
};

struct Shape {
    std::int32_t trees, features;
    std::int32_t leaves;   // most of a tree; the largest leaf times a draw is split first
    std::int32_t levels;   // most on a path
    std::int32_t samples;  // that a tree is grown on; a leaf of one is not split
    std::int32_t outputs = 1;
    bool oblivious = false;  // one test a level
    bool mixed = false;      // a third of the features categories, a third with zeros missing, and NaN
    bool single = false;     // float32
};

Forest grow(const Shape& shape);

struct Matrix {
    std::vector<float> single;
    std::vector<double> full;
    std::int64_t n, n_features;
    Rows rows() const;
};

// Rows for a forest of this shape; of a mixed one a tenth is NaN and a tenth 0.
Matrix draw_rows(const Shape& shape, std::int64_t n);

}  // namespace leafgrad::instructions
