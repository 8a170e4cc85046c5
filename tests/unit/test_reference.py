"""The oracles against a tree worked by hand, other definitions of the same values, and one another."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings

import forests
from leafgrad import values
from leafgrad.forest import Forest
from leafgrad.reference import brute, exact, paths
from leafgrad.reference.walk import walk

# The paper's first figure: r splits on i, v1 (22 of 25) on j, v4 (20 of 22) on k. Rows go to v1, v4, v5.
FIGURE = {
    "tree_start": [0, 7],
    "left": [1, 3, -1, -1, 5, -1, -1],
    "right": [2, 4, -1, -1, 6, -1, -1],
    "feature": [0, 1, -1, -1, 2, -1, -1],
    "threshold": [0.0] * 7,
    "cover": [25, 22, 3, 2, 20, 10, 10],
    "value": [0, 0, 0.1, 0.3, 0, 0.8, 0.7],
}
ROW = [-1.0, 1.0, -1.0]


def rounded(numbers: object) -> np.ndarray:
    return np.asarray(numbers).astype(float)


def figure_worth(known: set[int]) -> float:
    """By hand, in the words of the algorithm: known players go the row's way, others mix by cover."""
    at_v4 = 0.8 if 2 in known else 0.75
    at_v1 = at_v4 if 1 in known else 20 / 22 * at_v4 + 2 / 22 * 0.3
    return at_v1 if 0 in known else 22 / 25 * at_v1 + 3 / 25 * 0.1


def test_the_paper_figure() -> None:
    forest = Forest.from_arrays(**FIGURE)
    game = paths.game(forest, ROW)
    worth = brute.f_x(game)
    for mask in range(8):
        known = {j for j in range(3) if mask >> j & 1}
        expected = figure_worth(known) - forest.base[0]
        assert worth[mask, 0] == pytest.approx(expected, abs=1e-15)
        assert float(exact.known(game, known)[0]) == pytest.approx(expected, abs=1e-15)
    assert worth[0, 0] == pytest.approx(0, abs=1e-15)


def test_shapley_by_all_orders_of_arrival() -> None:
    """The mean over all orders of what a player adds when it arrives: a definition that needs no weights."""
    rng = np.random.default_rng(0)
    forest = forests.forest(rng, forests.Shape(n_features=4, depth=4, repeats=0.5))
    game = paths.game(forest, forests.rows(rng, forest, 1)[0])
    total = [Fraction(0)] * 4
    for order in itertools.permutations(range(4)):
        for i, player in enumerate(order):
            joined, before = exact.known(game, order[: i + 1])[0], exact.known(game, order[:i])[0]
            total[player] += (joined - before) / math.factorial(4)
    assert exact.value(game, values.Shapley())[:, 0].tolist() == total


def test_first_in_and_leave_one_out() -> None:
    rng = np.random.default_rng(1)
    forest = forests.forest(rng, forests.Shape(n_features=5, depth=4, n_outputs=2, vector=True))
    game = paths.game(forest, forests.rows(rng, forest, 1)[0])
    everyone = set(range(5))
    first_in = [exact.known(game, {j}) - exact.known(game, []) for j in range(5)]
    last_out = [exact.known(game, everyone) - exact.known(game, everyone - {j}) for j in range(5)]
    for value in ([1, 0, 0, 0, 0], values.Banzhaf(0)):
        assert exact.value(game, value).tolist() == [worth.tolist() for worth in first_in]
    for value in ([0, 0, 0, 0, 1], values.Banzhaf(1)):
        assert exact.value(game, value).tolist() == [worth.tolist() for worth in last_out]


@pytest.mark.parametrize("name", forests.SHAPES)
def test_the_oracles_agree(name: str) -> None:
    """The path products and the recursion to the last bit in fractions, the 2^N sum to its own rounding."""
    for seed in range(2):
        check_agreement(forests.SHAPES[name], seed)


@settings(max_examples=25, deadline=None)
@given(forests.shapes(), forests.seeds)
def test_the_oracles_agree_on_any_forest(shape: forests.Shape, seed: int) -> None:
    check_agreement(shape, seed)


