"""The exact oracle: leaf-path products in fractions, for any number of players and any number in [0, 1].

For one leaf, f_x is a product over the players of its path, and so is its extension:
prod_j (z_j [x agrees with all of j's splits] + (1 - z_j) W_j), with W_j the product of j's cover shares.
Everything follows leaf by leaf, with nothing rounded: floats are fractions, and so are the moments of a Beta
density at float parameters. Along the diagonal z = t·1 the product is a polynomial in t and u = 1 - t, held
by its coefficients of t^s u^(k-s), as integers over one denominator: a fraction of its own for each would
spend ten times as long on common divisors. Leaving one player out divides it exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from leafgrad.probabilistic import ProbabilisticValue
from leafgrad.reference.paths import Game
from leafgrad.values import Banzhaf, BetaShapley, Semivalue, Shapley

Fractions: TypeAlias = npt.NDArray[np.object_]  # of Fraction; `.astype(float)` rounds each one correctly
Numbers: TypeAlias = Iterable[float | Fraction]
Weights: TypeAlias = (
    Shapley | Banzhaf | BetaShapley | Semivalue | ProbabilisticValue | Sequence[float | Fraction]
)


def known(game: Game, players: Iterable[int]) -> Fractions:
    """The worth f_x(S) of one coalition.

    Parameters
    ----------
    game : Game
        From `paths.game`.
    players : iterable of int
        S, the players known.

    Returns
    -------
    ndarray of Fraction, shape (n_outputs,)
        Less `forest.base`.
    """
    members = set(players)
    return extension(game, [int(j in members) for j in range(game.n_players)])


def extension(game: Game, z: Numbers) -> Fractions:
    """The multilinear extension F_x(z).

    Parameters
    ----------
    game : Game
        From `paths.game`.
    z : iterable of float or Fraction, length n_players
        The probability that each player is known.

    Returns
    -------
    ndarray of Fraction, shape (n_outputs,)
        Less `forest.base`.
    """
    point = [_fraction(number) for number in z]
    total = _zeros(game.n_outputs)
    for tree in game.trees:
        for leaf, path in tree.leaf_paths():
            reached = math.prod(
                (point[j] * agrees + (1 - point[j]) * share for j, (agrees, share) in path.items()),
                start=Fraction(1),
            )
            total[tree.outputs] += reached * _leaf(tree.value[leaf])
    return total


def gradient(game: Game, z: Numbers) -> Fractions:
    """The gradient of the multilinear extension.

    Parameters
    ----------
    game : Game
        From `paths.game`.
    z : iterable of float or Fraction, length n_players
        The probability that each player is known.

    Returns
    -------
    ndarray of Fraction, shape (n_players, n_outputs)
        The derivative for each player.
    """
    point = [_fraction(number) for number in z]
    total = _zeros(game.n_players, game.n_outputs)
    for tree in game.trees:
        for leaf, path in tree.leaf_paths():
            factors = [point[j] * agrees + (1 - point[j]) * share for j, (agrees, share) in path.items()]
            for (j, (agrees, share)), others in zip(path.items(), _leave_one_out(factors), strict=True):
                if others and agrees != share:
                    total[j, tree.outputs] += (agrees - share) * others * _leaf(tree.value[leaf])
    return total


def value(game: Game, value: Weights) -> Fractions:
    """A probabilistic value of every player.

    Parameters
    ----------
    game : Game
        From `paths.game`.
    value : Shapley, Banzhaf, BetaShapley, Semivalue, ProbabilisticValue or sequence of numbers
        A sequence is a distribution over the coalition sizes 0..n_players-1.

    Returns
    -------
    ndarray of Fraction, shape (n_players, n_outputs)
        The value of each player.
    """
    total = _zeros(game.n_players, game.n_outputs)
    cache: dict[int, tuple[list[int], int]] = {}
    for tree in game.trees:
        for leaf, path in tree.leaf_paths():
            if any(not agrees and share == 0 for agrees, share in path.values()):
                continue  # never reached, whoever is known
            product, below = [1], 1
            for agrees, share in path.values():
                product, below = _times(product, agrees, share), below * share.denominator
            n = len(path)
            if n not in cache:
                cache[n] = _over_one(omega(value, n, game.n_players))
            weights, below_weights = cache[n]
            for j, (agrees, share) in path.items():
                if agrees != share:
                    others = _divided(product, agrees, share)
                    weighted = sum(w * c for w, c in zip(weights, others, strict=True))
                    mean = Fraction(weighted, below_weights * (below // share.denominator))
                    total[j, tree.outputs] += (agrees - share) * mean * _leaf(tree.value[leaf])
    return total


def by_size(game: Game) -> Fractions:
    """What a player adds to the coalitions of each size on average: every probabilistic value at once.

    The value of a distribution over sizes is the mean of these. All numbers are floats, so integers over one
    power of two, in which they are added here: `value` for each size in turn would take N times as long.

    Parameters
    ----------
    game : Game
        From `paths.game`.

    Returns
    -------
    ndarray of Fraction, shape (n_players, n_players, n_outputs)
        At [s, j, k] the mean over the coalitions S of s others of f_x(S with j) - f_x(S).
    """
    leaves = []
    for tree in game.trees:
        for leaf, path in tree.leaf_paths():
            if any(not agrees and share == 0 for agrees, share in path.values()):
                continue  # never reached, whoever is known
            values = [Fraction(number) for number in tree.value[leaf]]
            below = math.prod(share.denominator for _, share in path.values())
            leaves.append((path, values, tree.outputs, below))
    # Denominators are powers of two: the largest is that of all.
    most = max((below * max(v.denominator for v in values) for _, values, _, below in leaves), default=1)
    shape = game.n_players, game.n_outputs
    # By the number of players on the path: the others' polynomial is one degree less.
    of_paths = {len(path): np.zeros((len(path), *shape), dtype=object) for path, *_ in leaves}
    for path, values, outputs, below in leaves:
        product = [1]
        for agrees, share in path.values():
            product = _times(product, agrees, share)
        gains = [v.numerator * (most // (below * v.denominator)) for v in values]
        for j, (agrees, share) in path.items():
            others = np.array(_divided(product, agrees, share), dtype=object)
            change = agrees * share.denominator - share.numerator
            for k, gain in zip(outputs, gains, strict=True):
                of_paths[len(path)][:, j, k] += change * gain * others
    total = np.zeros((0, *shape), dtype=object)
    for n in range(1, game.n_players + 1):  # null players join, and the paths of that many players
        raised = np.zeros((n, *shape), dtype=object)
        raised[:-1] += total
        raised[1:] += total
        total = raised + of_paths.get(n, 0)
    counts = [math.comb(game.n_players - 1, s) * most for s in range(game.n_players)]
    means = [Fraction(c, n) for of_size, n in zip(total, counts, strict=True) for c in of_size.flat]
    return np.array(means, dtype=object).reshape(total.shape)


def omega(value: Weights, n: int, n_players: int) -> list[Fraction]:
    """The weight of one coalition by its size, in the game of the `n` players that matter.

    Parameters
    ----------
    value : Shapley, Banzhaf, BetaShapley, Semivalue, ProbabilisticValue or sequence of numbers
        A sequence is a distribution over the coalition sizes 0..n_players-1.
    n : int
        Players of the smaller game; the others are null players.
    n_players : int
        Players of the whole game; only a distribution over sizes depends on it.

    Returns
    -------
    list of Fraction
        At [s], for s < n, the weight of each coalition of s others.
    """
    if isinstance(value, Shapley):
        value = BetaShapley(1, 1)
    if isinstance(value, BetaShapley):
        a, b = Fraction(value.alpha), Fraction(value.beta)
        whole = _rising(a + b, n - 1)
        return [_rising(b, s) * _rising(a, n - 1 - s) / whole for s in range(n)]
    if isinstance(value, Banzhaf):
        value = Semivalue([value.p], [1.0])
    if isinstance(value, Semivalue):
        measure = [(Fraction(t), Fraction(w)) for t, w in zip(value.nodes, value.weights, strict=True)]
        return [
            sum((w * t**s * (1 - t) ** (n - 1 - s) for t, w in measure), start=Fraction(0)) for s in range(n)
        ]
    if isinstance(value, ProbabilisticValue):
        if value.kind in {"leave_one_out", "first_in"}:
            at_an_end = [Fraction(0)] * n
            at_an_end[-1 if value.kind == "leave_one_out" else 0] = Fraction(1)
            return at_an_end
        if value.kind == "reduced":
            n_players = len(value.sizes)  # as large as the game has to be
        value = value.sizes
    if len(value) != n_players:
        raise ValueError(
            f"{len(value)} coalition sizes came for {n_players} players; pass sizes 0..{n_players - 1}"
        )
    weights = [_fraction(p) / math.comb(n_players - 1, s) for s, p in enumerate(value)]
    while len(weights) > n:  # a null player leaves (the paper's lemma on scaling)
        weights = [without + joined for without, joined in pairwise(weights)]
    return weights


def _times(product: list[int], agrees: bool, share: Fraction) -> list[int]:
    """The product times (agrees t + share u), and times the share's denominator."""
    raised = [share.numerator * c for c in product] + [0]
    if agrees:
        for s, c in enumerate(product):
            raised[s + 1] += share.denominator * c
    return raised


