"""Any probabilistic value: how often a player meets a coalition of each size.

A semivalue has a measure on [0, 1], and so a rule of points (`values`). Weights for the sizes of coalitions
that come from no measure have none; the core takes them as they are, for all the polynomials that a tree can
make. A tree with U players on its longest path is a game of U players, whoever else there is: the others are
null players, and leave. Where they do, a coalition of s players keeps those of its members that are among the
U: a hypergeometric number, so that weights are only averaged.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from leafgrad import arguments
from leafgrad.errors import InputError

Floats: TypeAlias = npt.NDArray[np.float64]
Kind: TypeAlias = Literal["sizes", "reduced", "leave_one_out", "first_in"]

_TOLERANCE = 1e-12  # sizes typed in decimals or summed in float64 pass, a forgotten size does not
_LOOSER = Fraction(1, 10**10)  # weights per coalition often come from logarithms, which cost digits


@dataclass(frozen=True, init=False, repr=False)
class ProbabilisticValue:
    """Any probabilistic value: `sizes[s]` is the probability that s other players are known.

    Given s, every coalition of s other players is equally likely. `leafgrad.explain` takes it for any model;
    a semivalue is faster as what it is, `Shapley()`, `Banzhaf(p)`, `BetaShapley(alpha, beta)` or
    `Semivalue(nodes, weights)`.

    Parameters
    ----------
    sizes : sequence of float
        One number for each size 0, 1, ..., N-1, with N the number of players: the model's features, or with
        groups the groups and the features in none. Each at least 0; they sum to 1 within 1e-12 and are used
        as they are.

    Examples
    --------
    >>> import leafgrad as lg
    >>> stump = lg.Forest.from_arrays(
    ...     tree_start=[0, 3], left=[1, -1, -1], right=[2, -1, -1], feature=[0, -1, -1],
    ...     threshold=[0.5, 0, 0], cover=[4, 3, 1], value=[0, 0, 1], n_features=2)
    >>> lg.explain(stump, [[0.7, 9.0]], lg.ProbabilisticValue([0.25, 0.75])).values
    array([[0.75, 0.  ]])
    """

    sizes: tuple[float, ...]
    kind: Kind
    additive: ClassVar[bool] = False

    def __init__(self, sizes: Iterable[float]) -> None:
        checked = arguments.vector(sizes, "sizes", "ProbabilisticValue")
        for s, probability in enumerate(checked):
            if not 0.0 <= probability <= 1.0 + _TOLERANCE:
                raise InputError(
                    f"ProbabilisticValue: sizes[{s}] is {probability!r}; it is the probability of a "
                    f"coalition of {s}, from 0 to 1"
                )
        total = math.fsum(checked)
        if abs(total - 1.0) > _TOLERANCE:
            raise InputError(
                f"ProbabilisticValue: the {len(checked)} sizes sum to {total!r}, but must sum to 1 (within "
                "1e-12); divide them by their sum"
            )
        object.__setattr__(self, "sizes", checked)
        object.__setattr__(self, "kind", "sizes")

    @classmethod
    def from_omega(cls, omega: Iterable[float | Fraction]) -> ProbabilisticValue:
        """The value of the paper's weights: `omega[s]` for each single coalition of s other players.

        Parameters
        ----------
        omega : sequence of float or Fraction
            One number for each size 0, 1, ..., N-1 (the paper counts from 1: its omega_{s+1}), each at least
            0. The sum over s of C(N-1, s) omega[s] is 1 within 1e-10. Floats hold such weights up to some
            N = 1,000, fractions any.

        Returns
        -------
        ProbabilisticValue

        Examples
        --------
        >>> ProbabilisticValue.from_omega([1/3, 1/6, 1/3])  # the Shapley value of three players
        ProbabilisticValue([0.333..., 0.333..., 0.333...])
        """
        return cls._of_kind(_by_size(omega, "omega", "N"), "sizes")

    @classmethod
    def from_reduced(cls, q: Iterable[float | Fraction]) -> ProbabilisticValue:
        """The value of weights for a game of n players, for models with any number of features.

        The paper's remark: a tree knows only of the players on its paths, so weights are needed for no more
        of them. Trees with fewer than n on their paths take what is left when null players leave.

        Parameters
        ----------
        q : sequence of float or Fraction
            `q[k]` for each single coalition of k of the n - 1 others. The sum over k of C(n-1, k) q[k] is 1
            within 1e-10, and n at least the most distinct players on one path of the model.

        Returns
        -------
        ProbabilisticValue

        Examples
        --------
        >>> ProbabilisticValue.from_reduced([1/3, 1/6, 1/3])
        ProbabilisticValue.from_reduced([0.333..., 0.166..., 0.333...])
        """
        return cls._of_kind(_by_size(q, "q", "n"), "reduced")

    @classmethod
    def leave_one_out(cls) -> ProbabilisticValue:
        """What is lost when one player alone is not known: f(all) - f(all but j).

        Returns
        -------
        ProbabilisticValue
            For models of any size. The same values as `Banzhaf(1)`.

        Examples
        --------
        >>> ProbabilisticValue.leave_one_out().name
        'leave_one_out'
        """
        return cls._of_kind((1.0,), "leave_one_out")

    @classmethod
    def first_in(cls) -> ProbabilisticValue:
        """What one player alone brings: f(j) - f(nothing).

        Returns
        -------
        ProbabilisticValue
            For models of any size. The same values as `Banzhaf(0)`.

        Examples
        --------
        >>> ProbabilisticValue.first_in().name
        'first_in'
        """
        return cls._of_kind((1.0,), "first_in")

    @classmethod
    def _of_kind(cls, sizes: tuple[float, ...], kind: Kind) -> ProbabilisticValue:
        value = object.__new__(cls)
        object.__setattr__(value, "sizes", sizes)
        object.__setattr__(value, "kind", kind)
        return value

    def __repr__(self) -> str:
        match self.kind:
            case "sizes":
                return f"ProbabilisticValue({list(self.sizes)})"
            case "reduced":
                last = len(self.sizes) - 1
                q = [float(Fraction(p) / math.comb(last, k)) for k, p in enumerate(self.sizes)]
                return f"ProbabilisticValue.from_reduced({q})"
        return f"ProbabilisticValue.{self.kind}()"

    @property
    def name(self) -> str:
        """A label for results; `values.parse` reads back "leave_one_out" and "first_in" alone."""
        match self.kind:
            case "sizes":
                return f"probabilistic({len(self.sizes)} sizes)"
            case "reduced":
                return f"probabilistic({len(self.sizes)} reduced sizes)"
        return self.kind

    def check(self, n_players: int, most: int) -> None:
        """Raise where the value is for another number of players.

        Parameters
        ----------
        n_players : int
            Of the game, N.
        most : int
            The most distinct players on one path of the model, U.

        Raises
        ------
        InputError
            Where it does not fit.
        """
        given = len(self.sizes)
        if self.kind == "sizes" and given != n_players:
            raise InputError(
                f"the value has {given} size{'s' if given != 1 else ''} and the game {n_players} player"
                f"{'s' if n_players != 1 else ''}; pass one probability for each of the sizes 0..N-1 with "
                f"N = {n_players} (for any number of players: ProbabilisticValue.from_reduced)"
            )
        if self.kind == "reduced" and given < most:
            raise InputError(
                f"the value is reduced to n = {given} players, but U = {most} different players stand on one "
                f"path of the model; pass weights q for n = {most} or more"
            )

    def of(self, n: int) -> Floats:
        """The probabilities of sizes 0..n-1 in the game of the n players of a tree.

        Parameters
        ----------
        n : int
            The most distinct players on one path of the tree, at least 1.

        Returns
        -------
        ndarray, shape (n,)
            They sum to what `sizes` sums to.
        """
        if self.kind in {"leave_one_out", "first_in"}:
            at_an_end = np.zeros(n)
            at_an_end[-1 if self.kind == "leave_one_out" else 0] = 1.0
            return at_an_end
        return without_null_players(np.array(self.sizes), n)


def without_null_players(sizes: Floats, n: int) -> Floats:
    """The distribution of sizes among n players, the others having left.

    Parameters
    ----------
    sizes : ndarray, shape (N,)
        Probabilities of sizes 0..N-1, N at least n.
    n : int
        Players that stay, at least 1.

    Returns
    -------
    ndarray, shape (n,)
        Of a coalition of s among N-1 others, i are among the n-1 with a hypergeometric probability. From its
        mode outwards each is a product of ratios; all are then divided by their sum. (Binomials would
        overflow, their logarithms lose digits.)

    Examples
    --------
    >>> without_null_players(np.array([0.0, 0.0, 1.0, 0.0]), 2)  # a third of pairs are without the one
    array([0.333..., 0.666...])
    """
    s = np.flatnonzero(sizes)
    weight = sizes[s]
    marked, others = n - 1, len(sizes) - n
    if others == 0:
        return sizes.copy()
    lowest, highest = np.maximum(0, s - others), np.minimum(marked, s)
    mode = np.clip((s + 1) * (marked + 1) // (marked + others + 2), lowest, highest)
    total = np.ones(len(s))
    result = np.zeros(n)
    for add in (False, True):  # first the sums, then the parts
        if add:
            weight = weight / total
            result += np.bincount(mode, weight, n)
        for up in (True, False):
            i, part = mode.copy(), np.ones(len(s))
            while True:
                here = np.flatnonzero(i < highest if up else i > lowest)
                if not len(here):
                    break
                k, size = i[here], s[here]
                if up:
                    part[here] *= (marked - k) * (size - k) / ((k + 1) * (others - size + k + 1))
                    i[here] = k + 1
                else:
                    part[here] *= k * (others - size + k) / ((marked - k + 1) * (size - k + 1))
                    i[here] = k - 1
                if add:
                    result += np.bincount(i[here], weight[here] * part[here], n)
                else:
                    total[here] += part[here]
    return result


def _by_size(given: Iterable[float | Fraction], field: str, n: str) -> tuple[float, ...]:
    """Probabilities by size from weights per coalition; in fractions, as the binomials are beyond float64."""
    what = f"ProbabilisticValue.from_{'omega' if field == 'omega' else 'reduced'}"
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise InputError(f"{what}: {field} is {given!r}; pass a sequence of numbers")
    weights = [
        Fraction(each)
        if isinstance(each, int | Fraction)
        else Fraction(arguments.number(each, f"{field}[{s}]", what))
        for s, each in enumerate(given)
    ]
    if not weights:
        raise InputError(f"{what}: {field} is empty; pass at least one number")
    for s, each in enumerate(weights):
        if each < 0:
            raise InputError(f"{what}: {field}[{s}] is {float(each)!r}; weights are at least 0")
    last = len(weights) - 1
    by_size = [math.comb(last, s) * each for s, each in enumerate(weights)]
    total = sum(by_size, start=Fraction(0))
    if abs(total - 1) > _LOOSER:
        raise InputError(
            f"{what}: the sum over s of C({n}-1, s) {field}[s] is {_shown(total)} for {n} = {len(weights)}, "
            f"but must be 1 (within 1e-10); {field}[s] is the weight of each single coalition of s"
        )
    return tuple(float(each) for each in by_size)


def _shown(total: Fraction) -> str:
    try:
        return repr(float(total))
    except OverflowError:
        return "beyond float64"
