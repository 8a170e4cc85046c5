"""The Ranker against the same loop in 60 digits, the laws its scores obey, and the one they do not.

Errors are in units of the sum over trees of max|leaf - root mean|. A gradient is right to 1e-13 of it; a loop
may carry one step's rounding into the next, so zeta is promised to 1e-12. Where a rounding could decide the
way (ADAM with eps outside turns any gradient but 0 into a full step), each step is judged from where the core
itself stood.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import cache

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings

import forests
import leafgrad as lg
from leafgrad import _core
from leafgrad.reference import brute, paths, ranker
from leafgrad.reference.edges import Edges
from leafgrad.reference.treegrad import tree_grad

ZETA = 1e-12  # what is promised of a whole loop; most errors are below 1e-15
GRADIENT = 1e-13  # what is promised of one gradient
DIGITS = 60
small = forests.shapes(most_features=6, deepest=5, n_outputs=1, vector=False, leaves="plain")


@pytest.fixture(params=_core.available_isas(), name="isa")
def _isa(request: pytest.FixtureRequest):
    _core.use_isa(request.param)
    yield request.param
    _core.use_isa()


def grow(shape: forests.Shape, seed: int, n: int = 4) -> tuple[lg.Forest, np.ndarray]:
    rng = np.random.default_rng(seed)
    forest = forests.forest(rng, shape)
    return forest, forests.rows(rng, forest, n)


def worths(forest: lg.Forest, X: np.ndarray) -> list[np.ndarray]:
    """f_x(S) less the base, for every S."""
    return [brute.f_x(paths.game(forest, row))[:, 0] for row in X]


def difference(worth: np.ndarray) -> np.ndarray:
    """The joint objective (f_x(S) - f_x(rest)) / 2, for every S."""
    return (worth - worth[::-1]) / 2


# Zeta

OPTIMIZERS = [
    lg.GradientAscent(5.0, 100),
    lg.GradientAscent(0.1, 100),
    lg.GradientAscent(1.0, 50, scale="range"),
    lg.GradientAscent(100.0, 25),
    lg.Adam(5.0, 100),
    lg.Adam(0.02, 100),
    lg.Adam(0.3, 40, beta1=0.0, beta2=0.5, eps=1e-2),
    lg.Adam(0.05, 40, eps_inside=False),
    lg.Adam(1.0, 10),
]
# Random trees with repeats and children of cover 0, and what boosting makes: many shallow trees.
FORESTS = {
    "tree": forests.Shape(n_trees=1, depth=6, n_features=6),
    "repeats": forests.Shape(n_trees=1, depth=10, n_features=4, chain=True, repeats=0.6),
    "covers of 0": forests.Shape(n_trees=2, depth=5, cover="zero"),
    "forest": forests.Shape(n_trees=4, depth=3, n_features=8),
    "float32, missing": forests.Shape(n_trees=2, depth=4, single=True, missing=True),
}


@cache
def boosted() -> tuple[lg.Forest, np.ndarray]:
    from sklearn.ensemble import GradientBoostingRegressor

    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 3] * (X[:, 4] > 0)
    model = GradientBoostingRegressor(n_estimators=5, max_depth=3, learning_rate=0.5, random_state=0)
    return lg.load(model.fit(X, y)), X[:2]


def case(name: str) -> tuple[lg.Forest, np.ndarray]:
    return boosted() if name == "boosted" else grow(FORESTS[name], sum(map(ord, name)), 2)


@cache  # once for all instruction sets
def exact(name: str, optimizer: object) -> list[ranker.Climb]:
    forest, X = case(name)
    with mpmath.workdps(DIGITS):
        found = []
        for row in X:
            game = paths.game(forest, row)
            unit = ranker.leaf_range(game) if getattr(optimizer, "scale", None) else 1.0
            found.append(ranker.climb(game, optimizer, number=mpmath.mpf, unit=unit))
        return found


def distance(exact_one: np.ndarray | list, found: np.ndarray) -> float:
    with mpmath.workdps(DIGITS):
        return max(
            (abs(float(a - mpmath.mpf(b))) for a, b in zip(exact_one, found, strict=True)), default=0.0
        )


@pytest.mark.parametrize("name", [*FORESTS, "boosted"])
@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=lambda optimizer: optimizer.name)
def test_zeta_is_that_of_sixty_digits(name: str, optimizer: object, isa: str) -> None:
    forest, X = case(name)
    unit = forests.unit(forest)[0]
    many = lg.rank(forest, np.tile(X, (35, 1)), optimizer=optimizer, trace=True)
    alone = lg.rank(forest, X[0], optimizer=optimizer, trace=True)
    for i, climb in enumerate(exact(name, optimizer)):
        for ranked, row in ((many, i), (many, i + 68), (alone, 0)):
            if ranked is alone and i:
                continue
            assert distance(climb.zeta, ranked.values[row]) <= ZETA * unit
            assert distance(climb.trace, ranked.trace[row]) <= ZETA * unit
            assert distance(climb.z[-1], ranked.z[row]) <= 1e-11  # a step multiplies by up to rate x unit


STEPS = 12


@pytest.mark.parametrize("name", [*FORESTS, "boosted"])
@pytest.mark.parametrize(
    "optimizer",
    [
        lg.GradientAscent(0.7, STEPS),
        lg.GradientAscent(20.0, STEPS),
        lg.Adam(5.0, STEPS),
        lg.Adam(0.1, STEPS),
        lg.Adam(5.0, STEPS, eps_inside=False),
    ],
    ids=lambda optimizer: optimizer.name,
)
def test_every_step_from_where_the_core_stood(name: str, optimizer: lg.Adam | lg.GradientAscent) -> None:
    forest, X = case(name)
    unit = forests.unit(forest)[0]
    shorter = [replaced(optimizer, steps=t) for t in range(1, STEPS + 1)]
    stood = [np.full(X.shape, 0.5)]
    stood += [lg.rank(forest, X, optimizer=each, trace=True).z for each in shorter]
    ranked = lg.rank(forest, X, optimizer=optimizer, trace=True)
    with mpmath.workdps(DIGITS):
        for i, row in enumerate(X):
            points = [z[i] for z in stood]
            climb = ranker.climb(paths.game(forest, row), optimizer, number=mpmath.mpf, points=points[:-1])
            assert distance(climb.zeta, ranked.values[i]) <= GRADIENT * unit
            assert distance(climb.trace[:-1], ranked.trace[i, :-1]) <= GRADIENT * unit
            if isinstance(optimizer, lg.Adam) and not optimizer.eps_inside:
                continue  # a gradient of nothing but rounding makes a full step
            # The step's own slope: rate, over sqrt(eps) at worst where ADAM's gradients are next to 0.
            slope = optimizer.rate * (1e4 if isinstance(optimizer, lg.Adam) else 1.0)
            for led, z in zip(climb.z, points, strict=True):
                assert distance(led, z) <= GRADIENT * unit * slope + 1e-15


def replaced(optimizer: object, **fields: object) -> object:
    return type(optimizer)(**{**vars(optimizer), **fields})


@pytest.mark.parametrize("name", [*FORESTS, "boosted"])
def test_the_papers_own_pseudo_code(name: str) -> None:
    """TreeGrad as printed, with its corner case of z = 1 on a failing split; covers of 0 it cannot take."""
    forest, X = case(name)
    unit = forests.unit(forest)[0]
    game = paths.game(forest, X[0])
    if (forest.share == 0).any():
        with pytest.raises(ValueError, match="cover 0"):
            ranker.gradient_ascent(game, 5.0, 1)
        return
    rng = np.random.default_rng(1)
    corners = rng.integers(0, 2, size=(6, forest.n_features)).astype(float)
    for z in (*corners, *np.where(rng.random(corners.shape) < 0.5, corners, rng.random(corners.shape))):
        edges = [Edges.of(tree, 1) for tree in game.trees]
        found = sum(tree_grad(each, z, 1) for each in edges)[:, 0]
        assert abs(found - lg.gradient(forest, X[:1], z)[0]).max() <= 1e-10 * unit  # it divides by products
    found = ranker.gradient_ascent(game, 5.0, 30)
    assert (
        abs(found - lg.rank(forest, X[:1], optimizer=lg.GradientAscent(5.0, 30)).values).max() <= 1e-10 * unit
    )
    found = ranker.adam(game, 5.0, 30)
    assert abs(found - lg.rank(forest, X[:1], optimizer=lg.Adam(5.0, 30)).values).max() <= 1e-10 * unit


# The loop itself, over many rows


def plain_loop(forest: lg.Forest, X: np.ndarray, optimizer: lg.Adam | lg.GradientAscent) -> np.ndarray:
    """All rows at every step, with the public gradient."""
    z, zeta = np.full(X.shape, 0.5), np.zeros(X.shape)
    m, v = np.zeros(X.shape), np.zeros(X.shape)
    for t in range(1, optimizer.steps + 1):
        g = (lg.gradient(forest, X, z) + lg.gradient(forest, X, 1 - z)) / 2
        zeta += g / optimizer.steps
        step = g
        if isinstance(optimizer, lg.Adam):
            m = optimizer.beta1 * m + (1 - optimizer.beta1) * g
            v = optimizer.beta2 * v + (1 - optimizer.beta2) * g**2
            m_hat, v_hat = m / (1 - optimizer.beta1**t), v / (1 - optimizer.beta2**t)
            step = m_hat / np.sqrt(v_hat + optimizer.eps)
        z = np.clip(z + optimizer.rate * step, 0.0, 1.0)
    return zeta


@pytest.mark.parametrize("optimizer", [lg.GradientAscent(2.0, 60), lg.Adam(5.0, 60), lg.Adam(0.05, 30)])
def test_rows_that_stop_are_left_out_and_it_does_not_show(optimizer: lg.Adam | lg.GradientAscent) -> None:
    """Fixed points average the same gradient on; the rows still moving are packed into new blocks."""
    rng = np.random.default_rng(5)
    forest = forests.forest(rng, forests.Shape(n_trees=6, depth=5, n_features=7))
    X = forests.rows(rng, forest, 333)
    ranked = lg.rank(forest, X, optimizer=optimizer, trace=True)
    error = abs(ranked.values - plain_loop(forest, X, optimizer))
    assert error.max() <= 1e-13 * forests.unit(forest)[0]
    if optimizer.rate > 1:  # rows did stop, each at its own time, or the test shows nothing
        still = [int(np.argmax(row == row[-1])) for row in ranked.trace]
        assert len(set(still)) > 5


BITS = {
    "ga": lambda forest, X, **how: lg.rank(forest, X, optimizer=lg.GradientAscent(2.0, 15), **how).values,
    "adam": lambda forest, X, **how: lg.rank(forest, X, optimizer=lg.Adam(steps=15), **how).values,
    "trace": lambda forest, X, **how: (
        lg.rank(forest, X, optimizer=lg.GradientAscent(0.5, 9), trace=True, **how).trace
    ),
    "greedy": lambda forest, X, **how: lg.greedy(forest, X, **how).values,
}


@pytest.mark.parametrize("call", BITS)
def test_the_same_bits_in_any_order_and_on_any_threads(call: str, isa: str) -> None:
    rng = np.random.default_rng(6)
    shape = forests.Shape(n_trees=20, depth=6, n_features=8, missing=True, categorical=True, cover="zero")
    forest = forests.forest(rng, shape)
    X = forests.rows(rng, forest, 701)
    whole = BITS[call](forest, X, threads=1)
    for threads in (2, 3, 8):
        np.testing.assert_array_equal(BITS[call](forest, X, threads=threads), whole)
    order = rng.permutation(len(X))
    np.testing.assert_array_equal(BITS[call](forest, X[order]), whole[order])
    for begin, end in ((0, 100), (13, 14), (5, 12), (690, 701), (1, 300)):
        np.testing.assert_array_equal(BITS[call](forest, X[begin:end]), whole[begin:end])


# Theorem: zeta_i is a mean of i's marginal contributions; dummy, monotonicity and equal treatment follow

LAWFUL = [
    lg.GradientAscent(2.0, 15),
    lg.GradientAscent(1.0, 15, "range"),
    lg.Adam(steps=15),
    lg.Adam(0.1, 15),
]


@settings(max_examples=60, deadline=None)
@given(small, forests.seeds)
def test_zeta_is_between_the_least_and_the_largest_marginal(shape: forests.Shape, seed: int) -> None:
    """So a dummy gets its constant, and a feature that never lowers (raises) f a score >= 0 (<= 0)."""
    forest, X = grow(shape, seed)
    ranked = [lg.rank(forest, X, optimizer=optimizer).values for optimizer in LAWFUL]
    for row, worth in enumerate(worths(forest, X)):
        for i in range(forest.n_features):
            marginal = brute._marginal(worth[:, None], i)
            for zeta in ranked:
                slack = GRADIENT * forests.unit(forest)[0]
                assert marginal.min() - slack <= zeta[row, i] <= marginal.max() + slack


@settings(max_examples=40, deadline=None)
@given(small, forests.seeds)
def test_dummies_get_their_constant(shape: forests.Shape, seed: int) -> None:
    """f(S + i) = f(S) + C for all S: a feature with a stump of its own gets C, one without any gets 0."""
    rng = np.random.default_rng(seed)
    arrays = forests.arrays(rng, shape.but(missing=False, categorical=False))
    n, start = shape.n_features, len(arrays["left"])
    stump = {"left": [1, -1, -1], "right": [2, -1, -1], "feature": [n, -1, -1], "threshold": [0.0, 0.0, 0.0]}
    stump |= {"cover": [4.0, 3.0, 1.0], "value": [[0.0], [2.0], [-6.0]]}
    joined = {name: np.concatenate([arrays[name], stump[name]]) for name in stump}
    joined["tree_start"] = [*arrays["tree_start"], start + 3]
    forest = lg.Forest.from_arrays(**joined, n_features=n + 2)
    X = np.column_stack([rng.normal(size=(4, n)), [-1.0, 0.0, 1.0, 9.0], rng.normal(size=4)])
    for optimizer in LAWFUL:
        ranked = lg.rank(forest, X, optimizer=optimizer, trace=True)
        error = abs(ranked.values[:, n] - [2.0, 2.0, -6.0, -6.0])
        assert error.max() <= GRADIENT * forests.unit(forest)[0]
        assert (ranked.values[:, n + 1] == 0).all()
        assert (ranked.z[:, n + 1] == 0.5).all()


@settings(max_examples=40, deadline=None)
@given(small, forests.seeds)
def test_monotonicity(shape: forests.Shape, seed: int) -> None:
    """A reward for knowing feature 0 that outweighs all else makes f(S + 0) >= f(S), or <= with its sign."""
    rng = np.random.default_rng(seed)
    arrays = forests.arrays(rng, shape.but(missing=False, categorical=False))
    start, most = len(arrays["left"]), 4.0 * abs(arrays["value"]).max() * shape.n_trees
    X = rng.normal(size=(4, shape.n_features))
    for sign in (1.0, -1.0):
        reward = {"left": [1, -1, -1], "right": [2, -1, -1], "feature": [0, -1, -1]}
        reward |= {"threshold": [np.inf, 0.0, 0.0], "cover": [2.0, 1.0, 1.0]}
        reward |= {"value": [[0.0], [sign * most], [-sign * most]]}
        joined = {name: np.concatenate([arrays[name], reward[name]]) for name in reward}
        joined["tree_start"] = [*arrays["tree_start"], start + 3]
        forest = lg.Forest.from_arrays(**joined, n_features=shape.n_features)
        for worth in worths(forest, X):
            assert (sign * brute._marginal(worth[:, None], 0) >= 0).all()
        for optimizer in LAWFUL:
            assert (sign * lg.rank(forest, X, optimizer=optimizer).values[:, 0] >= 0).all()


twins = small.filter(lambda shape: shape.n_features > 1 and not shape.categorical)


def with_twins(shape: forests.Shape, seed: int) -> tuple[lg.Forest, np.ndarray]:
    """U(S + i) = U(S + j) for all S: trees and the same with i and j exchanged, where x has them equal."""
    rng = np.random.default_rng(seed)
    arrays = forests.arrays(rng, shape)
    swapped = np.select([arrays["feature"] == 0, arrays["feature"] == 1], [1, 0], arrays["feature"])
    joined = {
        name: np.concatenate([arrays[name]] * 2)
        for name in ("left", "right", "threshold", "cover", "value", "missing_left")
        if name in arrays
    }
    joined["feature"] = np.concatenate([arrays["feature"], swapped])
    joined["tree_start"] = [*arrays["tree_start"], *(arrays["tree_start"][1:] + len(arrays["left"]))]
    forest = lg.Forest.from_arrays(**joined, n_features=shape.n_features, dtype=arrays["dtype"])
    X = forests.rows(rng, forest, 4)
    X[:, 1] = X[:, 0]
    return forest, X


@settings(max_examples=40, deadline=None)
@given(twins, forests.seeds)
def test_equal_treatment(shape: forests.Shape, seed: int) -> None:
    """Four steps: at a saddle each one multiplies a rounding by up to 1 + rate x curvature."""
    forest, X = with_twins(shape, seed)
    unit = forests.unit(forest)[0]
    for optimizer in LAWFUL:
        few = replaced(optimizer, steps=4)
        if isinstance(few, lg.Adam):  # whose slope is rate / sqrt(eps) where gradients are small
            few = replaced(few, eps=1e-2)
        zeta = lg.rank(forest, X, optimizer=few).values
        assert abs(zeta[:, 0] - zeta[:, 1]).max() <= ZETA * unit


@settings(max_examples=8, deadline=None)
@given(twins, forests.seeds)
def test_equal_treatment_over_many_steps_in_sixty_digits(shape: forests.Shape, seed: int) -> None:
    """The algorithms' own law, with digits enough that no saddle shows."""
    forest, X = with_twins(shape.but(depth=min(shape.depth, 4)), seed)
    game = paths.game(forest, X[0])
    with mpmath.workdps(DIGITS):
        for optimizer in LAWFUL:
            zeta = ranker.climb(game, optimizer, number=mpmath.mpf).zeta
            assert abs(zeta[0] - zeta[1]) <= 1e-25 * forests.unit(forest)[0]


