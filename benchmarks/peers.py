"""leafgrad beside every peer that takes the same model, and beside the model's own prediction of the rows.

A race is one workload, a number of rows and one or more values: all contenders meet in it, each in its own
process, on one thread or on all. Those whose cost per row does not depend on how many there are explain as
many of the rows as take about a second; the others, and leafgrad, explain all of them. First all must agree,
each within the tolerance that its file gives a reason for; the error is that against exact fractions, in
units of the sum over the trees of the largest distance of a leaf from the mean. Memory is the peak beyond the
library, the model and the rows: a contender's own form of them, its tables and its result.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import memory, peers_page
from benchmarks.contenders import (
    ADAM,
    EXACT,
    GA,
    NAMES,
    SHAPLEY,
    Ask,
    Library,
    imported,
    installed,
    library,
)
from benchmarks.contenders.leafgrad import value
from benchmarks.oracle import exact_values
from benchmarks.report import Line, Report
from benchmarks.timing import Contender, Together, race
from benchmarks.workloads import WORKLOADS
from leafgrad._core import available_isas

ISAS: list[str] = [isa for isa in ("avx512", "avx2") if isa in available_isas()] or ["generic"]
ALL = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
THREADS = {f"{who}_NUM_THREADS": str(ALL) for who in ("OMP", "OPENBLAS", "MKL", "NUMBA", "LEAFGRAD")}

OURS = f"leafgrad, {ISAS[0]}"  # what all others are compared with
PREDICTION = "its own prediction"
FRESH = "xgboost, from the array"
COMPARED = 32  # rows
SECONDS = 1.0  # of a round of those that may explain fewer rows
MAIN = "XGBoost, depth 6"
RESULTS = Path(__file__).parent / "results" / "peers.json"


@dataclass(frozen=True)
class Race:
    """What meets: a workload's rows, explained by these values."""

    workload: str
    rows: int
    values: tuple[str, ...] = (SHAPLEY,)
    rounds: int = 5
    without: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What a line of the report calls it."""
        return f"{self.rows:,} row{'s' * (self.rows > 1)}"


def races() -> list[Race]:
    """All of them."""
    found = [Race(MAIN, 1, rounds=20, without=("woodelf",)), Race(MAIN, 100, rounds=10, without=("woodelf",))]
    found += [Race(MAIN, 10_000), Race("CatBoost, depth 6", 100, rounds=10)]  # its tables pay for many rows
    found += [Race(name, work.rows) for name, work in WORKLOADS.items()]
    found += [Race(MAIN, 200_000, rounds=3), Race(MAIN, 1_000_000, rounds=2, without=("shap", "shapiq"))]
    found += [Race(name, WORKLOADS[name].rows, (*EXACT, GA, ADAM)) for name in (MAIN, "one tree")]
    return found


def small_races() -> list[Race]:
    """One of each kind, to try the code."""
    kept = dict.fromkeys(work.library for work in WORKLOADS.values())
    names = [next(name for name, work in WORKLOADS.items() if work.library == each) for each in kept]
    names += ["several classes", "sparse", "ten outputs"]
    found = [Race(MAIN, 1, rounds=1), *(Race(name, 50, rounds=1) for name in names)]
    return [*found, Race(MAIN, 50, (*EXACT, GA, ADAM), rounds=1)]


# The targets: workload, rows, contender; in times as fast, or for the prediction in times as long.
WANTED = {
    (MAIN, 20_000, "xgboost"): "at least 80",
    (MAIN, 200_000, "woodelf"): "at least 10",
    (MAIN, 1_000_000, "woodelf"): "at least 10",
    (MAIN, 20_000, PREDICTION): "at most 3",
    (MAIN, 200_000, PREDICTION): "at most 3",
    (MAIN, 1, FRESH): "at least 8",
    ("LightGBM, 63 leaves", 20_000, "lightgbm"): "at least 200",
    ("CatBoost, depth 6", 20_000, "catboost"): "at least 50",
    ("forest at full depth", 2_000, "shap"): "at least 300",
    ("forest at full depth", 2_000, "shapiq"): "at least 150",
}


# In a contender's process.


def _ready(name: str, workload: str, quick: bool, rows: int, ask: Ask, kind: str) -> Callable[[], Any]:
    work, who = WORKLOADS[workload], library(name)
    imported(name)
    model, X = work.trained(quick), work.some(rows, quick)
    memory.mark()
    contender = getattr(who, kind)(model, ask)
    contender.call(contender.prepare(X[:1]))  # what is made once is made now
    if kind == "explain" and (who.PER_ROW or ask.value in (GA, ADAM)):
        rows = affordable(lambda n: contender.call(contender.prepare(X[:n])), rows)
    data = contender.prepare(X[:rows])
    return lambda: (rows, np.asarray(contender.call(data)[:COMPARED]))


def affordable(explain: Callable[[int], Any], rows: int) -> int:
    """How many of the rows are explained in about a second, by a contender that explains row by row."""
    n = 4
    while n < rows:
        start = time.perf_counter()
        explain(n)
        passed = time.perf_counter() - start
        if passed > SECONDS / 20:
            return int(np.clip(n * SECONDS / passed, min(COMPARED, rows) if passed / n < 0.1 else n, rows))
        n *= 4
    return rows


# Here.


def contenders(each: Race, quick: bool, present: tuple[str, ...]) -> Iterator[tuple[Contender, str, Ask]]:
    """Who takes part, what it is asked, and the library's name."""
    work = WORKLOADS[each.workload]

    def entry(name: str, shown: str, ask: Ask, kind: str = "explain", **environment: str) -> Any:
        arguments = (name, each.workload, quick, each.rows, ask, kind)
        return Contender(shown, _ready, arguments, environment), name, ask

    several = len(each.values) > 1
    for wanted in each.values:
        ask = Ask(wanted, 1, work.outputs)
        shown = f"{wanted}: " if several else ""
        for isa in ISAS[:1] if quick else ISAS:
            yield entry("leafgrad", f"{shown}leafgrad, {isa}", ask, LEAFGRAD_ISA=isa)
        for name in present:
            who = library(name)
            left_out = {*work.without, *each.without, "leafgrad"}
            if several and wanted == SHAPLEY:  # theirs is a race of its own
                continue
            if name not in left_out and wanted in who.VALUES and work.library in who.MODELS:
                yield entry(name, f"{shown}{name}", ask)
    if several:
        return
    if each.rows == 1 and work.library == "xgboost":
        yield entry("xgboost", FRESH, Ask(from_array=True))
    own = work.library if work.library in present else ""
    if own:
        yield entry(own, PREDICTION, Ask(), "predict")
    if each.rows > 100 and ALL > 1:
        ask = Ask(SHAPLEY, ALL, work.outputs)
        yield entry("leafgrad", f"leafgrad, {ISAS[0]}, {ALL} threads", ask, LEAFGRAD_ISA=ISAS[0], **THREADS)
        if own and SHAPLEY in library(own).VALUES:
            yield entry(own, f"{own}, {ALL} threads", ask, **THREADS)
        if own:
            yield entry(own, f"{PREDICTION}, {ALL} threads", Ask(threads=ALL), "predict", **THREADS)


