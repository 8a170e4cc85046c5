"""What to average: each value is a positive rule of points `t`, at which the gradient of F_x is taken.

A semivalue is the mean of the gradient of the multilinear extension over the diagonal `z = t·1`, with `t`
drawn from a measure on [0, 1] (the paper's appendix on semi-values): a point mass for Banzhaf, a Beta density
for Beta Shapley, the uniform one for Shapley. There the gradient is a polynomial in `t` of degree at most
n - 1, where n is the most distinct players on one path of the tree, so the Gauss rule of ceil(n/2) nodes is
exact (`gauss`, and `density` for any density). Each value is a frozen dataclass; `.rule(n)` gives that rule.
A `ProbabilisticValue`, which need not have one, goes by a method of its own (`probabilistic`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np

from leafgrad.arguments import number, short, vector
from leafgrad.density import Density
from leafgrad.errors import InputError
from leafgrad.gauss import Rule, beta_rule, frozen, points
from leafgrad.probabilistic import ProbabilisticValue

__all__ = [
    "Banzhaf",
    "BetaShapley",
    "Density",
    "ProbabilisticValue",
    "Semivalue",
    "Shapley",
    "Value",
    "parse",
]

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
        return beta_rule(1.0, 1.0, points(n))


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
        p = number(self.p, "p", "Banzhaf(p)")
        if not 0.0 <= p <= 1.0:
            raise InputError(f"Banzhaf(p={p!r}): p is a probability; pass a number from 0 to 1")
        object.__setattr__(self, "p", p)

    @property
    def name(self) -> str:
        """The string that `parse` reads back."""
        return f"banzhaf:{short(self.p)}"

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
        points(n)
        return frozen(np.array([self.p])), frozen(np.ones(1))


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
            parameter = number(getattr(self, field), field, "BetaShapley(alpha, beta)")
            if not 0.0 < parameter <= _LARGEST:
                raise InputError(
                    f"BetaShapley({field}={parameter!r}): pass positive numbers up to 1e300; "
                    "for all the weight on one end use Banzhaf(0) or Banzhaf(1)"
                )
            object.__setattr__(self, field, parameter)

    @property
    def additive(self) -> bool:
        """Whether values sum to prediction - base: for (1, 1) only."""
        return self.alpha == 1.0 and self.beta == 1.0

    @property
    def name(self) -> str:
        """The string that `parse` reads back."""
        return f"beta:{short(self.alpha)},{short(self.beta)}"

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
        return beta_rule(self.alpha, self.beta, points(n))


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
        checked_nodes = vector(nodes, "nodes", "Semivalue")
        checked_weights = vector(weights, "weights", "Semivalue")
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

    @staticmethod
    def from_density(density: Callable[[float], float]) -> Density:
        """The semivalue whose `t` has the given density on [0, 1].

        Parameters
        ----------
        density : callable
            From a float between 0 and 1 to a float of at least 0; it is not asked at 0 and 1. Its integral is
            1 within 1e-9; the weights of its rules are divided by their sum. It may have kinks and jumps, and
            go to infinity at 0, as t^-0.5 does; not at 1, where float64 has no numbers to tell it from its
            limit.

        Returns
        -------
        Density
            A value like the others. Its rules are exact to some 1e-14.

        Raises
        ------
        InputError
            Where the integral is another, which the message tells, or the function is no density.

        Examples
        --------
        >>> value = Semivalue.from_density(lambda t: 6 * t * (1 - t))
        >>> nodes, weights = value.rule(4)
        >>> nodes.round(12).tolist(), weights.round(12).tolist()
        ([0.27639320225, 0.72360679775], [0.5, 0.5])
        """
        return Density(density)

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
        points(n)
        kept = [i for i, weight in enumerate(self.weights) if weight > 0.0]
        return (
            frozen(np.array([self.nodes[i] for i in kept])),
            frozen(np.array([self.weights[i] for i in kept])),
        )


Semi: TypeAlias = Shapley | Banzhaf | BetaShapley | Semivalue | Density
Value: TypeAlias = Semi | ProbabilisticValue


def parse(value: object) -> Value:
    """The value meant by `value`: an object of this module, or its name.

    Parameters
    ----------
    value : Shapley, Banzhaf, BetaShapley, Semivalue, Density, ProbabilisticValue or str
        Strings are "shapley", "banzhaf", "banzhaf:0.3", "beta:4,1", "leave_one_out", "first_in".

    Returns
    -------
    Shapley, Banzhaf, BetaShapley, Semivalue, Density or ProbabilisticValue

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
    if isinstance(value, Value):
        return value
    wanted = (
        'pass "shapley", "banzhaf:0.3", "beta:4,1", "leave_one_out", "first_in" or an object such as '
        "lg.BetaShapley(4, 1)"
    )
    if isinstance(value, type) and issubclass(value, Value):
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
        case "leave_one_out", 0:
            return ProbabilisticValue.leave_one_out()
        case "first_in", 0:
            return ProbabilisticValue.first_in()
    takes = {
        "shapley": "no number",
        "banzhaf": "one number",
        "beta": "two numbers",
        "leave_one_out": "no number",
        "first_in": "no number",
    }.get(kind)
    if takes is None:
        raise InputError(f"value={value!r} is not a value leafgrad knows; {wanted}")
    raise InputError(f"value={value!r}: {kind} takes {takes}, {len(numbers)} came; {wanted}")
