"""`curves`: what it takes, what it gives, what it says of mistakes; the numbers' laws are in tests/laws."""

import dataclasses
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from threadpoolctl import threadpool_limits

import forests
import leafgrad as lg
from leafgrad.errors import InputError, UnsupportedModelError
from leafgrad.progress import Bar
from ranked import ARRAYS, FOREST, GROUPS, NAMES, ORDER, RNG, THREE, TWO, X, assert_same


@pytest.fixture(autouse=True, scope="module")
def _one_openmp_thread():
    """On small data more threads of histogram boosting only wait for each other."""
    with threadpool_limits(1, user_api="openmp"):
        yield


# What comes back


def test_shapes_and_names():
    found = lg.curves(FOREST, X, ORDER)
    assert found.insertion.shape == found.deletion.shape == found.joint.shape == (12, 6)
    assert found.insertion_score.shape == found.deletion_score.shape == found.joint_score.shape == (12,)
    assert (found.feature_names, found.output_names) == (NAMES, (0,))
    assert (found.output, found.groups, found.link) == (None, None, None)
    np.testing.assert_array_equal(found.order, ORDER)
    k, subset = found.best()
    assert (k.shape, subset.shape, subset.dtype) == ((12,), (12, 5), bool)


def test_shapes_and_names_of_several_outputs():
    found = lg.curves(THREE, X, ORDER, link="model")
    assert found.insertion.shape == found.deletion.shape == found.joint.shape == (12, 6, 3)
    assert found.insertion_score.shape == found.joint_score.shape == (12, 3)
    assert (found.output_names, found.link, found.order.shape) == (("x", "y", "z"), "softmax", (12, 5))
    k, subset = found.best("deletion")
    assert (k.shape, subset.shape) == ((12, 3), (12, 5, 3))
    np.testing.assert_array_equal(subset.sum(axis=1), k)
    one = lg.curves(THREE, X, ORDER, output="y")
    assert (one.insertion.shape, one.output_names, one.output) == ((12, 6), ("y",), "y")
    own = lg.curves(THREE, X, ORDER, output=["x", "z"] * 6)
    assert (own.output_names, own.output.tolist()) == ((), ["x", "z"] * 6)


def test_curves_are_frozen_and_leave_the_users_order_alone():
    order = ORDER.copy()
    found = lg.curves(FOREST, X, order)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.joint = None
    for name in ARRAYS:
        with pytest.raises(ValueError, match="read-only"):
            getattr(found, name)[0] = 0
    order[0] = order[0, ::-1]
    explanation = lg.explain(FOREST, X)
    lg.curves(FOREST, X, explanation)
    assert explanation.order.flags.writeable


@pytest.mark.parametrize("rows", [3, -1, slice(2, 9, 3), [4, 1, 1], np.arange(12) % 2 == 0, np.array([11])])
def test_slices_by_rows(rows):
    labels = np.array(["no", "yes"] * 6)
    found = lg.curves(TWO, X, ORDER, output=labels, link="model")
    at = np.atleast_1d(np.arange(12)[rows])
    assert_same(found[rows], found, at)
    assert found[rows].output.tolist() == labels[at].tolist()
    assert (found[rows].feature_names, found[rows].link) == (NAMES, "sigmoid")


def test_rows_one_by_one():
    found = lg.curves(THREE, X, ORDER)
    assert len(found) == 12
    for i, row in enumerate(found):
        assert_same(row, found, slice(i, i + 1))
    assert [len(found[:0]), len(found[[]])] == [0, 0]


@pytest.mark.parametrize(
    ("rows", "error"), [(12, IndexError), (-13, IndexError), ("a", IndexError), ([True], IndexError)]
)
def test_rows_that_are_not_there(rows, error):
    with pytest.raises(error):
        lg.curves(FOREST, X, ORDER)[rows]


