"""Groups of features as players: the game in which a group's features are known together or not at all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import forests
import leafgrad as lg
from leafgrad.reference import brute, exact, paths

TOLERANCE = 1e-13  # the exactness promise


def as_groups(players: np.ndarray) -> dict[str, list[int]]:
    """The groups that make these players; a player of one feature is none."""
    members = {int(player): np.flatnonzero(players == player).tolist() for player in players}
    return {f"group {player}": features for player, features in members.items() if len(features) > 1}


def in_order(players: np.ndarray) -> np.ndarray:
    """Players renumbered by their first feature, as groups stand where their first member stood."""
    _, first, player = np.unique(players, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[player]


@settings(max_examples=30, deadline=None)
@given(forests.shapes(), forests.seeds, st.integers(1, 4))
def test_groups_are_players(shape: forests.Shape, seed: int, most: int) -> None:
    rng = np.random.default_rng(seed)
    forest = forests.forest(rng, shape)
    players = in_order(rng.integers(most, size=forest.n_features))
    groups = as_groups(players)
    X = forests.rows(rng, forest, 3)
    n = players.max() + 1
    z = forests.points(rng, 3, n)
    unit = forests.unit(forest)
    games = [paths.game(forest, row, players.tolist()) for row in X]
    worths = [brute.f_x(game) for game in games]

    explanation = lg.explain(forest, X, "beta:2,3", groups=groups)
    assert explanation.values.shape[:2] == (3, n)
    for values, worth in zip(explanation.values, worths, strict=True):
        expected = brute.value(worth, brute.omega(lg.BetaShapley(2, 3), n))
        assert (abs(values.reshape(n, -1) - expected) <= TOLERANCE * unit).all()
    gradients = lg.gradient(forest, X, z, groups=groups)
    for gradient, game, point in zip(gradients, games, z, strict=True):
        expected = exact.gradient(game, point).astype(float)
        assert (abs(gradient.reshape(n, -1) - expected) <= TOLERANCE * unit).all()


def test_one_group_of_all_gets_everything() -> None:
    rng = np.random.default_rng(0)
    forest = forests.forest(rng, forests.Shape(n_features=4))
    X = forests.rows(rng, forest, 5)
    values = lg.explain(forest, X, groups={"all": range(4)}).values[:, 0]
    assert abs(values - (forest.predict(X) - forest.base)).max() <= TOLERANCE * forests.unit(forest)[0]


def test_groups_of_one_change_nothing() -> None:
    rng = np.random.default_rng(1)
    forest = forests.forest(rng, forests.Shape(n_features=4))
    X = forests.rows(rng, forest, 80)
    grouped = lg.explain(forest, X, groups={"a": [2], "b": [0]})
    assert np.array_equal(grouped.values, lg.explain(forest, X).values)
    assert tuple(grouped.feature_names) == ("b", "x1", "a", "x3")


def test_a_group_is_not_the_sum_of_its_members() -> None:
    """Two features that matter only together: first in, each alone adds a quarter, the pair three."""
    both = lg.Forest.from_arrays(
        tree_start=[0, 5],
        left=[1, -1, 3, -1, -1],
        right=[2, -1, 4, -1, -1],
        feature=[0, -1, 1, -1, -1],
        threshold=[0.0] * 5,
        cover=[4, 2, 2, 1, 1],
        value=[0, 0, 0, 0, 1],
        n_features=3,
    )
    row = [1.0, 1.0, 0.0]
    assert lg.explain(both, row, "banzhaf:0").values[0] == pytest.approx([0.25, 0.25, 0], abs=1e-15)
    grouped = lg.explain(both, row, "banzhaf:0", groups={"pair": [0, 1]}).values[0]
    assert grouped == pytest.approx([0.75, 0], abs=1e-15)
