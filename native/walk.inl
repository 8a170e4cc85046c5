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
// its own: A_u = m_u + tau_u d_u with m_u and d_u free of z, and its gradient is d_u times the sum of s_u tau'_u. A
// split without a branch below it needs no stored s either: it takes its parent's and walks on.

namespace leafgrad {
namespace {

// Where a split finds s: in the level's store, or from its parent's s in passing.
enum class Reach { stored, from_parent, from_repeating_parent };

template <class Points, bool Gradient>
struct Walker {
    using L = Lanes;
    using Vec = L::Vec;
    using Mask = L::Mask;
    static constexpr int Q = Points::n;
    // 1 / P of a split that repeats its player stands behind its s: found when s is, and wanted by its children too.
    static constexpr bool keeps = Gradient && Points::keeps;
    template <bool Repeats, bool stored>
    using TermsOf = typename Points::template Terms<Repeats, keeps && Repeats && stored>;

    const Walk& walk;
    const TreeView tree;
    const Points points;
    const int lanes, outputs, game_outputs;
    const std::int64_t level_size, level_stride, result_size;
    double* top;  // behind the last finished subtree

    explicit Walker(const Walk& w)
        : walk(w),
          tree(w.tree),
          points(w),
          lanes(w.lanes),
          outputs(w.tree.outputs),
          game_outputs(w.game_outputs),
          level_size(static_cast<std::int64_t>(Q) * lanes),
          level_stride(keeps ? 2 * level_size : level_size),
          result_size(level_size * outputs),
          top(w.waiting) {}

    void run() {
        for (std::int64_t i = 0; i < tree.n_steps; ++i) {
            const Step step = tree.steps[i];
            steps[step.code](*this, tree.splits[step.split], step.split);
        }
        if (!Gradient || walk.extension != nullptr) add_root();
    }

    // The rows that go to the first child, or to the one of this side, and those that agreed with the path above, read
    // a vector at a time.
    struct Ways {
        const std::uint64_t *first, *agreed;
        Mask goes_first(int lane) const { return L::mask(first, lane); }
        Mask goes_to(std::int32_t side, int lane) const {
            return L::mask(first, lane, -static_cast<std::uint64_t>(side));
        }
        Mask agrees(int lane) const { return L::mask(agreed, lane); }
    };
    template <bool Repeats>
    Ways ways(const Split& split, std::int32_t index) const {
        const std::int64_t repeat = Repeats ? split.repeat : 0;
        return {walk.first + std::int64_t{index} * mask_words, walk.agreed + repeat * mask_words};
    }

    static void enter_root(Walker& w, const Split&, std::int32_t) {
        if constexpr (Gradient)
            for (int q = 0; q < Q; ++q)
                for (int lane = 0; lane < w.lanes; lane += L::width)
                    L::store(w.walk.reach + q * w.lanes + lane, w.points.start(q, lane));
    }

    double* reach_of(std::int32_t level) const { return walk.reach + level * level_stride; }

    // s of a branch from its parent's.
    template <bool ParentRepeats, bool Repeats>
    [[gnu::always_inline]] static void enter(Walker& w, const Split& split, std::int32_t) {
        if constexpr (Gradient) {
            const Split& parent = w.tree.splits[split.parent];
            double* s = w.reach_of(split.level);
            const double* s_parent = w.reach_of(split.level - 1);
            const TermsOf<ParentRepeats, true> terms(w.points, parent, s_parent + w.level_size);
            const TermsOf<Repeats, false> own(w.points, split);
            const typename Points::template Edge<ParentRepeats> edge(terms, parent.share[split.side]);
            const Ways ways = w.ways<ParentRepeats>(parent, split.parent);
            const auto lanes = w.lanes;
            for (int lane = 0; lane < lanes; lane += L::width) {
                const Mask came = ways.goes_to(split.side, lane), agreed = ways.agrees(lane);
                for (int q = 0; q < Q; ++q) {
                    const Vec p = edge.reach(q, terms, lane, came, agreed);
                    L::store(s + q * lanes + lane, L::mul(L::load(s_parent + q * lanes + lane), p));
                }
                if constexpr (keeps && Repeats) own.invert(lane, s + w.level_size + lane, lanes);
            }
        }
    }

    // A child as its parent sees it: where its A comes from.
    template <bool Repeats, Kind kind>
    struct Child {
        using Terms = TermsOf<Repeats, false>;
        const Split& split;  // a twig; else unused
        const Terms terms;
        const Ways ways;
        Vec mean, gain, loss;  // a leaf's value; a twig's m, and d of a row that goes to its first, second child

