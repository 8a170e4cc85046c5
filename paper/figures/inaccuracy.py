"""The error of the Shapley value against the depth of the tree, for the paper's rivals and for leafgrad.

A tree on Click_prediction_small has 11 features, so the truth is the sum over all 2^11 coalitions, whatever
the depth. The error is the Euclidean norm over the features, averaged over five rows, for class 0. With M = D
TreeProb and TreeGrad-Shap take as many nodes as a tree of that depth with features enough would need.
"""

from __future__ import annotations

import dataclasses
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
DATA_SET = "click_small_39948"
DEPTHS = (35, 40, 45, 50, 55, 60, 65)
ROWS = 5
CLASS = 0

# As they appear in the paper's figures, and leafgrad.
SHOWN = (
    "Linear TreeShap", "Linear TreeShap (well-conditioned)", "Linear TreeShap V1", "TreeShap-K",
    "TreeProb", "TreeProb (M = D)", "TreeProb (modified)", "shap's TreeExplainer",
    "TreeGrad-Shap", "TreeGrad-Shap (M = D)", "leafgrad",
)  # fmt: skip


def make(work: Work) -> None:
    """Draw the figure and write the table."""
    drawn, places = figure.axes(1, 1, width=6.4, height=4.0)
    place = places[0, 0]
    try:
        data = load(DATA_SET, work.where)
    except NotAtHand as error:
        figure.say(place, f"not at hand: {error}")
        figure.save(work.out, NAME, drawn)
        save(work.out, NAME, "Inaccuracy", [f"Not at hand: {error}."], Table(("depth",)))
        return
    found = {depth: errors(work, data, depth) for depth in DEPTHS}
    for at, name in enumerate(SHOWN):
        line = [found[depth]["errors"][name] for depth in DEPTHS]
        stroke = "--" if "TreeGrad" in name else ":" if name == "leafgrad" else "-"
        place.semilogy(DEPTHS, line, stroke, marker="o", markersize=3, color=f"C{at % 10}", label=name)
    place.set_xlabel("depth D of the tree")
    place.set_ylabel("error of the Shapley value")
    drawn.legend(*place.get_legend_handles_labels(), loc="outside right center")
    figure.save(work.out, NAME, drawn)
    table = Table(("algorithm", *(f"D = {depth}" for depth in DEPTHS)), ("", *[".1e"] * len(DEPTHS)))
    for name in SHOWN:
        table.add(name, *(found[depth]["errors"][name] for depth in DEPTHS))
    leaves = ", ".join(f"{found[depth]['leaves']:,}" for depth in DEPTHS)
    note = (
        f"Mean over {ROWS} rows of the Euclidean error, class {CLASS}, against the sum over 2^11 coalitions, "
        f"which is in float64 itself. The trees, on {DATA_SET}, have {leaves} leaves. `inf` and `nan` are "
        "what came out."
    )
    save(work.out, NAME, "Inaccuracy of the Shapley value", [note, table])


def errors(work: Work, data: Data, depth: int) -> dict[str, Any]:
    """The mean error by algorithm, and how many leaves the tree has."""
    about = key("errors", __name__, data.digest, depth)
    return work.cache.kept(about, lambda: _errors(data, depth))


def _errors(data: Data, depth: int) -> dict[str, Any]:
    import leafgrad as lg
    from leafgrad.reference import brute, paths

    parts = split(data)
    model = train("decision tree", parts, depth)
    if model.get_depth() != depth:
        raise ValueError(f"the tree for depth {depth} is {model.get_depth()} deep")
    forest, X = lg.load(model), parts.X_test[:ROWS]
    omega = brute.omega(lg.Shapley(), forest.n_features)
    truth = np.array(
        [brute.value(brute.f_x(paths.game(forest, x)), omega)[:, CLASS] for x in X.astype(forest.dtype)]
    )
    found = {name: values(forest, X) for name, values in contenders(model).items()}
    with np.errstate(all="ignore"):
        norms = {name: float(np.linalg.norm(got - truth, axis=1).mean()) for name, got in found.items()}
    return {"errors": norms, "leaves": model.get_n_leaves()}


def contenders(model: Any) -> dict[str, Callable[[Any, Floats], Floats]]:
    """From a forest and rows to the values of class 0, `(n, N)`, by algorithm."""
    import shap
    from leafgrad.reference.rivals import RIVALS
    from leafgrad.reference.traverse import over_trees
    from leafgrad.reference.treegrad_shap import tree_grad_shap

    import leafgrad as lg

    def of_rows(algorithm: Callable[..., Floats]) -> Callable[[Any, Floats], Floats]:
        return lambda forest, X: np.array([algorithm(forest, x, CLASS) for x in X.astype(forest.dtype)])

    def as_deep(tree: Any) -> Floats:
        """TreeGrad-Shap with M = D: as though there were D features, the others null."""
        many = dataclasses.replace(tree, n_players=max(tree.depth, tree.n_players))
        return tree_grad_shap(many)[: tree.n_players]

    def by_shap(_: Any, X: Floats) -> Floats:
        explainer = shap.TreeExplainer(model, feature_perturbation="tree_path_dependent")
        return np.asarray(explainer.shap_values(X, check_additivity=False))[:, :, CLASS]

    found = {name: of_rows(RIVALS[name]) for name in SHOWN if name in RIVALS}
    found["TreeGrad-Shap (M = D)"] = of_rows(lambda forest, x, k: over_trees(forest, x, k, as_deep))
    found["shap's TreeExplainer"] = by_shap
    found["leafgrad"] = lambda forest, X: lg.explain(forest, X, progress=False).values[:, :, CLASS]
    return found
