"""The benchmarks' own environment: which Python makes it, and when it is made again."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from benchmarks import environment

VERSIONS = {"old": (3, 11), "new": (3, 12), "newer": (3, 13)}


@pytest.mark.parametrize(
    ("wanted", "candidates", "chosen"),
    [
        (None, ("new", "newer"), "new"),
        (None, ("old", "gone", "newer", "new"), "newer"),
        ("newer", ("new",), "newer"),
    ],
)
def test_the_first_python_that_is_new_enough(
    wanted: str | None, candidates: tuple[str, ...], chosen: str
) -> None:
    assert environment.choose(wanted, VERSIONS.get, candidates) == chosen


@pytest.mark.parametrize(
    ("wanted", "candidates", "message"),
    [
        (
            None,
            ("old", "gone"),
            r"no Python 3\.12 or newer among old, gone\. Give one by --python PATH, or .* --here",
        ),
        ("old", ("new",), r"--python old: it is 3\.11, older than 3\.12\. Give one by --python PATH"),
        ("gone", ("new",), r"--python gone: no Python answers there\. Give one by --python PATH"),
    ],
)
def test_no_such_python_and_the_cure(wanted: str | None, candidates: tuple[str, ...], message: str) -> None:
    with pytest.raises(SystemExit, match=message):
        environment.choose(wanted, VERSIONS.get, candidates)


def test_versions_are_asked_of_the_interpreter(tmp_path: Path) -> None:
    assert environment.version_of(sys.executable) == sys.version_info[:2]
    assert environment.version_of(str(tmp_path / "python")) is None
    mute = tmp_path / "mute"
    mute.write_text("#!/bin/sh\necho hello\n")
    mute.chmod(0o755)
    assert environment.version_of(str(mute)) is None


def test_every_requirement_is_pinned() -> None:
    lines = [line for line in environment.REQUIREMENTS.read_text().splitlines() if line and line[0] != "#"]
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+==[0-9][0-9a-z.]*", line) for line in lines)
    names = [line.partition("==")[0].lower() for line in lines]
    assert len(set(names)) == len(names)
    assert {"shap", "shapiq", "woodelf-explainer", "xgboost-cpu", "lightgbm", "catboost"} <= set(names)


def test_it_is_made_once_and_leafgrad_again_when_its_sources_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, venv, ran = tmp_path / "src", tmp_path / ".venv", []
    source.mkdir()
    (source / "a.py").write_text("1")

    def run(*command: object) -> None:
        ran.append(" ".join(map(str, command)))
        (venv / "bin").mkdir(parents=True, exist_ok=True)
        (venv / "bin" / "python").touch()

    monkeypatch.setattr(environment, "VENV", venv)
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(environment, "SOURCES", ("src",))
    monkeypatch.setattr(environment, "choose", lambda wanted: wanted or "python3.12")
    monkeypatch.setattr(environment, "_run", run)

    assert environment.prepared() == venv / "bin" / "python"
    assert len(ran) == 4
    assert ran[0] == f"python3.12 -m venv {venv}"
    assert "requirements.txt" in ran[1]
    assert "fasttreeshap" in ran[2]
    assert ran[3].endswith(f"--no-deps --force-reinstall {tmp_path}")
    ran.clear()
    environment.prepared()
    assert ran == []
    (source / "a.py").write_text("2")
    environment.prepared()
    assert len(ran) == 1
    assert ran[0].endswith(f"--no-deps --force-reinstall {tmp_path}")
    ran.clear()
    monkeypatch.setattr(environment, "REQUIREMENTS", source / "a.py")
    environment.prepared("other")
    assert len(ran) == 4
    assert ran[0].startswith("other -m venv")


def test_a_digest_is_of_names_and_contents(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    first = environment.digest([tmp_path])
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "a.pyc").write_text("3")
    assert environment.digest([tmp_path]) == first
    (tmp_path / "a").rename(tmp_path / "b")
    second = environment.digest([tmp_path])
    (tmp_path / "b").write_text("2")
    assert len({first, second, environment.digest([tmp_path])}) == 3
