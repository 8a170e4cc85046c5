// The recursion that defines every number (the paper's TreeGrad, Algorithms 1 and "Full Procedure", in probabilities).
//
// z_j is the prior probability that player j is known. At a split v on j with children a, b and their cover shares
// w_a, w_b, of which x goes to c:
//
//     tau_v  Pr(j known | v reached): z_j at the first split on j of the path; later, with W the product of the shares
//            of the earlier j-edges, z_j / P where P = z_j + (1 - z_j) W if x agrees with them all, else 0
//     p_u  = tau_v [u = c] + (1 - tau_v) w_u          the probability of taking the edge to child u
//     s_u  = s_v p_u                                  of reaching u
//     A_v  = A_b + p_a (A_a - A_b)                    the mean below v; F_x(z) = A_root
//     d    = [a = c] ? w_b (A_a - A_b) : -w_a (A_a - A_b)      what knowing j changes here
//     dF/dz_j += s_v tau'_v d                         tau'_v is 1 at a first split, later W / P^2 if x agrees, else 0
//
// Nothing is accumulated and subtracted again; s / P and W / P are probabilities, and P^2, which underflows, is never
// formed. In the paper's terms p_u is (1 - z + z gamma_e) w_e and s_v A_v is the sum of H below v.
//
// Rows are lanes: all walk the same steps, and masks choose c. A twig u (a split right above two leaves) needs no A of
// its own: A_u = m_u + tau_u d_u with m_u and d_u free of z, and its gradient is d_u times the sum of s_u tau'_u.

namespace leafgrad {
namespace {

enum Role { here, first_twig, second_twig };

// The points t_q (1, ..., 1): tau depends on a row only through "agreed so far", so all lanes share each number.
template <int NV>
struct Diagonal {
    static constexpr int lanes = NV * Lanes::width;
    const Walk& walk;
    double unknown_at_first[most_points];
    // Per role and point: tau, 1 - tau, 1 / P and W / P of a row that agrees.
    double known_[3][most_points], unknown_[3][most_points], inverse_[3][most_points], odds_[3][most_points];

    explicit Diagonal(const Walk& w) : walk(w) {
        for (int q = 0; q < w.n_points; ++q) unknown_at_first[q] = 1 - w.t[q];
    }
    void prepare(Role role, const Split& split) {
        const double W = split.earlier;
        for (int q = 0; q < walk.n_points; ++q) {
            const double z = walk.t[q], y = unknown_at_first[q];
            if (split.previous < 0) {
                known_[role][q] = z, unknown_[role][q] = y, inverse_[role][q] = 1, odds_[role][q] = 1;
                continue;
            }
            const double P = z + y * W;
            const double r = P > 0 ? 1 / P : 0;
            known_[role][q] = P > 0 ? z * r : 1;
            odds_[role][q] = W * r;
            unknown_[role][q] = y * odds_[role][q];
            inverse_[role][q] = r;
        }
    }
    Lanes::Vec first_known(const Split&, int q, int) const { return Lanes::all(walk.t[q]); }
    Lanes::Vec first_unknown(const Split&, int q, int) const { return Lanes::all(unknown_at_first[q]); }
    Lanes::Vec known(Role role, int q, int) const { return Lanes::all(known_[role][q]); }
    Lanes::Vec unknown(Role role, int q, int) const { return Lanes::all(unknown_[role][q]); }
    Lanes::Vec inverse(Role role, int q, int) const { return Lanes::all(inverse_[role][q]); }
    Lanes::Vec odds(Role role, int q, int) const { return Lanes::all(odds_[role][q]); }
};

// Every row, player and point its own z.
template <int NV>
struct General {
    static constexpr int lanes = NV * Lanes::width;
    const Walk& walk;

