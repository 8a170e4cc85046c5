"""TreeProb in both forms: any probabilistic value of shallow trees; and the lemmas on scaling behind it."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest

import forests
from leafgrad import values
from leafgrad.reference import exact, paths
from leafgrad.reference.edges import Edges, Levels
from leafgrad.reference.linear_treeshap import shapley_polynomial
from leafgrad.reference.treeprob import decoded, polynomial, tree_prob, unit_circle
from leafgrad.reference.treeprob_modified import tree_prob_modified

CLOSE = 1e-12  # sums of up to 2^8 times the result round
VALUES = [
    values.Shapley(),
    values.Banzhaf(0.3),
    values.BetaShapley(4, 1),
    values.BetaShapley(0.5, 2.5),
    values.Semivalue([0.0, 0.3, 1.0], [0.25, 0.5, 0.25]),
    "random sizes",
    "one size",
]


@pytest.mark.parametrize("value", VALUES, ids=str)
@pytest.mark.parametrize("name", ["plain", "bushy repeats", "unused features", "one feature"])
def test_any_probabilistic_value(value: object, name: str) -> None:
    rng = np.random.default_rng(0)
    forest = forests.forest(rng, forests.SHAPES[name])
    game = paths.game(forest, forests.rows(rng, forest, 1)[0])
    n = game.n_players
    wanted = {
        "random sizes": rng.dirichlet(np.ones(n)).tolist(),
        "one size": np.eye(n)[n // 2].tolist(),
    }.get(str(value), value)
    expected = exact.value(game, wanted).astype(float)[:, 0]
    for algorithm in (tree_prob, tree_prob_modified):
        found = np.zeros(n)
        for tree in game.trees:
            if not tree.is_leaf(0):
                found += algorithm(Levels.of(Edges.of(tree, 1), 0, n), wanted)
        assert (abs(found - expected) <= CLOSE * forests.unit(forest)).all()


@pytest.mark.parametrize("M", [1, 2, 7, 40])
def test_the_inverse_of_the_roots_of_unity_is_their_conjugate(M: int) -> None:
    V = np.vander(unit_circle(M), increasing=True)
    assert abs(V.conj() / M @ V - np.eye(M)).max() <= 1e-13  # sums of M numbers on the circle
    assert abs(V - V.T).max() <= 1e-13


def test_values_at_the_nodes_decode_to_the_inner_product() -> None:
    rng = np.random.default_rng(1)
    y = unit_circle(9)
    for coefficients in (9, 4):  # the second is of a lower degree
        p, q = rng.normal(size=coefficients), rng.normal(size=coefficients)
        found = np.polynomial.polynomial.polyval(y, p) @ decoded(y, q)
        assert found == pytest.approx(p @ q, abs=1e-14)


def test_q_is_normalised() -> None:
    """The paper's remark: the sum of C(M-1, k) q_k is 1."""
    rng = np.random.default_rng(2)
    for value in (values.Shapley(), values.Banzhaf(0.3), rng.dirichlet(np.ones(12)).tolist()):
        q = polynomial(value, 7, 12)
        assert sum(comb(6, k) * q[k] for k in range(7)) == pytest.approx(1, abs=1e-14)
    np.testing.assert_allclose(polynomial(values.Shapley(), 9, 9), shapley_polynomial(9), rtol=1e-15)


# The lemmas, in fractions and so with equality.


def times(p: list[Fraction], factor: tuple[int, int]) -> list[Fraction]:
    a, b = factor
    return [a * low + b * high for low, high in zip([*p, Fraction(0)], [Fraction(0), *p], strict=True)]


def inner(p: list[Fraction], q: list[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(p, q, strict=True)), start=Fraction(0))


def fractions(rng: np.random.Generator, n: int) -> list[Fraction]:
    return [Fraction(int(a), int(b)) for a, b in rng.integers(1, 20, size=(n, 2))]


@pytest.mark.parametrize("n_players", [2, 3, 8])
def test_scaling_invariability_for_any_weights(n_players: int) -> None:
    """The lemma that generalises Eq. (3), at the weights w: <p (1 + y), w> = <p, w_k + w_{k+1}>."""
    rng = np.random.default_rng(n_players)
    p, omega = fractions(rng, n_players - 1), fractions(rng, n_players)
    joined = [omega[k] + omega[k + 1] for k in range(n_players - 1)]
    assert inner(times(p, (1, 1)), omega) == inner(p, joined)


@pytest.mark.parametrize(
    "value", [values.Shapley(), values.Banzhaf(0.3), values.BetaShapley(2, 3), values.BetaShapley(0.5, 1.5)]
)
def test_scaling_invariability_for_semivalues(value: values.Value) -> None:
    """Eq. (3), psi(p) = psi(p (1 + y)^k) for the Shapley value, and Eq. (8) for the others."""
    p = fractions(np.random.default_rng(3), 5)
    alone = inner(p, exact.omega(value, 5, 5))
    for degree in range(6, 12):
        p = times(p, (1, 1))
        assert inner(p, exact.omega(value, degree, degree)) == alone


def test_weights_of_fewer_players_as_the_paper_sums_them() -> None:
    """Eq. (11): q_k = sum_j C(N-D, j) omega_{k+j+1}."""
    rng = np.random.default_rng(4)
    N, D = 12, 7
    sizes = fractions(rng, N)
    omega = [size / comb(N - 1, s) for s, size in enumerate(sizes)]
    q = [sum(comb(N - D, j) * omega[k + j] for j in range(N - D + 1)) for k in range(D)]
    assert exact.omega(sizes, D, N) == q
