"""Chains: additive at any depth, exact with a thousand distinct features, loaded and walked at any length."""

from __future__ import annotations

import time

import mpmath
import numpy as np
import pytest

import forests
import leafgrad as lg
from leafgrad.reference import paths
from leafgrad.reference.walk import walk


def agreeing_rows(rng: np.random.Generator, forest: lg.Forest, n: int) -> np.ndarray:
    """Rows that follow the chain deep down: at each split they leave it with a chance of 1 in 200."""
    start = np.flatnonzero(forest.feature >= 0)
    goes_on_left = forest.left[start] == start + 2
    X = np.zeros((n, forest.n_features))
    follow = rng.random((n, len(start))) > 1 / 200
    side = np.where(follow == goes_on_left, -1e-3, 1e-3)
    X[:, forest.feature[start]] = forest.threshold[start] + side
    return X


@pytest.mark.parametrize("depth", [10, 100, 1000])
def test_additive_at_any_depth(depth: int) -> None:
    """A chain of `depth` distinct features: Shapley sums to prediction - base within 1e-12, relatively."""
    rng = np.random.default_rng(depth)
    forest = forests.chain(range(depth), rng)
    X = np.vstack([agreeing_rows(rng, forest, 20), rng.normal(size=(20, depth))])
    gained = forest.predict(X) - forest.base
    error = abs(lg.explain(forest, X).values.sum(axis=1) - gained)
    assert (error <= 1e-12 * abs(gained)).all()


@pytest.mark.parametrize("distinct", [1000, 30])
def test_gradients_at_depth_1000(distinct: int) -> None:
    """Against sixty digits, at ordinary and extreme points; with 30 features each comes back 33 times."""
    rng = np.random.default_rng(distinct)
    forest = forests.chain(np.arange(1000) % distinct, rng)
    X = (
        agreeing_rows(rng, forest, 2)
        if distinct == 1000
        else np.vstack([rng.normal(size=(1, 30)), np.zeros((1, 30))])
    )
    for row in X:
        z = np.vstack([np.full(distinct, 0.5), np.full(distinct, 0.999), forests.points(rng, 1, distinct)])
        found = lg.gradient(forest, row, z)
        with mpmath.workdps(60):
            game = paths.game(forest, row)
            for line, point in zip(found, z, strict=True):
                _, expected = walk(game, point, mpmath.mpf)
                error = [abs(x - of_player[0]) for x, of_player in zip(line.tolist(), expected, strict=True)]
                assert max(error) <= 1e-13 * forests.unit(forest)[0]


def test_shapley_at_depth_1000_is_the_integral_of_its_gradients() -> None:
    """With numpy's Legendre rule, and the gradients that the test above holds against sixty digits."""
    rng = np.random.default_rng(1)
    forest = forests.chain(range(1000), rng)
    t, w = np.polynomial.legendre.leggauss(510)
    for row in agreeing_rows(rng, forest, 2):
        along = lg.gradient(forest, row, ((t + 1) / 2)[:, None] * np.ones(1000))
        error = abs(lg.explain(forest, row).values[0] - w / 2 @ along)
        assert error.max() <= 1e-13 * forests.unit(forest)[0]


def test_a_chain_of_a_hundred_thousand() -> None:
    """Three features, a hundred thousand splits: loaded in time linear in the nodes, and explained."""
    rng = np.random.default_rng(2)
    seconds = {}  # of this process, so that a busy machine does not matter
    for depth in (25_000, 100_000):
        n = 2 * depth + 1
        # Nearly all the cover goes on: a player's shares must not multiply to less than 1e-290.
        cover = np.where(np.arange(n) % 2 == 0, 2000.0, 1.0)
        features = rng.integers(3, size=depth)
        started = time.process_time()
        forest = forests.chain(features, rng, cover=cover)
        seconds[depth] = time.process_time() - started
    assert seconds[100_000] < 2.0
    assert (
        seconds[100_000] < 12 * seconds[25_000] + 0.2
    )  # four times the nodes; a quadratic would take sixteen
    assert forest.max_depth == 100_000
    X = rng.normal(size=(3, 3)) * 5
    values = lg.explain(forest, X).values
    gained = forest.predict(X) - forest.base
    assert (abs(values.sum(axis=1) - gained) <= 1e-12 * forests.unit(forest)).all()
    assert np.isfinite(lg.gradient(forest, X, [0.0, 0.3, 1.0])).all()
    extension, gradient = walk(paths.game(forest, X[0]), [0.25, 0.5, 0.75])
    assert abs(lg.extension(forest, X[0], [0.25, 0.5, 0.75])[0] - forest.base[0] - extension[0]) <= 1e-11
    assert abs(lg.gradient(forest, X[0], [0.25, 0.5, 0.75])[0] - np.ravel(gradient)).max() <= 1e-11
