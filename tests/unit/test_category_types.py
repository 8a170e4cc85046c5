"""XGBoost's rule: arrays hold codes, columns of a category type hold values; no XGBoost needed to show it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

import leafgrad as lg
from leafgrad import encode

TOWNS = ("Bern", "Graz", "Köln")


def forest_of(towns: tuple[Any, ...], grades: tuple[Any, ...] = (30, 10, 20)) -> lg.Forest:
    """Columns size (numeric), town and grade (categories)."""
    return lg.Forest.from_arrays(
        tree_start=[0, 5],
        left=[1, 3, -1, -1, -1],
        right=[2, 4, -1, -1, -1],
        feature=[1, 2, -1, -1, -1],
        threshold=[0] * 5,
        cover=[4, 2, 2, 1, 1],
        value=[0, 0, 1, 2, 3],
        categories_left={0: [0, 2], 1: [1]},
        missing_left=[False] * 5,
        dtype=np.float32,
        feature_names=("size", "town", "grade"),
        categories=(None, towns, grades),
        absent_missing=True,
    ).replace(codes_in_arrays=True)


def frame(towns: list[Any], grades: list[Any], **options: Any) -> pd.DataFrame:
    columns = {"town": pd.Categorical(towns, **options), "grade": pd.Categorical(grades)}
    return pd.DataFrame({"size": 0.5} | columns)


def codes(forest: lg.Forest, X: Any) -> list[Any]:
    return encode.matrix(forest, X)[:, 1:].tolist()


def same(found: list[Any], expected: list[Any]) -> bool:
    return np.array_equal(np.array(found), np.array(expected), equal_nan=True)


def test_values_are_looked_up_whatever_their_order_in_the_frame() -> None:
    X = frame(["Köln", "Bern", None], [10, 20, 30], categories=["Köln", "Bern"])
    assert same(codes(forest_of(TOWNS), X), [[2, 1], [0, 2], [np.nan, 0]])
    polars = pl.DataFrame({"size": [0.5], "town": ["Köln"], "grade": ["10"]}).cast(
        {"town": pl.Categorical, "grade": pl.Enum(["10"])}
    )
    assert codes(forest_of(TOWNS, ("30", "10")), polars) == [[2, 1]]


def test_arrays_hold_codes() -> None:
    forest = forest_of(TOWNS)
    rows = [[0.5, 2, 1], [0.5, 99, np.nan], [0.5, -0.5, -7], [0.5, -1e-300, 1.7]]
    expected = [[2, 1], [99, np.nan], [-1, -1], [0, np.float32(1.7)]]  # -1e-300 is 0 in float32
    assert same(codes(forest, np.array(rows)), expected)
    assert same(codes(forest, np.array(rows, dtype=object)), expected)
    assert same(codes(forest, np.array(rows[0])), expected[:1])
    sparse = scipy.sparse.csr_matrix(([2.0, 0.0], ([0, 1], [1, 2])), shape=(2, 3))
    assert same(codes(forest, sparse), [[2, np.nan], [np.nan, 0]])


def test_a_frames_own_codes_where_no_values_were_kept() -> None:
    forest = forest_of((), ())
    X = frame(["Köln", "Bern", None], [10, 20, 30], categories=["Köln", "Bern"])
    assert same(codes(forest, X), [[0, 0], [1, 1], [np.nan, 2]])
    assert codes(forest, X.assign(town=[2, 1, 0], grade=[7, 8, -9])) == [[2, 7], [1, 8], [0, -1]]
    polars = pl.DataFrame({"size": [0.5], "town": ["Köln"], "grade": [1]}).cast({"town": pl.Categorical})
    with pytest.raises(
        lg.InputError, match=r"column 'town', and the model kept no categories; pass the codes"
    ):
        codes(forest, polars)


def test_what_is_refused() -> None:
    forest, good = forest_of(TOWNS), frame(["Köln"], [10])
    with pytest.raises(
        lg.InputError,
        match=r"'Rom' in row 0, column 'town', a category that the training has not seen \(it saw 'Bern'",
    ):
        codes(forest, frame(["Rom"], [10]))
    with pytest.raises(
        lg.InputError, match=r"plain values in column 'grade', which the model knows as a categ"
    ):
        codes(forest, good.assign(grade=10))
    with pytest.raises(
        lg.InputError, match=r"plain values in column 'town'.*X\.astype\({name: 'category'}\)"
    ):
        codes(forest, good.assign(town="Köln"))
    with pytest.raises(
        lg.InputError, match=r"one row of a data frame, .*; pass a frame of one row, X\.iloc\[\[i"
    ):
        codes(forest, good.iloc[0])
    with pytest.raises(
        lg.InputError, match=r"'Köln' \(str\) in row 0, column 1, where the model wants a number"
    ):
        codes(forest, np.array([[0.5, "Köln", 1]], dtype=object))
    with pytest.raises(
        lg.InputError, match=r"categories of column 'town' cut short.*pass an array of codes, or"
    ):
        codes(forest_of((None, None)), good)
    assert codes(forest_of((None, None)), np.array([[0.5, 1, 1]])) == [[1, 1]]


def test_the_rule_is_saved_with_the_forest(tmp_path: Path) -> None:
    forest = forest_of(TOWNS)
    forest.save(tmp_path / "forest.npz")
    again = lg.load(tmp_path / "forest.npz")
    assert again.codes_in_arrays
    assert lg.load(again, data=np.array([[0.5, 1, 1]])).codes_in_arrays
    assert codes(again, frame(["Köln"], [10])) == [[2, 1]]
