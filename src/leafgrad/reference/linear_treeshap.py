"""Linear TreeShap, by the paper's appendix on polynomial manipulations and its Algorithm 3.

A path carries p(y), the product of its factors 1 + gamma y, by its values at D nodes: the Chebyshev nodes of
the second kind, or, as the paper's "well-conditioned" variant, the D-th roots of unity. As in the algorithm's
public code, polynomials keep their own degree, and one with d coefficients is decoded by the inverse of V_d,
the Vandermonde matrix of the *first d nodes*. Neighbouring nodes make a V_d that is close to singular: of the
roots of unity too, unless d = D.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb

import numpy as np

from leafgrad.reference.edges import Floats, Levels
from leafgrad.reference.traverse import Numbers, traverse
from leafgrad.reference.treeprob_modified import OwnDegree


def chebyshev(D: int) -> Numbers:
    """The Chebyshev nodes of the second kind on [-1, 1], from -1 up.

    Parameters
    ----------
    D : int
        How many.

    Returns
    -------
    ndarray
    """
    return np.polynomial.chebyshev.chebpts2(D) if D > 1 else np.zeros(1)


def linear_tree_shap(tree: Levels, nodes: Callable[[int], Numbers] = chebyshev) -> Floats:
    """Linear TreeShap: the Shapley value.

    Parameters
    ----------
    tree : Levels
        A tree and a row.
    nodes : callable
        The nodes by their number: `chebyshev`, or `treeprob.unit_circle` for the well-conditioned variant.

    Returns
    -------
    ndarray, shape (n_players,)
        The value.
    """
    y = nodes(tree.depth)
    weights = np.zeros((len(y) + 1, len(y)), y.dtype)
    for d in np.unique(tree.degree[1:]):
        V = np.vander(y[:d], increasing=True)
        weights[d, :d] = np.linalg.inv(V).T @ shapley_polynomial(int(d))
    return traverse(OwnDegree(tree, y, weights))[0]


def shapley_polynomial(d: int) -> Floats:
    """The coefficients of the paper's B_{d-1}(y), whose k-th is 1 / (d C(d-1, k)).

    Parameters
    ----------
    d : int
        How many.

    Returns
    -------
    ndarray
    """
    return np.array([1 / (d * comb(d - 1, k)) for k in range(d)])
