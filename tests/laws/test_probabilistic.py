"""Any probabilistic value: against the 2^N sum and fractions, its laws, the same bits, and any depth.

Errors are in units of the sum over trees of max|leaf - root mean|. What is demanded at 60 distinct features
is 1e-10 and at 100 is 1e-8; what is asked here is 1e-13, the tolerance of all other numbers: a polynomial's
coefficients go through as many roundings as the path has players, each relative.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import forests
import leafgrad as lg
from leafgrad import _core
from leafgrad.reference import brute, exact, paths

TOLERANCE = 1e-13


@pytest.fixture(params=_core.available_isas(), name="isa")
def _isa(request: pytest.FixtureRequest):
    _core.use_isa(request.param)
    yield request.param
    _core.use_isa()


def full(values: np.ndarray, forest: lg.Forest) -> np.ndarray:
    return values if forest.n_outputs > 1 else values[..., None]


def assert_close(found: np.ndarray, expected: np.ndarray, forest: lg.Forest, what: object = None) -> None:
    error = abs(full(np.asarray(found), forest) - full(np.asarray(expected, dtype=float), forest))
    assert (error <= TOLERANCE * forests.unit(forest)).all(), (what, (error / forests.unit(forest)).max())


def grow(shape: forests.Shape, seed: int, n: int = 3) -> tuple[np.random.Generator, lg.Forest, np.ndarray]:
    rng = np.random.default_rng(seed)
    forest = forests.forest(rng, shape, constant=0.5)
    return rng, forest, forests.rows(rng, forest, n)


def single_sizes(n: int) -> list[lg.ProbabilisticValue]:
    return [lg.ProbabilisticValue(row) for row in np.eye(n)]


def random_sizes(rng: np.random.Generator, n: int, power: float = 1.0) -> lg.ProbabilisticValue:
    weights = rng.random(n) ** power + 1e-300
    return lg.ProbabilisticValue(weights / math.fsum(weights))


def check_against_all_coalitions(shape: forests.Shape, seed: int) -> None:
    """Every single size, weights at random, and both ends, against 2^N coalitions in float64."""
    rng, forest, X = grow(shape, seed)
    n = forest.n_features
    values = [
        *single_sizes(n),
        random_sizes(rng, n),
        random_sizes(rng, n, 20.0),
        lg.ProbabilisticValue.leave_one_out(),
        lg.ProbabilisticValue.first_in(),
    ]
    worths = [brute.f_x(paths.game(forest, row)) for row in X]
    for value in values:
        expected = np.array([brute.value(worth, brute.omega(value, n)) for worth in worths])
        found = full(lg.explain(forest, X, value).values, forest)
        # The sum over 2^N adds up to a hundred numbers of the unit's size, as single weights are not small.
        error = abs(found - expected) / forests.unit(forest)
        assert error.max(initial=0.0) <= TOLERANCE, (value, error.max())


@pytest.mark.parametrize("name", forests.SHAPES)
def test_named_shapes_against_all_coalitions(name: str, isa: str) -> None:
    check_against_all_coalitions(forests.SHAPES[name], sum(map(ord, name)))


@settings(max_examples=60, deadline=None)
@given(forests.shapes(most_features=7, deepest=7), forests.seeds)
def test_any_forest_against_all_coalitions(shape: forests.Shape, seed: int) -> None:
    check_against_all_coalitions(shape, seed)


@settings(max_examples=25, deadline=None)
@given(forests.shapes(most_features=12, deepest=8, n_trees=1), forests.seeds)
def test_any_forest_against_fractions(shape: forests.Shape, seed: int) -> None:
    rng, forest, X = grow(shape, seed, n=2)
    games = [paths.game(forest, row) for row in X]
    for value in (random_sizes(rng, forest.n_features), random_sizes(rng, forest.n_features, 20.0)):
        expected = np.array([exact.value(game, value) for game in games]).astype(float)
        assert_close(lg.explain(forest, X, value).values.reshape(expected.shape), expected, forest)


def deep(distinct: int, again: int, rng: np.random.Generator) -> tuple[lg.Forest, np.ndarray]:
    """A chain of so many players of which some come back, and rows that follow it nearly to its end."""
    features = np.concatenate([rng.permutation(distinct), rng.integers(distinct, size=again)])
    forest = forests.chain(rng.permutation(features), rng)
    split = np.flatnonzero(forest.feature >= 0)
    goes_on_left = forest.left[split] == split + 2
    X = np.zeros((2, distinct))
    for v, left in zip(split.tolist(), goes_on_left.tolist(), strict=True):
        X[:, forest.feature[v]] = forest.threshold[v] + (-1e-3 if left else 1e-3)
    X[1] = np.where(rng.random(distinct) < 0.9, X[1], -X[1])
    return forest, X


@pytest.mark.parametrize("again", [0, 20])
@pytest.mark.parametrize("distinct", [60, 100])
def test_single_sizes_at_depth(distinct: int, again: int) -> None:
    """All the weight on one size, each size in its turn: where interpolation loses everything."""
    rng = np.random.default_rng(distinct + again)
    forest, X = deep(distinct, again, rng)
    found = {s: lg.explain(forest, X, value).values for s, value in enumerate(single_sizes(distinct))}
    for s, expected in enumerate(exact.by_size(paths.game(forest, X[0])).astype(float)):
        assert_close(found[s][0], expected[:, 0], forest, s)


@pytest.mark.parametrize("again", [0, 40])
def test_random_weights_at_depth(again: int) -> None:
    rng = np.random.default_rng(again)
    forest, X = deep(80, again, rng)
    each = exact.by_size(paths.game(forest, X[1]))[..., 0]
    for value in (random_sizes(rng, 80), random_sizes(rng, 80, 20.0), lg.ProbabilisticValue([1 / 80] * 80)):
        expected = sum(Fraction(p) * of_size for p, of_size in zip(value.sizes, each, strict=True))
        assert_close(lg.explain(forest, X[1], value).values[0], expected, forest, value.name)


@pytest.mark.parametrize("again", [0, 40])
@pytest.mark.parametrize("distinct", [60, 100, 200])
def test_semivalues_at_depth(distinct: int, again: int) -> None:
    """Their weights by size, against quadrature, which other tests hold against fractions."""
    forest, X = deep(distinct, again, np.random.default_rng(distinct + again))
    for semivalue, sizes in semivalues(distinct):
        quadrature, here = (lg.explain(forest, X, value).values for value in (semivalue, sizes))
        assert_close(here, quadrature, forest, semivalue)


def semivalues(n: int) -> Iterator[tuple[object, lg.ProbabilisticValue]]:
    """Semivalues, and their weights by size from fractions."""
    others = n - 1

    def of(sizes: Iterable[Fraction]) -> lg.ProbabilisticValue:
        return lg.ProbabilisticValue(map(float, sizes))

    yield lg.Shapley(), of([Fraction(1, n)] * n)
    yield lg.Banzhaf(), of(Fraction(math.comb(others, s), 2**others) for s in range(n))
    for semivalue in (lg.Banzhaf(0.3), lg.BetaShapley(4.0, 1.5)):
        omega = exact.omega(semivalue, n, n)
        yield semivalue, of(math.comb(others, s) * each for s, each in enumerate(omega))


@settings(max_examples=40, deadline=None)
@given(forests.shapes(most_features=12, deepest=8), forests.seeds)
def test_semivalues_by_either_method(shape: forests.Shape, seed: int) -> None:
    _, forest, X = grow(shape, seed)
    for semivalue, sizes in semivalues(forest.n_features):
        assert_close(lg.explain(forest, X, sizes).values, lg.explain(forest, X, semivalue).values, forest)


@settings(max_examples=40, deadline=None)
@given(forests.shapes(most_features=12, deepest=8), forests.seeds)
def test_both_ends(shape: forests.Shape, seed: int) -> None:
    """leave_one_out is f(all) - f(all but j), first_in f(j) - f(nothing)."""
    _, forest, X = grow(shape, seed)
    n = forest.n_features
    out = lg.explain(forest, X, "leave_one_out").values
    first = lg.explain(forest, X, "first_in").values
    rounding = 4 * 2.0**-52 * abs(forest.base)  # of worths that hold the base
    everyone = full(lg.predict_known(forest, X, np.ones(n, bool)), forest)
    nobody = full(lg.predict_known(forest, X, np.zeros(n, bool)), forest)
    for j in range(n):
        alone = np.arange(n) == j
        lost = everyone - full(lg.predict_known(forest, X, ~alone), forest)
        brought = full(lg.predict_known(forest, X, alone), forest) - nobody
        for found, expected in ((out, lost), (first, brought)):
            error = abs(full(found[:, j], forest) - expected)
            assert (error <= 3 * TOLERANCE * forests.unit(forest) + rounding).all()


@settings(max_examples=40, deadline=None)
@given(forests.shapes(most_features=8, deepest=6), forests.seeds)
def test_null_players_get_exactly_nothing(shape: forests.Shape, seed: int) -> None:
    rng, forest, X = grow(shape.but(n_features=shape.n_features + 3, depth=min(shape.depth, 3)), seed)
    null = np.setdiff1d(np.arange(forest.n_features), forest.feature)
    for value in (random_sizes(rng, forest.n_features), lg.ProbabilisticValue.leave_one_out()):
        assert (lg.explain(forest, X, value).values[:, null] == 0).all()


@settings(max_examples=30, deadline=None)
@given(
    forests.shapes(most_features=8).filter(lambda s: s.n_features > 1 and not s.categorical), forests.seeds
)
def test_equal_treatment(shape: forests.Shape, seed: int) -> None:
    """A tree and the same with two features exchanged, on rows where the two are equal."""
    rng = np.random.default_rng(seed)
    once = forests.arrays(rng, shape)
    feature = once["feature"]
    exchanged = {**once, "feature": np.select([feature == 0, feature == 1], [1, 0], feature)}
    one, other = (lg.Forest.from_arrays(**each) for each in (once, exchanged))
    X = forests.rows(rng, one, 4)
    X[:, 1] = X[:, 0]
    value = random_sizes(rng, one.n_features)
    a, b = (lg.explain(forest, X, value).values for forest in (one, other))
    assert_close(a[:, [0, 1]], b[:, [1, 0]], one)
    assert_close(a[:, 2:], b[:, 2:], one)


@settings(max_examples=30, deadline=None)
@given(forests.shapes(most_features=10, deepest=8), forests.seeds, st.floats(0, 1))
def test_linear_in_the_sizes(shape: forests.Shape, seed: int, share: float) -> None:
    rng, forest, X = grow(shape, seed)
    one, other = random_sizes(rng, forest.n_features), random_sizes(rng, forest.n_features, 10.0)
    mixed = lg.ProbabilisticValue(share * np.array(one.sizes) + (1 - share) * np.array(other.sizes))
    a, b, c = (lg.explain(forest, X, value).values for value in (one, other, mixed))
    assert_close(c, share * a + (1 - share) * b, forest)


@settings(max_examples=30, deadline=None)
@given(forests.shapes(n_features=6, deepest=6), forests.seeds)
def test_groups_are_players(shape: forests.Shape, seed: int) -> None:
    """Sizes count groups: against the 2^N sum of the game of groups."""
    rng, forest, X = grow(shape, seed)
    groups = {"pair": [1, 2], "rest": [4, 5]}
    players = [0, 1, 1, 2, 3, 3]
    value = random_sizes(rng, 4)
    expected = [brute.value(brute.f_x(paths.game(forest, row, players)), brute.omega(value, 4)) for row in X]
    found = full(lg.explain(forest, X, value, groups=groups).values, forest)
    assert (abs(found - np.array(expected)) <= TOLERANCE * forests.unit(forest)).all()


@settings(max_examples=30, deadline=None)
@given(forests.shapes(most_features=9, deepest=7), forests.seeds)
def test_reduced_weights_are_those_of_the_whole_game(shape: forests.Shape, seed: int) -> None:
    """The paper's lemma: null players leave by q_k + q_{k+1}, down to any n that holds the longest path."""
    rng, forest, X = grow(shape, seed)
    whole = random_sizes(rng, forest.n_features)
    expected = lg.explain(forest, X, whole).values
    most = max(1, int(forest.game().most_players.max(initial=0)))
    for n in {most, (most + forest.n_features + 1) // 2, forest.n_features}:
        q = exact.omega(whole, n, forest.n_features)
        for weights in (q, [float(each) for each in q]):
            assert_close(
                lg.explain(forest, X, lg.ProbabilisticValue.from_reduced(weights)).values, expected, forest
            )


def test_omega_of_five_hundred_features() -> None:
    """Shapley's and Banzhaf's weights by the paper's formula, in float64, against quadrature."""
    rng = np.random.default_rng(0)
    forest = forests.chain(rng.permutation(500)[:40], rng, n_features=500)
    X = rng.normal(size=(20, 500))
    shapley = [1 / (500 * math.comb(499, s)) for s in range(500)]
    banzhaf = [0.5**499] * 500
    for omega, semivalue in ((shapley, lg.Shapley()), (banzhaf, lg.Banzhaf())):
        value = lg.ProbabilisticValue.from_omega(omega)
        assert_close(lg.explain(forest, X, value).values, lg.explain(forest, X, semivalue).values, forest)


CALLS = ["shapley", "random", "one size"]


def value_of(name: str, n: int) -> lg.ProbabilisticValue:
    rng = np.random.default_rng(3)
    return {
        "shapley": lg.ProbabilisticValue([1 / n] * n),
        "random": random_sizes(rng, n),
        "one size": single_sizes(n)[n // 2],
    }[name]


@pytest.fixture(scope="module", name="case")
def _case() -> tuple[lg.Forest, np.ndarray]:
    rng = np.random.default_rng(5)
    shape = forests.Shape(
        n_trees=30, depth=7, n_features=8, stop=0.1, missing=True, categorical=True, cover="both"
    )
    forest = forests.forest(rng, shape)
    return forest, forests.rows(rng, forest, 4001)  # no multiple of any block


@pytest.mark.parametrize("name", CALLS)
def test_a_row_s_bits_are_its_own(name: str, case: tuple[lg.Forest, np.ndarray]) -> None:
    """Whatever the number of threads, the rows around it, and whether it comes alone."""
    forest, X = case
    value = value_of(name, 8)
    whole = lg.explain(forest, X, value, threads=1).values
    for threads in (2, 3, 8):
        assert np.array_equal(lg.explain(forest, X, value, threads=threads).values, whole)
    order = np.random.default_rng(0).permutation(len(X))
    assert np.array_equal(lg.explain(forest, X[order], value).values, whole[order])
    for begin, end in ((0, 100), (1, 101), (len(X) - 77, len(X)), (13, 13 + 512), (7, 8), (20, 23)):
        assert np.array_equal(lg.explain(forest, X[begin:end], value).values, whole[begin:end])


@pytest.mark.parametrize("name", CALLS)
def test_every_instruction_set_agrees(name: str, case: tuple[lg.Forest, np.ndarray]) -> None:
    forest, X = case
    value, found = value_of(name, 8), {}
    try:
        for isa in _core.available_isas():
            _core.use_isa(isa)
            found[isa] = lg.explain(forest, X[:300], value).values
    finally:
        _core.use_isa()
    for ours in found.values():
        assert_close(ours, found["generic"], forest)


@pytest.mark.parametrize("shape", ["vector leaves", "many outputs", "missing", "categories", "float32"])
def test_outputs_one_by_one_and_together(shape: str) -> None:
    rng, forest, X = grow(forests.SHAPES[shape], 7, n=150)
    value = random_sizes(rng, forest.n_features)
    every = full(lg.explain(forest, X, value).values, forest)
    for k in range(forest.n_outputs):
        assert np.array_equal(lg.explain(forest, X, value, output=k).values, every[..., k])
    labels = rng.integers(forest.n_outputs, size=len(X))
    own = lg.explain(forest, X, value, output=labels).values
    assert np.array_equal(own, every[np.arange(len(X)), :, labels])


def test_a_chain_of_a_thousand_distinct_features(isa: str) -> None:
    """No recursion, no overflow: Shapley's and Banzhaf's weights, and both ends, against quadrature."""
    rng = np.random.default_rng(1)
    forest, X = deep(1000, 0, rng)
    for semivalue, sizes in itertools.islice(semivalues(1000), 2):
        assert_close(lg.explain(forest, X, sizes).values, lg.explain(forest, X, semivalue).values, forest)
    for name, semivalue in (("leave_one_out", lg.Banzhaf(1)), ("first_in", lg.Banzhaf(0))):
        assert_close(lg.explain(forest, X, name).values, lg.explain(forest, X, semivalue).values, forest)


def test_a_chain_of_a_hundred_thousand_splits() -> None:
    """Three features that come back again and again: each leaf closes all three."""
    rng = np.random.default_rng(2)
    cover = np.where(np.arange(200_001) % 2 == 0, 2000.0, 1.0)
    forest = forests.chain(rng.integers(3, size=100_000), rng, cover=cover)
    X = rng.normal(size=(3, 3)) * 5
    sizes, shapley = (
        lg.explain(forest, X, value).values for value in (lg.ProbabilisticValue([1 / 3] * 3), "shapley")
    )
    assert abs(sizes - shapley).max() <= 1e-11 * forests.unit(forest)[0]  # a hundred thousand roundings


@pytest.mark.parametrize("power", [-1000, -300, 300, 980])
def test_leaves_of_any_size(power: int) -> None:
    """Leaves times a power of two: values times that, to the last bit, as far as float64 goes."""
    rng = np.random.default_rng(4)
    arrays = forests.arrays(rng, forests.Shape(n_features=9, depth=8, stop=0.05))
    forest = lg.Forest.from_arrays(**arrays)
    X = forests.rows(rng, forest, 5)
    value = random_sizes(rng, 9)
    if abs(power) > 890:
        scaled = lg.Forest.from_arrays(**{**arrays, "value": np.ldexp(arrays["value"], power)})
        with pytest.raises(lg.InputError, match="leave float64 room"):
            lg.explain(scaled, X, value)
        return
    scaled = lg.Forest.from_arrays(**{**arrays, "value": np.ldexp(arrays["value"], power)})
    assert np.array_equal(
        lg.explain(scaled, X, value).values, np.ldexp(lg.explain(forest, X, value).values, power)
    )


def test_too_many_players_on_a_path() -> None:
    rng = np.random.default_rng(5)
    forest = forests.chain(range(1025), rng)
    with pytest.raises(lg.InputError, match=r"tree 0 has 1025 different players on one path.*semivalues"):
        lg.explain(forest, np.zeros(1025), "leave_one_out")
    assert np.isfinite(lg.explain(forest, np.zeros(1025)).values).all()
