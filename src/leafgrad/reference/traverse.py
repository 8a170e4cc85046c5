"""The one traversal behind all of the paper's tree algorithms; they differ in what is carried along a path.

Down the tree, what is carried gains a factor at each edge, in place of the factor that the same player had
before. At the leaves it is multiplied by the leaf's weight, and on the way up it is summed. `G[v]` holds the
sum over the leaves for which v's edge is the last of its player (the paper's L-dagger of h_e); an edge's part
in the value of its player is (gamma_e - 1) psi(G[v] without the factor of e). Comments show the pseudo code's
lines, which are the same in the paper's Algorithms 1, 3, 4, 5, 7 and 9 (11 adds a corner case).

All edges of one depth take each step together, so the time is that of numpy, and no tree is too deep.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from leafgrad.forest import Forest
from leafgrad.reference.edges import Edges, Floats, Levels, Nodes
from leafgrad.reference.paths import game

Numbers: TypeAlias = npt.NDArray[Any]  # float64 or complex128; a line is what one edge carries


class Carried(ABC):
    """What one algorithm carries. `e` and `v` are arrays of nodes, and a line of `p` belongs to each.

    Parameters
    ----------
    tree : Levels
        A tree and a row.
    start : ndarray, shape (width,)
        What the root hands down.
    """

    def __init__(self, tree: Levels, start: Numbers) -> None:
        self.tree = tree
        self.start = start

    @abstractmethod
    def join(self, p: Numbers, e: Nodes) -> Numbers:
        """With the factor of e."""

    @abstractmethod
    def leave(self, p: Numbers, e: Nodes) -> Numbers:
        """Without the factor of e."""

    @abstractmethod
    def psi(self, G: Numbers, e: Nodes) -> Floats:
        """The number that G means, without the factor of e."""

    def first(self, p: Numbers) -> Numbers:
        """Before a player's first edge: nothing leaves."""
        return p

    def leaf(self, p: Numbers, v: Nodes) -> Numbers:
        """At a leaf."""
        return self.tree.weight[v, None] * p

    def lift(self, p: Numbers, v: Nodes, to: Nodes) -> Numbers:  # noqa: ARG002 (for those with degrees)
        """What came up from v in the degree of `to`, where degrees differ."""
        return p


class AtPoints(Carried):
    """A polynomial, by its values at some points: factors join and leave by multiplication and division.

    Parameters
    ----------
    tree : Levels
        A tree and a row.
    start : ndarray, shape (width,)
        What the root hands down.
    factor : callable
        The values of the factors of some edges, a line each.
    weights : ndarray, shape (width,)
        psi is this weighted sum of the values.
    """

    def __init__(
        self, tree: Levels, start: Numbers, factor: Callable[[Nodes], Numbers], weights: Numbers
    ) -> None:
        super().__init__(tree, start)
        self.factor = factor
        self.weights = weights

    def join(self, p: Numbers, e: Nodes) -> Numbers:
        """Times the values of the factor."""
        return p * self.factor(e)

    def leave(self, p: Numbers, e: Nodes) -> Numbers:
        """Divided by them."""
        return p / self.factor(e)

    def psi(self, G: Numbers, e: Nodes) -> Floats:
        """The weighted sum of the quotient's values."""
        found: Floats = (self.leave(G, e) @ self.weights).real
        return found


def traverse(carried: Carried) -> tuple[Floats, Numbers]:
    """Down and up the tree.

    Parameters
    ----------
    carried : Carried
        An algorithm on a tree and a row.

    Returns
    -------
    phi : ndarray, shape (n_players,)
        The sum over edges of (gamma_e - 1) psi(G[h_e] without e's factor).
    total : ndarray, shape (width,)
        What came up to the root.
    """
    tree = carried.tree
    phi = np.zeros(tree.n_players)
    p = np.zeros((len(tree.left), len(carried.start)), dtype=carried.start.dtype)
    G = np.zeros_like(p)
    p[0] = carried.start
    # The algorithms are shown as they are: where they divide by nothing or overflow, the result tells.
    with np.errstate(all="ignore"):
        for v in tree.levels[1:]:
            p[v] = _down(carried, p, v)
        for v in reversed(tree.levels):
            end = tree.leaf(v)
            p[v[end]] = carried.leaf(p[v[end]], v[end])
            inner = v[~end]  # p <- traverse(a_v, p) + traverse(b_v, p)
            a, b = tree.left[inner], tree.right[inner]
            p[inner] = carried.lift(p[a], a, inner) + carried.lift(p[b], b, inner)
            if tree.parent[v[0]] < 0:
                break
            again = v[tree.above[v] >= 0]
            up = tree.above[again]
            np.subtract.at(G, up, carried.lift(p[again], again, up))  # G[h_{e^up}] <- G[h_{e^up}] - p
            G[v] += p[v]  # G[v] <- G[v] + p
            # phi_{l_e} <- phi_{l_e} + (gamma_e - 1) psi(G[v] / factor of e)
            np.add.at(phi, tree.player[v], (tree.gamma[v] - 1) * carried.psi(G[v], v))
    return phi, p[0]


def _down(carried: Carried, p: Numbers, v: Nodes) -> Numbers:
    """What is carried down to v: e's factor joins, in place of that of e^up where there is one."""
    tree = carried.tree
    above, handed = tree.above[v], p[tree.parent[v]]
    again = above >= 0
    rest = np.empty_like(handed)
    rest[again] = carried.leave(handed[again], above[again])
    rest[~again] = carried.first(handed[~again])
    return carried.join(rest, v)


def over_trees(
    forest: Forest, x: npt.ArrayLike, output: int, algorithm: Callable[[Levels], Floats]
) -> Floats:
    """The sum over the trees of a forest of an algorithm for one tree.

    Parameters
    ----------
    forest : Forest
        Its shares must be positive.
    x : array_like, shape (n_features,)
        An encoded row.
    output : int
        The output to explain, from 0.
    algorithm : callable
        From a tree and a row to a number for each feature.

    Returns
    -------
    ndarray, shape (n_features,)
    """
    played = game(forest, x)
    phi = np.zeros(played.n_players)
    for tree in played.trees:
        if output in tree.outputs and not tree.is_leaf(0):
            phi += algorithm(Levels.of(Edges.of(tree, played.n_outputs), output, played.n_players))
    return phi
