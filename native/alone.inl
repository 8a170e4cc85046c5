// The walk of walk.inl for one row alone: points are the lanes, and every direction is known before the first step.
//
// Included by walk_isa.cpp. The same recursion and the same steps; but nothing is chosen lane by lane. What a split
// knows is found by address, in four vectors
//
//     tau, 0, 1 - tau, tau'
//
// of which the first or the second is tau [u = c] of a child u. One such set is for all first splits on a player, one
// (0, 0, 1, 0) for all later ones at which the row has left the path before, and one for each later one at which it has
// not. So no step has a branch that hangs on the row, and there is one instance of each step, not four.
#include "kernels.h"
#include "lanes.inl"

namespace leafgrad {
namespace {

// V vectors of points. With `one_output` there are no loops over outputs.
template <int V, bool one_output>
class WalkerAlone {
    using L = Lanes;
    using Vec = L::Vec;
    static constexpr std::int64_t size = V * L::width;  // points
    static constexpr std::int64_t set = 4 * size;       // of what a split knows
    static constexpr double signs[2] = {1, -1};

    const TreeView tree;
    const std::uint32_t* const ways;
    const double** const places;
    double* const reach;
    double* const gradient;
    const std::int64_t outputs, gradient_stride;
    double* top;  // behind the last finished subtree

    struct Points {
        Vec of[V];
    };
    [[gnu::always_inline]] static Vec load(const double* from, int q) { return L::load(from + q * L::width); }
    [[gnu::always_inline]] static Points load(const double* from) {
        Points points;
        for (int q = 0; q < V; ++q) points.of[q] = load(from, q);
        return points;
    }
    [[gnu::always_inline]] static void store(double* to, const Points& points) {
        for (int q = 0; q < V; ++q) L::store(to + q * L::width, points.of[q]);
    }
    [[gnu::always_inline]] static Points multiply(const Points& a, const Points& b) {
        Points product;
        for (int q = 0; q < V; ++q) product.of[q] = L::mul(a.of[q], b.of[q]);
        return product;
    }

    // A split as the row sees it.
    struct Fork {
        const Split& split;
        const std::uint32_t c, o;  // the child that the row takes, and the other
        const double* tau;
        [[gnu::always_inline]] Fork(const WalkerAlone& w, const Split& of, std::uint32_t way)
            : split(of),
              c(way),
              o(c ^ 1),
              tau(w.places[of.repeat]) {}

        [[gnu::always_inline]] Points p(std::uint32_t child, const double* known) const {
            Points p;
            for (int q = 0; q < V; ++q)
                p.of[q] = L::fma(load(tau + 2 * size, q), L::all(split.share[child]), load(known, q));
            return p;
        }
        [[gnu::always_inline]] Points p_a() const { return p(0, tau + c * size); }
        [[gnu::always_inline]] Points p_b() const { return p(1, tau + size - c * size); }
        [[gnu::always_inline]] Points p_c() const { return p(c, tau); }
        // What d is of A_a - A_b.
        [[gnu::always_inline]] Vec knowing() const { return L::all(signs[c] * split.share[o]); }
        // The sum of s tau'.
        [[gnu::always_inline]] Vec sum(const Points& s) const {
            Vec sum = L::mul(s.of[0], load(tau + 3 * size, 0));
            for (int q = 1; q < V; ++q) sum = L::fma(s.of[q], load(tau + 3 * size, q), sum);
            return sum;
        }
    };

    [[gnu::always_inline]] Fork fork(std::int64_t index) const { return Fork(*this, tree.splits[index], ways[index]); }
    // A twig that comes first is its parent's neighbour, and one after it the next.
    [[gnu::always_inline]] Fork fork_after(const Fork& parent, std::int64_t index, int n) const {
        return Fork(*this, (&parent.split)[n], ways[index + n]);
    }

    // Two sums a player: twigs side by side often share theirs, and one would wait for the other.
    [[gnu::always_inline]] void add(const Split& split, int side, std::int64_t k, Vec sum, Vec d) const {
        double* phi = gradient + (std::int64_t{split.player} * 2 + side) * most_width;
        if constexpr (!one_output) phi += k * gradient_stride;
        L::store(phi, L::fma(sum, d, L::load(phi)));
    }