def apart(found: NDArray[Any], reference: NDArray[np.float64]) -> float:
    """The largest difference in the rows that both have, in the largest value; infinite if not a number."""
    n = min(len(found), len(reference))
    if found.shape[1:] != reference.shape[1:]:
        raise ValueError(f"values of shape {found.shape} beside {reference.shape}")
    off = float(np.abs(found[:n] - reference[:n]).max() / np.abs(reference[:n]).max())
    return off if math.isfinite(off) else math.inf


def agreed(name: str, who: Library, found: NDArray[Any], reference: NDArray[np.float64]) -> float:
    """How far it is from leafgrad; an error if it is more than its file allows."""
    off = apart(found, reference)
    if not off <= who.APART:
        raise ValueError(
            f"{name} differs from {OURS} by {off:.1e} of the largest value, more than {who.APART:.0e} "
            f"({who.WHY}): nothing is compared before it is known which of them is wrong"
        )
    return off


Exact = dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]


def _exact(each: Race, quick: bool) -> Exact:
    """By value: exact values of the first rows, and the unit of each output."""
    import leafgrad as lg

    work = WORKLOADS[each.workload]
    forest = lg.load(work.trained(quick))
    X = work.encoded(work.some(each.rows, quick)[: work.oracle])
    found = {}
    for wanted in each.values:
        if wanted in EXACT:
            exact = exact_values(forest, X, value(wanted, forest.n_features))
            found[wanted] = (exact if work.outputs > 1 else exact[..., 0], forest.scale)
    return found


