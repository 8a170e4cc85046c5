#include "curves.h"

#include <algorithm>
#include <vector>

namespace leafgrad {
namespace {

template <class I>
std::size_t at(I i) {
    return static_cast<std::size_t>(i);
}

constexpr std::size_t most_words = std::size_t{1} << 20;  // 8 MB of who is known

}  // namespace

// Rows are lanes, and points are the number of players known: each is a word of rows per player. Players without a
// split change nothing, so the points are counted in used players; the rule of deletion is the complement of that of
// insertion.
void curves(const Game& game, const Rows& rows, const std::int32_t* order, double* insertion, double* deletion,
            const Run& run) {
    const auto used = game.used_players.size(), K = at(game.n_outputs), n_players = at(game.n_players);
    const std::int64_t n_tops = static_cast<std::int64_t>(used) + 1;  // 0, 1, ..., used players at the top
    const auto four = [](const Tree&) { return 4; };
    Room room = Room::of(game, false, four, [&](const Tree&) { return 2 * n_tops; });
    room.results = 2 * n_tops * game.n_outputs;

    each_block(
        game, rows.n, room.lanes(), room, run, [&](Stage& stage, std::int64_t begin, std::int64_t count, Pulse& pulse) {
            Walk& walk = stage.walk;
            stage.take(rows, RowNumbers(rows, begin, count));
            stage.clear_results(room.results);
            const auto lanes = at(walk.lanes);

            std::vector<std::int32_t> tops(at(count) * (n_players + 1), 0);  // used players among the first j
            std::vector<std::int32_t> next(used * at(count));                // the used player that comes c-th
            for (std::size_t i = 0; i < at(count); ++i) {
                const std::int32_t* ranking = order + (at(begin) + i) * n_players;
                std::int32_t* top = tops.data() + i * (n_players + 1);
                for (std::size_t j = 0; j < n_players; ++j) {
                    const std::int32_t slot = game.player_slot[at(ranking[j])];
                    top[j + 1] = top[j] + (slot >= 0);
                    if (slot >= 0) next[at(top[j]) * at(count) + i] = slot;
                }
            }

            // known[2 c] and known[2 c + 1], from `first`: who is known in insertion and in deletion with c used
            // players at the top. A stretch at a time: all of ten thousand players would take gigabytes.
            const std::size_t words = used * mask_words;
            const auto stretch = static_cast<std::int64_t>(std::max<std::size_t>(most_words / (words + 1) / 4 * 2, 2));
            std::vector<std::uint64_t> top(words, 0), known(2 * at(std::min(stretch, n_tops)) * words);
            walk.known_stride = static_cast<std::int64_t>(used);
            for (std::int64_t first = 0; first < n_tops; first += stretch) {
                const std::int64_t end = std::min(first + stretch, n_tops);
                for (std::int64_t c = first; c < end; ++c) {
                    for (std::size_t i = 0; c > 0 && i < at(count); ++i)
                        top[at(next[at(c - 1) * at(count) + i]) * mask_words + i / 64] |= std::uint64_t{1} << (i % 64);
                    std::uint64_t* pair = known.data() + 2 * at(c - first) * words;
                    for (std::size_t i = 0; i < words; ++i) {
                        pair[i] = top[i];
                        pair[words + i] = ~top[i];
                    }
                }
                stage.each_tree(pulse, [&](const Tree&) {
                    for (std::int64_t q = 2 * first; q < 2 * end; q += walk.n_points) {
                        walk.n_points = 2 * end - q >= 4 ? 4 : 2;
                        walk.known = known.data() + at(q - 2 * first) * words;
                        walk.extension = stage.results.data() + at(q) * K * lanes;
                        kernels().corners[walk.n_points == 4](walk);
                        pulse();
                    }
                });
            }

            for (std::size_t i = 0; i < at(count); ++i)
                for (std::size_t j = 0; j <= n_players; ++j) {
                    const auto c = at(tops[i * (n_players + 1) + j]), to = ((at(begin) + i) * (n_players + 1) + j) * K;
                    for (std::size_t k = 0; k < K; ++k) {
                        const double* values = stage.results.data() + (2 * c * K + k) * lanes + i;
                        insertion[to + k] = values[0];
                        deletion[to + k] = values[K * lanes];
                    }
                }
        });
}

}  // namespace leafgrad
