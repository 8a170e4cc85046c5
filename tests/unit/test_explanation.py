"""`Explanation`: order and ties, slices, tables of every make, shap, and its texts."""

import copy
import pickle
import re
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

import forests
import leafgrad as lg
from leafgrad import tables
from leafgrad.errors import InputError
from leafgrad.explanation import Explanation, Source

RNG = np.random.default_rng(4)
NAMES = ("a", "b", "c", "d", "e")
FOREST = forests.forest(RNG, forests.Shape(), feature_names=NAMES)
THREE = forests.forest(
    RNG, forests.Shape(n_outputs=3, vector=True), classes=("x", "y", "z"), feature_names=NAMES
)
X = RNG.normal(size=(6, 5))
ONE = lg.explain(FOREST, X)
MANY = lg.explain(THREE, X)
OWN = lg.explain(THREE, X, output=["x", "y", "z", "x", "y", "z"])


def made(values, **others):
    """An explanation of given values."""
    values = np.array(values, dtype=float)
    n, width = values.shape[:2]
    given = {
        "values": values,
        "base_values": np.zeros((n, *values.shape[2:])),
        "feature_names": tuple(f"x{j}" for j in range(width)),
        "output_names": tuple(range(values.shape[2])) if values.ndim == 3 else (0,),
        "method": "shapley",
        "additive": True,
        "source": Source(tables.table(np.zeros((n, width)))),
    }
    return Explanation(**given | others)


def raises(message, error=InputError):
    return pytest.raises(error, match=re.escape(message))


def same(found, expected):
    """All arrays of two explanations are equal."""
    for name in ("values", "base_values", "data"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


# Frozen


def test_it_is_frozen():
    explanation = lg.explain(FOREST, X)
    with pytest.raises(FrozenInstanceError):
        explanation.values = X
    for array in (explanation.values, explanation.base_values):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


def test_it_is_no_copy_of_x():
    assert lg.explain(FOREST, X).data is X


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))])
def test_copies(copied):
    same(copied(MANY), MANY)


# Order


def test_order_is_from_the_highest_score():
    assert made([[0.1, 3.0, -2.0], [5.0, -1.0, 4.0]]).order.tolist() == [[1, 0, 2], [0, 2, 1]]


def test_ties_and_zeros_go_by_the_lower_index():
    order = made([[0.0, -0.0, 0.0, -0.0], [1.0, 2.0, 1.0, 2.0], [-0.0, -1.0, 0.0, -1.0]]).order
    assert order.tolist() == [[0, 1, 2, 3], [1, 3, 0, 2], [0, 2, 1, 3]]


def test_many_ties_stay_in_order():
    values = RNG.integers(0, 3, size=(4, 500)) * RNG.choice([1.0, -1.0], size=(4, 500))
    order = made(values).order
    for row, found in zip(values, order, strict=True):
        assert found.tolist() == sorted(range(500), key=lambda j: (-row[j], j))


def test_order_of_several_outputs():
    assert MANY.order.shape == (6, 5, 3)
    for k in range(3):
        np.testing.assert_array_equal(MANY.order[:, :, k], made(MANY.values[:, :, k]).order)


def test_top_names_the_first():
    explanation = made([[0.1, 3.0, -2.0], [5.0, -1.0, 4.0]])
    assert explanation.top(2).tolist() == [["x1", "x0"], ["x0", "x2"]]
    assert explanation.top().tolist() == [["x1", "x0", "x2"], ["x0", "x2", "x1"]]
    assert explanation.top(np.int64(1)).tolist() == [["x1"], ["x0"]]
    assert MANY.top(2).shape == (6, 2, 3)


@pytest.mark.parametrize("k", [0, -1, 1.5, True, "2", None])
def test_top_of_no_number_is_refused(k):
    with raises(f"top(k={k!r}): pass an integer from 1"):
        ONE.top(k)


# Slices


@pytest.mark.parametrize(
    ("rows", "kept"),
    [
        (3, [3]),
        (-1, [5]),
        (np.int64(2), [2]),
        (slice(None, 4), [0, 1, 2, 3]),
        (slice(None, None, -2), [5, 3, 1]),
        (slice(0, 0), []),
        ([4, 0, 4], [4, 0, 4]),
        ([-1, 1], [5, 1]),
        ([], []),
        (np.array([1, 2], dtype=np.uint8), [1, 2]),
        (X[:, 0] > 0, np.flatnonzero(X[:, 0] > 0)),
        (pd.Series(X[:, 0] > 0), np.flatnonzero(X[:, 0] > 0)),
        ([True, False, False, True, False, False], [0, 3]),
        (range(2, 4), [2, 3]),
    ],
)
@pytest.mark.parametrize("explanation", [ONE, MANY, OWN])
def test_rows(explanation, rows, kept):
    part = explanation[rows]
    np.testing.assert_array_equal(part.values, explanation.values[kept])
    np.testing.assert_array_equal(part.base_values, explanation.base_values[kept])
    np.testing.assert_array_equal(part.data, X[kept])
    assert part.feature_names == NAMES
    assert len(part) == len(kept)
    if explanation is OWN:
        assert part.output.tolist() == OWN.output[kept].tolist()


