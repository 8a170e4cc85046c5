"""Tables: the same numbers from every make of X, and an error for all that is none."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from leafgrad import tables
from leafgrad.errors import InputError

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
NUMBERS = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
NAMES = ["a", "b", "c"]


def columns(matrix):
    return {name: matrix[:, j] for j, name in enumerate(NAMES)}


MAKES = {
    "pandas": lambda matrix: pd.DataFrame(matrix, columns=NAMES),
    "polars": lambda matrix: pl.DataFrame(columns(matrix)),
    "pyarrow": lambda matrix: pa.table(columns(matrix)),
    "record batch": lambda matrix: pa.table(columns(matrix)).to_batches()[0],
    "chunks": lambda matrix: pa.concat_tables([pa.table(columns(matrix[:1])), pa.table(columns(matrix[1:]))]),
    "pandas nullable": lambda matrix: pd.DataFrame(matrix, columns=NAMES).convert_dtypes(),
    "pandas arrow": lambda matrix: pd.DataFrame(matrix, columns=NAMES).astype("float64[pyarrow]"),
    "polars integers": lambda matrix: pl.DataFrame(columns(matrix)).cast(pl.Int16),
    "mixed": lambda matrix: pl.DataFrame(columns(matrix)).cast({"a": pl.UInt8, "b": pl.Float32}),
    "decimals": lambda matrix: pl.DataFrame(columns(matrix)).cast({"a": pl.Decimal(8, 2)}),
    "pandas integers": lambda matrix: pd.DataFrame(matrix, columns=NAMES).astype({"b": "int64", "c": "int8"}),
    "pandas mixed": lambda matrix: pd.DataFrame(matrix, columns=NAMES).astype({"a": "Int64", "c": object}),
    "128 bits": lambda matrix: pl.DataFrame(columns(matrix)).cast({"a": pl.Int128}),
    "unsigned": lambda matrix: pl.DataFrame(columns(matrix)).cast({"a": pl.UInt64, "b": pl.Int64}),
    "objects": lambda matrix: pd.DataFrame(matrix, columns=NAMES).astype(object),
}


def warned(of, X):
    with pytest.warns(PendingDeprecationWarning):
        return of(X)


def block(X, dtype=F64):
    table = tables.table(X)
    return table.block(0, table.n, dtype)


@pytest.mark.parametrize("dtype", [F32, F64])
@pytest.mark.parametrize("make", MAKES)
def test_frames_give_their_numbers(make, dtype):
    table = tables.table(MAKES[make](NUMBERS))
    assert (table.n, table.width, table.names, table.single) == (2, 3, tuple(NAMES), False)
    found = table.block(0, 2, dtype)
    assert found.dtype == dtype
    assert found.flags.c_contiguous
    np.testing.assert_array_equal(found, NUMBERS)
    np.testing.assert_array_equal(table.block(1, 2, dtype), NUMBERS[1:])
    np.testing.assert_array_equal(table.block(0, 0, dtype), NUMBERS[:0])
    np.testing.assert_array_equal(table.take(np.array([1, 0])).block(0, 2, dtype), NUMBERS[::-1])
    np.testing.assert_array_equal(table.data().astype(float), NUMBERS)
    assert float(table.cell(1, 2)) == 6.0


@pytest.mark.parametrize("make", MAKES)
def test_frames_of_no_rows(make):
    assert block(
        MAKES[make](NUMBERS)[:0] if make != "record batch" else pa.table(columns(NUMBERS[:0]))
    ).shape == (
        0,
        3,
    )


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": pd.array([True, None], dtype="boolean")}),
        pd.DataFrame({"a": pd.array([1, None], dtype="float64[pyarrow]"), "b": [1.0, np.nan]}),
        pd.DataFrame({"a": pd.array([1, None], dtype="Float32"), "b": [1, pd.NA]}),
        pd.DataFrame({"a": [1.0, np.nan], "b": [1, None]}),
        pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": pd.array([1, None], dtype="Float64")}),
        pa.table({"a": pa.array([1, None]).dictionary_encode(), "b": pa.array([1.0, None])}),
        pa.table({"a": pa.array([1, None]), "b": pa.array([1, None], pa.uint64())}),
        pl.DataFrame({"a": [1, None], "b": pl.Series([1, None], dtype=pl.Float32)}),
        pl.DataFrame({"a": [1, None], "b": [True, None]}),
        pl.DataFrame({"a": [1.0, None], "b": [1.0, float("nan")]}),
        pl.DataFrame({"a": [1.0, None], "b": pl.Series([1, None]).cast(pl.Decimal(6, 1))}),
        pa.table({"a": pa.array([1, None], pa.uint8()), "b": [True, None]}),
        pa.table({"a": pa.array([1.0, None], pa.float32()), "b": pa.array([1.0, None])}),
        np.ma.masked_array([[1, 1], [7, 7]], mask=[[0, 0], [1, 1]]),
        np.array([[1, True], [None, pd.NA]], dtype=object),
        [[1, True], [None, float("nan")]],
    ],
)
def test_nulls_of_every_make_are_nan(X):
    np.testing.assert_array_equal(block(X), [[1.0, 1.0], [np.nan, np.nan]])


@pytest.mark.parametrize("dtype", "?bhilqBHILQefdg")
def test_arrays_of_any_number_type(dtype):
    X = np.array([[0, 1], [1, 0]], dtype=dtype)
    np.testing.assert_array_equal(block(X), X.astype(float))
    np.testing.assert_array_equal(block(X, F32), X.astype(float))


@pytest.mark.parametrize("dtype", [F32, F64])
@pytest.mark.parametrize(
    "of",
    [
        lambda X: X,
        np.asfortranarray,
        lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
        lambda X: X[::-1, ::-1][::-1, ::-1],
        lambda X: X.astype(">f8"),
        lambda X: np.frombuffer(b"\0" + X.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(X.shape),
        lambda X: X.astype(object),
        lambda X: X.tolist(),
        lambda X: warned(np.matrix, X),
    ],
    ids=["c", "fortran", "strided", "reversed", "bigendian", "unaligned", "objects", "lists", "matrix"],
)
def test_arrays_of_any_layout(of, dtype):
    found = block(of(NUMBERS), dtype)
    assert found.flags.c_contiguous
    assert found.flags.aligned
    np.testing.assert_array_equal(found, NUMBERS)


@pytest.mark.parametrize("dtype", [F32, F64])
def test_what_the_core_can_read_is_not_copied(dtype):
    X = NUMBERS.astype(dtype)
    for wanted in (F32, F64):
        assert np.shares_memory(block(X, wanted), X)
    assert np.shares_memory(block(X[0]), X)


def test_integers_are_rounded_once():
    # By way of float64 this would tie and round to 2**60.
    number = 2**60 + 2**36 + 1
    assert block(np.array([[number]]), F32)[0, 0] == np.float32(2**60 + 2**37)
    assert block(np.array([[2**53 + 1]]))[0, 0] == 2.0**53


@pytest.mark.parametrize(
    "X",
    [
        np.full((2, 2), 1e300)[:, ::-1],
        np.array([[10**300]], dtype=object),
        pl.DataFrame({"a": [1e300]}),
        pl.DataFrame({"a": [1e300], "b": [1]}),
        scipy.sparse.csr_array([[1e300]]),
    ],
)
def test_too_large_for_float32_is_infinite_without_a_warning(X):
    assert block(X, F32)[0, 0] == np.inf


SPARSE = np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 6.0]])


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("array", [True, False])
def test_sparse_of_every_format(kind, array):
    X = getattr(scipy.sparse, f"{kind}_{'array' if array else 'matrix'}")(SPARSE)
    table = tables.table(X)
    assert (table.n, table.width, table.names, table.make) == (2, 3, None, "scipy")
    np.testing.assert_array_equal(table.block(0, 2, F32), SPARSE)
    np.testing.assert_array_equal(table.block(1, 2, F64), SPARSE[1:])
    np.testing.assert_array_equal(table.take(np.array([1])).data(), SPARSE[1:])
    assert table.cell(1, 2) == 6.0


def test_sparse_entries_given_twice_add_up():
    X = scipy.sparse.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(1, 2))
    np.testing.assert_array_equal(block(X), [[0.0, 3.0]])


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.float32])
def test_sparse_of_other_numbers(dtype):
    np.testing.assert_array_equal(block(scipy.sparse.csr_array(SPARSE.astype(dtype))), SPARSE.astype(dtype))


def test_sparse_complex_numbers_are_refused():
    with pytest.raises(InputError, match="X is a sparse matrix of complex128; pass one of real numbers"):
        tables.table(scipy.sparse.csr_array(SPARSE.astype(complex)))


@pytest.mark.parametrize(
    "row",
    [
        NUMBERS[0],
        [1.0, 2.0, 3.0],
        (1, 2, 3),
        pl.Series([1.0, 2.0, 3.0]),
        pa.array([1.0, 2.0, 3.0]),
        pa.chunked_array([[1.0, 2.0, 3.0]]),
        pd.Series([1.0, 2.0, 3.0]),
        scipy.sparse.coo_array(NUMBERS[0]),
    ],
)
def test_one_row_without_names(row):
    table = tables.table(row)
    assert (table.n, table.width, table.names, table.single) == (1, 3, None, True)
    np.testing.assert_array_equal(table.block(0, 1, F64), NUMBERS[:1])


def test_a_row_of_a_pandas_frame_has_names():
    table = tables.table(pd.DataFrame(NUMBERS, columns=NAMES).iloc[1])
    assert (table.names, table.single, table.make) == (tuple(NAMES), True, "pandas")
    np.testing.assert_array_equal(table.block(0, 1, F64), NUMBERS[1:])
    assert table.take(np.array([0])).names == tuple(NAMES)


def test_a_pandas_row_of_text_is_refused():
    with pytest.raises(InputError, match="X holds dates"):
        tables.table(pd.Series(pd.to_datetime(["2020-01-01"])))


@pytest.mark.parametrize("types", [{}, {0: "int64"}, {1: object}, {2: "Int8"}])
def test_pandas_numbers_its_columns_where_it_has_no_names(types):
    table = tables.table(pd.DataFrame(NUMBERS).astype(types))
    assert table.names is None
    np.testing.assert_array_equal(table.block(0, 2, F64), NUMBERS)
    np.testing.assert_array_equal(table.block(1, 2, F64), NUMBERS[1:])


def test_pandas_rows_keep_their_labels():
    table = tables.table(pd.DataFrame(NUMBERS, columns=NAMES, index=["x", "y"]))
    assert list(table.take(np.array([1])).index) == ["y"]


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"c": pd.Categorical(["x", "y", None, "x"])}),
        pd.DataFrame({"c": ["x", "y", None, "x"]}),
        pl.DataFrame({"c": ["x", "y", None, "x"]}),
        pl.DataFrame({"c": pl.Series(["x", "y", None, "x"], dtype=pl.Categorical)}),
        pl.DataFrame({"c": pl.Series(["x", "y", None, "x"], dtype=pl.Enum(["y", "x"]))}),
        pa.table({"c": ["x", "y", None, "x"]}),
        # narwhals' own to_numpy gives 'y' for the null of this one.
        pa.table({"c": pa.array(["x", "y", None, "x"]).dictionary_encode()}),
    ],
)
def test_text_and_categories_come_as_objects(X):
    column = tables.table(X).column(0, 1, 4).tolist()
    assert column[0] == "y"
    assert tables.is_missing(column[1])
    assert column[2] == "x"


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ({"a": [1]}, "X is a dict; pass an array or data frame"),
        ([{"a": 1}], r"X is a list of dicts; pass a data frame, such as pandas.DataFrame\(X\)"),
        ("file.csv", "X is a str; pass an array"),
        (None, "X is a NoneType; pass"),
        (3.5, "X is a float; pass"),
        (object(), "X is a object; pass"),
        (np.zeros((2, 2, 2)), r"X has 3 dimensions, shape \(2, 2, 2\); pass rows by columns"),
        (np.zeros((2, 2), complex), "X holds complex numbers"),
        (np.array([["a", "b"]]), "X holds text"),
        (np.array([[b"a"]]), "X holds text"),
        (np.array([["2020"]], dtype="M8[D]"), "X holds dates"),
        (np.array([[3]], dtype="m8[s]"), "X holds durations"),
        (np.zeros(2, dtype=[("a", float)]), "X is a structured array; pass a plain one"),
        (np.zeros(1, dtype="V4"), "X holds no numbers"),
        ([[1.0, 2.0], [3.0]], r"X \(list\) does not turn into an array of numbers"),
        (pd.DataFrame(NUMBERS, columns=["a", "b", "a"]), "X has two columns of one name; rename or drop one"),
        (pd.DataFrame(NUMBERS, columns=["a", 1, "c"]), "names that are text and one that is not, 1; rename"),
        (pl.LazyFrame({"a": [1]}), "LazyFrame, which leafgrad cannot read; pass a pandas.*collect"),
    ],
)
def test_what_is_no_table_is_refused(X, message):
    with pytest.raises(InputError, match=message):
        tables.table(X)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (
            pd.DataFrame({"a": [1.0, 2.0], "b": [1, "red"]}),
            "X has 'red' .str. in row 1, column 'b', where the",
        ),
        (
            pl.DataFrame({"a": ["1.5"]}),
            "X has '1.5' .str. in row 0, column 'a', where the model wants a number",
        ),
        (np.array([[1, "7"]], dtype=object), "X has '7' .str. in row 0, column 1, where"),
        ([[1, "7"]], "X has '7' .str. in row 0, column 1, where"),
        (np.array([[1 + 2j]], dtype=object), "complex. in row 0, column 0, where"),
        (np.array([[np.complex64(1)]], dtype=object), "complex64. in row 0, column 0, where"),
        (np.array([[np.datetime64("2020")]], dtype=object), "datetime64. in row 0, column 0, where"),
        (np.array([[1], [object()]], dtype=object), "object. in row 1, column 0, where"),
        (np.array([[10**400]], dtype=object), "X has an integer beyond float64 in row 0, column 0; scale"),
        (pd.DataFrame({"t": pd.to_datetime(["2020"])}), "Timestamp. in row 0, column 't', where"),
        (pl.DataFrame({"t": [[1], [2]]}), "list. in row 0, column 't', where"),
    ],
)
def test_what_is_no_number_is_refused_with_its_place(X, message):
    with pytest.raises(InputError, match=message):
        block(X)


def test_the_place_counts_from_the_start_of_x():
    with pytest.raises(InputError, match="row 2, column 'b'"):
        tables.table(pd.DataFrame({"a": [1, 2, 3], "b": [1, 2, "x"]})).block(1, 3, F64)


def test_data_of_a_mixed_frame_are_objects():
    data = tables.table(pd.DataFrame({"a": [1.5, 2.5], "c": ["x", "y"]})).data()
    assert data.tolist() == [[1.5, "x"], [2.5, "y"]]


@pytest.mark.parametrize("make", ["pandas", "polars", "pyarrow"])
def test_like_makes_a_frame_of_the_same_make(make):
    frame = tables.like(make, {"a": np.array([1.0]), "b": ["x"]})
    assert type(frame).__module__.startswith(make)
    assert tables.table(frame).data().tolist() == [[1.0, "x"]]


def test_like_an_array_is_what_is_installed(monkeypatch):
    assert isinstance(tables.like("numpy", {"a": [1]}), pd.DataFrame)
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name if name == "polars" else None)
    assert isinstance(tables.like("numpy", {"a": [1]}), pl.DataFrame)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ImportError, match="to_frame needs a data frame library: pip install pandas"):
        tables.like("scipy", {"a": [1]})
