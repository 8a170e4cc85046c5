"""The user's X, of any make, as a table: so many rows and columns, perhaps names, floats a block at a time.

Three kinds are enough: a numpy array, a data frame (pandas, polars, pyarrow, through narwhals) and a scipy
sparse matrix. A table knows nothing of any model; what the model wants of it is in `encode`. Optional
libraries are recognised by the modules of X's own class and never imported for anybody else's X.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from leafgrad.errors import InputError

if TYPE_CHECKING:
    import narwhals as nw

Array: TypeAlias = npt.NDArray[Any]
Coder: TypeAlias = Callable[["Table", Array, int], Array]  # (table, a column of it, its first row) -> floats

NUMBERS = "fiub"  # numpy's kinds of real numbers
FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


class Table:
    """What all makes have in common.

    Attributes
    ----------
    n, width : int
        Rows and columns.
    names : tuple of str or None
        Column names, where X has them.
    numbered : tuple of str or None
        Labels of pandas' columns that are no text, as text; no names, as pandas itself numbers columns.
    single : bool
        X was one row without a row axis.
    make : str
        The library that X came from: "numpy", "scipy", "pandas", "polars", "pyarrow", ...
    index : object or None
        Row labels of a pandas frame.
    ready : bool
        All of it may be had as one block at no cost.
    most : int or None
        Rows that are better not exceeded by a block, whatever their width.
    absent : float
        What an absent entry of a sparse table stands for.
    floats : bool
        Not a numpy array of anything but float32 and float64.
    """

    n: int
    width: int
    names: tuple[str, ...] | None = None
    numbered: tuple[str, ...] | None = None
    single: bool = False
    make: str = "numpy"
    index: Any = None
    ready: bool = False
    most: int | None = None
    absent: float = 0.0
    floats: bool = True

    @property
    def category_columns(self) -> tuple[int, ...] | None:
        """Columns of a category type; None where X has no such types."""
        return None

    def block(self, start: int, stop: int, dtype: np.dtype[Any]) -> Array:
        """Rows start..stop as a C-contiguous float array, (stop - start, width); text becomes an error."""
        raise NotImplementedError

    def by_column(
        self, start: int, stop: int, dtype: np.dtype[Any], coders: Mapping[int, Coder] | None = None
    ) -> Array:
        """The same block made column by column, some of them by a coder of categories."""
        out = np.empty((stop - start, self.width), dtype)
        with np.errstate(over="ignore", under="ignore"):  # too large for float32 is looked for later
            for j in range(self.width):
                column = self.column(j, start, stop)
                if coders and j in coders:
                    out[:, j] = coders[j](self, column, start)
                elif column.dtype.kind == "O":
                    out[:, j] = _floats(self, column[:, None], start, j)[:, 0]
                else:
                    out[:, j] = column
        return out

    def column(self, j: int, start: int, stop: int) -> Array:
        """One column of these rows: numbers, or an object array with None for a null."""
        raise NotImplementedError

    def own_codes(self, j: int, start: int, stop: int) -> Array:
        """The codes by which a column of a category type numbers its values; NaN where one is missing."""
        raise NotImplementedError

    def take(self, rows: Array) -> Table:
        """A table of these rows, by position."""
        raise NotImplementedError

    def where(self, i: int, j: int) -> str:
        """A cell's place, in words."""
        return f"row {i}, column {j if self.names is None else repr(self.names[j])}"

    def cell(self, i: int, j: int) -> object:
        """The user's own value."""
        return self.column(j, i, i + 1)[0]

    def data(self) -> Array:
        """All of X as one (n, width) array: numbers if all columns are, objects otherwise."""
        columns = [self.column(j, 0, self.n) for j in range(self.width)]
        if all(column.dtype.kind in NUMBERS for column in columns):
            return np.column_stack(columns) if columns else np.empty((self.n, 0))
        out = np.empty((self.n, self.width), dtype=object)
        for j, column in enumerate(columns):
            out[:, j] = column
        return out