    explicit General(const Walk& w) : walk(w) {}
    const double* z(const Split& split, int q) const {
        return walk.z + q * walk.z_stride + static_cast<std::int64_t>(split.player) * lanes;
    }
    double* kept(Role role, int what, int q) const {
        return walk.scratch + ((role * 4 + what) * walk.n_points + q) * lanes;
    }
    void prepare(Role role, const Split& split) {
        using L = Lanes;
        const auto one = L::all(1), W = L::all(split.earlier);
        for (int q = 0; q < walk.n_points; ++q) {
            for (int i = 0; i < NV; ++i) {
                const auto zi = L::load(z(split, q) + i * L::width);
                const auto y = L::sub(one, zi);
                auto tau = zi, unknown = y, r = one, odds = one;
                if (split.previous >= 0) {
                    const auto P = L::fma(y, W, zi);
                    const auto zero = L::is_zero(P);
                    r = L::choose(zero, L::zero(), L::div(one, P));
                    tau = L::choose(zero, one, L::mul(zi, r));
                    odds = L::mul(W, r);
                    unknown = L::mul(y, odds);
                }
                L::store(kept(role, 0, q) + i * L::width, tau);
                L::store(kept(role, 1, q) + i * L::width, unknown);
                L::store(kept(role, 2, q) + i * L::width, r);
                L::store(kept(role, 3, q) + i * L::width, odds);
            }
        }
    }
    Lanes::Vec first_known(const Split& split, int q, int i) const { return Lanes::load(z(split, q) + i * Lanes::width); }
    Lanes::Vec first_unknown(const Split& split, int q, int i) const {
        return Lanes::sub(Lanes::all(1), first_known(split, q, i));
    }
    Lanes::Vec known(Role role, int q, int i) const { return Lanes::load(kept(role, 0, q) + i * Lanes::width); }
    Lanes::Vec unknown(Role role, int q, int i) const { return Lanes::load(kept(role, 1, q) + i * Lanes::width); }
    Lanes::Vec inverse(Role role, int q, int i) const { return Lanes::load(kept(role, 2, q) + i * Lanes::width); }
    Lanes::Vec odds(Role role, int q, int i) const { return Lanes::load(kept(role, 3, q) + i * Lanes::width); }
};

template <int NV, class Points, bool Gradient>
struct Walker {
    using L = Lanes;
    using Vec = L::Vec;
    static constexpr int lanes = NV * L::width;
    static constexpr int group = NV < L::group ? NV : L::group;

    const Walk& walk;
    const TreeView& tree;
    Points points;
    std::int64_t level_size, result_size;
    double* top;  // behind the last finished subtree

    explicit Walker(const Walk& w)
        : walk(w),
          tree(w.tree),
          points(w),
          level_size(static_cast<std::int64_t>(w.n_points) * lanes),
          result_size(level_size * w.tree.outputs),
          top(w.waiting) {}

    void run() {
        for (std::int64_t i = 0; i < tree.n_steps; ++i) {
            const std::uint32_t step = tree.steps[i];
            const Split& split = tree.splits[step >> 1];
            if (step & leaving) {
                leave(split, step >> 1);
            } else if (Gradient) {
                enter(split);
            }
        }
        if (!Gradient) add_root();
    }

    LG_INLINE Vec edge(Vec tau, Vec unknown, Vec w, L::Mask taken) { return L::add_where(taken, L::mul(unknown, w), tau); }

    // s of a branch from its parent's.
    void enter(const Split& split) {
        double* s = walk.reach + split.level * level_size;
        if (split.parent < 0) {
            for (int q = 0; q < walk.n_points; ++q)
                for (int i = 0; i < NV; ++i) L::store(s + q * lanes + i * L::width, L::all(walk.weights[q]));
            return;
        }
        const Split& parent = tree.splits[split.parent];
        if (parent.previous < 0)
            enter_from<false>(s, parent, split);
        else
            enter_from<true>(s, parent, split);
    }

    template <bool Repeats>
    void enter_from(double* s, const Split& parent, const Split& split) {
        const double* s_parent = s - level_size;
        const std::uint64_t first = walk.first[split.parent];
        const std::uint64_t taken = split.side == 0 ? first : ~first;
        const std::uint64_t agreed = walk.agreed[split.parent];
        const Vec w = L::all(parent.share[split.side]);
        if (Repeats) points.prepare(here, parent);
        for (int q = 0; q < walk.n_points; ++q) {
            for (int i = 0; i < NV; ++i) {
                const Vec p = edge(tau<Repeats>(parent, q, i, agreed), unknown<Repeats>(parent, q, i, agreed), w,
                                   L::mask(taken, i));
                L::store(s + q * lanes + i * L::width, L::mul(L::load(s_parent + q * lanes + i * L::width), p));
            }
        }
    }

    template <bool Repeats>
    Vec tau(const Split& split, int q, int i, std::uint64_t agreed) const {
        if constexpr (Repeats) return L::keep(L::mask(agreed, i), points.known(here, q, i));
        return points.first_known(split, q, i);
    }
    template <bool Repeats>
    Vec unknown(const Split& split, int q, int i, std::uint64_t agreed) const {
        if constexpr (Repeats) return L::choose(L::mask(agreed, i), points.unknown(here, q, i), L::all(1));
        return points.first_unknown(split, q, i);
    }

