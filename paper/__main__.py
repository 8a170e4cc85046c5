"""`python -m paper [--quick]`: every table and every figure of the paper, from the data at hand.

What is computed is kept in paper/.cache: start an interrupted run again and it goes on where it stopped.
`--quick` is spambase alone, in under a minute; its results go to paper/.cache/quick.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path

from paper import figure
from paper.cache import FOLDER, Cache
from paper.data import folder
from paper.facts import DATA
from paper.tables import beyond
from paper.work import Work

QUICK = (
    "tables.datasets", "tables.sizes", "tables.scores", "tables.gains", "tables.betas", "tables.sweeps",
    "tables.subsets", "figures.curves", "figures.sweeps", "figures.rates",
)  # fmt: skip
LONG = ("figures.conditions", "figures.inaccuracy", "figures.runtime", "tables.beyond")


def steps(work: Work) -> list[tuple[str, Callable[[], object]]]:
    """What is to be done, in order: first what is slow and kept, then the tables and figures made of it."""
    found: list[tuple[str, Callable[[], object]]]
    found = [(f"curves: {case}", partial(work.judged, case)) for case in work.cases()]
    if not work.quick:
        found += [(f"beyond: {case}", partial(beyond.judged, work, case)) for case in beyond.cases(work)]
        found += [
            (f"beyond: {case}, margin", partial(beyond.judged, work, case, raw=True))
            for case in beyond.cases(work)
            if beyond.on_margin(case)
        ]
    names = (*QUICK, *(() if work.quick else LONG), "tables.claims")
    return found + [(name.replace(".", ": "), partial(_make, name, work)) for name in names]


def _make(name: str, work: Work) -> None:
    import_module(f"paper.{name}").make(work)


def run(work: Work) -> None:
    """Do it, and say what is being done."""
    start = time.perf_counter()
    for name in work.names:
        why = work.missing(name)
        if why is not None:
            print(f"{name} is not at hand: {why}")
    todo = steps(work)
    for number, (label, do) in enumerate(todo, 1):
        print(f"[{number:2}/{len(todo)}] {label} ...", end="", flush=True)
        began = time.perf_counter()
        with figure.style():
            do()
        print(f" {time.perf_counter() - began:.1f} s", flush=True)
    print(f"{work.out}: done in {(time.perf_counter() - start) / 60:.1f} min")


def main(arguments: list[str] | None = None) -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m paper", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="spambase alone")
    parser.add_argument("--data", type=Path, default=folder(), help="folder of NAME.parquet (%(default)s)")
    parser.add_argument("--out", type=Path, help="where results go; paper/results unless --quick")
    parser.add_argument("--fresh", action="store_true", help="compute all anew, and keep nothing")
    given = parser.parse_args(arguments)
    work = Work(
        out=given.out or (FOLDER / "quick" if given.quick else Path(__file__).parent / "results"),
        names=("spambase",) if given.quick else tuple(DATA),
        where=given.data,
        cache=Cache(None if given.fresh else FOLDER),
        quick=given.quick,
    )
    run(work)


if __name__ == "__main__":
    main()
