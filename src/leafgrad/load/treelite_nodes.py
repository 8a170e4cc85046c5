"""The nodes of a treelite model: every tree's arrays, one after the other, by treelite's field accessors.

treelite lets anybody set a field to anything, and so all lengths are checked here; that the nodes make trees
is left to the `Forest`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from leafgrad.errors import InputError, ModelFormatError, UnsupportedModelError
from leafgrad.load.trees import BoolArray, FloatArray, IntArray

NUMERICAL, CATEGORICAL = 1, 2  # of node_type; 0 is a leaf
OPERATORS = np.array(["", "==", "<", "<=", ">", ">="], dtype="<U6")  # by the code in `cmp`
MOST_CATEGORIES = 2**24  # float32 tells no more of them apart; a set is a bit for each


@dataclass(frozen=True)
class Nodes:
    """The arrays of all trees, one after the other; lists are told by their begin and end."""

    start: IntArray
    kind: npt.NDArray[np.int8]
    left: npt.NDArray[np.int32]
    right: npt.NDArray[np.int32]
    feature: npt.NDArray[np.int32]
    default_left: BoolArray
    threshold: FloatArray
    operator: npt.NDArray[np.str_]
    leaf_value: FloatArray
    listed_right: BoolArray
    categories: IntArray
    categories_begin: IntArray
    categories_end: IntArray
    vector: FloatArray
    vector_begin: IntArray
    vector_end: IntArray
    count: FloatArray | None
    hessian: FloatArray | None

    @classmethod
    def of(cls, model: Any, n_trees: int) -> Nodes:
        """Read all nodes.

        Parameters
        ----------
        model : treelite.Model
            The model.
        n_trees : int
            Number of its trees.
        """
        trees = [model.get_tree_accessor(t).get_field for t in range(n_trees)]
        kinds = [get("node_type") for get in trees]
        start = np.cumsum([0] + [len(kind) for kind in kinds], dtype=np.int64)

        def column(name: str, dtype: npt.DTypeLike, *, optional: bool = False) -> npt.NDArray[Any]:
            own = [get(name) for get in trees]
            if optional and any(len(part) == 0 for part in own):
                return np.zeros(0, dtype=dtype)
            for t, (part, kind) in enumerate(zip(own, kinds, strict=True)):
                if len(part) != len(kind):
                    raise ModelFormatError(
                        f"tree {t} of this treelite model has {len(part)} entries of {name} for "
                        f"{len(kind)} nodes"
                    )
            return np.concatenate(own).astype(dtype)

        def lists(name: str, dtype: npt.DTypeLike) -> tuple[npt.NDArray[Any], IntArray, IntArray]:
            """Lists of all trees behind each other, and where each node's begins and ends."""
            own = [get(name) for get in trees]
            first = np.cumsum([0] + [len(part) for part in own])[:-1]
            offset = np.repeat(first, np.diff(start))
            begin, end = (column(f"{name}_{side}", np.int64) for side in ("begin", "end"))
            beyond = np.repeat([len(part) for part in own], np.diff(start))
            if ((begin < 0) | (end < begin) | (end > beyond)).any():
                raise ModelFormatError(f"{name} of this treelite model is shorter than its nodes say")
            return np.concatenate(own).astype(dtype), begin + offset, end + offset

        def covers(name: str) -> FloatArray | None:
            there = column(f"{name}_present", np.bool_, optional=True)
            given = column(name, np.float64, optional=True)
            return given if len(there) and len(given) and bool(there.all()) else None

        operator = column("cmp", np.int64)
        if ((operator < 0) | (operator >= len(OPERATORS))).any():
            raise ModelFormatError(f"this treelite model has a comparison of code {int(operator.max())}")
        categories, categories_begin, categories_end = lists("category_list", np.int64)
        vector, vector_begin, vector_end = lists("leaf_vector", np.float64)
        return cls(
            start=start,
            kind=np.concatenate(kinds),
            left=column("cleft", np.int32),
            right=column("cright", np.int32),
            feature=column("split_index", np.int32),
            default_left=column("default_left", np.bool_),
            threshold=column("threshold", np.float64),
            operator=OPERATORS[operator],
            leaf_value=column("leaf_value", np.float64),
            listed_right=column("category_list_right_child", np.bool_),
            categories=categories,
            categories_begin=categories_begin,
            categories_end=categories_end,
            vector=vector,
            vector_begin=vector_begin,
            vector_end=vector_end,
            count=covers("data_count"),
            hessian=covers("sum_hess"),
        )

    def listed(self, node: int) -> IntArray:
        """Categories listed at a node.

        Parameters
        ----------
        node : int
            Its number among all trees' nodes.
        """
        own = self.categories[self.categories_begin[node] : self.categories_end[node]]
        if len(own) and own.max() >= MOST_CATEGORIES:
            raise UnsupportedModelError(
                f"this treelite model has category {int(own.max())}; categories from {MOST_CATEGORIES} on "
                "are not supported. Number them 0, 1, ... before training."
            )
        return own

    def cover(self, asked: str | None) -> FloatArray | None:
        """Training weight of each node, None where the model keeps none.

        Parameters
        ----------
        asked : str or None
            As `load` takes it.
        """
        if asked is None:
            return self.count if self.hessian is None else self.hessian
        kept = {"counts": self.count, "hessian": self.hessian}
        found = kept.get(asked)
        if found is None:
            has = [f"cover={name!r}" for name, own in kept.items() if own is not None]
            raise InputError(
                f"cover={asked!r} is not kept by this treelite model. "
                f"Use {', '.join(['cover=None', *has]) if has else 'rows to count from: data=X'}"
                f"{', or rows to count from: data=X' if has else ''}."
            )
        return found
