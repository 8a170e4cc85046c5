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
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

import forests
import leafgrad as lg
from leafgrad.errors import InputError, UnsupportedModelError
from leafgrad.progress import Bar
from leafgrad.reference.best_subset import best_subset

RNG = np.random.default_rng(21)
NAMES = ("a", "b", "c", "d", "e")
FOREST = forests.forest(RNG, forests.Shape(), feature_names=NAMES)
THREE = forests.forest(
    RNG, forests.Shape(n_outputs=3, n_trees=6), feature_names=NAMES, classes=("x", "y", "z"), link="softmax"
)
TWO = FOREST.replace(classes=("no", "yes"), link="sigmoid")
PLAIN = FOREST.replace(feature_names=None)
X = RNG.normal(size=(12, 5))
ORDER = RNG.random((12, 5)).argsort(axis=1)
ARRAYS = ("insertion", "deletion", "joint", "order")


def assert_same(a, b, rows=slice(None)):
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name)[rows], err_msg=name)


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


@pytest.mark.parametrize(
    "of",
    [
        np.asfortranarray,
        lambda order: order.tolist(),
        lambda order: order.astype(np.int32),
        lambda order: order.astype(np.uint8),
        lambda order: order.astype(object),
        lambda order: order[:, ::-1][:, ::-1],
        pd.DataFrame,
        lambda order: np.array(NAMES)[order],
        lambda order: np.array(NAMES, dtype=object)[order],
        lambda order: [[NAMES[j] for j in row] for row in order],
        lambda order: pl.DataFrame(np.array(NAMES)[order]),
    ],
)
def test_orders_of_any_make(of):
    assert_same(lg.curves(FOREST, X, of(ORDER)), lg.curves(FOREST, X, ORDER))


def test_one_order_for_all_rows():
    every = lg.curves(FOREST, X, np.tile(ORDER[3], (12, 1)))
    assert_same(lg.curves(FOREST, X, ORDER[3]), every)
    assert_same(lg.curves(FOREST, X, ORDER[3:4]), every)
    assert_same(lg.curves(FOREST, X, [NAMES[j] for j in ORDER[3]]), every)


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


MISTAKES = [
    (FOREST, ORDER * 1.0, "order holds no positions (dtype float64); pass integers, 0 to 4, the best"),
    (FOREST, ORDER > 2, "order holds no positions (dtype bool)"),
    (FOREST, ORDER + 1, "is 5; the 5 features are 0 to 4"),
    (FOREST, np.where(np.eye(12, 5, k=-3), -1, ORDER), "order[3, 0] is -1; the 5 features are 0 to 4"),
    (
        FOREST,
        np.where(np.arange(12)[:, None] == 7, [0, 1, 2, 1, 4], ORDER),
        "order, row 7 is no permutation of the 5 features: it has 1 ('b') more than once and lacks 3 ('d')",
    ),
    (
        THREE,
        np.stack([ORDER, np.zeros_like(ORDER), ORDER], axis=2),
        "order, row 0, output 1, is no permutation of the 5 features: it has 0 ('a') more than once",
    ),
    (FOREST, ORDER[:, :4], "order has shape (12, 4); pass (5,) for all rows, (12, 5) for one per row"),
    (FOREST, ORDER[:11], "order has shape (11, 5); pass (5,) for all rows, (12, 5) for one per row"),
    (
        FOREST,
        ORDER[:, :, None],
        "order has shape (12, 5, 1); pass (5,) for all rows, (12, 5) for one per row; its",
    ),
    (
        THREE,
        ORDER[:, :, None],
        "order has shape (12, 5, 1); pass (5,) for all rows, (12, 5) for one per row, (12, 5, 3) for",
    ),
    (FOREST, 3, "order has shape (); pass"),
    (FOREST, np.array([*NAMES[:4], "f"]), "order[0, 4] is 'f', which is none of the features 'a', 'b'"),
    (FOREST, [*NAMES[:4], None], "order[0, 4] is None, which is none of the features"),
    (FOREST, [*NAMES[:4], "a"], "order, row 0 is no permutation of the 5 features: it has 0 ('a') more th"),
    (FOREST, [[0, 1], [2]], "order does not turn into an array"),
]  # fmt: skip


@pytest.mark.parametrize(("model", "order", "message"), MISTAKES)
def test_wrong_orders(model, order, message):
    with pytest.raises(InputError, match=re.escape(message)):
        lg.curves(model, X, order)


def test_an_order_per_output_needs_all_outputs():
    order = np.stack([ORDER] * 3, axis=2)
    with pytest.raises(
        InputError, match="its axis of outputs is for output=None, all outputs of a model that has"
    ):
        lg.curves(THREE, X, order, output="x")


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
    with pytest.raises(
        InputError, match=re.escape('best(by=\'max\'): pass "joint", "insertion" or "deletion"')
    ):
        lg.curves(FOREST, X, ORDER).best("max")
    with pytest.raises(InputError, match=re.escape("best(by=['joint'])")):
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


# Explanations


