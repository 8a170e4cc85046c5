"""Trees on their way from a library to a `Forest`: what every loader builds, whatever the library.

A loader copies its library's arrays into `Trees` unchanged (thresholds too), wraps them in a `Source` that
also knows how to ask the live model, and is done. Scaling, joining the members of an ensemble, subsets of
the columns and different comparison widths are operations on `Trees`, written once, here, all in whole
arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from leafgrad.errors import ModelFormatError, UnsupportedModelError
from leafgrad.forest import Forest

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Float = type[np.float32 | np.float64]
Categories = tuple[tuple[Any, ...] | None, ...]


@dataclass(frozen=True)
class Trees:
    """All trees of a model, one entry per node; a child is counted from its tree's root, which is node 0.

    `threshold` holds the library's own numbers: x, first rounded to `dtype`, goes left if `x <= threshold`
    (or `<`, as `compare` says).
    """

    start: IntArray  # (T+1,) nodes of tree t are start[t]:start[t+1]
    left: npt.NDArray[np.int32]  # (n,) -1 at a leaf
    right: npt.NDArray[np.int32]  # (n,) -1 at a leaf
    feature: npt.NDArray[np.int32]  # (n,) -1 at a leaf
    threshold: FloatArray  # (n,)
    cover: FloatArray | None  # (n,) training weight; None: the model keeps none
    value: FloatArray  # (n, W) only the leaves' rows count
    constant: FloatArray  # (K,) what the model adds to its trees
    dtype: Float = np.float64
    output: npt.NDArray[np.int32] | None = None  # (T,) the output a tree adds to; None: leaves hold all K
    compare: str = "<="
    missing_left: BoolArray | None = None  # (n,) NaN goes left
    zero_missing: BoolArray | None = None  # (n,) numbers next to 0 go where NaN goes
    other_left: BoolArray | None = None  # (n,) codes beyond the set, negative ones too, go left
    negative_other: BoolArray | None = None  # (n,) numbers between -1 and 0 are such codes too, not code 0
    sets: dict[int, IntArray] = field(default_factory=dict)  # categorical node -> codes that go left
    categories: Categories | None = None  # per feature: None, or the values behind the codes
    categories_hashed: bool = False  # the values are CatBoost's hashes

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.start) - 1

    def scaled(self, factor: float) -> Trees:
        """Give the same trees with every output multiplied.

        Parameters
        ----------
        factor : float
            What to multiply by.
        """
        return replace(self, value=self.value * factor, constant=self.constant * factor)

    def on_features(self, columns: npt.ArrayLike, n_features: int) -> Trees:
        """Give the same trees on a wider matrix, of whose columns they have seen some.

        Parameters
        ----------
        columns : array-like
            For each feature of these trees its column in the wider matrix.
        n_features : int
            Width of the wider matrix.
        """
        place = np.asarray(columns, dtype=np.int32)
        feature = np.where(self.feature >= 0, place[self.feature], np.int32(-1))
        wide: list[tuple[Any, ...] | None] = [None] * n_features
        for column, values in zip(place.tolist(), self.categories or (), strict=self.categories is not None):
            wide[column] = values if values is not None else wide[column]
        return replace(self, feature=feature, categories=None if self.categories is None else tuple(wide))

    def on_outputs(self, columns: npt.ArrayLike, n_outputs: int) -> Trees:
        """Give the same trees for a model with more outputs, the others being 0.

        Parameters
        ----------
        columns : array-like
            For each output of these trees its place among all.
        n_outputs : int
            Number of all outputs.
        """
        place = np.asarray(columns, dtype=np.int64)
        value, constant = np.zeros((len(self.value), n_outputs)), np.zeros(n_outputs)
        value[:, place] = self.value
        constant[place] = self.constant
        return replace(self, value=value, constant=constant)

    def compared_in_float64(self) -> Trees:
        """Give trees that send every float64 x the same way, comparing it as it is, not rounded."""
        if self.dtype == np.float64:
            return self
        return replace(self, threshold=last_rounding_to(self.threshold), dtype=np.float64)

    def on_rounded_rows(self) -> Trees:
        """Give the same trees for rows that were rounded to float32 before they came here."""
        return replace(self, dtype=np.float32)


def parents(start: IntArray, left: npt.NDArray[np.int32], right: npt.NDArray[np.int32]) -> IntArray:
    """Global index of every node's parent, -1 at roots.

    Parameters
    ----------
    start, left, right : array
        As in `Trees`.
    """
    root = np.repeat(start[:-1], np.diff(start))
    inner = np.flatnonzero(left >= 0)
    found = np.full(len(left), -1, dtype=np.int64)
    found[root[inner] + left[inner]] = inner
    found[root[inner] + right[inner]] = inner
    return found


def summed_up(
    start: IntArray, left: npt.NDArray[np.int32], right: npt.NDArray[np.int32], cover: FloatArray
) -> FloatArray:
    """Give the cover of every node: the leaves' own, and the sums of their leaves' at inner nodes.

    Parameters
    ----------
    start, left, right : array
        As in `Trees`.
    cover : array
        Cover of the leaves `(n_nodes,)`; 0 at inner nodes.
    """
    # Level by level from below: the nodes of each depth add themselves to their parents.
    parent = parents(start, left, right)
    levels, seen = [start[:-1]], 0
    root = np.repeat(start[:-1], np.diff(start))
    while len(levels[-1]):
        seen += len(levels[-1])
        if seen > len(left):
            raise ModelFormatError("the trees are damaged: children lead back to nodes above or beside them")
        inner = levels[-1][left[levels[-1]] >= 0]
        levels.append(np.concatenate([root[inner] + left[inner], root[inner] + right[inner]]))
    total = cover.copy()
    for level in reversed(levels[1:]):
        np.add.at(total, parent[level], total[level])
    return total


def floor_to_float32(x: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """Largest float32 that is at most x: for every float32 u, `u <= x` is `u <= floor_to_float32(x)`.

    Parameters
    ----------
    x : array-like
        Any float64 numbers but NaN.
    """
    wide = np.asarray(x, dtype=np.float64)
    with np.errstate(over="ignore"):
        near = wide.astype(np.float32)
        below = np.nextafter(near, np.float32(-np.inf))
    return np.where(near.astype(np.float64) > wide, below, near)


def last_rounding_to(x: npt.ArrayLike) -> FloatArray:
    """Largest float64 b whose float32 rounding is at most x: `float32(y) <= x` is `y <= b` for every y.

    Parameters
    ----------
    x : array-like
        Any float64 numbers but NaN.
    """
    low = floor_to_float32(x)
    beyond = 2.0**128 - 2.0**103  # rounds to infinity; the double before it does not
    with np.errstate(over="ignore", invalid="ignore"):
        high = np.nextafter(low, np.float32(np.inf))
        middle = (low.astype(np.float64) + high.astype(np.float64)) / 2  # exact: neighbours
        middle = np.where(np.isinf(middle), np.where(low > 0, beyond, -beyond), middle)
        # A tie rounds to the even one of the neighbours, which is `low` or is not.
        b = np.where(middle.astype(np.float32) <= low, middle, np.nextafter(middle, -np.inf))
    return np.where(low == np.inf, np.inf, b)


def joined(parts: Sequence[Trees]) -> Trees:
    """Sum of several models of the same columns and outputs, as one.

    Parameters
    ----------
    parts : sequence of Trees
        The models; leaves must hold all outputs.
    """
    if len(parts) == 1:
        return parts[0]
    single = all(part.dtype == np.float32 for part in parts)
    parts = _in_common_codes([part if single else part.compared_in_float64() for part in parts])
    offsets = np.cumsum([0] + [len(part.left) for part in parts])[:-1].tolist()
    if any(part.compare != parts[0].compare for part in parts):
        raise ValueError("the parts compare in different ways")
    return Trees(
        start=np.concatenate(
            [parts[0].start[:1], *(p.start[1:] + o for p, o in zip(parts, offsets, strict=True))]
        ),
        left=np.concatenate([p.left for p in parts]),
        right=np.concatenate([p.right for p in parts]),
        feature=np.concatenate([p.feature for p in parts]),
        threshold=np.concatenate([p.threshold for p in parts]),
        cover=np.concatenate([p.cover for p in parts if p.cover is not None]),
        value=np.concatenate([p.value for p in parts]),
        constant=np.sum([p.constant for p in parts], axis=0),
        dtype=parts[0].dtype,
        compare=parts[0].compare,
        missing_left=_flags(parts, [p.missing_left for p in parts]),
        zero_missing=_flags(parts, [p.zero_missing for p in parts]),
        other_left=_flags(parts, [p.other_left for p in parts]),
        negative_other=_flags(parts, [p.negative_other for p in parts]),
        sets={n + o: codes for p, o in zip(parts, offsets, strict=True) for n, codes in p.sets.items()},
        categories=parts[0].categories,
    )


def _flags(parts: Sequence[Trees], given: Sequence[BoolArray | None]) -> BoolArray | None:
    """Join the parts' flags; a part without any has them all False."""
    if all(flags is None for flags in given):
        return None
    each = [
        np.zeros(len(p.left), np.bool_) if own is None else own for p, own in zip(parts, given, strict=True)
    ]
    return np.concatenate(each)


