"""The race of the peers: wrong numbers stop it, absent peers too, and its tables show what was measured."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks import contenders, models, oracle, peers, peers_page
from benchmarks.report import Line, Report
from benchmarks.workloads import WORKLOADS

import leafgrad as lg

VALUES = np.array([[1.0, -4.0, 0.0], [2.0, 0.5, 1.0]])


@pytest.mark.parametrize("name", ["xgboost", "lightgbm", "catboost", "shap", "shapiq", "woodelf", "leafgrad"])
def test_a_wrong_number_is_told_before_any_time(name: str) -> None:
    who = contenders.library(name)
    near = VALUES + 0.5 * who.APART * 4  # in the largest value, 4
    assert peers.agreed(name, who, near[:1], VALUES) == pytest.approx(0.5 * who.APART, rel=1e-3)
    wrong = VALUES.copy()
    wrong[1, 2] += 2 * who.APART * 4
    with pytest.raises(
        ValueError, match=rf"{name} differs from leafgrad, \w+ by .* of the largest value, more than"
    ):
        peers.agreed(name, who, wrong, VALUES)
    wrong[1, 2] = np.nan
    with pytest.raises(ValueError, match="differs from"):
        peers.agreed(name, who, wrong, VALUES)
    with pytest.raises(ValueError, match=r"values of shape \(2, 2\) beside \(2, 3\)"):
        peers.agreed(name, who, VALUES[:, :2], VALUES)


def test_as_many_rows_as_take_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(peers.time, "perf_counter", lambda: now[0])

    def explain(each: float):
        def call(n: int) -> None:
            now[0] += n * each

        return call

    assert peers.affordable(explain(1e-3), 20_000) == pytest.approx(1_000, rel=0.01)
    assert peers.affordable(explain(1e-9), 20_000) == 20_000
    assert peers.affordable(explain(1e-2), 20_000) == pytest.approx(100, abs=1)
    assert peers.affordable(explain(0.05), 20_000) == peers.COMPARED  # enough to compare
    assert peers.affordable(explain(2.0), 20_000) == 4  # unless they are too slow for it
    assert peers.affordable(explain(1e-3), 1) == 1


def test_all_targets_are_of_races_that_are_held() -> None:
    held = {
        (each.workload, each.rows, contender.name)
        for each in peers.races()
        for contender, _, _ in peers.contenders(each, False, contenders.NAMES)
    }
    assert set(peers.WANTED) <= held


def test_every_contender_left_out_exists() -> None:
    assert {who for work in WORKLOADS.values() for who in work.without} <= set(contenders.NAMES)


def test_a_full_run_wants_all_peers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(peers, "installed", lambda name: name not in ("woodelf", "fasttreeshap"))
    with pytest.raises(SystemExit, match=r"woodelf-explainer: not installed here.*Leave out --here"):
        peers._present(quick=False)
    assert "woodelf" not in peers._present(quick=True)
    assert "left out: woodelf is not installed" in capsys.readouterr().out
    monkeypatch.setattr(peers, "installed", lambda name: name != "fasttreeshap")
    assert peers._present(quick=False) == tuple(name for name in contenders.NAMES if name != "fasttreeshap")


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """All kinds of races, tiny; who is not installed stays out."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("models")
        patch.setattr(models, "CACHE", folder)
        patch.setenv("LEAFGRAD_BENCH_CACHE", str(folder))
        return peers.run(quick=True)


def test_every_contender_is_measured(quick: Report) -> None:
    found = peers_page.races(quick)
    workloads = {workload for workload, *_ in found}
    assert {WORKLOADS[name].library for name in workloads} == set(contenders.OWN)
    assert {"several classes", "sparse", "ten outputs"} <= workloads
    for (workload, _, values), lines in found.items():
        told = {name.rpartition(": ")[2].partition(",")[0] for name in lines}
        assert "leafgrad" in told
        if not values:
            assert peers.PREDICTION in told
            own = WORKLOADS[workload].library
            assert own in told or own == "sklearn"
        assert all(line.value > 0 for line in lines.values())
    exact = [x.facts["error"] for x in quick.lines if "error" in x.facts and "leafgrad" in x.measure]
    assert len(exact) >= len(found)
    assert max(exact) <= 1e-15  # roundings, in units that are larger than any value


def test_the_tables_show_all_of_it(quick: Report, tmp_path: Path) -> None:
    page = peers.tables(quick)
    assert page.count("| | us/row |") == len(peers_page.races(quick))
    assert all(f"### {name}, " in page for name in peers_page.main_races(quick))
    *summary, empty, alone = peers.summary(quick).splitlines()
    assert len(summary) == 2 + len(peers_page.main_races(quick))
    assert len({line.count("|") for line in summary}) == 1
    assert empty == ""
    assert alone.startswith(f"One row alone ({peers.MAIN}), from the array to the answer: ")
    peers.draw(quick, tmp_path)
    drawn = (tmp_path / "peers.svg").read_bytes()
    peers.draw(quick, tmp_path)
    assert (tmp_path / "peers.svg").read_bytes() == drawn
    assert b"leafgrad" in drawn


@pytest.mark.parametrize(
    ("number", "text"),
    [(12345.6, "12,346"), (123.4, "123"), (3.456, "3.46"), (0.01234, "0.0123"), (0.0, "0")],
)
def test_numbers_have_three_digits(number: float, text: str) -> None:
    assert peers_page.short(number) == text


def test_exact_values_are_kept_by_what_they_are_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "CACHE", tmp_path)
    X = models.rows(2, 4)
    forest = lg.load(models.boosted(3, 2, 4, 200))
    values = oracle.exact_values(forest, X, lg.Shapley())
    np.testing.assert_allclose(
        values[..., 0], lg.explain(forest, X).values, rtol=0, atol=1e-14 * forest.scale.max()
    )
    kept = set(tmp_path.glob("exact-*"))
    oracle.exact_values(forest, X, lg.Shapley())
    assert set(tmp_path.glob("exact-*")) == kept
    oracle.exact_values(forest, X, lg.Banzhaf())
    oracle.exact_values(forest, X[:1], lg.Shapley())
    oracle.exact_values(lg.load(models.boosted(4, 2, 4, 200)), X, lg.Shapley())
    assert len(set(tmp_path.glob("exact-*"))) == 4


def test_one_workload_again_takes_the_place_of_its_lines() -> None:
    old = [Line(workload, measure, 1.0, "x") for workload, measure in ("aq", "bq", "br", "cq", "bs")]
    new = [Line("b", "q", 2.0, "x")]
    found = [(line.workload, line.measure, line.value) for line in peers.replaced(old, new)]
    assert found == [("a", "q", 1.0), ("b", "q", 2.0), ("c", "q", 1.0)]
    assert peers.replaced([], new) == new
