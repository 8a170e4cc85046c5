"""`load(model, data=X)` for whatever model: the counts are those of the live model's own leaves.

For each node, the rows of X whose leaf (asked of the library, not of us) lies below it; the shares are the
quotients, one half each where no row comes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import treelite
from sklearn.ensemble import RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor

import leafgrad as lg
from forests import Shape, forest, rows
from golden.treelite.make_treelite import CATEGORIES, DEEP, model, stump
from leafgrad.load.trees import parents
from parity.zoo import MODELS, d, fitted, live, training_rows, unit


def expected_shares(own: lg.Forest, leaf: np.ndarray) -> np.ndarray:
    """From leaves (m, T), each within its tree, one step at a time towards the root."""
    up = parents(own.tree_start, own.left, own.right)
    count = np.zeros(len(own.left))
    for at in (leaf + own.tree_start[:-1]).ravel().tolist():
        node = at
        while node >= 0:
            count[node] += 1
            node = int(up[node])
    below = up >= 0
    share = np.ones(len(count))
    total = count[up[below]]
    share[below] = np.where(total > 0, count[below] / np.maximum(total, 1), 0.5)
    return share


def assert_counted(given: Any, X: Any, leaf: np.ndarray, **how: Any) -> None:
    own = lg.load(given, data=X, **how)
    # The larger share of two is what the smaller leaves of 1: one rounding.
    assert np.all(np.abs(own.share - expected_shares(own, leaf)) <= 2.0**-53)


def test_scikit_learns_apply() -> None:
    for name in ("tree, missing", "random forest", "extra trees classifier", "boosting"):
        given, X = fitted(name), d.missing if "missing" in name else d.X
        leaf = given.apply(X.astype(np.float32)).reshape(len(X), -1).astype(np.int64)
        assert_counted(given, X, leaf)
        assert_counted(given, X[:7], leaf[:7], cover="data")  # most nodes are reached by nobody


def test_float32_thresholds_with_rows_on_them() -> None:
    tree = DecisionTreeRegressor(random_state=0).fit(d.X, d.real)
    thresholds = tree.tree_.threshold[tree.tree_.children_left >= 0]
    X = np.resize(thresholds, (200, d.X.shape[1]))
    assert_counted(tree, X, tree.apply(X.astype(np.float32))[:, None])


@pytest.mark.parametrize("width", ["float32", "float64"])
def test_treelites_leaves_with_categories_and_missing_values(width: str) -> None:
    made = model([CATEGORIES, DEEP, stump(1.0, 2.0)], width=width, counts=False)
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [rng.random(300), rng.choice([0, 2, 3, 5, 7, 40, 99, np.nan], 300), rng.normal(size=300)]
    )
    X[::7, 0] = np.nan
    assert_counted(made, X, treelite.gtil.predict_leaf(made, X).astype(np.int64))


def test_zeros_that_count_as_missing() -> None:
    """LightGBM's zero_as_missing, in a hand-made tree: 0 goes where NaN goes, away from its own side."""
    own = lg.Forest.from_arrays(
        tree_start=[0, 3],
        left=[1, -1, -1],
        right=[2, -1, -1],
        feature=[0, -1, -1],
        threshold=[0.5, 0, 0],
        cover=[2, 1, 1],
        value=[0, 1, 2],
        missing_left=[False, False, False],
        zero_missing=[True, False, False],
    )
    X = np.array([[0.0], [1e-36], [-1e-36], [0.25], [np.nan], [2.0], [-3.0], [-1.0]])
    assert lg.load(own, data=X).share.tolist() == [1.0, 3 / 8, 5 / 8]


def test_a_tree_counts_rows_whatever_its_weight() -> None:
    """Trees of an average, of a boosting step or of a voting weight: every row is one row."""
    for name in ("voting", "bagging", "boosting"):
        given, X = fitted(name), training_rows(name)
        own = lg.load(given, data=X)
        assert np.all(np.abs(own.share - expected_shares(own, own.leaves(X))) <= 2.0**-53)


@pytest.mark.parametrize("name", MODELS)
def test_the_model_stays_the_model(name: str) -> None:
    given, X = fitted(name), training_rows(name)
    own = lg.load(given, data=X)
    assert own.checked
    assert np.all(np.abs(own.predict(X).reshape(len(X), -1) - live(given, X)) <= 1e-12 * unit(own))


def test_counts_of_the_training_rows_are_the_librarys_own() -> None:
    given = RandomForestRegressor(n_estimators=4, bootstrap=False, random_state=0).fit(d.X, d.real)
    assert np.array_equal(lg.load(given, data=d.X).share, lg.load(given, cover="counts").share)


def test_groups_and_values_use_the_recounted_shares() -> None:
    """A group of all columns is one player: its value is prediction minus the mean over the rows."""
    rng = np.random.default_rng(0)
    own = forest(rng, Shape(missing=True, categorical=True, depth=5))
    X = rows(rng, own, 120)
    again = lg.load(own, data=X)
    everything = {"all": list(range(own.n_features))}
    values = lg.explain(again, X, groups=everything, progress=False).values
    assert np.all(np.abs(values[:, 0] - (again.predict(X) - again.base[0])) <= 1e-13 * own.scale)
    assert again.base[0] == pytest.approx(again.predict(X).mean(), abs=1e-13 * float(own.scale[0]))


def test_explanations_are_of_the_recounted_game() -> None:
    """On one stump, by hand: a value is the prediction minus the mean over the data."""
    made = model([stump(1.0, 5.0)])
    X = np.array([[0.1, 0, 0], [0.2, 0, 0], [0.9, 0, 0], [np.nan, 0, 0]])  # a missing value goes right
    values = lg.explain(lg.load(made, data=X), X, progress=False).values
    assert values[:, 0].tolist() == [-2.0, -2.0, 2.0, 2.0]
    assert not values[:, 1:].any()