def test_only_rows_are_sliced():
    found = lg.curves(FOREST, X, ORDER)
    with pytest.raises(InputError, match="curves are sliced by rows alone; 2 keys came"):
        found[1, 2]
    with pytest.raises(InputError, match=re.escape("rows of shape (1, 2) came")):
        found[np.array([[1, 2]])]


def test_reprs():
    flat = forests.forest(RNG, forests.Shape(depth=0, n_trees=1), constant=1.0)
    value = flat.base[0]
    start = f"mean insertion score {value:.4g}, deletion score {value:.4g}"
    assert repr(lg.curves(flat, X, ORDER)) == f"Curves of 12 rows x 5 features; {start}"
    assert repr(lg.curves(flat, X[0], ORDER[0])) == f"Curves of 1 row x 5 features; {start}"
    assert repr(lg.curves(flat, X[:0], ORDER[:0])) == "Curves of 0 rows x 5 features"
    shown = repr(lg.curves(THREE, X, ORDER, link="model"))
    assert shown.startswith(
        "Curves of 12 rows x 5 features x 3 outputs, link 'softmax'; mean insertion score 0."
    )
    assert ", output 'no', link 'sigmoid';" in repr(lg.curves(TWO, X, ORDER, output="no", link="model"))
    assert ", output" not in repr(lg.curves(TWO, X, ORDER, output=["no", "yes"] * 6))


# Orders


@pytest.mark.parametrize("row", [X[4], X[4].tolist(), X[4:5], scipy.sparse.coo_array(X[4])])
def test_one_row(row):
    every = lg.curves(FOREST, X, ORDER)
    assert_same(lg.curves(FOREST, row, ORDER[4]), every, slice(4, 5))
    assert_same(lg.curves(FOREST, row, ORDER[4:5]), every, slice(4, 5))


@pytest.mark.parametrize(
    "of",
    [
        lambda X: pd.DataFrame(X, columns=NAMES),
        lambda X: pl.DataFrame(X, schema=NAMES),
        scipy.sparse.csr_matrix,
        scipy.sparse.csc_array,
    ],
)
def test_x_of_any_make(of):
    assert_same(lg.curves(FOREST, of(X), ORDER), lg.curves(FOREST, X, ORDER))


def test_blocks_of_sparse_rows_meet_their_own_orders():
    n = 4096 + 50  # sparse rows come 4,096 at a time
    many, order = RNG.normal(size=(n, 5)), RNG.random((n, 5)).argsort(axis=1)
    labels = RNG.choice(["no", "yes"], size=n)
    for how in ({}, {"output": labels, "link": "model"}):
        assert_same(
            lg.curves(TWO, scipy.sparse.csr_array(many), order, **how), lg.curves(TWO, many, order, **how)
        )


def test_no_rows():
    for order in (ORDER[:0], ORDER[0]):
        found = lg.curves(FOREST, X[:0], order)
        assert (found.insertion.shape, found.order.shape) == ((0, 6), (0, 5))
        assert [part.shape for part in found.best()] == [(0,), (0, 5)]


def test_wrong_arguments():
    with pytest.raises(
        InputError, match="output is 'w', which the model does not have; its classes are 'x', 'y', 'z'"
    ):
        lg.curves(THREE, X, ORDER, output="w")
    with pytest.raises(InputError, match="link is 'sigmoid'; pass None for the raw output"):
        lg.curves(TWO, X, ORDER, link="sigmoid")
    with pytest.raises(UnsupportedModelError, match="the model's link is 'probit', which is not known here"):
        lg.curves(TWO.replace(link="probit"), X, ORDER, link="model")
    assert lg.curves(TWO.replace(link="probit"), X, ORDER).link is None
    with pytest.raises(InputError, match=re.escape('by=\'max\'; pass "joint", "insertion" or "deletion"')):
        lg.curves(FOREST, X, ORDER).best("max")
    with pytest.raises(InputError, match=re.escape("by=['joint']; pass")):
        lg.curves(FOREST, X, ORDER).best(["joint"])
    with pytest.raises(InputError, match="progress='yes'"):
        lg.curves(FOREST, X, ORDER, progress="yes")
    with pytest.raises(InputError, match="X has shape"):
        lg.curves(FOREST, X[:, :4], ORDER)


