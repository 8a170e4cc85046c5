"""How cost grows: exponents of known curves, forests of the sizes asked for, and all studies in small."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks import growth, models
from benchmarks.report import Report


@pytest.mark.parametrize("power", [0.0, 1.0, 1.5])
def test_a_known_exponent(power: float) -> None:
    sizes = (1, 10, 100, 1_000, 10_000)
    exact = [3.0 * size**power for size in sizes]
    assert growth.exponent(sizes, exact) == pytest.approx(power, abs=1e-9)
    assert growth.exponent(sizes[:2], exact[:2]) == pytest.approx(power, abs=1e-9)
    once = [50.0, *exact[1:]]  # what a call costs once weighs on the smallest size
    assert growth.exponent(sizes, once) == pytest.approx(power, abs=1e-9)


def test_forests_are_as_large_as_asked() -> None:
    forest = growth.forest(3, 4, features=30, outputs=2, used=5)
    assert (forest.n_trees, forest.max_depth, forest.n_features, forest.n_outputs) == (3, 4, 30, 2)
    assert forest.n_leaves == 3 * 2**4
    assert set(forest.feature.tolist()) <= {-1, 0, 1, 2, 3, 4}
    inner = forest.left >= 0
    start = np.repeat(forest.tree_start[:-1], np.diff(forest.tree_start))
    both = forest.share[(start + forest.left)[inner]] + forest.share[(start + forest.right)[inner]]
    np.testing.assert_allclose(both, 1, rtol=0, atol=1e-15)  # one rounding each


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Report:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(models, "CACHE", tmp_path_factory.mktemp("models"))
        return growth.run(quick=True)


def test_all_studies_are_measured(quick: Report) -> None:
    for name, study in growth.STUDIES.items():
        assert sorted(growth.curves(quick, name)[growth.OURS]) == list(study.few)
    assert all(x.value > 0 for x in quick.lines if x.unit == "us/row")
    assert [x.measure for x in quick.lines if x.wanted] == [
        "what 900 more trees cost, with most features against least"
    ]


def test_tables_and_plot_show_them(quick: Report, tmp_path: Path) -> None:
    page = growth.tables(quick)
    assert page.count("| us/row |") == len(growth.STUDIES)
    slope = next(x.value for x in quick.lines if (x.workload, x.measure) == ("depth", "leafgrad, exponent"))
    assert f"| {slope:.2f} |" in growth.table(quick, "depth")
    growth.draw(quick, tmp_path)
    assert b"trees" in (tmp_path / "growth.svg").read_bytes()
