"""The paper's Algorithm 4, "TreeShap-K": coefficients scaled so that their plain sum is the Shapley value.

A path carries theta, the coefficients c_k of prod (1 + gamma y) · (1 + y)^(M - |F|) over (M + 1) C(M, k). A
factor leaves by solving a triangular system whose condition grows as 2^M where gamma = 1, and faster where it
is more (`conditioning.tree_shap_k`).
"""

from __future__ import annotations

import numpy as np

from leafgrad.reference.edges import Floats, Levels, Nodes
from leafgrad.reference.traverse import Carried, Numbers, traverse


def tree_shap_k(tree: Levels) -> Floats:
    """Algorithm 4 of the paper.

    Parameters
    ----------
    tree : Levels
        A tree and a row.

    Returns
    -------
    ndarray, shape (n_players,)
        The Shapley value.
    """
    return traverse(_TreeShapK(tree))[0]


class _TreeShapK(Carried):
    """theta: M + 1 scaled coefficients."""

    def __init__(self, tree: Levels) -> None:
        M = min(tree.depth, tree.n_players)
        super().__init__(tree, np.full(M + 1, 1 / (M + 1)))

    def join(self, p: Numbers, e: Nodes) -> Numbers:
        return plus(p, self.tree.gamma[e])

    def leave(self, p: Numbers, e: Nodes) -> Numbers:
        return minus(p, self.tree.gamma[e])

    def first(self, p: Numbers) -> Numbers:
        """A null player, of factor 1 + y, makes room."""
        return minus(p, np.ones(len(p)))

    def psi(self, G: Numbers, e: Nodes) -> Floats:
        found: Floats = self.leave(G, e).sum(axis=1)
        return found


def plus(xi: Floats, gamma: Floats) -> Floats:
    """The paper's "xi (+) gamma", Eq. (12), for a line of `xi` each.

    Parameters
    ----------
    xi : ndarray, shape (n, M + 1)
        The last entry means nothing: a factor is missing.
    gamma : ndarray, shape (n,)
        Of the factors to join.

    Returns
    -------
    ndarray, shape (n, M + 1)
    """
    M = xi.shape[1] - 1
    k = np.arange(M + 1)
    phi: Floats = (M - k) / (M + 1) * xi
    phi[:, 1:] += gamma[:, None] * k[1:] / (M + 1) * xi[:, :-1]
    return phi


def minus(phi: Floats, gamma: Floats) -> Floats:
    """The paper's "phi (-) gamma": `plus` reversed, from the lowest entry up.

    Parameters
    ----------
    phi : ndarray, shape (n, M + 1)
        With a factor of each gamma.
    gamma : ndarray, shape (n,)
        Of the factors to leave.

    Returns
    -------
    ndarray, shape (n, M + 1)
        The last entry is 0.
    """
    M = phi.shape[1] - 1
    xi = np.zeros_like(phi)
    for k in range(M):
        below = xi[:, k - 1] if k else 0.0
        xi[:, k] = ((M + 1) * phi[:, k] - gamma * k * below) / (M - k)
    return xi