    // A of a branch from its children's, and the gradient of its player and of its twigs' players.
    void leave(const Split& split, std::uint32_t index) {
        const bool repeats = split.previous >= 0 || twig_repeats(split, 0) || twig_repeats(split, 1);
        if (repeats)
            leave_kinds<true>(split, index);
        else
            leave_kinds<false>(split, index);
    }

    bool twig_repeats(const Split& split, int side) const {
        return split.kind[side] == Kind::twig && tree.splits[split.child[side]].previous >= 0;
    }

    template <bool Repeats>
    void leave_kinds(const Split& split, std::uint32_t index) {
        // The first child has at least as many splits as the second.
        if (split.kind[0] == Kind::branch) {
            if (split.kind[1] == Kind::branch) return leave_as<Repeats, Kind::branch, Kind::branch>(split, index);
            if (split.kind[1] == Kind::twig) return leave_as<Repeats, Kind::branch, Kind::twig>(split, index);
            return leave_as<Repeats, Kind::branch, Kind::leaf>(split, index);
        }
        if (split.kind[0] == Kind::twig) {
            if (split.kind[1] == Kind::twig) return leave_as<Repeats, Kind::twig, Kind::twig>(split, index);
            return leave_as<Repeats, Kind::twig, Kind::leaf>(split, index);
        }
        return leave_as<Repeats, Kind::leaf, Kind::leaf>(split, index);
    }

    // A child as its parent sees it: where its A comes from.
    template <bool Repeats, Kind kind, Role role>
    struct Child {
        const Split* split = nullptr;   // twig
        std::uint64_t first = 0, agreed = 0;
        const double* results = nullptr;  // branch
        double mean = 0;                // leaf: its value; twig: m
        double gain = 0, loss = 0;      // twig: d of a row that goes to its first, second child

        LG_INLINE Child of(Walker& walker, const Split& parent, int side) {
            Child child;
            if constexpr (kind == Kind::twig) {
                const std::int32_t index = parent.child[side];
                child.split = walker.tree.splits + index;
                child.first = walker.walk.first[index];
                child.agreed = walker.walk.agreed[index];
                if (Repeats) walker.points.prepare(role, *child.split);
            }
            return child;
        }
        void look_at(const Walker& walker, const Split& parent, int side, int k) {
            const double* leaves = walker.tree.leaves;
            const int K = walker.tree.outputs;
            if constexpr (kind == Kind::leaf) mean = leaves[static_cast<std::int64_t>(parent.child[side]) * K + k];
            if constexpr (kind == Kind::twig) {
                const double x = leaves[static_cast<std::int64_t>(split->child[0]) * K + k];
                const double y = leaves[static_cast<std::int64_t>(split->child[1]) * K + k];
                mean = split->share[0] * x + split->share[1] * y;
                gain = split->share[1] * (x - y);
                loss = split->share[0] * (y - x);
            }
        }
        LG_INLINE Vec d(const Child& child, int i) {
            const Vec d = L::choose(L::mask(child.first, i), L::all(child.gain), L::all(child.loss));
            return Repeats ? L::keep(L::mask(child.agreed, i), d) : d;
        }
        Vec A(const Points& points, Vec d, int q, int i) const {
            if constexpr (kind == Kind::branch) return L::load(results + q * lanes + i * L::width);
            if constexpr (kind == Kind::leaf) return L::all(mean);
            const Vec t = Repeats ? points.known(role, q, i) : points.first_known(*split, q, i);
            return L::fma(t, d, L::all(mean));
        }
        // sum of s_u tau'_u, without the mask of the rows that agree: d has it.
        Vec gather(const Points& points, Vec sum, Vec s, Vec p, int q, int i) const {
            if constexpr (!Repeats) return L::fma(s, p, sum);
            return L::fma(L::mul(L::mul(s, p), points.inverse(role, q, i)), points.odds(role, q, i), sum);
        }
    };

