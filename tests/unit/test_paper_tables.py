"""Tables of paper/ from curves that are made up: who is best, who is compared, what goes with what."""

import numpy as np
import pytest
from paper.claims import HELD, IN_PART, NOT_HELD, of_counts
from paper.claims.rankings import counted
from paper.methods import ADAM, GA
from paper.scores import Judged
from paper.tables.gains import comparison
from paper.tables.scores import means
from paper.tables.subsets import spearman


def judged(insertion: float, deletion: float) -> Judged:
    return Judged(np.full((4, 6), insertion), np.full((4, 6), deletion))


FOUND = {
    GA: judged(0.9, 0.1),
    ADAM: judged(0.7, 0.4),
    "greedy": judged(0.8, 0.3),
    "Banzhaf": judged(0.6, 0.2),
}


def test_the_best_of_a_column_is_bold() -> None:
    lines = means({"one": FOUND}, [GA, "greedy"]).markdown().splitlines()
    assert lines == [
        "| ranked by | Ins, one | Del, one |",
        "|---|---:|---:|",
        f"| {GA} | **0.9000** | **0.1000** |",
        "| greedy | 0.8000 | 0.3000 |",
    ]


def test_gains_are_over_the_best_rival_of_each_measure() -> None:
    ins, of_del, joint = comparison({"tree": FOUND}, [("greedy", "Banzhaf")]).lines
    assert ins[1:3] == ("Ins", "greedy: 0.8000")
    assert of_del[1:] == (
        "Del", "Banzhaf: 0.2000", "**+0.1000 [+0.1000, +0.1000]**", "-0.2000 [-0.2000, -0.2000]"
    )  # fmt: skip
    assert joint[2] == "greedy: 0.5000"


def test_spearman_is_of_each_row_that_tells() -> None:
    from scipy.stats import spearmanr

    a, b = np.random.default_rng(0).integers(0, 4, size=(2, 9, 7)).astype(float)
    b[3] = 2.0  # no order
    expected = [spearmanr(a[i], b[i]).statistic for i in range(9) if i != 3]
    np.testing.assert_allclose(spearman(a, b), expected, atol=1e-14)  # two orders of summation


def test_spearman_takes_the_last_digits_for_ties() -> None:
    a = np.array([[1.0, 2.0, 3.0]])
    assert len(spearman(a, np.array([[1.0, 1.0 + 1e-15, 1.0 - 1e-15]]))) == 0


@pytest.mark.parametrize(("good", "verdict"), [(4, HELD), (3, IN_PART), (2, NOT_HELD), (0, NOT_HELD)])
def test_a_claim_holds_in_part_where_more_than_half_the_cases_do(good: int, verdict: str) -> None:
    assert of_counts(good, 4) == verdict


def test_verdicts_are_counted() -> None:
    from collections import Counter

    assert counted(Counter(["better", "worse", "better"])) == "better in 2, worse in 1 of 3"
