"""The Beta rules: exact for every polynomial the walk can meet."""

from __future__ import annotations

import math
import time
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import gammaln

from leafgrad import gauss
from leafgrad.values import BetaShapley, Shapley
from rules import basis_error


def allowed(alpha: float, beta: float, degree: int) -> float:
    """Tolerance: 1e-14 of arithmetic, and what rounding a node near 1 to float64 alone can cost there.

    A polynomial with coefficients up to 1 has a slope of at most 2 * degree; a node next to 1 is stored to
    2^-54, twice that with the subtraction. It matters where the weight is concentrated at 1: alpha below 1.
    """
    return 1e-14 + 2 * degree * 2.0**-53 * (1.0 if alpha < 1.0 else 0.0)


CASES = [
    *[(1.0, 1.0, n) for n in (1, 2, 3, 26, 200)],
    *[(4.0, 1.0, 25), (1.0, 16.0, 120), (3.7, 2.2, 60), (2.5, 1e4, 99)],
    *[(0.5, 0.5, 200), (0.001, 0.001, 100), (0.001, 1.0, 200), (1.0, 0.001, 200)],
    *[(0.001, 1e4, 100), (1e4, 0.001, 101), (1e4, 1e4, 200), (1e4, 1.0, 200), (1e16, 2e16, 40)],
    *[(1e-12, 1.0, 50), (1e-200, 1e-100, 30), (5e-324, 5e-324, 30), (1e300, 1.0, 20), (1e300, 1e300, 40)],
]


@pytest.mark.parametrize(("alpha", "beta", "n"), CASES)
def test_beta_rule_is_exact(alpha: float, beta: float, n: int) -> None:
    rule = BetaShapley(alpha, beta).rule(n)
    assert len(rule[0]) == max(1, math.ceil(n / 2))
    assert basis_error(rule, alpha, beta, n - 1) <= allowed(alpha, beta, n - 1)
    if n % 2 == 0:  # the rule is exact at its full degree 2m - 1, not one less
        assert basis_error(rule, alpha, beta, 2 * len(rule[0]) - 1) <= allowed(alpha, beta, n - 1)


parameters = st.floats(-6, 6).map(lambda exponent: 10.0**exponent) | st.floats(0.1, 20)


@settings(max_examples=60, deadline=None)
@given(parameters, parameters, st.integers(1, 40))
@example(2e-6, 2e-6, 1)
def test_any_parameters(alpha: float, beta: float, n: int) -> None:
    nodes, weights = rule = BetaShapley(alpha, beta).rule(n)
    assert np.all((nodes >= 0) & (nodes <= 1))
    assert np.all(np.diff(nodes) >= 0)
    assert np.all(weights >= 0)
    assert abs(math.fsum(weights) - 1) <= 1e-15
    assert basis_error(rule, alpha, beta, n - 1) <= allowed(alpha, beta, n - 1)


def test_a_thousand_distinct_features() -> None:
    """500 Legendre points: quick, and exact at degree 999; each basis polynomial has the mean 1/1000."""
    gauss.beta_rule.cache_clear()
    started = time.process_time()
    nodes, weights = Shapley().rule(1000)
    assert time.process_time() - started < 0.5
    k = np.arange(1000)[:, None]
    # The logarithms of binomials reach 700 and are right to 1e-13, the terms so to 1e-13 of 1/1000.
    basis = np.exp(
        gammaln(1000) - gammaln(k + 1) - gammaln(1000 - k) + k * np.log(nodes) + (999 - k) * np.log1p(-nodes)
    )
    assert np.abs(basis @ weights - 1e-3).sum() < 1e-12
    assert np.abs(basis @ weights - 1e-3).max() < 1e-14
    assert np.abs(nodes + nodes[::-1] - 1).max() < 2e-16
    assert np.array_equal(weights, weights[::-1])


def test_nodes_keep_their_digits_next_to_an_end() -> None:
    """Half the mass sits at a node 1e-6 from each end; its distance from 0 has all its digits."""
    nodes, weights = BetaShapley(1e-3, 1e-3).rule(60)
    with mpmath.workdps(40):
        exponent = mpmath.mpf(1e-3) - 1
        exact = mpmath.findroot(lambda t: mpmath.jacobi(30, exponent, exponent, 1 - 2 * t), nodes[0])
        assert abs(nodes[0] / exact - 1) < 1e-14
    assert weights[0] > 0.49
    assert nodes[-1] == 1.0 - nodes[0]
    assert np.array_equal(weights, weights[::-1])


@given(parameters, parameters, st.integers(1, 12))
@settings(max_examples=30, deadline=None)
def test_mirrored_parameters_mirror_the_rule(alpha: float, beta: float, n: int) -> None:
    """Known and unknown change places; only the rounding of 1 - t differs."""
    nodes, weights = BetaShapley(alpha, beta).rule(n)
    mirrored, mirrored_weights = BetaShapley(beta, alpha).rule(n)
    assert np.abs(nodes - (1 - mirrored[::-1])).max() < 1e-15
    assert np.abs(weights - mirrored_weights[::-1]).max() < 1e-14


def test_rational_moments_of_small_rules() -> None:
    """E t^k = prod (beta + i) / (alpha + beta + i), in fractions."""
    for alpha, beta in [(1, 1), (4, 1), (2, 5)]:
        nodes, weights = BetaShapley(alpha, beta).rule(12)
        exact = Fraction(1)
        for k in range(12):
            pairs = zip(nodes.tolist(), weights.tolist(), strict=True)
            found = sum(Fraction(weight) * Fraction(node) ** k for node, weight in pairs)
            assert abs(found - exact) < 1e-15
            exact *= Fraction(beta + k, alpha + beta + k)
