"""Rules of densities: exact against moments, deterministic, and every error message."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

import forests
import leafgrad as lg
from leafgrad import density
from leafgrad.density import Density
from rules import basis_error


def beta(a: float, b: float):
    c = math.gamma(a + b) / (math.gamma(a) * math.gamma(b))
    return lambda t: c * t ** (b - 1) * (1 - t) ** (a - 1)


# With ends where the density, or its slope, is infinite.
BETAS = [(1, 1), (2, 2), (4, 1), (1, 0.5), (1, 0.1), (3, 0.05), (2.5, 1.5), (1.5, 30), (0.95, 1), (1.5, 0.5)]


@pytest.mark.parametrize(("a", "b"), BETAS)
def test_beta_densities(a: float, b: float) -> None:
    """The error of any attribution: 1e-13 at any depth, most of it from the density's own rounding."""
    value = lg.Semivalue.from_density(beta(a, b))
    for n in (1, 9, 60):
        rule = value.rule(n)
        assert len(rule[0]) == max(1, math.ceil(n / 2))
        assert basis_error(rule, a, b, n - 1) <= 1e-13


OTHERS = {
    "a kink": (lambda t: abs(t - 0.3) / 0.29, [0.3]),
    "a jump": (lambda t: 2.5 * (t < 0.4), [0.4]),
    "two parts": (lambda t: 5.0 * (0.1 < t < 0.2 or 0.7 < t < 0.8), [0.1, 0.2, 0.7, 0.8]),
    "a logarithm": (lambda t: -math.log(t), []),
    "a sum with a root": (lambda t: 0.25 / math.sqrt(t) + t, []),
    "a bump": (lambda t: math.exp(-(((t - 0.5) / 0.05) ** 2)) / 0.0886226925452758, []),
}


@pytest.mark.parametrize("name", OTHERS)
def test_moments_of_other_densities(name: str) -> None:
    """E t^k against thirty digits; these are bounded by 1, as are the rule's errors by 1e-13."""
    function, breaks = OTHERS[name]
    nodes, weights = lg.Semivalue.from_density(function).rule(24)
    of_mpf = {
        "a logarithm": lambda t: -mpmath.log(t),
        "a sum with a root": lambda t: t + 1 / (4 * mpmath.sqrt(t)),
        "a bump": lambda t: mpmath.exp(-(((t - 0.5) / 0.05) ** 2)) / 0.0886226925452758,
    }.get(name, function)
    with mpmath.workdps(30):
        ends = [0, *breaks, 1]
        whole = mpmath.quad(of_mpf, ends)
        for k in range(24):
            moment = mpmath.quad(lambda t, k=k: t**k * of_mpf(t), ends) / whole
            assert abs(float(moment) - weights @ nodes**k) <= 1e-13, k


def test_the_same_bits_again() -> None:
    first = Density(beta(3, 0.5)).rule(10)
    again = Density(beta(3, 0.5)).rule(10)
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    for array in first:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0


def test_a_value_like_others() -> None:
    function = beta(4, 1)
    value = lg.Semivalue.from_density(function)
    assert value == lg.Semivalue.from_density(function) != lg.Semivalue.from_density(beta(4, 1))
    assert hash(value) == hash(Density(function))
    assert not value.additive
    rng = np.random.default_rng(0)
    forest = forests.forest(rng, forests.Shape(n_features=9, depth=7))
    X = forests.rows(rng, forest, 20)
    error = lg.explain(forest, X, value).values - lg.explain(forest, X, "beta:4,1").values
    assert abs(error).max() <= 1e-13 * forests.unit(forest)[0]


def flat(t: float) -> float:
    return 1.0


def test_names() -> None:
    assert lg.Semivalue.from_density(flat).name == "semivalue(density flat)"
    assert lg.Semivalue.from_density(lambda _: 1.0).name == "semivalue(density)"


def test_it_is_asked_between_0_and_1_only() -> None:
    asked: list[float] = []

    def watched(t: float) -> float:
        asked.append(t)
        return beta(0.95, 0.5)(t)

    lg.Semivalue.from_density(watched).rule(30)
    assert all(type(t) is float for t in asked)
    assert min(asked) > 0.0
    assert max(asked) < 1.0


def test_the_integral_may_be_off_by_a_little() -> None:
    """A constant typed in decimals; the weights sum to 1 all the same."""
    nodes, weights = lg.Semivalue.from_density(lambda _: 1.0000000001).rule(3)
    assert abs(weights.sum() - 1) <= 2e-16
    assert nodes == pytest.approx([0.5 - 1 / math.sqrt(12), 0.5 + 1 / math.sqrt(12)], abs=1e-15)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (0.5, r"0\.5 is no function; pass a density, such as lambda t: 2 \* t"),
        (
            lambda t: 2 * t + 1,
            r"the integral of the density over \[0, 1\] is 2\.0, but must be 1 .*; divide by it",
        ),
        (lambda _: 0.0, r"is 0\.0, but must be 1 \(within 1e-9\)"),
        (lambda t: 1e9 * (abs(t - 1 / math.e) < 5e-10), "narrow peaks are missed: for those take Semivalue"),
        (lambda _: -1.0, r"at t = 0\.\d+ the density is -1\.0; wanted a finite number of at least 0"),
        (lambda _: math.nan, "the density is nan"),
        (lambda _: math.inf, "the density is inf"),
        (lambda _: "one", "the density is 'one'"),
        (lambda _: [1.0], r"the density is \[1\.0\]"),
        (lambda t: 0.5 / math.sqrt(1 - t), r"near t = 0\.9999\d+ the density is too steep.* or BetaShapley"),
        (lambda t: 0.0005 * t**-0.9995, r"near t = 0\.0 the density is too steep"),
        (
            lambda t: 0.5 / math.sqrt(abs(t - 0.6) + 1e-300) / 1.407,
            r"near t = 0\.(6|59)\d* the density is too steep",
        ),
    ],
)
def test_errors(function: object, message: str) -> None:
    with pytest.raises(lg.InputError, match=message):
        lg.Semivalue.from_density(function)  # type: ignore[arg-type]


def test_panels_crowd_where_they_must() -> None:
    """A smooth density takes the panels one starts with; a singular one some hundreds, not thousands."""
    assert len(density._panels(flat)) == 16
    assert 100 < len(density._panels(beta(1, 0.1))) < 4000
