// What rows have got by their patterns: see patterns.h.
//
// Included by walk_isa.cpp.

namespace leafgrad {
namespace {

void look_up(const LookUp& what) {
    using L = Lanes;
    alignas(64) std::uint8_t patterns[most_lanes];
    for (int lane = 0; lane < what.lanes; lane += 64) L::patterns(what.left + lane / 64, what.tests, patterns + lane);
    for (std::int64_t i = 0; i < what.n; ++i) {
        const L::Table table(what.values + i * 64);
        double* to = what.gradient + what.slots[i] * what.lanes;
        for (int lane = 0; lane < what.lanes; lane += L::width)
            L::store(to + lane, L::add(L::load(to + lane), table.pick(patterns + lane)));
    }
}

}  // namespace
}  // namespace leafgrad
