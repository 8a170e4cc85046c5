"""LightGBM's splits as `Trees`: its rules for missing values, zeros and categories.

A number goes left if it is at most the threshold, in float64. Which numbers are missing, each split says for
itself: none (then NaN counts as 0), zeros (and NaN with them) or NaN; missing ones go the split's own way.
Numbers within 1e-35 of 0 are 0 before anything is asked. A category goes left if its code is in the split's
set; NaN, negative and unseen ones go right.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from leafgrad.errors import InputError, ModelFormatError
from leafgrad.forest import LARGEST_ZERO
from leafgrad.load.lightgbm_text import Text
from leafgrad.load.trees import BoolArray, FloatArray, IntArray, Trees, summed_up

CATEGORICAL, DEFAULT_LEFT, MISSING_TYPE = 1, 2, 12  # bits of decision_type
NONE, ZERO, NAN = 0, 4, 8  # of MISSING_TYPE


def trees_of(text: Text, cover: str | None, name: str) -> Trees:
    """Build the trees; nodes are a tree's splits, then its leaves, in LightGBM's order.

    Parameters
    ----------
    text : Text
        The parsed model.
    cover : str or None
        None or "counts": training rows. "hessian": sums of second derivatives.
    name : str
        What messages call the model.
    """
    n_splits = text.n_leaves - 1
    start = np.concatenate([[0], np.cumsum(n_splits + text.n_leaves)])
    tree = np.repeat(np.arange(text.n_trees), n_splits)
    split = _places(start[:-1], n_splits)
    leaf = _places(start[:-1] + n_splits, text.n_leaves)
    _check(text, n_splits[tree], name)
    n = int(start[-1])

    def of_splits(given: npt.NDArray[Any], leaf: float, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        out = np.full(n, leaf, dtype=dtype)
        out[split] = given
        return out

    coded = (text.decision & CATEGORICAL) != 0
    kind = text.decision & MISSING_TYPE
    zero_left = text.threshold >= 0
    left = np.where(kind == NONE, zero_left, (text.decision & DEFAULT_LEFT) != 0)
    children = [np.where(child >= 0, child, n_splits[tree] - 1 - child) for child in (text.left, text.right)]
    value = np.zeros((n, 1))
    value[leaf, 0] = text.value
    trees = Trees(
        start=start,
        left=of_splits(children[0], -1, np.int32),
        right=of_splits(children[1], -1, np.int32),
        feature=of_splits(text.feature, -1, np.int32),
        threshold=of_splits(_beside_zero(np.where(coded, 0, text.threshold)), 0, np.float64),
        cover=None,
        value=value,
        constant=np.zeros(text.n_outputs),
        output=np.tile(np.arange(text.n_outputs, dtype=np.int32), text.n_trees // text.n_outputs)
        if text.n_outputs > 1
        else None,
        missing_left=of_splits(left & ~coded, False, np.bool_),
        zero_missing=of_splits((kind == ZERO) & ~coded, False, np.bool_),
        sets=_sets(text, coded, tree, split),
    )
    return replace(trees, cover=_cover(text, cover, trees, split, leaf, name))


def _places(first: IntArray, counts: IntArray) -> IntArray:
    """Give first[t], first[t] + 1, ... for each tree, counts[t] of them."""
    before = np.cumsum(counts) - counts
    places: IntArray = np.repeat(first - before, counts) + np.arange(int(counts.sum()))
    return places


def _check(text: Text, n_splits: IntArray, name: str) -> None:
    """Raise where a split's numbers lead nowhere; that it all makes trees is the core's to say."""
    coded = (text.decision & CATEGORICAL) != 0
    known = (text.decision >= 0) & (text.decision & ~15 == 0) & (text.decision & MISSING_TYPE != MISSING_TYPE)
    for what, given, good in (
        ("split_feature", text.feature, (text.feature >= 0) & (text.feature < len(text.feature_names))),
        ("left_child", text.left, (text.left < n_splits) & (text.left >= -1 - n_splits)),
        ("right_child", text.right, (text.right < n_splits) & (text.right >= -1 - n_splits)),
        ("decision_type", text.decision, known),
    ):
        if not good.all():
            raise ModelFormatError(f"{name} is damaged: a split has {what}={given[~good][0]}")
    place = text.threshold[coded]
    tree = np.repeat(np.arange(text.n_trees), text.n_leaves - 1)[coded]
    # LightGBM gives each categorical split a set of its own, which also keeps a file from claiming the same
    # large set a million times.
    pairs = np.column_stack([tree, place])
    if (
        (place < 0).any()
        or (place >= text.n_sets[tree]).any()
        or (place != np.floor(place)).any()
        or len(np.unique(pairs, axis=0)) < len(pairs)
    ):
        raise ModelFormatError(
            f"{name} is damaged: the categorical splits of a tree do not each have one of its num_cat sets"
        )


def _beside_zero(threshold: FloatArray) -> FloatArray:
    """Thresholds that part all numbers as LightGBM does, for which those within 1e-35 of 0 are 0."""
    near = np.abs(threshold) <= LARGEST_ZERO
    below = np.nextafter(-LARGEST_ZERO, -np.inf)
    return np.where(near, np.where(threshold >= 0, LARGEST_ZERO, below), threshold)


def _sets(text: Text, coded: BoolArray, tree: IntArray, split: IntArray) -> dict[int, IntArray]:
    """Codes that go left at each categorical node."""
    nodes = split[coded]
    if not len(nodes):
        return {}
    t, place = tree[coded], text.threshold[coded].astype(np.int64)
    n_bounds = np.where(text.n_sets > 0, text.n_sets + 1, 0)
    first_bound = np.cumsum(n_bounds) - n_bounds
    n_words = np.zeros(text.n_trees, dtype=np.int64)
    has = text.n_sets > 0
    n_words[has] = text.set_bound[(np.cumsum(n_bounds) - 1)[has]]
    first_word = np.cumsum(n_words) - n_words
    bound = first_bound[t] + place
    begin, end = first_word[t] + text.set_bound[bound], first_word[t] + text.set_bound[bound + 1]
    bits = np.unpackbits(text.set_words.astype("<u4").view(np.uint8), bitorder="little")
    member = np.flatnonzero(bits)  # 32 * word + bit, rising
    a, b = np.searchsorted(member, 32 * begin), np.searchsorted(member, 32 * end)
    return {
        node: member[i:j] - 32 * first
        for node, i, j, first in zip(nodes.tolist(), a.tolist(), b.tolist(), begin.tolist(), strict=True)
    }


def _cover(
    text: Text, cover: str | None, trees: Trees, split: IntArray, leaf: IntArray, name: str
) -> FloatArray | None:
    """Cover of all nodes; None where the model has none and none was asked for."""
    out = np.zeros(len(trees.left))
    if cover == "hessian":
        if text.leaf_weight is None:
            raise _none(name, "hessian", "leaf_weight")
        out[leaf] = text.leaf_weight
        _check_cover(text.leaf_weight, "leaf_weight", name)
        # internal_weight is written with six digits, leaf_weight with all.
        return summed_up(trees.start, trees.left, trees.right, out)
    if text.leaf_count is None or text.split_count is None:
        if cover is None:
            return None
        raise _none(name, "counts", "leaf_count")
    _check_cover(text.leaf_count, "leaf_count", name)
    _check_cover(text.split_count, "internal_count", name)
    out[leaf], out[split] = text.leaf_count, text.split_count
    return out


def _check_cover(given: FloatArray, what: str, name: str) -> None:
    if (given < 0).any():
        raise ModelFormatError(f"{name} is damaged: it has {what}={given.min():g}; wanted 0 or more")


def _none(name: str, cover: str, line: str) -> InputError:
    return InputError(
        f"cover={cover!r}: {name} does not have the line {line} in all trees. Pass data=X to count rows."
    )
