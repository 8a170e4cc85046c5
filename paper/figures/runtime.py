"""Run time against depth: Linear TreeShap, TreeGrad-Shap and TreeGrad, and leafgrad's kernel beside them.

The first two compute the Shapley value, TreeGrad the Banzhaf value. They are reference implementations in
NumPy, one level of the tree at a time, timed alone: what they read of the tree and the row is made ready
before. So they compare with one another; leafgrad shows what the same gradients cost in a compiled kernel,
all included. One thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from paper import figure
from paper.cache import key
from paper.data import Floats
from paper.facts import ROWS
from paper.table import Table, save
from paper.work import Work

NAME = "runtime"
# The paper's is BT, whose trees are the largest; of those at hand superconduct's are.
DEPTHS = {"BT": (10, 20, 30, 40, 50), "superconduct": (5, 10, 15, 20, 25, 30, 35)}
REFERENCES = ("Linear TreeShap", "TreeGrad-Shap (vectorized)", "TreeGrad (Banzhaf)")
OWN = ("leafgrad, Shapley, one row a call", "leafgrad, Banzhaf, one row a call")
TOGETHER = ("leafgrad, Shapley, 200 rows a call", "leafgrad, Banzhaf, 200 rows a call")


def make(work: Work) -> None:
    """Draw the figure and write the table."""
    drawn, places = figure.axes(1, 1, width=5.6, height=3.8)
    place = places[0, 0]
    name = next((name for name in DEPTHS if work.missing(name) is None), None)
    if name is None:
        figure.say(place, "no large data set at hand")
        figure.save(work.out, NAME, drawn)
        save(work.out, NAME, "Run time", ["No large data set at hand."], Table(("depth",)))
        return
    depths = DEPTHS[name]
    found = {depth: seconds(work, name, depth) for depth in depths}
    for at, method in enumerate((*REFERENCES, *OWN)):
        every = np.array([found[depth]["rows"][method] for depth in depths])
        mean, spread = every.mean(axis=1), every.std(axis=1)
        style = "-" if method in REFERENCES else "--"
        place.semilogy(depths, mean, style, color=f"C{at}", label=method)
        place.fill_between(
            depths, np.maximum(mean - spread, mean / 10), mean + spread, color=f"C{at}", alpha=0.2
        )
    for at, method in enumerate(TOGETHER, len(REFERENCES)):
        place.semilogy(
            depths, [found[depth]["together"][method] for depth in depths], ":", color=f"C{at}", label=method
        )
    place.set_xlabel("depth D of the tree")
    place.set_ylabel("seconds per row")
    place.set_title(f"trees on {name}" + ("" if name == "BT" else "; the paper's BT is not at hand"))
    drawn.legend(*place.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    figure.save(work.out, NAME, drawn)
    table = Table(
        ("D", "leaves", "algorithm", "mean ms per row", "standard deviation"), ("d", ",d", "", ".4g", ".2g")
    )
    for depth in depths:
        for method in (*REFERENCES, *OWN):
            every = np.array(found[depth]["rows"][method]) * 1e3
            table.add(depth, found[depth]["leaves"], method, float(every.mean()), float(every.std()))
        for method in TOGETHER:
            table.add(depth, found[depth]["leaves"], method, found[depth]["together"][method] * 1e3, None)
    note = f"Trees on {name}, {ROWS} rows each, one thread. The deviation is over the rows."
    save(work.out, NAME, "Run time", [note, table])


def seconds(work: Work, name: str, depth: int) -> dict[str, Any]:
    """Seconds of each row by algorithm, per row of one call, and how many leaves the tree has."""
    about = key("seconds", __name__, work.data(name).digest, name, depth)
    return work.cache.kept(
        about, lambda: _seconds(work.model(name, "decision tree", depth), work.parts(name).explained)
    )


def _seconds(model: Any, X: Floats) -> dict[str, Any]:
    from threadpoolctl import threadpool_limits

    import leafgrad as lg

    forest = lg.load(model)
    with threadpool_limits(1):
        return _timed(forest, X, model.get_n_leaves())


def _timed(forest: Any, X: Floats, leaves: int) -> dict[str, Any]:
    import leafgrad as lg
    from leafgrad.reference import paths
    from leafgrad.reference.edges import Edges, Levels
    from leafgrad.reference.rivals import ALGORITHMS
    from leafgrad.reference.treegrad_simplified import tree_grad_simplified

    calls: dict[str, Callable[[Any], Any]] = {name: ALGORITHMS[name] for name in REFERENCES[:2]}
    calls[REFERENCES[2]] = lambda tree: tree_grad_simplified(tree, np.full(tree.n_players, 0.5))
    own = dict(zip(OWN, (lg.Shapley(), lg.Banzhaf()), strict=True))
    spent: dict[str, list[float]] = {name: [] for name in (*REFERENCES, *OWN)}
    for x in X:
        (tree,) = paths.game(forest, x.astype(forest.dtype)).trees
        levels = Levels.of(Edges.of(tree, 1), 0, forest.n_features)
        for name, call in calls.items():
            spent[name].append(_once(lambda call=call, levels=levels: call(levels)))
        for name, value in own.items():
            spent[name].append(
                _once(lambda value=value, x=x: lg.explain(forest, x, value, threads=1, progress=False))
            )
    together = {}
    for name, value in zip(TOGETHER, own.values(), strict=True):
        runs = [
            _once(lambda value=value: lg.explain(forest, X, value, threads=1, progress=False))
            for _ in range(5)
        ]
        together[name] = min(runs) / len(X)
    return {"rows": spent, "together": together, "leaves": int(leaves)}


def _once(call: Callable[[], Any]) -> float:
    """Seconds of this process's own time, which other processes do not lengthen."""
    start = time.process_time()
    call()
    return time.process_time() - start
