// The points that a walk stands at, and what a split knows there (tau, and its edges' probabilities: see walk.inl).
//
// Included by walk_isa.cpp, before walk.inl.

namespace leafgrad {
namespace {

struct AllRows {
    std::uint64_t words[mask_words];
    constexpr AllRows() : words() {
        for (std::uint64_t& word : words) word = ~std::uint64_t{0};
    }
};
constexpr AllRows all_rows;

// What the points are: each kind has, for one split and Q points, `Terms`, which give at a vector of lanes
//     weigh(q, s)     s tau'_v of a row that agrees with the path
//     twig(q, d, m)   A of the split itself where it is a twig
// and `Edge`, for the edge to the first or the second child, of share w:
//     p(q, ...)       tau [taken] + (1 - tau) w
// With `Repeats` the player was split on before; a row that did not agree then knows nothing of it, and its d is 0.

// At z = t (1, ..., 1), tau and tau' of a split depend on a row only through "agreed so far": two numbers a point,
// found once a walk for the splits that repeat their player.
LG_INLINE void find_posteriors(const Walk& walk, const double* t, const double* y, int points) {
    using L = Lanes;
    const auto one = L::all(1);
    double* out = walk.posteriors;
    for (std::int64_t i = 0; i < walk.tree.n_repeats; ++i, out += 3 * most_width) {
        const auto W = L::all(walk.tree.repeats[i].earlier);
        for (int q = 0; q < points; q += L::width) {
            const auto z = L::load(t + q), y1 = L::load(y + q);
            const auto P = L::fma(y1, W, z);
            const auto zero = L::is_zero(P);
            const auto r = L::choose(zero, L::zero(), L::div(one, P));
            const auto odds = L::mul(W, r);
            // z = W = 0: the limit. Such a split is reached only by rows whose player is known.
            L::store(out + q, L::choose(zero, one, L::mul(z, r)));
            L::store(out + most_width + q, L::mul(y1, odds));
            // At most 1 / P, and s has the factor P: nothing overflows.
            L::store(out + 2 * most_width + q, L::mul(odds, r));
        }
    }
}

// The points t_q (1, ..., 1) of a rule. All lanes share each number.
template <int Q>
struct Diagonal {
    static constexpr int n = Q;
    static constexpr bool keeps = false;
    static constexpr int padded = (Q + Lanes::width - 1) / Lanes::width * Lanes::width;
    const double *weights, *posteriors;
    alignas(64) double t[padded], y[padded];  // t_q, 1 - t_q

    explicit Diagonal(const Walk& walk) : weights(walk.weights), posteriors(walk.posteriors) {
        for (int q = 0; q < padded; ++q) {
            t[q] = q < Q ? walk.t[q] : 0.5;
            y[q] = 1 - t[q];
        }
        find_posteriors(walk, t, y, Q);
    }

    Lanes::Vec start(int q, int) const { return Lanes::all(weights[q]); }

    template <bool Repeats, bool kept>
    struct Terms {
        const double *known, *not_known;  // tau, 1 - tau
        Lanes::Vec tau[Q], gain[Q];
        [[gnu::always_inline]] Terms(const Diagonal& points, const Split& split, const double* = nullptr) {
            const double* here = points.posteriors + std::int64_t{split.repeat} * 3 * most_width;
            known = Repeats ? here : points.t;
            not_known = Repeats ? here + most_width : points.y;
            for (int q = 0; q < Q; ++q) {
                tau[q] = Lanes::all(known[q]);
                if constexpr (Repeats) gain[q] = Lanes::all(here[2 * most_width + q]);
            }
        }
        const Terms& at(int) const { return *this; }
        [[gnu::always_inline]] Lanes::Vec twig(int q, Lanes::Vec d, Lanes::Vec m) const {
            return Lanes::fma(tau[q], d, m);
        }
        [[gnu::always_inline]] Lanes::Vec weigh(int q, Lanes::Vec s) const {
            return Repeats ? Lanes::mul(s, gain[q]) : s;
        }
    };

    // Two numbers a point, and w where a row did not agree: a choice, and nothing to compute per lane.
    template <bool Repeats>
    struct Edge {
        Lanes::Vec on_it[Q], off_it[Q], share;
        [[gnu::always_inline]] Edge(const Terms<Repeats, false>& terms, double w) : share(Lanes::all(w)) {
            alignas(64) double off[padded], on[padded];
            for (int q = 0; q < Q; q += Lanes::width) {
                const auto stays = Lanes::mul(Lanes::load(terms.not_known + q), share);
                Lanes::store(off + q, stays);
                Lanes::store(on + q, Lanes::add(stays, Lanes::load(terms.known + q)));
            }
            for (int q = 0; q < Q; ++q) {
                on_it[q] = Lanes::all(on[q]);
                off_it[q] = Lanes::all(off[q]);
            }
        }
        template <bool to_first>
        [[gnu::always_inline]] Lanes::Vec p(int q, const Terms<Repeats, false>&, Lanes::Mask first,
                                            Lanes::Mask agreed) const {
            const auto chosen = Lanes::choose(first, to_first ? on_it[q] : off_it[q], to_first ? off_it[q] : on_it[q]);
            return Repeats ? Lanes::choose(agreed, chosen, share) : chosen;
        }
        [[gnu::always_inline]] Lanes::Vec reach(int q, const Terms<Repeats, false>& terms, int, Lanes::Mask came,
                                                Lanes::Mask agreed) const {
            return p<true>(q, terms, came, agreed);
        }
    };
};

// Every row and player its own z: the point z, and with Q = 2 also its mirror 1 - z.
template <int Q>
struct General {
    static constexpr int n = Q;
    static constexpr bool keeps = true;
    static_assert(Q <= 2);
    const Walk& walk;
    explicit General(const Walk& w) : walk(w) {}

