// Any probabilistic value, by polynomials along the diagonal (the paper's TreeProb without its roots of unity).
//
// Where players are known with probability t, one leaf's part in F_x is its value times a product of factors, one for
// each player of its path: [x agrees with the player's splits] t + (1-t) W, with W the product of the player's shares.
// A probabilistic value is a linear functional lambda on polynomials: it gives t^s (1-t)^(n-s) the weight of a
// coalition of s among n others. Player k has the value
//
//     phi_k = sum over leaves of ([agrees] - W_k) lambda(product of the other players' factors) leaf
//
// A factor is known on the edge below which its player is not split on any more: there the player is *closed*. Down
// the tree goes the functional g -> lambda(product of the factors closed so far, times g), by its values mu on
// t^s (1-t)^(e-s); up the tree comes A, the sum over the leaves below of leaf times product of the factors closed
// below, by its coefficients beta. Closing k is, with a = [agrees] and W = W_k,
//
//     mu'_s   = a mu_{s+1} + W mu_s            the functional below the edge, one degree less
//     phi_k  += (a - W) sum_s mu_s beta_s      with mu from above the edge, beta from below
//     beta'_s = a beta_{s-1} + W beta_s        the polynomial above the edge, one degree more
//
// and a null player leaves the functional by mu'_s = mu_s + mu_{s+1}, joins a polynomial by beta'_s = beta_s +
// beta_{s-1}. Nothing is divided and nothing subtracted: mu_s and beta_s, a size's weight and a mean of leaves times a
// binomial, have small relative errors whatever the degree. Most players close at both edges of a split, and then the
// two closings are one move.
//
// Rows are lanes. The numbers of one vector of rows lie side by side, (vector, s); a move takes the vectors, and the
// coefficients of each, from the last to the first, so that A grows in its place.

namespace leafgrad {
namespace {

constexpr int any = -1;

struct Climber {
    using L = Lanes;
    using Vec = L::Vec;
    using Mask = L::Mask;

    const Walk& walk;
    const Moves& moves;
    const TreeView tree;
    const int lanes;

    void run() {
        for (std::int64_t i = 0; i < moves.n; ++i) {
            const Move& m = moves.list[i];
            functions[m.code](*this, m);
        }
    }

    // Where numbers of degree `degree` stand: the functional, and the polynomial of output k.
    double* reach(std::int64_t offset) const { return walk.reach + offset * lanes; }
    double* polynomial(std::int64_t offset, int degree, int k) const {
        return walk.waiting + (offset * tree.outputs + static_cast<std::int64_t>(k) * (degree + 1)) * lanes;
    }
    double* phi(const Split& split, int k) const {
        const std::int64_t row = static_cast<std::int64_t>(split.player) * walk.game_outputs + tree.first_output + k;
        return walk.gradient + row * lanes;
    }
    double leaf(std::int32_t index, int k) const {
        return tree.leaves[static_cast<std::int64_t>(index) * tree.outputs + k];
    }
    const double* binomials(int r) const { return moves.binomials + static_cast<std::int64_t>(r) * (r + 1) / 2; }

    LG_INLINE void add(double* to, Vec x, Vec y) { L::store(to, L::fma(x, y, L::load(to))); }
    // What the powers of two of one more degree ask for; constant degrees are below them.
    LG_INLINE double scale(int from, int to) {
        double h = 1;
        for (int i = halvings(from); i < halvings(to); ++i) h *= 0.5;
        return h;
    }

    // Which way rows go at a split, and which of them went the path's way at the player's earlier splits.
    struct Ways {
        const std::uint64_t *first, *agreed;
        double earlier;  // W of these
        Ways(const Climber& c, std::int32_t split)
            : first(c.walk.first + static_cast<std::int64_t>(split) * mask_words) {
            const std::int32_t repeat = c.tree.splits[split].repeat;
            agreed = repeat < 0 ? all_rows.words : c.walk.agreed + static_cast<std::int64_t>(repeat) * mask_words;
            earlier = repeat < 0 ? 1 : c.tree.repeats[repeat].earlier;
        }
        Mask goes_first(int lane) const { return L::mask(first, lane); }
        Mask agrees(int lane) const { return L::mask(agreed, lane); }
    };
    // A closing: the rows that agree with all of the player's splits, and W.
    struct Closing {
        std::uint64_t agrees[mask_words];
        double W;
        Closing(const Climber& c, std::int32_t split, std::int32_t side) {
            const Ways ways(c, split);
            const std::uint64_t flip = side == 0 ? 0 : ~std::uint64_t{0};
            for (int i = 0; i < mask_words; ++i) agrees[i] = ways.agreed[i] & (ways.first[i] ^ flip);
            W = ways.earlier * c.tree.splits[split].share[side];
        }
    };

