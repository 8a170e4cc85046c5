"""Races: every contender in its own environment, the best of its rounds, and its memory."""

from __future__ import annotations

import functools
import os

import pytest
from benchmarks import memory
from benchmarks.timing import SHORTEST, Contender, Together, in_turn, process, race, seconds


def test_a_short_call_is_repeated_and_the_mean_counts() -> None:
    now, calls = [0.0], []

    def call() -> None:
        calls.append(1)
        now[0] += SHORTEST / 10

    assert seconds(call, lambda: now[0]) == pytest.approx(SHORTEST / 10)
    assert 10 <= len(calls) <= 11


def test_the_best_round_counts() -> None:
    now, costs = [0.0], iter([1.0, 5.0, 2.0, 3.0])

    def call() -> None:
        now[0] += next(costs)

    assert in_turn({"it": call}, 3, lambda: now[0]) == {"it": 2.0}  # the first call is not timed


def contender(name: str, *call: object, **environment: str) -> Contender:
    return Contender(name, functools.partial, call, environment)


def test_contenders_have_processes_and_environments_of_their_own() -> None:
    asked = [
        contender("isa", os.getenv, "LEAFGRAD_ISA", LEAFGRAD_ISA="avx2"),
        contender("threads", os.getenv, "OMP_NUM_THREADS"),
        contender("pid", os.getpid),
        contender("another", os.getpid),
        contender("memory", bytearray, 50_000_000),
    ]
    raced = race(asked, 1)
    assert raced.returned["isa"] == "avx2"
    assert raced.returned["threads"] == "1"
    assert len({raced.returned["pid"], raced.returned["another"], os.getpid()}) == 3
    assert all(0 < each < 1 for each in raced.seconds.values())
    assert 45 < raced.megabytes["memory"] < 60  # 50, and what the interpreter takes on the way


def test_together_they_share_one() -> None:
    with Together() as together:
        pids = [race([contender("pid", os.getpid)], 1, together).returned["pid"] for _ in range(2)]
        other = race([contender("pid", os.getpid, LEAFGRAD_ISA="avx2")], 1, together).returned["pid"]
    assert pids[0] == pids[1] != other


def eighty_megabytes() -> int:
    return len(b"x" * 80_000_000)


def test_the_peak_counts_what_is_freed_again() -> None:
    with process({}) as pool:  # this one may have room that was freed before
        size, peak = pool.submit(memory.peak, eighty_megabytes).result()
    assert size == 80_000_000
    assert 70 < peak < 100  # MB; 80, less what the process had free