@settings(max_examples=40, deadline=None)
@given(forests.shapes(), forests.seeds)
def test_one_step_is_the_banzhaf_value(shape: forests.Shape, seed: int) -> None:
    forest, X = grow(shape, seed)
    banzhaf = lg.explain(forest, X, lg.Banzhaf()).values
    unit = forests.unit(forest) if forest.n_outputs > 1 else forests.unit(forest)[0]
    for optimizer in (lg.GradientAscent(3.0, 1), lg.Adam(steps=1), lg.GradientAscent(1.0, 1, "range")):
        assert (abs(lg.rank(forest, X, optimizer=optimizer).values - banzhaf) <= GRADIENT * unit).all()


# The relaxed objective


@settings(max_examples=40, deadline=None)
@given(small, forests.seeds)
def test_the_relaxed_objective_is_at_most_the_best_subsets(shape: forests.Shape, seed: int) -> None:
    """And meets it at that vertex; so does no step of any climb exceed it."""
    rng = np.random.default_rng(seed)
    forest, X = grow(shape, seed)
    slack = 3 * GRADIENT * forests.unit(forest)[0] + 1e-15 * abs(forest.base[0])
    traces = [lg.rank(forest, X, optimizer=optimizer, trace=True).trace for optimizer in LAWFUL]
    z = forests.points(rng, 40, forest.n_features)
    for i, worth in enumerate(worths(forest, X)):
        joint = difference(worth)
        relaxed = (lg.extension(forest, X[i], z) - lg.extension(forest, X[i], 1 - z)) / 2
        assert relaxed.max() <= joint.max() + slack
        best = int(joint.argmax())
        vertex = np.array([best >> j & 1 for j in range(forest.n_features)], dtype=bool)
        assert abs(lg.objective(forest, X[i], vertex)[0] - joint.max()) <= slack
        for trace in traces:
            assert trace[i].max() <= joint.max() + slack


