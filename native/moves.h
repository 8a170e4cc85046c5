// What the walk of polynomials reads of a tree: a list of moves, made once for a game. Plain records, as in split.h.
#pragma once

#include <cstdint>

namespace leafgrad {

// A polynomial of degree c is held by its coefficients of t^s (1-t)^(c-s), divided by 2^halvings(c). A linear
// functional is held by its values on these, times the same. Both stay within 2^+-544 of their size up to
// `most_degree`.
inline constexpr int unscaled_degree = 64;
inline constexpr int most_degree = 1024;
constexpr int halvings(int degree) { return degree > unscaled_degree ? (degree - unscaled_degree) / 2 : 0; }

// A player is closed below an edge when it is not split on any more: then its factor of a path's product is known, from
// the last split on it and the side of that split.
struct Move {
    std::int32_t code;
    std::int32_t split;    // to leave
    std::int32_t closing;  // the last split on the player that closes
    std::int32_t side;     // of `closing`
    std::int32_t degree;   // of the functional that is read, or of the polynomial where none is
    std::int32_t by;       // reduce, raise: degrees; enter: where the new functional goes; close_leaf: the leaf
    std::int32_t reach;    // where the functional stands, in coefficients
    std::int32_t at;       // where the polynomial stands
};

// The degree is a constant of the move up to here.
inline constexpr int most_unrolled = 8;
inline constexpr int n_degrees = most_unrolled + 2;  // 0, 1, ..., and any

// Kinds of moves: the number of instances of each is behind it. The first of several flags counts twice the next.
namespace move {
inline constexpr std::int32_t root = 0;                        // the functional the call asks for
inline constexpr std::int32_t reduce = 1;                      // the functional on lower degrees
inline constexpr std::int32_t raise = 2;                       // the polynomial as one of a higher degree
inline constexpr std::int32_t join = 3;                        // the sum of two
inline constexpr std::int32_t enter = 4;                       // the functional below a closing: by degree
inline constexpr std::int32_t close = enter + n_degrees;       // the polynomial above a closing: by degree
inline constexpr std::int32_t close_leaf = close + n_degrees;  // above a closing over a leaf
inline constexpr std::int32_t twig = close_leaf + 1;           // a split above two leaves; passing, repeats
inline constexpr std::int32_t twins =
    twig + 4;  // above a twig and a twig or leaf; passing, leaf, repeats, twig repeats
inline constexpr std::int32_t split = twins + 16;  // above two polynomials or one and a leaf; leaf, repeats; by degree
inline constexpr std::int32_t count = split + 4 * n_degrees;
constexpr std::int32_t by_degree(int degree) { return degree > most_unrolled ? n_degrees - 1 : degree; }
}  // namespace move

// The moves of one tree, and what they need beside the tree's own `Walk`.
struct Moves {
    const Move* list;
    std::int64_t n;
    const double* weights;    // of the coalitions by their size, 0 .. U - 1, times 2^halvings(U - 1)
    const double* binomials;  // row r begins at r (r + 1) / 2
};

}  // namespace leafgrad
