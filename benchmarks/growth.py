"""How cost grows: with rows, trees, depth, features, outputs and threads; log-log plots and fitted exponents.

The forests are made, not trained, so that one size changes at a time; a row still goes everywhere, as splits
are at random. leafgrad explains on one thread (but where threads grow). Beside it, where the model can be had
from it too, the XGBoost model's own contributions: as trees and depth grow.
An exponent is the slope through the larger sizes, where what a call costs once is small beside the rest; that
of depth is taken over 2^depth, the leaves of a tree.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import boosters, models
from benchmarks.contenders import Ask, installed, library
from benchmarks.report import Report
from benchmarks.timing import in_turn, process
from leafgrad._core import available_isas

ISA = next((isa for isa in ("avx512", "avx2") if isa in available_isas()), "generic")
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
OURS, XGBOOST = "leafgrad", "xgboost"
WRITTEN = "the result, written"
MORE = "leafgrad, 1,000 trees"


@dataclass(frozen=True)
class Study:
    """One size that grows, the others fixed; the second sizes are to try the code."""

    what: str  # along the x axis
    fixed: str
    sizes: tuple[int, ...]
    few: tuple[int, ...]
    wanted: str = ""


STUDIES = {
    "rows": Study("rows", "200 trees of depth 6, 50 features", (1, 10, 100, 1_000, 10_000, 100_000), (1, 50)),
    "trees": Study("trees", "depth 6, 50 features, 2,000 rows", (10, 30, 100, 300, 1_000), (2, 8)),
    "depth": Study("depth", "50 trees, 50 features, 1,000 rows", (2, 4, 6, 8, 10, 12), (2, 3)),
    "features": Study(
        "features",
        "100 trees of depth 6 on 50 of them, 200 rows",
        (50, 500, 5_000, 50_000),
        (50, 100),
        "no growth",
    ),
    "outputs": Study("outputs", "50 trees of depth 6, 50 features, 1,000 rows", (1, 3, 10, 30, 100), (1, 3)),
    "threads": Study(
        "threads", "200 trees of depth 6, 50 features, 20,000 rows", tuple(range(1, CORES + 1)), (1,)
    ),
}


def forest(trees: int, depth: int, features: int = 50, outputs: int = 1, used: int = 50) -> Any:
    """Complete trees on the first `used` features; each split at random, with covers to match none."""
    import leafgrad as lg

    rng = np.random.default_rng(0)
    nodes, inner = 2 ** (depth + 1) - 1, 2**depth - 1
    place = np.arange(nodes)
    left = np.where(place < inner, 2 * place + 1, -1)
    cover = np.ones((trees, nodes))
    cover[:, inner:] = rng.uniform(1, 10, size=(trees, nodes - inner))
    for v in range(inner - 1, -1, -1):
        cover[:, v] = cover[:, 2 * v + 1] + cover[:, 2 * v + 2]
    shape = (trees * nodes, outputs) if outputs > 1 else trees * nodes
    return lg.Forest.from_arrays(
        tree_start=np.arange(trees + 1) * nodes,
        left=np.tile(left, trees),
        right=np.tile(np.where(place < inner, left + 1, -1), trees),
        feature=np.where(np.tile(place, trees) < inner, rng.integers(used, size=trees * nodes), -1),
        threshold=rng.normal(size=trees * nodes),
        cover=cover.ravel(),
        value=rng.normal(size=shape),
        n_features=features,
    )


def _explained(model: Any, n: int, threads: int = 1) -> tuple[Callable[[], Any], int]:
    import leafgrad as lg

    X = np.random.default_rng(1).normal(size=(n, model.n_features))
    return lambda: lg.explain(model, X, threads=threads, progress=False).values, n


def _contributions(model: Any, n: int) -> tuple[Callable[[], Any], int]:
    ready = library("xgboost").explain(model, Ask())
    data = ready.prepare(models.rows(n, 50, seed=1))
    return lambda: ready.call(data), n


def _writes(n: int, features: int) -> tuple[Callable[[], Any], int]:
    """What any explanation of that many features pays: its result is written once, and X read once."""
    X = np.random.default_rng(1).normal(size=(n, features))
    return lambda: X + 1.0, n


def _calls(name: str, size: int, peers: bool) -> dict[str, tuple[Callable[[], Any], int]]:
    """By contender: the call and its rows."""
    if name == "rows":
        return {OURS: _explained(forest(200, 6), size)}
    if name == "trees":
        theirs = {XGBOOST: _contributions(boosters.xgboost(200)[:size], 200)} if peers and size <= 200 else {}
        return {OURS: _explained(forest(size, 6), 2_000)} | theirs
    if name == "depth":
        theirs = {XGBOOST: _contributions(boosters.xgboost(50, size), 50)} if peers else {}
        return {OURS: _explained(forest(50, size), 1_000)} | theirs
    if name == "features":
        more = _explained(forest(1_000, 6, size), 200)
        return {OURS: _explained(forest(100, 6, size), 200), MORE: more, WRITTEN: _writes(200, size)}
    if name == "outputs":
        return {OURS: _explained(forest(50, 6, outputs=size), 1_000)}
    return {OURS: _explained(forest(200, 6), 20_000, threads=size)}


def _seconds(name: str, size: int, rounds: int, peers: bool) -> dict[str, float]:
    """Best seconds per row of each contender, in this process."""
    calls = _calls(name, size, peers)
    best = in_turn({who: call for who, (call, _) in calls.items()}, rounds, time.perf_counter)
    return {who: best[who] / rows for who, (_, rows) in calls.items()}


def exponent(sizes: Sequence[float], times: Sequence[float]) -> float:
    """The slope of log time over log size, by least squares through the larger half of the sizes."""
    half = len(sizes) // 2 if len(sizes) > 2 else 0
    return float(np.polyfit(np.log(sizes[half:]), np.log(times[half:]), 1)[0])


def axis(name: str, size: float) -> float:
    """Where a size stands along the x axis: depth by the leaves of a tree, which a walk visits all."""
    return 2**size if name == "depth" else size


def run(*, quick: bool) -> Report:
    """Measure all of it; some minutes."""
    report = Report("How cost grows", "python -m benchmarks growth", ("leafgrad", "numpy", "xgboost-cpu"))
    peers = installed("xgboost")
    if not peers:
        print("left out: xgboost is not installed", flush=True)
    for name, study in STUDIES.items():
        sizes = study.few if quick else study.sizes
        by: dict[str, dict[int, float]] = {}
        environment = {"LEAFGRAD_ISA": ISA, "LEAFGRAD_NUM_THREADS": str(CORES if name == "threads" else 1)}
        if peers and not quick and name in ("trees", "depth"):
            _train(name, sizes)
        with process(environment) as pool:
            for size in sizes:
                found = pool.submit(_seconds, name, size, 1 if quick else 10, peers and not quick).result()
                for who, seconds in found.items():
                    by.setdefault(who, {})[size] = seconds
                    about = f"{study.fixed}; {ISA}" if who == OURS else study.fixed
                    line = name, f"{who}, {size:,} {study.what}", 1e6 * seconds, "us/row"
                    report.add(*line, details=about, facts={study.what: size})
        for who, times in by.items():
            if len(times) > 1:
                unit = "a call" if name == "rows" else "a row"
                whole = [s * (n if name == "rows" else 1) for n, s in times.items()]
                told = f"cost of {unit}, through the larger half"
                slope = exponent([axis(name, size) for size in times], whole)
                report.add(name, f"{who}, exponent", slope, "", "", told)
        if name == "features" and len(by[OURS]) > 1:
            least, most = ((by[MORE][size] - by[OURS][size]) for size in (min(sizes), max(sizes)))
            measure = "what 900 more trees cost, with most features against least"
            report.add(name, measure, most / least, "x", study.wanted)
        if name == "threads" and len(by[OURS]) > 1:
            ratio = by[OURS][1] / by[OURS][max(sizes)]
            report.add(name, f"{max(sizes)} threads against one", ratio, "x")
    return report


def _train(name: str, sizes: Sequence[int]) -> None:
    for size in sizes:
        if name == "depth":
            boosters.xgboost(50, size)
    boosters.xgboost()


def curves(report: Report, name: str) -> dict[str, dict[float, float]]:
    """One study: microseconds per row, by contender and size."""
    what = STUDIES[name].what
    found: dict[str, dict[float, float]] = {}
    for x in report.lines:
        if x.workload == name and what in x.facts:
            size = x.facts[what]
            found.setdefault(x.measure.removesuffix(f", {size:,} {what}"), {})[size] = x.value
    return found


def table(report: Report, name: str) -> str:
    """One study: sizes along, contenders down, each with its exponent."""
    found = curves(report, name)
    slopes = {x.measure: x.value for x in report.lines if x.workload == name}
    sizes = sorted({size for times in found.values() for size in times})
    lines = [f"| us/row | {' | '.join(f'{size:,}' for size in sizes)} | exponent |"]
    lines.append("|---|" + "---:|" * (len(sizes) + 1))
    for who, times in found.items():
        cells = " | ".join(f"{times[size]:.3g}" if size in times else "" for size in sizes)
        slope = slopes.get(f"{who}, exponent", math.nan)
        lines.append(f"| {who} | {cells} | {'' if math.isnan(slope) else f'{slope:.2f}'} |")
    return "\n".join(lines)


def tables(report: Report) -> str:
    """All of them, for docs/speed.md."""
    parts = [
        "![Log-log plots of cost against each size](../benchmarks/results/growth.svg)",
        "All numbers: [growth.md](../benchmarks/results/growth.md).",
    ]
    parts += [
        f"### {study.what.capitalize()}\n\n{study.fixed.capitalize()}.\n\n{table(report, name)}"
        for name, study in STUDIES.items()
    ]
    return "\n\n".join(parts)


STYLES: dict[str, dict[str, Any]] = {
    OURS: {"color": "black", "marker": "o", "linewidth": 2},
    XGBOOST: {"color": "#D55E00", "marker": "s"},
    MORE: {"color": "0.4", "marker": "o", "linestyle": "--"},
    WRITTEN: {"color": "0.6", "marker": ".", "linestyle": ":"},
}


def draw(report: Report, folder: Path) -> None:
    """growth.svg: a log-log panel for each study."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    slopes = {(x.workload, x.measure): x.value for x in report.lines}
    with plt.rc_context({"svg.fonttype": "none", "svg.hashsalt": "growth", "font.size": 9}):
        figure, axes = plt.subplots(2, 3, figsize=(11, 7), layout="constrained")
        for ax, (name, study) in zip(axes.flat, STUDIES.items(), strict=True):
            for who, times in curves(report, name).items():
                slope = slopes.get((name, f"{who}, exponent"))
                whole = [value * (n if name == "rows" else 1) for n, value in times.items()]
                label = who if slope is None else f"{who}: {slope:.2f}"
                ax.plot([axis(name, size) for size in times], whole, markersize=4, label=label, **STYLES[who])
            ax.set(
                xscale="log",
                yscale="log",
                title=study.fixed,
                xlabel="2^depth" if name == "depth" else study.what,
            )
            ax.set_ylabel("us a call" if name == "rows" else "us/row")
            ax.title.set_fontsize(8)
            ax.legend(title="exponent")
        figure.savefig(folder / "growth.svg", metadata={"Date": None, "Creator": None})
        plt.close(figure)