def check_agreement(shape: forests.Shape, seed: int) -> None:
    rng = np.random.default_rng(seed)
    forest = forests.forest(rng, shape)
    unit = forests.unit(forest)
    game = paths.game(forest, forests.rows(rng, forest, 1)[0])
    z = forests.points(rng, 1, game.n_players)[0]

    extension, gradient = exact.extension(game, z), exact.gradient(game, z)
    walked_extension, walked_gradient = walk(game, z, Fraction)
    assert extension.tolist() == walked_extension
    assert gradient.tolist() == walked_gradient

    worth = brute.f_x(game)  # 2^N terms, each right to about depth * 1e-16, with probabilities that sum to 1
    assert np.all(abs(brute.extension(worth, z) - rounded(extension)) <= 1e-14 * unit)
    assert np.all(abs(brute.gradient(worth, z) - rounded(gradient)) <= 1e-14 * unit)
    sizes = rng.dirichlet(np.ones(game.n_players)).tolist()
    for value in (values.Shapley(), values.Banzhaf(0.3), values.BetaShapley(2.5, 0.7), sizes):
        found = brute.value(worth, brute.omega(value, game.n_players))
        assert np.all(abs(found - rounded(exact.value(game, value))) <= 1e-14 * unit)


def test_efficiency_is_exact() -> None:
    """Even where two stored shares do not sum to 1: it holds for every game."""
    rng = np.random.default_rng(2)
    forest = forests.forest(rng, forests.SHAPES["tiny shares"])
    game = paths.game(forest, forests.rows(rng, forest, 1)[0])
    total = exact.value(game, values.Shapley()).sum(axis=0)
    assert total.tolist() == (exact.known(game, range(game.n_players)) - exact.known(game, [])).tolist()


def test_groups_share_a_player() -> None:
    """The worth of a coalition of groups is that of all their features."""
    rng = np.random.default_rng(3)
    forest = forests.forest(rng, forests.Shape(n_features=5, depth=5))
    row = forests.rows(rng, forest, 1)[0]
    alone, grouped = paths.game(forest, row), paths.game(forest, row, [0, 1, 0, 2, 1])
    for known in ([], [0], [1, 2], [0, 2]):
        features = [j for j, player in enumerate([0, 1, 0, 2, 1]) if player in known]
        assert exact.known(grouped, known).tolist() == exact.known(alone, features).tolist()
    z = [Fraction(1, 3), Fraction(1, 2), Fraction(1, 7)]
    assert exact.gradient(grouped, z).tolist() == walk(grouped, z, Fraction)[1]


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 1.0), (4.0, 1.0), (0.37, 2.6), (1e-3, 50.0)])
def test_beta_weights_are_integrals(alpha: float, beta: float) -> None:
    with mpmath.workdps(40):
        a, b = mpmath.mpf(alpha), mpmath.mpf(beta)
        for s, weight in enumerate(exact.omega(values.BetaShapley(alpha, beta), 6, 6)):
            integral = mpmath.beta(b + s, a + 5 - s) / mpmath.beta(b, a)
            assert abs(mpmath.mpf(weight.numerator) / weight.denominator / integral - 1) < 1e-35
    total = sum(math.comb(5, s) * w for s, w in enumerate(exact.omega(values.BetaShapley(alpha, beta), 6, 6)))
    assert total == 1


def test_null_players_leave_the_weights() -> None:
    """Weights of the smaller game from sizes of the larger: a semivalue's must be its own, whatever N."""
    for value in (values.Shapley(), values.Banzhaf(0.3), values.Semivalue([0.1, 0.9], [0.25, 0.75])):
        in_nine = exact.omega(value, 9, 9)
        sizes = [w * math.comb(8, s) for s, w in enumerate(in_nine)]
        assert exact.omega(sizes, 4, 9) == exact.omega(value, 4, 4)
    with pytest.raises(ValueError, match="3 coalition sizes came for 4 players"):
        exact.omega([0.5, 0.25, 0.25], 2, 4)