def measure(
    report: Report, each: Race, quick: bool, present: tuple[str, ...], together: Together | None = None
) -> None:
    """Hold one race and report it."""
    entries = list(contenders(each, quick, present))
    times = race([entry[0] for entry in entries], each.rounds, together)
    exact = _exact(each, quick)
    micros = {name: 1e6 * times.seconds[name] / rows for name, (rows, _) in times.returned.items()}
    told = []
    for contender, name, ask in entries:
        rows, found = times.returned[contender.name]
        own = f"{ask.value}: {OURS}" if len(each.values) > 1 else OURS
        facts = {"rows": float(rows), "megabytes": times.megabytes[contender.name]}
        if contender.arguments[-1] == "explain":
            if contender.name != own:
                facts["apart"] = agreed(contender.name, library(name), found, times.returned[own][1])
            if ask.value in exact:
                truth, units = exact[ask.value]
                n = min(len(truth), len(found))
                facts["error"] = float((np.abs(found[:n] - truth[:n]) / units).max())
        told.append((contender, ask, own, facts))
    for contender, ask, own, facts in told:  # only now that all have agreed
        known = {key: number for key, number in facts.items() if math.isfinite(number)}
        line = each.workload, f"{each.name}: {contender.name}", micros[contender.name], "us/row"
        report.add(*line, details=_details(known), facts=known)
        _compare(report, each, contender.name, ask, micros, own)


def _details(facts: dict[str, float]) -> str:
    """Facts in words."""
    words = {"rows": "{:,.0f} rows", "megabytes": "peak {:.0f} MB"}
    words |= {"apart": "{:.0e} apart", "error": "error {:.0e}"}
    return "; ".join(words[key].format(number) for key, number in facts.items())


def _compare(report: Report, each: Race, name: str, ask: Ask, micros: dict[str, float], own: str) -> None:
    """The line that says how fast, beside its contender's."""
    threads = f", {ALL} threads" if ask.threads > 1 else ""
    ours, wanted = f"{own}{threads}", WANTED.get((each.workload, each.rows, name), "")

    def add(measure: str, ratio: float) -> None:
        report.add(each.workload, f"{each.name}: {measure}", ratio, "x", wanted)

    if name.startswith(PREDICTION):
        add(f"in {name}", micros[ours] / micros[name])
    elif name == ours and threads:
        add(f"{ALL} threads against one", micros[own] / micros[name])
    elif "leafgrad" not in name:
        add(f"times as fast as {name}", micros[name] / micros[ours])
    elif name == own and ask.value != SHAPLEY:
        add(f"{ask.value}, in Shapley values", micros[own] / micros[f"{SHAPLEY}: {OURS}"])


def _present(quick: bool) -> tuple[str, ...]:
    """Who is installed; a full run wants all but fasttreeshap, which not every machine builds."""
    absent = [name for name in NAMES if not installed(name)]
    needed = [library(name).PACKAGE for name in absent if name != "fasttreeshap"]
    if needed and not quick:
        raise SystemExit(
            f"{', '.join(needed)}: not installed here, and a comparison lacks them. Leave out --here, "
            "which makes an environment with all peers, or install benchmarks/requirements.txt"
        )
    for name in absent:
        print(f"left out: {name} is not installed", flush=True)
    return tuple(name for name in NAMES if name not in absent)


def run(*, quick: bool, only: str | None = None) -> Report:
    """Measure all of it; half an hour, and some minutes more before models and exact values are kept.

    Or the races of `only` one workload, beside what was measured of the others.
    """
    report = Report(
        "leafgrad and its peers",
        "python -m benchmarks peers",
        ("numpy", *(library(name).PACKAGE for name in NAMES)),
    )
    present = _present(quick)
    with Together() as together:
        for each in small_races() if quick else races():
            if only not in (None, each.workload):
                continue
            if WORKLOADS[each.workload].library not in present:
                print(f"left out: {each.workload}, as its library is not installed", flush=True)
                continue
            WORKLOADS[each.workload].trained(quick)  # in one process, before many ask for it
            measure(report, each, quick, present, together if quick else None)
    if only is not None:
        report.lines = replaced(Report.lines_of(RESULTS), report.lines)
    return report


def replaced(old: list[Line], new: list[Line]) -> list[Line]:
    """The old lines, with the new ones in the place of those of the same workload."""
    place = next((i for i, line in enumerate(old) if line.workload == new[0].workload), len(old))
    kept = [[x for x in part if x.workload != new[0].workload] for part in (old[:place], old[place:])]
    return [*kept[0], *new, *kept[1]]


def tables(report: Report) -> str:
    """All races, for docs/speed.md."""
    return peers_page.tables(report, OURS)


def summary(report: Report) -> str:
    """The table of README.md."""
    return peers_page.summary(report, OURS)


def draw(report: Report, folder: Path) -> None:
    """The plot of all workloads: peers.svg."""
    peers_page.draw(report, folder, OURS)
