"""Gauss rules of the Beta densities: few points that are exact for every polynomial the walk can meet.

Golub-Welsch, in a form that keeps the digits of nodes next to 0 and 1, where small parameters put nearly all
of the weight. Checked in tests against the exact moments to 1e-14.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from leafgrad.errors import InputError

Floats: TypeAlias = npt.NDArray[np.float64]
Rule: TypeAlias = tuple[Floats, Floats]


def points(n: int) -> int:
    """Gauss points that are exact for degree n - 1: 2m - 1 >= n - 1."""
    if n < 0:
        raise InputError(f"rule(n={n}): n is a number of players; pass 0 or more")
    return max(1, (n + 1) // 2)


@lru_cache(maxsize=4096)
def beta_rule(alpha: float, beta: float, m: int) -> Rule:
    """The m-point Gauss rule of the Beta density: nodes ascending, weights summing to 1.

    Golub-Welsch, each node from its nearer end: those above 1/2 are one minus the small nodes of the mirrored
    density. Where alpha or beta is small, nearly all the weight sits within 1e-8 of an end, and only the
    distance from that end keeps its digits there. (`scipy.special.roots_jacobi` loses them all.)
    """
    entry, mirrored = _off_diagonal(alpha, beta, m), _off_diagonal(beta, alpha, m)
    low = _eigenvalues(entry)
    low = low[low * low <= 0.5]
    high = _eigenvalues(mirrored)[: m - len(low)]  # counted from `low`: none is lost or taken twice
    from_0, weight_0 = _refined(low, entry)
    from_1, weight_1 = _refined(high, mirrored)
    nodes = np.concatenate([from_0, 1.0 - from_1[::-1]])
    weights = np.concatenate([weight_0, weight_1[::-1]])
    if alpha == beta and m % 2:
        nodes[m // 2] = 0.5
    return frozen(nodes), frozen(weights / math.fsum(weights))


def _off_diagonal(alpha: float, beta: float, m: int) -> Floats:
    """Golub and Kahan's matrix: order 2m, zero diagonal, eigenvalues plus and minus the roots of the nodes.

    The entries beside the diagonal are square roots of zeta_k = (1 - p_{k-1}) p_k, where p_k are the
    canonical moments of the density. Nothing is subtracted in them: they are right to the last digits.
    """
    k = np.arange(1, m + 1, dtype=np.float64)
    total = alpha + beta
    p, q = np.empty(2 * m), np.empty(2 * m)  # q = 1 - p
    p[0::2] = (beta + (k - 1)) / (total + 2 * (k - 1))
    q[0::2] = (alpha + (k - 1)) / (total + 2 * (k - 1))
    p[1::2] = k / (total + (2 * k - 1))
    q[1::2] = (total + (k - 1)) / (total + (2 * k - 1))
    zeta = p[:-1].copy()
    zeta[1:] *= q[:-2]
    return np.sqrt(np.maximum(zeta, 1e-280))  # parameters below that must not cut the matrix in two


def _eigenvalues(entry: Floats) -> Floats:
    """The positive half of the spectrum, ascending."""
    from scipy.linalg import eigh_tridiagonal  # here: importing leafgrad must not wait for scipy

    size = len(entry) + 1
    spectrum = np.asarray(eigh_tridiagonal(np.zeros(size), entry, eigvals_only=True), dtype=np.float64)
    return np.maximum(spectrum[size // 2 :], 0.0)


def _refined(sigma: Floats, entry: Floats) -> Rule:
    """Nodes sigma^2 and their weights, after Newton's method (quadratic, from an absolute error of 1e-15)."""
    for _ in range(2):
        sigma = np.maximum(sigma + _recurrence(sigma, entry)[0], 0.0)
    step, weights = _recurrence(sigma, entry)
    return np.maximum(sigma * sigma + 2 * sigma * step, 0.0), weights


def _recurrence(sigma: Floats, entry: Floats) -> Rule:
    """At each sigma the Newton step, and the weight 1 / (sum of the squared orthonormal polynomials).

    Row by row, (matrix - sigma) y = 0 gives y_2, y_3, ...; of these y_1, y_3, ... are the orthonormal
    polynomials at sigma^2. The last row does not close; its residual over |y|^2 is the Rayleigh quotient's
    (Newton's) step. As k grows the zeros of the k-th polynomial spread over [0, 1], so y ends in oscillations
    and never decays: the recurrence is stable. Far from where the weight is, y may outgrow float64, hence
    the scaling by powers of two.
    """
    first, y, before = np.ones_like(sigma), np.ones_like(sigma), np.zeros_like(sigma)
    odd, even = np.ones_like(sigma), np.zeros_like(sigma)  # sums of y_1^2, y_3^2, ... and y_2^2, y_4^2, ...
    back = 0.0
    for k, ahead in enumerate(entry.tolist()):
        before, y, back = y, (sigma * y - back * before) / ahead, ahead
        if k % 2:
            odd = odd + y * y
        else:
            even = even + y * y
        large = np.abs(y) > 1e8  # entries are at least 1e-140, so the next square is below 1e300
        if large.any():
            scale = np.where(large, np.ldexp(1.0, -np.frexp(y)[1]), 1.0)
            first, y, before = first * scale, y * scale, before * scale
            odd, even = odd * scale**2, even * scale**2
    residual = back * before - sigma * y
    return residual * y / (odd + even), first * first / odd


def frozen(array: Floats) -> Floats:
    """The array, read-only: rules are shared."""
    array.flags.writeable = False
    return array
