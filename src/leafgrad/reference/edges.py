"""What the paper's algorithms read of one tree and one row, by the edge e that leads to each node.

`Edges` is the tree as lists, for recursion as the paper prints it. `Levels` is one output of it as arrays,
sorted by depth, so that `traverse` can take all edges of a level in one step of numpy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from leafgrad.reference.paths import Tree

Floats: TypeAlias = npt.NDArray[np.float64]
Nodes: TypeAlias = npt.NDArray[Any]  # node numbers; a node stands for the edge that leads to it


@dataclass(frozen=True)
class Edges:
    """One tree and one row.

    Children of cover 0 have no finite gamma: all shares must be positive.
    """

    left: list[int]
    right: list[int]
    player: list[int]  # l_e
    above: list[int]  # the node below the nearest edge of the same player above, e^up; -1 if there is none
    gamma: list[float]  # 1 over the product of l_e's shares so far where the row agrees with all, else 0
    weight: list[Floats]  # of a leaf: its value times its cover over the root's, by output

    @staticmethod
    def of(tree: Tree, n_outputs: int) -> Edges:
        """Follow every path once.

        Parameters
        ----------
        tree : Tree
            Of a `Game`.
        n_outputs : int
            Of the game.

        Returns
        -------
        Edges
        """
        n = len(tree.left)
        edges = Edges(tree.left, tree.right, [-1] * n, [-1] * n, [1.0] * n, [np.zeros(n_outputs)] * n)
        waiting: list[tuple[int, float, dict[int, int]]] = [(0, 1.0, {})]
        while waiting:
            v, cover, last = waiting.pop()
            if tree.is_leaf(v):
                edges.weight[v] = np.zeros(n_outputs)
                edges.weight[v][tree.outputs] = cover * np.array(tree.value[v])
                continue
            j = tree.player[v]
            above = last.get(j, -1)
            for u in (tree.left[v], tree.right[v]):
                if tree.share[u] == 0.0:
                    raise ValueError("a child of cover 0: the paper's gamma is infinite there")
                edges.player[u], edges.above[u] = j, above
                edges.gamma[u] = (u == tree.taken(v)) * edges.gamma[max(above, 0)] / tree.share[u]
                waiting.append((u, cover * tree.share[u], {**last, j: u}))
        return edges


@dataclass(frozen=True)
class Levels:
    """One output of one tree as arrays, by the node an edge leads to; the root's entries mean nothing."""

    left: Nodes  # a_v; -1 at a leaf
    right: Nodes  # b_v
    parent: Nodes  # m_v
    player: Nodes  # l_e
    above: Nodes  # h of e^up; -1 if there is none
    gamma: Floats  # gamma_e
    weight: Floats  # rho_v c_v / c_r of a leaf
    distinct: Nodes  # |F_v|, the distinct players on the path to v
    degree: Nodes  # d_e, the most distinct players on a path through v
    levels: list[Nodes]  # the nodes of each depth, the root's first
    n_players: int  # N

    @property
    def depth(self) -> int:
        """The paper's D."""
        return len(self.levels) - 1

    def leaf(self, v: Nodes) -> Nodes:
        """Which of the nodes are leaves."""
        return np.asarray(self.left[v] < 0)

    @staticmethod
    def of(edges: Edges, output: int, n_players: int) -> Levels:
        """Sort the edges by depth.

        Parameters
        ----------
        edges : Edges
            A tree and a row.
        output : int
            Whose leaves.
        n_players : int
            N.

        Returns
        -------
        Levels
        """
        left, right, above = np.array(edges.left), np.array(edges.right), np.array(edges.above)
        parent, distinct = np.full(len(left), -1), np.zeros(len(left), dtype=int)
        levels = [np.array([0])]
        while len(inner := levels[-1][left[levels[-1]] >= 0]):
            below = np.concatenate([left[inner], right[inner]])
            parent[below] = np.concatenate([inner, inner])
            distinct[below] = distinct[parent[below]] + (above[below] < 0)
            levels.append(below)
        degree = distinct.copy()
        for level in reversed(levels[1:]):
            np.maximum.at(degree, parent[level], degree[level])
        return Levels(
            left,
            right,
            parent,
            np.array(edges.player),
            above,
            np.array(edges.gamma),
            np.array(edges.weight)[:, output],
            distinct,
            degree,
            levels,
            n_players,
        )