    static void root(const Climber& c, const Move& m) {
        const int n = m.degree + 1;
        double* mu = c.reach(m.reach);
        for (int s = 0; s < n; ++s) {
            const Vec weight = L::all(c.moves.weights[s]);
            for (int lane = 0; lane < c.lanes; lane += L::width) L::store(mu + lane * n + s * L::width, weight);
        }
    }

    template <int degree>
    static void enter(const Climber& c, const Move& m) {
        const int e = degree == any ? m.degree : degree;
        const Closing closing(c, m.closing, m.side);
        const double h = degree == any ? scale(e - 1, e) : 1;
        const Vec W = L::all(h * closing.W), one = L::all(h);
        const double* from = c.reach(m.reach);
        double* to = c.reach(m.by);
        for (int lane = 0; lane < c.lanes; lane += L::width) {
            const double* mu = from + lane * (e + 1);
            double* out = to + lane * e;
            const Vec known = L::keep(L::mask(closing.agrees, lane), one);
            Vec here = L::load(mu);
#pragma GCC unroll 8
            for (int s = 0; s < e; ++s) {
                const Vec next = L::load(mu + (s + 1) * L::width);
                L::store(out + s * L::width, L::fma(known, next, L::mul(W, here)));
                here = next;
            }
        }
    }

    // mu'_i = sum_j C(r, j) mu_{i+j}: r null players leave.
    static void reduce(const Climber& c, const Move& m) {
        const int e = m.degree, r = m.by, low = e - r;
        const double h = scale(low, e);
        const double* weights = c.binomials(r);
        const double* from = c.reach(m.reach);
        double* to = c.reach(m.at);
        for (int lane = 0; lane < c.lanes; lane += L::width) {
            const double* mu = from + lane * (e + 1);
            for (int i = 0; i <= low; ++i) {
                Vec sum = L::zero();
                for (int j = 0; j <= r; ++j)
                    sum = L::fma(L::all(h * weights[j]), L::load(mu + (i + j) * L::width), sum);
                L::store(to + lane * (low + 1) + i * L::width, sum);
            }
        }
    }

    // beta'_s = sum_j C(r, j) beta_{s-j}.
    static void raise(const Climber& c, const Move& m) {
        const int low = m.degree, r = m.by, high = low + r;
        const double h = scale(low, high);
        const double* weights = c.binomials(r);
        for (int k = c.tree.outputs - 1; k >= 0; --k) {
            const double* from = c.polynomial(m.at, low, k);
            double* to = c.polynomial(m.at, high, k);
            for (int lane = c.lanes - L::width; lane >= 0; lane -= L::width) {
                const double* beta = from + lane * (low + 1);
                for (int s = high; s >= 0; --s) {
                    Vec sum = L::zero();
                    for (int j = s > low ? s - low : 0; j <= r && j <= s; ++j)
                        sum = L::fma(L::all(h * weights[j]), L::load(beta + (s - j) * L::width), sum);
                    L::store(to + lane * (high + 1) + s * L::width, sum);
                }
            }
        }
    }

    static void join(const Climber& c, const Move& m) {
        const std::int64_t n = static_cast<std::int64_t>(m.degree + 1) * c.lanes * c.tree.outputs;
        double* a = c.polynomial(m.at, m.degree, 0);
        const double* b = c.polynomial(m.at + m.degree + 1, m.degree, 0);
        for (std::int64_t i = 0; i < n; i += L::width) L::store(a + i, L::add(L::load(a + i), L::load(b + i)));
    }

    template <int degree>
    static void close(const Climber& c, const Move& m) {
        const int e = degree == any ? m.degree : degree;
        const Closing closing(c, m.closing, m.side);
        const double h = degree == any ? scale(e, e + 1) : 1;
        const Vec W = L::all(h * closing.W), one = L::all(h);
        const Vec in = L::all(1 - closing.W), out = L::all(-closing.W);
        for (int k = c.tree.outputs - 1; k >= 0; --k) {
            const double* from = c.polynomial(m.at, e, k);
            double* to = c.polynomial(m.at, e + 1, k);
            double* phi = c.phi(c.tree.splits[m.closing], k);
            for (int lane = c.lanes - L::width; lane >= 0; lane -= L::width) {
                const double *mu = c.reach(m.reach) + lane * (e + 1), *beta = from + lane * (e + 1);
                double* result = to + lane * (e + 2);
                const Mask agrees = L::mask(closing.agrees, lane);
                const Vec known = L::keep(agrees, one);
                Vec here = L::load(beta + e * L::width), sum = L::zero();
                L::store(result + (e + 1) * L::width, L::mul(known, here));
#pragma GCC unroll 8
                for (int s = e; s > 0; --s) {
                    const Vec next = L::load(beta + (s - 1) * L::width);
                    sum = L::fma(L::load(mu + s * L::width), here, sum);
                    L::store(result + s * L::width, L::fma(known, next, L::mul(W, here)));
                    here = next;
                }
                sum = L::fma(L::load(mu), here, sum);
                L::store(result, L::mul(W, here));
                add(phi + lane, L::choose(agrees, in, out), sum);
            }
        }
    }

