"""The paper's Algorithm 1, "TreeGrad (Simplified Procedure)": the gradient of the extension, in O(L).

A factor 1 - z + z gamma is 0 where z = 1 and the row disagrees with a split (gamma = 0). Dividing by it then
gives nan: such points need the full procedure (`treegrad`).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from leafgrad.reference.edges import Floats, Levels
from leafgrad.reference.traverse import AtPoints, traverse


def tree_grad_simplified(tree: Levels, z: npt.ArrayLike) -> Floats:
    """Algorithm 1 of the paper.

    Parameters
    ----------
    tree : Levels
        A tree and a row.
    z : array_like, shape (n_players,)
        The point.

    Returns
    -------
    ndarray, shape (n_players,)
        The gradient; nan where the algorithm divides 0 by 0.
    """
    return traverse(carried(tree, z))[0]


def carried(tree: Levels, z: npt.ArrayLike) -> AtPoints:
    """What TreeGrad carries: s, the product of the factors 1 - z + z gamma so far.

    Parameters
    ----------
    tree : Levels
        A tree and a row.
    z : array_like, shape (n_players,)
        The point.

    Returns
    -------
    AtPoints
    """
    known = np.asarray(z, dtype=np.float64)[tree.player]
    factor = 1 - known + known * tree.gamma
    return AtPoints(tree, np.ones(1), lambda e: factor[e, None], np.ones(1))
