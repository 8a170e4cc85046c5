"""The paper's "TreeProb (modified)": TreeProb without bringing every leaf to one degree.

The paper's appendix on polynomial manipulations has the trick from the code of Linear TreeShap: a sum takes
the largest degree of what it sums, and psi is that of the sum's own degree. How many nodes then decode a
lower degree, the paper leaves open for roots of unity. Here all M do, with coefficients of 0 above, as
conj(V) / M inverts V for every degree; `linear_treeshap` takes the first d.
"""

from __future__ import annotations

import numpy as np

from leafgrad.reference.edges import Floats, Levels, Nodes
from leafgrad.reference.traverse import AtPoints, Numbers, traverse
from leafgrad.reference.treeprob import SHAPLEY, Wanted, decoded, polynomial, unit_circle


def tree_prob_modified(tree: Levels, value: Wanted = SHAPLEY, *, M: int | None = None) -> Floats:
    """Algorithm 3 of the paper, with degrees that grow on the way up.

    Parameters
    ----------
    tree : Levels
        A tree and a row.
    value : Shapley, Banzhaf, BetaShapley, Semivalue or sequence of numbers
        A sequence is a distribution over the coalition sizes 0..n_players-1.
    M : int, optional
        The number of nodes, by default min(D, N).

    Returns
    -------
    ndarray, shape (n_players,)
        The value.
    """
    y = unit_circle(min(tree.depth, tree.n_players) if M is None else M)
    weights = np.zeros((len(y) + 1, len(y)), complex)
    for d in np.unique(tree.degree[1:]):
        weights[d] = decoded(y, polynomial(value, int(d), tree.n_players))
    return traverse(OwnDegree(tree, y, weights))[0]


class OwnDegree(AtPoints):
    """Values of polynomials of different degrees.

    Parameters
    ----------
    tree : Levels
        A tree and a row.
    y : ndarray
        The points.
    weights : ndarray, shape (len(y) + 1, len(y))
        Line d is psi for polynomials of degree d - 1.
    """

    def __init__(self, tree: Levels, y: Numbers, weights: Numbers) -> None:
        self.y = y
        super().__init__(tree, np.ones_like(y), lambda e: 1 + tree.gamma[e, None] * y, weights)

    def lift(self, p: Numbers, v: Nodes, to: Nodes) -> Numbers:
        """Times (1 + y)^(d_to - d_v)."""
        missing = self.tree.degree[to] - self.tree.degree[v]
        return np.asarray(p * (1 + self.y) ** missing[:, None])

    def psi(self, G: Numbers, e: Nodes) -> Floats:
        """With the weights of the quotient's own degree."""
        return np.asarray((self.leave(G, e) * self.weights[self.tree.degree[e]]).sum(axis=1).real)
