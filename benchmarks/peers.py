"""leafgrad beside every peer that takes the same model, and beside the model's own prediction of the rows.

A race is one workload, a number of rows and one or more values: all contenders meet in it, each in its own
process, on one thread or on all. Contenders whose cost per row does not depend on how many there are explain
as many of the rows as take about a second; the others, and leafgrad, explain all of them. First all must agree,
each within the tolerance that its file gives a reason for; the error is that against exact fractions, in units
of the sum over the trees of the largest distance of a leaf from the mean.
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

from benchmarks.contenders import (
    ADAM,
    EXACT,
    GA,
    NAMES,
    SHAPLEY,
    Ask,
    Library,
    installed,
    library,
)
from benchmarks.contenders.leafgrad import value
from benchmarks.oracle import exact_values
from benchmarks.report import Line, Report
from benchmarks.timing import Contender, Together, race
from benchmarks.workloads import WORKLOADS, Workload
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
    found += [Race(MAIN, 10_000)]
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
    contender = getattr(who, kind)(work.trained(quick), ask)
    X = work.X(rows, quick)
    contender.call(contender.prepare(X[:1]))  # what is made once is made now
    if who.PER_ROW or ask.value in (GA, ADAM):
        rows = affordable(lambda n: contender.call(contender.prepare(X[:n])), rows)
    data = contender.prepare(X[:rows])
    del X
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
    """The largest difference in the rows that both have, in the largest value; infinite if any is no number."""
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
            f"{name} differs from {OURS} by {off:.1e} of the largest value, more than {who.APART:.0e} ({who.WHY}): "
            "nothing is compared before it is known which of them is wrong"
        )
    return off


def _errors(each: Race, quick: bool) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """By value: exact values of the first rows, and the units of each output."""
    import leafgrad as lg

    work = WORKLOADS[each.workload]
    forest = lg.load(work.trained(quick))
    X = work.encoded(work.X(each.rows, quick)[: work.oracle])
    found = {}
    for wanted in each.values:
        if wanted in EXACT:
            exact = exact_values(forest, X, value(wanted, forest.n_features))
            found[wanted] = (exact if work.outputs > 1 else exact[..., 0], forest.scale)
    return found


def measure(report: Report, each: Race, quick: bool, present: tuple[str, ...], together: Together | None) -> None:
    """Hold one race and report it."""
    entries = list(contenders(each, quick, present))
    raced = race([entry[0] for entry in entries], each.rounds, together)
    exact = _errors(each, quick)
    several = len(each.values) > 1
    micros = {c.name: 1e6 * raced.seconds[c.name] / raced.returned[c.name][0] for c, *_ in entries}
    lines = []
    for contender, name, ask in entries:
        rows, found = raced.returned[contender.name]
        own = f"{ask.value}: {OURS}" if several else OURS
        facts = {"rows": float(rows), "megabytes": raced.megabytes[contender.name]}
        details = f"{rows:,} rows; peak {facts['megabytes']:.0f} MB"
        if contender.arguments[-1] == "explain":
            if contender.name != own:
                facts["apart"] = agreed(contender.name, library(name), found, raced.returned[own][1])
                details += f"; {facts['apart']:.0e} apart"
            if ask.value in exact:
                truth, units = exact[ask.value]
                n = min(len(truth), len(found))
                facts["error"] = float((np.abs(found[:n] - truth[:n]) / units).max())
                details += f"; error {facts['error']:.0e}"
        lines.append((contender, name, ask, own, facts, details))
    for contender, name, ask, own, facts, details in lines:
        measure_name = f"{each.name}: {contender.name}"
        facts = {key: number for key, number in facts.items() if math.isfinite(number)}
        report.add(each.workload, measure_name, micros[contender.name], "us/row", "", details, facts)
        _compare(report, each, contender, ask, micros, own)


def _compare(
    report: Report, each: Race, contender: Contender, ask: Ask, micros: dict[str, float], own: str
) -> None:
    """The line that says how fast, beside its contender's."""
    name = contender.name
    threads = f", {ALL} threads" if ask.threads > 1 else ""
    ours = f"{own}{threads}"
    if name.startswith(PREDICTION):
        wanted = WANTED.get((each.workload, each.rows, name), "")
        report.add(each.workload, f"{each.name}: in {name}", micros[ours] / micros[name], "x", wanted)
    elif name == ours and threads:
        report.add(each.workload, f"{each.name}: {ALL} threads against one", micros[own] / micros[name], "x")
    elif "leafgrad" not in name:
        wanted = WANTED.get((each.workload, each.rows, name), "")
        report.add(each.workload, f"{each.name}: times as fast as {name}", micros[name] / micros[ours], "x", wanted)
    elif name == own and ask.value != SHAPLEY:
        base = micros[f"{SHAPLEY}: {OURS}"]
        report.add(each.workload, f"{each.name}: {ask.value}, in Shapley values", micros[own] / base, "x")


def _present(quick: bool) -> tuple[str, ...]:
    """Who is installed; a full run wants all but fasttreeshap, which not every compiler builds."""
    absent = [name for name in NAMES if not installed(name)]
    needed = [library(name).PACKAGE for name in absent if name != "fasttreeshap"]
    if needed and not quick:
        raise SystemExit(
            f"{', '.join(needed)}: not installed here, so that peers would be missing from the comparison. Run "
            "without --here, which makes an environment with all of them, or install benchmarks/requirements.txt"
        )
    for name in absent:
        print(f"left out: {name} is not installed", flush=True)
    return tuple(name for name in NAMES if name not in absent)