    // s of a branch; and of its children, the first before the second.
    [[gnu::always_inline]] double* reach_of(const Split& split) const {
        return reach + (std::int64_t{split.level} * 2 + split.side) * size;
    }
    [[gnu::always_inline]] double* reach_below(const Split& split) const {
        return reach + (std::int64_t{split.level} * 2 + 2) * size;
    }

    [[gnu::always_inline]] void enter(const Fork& here) const {
        const Points s = load(reach_of(here.split));
        double* below = reach_below(here.split);
        store(below, multiply(s, here.p_a()));
        store(below + size, multiply(s, here.p_b()));
    }

    // A of a twig, output after output, and its player's gradient on the way.
    template <int side>
    struct Twig {
        const Fork fork;
        const double *x_c, *x_o;  // leaves are neighbours
        const Points p;
        const Vec weight;
        [[gnu::always_inline]] Twig(const WalkerAlone& w, const Fork& of, const Points& s)
            : fork(of),
              x_c(w.tree.leaves + (fork.split.child[0] + fork.c) * w.outputs),
              x_o(w.tree.leaves + (fork.split.child[0] + fork.o) * w.outputs),
              p(fork.p_c()),
              weight(fork.sum(s)) {}
        [[gnu::always_inline]] Points A(const WalkerAlone& w, std::int64_t k) const {
            const Vec base = L::all(x_o[k]), D = L::sub(L::all(x_c[k]), base);
            w.add(fork.split, side, k, weight, L::mul(D, L::all(fork.split.share[fork.o])));
            Points A;
            for (int q = 0; q < V; ++q) A.of[q] = L::fma(p.of[q], D, base);
            return A;
        }
    };

    struct Branch {
        const double* results;
        [[gnu::always_inline]] Points A(const WalkerAlone&, std::int64_t k) const { return load(results + k * size); }
    };
    struct Leaf {
        const double* values;
        [[gnu::always_inline]] Leaf(const WalkerAlone& w, std::int32_t index)
            : values(w.tree.leaves + index * w.outputs) {}
        [[gnu::always_inline]] Points A(const WalkerAlone&, std::int64_t k) const {
            Points A;
            for (int q = 0; q < V; ++q) A.of[q] = L::all(values[k]);
            return A;
        }
    };

    // A of a branch from its children's, and its player's gradient.
    template <class First, class Second>
    [[gnu::always_inline]] void settle(const Fork& here, const Points& s, const Points& p_a, const First& a,
                                       const Second& b, double* results) {
        const Vec knowing = here.knowing();
        for (std::int64_t k = 0; k < outputs; ++k) {
            const Points A_b = b.A(*this, k), A_a = a.A(*this, k);
            Points D, A;
            for (int q = 0; q < V; ++q) {
                D.of[q] = L::sub(A_a.of[q], A_b.of[q]);
                A.of[q] = L::fma(p_a.of[q], D.of[q], A_b.of[q]);
            }
            add(here.split, 0, k, here.sum(multiply(s, D)), knowing);
            store(results + k * size, A);
        }
        top = results + outputs * size;
    }

    template <Kind first, Kind second>
    [[gnu::always_inline]] void leave(std::int64_t index) {
        const Fork here = fork(index);
        const Split& split = here.split;
        const Points s = load(reach_of(split)), p_a = here.p_a();
        if constexpr (first == Kind::leaf) {  // the root
            const Twig<0> root(*this, here, s);
            for (std::int64_t k = 0; k < outputs; ++k) root.A(*this, k);
        } else if constexpr (first == Kind::twig) {
            const Twig<0> a(*this, fork_after(here, index, 1), multiply(s, p_a));
            if constexpr (second == Kind::twig)
                settle(here, s, p_a, a, Twig<1>(*this, fork_after(here, index, 2), multiply(s, here.p_b())), top);
            else
                settle(here, s, p_a, a, Leaf(*this, split.child[1]), top);
        } else {
            double* last = top - outputs * size;
            if constexpr (second == Kind::branch)
                settle(here, s, p_a, Branch{last - outputs * size}, Branch{last}, last - outputs * size);
            else if constexpr (second == Kind::twig)
                settle(here, s, p_a, Branch{last},
                       Twig<1>(*this, fork(split.child[1]), load(reach_below(split) + size)), last);
            else
                settle(here, s, p_a, Branch{last}, Leaf(*this, split.child[1]), last);
        }
    }

