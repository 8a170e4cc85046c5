"""XGBoost's trees: the arrays of a file, joined and checked, as `Trees`.

A leaf has no left child; its value stands where a split has its threshold. Where one tree serves several
targets, its leaves are rows of a table: of all nodes (`base_weights`) until XGBoost 3.1, since then of the
leaves alone (`leaf_weights`), with the row as the leaf's right "child". Pruning leaves nodes behind that
hang nowhere; they are dropped. A split by categories sends the listed codes *right* and all others left:
its children trade places here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from leafgrad.errors import ModelFormatError, UnsupportedModelError
from leafgrad.load.trees import BoolArray, FloatArray, IntArray, Trees
from leafgrad.load.xgboost_document import Part, column

DELETED = 2**31 - 1  # `split_indices` of a pruned node
LARGEST_CODE = 2**24 - 1  # beyond, float32 does not hold every code, and XGBoost takes none
MOST_WORDS = 2**25  # of 32 codes, in all category sets together: 128 MB
LEARNER = {
    *("attributes", "feature_names", "feature_types", "gradient_booster", "learner_model_param", "objective"),
}
BOOSTER = {"name", "model", "gbtree", "weight_drop"}
MODEL = {"cats", "gbtree_model_param", "iteration_indptr", "tree_info", "trees", "weight_drop"}
TREE = {
    *("base_weights", "categories", "categories_nodes", "categories_segments", "categories_sizes"),
    *("default_left", "id", "leaf_weights", "left_children", "loss_changes", "parents", "right_children"),
    *("split_conditions", "split_indices", "split_type", "sum_hessian", "tree_param"),
}


@dataclass(frozen=True)
class Loaded:
    """The trees, and which number each node of the file has in them, -1 if dropped."""

    trees: Trees
    place: IntArray  # per node of the file
    start: IntArray  # (T+1,) nodes of tree t in the file


def gradient_booster(learner: Part) -> tuple[Part, Part | None]:
    """Give the model of trees, and what holds the weights of its trees, if they have any.

    Parameters
    ----------
    learner : Part
        The file's `learner`.
    """
    booster = learner.part("gradient_booster")
    name = booster.text("name")
    if name == "gblinear":
        raise UnsupportedModelError(
            "this model is booster=gblinear, which has no trees: its explanation is coefficient times value. "
            'Train with booster="gbtree" or "dart".'
        )
    if name not in {"gbtree", "dart"}:
        raise UnsupportedModelError(f"booster={name} is not known to leafgrad; known are gbtree and dart.")
    model = (booster.part("gbtree") if name == "dart" else booster).part("model")
    # Dropout is an option of gbtree since XGBoost 3.3, and has its weights in the model since 3.4.
    holders = [part for part in (booster, model) if part.items("weight_drop")]
    if len(holders) > 1 or (name == "dart" and not holders):
        raise booster.wrong(
            "weight_drop", booster.fields.get("weight_drop"), "the weights of the trees, once"
        )
    return model, holders[0] if holders else None


def unknown_fields(learner: Part) -> list[str]:
    """Name what stands in a file and is not read here: it may change what a prediction is.

    Parameters
    ----------
    learner : Part
        The file's `learner`.
    """
    model, _ = gradient_booster(learner)
    trees = model.parts("trees")
    found = [(learner, LEARNER), (learner.part("gradient_booster"), BOOSTER), (model, MODEL)]
    found += [(tree, TREE) for tree in trees]
    return sorted({name for part, known in found for name in part.fields if name not in known})


def last_tree(model: Part, n_trees: int, per_round: int, rounds: int | None) -> int:
    """Count the trees of the first rounds.

    Parameters
    ----------
    model : Part
        The model of trees.
    n_trees : int
        How many it has.
    per_round : int
        Trees of a round, if it does not tell.
    rounds : int or None
        How many rounds count; None for all.
    """
    ends, _ = column([model], "iteration_indptr", np.int64, optional=True)
    if not len(ends):
        ends = np.arange(0, n_trees + 1, max(1, per_round))
    if ends[0] != 0 or ends[-1] != n_trees or (np.diff(ends) < 0).any():
        raise model.wrong("iteration_indptr", ends.tolist(), f"numbers that rise from 0 to {n_trees} trees")
    if rounds is None:
        return n_trees
    if rounds >= len(ends):
        raise ModelFormatError(f"best_iteration is {rounds - 1}, and the model has {len(ends) - 1} rounds")
    return int(ends[rounds])


def read_trees(learner: Part, n_features: int, constant: FloatArray, rounds: int | None) -> Loaded:
    """Read all trees that count.

    Parameters
    ----------
    learner : Part
        The file's `learner`.
    n_features : int
        How many columns the model takes.
    constant : array
        What the trees are added to, (K,).
    rounds : int or None
        How many rounds count; None for all.
    """
    model, weighted = gradient_booster(learner)
    n_outputs = len(constant)
    parts = model.parts("trees")
    facts = model.part("gbtree_model_param")
    if facts.whole("num_trees", len(parts)) != len(parts):
        raise facts.wrong("num_trees", facts.fields["num_trees"], f"{len(parts)}, as there are trees")
    per_round = facts.whole("num_parallel_tree", 1) * n_outputs
    count = last_tree(model, len(parts), per_round, rounds)
    if count == 0:
        raise UnsupportedModelError(
            "this model has no trees: every row gets the base score. Train for a round at least."
        )
    output, _ = column([model], "tree_info", np.int32)
    if len(output) != len(parts) or output.min() < 0 or output.max() >= n_outputs:
        raise model.wrong("tree_info", output.tolist(), f"one of {n_outputs} outputs for each tree")
    weight = None
    if weighted is not None:
        weight = column([weighted], "weight_drop", np.float32)[0].astype(np.float64)
        if len(weight) != len(parts) or not np.isfinite(weight).all():
            raise weighted.wrong("weight_drop", weight.tolist(), f"a number for each of {len(parts)} trees")
    arrays = _Arrays(parts[:count], n_outputs)
    value = arrays.values()
    if weight is not None:
        value *= np.repeat(weight[:count], np.diff(arrays.start))[:, None]
    trees = Trees(
        start=arrays.start,
        left=arrays.left,
        right=np.where(arrays.leaf, np.int32(-1), arrays.right),
        feature=np.where(arrays.leaf, np.int32(-1), arrays.feature),
        threshold=arrays.condition.astype(np.float64),
        cover=arrays.cover(),
        value=value,
        constant=constant,
        dtype=np.float32,
        output=None if arrays.vectors or n_outputs == 1 else output[:count],
        compare="<",
        missing_left=arrays.missing_left,
    )
    kept, place = _without_deleted(trees, arrays.deleted)
    return Loaded(_with_sets(kept, arrays, place, n_features), place, arrays.start)


class _Arrays:
    """The arrays of all trees of a file, one entry per node."""

    def __init__(self, parts: list[Part], n_outputs: int) -> None:
        self.parts = parts
        self.left, count = column(parts, "left_children", np.int32)
        self.start: IntArray = np.concatenate([[0], np.cumsum(count)])
        self.count = count
        if (count == 0).any():
            raise ModelFormatError(f"{parts[int(np.argmin(count))].path} has no node")
        self.right = self.per_node("right_children", np.int32)
        self.feature = self.per_node("split_indices", np.int32)
        self.condition = self.per_node("split_conditions", np.float32)
        self.missing_left: BoolArray = self.per_node("default_left", np.uint8) != 0
        self.leaf: BoolArray = self.left == -1
        if (self.left < -1).any():
            raise ModelFormatError("a node has a left child below -1")
        self.deleted: BoolArray = self.leaf & (self.feature == DELETED)
        self.deleted[self.start[:-1]] = False
        width = np.array([part.part("tree_param").whole("size_leaf_vector", 1) for part in parts])
        self.vectors = bool((width > 1).all())
        self.n_outputs = n_outputs
        if (width > 1).any() and (width != n_outputs).any():
            raise ModelFormatError(
                f"trees have leaves of {min(width)} to {max(width)} values, and there are {n_outputs} outputs"
            )

    def per_node(self, name: str, dtype: npt.DTypeLike, each: int = 1) -> npt.NDArray[Any]:
        """Give a field with as many entries per node, for all trees."""
        found, count = column(self.parts, name, dtype)
        if not np.array_equal(count, each * self.count):
            tree = int(np.argmax(count != each * self.count))
            raise ModelFormatError(
                f"{self.parts[tree].path}.{name} has {count[tree]} entries for {self.count[tree]} nodes"
            )
        return found

    def values(self) -> FloatArray:
        """Give the leaves' values, (n, W)."""
        if not self.vectors:
            return self.condition.astype(np.float64)[:, None]
        if "leaf_weights" not in self.parts[0]:
            table = self.per_node("base_weights", np.float32, self.n_outputs)
            return table.reshape(-1, self.n_outputs).astype(np.float64)
        flat, count = column(self.parts, "leaf_weights", np.float32)
        rows = count // self.n_outputs
        leaf = np.flatnonzero(self.leaf & ~self.deleted)
        tree = np.searchsorted(self.start, leaf, side="right") - 1
        own = self.right[leaf]
        if (count % self.n_outputs).any() or (own < 0).any() or (own >= rows[tree]).any():
            raise ModelFormatError("leaf_weights does not have a row of all outputs for every leaf")
        if (
            len(self.left) > 2 * len(leaf) + self.deleted.sum()
        ):  # a table of all nodes must not outgrow the file
            raise ModelFormatError("the trees have fewer leaves than splits")
        out = np.zeros((len(self.left), self.n_outputs))
        first = np.concatenate([[0], np.cumsum(rows)])
        out[leaf] = flat.reshape(-1, self.n_outputs)[first[tree] + own]
        return out

    def cover(self) -> FloatArray | None:
        """Give the sums of hessians; None where the model keeps none that can weigh a split."""
        if not any("sum_hessian" in part for part in self.parts):
            return None  # trees of several targets, before XGBoost 3.2
        found = self.per_node("sum_hessian", np.float32).astype(np.float64)
        # An objective of one's own may have hessians below 0, and sums of them weigh nothing.
        return found if np.isfinite(found).all() and (found >= 0).all() else None