    Lanes::Vec start(int, int lane) const { return Lanes::load(walk.weights + lane); }

    template <bool Repeats, bool kept>
    struct Terms {
        const double* z;
        const double* inverse_kept;
        std::int64_t lanes;
        Lanes::Vec W;
        [[gnu::always_inline]] Terms(const General& points, const Split& split, const double* inverse = nullptr)
            : z(points.walk.z + static_cast<std::int64_t>(split.player) * points.walk.lanes),
              inverse_kept(inverse),
              lanes(points.walk.lanes) {
            if constexpr (Repeats) W = Lanes::all(points.walk.tree.repeats[split.repeat].earlier);
        }

        // 1 / P, and 0 where P is 0.
        struct Inverse {
            Lanes::Vec of[Q];
        };
        [[gnu::always_inline]] Lanes::Vec inverse_of(int q, int lane) const {
            return Lanes::load(inverse_kept + q * lanes + lane);
        }
        [[gnu::always_inline]] Inverse invert(const Lanes::Vec* tau, const Lanes::Vec* unknown) const {
            using L = Lanes;
            const auto one = L::all(1);
            L::Vec P[Q];
            L::Mask zero[Q];
            for (int q = 0; q < Q; ++q) {
                P[q] = L::fma(unknown[q], W, tau[q]);
                zero[q] = L::is_zero(P[q]);
                P[q] = L::choose(zero[q], one, P[q]);
            }
            Inverse r;
            if constexpr (Q == 1) {
                r.of[0] = L::div(one, P[0]);
            } else {
                // One division for both. The two P add up to 1 + W: their product is no smaller than half of each.
                const auto both = L::div(one, L::mul(P[0], P[1]));
                r.of[0] = L::mul(both, P[1]);
                r.of[1] = L::mul(both, P[0]);
            }
            for (int q = 0; q < Q; ++q) r.of[q] = L::choose(zero[q], L::zero(), r.of[q]);
            return r;
        }
        [[gnu::always_inline]] void invert(int lane, double* to, std::int64_t stride) const {
            const auto known = Lanes::load(z + lane), unknown = Lanes::sub(Lanes::all(1), known);
            const Lanes::Vec tau[2] = {known, unknown}, rest[2] = {unknown, known};
            const Inverse r = invert(tau, rest);
            for (int q = 0; q < Q; ++q) Lanes::store(to + q * stride, r.of[q]);
        }

        struct Here {
            Lanes::Vec tau[Q], unknown[Q], inverse[Q], odds[Q];
            [[gnu::always_inline]] Lanes::Vec twig(int q, Lanes::Vec d, Lanes::Vec m) const {
                return Lanes::fma(tau[q], d, m);
            }
            [[gnu::always_inline]] Lanes::Vec weigh(int q, Lanes::Vec s) const {
                return Repeats ? Lanes::mul(Lanes::mul(s, inverse[q]), odds[q]) : s;
            }
        };
        [[gnu::always_inline]] Here at(int lane) const {
            using L = Lanes;
            Here here;
            const auto one = L::all(1);
            const auto known = L::load(z + lane), unknown = L::sub(one, known);
            for (int q = 0; q < Q; ++q) {
                here.tau[q] = q == 0 ? known : unknown;
                here.unknown[q] = q == 0 ? unknown : known;
            }
            if constexpr (Repeats) {
                Inverse r;
                if constexpr (kept)
                    for (int q = 0; q < Q; ++q) r.of[q] = inverse_of(q, lane);
                else
                    r = invert(here.tau, here.unknown);
                for (int q = 0; q < Q; ++q) {
                    // z = W = 0: the limit of tau is 1, and nothing is weighed.
                    here.tau[q] = L::choose(L::is_zero(r.of[q]), one, L::mul(here.tau[q], r.of[q]));
                    here.inverse[q] = r.of[q];
                    here.odds[q] = L::mul(W, r.of[q]);
                    here.unknown[q] = L::mul(here.unknown[q], here.odds[q]);
                }
            }
            return here;
        }
    };

