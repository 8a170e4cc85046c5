"""`Explanation`: the numbers, what they are called, and the ways out to tables, files and shap.

It is frozen and refers to the user's X instead of copying it; `data`, `order` and all else are made when
asked for. Slicing gives an Explanation again, and never drops the axes of rows and features.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from leafgrad import tables
from leafgrad.errors import InputError

if TYPE_CHECKING:
    import shap

Floats: TypeAlias = npt.NDArray[np.float64]
Array: TypeAlias = npt.NDArray[Any]

NOT_A_FEATURE = -1


@dataclass(frozen=True, eq=False, slots=True)
class Source:
    """Where `data` comes from: the user's table, and its column for each feature of the explanation.

    A player of several features has no one column: `columns` holds -1 there, and its data are missing.
    """

    table: tables.Table
    columns: npt.NDArray[np.intp] | None = None  # None: all of them, in their order

    @staticmethod
    def of(table: tables.Table, of_feature: npt.NDArray[np.int32] | None) -> Source:
        """The source of an explanation whose players own the table's columns so."""
        if of_feature is None:
            return Source(table)
        _, first, count = np.unique(of_feature, return_index=True, return_counts=True)
        return Source(table, np.where(count == 1, first, NOT_A_FEATURE))

    def take(self, rows: Any, features: Any) -> Source:
        """The source of a slice."""
        columns = self.columns
        if features is not None:
            columns = (np.arange(self.table.width) if columns is None else columns)[features]
        table = self.table if rows is None else self.table.take(np.arange(self.table.n)[rows])
        return Source(table, columns)

    def data(self) -> Array:
        """The user's values, `(n, N)`."""
        data = self.table.data()
        if self.columns is None:
            return data
        missing = self.columns == NOT_A_FEATURE
        if missing.any() and data.dtype.kind in "iub":
            data = data.astype(np.float64)
        data = data[:, self.columns]
        data[:, missing] = None if data.dtype.kind == "O" else np.nan
        return data


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Explanation:
    """What `explain` returns: a score per row and feature, with all that is needed to read it.

    Attributes
    ----------
    values : ndarray, `(n, N)` or `(n, N, K)`
        Score of each feature (or player), per row and output.
    base_values : ndarray, `(n,)` or `(n, K)`
        The model's output when nothing is known.
    data : ndarray, `(n, N)`
        The user's values of the features; missing for a group.
    feature_names : tuple of str
        x0, x1, ... where the model has no names.
    output_names : tuple
        A label per output; empty where each row has its own, which `output` then holds.
    method : str
        The value, as in `explain(value=...)`.
    additive : bool
        Whether values sum to prediction - base, by the kind of value.
    output : None, label or ndarray of labels
        What was explained: all outputs, one, or one per row.
    groups : dict or None
        The groups of features that were one player.
    trace : ndarray or None, `(n, T+1)` or `(n, T+1, K)`
        From `rank(trace=True)`: the relaxed objective (F(z) - F(1-z)) / 2 at the start and after each step.
    z, subset : ndarray or None, shaped like `values`
        From `rank(trace=True)`: the last z, and whether it is above 1/2.
    rate : ndarray or None, shaped like `base_values`
        From `rank`: the learning rate, given or chosen.
    chosen : int ndarray or None, shaped like `base_values`
        From `best_of`: the number of the candidate that won.

    Examples
    --------
    >>> import leafgrad as lg
    >>> stump = lg.Forest.from_arrays(
    ...     tree_start=[0, 3], left=[1, -1, -1], right=[2, -1, -1], feature=[0, -1, -1],
    ...     threshold=[0.5, 0, 0], cover=[4, 3, 1], value=[0, 0, 1], feature_names=["age", "height"])
    >>> explanation = lg.explain(stump, [[0.7, 9.0], [0.2, 3.0]])
    >>> explanation
    Explanation of 2 rows x 2 features by shapley; mean |value|: age 0.5, height 0
    >>> explanation[1, "age"].values
    array([[-0.25]])
    """

    values: Floats
    base_values: Floats
    feature_names: tuple[str, ...]
    output_names: tuple[Any, ...]
    method: str
    additive: bool
    output: Any = None
    groups: dict[str, tuple[Any, ...]] | None = None
    trace: Floats | None = None
    z: Floats | None = None
    subset: Array | None = None
    rate: Floats | None = None
    chosen: npt.NDArray[np.intp] | None = None
    source: Source

    def __post_init__(self) -> None:
        self.values.flags.writeable = False
        self.base_values.flags.writeable = False

    @functools.cached_property
    def data(self) -> Array:
        """The user's values of the features, `(n, N)`: numbers, or objects where some column is no number."""
        return self.source.data()

    @functools.cached_property
    def order(self) -> npt.NDArray[np.intp]:
        """Features from the highest score to the lowest, shaped like `values`; ties by the lower index."""
        return np.argsort(0.0 - self.values, axis=1, kind="stable")  # 0 - x: -0 and 0 tie

    def top(self, k: int = 10) -> Array:
        """Names of the k features with the highest scores, best first.

        Parameters
        ----------
        k : int
            At least 1; more than there are features gives all.

        Returns
        -------
        ndarray of str
            `(n, k)` or `(n, k, K)`.

        Examples
        --------
        >>> import leafgrad as lg
        >>> stump = lg.Forest.from_arrays(
        ...     tree_start=[0, 3], left=[1, -1, -1], right=[2, -1, -1], feature=[0, -1, -1],
        ...     threshold=[0.5, 0, 0], cover=[4, 3, 1], value=[0, 0, 1], n_features=2)
        >>> lg.explain(stump, [[0.7, 9.0], [0.2, 3.0]]).top(1)
        array([['x0'],
               ['x1']], dtype='<U2')
        """
        names: Array = np.array(self.feature_names)
        return names[self.order[:, : _at_least_one(k)]]

    def to_frame(self, *, long: bool = False) -> Any:
        """The values as a data frame of the same make as X; pandas for an array.

        Parameters
        ----------
        long : bool
            False: a column per feature and a line per row of X (per row and output, told by the columns `row`
            and `output`, where there are several outputs). True: a line per value, with the columns `row`,
            `output` (where outputs differ), `feature`, `data`, `value`.

        Returns
        -------
        data frame

        Examples
        --------
        >>> import leafgrad as lg
        >>> stump = lg.Forest.from_arrays(
        ...     tree_start=[0, 3], left=[1, -1, -1], right=[2, -1, -1], feature=[0, -1, -1],
        ...     threshold=[0.5, 0, 0], cover=[4, 3, 1], value=[0, 0, 1], n_features=2)
        >>> lg.explain(stump, [[0.7, 9.0], [0.2, 3.0]]).to_frame()
             x0   x1
        0  0.75  0.0
        1 -0.25  0.0
        """
        n, width, outputs = (*self.values.shape, 1)[:3]
        rows: dict[str, Any] = {"row": np.repeat(np.arange(n), outputs)}
        if outputs > 1 or self.values.ndim == 3:
            rows["output"] = [_told(label) for label in self.output_names] * n
        elif isinstance(self.output, np.ndarray):
            rows["output"] = [_told(label) for label in self.output.tolist()]
        values = np.moveaxis(self.values.reshape(n, width, outputs), 2, 1).reshape(-1, width)
        make, index = self.source.table.make, self.source.table.index
        if long:
            columns = {
                name: np.repeat(column, width) if name == "row" else _repeated(column, width)
                for name, column in rows.items()
            }
            columns["feature"] = list(self.feature_names) * len(values)
            columns["data"] = _one_type(np.repeat(self.data, outputs, axis=0).ravel())
            columns["value"] = values.ravel()
            return tables.like(make, columns)
        features = {name: values[:, j] for j, name in enumerate(self.feature_names)}
        if self.values.ndim == 2:
            return tables.like(make, features, index)
        clash = rows.keys() & features.keys()
        if clash:
            raise InputError(f"to_frame has a column of its own called {min(clash)!r}; pass long=True")
        return tables.like(make, {**rows, **features}, None if index is None else index.repeat(outputs))

    def to_shap(self) -> shap.Explanation:
        """The same numbers as a `shap.Explanation`, for shap's plots.

        Returns
        -------
        shap.Explanation
        """
        try:
            import shap
        except ImportError as error:
            raise ImportError("to_shap needs the package shap: pip install shap") from error
        return shap.Explanation(
            values=self.values.copy(),
            base_values=self.base_values.copy(),
            data=self.data,
            feature_names=list(self.feature_names),
            output_names=[_told(label) for label in self.output_names] if self.values.ndim == 3 else None,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file (npz, no pickle); it appears whole or not at all.

        Parameters
        ----------
        path : path
            Taken as it is; an existing file is replaced.
        """
        from leafgrad.explanation_file import save

        save(self, path)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Explanation:
        """Read what `save` wrote; the row labels of a pandas frame are not kept.

        Parameters
        ----------
        path : path
            A file that `save` wrote.

        Returns
        -------
        Explanation

        Raises
        ------
        ModelFormatError
            Where the file is damaged, or is none of ours.
        """
        from leafgrad.explanation_file import load

        return load(path)

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Explanation]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key: Any) -> Explanation:
        """Rows, features by name, position or mask, outputs by label: e[3], e[:, "age"], e[:, :, "yes"]."""
        keys = key if isinstance(key, tuple) else (key,)
        if len(keys) > self.values.ndim:
            axes = "rows, features" + (", outputs" if self.values.ndim == 3 else "")
            raise InputError(
                f"an explanation of shape {self.values.shape} is sliced by {axes}; {len(keys)} came"
            )
        rows = _positions(keys[0], len(self.values), "row")
        features = None
        if len(keys) > 1:
            features = _positions(keys[1], len(self.feature_names), "feature", self.feature_names)
        sliced = self._slice(rows, features)
        return sliced._of_outputs(keys[2]) if len(keys) > 2 else sliced

    def _slice(self, rows: Any, features: Any) -> Explanation:
        def cut(array: Array, *, by_feature: bool = True) -> Array:
            array = array[rows]
            return array if features is None or not by_feature else array[:, features]

        names = self.feature_names
        if features is not None:
            names = tuple(np.array(names, dtype=object)[features].tolist())
        return replace(
            self,
            values=cut(self.values),
            base_values=self.base_values[rows],
            feature_names=names,
            output=self.output[rows] if isinstance(self.output, np.ndarray) else self.output,
            trace=None if self.trace is None else cut(self.trace, by_feature=False),
            z=None if self.z is None else cut(self.z),
            subset=None if self.subset is None else cut(self.subset),
            rate=None if self.rate is None else self.rate[rows],
            chosen=None if self.chosen is None else self.chosen[rows],
            source=self.source.take(rows, features),
        )

    def _of_outputs(self, key: Any) -> Explanation:
        """One output by its label, dropping the axis; several by a list of labels or a slice."""
        if isinstance(key, slice):
            at: Any = list(range(len(self.output_names)))[key]
        elif isinstance(key, list):
            at = [self._output(label) for label in key]
        else:
            at = self._output(key)

        def cut(array: Array | None) -> Any:
            return None if array is None else array[..., at]

        one = isinstance(at, int)
        return replace(
            self,
            values=cut(self.values),
            base_values=cut(self.base_values),
            output_names=tuple(self.output_names[k] for k in ([at] if one else at)),
            output=self.output_names[at] if one else self.output,
            trace=cut(self.trace),
            z=cut(self.z),
            subset=cut(self.subset),
            rate=cut(self.rate),
            chosen=cut(self.chosen),
        )

    def _output(self, label: Any) -> int:
        try:
            return self.output_names.index(label)
        except ValueError:
            known = ", ".join(map(repr, self.output_names[:20]))
            raise InputError(f"the explanation has no output {label!r}; its outputs are {known}") from None

    def __repr__(self) -> str:
        n, width, outputs = (*self.values.shape, 1)[:3]
        shape = f"{_count(n, 'row')} x {_count(width, 'feature')}"
        if self.values.ndim == 3:
            shape += f" x {_count(outputs, 'output')}"
        text = f"Explanation of {shape} by {self.method}"
        if self.output is not None and not isinstance(self.output, np.ndarray):
            text += f", output {self.output!r}"
        if self.values.size == 0:
            return text
        size = np.abs(self.values).mean(axis=(0, 2) if self.values.ndim == 3 else 0)
        first = np.argsort(-size, kind="stable")[:5].tolist()
        shown = ", ".join(f"{self.feature_names[j]} {size[j]:.4g}" for j in first)
        return f"{text}; mean |value|: {shown}{', ...' if width > 5 else ''}"


def _at_least_one(k: object) -> int:
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise InputError(f"top(k={k!r}): pass an integer from 1")
    return int(k)


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _told(label: Any) -> Any:
    """A label as a cell of a table: pairs as text, which every make of frame can hold."""
    return str(label) if isinstance(label, tuple) else label


def _repeated(items: list[Any], times: int) -> list[Any]:
    return [item for item in items for _ in range(times)]


def _one_type(cells: Array) -> Any:
    """A column that every make of frame can hold: numbers, or text with None for what is missing."""
    if cells.dtype.kind != "O":
        return cells
    return [None if tables.is_missing(cell) else str(cell) for cell in cells.tolist()]


def _positions(key: Any, length: int, what: str, names: tuple[str, ...] | None = None) -> Any:
    """A key of one axis as a slice or an array of positions; it never drops the axis."""
    if isinstance(key, slice):
        if isinstance(key.start, str) or isinstance(key.stop, str):
            raise InputError(f"{key.start!r}:{key.stop!r}: a slice goes by position; pass a list of names")
        return key
    if isinstance(key, str):
        if names is None:
            raise InputError(f"rows go by position, {key!r} came; for a feature pass e[:, {key!r}]")
        key = _position(key, names)
    if not isinstance(key, bool) and hasattr(key, "__index__") and np.ndim(key) == 0:
        i = key.__index__()
        if not -length <= i < length:
            raise IndexError(f"{what} {i} of an explanation of {length}")
        i %= length
        return slice(i, i + 1)
    if names is not None and isinstance(key, list | tuple | np.ndarray):
        key = [_position(item, names) if isinstance(item, str) else item for item in key]
    array = np.asarray(key) if np.size(key) else np.empty(0, dtype=np.intp)
    if array.ndim != 1 or array.dtype.kind not in "iub":
        raise InputError(
            f"{key!r} picks no {what}s; pass a position, a slice, a mask or a list of positions"
            + (" or names" if names is not None else "")
        )
    if array.dtype.kind == "b":
        if len(array) != length:
            raise InputError(f"the mask of {what}s has {len(array)} entries, the explanation {length}")
        return np.flatnonzero(array)
    if len(array) and not (array.min() >= -length and array.max() < length):
        raise IndexError(
            f"{what} {array[(array < -length) | (array >= length)][0]} of an explanation of {length}"
        )
    array = array % length if length else array
    if names is not None and len(np.unique(array)) < len(array):
        raise InputError(f"{key!r} has a feature twice; name each once")
    return array


def _position(name: str, names: tuple[str, ...]) -> int:
    try:
        return names.index(name)
    except ValueError:
        known = ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")
        raise InputError(f"the explanation has no feature {name!r}; its features are {known}") from None
