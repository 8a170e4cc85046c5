"""Contenders in processes of their own, timed in turn.

Thread counts and instruction sets are fixed by environment variables that are read once, at import. So each
contender lives in its own process, started with its own environment, where it is set up once and keeps its
model warm. Rounds go through the contenders in turn, so that a busy moment of the machine hits all of them,
and a contender's time is its best round: noise only ever adds.
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

ONE_THREAD = {f"{who}_NUM_THREADS": "1" for who in ("OMP", "OPENBLAS", "MKL", "NUMBA", "LEAFGRAD")}

_call: Callable[[], Any]


@dataclass(frozen=True)
class Contender:
    """What is timed: `setup(*arguments)` returns the call, made ready in its own process."""

    name: str
    setup: Callable[..., Callable[[], Any]]
    arguments: tuple[Any, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


def _prepare(setup: Callable[..., Callable[[], Any]], arguments: tuple[Any, ...]) -> Any:
    global _call  # noqa: PLW0603  one contender per process
    _call = setup(*arguments)
    return _call()


def _once() -> float:
    start = time.perf_counter()
    _call()
    return time.perf_counter() - start


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


def race(contenders: Sequence[Contender], rounds: int) -> tuple[dict[str, float], dict[str, Any]]:
    """Best seconds per contender, and what each returned in its first, untimed call."""
    with ExitStack() as stack:
        pools = {c.name: stack.enter_context(process(c.environment)) for c in contenders}
        returned = {c.name: pools[c.name].submit(_prepare, c.setup, c.arguments).result() for c in contenders}
        best = dict.fromkeys(pools, float("inf"))
        for _ in range(rounds):
            for name, pool in pools.items():
                best[name] = min(best[name], pool.submit(_once).result())
    return best, returned


def in_turn(calls: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Best seconds of this process's own time per call: for ratios of calls that share a warm model.

    Calls take turns, so that none has the caches to itself.
    """
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds + 1):
        for name, call in calls.items():
            start = time.process_time()
            call()
            best[name] = min(best[name], time.process_time() - start)
    return best
