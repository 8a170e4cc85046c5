"""The error of the Shapley value against the depth D, for the paper's rivals and for leafgrad.

A tree on Click_prediction_small has 11 features, so the truth is the sum over all 2^11 coalitions, whatever
the depth. The error is the Euclidean norm over the features, averaged over five rows, for class 0. "M = D":
as many nodes as a tree of that depth with features enough would need, where 11 would do.

Where the data ends, so do its trees: beyond the deepest one, only algorithms whose number of nodes is D go
on, on that tree. They show what the paper's figure shows, for their error comes from the number of nodes.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from paper import figure
from paper.cache import key
from paper.data import Data, Floats, NotAtHand, load
from paper.models import split, train
from paper.table import Table, save
from paper.work import Work

NAME = "inaccuracy"
DATA_SETS = ("Click_prediction_small", "click_small_39948")  # the paper's, and a smaller sibling
DEPTHS = tuple(range(10, 66, 5))
ROWS = 5
CLASS = 0

# As they appear in the paper's figures, and leafgrad; whether their number of nodes is D.
SHOWN = {
    "Linear TreeShap": True,
    "Linear TreeShap (well-conditioned)": True,
    "Linear TreeShap V1": False,
    "TreeShap-K": False,
    "TreeProb": False,
    "TreeProb (M = D)": True,
    "TreeProb (modified, M = D)": True,
    "shap's TreeExplainer": False,
    "TreeGrad-Shap": False,
    "TreeGrad-Shap (M = D)": True,
    "leafgrad": False,
}


def make(work: Work) -> None:
    """Draw the figure and write the table."""
    drawn, places = figure.axes(1, 1, width=7.2, height=4.0)
    place = places[0, 0]
    table = Table(("algorithm", *(f"D = {depth}" for depth in DEPTHS)), ("", *[".0e"] * len(DEPTHS)))
    data = at_hand(work)
    if data is None:
        figure.say(place, "not at hand")
        figure.save(work.out, NAME, drawn)
        save(work.out, NAME, "Inaccuracy", ["Not at hand: Click_prediction_small."], table)
        return
    found = {depth: errors(work, data, depth) for depth in DEPTHS}
    for at, name in enumerate(SHOWN):
        line = [found[depth]["errors"].get(name) for depth in DEPTHS]
        table.add(name, *line)
        told = [(depth, error) for depth, error in zip(DEPTHS, line, strict=True) if error is not None]
        colour = "black" if name == "leafgrad" else f"C{at}"
        stroke = "--" if "TreeGrad" in name else ":" if name == "leafgrad" else "-"
        place.semilogy(*zip(*told, strict=True), stroke, marker="o", ms=3, color=colour, label=name)
    deepest = max(found[depth]["depth"] for depth in DEPTHS)
    if deepest < DEPTHS[-1]:
        place.axvline(deepest, color="0.6", linewidth=0.8)
        place.text(deepest, 1, " no deeper tree", transform=place.get_xaxis_transform(), va="top")
    place.set_xlabel(
        "D: depth of the tree" + (" or, right of the line, nodes" if deepest < DEPTHS[-1] else "")
    )
    place.set_ylabel("error of the Shapley value")
    drawn.legend(*place.get_legend_handles_labels(), loc="outside right center")
    figure.save(work.out, NAME, drawn)
    leaves = ", ".join(f"{found[depth]['leaves']:,}" for depth in DEPTHS if depth <= deepest)
    about = (
        f"Mean over {ROWS} rows of the Euclidean error, class {CLASS}, against the sum over 2^11 coalitions, "
        f"which is in float64 itself. The trees, on {data.name}, are at most {deepest} deep; they have "
        f"{leaves} leaves. At larger D only the number of nodes grows. `inf` and `nan` are what came out."
    )
    notes = [about]
    if data.name != DATA_SETS[0]:
        notes.append(f"**{DATA_SETS[0]} is not at hand**; {data.name} has its features and fewer rows.")
    save(work.out, NAME, "Inaccuracy of the Shapley value", [*notes, table])


def at_hand(work: Work) -> Data | None:
    """The paper's data set, else its sibling, else nothing."""
    for name in DATA_SETS:
        try:
            return load(name, work.where)
        except NotAtHand:
            continue
    return None