@pytest.mark.parametrize(
    ("features", "kept"),
    [
        ("b", [1]),
        (["d", "a"], [3, 0]),
        (("d", "a"), [3, 0]),
        (np.array(["d", "a"]), [3, 0]),
        (1, [1]),
        (-1, [4]),
        ([2, 0], [2, 0]),
        (["c", 0], [2, 0]),
        (slice(1, 3), [1, 2]),
        (np.array([True, False, False, True, False]), [0, 3]),
        ([], []),
    ],
)
@pytest.mark.parametrize("explanation", [ONE, MANY, OWN])
def test_features(explanation, features, kept):
    part = explanation[2:, features]
    np.testing.assert_array_equal(part.values, explanation.values[2:, kept])
    np.testing.assert_array_equal(part.base_values, explanation.base_values[2:])
    np.testing.assert_array_equal(part.data, X[2:, kept])
    assert part.feature_names == tuple(NAMES[j] for j in kept)


def test_one_output_by_its_label():
    part = MANY[:, :, "y"]
    expected = lg.explain(THREE, X, output="y")
    np.testing.assert_allclose(part.values, expected.values, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(part.base_values, expected.base_values)
    assert (part.output, part.output_names) == ("y", ("y",))
    assert MANY[0, "b", "z"].values == MANY.values[0, 1, 2]


def test_several_outputs_keep_their_axis():
    part = MANY[:, :, ["z", "x"]]
    np.testing.assert_array_equal(part.values, MANY.values[:, :, [2, 0]])
    np.testing.assert_array_equal(part.base_values, MANY.base_values[:, [2, 0]])
    assert part.output_names == ("z", "x")
    same(MANY[:, :, :], MANY)
    assert MANY[:, :, 1:].output_names == ("y", "z")


def test_slices_of_slices():
    same(MANY[1:][:, ["e", "b"]][[3, 0]][:, "b"], MANY[[4, 1], "b"])


def test_the_optimisers_fields_are_sliced_too():
    trace, z, subset = RNG.random((6, 11, 3)), RNG.random((6, 5, 3)), RNG.random((6, 5, 3)) > 0.5
    part = replace(MANY, trace=trace, z=z, subset=subset)[[1, 3], ["b", "c"], "y"]
    np.testing.assert_array_equal(part.trace, trace[[1, 3]][..., 1])
    np.testing.assert_array_equal(part.z, z[[1, 3]][:, [1, 2], 1])
    np.testing.assert_array_equal(part.subset, subset[[1, 3]][:, [1, 2], 1])


def test_rows_are_iterated():
    assert len(ONE) == 6
    rows = list(ONE)
    assert len(rows) == 6
    for i, row in enumerate(rows):
        same(row, ONE[i])


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("a", "rows go by position, 'a' came; for a feature pass e[:, 'a']"),
        ((0, "f"), "the explanation has no feature 'f'; its features are 'a', 'b', 'c', 'd', 'e'"),
        ((0, ["a", "f"]), "the explanation has no feature 'f'"),
        ((0, ["a", "a"]), " has a feature twice; name each once"),
        ((0, slice("a", "c")), "'a':'c': a slice goes by position; pass a list of names"),
        ((0, 0, 0), "an explanation of shape (6, 5) is sliced by rows, features; 3 came"),
        (1.5, "1.5 picks no rows; pass a position, a slice, a mask or a list of positions"),
        ((0, 1.5), "1.5 picks no features; pass a position, a slice, a mask or a list of positions or names"),
        (None, "None picks no rows"),
        (..., "Ellipsis picks no rows"),
        ([[0, 1]], "[[0, 1]] picks no rows"),
        ([True, False], "the mask of rows has 2 entries, the explanation 6"),
        ((0, [True]), "the mask of features has 1 entries, the explanation 5"),
    ],
)
def test_wrong_keys(key, message):
    with raises(message):
        ONE[key]


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (6, "row 6 of an explanation of 6"),
        (-7, "row -7 of an explanation of 6"),
        ([0, 9], "row 9 of an explanation of 6"),
        ((0, 5), "feature 5 of an explanation of 5"),
        ((0, [-6]), "feature -6 of an explanation of 5"),
    ],
)
def test_positions_out_of_range(key, message):
    with raises(message, IndexError):
        ONE[key]


