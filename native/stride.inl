// One step of one row of an optimiser (the paper's TreeGrad-Ranker, GA and ADAM): players are the lanes.
//
// Included by walk_isa.cpp. Nothing is fused: the steps of every instruction set are the same to the bit.

namespace leafgrad {
namespace {

// m / sqrt(v + eps), or m / (sqrt(v) + eps), of the running means corrected for their start.
LG_INLINE Lanes::Vec smoothed(const Stride& how, Lanes::Vec g, double* m_at, double* v_at) {
    using L = Lanes;
    const auto weighed = [](double beta, L::Vec old, L::Vec now) {
        return L::add(L::mul(L::all(beta), old), L::mul(L::all(1 - beta), now));
    };
    const auto m = weighed(how.beta1, L::load(m_at), g), v = weighed(how.beta2, L::load(v_at), L::mul(g, g));
    L::store(m_at, m);
    L::store(v_at, v);
    const auto eps = L::all(how.eps);
    const auto m_now = L::div(m, L::all(1 - how.power1)), v_now = L::div(v, L::all(1 - how.power2));
    const auto size = how.eps_inside ? L::sqrt(L::add(v_now, eps)) : L::add(L::sqrt(v_now), eps);
    // A gradient that was always 0 moves nothing, whatever eps is.
    return L::choose(L::is_zero(m_now), L::zero(), L::div(m_now, size));
}

bool stride(const Stride& how, std::int64_t padded, const double* g_at, double* z_at, double* sum_at, double* m_at,
            double* v_at) {
    using L = Lanes;
    const auto rate = L::all(how.rate), least = L::all(how.least), one = L::all(1);
    auto same = one;  // 0 where z has moved
    for (std::int64_t i = 0; i < padded; i += L::width) {
        const auto g = L::load(g_at + i), z = L::load(z_at + i);
        L::store(sum_at + i, L::add(L::load(sum_at + i), g));
        const auto direction = how.adam ? smoothed(how, g, m_at + i, v_at + i) : g;
        auto to = L::lesser(L::add(z, L::mul(rate, direction)), one);
        to = L::choose(L::less(to, least), L::zero(), to);
        same = L::choose(L::is_zero(L::sub(to, z)), same, L::zero());
        L::store(z_at + i, to);
    }
    alignas(64) double lanes[L::width];
    L::store(lanes, same);
    for (const double lane : lanes)
        if (lane == 0.0) return true;
    return false;
}

}  // namespace
}  // namespace leafgrad
