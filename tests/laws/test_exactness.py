"""Every number within 1e-13 of exact arithmetic, in units of the sum over trees of max|leaf - root mean|.

The oracle is leaf-path products in fractions, on the forest's own shares and centred leaves. Forests are
random and adversarial, every instruction set of this machine has its turn, and rows come one at a time and by
the block.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings

import forests
import leafgrad as lg
from leafgrad import _core
from leafgrad.reference import brute, exact, paths

TOLERANCE = 1e-13  # what is promised; most errors are below 1e-15
VALUES = [
    lg.Shapley(),
    lg.Banzhaf(0.3),
    lg.Banzhaf(0.0),
    lg.Banzhaf(1.0),
    lg.BetaShapley(4, 1),
    lg.BetaShapley(0.01, 30.5),
    lg.Semivalue([0.0, 0.3, 1.0], [0.25, 0.5, 0.25]),
]
ROWS = 3
COPIES = 23  # 69 rows: a full block of every kernel and a tail


@pytest.fixture(params=_core.available_isas(), name="isa")
def _isa(request: pytest.FixtureRequest):
    _core.use_isa(request.param)
    yield request.param
    _core.use_isa()


def rounded(numbers: list[np.ndarray]) -> np.ndarray:
    return np.array(numbers).astype(float)


def full(values: np.ndarray, forest: lg.Forest) -> np.ndarray:
    """With an axis of outputs even where there is one."""
    return values if forest.n_outputs > 1 else values[..., None]


def assert_exact(found: np.ndarray, expected: np.ndarray, forest: lg.Forest, what: object) -> None:
    """Lines of `expected` repeat in `found`."""
    found = full(found, forest)
    assert np.isfinite(found).all(), what
    error = abs(found - np.resize(expected, found.shape)) / forests.unit(forest)
    assert error.max() <= TOLERANCE, (what, error.max())


@dataclass(frozen=True)
class Case:
    """A forest, rows, points, and what is exact of them."""

    forest: lg.Forest
    X: np.ndarray
    z: np.ndarray
    value: object
    gradients: np.ndarray  # of each row at its own point
    of_one_row: np.ndarray  # of the first row at all points
    at_one_point: np.ndarray  # of all rows at the first point
    extensions: np.ndarray
    shapley: np.ndarray
    values: np.ndarray


@lru_cache(maxsize=32)  # once for all instruction sets
def case(shape: forests.Shape, seed: int) -> Case:
    rng = np.random.default_rng(seed)
    forest = forests.forest(rng, shape)
    X = forests.rows(rng, forest, ROWS)
    z = forests.points(rng, ROWS, forest.n_features)
    value = VALUES[seed % len(VALUES)]
    games = [paths.game(forest, row) for row in X]
    pairs = list(zip(games, z, strict=True))
    return Case(
        forest,
        X,
        z,
        value,
        gradients=rounded([exact.gradient(game, point) for game, point in pairs]),
        of_one_row=rounded([exact.gradient(games[0], point) for point in z]),
        at_one_point=rounded([exact.gradient(game, z[0]) for game in games]),
        extensions=rounded([exact.extension(game, point) for game, point in pairs]),
        shapley=rounded([exact.value(game, lg.Shapley()) for game in games]),
        values=rounded([exact.value(game, value) for game in games]),
    )


def check_forest(shape: forests.Shape, seed: int) -> None:
    it = case(shape, seed)
    forest, X, z = it.forest, it.X, it.z
    many, many_z = np.tile(X, (COPIES, 1)), np.tile(z, (COPIES, 1))
    assert_exact(lg.gradient(forest, X, z), it.gradients, forest, "gradient")
    assert_exact(lg.gradient(forest, many, many_z), it.gradients, forest, "gradient of many")
    assert_exact(lg.gradient(forest, X[0], many_z), it.of_one_row, forest, "one row, many points")
    assert_exact(lg.gradient(forest, many, z[0]), it.at_one_point, forest, "many rows, one point")

    rounding = 2.0**-52 * abs(forest.base)  # of base + walk
    for rows, point in ((X, z), (many, many_z)):
        found = full(lg.extension(forest, rows, point), forest)
        error = abs(found - np.resize(forest.base + it.extensions, found.shape))
        assert (error <= TOLERANCE * forests.unit(forest) + rounding).all()

    for value, expected in ((lg.Shapley(), it.shapley), (it.value, it.values)):
        assert_exact(lg.explain(forest, many, value).values, expected, forest, value)
        assert_exact(lg.explain(forest, X[0], value).values, expected[:1], forest, value)


@pytest.mark.parametrize("name", forests.SHAPES)
def test_named_shapes(name: str, isa: str) -> None:
    check_forest(forests.SHAPES[name], sum(map(ord, name)))


# Too many features for 2^N: like boosted trees, like one tree grown to full depth, and many outputs.
LARGER = {
    "boosted": forests.Shape(n_trees=5, depth=6, n_features=20, repeats=0.2, stop=0.02),
    "full depth": forests.Shape(n_trees=1, depth=11, n_features=15, repeats=0.3, stop=0.27, missing=True),
    "ten classes": forests.Shape(n_trees=2, depth=5, n_features=12, n_outputs=10, vector=True),
}


@pytest.mark.parametrize("name", LARGER)
def test_larger_shapes(name: str, isa: str) -> None:
    check_forest(LARGER[name], 1)


@settings(max_examples=40, deadline=None)
@given(forests.shapes(), forests.seeds)
def test_any_forest(shape: forests.Shape, seed: int) -> None:
    check_forest(shape, seed)


@pytest.mark.parametrize("name", ["ten repeats", "covers of 0", "tiny shares", "wide leaves"])
def test_every_corner_and_its_neighbours(name: str, isa: str) -> None:
    """One row at all points of {0, 1e-200, 1/2, 1 - 1e-16, 1}^3."""
    forest, row, z, expected = corners(name)
    assert_exact(lg.gradient(forest, row, z), expected, forest, name)


@lru_cache
def corners(name: str) -> tuple[lg.Forest, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(17)
    forest = forests.forest(rng, forests.SHAPES[name].but(n_features=3))
    row = forests.rows(rng, forest, 1)[0]
    z = np.array(list(itertools.product([0.0, 1e-200, 0.5, 1 - 1e-16, 1.0], repeat=3)))
    game = paths.game(forest, row)
    return forest, row, z, rounded([exact.gradient(game, point) for point in z])


def test_the_sum_over_all_coalitions() -> None:
    """The other oracle: 2^N coalitions in float64, whose own rounding is below 1e-15 of the unit."""
    rng = np.random.default_rng(3)
    forest = forests.forest(rng, forests.Shape(n_features=10, depth=7, n_trees=3, stop=0.05))
    X = forests.rows(rng, forest, 2)
    z = forests.points(rng, 2, 10)
    worths = [brute.f_x(paths.game(forest, row)) for row in X]
    gradients = np.array([brute.gradient(worth, point) for worth, point in zip(worths, z, strict=True)])
    assert_exact(lg.gradient(forest, X, z), gradients, forest, "gradient")
    for value in VALUES:
        expected = np.array([brute.value(worth, brute.omega(value, 10)) for worth in worths])
        assert_exact(lg.explain(forest, X, value).values, expected, forest, value)
    known = rng.random((2, 10)) < 0.5
    masks = known @ (1 << np.arange(10))
    found = lg.predict_known(forest, X, known) - forest.base
    assert_exact(
        found, np.array([worth[mask] for worth, mask in zip(worths, masks, strict=True)]), forest, "known"
    )


def one_player_chain(share: float, splits: int) -> dict[str, object]:
    """A chain on one feature whose edges to the next split all have this share."""
    n = 2 * splits + 1
    inner = np.arange(0, 2 * splits, 2)
    left, right, cover = np.full(n, -1), np.full(n, -1), np.ones(n)
    left[inner], right[inner] = inner + 1, inner + 2
    cover[inner + 2] = share / (1 - share)
    return {
        "tree_start": [0, n],
        "left": left,
        "right": right,
        "feature": np.zeros(n, int),
        "threshold": -np.arange(n),
        "cover": cover,
        "value": np.sin(np.arange(n)),
    }


def test_a_player_s_shares_may_multiply_to_1e_290() -> None:
    forest = lg.Forest.from_arrays(**one_player_chain(1.01e-29, 10))
    for row in ([-5.0], [-30.0], [0.5], [1.0]):
        game = paths.game(forest, row)
        for z in (0.0, 1e-200, 1e-290, 1e-30, 0.5, 1 - 1e-16, 1.0):
            assert_exact(
                lg.gradient(forest, row, [z]), rounded([exact.gradient(game, [z])]), forest, (row, z)
            )


def test_a_smaller_product_is_refused() -> None:
    with pytest.raises(lg.ModelFormatError, match="1e-290"):
        lg.Forest.from_arrays(**one_player_chain(0.99e-29, 10))


def test_shares_of_different_players_may_underflow(isa: str) -> None:
    """Fifteen features with a share of 1e-30 each, on one path: 1e-450 is no float64, and does no harm."""
    arrays = one_player_chain(1e-30, 15)
    arrays["feature"] = np.repeat(np.arange(16), 2)[: len(arrays["feature"])]
    forest = lg.Forest.from_arrays(**arrays)
    rng = np.random.default_rng(0)
    X = np.where(rng.random((4, forest.n_features)) < 0.8, 1.0, -40.0)
    X[0] = 1.0
    for row in X:
        game = paths.game(forest, row)
        n = forest.n_features
        for z in (np.zeros(n), np.full(n, 1e-200), np.ones(n), rng.random(n), forests.points(rng, 1, n)[0]):
            assert_exact(lg.gradient(forest, row, z), rounded([exact.gradient(game, z)]), forest, z)
        for value in VALUES:
            expected = rounded([exact.value(game, value)])
            assert_exact(lg.explain(forest, row, value).values, expected, forest, value)


def test_every_moment_of_many_distinct_features() -> None:
    """Forty distinct features on one path: a rule of twenty nodes must be exact at degree 39."""
    rng = np.random.default_rng(8)
    forest = forests.chain(range(40), rng)
    X = rng.normal(size=(1, 40))
    games = [paths.game(forest, row) for row in X]
    for value in (lg.Shapley(), lg.BetaShapley(16, 1), lg.BetaShapley(0.5, 0.5), lg.BetaShapley(0.001, 3)):
        expected = rounded([exact.value(game, value) for game in games])
        assert_exact(lg.explain(forest, X, value).values, expected, forest, value)
