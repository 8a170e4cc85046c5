"""shap's own C kernel, path-dependent.

It hands the models of the other libraries to their own code; "internal" keeps them, and shap says itself that
it is the model to it. Its check of the sum is left out of the time.
"""

from __future__ import annotations

from typing import Any

from benchmarks.contenders import EVERYTHING, SHAPLEY, Ask, Ready

PACKAGE = "shap"
MODELS = EVERYTHING
VALUES = frozenset((SHAPLEY,))
THREADS, PER_ROW = False, True
APART, WHY = 1e-9, "float64; the classic algorithm loses digits with depth"


def explain(model: Any, ask: Ask) -> Ready:  # noqa: ARG001  it has one value and one thread
    import shap

    explainer = shap.TreeExplainer(model, feature_perturbation="tree_path_dependent")
    explainer.model.model_type = "internal"
    return Ready(lambda X: explainer.shap_values(X, check_additivity=False))