    template <bool Repeats, Kind first_kind, Kind second_kind>
    void leave_as(const Split& split, std::uint32_t index) {
        const std::uint64_t first = walk.first[index], agreed = walk.agreed[index];
        const Vec w_a = L::all(split.share[0]), w_b = L::all(split.share[1]);
        const double* s = walk.reach + split.level * level_size;
        if (Repeats) points.prepare(here, split);
        using First = Child<Repeats, first_kind, first_twig>;
        using Second = Child<Repeats, second_kind, second_twig>;
        First a = First::of(*this, split, 0);
        Second b = Second::of(*this, split, 1);
        double* results_b = second_kind == Kind::branch ? top - result_size : top;
        double* results_a = first_kind == Kind::branch ? results_b - result_size : results_b;
        top = results_a + result_size;

        for (int k = 0; k < tree.outputs; ++k) {
            a.look_at(*this, split, 0, k);
            b.look_at(*this, split, 1, k);
            a.results = results_a + k * level_size;
            b.results = results_b + k * level_size;
            double* out = results_a + k * level_size;
            double* phi_k = walk.gradient + (tree.first_output + k) * lanes;
            for (int begin = 0; begin < NV; begin += group) {
                Vec d_a[group], d_b[group], change[group], sum_a[group], sum_b[group];
                for (int g = 0; g < group; ++g) {
                    change[g] = sum_a[g] = sum_b[g] = L::zero();
                    d_a[g] = First::d(a, begin + g);
                    d_b[g] = Second::d(b, begin + g);
                }
                for (int q = 0; q < walk.n_points; ++q) {
                    for (int g = 0; g < group; ++g) {
                        const int i = begin + g;
                        const std::int64_t at = q * lanes + i * L::width;
                        const Vec known = tau<Repeats>(split, q, i, agreed);
                        const Vec not_known = unknown<Repeats>(split, q, i, agreed);
                        const Vec p_a = edge(known, not_known, w_a, L::mask(first, i));
                        const Vec A_b = b.A(points, d_b[g], q, i);
                        const Vec D = L::sub(a.A(points, d_a[g], q, i), A_b);
                        L::store(out + at, L::fma(p_a, D, A_b));
                        if constexpr (Gradient) {
                            const Vec s_v = L::load(s + at);
                            const Vec s_tau = Repeats ? L::mul(L::mul(s_v, points.inverse(here, q, i)), points.odds(here, q, i)) : s_v;
                            change[g] = L::fma(s_tau, D, change[g]);
                            if constexpr (first_kind == Kind::twig) sum_a[g] = a.gather(points, sum_a[g], s_v, p_a, q, i);
                            if constexpr (second_kind == Kind::twig) {
                                const Vec p_b = edge(known, not_known, w_b, L::mask(~first, i));
                                sum_b[g] = b.gather(points, sum_b[g], s_v, p_b, q, i);
                            }
                        }
                    }
                }
                if constexpr (Gradient) {
                    for (int g = 0; g < group; ++g) {
                        const int i = begin + g;
                        Vec knowing = L::choose(L::mask(first, i), w_b, L::sub(L::zero(), w_a));
                        if (Repeats) knowing = L::keep(L::mask(agreed, i), knowing);
                        add(phi_k, split, i, change[g], knowing);
                        if constexpr (first_kind == Kind::twig) add(phi_k, *a.split, i, sum_a[g], d_a[g]);
                        if constexpr (second_kind == Kind::twig) add(phi_k, *b.split, i, sum_b[g], d_b[g]);
                    }
                }
            }
        }
    }

    void add(double* phi_k, const Split& split, int i, Vec x, Vec y) const {
        double* phi = phi_k + static_cast<std::int64_t>(split.player) * walk.game_outputs * lanes + i * L::width;
        L::store(phi, L::fma(x, y, L::load(phi)));
    }

    void add_root() const {
        for (int k = 0; k < tree.outputs; ++k)
            for (int q = 0; q < walk.n_points; ++q)
                for (int i = 0; i < NV; ++i) {
                    double* F = walk.extension + (tree.first_output + k) * lanes + i * L::width;
                    const double* A = walk.waiting + k * level_size + q * lanes + i * L::width;
                    L::store(F, L::fma(L::all(walk.weights[q]), L::load(A), L::load(F)));
                }
    }
};

template <int NV>
void walk_diagonal(const Walk& walk) {
    Walker<NV, Diagonal<NV>, true>(walk).run();
}
template <int NV>
void walk_general(const Walk& walk) {
    Walker<NV, General<NV>, true>(walk).run();
}
template <int NV>
void walk_value(const Walk& walk) {
    Walker<NV, General<NV>, false>(walk).run();
}

}  // namespace
}  // namespace leafgrad