def _in_common_codes(parts: Sequence[Trees]) -> list[Trees]:
    """Recode all parts to one list of values per categorical column: the union, in order of sight."""
    if all(part.categories is None for part in parts):
        return list(parts)
    width = max(len(part.categories or ()) for part in parts)
    own = [part.categories or (None,) * width for part in parts]
    union = tuple(_union([categories[j] for categories in own]) for j in range(width))
    return [
        replace(part, sets=_recoded(part, categories, union), categories=union)
        for part, categories in zip(parts, own, strict=True)
    ]


def _union(lists: Sequence[tuple[Any, ...] | None]) -> tuple[Any, ...] | None:
    known = [values for values in lists if values is not None]
    return tuple(dict.fromkeys(value for values in known for value in values)) if known else None


def _recoded(part: Trees, own: Categories, union: Categories) -> dict[int, IntArray]:
    """Give the part's sets in the codes of `union`."""
    code = {
        j: np.array([values.index(value) for value in mine], dtype=np.int64)
        for j, (mine, values) in enumerate(zip(own, union, strict=True))
        if mine is not None and values is not None and mine != values
    }
    sets = dict(part.sets)
    for node, codes in part.sets.items() if code else ():
        j = int(part.feature[node])
        if j in code:
            sets[node] = code[j][codes]
            if part.missing_left is not None and part.missing_left[node]:
                # Values that only others know are unknown to this part, and go where missing ones go.
                foreign = np.setdiff1d(np.arange(len(union[j] or ())), code[j])
                sets[node] = np.union1d(sets[node], foreign)
    return sets


