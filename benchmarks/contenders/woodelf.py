"""woodelf: tables over all rows at once, in NumPy; from a DataFrame made beforehand, one output a call.

Most of its time goes into tables whose cost does not depend on the rows, so it explains as many as are named.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.contenders import BANZHAF, SHAPLEY, Ask, Ready

PACKAGE = "woodelf-explainer"
MODELS = frozenset(("xgboost", "lightgbm", "sklearn"))  # with catboost's it finds NaN
VALUES = frozenset((SHAPLEY, BANZHAF))
THREADS, PER_ROW = False, False
APART, WHY = 5e-5, "float32, summed over trees"


def explain(model: Any, ask: Ask) -> Ready:
    import pandas as pd
    from woodelf import WoodelfExplainer
    from woodelf.core.trees.parse_models import load_decision_tree_ensemble_model as load

    explainers: list[Any] = []

    def values(frame: Any) -> Any:
        if not explainers:  # columns are part of its model; the first call is not timed
            if ask.outputs == 1:
                explainers.append(WoodelfExplainer(model))
            else:
                models = (load(model, list(frame.columns), class_index=k) for k in range(ask.outputs))
                explainers.extend(WoodelfExplainer(each) for each in models)
        name = "shap_values" if ask.value == SHAPLEY else "banzhaf_values"
        found = [getattr(explainer, name)(frame, verbose=False) for explainer in explainers]
        return found[0] if ask.outputs == 1 else np.stack(found, axis=-1)

    return Ready(values, pd.DataFrame)
