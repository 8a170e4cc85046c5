"""TreeGrad in both procedures, the multilinear evaluation and f_x(S), against exact fractions."""

from __future__ import annotations

import math

import numpy as np
import pytest

import forests
from leafgrad.reference import brute, exact, paths
from leafgrad.reference.edges import Edges, Levels
from leafgrad.reference.f_x import f_x
from leafgrad.reference.multilinear import evaluate
from leafgrad.reference.paths import Game
from leafgrad.reference.treegrad import tree_grad
from leafgrad.reference.treegrad_simplified import tree_grad_simplified

# Products of at most nine factors and sums of at most 2^9 leaves; where a feature repeats, H subtracts what
# it added, and factors of up to 400 (two shares of 1/20) divide it.
CLOSE = 1e-12
NAMES = ["plain", "stumps", "bushy repeats", "many outputs", "vector leaves", "unused features", "categories"]


def drawn(name: str, seed: int) -> tuple[Game, float, np.random.Generator]:
    rng = np.random.default_rng(seed)
    forest = forests.forest(rng, forests.SHAPES[name])
    return paths.game(forest, forests.rows(rng, forest, 1)[0]), forests.unit(forest).max(), rng


def levels(game: Game, output: int) -> list[Levels]:
    return [
        Levels.of(Edges.of(tree, game.n_outputs), output, game.n_players)
        for tree in game.trees
        if not tree.is_leaf(0)
    ]


def full(game: Game, z: np.ndarray) -> np.ndarray:
    return sum(tree_grad(Edges.of(tree, game.n_outputs), z, game.n_outputs) for tree in game.trees)


def simplified(game: Game, z: np.ndarray, output: int) -> np.ndarray:
    return sum(tree_grad_simplified(tree, z) for tree in levels(game, output))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("at", ["inside", "at 0", "at 1", "at corners"])
def test_both_procedures_give_the_gradient(name: str, at: str) -> None:
    game, unit, rng = drawn(name, 1)
    n = game.n_players
    z = {
        "inside": rng.random(n),
        "at 0": np.zeros(n),
        "at 1": np.ones(n),
        "at corners": rng.integers(2, size=n) * 1.0,
    }[at]
    expected = exact.gradient(game, z).astype(float)
    assert (abs(full(game, z) - expected) <= CLOSE * unit).all()
    if at in ("inside", "at 0"):  # there no factor is 0
        for output in range(game.n_outputs):
            assert (abs(simplified(game, z, output) - expected[:, output]) <= CLOSE * unit).all()


def test_the_simplified_procedure_fails_where_z_is_1_and_the_row_disagrees() -> None:
    """The paper's corner case: 0 / 0 for that very player, whose gradient the full procedure finds."""
    rng = np.random.default_rng(2)
    forest = forests.chain([0, 1, 2], rng, left=[1, -1, 3, -1, 5, -1, -1], right=[2, -1, 4, -1, 6, -1, -1])
    # The chain goes on to the right; the row leaves it at player 1's split.
    x = np.where(np.arange(3) == 1, -9.0, 9.0)
    game = paths.game(forest, x)
    z = np.array([0.5, 1.0, 0.5])
    expected = exact.gradient(game, z).astype(float)[:, 0]
    assert expected[1] != 0
    found = simplified(game, z, 0)
    assert np.isnan(found[1])
    assert (abs(full(game, z)[:, 0] - expected) <= 1e-15 * forests.unit(forest)).all()


@pytest.mark.parametrize("name", NAMES)
def test_the_multilinear_evaluation(name: str) -> None:
    game, unit, rng = drawn(name, 3)
    z = rng.random(game.n_players)
    expected = exact.extension(game, z).astype(float)
    for output in range(game.n_outputs):
        found = math.fsum(evaluate(tree, z) for tree in levels(game, output))
        assert abs(found - expected[output]) <= CLOSE * unit


@pytest.mark.parametrize("name", [*NAMES, "one leaf", "covers of 0"])
def test_the_worth_of_one_coalition_is_the_table_s(name: str) -> None:
    game, _, _ = drawn(name, 4)
    worth = brute.f_x(game)
    for mask in range(len(worth)):
        known = [j for j in range(game.n_players) if mask >> j & 1]
        np.testing.assert_array_equal(f_x(game, known), worth[mask])


def test_trees_may_be_deeper_than_python_s_recursion() -> None:
    rng = np.random.default_rng(5)
    forest = forests.chain(np.arange(3000) % 30, rng)
    game = paths.game(forest, rng.normal(size=30))
    (tree,) = levels(game, 0)
    assert tree.depth == 3000
    assert np.isfinite(f_x(game, [0, 1])).all()
    assert abs(evaluate(tree, np.zeros(30))) <= 1e-12 * forests.unit(forest)
