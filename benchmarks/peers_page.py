"""What `peers` measured, to be read: tables for docs/speed.md and README.md, and a plot."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from benchmarks.contenders import EXACT, OWN
from benchmarks.report import Line, Report
from benchmarks.workloads import WORKLOADS

Found = dict[str, Line]  # by contender
RANKER = "Ranker"


def races(report: Report) -> dict[tuple[str, str, bool], Found]:
    """The lines of each race, by workload, rows as told, and whether it is one of values."""
    found: dict[tuple[str, str, bool], Found] = {}
    for x in report.lines:
        if x.unit == "us/row":
            rows, _, name = x.measure.partition(": ")
            values = name.startswith((*(f"{each}: " for each in EXACT), RANKER))
            found.setdefault((x.workload, rows, values), {})[name] = x
    return found


def short(number: float) -> str:
    """Three digits, and never a power of ten."""
    digits = max(0, 2 - math.floor(math.log10(number))) if number > 0 else 0
    return f"{number:,.{digits}f}"


def table(found: Found, ours: str) -> str:
    """Contenders down: time, ratio to leafgrad's Shapley values, error, memory."""
    base = next(x for name, x in found.items() if name.endswith(ours)).value
    lines = ["| | us/row | in leafgrad's time | error | peak, MB | rows |", "|---|---:|---:|---:|---:|---:|"]
    for name, x in found.items():
        error = f"{x.facts['error']:.0e}" if "error" in x.facts else ""
        memory = f"{x.facts['megabytes']:,.0f}" if "megabytes" in x.facts else ""
        numbers = f"{short(x.value)} | {short(x.value / base)} | {error} | {memory} | {x.facts['rows']:,.0f}"
        lines.append(f"| {name} | {numbers} |")
    return "\n".join(lines)


def tables(report: Report, ours: str) -> str:
    """All races, each with who is left out and why."""
    parts = ["![Microseconds per row of every contender, by workload](../benchmarks/results/peers.svg)"]
    parts.append("All numbers: [peers.md](../benchmarks/results/peers.md).")
    for (workload, rows, values), found in races(report).items():
        work = WORKLOADS[workload]
        parts.append(f"### {workload}, {rows}{': other values' if values else ''}")
        parts.append(f"{work.library}: {work.about}.")
        parts.append(table(found, ours))
        if not values:
            parts += [f"Without {who}: {why}." for who, why in work.without.items()]
    return "\n\n".join(parts)


def main_races(report: Report) -> dict[str, Found]:
    """One race of Shapley values per workload: that of the workload's own number of rows, else the last."""
    found: dict[str, Found] = {}
    for (workload, rows, values), lines in races(report).items():
        told = f"{WORKLOADS[workload].rows:,} rows"
        if not values and (workload not in found or rows == told):
            found[workload] = lines
    return {workload: found[workload] for workload in WORKLOADS if workload in found}


def summary(report: Report, ours: str) -> str:
    """A line per workload: microseconds per row, and how many times leafgrad's in bold."""
    lines = [
        "| model | its prediction alone | leafgrad | its library's own | shap | shapiq | woodelf |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for workload, found in main_races(report).items():
        base = found[ours].value
        prediction = found.get("its own prediction")
        cells = [f"{short(prediction.value)} us" if prediction else "", f"{short(base)} us"]
        for who in (WORKLOADS[workload].library, "shap", "shapiq", "woodelf"):
            line = found.get(who)
            cells.append(f"{short(line.value)} us, **{short(line.value / base)}x**" if line else "")
        lines.append(f"| {workload} | {' | '.join(cells)} |")
    for (workload, rows, _), found in races(report).items():
        fresh = next((x for name, x in found.items() if name.endswith("from the array")), None)
        if rows == "1 row" and fresh is not None:
            told = f"{short(found[ours].value)} us; the library takes {short(fresh.value)} us"
            lines += ["", f"One row alone ({workload}), from the array to the answer: {told}."]
    return "\n".join(lines)


STYLES: dict[str, dict[str, Any]] = {
    "shap": {"color": "#0072B2", "marker": "s"},
    "fasttreeshap": {"color": "#56B4E9", "marker": "v"},
    "shapiq": {"color": "#E69F00", "marker": "^"},
    "woodelf": {"color": "#009E73", "marker": "P"},
    "the library's own": {"color": "#D55E00", "marker": "o"},
    "its prediction": {"color": "0.5", "marker": "|"},
    "leafgrad": {"color": "black", "marker": "D"},
}


def draw(report: Report, folder: Path, ours: str) -> None:
    """peers.svg: microseconds per row of all contenders on one thread, by workload."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    own = {
        **dict.fromkeys(OWN, "the library's own"),
        "its own prediction": "its prediction",
        ours: "leafgrad",
    }
    found = main_races(report)
    points: dict[str, list[tuple[float, int]]] = {name: [] for name in STYLES}
    for y, lines in enumerate(found.values()):
        for name, x in lines.items():
            if own.get(name, name) in points:
                points[own.get(name, name)].append((x.value, y))
    with plt.rc_context({"svg.fonttype": "none", "svg.hashsalt": "peers", "font.size": 9}):
        figure, ax = plt.subplots(figsize=(9, 0.4 * len(found) + 1.5), layout="constrained")
        for name, style in STYLES.items():
            if points[name]:
                ax.scatter(*zip(*points[name], strict=True), label=name, zorder=3, **style)
        ax.set(xscale="log", xlabel="us/row, one thread", ylim=(len(found) - 0.5, -0.5))
        ax.set_yticks(range(len(found)), list(found))
        ax.grid(axis="y", color="0.9")
        figure.legend(loc="outside right upper")
        figure.savefig(folder / "peers.svg", metadata={"Date": None, "Creator": None})
        plt.close(figure)
