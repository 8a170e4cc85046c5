"""The paper's Algorithm 6, "TreeGrad-Shap": a Beta Shapley value as a sum of TreeGrad's gradients."""

from __future__ import annotations

import math

import numpy as np

from leafgrad.reference.edges import Floats, Levels
from leafgrad.reference.treegrad_simplified import tree_grad_simplified


def tree_grad_shap(tree: Levels, alpha: int = 1, beta: int = 1) -> Floats:
    """Algorithm 6 of the paper.

    Parameters
    ----------
    tree : Levels
        A tree and a row.
    alpha, beta : int
        The Beta Shapley value's parameters, at least 1; (1, 1) is the Shapley value.

    Returns
    -------
    ndarray, shape (n_players,)
        The value.
    """
    phi = np.zeros(tree.n_players)
    for t, kappa, b in zip(*rule(tree, alpha, beta), strict=True):
        phi += kappa * tree_grad_simplified(tree, np.full(tree.n_players, t)) * b
    return phi


def rule(tree: Levels, alpha: int, beta: int) -> tuple[Floats, Floats, Floats]:
    """The Gauss-Legendre rule on [0, 1], and the Beta density at its nodes.

    Parameters
    ----------
    tree : Levels
        A tree and a row; its depth tells how many nodes are needed.
    alpha, beta : int
        The Beta Shapley value's parameters.

    Returns
    -------
    t, kappa, b : ndarray
        Nodes, weights and densities; as many as ceil(M / 2), M = min(D, N) + alpha + beta - 2.
    """
    M = min(tree.depth, tree.n_players) + alpha + beta - 2
    nodes, weights = np.polynomial.legendre.leggauss(math.ceil(M / 2))
    t, kappa = (1 + nodes) / 2, weights / 2
    B = math.factorial(alpha - 1) * math.factorial(beta - 1) / math.factorial(alpha + beta - 1)
    return t, kappa, t ** (beta - 1) * (1 - t) ** (alpha - 1) / B