def errors(work: Work, data: Data, depth: int) -> dict[str, Any]:
    """The mean error by algorithm, and how deep and large the tree is."""
    about = key("errors", __name__, data.digest, depth)
    return work.cache.kept(about, lambda: _errors(data, depth))


def _errors(data: Data, depth: int) -> dict[str, Any]:
    import leafgrad as lg
    from leafgrad.reference import brute, paths

    parts = split(data)
    model = train("decision tree", parts, depth)
    forest, X = lg.load(model), parts.X_test[:ROWS]
    omega = brute.omega(lg.Shapley(), forest.n_features)
    truth = np.array(
        [brute.value(brute.f_x(paths.game(forest, x)), omega)[:, CLASS] for x in X.astype(forest.dtype)]
    )
    norms = {}
    for name, values in contenders(model, depth).items():
        if SHOWN[name] or model.get_depth() == depth:
            with np.errstate(all="ignore"):
                norms[name] = float(np.linalg.norm(values(forest, X) - truth, axis=1).mean())
    return {"errors": norms, "depth": int(model.get_depth()), "leaves": int(model.get_n_leaves())}


def contenders(model: Any, nodes: int) -> dict[str, Callable[[Any, Floats], Floats]]:
    """From a forest and rows to the values of class 0, `(n, N)`, by algorithm."""
    import leafgrad as lg
    from leafgrad.reference.linear_treeshap import chebyshev, linear_tree_shap
    from leafgrad.reference.rivals import ALGORITHMS
    from leafgrad.reference.traverse import over_trees
    from leafgrad.reference.treegrad_simplified import tree_grad_simplified
    from leafgrad.reference.treeprob import tree_prob, unit_circle
    from leafgrad.reference.treeprob_modified import tree_prob_modified

    def of_rows(of_tree: Callable[[Any], Floats]) -> Callable[[Any, Floats], Floats]:
        return lambda forest, X: np.array(
            [over_trees(forest, x, CLASS, of_tree) for x in X.astype(forest.dtype)]
        )

    def by_gradients(tree: Any) -> Floats:
        """TreeGrad-Shap with M = D: the rule of ceil(D / 2) points."""
        t, weights = np.polynomial.legendre.leggauss(math.ceil(nodes / 2))
        points = (np.full(tree.n_players, at) for at in (1 + t) / 2)
        gradients = [tree_grad_simplified(tree, z) for z in points]
        return np.asarray(weights / 2 @ np.array(gradients))

    def by_shap(_: Any, X: Floats) -> Floats:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # shap's own imports
            import shap
        explainer = shap.TreeExplainer(model, feature_perturbation="tree_path_dependent")
        return np.asarray(explainer.shap_values(X, check_additivity=False))[:, :, CLASS]

    found = {
        name: of_rows(ALGORITHMS[name]) for name, free in SHOWN.items() if not free and name in ALGORITHMS
    }
    found["Linear TreeShap"] = of_rows(lambda tree: linear_tree_shap(tree, lambda _: chebyshev(nodes)))
    found["Linear TreeShap (well-conditioned)"] = of_rows(
        lambda tree: linear_tree_shap(tree, lambda _: unit_circle(nodes))
    )
    found["TreeProb (M = D)"] = of_rows(lambda tree: tree_prob(tree, M=nodes))
    found["TreeProb (modified, M = D)"] = of_rows(lambda tree: tree_prob_modified(tree, M=nodes))
    found["TreeGrad-Shap (M = D)"] = of_rows(by_gradients)
    found["shap's TreeExplainer"] = by_shap
    found["leafgrad"] = lambda forest, X: lg.explain(forest, X, progress=False).values[:, :, CLASS]
    return found
