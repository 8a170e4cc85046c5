"""Every kind of CatBoost model that can be loaded, small, and what each says of itself.

`MODELS` names them; `fitted(name)` trains one and keeps it; `rows_of(name)` are its training rows; `live` and
`contributions` ask the library through its public methods only.
"""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import catboost
import numpy as np
import pandas as pd
from catboost import CatBoost, CatBoostClassifier, CatBoostRanker, CatBoostRegressor

from parity.zoo import data

d = data()
GROUPS = np.sort(np.arange(len(d.X)) % 12)
# Columns 1 and 4 are categories: text, and integers.
FRAME = pd.DataFrame(d.X, columns=list("abcdef")).assign(
    b=d.words[:, 1], e=np.nan_to_num(d.codes[:, 4]).astype(int), c=d.missing[:, 2]
)
few: dict[str, Any] = {
    "iterations": 12,
    "depth": 4,
    "learning_rate": 0.3,
    "verbose": 0,
    "random_seed": 0,
    "thread_count": 1,
    "allow_writing_files": False,
}
coded = {**few, "cat_features": ["b", "e"], "one_hot_max_size": 50}
lossguide, depthwise = {"grow_policy": "Lossguide", "max_leaves": 9}, {"grow_policy": "Depthwise"}


def fit(model: Any, X: Any, y: Any, **more: Any) -> Callable[[], Any]:
    return lambda: model.fit(X, y, **more)


def scaled(model: Any, scale: float, bias: Any) -> Any:
    model.set_scale_and_bias(scale, bias)
    return model


def shrunk() -> Any:
    model = CatBoostRegressor(**few).fit(d.X, d.real)
    model.shrink(ntree_end=7, ntree_start=2)
    return model


def summed() -> Any:
    parts = [CatBoostRegressor(**few).fit(d.X, target) for target in (d.real, d.X[:, 3])]
    return catboost.sum_models(parts, weights=[0.25, 3.0])


MODELS: dict[str, Callable[[], Any]] = {
    # kinds of trees
    "symmetric": fit(CatBoostRegressor(**few), d.X, d.real),
    "symmetric, depth 6 and empty leaves": fit(CatBoostRegressor(**{**few, "depth": 6}), d.X, d.real),
    "lossguide": fit(CatBoostRegressor(**few, **lossguide), d.X, d.real),
    "depthwise": fit(CatBoostRegressor(**few, **depthwise), d.X, d.real),
    "lossguide, three classes": fit(CatBoostClassifier(**few, **lossguide), d.X, d.three),
    "ordered boosting": fit(CatBoostRegressor(**few, boosting_type="Ordered"), d.X, d.real),
    "sample weights": fit(CatBoostRegressor(**few), d.X, d.real, sample_weight=d.weight),
    "lossguide, sample weights": fit(
        CatBoostRegressor(**few, **lossguide), d.X, d.real, sample_weight=d.weight
    ),
    "borders by the thousand": fit(CatBoostRegressor(**few, border_count=5000), d.X, d.real),
    "monotonic": fit(CatBoostRegressor(**few, monotone_constraints=[1, 0, 0, -1, 0, 0]), d.X, d.real),
    # missing values
    "missing as least": fit(CatBoostRegressor(**few), d.missing, d.real),
    "missing as greatest": fit(CatBoostRegressor(**few, nan_mode="Max"), d.missing, d.real),
    "missing as greatest, lossguide": fit(
        CatBoostRegressor(**few, **lossguide, nan_mode="Max"), d.missing, d.real
    ),
    "missing as greatest, none in training": fit(CatBoostRegressor(**few, nan_mode="Max"), d.X, d.real),
    "missing forbidden": fit(CatBoostRegressor(**few, nan_mode="Forbidden"), d.X, d.real),
    # categories
    "one-hot": fit(CatBoostRegressor(**coded), FRAME, d.real),
    "one-hot, lossguide": fit(CatBoostRegressor(**coded, **lossguide), FRAME, d.real),
    "one-hot, three classes": fit(CatBoostClassifier(**coded), FRAME, d.three),
    # outputs
    "base class": fit(CatBoost(few), d.X, d.real),
    "classifier": fit(CatBoostClassifier(**few), d.X, d.binary),
    "classifier, focal": fit(
        CatBoostClassifier(**few, loss_function="Focal:focal_alpha=0.4;focal_gamma=2.0"), d.X, d.binary
    ),
    "classifier, cross-entropy": fit(CatBoostClassifier(**few, loss_function="CrossEntropy"), d.X, d.X[:, 0]),
    "three classes": fit(CatBoostClassifier(**few), d.X, d.three),
    "one against all": fit(CatBoostClassifier(**few, loss_function="MultiClassOneVsAll"), d.X, d.three),
    "a class never seen": fit(
        CatBoostClassifier(**few, loss_function="MultiClass", class_names=["low", "none", "top", "middle"]),
        d.X,
        d.three,
    ),
    "several labels": fit(
        CatBoostClassifier(**few, loss_function="MultiLogloss"), d.X, (d.two > 1).astype(int)
    ),
    "several labels, cross-entropy": fit(
        CatBoostClassifier(**few, loss_function="MultiCrossEntropy"), d.X, d.X[:, :2]
    ),
    "two targets": fit(CatBoostRegressor(**few, loss_function="MultiRMSE"), d.X, d.two),
    "quantile": fit(CatBoostRegressor(**few, loss_function="Quantile:alpha=0.3"), d.X, d.real),
    "quantiles": fit(CatBoostRegressor(**few, loss_function="MultiQuantile:alpha=0.2,0.7"), d.X, d.real),
    "absolute error": fit(CatBoostRegressor(**few, loss_function="MAE"), d.X, d.real),
    "poisson": fit(CatBoostRegressor(**few, loss_function="Poisson"), d.X, d.real - d.real.min()),
    "tweedie": fit(
        CatBoostRegressor(**few, loss_function="Tweedie:variance_power=1.5"), d.X, d.real - d.real.min()
    ),
    "uncertainty": fit(CatBoostRegressor(**few, loss_function="RMSEWithUncertainty"), d.X, d.real),
    "survival": fit(
        CatBoostRegressor(**few, loss_function="SurvivalAft"),
        d.X,
        np.column_stack([d.X[:, 0] + 1, d.X[:, 0] + d.X[:, 1] + 1]),
    ),
    "ranker": fit(CatBoostRanker(**few), d.X, d.X[:, 0], group_id=GROUPS),
    "ranker, pairs": fit(CatBoostRanker(**few, loss_function="PairLogit"), d.X, d.binary, group_id=GROUPS),
    # what happened after training
    "scale and bias": lambda: scaled(CatBoostRegressor(**few).fit(d.X, d.real), -2.5, 100.0),
    "scale and biases": lambda: scaled(CatBoostClassifier(**few).fit(d.X, d.three), 0.3, [1.0, -20.0, 3.0]),
    "scale, lossguide": lambda: scaled(CatBoostRegressor(**few, **lossguide).fit(d.X, d.real), 0.3, -1.0),
    "shrunk": shrunk,
    "best iteration": fit(
        CatBoostRegressor(**{**few, "iterations": 60}), d.X, d.real, eval_set=(d.X[:40], d.real[:40][::-1])
    ),
    "sum of models": summed,
}


