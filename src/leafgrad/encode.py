"""The user's X -> the model's float matrix, a block of rows at a time, one place for all libraries.

Names are matched, categories coded, NaN and infinities that the model does not take are refused by row and
column. What the core can read as it is (C-contiguous float32 or float64) passes through without a copy; the
rest is turned into the model's own comparison width directly, as the library would (an integer is rounded
once), in blocks that stay small beside the model. All of X is checked before the first row is explained.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from leafgrad import category_types, tables
from leafgrad.category_hash import category_hash
from leafgrad.errors import InputError
from leafgrad.tables import NUMBERS, Array, Coder, Table, is_missing

if TYPE_CHECKING:
    from leafgrad.forest import Forest

ELEMENTS = 2**21  # of a block: 16 MB in float64
SMALL = 8192  # elements up to which one dot product is the cheapest look for NaN; BLAS starts threads beyond
# The first float64 that rounds to infinity in float32.
FLOAT32_LIMIT = float.fromhex("0x1.ffffffp127")


class Rows:
    """An encoded X: `n` rows, `single` if it came without a row axis, and its `blocks`."""

    __slots__ = ("_missing_value", "_step", "_whole", "coders", "dtype", "n", "single", "table")

    def __init__(self, forest: Forest, table: Table) -> None:
        self.table = table
        self.n = table.n
        self.single = table.single
        # LightGBM rounds an array of integers, but not a frame of them.
        rounded = forest.rounds_integers and not table.floats
        self.dtype = np.dtype(np.float32 if rounded else forest.dtype)
        self.coders = _coders(forest, table)
        self._missing_value = forest.missing_value
        self._step = max(1, ELEMENTS // max(1, table.width))
        if table.most is not None:
            self._step = min(self._step, table.most)
        at_once = (table.ready and not self.coders) or self.n <= self._step
        self._whole = self._encode(0, self.n) if at_once else None
        if self._whole is not None:
            _check(forest, self, self._whole, 0)
        else:
            for start, block in self.blocks():
                _check(forest, self, block, start)

    @property
    def whole(self) -> bool:
        """Whether all rows may be had as one block at no cost."""
        return self._whole is not None

    def blocks(self, size: int | None = None) -> Iterator[tuple[int, Array]]:
        """Yield (first row, C-contiguous (m, N) float32 or float64 array); nothing where X has no rows.

        Parameters
        ----------
        size : int or None
            At most so many rows a block; None for as many as memory allows.
        """
        step = size or self.n
        if self._whole is None:
            step = min(step, self._step)
        for start, stop in stretches(self.n, step):
            yield start, self._encode(start, stop) if self._whole is None else self._whole[start:stop]

    def _encode(self, start: int, stop: int) -> Array:
        if self.coders:
            block = self.table.by_column(start, stop, self.dtype, self.coders)
        else:
            block = self.table.block(start, stop, self.dtype)
        if self._missing_value is not None:
            means_missing = block.astype(self.dtype, copy=False) == self.dtype.type(self._missing_value)
            if means_missing.any():
                block = np.where(means_missing, block.dtype.type(np.nan), block)
        return block


def stretches(n: int, most: int) -> Iterator[tuple[int, int]]:
    """Cut n rows into stretches of at most `most`, all as long as they can be.

    Parameters
    ----------
    n, most : int
        Numbers of rows.
    """
    count = -(-n // max(most, 1))
    for i in range(count):
        yield i * n // count, (i + 1) * n // count


def rows(forest: Forest, X: Any) -> Rows:
    """Encode X for this forest.

    Parameters
    ----------
    forest : Forest
    X : array, data frame or sparse matrix, `(n, N)`, or one row, `(N,)`

    Returns
    -------
    Rows

    Raises
    ------
    InputError
        Where X has other columns than the model, or values that the model does not take.
    """
    table = tables.table(X)
    _match(forest, table)
    if forest.absent_missing:
        table.absent = np.nan
    return Rows(forest, table)


def matrix(forest: Forest, X: Any) -> Array:
    """All of X as one `(n, N)` float array, as the model sees it."""
    encoded = rows(forest, X)
    blocks = [block for _, block in encoded.blocks()]
    return np.concatenate(blocks) if blocks else np.empty((0, forest.n_features), encoded.dtype)


# Names


def _match(forest: Forest, table: Table) -> None:
    """Raise unless X has the model's columns: by name where both have names, else by number."""
    width = forest.n_features
    ours, theirs = forest.feature_names, table.names
    if ours is not None and theirs is not None:
        # LightGBM writes an underscore for a space, and takes the frame that it was trained on nevertheless.
        spaceless = forest.library == "LightGBM" and tuple(name.replace(" ", "_") for name in theirs) == ours
        if theirs != ours and not spaceless:
            raise _names_differ(ours, theirs, table)
        return
    numbered = table.numbered
    # Numbers go by place, but not where the model knows the same ones in another order.
    if ours is not None and numbered is not None and numbered != ours and sorted(numbered) == sorted(ours):
        raise _names_differ(ours, numbered, table)
    if table.width == width:
        return
    if table.single:
        cure = " (for a column of n rows: X.reshape(-1, 1))" if width == 1 else ""
        raise InputError(f"X is one row of {table.width} values, but {_who(forest)} takes {width}{cure}")
    cure = "; X.T has it the right way round" if table.n == width else ""
    raise InputError(
        f"X has shape ({table.n}, {table.width}), but {_who(forest)} takes {width} columns; "
        f"pass (n, {width}){cure}"
    )