def _divided(product: list[int], agrees: bool, share: Fraction) -> list[int]:
    """What `_times` made this product of; from the highest power of t down."""
    if not agrees:
        return [c // share.numerator for c in product[:-1]]
    quotient = product[1:]
    quotient[-1] //= share.denominator
    for s in range(len(quotient) - 2, -1, -1):
        quotient[s] = (product[s + 1] - share.numerator * quotient[s + 1]) // share.denominator
    return quotient


def _over_one(numbers: list[Fraction]) -> tuple[list[int], int]:
    """Fractions as integers over one denominator."""
    below = math.lcm(*(number.denominator for number in numbers))
    return [number.numerator * (below // number.denominator) for number in numbers], below


def _leave_one_out(factors: list[Fraction]) -> list[Fraction]:
    """For each factor the product of the others, without a division."""
    before, after = [Fraction(1)], [Fraction(1)]
    for factor in factors[:-1]:
        before.append(before[-1] * factor)
    for factor in factors[:0:-1]:
        after.append(after[-1] * factor)
    return [b * a for b, a in zip(before, reversed(after), strict=True)] if factors else []


def _rising(x: Fraction, n: int) -> Fraction:
    """The rising factorial x (x + 1) ... (x + n - 1)."""
    return math.prod((x + i for i in range(n)), start=Fraction(1))


def _fraction(number: float | Fraction) -> Fraction:
    """A float (numpy's too) as the fraction it is."""
    return number if isinstance(number, Fraction) else Fraction(float(number))


def _leaf(value: list[float]) -> Fractions:
    return np.array([Fraction(number) for number in value], dtype=object)


def _zeros(*shape: int) -> Fractions:
    return np.full(shape, Fraction(0), dtype=object)
