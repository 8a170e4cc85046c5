"""What the spambase study makes of scores: the other class, the best rival, gains and their intervals."""

import importlib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest


@pytest.fixture(scope="module")
def spambase() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parents[2]))
        return importlib.import_module("benchmarks.spambase")


@pytest.mark.parametrize(("classes", "offset"), [(2, 1), (3, 1), (4, 3), (5, 3), (6, 3)])
def test_the_other_class_is_the_papers_offset_further(
    spambase: ModuleType, classes: int, offset: int
) -> None:
    labels = np.array([f"class {i}" for i in range(classes)])
    np.testing.assert_array_equal(spambase.other_class(labels, labels), np.roll(labels, -offset))


def test_rivals_are_the_best_alone_and_the_best_chosen_by_row(spambase: ModuleType) -> None:
    means = {"GA (100, 5)": 1.0, "ADAM (10, 5)": 0.0, "greedy": 0.7, "Banzhaf": 0.3}
    means |= {"Beta-Joint": 0.4, "Beta-Insertion": 0.8}
    assert spambase.rivals(means, more=True) == ["greedy", "Beta-Insertion"]
    assert spambase.rivals(means, more=False) == ["Banzhaf", "Beta-Joint"]


def test_the_interval_is_that_of_a_mean(spambase: ModuleType) -> None:
    assert spambase.interval(np.full(10, 0.25)) == (0.25, 0.25)
    drawn = np.random.default_rng(0).normal(size=400)
    low, high = spambase.interval(drawn)
    # 10,000 resamples put a percentile within about 2 % of the normal theory's.
    half = 1.96 * drawn.std() / np.sqrt(len(drawn))
    np.testing.assert_allclose([low, high], drawn.mean() + np.array([-half, half]), atol=0.1 * half)


def test_the_best_of_a_column_is_bold_and_less_deletion_is_a_gain(spambase: ModuleType) -> None:
    def scores(insertion: float, deletion: float) -> object:
        return spambase.Scores(np.full(4, insertion), np.full(4, deletion))

    found = {"GA (100, 5)": scores(0.9, 0.1), "ADAM (100, 5)": scores(0.7, 0.4), "greedy": scores(0.8, 0.3)}
    lines = spambase.table({"one": found}).splitlines()
    assert lines[2] == "| GA (100, 5) | **0.9000** | **0.1000** |"
    assert lines[4] == "| greedy | 0.8000 | 0.3000 |"
    deletion = spambase.comparison({("tree", "one"): found}).splitlines()[3]
    gains = "**+0.2000 [+0.2000, +0.2000]** | -0.1000 [-0.1000, -0.1000]"
    assert deletion == f"| tree, one | Del | greedy: 0.3000 | {gains} |"
