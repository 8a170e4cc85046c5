"""treelite models are explained as treelite predicts, and as the model that they were made from.

Rows lie on and around thresholds, are missing, infinite or of unknown categories. A model of float32 adds up
in it: outputs may differ by 1e-6 of |constant| + the sum of the trees' largest |leaf|; others by 1e-12.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pytest
import scipy.sparse
import treelite
import xgboost
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
)

import leafgrad as lg
from leafgrad.load.probes import probe_rows, spoken
from parity.zoo import d, few, hist, unit

codes = d.codes.copy()  # as treelite takes them: categories 0, 1, ...
codes[:, 1] = np.floor(d.X[:, 1] * 40)
codes[:, 4] = np.floor(d.X[:, 4] * 5)
three = np.unique(d.three, return_inverse=True)[1]
quiet = {"verbose": -1, "num_leaves": 8, "min_data_in_leaf": 5, "num_threads": 1}
small = {"max_depth": 4, "nthread": 1}


def of_lightgbm(y: Any, X: Any = d.missing, categories: Any = "auto", **how: Any) -> Callable[[], Any]:
    def make() -> Any:
        data = lightgbm.Dataset(X, y, categorical_feature=categories)
        return treelite.frontend.from_lightgbm(lightgbm.train({**quiet, **how}, data, 6))

    return make


def of_xgboost(y: Any, X: Any = d.missing, types: Any = None, **how: Any) -> Callable[[], Any]:
    def make() -> Any:
        data = xgboost.DMatrix(X, y, feature_types=types, enable_categorical=types is not None, nthread=1)
        return treelite.frontend.from_xgboost(xgboost.train({**small, **how}, data, 6))

    return make


def of_sklearn(model: Any, y: Any, X: Any = d.X, **how: Any) -> Callable[[], Any]:
    def make() -> Any:
        imported = treelite.sklearn.import_model(model.fit(X, y, **how))
        originals[id(imported)] = model
        return imported

    return make


originals: dict[int, Any] = {}  # what the treelite models that `made` keeps were imported from


MODELS: dict[str, Callable[[], Any]] = {
    "LightGBM": of_lightgbm(d.real),
    "LightGBM, binary": of_lightgbm(d.binary, objective="binary", sigmoid=2.0),
    "LightGBM, multiclass": of_lightgbm(three, objective="multiclass", num_class=3),
    "LightGBM, one against all": of_lightgbm(three, objective="multiclassova", num_class=3),
    "LightGBM, random forest": of_lightgbm(d.real, boosting="rf", bagging_freq=1, bagging_fraction=0.5),
    "LightGBM, dart": of_lightgbm(d.real, boosting="dart", drop_rate=0.5),
    "LightGBM, poisson": of_lightgbm(d.real - d.real.min(), objective="poisson"),
    "LightGBM, categories": of_lightgbm(d.real, codes, [1, 4]),
    "XGBoost": of_xgboost(d.real),
    "XGBoost, binary": of_xgboost(d.binary, objective="binary:logistic"),
    "XGBoost, multiclass": of_xgboost(three, objective="multi:softprob", num_class=3),
    "XGBoost, dart": of_xgboost(d.real, booster="dart", rate_drop=0.5),
    "XGBoost, random forest": of_xgboost(d.real, num_parallel_tree=3, subsample=0.5),
    "XGBoost, poisson": of_xgboost(d.real - d.real.min(), objective="count:poisson"),
    "XGBoost, categories": of_xgboost(d.real, codes, ["q", "c", "q", "q", "c", "q"], tree_method="hist"),
    "XGBoost, two targets": of_xgboost(d.two, tree_method="hist"),
    "XGBoost, vector leaves": of_xgboost(d.two, tree_method="hist", multi_strategy="multi_output_tree"),
    "scikit-learn random forest": of_sklearn(RandomForestRegressor(**few), d.real),
    "scikit-learn random forest, two targets": of_sklearn(RandomForestRegressor(**few), d.two),
    "scikit-learn random forest classifier": of_sklearn(RandomForestClassifier(**few), three),
    "scikit-learn random forest classifier, pair": of_sklearn(RandomForestClassifier(**few), d.pair),
    "scikit-learn extra trees classifier": of_sklearn(ExtraTreesClassifier(**few), d.binary),
    "scikit-learn boosting": of_sklearn(GradientBoostingRegressor(**few), d.real, sample_weight=d.weight),
    "scikit-learn boosting classifier": of_sklearn(GradientBoostingClassifier(**few), d.binary),
    "scikit-learn boosting classifier, three": of_sklearn(GradientBoostingClassifier(**few), three),
    "scikit-learn hist": of_sklearn(HistGradientBoostingRegressor(**hist), d.real, d.missing),
    "scikit-learn hist classifier, categories": of_sklearn(
        HistGradientBoostingClassifier(categorical_features=[1, 4], **hist), d.binary, np.nan_to_num(codes)
    ),
    "scikit-learn isolation forest": of_sklearn(IsolationForest(**few), None),
}


@functools.cache
def made(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MODELS[name]()


def loaded(name: str) -> lg.Forest:
    """With the model's own covers; XGBoost keeps those of vector leaves from 3.0 on."""
    return lg.load(made(name), data=d.missing if name == "XGBoost, vector leaves" else None)


