// Where the players of a game close, and the list of moves that follows from it (moves.h, probabilistic.inl).
#pragma once

#include <cstdint>
#include <vector>

#include "game.h"
#include "moves.h"

namespace leafgrad {

// A game with the moves of its trees: players closed, degrees counted, places given, once for all calls.
class ClosedGame {
public:
    explicit ClosedGame(const Game& game);

    struct Program {
        std::vector<Move> moves;
        std::int32_t reach = 0, waiting = 0;  // most coefficients kept of functionals, of polynomials
        double work = 0;                      // coefficients made
    };

    const Game& game;
    std::vector<Program> programs;  // of each of the game's trees
    std::vector<double> binomials;  // row r begins at r (r + 1) / 2
};

}  // namespace leafgrad
