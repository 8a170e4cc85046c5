"""The paper's Algorithm 9, "Efficient Evaluation of f_x(z)": the multilinear extension in O(L)."""

from __future__ import annotations

import numpy.typing as npt

from leafgrad.reference.edges import Levels
from leafgrad.reference.traverse import traverse
from leafgrad.reference.treegrad_simplified import carried


def evaluate(tree: Levels, z: npt.ArrayLike) -> float:
    """Algorithm 9 of the paper: what TreeGrad (Algorithm 1) returns to the root.

    Parameters
    ----------
    tree : Levels
        A tree and a row.
    z : array_like, shape (n_players,)
        The point.

    Returns
    -------
    float
        This tree's part of F_x(z), less its root mean; nan where the algorithm divides 0 by 0.
    """
    return float(traverse(carried(tree, z))[1][0])
