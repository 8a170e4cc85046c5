"""The paper's Algorithm 11, "TreeGrad (Full Procedure)": the gradient of the extension, in O(L).

Where z = 1 and the row disagrees with a split, the factor 1 - z + z gamma is 0. Only the split's own player
has a gradient from the leaves below, which `traverse_zero` sums without that factor.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from leafgrad.reference.edges import Edges, Floats


def tree_grad(edges: Edges, z: Floats, n_outputs: int) -> Floats:
    """Algorithm 11 of the paper.

    Parameters
    ----------
    edges : Edges
        A tree and a row.
    z : ndarray, shape (n_players,)
        The point.
    n_outputs : int
        Of the game.

    Returns
    -------
    ndarray, shape (n_players, n_outputs)
        The gradient of the multilinear extension.
    """
    H = np.zeros((len(edges.left), n_outputs))
    g = np.zeros((len(z), n_outputs))

    def factor(v: int) -> float:
        known = float(z[edges.player[v]])
        return 1 - known + known * edges.gamma[v]

    def reach(v: int, s: Floats) -> Floats:
        up = edges.above[v]
        return s * factor(v) if up < 0 else s / factor(up) * factor(v)

    def children(v: int, go: Callable[[int, Floats], Floats], s: Floats) -> Floats:
        if edges.left[v] < 0:
            return edges.weight[v] * s
        return go(edges.left[v], s) + go(edges.right[v], s)

    def traverse(v: int, s: Floats) -> Floats:
        up, j = edges.above[v], edges.player[v]
        if factor(v) == 0:
            s = s if up < 0 else s / factor(up)
            g[j] -= children(v, lambda u, s: traverse_zero(u, s, j), s)
            return np.zeros(n_outputs)
        s = children(v, traverse, reach(v, s))
        if up >= 0:
            H[up] -= s
        H[v] += s
        g[j] += (edges.gamma[v] - 1) * H[v] / factor(v)
        return s

    def traverse_zero(v: int, s: Floats, j: int) -> Floats:
        if edges.player[v] != j:
            if factor(v) == 0:
                return np.zeros(n_outputs)
            s = reach(v, s)
        return children(v, lambda u, s: traverse_zero(u, s, j), s)

    if edges.left[0] >= 0:
        children(0, traverse, np.ones(n_outputs))
    return g
