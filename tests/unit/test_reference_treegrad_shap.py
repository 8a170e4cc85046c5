"""TreeGrad-Shap, as a loop and vectorized: Beta Shapley values with integral parameters, at any depth."""

from __future__ import annotations

import numpy as np
import pytest

import forests
from leafgrad import values
from leafgrad.reference import exact, paths
from leafgrad.reference.edges import Edges, Levels
from leafgrad.reference.treegrad_shap import rule, tree_grad_shap
from leafgrad.reference.treegrad_shap_vectorized import tree_grad_shap_vectorized

CLOSE = 1e-13  # products and positive sums; repeats subtract, and divide by factors of at most 400


def one_tree(forest: forests.Forest, x: np.ndarray) -> tuple[paths.Game, Levels]:
    game = paths.game(forest, x)
    return game, Levels.of(Edges.of(game.trees[0], 1), 0, game.n_players)


@pytest.mark.parametrize(("alpha", "beta"), [(1, 1), (2, 1), (1, 4), (16, 1), (3, 5)])
@pytest.mark.parametrize("repeats", [0.0, 0.4])
def test_beta_values(alpha: int, beta: int, repeats: float) -> None:
    rng = np.random.default_rng(alpha + 10 * beta)
    shape = forests.Shape(n_trees=1, depth=6, n_features=7, repeats=repeats, stop=0.05)
    forest = forests.forest(rng, shape)
    game, tree = one_tree(forest, forests.rows(rng, forest, 1)[0])
    expected = exact.value(game, values.BetaShapley(alpha, beta)).astype(float)[:, 0]
    for algorithm in (tree_grad_shap, tree_grad_shap_vectorized):
        assert (abs(algorithm(tree, alpha, beta) - expected) <= CLOSE * forests.unit(forest)).all()


def test_nodes_are_as_few_as_the_paper_says() -> None:
    """Nodes number ceil((min(D, N) + alpha + beta - 2) / 2); its weights times the densities sum to 1."""
    rng = np.random.default_rng(0)
    for features, alpha, beta, nodes in (
        (range(9), 1, 1, 5),
        (range(9), 2, 3, 6),
        ([0, 1, 0, 1, 2], 1, 1, 2),
    ):
        forest = forests.chain(list(features), rng)
        _, tree = one_tree(forest, np.zeros(forest.n_features))
        t, kappa, b = rule(tree, alpha, beta)
        assert len(t) == nodes
        assert kappa @ b == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize("distinct", [35, 65])
def test_rounding_level_at_any_depth(distinct: int) -> None:
    rng = np.random.default_rng(distinct)
    forest = forests.chain(range(distinct), rng)
    game, tree = one_tree(forest, rng.normal(size=distinct) * 3)
    expected = exact.value(game, values.Shapley()).astype(float)[:, 0]
    for algorithm in (tree_grad_shap, tree_grad_shap_vectorized):
        assert (abs(algorithm(tree) - expected) <= CLOSE * forests.unit(forest)).all()
