"""catboost's own ShapValues, from a Pool made beforehand; its prediction takes the array."""

from __future__ import annotations

from typing import Any

from benchmarks.contenders import SHAPLEY, Ask, Ready

PACKAGE = "catboost"
MODELS = frozenset(("catboost",))
VALUES = frozenset((SHAPLEY,))
THREADS, PER_ROW = True, False  # it first fills tables for all leaves of a tree
APART, WHY = 1e-9, "float64"


def explain(model: Any, ask: Ask) -> Ready:
    from catboost import Pool

    def values(pool: Any) -> Any:
        return model.get_feature_importance(pool, type="ShapValues", thread_count=ask.threads)[:, :-1]

    return Ready(values, lambda X: Pool(X, thread_count=ask.threads))


def predict(model: Any, ask: Ask) -> Ready:
    return Ready(lambda X: model.predict(X, thread_count=ask.threads))