@settings(max_examples=40, deadline=None)
@given(small, forests.seeds)
def test_a_symmetric_semivalue_is_the_integral_of_its_gradient(shape: forests.Shape, seed: int) -> None:
    """With a rule of our own: numpy's Gauss-Legendre, of more points than needed."""
    forest, X = grow(shape, seed, n=1)
    t, w = np.polynomial.legendre.leggauss(20)
    t, w = (t + 1) / 2, w / 2
    two, half = np.array([0.1, 0.9]), np.array([0.5, 0.5])
    for value, nodes, weights in (
        (lg.Shapley(), t, w),
        (lg.BetaShapley(3, 3), t, w * 30 * t**2 * (1 - t) ** 2),
        (lg.Semivalue(two, half), two, half),
        (lg.Banzhaf(), np.array([0.5]), np.ones(1)),
    ):
        z = nodes[:, None] * np.ones((1, forest.n_features))
        of_the_objective = (lg.gradient(forest, X, z) + lg.gradient(forest, X, 1 - z)) / 2
        error = abs(lg.explain(forest, X, value).values[0] - weights @ of_the_objective)
        assert error.max() <= 3 * GRADIENT * forests.unit(forest)[0]


# The paper's second proposition


@settings(max_examples=30, deadline=None)
@given(forests.shapes(most_features=6, deepest=5, n_features=5, n_outputs=1, leaves="plain"), forests.seeds)
def test_the_best_linear_surrogate_gives_phi_up_to_a_constant(shape: forests.Shape, seed: int) -> None:
    """Weighted least squares over all S, eta_s = omega_s + omega_{s-1}, whatever the weights at both ends."""
    forest, X = grow(shape, seed, n=1)
    n = forest.n_features
    sets = np.array(list(itertools.product([0, 1], repeat=n)))[:, ::-1]  # bit j of the row's number
    worth = worths(forest, X)[0]
    for value in (lg.Shapley(), lg.Banzhaf(0.3), lg.BetaShapley(4, 1), lg.BetaShapley(1, 2)):
        omega = brute.omega(value, n)
        phi = lg.explain(forest, X, value).values[0]
        for ends in ((0.0, 0.0), (1.0, 0.25)):
            eta = np.array([ends[0], *(omega[1:] + omega[:-1]), ends[1]])
            weight = np.sqrt(eta[sets.sum(axis=1)])
            linear = np.column_stack([np.ones(len(sets)), sets])
            surrogate = np.linalg.lstsq(weight[:, None] * linear, weight * worth, rcond=None)[0][1:]
            constant = surrogate - phi
            assert np.ptp(constant) <= 1e-10 * forests.unit(forest)[0]  # of the least squares


