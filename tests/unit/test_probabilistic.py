"""`ProbabilisticValue`: what it takes and refuses, null players that leave, where it is taken."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import forests
import leafgrad as lg
from leafgrad import _core, plan
from leafgrad.probabilistic import ProbabilisticValue, without_null_players
from leafgrad.reference import exact

RNG = np.random.default_rng(0)
FOREST = forests.forest(RNG, forests.Shape(n_features=6, depth=5, n_trees=4))
X = RNG.normal(size=(9, 6))


def test_values_are_frozen_values() -> None:
    makes = [
        lambda: ProbabilisticValue([0.25, 0.75]),
        lambda: ProbabilisticValue.from_reduced([0.5, 0.5]),
        ProbabilisticValue.leave_one_out,
        ProbabilisticValue.first_in,
    ]
    for make in makes:
        value = make()
        assert value == make() == pickle.loads(pickle.dumps(value)) == eval(repr(value))
        assert hash(value) == hash(make())
        assert not value.additive
        with pytest.raises(AttributeError):
            value.sizes = (1.0,)  # type: ignore[misc]
    assert len({make() for make in makes}) == 4
    assert ProbabilisticValue([0.5, 0.5]) != ProbabilisticValue.from_reduced([0.5, 0.5])


def test_names() -> None:
    names = [
        ProbabilisticValue([0.5, 0.5]).name,
        ProbabilisticValue.from_reduced([0.5, 0.5]).name,
        ProbabilisticValue.leave_one_out().name,
        ProbabilisticValue.first_in().name,
    ]
    assert names == ["probabilistic(2 sizes)", "probabilistic(2 reduced sizes)", "leave_one_out", "first_in"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ProbabilisticValue([0.5, 0.4]), r"the 2 sizes sum to 0\.9, but must sum to 1 .*; divide"),
        (lambda: ProbabilisticValue([1.5, -0.5]), r"sizes\[0\] is 1\.5; .* coalition of 0, from 0 to 1"),
        (lambda: ProbabilisticValue([0.5, -0.5, 1]), r"sizes\[1\] is -0\.5"),
        (lambda: ProbabilisticValue([math.nan, 1.0]), r"sizes\[0\] is nan; pass a finite number"),
        (lambda: ProbabilisticValue([]), "sizes is empty; pass at least one number"),
        (lambda: ProbabilisticValue("shapley"), "sizes is 'shapley'; pass a sequence of numbers"),
        (lambda: ProbabilisticValue(0.5), r"sizes is 0\.5; pass a sequence of numbers"),
        (lambda: ProbabilisticValue([[0.5, 0.5]]), r"sizes\[0\] is \[0\.5, 0\.5\]; pass a number"),
        (
            lambda: ProbabilisticValue.from_omega([0.5, 0.6]),
            r"C\(N-1, s\) omega\[s\] is 1\.1 for N = 2, but must",
        ),
        (lambda: ProbabilisticValue.from_omega([1 / 3] * 3), r"is 1\.333\d+ for N = 3"),
        (lambda: ProbabilisticValue.from_omega([2, -1]), r"omega\[1\] is -1\.0; weights are at least 0"),
        (lambda: ProbabilisticValue.from_omega([1.0, math.inf]), r"omega\[1\] is inf; pass a finite number"),
        (lambda: ProbabilisticValue.from_omega([0.5] * 2000), r"is beyond float64 for N = 2000"),
        (lambda: ProbabilisticValue.from_omega([]), "from_omega: omega is empty"),
        (lambda: ProbabilisticValue.from_omega(3), "omega is 3; pass a sequence of numbers"),
        (
            lambda: ProbabilisticValue.from_reduced([0.2, 0.9]),
            r"from_reduced: .*C\(n-1, s\) q\[s\] is 1\.1 for n = 2",
        ),
        (lambda: ProbabilisticValue.from_reduced("q"), "from_reduced: q is 'q'; pass a sequence"),
        (
            lambda: lg.explain(FOREST, X, ProbabilisticValue([1.0])),
            "the value has 1 size and the game 6 players; .*N = 6",
        ),
        (
            lambda: lg.explain(
                FOREST, X, ProbabilisticValue([0.25] * 4), groups={"a": [0, 1], "b": [2, 3, 4]}
            ),
            r"4 sizes and the game 3 players; pass one probability for each of the sizes 0\.\.N-1 with N = 3",
        ),
        (
            lambda: lg.explain(FOREST, X, ProbabilisticValue.from_reduced([0.5, 0.5])),
            r"reduced to n = 2 players, but U = \d different players stand on one path .*; pass weights q",
        ),
        (lambda: lg.explain(FOREST, X, ProbabilisticValue), r"is the class, not an object"),
    ],
)
def test_errors(make: object, message: str) -> None:
    with pytest.raises(lg.InputError, match=message):
        make()  # type: ignore[operator]


def test_sums_within_the_tolerances_are_used_as_they_are() -> None:
    assert ProbabilisticValue([0.5, 0.5 + 5e-13]).sizes == (0.5, 0.5 + 5e-13)
    assert ProbabilisticValue.from_omega([0.5, 0.5 + 5e-11]).sizes == (0.5, 0.5 + 5e-11)


def test_omega_in_fractions_and_floats() -> None:
    """Weights beyond float64 come as fractions; floats are taken as the numbers they are."""
    n = 1500
    omega = [Fraction(1, n * math.comb(n - 1, s)) for s in range(n)]
    assert ProbabilisticValue.from_omega(omega).sizes == (1 / n,) * n
    floats = ProbabilisticValue.from_omega(
        [float(each) for each in omega[:1]] + [0.0] * 4 + [1 - 1 / n]
    ).sizes
    assert floats == (1 / n, 0, 0, 0, 0, 1 - 1 / n)
    by_size = ProbabilisticValue.from_omega(
        np.array([1 / (500 * math.comb(499, s)) for s in range(500)])
    ).sizes
    assert abs(np.array(by_size) * 500 - 1).max() <= 2.0**-51


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 2**32 - 1), st.sampled_from([1.0, 20.0]))
def test_null_players_leave(n: int, more: int, seed: int, power: float) -> None:
    """Against the paper's lemma in fractions; each number to its own digits, small ones too."""
    sizes = np.random.default_rng(seed).random(n + more) ** power
    sizes /= sizes.sum()
    weights = exact.omega([Fraction(float(p)) for p in sizes], n, n + more)
    expected = np.array([float(w * math.comb(n - 1, s)) for s, w in enumerate(weights)])
    found = without_null_players(sizes, n)
    assert (abs(found - expected) <= 1e-14 * expected).all()