    static void close_leaf(const Climber& c, const Move& m) {
        const Closing closing(c, m.closing, m.side);
        for (int k = 0; k < c.tree.outputs; ++k) {
            const double value = c.leaf(m.by, k);
            const Vec whole = L::all(value), below = L::all(closing.W * value);
            const Vec in = L::all((1 - closing.W) * value), out = L::all(-closing.W * value);
            double* to = c.polynomial(m.at, 1, k);
            double* phi = c.phi(c.tree.splits[m.closing], k);
            for (int lane = 0; lane < c.lanes; lane += L::width) {
                const Mask agrees = L::mask(closing.agrees, lane);
                L::store(to + 2 * lane, below);
                L::store(to + 2 * lane + L::width, L::keep(agrees, whole));
                add(phi + lane, L::choose(agrees, in, out), L::load(c.reach(m.reach) + lane));
            }
        }
    }

    // The functional of degree n for a split: its own, or that of degree n + 1 above the edge, closed in passing.
    template <bool passing, int n>
    struct Reached {
        const double* mu;
        const Closing closing;
        const Vec W;
        Vec value[n + 1];
        Reached(const Climber& c, const Move& m)
            : mu(c.reach(m.reach)),
              closing(c, passing ? m.closing : m.split, passing ? m.side : 0),
              W(L::all(closing.W)) {}
        void load(int lane) {
            if constexpr (!passing) {
                for (int s = 0; s <= n; ++s) value[s] = L::load(mu + lane * (n + 1) + s * L::width);
            } else {
                const double* above = mu + lane * (n + 2);
                const Mask agrees = L::mask(closing.agrees, lane);
                Vec here = L::load(above);
                for (int s = 0; s <= n; ++s) {
                    const Vec next = L::load(above + (s + 1) * L::width);
                    value[s] = L::add_where(agrees, L::mul(W, here), next);
                    here = next;
                }
            }
        }
    };

    // A split right above two leaves: beta_0 is one number, beta_1 and the change by knowing its player two or three.
    template <bool Repeats>
    struct Twig {
        const Split& split;
        const Ways ways;
        Vec mean, yes, no, gain, loss, apart;
        Twig(const Climber& c, std::int32_t index) : split(c.tree.splits[index]), ways(c, index) {}
        void look_at(const Climber& c, int k) {
            const double x = c.leaf(split.child[0], k), y = c.leaf(split.child[1], k);
            const double m = split.share[0] * x + split.share[1] * y, W = ways.earlier;
            yes = L::all(x);
            no = L::all(y);
            mean = L::all(Repeats ? W * m : m);
            gain = L::all(Repeats ? x - W * m : split.share[1] * (x - y));
            loss = L::all(Repeats ? y - W * m : split.share[0] * (y - x));
            apart = L::all(-W * m);
        }
        Vec known(int lane) const {
            const Vec leaf = L::choose(ways.goes_first(lane), yes, no);
            return Repeats ? L::keep(ways.agrees(lane), leaf) : leaf;
        }
        Vec change(int lane) const {
            const Vec d = L::choose(ways.goes_first(lane), gain, loss);
            return Repeats ? L::choose(ways.agrees(lane), d, apart) : d;
        }
    };

    template <bool passing, bool Repeats>
    static void leave_twig(const Climber& c, const Move& m) {
        Reached<passing, 0> reached(c, m);
        Twig<Repeats> twig(c, m.split);
        for (int k = 0; k < c.tree.outputs; ++k) {
            twig.look_at(c, k);
            double* out = c.polynomial(m.at, 1, k);
            double* phi = c.phi(twig.split, k);
            for (int lane = 0; lane < c.lanes; lane += L::width) {
                reached.load(lane);
                add(phi + lane, twig.change(lane), reached.value[0]);
                L::store(out + 2 * lane, twig.mean);
                L::store(out + 2 * lane + L::width, twig.known(lane));
            }
        }
    }

