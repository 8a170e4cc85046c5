"""Small model files, one per feature and format, and what XGBoost says of them.

    python tests/golden/xgboost/make_models.py

writes `<feature>-<version>.json` and `.ubj` for the XGBoost that is installed, and `expected-<version>.json`
with its margins and contributions on some rows. A version writes what it can; the format has changed with
2.0 (rounds), 3.1 (base scores, categories), 3.2 (vector leaves), 3.3 and 3.4 (dropout).
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xgboost as xgb

HERE = Path(__file__).parent
rng = np.random.default_rng(3)
X = rng.random((80, 3)).round(2)
X[:, 2] = np.floor(X[:, 2] * 6)
REAL = X[:, 0] * 2 + np.sin(3 * X[:, 2]) - X[:, 1]
BINARY = (np.median(REAL) < REAL).astype(int)
THREE = np.digitize(REAL, np.quantile(REAL, [0.3, 0.7]))
TARGETS = np.column_stack([REAL, X[:, 1] * REAL])
GAPS = np.where(rng.random(X.shape) < 0.2, np.nan, X)
FRAME = pd.DataFrame(
    {"size": X[:, 0], "age": X[:, 1], "city": pd.Categorical([f"town {int(code)}" for code in X[:, 2]])}
)
ROWS = np.vstack([GAPS[:12], [[np.nan] * 3, [-9, 9, 99], [1e30, -1e30, -1]]]).astype(np.float32).astype(float)


def train(y: np.ndarray, rounds: int = 2, rows: np.ndarray = GAPS, types: Any = None, **params: Any) -> Any:
    data = xgb.DMatrix(rows, y, feature_types=types, enable_categorical=types is not None)
    return xgb.train({"max_depth": 3, "tree_method": "hist", "nthread": 1, **params}, data, rounds)


def stopped() -> Any:
    model = xgb.XGBRegressor(
        n_estimators=20, max_depth=3, early_stopping_rounds=1, learning_rate=1.0, n_jobs=1
    )
    return model.fit(GAPS[:50], REAL[:50], eval_set=[(GAPS[50:], REAL[50:])], verbose=False)


CODED = {"rows": X, "types": ["q", "q", "c"]}
MODELS = {
    "gbtree": lambda: train(REAL),
    "dart": lambda: train(REAL, 5, booster="dart", rate_drop=0.6, seed=1),
    "parallel-trees": lambda: train(REAL, num_parallel_tree=2, subsample=0.5),
    "binary": lambda: train(BINARY, objective="binary:logistic", base_score=0.3),
    "three-classes": lambda: train(THREE, objective="multi:softprob", num_class=3),
    "targets": lambda: train(TARGETS),
    "vector-leaves": lambda: train(TARGETS, multi_strategy="multi_output_tree"),
    "one-hot": lambda: train(REAL, max_cat_to_onehot=99, **CODED),
    "partition": lambda: train(REAL, max_cat_to_onehot=1, **CODED),
    "frame": lambda: xgb.XGBClassifier(
        n_estimators=2, max_depth=3, enable_categorical=True, tree_method="hist", n_jobs=1
    ).fit(FRAME, BINARY),
    "poisson": lambda: train(THREE, objective="count:poisson"),
    "early-stopping": stopped,
    "pruned": lambda: train(REAL, gamma=1, max_depth=6, tree_method="exact"),
    "one-leaf": lambda: train(REAL, 1, min_child_weight=1e9),
}


def said(model: Any) -> dict[str, Any]:
    """What this XGBoost says of the model; no contributions where it has none yet."""
    booster = model if isinstance(model, xgb.Booster) else model.get_booster()
    rounds = (0, model.best_iteration + 1) if getattr(model, "early_stopping_rounds", None) else (0, 0)
    data = xgb.DMatrix(ROWS, feature_names=booster.feature_names, feature_types=booster.feature_types)
    out = {"margin": booster.predict(data, output_margin=True, iteration_range=rounds).tolist()}
    try:
        out["contributions"] = booster.predict(data, pred_contribs=True, iteration_range=rounds).tolist()
    except xgb.core.XGBoostError as error:
        if "not yet implemented" not in str(error):
            raise
    return out


def main() -> None:
    expected: dict[str, Any] = {"rows": [[None if np.isnan(x) else x for x in row] for row in ROWS.tolist()]}
    for name, make in MODELS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = make()
            for ending in ("json", "ubj"):
                model.save_model(HERE / f"{name}-{xgb.__version__}.{ending}")
        expected[name] = said(model)
    path = HERE / f"expected-{xgb.__version__}.json"
    path.write_text(json.dumps(expected, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
