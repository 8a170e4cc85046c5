"""CatBoost's trees as binary trees in flat arrays, from both of its forms.

A symmetric tree asks one question per level. Its leaves are numbered by the answers, the first split of its
list being the lowest bit: so the *last* split of the list is the root, and a leaf's number, read from its
highest bit, is the way to it. Laid out as a heap (children of i: 2i+1 and 2i+2), leaf k of 2^D is node
2^D - 1 + k. All trees of one depth are made at once, in whole arrays. Predictions do not depend on which
split is on top, but the game does.

Other trees are nested, and are laid out in the order in which one writes them down.

A split sends x right if `x > border`, in float32, or if the value's hash is the split's own. Every category
but one goes left, also one never seen.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from leafgrad.errors import ModelFormatError, UnsupportedModelError
from leafgrad.load.catboost_json import Columns, Facts, Json
from leafgrad.load.trees import BoolArray, FloatArray, IntArray, Trees

DEEPEST = 16  # that CatBoost grows


@dataclass
class _Splits:
    """Splits in the order of sight, as numbers: a category by its number among those seen."""

    columns: Columns
    info: Json
    feature: list[int] = field(default_factory=list)
    border: list[float] = field(default_factory=list)
    category: list[int] = field(default_factory=list)  # the hash; -1: a border
    seen: dict[int, dict[int, int]] = field(default_factory=dict)  # column -> hash -> code

    def add(self, split: Json) -> None:
        """Read one split."""
        kind = split.get("split_type", "FloatFeature")
        if kind == "FloatFeature":
            column = self.columns.floats[split["float_feature_index"]]
            self.border.append(split["border"])
            self.category.append(-1)
        elif kind == "OneHotFeature":
            column = self.columns.categorical[split["cat_feature_index"]]
            category = split["value"] & 0xFFFFFFFF
            codes = self.seen.setdefault(column, {})
            codes.setdefault(category, len(codes))
            self.border.append(0.0)
            self.category.append(category)
        else:
            raise self._refused(kind)
        self.feature.append(column)

    def _refused(self, kind: Any) -> UnsupportedModelError:
        if kind != "OnlineCtr":
            return UnsupportedModelError(
                f"has splits of the type {kind!r}, as are those on texts and embeddings, which are not "
                "followed. Compute numeric columns of these yourself, and train on them."
            )
        elements = [part for ctr in self.info.get("ctrs", ()) for part in ctr["elements"]]
        of = {part["cat_feature_index"] for part in elements if "cat_feature_index" in part}
        named = ", ".join(self.columns.named(self.columns.categorical[index]) for index in sorted(of))
        return UnsupportedModelError(
            f"splits on target statistics (CTR) of the categories in {named or 'X'}, which are not followed. "
            "Train with one_hot_max_size=255, so that columns of up to 255 categories are split on by the "
            "categories themselves, or encode the columns as numbers first."
        )

    def sets(self, split_of: IntArray) -> dict[int, IntArray]:
        """Codes that go left at each node that asks for a category; `split_of` is a node's split or -1."""
        if not self.seen:
            return {}
        category = np.asarray(self.category, dtype=np.int64)
        nodes = np.flatnonzero((split_of >= 0) & (category[split_of] >= 0))
        all_but: dict[tuple[int, int], IntArray] = {}
        out = {}
        for node, split in zip(nodes.tolist(), split_of[nodes].tolist(), strict=True):
            key = (self.feature[split], self.category[split])
            if key not in all_but:
                codes = self.seen[key[0]]
                all_but[key] = np.delete(np.arange(len(codes)), codes[key[1]])
            out[node] = all_but[key]
        return out

    def categories(self) -> tuple[tuple[Any, ...] | None, ...] | None:
        """Per column the hashes behind the codes."""
        coded = set(self.columns.categorical.values())
        if not coded:
            return None
        return tuple(tuple(self.seen.get(j, ())) if j in coded else None for j in range(self.columns.n))