# What does not hold: games given by the worth of each set, on N players, as forests


def of_worth(worth: dict[str, float], n: int) -> lg.Forest:
    """The forest whose f_x at x = (1, ..., 1) is `worth` ("02": the set {0, 2}; 0 where not listed).

    A sum of unanimity games: a chain of splits on the set's features where not to know leads to 0, its
    branch having all the cover.
    """
    members = [frozenset(s) for k in range(n + 1) for s in itertools.combinations(range(n), k)]
    value = {s: worth.get("".join(map(str, sorted(s))), 0.0) for s in members}
    gain = {s: sum((-1) ** len(s - t) * value[t] for t in members if t <= s) for s in members}
    arrays = {name: [] for name in ("left", "right", "feature", "threshold", "cover", "value")}
    starts = [0]
    for s in members:
        for depth, j in enumerate(sorted(s)):
            node = (2 * depth + 1, 2 * depth + 2, j, 0.5, 0.0, 0.0)
            leaf = (-1, -1, -1, 0.0, 1.0, 0.0)
            # The nodes of a chain stand in a row: split, leaf, split, leaf, ..., last leaf.
            for name, one, other in zip(arrays, node, leaf, strict=True):
                arrays[name] += [one, other]
        end = (-1, -1, -1, 0.0, 0.0, gain[s])
        for name, one in zip(arrays, end, strict=True):
            arrays[name].append(one)
        starts.append(len(arrays["left"]))
    forest = lg.Forest.from_arrays(tree_start=starts, **arrays, n_features=n)
    found = worths(forest, np.ones((1, n)))[0] + forest.base[0]
    expected = [value[frozenset(j for j in range(n) if mask >> j & 1)] for mask in range(2**n)]
    assert np.array_equal(found, expected)
    return forest