class _Array(Table):
    """A numpy array, or anything that turns into one."""

    def __init__(self, array: Array, *, single: bool = False) -> None:
        self.array = array
        self.n, self.width = array.shape
        self.single = single
        # Only arrays as the core takes them may pass through untouched.
        self.floats = array.dtype in FLOATS
        self.ready = self.floats and array.flags.c_contiguous and array.flags.aligned

    def block(self, start: int, stop: int, dtype: np.dtype[Any]) -> Array:
        part = self.array[start:stop]
        if self.ready:
            return part
        if part.dtype.kind == "O":
            part = _floats(self, part, start, 0)
        with np.errstate(over="ignore", under="ignore"):
            return np.require(part, dtype, ["C", "A"])

    @property
    def category_columns(self) -> tuple[int, ...] | None:
        # One row of a frame has lost the types of the columns it came from.
        return None if self.make == "numpy" else ()

    def column(self, j: int, start: int, stop: int) -> Array:
        return self.array[start:stop, j]

    def take(self, rows: Array) -> Table:
        part = _Array(self.array[rows])
        part.names, part.make = self.names, self.make
        part.index = None if self.index is None else self.index[rows]
        return part

    def data(self) -> Array:
        return self.array


class _Frame(Table):
    """A data frame of any make."""

    def __init__(self, frame: nw.DataFrame[Any]) -> None:
        self.frame = frame
        self.n, self.width = frame.shape
        names = frame.columns
        text = [isinstance(name, str) for name in names]
        if any(text) and not all(text):
            odd = next(name for name, good in zip(names, text, strict=True) if not good)
            raise InputError(
                f"X has column names that are text and one that is not, {odd!r}; "
                "rename the columns, for example by X.columns = X.columns.astype(str)"
            )
        # pandas numbers the columns of a frame made without names: that is a nameless table.
        self.names = tuple(names) if all(text) else None
        self.numbered = None if any(text) else tuple(map(str, names))
        self.make = frame.implementation.name.lower()
        if frame.implementation.is_pandas_like():
            self.index = frame.to_native().index
        self._labels = names
        self._plain: bool | None = None

    def block(self, start: int, stop: int, dtype: np.dtype[Any]) -> Array:
        if self._plain is None:
            self._plain = self._all_numbers()
        if self._plain:
            array = (self.frame if stop - start == self.n else self.frame[start:stop]).to_numpy()
            if array.dtype.kind != "O":  # pandas: of nullable columns, or of booleans among numbers
                with np.errstate(over="ignore", under="ignore"):
                    return np.ascontiguousarray(array, dtype)
        return self.by_column(start, stop, dtype)

    def _all_numbers(self) -> bool:
        if self.index is not None:  # narwhals takes long over the types of a pandas frame
            return all(
                isinstance(kind, np.dtype) and kind.kind in NUMBERS for kind in self.frame.to_native().dtypes
            )
        return all(map(_has_numpy, self.frame.schema.values()))

    @property
    def category_columns(self) -> tuple[int, ...] | None:
        if self.index is not None:
            kinds = [kind.name == "category" for kind in self.frame.to_native().dtypes]
        else:
            kinds = [str(kind).startswith(("Categorical", "Enum")) for kind in self.frame.schema.values()]
        return tuple(j for j, found in enumerate(kinds) if found)

    def own_codes(self, j: int, start: int, stop: int) -> Array:
        if self.index is None:
            raise InputError(
                f"X has a category type in column {self._labels[j]!r}, and the model kept no categories; "
                f"pass the codes that it was trained on, or a pandas frame"
            )
        codes = self.frame.to_native().iloc[start:stop, j].cat.codes.to_numpy().astype(np.float64)
        return np.where(codes < 0, np.nan, codes)

    def column(self, j: int, start: int, stop: int) -> Array:
        series = self.frame.get_column(self._labels[j])
        if stop - start != self.n:
            series = series[start:stop]
        if _has_numpy(series.dtype):
            return series.to_numpy()
        # By way of Python's own objects: `to_numpy` mistakes a null of an arrow dictionary for a category.
        values = series.to_list()
        if series.dtype.is_temporal():
            raise _not_numbers(self, start, j, values[0] if values else None)
        return np.fromiter(values, dtype=object, count=len(values))

    def take(self, rows: Array) -> Table:
        return _Frame(self.frame[rows])