def _names_differ(ours: tuple[str, ...], theirs: tuple[str, ...], table: Table) -> InputError:
    cure = "X[list(forest.feature_names)]"
    if table.make == "pyarrow":
        cure = "X.select(list(forest.feature_names))"
    elif table.numbered is not None:
        cure = f"X.rename({'str' if table.single else 'columns=str'})[list(forest.feature_names)]"
    known, given = set(ours), set(theirs)
    missing = [name for name in ours if name not in given]
    extra = [name for name in theirs if name not in known]
    if missing:
        also = f" and has columns that the model does not know: {_some(extra)}" if extra else ""
        return InputError(
            f"X lacks columns of the model: {_some(missing)}{also}; rename or add them, then pass {cure}"
        )
    if extra:
        return InputError(f"X has columns that the model does not know: {_some(extra)}; pass {cure}")
    if len(theirs) > len(ours):
        return InputError(f"X has a column more than once; pass {cure}")
    at = next(i for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b)
    return InputError(
        f"X has the model's columns in another order (column {at} is {theirs[at]!r}, "
        f"the model's is {ours[at]!r}); pass {cure}"
    )


def _some(names: list[str], most: int = 5) -> str:
    shown = ", ".join(map(repr, names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def _who(forest: Forest) -> str:
    return f"the {forest.model_name}" if forest.model_name else "the forest"


# Categories


class _Coder:
    """One categorical column's values -> the codes the trees know; None, NaN and unknown ones -> NaN."""

    def __init__(self, j: int, categories: Iterable[Any], dtype: Any = np.float64) -> None:
        self.j = j
        self.codes = {value: code for code, value in enumerate(categories) if not is_missing(value)}
        text = [isinstance(value, str) for value in self.codes]
        self.takes_text, self.takes_numbers = any(text) or not text, not all(text) or not text
        known = [] if any(text) else sorted(self.codes)
        self._known = np.array(known, dtype=np.float64)
        self._code = np.array([self.codes[value] for value in known], dtype=np.float64)
        # Numbers that a float32 model asks to be equal are compared as it sees them: rounded.
        fractions = bool(known) and all(isinstance(value, float) for value in known)
        self._seen_as = dtype if fractions else np.float64

    def __call__(self, table: Table, column: Array, start: int) -> Array:
        if column.dtype.kind in NUMBERS and len(self._known):
            with np.errstate(over="ignore"):
                numbers = column.astype(self._seen_as).astype(np.float64)
            at = np.minimum(np.searchsorted(self._known, numbers), len(self._known) - 1)
            return np.where(self._known[at] == numbers, self._code[at], np.nan)
        values = column.tolist()
        try:
            codes = [self.codes.get(value, -1) for value in values]
        except TypeError:
            codes = [-1 if _unhashable(value) else self.codes.get(value, -1) for value in values]
        out = np.array(codes, dtype=np.float64)
        for i in np.flatnonzero(out < 0).tolist():
            self._refuse_other_kind(table, values[i], start + i)
        out[out < 0] = np.nan
        return out

    def _refuse_other_kind(self, table: Table, value: object, i: int) -> None:
        """An unknown category is fine, a code where text is wanted or text where numbers are is a mistake."""
        if is_missing(value) or (self.takes_text if isinstance(value, str) else self.takes_numbers):
            return
        raise InputError(
            f"X has {value!r} in {table.where(i, self.j)}, whose categories are "
            f"{'text' if self.takes_text else 'numbers'}: {_some(list(self.codes))}; "
            "pass the categories as they were for training"
        )


class _HashCoder:
    """A column whose categories CatBoost knows by their hashes -> the codes; unknown ones -> NaN.

    Taken is what CatBoost takes: text and integers. It refuses fractions and missing values.
    """

    def __init__(self, j: int, categories: Iterable[Any]) -> None:
        self.j = j
        self.codes = {value: float(code) for code, value in enumerate(categories)}

    def __call__(self, table: Table, column: Array, start: int) -> Array:
        values = column.tolist()
        for kind in set(map(type, values)):
            if not issubclass(kind, HASHED):
                i = next(i for i, value in enumerate(values) if type(value) is kind)
                raise InputError(
                    f"X has {values[i]!r} in {table.where(start + i, self.j)}, a column of categories: to "
                    "CatBoost they are text or integers. Turn them into text as for training, missing ones "
                    "too"
                )
        code = {value: self.codes.get(category_hash(value), np.nan) for value in set(values)}
        return np.fromiter(map(code.__getitem__, values), np.float64, len(values))


HASHED = (str, int, np.integer, np.bool_, bytes)


def _coders(forest: Forest, table: Table) -> Mapping[int, Coder]:
    if forest.frame_categories is not None:
        return _coders_in_order(forest, forest.frame_categories, table)
    if forest.codes_in_arrays:
        return category_types.coders(forest, table, _Coder)
    if forest.categories is None:
        return {}
    values_of = {j: values for j, values in enumerate(forest.categories) if values is not None}
    if forest.categories_hashed:
        return {j: _HashCoder(j, values) for j, values in values_of.items()}
    return {j: _Coder(j, values, forest.dtype) for j, values in values_of.items()}


def _coders_in_order(forest: Forest, lists: tuple[tuple[Any, ...], ...], table: Table) -> dict[int, _Coder]:
    """LightGBM's rule: the k-th column of a category type has the k-th list; an array holds codes."""
    columns = table.category_columns
    if columns is None:
        return {}
    if len(columns) != len(lists):
        if table.single:
            cure = "pass a row as a frame of one row, X.iloc[[i]], which keeps the types of its columns"
        elif lists:
            cure = "pass them as for training, X.astype({name: 'category'}), or an array of their codes"
        else:
            cure = "pass the numbers it was trained on"
        raise InputError(
            f"X has {len(columns)} columns of a category type, but {_who(forest)} was trained with "
            f"{len(lists)}; {cure}"
        )
    return {j: _Coder(j, values) for j, values in zip(columns, lists, strict=True)}


def _unhashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return True
    return False


# NaN and infinities


def _check(forest: Forest, rows: Rows, block: Array, start: int) -> None:
    """Raise for the first value that the model does not take; about 0.2 ns an element where there is none."""
    if forest.missing and forest.infinite:
        return
    limit = np.inf
    if not forest.infinite and rows.dtype == np.float32:
        limit = FLOAT32_LIMIT
    if block.size <= SMALL:
        flat = block.reshape(-1)
        with np.errstate(over="ignore"):
            if float(flat.dot(flat)) < limit * limit:
                return
    elif forest.missing:
        low, high = float(np.fmin.reduce(block, axis=None)), float(np.fmax.reduce(block, axis=None))
        if low > -limit and high < limit:
            return
    else:
        low, high = float(np.minimum.reduce(block, axis=None)), float(np.maximum.reduce(block, axis=None))
        if (low > -limit and high < limit) or (forest.infinite and low <= high):
            return
    wrong = np.isnan(block) if not forest.missing else np.zeros(block.shape, dtype=bool)
    if not forest.infinite:
        wrong |= np.abs(block) >= np.float64(limit)
    places = np.argwhere(wrong)
    if len(places):
        i, j = map(int, places[0])
        raise _not_taken(forest, rows, start + i, j, block[i, j])


def _not_taken(forest: Forest, rows: Rows, i: int, j: int, value: Any) -> InputError:
    table, place = rows.table, rows.table.where(i, j)
    cell = table.cell(i, j)
    coder = rows.coders.get(j)
    if isinstance(coder, _Coder | _HashCoder) and not is_missing(cell):
        return InputError(
            f"X has {cell!r} in {place}, which is not one of its categories: "
            f"{_some(list(coder.codes))}; {_who(forest)} takes known ones only"
        )
    if np.isnan(value):
        return InputError(
            f"X has NaN in {place}, but {_who(forest)} takes no missing values; fill them in or drop the row"
        )
    if not np.isinf(np.float64(cell)):  # type: ignore[arg-type]
        return InputError(
            f"X has {cell!s} in {place}, which is beyond float32, in which {_who(forest)} compares; "
            "scale or clip the column as for training"
        )
    return InputError(
        f"X has {cell!s} in {place}, but {_who(forest)} takes finite numbers only; clip it or drop the row"
    )
