"""What to average: each value is a positive rule of points `t`, at which the gradient of F_x is taken.

A semivalue is the mean of the gradient of the multilinear extension over the diagonal `z = t·1`, with `t`
drawn from a measure on [0, 1] (the paper's appendix on semi-values): a point mass for Banzhaf, a Beta density
for Beta Shapley, the uniform one for Shapley. There the gradient is a polynomial in `t` of degree at most
n - 1, where n is the most distinct players on one path of the tree, so the Gauss rule of ceil(n/2) nodes is
exact. Each value is a frozen dataclass; `.rule(n)` gives that rule. A probabilistic value without a positive
rule has no `.rule`: it needs a method of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from leafgrad.errors import InputError

Floats: TypeAlias = npt.NDArray[np.float64]
Rule: TypeAlias = tuple[Floats, Floats]

__all__ = ["Banzhaf", "BetaShapley", "Semivalue", "Shapley", "Value", "parse"]

_LARGEST = 1e300  # of a Beta parameter: alpha + beta must not overflow
_SUM_TOLERANCE = 1e-12  # weights typed in decimals or summed in float64 pass, a forgotten weight does not


@dataclass(frozen=True)
class Shapley:
    """The Shapley value: the uniform measure, Gauss-Legendre nodes.

    The one value (with its other name `BetaShapley(1, 1)`) that is additive: values sum to prediction - base.

    Examples
    --------
    >>> nodes, weights = Shapley().rule(2)  # one node is exact for the linear integrand of two players
    >>> nodes.tolist(), weights.tolist()
    ([0.5], [1.0])
    """

    additive: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """The string that `parse` reads back."""
        return "shapley"

    def rule(self, n: int) -> Rule:
        """Nodes and weights, exact for polynomials of degree n - 1.

        Parameters
        ----------
        n : int
            The most distinct players on one path of the tree.

        Returns
        -------
        tuple of ndarray
            Nodes and weights, float64, ceil(n/2) of each (at least one).
        """
        return _gauss(1.0, 1.0, _points(n))


@dataclass(frozen=True)
class Banzhaf:
    """The weighted Banzhaf value: every other player is known with the same probability `p`.

    Attributes
    ----------
    p : float
        In [0, 1]; 0.5 is the Banzhaf value, 0 "first in", 1 "leave one out".

    Examples
    --------
    >>> Banzhaf(0.3).name
    'banzhaf:0.3'
    """

    p: float = 0.5
    additive: ClassVar[bool] = False

    def __post_init__(self) -> None:
        p = _number(self.p, "p", "Banzhaf(p)")
        if not 0.0 <= p <= 1.0:
            raise InputError(f"Banzhaf(p={p!r}): p is a probability; pass a number from 0 to 1")
        object.__setattr__(self, "p", p)

    @property
    def name(self) -> str:
        """The string that `parse` reads back."""
        return f"banzhaf:{_short(self.p)}"

    def rule(self, n: int) -> Rule:
        """The one point `p`, whatever `n`.

        Parameters
        ----------
        n : int
            The most distinct players on one path of the tree.

        Returns
        -------
        tuple of ndarray
            Nodes and weights, float64, one of each.
        """
        _points(n)
        return _frozen(np.array([self.p])), _frozen(np.ones(1))


@dataclass(frozen=True)
class BetaShapley:
    """Beta Shapley: `t` has the density t^(beta-1) (1-t)^(alpha-1), for any real alpha, beta > 0.

    Large `alpha` looks at small coalitions, large `beta` at large ones, as in the paper; (1, 1) is Shapley.

    Attributes
    ----------
    alpha, beta : float
        Positive, at most 1e300; need not be whole.

    Examples
    --------
    >>> value = BetaShapley(3, 1)
    >>> value.name, value.additive
    ('beta:3,1', False)
    >>> nodes, weights = value.rule(2)
    >>> nodes.tolist()  # the mean of the density, beta / (alpha + beta)
    [0.25]
    """

    alpha: float
    beta: float

    def __post_init__(self) -> None:
        for field in ("alpha", "beta"):
            number = _number(getattr(self, field), field, "BetaShapley(alpha, beta)")
            if not 0.0 < number <= _LARGEST:
                raise InputError(
                    f"BetaShapley({field}={number!r}): pass positive numbers up to 1e300; "
                    "for all the weight on one end use Banzhaf(0) or Banzhaf(1)"
                )
            object.__setattr__(self, field, number)

    @property
    def additive(self) -> bool:
        """Whether values sum to prediction - base: for (1, 1) only."""
        return self.alpha == 1.0 and self.beta == 1.0

    @property
    def name(self) -> str:
        """The string that `parse` reads back."""
        return f"beta:{_short(self.alpha)},{_short(self.beta)}"

    def rule(self, n: int) -> Rule:
        """Nodes and weights, exact for polynomials of degree n - 1.

        Parameters
        ----------
        n : int
            The most distinct players on one path of the tree.

        Returns
        -------
        tuple of ndarray
            Nodes and weights, float64, ceil(n/2) of each (at least one).
        """
        return _gauss(self.alpha, self.beta, _points(n))


@dataclass(frozen=True)
class Semivalue:
    """Any semivalue whose measure is a finite set of points: `t` is `nodes[i]` with probability `weights[i]`.

    Parameters
    ----------
    nodes : sequence of float
        Each in [0, 1].
    weights : sequence of float
        Each at least 0; they sum to 1 within 1e-12 and are used as they are.

    Examples
    --------
    >>> half_and_half = Semivalue([0.0, 1.0], [0.5, 0.5])  # mean of "first in" and "leave one out"
    >>> half_and_half.rule(7)[0].tolist()
    [0.0, 1.0]
    """

    nodes: tuple[float, ...]
    weights: tuple[float, ...]
    additive: ClassVar[bool] = False

    def __init__(self, nodes: Iterable[float], weights: Iterable[float]) -> None:
        checked_nodes = _vector(nodes, "nodes")
        checked_weights = _vector(weights, "weights")
        if len(checked_nodes) != len(checked_weights):
            raise InputError(
                f"Semivalue: {len(checked_nodes)} nodes but {len(checked_weights)} weights came; "
                "pass one weight per node"
            )
        for i, node in enumerate(checked_nodes):
            if not 0.0 <= node <= 1.0:
                raise InputError(f"Semivalue: nodes[{i}] is {node!r}; nodes are from 0 to 1")
        for i, weight in enumerate(checked_weights):
            if not 0.0 <= weight <= 1.0 + _SUM_TOLERANCE:
                raise InputError(f"Semivalue: weights[{i}] is {weight!r}; weights are from 0 to 1")
        total = math.fsum(checked_weights)
        if abs(total - 1.0) > _SUM_TOLERANCE:
            raise InputError(
                f"Semivalue: the weights sum to {total!r}, but must sum to 1 (within 1e-12); "
                "divide them by their sum"
            )
        object.__setattr__(self, "nodes", checked_nodes)
        object.__setattr__(self, "weights", checked_weights)

    @property
    def name(self) -> str:
        """A label for results; `parse` cannot read it back, as it leaves out the numbers."""
        return f"semivalue({len(self.nodes)} node{'s' if len(self.nodes) != 1 else ''})"

    def rule(self, n: int) -> Rule:
        """The measure itself, less the nodes of weight 0, whatever `n`.

        Parameters
        ----------
        n : int
            The most distinct players on one path of the tree.

        Returns
        -------
        tuple of ndarray
            Nodes and weights, float64.
        """
        _points(n)
        kept = [i for i, weight in enumerate(self.weights) if weight > 0.0]
        return (
            _frozen(np.array([self.nodes[i] for i in kept])),
            _frozen(np.array([self.weights[i] for i in kept])),
        )


Value: TypeAlias = Shapley | Banzhaf | BetaShapley | Semivalue


def parse(value: object) -> Value:
    """The value meant by `value`: an object of this module, or its name.

    Parameters
    ----------
    value : Shapley, Banzhaf, BetaShapley, Semivalue or str
        Strings are "shapley", "banzhaf", "banzhaf:0.3", "beta:4,1".

    Returns
    -------
    Shapley, Banzhaf, BetaShapley or Semivalue

    Raises
    ------
    InputError
        For anything else.

    Examples
    --------
    >>> parse("banzhaf:0.3")
    Banzhaf(p=0.3)
    >>> parse("beta:4,1")
    BetaShapley(alpha=4.0, beta=1.0)
    """
    if isinstance(value, Shapley | Banzhaf | BetaShapley | Semivalue):
        return value
    wanted = 'pass "shapley", "banzhaf:0.3", "beta:4,1" or an object such as lg.BetaShapley(4, 1)'
    if isinstance(value, type) and issubclass(value, Shapley | Banzhaf | BetaShapley | Semivalue):
        raise InputError(f"value={value.__name__} is the class, not an object; write {value.__name__}(...)")
    if not isinstance(value, str):
        raise InputError(f"value={value!r} ({type(value).__name__}) is not a value leafgrad knows; {wanted}")
    kind, _, text = value.strip().lower().partition(":")
    try:
        numbers = [float(part) for part in text.split(",")] if text else []
    except ValueError:
        raise InputError(f"value={value!r}: {text!r} is not a list of numbers; {wanted}") from None
    kind = kind.strip()
    match kind, len(numbers):
        case "shapley", 0:
            return Shapley()
        case "banzhaf", 0 | 1:
            return Banzhaf(*numbers)
        case "beta", 2:
            return BetaShapley(*numbers)
    takes = {"shapley": "no number", "banzhaf": "one number", "beta": "two numbers"}.get(kind)
    if takes is None:
        raise InputError(f"value={value!r} is not a value leafgrad knows; {wanted}")
    raise InputError(f"value={value!r}: {kind} takes {takes}, {len(numbers)} came; {wanted}")


def _points(n: int) -> int:
    """Gauss points that are exact for degree n - 1: 2m - 1 >= n - 1."""
    if n < 0:
        raise InputError(f"rule(n={n}): n is a number of players; pass 0 or more")
    return max(1, (n + 1) // 2)


@lru_cache(maxsize=4096)
def _gauss(alpha: float, beta: float, m: int) -> Rule:
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
    return _frozen(nodes), _frozen(weights / math.fsum(weights))


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


def _number(number: object, field: str, what: str) -> float:
    """A finite float, or an error that names the field."""
    if isinstance(number, str | bytes) or number is None:
        raise InputError(f"{what}: {field} is {number!r}; pass a number")
    try:
        result = float(number)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what}: {field} is {number!r}; pass a number") from None
    if not math.isfinite(result):
        raise InputError(f"{what}: {field} is {result}; pass a finite number")
    return result


def _vector(numbers: Iterable[float], field: str) -> tuple[float, ...]:
    """A non-empty tuple of finite floats, or an error that names the field."""
    if isinstance(numbers, str | bytes) or not isinstance(numbers, Iterable):
        raise InputError(f"Semivalue: {field} is {numbers!r}; pass a sequence of numbers")
    result = tuple(_number(number, f"{field}[{i}]", "Semivalue") for i, number in enumerate(numbers))
    if not result:
        raise InputError(f"Semivalue: {field} is empty; pass at least one point of the measure")
    return result


def _short(number: float) -> str:
    """The shortest text that reads back as the same float: 4 rather than 4.0."""
    return repr(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def _frozen(array: Floats) -> Floats:
    array.flags.writeable = False
    return array
