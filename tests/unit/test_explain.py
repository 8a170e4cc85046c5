"""`explain`: what it takes and what it says about what it gives; the numbers themselves are in tests/laws."""

import io
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

import forests
import leafgrad as lg
from leafgrad.errors import InputError

RNG = np.random.default_rng(3)
NAMES = ("a", "b", "c", "d", "e")
FOREST = forests.forest(RNG, forests.Shape(), feature_names=NAMES)
THREE = forests.forest(RNG, forests.Shape(n_outputs=3), classes=("x", "y", "z"))
X = RNG.normal(size=(12, 5))


def test_shapes_and_names():
    explanation = lg.explain(FOREST, X)
    assert explanation.values.shape == (12, 5)
    assert explanation.base_values.shape == (12,)
    assert explanation.feature_names == NAMES
    assert explanation.output_names == (0,)
    assert (explanation.output, explanation.groups) == (None, None)
    assert (explanation.trace, explanation.z, explanation.subset) == (None, None, None)
    assert explanation.data is X


def test_shapes_and_names_of_several_outputs():
    explanation = lg.explain(THREE, X)
    assert explanation.values.shape == (12, 5, 3)
    assert explanation.base_values.shape == (12, 3)
    assert explanation.feature_names == ("x0", "x1", "x2", "x3", "x4")
    assert explanation.output_names == ("x", "y", "z")
    one = lg.explain(THREE, X, output="y")
    assert one.values.shape == (12, 5)
    assert (one.output_names, one.output) == (("y",), "y")
    own = lg.explain(THREE, X, output=["x"] * 6 + ["z"] * 6)
    assert own.values.shape == (12, 5)
    assert own.output_names == ()
    assert own.output.tolist() == ["x"] * 6 + ["z"] * 6


@pytest.mark.parametrize("row", [X[0], X[0].tolist(), pl.Series(X[0]), scipy.sparse.coo_array(X[0]), X[:1]])
def test_a_single_row_keeps_the_row_axis(row):
    explanation = lg.explain(FOREST, row)
    assert explanation.values.shape == (1, 5)
    assert explanation.base_values.shape == (1,)
    assert explanation.data.shape == (1, 5)
    np.testing.assert_allclose(explanation.values, lg.explain(FOREST, X).values[:1], rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    "of",
    [
        np.asfortranarray,
        lambda X: X.astype(object),
        lambda X: X.tolist(),
        lambda X: pd.DataFrame(X, columns=NAMES),
        lambda X: pl.DataFrame(X, schema=NAMES),
        lambda X: pa.table(dict(zip(NAMES, X.T, strict=True))),
        scipy.sparse.csr_matrix,
        scipy.sparse.csc_array,
    ],
)
def test_x_of_any_make_gives_the_same_bits(of):
    np.testing.assert_array_equal(lg.explain(FOREST, of(X)).values, lg.explain(FOREST, X).values)


@pytest.mark.parametrize(
    ("value", "method", "additive"),
    [
        (lg.Shapley(), "shapley", True),
        ("shapley", "shapley", True),
        ("banzhaf", "banzhaf:0.5", False),
        (lg.Banzhaf(0.3), "banzhaf:0.3", False),
        ("beta:4,1", "beta:4,1", False),
        (lg.BetaShapley(1, 1), "beta:1,1", True),
        (lg.Semivalue([0.0, 1.0], [0.5, 0.5]), "semivalue(2 nodes)", False),
    ],
)
def test_the_value_is_told(value, method, additive):
    explanation = lg.explain(FOREST, X, value)
    assert (explanation.method, explanation.additive) == (method, additive)


def test_additive_values_add_up():
    explanation = lg.explain(FOREST, X)
    total = explanation.values.sum(axis=1) + explanation.base_values
    np.testing.assert_allclose(total, FOREST.predict(X), rtol=0, atol=1e-13 * forests.unit(FOREST)[0])


def test_a_semivalue_is_a_mean_of_gradients():
    nodes, weights = [0.1, 0.6, 1.0], [0.2, 0.5, 0.3]
    expected = sum(w * lg.gradient(FOREST, X, np.full(5, t)) for t, w in zip(nodes, weights, strict=True))
    found = lg.explain(FOREST, X, lg.Semivalue(nodes, weights)).values
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * forests.unit(FOREST)[0])


def test_groups_are_told():
    explanation = lg.explain(FOREST, X, groups={"bd": ["b", "d"]})
    assert explanation.values.shape == (12, 4)
    assert explanation.feature_names == ("a", "bd", "c", "e")
    assert explanation.groups == {"bd": ("b", "d")}
    np.testing.assert_array_equal(explanation.data[:, [0, 2, 3]], X[:, [0, 2, 4]])
    assert np.isnan(explanation.data[:, 1]).all()


def test_threads_do_not_change_a_bit():
    big = np.tile(X, (200, 1))
    one, two = (lg.explain(FOREST, big, threads=threads).values for threads in (1, 3))
    np.testing.assert_array_equal(one, two)


def test_a_bar_where_one_is_asked_for(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    lg.explain(FOREST, X, progress=False)
    lg.explain(FOREST, X, progress="auto")
    assert stream.getvalue() == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"value": "shap"}, "is not a value leafgrad knows"),
        ({"threads": 0}, "threads=0: pass 1 or more"),
        ({"progress": "yes"}, "progress='yes': pass True, False or"),
        ({"output": 7}, "output is 7, which the model does not have; its outputs are 0"),
        ({"groups": {"g": ["z"]}}, "has 'z', which is no feature of the model"),
    ],
)
def test_mistakes(arguments, message):
    with pytest.raises(InputError, match=message):
        lg.explain(FOREST, X, **arguments)


def test_all_but_model_x_and_value_go_by_name():
    with pytest.raises(TypeError):
        lg.explain(FOREST, X, "shapley", None)


def test_frames_of_another_model_are_refused():
    with pytest.raises(InputError, match="X lacks columns of the model: 'a', 'b', 'c', 'd', 'e'"):
        lg.explain(FOREST, pd.DataFrame(X, columns=list("vwxyz")))
