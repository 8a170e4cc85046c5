#include "ascent.h"

#include <algorithm>

namespace leafgrad {
namespace {

template <class I>
std::size_t at(I i) {
    return static_cast<std::size_t>(i);
}

// z, 1 - z and the gradient of many players would push one another out of the caches: then blocks have fewer rows.
constexpr std::int64_t few_players = 32, lanes_of_few = 256, lanes_of_many = 128;

const Filled halves(0.5);

}  // namespace

Room Ascent::room_of(const Game& game, std::int64_t walks) {
    const auto two = [](const Tree&) { return 2; };
    Room room = Room::of(game, true, two, [&](const Tree&) { return 2 * walks; });
    room.results = static_cast<std::int64_t>(game.used_players.size());
    room.z = 2 * room.results;
    room.reach *= 2;  // general walks keep 1 / P beside s
    room.most_lanes = room.results <= few_players ? lanes_of_few : lanes_of_many;
    return room;
}

Ascent::Ascent(Stage& stage, const Rows& rows)
    : stage_(stage),
      rows_(rows),
      players_(stage.game.used_players.size()),
      known_(2 * players_ * mask_words) {}

Ascent::Where Ascent::where(const double* z) const {
    const double* end = z + players_;
    // Of 0 and 1 alone x^2 = x: one branch, that is foretold.
    if (std::all_of(z, end, [](double x) { return x * x == x; })) return corner;
    return std::all_of(z, end, [](double x) { return x == 0.5; }) ? centre : inside;
}

void Ascent::walk(std::span<const Place> places, Pulse& pulse) {
    for (auto& some : sorted_) some.clear();
    for (const Place& place : places) sorted_[where(place.z)].push_back(place);
    for (const Where where : {inside, corner, centre}) {
        const std::span<const Place> all = sorted_[where];
        const auto lanes = at(stage_.lanes);
        for (std::size_t from = 0; from < all.size(); from += lanes)
            walk_block(all.subspan(from, std::min(lanes, all.size() - from)), where, pulse);
    }
}

void Ascent::walk_block(std::span<const Place> places, Where where, Pulse& pulse) {
    take(places);
    Walk& walk = stage_.walk;
    const auto lanes = at(walk.lanes);
    alignas(64) double values[2 * most_lanes] = {};
    walk.extension = values;
    if (where == inside) load_points(places);
    if (where == corner) load_corners(places);
    if (places.front().gradient != nullptr) {
        walk_gradient(where, pulse);
        for (std::size_t first = 0; first < places.size(); first += 8)  // a cache line of lanes: see store_gradient
            for (std::size_t slot = 0; slot < players_; ++slot)
                for (std::size_t i = first; i < std::min(first + 8, places.size()); ++i)
                    places[i].gradient[slot] = walk.gradient[slot * lanes + i];
    } else {
        walk_objective(where, pulse);
    }
    for (std::size_t i = 0; i < places.size(); ++i)
        if (places[i].objective != nullptr) *places[i].objective = 0.5 * (values[i] - values[lanes + i]);
}

void Ascent::walk_gradient(Where where, Pulse& pulse) {
    Walk& walk = stage_.walk;
    const double half = 0.5, one = 1;
    walk.gradient = stage_.results.data();
    stage_.clear_results(static_cast<std::int64_t>(players_));
    walk.n_points = where == centre ? 1 : 2;
    walk.t = &half;
    walk.weights = where == centre ? &one : halves.lanes;
    if (where == centre) walk.extension = nullptr;  // the objective is 0
    const auto kernel = where == inside   ? kernels().general[1]
                        : where == corner ? kernels().corner_gradient
                                          : kernels().diagonal[0];
    stage_.each_tree(pulse, [&](const Tree&) { kernel(walk); });
}

void Ascent::walk_objective(Where where, Pulse& pulse) {
    Walk& walk = stage_.walk;
    if (where == centre) return;
    if (where == corner) {
        walk.n_points = 2;
        stage_.each_tree(pulse, [&](const Tree&) { kernels().corners[0](walk); });
        return;
    }
    const Walk known = walk;
    walk.n_points = 1;
    stage_.each_tree(pulse, [&](const Tree&) {
        for (const std::int64_t side : {0, 1}) {
            walk.z = known.z + side * static_cast<std::int64_t>(players_) * known.lanes;
            walk.extension = known.extension + side * known.lanes;
            kernels().value(walk);
        }
    });
    walk.z = known.z;
}

void Ascent::take(std::span<const Place> places) {
    const auto same = [](const Place& place, std::int64_t row) { return place.row == row; };
    if (std::equal(places.begin(), places.end(), taken_.begin(), taken_.end(), same)) return;
    taken_.clear();
    for (const Place& place : places) taken_.push_back(place.row);
    stage_.take(rows_, taken_);
}

void Ascent::load_points(std::span<const Place> places) {
    const auto lanes = at(stage_.walk.lanes);
    double* known = stage_.z.data();
    double* unknown = known + players_ * lanes;
    for (std::size_t first = 0; first < lanes; first += 8)
        for (std::size_t slot = 0; slot < players_; ++slot)
            for (std::size_t i = first; i < std::min(first + 8, lanes); ++i) {
                const double z = places[std::min(i, places.size() - 1)].z[slot];
                known[slot * lanes + i] = z;
                unknown[slot * lanes + i] = 1 - z;
            }
}

void Ascent::load_corners(std::span<const Place> places) {
    const std::size_t words = players_ * mask_words;
    std::fill_n(known_.data(), words, 0);
    for (std::size_t i = 0; i < places.size(); ++i) {
        std::uint64_t* known = known_.data() + i / 64;
        for (std::size_t slot = 0; slot < players_; ++slot)
            known[slot * mask_words] |= std::uint64_t{places[i].z[slot] != 0.0} << (i % 64);
    }
    for (std::size_t word = 0; word < words; ++word) known_[words + word] = ~known_[word];
    stage_.walk.known = known_.data();
    stage_.walk.known_stride = static_cast<std::int64_t>(players_);
}

}  // namespace leafgrad
