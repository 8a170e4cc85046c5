"""scikit-learn explains nothing; it predicts, from C-ordered float32 where that spares it a copy."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.contenders import Ask, Ready, as_it_is

PACKAGE = "scikit-learn"
MODELS = frozenset(("sklearn",))
VALUES: frozenset[str] = frozenset()
THREADS, PER_ROW = True, False
APART, WHY = 0.0, "never compared"


def explain(model: Any, ask: Ask) -> Ready:
    raise NotImplementedError("scikit-learn has no contributions")


def predict(model: Any, ask: Ask) -> Ready:
    if "n_jobs" in model.get_params():
        model.set_params(n_jobs=ask.threads)
    call = getattr(model, "decision_function", model.predict)  # margins, not the class they lead to
    histograms = type(model).__name__.startswith("Hist")
    return Ready(call, as_it_is if histograms else lambda X: np.ascontiguousarray(X, dtype=np.float32))
