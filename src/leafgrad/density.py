"""Gauss rules of any density on [0, 1], for semivalues that are no Beta Shapley value.

The density becomes many weighted points: Gauss-Legendre panels, halved until halving changes nothing, so that
they crowd around kinks and towards singular ends. Of these points Stieltjes' procedure makes the orthogonal
polynomials, and their recurrence, by Golub and Welsch, the rule. All of it is deterministic.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from leafgrad.errors import InputError
from leafgrad.gauss import Floats, Rule, beta_rule, frozen, points

_TOLERANCE = 1e-9  # of the integral: constants typed in decimals pass, a forgotten one does not
_RESOLVED = 1e-15  # a panel of which halving changes less is done; the halves, far nearer, are kept
_UNRESOLVED = 1e-14  # what panels that cannot be halved may add up to
_ORDER = 24  # points of a panel while panels are sought
_START = 8  # equal panels to start with
_NARROWEST = 2.0**-48  # a panel next to a number of [1/2, 1], in whose nodes a few bits are left


@dataclass(frozen=True)
class Density:
    """The semivalue whose `t` has a density; made by `Semivalue.from_density`.

    Attributes
    ----------
    density : callable
        From a float between 0 and 1 to a float of at least 0. Values of the same function are equal.

    Examples
    --------
    >>> nodes, weights = Density(lambda t: 2 * t).rule(2)
    >>> round(float(nodes[0]), 15), weights.tolist()  # one node, at the mean
    (0.666666666666667, [1.0])
    """

    density: Callable[[float], float]
    additive: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not callable(self.density):
            raise InputError(
                f"Semivalue.from_density: {self.density!r} is no function; pass a density, such as "
                "lambda t: 2 * t (for point masses take Semivalue(nodes, weights))"
            )
        _panels(self.density)  # checks it

    @property
    def name(self) -> str:
        """A label for results; `values.parse` cannot read it back."""
        named = getattr(self.density, "__name__", "")
        return f"semivalue(density{f' {named}' if named.isidentifier() else ''})"

    def rule(self, n: int) -> Rule:
        """Nodes and weights, exact for polynomials of degree n - 1.

        Parameters
        ----------
        n : int
            The most distinct players on one path of the tree.

        Returns
        -------
        tuple of ndarray
            Nodes and weights, float64, ceil(n/2) of each (at least one); the weights sum to 1.
        """
        return _rule(self.density, points(n))


@lru_cache(maxsize=1024)
def _rule(density: Callable[[float], float], m: int) -> Rule:
    """Golub-Welsch: nodes are eigenvalues of the recurrence, weights squares of first components."""
    from scipy.linalg import eigh_tridiagonal  # here: importing leafgrad must not wait for scipy

    nodes, vectors = eigh_tridiagonal(*_recurrence(*_grid(density, 1 << (m + 31).bit_length()), m))
    weights = vectors[0] ** 2
    return frozen(np.clip(nodes, 0.0, 1.0)), frozen(weights / math.fsum(weights))


def _recurrence(t: Floats, weight: Floats, m: int) -> tuple[Floats, Floats]:
    """Stieltjes' procedure: diagonal and off-diagonal of the recurrence of the orthonormal polynomials."""
    diagonal, beside = np.empty(m), np.empty(m)
    before, here = np.zeros_like(t), np.full_like(t, 1 / math.sqrt(weight.sum()))
    back = 0.0
    for k in range(m):
        diagonal[k] = weight @ (t * here * here)
        ahead = (t - diagonal[k]) * here - back * before
        back = beside[k] = math.sqrt(weight @ (ahead * ahead))
        before, here = here, ahead / back
    return diagonal, beside[:-1]


@lru_cache(maxsize=64)
def _grid(density: Callable[[float], float], order: int) -> Rule:
    """The density as points and weights: `order` of them on each panel."""
    parts = [_on_panel(density, a, b, order) for a, b in _panels(density)]
    t, weight = (np.concatenate(each) for each in zip(*parts, strict=True))
    return t, weight / math.fsum(weight)


@lru_cache(maxsize=64)
def _panels(density: Callable[[float], float]) -> tuple[tuple[float, float], ...]:
    """Panels on which Gauss-Legendre resolves the density; refuses what is no density."""
    waiting = [(i / _START, (i + 1) / _START) for i in reversed(range(_START))]
    done, total, unresolved, where = [], 0.0, 0.0, 0.0
    while waiting:
        a, b = waiting.pop()
        middle = (a + b) / 2
        whole, *halves = (
            math.fsum(_on_panel(density, *ends, _ORDER)[1]) for ends in ((a, b), (a, middle), (middle, b))
        )
        apart = abs(whole - sum(halves))
        if apart <= _RESOLVED * max(1.0, total):
            done += [(a, middle), (middle, b)]
            total += sum(halves)
        elif b - a < (_NARROWEST if b > 0.01 else 1e-290):
            unresolved += apart
            where = a
            done.append((a, b))
            total += whole
        else:
            waiting += [(middle, b), (a, middle)]
    if unresolved > _UNRESOLVED * max(1.0, total):
        raise InputError(
            f"Semivalue.from_density: near t = {where!r} the density is too steep: intervals as short as "
            f"float64 tells apart leave {unresolved:.1g} of its integral uncertain. Pass a density that is "
            "bounded there, or BetaShapley(alpha, beta), which has no such limit"
        )
    if abs(total - 1.0) > _TOLERANCE:
        raise InputError(
            f"Semivalue.from_density: the integral of the density over [0, 1] is {total!r}, but must be 1 "
            "(within 1e-9); divide by it (narrow peaks are missed: for those take Semivalue(nodes, weights))"
        )
    return tuple(done)


def _on_panel(density: Callable[[float], float], a: float, b: float, order: int) -> Rule:
    x, w = _legendre(order)
    t = np.minimum(a + (b - a) * x, np.nextafter(1.0, 0.0))
    values = np.array([_value(density, node) for node in t.tolist()])
    return t, (b - a) * w * values


def _value(density: Callable[[float], float], t: float) -> float:
    value = density(t)
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not 0.0 <= number < math.inf:
        raise InputError(
            f"Semivalue.from_density: at t = {t!r} the density is {value!r}; wanted a finite number of at "
            "least 0 for every t between 0 and 1"
        )
    return number


@lru_cache(maxsize=16)
def _legendre(order: int) -> Rule:
    """On [0, 1]."""
    return beta_rule(1.0, 1.0, order)
