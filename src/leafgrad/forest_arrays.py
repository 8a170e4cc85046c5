"""The arrays of `Forest.from_arrays` as the core wants them.

What may be left out is filled in, every comparison is `x <= t` in the model's width, and sets of categories
are bits. The core checks that the nodes make trees.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leafgrad import _core, forest_arguments
from leafgrad.errors import InputError, ModelFormatError
from leafgrad.forest_arguments import vector as _vector

# The bits of `flags`, and the largest number that ZERO_MISSING takes for zero: native/split.h has the same.
MISSING_LEFT, CATEGORICAL, OTHER_LEFT, ZERO_MISSING, NEGATIVE_OTHER = 1, 2, 4, 8, 16
LARGEST_ZERO = float(np.float32(1e-35))


def core(
    *,
    tree_start: ArrayLike,
    left: ArrayLike,
    right: ArrayLike,
    feature: ArrayLike,
    threshold: ArrayLike,
    cover: ArrayLike,
    value: ArrayLike,
    tree_output: ArrayLike | None,
    missing_left: ArrayLike | None,
    categories_left: Mapping[int, Iterable[int]] | None,
    other_left: ArrayLike | None,
    zero_missing: ArrayLike | None,
    negative_other: ArrayLike | None,
    compare: str,
    dtype: Any,
    infinite: bool,
    n_features: int | None,
    n_outputs: int | None,
    least_features: int,
) -> _core.Forest:
    """The native forest; see `Forest.from_arrays`. `least_features` is how many there are names of."""
    starts = _vector(tree_start, np.int64, "tree_start")
    lefts = _vector(left, np.int32, "left")
    n = len(lefts)
    features = _vector(feature, np.int32, "feature")
    split = lefts >= 0
    if len(features) == n:
        features = np.where(split, features, -1).astype(np.int32)
    values = forest_arguments.values(value)
    if len(values) == n:
        values[split] = 0.0
    if tree_output is None:
        outputs = np.full(max(len(starts) - 1, 0), -1, np.int32)
        n_outputs = values.shape[1] if n_outputs is None else n_outputs
        if values.shape[1] == 1 and n_outputs == 1:
            outputs[:] = 0
    else:
        outputs = _vector(tree_output, np.int32, "tree_output")
        n_outputs = int(outputs.max(initial=0)) + 1 if n_outputs is None else n_outputs

    width = np.dtype(dtype)
    if width not in (np.float32, np.float64):
        raise InputError(
            f"dtype is {width}; wanted float32 or float64, the width in which the model compares"
        )
    flags = np.zeros(n, np.uint8)
    for flag, name, given in (
        (MISSING_LEFT, "missing_left", missing_left),
        (OTHER_LEFT, "other_left", other_left),
        (ZERO_MISSING, "zero_missing", zero_missing),
        (NEGATIVE_OTHER, "negative_other", negative_other),
    ):
        if given is not None:
            flags |= np.where(forest_arguments.flags(given, n, name), flag, 0).astype(np.uint8)
    sets, set_start, set_words = _category_sets(forest_arguments.category_sets(categories_left, split), n)
    flags[sets >= 0] |= CATEGORICAL
    if n_features is None:
        n_features = max(int(features.max(initial=-1)) + 1, least_features)
    return _core.Forest(
        tree_start=starts,
        left=lefts,
        right=_vector(right, np.int32, "right"),
        feature=features,
        threshold=_thresholds(
            _vector(threshold, np.float64, "threshold"), split & (sets < 0), compare, width, infinite
        ),
        flags=flags,
        category_set=sets,
        set_start=set_start,
        set_words=set_words,
        cover=_vector(cover, np.float64, "cover"),
        value=np.ascontiguousarray(values),
        tree_output=outputs,
        n_features=n_features,
        n_outputs=n_outputs,
        single=width == np.float32,
    )


def _thresholds(
    given: NDArray[np.float64], numeric: NDArray[np.bool_], compare: str, width: np.dtype[Any], infinite: bool
) -> NDArray[np.float64]:
    """Every comparison as `x <= t` with t in the model's width, deciding exactly as the one given."""
    if compare not in ("<=", "<"):
        raise InputError(f"compare is {compare!r}; wanted '<=' or '<'")
    if len(given) != len(numeric):
        return given  # the core says what is wrong
    out = np.where(numeric, given, 0.0)
    if np.isnan(out).any():
        return out
    if width == np.float32:
        with np.errstate(over="ignore"):
            single = out.astype(np.float32)
            below = np.nextafter(single, np.float32(-np.inf))
        # A float32 x is <= t exactly when it is <= the largest float32 that is: round down.
        above = single > out if compare == "<=" else single >= out
        out = np.where(above, below, single).astype(np.float64)
    elif compare == "<":
        out = np.nextafter(out, -np.inf)
    if compare == "<" and infinite and (given[numeric] == -np.inf).any():
        raise ModelFormatError("a split asks for x < -inf, which sends nothing left; leave such a split out")
    return np.where(numeric, out, 0.0)


def _category_sets(
    given: Mapping[int, Iterable[int]], n: int
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.uint32]]:
    sets = np.full(n, -1, np.int32)
    words: list[NDArray[np.uint32]] = []
    # Nodes may share one array of codes, and then share its set; held here, its id stays its own.
    known: dict[int, tuple[Iterable[int], int]] = {}
    for node, codes in given.items():
        if id(codes) in known:
            sets[node] = known[id(codes)][1]
            continue
        listed = np.fromiter(codes, dtype=np.int64)
        bits = np.zeros((int(listed.max(initial=-1)) // 32 + 1) * 32, np.uint8)
        bits[listed] = 1
        words.append(np.packbits(bits, bitorder="little").view("<u4").astype(np.uint32))
        sets[node] = len(words) - 1
        known[id(codes)] = (codes, len(words) - 1)
    start = np.cumsum([0, *(len(w) for w in words)], dtype=np.int64)
    return sets, start, np.concatenate(words) if words else np.zeros(0, np.uint32)
