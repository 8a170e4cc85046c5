// What the units of every instruction set offer, and the records they take. Pointers and sizes only: these units
// may hold no C++ library code (see lanes.inl).
#pragma once

#include <cstdint>

#include "moves.h"
#include "split.h"

namespace leafgrad {

inline constexpr int most_lanes = 384;              // rows walked together at the most
inline constexpr int mask_words = most_lanes / 64;  // of a mask of lanes, bit i % 64 of word i / 64 for lane i
inline constexpr int most_width = 8;                // lanes of the widest vector
inline constexpr int most_points = 4;               // points walked together at the most
inline constexpr int most_vectors = 2;              // vectors of points walked together at the most, for a row alone

// Up to `most_lanes` rows, feature by feature: column j begins at columns + stride j, in the model's own width.
struct Block {
    const void* columns;
    const std::uint64_t* missing;  // per feature a mask: the rows that are NaN
    std::int64_t stride;           // a multiple of 16, and of 64 where there are more lanes than that
    bool single;                   // float32: a float64 model's too, where that holds every number; else float64
    int lanes;                     // a multiple of 16; or 1, a row alone
    bool any_missing;              // in a row alone
};

// One tree, in walking order.
struct TreeView {
    const Split* splits;
    const Step* steps;
    const Repeat* repeats;
    const double* leaves;  // leaf x outputs
    std::int64_t n_steps;
    std::int64_t n_repeats;
    std::int32_t outputs;       // values per leaf
    std::int32_t first_output;  // where they go among the game's outputs
};

// One walk over one tree for one block of rows. Lanes are rows; every array of lanes is 64-byte aligned.
struct Walk {
    TreeView tree;
    const std::uint64_t* first;   // per split: the rows that go to the first child
    const std::uint64_t* agreed;  // per repeat: the rows that went the path's way at its player's earlier splits
    int lanes;                    // a multiple of the kernels' width
    int n_points;
    const double* weights;       // what s starts from: per point in diagonal walks, per lane in others
    const double* t;             // the points t_q (1, ..., 1) of a diagonal walk
    const double* z;             // general walks: players x lanes
    double* posteriors;          // repeats x 3 x most_width: room for what walks with `t` know of repeated splits
    const std::uint64_t* known;  // walks at corners: points x players, the rows that know the player
    std::int64_t known_stride;
    double* reach;      // levels x points x lanes: s; general walks: twice that, with 1 / P
    double* waiting;    // finished subtrees x outputs x points x lanes: A
    double* gradient;   // players x game outputs x lanes: added to
    double* extension;  // points x game outputs x lanes: F added to; gradient walks take nullptr too
    std::int32_t game_outputs;
};

// Rows of a block that are of 64 kinds by up to six answers: see patterns.h.
struct LookUp {
    const std::uint64_t* left;  // per test a mask: bit i of a row's pattern
    int tests;
    const std::int64_t* slots;  // rows of lanes in the gradient,
    std::int64_t n;
    const double* values;  // and what is added to them: slots x patterns
    int lanes;
    double* gradient;
};

// One walk over one tree for one row. Lanes are points t_q (1, ..., 1), one vector of them or more; every array of
// lanes is 64-byte aligned.
struct WalkAlone {
    TreeView tree;
    const std::uint32_t* ways;     // per split the child that the row goes to; and a 0 before the first
    const double** places;         // per repeat, and one before the first: room for what the walk knows of it
    double* terms;                 // (repeats + 3) x 4 x lanes: the same
    const double *t, *weights;     // lanes: t_q, and what s starts from
    double* reach;                 // (levels + 1) x 2 x lanes: s
    double* waiting;               // finished subtrees x outputs x lanes: A
    double* gradient;              // outputs x players x 2 x most_width: added to, a vector each, to be summed up
    std::int64_t gradient_stride;  // from output to output
};

// How an optimiser steps: z += rate times the gradient, or ADAM's smoothed one, cut to [0, 1].
struct Stride {
    double rate;
    double least;  // a z below it is 0
    bool adam;
    double beta1, beta2, eps;
    bool eps_inside;
    double power1, power2;  // beta1^t and beta2^t
};

struct Kernels {
    const char* name;
    int width;  // lanes of one vector
    // out: per test a mask, the rows that it sends to the first child.
    void (*route)(const Block&, const Test*, std::int64_t n, const std::uint32_t* set_words, std::uint64_t* out);
    // The same for a row alone; out: per test the child, 0 or 1.
    void (*route_alone)(const Block&, const Test*, std::int64_t n, const std::uint32_t* set_words, std::uint32_t* out);
    void (*diagonal[most_points])(const Walk&);     // by points, from 1: gradient at t_q (1, ..., 1)
    void (*general[2])(const Walk&);                // gradient at any z; at z and at 1 - z
    void (*alone[most_vectors])(const WalkAlone&);  // by vectors of points, from 1: gradient at t_q (1, ..., 1)
    void (*value)(const Walk&);                     // F at any z, one point
    void (*corners[2])(const Walk&);                // F at z in {0, 1}: two points, four
    void (*corner_gradient)(const Walk&);           // gradient at two such points
    void (*polynomials)(const Walk&, const Moves&);
    void (*look_up)(const LookUp&);
    // Moves z of one row, adds g to the sum, and tells whether z has moved. Arrays are padded, m and v ADAM's.
    bool (*stride)(const Stride&, std::int64_t padded, const double* g, double* z, double* sum, double* m, double* v);
};

// The kernels in use: the best this CPU runs, or the one LEAFGRAD_ISA names.
const Kernels& kernels();
// Those for so few points as the lanes of a row alone: half a vector is quicker loaded and stored than a whole one.
const Kernels& kernels_for(std::int64_t points);
// Those this CPU runs, best first; null-terminated.
const Kernels* const* available_kernels();
void use_kernels(const char* name);  // nullptr: the best; throws ArgumentError

}  // namespace leafgrad
