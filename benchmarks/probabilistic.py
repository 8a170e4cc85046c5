"""What any probabilistic value costs, in Shapley values of the same rows; and how that grows with U.

Both explain the same rows of one warm forest, on one thread, in turn; a ratio is that of their best rounds.
For the growth, trees of so many leaves whose paths have U different features and no feature twice: the time
per row, leaf and feature of a path, L·U, against that at the smallest U.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks import models
from benchmarks.report import Report
from benchmarks.timing import in_turn, process
from leafgrad._core import available_isas

ISAS: list[str] = [isa for isa in ("avx512", "avx2") if isa in available_isas()] or ["generic"]
SHAPLEY = "Shapley values"
RATIO = "any probabilistic value"
GROWTH = "time per L·U, against U = 12"
PATHS = (12, 25, 50, 100, 200, 400)
REPEATS = 3  # of the Shapley values in a round, so that both take about as long

ABOUT = {
    "boosted": "200 boosted trees of depth 6, 50 features",
    "full depth": "20 trees of a forest at full depth, 30 features",
    "large": "one tree of 2,000 leaves, 20 features",
}


def _case(name: str, quick: bool) -> tuple[Any, int, int]:
    """Model, features, rows."""
    if quick:
        return models.boosted(20, 4, 10, 1_000), 10, 500
    if name == "boosted":
        return models.boosted(), 50, 20_000
    if name == "full depth":
        return models.first_trees(models.deep_forest(), 20), 30, 512
    return models.tree(), 20, 5_000


def _ratio(name: str, quick: bool, rounds: int) -> tuple[float, float, str]:
    """Seconds per row of the Shapley values and of a value by sizes, and what the forest looks like."""
    import leafgrad as lg

    model, features, n = _case(name, quick)
    forest, X = lg.load(model), models.rows(n, features, seed=7)
    weights = np.random.default_rng(0).random(features)
    value = lg.ProbabilisticValue(weights / weights.sum())
    settings: dict[str, Any] = {"threads": 1, "progress": False}
    uniform = lg.ProbabilisticValue(np.full(features, 1 / features))
    same = lg.explain(forest, X[:50], uniform, **settings).values
    np.testing.assert_allclose(same, lg.explain(forest, X[:50], **settings).values, atol=1e-9, rtol=0)

    def shapley() -> None:
        for _ in range(REPEATS):
            lg.explain(forest, X, **settings)

    best = in_turn({"shapley": shapley, "sizes": lambda: lg.explain(forest, X, value, **settings)}, rounds)
    distinct = int(forest.game().most_players.max())
    shape = f"{n:,} rows; {forest.n_leaves:,} leaves, depth {forest.max_depth}, {distinct} features on a path"
    return best["shapley"] / REPEATS / n, best["sizes"] / n, shape


def tree(paths: int, leaves: int, seed: int) -> Any:
    """A tree whose deepest path has `paths` features, all different on every path: a chain with bushes on it.

    From each split of the chain hangs a bush; they share the other leaves evenly.
    """
    import leafgrad as lg

    rng = np.random.default_rng(seed)
    left, right, feature = [-1], [-1], [-1]

    def split(node: int, j: int) -> tuple[int, int]:
        left[node], right[node], feature[node] = len(left), len(left) + 1, j
        for column in (left, right, feature):
            column.extend((-1, -1))
        return left[node], right[node]

    chain, tips = 0, []
    for j in range(paths):
        tip, chain = split(chain, j)
        tips.append((tip, j + 1))
    waiting, grown = list(reversed(tips)), paths + 1
    while waiting and grown < leaves:
        waiting.sort(key=lambda each: -each[1])
        node, depth = waiting.pop()
        if depth < paths:
            waiting += [(child, depth + 1) for child in split(node, depth)]
            grown += 1
    n = len(left)
    cover = np.ones(n)
    for v in range(n - 1, -1, -1):
        if left[v] >= 0:
            cover[v] = cover[left[v]] + cover[right[v]]
    return lg.Forest.from_arrays(
        tree_start=[0, n],
        left=left,
        right=right,
        feature=feature,
        threshold=rng.normal(size=n),
        cover=cover,
        value=rng.normal(size=n),
        n_features=paths,
    )


def _growth(paths: tuple[int, ...], rounds: int) -> list[tuple[int, int, float]]:
    """U, leaves and seconds per row, leaf and U."""
    import leafgrad as lg

    n = 256
    result = []
    for u in paths:
        forest = tree(u, 4 * max(paths), seed=u)
        X = np.random.default_rng(1).normal(size=(n, u))
        value = lg.ProbabilisticValue(np.full(u, 1 / u))
        calls = {"sizes": lambda f=forest, x=X, v=value: lg.explain(f, x, v, threads=1, progress=False)}
        seconds = in_turn(calls, rounds)["sizes"]
        result.append((u, forest.n_leaves, seconds / n / forest.n_leaves / u))
    return result


def run(*, quick: bool) -> Report:
    """Measure all of it; some minutes, most of them on the forest at full depth."""
    report = Report(
        "Any probabilistic value, in Shapley values of the same rows",
        "python -m benchmarks probabilistic",
        ("leafgrad", "numpy", "scikit-learn"),
    )
    rounds = 1 if quick else 8
    for isa in ISAS:
        with process({"LEAFGRAD_ISA": isa}) as pool:
            for name in ABOUT:
                shapley, sizes, shape = pool.submit(_ratio, name, quick, rounds).result()
                report.add(name, f"{SHAPLEY}, {isa}", 1e6 * shapley, "us/row", "", shape)
                wanted = "at most 4" if name == "boosted" else ""
                report.add(name, f"{RATIO}, {isa}", sizes / shapley, "x", wanted, f"{1e6 * sizes:.3g} us/row")
    with process({"LEAFGRAD_ISA": ISAS[0]}) as pool:
        grown = pool.submit(_growth, PATHS[:3] if quick else PATHS, rounds).result()
    for u, leaves, each in grown:
        details = f"{leaves:,} leaves; {1e9 * each:.3g} ns per row, leaf and feature of a path"
        report.add(f"U = {u}", GROWTH, each / grown[0][2], "x", "no growth", details)
    return report


def summary(report: Report) -> str:
    """The table of docs/probabilistic.md."""
    lines = [f"| | {SHAPLEY} | {RATIO} | |", "|---|---:|---:|---:|"]
    for name, about in ABOUT.items():
        shapley = report.value(name, f"{SHAPLEY}, {ISAS[0]}")
        ratio = report.value(name, f"{RATIO}, {ISAS[0]}")
        lines.append(f"| {about} | {shapley:.3g} us/row | {ratio * shapley:.3g} us/row | {ratio:.2g} x |")
    return "\n".join(lines)