def test_an_unknown_output():
    with raises("the explanation has no output 'w'; its outputs are 'x', 'y', 'z'"):
        MANY[:, :, "w"]
    with raises("is sliced by rows, features, outputs; 4 came"):
        MANY[:, :, :, 0]


# Data


@pytest.mark.parametrize(
    ("of", "make"),
    [
        (lambda X: pd.DataFrame(X, columns=NAMES), "pandas"),
        (lambda X: pl.DataFrame(X, schema=NAMES), "polars"),
        (lambda X: pa.table(dict(zip(NAMES, X.T, strict=True))), "pyarrow"),
        (scipy.sparse.csr_array, "scipy"),
        (lambda X: X.tolist(), "numpy"),
    ],
)
def test_data_of_every_make(of, make):
    explanation = lg.explain(FOREST, of(X))
    np.testing.assert_array_equal(explanation.data, X)
    np.testing.assert_array_equal(explanation[[4, 2], ["b", "a"]].data, X[[4, 2]][:, [1, 0]])
    assert explanation.source.table.make == make


CITIES = pl.DataFrame({"height": [1.5, 2.5, 3.5], "city": ["oslo", None, "lima"]})
BY_CITY = lg.Forest.from_arrays(
    tree_start=[0, 3], left=[1, -1, -1], right=[2, -1, -1], feature=[1, -1, -1], threshold=[0, 0, 0],
    cover=[4, 3, 1], value=[0, 0, 1], n_features=2, feature_names=["height", "city"], missing=True,
    categories=[None, ("oslo", "rome")], categories_left={0: [0]},
)  # fmt: skip


def test_data_with_text():
    data = lg.explain(BY_CITY, CITIES).data
    assert data.tolist() == [[1.5, "oslo"], [2.5, None], [3.5, "lima"]]


def test_a_group_has_no_one_value():
    explanation = lg.explain(FOREST, X, groups={"g": ["a", "d"]})
    assert explanation.feature_names == ("g", "b", "c", "e")
    np.testing.assert_array_equal(explanation.data[:, 1:], X[:, [1, 2, 4]])
    assert np.isnan(explanation.data[:, 0]).all()
    np.testing.assert_array_equal(explanation[:, ["e", "g"]].data[:, 0], X[:, 4])
    whole = lg.explain(FOREST, np.round(X).astype(int), groups={"g": ["a", "d"]}).data
    np.testing.assert_array_equal(whole[:, 1], np.round(X[:, 1]))
    assert np.isnan(whole[:, 0]).all()
    mixed = lg.explain(BY_CITY, CITIES, groups={"all": ["height", "city"]}).data
    assert mixed.tolist() == [[None]] * 3


# Tables

MAKERS = {
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES, index=list("uvwxyz")),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
    "pyarrow": lambda X: pa.table(dict(zip(NAMES, X.T, strict=True))),
}


@pytest.mark.parametrize("make", MAKERS)
def test_a_frame_has_a_column_per_feature(make):
    frame = lg.explain(FOREST, MAKERS[make](X)).to_frame()
    assert type(frame).__module__.startswith(make)
    table = tables.table(frame)
    assert table.names == NAMES
    np.testing.assert_array_equal(table.data(), ONE.values)
    if make == "pandas":
        assert list(frame.index) == list("uvwxyz")


@pytest.mark.parametrize("make", MAKERS)
def test_a_frame_of_several_outputs(make):
    frame = lg.explain(THREE, MAKERS[make](X)).to_frame()
    table = tables.table(frame)
    assert table.names == ("row", "output", *NAMES)
    data = table.data()
    assert data[:, 0].tolist() == [i for i in range(6) for _ in range(3)]
    assert data[:, 1].tolist() == ["x", "y", "z"] * 6
    np.testing.assert_array_equal(data[:, 2:].astype(float).reshape(6, 3, 5), np.moveaxis(MANY.values, 2, 1))
    if make == "pandas":
        assert list(frame.index[:4]) == ["u", "u", "u", "v"]


