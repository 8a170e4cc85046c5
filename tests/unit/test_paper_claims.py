"""The verdicts of paper/ on claims about errors, conditions and run times, from numbers made up here."""

from pathlib import Path

import numpy as np
import pytest
from paper.claims import HELD, IN_PART, NOT_HELD, OPEN, numerics
from paper.figures import inaccuracy, runtime
from paper.figures.conditions import MATRICES
from paper.work import Work

WORK = Work(Path(), names=())


def errors(**of: dict[int, float]) -> dict[str, dict[int, float]]:
    """All errors 1e-16 but those told, by the algorithm's name with its blanks left out."""
    found = {name: dict.fromkeys(inaccuracy.DEPTHS, 1e-16) for name in inaccuracy.SHOWN}
    for short, line in of.items():
        (name,) = (name for name in found if "".join(filter(str.isalnum, name)) == short)
        found[name].update(line)
    return found


def given(monkeypatch: pytest.MonkeyPatch, found: dict[str, dict[int, float]] | None) -> None:
    monkeypatch.setattr(numerics, "errors", lambda _: found)


@pytest.mark.parametrize(("worst", "verdict"), [(0.5, HELD), (1e-3, IN_PART), (1e-6, NOT_HELD)])
def test_how_much_worse_linear_treeshap_is(
    monkeypatch: pytest.MonkeyPatch, worst: float, verdict: str
) -> None:
    given(monkeypatch, errors(LinearTreeShap={65: worst}))
    claim = numerics.up_to(WORK)
    assert claim.verdict == verdict
    assert f"At most {worst / 1e-16:.0e} times, at D = 65" in claim.measured


def test_treegrad_shap_is_the_only_stable_one_if_all_others_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    found = errors()
    for name, line in found.items():
        if "TreeGrad-Shap" not in name and name != "leafgrad":
            line[65] = float("nan") if name == "TreeProb" else 1.0
    given(monkeypatch, found)
    assert numerics.only_stable(WORK).verdict == HELD
    found["TreeProb"][65] = 1e-12
    claim = numerics.only_stable(WORK)
    assert claim.verdict == IN_PART
    assert "these stay exact too: TreeProb." in claim.measured
    found["TreeGrad-Shap"][10] = 1.0
    assert numerics.only_stable(WORK).verdict == NOT_HELD


@pytest.mark.parametrize(("first", "last", "verdict"), [(2e-8, 4.0, HELD), (1e-5, 4.0, NOT_HELD)])
def test_treeprobs_error_is_within_a_factor_of_ten(
    monkeypatch: pytest.MonkeyPatch, first: float, last: float, verdict: str
) -> None:
    given(monkeypatch, errors(TreeProbMD={35: first, 65: last}))
    assert numerics.tree_prob(WORK).verdict == verdict


def test_without_data_nothing_is_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, None)
    for claim in (numerics.up_to, numerics.only_stable, numerics.tree_prob, numerics.run_time):
        assert claim(WORK).verdict == OPEN


def test_condition_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {name: {20: 3e5, 100: 120.0} for name in MATRICES}
    monkeypatch.setattr(numerics, "numbers", lambda _: found)
    assert numerics.ill_conditioned(WORK).verdict == HELD
    assert numerics.unit_circle(WORK).verdict == NOT_HELD
    assert numerics.v1(WORK).verdict == NOT_HELD
    found["Linear TreeShap V1 (gamma = 1)"][100] = 1.0
    assert numerics.v1(WORK).verdict == IN_PART
    found["Linear TreeShap"][20] = 1e4
    found["TreeShap-K (gamma = 1)"][20] = 1e4
    assert numerics.ill_conditioned(WORK).verdict == NOT_HELD


def test_run_times_are_compared_per_leaf(monkeypatch: pytest.MonkeyPatch) -> None:
    linear, shap, grad = runtime.REFERENCES

    def seconds(_: Work, __: str, depth: int) -> dict[str, object]:
        leaves = 1_000 * depth
        rows = {linear: [2e-9 * leaves * depth], shap: [1e-9 * leaves * depth], grad: [1e-8 * leaves]}
        return {"rows": {name: np.array(times) for name, times in rows.items()}, "leaves": leaves}

    monkeypatch.setattr(runtime, "seconds", seconds)
    monkeypatch.setattr(Work, "missing", lambda _, name: None if name == "superconduct" else "no file")
    claim = numerics.run_time(WORK)
    assert claim.verdict == HELD
    assert "Linear TreeShap takes 2.0 to 2.0 times as long" in claim.measured
    assert (
        "From D = 5 to 35 time per leaf grows by 7.00 (Linear TreeShap), 7.00 (TreeGrad-Shap), 1.00"
        in claim.measured
    )
