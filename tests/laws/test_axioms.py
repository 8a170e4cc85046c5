"""What makes a value a semivalue, on the public functions alone: no oracle, so forests may be larger.

The tolerance is that of the exactness promise, 1e-13 of the sum over trees of max|leaf - root mean|, for each
of the two or three numbers compared.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import forests
import leafgrad as lg

TOLERANCE = 1e-13
VALUES = [
    lg.Shapley(),
    lg.Banzhaf(0.3),
    lg.BetaShapley(4, 1),
    lg.BetaShapley(0.2, 0.7),
    lg.Semivalue([0.0, 0.3, 1.0], [0.25, 0.5, 0.25]),
]
larger = forests.shapes(most_features=12, deepest=8)


def grow(shape: forests.Shape, seed: int, n: int = 5) -> tuple[np.random.Generator, lg.Forest, np.ndarray]:
    rng = np.random.default_rng(seed)
    forest = forests.forest(rng, shape, constant=0.5)
    return rng, forest, forests.rows(rng, forest, n)


def full(values: np.ndarray, forest: lg.Forest) -> np.ndarray:
    return values if forest.n_outputs > 1 else values[..., None]


def assert_close(found: np.ndarray, expected: np.ndarray, forest: lg.Forest) -> None:
    error = abs(full(found, forest) - full(expected, forest)) / forests.unit(forest)
    assert error.max(initial=0.0) <= 3 * TOLERANCE


def rounding(forest: lg.Forest) -> np.ndarray:
    """Of a prediction, which the leaves as they came and the base alike enter: 1e-15 of their sizes."""
    return 1e-15 * (abs(forest.root_mean).sum() + abs(forest.base) + forests.unit(forest))


@settings(max_examples=60, deadline=None)
@given(larger, forests.seeds)
def test_efficiency(shape: forests.Shape, seed: int) -> None:
    """Shapley values sum to prediction - base."""
    _, forest, X = grow(shape, seed)
    total = full(lg.explain(forest, X).values.sum(axis=1), forest)
    gained = full(forest.predict(X), forest) - forest.base
    assert (abs(total - gained) <= TOLERANCE * forests.unit(forest) + rounding(forest)).all()


@settings(max_examples=40, deadline=None)
@given(larger, forests.seeds)
def test_all_known_is_the_prediction_and_none_the_base(shape: forests.Shape, seed: int) -> None:
    _, forest, X = grow(shape, seed)
    everyone = np.ones(forest.n_features)
    within = TOLERANCE * forests.unit(forest) + rounding(forest)
    for known in (lg.extension(forest, X, everyone), lg.predict_known(forest, X, everyone.astype(bool))):
        assert (abs(full(known, forest) - full(forest.predict(X), forest)) <= within).all()
    assert (abs(full(lg.extension(forest, X, 0 * everyone), forest) - forest.base) <= within).all()


@settings(max_examples=40, deadline=None)
@given(larger, forests.seeds)
def test_null_features_get_exactly_nothing(shape: forests.Shape, seed: int) -> None:
    rng, forest, X = grow(shape.but(n_features=shape.n_features + 3, depth=min(shape.depth, 3)), seed)
    null = np.setdiff1d(np.arange(forest.n_features), forest.feature)
    for value in VALUES:
        assert (lg.explain(forest, X, value).values[:, null] == 0).all()
    assert (lg.gradient(forest, X, forests.points(rng, 5, forest.n_features))[:, null] == 0).all()


@settings(max_examples=40, deadline=None)
@given(larger.filter(lambda shape: shape.n_features > 1 and not shape.categorical), forests.seeds)
def test_equal_treatment(shape: forests.Shape, seed: int) -> None:
    """Trees, and the same trees with two features exchanged: where x has them equal, so are their values."""
    rng = np.random.default_rng(seed)
    once = forests.arrays(rng, shape)
    exchanged = {
        **once,
        "feature": np.select([once["feature"] == 0, once["feature"] == 1], [1, 0], once["feature"]),
    }
    forest = joined(once, exchanged)
    X = forests.rows(rng, forest, 5)
    X[:, 1] = X[:, 0]
    z = forests.points(rng, 5, forest.n_features)
    z[:, 1] = z[:, 0]
    for values in (*(lg.explain(forest, X, value).values for value in VALUES), lg.gradient(forest, X, z)):
        assert_close(values[:, 0], values[:, 1], forest)


def joined(first: dict[str, Any], second: dict[str, Any]) -> lg.Forest:
    """The sum of two forests given by their arrays."""
    both = dict(first)
    for name in ("left", "right", "feature", "threshold", "cover", "value", "tree_output", "missing_left"):
        if name in first:
            both[name] = np.concatenate([first[name], second[name]])
    n = int(first["tree_start"][-1])
    both["tree_start"] = np.concatenate([first["tree_start"], second["tree_start"][1:] + n])
    if "categories_left" in first:
        shifted = {node + n: codes for node, codes in second["categories_left"].items()}
        both["categories_left"] = {**first["categories_left"], **shifted}
        both["other_left"] = np.concatenate([first["other_left"], second["other_left"]])
    return lg.Forest.from_arrays(**both)


@settings(max_examples=40, deadline=None)
@given(larger, forests.seeds)
def test_linearity_over_trees(shape: forests.Shape, seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = forests.arrays(rng, shape), forests.arrays(rng, shape)
    parts, whole = [lg.Forest.from_arrays(**each) for each in (first, second)], joined(first, second)
    X = forests.rows(rng, whole, 5)
    z = forests.points(rng, 5, whole.n_features)
    for value in VALUES:
        total = sum(lg.explain(part, X, value).values for part in parts)
        assert_close(lg.explain(whole, X, value).values, total, whole)
    assert_close(lg.gradient(whole, X, z), sum(lg.gradient(part, X, z) for part in parts), whole)


@settings(max_examples=30, deadline=None)
@given(forests.shapes(leaves="plain"), forests.seeds)
def test_scale_by_a_power_of_two(shape: forests.Shape, seed: int) -> None:
    """Leaves times 2^40: values times 2^40, to the last bit, for nothing is added to them but one another."""
    rng = np.random.default_rng(seed)
    arrays = forests.arrays(rng, shape)
    forest = lg.Forest.from_arrays(**arrays)
    scaled = lg.Forest.from_arrays(**{**arrays, "value": np.ldexp(arrays["value"], 40)})
    X = forests.rows(rng, forest, 5)
    assert np.array_equal(lg.explain(scaled, X).values, np.ldexp(lg.explain(forest, X).values, 40))


@settings(max_examples=40, deadline=None)
@given(larger, forests.seeds)
def test_the_gradient_is_a_difference_of_extensions(shape: forests.Shape, seed: int) -> None:
    """F_x is linear in each coordinate: dF/dz_j = F(z_j = 1) - F(z_j = 0), with no step to choose."""
    rng, forest, X = grow(shape, seed)
    z = forests.points(rng, 5, forest.n_features)
    gradient = lg.gradient(forest, X, z)
    for j in range(forest.n_features):
        known, unknown = z.copy(), z.copy()
        known[:, j], unknown[:, j] = 1.0, 0.0
        difference = lg.extension(forest, X, known) - lg.extension(forest, X, unknown)
        error = abs(full(gradient[:, j], forest) - full(difference, forest))
        assert (error <= 3 * TOLERANCE * forests.unit(forest) + 4 * 2.0**-52 * abs(forest.base)).all()


@settings(max_examples=40, deadline=None)
@given(larger, forests.seeds)
def test_a_semivalue_is_the_mean_of_gradients(shape: forests.Shape, seed: int) -> None:
    """With a rule of our own, of more points than needed: Gauss-Legendre from numpy."""
    _, forest, X = grow(shape, seed, n=1)
    t, w = np.polynomial.legendre.leggauss(20)
    t, w = (t + 1) / 2, w / 2
    ones = np.ones((1, forest.n_features))
    along = lg.gradient(forest, X, t[:, None] * ones)
    assert_close(lg.explain(forest, X).values[0], np.tensordot(w, along, 1), forest)
    density = w * 5 * (1 - t) ** 4  # Beta(5, 1)
    assert_close(lg.explain(forest, X, "beta:5,1").values[0], np.tensordot(density, along, 1), forest)
    nodes, weights = [0.0, 0.2, 1.0], [0.5, 0.25, 0.25]
    along = lg.gradient(forest, X, np.array(nodes)[:, None] * ones)
    mean = np.tensordot(weights, along, 1)
    assert_close(lg.explain(forest, X, lg.Semivalue(nodes, weights)).values[0], mean, forest)
    at_once = lg.explain(forest, X, lg.Banzhaf(0.2)).values[0]
    assert_close(at_once, along[1], forest)


@settings(max_examples=40, deadline=None)
@given(larger, forests.seeds)
def test_monotonicity(shape: forests.Shape, seed: int) -> None:
    """A stump that rewards knowing feature 0 whatever else is known raises its value, by the reward."""
    rng = np.random.default_rng(seed)
    arrays = forests.arrays(rng, shape)
    forest = lg.Forest.from_arrays(**arrays)
    width = 1 if arrays["value"].ndim == 1 else arrays["value"].shape[1]
    stump: dict[str, Any] = {
        "tree_start": np.array([0, 3]),
        "left": np.array([1, -1, -1]),
        "right": np.array([2, -1, -1]),
        "feature": np.array([0, -1, -1]),
        "threshold": np.array([np.inf, 0, 0]),
        "cover": np.array([0, 1.0, 3.0]),
        "value": np.array([np.zeros(width), np.ones(width), np.zeros(width)]).reshape(
            (3, *arrays["value"].shape[1:])
        ),
        "tree_output": np.array([0]),
        "missing_left": np.full(3, True),
        "categories_left": {},
        "other_left": np.full(3, False),
    }
    rewarded = joined(arrays, stump)
    X = forests.rows(rng, forest, 5)
    for value in VALUES:
        before, after = lg.explain(forest, X, value).values, lg.explain(rewarded, X, value).values
        gain = full(after - before, forest)
        assert (abs(gain[:, 0, 0] - 0.75) <= 3 * TOLERANCE * forests.unit(rewarded)[0]).all()
        assert (abs(gain[:, 1:]) <= 3 * TOLERANCE * forests.unit(rewarded)).all()


def test_other_names_of_the_same_value() -> None:
    """To the last bit."""
    _, forest, X = grow(forests.SHAPES["deep"], 1)
    same = [
        (lg.Shapley(), lg.BetaShapley(1, 1)),
        (lg.Banzhaf(0.3), lg.Semivalue([0.3], [1.0])),
        (lg.Banzhaf(0.3), "banzhaf:0.3"),
        (lg.BetaShapley(4, 1), "beta:4,1"),
    ]
    for one, other in same:
        assert np.array_equal(lg.explain(forest, X, one).values, lg.explain(forest, X, other).values)


@pytest.mark.parametrize("value", VALUES)
def test_additive_only_where_it_says_so(value: object) -> None:
    _, forest, X = grow(forests.SHAPES["deep"], 2)
    explanation = lg.explain(forest, X, value)
    sums = np.allclose(explanation.values.sum(axis=1), forest.predict(X) - forest.base, rtol=0, atol=1e-9)
    assert explanation.additive == sums