@dataclass(frozen=True)
class _Shape:
    """Nodes of all trees before features are filled in."""

    start: IntArray  # (T+1,)
    left: npt.NDArray[np.int32]
    right: npt.NDArray[np.int32]
    split: IntArray  # (n,) its place in `_Splits`; -1 at a leaf
    value: FloatArray  # (n, K)
    cover: FloatArray | None  # (n,)


def read_trees(model: Json, columns: Columns, facts: Facts) -> Trees:
    """Read all trees.

    Parameters
    ----------
    model : dict
        What `catboost_json.parse` gave.
    columns, facts
        What `catboost_json` read of it.
    """
    splits = _Splits(columns, model["features_info"])
    symmetric: list[Json] = model.get("oblivious_trees") or []
    nested: list[Json] = model.get("trees") or []
    if symmetric and nested:
        raise ModelFormatError("there are both oblivious_trees and trees")
    if not symmetric and not nested:
        raise UnsupportedModelError("has no trees. Train one, or shrink it less.")
    shape = _symmetric(symmetric, splits) if symmetric else _nested(nested, splits)
    inner = shape.split >= 0
    feature = np.full(len(inner), -1, dtype=np.int32)
    feature[inner] = np.asarray(splits.feature, dtype=np.int32)[shape.split[inner]]
    threshold = np.zeros(len(inner))
    threshold[inner] = _borders(splits.border)[shape.split[inner]]
    n_outputs = shape.value.shape[1]
    bias = facts.bias or (0.0,)
    if len(bias) not in (1, n_outputs):
        raise ModelFormatError(f"there are {len(bias)} biases for {n_outputs} outputs")
    return Trees(
        start=shape.start,
        left=shape.left,
        right=shape.right,
        feature=feature,
        threshold=threshold,
        cover=shape.cover,
        value=shape.value * facts.scale,
        constant=np.array(np.broadcast_to(bias, n_outputs), dtype=np.float64),
        dtype=np.float32,
        missing_left=_missing_left(feature, columns),
        sets=splits.sets(shape.split),
        categories=splits.categories(),
        categories_hashed=bool(columns.categorical),
    )


def _borders(given: list[float]) -> FloatArray:
    """Borders as the library holds them, in float32."""
    borders = _numbers(given, "borders")
    with np.errstate(over="ignore"):
        return _finite(borders.astype(np.float32).astype(np.float64), "borders")


def _missing_left(feature: npt.NDArray[np.int32], columns: Columns) -> BoolArray:
    """Where NaN goes; a category never seen is NaN too, and is not the one that goes right."""
    left: BoolArray = np.append(columns.missing_left, False)[feature]
    return left


