"""`leafgrad` as a user runs it: another process, no terminal, and the width of a plain one."""

import os
import re
import subprocess
import sys
from importlib.metadata import version

import pytest

import leafgrad.cli


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    code = "from leafgrad.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env={"PATH": os.environ["PATH"], "OMP_NUM_THREADS": "1", **environment},  # an editable install builds
    )


@pytest.fixture(scope="module")
def output() -> str:
    done = run("demo")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_demo_fits_a_plain_terminal(output: str) -> None:
    assert max(map(len, output.splitlines())) <= 80
    assert "\x1b" not in output


def test_demo_shows_that_the_numbers_add_up(output: str) -> None:
    row = re.compile(r"^  (\w+) +(\d+) +([\d,]+) +(\d+) +([\d.]+) +([\d,]+) +(\S+)$", re.MULTILINE)
    table = row.findall(output)
    assert [line[0] for line in table] == [
        "GradientBoostingRegressor",
        "RandomForestClassifier",
        "HistGradientBoostingClassifier",
    ]
    # 1e-12 relative is promised; the largest output here is a few hundred.
    assert all(float(line[6]) <= 1e-9 for line in table)


def test_demo_tells_one_row_that_adds_up(output: str) -> None:
    base = float(re.search(r"\(nothing known\) +(\S+)", output)[1])
    prediction = float(re.search(r"\n  prediction +(\S+)", output)[1])
    steps = [float(step) for step in re.findall(r" ([+-]\d+\.\d\d)\b", output)]
    assert len(steps) == 7
    # Nine numbers, each rounded to two decimals.
    assert base + sum(steps) == pytest.approx(prediction, abs=9 * 0.005)


def test_demo_where_output_is_ascii() -> None:
    done = run("demo", PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert "####" in done.stdout


def test_version() -> None:
    assert run("--version").stdout == f"leafgrad {version('leafgrad')}\n"


def test_no_command_shows_help() -> None:
    done = run()
    assert "demo" in done.stdout + done.stderr  # where it goes is for typer to say


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        (("typer",), "needs typer."),
        (("sklearn", "pandas"), "needs scikit-learn and pandas."),
    ],
)
def test_a_missing_library_is_named_with_its_cure(missing, said, monkeypatch) -> None:
    monkeypatch.setattr(
        leafgrad.cli.importlib.util, "find_spec", lambda name: None if name in missing else name
    )
    with pytest.raises(SystemExit, match=re.escape(said) + r".*pip install 'leafgrad\[all\]'"):
        leafgrad.cli._need(*missing)
