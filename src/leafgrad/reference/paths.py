"""A Forest and one row as plain lists: which way each split sends the row, who plays, what leaves give.

The oracles read nothing else. The row is an encoded one (`encode.matrix`): categories are codes, missing is
NaN. Shares and leaf values are the Forest's own stored floats; the two shares below a split need not sum to 1
exactly, and the game is defined by both as they are: w_a A_a + w_b A_b where the player is not known. All is
the walk's part alone: leaves minus root means, without `forest.base`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from leafgrad.forest import (
    CATEGORICAL,
    LARGEST_ZERO,
    MISSING_LEFT,
    NEGATIVE_OTHER,
    OTHER_LEFT,
    ZERO_MISSING,
    Forest,
)


@dataclass(frozen=True)
class Tree:
    """One tree as one row meets it; nodes count from the root, 0."""

    left: list[int]  # child, -1 at a leaf
    right: list[int]
    player: list[int]  # whose knowledge decides the split; -1 at a leaf
    share: list[float]  # cover share of the node in its parent; 1 at the root
    goes_left: list[bool]  # where the row goes
    value: list[list[float]]  # of a leaf, one number per output of `outputs`
    outputs: list[int]

    def is_leaf(self, v: int) -> bool:
        """Whether `v` has no children.

        Parameters
        ----------
        v : int
            A node.

        Returns
        -------
        bool
            True at a leaf.
        """
        return self.left[v] < 0

    def taken(self, v: int) -> int:
        """The child the row goes to.

        Parameters
        ----------
        v : int
            An inner node.

        Returns
        -------
        int
            A node.
        """
        return self.left[v] if self.goes_left[v] else self.right[v]

    def preorder(self) -> list[int]:
        """All nodes, parents before children; by an explicit stack, as trees may be 100,000 deep."""
        order, waiting = [], [0]
        while waiting:
            v = waiting.pop()
            order.append(v)
            if not self.is_leaf(v):
                waiting += [self.right[v], self.left[v]]
        return order

    def leaf_paths(self) -> Iterator[tuple[int, dict[int, tuple[bool, Fraction]]]]:
        """Each leaf with its path by player: does the row agree with its splits, and its shares' product."""
        waiting: list[tuple[int, dict[int, tuple[bool, Fraction]]]] = [(0, {})]
        while waiting:
            v, path = waiting.pop()
            if self.is_leaf(v):
                yield v, path
                continue
            agrees, product = path.get(self.player[v], (True, Fraction(1)))
            for child in (self.right[v], self.left[v]):
                step = (agrees and child == self.taken(v), product * Fraction(self.share[child]))
                waiting.append((child, {**path, self.player[v]: step}))


@dataclass(frozen=True)
class Game:
    """The game of one row: f_x is the sum over trees."""

    n_players: int
    n_outputs: int
    trees: list[Tree]


def game(forest: Forest, row: npt.ArrayLike, players: Sequence[int] | None = None) -> Game:
    """The game that `row` plays in `forest`.

    Parameters
    ----------
    forest : Forest
        Only its arrays are read.
    row : array_like of float, shape (n_features,)
        An encoded row.
    players : sequence of int, optional
        The player each feature belongs to, counted from 0; by default each feature is its own.

    Returns
    -------
    Game
        Plain lists.
    """
    x = np.asarray(row, dtype=np.float64)
    who = list(range(forest.n_features)) if players is None else [int(player) for player in players]
    trees = []
    for t in range(forest.n_trees):
        start, stop = int(forest.tree_start[t]), int(forest.tree_start[t + 1])
        feature = forest.feature[start:stop].tolist()
        output = int(forest.tree_output[t])
        trees.append(
            Tree(
                left=forest.left[start:stop].tolist(),
                right=forest.right[start:stop].tolist(),
                player=[who[j] if j >= 0 else -1 for j in feature],
                share=forest.share[start:stop].tolist(),
                goes_left=[
                    j >= 0 and goes_left(forest, start + v, float(x[j])) for v, j in enumerate(feature)
                ],
                value=forest.value[start:stop].tolist(),
                outputs=list(range(forest.n_outputs)) if output < 0 else [output],
            )
        )
    return Game(max(who, default=-1) + 1, forest.n_outputs, trees)


def goes_left(forest: Forest, node: int, x: float) -> bool:
    """Whether the split `node` (counted over the whole forest) sends the number `x` to its left child.

    Parameters
    ----------
    forest : Forest
        The model.
    node : int
        An inner node.
    x : float
        The row's number for the node's feature.

    Returns
    -------
    bool
        The model's own answer.
    """
    flags = int(forest.flags[node])
    if math.isnan(x) or (flags & ZERO_MISSING and not flags & CATEGORICAL and abs(x) <= LARGEST_ZERO):
        return bool(flags & MISSING_LEFT)
    if flags & CATEGORICAL:
        words = _words(forest, int(forest.category_set[node]))
        code = math.trunc(x) if math.isfinite(x) else -1
        if flags & NEGATIVE_OTHER and x < 0:
            code = -1
        if 0 <= code < 32 * len(words):
            return bool(words[code // 32] >> (code % 32) & 1)
        return bool(flags & OTHER_LEFT)
    with np.errstate(over="ignore"):  # 1e300 is inf to a float32 model
        narrow: Any = np.dtype(forest.dtype).type
        return bool(narrow(x) <= narrow(forest.threshold[node]))


def _words(forest: Forest, index: int) -> list[int]:
    """The 32-bit words of one category set."""
    return [int(word) for word in forest.set_words[forest.set_start[index] : forest.set_start[index + 1]]]
