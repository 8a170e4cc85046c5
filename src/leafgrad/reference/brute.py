"""The 2^N oracle: f_x(S) for every coalition S in float64, and the sums that define everything else.

Straight from the paper: its algorithm "Computation of f_x" with all S side by side (S is a number whose bit j
says that player j is known), the multilinear extension by its definition, the gradient by Eq. (gradients) and
probabilistic values by their defining equation. For up to about 16 players.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from leafgrad.probabilistic import ProbabilisticValue
from leafgrad.reference.paths import Game, Tree
from leafgrad.values import Banzhaf, BetaShapley, Semivalue, Shapley

Floats: TypeAlias = npt.NDArray[np.float64]
Weights: TypeAlias = Shapley | Banzhaf | BetaShapley | Semivalue | ProbabilisticValue | Sequence[float]


def f_x(game: Game) -> Floats:
    """The worth of every coalition, the paper's Algorithm "Computation of f_x" summed over trees.

    Parameters
    ----------
    game : Game
        From `paths.game`.

    Returns
    -------
    ndarray, shape (2**n_players, n_outputs)
        Row S is f_x(S), less `forest.base`.
    """
    coalitions = np.arange(2**game.n_players)
    worth = np.zeros((len(coalitions), game.n_outputs))
    for tree in game.trees:
        worth[:, tree.outputs] += _traverse(tree, coalitions)
    return worth


def _traverse(tree: Tree, coalitions: npt.NDArray[np.int64]) -> Floats:
    """One tree, children before parents."""
    below: dict[int, Floats] = {}
    for v in reversed(tree.preorder()):
        if tree.is_leaf(v):
            below[v] = np.tile(np.array(tree.value[v]), (len(coalitions), 1))
            continue
        a, b = tree.left[v], tree.right[v]
        known = (coalitions >> tree.player[v] & 1).astype(bool)[:, None]
        mean = tree.share[a] * below[a] + tree.share[b] * below[b]
        below[v] = np.where(known, below[tree.taken(v)], mean)
        del below[a], below[b]
    return below[0]


def extension(worth: Floats, z: npt.ArrayLike) -> Floats:
    """The multilinear extension: the sum over S of Pr(S) f_x(S).

    Parameters
    ----------
    worth : ndarray, shape (2**n_players, n_outputs)
        From `f_x`.
    z : array_like, shape (n_players,)
        The probability that each player is known.

    Returns
    -------
    ndarray, shape (n_outputs,)
        F_x(z), less `forest.base`.
    """
    result: Floats = _probability(np.asarray(z, dtype=np.float64)) @ worth
    return result


def gradient(worth: Floats, z: npt.ArrayLike) -> Floats:
    """The gradient of the extension, Eq. (gradients) of the paper.

    Parameters
    ----------
    worth : ndarray, shape (2**n_players, n_outputs)
        From `f_x`.
    z : array_like, shape (n_players,)
        The probability that each player is known.

    Returns
    -------
    ndarray, shape (n_players, n_outputs)
        The derivative for each player.
    """
    others = np.asarray(z, dtype=np.float64)
    return np.array(
        [_probability(np.delete(others, i)) @ _marginal(worth, i) for i in range(len(others))]
    ).reshape(len(others), worth.shape[1])


def value(worth: Floats, omega: npt.ArrayLike) -> Floats:
    """Any probabilistic value, by its definition.

    Parameters
    ----------
    worth : ndarray, shape (2**n_players, n_outputs)
        From `f_x`.
    omega : array_like, shape (n_players,)
        The weight of a coalition by its size: the paper's omega_{s+1} at [s].

    Returns
    -------
    ndarray, shape (n_players, n_outputs)
        The value of each player.
    """
    weight = np.asarray(omega, dtype=np.float64)
    n_players = len(weight)
    sizes = np.array([mask.bit_count() for mask in range(2 ** max(n_players - 1, 0))])
    return np.array([weight[sizes] @ _marginal(worth, i) for i in range(n_players)]).reshape(
        n_players, worth.shape[1]
    )


def omega(value: Weights, n_players: int) -> Floats:
    """The weights of coalitions by their size: the moments of a semivalue's measure.

    Parameters
    ----------
    value : Shapley, Banzhaf, BetaShapley, Semivalue, ProbabilisticValue or sequence of float
        A sequence is a distribution over the coalition sizes 0..n_players-1.
    n_players : int
        N.

    Returns
    -------
    ndarray, shape (n_players,)
        At [s] the integral of t^s (1-t)^(N-1-s).
    """
    rest = n_players - 1
    sizes = range(n_players)
    if isinstance(value, Banzhaf):
        return np.array([value.p**s * (1 - value.p) ** (rest - s) for s in sizes])
    if isinstance(value, Semivalue):
        t, weights = np.array(value.nodes), np.array(value.weights)
        return np.array([weights @ (t**s * (1 - t) ** (rest - s)) for s in sizes])
    if isinstance(value, Shapley | BetaShapley):
        a, b = (1.0, 1.0) if isinstance(value, Shapley) else (value.alpha, value.beta)
        above = [[b + i for i in range(s)] + [a + i for i in range(rest - s)] for s in sizes]
        return np.array([math.prod(f / (a + b + i) for i, f in enumerate(factors)) for factors in above])
    if isinstance(value, ProbabilisticValue):
        if value.kind == "reduced":
            raise ValueError("weights for fewer players say nothing of those for all")
        if value.kind != "sizes":
            end: Floats = np.eye(n_players)[-1 if value.kind == "leave_one_out" else 0]
            return end
        value = value.sizes
    return np.array([probability / math.comb(rest, s) for s, probability in enumerate(value)])


def _probability(z: Floats) -> Floats:
    """The product over known of z times the product over unknown of 1 - z, for every coalition."""
    result: Floats = np.ones(1)
    for known in z:
        result = np.concatenate([result * (1 - known), result * known])
    return result


def _marginal(worth: Floats, i: int) -> Any:
    """What player i adds to every coalition of the others, in the order of `_probability`."""
    split = worth.reshape(-1, 2, 2**i, worth.shape[1])
    return (split[:, 1] - split[:, 0]).reshape(-1, worth.shape[1])
