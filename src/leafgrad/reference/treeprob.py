"""The paper's Algorithm 3, "TreeProb": any probabilistic value, by polynomials at the roots of unity.

A path carries p(y), the product of its factors 1 + gamma y, by its values at the M-th roots of unity, whose
Vandermonde matrix V has the inverse conj(V) / M. At a leaf all are brought to degree M by factors 1 + y,
which add null players. The values lie around 2^M while their weighted sum is around 1: from about 60 nodes on
no digit is left.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from leafgrad.reference import exact
from leafgrad.reference.edges import Floats, Levels, Nodes
from leafgrad.reference.traverse import AtPoints, Numbers, traverse
from leafgrad.values import Shapley

Wanted: TypeAlias = exact.Weights  # a sequence is a distribution over coalition sizes
SHAPLEY = Shapley()


def tree_prob(tree: Levels, value: Wanted = SHAPLEY, *, M: int | None = None) -> Floats:
    """Algorithm 3 of the paper.

    Parameters
    ----------
    tree : Levels
        A tree and a row.
    value : Shapley, Banzhaf, BetaShapley, Semivalue or sequence of numbers
        A sequence is a distribution over the coalition sizes 0..n_players-1.
    M : int, optional
        The number of nodes, by default min(D, N). The paper's appendix takes D even where that is more than
        N, for semivalues only.

    Returns
    -------
    ndarray, shape (n_players,)
        The value.
    """
    nodes = min(tree.depth, tree.n_players) if M is None else M
    return traverse(_TreeProb(tree, unit_circle(nodes), polynomial(value, nodes, tree.n_players)))[0]


class _TreeProb(AtPoints):
    """Values at the roots of unity; q by the inverse of their Vandermonde matrix."""

    def __init__(self, tree: Levels, y: Numbers, q: Floats) -> None:
        self.y = y
        super().__init__(tree, np.ones(len(y), complex), lambda e: 1 + tree.gamma[e, None] * y, decoded(y, q))

    def leaf(self, p: Numbers, v: Nodes) -> Numbers:
        """Times the weight, and (1 + y)^(M - deg p)."""
        missing = len(self.y) - self.tree.distinct[v]
        return np.asarray(super().leaf(p, v) * (1 + self.y) ** missing[:, None])


def unit_circle(M: int) -> Numbers:
    """The M-th roots of unity, e^(2 pi i k / M).

    Parameters
    ----------
    M : int
        How many.

    Returns
    -------
    ndarray of complex
    """
    roots: Numbers = np.exp(2j * np.pi * np.arange(M) / M)
    return roots


def decoded(y: Numbers, q: Floats) -> Numbers:
    """Weights w with <p, q> = sum_k p(y_k) w_k for every p of degree below M: (V^-1)^T q, V^-1 = conj(V) / M.

    Parameters
    ----------
    y : ndarray of complex
        The M-th roots of unity.
    q : ndarray
        At most M coefficients.

    Returns
    -------
    ndarray of complex
    """
    V = np.vander(y, len(q), increasing=True)
    weights: Numbers = V.conj() @ q / len(y)
    return weights


def polynomial(value: Wanted, M: int, n_players: int) -> Floats:
    """The coefficients of q_{M-1}(y): the weight of one coalition of M - 1 others by its size.

    Parameters
    ----------
    value : Shapley, Banzhaf, BetaShapley, Semivalue or sequence of numbers
        What to weigh for: the paper's Eq. (11) for a sequence, its Eq. (8) for the others.
    M : int
        One more than the degree.
    n_players : int
        N.

    Returns
    -------
    ndarray, shape (M,)
    """
    return np.array([float(weight) for weight in exact.omega(value, M, n_players)])