def _has_numpy(kind: nw.dtypes.DType) -> bool:
    """Whether numpy has this type of number."""
    return kind.is_numeric() and not kind.is_decimal() and not str(kind).endswith("128")


class _Sparse(Table):
    """A scipy sparse matrix or array; an absent entry is `absent`, which the model decides."""

    make = "scipy"
    most = 4096

    def __init__(self, matrix: Any, *, single: bool = False) -> None:
        self.n, self.width = matrix.shape
        self.single = single
        if matrix.dtype.kind not in NUMBERS:
            raise InputError(f"X is a sparse matrix of {matrix.dtype}; pass one of real numbers")
        self.rows = matrix.tocsr()
        if not self.rows.has_canonical_format:
            self.rows = self.rows.copy()
            self.rows.sum_duplicates()

    def block(self, start: int, stop: int, dtype: np.dtype[Any]) -> Array:
        with np.errstate(over="ignore", under="ignore"):
            return np.ascontiguousarray(self._dense(self.rows[start:stop]), dtype)

    def column(self, j: int, start: int, stop: int) -> Array:
        return self._dense(self.rows[start:stop, [j]])[:, 0]

    def take(self, rows: Array) -> Table:
        part = _Sparse(self.rows[rows])
        part.absent = self.absent
        return part

    def data(self) -> Array:
        return self._dense(self.rows)

    def _dense(self, rows: Any) -> Array:
        if self.absent == 0:
            return rows.toarray()  # type: ignore[no-any-return]
        out = np.full(rows.shape, self.absent)
        out[np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr)), rows.indices] = rows.data
        return out


def table(X: Any) -> Table:
    """X as a table; an error says what X may be."""
    if type(X) is not np.ndarray:
        modules = {kind.__module__.partition(".")[0] for kind in type(X).__mro__}
        if "scipy" in modules and hasattr(X, "tocsr"):
            return _from_sparse(X)
        # Asked of the class: the properties of a lazy frame may start work or warn.
        if hasattr(type(X), "columns"):
            return _from_frame(X)
        if modules & {"pandas", "modin", "cudf"} and hasattr(type(X), "index"):
            return _from_series(X)
        X = _to_array(X)
    if X.dtype.kind not in "fiubO":
        raise _no_numbers(X)
    if X.ndim == 2:
        return _Array(X)
    if X.ndim == 1:
        return _Array(X[None, :], single=True)
    raise InputError(
        f"X has {X.ndim} dimensions, shape {X.shape}; pass rows by columns, (n, N), or one row, (N,)"
    )


def _to_array(X: Any) -> Array:
    if isinstance(X, np.ma.MaskedArray):
        return np.ma.filled(X.astype(np.float64), np.nan)
    array = None
    if isinstance(X, list | tuple) and any(isinstance(row, dict) for row in X[:1]):
        raise InputError("X is a list of dicts; pass a data frame, such as pandas.DataFrame(X)")
    if not isinstance(X, dict | str | bytes) and X is not None:
        try:
            array = np.asarray(X)
            if array.dtype.kind in "US" and isinstance(X, list | tuple):
                array = np.asarray(X, dtype=object)  # numbers and text: each cell as it came
        except Exception as error:  # whatever another library's object raises
            raise InputError(
                f"X ({type(X).__name__}) does not turn into an array of numbers: {error}"
            ) from error
    if array is None or array.ndim == 0:
        raise InputError(
            f"X is a {type(X).__name__}; pass an array or data frame of (n, N) numbers, or one row of N, "
            "such as pandas.DataFrame([row])"
        )
    return array


def _no_numbers(X: Array) -> InputError:
    if X.dtype.names:
        return InputError(
            "X is a structured array; pass a plain one, "
            "numpy.lib.recfunctions.structured_to_unstructured(X), or a data frame"
        )
    kind = {"U": "text", "S": "text", "T": "text", "c": "complex numbers", "M": "dates", "m": "durations"}
    what = kind.get(X.dtype.kind, "no numbers")
    cure = "numbers as the model was trained on, or a data frame if some columns are categories"
    return InputError(f"X holds {what} (dtype {X.dtype}); pass {cure}")