def run(*, quick: bool) -> Report:
    """Measure all of it; half an hour, and some minutes more before models and exact values are kept."""
    report = Report(
        "leafgrad and its peers",
        "python -m benchmarks peers",
        ("numpy", *(library(name).PACKAGE for name in NAMES)),
    )
    present = _present(quick)
    for each in small_races() if quick else races():
        if WORKLOADS[each.workload].library not in present:
            print(f"left out: {each.workload}, as its library is not installed", flush=True)
            continue
        WORKLOADS[each.workload].trained(quick)  # in one process, before many ask for it
        with Together() as together:
            measure(report, each, quick, present, together if quick else None)
    return report


def raced(report: Report, workload: str, rows: int) -> dict[str, Line]:
    """The lines of one workload and number of rows, by contender."""
    start = Race(workload, rows).name + ": "
    found = (x for x in report.lines if x.workload == workload and x.unit == "us/row")
    return {x.measure.removeprefix(start): x for x in found if x.measure.startswith(start)}


def table(lines: dict[str, Line]) -> str:
    """Contenders down: time, ratio, error, memory."""
    ours = next(x for name, x in lines.items() if name.endswith(OURS)).value
    text = ["| | us/row | in leafgrad's time | error | peak, MB | rows |", "|---|---:|---:|---:|---:|---:|"]
    for name, x in lines.items():
        error = f"{x.facts['error']:.0e}" if "error" in x.facts else ""
        memory = f"{x.facts['megabytes']:,.0f}" if "megabytes" in x.facts else ""
        cells = f"{short(x.value)} | {short(x.value / ours)} | {error} | {memory} | {x.facts['rows']:,.0f}"
        text.append(f"| {name} | {cells} |")
    return "\n".join(text)


def short(number: float) -> str:
    """Three digits, and never a power of ten."""
    digits = max(0, 2 - math.floor(math.log10(number))) if number > 0 else 0
    return f"{number:,.{digits}f}"


def held(report: Report) -> dict[tuple[str, int], tuple[Line, ...]]:
    """The races that the report has lines of, by workload and rows, in turn; those of values come apart."""
    found: dict[tuple[str, int], list[Line]] = {}
    for x in report.lines:
        if x.unit == "us/row":
            rows = int(x.measure.partition(" ")[0].replace(",", ""))
            found.setdefault((x.workload, rows), []).append(x)
    return {key: tuple(lines) for key, lines in found.items()}


def tables(report: Report) -> str:
    """All races, for docs/speed.md."""
    parts = []
    for (workload, rows), lines in held(report).items():
        named = {x.measure.partition(": ")[2]: x for x in lines}
        values = {name: x for name, x in named.items() if name.startswith((*EXACT, GA, ADAM))}
        shapley = {name: x for name, x in named.items() if name not in values}
        title = f"{workload}, {Race(workload, rows).name}"
        about = WORKLOADS[workload].about.capitalize() if workload.islower() else WORKLOADS[workload].about
        for what, found in (("", shapley), (": the values", values)):
            if found:
                parts.append(f"### {title}{what}\n\n{about}.\n\n{table(found)}")
        parts += [
            f"Without {who}: {why}." for who, why in WORKLOADS[workload].without.items() if not values
        ]
    return "\n\n".join(parts)


def summary(report: Report) -> str:
    """The table of README.md: a line per workload, in microseconds per row, times as fast in bold."""
    races = held(report)
    libraries = ("xgboost", "lightgbm", "catboost")
    text = ["| model | leafgrad | the library's own | shap | shapiq | woodelf |", "|---|---:|---:|---:|---:|---:|"]
    for name, work in WORKLOADS.items():
        mine = [key for key in races if key[0] == name]
        if not mine:
            continue
        key = (name, work.rows) if (name, work.rows) in mine else mine[-1]
        found = raced(report, *key)
        ours = found[OURS].value
        own = next((who for who in libraries if who in found), "")
        cells = [f"{short(ours)} us"]
        for who in (own, "shap", "shapiq", "woodelf"):
            line = found.get(who)
            cells.append(f"{short(line.value)} us, **{short(line.value / ours)}x**" if line else "")
        text.append(f"| {work.about if work.library in name.lower() else work.about} | {' | '.join(cells)} |")
    return "\n".join(text)


COLOURS = {"leafgrad": "black", "xgboost": "#D55E00", "lightgbm": "#009E73", "catboost": "#CC79A7", "shap": "#0072B2"}
COLOURS |= {"fasttreeshap": "#56B4E9", "shapiq": "#E69F00", "woodelf": "#999933", PREDICTION: "0.6"}


def draw(report: Report, folder: Path) -> None:
    """peers.svg: microseconds per row of every contender on one thread, by workload; leafgrad's widest kernel."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    keys = [key for key in held(report) if key[1] == WORKLOADS[key[0]].rows] or list(held(report))
    with plt.rc_context({"svg.fonttype": "none", "svg.hashsalt": "peers", "font.size": 9}):
        figure, ax = plt.subplots(figsize=(9, 0.5 * len(keys) + 1.5), layout="constrained")
        for name, colour in COLOURS.items():
            shown = OURS if name == "leafgrad" else name
            points = [(found[shown].value, y) for y, key in enumerate(keys) if shown in (found := raced(report, *key))]
            if points:
                mark = "D" if name == "leafgrad" else "|" if name == PREDICTION else "o"
                ax.scatter(*zip(*points, strict=True), color=colour, marker=mark, label=name, zorder=3)
        ax.set(xscale="log", xlabel="us/row, one thread", ylim=(len(keys) - 0.5, -0.5))
        ax.set_yticks(range(len(keys)), [f"{name}, {rows:,} rows" for name, rows in keys])
        ax.grid(axis="y", color="0.9")
        ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
        figure.savefig(folder / "peers.svg", metadata={"Date": None, "Creator": None})
        plt.close(figure)
