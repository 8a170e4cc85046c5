"""The paper's Algorithm 7, "TreeGrad-Shap (Vectorized)": all nodes of the rule in one traversal."""

from __future__ import annotations

from leafgrad.reference.edges import Floats, Levels
from leafgrad.reference.traverse import AtPoints, traverse
from leafgrad.reference.treegrad_shap import rule


def tree_grad_shap_vectorized(tree: Levels, alpha: int = 1, beta: int = 1) -> Floats:
    """Algorithm 7 of the paper.

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
    t, kappa, b = rule(tree, alpha, beta)
    return traverse(AtPoints(tree, b, lambda e: 1 - t + tree.gamma[e, None] * t, kappa))[0]
