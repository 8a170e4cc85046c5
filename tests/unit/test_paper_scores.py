"""What paper/ makes of curves: scores, best sets, gains and their intervals."""

import numpy as np
import pytest
from paper.scores import Gain, Judged, best, gain, interval

import leafgrad as lg
from forests import Shape, forest, rows


def judged(insertion: float, deletion: float, rows: int = 4) -> Judged:
    return Judged(np.full((rows, 6), insertion), np.full((rows, 6), deletion))


@pytest.fixture(scope="module")
def drawn() -> lg.Curves:
    rng = np.random.default_rng(0)
    model = forest(rng, Shape())
    X = rows(rng, model, 20)
    return lg.curves(model, X, lg.explain(model, X, progress=False), progress=False)


def test_scores_are_those_of_the_curves(drawn: lg.Curves) -> None:
    own = Judged(drawn.insertion, drawn.deletion)
    np.testing.assert_array_equal(own.measure("Ins"), drawn.insertion_score)
    np.testing.assert_array_equal(own.measure("Del"), drawn.deletion_score)
    # joint_score sums half the differences, these are differences of means: a few roundings of the largest.
    atol = 1e-14 * np.abs(drawn.insertion).max()
    np.testing.assert_allclose(own.measure("Ins - Del"), drawn.joint_score, atol=atol)


@pytest.mark.parametrize(("by", "which"), [("insertion", "positive"), ("deletion", "negative")])
def test_best_sets_are_those_of_the_curves(drawn: lg.Curves, by: str, which: str) -> None:
    k = drawn.best(by).k
    curve = drawn.insertion if by == "insertion" else drawn.deletion[:, ::-1]
    np.testing.assert_array_equal(
        getattr(Judged(drawn.insertion, drawn.deletion), which), curve[np.arange(len(k)), k]
    )


def test_more_insertion_and_less_deletion_are_gains() -> None:
    own, theirs = judged(0.9, 0.4), judged(0.8, 0.1)
    assert gain(own, theirs, "Ins") == pytest.approx((0.1, 0.1, 0.1))
    assert gain(own, theirs, "Del") == pytest.approx((-0.3, -0.3, -0.3))
    assert gain(own, theirs, "Ins - Del") == pytest.approx((-0.2, -0.2, -0.2))


def test_gains_are_paired() -> None:
    """Rows that differ far more than the methods do: the interval knows only the methods' difference."""
    rows = np.random.default_rng(0).normal(scale=100.0, size=(50, 1))
    low, high = (
        Judged(rows + np.zeros(6), rows + np.zeros(6)),
        Judged(rows + np.full(6, 0.5), rows + np.zeros(6)),
    )
    assert gain(high, low, "Ins") == pytest.approx((0.5, 0.5, 0.5))


@pytest.mark.parametrize(
    ("of", "verdict", "text"),
    [
        (Gain(0.2, 0.1, 0.3), "better", "**+0.2000 [+0.1000, +0.3000]**"),
        (Gain(0.2, -0.1, 0.5), "level", "+0.2000 [-0.1000, +0.5000]"),
        (Gain(-0.2, -0.3, -0.1), "worse", "-0.2000 [-0.3000, -0.1000]"),
        (Gain(0.0, 0.0, 0.0), "level", "+0.0000 [+0.0000, +0.0000]"),
    ],
)
def test_a_gain_is_better_only_where_all_of_its_interval_is(of: Gain, verdict: str, text: str) -> None:
    assert of.verdict == verdict
    assert str(of) == text


def test_the_interval_is_that_of_a_mean() -> None:
    assert interval(np.full(10, 0.25)) == (0.25, 0.25)
    drawn = np.random.default_rng(0).normal(size=400)
    low, high = interval(drawn)
    # 10,000 resamples put a percentile within about 2 % of the normal theory's.
    half = 1.96 * drawn.std() / np.sqrt(len(drawn))
    np.testing.assert_allclose([low, high], drawn.mean() + np.array([-half, half]), atol=0.1 * half)


def test_the_best_has_the_most_insertion_or_the_least_deletion() -> None:
    found = {"a": judged(0.5, 0.3), "b": judged(0.7, 0.4), "c": judged(0.7, 0.1)}
    assert best(["a", "b", "c"], found, "Ins") == "b"
    assert best(["a", "b"], found, "Del") == "a"
    assert best(["a", "b", "c"], found, "Ins - Del") == "c"