def _symmetric(trees: list[Json], splits: _Splits) -> _Shape:
    for tree in trees:
        for split in tree.get("splits") or ():
            splits.add(split)
    depth = np.array([len(tree.get("splits") or ()) for tree in trees])
    if depth.max() > DEEPEST:
        raise ModelFormatError(f"a tree has {depth.max()} splits; CatBoost grows {DEEPEST} at most")
    n_leaves = 2**depth
    given = np.array([len(tree["leaf_values"]) for tree in trees])
    n_outputs = int(given[0] // n_leaves[0])
    if n_outputs < 1 or (given != n_outputs * n_leaves).any():
        raise ModelFormatError("a tree has not as many leaf_values as its splits ask for")
    value = _numbers(chain.from_iterable(tree["leaf_values"] for tree in trees), "leaf_values")
    value = value.reshape(-1, n_outputs)
    weight = _weights(trees, n_leaves)
    first_leaf, first_split = np.cumsum([0, *n_leaves]), np.cumsum([0, *depth])
    start = np.cumsum([0, *(2 * n_leaves - 1)], dtype=np.int64)
    n = int(start[-1])
    left, right = np.full(n, -1, dtype=np.int32), np.full(n, -1, dtype=np.int32)
    split = np.full(n, -1, dtype=np.int64)
    values, cover = np.zeros((n, n_outputs)), np.zeros(n)
    for d in np.unique(depth).tolist():
        group = np.flatnonzero(depth == d)
        root = start[group][:, None]
        leaves = root + np.arange(2**d - 1, 2 ** (d + 1) - 1)
        from_file = first_leaf[group][:, None] + np.arange(2**d)
        values[leaves] = value[from_file]
        for level in range(d - 1, -1, -1):
            local = np.arange(2**level - 1, 2 ** (level + 1) - 1)
            at = root + local
            left[at], right[at] = 2 * local + 1, 2 * local + 2
            split[at] = first_split[group][:, None] + (d - 1 - level)  # the last one on top
        if weight is not None:
            cover[leaves] = weight[from_file]
            for level in range(d - 1, -1, -1):
                at = root + np.arange(2**level - 1, 2 ** (level + 1) - 1)
                cover[at] = cover[root + left[at]] + cover[root + right[at]]
    return _Shape(start, left, right, split, values, None if weight is None else cover)


def _weights(trees: list[Json], n_leaves: IntArray) -> FloatArray | None:
    """Training weight of every leaf; None if a tree has none, as in models of old."""
    if not all(tree.get("leaf_weights") for tree in trees):
        return None
    if any(len(tree["leaf_weights"]) != n for tree, n in zip(trees, n_leaves, strict=True)):
        raise ModelFormatError("a tree has not one of the leaf_weights per leaf")
    return _numbers(chain.from_iterable(tree["leaf_weights"] for tree in trees), "leaf_weights")


def _nested(trees: list[Json], splits: _Splits) -> _Shape:
    start, left, right, split, parents = [0], list[int](), list[int](), list[int](), list[int]()
    value, weight = list[Any](), list[Any]()
    for tree in trees:
        begin = start[-1]
        # (node, place of its parent, whether it is the right child), the next one last
        todo: list[tuple[Json, int, bool]] = [(tree, -1, False)]
        while todo:
            node, parent, is_right = todo.pop()
            at = len(left)
            if parent >= 0:
                (right if is_right else left)[parent] = at - begin
            left.append(-1)
            right.append(-1)
            parents.append(parent)
            if "split" in node:
                split.append(len(splits.feature))
                splits.add(node["split"])
                value.append(None)
                weight.append(0.0)
                todo += [(node["right"], at, True), (node["left"], at, False)]
            else:
                split.append(-1)
                value.append(node["value"])
                weight.append(node.get("weight"))
        start.append(len(left))
    leaf = np.asarray(left) < 0
    listed = [own if isinstance(own, list) else [own] for own in value if own is not None]
    n_outputs = len(listed[0])
    if any(len(own) != n_outputs for own in listed):
        raise ModelFormatError("leaves have values of different lengths")
    values = np.zeros((len(left), n_outputs))
    values[leaf] = _numbers(chain.from_iterable(listed), "values").reshape(-1, n_outputs)
    cover = None
    if all(own is not None for own in weight):
        cover = _numbers(weight, "weight")
        # A parent stands before its children.
        for at in range(len(parents) - 1, 0, -1):
            if parents[at] >= 0:
                cover[parents[at]] += cover[at]
    return _Shape(
        start=np.array(start, dtype=np.int64),
        left=np.array(left, dtype=np.int32),
        right=np.array(right, dtype=np.int32),
        split=np.array(split, dtype=np.int64),
        value=values,
        cover=cover,
    )


def _numbers(given: Iterable[Any], name: str) -> FloatArray:
    """Finite numbers of one kind, all trees' in a row."""
    listed = list(given)
    strangers = set(map(type, listed)) - {int, float}
    if strangers:
        raise ModelFormatError(f"one of the {name} is a {strangers.pop().__name__}; wanted finite numbers")
    return _finite(np.array(listed, dtype=np.float64), name)


def _finite(numbers: FloatArray, name: str) -> FloatArray:
    if not np.isfinite(numbers).all():
        wrong = numbers[~np.isfinite(numbers)][0]
        raise ModelFormatError(f"one of the {name} is {wrong}; wanted finite numbers")
    return numbers