    // What a split at both of whose edges its player closes makes of the children's polynomials.
    template <bool Repeats>
    struct Both {
        const Split& split;
        const Ways ways;
        const double a, b;
        const Vec W_a, W_b, in_a, out_a, in_b, out_b;
        Both(const Climber& c, std::int32_t index, double h)
            : split(c.tree.splits[index]),
              ways(c, index),
              a(ways.earlier * split.share[0]),
              b(ways.earlier * split.share[1]),
              W_a(L::all(h * a)),
              W_b(L::all(h * b)),
              in_a(L::all(Repeats ? 1 - a : split.share[1])),
              out_a(L::all(Repeats ? -a : -split.share[0])),
              in_b(L::all(1 - b)),
              out_b(L::all(-b)) {}
        // phi += the change by knowing, given lambda of either child's polynomial, or of their difference.
        LG_INLINE void change(const Both& t, double* phi, Mask first, Mask agreed, Vec sum_a, Vec sum_b) {
            if constexpr (Repeats) {
                const Vec knowing_a = L::choose(agreed, L::choose(first, t.in_a, t.out_a), t.out_a);
                const Vec knowing_b = L::choose(agreed, L::choose(first, t.out_b, t.in_b), t.out_b);
                L::store(phi, L::fma(knowing_a, sum_a, L::fma(knowing_b, sum_b, L::load(phi))));
            } else {
                add(phi, L::choose(first, t.in_a, t.out_a), sum_a);
            }
        }
        LG_INLINE Vec known(Mask first, Mask agreed, Vec x, Vec y) {
            const Vec chosen = L::choose(first, x, y);
            return Repeats ? L::keep(agreed, chosen) : chosen;
        }
    };

    template <bool passing, bool leaf, bool Repeats, bool TwigRepeats>
    static void leave_twins(const Climber& c, const Move& m) {
        Reached<passing, 1> reached(c, m);
        const Both<Repeats> both(c, m.split, 1);
        using B = Both<Repeats>;
        Twig<TwigRepeats> a(c, both.split.child[0]), b(c, leaf ? both.split.child[0] : both.split.child[1]);
        for (int k = 0; k < c.tree.outputs; ++k) {
            a.look_at(c, k);
            if constexpr (leaf)
                b.mean = L::all(c.leaf(both.split.child[1], k));
            else
                b.look_at(c, k);
            const Vec low = L::fma(both.W_a, a.mean, L::mul(both.W_b, b.mean)), D_0 = L::sub(a.mean, b.mean);
            double* out = c.polynomial(m.at, 2, k);
            double *phi = c.phi(both.split, k), *phi_a = c.phi(a.split, k), *phi_b = c.phi(b.split, k);
            for (int lane = 0; lane < c.lanes; lane += L::width) {
                reached.load(lane);
                const Vec mu_0 = reached.value[0], mu_1 = reached.value[1];
                const Mask first = both.ways.goes_first(lane), agreed = both.ways.agrees(lane);
                const Vec a_1 = a.known(lane), b_1 = leaf ? b.mean : b.known(lane);
                add(phi_a + lane, a.change(lane), L::fma(both.W_a, mu_0, B::known(first, agreed, mu_1, L::zero())));
                if constexpr (!leaf)
                    add(phi_b + lane, b.change(lane), L::fma(both.W_b, mu_0, B::known(first, agreed, L::zero(), mu_1)));
                if constexpr (Repeats) {
                    const Vec sum_a = L::fma(mu_0, a.mean, L::mul(mu_1, a_1));
                    const Vec sum_b = L::fma(mu_0, b.mean, L::mul(mu_1, b_1));
                    B::change(both, phi + lane, first, agreed, sum_a, sum_b);
                } else {
                    const Vec sum = L::fma(mu_0, D_0, L::mul(mu_1, L::sub(a_1, b_1)));
                    B::change(both, phi + lane, first, agreed, sum, sum);
                }
                double* beta = out + 3 * lane;
                L::store(beta, low);
                // A leaf, as a polynomial of degree 1, is t + (1-t) times itself.
                L::store(beta + L::width,
                         L::fma(both.W_a, a_1, L::fma(both.W_b, b_1, B::known(first, agreed, a.mean, b.mean))));
                L::store(beta + 2 * L::width, B::known(first, agreed, a_1, b_1));
            }
        }
    }

