"""What ranking costs, in units that need no machine: the Shapley values of the same rows.

Each contender explains, ranks or draws curves of the same 1,000 rows of one warm tree, on one thread, in turn
with the Shapley values; a ratio is that of their best rounds. The plain loop is the paper's pseudo code in
NumPy (leafgrad.reference.ranker); it ranks one row.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks import models
from benchmarks.report import Report
from benchmarks.timing import in_turn, process
from leafgrad._core import available_isas

ISAS: list[str] = [isa for isa in ("avx512", "avx2") if isa in available_isas()] or ["generic"]
SHAPLEY = "Shapley values"
GA = "GA, T = 100"
ADAM_10 = "ADAM, T = 10"
ADAM_100 = "ADAM, T = 100"
BOTH = "both curves"
PLAIN = f"{GA}, as fast as the plain loop"
REPEATS = 5  # of the Shapley values in a round: alone they are too short to time

# Leaves, features and rows to train on; the second tree is of spambase's size, whose model needs a download.
TREES = {"large": (2_000, 20, 20_000), "wide": (166, 57, 4_000)}
QUICK = {"large": (200, 20, 2_000), "wide": (50, 57, 500)}
WANTED = {
    "large": {GA: "at most 60", ADAM_10: "at most 6", ADAM_100: "at most 30", BOTH: "at most 5"},
    "wide": {BOTH: "at most 24"},
}


def _seconds(size: tuple[int, int, int], n: int, rounds: int) -> tuple[dict[str, float], str]:
    """Best seconds per row of every contender, and what the tree looks like."""
    import leafgrad as lg

    forest, X = lg.load(models.tree(*size)), models.rows(n, size[1], seed=7)
    settings: dict[str, Any] = {"threads": 1, "progress": False}
    ranking = lg.rank(forest, X, optimizer=lg.GradientAscent(), **settings)

    def ranker(optimizer: Any) -> Any:
        return lambda: lg.rank(forest, X, optimizer=optimizer, **settings)

    def shapley() -> None:
        for _ in range(REPEATS):
            lg.explain(forest, X, **settings)

    calls = {
        SHAPLEY: shapley,
        GA: ranker(lg.GradientAscent(rate=5.0, steps=100)),
        ADAM_10: ranker(lg.Adam(rate=5.0, steps=10)),
        ADAM_100: ranker(lg.Adam(rate=5.0, steps=100)),
        BOTH: lambda: lg.curves(forest, X, ranking, **settings),
        "greedy": lambda: lg.greedy(forest, X, **settings),
    }
    best = in_turn(calls, rounds)
    best[SHAPLEY] /= REPEATS
    distinct = int(forest.game().most_players.max())
    shape = f"{n:,} rows; {forest.n_leaves:,} leaves, depth {forest.max_depth}, {distinct} features on a path"
    return {name: seconds / n for name, seconds in best.items()}, shape


def _plain_seconds(size: tuple[int, int, int]) -> float:
    """Seconds of the plain loop for one row."""
    import leafgrad as lg
    from leafgrad.reference import ranker
    from leafgrad.reference.paths import game

    forest, X = lg.load(models.tree(*size)), models.rows(1, size[1], seed=7)
    plain = game(forest, X[0])
    start = time.process_time()
    zeta = ranker.gradient_ascent(plain, rate=5.0, steps=100)
    seconds = time.process_time() - start
    same = lg.rank(forest, X, optimizer=lg.GradientAscent(rate=5.0, steps=100)).values[0]
    np.testing.assert_allclose(zeta, same, rtol=0, atol=1e-9 * np.ptp(forest.value))
    return seconds


def run(*, quick: bool) -> Report:
    """Measure all of it; about a minute."""
    report = Report(
        "Rankings and curves, in Shapley values of the same rows",
        "python -m benchmarks ranker",
        ("leafgrad", "numpy", "scikit-learn"),
    )
    trees, n, rounds = (QUICK, 100, 1) if quick else (TREES, 1_000, 20)
    for size in trees.values():
        models.tree(*size)
    best = float("inf")
    for isa in ISAS:
        with process({"LEAFGRAD_ISA": isa}) as pool:
            for name, size in trees.items():
                seconds, shape = pool.submit(_seconds, size, n, rounds).result()
                shapley = seconds.pop(SHAPLEY)
                if name == "large":
                    best = min(best, seconds[GA])
                report.add(name, f"{SHAPLEY}, {isa}", 1e6 * shapley, "us/row", "", shape)
                for what, own in seconds.items():
                    report.add(
                        name,
                        f"{what}, {isa}",
                        own / shapley,
                        "x",
                        WANTED[name].get(what, ""),
                        f"{1e6 * own:.3g} us/row",
                    )
    with process({}) as pool:
        plain = pool.submit(_plain_seconds, trees["large"]).result()
    report.add("large", PLAIN, plain / best, "x", "at least 1,000", f"{plain:.3g} s for a row")
    return report


def summary(report: Report) -> str:
    """The table of README.md."""
    about = {"large": "2,000 leaves, 20 features", "wide": "166 leaves, 57 features"}
    lines = [f"| in Shapley values of the same rows | {' | '.join(about.values())} |", "|---|---:|---:|"]
    for what in (*WANTED["large"], "greedy"):
        cells = " | ".join(f"{report.value(name, f'{what}, {ISAS[0]}'):.3g}" for name in about)
        lines.append(f"| {what} | {cells} |")
    return "\n".join(lines)
