"""The trees of one ONNX node, as one table of nodes, and what a `Forest` makes of it.

A node compares as its mode says, in the width of its input; a missing value answers no, but yes to "not
equal" and where `nodes_missing_value_tracks_true` says so. A test for equality is a set of one category;
codes are the positions of the values that a column is compared with, which is exact for every x, also beside
whole numbers. Converters write a set of categories as a chain of such tests with one common child, which is
one split, and is made one again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from leafgrad.errors import UnsupportedModelError
from leafgrad.load.comparisons import at_most
from leafgrad.load.trees import BoolArray, Categories, Float, FloatArray, IntArray, Trees


@dataclass(frozen=True)
class Ensemble:
    """What a node says, before any of it is read as a `Forest`: children are global numbers of nodes."""

    start: IntArray  # (T+1,)
    question: npt.NDArray[np.str_]  # (n,) "<=", ..., "in", "not in"; "" at a leaf
    true: IntArray  # (n,) where to go if the answer is yes; -1 at a leaf
    false: IntArray
    feature: IntArray
    threshold: FloatArray
    missing_true: BoolArray
    sets: dict[int, FloatArray]  # values asked for at "in" and "not in"
    weight_node: IntArray  # (w,) the leaf that adds ...
    weight_output: IntArray  # ... to this target or class ...
    weight: FloatArray  # ... so much
    base: FloatArray  # (K,), or of another length where the node says nothing or something odd
    n_outputs: int
    classes: tuple[Any, ...] | None = None
    average: bool = False
    transform: str = "NONE"

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.start) - 1


def trees(of: Ensemble, value: FloatArray, output: npt.NDArray[np.int32] | None, dtype: Float) -> Trees:
    """Give the trees with these leaf values; the constant is left to the caller.

    Parameters
    ----------
    of : Ensemble
        The nodes.
    value : array
        (n, W) leaf values.
    output : array or None
        As in `Trees`.
    dtype : type
        The width in which x is compared.
    """
    root = np.repeat(of.start[:-1], np.diff(of.start))
    inner = of.question != ""
    left = np.where(inner, of.true - root, -1).astype(np.int32)
    right = np.where(inner, of.false - root, -1).astype(np.int32)
    split = at_most(of.question, left, right, of.threshold, of.missing_true, dtype)
    categories, sets = _coded(of)
    return Trees(
        start=of.start,
        left=split.left,
        right=split.right,
        feature=np.where(inner, of.feature, -1).astype(np.int32),
        threshold=split.threshold,
        cover=None,
        value=value,
        constant=np.zeros(value.shape[1] if output is None else of.n_outputs),
        dtype=dtype,
        output=output,
        missing_left=split.missing_left & inner,
        sets=sets,
        categories=categories,
    )


def leaf_values(of: Ensemble) -> tuple[FloatArray, npt.NDArray[np.int32] | None]:
    """Give leaf values (n, W), and the output each tree adds to where every tree adds to one alone.

    Parameters
    ----------
    of : Ensemble
        The nodes.
    """
    if of.average:
        of = replace(of, weight=of.weight / of.n_trees)
    tree = np.searchsorted(of.start, of.weight_node, side="right") - 1
    first = np.zeros(of.n_trees, dtype=np.int64)
    first[tree[::-1]] = of.weight_output[::-1]
    alone = of.n_outputs > 1 and bool((of.weight_output == first[tree]).all())
    value = np.zeros((int(of.start[-1]), 1 if alone else of.n_outputs))
    np.add.at(
        value, (of.weight_node, np.zeros_like(of.weight_output) if alone else of.weight_output), of.weight
    )
    return value, first.astype(np.int32) if alone else None


# Sets of categories


def with_chains_joined(of: Ensemble) -> Ensemble:
    """Join "x is a, or else x is b, or else ..." with one common child for yes into one split.

    Parameters
    ----------
    of : Ensemble
        The nodes as they were read.
    """
    asked = [node for node in of.sets if of.question[node] == "in"]
    if not asked:
        return of
    parents = np.bincount(np.concatenate([of.true, of.false])[np.concatenate([of.true, of.false]) >= 0])
    parents = np.pad(parents, (0, len(of.true) - len(parents)))
    sets, false, missing_true = dict(of.sets), of.false.copy(), of.missing_true.copy()
    gone = np.zeros(len(of.true), np.bool_)
    same_feature_and_child = {
        node
        for node in asked
        if (below := int(of.false[node])) in sets
        and of.question[below] == "in"
        and of.feature[below] == of.feature[node]
        and of.true[below] == of.true[node]
        and parents[below] == 1
        and below != node
    }
    # From below: a node whose own chain is joined already is taken whole.
    for node in sorted(same_feature_and_child, key=_depth_order(of, same_feature_and_child), reverse=True):
        below = int(false[node])
        if node not in sets or below not in sets:
            continue  # a circle, which the forest will refuse
        sets[node] = np.concatenate([sets[node], sets.pop(below)])
        missing_true[node] |= missing_true[below]
        false[node] = false[below]
        gone[below] = True
    number = np.cumsum(~gone) - 1
    keep = ~gone

    def renumbered(nodes: IntArray) -> IntArray:
        return np.where(nodes >= 0, number[np.maximum(nodes, 0)], -1)

    return replace(
        of,
        start=np.concatenate([[0], np.cumsum(np.add.reduceat(keep.astype(np.int64), of.start[:-1]))]),
        question=of.question[keep],
        true=renumbered(of.true)[keep],
        false=renumbered(false)[keep],
        feature=of.feature[keep],
        threshold=of.threshold[keep],
        missing_true=missing_true[keep],
        sets={int(number[node]): values for node, values in sets.items()},
        weight_node=number[of.weight_node],
    )


def _depth_order(of: Ensemble, chained: set[int]) -> Any:
    """Place of each node in its chain, the first being 0."""
    below = {int(of.false[node]) for node in chained}
    place: dict[int, int] = {}
    for head in chained - below:
        node, steps = head, 0
        while node in chained and node not in place:
            place[node] = steps
            node, steps = int(of.false[node]), steps + 1
    return lambda node: place.get(node, 0)


def _coded(of: Ensemble) -> tuple[Categories | None, dict[int, IntArray]]:
    """Give each column asked for equality its values, and each split the codes of its own."""
    if not of.sets:
        return None, {}
    nodes = np.array(sorted(of.sets))
    columns = of.feature[nodes]
    ordered = np.flatnonzero(np.isin(of.question, ("<=", "<", ">=", ">")) & np.isin(of.feature, columns))
    if len(ordered):
        raise UnsupportedModelError(
            f"column {int(of.feature[ordered[0]])} is compared by order at one node and by equality at "
            "another, and no forest does both. Convert the model with the column either numeric or "
            "categorical."
        )
    with_known = nodes[(of.question[nodes] == "in") & of.missing_true[nodes]]
    if len(with_known):
        raise UnsupportedModelError(
            f"a node that asks whether column {int(of.feature[with_known[0]])} equals a value sends missing "
            "values the same way as that value, which is not supported. Give missing values a category of "
            "their own before training."
        )
    known: list[tuple[float, ...] | None] = [None] * (int(of.feature.max()) + 1)
    sets: dict[int, IntArray] = {}
    for column in np.unique(columns).tolist():
        own = nodes[columns == column].tolist()
        values = np.unique(np.concatenate([of.sets[node] for node in own]))
        values = values[~np.isnan(values)]  # nothing equals NaN
        known[column] = tuple(values.tolist())
        for node in own:
            told = of.sets[node]
            sets[node] = np.searchsorted(values, told[~np.isnan(told)])
    return tuple(known), sets