@pytest.mark.parametrize("optimizer", [lg.GradientAscent(5.0, 2), lg.Adam(5.0, 2)])
def test_zeta_is_not_linear(optimizer: lg.Adam | lg.GradientAscent) -> None:
    """U = 1 where all three are known, U' = -1 where feature 2 is: zeta(U) + zeta(U') is not zeta(U + U').

    With y = z - 1/2 the gradient of U's objective is 1/4 + y_j y_k. Both optimisers go to a vertex at once:
    for U to y = (1/2, 1/2, 1/2), for U + U' to (1/2, 1/2, -1/2), where the product has the other sign.
    """
    first = of_worth({"012": 1.0}, 3)
    second = of_worth({"2": -1.0, "02": -1.0, "12": -1.0, "012": -1.0}, 3)
    both = of_worth({"2": -1.0, "02": -1.0, "12": -1.0, "012": 0.0}, 3)
    zeta = [lg.rank(forest, np.ones(3), optimizer=optimizer).values[0] for forest in (first, second, both)]
    np.testing.assert_array_equal(zeta[0], [3 / 8, 3 / 8, 3 / 8])
    np.testing.assert_array_equal(zeta[1], [0, 0, -1])
    np.testing.assert_array_equal(zeta[2], [1 / 8, 1 / 8, -5 / 8])
    if isinstance(optimizer, lg.GradientAscent):  # and so say fractions
        for forest, found in zip((first, second, both), zeta, strict=True):
            climb = ranker.climb(paths.game(forest, np.ones(3)), optimizer, number=Fraction)
            assert climb.zeta.tolist() == found.tolist()


