"""shap's path-dependent TreeExplainer on a Forest, through shap's own form for trees that it does not know.

It is no algorithm of ours: the package is asked, so it must be installed. Its splits are numeric and send
`x <= threshold` to the left, in float64.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from leafgrad.forest import CATEGORICAL, ZERO_MISSING, Forest
from leafgrad.reference.edges import Floats


def shap_tree_explainer(forest: Forest, x: npt.ArrayLike, output: int) -> Floats:
    """The Shapley values that `shap.TreeExplainer(feature_perturbation="tree_path_dependent")` finds.

    Parameters
    ----------
    forest : Forest
        Numeric splits in float64 only.
    x : array_like, shape (n_features,)
        An encoded row, without NaN.
    output : int
        The output to explain, from 0.

    Returns
    -------
    ndarray, shape (n_features,)
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own imports
        import shap

    row = np.asarray(x, dtype=np.float64)
    if (
        forest.dtype != np.float64
        or (forest.flags & (CATEGORICAL | ZERO_MISSING)).any()
        or np.isnan(row).any()
    ):
        raise ValueError(
            "shap's own form of a tree has numeric splits in float64 and no missing values; give shap the "
            "model that this forest was loaded from"
        )
    trees = [
        _tree(forest, t, 0 if forest.tree_output[t] >= 0 else output)
        for t in range(forest.n_trees)
        if forest.tree_output[t] in (-1, output) and forest.left[forest.tree_start[t]] >= 0
    ]
    if not trees:
        return np.zeros(forest.n_features)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # shap's own casts
        explainer = shap.TreeExplainer({"trees": trees}, feature_perturbation="tree_path_dependent")
        found = explainer.shap_values(row[None], check_additivity=False)
    return np.asarray(found, dtype=np.float64).reshape(forest.n_features)


def _tree(forest: Forest, t: int, column: int) -> dict[str, Any]:
    """One tree in shap's form: covers are rebuilt from the shares, with the root's at 1."""
    nodes = slice(int(forest.tree_start[t]), int(forest.tree_start[t + 1]))
    left, right, share = forest.left[nodes], forest.right[nodes], forest.share[nodes]
    cover = np.ones(len(left))
    waiting = [0]
    while waiting:
        v = waiting.pop()
        if left[v] >= 0:
            for u in (int(left[v]), int(right[v])):
                cover[u] = cover[v] * share[u]
                waiting.append(u)
    return {
        "children_left": left,
        "children_right": right,
        "children_default": left,
        "features": forest.feature[nodes],
        "thresholds": forest.threshold[nodes],
        "values": np.where(left < 0, forest.value[nodes, column], 0.0)[:, None],
        "node_sample_weight": cover,
    }
