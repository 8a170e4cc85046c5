"""The Ranker as the paper prints it, and the same loops in as many digits as one likes.

`gradient_ascent` and `adam` are its Algorithms 2 and 10 in plain numpy, line by line, over `treegrad`: the
yardstick that the native core's speed is told against.
`climb` runs the same loops over `walk`, in any kind of number, from the loop's own points or from points
given for every step, so that one step can be judged without those before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from leafgrad.optimizers import Adam, Optimizer
from leafgrad.reference.edges import Edges
from leafgrad.reference.paths import Game
from leafgrad.reference.treegrad import tree_grad
from leafgrad.reference.walk import walk

Floats: TypeAlias = npt.NDArray[np.float64]
Numbers: TypeAlias = npt.NDArray[Any]  # of float, or objects such as mpmath.mpf


# The paper's pseudo code


def gradient_ascent(game: Game, rate: float, steps: int, output: int = 0) -> Floats:
    """The paper's Algorithm 2, "TreeGrad-Ranker with Gradient Ascent (GA)", the sum over trees for TreeGrad.

    Parameters
    ----------
    game : Game
        Of one row.
    rate : float
        The paper's epsilon.
    steps : int
        The paper's T.
    output : int
        The output to rank by.

    Returns
    -------
    ndarray, shape (n_players,)
        The paper's zeta.
    """
    gradient = _gradient(game, output)
    z, zeta = np.full(game.n_players, 0.5), np.zeros(game.n_players)
    for t in range(1, steps + 1):
        g = (gradient(z) + gradient(1 - z)) / 2
        z = z + rate * g
        z = np.minimum(np.maximum(0, z), 1)
        zeta = (t - 1) / t * zeta + g / t
    return zeta


def adam(
    game: Game,
    rate: float,
    steps: int,
    output: int = 0,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: float = 1e-8,
) -> Floats:
    """The paper's Algorithm 10, "TreeGrad-Ranker with ADAM", the sum over trees for TreeGrad.

    Parameters
    ----------
    game : Game
        Of one row.
    rate : float
        The paper's epsilon.
    steps : int
        The paper's T.
    output : int
        The output to rank by.
    beta1, beta2, eps : float
        ADAM's own.

    Returns
    -------
    ndarray, shape (n_players,)
        The paper's zeta.
    """
    gradient = _gradient(game, output)
    z, zeta = np.full(game.n_players, 0.5), np.zeros(game.n_players)
    m, v = np.zeros(game.n_players), np.zeros(game.n_players)
    for t in range(1, steps + 1):
        g = (gradient(z) + gradient(1 - z)) / 2
        zeta = (t - 1) / t * zeta + g / t
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g**2
        m_hat = m / (1 - beta1**t)
        v_hat = v / (1 - beta2**t)
        z = z + rate * m_hat / np.sqrt(v_hat + eps)
        z = np.minimum(np.maximum(0, z), 1)
    return zeta


def _gradient(game: Game, output: int) -> Callable[[Floats], Floats]:
    trees = [Edges.of(tree, game.n_outputs) for tree in game.trees]
    nothing = np.zeros((game.n_players, game.n_outputs))

    def gradient(z: Floats) -> Floats:
        total: Floats = sum((tree_grad(edges, z, game.n_outputs) for edges in trees), start=nothing)
        return total[:, output]

    return gradient


# The same loops in any kind of number


@dataclass(frozen=True)
class Climb:
    """A loop that has run.

    Attributes
    ----------
    zeta : ndarray, shape (n_players,)
        The mean of the gradients.
    z : list of ndarray
        z_0, and where each step led: T + 1 points.
    trace : list
        The objective (F(z) - F(1-z)) / 2 where each step began, and at the end: T + 1 numbers.
    """

    zeta: Numbers
    z: list[Numbers]
    trace: list[Any]


def climb(
    game: Game,
    optimizer: Optimizer,
    *,
    output: int = 0,
    number: Callable[[Any], Any] = float,
    unit: float = 1.0,
    points: Sequence[npt.ArrayLike] | None = None,
) -> Climb:
    """The optimiser's loop over the plain walk.

    Parameters
    ----------
    game : Game
        Of one row.
    optimizer : GradientAscent or Adam
        Its rate is a number.
    output : int
        The output to rank by.
    number : callable
        The kind of number: float, or mpmath.mpf (as precise as `mpmath.mp.dps` says).
    unit : float
        What a step divides the gradient by.
    points : sequence of array_like, optional
        Where step t begins, for t = 0..T-1; by default where the step before it led.

    Returns
    -------
    Climb
    """
    n, steps = game.n_players, optimizer.steps
    rate, half, one = number(optimizer.rate) / number(unit), number(1) / number(2), number(1)

    def vector(numbers: Any) -> Numbers:
        return np.array([number(each) for each in numbers], dtype=object)

    def at(z: Numbers) -> tuple[Any, Numbers]:
        (known, rises), (unknown, falls) = walk(game, z, number), walk(game, one - z, number)
        gradient = vector(a[output] + b[output] for a, b in zip(rises, falls, strict=True))
        return half * (known[output] - unknown[output]), half * gradient

    z, total, m, v = vector([half] * n), vector([0] * n), vector([0] * n), vector([0] * n)
    reached, trace = [z], []
    for t in range(1, steps + 1):
        if points is not None:
            z = vector(np.asarray(points[t - 1]).tolist())
        objective, g = at(z)
        trace.append(objective)
        total = total + g
        step = g
        if isinstance(optimizer, Adam):
            beta1, beta2, eps = number(optimizer.beta1), number(optimizer.beta2), number(optimizer.eps)
            m, v = beta1 * m + (one - beta1) * g, beta2 * v + (one - beta2) * g * g
            m_hat, v_hat = m / (one - beta1**t), v / (one - beta2**t)
            if optimizer.eps_inside:
                step = m_hat / (v_hat + eps) ** half
            else:
                step = m_hat / (v_hat**half + eps)
        z = np.minimum(np.maximum(z + rate * step, number(0)), one)
        reached.append(z)
    trace.append(at(z)[0])
    return Climb(total / number(steps), reached, trace)


def leaf_range(game: Game, output: int = 0) -> float:
    """The sum over trees of (largest - smallest leaf): the unit of `GradientAscent(scale="range")`.

    Parameters
    ----------
    game : Game
        Of any row.
    output : int
        Whose leaves.

    Returns
    -------
    float
    """
    total = 0.0
    for tree in game.trees:
        if output in tree.outputs:
            column = tree.outputs.index(output)
            leaves = [tree.value[v][column] for v in range(len(tree.left)) if tree.is_leaf(v)]
            total += max(leaves) - min(leaves)
    return total
