"""Contenders in processes of their own, timed in turn.

Thread counts and instruction sets are fixed by environment variables that are read once, at import. So each
contender lives in its own process, started with its own environment, where it is set up once and keeps its
model warm. Rounds go through the contenders in turn, so that a busy moment of the machine hits all of them,
and a contender's time is its best round: noise only ever adds. A call too short to be timed well is repeated
within its round, which then counts their mean.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from benchmarks import memory

ONE_THREAD = {f"{who}_NUM_THREADS": "1" for who in ("OMP", "OPENBLAS", "MKL", "NUMBA", "LEAFGRAD")}
SHORTEST = 0.05  # seconds of a round

_calls: dict[str, Callable[[], Any]] = {}


@dataclass(frozen=True)
class Contender:
    """What is timed: `setup(*arguments)` returns the call, made ready in its own process."""

    name: str
    setup: Callable[..., Callable[[], Any]]
    arguments: tuple[Any, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Raced:
    """By contender: best seconds; what the first, untimed call returned; peak of memory until then, in MB."""

    seconds: dict[str, float]
    returned: dict[str, Any]
    megabytes: dict[str, float]


def _prepare(name: str, setup: Callable[..., Callable[[], Any]], arguments: tuple[Any, ...]) -> Any:
    memory.mark()  # and again by a setup that knows better what is not to be counted
    _calls[name] = setup(*arguments)
    return _calls[name](), memory.since()


def seconds(call: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    """Of one call; the mean of many where one is too short to be timed well."""
    calls, passed, start = 0, 0.0, clock()
    while passed < SHORTEST:
        call()
        calls += 1
        passed = clock() - start
    return passed / calls


def _round(name: str) -> float:
    return seconds(_calls[name])


@contextmanager
def process(environment: Mapping[str, str]) -> Iterator[ProcessPoolExecutor]:
    """A fresh interpreter with one thread everywhere, unless `environment` says otherwise."""
    before = dict(os.environ)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        try:
            os.environ.update({**ONE_THREAD, **environment})
            pool.submit(int).result()  # the process starts here, and takes the environment with it
        finally:
            os.environ.clear()
            os.environ.update(before)
        yield pool


class Together(ExitStack):
    """One process per environment, for all contenders of all races: to try the code, not to measure it."""

    def __init__(self) -> None:
        super().__init__()
        self._pools: dict[frozenset[tuple[str, str]], ProcessPoolExecutor] = {}

    def process(self, environment: Mapping[str, str]) -> ProcessPoolExecutor:
        """The process of that environment, started when it is first asked for."""
        key = frozenset(environment.items())
        if key not in self._pools:
            self._pools[key] = self.enter_context(process(environment))
        return self._pools[key]


def race(contenders: Sequence[Contender], rounds: int, together: Together | None = None) -> Raced:
    """Set up all contenders and time them in turn; each in its own process, or in those of `together`."""
    with ExitStack() as stack:
        start = together.process if together else lambda each: stack.enter_context(process(each))
        pools = {c.name: start(c.environment) for c in contenders}
        first = {
            c.name: pools[c.name].submit(_prepare, c.name, c.setup, c.arguments).result() for c in contenders
        }
        best = dict.fromkeys(pools, float("inf"))
        for _ in range(rounds):
            for name, pool in pools.items():
                best[name] = min(best[name], pool.submit(_round, name).result())
    returned, megabytes = ({name: pair[i] for name, pair in first.items()} for i in (0, 1))
    return Raced(best, returned, megabytes)


def in_turn(
    calls: Mapping[str, Callable[[], Any]], rounds: int, clock: Callable[[], float] = time.process_time
) -> dict[str, float]:
    """Best seconds per call, by default of this process's own time: for ratios of calls that share a model.

    Calls take turns, so that none has the caches to itself.
    """
    best = dict.fromkeys(calls, float("inf"))
    for call in calls.values():
        call()
    for _ in range(rounds):
        for name, call in calls.items():
            best[name] = min(best[name], seconds(call, clock))
    return best
