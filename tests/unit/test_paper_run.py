"""`python -m paper --quick`: how a run writes and resumes; on spambase, the paper's models."""

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from paper import __main__ as run
from paper import work
from paper.data import folder
from paper.models import pinned

TABLES = {
    "datasets",
    "models",
    "scores",
    "gains",
    "betas",
    "sweeps",
    "subsets",
    "rates",
    "claims",
}
CURVES = {f"curves-{kind}-{which}-2" for kind in ("tree", "boosted") for which in ("predicted", "other")}
SWEEPS = {f"sweep-{kind}-tree-{which}-2" for kind in ("ga", "adam") for which in ("predicted", "other")}
FIGURES = {"rates"} | CURVES | SWEEPS


@pytest.fixture(scope="module")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file of spambase's name and format, and other content."""
    where = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["target"] = np.where(X[:, 0] * X[:, 1] + X[:, 2] > 0, "1", "0")
    frame.to_parquet(where / "spambase.parquet")
    return where


def told(out: Path, name: str) -> list[dict[str, str]]:
    """The lines of a CSV; of columns of one name the last."""
    with (out / f"{name}.csv").open() as file:
        return list(csv.DictReader(file))


def written(out: Path) -> set[str]:
    return {file.name for file in out.iterdir()}


FILES = {f"{name}.{end}" for name in TABLES for end in ("md", "csv")} | {
    f"{name}.{end}" for name in FIGURES for end in ("svg", "png")
}


def test_an_interrupted_run_goes_on_where_it_stopped_and_writes_everything(
    made_up: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    judge, judged = work.judge, []

    def interrupted(*args: object, **others: object) -> object:
        judged.append(args)
        if len(judged) == 3:
            raise KeyboardInterrupt
        return judge(*args, **others)

    monkeypatch.setattr(work, "judge", interrupted)
    monkeypatch.setattr(run, "FOLDER", tmp_path / "cache")
    command = ["--quick", "--data", str(made_up), "--out", str(tmp_path / "out")]
    with pytest.raises(KeyboardInterrupt):
        run.main(command)
    assert not (tmp_path / "out").exists()
    assert "[ 3/" in capsys.readouterr().out  # it says where it is
    run.main(command)
    assert len(judged) == 3 + 2  # the third again, and the fourth
    assert written(tmp_path / "out") == FILES
    assert all(not name.startswith(".") for name in written(tmp_path / "cache"))
    verdicts = {(line["data"], line["model"]): line["held"] for line in told(tmp_path / "out", "models")}
    assert verdicts["FOTP", "decision tree"] == "not asked for"
    assert verdicts["spambase", "decision tree"] == ("**no**" if pinned() else "not compared")

    command[-1] = str(tmp_path / "again")  # the same numbers make the same files
    run.main(command)
    assert len(judged) == 5
    for name in FILES:
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "again" / name).read_bytes(), name


def test_spambase_is_as_in_the_paper(tmp_path: Path) -> None:
    if not (folder() / "spambase.parquet").exists():
        pytest.skip(f"spambase is not at hand: no {folder()}/spambase.parquet (set LEAFGRAD_PAPER_DATA)")
    run.main(["--quick", "--fresh", "--out", str(tmp_path)])
    sizes = [line for line in told(tmp_path, "models") if line["data"] == "spambase"]
    # Other versions of scikit-learn and NumPy train other trees: then nothing is compared.
    assert [line["held"] for line in sizes] == ["yes" if pinned() else "not compared"] * 2
    if pinned():
        text = (tmp_path / "models.md").read_text()
        assert (
            "| spambase | decision tree | 15 | 0.925 | 0.925 | yes | 166 | 166 | yes | 331 | 331 | yes |"
            in text
        )
        assert (
            "| spambase | boosted trees | 15 | 0.922 | 0.922 | yes | 977 | 977 | yes | 1,949 | 1,949 | yes |"
            in text
        )
    # Two classes: f and 1 - f. What is inserted for the one is deleted for the other.
    scores = {
        (line["model"], line["explained"], line["ranked by"]): line for line in told(tmp_path, "scores")
    }
    for kind in ("decision tree", "boosted trees"):
        for method in ("ADAM (100, 5)", "Banzhaf", "Beta (1, 1)"):
            ins = float(scores[kind, "predicted class", method]["Ins"])
            other = float(scores[kind, "other class", method]["Del"])
            assert ins == pytest.approx(1 - other, abs=1e-9)
