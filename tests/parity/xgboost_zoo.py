"""Every kind of XGBoost model that can be loaded, small, and what each says of itself.

`MODELS` names them; `fitted(name)` fits one and keeps it; `margin` and `contributions` ask the model through
its public methods only, so that it is not the loader that says what the model says.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xgboost as xgb

N_FEATURES = 5
VERSION = tuple(map(int, xgb.__version__.split(".")[:2]))
rng = np.random.default_rng(5)
X = rng.random((300, N_FEATURES)).astype(np.float32).astype(np.float64)  # what float32 holds
X[:, 2] = np.floor(X[:, 2] * 40)  # many categories, or a number
X[:, 4] = np.floor(X[:, 4] * 4)  # few
GAPS = np.where(rng.random(X.shape) < 0.15, np.nan, X)
REAL = 3 * X[:, 0] + np.sin(X[:, 2]) * (1 + X[:, 1]) + (X[:, 4] == 2) + 0.1 * rng.standard_normal(len(X))
BINARY = (np.median(REAL) < REAL).astype(int)
THREE = np.digitize(REAL, np.quantile(REAL, [0.3, 0.7]))
TARGETS = np.column_stack([REAL, X[:, 0] * REAL, X[:, 3]])
LABELS = np.column_stack([BINARY, X[:, 3] > 0.4]).astype(int)
FRAME = pd.DataFrame(
    {
        "size": GAPS[:, 0],
        "age": X[:, 1],
        "city": pd.Categorical([f"town {int(code)}" for code in X[:, 2]]),
        "height": X[:, 3],
        "grade": pd.Categorical((X[:, 4] * 3 - 2).astype(int)),
    }
)
CODES = np.column_stack(
    [FRAME[name].cat.codes if name in ("city", "grade") else FRAME[name] for name in FRAME]
).astype(float)
COLUMNS = ["q", "q", "c", "q", "c"]


@functools.cache
def models() -> dict[str, tuple[Callable[[], Any], np.ndarray]]:
    few = {"n_estimators": 8, "max_depth": 4, "random_state": 0, "n_jobs": 1}
    coded = {"enable_categorical": True, "tree_method": "hist", "feature_types": COLUMNS}
    R, C = xgb.XGBRegressor, xgb.XGBClassifier

    def train(y: np.ndarray, rounds: int = 8, rows: np.ndarray = GAPS, **params: Any) -> Any:
        data = xgb.DMatrix(rows, y)
        return xgb.train({"max_depth": 4, "nthread": 1, **params}, data, rounds)

    def survival() -> Any:
        data = xgb.DMatrix(GAPS)
        data.set_float_info("label_lower_bound", np.exp(REAL))
        data.set_float_info("label_upper_bound", np.exp(REAL) + 1)
        return xgb.train({"objective": "survival:aft", "max_depth": 3, "nthread": 1}, data, 6)

    def stopped() -> Any:
        model = R(**(few | {"n_estimators": 40}), early_stopping_rounds=2, learning_rate=1.0)
        model.fit(GAPS[:200], REAL[:200], eval_set=[(GAPS[200:], REAL[200:])], verbose=False)
        assert model.best_iteration + 1 < model.get_booster().num_boosted_rounds()
        return model

    def ours() -> Any:
        def squares(predicted: np.ndarray, data: Any) -> tuple[np.ndarray, np.ndarray]:
            return predicted - data.get_label(), np.ones_like(predicted)

        return xgb.train({"max_depth": 3, "nthread": 1}, xgb.DMatrix(GAPS, REAL), 5, obj=squares)

    few_targets = {"multi_strategy": "multi_output_tree", "tree_method": "hist"}
    return {
        "Booster": (lambda: train(REAL), GAPS),
        "regressor": (lambda: R(**few).fit(GAPS, REAL), GAPS),
        "classifier": (lambda: C(**few).fit(GAPS, BINARY), GAPS),
        "classifier, three classes": (lambda: C(**few).fit(GAPS, THREE), GAPS),
        "classifier, several labels": (lambda: C(**few, tree_method="hist").fit(GAPS, LABELS), GAPS),
        "ranker": (lambda: xgb.XGBRanker(**few).fit(GAPS, BINARY, group=[100] * 3), GAPS),
        "random forest regressor": (lambda: xgb.XGBRFRegressor(**few).fit(GAPS, REAL), GAPS),
        "random forest classifier": (lambda: xgb.XGBRFClassifier(**few).fit(GAPS, THREE), GAPS),
        "parallel trees": (lambda: train(REAL, 4, num_parallel_tree=3, subsample=0.5), GAPS),
        "parallel trees, three classes": (
            lambda: train(
                THREE, 3, num_parallel_tree=2, subsample=0.5, objective="multi:softmax", num_class=3
            ),
            GAPS,
        ),
        "dart": (lambda: train(REAL, 12, booster="dart", rate_drop=0.5, seed=3), GAPS),
        "dart, three classes": (
            lambda: train(THREE, 6, booster="dart", rate_drop=0.5, objective="multi:softprob", num_class=3),
            GAPS,
        ),
        "targets, a tree each": (lambda: R(**few, tree_method="hist").fit(GAPS, TARGETS), GAPS),
        "targets, vector leaves": (lambda: R(**few, **few_targets).fit(GAPS, TARGETS), GAPS),
        "labels, vector leaves": (lambda: C(**few, **few_targets).fit(GAPS, LABELS), GAPS),
        "three classes, vector leaves": (lambda: C(**few, **few_targets).fit(GAPS, THREE), GAPS),
        "categories, one-hot": (lambda: R(**few, **coded, max_cat_to_onehot=100).fit(X, REAL), X),
        "categories, partition": (lambda: R(**few, **coded, max_cat_to_onehot=1).fit(X, REAL), X),
        "categories of a frame": (
            lambda: C(**few, enable_categorical=True, tree_method="hist").fit(FRAME, BINARY),
            CODES,
        ),
        "missing is a number": (lambda: R(**few, missing=0.0).fit(X, REAL), X),
        "missing is infinity": (lambda: R(**few, missing=np.inf).fit(X, REAL), X),
        "early stopping": (stopped, GAPS),
        "base_score": (lambda: train(BINARY, base_score=0.999999, objective="binary:logistic"), GAPS),
        "one leaf": (lambda: train(REAL, 2, min_child_weight=1e9), GAPS),
        "pruned": (lambda: train(REAL, 4, gamma=3, max_depth=6, tree_method="exact"), GAPS),
        "deep": (lambda: train(REAL, 3, max_depth=0, grow_policy="lossguide", tree_method="hist"), GAPS),
        "approx": (lambda: train(REAL, tree_method="approx"), GAPS),
        "monotone": (lambda: train(REAL, monotone_constraints="(1,0,0,-1,0)"), GAPS),
        "weights": (lambda: R(**few).fit(GAPS, REAL, sample_weight=np.exp(X[:, 1])), GAPS),
        "objective of one's own": (ours, GAPS),
        "targets near 1e8": (lambda: train(1e8 + 1e5 * REAL, 30), GAPS),
        "count:poisson": (lambda: train(THREE, objective="count:poisson"), GAPS),
        "reg:gamma": (lambda: train(np.exp(REAL), objective="reg:gamma"), GAPS),
        "reg:tweedie": (lambda: train(THREE, objective="reg:tweedie"), GAPS),
        "reg:logistic": (lambda: train(X[:, 0], objective="reg:logistic"), GAPS),
        "reg:squaredlogerror": (lambda: train(THREE, objective="reg:squaredlogerror"), GAPS),
        "reg:pseudohubererror": (lambda: train(REAL, objective="reg:pseudohubererror"), GAPS),
        "reg:absoluteerror": (lambda: train(REAL, objective="reg:absoluteerror"), GAPS),
        "reg:quantileerror": (
            lambda: train(REAL, objective="reg:quantileerror", quantile_alpha=[0.2, 0.8], tree_method="hist"),
            GAPS,
        ),
        "binary:logitraw": (lambda: train(BINARY, objective="binary:logitraw"), GAPS),
        "binary:hinge": (lambda: train(BINARY, objective="binary:hinge"), GAPS),
        "survival:cox": (lambda: train(np.exp(REAL), objective="survival:cox"), GAPS),
        "survival:aft": (survival, GAPS),
    }


@functools.cache
def fitted(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what newer versions call deprecated
        return models()[name][0]()


def rows(name: str) -> np.ndarray:
    """The training rows as numbers: categories are codes."""
    return models()[name][1]


def booster_of(model: Any) -> Any:
    return model if isinstance(model, xgb.Booster) else model.get_booster()


def margin(model: Any, X: Any) -> np.ndarray:
    """The model's raw output, (n, K)."""
    if isinstance(model, xgb.Booster):
        return model.inplace_predict(X, predict_type="margin").reshape(len(X), -1)
    return model.predict(X, output_margin=True).reshape(len(X), -1)


def rounds(model: Any) -> tuple[int, int]:
    """The rounds that the model's own `predict` uses."""
    return (0, model.best_iteration + 1) if getattr(model, "early_stopping_rounds", None) else (0, 0)


def from_matrix(model: Any, X: np.ndarray, **what: bool) -> np.ndarray:
    """Ask the Booster through a DMatrix, which takes no infinity."""
    booster = booster_of(model)
    missing = getattr(model, "missing", np.nan)
    data = xgb.DMatrix(
        X,
        missing=missing,
        feature_names=booster.feature_names,
        feature_types=booster.feature_types,
        nthread=1,
    )
    return booster.predict(data, iteration_range=rounds(model), **what)


def contributions(model: Any, X: np.ndarray, n_outputs: int) -> tuple[np.ndarray, np.ndarray]:
    """XGBoost's own Shapley values (n, N, K), and what it gives to nothing known, (n, K)."""
    own = from_matrix(model, X, pred_contribs=True).reshape(len(X), n_outputs, -1)
    return own[:, :, :-1].transpose(0, 2, 1), own[:, :, -1]


def save(model: Any, folder: Path, ending: str) -> Path:
    path = folder / f"model.{ending}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.save_model(path)
    return path
