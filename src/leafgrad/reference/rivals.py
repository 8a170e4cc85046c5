"""The paper's algorithms for the Shapley value of a Forest, all called alike.

`RIVALS[name](forest, x, output)` gives a number for each feature: `x` is one encoded row, `output` counts
the model's outputs from 0. All children must have cover. `ALGORITHMS[name](levels)` is the algorithm alone,
on a tree and a row that have been read before (`edges.Levels`). `shap_tree.shap_tree_explainer` is called
like a rival, and needs shap.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy.typing as npt

from leafgrad.forest import Forest
from leafgrad.reference.edges import Floats, Levels
from leafgrad.reference.linear_treeshap import linear_tree_shap
from leafgrad.reference.linear_treeshap_v1 import linear_tree_shap_v1
from leafgrad.reference.traverse import over_trees
from leafgrad.reference.treegrad_shap import tree_grad_shap
from leafgrad.reference.treegrad_shap_vectorized import tree_grad_shap_vectorized
from leafgrad.reference.treeprob import tree_prob, unit_circle
from leafgrad.reference.treeprob_modified import tree_prob_modified
from leafgrad.reference.treeshap_k import tree_shap_k

Rival: TypeAlias = Callable[[Forest, npt.ArrayLike, int], Floats]
OfTree: TypeAlias = Callable[[Levels], Floats]

# Of one tree and row, by the paper's names.
ALGORITHMS: dict[str, OfTree] = {
    "TreeGrad-Shap": tree_grad_shap,
    "TreeGrad-Shap (vectorized)": tree_grad_shap_vectorized,
    "Linear TreeShap": linear_tree_shap,
    "Linear TreeShap (well-conditioned)": lambda tree: linear_tree_shap(tree, unit_circle),
    "Linear TreeShap V1": linear_tree_shap_v1,
    "TreeShap-K": tree_shap_k,
    "TreeProb": tree_prob,
    "TreeProb (M = D)": lambda tree: tree_prob(tree, M=tree.depth),
    "TreeProb (modified)": tree_prob_modified,
}


def _on_forests(algorithm: OfTree) -> Rival:
    return lambda forest, x, output: over_trees(forest, x, output, algorithm)


RIVALS: dict[str, Rival] = {name: _on_forests(algorithm) for name, algorithm in ALGORITHMS.items()}