def rows_of(name: str) -> np.ndarray:
    return codes if "categories" in name else d.missing


def live(model: Any, X: Any) -> np.ndarray:
    """treelite's raw output, without the places of classes that a target does not have."""
    out = treelite.gtil.predict(model, X, pred_margin=True, nthread=1)
    n_classes = model.get_header_accessor().get_field("num_class")
    return np.hstack([out[:, t, :n].reshape(X.shape[0], -1) for t, n in enumerate(n_classes)])


def allowed(model: Any, forest: lg.Forest) -> np.ndarray:
    return (1e-12 if model.output_type == "float64" else 1e-6) * unit(forest)


def assert_same(forest: lg.Forest, model: Any, X: Any) -> None:
    own = forest.predict(X).reshape(X.shape[0], -1)
    expected = live(model, X)
    assert own.shape == expected.shape
    assert np.all(np.abs(own - expected) <= allowed(model, forest))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.supports("treelite", name)) for name in MODELS]
)
def test_outputs_and_leaves_are_treelites(name: str) -> None:
    model, X = made(name), rows_of(name)
    forest = loaded(name)
    assert forest.checked
    assert_same(forest, model, X)
    for seed in (1, 2):  # other rows than those that `load` has looked at
        probes = spoken(forest, probe_rows(forest, seed=seed))
        assert_same(forest, model, probes)
        assert np.array_equal(forest.leaves(probes), treelite.gtil.predict_leaf(model, probes, nthread=1))


@pytest.mark.parametrize("name", MODELS)
def test_missing_infinite_and_unknown_values(name: str) -> None:
    model, X = made(name), rows_of(name)
    forest = loaded(name)
    for value in (np.nan, np.inf, -np.inf, 1e30, -3.0, -0.5, 77.0):
        rows = X[:60].copy()
        rows[np.arange(60), np.resize([0, 1, 2, 4], 60)] = value
        assert_same(forest, model, rows)


@pytest.mark.parametrize("name", MODELS)
def test_shapley_values_add_up_to_treelite(name: str) -> None:
    model, X = made(name), rows_of(name)[:40]
    forest = loaded(name)
    values = lg.explain(forest, X, progress=False).values.reshape(len(X), X.shape[1], -1)
    assert np.all(np.abs(values.sum(axis=1) + forest.base - live(model, X)) <= allowed(model, forest))


@pytest.mark.parametrize("name", MODELS)
def test_saved_and_reloaded_the_bits_are_the_same(name: str, tmp_path: Path) -> None:
    model, X = made(name), rows_of(name)[:20]
    model.serialize(tmp_path / "model.tl")
    values = lg.explain(loaded(name), X, progress=False).values
    for again in (tmp_path / "model.tl", str(tmp_path / "model.tl")):
        forest = lg.load(again, data=d.missing if name == "XGBoost, vector leaves" else None)
        assert forest.checked
        assert np.array_equal(lg.explain(forest, X, progress=False).values, values)


