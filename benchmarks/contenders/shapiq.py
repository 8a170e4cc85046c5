"""shapiq: quadrature in float64, row by row through Python, one output a call.

`explain_X` is its fastest public way; the quadrature class alone is as fast a row, and leaves more to do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.contenders import BANZHAF, EVERYTHING, SHAPLEY, Ask, Ready

PACKAGE = "shapiq"
MODELS = EVERYTHING
VALUES = frozenset((SHAPLEY, BANZHAF))
THREADS, PER_ROW = False, True
APART, WHY = 1e-7, "float64, of XGBoost's leaves as the decimals in its JSON rather than their float32"


def explain(model: Any, ask: Ask) -> Ready:
    import shapiq

    settings = {"index": "SV" if ask.value == SHAPLEY else "BV", "max_order": 1, "min_order": 1}
    classes = [None] if ask.outputs == 1 else range(ask.outputs)
    explainers = [shapiq.TreeExplainer(model, backend="shapiq", class_index=k, **settings) for k in classes]

    def values(X: Any) -> Any:
        found = np.zeros((*X.shape, len(explainers)))
        for k, explainer in enumerate(explainers):
            for key, column in explainer.explain_X(X).values.items():
                found[:, key[0], k] = column
        return found[..., 0] if ask.outputs == 1 else found

    return Ready(values)