@pytest.mark.parametrize(("order", "rows"), [(ORDER, 12), (np.stack([ORDER] * 3, axis=2), 36)])
def test_progress_counts_the_rows_of_every_ranking(order, rows, monkeypatch):
    bars = []

    class Counted(Bar):
        def __init__(self, *given):
            super().__init__(*given)
            self.done = 0
            bars.append(self)

        def advance(self, rows):
            self.done += rows

    monkeypatch.setattr("leafgrad.progress.Bar", Counted)
    shown = lg.curves(THREE, X, order, progress=True)
    assert [(bar.total, bar.done) for bar in bars] == [(rows, rows)]
    assert_same(shown, lg.curves(THREE, X, order, progress=False))


# Ties, unused features, trees without a split


def test_ties_go_to_the_smaller_set():
    stump = lg.Forest.from_arrays(
        tree_start=[0, 3], left=[1, -1, -1], right=[2, -1, -1], feature=[1, -1, -1],
        threshold=[0.5, 0, 0], cover=[4, 3, 1], value=[0, 0, 1], n_features=4)  # fmt: skip
    for x, k, joint in ((0.9, 3, 0.375), (0.1, 1, 0.125)):  # f of nothing known is 1/4
        found = lg.curves(stump, [0.0, x, 0.0, 0.0], [3, 2, 1, 0])
        assert found.best("insertion").k == [k]
        assert found.best("joint").k == [k]
        assert found.joint.max() == joint
    # Unused features change nothing: without them the smallest bottom set is the last feature alone.
    low = lg.curves(stump, [0.0, 0.1, 0.0, 0.0], [3, 1, 0, 2])
    k, subset = low.best("deletion")
    assert (k.tolist(), subset.tolist()) == ([3], [[True, True, True, False]])
    high = lg.curves(stump, [0.0, 0.9, 0.0, 0.0], [3, 1, 0, 2])
    k, subset = high.best("deletion")
    assert (k.tolist(), subset.tolist()) == ([1], [[False, False, True, False]])


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_trees_without_a_split(n_outputs):
    leaf = forests.forest(RNG, forests.Shape(depth=0, n_outputs=n_outputs, n_trees=2))
    found = lg.curves(leaf, X, ORDER)
    expected = np.broadcast_to(leaf.base if n_outputs > 1 else leaf.base[0], found.insertion.shape)
    np.testing.assert_array_equal(found.insertion, expected)
    np.testing.assert_array_equal(found.deletion, expected)
    np.testing.assert_array_equal(found.joint, np.zeros(found.joint.shape))
    for by in ("joint", "insertion", "deletion"):
        assert (found.best(by).k == 1).all()


def test_a_model_without_features():
    none = lg.Forest.from_arrays(
        tree_start=[0, 1], left=[-1], right=[-1], feature=[-1], threshold=[0], cover=[1],
        value=[2.0])  # fmt: skip
    with pytest.raises(InputError, match="the model has no features, so there is nothing to rank"):
        lg.curves(none, np.empty((3, 0)), np.empty((3, 0), dtype=int))


def test_groups_are_players():
    order = RNG.random((12, 4)).argsort(axis=1)
    found = lg.curves(FOREST, X, order, groups=GROUPS)
    assert (found.feature_names, found.groups) == (("ends", "b", "c", "d"), {"ends": ("a", "e")})
    for k in range(5):
        known = np.zeros((12, 4), dtype=bool)
        np.put_along_axis(known, order[:, :k], True, axis=1)
        expected = lg.predict_known(FOREST, X, known, groups=GROUPS)
        np.testing.assert_allclose(
            found.insertion[:, k], expected, rtol=0, atol=1e-13 * forests.unit(FOREST)[0]
        )
    names = np.array(["ends", "b", "c", "d"])[order]
    assert_same(lg.curves(FOREST, X, names, groups=GROUPS), found)


