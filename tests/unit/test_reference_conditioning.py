"""The paper's statements on condition numbers, and that they are those of the systems solved."""

from __future__ import annotations

import numpy as np
import pytest

from leafgrad.reference import conditioning, linear_treeshap_v1, treeshap_k
from leafgrad.reference.linear_treeshap import chebyshev

D = 8  # where float64 finds any singular value to 1e-9


@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.0, 2.0])
def test_the_numbers_are_those_of_the_systems_solved(gamma: float) -> None:
    """numpy's condition of the map that joins a factor, read off its effect on unit vectors."""
    units, gammas = np.eye(D, D + 1), np.full(D, gamma)
    joins_k = treeshap_k.plus(units, gammas)[:, :D].T
    assert conditioning.tree_shap_k(D, gamma) == pytest.approx(np.linalg.cond(joins_k), rel=1e-9)
    joins_v1 = linear_treeshap_v1.plus(units, gammas - 1)[:, :D].T
    assert conditioning.linear_tree_shap_v1(D, gamma) == pytest.approx(np.linalg.cond(joins_v1), rel=1e-9)


def test_chebyshev_nodes() -> None:
    np.testing.assert_allclose(chebyshev(5), [-1, -np.sqrt(0.5), 0, np.sqrt(0.5), 1], atol=1e-15)
    V = np.vander(chebyshev(D), increasing=True)
    assert conditioning.chebyshev_vandermonde(D) == pytest.approx(np.linalg.cond(V), rel=1e-9)


def test_over_a_hundred_thousand_at_depth_20() -> None:
    """The paper's words on Linear TreeShap's and TreeShap-K's matrices, and that both grow exponentially."""
    for condition, growth in ((conditioning.chebyshev_vandermonde, 2.2), (conditioning.tree_shap_k, 1.9)):
        assert condition(10) < 1e5 < condition(20)
        assert condition(40) > growth**20 * condition(20)  # (1 + sqrt 2) and 2 a level, in the limit


@pytest.mark.parametrize("size", [1, 5, 40, 100])
def test_1_at_the_roots_of_unity(size: int) -> None:
    assert conditioning.unit_circle_vandermonde(size) == pytest.approx(1, abs=1e-13)


def test_v1_below_100_at_depth_100() -> None:
    """The paper names no gamma for its statement.

    It holds for the gamma = 1 of its figure, a null player, and from 0.02 to 1.98. For gamma = 0 and 2 the
    matrix has 1 on the diagonal and +-1 below: its singular values are 2 cos(k pi / (2 D + 1)), its condition
    is 128. Beyond gamma = 2 it grows as (gamma - 1)^D.
    """
    assert conditioning.linear_tree_shap_v1(100, 1.0) == 1
    for gamma in (0.02, 0.5, 1.5, 1.98):
        assert conditioning.linear_tree_shap_v1(100, gamma) < 100
    for gamma in (0.0, 2.0):
        found = conditioning.linear_tree_shap_v1(100, gamma)
        assert found == pytest.approx(np.cos(np.pi / 201) / np.sin(np.pi / 402), rel=1e-9)
    assert conditioning.linear_tree_shap_v1(100, 3.0) > 2.0**100