        [[gnu::always_inline]] Child(const Walker& w, const Split& parent, int side)
            : split(kind == Kind::twig ? w.tree.splits[parent.child[side]] : parent),
              terms(w.points, split),
              ways(w.ways < Repeats && kind == Kind::twig > (split, kind == Kind::twig ? parent.child[side] : 0)) {}

        [[gnu::always_inline]] void look_at(const Walker& w, const Split& parent, int side, int k) {
            const auto K = w.outputs;
            const auto leaf = [&](std::int32_t index) {
                return w.tree.leaves[static_cast<std::int64_t>(index) * K + k];
            };
            if constexpr (kind == Kind::leaf) mean = L::all(leaf(parent.child[side]));
            if constexpr (kind == Kind::twig) {
                const double x = leaf(split.child[0]), y = leaf(split.child[1]);
                mean = L::all(split.share[0] * x + split.share[1] * y);
                gain = L::all(split.share[1] * (x - y));
                loss = L::all(split.share[0] * (y - x));
            }
        }
        [[gnu::always_inline]] Vec d(int lane) const {
            if constexpr (kind != Kind::twig) return L::zero();
            const Vec d = L::choose(ways.goes_first(lane), gain, loss);
            return Repeats ? L::keep(ways.agrees(lane), d) : d;
        }
        template <class Here>
        [[gnu::always_inline]] Vec A(const Here& here, Vec d, const double* results, int q) const {
            if constexpr (kind == Kind::branch) return L::load(results);
            if constexpr (kind == Kind::leaf) return mean;
            return here.twig(q, d, mean);
        }
    };

    // A of a branch from its children's, and the gradient of its player and of its twigs' players.
    template <Reach reach, bool Repeats, bool TwigRepeats, Kind first_kind, Kind second_kind>
    [[gnu::always_inline]] static void leave(Walker& w, const Split& split, std::int32_t index) {
        constexpr bool passing = reach != Reach::stored;
        constexpr bool ParentRepeats = reach == Reach::from_repeating_parent;
        using Terms = TermsOf<Repeats, !passing>;
        using ParentTerms = TermsOf<ParentRepeats, true>;
        using First = Child<TwigRepeats, first_kind>;
        using Second = Child<TwigRepeats, second_kind>;
        const auto lanes = w.lanes;
        const double* s_stored = w.reach_of(split.level - passing);
        const Terms terms(w.points, split, s_stored + w.level_size);
        First a(w, split, 0);
        Second b(w, split, 1);
        const Ways ways = w.ways<Repeats>(split, index);
        const Split& parent = passing ? w.tree.splits[split.parent] : split;
        const ParentTerms parent_terms(w.points, parent, s_stored + w.level_size);
        const Ways parent_ways = w.ways<ParentRepeats>(parent, passing ? split.parent : 0);
        const typename Points::template Edge<Repeats> edge_a(terms, split.share[0]);
        const typename Points::template Edge<Repeats> edge_b(terms, split.share[1]);
        const typename Points::template Edge<ParentRepeats> edge(parent_terms, parent.share[split.side]);
        const Vec w_b = L::all(split.share[1]), minus_w_a = L::all(-split.share[0]);

        double* results_b = second_kind == Kind::branch ? w.top - w.result_size : w.top;
        double* results_a = first_kind == Kind::branch ? results_b - w.result_size : results_b;
        w.top = results_a + w.result_size;
        for (int k = 0; k < w.outputs; ++k) {
            a.look_at(w, split, 0, k);
            b.look_at(w, split, 1, k);
            double* out = results_a + k * w.level_size;
            const double* from_b = results_b + k * w.level_size;
            double* phi = w.gradient_of(split, k);
            double* phi_a = w.gradient_of(a.split, k);
            double* phi_b = w.gradient_of(b.split, k);
            for (int lane = 0; lane < lanes; lane += L::width) {
                const auto& here = terms.at(lane);
                const auto& here_a = a.terms.at(lane);
                const auto& here_b = b.terms.at(lane);
                const Mask first = ways.goes_first(lane), agreed = ways.agrees(lane);
                const Mask came = parent_ways.goes_to(split.side, lane), came_agreed = parent_ways.agrees(lane);
                const Vec d_a = a.d(lane), d_b = b.d(lane);
                Vec change = L::zero(), sum_a = L::zero(), sum_b = L::zero();
                for (int q = 0; q < Q; ++q) {
                    const std::int64_t at = static_cast<std::int64_t>(q) * lanes + lane;
                    const Vec p_a = edge_a.template p<true>(q, here, first, agreed);
                    const Vec A_b = b.A(here_b, d_b, from_b + at, q);
                    const Vec D = L::sub(a.A(here_a, d_a, out + at, q), A_b);
                    L::store(out + at, L::fma(p_a, D, A_b));
                    if constexpr (Gradient) {
                        Vec s = L::load(s_stored + at);
                        if constexpr (passing) s = L::mul(s, edge.reach(q, parent_terms, lane, came, came_agreed));
                        change = L::fma(here.weigh(q, s), D, change);
                        if constexpr (first_kind == Kind::twig)
                            sum_a =
                                TwigRepeats ? L::add(sum_a, here_a.weigh(q, L::mul(s, p_a))) : L::fma(s, p_a, sum_a);
                        if constexpr (second_kind == Kind::twig) {
                            const Vec p_b = edge_b.template p<false>(q, here, first, agreed);
                            sum_b =
                                TwigRepeats ? L::add(sum_b, here_b.weigh(q, L::mul(s, p_b))) : L::fma(s, p_b, sum_b);
                        }
                    }
                }
                if constexpr (Gradient) {
                    Vec knowing = L::choose(first, w_b, minus_w_a);
                    if (Repeats) knowing = L::keep(agreed, knowing);
                    add(phi + lane, change, knowing);
                    if constexpr (first_kind == Kind::twig) add(phi_a + lane, sum_a, d_a);
                    if constexpr (second_kind == Kind::twig) add(phi_b + lane, sum_b, d_b);
                }
            }
        }
    }