def _from_sparse(X: Any) -> Table:
    if X.ndim == 1:
        return _Sparse(X.reshape(1, -1), single=True)
    return _Sparse(X)


def _from_frame(X: Any) -> Table:
    import narwhals as nw
    from narwhals.exceptions import DuplicateError

    if type(X).__name__ == "RecordBatch" and "pyarrow" in sys.modules:
        X = sys.modules["pyarrow"].Table.from_batches([X])
    try:
        frame = nw.from_native(X, eager_only=True)
        return _Frame(frame)
    except DuplicateError as error:
        raise InputError(f"X has two columns of one name; rename or drop one. {error}") from error
    except TypeError:
        raise InputError(
            f"X is a {type(X).__module__}.{type(X).__name__}, which leafgrad cannot read; pass a pandas, "
            "polars or pyarrow table (a lazy frame: X.collect() or X.compute() first)"
        ) from None


def _from_series(X: Any) -> Table:
    """One row of a pandas frame, `X.iloc[0]`: its index holds the column names."""
    names = list(X.index)
    row = _to_array(X.to_numpy())
    if row.dtype.kind not in "fiubO":
        raise _no_numbers(row)
    out = _Array(row[None, :], single=True)
    out.make, out.floats = "pandas", True
    if names and all(isinstance(name, str) for name in names):
        out.names = tuple(names)
    elif not any(isinstance(name, str) for name in names):
        out.numbered = tuple(map(str, names))
    return out


def _floats(table: Table, cells: Array, start: int, column: int) -> Array:
    """An object array of numbers, None and NA as float64; `start` and `column` are its place in X."""
    kinds = set(map(type, cells.ravel().tolist()))
    missing = {kind for kind in kinds if kind.__name__ == "NAType"}
    if missing:
        cells = cells.copy()
        cells[np.vectorize(lambda cell: type(cell) in missing, otypes=[bool])(cells)] = None
    if not any(issubclass(kind, REFUSED) for kind in kinds):
        try:
            return cells.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            pass
    for i, row in enumerate(cells):
        for j, cell in enumerate(row):
            if cell is not None and not _is_number(cell):
                raise _not_numbers(table, start + i, column + j, cell)
    raise InputError(f"X does not turn into numbers; it holds {', '.join(sorted(k.__name__ for k in kinds))}")


def as_floats(table: Table, column: Array, start: int, j: int) -> Array:
    """One column's cells as float64; None and NA are NaN, text is an error with its place in X."""
    if column.dtype.kind == "O":
        return _floats(table, column[:, None], start, j)[:, 0]
    return column.astype(np.float64)


REFUSED: tuple[type, ...] = (str, bytes, complex, np.complexfloating, np.datetime64, np.timedelta64)


def is_missing(cell: object) -> bool:
    """Whether a cell is None, pandas' NA or NaN."""
    return cell is None or type(cell).__name__ == "NAType" or (isinstance(cell, float) and math.isnan(cell))


def _is_number(cell: object) -> bool:
    if isinstance(cell, REFUSED):
        return False
    try:
        float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _not_numbers(table: Table, i: int, j: int, cell: object) -> InputError:
    if isinstance(cell, int):
        return InputError(f"X has an integer beyond float64 in {table.where(i, j)}; scale the column down")
    return InputError(
        f"X has {cell!r} ({type(cell).__name__}) in {table.where(i, j)}, where the model wants a number; "
        "encode the column as it was for training"
    )


def like(make: Any, columns: Mapping[str, Sequence[Any] | Array], index: Any = None) -> Any:
    """A data frame of `columns`, in the make of the user's X; pandas (else polars, pyarrow) for arrays."""
    import narwhals as nw

    if make in {"numpy", "scipy"}:
        make = _installed()
    frame = nw.from_dict(columns, backend=make).to_native()
    if index is not None and hasattr(frame, "index"):
        frame.index = index
    return frame


def _installed() -> str:
    from importlib.util import find_spec

    for make in ("pandas", "polars", "pyarrow"):
        if find_spec(make) is not None:
            return make
    raise ImportError("to_frame needs a data frame library: pip install pandas (or polars, or pyarrow)")
