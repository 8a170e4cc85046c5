"""Encoding: X's columns are the model's, its categories become codes, and bad values are named by place."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from leafgrad import encode
from leafgrad.category_hash import category_hash
from leafgrad.errors import InputError
from leafgrad.forest import Forest

NAMES = ("a", "b", "c")


def stump(**others):
    """A forest that splits once, on its last feature."""
    given = {"n_features": 3, "feature_names": None} | others
    n = given["n_features"]
    return Forest.from_arrays(
        **{
            "tree_start": [0, 3],
            "left": [1, -1, -1],
            "right": [2, -1, -1],
            "feature": [n - 1, -1, -1],
            "threshold": [0.5, 0, 0],
            "cover": [4, 3, 1],
            "value": [0, 0, 1],
        }
        | given
    )


def strict(dtype=np.float64, **others):
    return stump(missing=False, infinite=False, dtype=dtype, **others)


ROWS = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


# Blocks


def test_an_array_passes_through_untouched():
    for dtype in (np.float32, np.float64):
        X = ROWS.astype(dtype)
        for forest in (strict(np.float32), strict(np.float64)):
            [(start, block)] = encode.rows(forest, X).blocks()
            assert start == 0
            assert np.shares_memory(block, X)
            assert block.shape == X.shape


@pytest.mark.parametrize(
    "X", [ROWS.astype(int), ROWS.T.copy().T, pl.DataFrame(ROWS), scipy.sparse.csr_array(ROWS)]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_copy_is_made_in_the_models_width(X, dtype):
    [(_, block)] = encode.rows(strict(dtype), X).blocks()
    assert block.dtype == dtype
    np.testing.assert_array_equal(block, ROWS)


@pytest.mark.parametrize("of", [np.asarray, np.asfortranarray, pl.DataFrame, scipy.sparse.csr_array])
@pytest.mark.parametrize("size", [None, 1, 4, 7, 100])
def test_blocks_cover_all_rows_in_order(monkeypatch, of, size):
    monkeypatch.setattr(encode, "ELEMENTS", 9)  # 3 rows a block, where a copy is made
    X = np.arange(30.0).reshape(10, 3)
    rows = encode.rows(strict(), of(X))
    starts, blocks = zip(*rows.blocks(size), strict=True)
    lengths = [len(block) for block in blocks]
    assert list(starts) == np.cumsum([0, *lengths[:-1]]).tolist()
    assert max(lengths) <= (size or 10)
    np.testing.assert_array_equal(np.concatenate(blocks), X)
    assert all(block.flags.c_contiguous for block in blocks)
    np.testing.assert_array_equal(encode.matrix(strict(), of(X)), X)


@pytest.mark.parametrize(("n", "most"), [(0, 5), (1, 5), (5, 5), (6, 5), (11, 5), (1_001, 1_000), (7, 1)])
def test_stretches_are_as_long_as_one_another(n, most):
    found = list(encode.stretches(n, most))
    lengths = [end - start for start, end in found]
    assert [row for start, end in found for row in range(start, end)] == list(range(n))
    assert len(found) == -(-n // most)
    assert not found or max(lengths) - min(lengths) <= 1


def test_sparse_blocks_stay_small():
    X = scipy.sparse.csr_array((10_000, 3))
    assert max(len(block) for _, block in encode.rows(strict(), X).blocks()) <= 4096
    wide = scipy.sparse.csr_array((1_000, 10_000))
    blocks = [block.size for _, block in encode.rows(strict(n_features=10_000), wide).blocks()]
    assert max(blocks) <= encode.ELEMENTS


@pytest.mark.parametrize("X", [np.empty((0, 3)), pl.DataFrame(ROWS)[:0], scipy.sparse.csr_array((0, 3))])
def test_no_rows_no_blocks(X):
    rows = encode.rows(strict(), X)
    assert rows.n == 0
    assert list(rows.blocks()) == []
    assert encode.matrix(strict(), X).shape == (0, 3)


def test_a_single_row_keeps_the_row_axis():
    rows = encode.rows(strict(), ROWS[0])
    assert (rows.n, rows.single) == (1, True)
    assert encode.matrix(strict(), ROWS[0]).shape == (1, 3)


def test_integers_are_rounded_as_the_library_rounds_them():
    number = 2**60 + 2**36 + 1  # by way of float64 it would become 2**60
    X = np.array([[0, 0, number]])
    assert encode.matrix(strict(np.float32), X)[0, 2] == np.float32(2**60 + 2**37)
    assert encode.matrix(strict(np.float64), np.array([[0, 0, 2**53 + 1]]))[0, 2] == 2.0**53


# Names


@pytest.mark.parametrize("X", [ROWS, pd.DataFrame(ROWS), pl.DataFrame(ROWS, schema=list(NAMES))])
def test_columns_by_name_or_by_place(X):
    np.testing.assert_array_equal(encode.matrix(strict(feature_names=NAMES), X), ROWS)


def test_a_frame_for_a_forest_without_names_goes_by_place():
    np.testing.assert_array_equal(encode.matrix(strict(), pl.DataFrame(ROWS, schema=["z", "y", "x"])), ROWS)


def test_a_named_row_is_matched_too():
    frame = pd.DataFrame(ROWS, columns=list(NAMES))
    np.testing.assert_array_equal(encode.matrix(strict(feature_names=NAMES), frame.iloc[1]), ROWS[1:])
    with pytest.raises(InputError, match="another order"):
        encode.rows(strict(feature_names=NAMES), frame.iloc[1][["b", "a", "c"]])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            "acb",
            "X has the model's columns in another order (column 1 is 'c', the model's is 'b'); pass {cure}",
        ),
        (
            "abd",
            "X lacks columns of the model: 'c' and has columns that the model does not know: 'd'; rename",
        ),
        ("ab", "X lacks columns of the model: 'c'; rename or add them, then pass {cure}"),
        ("iabc", "X has columns that the model does not know: 'i'; pass {cure}"),
    ],
)
@pytest.mark.parametrize("make", ["pandas", "polars", "pyarrow"])
def test_other_names_are_refused_with_the_cure(make, columns, message):
    frame = pl.DataFrame({name: [1.0] for name in columns})
    X = {"pandas": frame.to_pandas, "polars": lambda: frame, "pyarrow": frame.to_arrow}[make]()
    cure = "X.select(list(forest.feature_names))" if make == "pyarrow" else "X[list(forest.feature_names)]"
    forest = strict(feature_names=NAMES)
    with pytest.raises(InputError, match=re.escape(message.format(cure=cure))):
        encode.rows(forest, X)
    if set(columns) >= set(NAMES):  # the cure cures
        cured = X.select(list(forest.feature_names)) if make == "pyarrow" else X[list(forest.feature_names)]
        assert encode.rows(forest, cured).n == 1


def test_names_with_spaces_are_those_that_lightgbm_writes_without():
    frame = pd.DataFrame(ROWS, columns=["a b", "c_d", " e"])
    forest = strict(feature_names=("a_b", "c_d", "_e"))
    np.testing.assert_array_equal(encode.matrix(forest.replace(library="LightGBM"), frame), ROWS)
    with pytest.raises(InputError, match="X lacks columns of the model: 'a_b', '_e'"):
        encode.rows(forest, frame)
    with pytest.raises(InputError, match="X lacks columns of the model: 'a_b', '_e'"):
        encode.rows(forest.replace(library="LightGBM"), frame[["c_d", "a b", " e"]])


def test_a_repeated_name_of_a_row_is_refused():
    with pytest.raises(InputError, match="X has a column more than once"):
        encode.rows(strict(feature_names=NAMES), pd.Series([1.0] * 4, index=["a", "b", "c", "a"]))


def test_numbered_columns_go_by_place_unless_they_are_the_models_in_another_order():
    X = pd.DataFrame(ROWS, columns=[5, 2, 7])
    for names in (NAMES, ("5", "2", "7"), None):
        np.testing.assert_array_equal(encode.matrix(strict(feature_names=names), X), ROWS)
        np.testing.assert_array_equal(encode.matrix(strict(feature_names=names), X.iloc[1]), ROWS[1:])
    forest = strict(feature_names=("2", "5", "7"))
    told = "another order (column 0 is '5', the model's is '2'); pass "
    cure = "X.rename(columns=str)[list(forest.feature_names)]"
    with pytest.raises(InputError, match=re.escape(told + cure)):
        encode.rows(forest, X)
    with pytest.raises(InputError, match=re.escape(told + cure.replace("columns=", ""))):
        encode.rows(forest, X.iloc[1])
    cured = X.rename(columns=str)[list(forest.feature_names)]
    np.testing.assert_array_equal(encode.matrix(forest, cured), ROWS[:, [1, 0, 2]])
    cured = X.iloc[1].rename(str)[list(forest.feature_names)]
    np.testing.assert_array_equal(encode.matrix(forest, cured), ROWS[1:, [1, 0, 2]])


def test_many_names_are_not_all_told():
    names = [f"n{i}" for i in range(20)]
    with pytest.raises(InputError, match="'n0', 'n1', 'n2', 'n3', 'n4' and 12 more; rename"):
        encode.rows(
            strict(n_features=20, feature_names=names),
            pl.DataFrame({name: [1.0] for name in ["n7", "n9", "n11"]}),
        )


@pytest.mark.parametrize(
    ("X", "width", "message"),
    [
        (ROWS, 4, r"X has shape \(2, 3\), but the forest takes 4 columns; pass \(n, 4\)$"),
        (
            ROWS,
            2,
            r"X has shape \(2, 3\), but the forest takes 2 columns; .*; X.T has it the right way round",
        ),
        (ROWS[0], 4, "X is one row of 3 values, but the forest takes 4$"),
        (ROWS[0], 1, r"X is one row of 3 values, but the forest takes 1 \(for a column of n rows: X.reshape"),
        (scipy.sparse.csr_array(ROWS), 4, r"X has shape \(2, 3\), but the forest takes 4 columns"),
        (pl.DataFrame(ROWS), 4, r"X has shape \(2, 3\), but the forest takes 4 columns"),
        (np.empty((0, 0)), 3, r"X has shape \(0, 0\)"),
    ],
)
def test_a_wrong_width_is_refused(X, width, message):
    with pytest.raises(InputError, match=message):
        encode.rows(strict(n_features=width), X)


def test_the_model_is_called_by_its_name():
    with pytest.raises(InputError, match="but the RandomForestClassifier takes 4 columns"):
        encode.rows(strict(n_features=4, model_name="RandomForestClassifier"), ROWS)


# NaN and infinities

NAN, INF = np.nan, np.inf
BEYOND = float.fromhex("0x1.ffffffp127")  # the first float64 that float32 rounds to infinity
LARGEST = np.nextafter(BEYOND, 0)
MAKES = {
    "numpy": np.asarray,
    "fortran": np.asfortranarray,
    "objects": lambda X: X.astype(object),
    "polars": lambda X: pl.DataFrame(X, schema=list(NAMES)),
    "pandas": lambda X: pd.DataFrame(X, columns=list(NAMES)),
    "sparse": scipy.sparse.csr_array,
}


def with_value(value, n=5, dtype=np.float64):
    X = np.ones((n, 3), dtype)
    X[n - 2, 1] = value
    return X


@pytest.mark.parametrize("n", [5, 5000])  # either side of the quick look for few elements
@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize(
    ("value", "dtype", "message"),
    [
        (
            NAN,
            np.float64,
            "X has (NaN|None) in row {}, column {}, but the forest takes no missing values; fill",
        ),
        (NAN, np.float32, "X has NaN in row {}, column {}, but the forest takes no missing values; fill"),
        (INF, np.float64, "X has inf in row {}, column {}, but the forest takes finite numbers only; clip"),
        (-INF, np.float32, "X has -inf in row {}, column {}, but the forest takes finite numbers only; clip"),
        (BEYOND, np.float32, "in row {}, column {}, which is beyond float32, in which the forest compares"),
        (-1e300, np.float32, r"X has -1e\+300 in row {}, column {}, which is beyond float32"),
    ],
)
def test_what_the_model_does_not_take_is_refused_by_place(make, n, value, dtype, message):
    X = MAKES[make](with_value(value, n))
    column = "'b'" if make in {"polars", "pandas"} else 1
    with pytest.raises(InputError, match=message.format(n - 2, column)):
        encode.rows(strict(dtype), X)


@pytest.mark.parametrize("n", [5, 5000])
@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (LARGEST, np.float32),
        (-LARGEST, np.float32),
        (1e20, np.float32),
        (1.7e308, np.float64),
        (5e-324, np.float32),
    ],
)
@pytest.mark.parametrize("make", ["numpy", "fortran", "polars"])
def test_what_fits_is_taken(make, n, value, dtype):
    # The sum of squares overflows for most of these: the quick look fails, the exact one does not.
    found = encode.matrix(strict(dtype), MAKES[make](with_value(value, n)))
    assert found[n - 2, 1].astype(dtype) == np.array(value).astype(dtype)


def test_float32_rows_that_overflow_when_squared_are_taken():
    X = with_value(1e30, dtype=np.float32)
    np.testing.assert_array_equal(encode.matrix(strict(np.float32), X), X)


@pytest.mark.parametrize("n", [5, 5000])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("infinite", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [NAN, INF, -INF, 1e300])
def test_the_model_decides_what_it_takes(n, missing, infinite, dtype, value):
    forest = stump(missing=missing, infinite=infinite, dtype=dtype)
    taken = missing if np.isnan(value) else infinite or (np.isfinite(value) and dtype == np.float64)
    for X in (with_value(value, n), np.asfortranarray(with_value(value, n))):
        if taken:
            assert encode.rows(forest, X).n == n
        else:
            with pytest.raises(InputError, match=f"in row {n - 2}, column 1"):
                encode.rows(forest, X)


@pytest.mark.parametrize("n", [5, 5000])
def test_an_infinity_is_found_among_nan(n):
    X = np.full((n, 3), NAN)
    forest = stump(missing=True, infinite=False)
    assert encode.rows(forest, X).n == n
    X[n - 1, 2] = INF
    with pytest.raises(InputError, match=f"X has inf in row {n - 1}, column 2"):
        encode.rows(forest, X)


def test_all_of_x_is_checked_before_the_first_block(monkeypatch):
    monkeypatch.setattr(encode, "ELEMENTS", 9)
    with pytest.raises(InputError, match="row 98"):
        encode.rows(strict(), np.asfortranarray(with_value(NAN, 100)))


# Categories

CITIES = ("oslo", "rome", "york")


def by_city(**others):
    return stump(
        n_features=2,
        feature_names=["height", "city"],
        categories=[None, CITIES],
        categories_left={0: [0, 2]},
        **{"missing": True} | others,
    )


@pytest.mark.parametrize(
    "of",
    [
        pd.DataFrame,
        lambda columns: pd.DataFrame(columns).astype({"city": "category"}),
        lambda columns: pd.DataFrame(columns).astype({"city": object}),
        pl.DataFrame,
        lambda columns: pl.DataFrame(columns, schema_overrides={"city": pl.Categorical}),
        lambda columns: pl.DataFrame(
            columns, schema_overrides={"city": pl.Enum(["york", "lima", "rome", "oslo"])}
        ),
        pa.table,
        lambda columns: pa.table(columns | {"city": pa.array(columns["city"]).dictionary_encode()}),
        lambda columns: np.array([columns["height"], columns["city"]], dtype=object).T,
        lambda columns: [list(row) for row in zip(*columns.values(), strict=True)],
    ],
)
def test_categories_become_their_codes_and_unknown_ones_nan(of):
    X = of({"height": [1.5, 2.5, 3.5, 4.5], "city": ["york", "oslo", None, "lima"]})
    found = encode.matrix(by_city(), X)
    np.testing.assert_array_equal(found, [[1.5, 2], [2.5, 0], [3.5, NAN], [4.5, NAN]])


def test_a_row_with_a_category():
    frame = pd.DataFrame({"height": [1.5], "city": ["rome"]})
    for row in (frame.iloc[0], [1.5, "rome"], frame):
        np.testing.assert_array_equal(encode.matrix(by_city(), row), [[1.5, 1.0]])


@pytest.mark.parametrize("known", [(10, 20, 5), (10.0, 20.0, 5.0), (10, 20.0, 5)])
@pytest.mark.parametrize(
    "of",
    [np.array, lambda X: np.array(X, dtype=object), lambda X: pl.DataFrame(X, schema=["x"], orient="row")],
)
def test_categories_that_are_numbers_go_by_value(known, of):
    forest = stump(n_features=1, categories=[known], categories_left={0: [0]}, missing=True)
    found = encode.matrix(forest, of([[5.0], [20.0], [NAN], [10.0], [11.0], [-1.0], [99.0]]))
    np.testing.assert_array_equal(found[:, 0], [2, 1, NAN, 0, NAN, NAN, NAN])


def test_categories_that_are_booleans():
    forest = stump(n_features=1, categories=[(False, True)], categories_left={0: [0]}, missing=True)
    np.testing.assert_array_equal(encode.matrix(forest, [[True], [False]]), [[1.0], [0.0]])


def test_a_missing_category_is_no_category():
    forest = stump(n_features=1, categories=[("x", None, NAN)], categories_left={0: [0]}, missing=True)
    np.testing.assert_array_equal(encode.matrix(forest, [["x"], [None]]), [[0.0], [NAN]])


def test_no_known_category_at_all():
    forest = stump(n_features=1, categories=[()], categories_left={0: []}, missing=True)
    np.testing.assert_array_equal(encode.matrix(forest, [[1.0]]), [[NAN]])


def test_all_missing_numbers_are_fine_where_text_is_wanted():
    np.testing.assert_array_equal(encode.matrix(by_city(), np.array([[1.0, NAN]])), [[1.0, NAN]])


def test_codes_where_text_is_wanted_are_refused():
    with pytest.raises(
        InputError,
        match=r"X has 2\.0 in row 1, column 1, whose categories are text: 'oslo', 'rome', 'york'; pass the",
    ):
        encode.rows(by_city(), np.array([[1.0, NAN], [1.0, 2.0]]))


def test_text_where_numbers_are_wanted_is_refused():
    forest = stump(n_features=1, categories=[(1, 2)], categories_left={0: [0]}, missing=True)
    with pytest.raises(
        InputError, match="X has '1' in row 0, column 0, whose categories are numbers: 1, 2; pass"
    ):
        encode.rows(forest, [["1"]])


def test_an_unknown_category_is_named_where_nan_is_not_taken():
    forest = by_city(missing=False)
    frame = pl.DataFrame({"height": [1.0], "city": ["lima"]})
    with pytest.raises(
        InputError,
        match="X has 'lima' in row 0, column 'city', which is not one of its categories: 'oslo', 'rome'",
    ):
        encode.rows(forest, frame)
    with pytest.raises(
        InputError, match="X has NaN in row 0, column 'city', but the forest takes no missing"
    ):
        encode.rows(forest, frame.with_columns(city=pl.lit(None, pl.String)))


def test_what_cannot_be_a_category_is_unknown():
    forest = by_city()
    X = np.empty((1, 2), dtype=object)
    X[0] = [1.0, ["oslo"]]
    with pytest.raises(InputError, match=r"X has \['oslo'\] in row 0, column 1, whose categories are text"):
        encode.rows(forest, X)


def test_text_in_a_numeric_column_beside_categories_is_refused():
    with pytest.raises(
        InputError, match=r"X has 'tall' \(str\) in row 0, column 'height', where the model wants"
    ):
        encode.rows(by_city(), pd.DataFrame({"height": ["tall"], "city": ["oslo"]}))


# Other ways to be missing


@pytest.mark.parametrize("of", [np.asarray, pl.DataFrame, scipy.sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_number_that_means_missing(of, dtype):
    X = np.array([[1.0, -9.1, 3.0], [np.nan, 5.0, -9.1]])
    kept = X.copy()
    forest = stump(missing=True, missing_value=-9.1, dtype=dtype)
    expected = np.where(X == -9.1, np.nan, X).astype(dtype)
    np.testing.assert_array_equal(encode.matrix(forest, of(X)), expected)
    np.testing.assert_array_equal(X, kept)


def test_a_number_that_means_missing_is_read_in_the_models_width():
    forest = stump(missing=True, missing_value=-9.1, dtype=np.float32)
    assert np.isnan(encode.matrix(forest, [[1.0, 2.0, float(np.float32(-9.1))]])[0, 2])
    assert np.isnan(encode.matrix(forest, np.array([[1, 2, -9.1]], np.float32))[0, 2])


@pytest.mark.parametrize("of", [scipy.sparse.csr_array, scipy.sparse.csc_matrix, scipy.sparse.coo_array])
def test_absent_entries_that_are_missing(of):
    # A stored zero is a zero, and two entries of one place add up.
    entries = ([1.0, 0.0, 2.0, 3.0], ([0, 0, 1, 1], [0, 2, 1, 1]))
    X = of(scipy.sparse.coo_array(entries, shape=(2, 3)))
    forest = stump(missing=True, absent_missing=True)
    nan = np.nan
    np.testing.assert_array_equal(encode.matrix(forest, X), [[1, nan, 0], [nan, 5, nan]])
    np.testing.assert_array_equal(encode.rows(forest, X).table.data(), [[1, nan, 0], [nan, 5, nan]])
    np.testing.assert_array_equal(encode.matrix(stump(missing=True), X), [[1, 0, 0], [0, 5, 0]])


def test_absent_entries_are_refused_where_nothing_may_be_missing():
    X = scipy.sparse.csr_array([[1.0, 0.0, 2.0]])
    with pytest.raises(InputError, match="X has NaN in row 0, column 1"):
        encode.rows(strict(absent_missing=True), X)


# Categories by their hashes, as CatBoost knows them


def hashed(*known):
    """Column 1 is of these categories; `categories` holds their hashes."""
    return stump(
        dtype=np.float32,
        missing=True,
        categories=(None, tuple(map(category_hash, known)), None),
        categories_hashed=True,
    )


@pytest.mark.parametrize(
    "X",
    [
        np.array([[0, "a", 0], [0, "2", 0], [0, "never seen", 0]], dtype=object),
        pd.DataFrame({"a": [0.0] * 3, "b": ["a", "2", "z"], "c": [0.0] * 3}),
        pd.DataFrame({"a": [0.0] * 3, "b": pd.Categorical(["a", "2", "z"]), "c": [0.0] * 3}),
        pl.DataFrame({"a": [0.0] * 3, "b": ["a", "2", "z"], "c": [0.0] * 3}),
        pa.table({"a": [0.0] * 3, "b": ["a", "2", "z"], "c": [0.0] * 3}),
        np.array([[0, b"a", 0], [0, 2, 0], [0, True, 0]], dtype=object),
        [[0, "a", 0], [0, np.int8(2), 0], [0, -5, 0]],
    ],
)
def test_hashed_categories(X):
    np.testing.assert_array_equal(encode.matrix(hashed("a", "2"), X)[:, 1], [0, 1, np.nan])


def test_hashed_categories_of_integers_and_truth_values():
    forest = hashed("1", "-7", "0")
    np.testing.assert_array_equal(
        encode.matrix(forest, np.array([[0, 1, 0], [0, -7, 0], [0, 3, 0]]))[:, 1], [0, 1, np.nan]
    )
    np.testing.assert_array_equal(
        encode.matrix(forest, np.array([[True, True, True], [True, False, True]]))[:, 1], [0, 2]
    )
    codes = encode.matrix(forest, np.arange(3 * 9000).reshape(-1, 3) % 2)  # several blocks of rows
    np.testing.assert_array_equal(codes[:, 1], np.resize([0, 2], 9000))


@pytest.mark.parametrize("value", [1.0, np.float32(2), np.nan, None, pd.NA, [1], pd.Timestamp(0)])
def test_hashed_categories_are_text_or_integers(value):
    X = np.empty((2, 3), dtype=object)
    X[:] = [[0, "a", 0], [0, 0, 0]]
    X[1, 1] = value
    message = r"X has .* in row 1, column 1, a column of categories: to CatBoost they are text or integers"
    with pytest.raises(InputError, match=message):
        encode.rows(hashed("a"), X)


def test_a_row_of_floats_has_no_hashed_categories():
    with pytest.raises(InputError, match=r"X has 2\.0 in row 0, column 1, a column of categories"):
        encode.rows(hashed("2"), np.array([1.0, 2.0, 3.0]))


# LightGBM's rules: the k-th column of a category type has the k-th list, and arrays of integers are rounded

LISTS = (("u", "v"), (10, 20))


def in_order(**others):
    return stump(missing=True, **others).replace(frame_categories=LISTS)


FRAMES = {
    "pandas": lambda a, b, c: pd.DataFrame({"a": pd.Categorical(a), "b": b, "c": pd.Categorical(c)}),
    "polars": lambda a, b, c: pl.DataFrame(
        {
            "a": pl.Series(a, dtype=pl.Categorical),
            "b": b,
            "c": pl.Series(c).cast(pl.String).cast(pl.Categorical),
        }
    ),
    "polars enum": lambda a, b, c: pl.DataFrame(
        {"a": pl.Series(a, dtype=pl.Enum(["v", "w", "u"])), "b": b, "c": pl.Series(c, dtype=pl.Int64)}
    ),
    "pyarrow": lambda a, b, c: pa.table(
        {"a": pa.array(a).dictionary_encode(), "b": b, "c": pa.array(c).dictionary_encode()}
    ),
}


@pytest.mark.parametrize("make", ["pandas", "pyarrow"])
def test_the_columns_of_a_category_type_have_the_lists_in_order(make):
    X = FRAMES[make](["v", "u", "w", None], [1.0, 2.0, 3.0, 4.0], [20, 30, None, 10])
    nan = np.nan
    expected = [[1, 1, 1], [0, 2, nan], [nan, 3, nan], [nan, 4, 0]]
    np.testing.assert_array_equal(encode.matrix(in_order(), X), expected)
    np.testing.assert_array_equal(encode.matrix(in_order(feature_names=NAMES), X), expected)


def test_polars_has_categories_of_text():
    X = FRAMES["polars enum"](["v", "u", "w", None], [1.0, 2.0, 3.0, 4.0], [0, 0, 0, 0])
    forest = stump(missing=True).replace(frame_categories=LISTS[:1])
    np.testing.assert_array_equal(encode.matrix(forest, X)[:, 0], [1, 0, np.nan, np.nan])
    words = stump(missing=True).replace(frame_categories=(("u", "v"), ("10", "20")))
    X = FRAMES["polars"](["v", "u"], [1.0, 2.0], [20, 30])
    np.testing.assert_array_equal(encode.matrix(words, X), [[1, 1, 1], [0, 2, np.nan]])


def test_an_array_holds_the_codes_themselves():
    for X in (
        np.array([[1.0, 2, 0]]),
        [[1, 2, 0]],
        scipy.sparse.csr_array([[1.0, 2, 0]]),
        np.array([1, 2, 0]),
    ):
        np.testing.assert_array_equal(encode.matrix(in_order(), X), [[1, 2, 0]])


def test_other_numbers_of_category_columns_are_refused():
    X = FRAMES["pandas"](["v", "u"], [1.0, 2.0], [20, 30])
    for forest, given, message in (
        (in_order(), X.assign(c=[1, 2]), r"X has 1 columns .* with 2; pass them as for training, X.astype"),
        (
            in_order(),
            X.iloc[0],
            r"X has 0 columns .* with 2; pass a row as a frame of one row, X.iloc\[\[i\]\]",
        ),
        (stump(missing=True).replace(frame_categories=()), X, r"X has 2 columns .* with 0; pass the numbers"),
    ):
        with pytest.raises(InputError, match=message):
            encode.rows(forest, given)


def test_arrays_of_other_numbers_are_rounded_where_the_library_rounds_them():
    big = 2**24 + 1
    forest, exact = stump().replace(rounds_integers=True), stump()
    row = [[big, 1, 0]]
    for X in (np.array(row), np.array(row, np.uint64), row, np.array(row, object), np.array(row[0])):
        assert encode.matrix(forest, X)[0, 0] == big - 1
        assert encode.matrix(exact, X)[0, 0] == big
    frame = pd.DataFrame(row)
    for X in (np.array(row, float), np.array(row, float, order="F"), frame, frame.iloc[0], pa.table(frame)):
        assert encode.matrix(forest, X)[0, 0] == big