    // What the splits know of their players. Rows that agree at a repeat went the path's way at the player's last split
    // and agreed there.
    static void find_terms(const WalkAlone& walk) {
        const Vec zero = L::zero(), one = L::all(1);
        double *const off_path = walk.terms, *const first_split = off_path + set, *const on_path = first_split + set;
        std::int64_t known = 2 * set;
        walk.places[-1] = first_split;
        for (std::int64_t i = 0; i < walk.tree.n_repeats; ++i) {
            const Repeat& repeat = walk.tree.repeats[i];
            // Without branches: which way a repeat goes is as good as random.
            const std::int64_t agrees =
                std::int64_t{static_cast<std::int32_t>(walk.ways[repeat.previous]) == repeat.side} &
                std::int64_t{walk.places[repeat.before] != off_path};
            off_path[known] = repeat.earlier;
            walk.places[i] = off_path + (known & -agrees);
            known += set & -agrees;
        }
        Points z, y;
        for (int q = 0; q < V; ++q) {
            z.of[q] = load(walk.t, q);
            y.of[q] = L::sub(one, z.of[q]);
            store_set(off_path + q * L::width, zero, one, zero);
            store_set(first_split + q * L::width, z.of[q], y.of[q], one);
        }
        for (double* terms = on_path; terms < off_path + known; terms += set) {
            const Vec W = L::all(*terms);
            for (int q = 0; q < V; ++q) {
                const Vec P = L::fma(y.of[q], W, z.of[q]);
                const auto none = L::is_zero(P);
                const Vec r = L::choose(none, zero, L::div(one, P)), odds = L::mul(W, r);
                // z = W = 0: the limit of tau. Else at most 1 / P, and s has the factor P: nothing overflows.
                store_set(terms + q * L::width, L::choose(none, one, L::mul(z.of[q], r)), L::mul(y.of[q], odds),
                          L::mul(odds, r));
            }
        }
    }
    [[gnu::always_inline]] static void store_set(double* to, Vec tau, Vec unknown, Vec gain) {
        L::store(to, tau);
        L::store(to + size, L::zero());
        L::store(to + 2 * size, unknown);
        L::store(to + 3 * size, gain);
    }

public:
    explicit WalkerAlone(const WalkAlone& walk)
        : tree(walk.tree),
          ways(walk.ways),
          places(walk.places),
          reach(walk.reach),
          gradient(walk.gradient),
          outputs(one_output ? 1 : walk.tree.outputs),
          gradient_stride(walk.gradient_stride),
          top(walk.waiting) {
        find_terms(walk);
        store(reach, load(walk.weights));
    }

    [[gnu::always_inline]] void run() {
        const Step* const end = tree.steps + tree.n_steps;
        for (const Step* step = tree.steps; step != end; ++step) {
#define LG_LEAVE(kind)                          \
    case leave_code(Leave::kind, false, false): \
    case leave_code(Leave::kind, true, false):  \
    case leave_code(Leave::kind, false, true):  \
    case leave_code(Leave::kind, true, true)
            switch (step->code) {
                case enter_root:
                case enter_code(false, false):
                case enter_code(true, false):
                case enter_code(false, true):
                case enter_code(true, true):
                    enter(fork(step->split));
                    break;
                    LG_LEAVE(leaf_leaf) : leave<Kind::leaf, Kind::leaf>(step->split);
                    break;
                    LG_LEAVE(twig_leaf)
                        : LG_LEAVE(passing_twig_leaf)
                        : LG_LEAVE(passing_repeat_twig_leaf)
                        : leave<Kind::twig, Kind::leaf>(step->split);
                    break;
                    LG_LEAVE(twig_twig)
                        : LG_LEAVE(passing_twig_twig)
                        : LG_LEAVE(passing_repeat_twig_twig)
                        : leave<Kind::twig, Kind::twig>(step->split);
                    break;
                    LG_LEAVE(branch_leaf) : leave<Kind::branch, Kind::leaf>(step->split);
                    break;
                    LG_LEAVE(branch_twig) : leave<Kind::branch, Kind::twig>(step->split);
                    break;
                    LG_LEAVE(branch_branch) : leave<Kind::branch, Kind::branch>(step->split);
                    break;
                default:
                    __builtin_unreachable();
            }
#undef LG_LEAVE
        }
    }
};

template <int V>
void walk_alone(const WalkAlone& walk) {
    if (walk.tree.outputs == 1)
        WalkerAlone<V, true>(walk).run();
    else
        WalkerAlone<V, false>(walk).run();
}

}  // namespace
}  // namespace leafgrad
