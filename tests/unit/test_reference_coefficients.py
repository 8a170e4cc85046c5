"""TreeShap-K and Linear TreeShap V1: what their vectors mean, and how a factor joins and leaves."""

from __future__ import annotations

from itertools import combinations
from math import comb, prod

import numpy as np
import pytest

from leafgrad.reference import linear_treeshap_v1 as v1
from leafgrad.reference import treeshap_k as k

GAMMAS = [0.0, 1.25, 1.5, 3.0, 0.0]
M = 7


def sums_over_sets(numbers: list[float], n: int) -> np.ndarray:
    """At [s] the sum over the sets of s numbers of their product; n + 1 entries."""
    return np.array([sum(map(prod, combinations(numbers, s))) for s in range(n + 1)])


def test_theta_is_scaled_coefficients() -> None:
    """Those of prod (1 + gamma y) (1 + y)^(M - |F|) over (M + 1) C(M, k); without a factor of M - 1."""
    scale = np.array([(M + 1) * comb(M, s) for s in range(M + 1)])
    theta = np.full((1, M + 1), 1 / (M + 1))
    for joined in range(len(GAMMAS)):
        null = [1.0] * (M - 1 - joined)
        theta = k.minus(theta, np.ones(1))
        without = np.array([M * comb(M - 1, s) for s in range(M)])
        expected = sums_over_sets([*GAMMAS[:joined], *null], M - 1) / without
        np.testing.assert_allclose(theta[0, :-1], expected, atol=1e-12)  # condition below 1e3 at M = 7
        assert theta[0, -1] == 0
        theta = k.plus(theta, np.array(GAMMAS[joined : joined + 1]))
        expected = sums_over_sets([*GAMMAS[: joined + 1], *null], M) / scale
        np.testing.assert_allclose(theta[0], expected, atol=1e-12)


def test_c_is_coefficients_of_powers_of_t() -> None:
    """The paper's lemma: alpha_d sums prod (gamma - 1) over the sets of d players; null ones add nothing."""
    c = np.eye(1, M + 1)
    for joined, gamma in enumerate(GAMMAS, 1):
        c = v1.plus(c, np.array([gamma - 1]))
        expected = sums_over_sets([g - 1 for g in GAMMAS[:joined]], M)
        np.testing.assert_allclose(c[0], expected, atol=1e-14)
    np.testing.assert_array_equal(v1.plus(c, np.zeros(1)), c)  # a null player: gamma = 1
    np.testing.assert_array_equal(v1.minus(c, np.zeros(1)), c)


@pytest.mark.parametrize("algorithm", [k, v1])
def test_what_joined_leaves(algorithm: object) -> None:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(4, M + 1))
    vectors[:, -1] = 0  # room for a factor
    numbers = np.array([-1.0, 0.0, 0.5, 1.0])
    joined = algorithm.plus(vectors, numbers)
    np.testing.assert_allclose(algorithm.minus(joined, numbers), vectors, atol=1e-12)
