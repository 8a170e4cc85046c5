"""The paper's Algorithm 5, "Linear TreeShap V1": coefficients of powers of t, integrated term by term.

A path carries c, the coefficients of prod (1 + (gamma - 1) t); null players leave no trace. A factor leaves
by a recurrence that multiplies what is already wrong by gamma - 1 at each step.
"""

from __future__ import annotations

import numpy as np

from leafgrad.reference.edges import Floats, Levels, Nodes
from leafgrad.reference.traverse import Carried, Numbers, traverse


def linear_tree_shap_v1(tree: Levels) -> Floats:
    """Algorithm 5 of the paper.

    Parameters
    ----------
    tree : Levels
        A tree and a row.

    Returns
    -------
    ndarray, shape (n_players,)
        The Shapley value.
    """
    return traverse(_LinearTreeShapV1(tree))[0]


class _LinearTreeShapV1(Carried):
    """c: M + 1 coefficients."""

    def __init__(self, tree: Levels) -> None:
        M = min(tree.depth, tree.n_players)
        super().__init__(tree, np.eye(1, M + 1)[0])

    def join(self, p: Numbers, e: Nodes) -> Numbers:
        return plus(p, self.tree.gamma[e] - 1)

    def leave(self, p: Numbers, e: Nodes) -> Numbers:
        return minus(p, self.tree.gamma[e] - 1)

    def psi(self, G: Numbers, e: Nodes) -> Floats:
        found: Floats = self.leave(G, e) @ (1 / np.arange(1, G.shape[1] + 1))
        return found


def plus(d: Floats, change: Floats) -> Floats:
    """The paper's "d [+] (gamma - 1)", for a line of `d` each.

    Parameters
    ----------
    d : ndarray, shape (n, M + 1)
        Coefficients.
    change : ndarray, shape (n,)
        gamma - 1 of the factors to join.

    Returns
    -------
    ndarray, shape (n, M + 1)
    """
    c = d.copy()
    c[:, 1:] += change[:, None] * d[:, :-1]
    return c


def minus(c: Floats, change: Floats) -> Floats:
    """The paper's "c [-] (gamma - 1)": `plus` reversed, from the lowest power up.

    Parameters
    ----------
    c : ndarray, shape (n, M + 1)
        With a factor of each gamma.
    change : ndarray, shape (n,)
        gamma - 1 of the factors to leave.

    Returns
    -------
    ndarray, shape (n, M + 1)
    """
    d = c.copy()
    for k in range(1, c.shape[1]):
        d[:, k] -= change * d[:, k - 1]
    return d