@pytest.mark.parametrize("make", MAKERS)
def test_a_long_frame_has_a_line_per_value(make):
    for explanation, outputs in [
        (lg.explain(FOREST, MAKERS[make](X)), None),
        (lg.explain(THREE, MAKERS[make](X)), ["x", "y", "z"] * 6),
        (lg.explain(THREE, MAKERS[make](X), output=OWN.output), OWN.output.tolist()),
    ]:
        table = tables.table(explanation.to_frame(long=True))
        data = dict(zip(table.names, table.data().T, strict=True))
        assert list(data) == ["row", *(["output"] if outputs else []), "feature", "data", "value"]
        if outputs:
            assert data["output"].tolist() == [label for label in outputs for _ in NAMES]
        for line in range(0, table.n, 7):
            i, j = data["row"][line], NAMES.index(data["feature"][line])
            k = MANY.output_names.index(data["output"][line]) if explanation.values.ndim == 3 else ()
            assert data["data"][line] == X[i, j]
            assert data["value"][line] == explanation.values[(i, j, *np.atleast_1d(k).astype(int))]
        assert table.n == explanation.values.size


@pytest.mark.parametrize("make", ["polars", "pandas", "pyarrow"])
def test_a_long_frame_of_mixed_data_tells_them_as_text(make):
    X = {"polars": lambda: CITIES, "pandas": CITIES.to_pandas, "pyarrow": CITIES.to_arrow}[make]()
    table = tables.table(lg.explain(BY_CITY, X).to_frame(long=True))
    column = [None if tables.is_missing(cell) else cell for cell in table.column(2, 0, 6)]
    assert column == ["1.5", "oslo", "2.5", None, "3.5", "lima"]


def test_frames_of_an_array_are_pandas():
    frame = ONE.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == list(NAMES)
    assert isinstance(lg.explain(FOREST, scipy.sparse.csr_array(X)).to_frame(), pd.DataFrame)


def test_frames_of_slices():
    frame = lg.explain(FOREST, MAKERS["pandas"](X))[[3, 1], ["c"]].to_frame()
    assert list(frame.index) == ["x", "v"]
    np.testing.assert_array_equal(frame["c"], ONE.values[[3, 1], 2])


def test_frames_of_pairs():
    model = THREE.replace(classes=(("x", "y"), ("z",)))
    for of in MAKERS.values():
        frame = lg.explain(model, of(X)).to_frame()
        assert tables.table(frame).data()[:3, 1].tolist() == ["(0, 'x')", "(0, 'y')", "(1, 'z')"]


def test_a_feature_called_row():
    explanation = replace(MANY, feature_names=("a", "row", "c", "d", "e"))
    with raises("to_frame has a column of its own called 'row'; pass long=True"):
        explanation.to_frame()
    assert len(explanation.to_frame(long=True)) == 90
    assert replace(ONE, feature_names=("a", "row", "c", "d", "e")).to_frame().shape == (6, 5)


def test_frames_of_no_rows():
    assert lg.explain(FOREST, X[:0]).to_frame().shape == (0, 5)
    assert lg.explain(THREE, MAKERS["polars"](X)[:0]).to_frame().shape == (0, 7)
    assert lg.explain(FOREST, X[:0]).to_frame(long=True).shape == (0, 4)


# shap


@pytest.mark.filterwarnings("ignore")  # shap's own, at import
def test_to_shap():
    shap = pytest.importorskip("shap")
    found = ONE.to_shap()
    assert isinstance(found, shap.Explanation)
    np.testing.assert_array_equal(found.values, ONE.values)
    np.testing.assert_array_equal(found.base_values, ONE.base_values)
    np.testing.assert_array_equal(found.data, X)
    assert found.feature_names == list(NAMES)
    assert found[0, "b"].values == ONE.values[0, 1]
    several = MANY.to_shap()
    assert several.values.shape == (6, 5, 3)
    np.testing.assert_array_equal(several[:, :, "y"].values, MANY.values[:, :, 1])


def test_to_shap_without_shap(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "shap", None)
    with pytest.raises(ImportError, match="to_shap needs the package shap: pip install shap"):
        ONE.to_shap()


# Texts


@pytest.mark.parametrize(
    ("explanation", "text"),
    [
        (
            made([[1.0, -3.0], [2.0, 0.0]]),
            "Explanation of 2 rows x 2 features by shapley; mean |value|: x0 1.5, x1 1.5",
        ),
        (made([[0.25]]), "Explanation of 1 row x 1 feature by shapley; mean |value|: x0 0.25"),
        (made(np.empty((0, 3))), "Explanation of 0 rows x 3 features by shapley"),
        (
            made([[[1.0, 3.0]] * 6], method="b", feature_names=tuple("qrstuv")),
            "Explanation of 1 row x 6 features x 2 outputs by b; mean |value|: q 2, r 2, s 2, t 2, u 2, ...",
        ),
        (
            made([[1.0, 2.0]], output="yes"),
            "Explanation of 1 row x 2 features by shapley, output 'yes'; mean |value|: x1 2, x0 1",
        ),
    ],
)
def test_repr(explanation, text):
    assert repr(explanation) == text