def _without_deleted(trees: Trees, deleted: BoolArray) -> tuple[Trees, IntArray]:
    """Drop pruned nodes; give also the new number of each node within its tree, -1 if it has none."""
    first = np.repeat(trees.start[:-1], np.diff(trees.start))
    kept = np.concatenate([[0], np.cumsum(~deleted)])
    place = np.where(deleted, -1, kept[:-1] - kept[first])
    if not deleted.any():
        return trees, place

    def child(given: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        inner = given >= 0
        at = first + np.where(inner, given, 0)
        if (at >= np.repeat(trees.start[1:], np.diff(trees.start))).any():
            raise ModelFormatError("a node has a child beyond its tree")
        if deleted[at[inner]].any():
            raise ModelFormatError("a node has a child that was pruned")
        return np.where(inner, place[at], -1).astype(np.int32)[~deleted]

    return (
        replace(
            trees,
            start=kept[trees.start],
            left=child(trees.left),
            right=child(trees.right),
            feature=trees.feature[~deleted],
            threshold=trees.threshold[~deleted],
            cover=None if trees.cover is None else trees.cover[~deleted],
            value=trees.value[~deleted],
            missing_left=None if trees.missing_left is None else trees.missing_left[~deleted],
        ),
        place,
    )


def _with_sets(trees: Trees, arrays: _Arrays, place: IntArray, n_features: int) -> Trees:
    """Add the categories of the splits that have them."""
    parts = arrays.parts
    if all("split_type" not in part for part in parts):
        return trees  # before XGBoost 1.3
    coded = arrays.per_node("split_type", np.uint8) != 0
    coded &= ~arrays.leaf
    codes, n_codes = column(parts, "categories", np.int64, optional=True)
    node, n_nodes = column(parts, "categories_nodes", np.int64, optional=True)
    begin, n_begin = column(parts, "categories_segments", np.int64, optional=True)
    size, n_size = column(parts, "categories_sizes", np.int64, optional=True)
    if not (np.array_equal(n_nodes, n_begin) and np.array_equal(n_nodes, n_size)):
        raise ModelFormatError("categories_nodes, _segments and _sizes have different lengths")
    tree = np.repeat(np.arange(len(parts)), n_nodes)
    in_tree = (node >= 0) & (node < arrays.count[tree])
    in_codes = (begin >= 0) & (size >= 0) & (size <= n_codes[tree]) & (begin <= n_codes[tree] - size)
    if not (in_tree.all() and in_codes.all()):
        raise ModelFormatError("categories_nodes, _segments or _sizes lead out of their tree")
    at = arrays.start[tree] + node
    if not np.array_equal(np.sort(at), np.flatnonzero(coded)):
        raise ModelFormatError("categories_nodes are not the nodes that split by categories")
    if not len(at):
        return trees
    if codes.min(initial=0) < 0 or codes.max(initial=0) > LARGEST_CODE:
        raise ModelFormatError(f"categories holds codes beyond 0 to {LARGEST_CODE}")
    feature = arrays.feature[at]
    if (feature < 0).any() or (feature >= n_features).any():
        raise ModelFormatError(f"a split by categories is on a feature beyond {n_features}")
    first = np.concatenate([[0], np.cumsum(n_codes)])[tree] + begin
    sets = [codes[a : a + n] for a, n in zip(first.tolist(), size.tolist(), strict=True)]
    words = sum(int(own.max(initial=0)) // 32 + 1 for own in sets)
    if words > MOST_WORDS:
        raise UnsupportedModelError(
            f"the category sets of this model take {words * 4 >> 20} MB, more than the "
            f"{MOST_WORDS * 4 >> 20} MB that leafgrad gives them. Group rare categories, and train again."
        )
    new = trees.start[tree] + place[at]
    left, right, missing_left = trees.left.copy(), trees.right.copy(), arrays.missing_left[place >= 0]
    left[new], right[new] = trees.right[new], trees.left[new]
    missing_left[new] = ~missing_left[new]
    return replace(
        trees,
        left=left,
        right=right,
        missing_left=missing_left,
        sets=dict(zip(new.tolist(), sets, strict=True)),
    )