@dataclass(frozen=True)
class Source:
    """What a loader hands over: the trees, the facts about the model, and two ways to ask the live model."""

    trees: Trees
    n_features: int
    raw: Callable[[Any], Any] | None  # X -> the live model's own output, (n,) or (n, K); None: not at hand
    leaves: Callable[[Any], Any] | None = None  # X -> (n, T) leaf nodes within their trees; -1: not told
    plain: bool = False  # `raw` is `predict` or `predict_proba`: a mean of such models is a forest again
    tolerance: float = 1e-12  # of outputs against the live model's; see `check.compare`
    feature_names: tuple[str, ...] | None = None
    output_names: tuple[Any, ...] | None = None
    classes: tuple[Any, ...] | None = None
    link: str = "identity"
    missing: bool = False
    missing_value: float | None = None  # a number that also means NaN
    absent_missing: bool = False  # an absent entry of a sparse X is NaN, not 0
    infinite: bool = True
    frame_categories: tuple[tuple[Any, ...], ...] | None = None  # see Forest
    rounds_integers: bool = False
    codes_in_arrays: bool = False  # see Forest
    negative_weights: bool = False  # its library takes them in training
    library: str = ""
    model_name: str = ""

    def without_covers(self) -> Source:
        """Give the same source for covers that will be counted: its own are not even looked at."""
        return replace(self, trees=replace(self.trees, cover=None))

    def forest(self) -> Forest:
        """Build the forest of these trees."""
        trees = self.trees
        _refuse_two_readings(trees, self.model_name)
        if self.negative_weights:
            _refuse_negative_covers(trees, self.model_name)
        return Forest.from_arrays(
            tree_start=trees.start,
            left=trees.left,
            right=trees.right,
            feature=trees.feature,
            threshold=trees.threshold,
            cover=np.ones(len(trees.left)) if trees.cover is None else trees.cover,
            value=trees.value,
            tree_output=trees.output,
            compare=trees.compare,
            missing_left=trees.missing_left if self.missing else None,
            zero_missing=trees.zero_missing,
            other_left=trees.other_left,
            negative_other=trees.negative_other,
            categories_left=trees.sets or None,
            dtype=trees.dtype,
            constant=trees.constant,
            n_features=self.n_features,
            n_outputs=len(trees.constant),
            feature_names=self.feature_names,
            output_names=self.output_names,
            classes=self.classes,
            link=self.link,
            missing=self.missing,
            missing_value=self.missing_value,
            absent_missing=self.absent_missing,
            infinite=self.infinite,
            categories=trees.categories,
            categories_hashed=trees.categories_hashed,
            library=self.library,
            model_name=self.model_name,
        ).replace(
            frame_categories=self.frame_categories,
            rounds_integers=self.rounds_integers,
            codes_in_arrays=self.codes_in_arrays,
        )


def _refuse_two_readings(trees: Trees, model_name: str) -> None:
    """Refuse a column that one member of an ensemble splits by categories and another by its number."""
    if trees.categories is None:
        return
    coded = np.array([values is not None for values in trees.categories])
    numeric = trees.feature >= 0
    numeric[list(trees.sets)] = False
    clash = np.flatnonzero(numeric & coded[trees.feature])
    if len(clash):
        raise UnsupportedModelError(
            f"in this {model_name}, one member splits column {int(trees.feature[clash[0]])} by categories "
            "and another by its number, and no forest does both. Load the members one by one, or fit them "
            "all with the same categorical columns."
        )


def _refuse_negative_covers(trees: Trees, model_name: str) -> None:
    """Refuse training weights that cannot be shares of anything."""
    if trees.cover is not None and trees.cover.min(initial=0.0) < 0.0:
        raise UnsupportedModelError(
            f"this {model_name} was trained with negative weights: {trees.cover.min():.6g} came to a node in "
            "all, which cannot weigh a side of a split on an unknown feature. Pass cover='counts', if its "
            "library keeps plain counts, or rows to count from, data=X."
        )


def names(given: Iterable[Any] | None) -> tuple[str, ...] | None:
    """Make names plain strings; None where there are none.

    Parameters
    ----------
    given : iterable or None
        The library's names.
    """
    return None if given is None else tuple(str(name) for name in given)


def labels(given: Iterable[Any]) -> tuple[Any, ...]:
    """Make class labels plain Python values.

    Parameters
    ----------
    given : iterable
        The library's labels, in its order.
    """
    return tuple(np.asarray(given).tolist())
