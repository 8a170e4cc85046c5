"""xgboost's own contributions: quadrature in float32 at eight points. A DMatrix is made beforehand.

Its prediction is `inplace_predict`: a DMatrix remembers what was predicted for it.
"""

from __future__ import annotations

from typing import Any

from benchmarks.contenders import SHAPLEY, Ask, Ready, as_it_is

PACKAGE = "xgboost-cpu"
MODELS = frozenset(("xgboost",))
VALUES = frozenset((SHAPLEY,))
THREADS, PER_ROW = True, True
APART, WHY = 2e-5, "float32, summed over trees"


def explain(model: Any, ask: Ask) -> Ready:
    import xgboost as xgb

    model.set_param({"nthread": ask.threads})

    def matrix(X: Any) -> Any:
        return xgb.DMatrix(X, nthread=ask.threads)

    def contributions(rows: Any) -> Any:
        return model.predict(matrix(rows) if ask.from_array else rows, pred_contribs=True)[:, :-1]

    return Ready(contributions, as_it_is if ask.from_array else matrix)


def predict(model: Any, ask: Ask) -> Ready:
    model.set_param({"nthread": ask.threads})
    return Ready(model.inplace_predict)
