"""`python -m benchmarks`: suites in their own environment, studies in the one at hand; what is written."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from benchmarks import __main__ as command
from benchmarks.report import Report


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What was run, and where."""
    ran: list[object] = []

    def rerun(arguments: list[str], python: str | None) -> int:
        ran.append(("there", arguments, python))
        return 3 if python == "broken" else 0

    monkeypatch.setattr(command.environment, "rerun", rerun)
    monkeypatch.setattr(command, "suite", lambda name, quick, only: ran.append(("suite", name, quick, only)))
    monkeypatch.setattr(command, "study", lambda name, quick, _: ran.append(("study", name, quick)))
    return ran


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["peers", "--quick"], [("there", ["peers", "--quick"], None)]),
        ([], [("there", list(command.SUITES), None)]),
        (["peers", "growth", "--here"], [("suite", "peers", False, None), ("suite", "growth", False, None)]),
        (["accuracy", "--quick"], [("study", "accuracy", True)]),
        (["accuracy", "peers"], [("there", ["peers"], None), ("study", "accuracy", False)]),
        (["peers", "--python", "p"], [("there", ["peers"], "p")]),
        (["peers", "--only", "one tree"], [("there", ["peers", "--only", "one tree"], None)]),
    ],
)
def test_where_what_runs(asked: list[object], arguments: list[str], expected: list[object]) -> None:
    assert command.main(arguments) == 0
    assert asked == expected


def test_a_failure_there_is_one_here(asked: list[object]) -> None:
    assert command.main(["peers", "accuracy", "--python", "broken"]) == 3
    assert asked == [("there", ["peers"], "broken")]


def test_no_such_suite(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["speed"])
    assert "no suite or study speed" in capsys.readouterr().err


def test_a_suite_is_written_unless_it_was_only_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = Report("title", "command", ("numpy", "no-such-package"))
    report.add("w", "m", 2.0, "x", "at least 1", "how", {"rows": 3.0})
    drawn: list[Path] = []
    module = SimpleNamespace(
        run=lambda **_: report,
        summary=lambda _: "SUMMARY",
        tables=lambda _: "TABLES",
        draw=lambda _, folder: drawn.append(folder),
    )
    here, docs = tmp_path / "benchmarks", tmp_path / "docs"
    for folder in (here, docs):
        folder.mkdir()
    for page in (tmp_path / "README.md", docs / "speed.md"):
        page.write_text("before\n<!-- toy -->\nold\n<!-- /toy -->\nafter\n")
    monkeypatch.setattr(command, "import_module", lambda _: module)
    monkeypatch.setattr(command, "HERE", here)
    monkeypatch.setattr(command, "DOCS", docs)
    command.suite("toy", quick=True)
    assert not (here / "results").exists()
    command.suite("toy", quick=False)
    content = json.loads((here / "results" / "toy.json").read_text())
    assert content["lines"][0]["facts"] == {"rows": 3.0}
    assert set(content["machine"]) == {"cpu", "python", "numpy"}
    assert "| w | m | 2 x | at least 1 | how |" in (here / "results" / "toy.md").read_text()
    assert drawn == [here / "results"]
    assert "SUMMARY" in (tmp_path / "README.md").read_text()
    assert (docs / "speed.md").read_text() == "before\n<!-- toy -->\nTABLES\n<!-- /toy -->\nafter\n"
