"""Writes the model files beside it, and expected.json: `python tests/golden/catboost/make_models.py`.

One small model per feature of CatBoost's formats, as .json and as .cbm, and what the library says of rows far
and near: its raw output and its ShapValues. All expected numbers are the library's; leafgrad is not asked.
The JSON files keep of `model_info` what tells the loss and the labels; `symmetric.json` is whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from catboost import CatBoost, CatBoostClassifier, CatBoostRegressor, Pool, __version__

HERE = Path(__file__).parent
rng = np.random.default_rng(0)
X = rng.random((200, 3)).round(3)
MISSING = np.where(rng.random(X.shape) < 0.2, np.nan, X)
CODED = X.astype(object)
CODED[:, 1] = rng.choice(["red", "grün", "blue", "7"], 200)
CODED[:, 2] = rng.integers(0, 4, 200)
real = 2 * X[:, 0] + X[:, 1] * X[:, 2]
coded = real + (CODED[:, 1] == "grün") - (CODED[:, 2] == 2)
three = np.array(["low", "middle", "top"])[np.digitize(real, [0.8, 1.4])]
few: dict[str, Any] = {
    "iterations": 3,
    "depth": 3,
    "learning_rate": 0.5,
    "verbose": 0,
    "random_seed": 0,
    "thread_count": 1,
    "allow_writing_files": False,
}
one_hot = {**few, "cat_features": [1, 2], "one_hot_max_size": 10}
nested = {"grow_policy": "Lossguide", "max_leaves": 5}

MODELS: dict[str, tuple[Callable[[], Any], np.ndarray]] = {
    "symmetric": (lambda: CatBoostRegressor(**few).fit(X, real), X),
    "lossguide": (lambda: CatBoostRegressor(**few, **nested).fit(X, real), X),
    "depthwise": (lambda: CatBoostRegressor(**few, grow_policy="Depthwise").fit(X, real), X),
    "sample-weights": (
        lambda: CatBoostRegressor(**few).fit(X, real, sample_weight=1 / 3 + X[:, 1]),
        X,
    ),
    "missing-least": (lambda: CatBoostRegressor(**few).fit(MISSING, real), MISSING),
    "missing-greatest": (lambda: CatBoostRegressor(**few, nan_mode="Max").fit(MISSING, real), MISSING),
    "one-hot": (lambda: CatBoostRegressor(**one_hot).fit(CODED, coded), CODED),
    "one-hot-lossguide": (lambda: CatBoostRegressor(**one_hot, **nested).fit(CODED, coded), CODED),
    "binary": (lambda: CatBoostClassifier(**few).fit(X, (real > 1).astype(int)), X),
    "three-classes": (lambda: CatBoostClassifier(**few).fit(X, three), X),
    "three-classes-lossguide": (lambda: CatBoostClassifier(**few, **nested).fit(X, three), X),
    "one-against-all": (
        lambda: CatBoostClassifier(**few, loss_function="MultiClassOneVsAll").fit(X, three),
        X,
    ),
    "two-targets": (
        lambda: CatBoostRegressor(**few, loss_function="MultiRMSE").fit(X, X[:, :2] * 10),
        X,
    ),
    "poisson": (lambda: CatBoostRegressor(**few, loss_function="Poisson").fit(X, real), X),
}


def asked(rows: np.ndarray) -> np.ndarray:
    """Some training rows, and some far from them; numbers that JSON holds exactly."""
    near, far = rows[:6].copy(), rows[6:12].copy()
    far[:, 0] = [1e9, -1e9, 0, np.nan, 0.5, 3]
    if rows is CODED:
        far[:3, 1], far[3:, 2] = "never seen", [-5, 77, 2]
    else:
        far[:3, 1:] *= -50
    return np.concatenate([near, far])


def contributions(model: Any, path: Path, rows: Pool) -> np.ndarray:
    """ShapValues, (n, N + 1, K), by way of JSON: else those of nested trees do not add up, see the docs."""
    read = CatBoost().load_model(str(path), format="json")
    out = np.asarray(read.get_feature_importance(rows, type="ShapValues"))
    return out[:, :, None] if out.ndim == 2 else out.transpose(0, 2, 1)


def plain(cell: Any) -> Any:
    """A cell as JSON has it: missing is null."""
    return None if isinstance(cell, float) and np.isnan(cell) else cell


def made(name: str) -> dict[str, Any]:
    """Write one model's files, and say what is expected of it."""
    train, like = MODELS[name]
    model, rows = train(), asked(like)
    path = HERE / f"{name}.json"
    model.save_model(str(HERE / f"{name}.cbm"))
    model.save_model(str(path), format="json")
    raw = CatBoost.predict(model, rows, prediction_type="RawFormulaVal").reshape(len(rows), -1)
    values = contributions(model, path, Pool(rows, cat_features=[1, 2] if like is CODED else None))
    if name != "symmetric":
        written = json.loads(path.read_text())
        info = written["model_info"]
        written["model_info"] = {
            "params": {"loss_function": info["params"]["loss_function"]},
            **({"class_params": info["class_params"]} if "class_params" in info else {}),
        }
        path.write_text(json.dumps(written, indent=1) + "\n")
    return {
        "X": [list(map(plain, row)) for row in rows.tolist()],
        "raw": raw.tolist(),
        "shap_values": values.tolist(),
    }


if __name__ == "__main__":
    expected = {"catboost": __version__, "models": {name: made(name) for name in MODELS}}
    (HERE / "expected.json").write_text(json.dumps(expected) + "\n")