    template <int degree, bool leaf, bool Repeats>
    static void leave_split(const Climber& c, const Move& m) {
        using B = Both<Repeats>;
        const int e = degree == any ? m.degree : degree;
        const double h = degree == any ? scale(e, e + 1) : 1, h_leaf = degree == any ? scale(0, e) : 1;
        const B both(c, m.split, h);
        const Vec one = L::all(h);
        const double* row = c.binomials(e);
        for (int k = c.tree.outputs - 1; k >= 0; --k) {
            const double* from_a = c.polynomial(m.at, e, k);
            const double* from_b = leaf ? from_a : c.polynomial(m.at + e + 2, e, k);
            const double value = leaf ? h_leaf * c.leaf(both.split.child[1], k) : 0;
            double* to = c.polynomial(m.at, e + 1, k);
            double* phi = c.phi(both.split, k);
            for (int lane = c.lanes - L::width; lane >= 0; lane -= L::width) {
                const double* mu = c.reach(m.reach) + lane * (e + 1);
                const double *a = from_a + lane * (e + 1), *b = from_b + lane * (e + 1);
                double* result = to + lane * (e + 2);
                const auto second = [&](int s) { return leaf ? L::all(row[s] * value) : L::load(b + s * L::width); };
                const Mask first = both.ways.goes_first(lane), agreed = both.ways.agrees(lane);
                Vec x = L::load(a + e * L::width), y = second(e), sum_a = L::zero(), sum_b = L::zero();
                const auto known = [&]() {
                    const Vec chosen = B::known(first, agreed, x, y);
                    return degree == any ? L::mul(one, chosen) : chosen;
                };
                L::store(result + (e + 1) * L::width, known());
#pragma GCC unroll 8
                for (int s = e; s >= 0; --s) {
                    const Vec mu_s = L::load(mu + s * L::width);
                    if constexpr (Repeats) {
                        sum_a = L::fma(mu_s, x, sum_a);
                        sum_b = L::fma(mu_s, y, sum_b);
                    } else {
                        sum_a = L::fma(mu_s, L::sub(x, y), sum_a);
                    }
                    const Vec unknown = L::mul(both.W_b, y), below = x;
                    Vec rest = unknown;
                    if (s > 0) {
                        x = L::load(a + (s - 1) * L::width);
                        y = second(s - 1);
                        rest = L::add(unknown, known());
                    }
                    L::store(result + s * L::width, L::fma(both.W_a, below, rest));
                }
                B::change(both, phi + lane, first, agreed, sum_a, sum_b);
            }
        }
    }

    using Function = void (*)(const Climber&, const Move&);
#define LG_DEGREES(f) &f(0), &f(1), &f(2), &f(3), &f(4), &f(5), &f(6), &f(7), &f(8), &f(any)
#define LG_ENTER(degree) enter<degree>
#define LG_CLOSE(degree) close<degree>
#define LG_SPLIT(degree) leave_split<degree, false, false>
#define LG_SPLIT_REPEATS(degree) leave_split<degree, false, true>
#define LG_SPLIT_LEAF(degree) leave_split<degree, true, false>
#define LG_SPLIT_LEAF_REPEATS(degree) leave_split<degree, true, true>
#define LG_TWINS(passing, leaf)                                                          \
    &leave_twins<passing, leaf, false, false>, &leave_twins<passing, leaf, false, true>, \
        &leave_twins<passing, leaf, true, false>, &leave_twins<passing, leaf, true, true>
    static constexpr Function functions[move::count] = {
        &root,
        &reduce,
        &raise,
        &join,
        LG_DEGREES(LG_ENTER),
        LG_DEGREES(LG_CLOSE),
        &close_leaf,
        &leave_twig<false, false>,
        &leave_twig<false, true>,
        &leave_twig<true, false>,
        &leave_twig<true, true>,
        LG_TWINS(false, false),
        LG_TWINS(false, true),
        LG_TWINS(true, false),
        LG_TWINS(true, true),
        LG_DEGREES(LG_SPLIT),
        LG_DEGREES(LG_SPLIT_REPEATS),
        LG_DEGREES(LG_SPLIT_LEAF),
        LG_DEGREES(LG_SPLIT_LEAF_REPEATS),
    };
#undef LG_DEGREES
#undef LG_ENTER
#undef LG_CLOSE
#undef LG_SPLIT
#undef LG_SPLIT_REPEATS
#undef LG_SPLIT_LEAF
#undef LG_SPLIT_LEAF_REPEATS
#undef LG_TWINS
};

void walk_polynomials(const Walk& walk, const Moves& moves) { Climber{walk, moves, walk.tree, walk.lanes}.run(); }

}  // namespace
}  // namespace leafgrad
