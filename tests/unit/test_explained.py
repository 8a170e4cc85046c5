"""An explanation brings its order, outputs and groups to `curves`; what contradicts it is refused."""

import re

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import leafgrad as lg
from leafgrad.errors import InputError
from ranked import ARRAYS, FOREST, GROUPS, PLAIN, THREE, TWO, X, assert_same


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