def test_an_explanation_brings_its_order():
    explanation = lg.explain(FOREST, X)
    assert_same(lg.curves(FOREST, X, explanation), lg.curves(FOREST, X, explanation.order))


@pytest.mark.parametrize("link", [None, "model"])
@pytest.mark.parametrize("output", ["no", "yes", ["no", "yes"] * 6, "predicted"])
def test_an_explanation_of_a_margin_brings_its_output(output, link):
    explanation = lg.explain(TWO, X, output=output)
    found = lg.curves(TWO, X, explanation, link=link)
    assert_same(found, lg.curves(TWO, X, explanation.order, output=output, link=link))
    np.testing.assert_array_equal(found.output, explanation.output)
    assert_same(lg.curves(TWO, X, explanation, output=output, link=link), found)
    assert_same(lg.curves(TWO, X[2:5], explanation[2:5], link=link), found, slice(2, 5))


@pytest.mark.parametrize("link", [None, "model"])
@pytest.mark.parametrize("output", [None, "y", ["x", "z", "z"] * 4, "predicted"])
def test_an_explanation_of_classes_brings_its_output(output, link):
    explanation = lg.explain(THREE, X, output=output)
    found = lg.curves(THREE, X, explanation, link=link)
    assert_same(found, lg.curves(THREE, X, explanation.order, output=output, link=link))
    np.testing.assert_array_equal(found.output, explanation.output)
    assert found.output_names == explanation.output_names


@pytest.mark.parametrize("link", [None, "model"])
def test_an_explanation_sliced_by_outputs(link):
    explanation = lg.explain(THREE, X)
    every = lg.curves(THREE, X, explanation, link=link)
    for labels in (["z", "x"], ["y"], ["z", "x", "y"], ["x", "x"]):
        found = lg.curves(THREE, X, explanation[:, :, labels], link=link)
        assert found.output_names == tuple(labels)
        for name in ARRAYS:
            at = ["xyz".index(label) for label in labels]
            np.testing.assert_array_equal(getattr(found, name), getattr(every, name)[..., at])
    one = lg.curves(THREE, X, explanation[:, :, "y"], link=link)
    np.testing.assert_array_equal(one.insertion, every.insertion[..., 1])


def test_an_explanation_of_several_targets():
    rng = np.random.default_rng(1)
    Y = np.stack([X[:, 0] > 0, np.digitize(X[:, 1], [-0.5, 0.5])], axis=1)
    model = DecisionTreeClassifier(random_state=0).fit(X, Y)
    pairs = [(int(t), int(rng.integers(2))) for t in rng.integers(2, size=12)]
    for output in (None, (1, 2), pairs):
        explanation = lg.explain(model, X, output=output)
        found = lg.curves(model, X, explanation)
        assert_same(found, lg.curves(model, X, explanation.order, output=output))


GROUPS = {"ends": ["a", "e"]}


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


def test_an_explanation_brings_its_groups():
    explanation = lg.explain(FOREST, X, groups=GROUPS)
    found = lg.curves(FOREST, X, explanation)
    assert_same(found, lg.curves(FOREST, X, explanation.order, groups=GROUPS))
    assert found.groups == {"ends": ("a", "e")}
    for same in (GROUPS, {"ends": ("e", "a")}):
        assert_same(lg.curves(FOREST, X, explanation, groups=same), found)


def test_the_features_of_an_explanation_may_stand_in_another_order():
    explanation = lg.explain(FOREST, X)
    turned = explanation[:, ["e", "c", "a", "b", "d"]]
    # No two scores are equal here but zeros, whose ties go by the order of the features.
    found, expected = lg.curves(FOREST, X, turned), lg.curves(FOREST, X, explanation)
    np.testing.assert_array_equal(np.sort(found.order, axis=1), np.tile(np.arange(5), (12, 1)))
    scores = np.take_along_axis(explanation.values, found.order, axis=1)
    np.testing.assert_array_equal(scores, np.take_along_axis(explanation.values, expected.order, axis=1))


CONTRADICTIONS = [
    (
        FOREST, {"groups": GROUPS}, {"groups": {"ends": ["a", "d"]}},
        "groups={'ends': ['a', 'd']} contradicts the explanation, whose groups are {'ends': ('a', 'e')}",
    ),
    (FOREST, {}, {"groups": GROUPS}, "contradicts the explanation, whose groups are None; leave groups out"),
    (FOREST, {"groups": GROUPS}, {"groups": {"tips": ["a", "e"]}}, "contradicts the explanation"),
    (FOREST, {"groups": GROUPS}, {"groups": {}}, "contradicts the explanation"),
    (
        THREE, {"output": "x"}, {"output": "y"},
        "output='y' contradicts the explanation, which is of the output 'x'; leave output out",
    ),
    (THREE, {}, {"output": "x"}, "contradicts the explanation, which is of the outputs 'x', 'y', 'z'; leave"),
    (
        THREE, {"output": ["x", "y", "y"] * 4}, {"output": "y"},
        "output='y' contradicts the explanation, which is of one output per row, ['x', 'y', 'y', ...]",
    ),
    (THREE, {"output": "y"}, {"output": ["x", "y", "y"] * 4}, "output=['x', 'y', 'y', ...] contradicts"),
    (TWO, {"output": "no"}, {"output": "yes"}, "contradicts the explanation, which is of the output 'no'"),
    (TWO, {}, {"output": "no"}, "contradicts the explanation, which is of the model's one output"),
]  # fmt: skip