@pytest.mark.parametrize("name", [name for name in MODELS if "scikit-learn" in name])
def test_covers_are_those_of_the_scikit_learn_model(name: str) -> None:
    """Its weighted counts: the values are those of the model itself, on rows that rounding does not touch."""
    model = originals[id(made(name))]
    X = np.nan_to_num((rows_of(name) if "categories" in name else d.X)[:20].astype(np.float32))
    ours, theirs = lg.load(made(name)), lg.load(model)
    assert np.array_equal(ours.share, theirs.share)
    if "isolation" in name:
        return  # the path lengths of treelite before 4.5 are not quite scikit-learn's
    a, b = (lg.explain(forest, X, progress=False).values for forest in (ours, theirs))
    assert np.all(np.abs(a.reshape(b.shape) - b) <= 1e-12 * np.max(unit(theirs)))


@pytest.mark.parametrize("name", ["LightGBM", "LightGBM, categories", "LightGBM, multiclass"])
def test_values_are_lightgbms_own_contributions(name: str) -> None:
    X = rows_of(name)
    y, how = (three, {"objective": "multiclass", "num_class": 3}) if "multi" in name else (d.real, {})
    data = lightgbm.Dataset(X, y, categorical_feature=[1, 4] if "categories" in name else "auto")
    booster = lightgbm.train({**quiet, **how}, data, 6)
    forest = lg.load(treelite.frontend.from_lightgbm(booster))
    own = lg.explain(forest, X[:40], progress=False).values.reshape(40, X.shape[1], -1)
    theirs = booster.predict(X[:40], pred_contrib=True).reshape(40, -1, X.shape[1] + 1)[:, :, :-1]
    assert np.all(np.abs(own - theirs.transpose(0, 2, 1)) <= 1e-9 * unit(forest))  # its own precision


@pytest.mark.parametrize("name", ["XGBoost", "XGBoost, multiclass"])
def test_values_are_xgboosts_own_contributions(name: str) -> None:
    y, how = (three, {"objective": "multi:softprob", "num_class": 3}) if "multi" in name else (d.real, {})
    data = xgboost.DMatrix(d.missing, y, nthread=1)
    booster = xgboost.train({**small, **how}, data, 6)
    forest = lg.load(treelite.frontend.from_xgboost(booster))
    own = lg.explain(forest, d.missing, progress=False).values.reshape(len(d.X), d.X.shape[1], -1)
    theirs = booster.predict(data, pred_contribs=True).reshape(len(d.X), -1, d.X.shape[1] + 1)[:, :, :-1]
    assert np.all(np.abs(own - theirs.transpose(0, 2, 1)) <= 2e-6 * unit(forest))  # float32 contributions


def test_what_the_forest_says() -> None:
    def facts(name: str) -> tuple[Any, ...]:
        forest = lg.load(made(name))
        return forest.n_outputs, forest.classes, forest.link

    assert facts("LightGBM") == (1, None, "identity")
    assert facts("LightGBM, binary") == (1, (0, 1), "sigmoid:2.0")
    assert facts("LightGBM, one against all") == (3, (0, 1, 2), "sigmoid")
    assert facts("LightGBM, poisson") == (1, None, "exp")
    assert facts("XGBoost, multiclass") == (3, (0, 1, 2), "softmax")
    assert facts("XGBoost, two targets") == (2, None, "identity")
    assert facts("scikit-learn extra trees classifier") == (2, (0, 1), "identity")
    assert facts("scikit-learn random forest classifier, pair") == (5, ((0, 1), (0, 1, 2)), "identity")


def test_an_absent_entry_is_missing() -> None:
    X = scipy.sparse.csr_matrix(np.where(d.X < 0.6, 0, d.X))
    model = made("XGBoost")
    assert_same(lg.load(model), model, X)


def test_the_link_leads_to_what_treelite_predicts() -> None:
    for name in ("LightGBM, binary", "LightGBM, one against all", "XGBoost, multiclass", "LightGBM, poisson"):
        model = made(name)
        forest = lg.load(model)
        order = np.tile(np.arange(d.X.shape[1]), (10, 1))
        if forest.n_outputs > 1:
            order = np.repeat(order[:, :, None], forest.n_outputs, axis=2)
        curve = lg.curves(forest, d.missing[:10], order, link="model", progress=False).insertion
        known = curve[:, -1] if curve.ndim == 2 else curve[:, -1, :]
        theirs = treelite.gtil.predict(model, d.missing[:10], nthread=1)
        assert known.ravel() == pytest.approx(theirs.ravel(), rel=1e-5)  # float32 exponentials
