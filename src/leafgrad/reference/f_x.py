"""The paper's Algorithm 8, "Computation of f_x": the worth of one coalition, for any number of players.

`brute.f_x` is the same for all 2^N coalitions side by side.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from leafgrad.reference.edges import Floats
from leafgrad.reference.paths import Game, Tree


def f_x(game: Game, known: Collection[int]) -> Floats:
    """Algorithm 8 of the paper, summed over trees.

    Parameters
    ----------
    game : Game
        Of one row.
    known : collection of int
        S, the players known.

    Returns
    -------
    ndarray, shape (n_outputs,)
        f_x(S), less `forest.base`.
    """
    total = np.zeros(game.n_outputs)
    for tree in game.trees:
        total[tree.outputs] += _traverse(tree, known)
    return total


def _traverse(tree: Tree, known: Collection[int]) -> Floats:
    """One tree, children before parents: known players go the row's way, others mix by cover."""
    below: dict[int, Floats] = {}
    for v in reversed(tree.preorder()):
        a, b = tree.left[v], tree.right[v]
        if tree.is_leaf(v):
            below[v] = np.array(tree.value[v])
        elif tree.player[v] in known:
            below[v] = below[tree.taken(v)]
        else:
            below[v] = tree.share[a] * below[a] + tree.share[b] * below[b]
    return below[0]
