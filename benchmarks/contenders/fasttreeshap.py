"""fasttreeshap, which chooses between its two algorithms by the memory that the faster needs.

Its release is older than NumPy 2: the kernel works when it is built against it, but its plots do not, and
with them the import fails. Without matplotlib it goes on without plots.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.contenders import SHAPLEY, Ask, Ready

PACKAGE = "fasttreeshap"
MODELS = frozenset(("sklearn", "lightgbm"))  # of the others it reads formats gone by
VALUES = frozenset((SHAPLEY,))
THREADS, PER_ROW = True, True
APART, WHY = 1e-9, "float64; the classic algorithm loses digits with depth"


def imported() -> Any:
    if "fasttreeshap" not in sys.modules:
        hidden = {name: sys.modules.get(name) for name in ("matplotlib", "matplotlib.pyplot")}
        sys.modules.update(dict.fromkeys(hidden))  # None: an import of it fails
        try:
            import_module("fasttreeshap")
        finally:
            for name, module in hidden.items():
                if module is None:
                    del sys.modules[name]
                else:
                    sys.modules[name] = module
    return sys.modules["fasttreeshap"]


def explain(model: Any, ask: Ask) -> Ready:
    settings = {"feature_perturbation": "tree_path_dependent", "algorithm": "auto", "n_jobs": ask.threads}
    explainer = imported().TreeExplainer(model, **settings)
    explainer.model.model_type = "internal"  # as shap's

    def values(X: Any) -> Any:
        found = explainer.shap_values(X, check_additivity=False)
        return np.stack(found, axis=-1) if isinstance(found, list) else found

    return Ready(values)