def test_null_players_leave_large_games() -> None:
    """Twenty of ten thousand: single sizes turn hypergeometric, the uniform distribution stays uniform."""
    n, N = 20, 10_000
    uniform = without_null_players(np.full(N, 1 / N), n)
    assert abs(uniform * n - 1).max() <= 1e-13
    for size in (0, 1, 5_000, 9_998, 9_999):
        exactly = [
            float(Fraction(math.comb(n - 1, i) * math.comb(N - n, size - i), math.comb(N - 1, size)))
            if i <= size
            else 0
            for i in range(n)
        ]
        found = without_null_players(np.eye(1, N, size)[0], n)
        assert (abs(found - exactly) <= 1e-13 * np.array(exactly)).all()
    assert without_null_players(np.array([0.25, 0.75]), 2).tolist() == [0.25, 0.75]
    assert without_null_players(np.array([0.25, 0.75]), 1).tolist() == [1.0]


def test_the_same_numbers_by_every_door() -> None:
    """Sizes, omega and reduced weights of the uniform distribution: all the Shapley value."""
    shapley = lg.explain(FOREST, X).values
    omega = [1 / (6 * math.comb(5, s)) for s in range(6)]
    for value in (
        ProbabilisticValue([1 / 6] * 6),
        ProbabilisticValue.from_omega(omega),
        ProbabilisticValue.from_reduced(omega),
        ProbabilisticValue.from_reduced([1 / (9 * math.comb(8, s)) for s in range(9)]),
    ):
        explanation = lg.explain(FOREST, X, value)
        assert abs(explanation.values - shapley).max() <= 1e-14 * forests.unit(FOREST)[0]
        assert not explanation.additive  # by type, not by what it turns out to be
        assert explanation.method == value.name


def test_rankings_take_it_where_they_take_values() -> None:
    candidates = [ProbabilisticValue.leave_one_out(), "first_in", ProbabilisticValue([1 / 6] * 6), "shapley"]
    best = lg.best_of(FOREST, X, candidates)
    own = lg.curves(FOREST, X, best).joint_score
    alone = [lg.curves(FOREST, X, lg.explain(FOREST, X, value)).joint_score for value in candidates]
    assert np.array_equal(own, np.max(alone, axis=0))


def test_what_is_laid_out_is_kept() -> None:
    forest = forests.forest(np.random.default_rng(1), forests.Shape(depth=4))
    played = plan.prepare(forest, X[:, :5], output=None, groups=None, threads=None).kept._default
    assert played._closed is None  # only who asks pays
    value = ProbabilisticValue([0.2] * 5)
    sizes = played.sizes(value)
    assert played.sizes(ProbabilisticValue([0.2] * 5)) is sizes
    assert played.closed is played.closed
    for i in range(2 * plan.RULES):
        played.sizes(ProbabilisticValue([0.2 + i * 1e-6, 0.2 - i * 1e-6, 0.2, 0.2, 0.2]))
    assert len(played._sizes) == plan.RULES


def test_models_without_a_split() -> None:
    leaf = lg.Forest.from_arrays(
        tree_start=[0, 1],
        left=[-1],
        right=[-1],
        feature=[-1],
        threshold=[0.0],
        cover=[1],
        value=[3.0],
        n_features=2,
    )
    for value in (ProbabilisticValue([0.5, 0.5]), "leave_one_out", ProbabilisticValue.from_reduced([1.0])):
        assert lg.explain(leaf, [[0.0, 1.0]], value).values.tolist() == [[0.0, 0.0]]


def test_no_rows() -> None:
    assert lg.explain(FOREST, np.empty((0, 6)), "first_in").values.shape == (0, 6)


def test_the_core_wants_sizes_of_every_path() -> None:
    game = FOREST.game()
    closed = _core.ClosedGame(game)
    with pytest.raises(lg.InputError, match="there are no sizes for"):
        closed.probabilistic(X, np.zeros(2, dtype=np.int64), np.empty(0))
    most = int(game.most_players.max())
    start = np.concatenate([[0], np.cumsum(np.arange(most + 1))])
    with pytest.raises(lg.InputError, match="there are no sizes for"):
        closed.probabilistic(X, start, np.empty(0))
