"""The number of threads: the argument, the environment, the affinity, the quota, in this order."""

import os
from pathlib import Path

import numpy as np
import pytest

from leafgrad import threads
from leafgrad.errors import InputError


@pytest.fixture(autouse=True)
def no_variable(monkeypatch):
    monkeypatch.delenv(threads.VARIABLE, raising=False)


@pytest.mark.parametrize("number", [1, 7, np.int64(3)])
def test_an_integer_is_taken_as_it_is(number):
    assert threads.resolve(number) == number
    assert type(threads.resolve(number)) is int


@pytest.mark.parametrize("bad", [True, 2.0, "2", [1]])
def test_what_is_no_integer_is_refused(bad):
    with pytest.raises(
        InputError, match="is not a number of threads; pass an integer from 1, or None for all"
    ):
        threads.resolve(bad)


@pytest.mark.parametrize("bad", [0, -1])
def test_too_few_threads_are_refused(bad):
    with pytest.raises(InputError, match=f"threads={bad}: pass 1 or more"):
        threads.resolve(bad)


def test_the_variable_decides_where_no_argument_is_given(monkeypatch):
    monkeypatch.setenv(threads.VARIABLE, "5")
    assert threads.resolve() == 5
    assert threads.resolve(2) == 2


@pytest.mark.parametrize("text", ["", "many", "0", "-2", "1.5"])
def test_a_wrong_variable_is_refused(monkeypatch, text):
    monkeypatch.setenv(threads.VARIABLE, text)
    with pytest.raises(InputError, match=f"LEAFGRAD_NUM_THREADS={text!r} is not a number of threads"):
        threads.resolve()


def test_at_most_the_affinity(monkeypatch):
    monkeypatch.setattr(threads, "_quota", lambda: None)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 3, 5}, raising=False)
    assert threads.resolve() == 3


@pytest.mark.parametrize(("quota", "expected"), [(0.5, 1), (1.5, 2), (2.0, 2), (64.0, 3)])
def test_at_most_the_quota_rounded_up(monkeypatch, quota, expected):
    monkeypatch.setattr(threads, "_quota", lambda: quota)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 3, 5}, raising=False)
    assert threads.resolve() == expected


def test_without_affinity_the_processors_are_counted(monkeypatch):
    monkeypatch.setattr(threads, "_quota", lambda: None)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert threads.resolve() == 1


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize(
    ("proc", "files", "expected"),
    [
        ("0::/job/part\n", {"job/part/cpu.max": "max 100000\n", "job/cpu.max": "150000 100000\n"}, 1.5),
        ("0::/job\n", {"job/cpu.max": "max 100000\n"}, None),
        ("0::/\n", {"cpu.max": "250000 100000\n"}, 2.5),
        ("0::/host/path\n", {"cpu.max": "50000 100000\n"}, 0.5),
        ("0::/job\n", {"job/cpu.max": "garbage\n"}, None),
        ("0::/job\n", {"job/cpu.max": "1 0\n"}, None),
        (
            "3:cpu,cpuacct:/docker/a\n2:memory:/x\n",
            {"cpu,cpuacct/cpu.cfs_quota_us": "300000\n", "cpu,cpuacct/cpu.cfs_period_us": "100000\n"},
            3.0,
        ),
        ("3:cpu:/a\n", {"cpu/a/cpu.cfs_quota_us": "-1\n", "cpu/a/cpu.cfs_period_us": "100000\n"}, None),
        ("not a cgroup line\n", {}, None),
    ],
)
def test_quota_of_both_cgroup_versions_and_of_parents(tmp_path, proc, files, expected):
    write(tmp_path, {"proc": proc, **{f"fs/{name}": text for name, text in files.items()}})
    assert threads._quota(str(tmp_path / "proc"), str(tmp_path / "fs")) == expected


def test_no_cgroups_no_quota(tmp_path):
    assert threads._quota(str(tmp_path / "absent"), str(tmp_path)) is None
