"""The guard of instruction counts: what it reads, what it lets pass, what it stops; without valgrind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.instructions import callgrind
from benchmarks.instructions.callgrind import CountError, build, count, total
from benchmarks.instructions.counts import OTHER_COMPILER, SAME_COMPILER, Count, Counts, compare, verdict

COMMITTED = Counts("GNU 12", "avx2", {"walk": Count(1_000_000, 250, 20), "route": Count(40_000, 250, 20)})


def counted(compiler: str = "GNU 12", **of: Count | None) -> Counts:
    """As committed but for these; None takes one away."""
    changed = {**COMMITTED.of, **of}
    return replace(COMMITTED, compiler=compiler, of={name: x for name, x in changed.items() if x is not None})


def walk(instructions: float) -> Count:
    return Count(round(instructions), 250, 20)


def test_equal_counts_pass() -> None:
    text, good = verdict(COMMITTED, counted())
    assert good
    assert text.endswith("The check passes.")
    assert "FAILS" not in text
    assert "better" not in text


@pytest.mark.parametrize("sign", [1, -1])
def test_changes_within_the_tolerance_pass(sign: int) -> None:
    text, good = verdict(COMMITTED, counted(walk=walk(1e6 * (1 + sign * SAME_COMPILER))))
    assert good
    assert text.endswith("The check passes.")


def test_more_instructions_fail() -> None:
    text, good = verdict(COMMITTED, counted(walk=walk(1e6 * (1 + SAME_COMPILER) + 1)))
    assert not good
    assert text.splitlines()[1].split() == [
        "walk", "1,000,000", "1,010,001", "+1.00%", "FAILS:", "takes", "over", "1%", "more"
    ]  # fmt: skip
    assert "FAILS" not in text.splitlines()[2]
    assert "The check fails. If this is meant, and worth it: `python -m benchmarks.instructions`" in text


def test_fewer_instructions_pass_and_are_told() -> None:
    text, good = verdict(COMMITTED, counted(walk=walk(9e5)))
    assert good
    assert text.splitlines()[1].endswith("-10.00%  better")
    assert "Better than committed; to hold on to it: `python -m benchmarks.instructions` and commit" in text


def test_one_that_is_worse_is_not_made_up_for_by_one_that_is_better() -> None:
    text, good = verdict(COMMITTED, counted(walk=walk(5e5), route=Count(41_000, 250, 20)))
    assert not good
    assert "to hold on to it" not in text


def test_a_missing_workload_fails() -> None:
    text, good = verdict(COMMITTED, counted(route=None))
    assert not good
    assert "FAILS: is committed, and gone" in text.splitlines()[2]


def test_an_unknown_workload_fails() -> None:
    text, good = verdict(COMMITTED, counted(new=Count(1, 1, 1)))
    assert not good
    assert text.splitlines()[3].startswith("new")
    assert "FAILS: has no committed count" in text.splitlines()[3]


@pytest.mark.parametrize("other", [Count(1_000_000, 125, 20), Count(1_000_000, 250, 21)])
def test_another_workload_of_the_same_name_fails(other: Count) -> None:
    text, good = verdict(COMMITTED, counted(walk=other))
    assert not good
    assert "FAILS: is another workload than the committed one of its name" in text


def test_another_compiler_may_differ_by_more() -> None:
    within, beyond = (walk(1e6 * (1 + OTHER_COMPILER) + more) for more in (0, 1))
    text, good = verdict(COMMITTED, counted("GNU 13", walk=within))
    assert good
    assert "Committed with GNU 12, counted with GNU 13: their code differs, so up to 15% more" in text
    assert "FAILS" not in text
    assert text.endswith("The check passes.")
    assert not verdict(COMMITTED, counted("GNU 13", walk=beyond))[1]


def test_files_are_read_as_written(tmp_path: Path) -> None:
    COMMITTED.write(tmp_path)
    assert Counts.read(tmp_path) == COMMITTED
    page = (tmp_path / "instructions.md").read_text()
    assert page == COMMITTED.markdown()
    assert "| walk | 250 | 1,000,000 | 4,000 | 200.00 |" in page
    assert "with GNU 12: avx2, one thread." in page


def test_the_committed_files_belong_together() -> None:
    results = Path(callgrind.ROOT, "benchmarks", "results")
    committed = Counts.read(results)
    assert committed.isa == callgrind.ISA
    assert (results / "instructions.md").read_text() == committed.markdown()
    assert not any(change.wrong for change in compare(committed, committed))


def test_a_total_is_read_from_callgrinds_file() -> None:
    text = "version: 1\nevents: Ir\nsummary: 12\n\nfn=(1) totals: 7\n3 12\n\ntotals: 39218537\n"
    assert total(text) == 39218537


@pytest.mark.parametrize("text", ["", "events: Ir\n", "events: Ir Dr\ntotals: 3 4\n", "totals: 3\n"])
def test_a_file_without_a_total_is_refused(text: str) -> None:
    with pytest.raises(CountError, match="valgrind left no total of instructions"):
        total(text)


def test_nothing_counted_is_refused() -> None:
    with pytest.raises(CountError, match="does not call leafgrad_measured by this name"):
        total("events: Ir\ntotals: 0\n")


def test_without_valgrind_the_cure_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(CountError, match=r"valgrind is not installed.*`apt-get install valgrind`"):
        count(Path("leafgrad_instructions"))


def test_without_cmake_the_cure_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(CountError, match=r"cmake is not there: `pip install '\.\[dev\]'`"):
        build(tmp_path)


def test_a_command_that_fails_is_told_with_what_it_said(tmp_path: Path) -> None:
    program = tmp_path / "valgrind"
    program.write_text("#!/bin/sh\necho no such thing >&2\nexit 1\n")
    program.chmod(0o755)
    with pytest.raises(CountError, match=r"valgrind failed:\nno such thing"):
        count(program)