# Links: the ends of the curves are the library's own predictions


def classes_of(n_classes):
    return make_classification(200, 6, n_informative=4, n_classes=n_classes, random_state=0)


@pytest.mark.parametrize(
    ("model", "n_classes"),
    [
        (GradientBoostingClassifier(n_estimators=5, random_state=0), 2),
        (GradientBoostingClassifier(n_estimators=5, random_state=0), 4),
        (GradientBoostingClassifier(loss="exponential", n_estimators=5, random_state=0), 2),
        (HistGradientBoostingClassifier(max_iter=5, random_state=0), 2),
        (HistGradientBoostingClassifier(max_iter=5, random_state=0), 3),
        (RandomForestClassifier(5, random_state=0), 3),  # identity
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "fit") else str(value),
)
def test_the_link_is_the_librarys(model, n_classes):
    data, target = classes_of(n_classes)
    forest = lg.load(model.fit(data, target))
    rows, probability = data[:30], model.predict_proba(data[:30])
    order = RNG.random((30, 6)).argsort(axis=1)
    close = {"rtol": 0, "atol": 1e-12}  # as exact as the load
    for label in range(n_classes):
        found = lg.curves(forest, rows, order, output=label, link="model")
        np.testing.assert_allclose(found.insertion[:, -1], probability[:, label], **close)
        np.testing.assert_allclose(found.deletion[:, 0], probability[:, label], **close)
    own = RNG.integers(n_classes, size=30)
    for output, column in ((own, own), ("predicted", model.predict(rows))):
        found = lg.curves(forest, rows, order, output=output, link="model")
        np.testing.assert_allclose(found.insertion[:, -1], probability[np.arange(30), column], **close)
    if forest.n_outputs > 1:
        found = lg.curves(forest, rows, order, link="model")
        np.testing.assert_allclose(found.insertion[:, -1], probability, **close)
        np.testing.assert_allclose(found.insertion.sum(axis=2), 1.0, **close)
        np.testing.assert_allclose(found.deletion.sum(axis=2), 1.0, **close)


@pytest.mark.parametrize(
    "model",
    [
        HistGradientBoostingRegressor(loss="poisson", max_iter=2, max_leaf_nodes=5),
        HistGradientBoostingRegressor(loss="gamma", max_iter=2, max_leaf_nodes=5),
        GradientBoostingRegressor(n_estimators=5),
    ],
)
def test_the_link_of_a_regressor_is_the_librarys(model):
    data, target = make_regression(200, 6, random_state=0)
    model.fit(data, np.exp(target / 200))
    order = RNG.random((30, 6)).argsort(axis=1)
    found = lg.curves(model, data[:30], order, link="model")
    np.testing.assert_allclose(found.insertion[:, -1], model.predict(data[:30]), rtol=1e-12)
    np.testing.assert_allclose(found.deletion[:, 0], model.predict(data[:30]), rtol=1e-12)


def test_a_softmax_is_of_all_margins_along_the_same_ranking():
    every = lg.curves(THREE, X, ORDER)
    for name in ("insertion", "deletion"):
        margins = getattr(every, name)
        wanted = np.exp(margins) / np.exp(margins).sum(axis=2, keepdims=True)
        one = lg.curves(THREE, X, ORDER, output="z", link="model")
        np.testing.assert_allclose(getattr(one, name), wanted[:, :, 2], rtol=1e-13)
        own = lg.curves(THREE, X, ORDER, output=["x", "z"] * 6, link="model")
        np.testing.assert_allclose(getattr(own, name)[1::2], wanted[1::2, :, 2], rtol=1e-13)
    np.testing.assert_array_equal(one.joint, 0.5 * (one.insertion - one.deletion))
