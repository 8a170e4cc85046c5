"""What paper/ keeps: made once, found again, never half-written, and anew when what it came from changed."""

from pathlib import Path

import pytest
from paper import cache
from paper.cache import Cache, key, sources, write


def test_a_result_is_made_once_and_outlives_the_process(tmp_path: Path) -> None:
    made = []

    def make() -> list[int]:
        made.append(1)
        return [1, 2]

    first = Cache(tmp_path)
    assert first.kept("a", make) == first.kept("a", make) == [1, 2]
    assert Cache(tmp_path).kept("a", make) == [1, 2]
    assert len(made) == 1


def test_without_a_folder_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    fresh = Cache(None)
    assert fresh.kept("a", lambda: 1) == 1
    assert not Cache(None).has("a")
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_computation_leaves_nothing(tmp_path: Path) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Cache(tmp_path).kept("a", interrupted)
    assert list(tmp_path.iterdir()) == []
    assert not Cache(tmp_path).has("a")


def test_an_interrupted_writing_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "deep" / "table.md"
    write(path, "whole")
    assert path.read_text() == "whole"

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cache.Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(path, "half")
    assert [file.name for file in path.parent.iterdir()] == ["table.md"]
    assert path.read_text() == "whole"


def test_the_key_is_what_the_result_came_from(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {
        key("judged", "paper.work", "digest", "spambase"),
        key("judged", "paper.work", "digest", "GPSP"),
        key("judged", "paper.work", "other digest", "spambase"),
        key("model", "paper.work", "digest", "spambase"),
        key("judged", "paper.models", "digest", "spambase"),
    }
    monkeypatch.setattr(cache, "_versions", lambda: ("numpy 9",))
    names.add(key("judged", "paper.work", "digest", "spambase"))
    assert len(names) == 6
    assert all(name.startswith(("judged-", "model-")) for name in names)


def test_sources_are_those_of_all_that_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in {
        "a": "from paper import b",
        "b": "import paper.c\nimport os",
        "c": "",
        "d": "",
    }.items():
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "__init__.py").write_text("")
    monkeypatch.setattr(cache, "__file__", str(tmp_path / "cache.py"))

    def digest() -> str:
        sources.cache_clear()
        return sources("paper.a")

    before = digest()
    (tmp_path / "d.py").write_text("changed = 1")
    assert digest() == before
    (tmp_path / "c.py").write_text("changed = 1")
    assert digest() != before
    sources.cache_clear()
