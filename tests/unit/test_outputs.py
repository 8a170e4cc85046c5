"""`output=`: labels, never positions, for all rows or one per row; each row's own class as the library's."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

import leafgrad as lg
from leafgrad import outputs
from leafgrad.errors import InputError


@pytest.fixture(autouse=True)
def one_thread():
    # OpenMP threads spin where other work has the cores, and a fit of a moment takes half a minute.
    with threadpool_limits(1):
        yield


def forest(k=1, **others):
    """A stump with k outputs."""
    return lg.Forest.from_arrays(
        **{
            "tree_start": [0, 3],
            "left": [1, -1, -1],
            "right": [2, -1, -1],
            "feature": [0, -1, -1],
            "threshold": [0.5, 0, 0],
            "cover": [2, 1, 1],
            "value": np.arange(3.0 * k).reshape(3, k),
        }
        | others
    )


def raises(message):
    return pytest.raises(InputError, match=re.escape(message))


def resolve(model, output, n=3, raw=None):
    def given():
        assert raw is not None, "raw outputs were asked for"
        return np.asarray(raw, dtype=float)

    return outputs.resolve(model, output, n, given)


SPECIES = forest(3, classes=("setosa", "versicolor", "virginica"))
MARGIN = forest(1, classes=("no", "yes"))
TARGETS = forest(2, output_names=("height", "weight"))
PLAIN = forest(1)
SEVERAL = forest(5, classes=(("a", "b", "c"), ("x", "y")))


# All


@pytest.mark.parametrize(
    ("model", "names", "flat"),
    [
        (PLAIN, (0,), True),
        (forest(2), (0, 1), False),
        (TARGETS, ("height", "weight"), False),
        (SPECIES, ("setosa", "versicolor", "virginica"), False),
        (MARGIN, ("yes",), True),
        (SEVERAL, ((0, "a"), (0, "b"), (0, "c"), (1, "x"), (1, "y")), False),
        (forest(1, classes=("only",)), ("only",), True),
    ],
)
def test_none_is_all_outputs_by_name(model, names, flat):
    selection = resolve(model, None)
    assert selection.names == names
    assert selection.flat is flat
    assert selection.columns.tolist() == list(range(model.n_outputs))
    assert selection.columns.dtype == np.int32
    assert (selection.output, selection.rows, selection.negated) == (None, None, False)


# One label


@pytest.mark.parametrize(
    ("model", "label", "column", "negated"),
    [
        (SPECIES, "versicolor", 1, False),
        (SPECIES, np.str_("virginica"), 2, False),
        (SPECIES, np.array("virginica"), 2, False),
        (MARGIN, "yes", 0, False),
        (MARGIN, "no", 0, True),
        (TARGETS, "weight", 1, False),
        (forest(2), 1, 1, False),
        (forest(2), np.int64(0), 0, False),
        (PLAIN, 0, 0, False),
        (SEVERAL, (0, "c"), 2, False),
        (SEVERAL, (1, "x"), 3, False),
        (SEVERAL, (np.int64(1), np.str_("y")), 4, False),
        (forest(3, classes=(2, 0, 1)), 0, 1, False),  # the label 0, not the position
        (forest(3, classes=(2, 0, 1)), 2, 0, False),
        (forest(1, classes=(False, True)), np.bool_(True), 0, False),
        (forest(1, classes=(False, True)), False, 0, True),
        (forest(2, classes=(0.5, 1.5)), 1.5, 1, False),
        (forest(1, classes=(-1, 1)), -1, 0, True),
        (forest(1, classes=("only",)), "only", 0, False),
    ],
)
def test_a_label_is_one_output(model, label, column, negated):
    selection = resolve(model, label)
    assert selection.columns.tolist() == [column]
    assert (selection.negated, selection.flat, selection.rows) == (negated, True, None)
    assert selection.names == (selection.output,)
    assert selection.output == label


@pytest.mark.parametrize(
    ("model", "label", "message"),
    [
        (
            SPECIES,
            "rose",
            "'rose', which the model does not have; its classes are 'setosa', 'versicolor', 'virginica'; or",
        ),
        (SPECIES, 1, "output is 1, which the model does not have; its classes are 'setosa'"),
        (SPECIES, ("setosa",), "output is ('setosa',), which the model does not have"),
        (SPECIES, {"setosa"}, "output is {'setosa'}, which the model does not have"),
        (forest(2, classes=(5, 7)), 0, "output is 0, which the model does not have; its classes are 5, 7"),
        (MARGIN, "maybe", "output is 'maybe', which the model does not have; its classes are 'no', 'yes'"),
        (TARGETS, 0, "output is 0, which the model does not have; its outputs are 'height', 'weight'"),
        (forest(2), 2, "output is 2, which the model does not have; its outputs are 0, 1"),
        (PLAIN, "y", "output is 'y', which the model does not have; its outputs are 0"),
        (
            SEVERAL,
            "a",
            "output is 'a', which the model does not have; its (target, class) pairs are (0, 'a'), (0, 'b')",
        ),
        (
            SEVERAL,
            (1, "a"),
            "output is (1, 'a'), which the model does not have; its (target, class) pairs are",
        ),
    ],
)
def test_an_unknown_label_is_refused_with_the_known_ones(model, label, message):
    with raises(message):
        resolve(model, label)


def test_the_other_choices_are_told_too():
    with raises("'virginica'; or \"predicted\", or None for all"):
        resolve(SPECIES, "rose")
    with raises("(1, 9); or None for all"):  # "predicted" is for one target
        resolve(forest(4, classes=(("a", "b"), (8, 9))), "rose")


def test_many_classes_are_not_all_told():
    with raises("18, 19, ... (30 in all)"):
        resolve(forest(30, classes=tuple(range(30))), 99)


# One per row


@pytest.mark.parametrize(
    "labels",
    [
        ["setosa", "virginica", "setosa"],
        np.array(["setosa", "virginica", "setosa"]),
        np.array(["setosa", "virginica", "setosa"], dtype=object),
        pd.Series(["setosa", "virginica", "setosa"], index=[7, 8, 9]),
        pd.Series(["setosa", "virginica", "setosa"], dtype="category"),
        pl.Series(["setosa", "virginica", "setosa"]),
    ],
)
def test_a_sequence_is_one_label_per_row(labels):
    # Three rows and three classes: still one per row, never a list of outputs.
    selection = resolve(SPECIES, labels)
    assert selection.rows.column.tolist() == [0, 2, 0]
    assert not selection.rows.negated.any()
    assert selection.flat
    assert selection.names == ()
    assert selection.output.tolist() == ["setosa", "virginica", "setosa"]


def test_labels_per_row_of_a_margin():
    selection = resolve(MARGIN, ["no", "yes", "no"])
    assert selection.rows.column.tolist() == [0, 0, 0]
    assert selection.rows.negated.tolist() == [True, False, True]


def test_labels_per_row_keep_their_type():
    assert resolve(forest(3, classes=(2, 0, 1)), np.array([0, 1, 2])).output.dtype == np.int64
    assert resolve(forest(2, classes=("a", 1)), ["a", 1, "a"]).output.tolist() == ["a", 1, "a"]


@pytest.mark.parametrize(
    "pairs", [[(0, "b"), (1, "y"), (0, "b")], [(0, np.str_("b")), (np.int64(1), "y"), (0, "b")]]
)
def test_pairs_per_row(pairs):
    selection = resolve(SEVERAL, pairs)
    assert selection.rows.column.tolist() == [1, 4, 1]
    assert selection.output.tolist() == [(0, "b"), (1, "y"), (0, "b")]


def test_pairs_per_row_as_an_array():
    model = forest(4, classes=((0, 1), (0, 1)))
    assert resolve(model, np.array([[0, 1], [1, 1], [1, 0]])).rows.column.tolist() == [1, 3, 2]


def test_no_rows():
    assert resolve(SPECIES, [], n=0).rows.column.tolist() == []
    assert resolve(SPECIES, "predicted", n=0, raw=np.empty((0, 3))).rows.column.tolist() == []


@pytest.mark.parametrize(
    ("model", "labels", "message"),
    [
        (
            SPECIES,
            ["setosa"],
            "output is a sequence of 1 labels, one per row, but X has 3 rows; pass one label for all",
        ),
        (SPECIES, ["setosa"] * 4, "output is a sequence of 4 labels"),
        (
            SPECIES,
            ["setosa", "rose", "setosa"],
            "output[1] is 'rose', which the model does not have; its classes are",
        ),
        (SPECIES, [["setosa"], "setosa", "setosa"], "output[0] is ['setosa'], which the model does not have"),
        (
            SPECIES,
            np.array([["setosa"] * 3]),
            "output has shape (1, 3); pass one label for all rows, or one per row, (3,)",
        ),
        (
            SEVERAL,
            ["a", "b", "c"],
            "output[0] is 'a', which the model does not have; its (target, class) pairs",
        ),
    ],
)
def test_mistakes_per_row(model, labels, message):
    with raises(message):
        resolve(model, labels)


# Predicted


def test_predicted_is_the_largest_output_and_the_first_of_a_tie():
    raw = [[0.2, 0.5, 0.3], [0.4, 0.4, 0.2], [0.2, 0.4, 0.4]]
    assert resolve(SPECIES, "predicted", raw=raw).output.tolist() == ["versicolor", "setosa", "versicolor"]


def test_outputs_that_differ_by_rounding_are_a_tie():
    raw = [[0.1 + 0.2, 0.3 + 1e-15, 0.3], [0.3, 0.3 + 1e-9, 0.3], [0.3, 0.3, 0.3]]
    assert resolve(SPECIES, "predicted", raw=raw).rows.column.tolist() == [0, 1, 0]


def test_predicted_of_a_margin_goes_by_its_sign():
    selection = resolve(MARGIN, "predicted", raw=[[0.5], [-0.5], [0.0]])
    assert selection.output.tolist() == ["yes", "no", "no"]
    assert selection.rows.negated.tolist() == [False, True, True]


def test_a_margin_of_0_is_gradient_boostings_positive_class():
    model = forest(1, classes=("no", "yes"), library="scikit-learn", model_name="GradientBoostingClassifier")
    assert resolve(model, "predicted", raw=[[0.5], [-0.5], [-1e-17]]).output.tolist() == ["yes", "no", "yes"]


def test_predicted_of_one_class():
    assert resolve(forest(1, classes=("only",)), "predicted", raw=[[1.0]] * 3).output.tolist() == ["only"] * 3


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            PLAIN,
            'output="predicted" is for classifiers, and the model has no classes; pass None for all',
        ),
        (
            SEVERAL,
            'output="predicted" is for classifiers of one target, and the model has 2',
        ),
        (
            forest(2, classes=("predicted", "actual")),
            'output="predicted" is ambiguous, as the model has a class of that name; pass one label per row',
        ),
    ],
)
def test_predicted_is_refused(model, message):
    with raises(message):
        resolve(model, "predicted")


def test_the_cures_of_a_class_called_predicted():
    model = forest(2, classes=("predicted", "actual"))
    assert resolve(model, ["predicted"] * 3).rows.column.tolist() == [0, 0, 0]
    assert resolve(model, "actual").columns.tolist() == [1]


# As the library predicts. Few distinct columns make many exact ties.


@pytest.mark.parametrize(
    ("model", "n_classes"),
    [
        (model, n_classes)
        for model in (
            DecisionTreeClassifier(max_depth=4),
            RandomForestClassifier(10, max_depth=3, random_state=0),
            RandomForestClassifier(4, bootstrap=False, max_features=1, random_state=0),
            GradientBoostingClassifier(n_estimators=5),
            HistGradientBoostingClassifier(max_iter=5),
        )
        for n_classes in (2, 3)
    ]
    + [(GradientBoostingClassifier(n_estimators=5, loss="exponential"), 2)],  # which takes two classes only
)
def test_predicted_is_what_the_model_predicts(model, n_classes):
    X, y = make_classification(400, 4, n_informative=3, n_redundant=0, n_classes=n_classes, random_state=1)
    X, labels = (X > 0).astype(float), np.array(["b", "a", "c"])[y]
    model.fit(X, labels)
    explanation = lg.explain(model, X, output="predicted")
    assert explanation.output.tolist() == model.predict(X).tolist()


@pytest.mark.parametrize(
    ("model", "sign"),
    [
        (GradientBoostingClassifier(n_estimators=1, init="zero", max_depth=1), "yes"),
        (HistGradientBoostingClassifier(max_iter=1, min_samples_leaf=1), "no"),
    ],
)
def test_a_margin_of_exactly_0_as_the_library_has_it(model, sign):
    X = np.array([[0.0], [1.0]] * 4)
    model.fit(X, ["no", "yes", "yes", "no"] * 2)  # nothing to learn: all margins are 0
    assert lg.load(model).predict(X).tolist() == [0.0] * 8
    assert lg.explain(model, X, output="predicted").output.tolist() == model.predict(X).tolist() == [sign] * 8


def test_a_tie_that_rounding_breaks_in_leafgrads_own_sum():
    # One leaf, 1/2 each: stored minus their means they need not come back as equals.
    X, y = np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [1.0], [2.0], [2.0]]), [0, 1, 2, 0, 1, 1, 2, 1]
    model = DecisionTreeClassifier().fit(X, y)
    assert lg.explain(model, X, output="predicted").output.tolist() == model.predict(X).tolist()