@pytest.mark.parametrize(("model", "explained", "asked", "message"), CONTRADICTIONS)
def test_what_contradicts_the_explanation(model, explained, asked, message):
    explanation = lg.explain(model, X, **explained)
    with pytest.raises(InputError, match=re.escape(message)):
        lg.curves(model, X, explanation, **asked)


def test_the_same_output_said_otherwise_is_no_contradiction():
    assert_same(
        lg.curves(TWO, X, lg.explain(TWO, X), output="yes"),
        lg.curves(TWO, X, lg.explain(TWO, X, output="yes")),
    )
    lg.curves(TWO, X, lg.explain(TWO, X, output="no"), output=["no"] * 12)
    labels = np.array(["x", "y", "z"])[np.argmax(THREE.predict(X), axis=1)]
    lg.curves(THREE, X, lg.explain(THREE, X, output="predicted"), output=labels)


@pytest.mark.parametrize(
    ("explanation", "model", "message"),
    [
        (
            lg.explain(FOREST, X)[:5],
            FOREST,
            "the explanation has 5 rows, X has 12; pass the rows that were expl",
        ),
        (
            lg.explain(FOREST, X)[:, ["a", "c"]],
            FOREST,
            "the explanation has 2 features, the model 5, and lacks 'b'; pass all features",
        ),
        (lg.explain(PLAIN, X), FOREST, "the explanation has 5 features, the model 5, and lacks 'a'"),
        (
            lg.explain(FOREST, X),
            THREE,
            "the explanation is of a model of one output, this one has 3; pass the model",
        ),
        (lg.explain(THREE, X), FOREST, "the explanation has the output 'x', which the model does not have"),
        (lg.explain(THREE, X, output="x"), TWO, "output is 'x', which the model does not have"),
    ],
)
def test_explanations_that_do_not_fit(explanation, model, message):
    with pytest.raises(InputError, match=re.escape(message)):
        lg.curves(model, X, explanation)


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


# The yardstick


def test_best_subset_is_the_best_of_all():
    known = np.arange(32)[:, None] >> np.arange(5) & 1 == 1
    for model, how in (
        (FOREST, {}),
        (THREE, {}),
        (TWO, {"output": ["no", "yes"] * 6}),
        (THREE, {"output": "predicted"}),
    ):
        subset, best = best_subset(model, X, **how)
        ask = dict(how)
        for i in range(12):
            if isinstance(how.get("output"), list):
                ask["output"] = how["output"][i : i + 1]
            every = lg.objective(model, X[i], known, **ask)
            # The other half is had by symmetry: within rounding of what each set gives.
            np.testing.assert_allclose(
                best[i], every.max(axis=0), rtol=0, atol=1e-13 * forests.unit(model).max()
            )
            mine = lg.objective(model, X[i], np.moveaxis(subset[i], 0, -1), **ask)
            reached = np.diagonal(mine) if every.ndim == 2 else mine[0]
            np.testing.assert_allclose(reached, best[i], rtol=0, atol=1e-13 * forests.unit(model).max())


def test_best_subset_of_frames_groups_and_one_row():
    subset, best = best_subset(FOREST, X, groups=GROUPS)
    assert subset.shape == (12, 4)
    for frame in (pd.DataFrame(X, columns=NAMES), pl.DataFrame(X, schema=NAMES), scipy.sparse.csr_matrix(X)):
        np.testing.assert_array_equal(best_subset(FOREST, frame, groups=GROUPS)[0], subset)
    np.testing.assert_array_equal(best_subset(FOREST, X[3], groups=GROUPS)[0], subset[3:4])
    assert (best <= best_subset(FOREST, X)[1] + 1e-13).all()  # groups allow fewer sets


def test_best_subset_of_ties_is_the_first():
    leaf = forests.forest(RNG, forests.Shape(depth=0))
    subset, best = best_subset(leaf, X)
    assert not subset.any()
    assert not best.any()


def test_best_subset_in_several_batches(monkeypatch):
    whole = best_subset(THREE, X)
    monkeypatch.setattr("leafgrad.reference.best_subset.BATCH", 7)
    for ours, theirs in zip(best_subset(THREE, X), whole, strict=True):
        np.testing.assert_allclose(ours.astype(float), theirs.astype(float), rtol=0, atol=1e-14)


def test_best_subset_refuses_many_players():
    many = lg.Forest.from_arrays(
        tree_start=[0, 1], left=[-1], right=[-1], feature=[-1], threshold=[0], cover=[1], value=[2.0],
        n_features=21)  # fmt: skip
    with pytest.raises(InputError, match="tries all 2\\^N subsets of N players, and N = 21 is more than 20"):
        best_subset(many, np.zeros((1, 21)))