def test_sixty_digits() -> None:
    """The recursion in mpmath: sixty digits from the same floats."""
    rng = np.random.default_rng(4)
    forest = forests.forest(rng, forests.SHAPES["ten repeats"])
    game = paths.game(forest, forests.rows(rng, forest, 1)[0])
    z = forests.points(rng, 1, game.n_players)[0]
    with mpmath.workdps(60):
        _, gradient = walk(game, z, mpmath.mpf)
        for found, expected in zip(gradient, exact.gradient(game, z), strict=True):
            assert abs(found[0] - mpmath.mpf(expected[0].numerator) / expected[0].denominator) < 1e-55


def test_deep_chains_need_no_recursion() -> None:
    rng = np.random.default_rng(5)
    forest = forests.chain(rng.integers(3, size=5000), rng)
    extension, gradient = walk(paths.game(forest, rng.normal(size=3)), [0.5, 0.25, 1.0])
    assert np.isfinite(extension).all()
    assert np.isfinite(gradient).all()


def test_routing() -> None:
    """One node of each kind: ties, missing, and every sort of category code."""
    forest = Forest.from_arrays(
        tree_start=[0, 3, 6, 9],
        left=[1, -1, -1] * 3,
        right=[2, -1, -1] * 3,
        feature=[0, -1, -1, 1, -1, -1, 2, -1, -1],
        threshold=[0.1] * 9,
        cover=[2, 1, 1] * 3,
        value=[0, 1, 2] * 3,
        missing_left=[True] * 3 + [False] * 6,
        categories_left={3: [1, 33], 6: []},
        other_left=[False] * 3 + [True] * 6,
    )
    above = float(np.nextafter(0.1, 1))
    numeric = {0.1: True, above: False, -np.inf: True, np.inf: False, np.nan: True}
    category = dict.fromkeys([1.0, 33.0, 1.9], True)  # codes are truncated
    category |= dict.fromkeys([0.0, 2.0, 63.0, -0.9, np.nan], False)  # missing has its own bit
    category |= dict.fromkeys([64.0, 1e9, -1.0, np.inf], True)  # not in the two words of the set
    for node, cases in ((0, numeric), (3, category), (6, {0.0: True, -5.0: True, np.nan: False})):
        for x, left in cases.items():
            assert paths.goes_left(forest, node, x) is left, (node, x)


def test_routing_in_float32() -> None:
    forest = Forest.from_arrays(**{**FIGURE, "threshold": [0.1] * 7, "dtype": np.float32})
    below = float(np.nextafter(np.float32(0.1), np.float32(0)))  # float32(0.1) is above 0.1
    assert forest.threshold[0] == below
    for x, left in {below: True, 0.1: False, 1e300: False, -1e300: True}.items():
        assert paths.goes_left(forest, 0, x) is left


def test_what_predict_says_is_the_worth_of_all() -> None:
    """The oracles' routing and the centring of leaves: base + F_x(1) is the prediction."""
    for name, shape in forests.SHAPES.items():
        rng = np.random.default_rng(6)
        forest = forests.forest(rng, shape, constant=1.5)
        X = forests.rows(rng, forest, 40)
        predicted = forest.predict(X).reshape(len(X), -1)
        for x, prediction in zip(X, predicted, strict=True):
            game = paths.game(forest, x)
            worth = rounded(exact.known(game, range(game.n_players))) + forest.base
            scale = forests.unit(forest) + abs(forest.base) + abs(forest.root_mean).sum()
            assert np.all(abs(worth - prediction) <= 1e-14 * scale), name


@pytest.mark.parametrize("name", ["plain", "covers of 0", "vector leaves", "many outputs", "tiny shares"])
def test_contributions_by_size(name: str) -> None:
    """All sizes at once, against one after the other by `exact.value`, to the last digit, and against 2^N."""
    rng = np.random.default_rng(11)
    forest = forests.forest(rng, forests.SHAPES[name])
    game = paths.game(forest, forests.rows(rng, forest, 1)[0])
    n = forest.n_features
    found = exact.by_size(game)
    for s in range(n):
        sizes = [Fraction(int(s == i)) for i in range(n)]
        assert found[s].tolist() == exact.value(game, sizes).tolist()
    worth = brute.f_x(game)
    by_all = [brute.value(worth, brute.omega(np.eye(n)[s].tolist(), n)) for s in range(n)]
    assert abs(rounded(found) - by_all).max() <= 1e-13 * forests.unit(forest).max()
