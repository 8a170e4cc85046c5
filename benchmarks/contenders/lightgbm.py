"""lightgbm's own contributions: the classic algorithm, in float64."""

from __future__ import annotations

from typing import Any

from benchmarks.contenders import SHAPLEY, Ask, Ready

PACKAGE = "lightgbm"
MODELS = frozenset(("lightgbm",))
VALUES = frozenset((SHAPLEY,))
THREADS, PER_ROW = True, True
APART, WHY = 1e-9, "float64; the classic algorithm loses digits with depth"


def explain(model: Any, ask: Ask) -> Ready:
    return Ready(lambda X: model.predict(X, pred_contrib=True, num_threads=ask.threads)[:, :-1])


def predict(model: Any, ask: Ask) -> Ready:
    return Ready(lambda X: model.predict(X, num_threads=ask.threads))