    double* gradient_of(const Split& split, int k) const {
        const std::int64_t row = static_cast<std::int64_t>(split.player) * game_outputs + tree.first_output + k;
        return walk.gradient + row * lanes;
    }

    LG_INLINE void add(double* phi, Vec x, Vec y) { L::store(phi, L::fma(x, y, L::load(phi))); }

    void add_root() const {
        for (int q = 0; q < Q; ++q)
            for (int k = 0; k < outputs; ++k)
                for (int lane = 0; lane < lanes; lane += L::width) {
                    double* F = walk.extension +
                                (static_cast<std::int64_t>(q) * game_outputs + tree.first_output + k) * lanes + lane;
                    const double* A = walk.waiting + k * level_size + q * lanes + lane;
                    L::store(F, L::add(L::load(F), L::load(A)));
                }
    }

    // One function a step code: see step_code in split.h.
    using StepFunction = void (*)(Walker&, const Split&, std::int32_t);
    template <Reach reach, Kind first, Kind second>
    struct Leaves {
        static constexpr bool twigs = first == Kind::twig || second == Kind::twig;
        static constexpr StepFunction plain = &leave<reach, false, false, first, second>;
        static constexpr StepFunction here = &leave<reach, true, false, first, second>;
        static constexpr StepFunction twig = &leave<reach, false, twigs, first, second>;
        static constexpr StepFunction both = &leave<reach, true, twigs, first, second>;
    };
#define LG_LEAVES(reach, first, second)                                                                            \
    Leaves<Reach::reach, Kind::first, Kind::second>::plain, Leaves<Reach::reach, Kind::first, Kind::second>::here, \
        Leaves<Reach::reach, Kind::first, Kind::second>::twig, Leaves<Reach::reach, Kind::first, Kind::second>::both
    static constexpr StepFunction steps[n_step_codes] = {
        &enter_root,
        &enter<false, false>,
        &enter<true, false>,
        &enter<false, true>,
        &enter<true, true>,
        LG_LEAVES(stored, leaf, leaf),
        LG_LEAVES(stored, twig, leaf),
        LG_LEAVES(stored, twig, twig),
        LG_LEAVES(stored, branch, leaf),
        LG_LEAVES(stored, branch, twig),
        LG_LEAVES(stored, branch, branch),
        LG_LEAVES(from_parent, twig, leaf),
        LG_LEAVES(from_parent, twig, twig),
        LG_LEAVES(from_repeating_parent, twig, leaf),
        LG_LEAVES(from_repeating_parent, twig, twig),
    };
#undef LG_LEAVES
};

template <int Q>
void walk_diagonal(const Walk& walk) {
    Walker<Diagonal<Q>, true>(walk).run();
}
template <int Q>
void walk_general(const Walk& walk) {
    Walker<General<Q>, true>(walk).run();
}
void walk_value(const Walk& walk) { Walker<General<1>, false>(walk).run(); }
template <int Q, bool Gradient>
void walk_corners(const Walk& walk) {
    Walker<Corners<Q, Gradient>, Gradient>(walk).run();
}

}  // namespace
}  // namespace leafgrad