# Singles, pairs and triples of a game with D(S) = f(S); k = omega_2 / (omega_1 + omega_2) makes phi 0.
@pytest.mark.parametrize(("value", "k"), [("shapley", 0.25), ("banzhaf", 0.5)])
def test_a_linear_value_cannot_tell_which_set_is_better(value: str, k: float) -> None:
    """The paper's first proposition on N = 4: the same phi, opposite order of the objective of two sets."""
    game = {"01": 1.0, "23": -1.0, "0": -k, "1": -k, "2": k, "3": k, "123": k, "023": k, "013": -k, "012": -k}
    forest, opposite = of_worth(game, 4), of_worth({s: -worth for s, worth in game.items()}, 4)
    x = np.ones(4)
    for each in (forest, opposite):
        assert abs(lg.explain(each, x, value).values).max() <= 1e-15
    sets = np.array([[1, 1, 0, 0], [1, 0, 0, 0]], dtype=bool)  # neither is the other's rest
    np.testing.assert_allclose(lg.objective(forest, x, sets), [1.0, -k], rtol=0, atol=1e-15)
    np.testing.assert_allclose(lg.objective(opposite, x, sets), [-1.0, k], rtol=0, atol=1e-15)
    if value == "shapley":  # the Ranker, not linear, is led to the better set of each
        for each, best in ((forest, [1, 1, 0, 0]), (opposite, [0, 0, 1, 1])):
            ranked = lg.rank(each, x, optimizer=lg.GradientAscent(0.5, 100), trace=True)
            assert ranked.subset.tolist() == [[bool(known) for known in best]]
            assert ranked.trace[0, -1] == 1.0