    template <bool Repeats>
    struct Edge {
        Lanes::Vec share, joint;
        template <class Terms>
        [[gnu::always_inline]] Edge(const Terms& terms, double w) : share(Lanes::all(w)),
                                                                    joint(share) {
            if constexpr (Repeats) joint = Lanes::mul(terms.W, share);
        }
        // p of the rows that `came`, for s alone: P of the child over P. (Where P is 0, s is too.)
        template <class Terms>
        [[gnu::always_inline]] Lanes::Vec reach(int q, const Terms& terms, int lane, Lanes::Mask came,
                                                Lanes::Mask agreed) const {
            using L = Lanes;
            const auto known = L::load(terms.z + lane), unknown = L::sub(L::all(1), known);
            const auto both = L::add_where(came, L::mul(q == 0 ? unknown : known, joint), q == 0 ? known : unknown);
            if constexpr (!Repeats) return both;
            return L::choose(agreed, L::mul(both, terms.inverse_of(q, lane)), share);
        }
        template <bool to_first, class Here>
        [[gnu::always_inline]] Lanes::Vec p(int q, const Here& here, Lanes::Mask first, Lanes::Mask agreed) const {
            const auto stays = Lanes::mul(here.unknown[q], share), goes = Lanes::add(stays, here.tau[q]);
            const auto chosen = Lanes::choose(first, to_first ? goes : stays, to_first ? stays : goes);
            return Repeats ? Lanes::choose(agreed, chosen, share) : chosen;
        }
    };
};

// Corners of the cube, z in {0, 1}: masks, and no division. A row goes its way where the player is known and both ways
// where it is not. For the extension alone repeats need no care, as nothing is reached below a disagreement with a
// known player; but a gradient also asks what would be there.
template <int Q, bool Gradient>
struct Corners {
    static constexpr int n = Q;
    static constexpr bool keeps = false;
    const Walk& walk;
    explicit Corners(const Walk& w) : walk(w) {}

    Lanes::Vec start(int, int lane) const { return Lanes::load(walk.weights + lane); }

    template <bool Repeats, bool kept>
    struct Terms {
        static constexpr bool weighs = Repeats && Gradient;
        const std::uint64_t* known[Q];
        Lanes::Vec W, inverse;
        [[gnu::always_inline]] Terms(const Corners& points, const Split& split, const double* = nullptr) {
            for (int q = 0; q < Q; ++q)
                known[q] = points.walk.known + (q * points.walk.known_stride + split.player) * mask_words;
            if constexpr (weighs) {
                const double earlier = points.walk.tree.repeats[split.repeat].earlier;
                W = Lanes::all(earlier);
                inverse = Lanes::all(earlier == 0 ? 0.0 : 1 / earlier);
                // The limit of tau is 1 for z = 0 too: such a split is reached only by rows whose player is known.
                if (earlier == 0)
                    for (int q = 0; q < Q; ++q) known[q] = all_rows.words;
            }
        }
        struct Here {
            Lanes::Mask known[Q];
            Lanes::Vec gain[Q];
            [[gnu::always_inline]] Lanes::Vec twig(int q, Lanes::Vec d, Lanes::Vec m) const {
                return Lanes::add_where(known[q], m, d);
            }
            [[gnu::always_inline]] Lanes::Vec weigh(int q, Lanes::Vec s) const {
                return weighs ? Lanes::mul(s, gain[q]) : s;
            }
        };
        [[gnu::always_inline]] Here at(int lane) const {
            Here here;
            for (int q = 0; q < Q; ++q) {
                here.known[q] = Lanes::mask(known[q], lane);
                // tau' of a row that agrees: z = 1 is certain of its player, z = 0 has lost a factor W.
                if constexpr (weighs) here.gain[q] = Lanes::choose(here.known[q], W, inverse);
            }
            return here;
        }
    };

    template <bool Repeats>
    struct Edge {
        Lanes::Vec share;
        [[gnu::always_inline]] Edge(const Terms<Repeats, false>&, double w) : share(Lanes::all(w)) {}
        [[gnu::always_inline]] Lanes::Vec chosen(Lanes::Mask known, Lanes::Vec goes, Lanes::Mask agreed) const {
            const auto p = Lanes::choose(known, goes, share);
            return Repeats && Gradient ? Lanes::choose(agreed, p, share) : p;
        }
        template <bool to_first, class Here>
        [[gnu::always_inline]] Lanes::Vec p(int q, const Here& here, Lanes::Mask first, Lanes::Mask agreed) const {
            return chosen(here.known[q], Lanes::choose(first, Lanes::all(to_first), Lanes::all(!to_first)), agreed);
        }
        [[gnu::always_inline]] Lanes::Vec reach(int q, const Terms<Repeats, false>& terms, int lane, Lanes::Mask came,
                                                Lanes::Mask agreed) const {
            return chosen(Lanes::mask(terms.known[q], lane), Lanes::keep(came, Lanes::all(1)), agreed);
        }
    };
};

}  // namespace
}  // namespace leafgrad
