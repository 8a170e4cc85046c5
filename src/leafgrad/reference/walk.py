"""The recursion that the native core runs, in plain Python over any numbers: float, Fraction, mpf.

z_j is the prior probability that player j is known. At a split v on j with children a, b and shares w_a, w_b,
of which the row goes to c:

    tau_v    Pr(j known | v reached); z_j at the first split on j of the path
    p_u    = tau_v [u = c] + (1 - tau_v) w_u      probability of taking the edge to child u
    s_u    = s_v p_u                              probability of reaching u; 1 at the root
    tau_u  = tau_v [u = c] / p_u                  for later splits on j below u; 1 where 0/0 and u = c
    m      = w_a A_a + w_b A_b                    j not known
    d      = A_c - m                              what knowing j changes here
    A_v    = m + tau_v d                          the mean below v; F_x(z) = A_root
    dF/dz_j += s_v tau'_v d                       tau' = d tau / d z_j, see `_slope`

Algebraically this is the paper's TreeGrad, but every number is a probability or a mean of leaf values, and
nothing is divided unless a player repeats on a path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from leafgrad.reference.paths import Game, Tree

Number: TypeAlias = Any  # float, Fraction, mpmath.mpf: whatever `number` makes
Vector: TypeAlias = list[Number]


@dataclass(frozen=True)
class Met:
    """What earlier splits of the path say of one player."""

    agrees: bool  # the row agrees with all of them
    share: Number  # W, the product of their cover shares
    tau: Number  # Pr(known | here reached)


def walk(
    game: Game, z: Iterable[Number], number: Callable[[Any], Number] = float
) -> tuple[Vector, list[Vector]]:
    """The extension and its gradient at one point.

    Parameters
    ----------
    game : Game
        From `paths.game`.
    z : iterable of numbers, length n_players
        The probability that each player is known.
    number : callable
        The kind of number to compute in: float, Fraction or mpmath.mpf (as precise as `mpmath.mp.dps` says).

    Returns
    -------
    tuple of list
        F_x(z), less `forest.base`, by output; and its gradient, by player and output.
    """
    point = [number(known) for known in z]
    extension = [number(0)] * game.n_outputs
    gradient = [[number(0)] * game.n_outputs for _ in range(game.n_players)]
    for tree in game.trees:
        for output, mean in zip(tree.outputs, _walk_tree(tree, point, gradient, number), strict=True):
            extension[output] += mean
    return extension, gradient


def _walk_tree(tree: Tree, z: Vector, gradient: list[Vector], number: Callable[[Any], Number]) -> Vector:
    """Down: s, tau and s tau' of every split. Up: A and d, added to the gradient. Returns A of the root."""
    zero, one = number(0), number(1)
    order = tree.preorder()
    share = [number(w) for w in tree.share]
    reach = {0: one}
    met: dict[int, dict[int, Met]] = {0: {}}
    tau: dict[int, Number] = {}
    reach_slope: dict[int, Number] = {}
    for v in order:
        if tree.is_leaf(v):
            continue
        j, path = tree.player[v], met.pop(v)
        before = path.get(j, Met(agrees=True, share=one, tau=z[j]))
        tau[v] = before.tau
        reach_slope[v] = _slope(reach[v], z[j], before, zero) if j in path else reach[v]
        for u in (tree.left[v], tree.right[v]):
            taken = u == tree.taken(v)
            p = (tau[v] if taken else zero) + (one - tau[v]) * share[u]
            reach[u] = reach[v] * p
            after = zero if not taken else one if p == 0 else tau[v] / p
            met[u] = {**path, j: Met(before.agrees and taken, before.share * share[u], after)}

    below: dict[int, Vector] = {}
    for v in reversed(order):
        if tree.is_leaf(v):
            below[v] = [number(leaf) for leaf in tree.value[v]]
            continue
        a, b, c = tree.left[v], tree.right[v], tree.taken(v)
        mean = [share[a] * in_a + share[b] * in_b for in_a, in_b in zip(below[a], below[b], strict=True)]
        change = [known - m for known, m in zip(below[c], mean, strict=True)]
        below[v] = [m + tau[v] * d for m, d in zip(mean, change, strict=True)]
        for output, d in zip(tree.outputs, change, strict=True):
            gradient[tree.player[v]][output] += reach_slope[v] * d
        del below[a], below[b]
    return below[0]


def _slope(reach: Number, z: Number, before: Met, zero: Number) -> Number:
    """The product s tau' at a repeated split: (s / P) (W / P) if the row agreed so far, else 0.

    P = z + (1 - z) W is at least s and W: both factors are probabilities, while P squared may underflow.
    """
    if not before.agrees:
        return zero
    reached = z + (1 - z) * before.share
    return zero if reached == 0 else (reach / reached) * (before.share / reached)