@functools.cache
def fitted(name: str) -> Any:
    return MODELS[name]()


def rows_of(name: str) -> Any:
    if "one-hot" in name:
        return FRAME
    return d.missing if name.startswith("missing as") and "none" not in name else d.X


def strange_rows(name: str, n: int = 300) -> Any:
    """Rows far from the training's, with infinities, missing values and categories never seen."""
    rng = np.random.default_rng(5)
    X = rng.normal(scale=10.0 ** rng.integers(-2, 6, (n, 6)))
    odd = rng.random(X.shape)
    X[odd < 0.15] = np.nan
    X[odd > 0.97] = np.inf
    X[odd > 0.985] = -np.inf
    if "one-hot" not in name:
        return X
    return pd.DataFrame(X, columns=list("abcdef")).assign(
        b=np.resize(["city 3", "nowhere", "", "Zürich", "city 117"], n), e=rng.integers(-9, 9, n)
    )


def pool(name: str, X: Any) -> Any:
    cat_features = [1, 4] if "one-hot" in name else None
    groups = {"group_id": np.zeros(len(X), int)} if "ranker" in name else {}
    return catboost.Pool(X, cat_features=cat_features, **groups)


def live(name: str, X: Any) -> np.ndarray:
    """The library's raw output, (n, K), without classes that it has never seen."""
    model = fitted(name)
    out = CatBoost.predict(model, X, prediction_type="RawFormulaVal").reshape(len(X), -1)
    return out[:, [0, 2, 3]] if name == "a class never seen" else out


def contributions(name: str, X: Any) -> np.ndarray:
    """The library's ShapValues, (n, N + 1, K), the last row being the mean.

    The library refuses models with a scale, or ignores it: it is asked without, and the scale is put on
    after. Of "uncertainty" it explains the mean alone.
    """
    model = fitted(name)
    scale, bias = model.get_scale_and_bias()
    if scale != 1:
        model = scaled(model.copy(), 1.0, np.zeros_like(bias).tolist())
    if "loss" in name or "depthwise" in name:
        model = through_json(model)
    out = np.asarray(model.get_feature_importance(pool(name, X), type="ShapValues", shap_calc_type="Regular"))
    out = out[:, :, None] if out.ndim == 2 else out.transpose(0, 2, 1)
    if scale != 1:
        out = scale * out
        out[:, -1] += bias
    return out


def through_json(model: Any) -> Any:
    """The same model, its leaves numbered from left to right.

    CatBoost numbers the leaves of a tree that is not symmetric as they grew. Its ShapValues take them from
    left to right all the same, and then do not add up to its own prediction; written to JSON and read again,
    they do.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "model.json"))
        model.save_model(path, format="json")
        return CatBoost().load_model(path, format="json")
