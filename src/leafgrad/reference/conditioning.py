"""The matrices that the paper's rivals invert, and their condition numbers.

Linear TreeShap decodes by the inverse of a Vandermonde matrix, TreeShap-K and Linear TreeShap V1 let a factor
leave by solving a bidiagonal system. A condition number is the ratio of the largest to the smallest singular
value; beyond 1e16 no float64 routine finds the smallest, so inverses are written down without a subtraction
that could cancel: exactly for real nodes, as products for bidiagonal matrices.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from leafgrad.reference.edges import Floats
from leafgrad.reference.linear_treeshap import chebyshev
from leafgrad.reference.traverse import Numbers
from leafgrad.reference.treeprob import unit_circle


def chebyshev_vandermonde(D: int) -> float:
    """The condition of Linear TreeShap's matrix: Vandermonde's of D Chebyshev nodes of the second kind.

    Parameters
    ----------
    D : int
        The tree's depth.

    Returns
    -------
    float
    """
    return vandermonde(chebyshev(D))


def vandermonde(nodes: Floats) -> float:
    """The condition of the Vandermonde matrix of real nodes: row i holds the powers of node i.

    Parameters
    ----------
    nodes : ndarray
        Different numbers.

    Returns
    -------
    float
    """
    exact = [Fraction(node) for node in nodes.tolist()]
    product = [Fraction(1)]  # (y - node) of all, from the lowest power up
    for node in exact:
        product = [
            a - node * b for a, b in zip([Fraction(0), *product], [*product, Fraction(0)], strict=True)
        ]
    inverse = np.array([_lagrange(product, node) for node in exact], dtype=float).T
    return _norm(np.vander(nodes, increasing=True)) * _norm(inverse)


def unit_circle_vandermonde(D: int) -> float:
    """The condition of TreeProb's matrix: Vandermonde's of the D-th roots of unity.

    Parameters
    ----------
    D : int
        How many.

    Returns
    -------
    float
        1, but for rounding.
    """
    return float(np.linalg.cond(np.vander(unit_circle(D), increasing=True)))


def tree_shap_k(D: int, gamma: float = 1.0) -> float:
    """The condition of the paper's "(-) gamma", Eq. (12) reversed, in TreeShap-K.

    Parameters
    ----------
    D : int
        The tree's depth: D coefficients.
    gamma : float
        Of the factor that leaves; the paper's figure takes 1.

    Returns
    -------
    float
    """
    k = np.arange(1, D + 1)
    return bidiagonal((D + 1 - k) / (D + 1), gamma * k[:-1] / (D + 1))


def linear_tree_shap_v1(D: int, gamma: float) -> float:
    """The condition of the paper's "[-] (gamma - 1)" in Linear TreeShap V1.

    Parameters
    ----------
    D : int
        The tree's depth: D coefficients.
    gamma : float
        Of the factor that leaves.

    Returns
    -------
    float
    """
    return bidiagonal(np.ones(D), np.full(D - 1, gamma - 1))


def bidiagonal(diagonal: Floats, below: Floats) -> float:
    """The condition of a matrix with a diagonal and a line below it.

    Parameters
    ----------
    diagonal : ndarray, shape (n,)
        Not 0.
    below : ndarray, shape (n - 1,)
        Row k holds below[k - 1] to the left of diagonal[k].

    Returns
    -------
    float
    """
    inverse = np.diag(1 / diagonal)
    for k in range(1, len(diagonal)):
        inverse[k, :k] = -below[k - 1] / diagonal[k] * inverse[k - 1, :k]
    return _norm(np.diag(diagonal) + np.diag(below, -1)) * _norm(inverse)


def _lagrange(product: list[Fraction], node: Fraction) -> list[Fraction]:
    """The coefficients of the polynomial that is 1 at the node and 0 at the other roots of the product."""
    quotient = product[1:]
    for k in range(len(quotient) - 2, -1, -1):
        quotient[k] += node * quotient[k + 1]
    at_node = Fraction(0)
    for c in reversed(quotient):
        at_node = at_node * node + c
    return [c / at_node for c in quotient]


def _norm(matrix: Numbers) -> float:
    """The largest singular value."""
    return float(np.linalg.norm(matrix, 2))
