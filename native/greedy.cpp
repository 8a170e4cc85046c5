#include "greedy.h"

#include <algorithm>
#include <vector>

#include "ascent.h"

namespace leafgrad {
namespace {

template <class I>
std::size_t at(I i) {
    return static_cast<std::size_t>(i);
}

}  // namespace

// f is multilinear: f(S + i) - f(rest - i) is the objective at S plus the two gradients at S and at the rest, so one
// walk ranks every candidate. Players without a split have the gradient 0 and need none.
void greedy(const Game& game, const Rows& rows, std::int32_t* order, const Run& run) {
    const auto used = game.used_players.size();
    const Room room = Ascent::room_of(game, static_cast<std::int64_t>(used));
    // What is equal comes out equal but for roundings, and then the lowest number counts.
    double tie = 0;
    for (const Tree& tree : game.trees) {
        const auto [least, most] = std::minmax_element(tree.leaves.begin(), tree.leaves.end());
        tie += 1e-14 * (*most - *least);
    }
    std::vector<std::int32_t> unused;
    for (std::int32_t player = 0; player < game.n_players; ++player)
        if (game.player_slot[at(player)] < 0) unused.push_back(player);

    each_block(
        game, rows.n, room.lanes(), room, run, [&](Stage& stage, std::int64_t begin, std::int64_t count, Pulse& pulse) {
            const auto n = at(count);
            Ascent ascent(stage, rows);
            std::vector<double> z(n * used, 0.0), g(n * used);
            std::vector<Place> places;
            for (std::size_t i = 0; i < n; ++i)
                places.push_back(
                    {begin + static_cast<std::int64_t>(i), z.data() + i * used, g.data() + i * used, nullptr});
            std::vector<std::size_t> next_unused(n, 0), taken(n, 0);
            std::vector<std::int32_t> rest(n * used);  // rows x slots not chosen yet, in order
            for (std::size_t i = 0; i < rest.size(); ++i) rest[i] = static_cast<std::int32_t>(i % used);
            for (std::size_t round = 0; round < used; ++round) {
                ascent.walk(places, pulse);
                for (std::size_t i = 0; i < n; ++i) {
                    std::int32_t* out = order + (at(begin) + i) * at(game.n_players);
                    const double* gain = g.data() + i * used;
                    const auto slots = rest.begin() + static_cast<std::ptrdiff_t>(i * used);
                    const auto end = slots + static_cast<std::ptrdiff_t>(used - round);
                    double most = gain[*slots];
                    for (auto slot = slots; slot != end; ++slot) most = std::max(most, gain[*slot]);
                    const double enough = most - tie;
                    const auto found =
                        std::find_if(slots, end, [&](std::int32_t slot) { return gain[slot] >= enough; });
                    const std::int32_t best = *found;
                    std::copy(found + 1, end, found);
                    const std::int32_t player = game.used_players[at(best)];
                    // The unused, with a gain of 0, come first where they are better, or as good and of a lower
                    // number.
                    std::size_t& next = next_unused[i];
                    while (next < unused.size() && (enough + 2 * tie < 0 || (enough <= 0 && unused[next] < player)))
                        out[taken[i]++] = unused[next++];
                    out[taken[i]++] = player;
                    z[i * used + at(best)] = 1.0;
                }
            }
            for (std::size_t i = 0; i < n; ++i)
                for (std::size_t next = next_unused[i]; next < unused.size(); ++next)
                    order[(at(begin) + i) * at(game.n_players) + taken[i]++] = unused[next];
        });
}

}  // namespace leafgrad
