"""Every kind of scikit-learn model that can be loaded, small, and what each says of itself.

`MODELS` names them; `fitted(name)` fits one and keeps it; `live(model, X)` is the model's own raw output,
asked through its public methods only, so that it is not the loader that says what the model says.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)

N_FEATURES = 6


@dataclass(frozen=True)
class Data:
    """One table and the targets that models are fitted to."""

    X: np.ndarray  # numbers
    missing: np.ndarray  # the same with NaN
    codes: np.ndarray  # columns 1 and 4 are categories, given as numbers; some missing
    words: np.ndarray  # column 1 is text
    real: np.ndarray
    two: np.ndarray  # targets: two real ones
    binary: np.ndarray
    three: np.ndarray  # text labels
    pair: np.ndarray  # two targets, of two and three classes
    weight: np.ndarray


@functools.cache
def data(n: int = 240) -> Data:
    rng = np.random.default_rng(7)
    X = rng.random((n, N_FEATURES))
    missing = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    codes = X.copy()
    codes[:, 1] = np.floor(X[:, 1] * 40) * 3  # not the numbers 0, 1, ...: codes are positions
    codes[:, 4] = np.floor(X[:, 4] * 5) - 2
    codes[::11, 4] = np.nan
    words = codes.astype(object)
    words[:, 1] = [f"city {int(code)}" for code in codes[:, 1]]
    real = 3 * X[:, 0] + np.sin(9 * X[:, 1]) * X[:, 2] + X[:, 4] + 0.1 * rng.standard_normal(n)
    binary = (real > np.median(real)).astype(int)
    three = np.array(["low", "middle", "top"])[np.digitize(real, np.quantile(real, [0.3, 0.7]))]
    pair = np.column_stack([binary, np.digitize(X[:, 3], [0.3, 0.7])])
    two = np.column_stack([real, X[:, 0] * real])
    return Data(X, missing, codes, words, real, two, binary, three, pair, weight=rng.random(n) + 0.1)


d = data()
r = {"random_state": 0}
few = {"n_estimators": 7, "random_state": 0}
hist = {"max_iter": 8, "min_samples_leaf": 5, "random_state": 0}


class UnweightedRegressor(VotingRegressor):
    """One that takes no sample weights: Bagging then hands it the rows that it drew, and no others."""

    def fit(self, X: Any, y: Any) -> Any:
        return super().fit(X, y)


class UnweightedClassifier(VotingClassifier):
    """The same for classifiers."""

    def fit(self, X: Any, y: Any) -> Any:
        return super().fit(X, y)


def fit(model: Any, X: Any, y: Any, **more: Any) -> Callable[[], Any]:
    return lambda: model.fit(X, y, **more)


MODELS: dict[str, Callable[[], Any]] = {
    # single trees
    "tree": fit(DecisionTreeRegressor(**r), d.X, d.real),
    "tree of one leaf": fit(DecisionTreeRegressor(**r), d.X, np.ones(len(d.X))),
    "tree, two targets": fit(DecisionTreeRegressor(max_depth=5, **r), d.X, d.two),
    "tree, missing": fit(DecisionTreeRegressor(**r), d.missing, d.real),
    "tree, pruned": fit(DecisionTreeRegressor(ccp_alpha=0.01, **r), d.X, d.real),
    "tree, monotonic": fit(
        DecisionTreeRegressor(monotonic_cst=[1, 0, 0, -1, 0, 0], **r), d.X, d.real, sample_weight=d.weight
    ),
    "tree classifier": fit(DecisionTreeClassifier(max_depth=4, **r), d.X, d.three, sample_weight=d.weight),
    "tree classifier, one class": fit(DecisionTreeClassifier(**r), d.X, np.full(len(d.X), "only")),
    "tree classifier, pair": fit(DecisionTreeClassifier(max_depth=5, **r), d.missing, d.pair),
    "extra tree": fit(ExtraTreeRegressor(**r), d.X, d.real),
    "extra tree classifier": fit(ExtraTreeClassifier(**r), d.X, d.binary),
    # forests
    "random forest": fit(RandomForestRegressor(**few), d.X, d.real),
    "random forest, absolute": fit(
        RandomForestRegressor(criterion="absolute_error", max_depth=4, **few), d.X, d.real
    ),
    "random forest, two targets": fit(RandomForestRegressor(max_depth=6, **few), d.X, d.two),
    "random forest, missing": fit(RandomForestRegressor(**few), d.missing, d.real, sample_weight=d.weight),
    "random forest classifier": fit(RandomForestClassifier(**few), d.X, d.three),
    "random forest classifier, pair": fit(RandomForestClassifier(**few), d.missing, d.pair),
    "random forest classifier, weights": fit(
        RandomForestClassifier(class_weight="balanced_subsample", ccp_alpha=0.005, **few), d.X, d.binary
    ),
    "extra trees": fit(ExtraTreesRegressor(bootstrap=True, **few), d.X, d.real),
    "extra trees classifier": fit(ExtraTreesClassifier(**few), d.X, d.three),
    "isolation forest": fit(IsolationForest(**few), d.X, None),
    "isolation forest, subsets": fit(
        IsolationForest(max_features=3, max_samples=50, contamination=0.1, **few), d.X, None
    ),
    # gradient boosting
    "boosting": fit(GradientBoostingRegressor(**few), d.X, d.real, sample_weight=d.weight),
    "boosting, huber": fit(GradientBoostingRegressor(loss="huber", subsample=0.6, **few), d.X, d.real),
    "boosting, quantile": fit(GradientBoostingRegressor(loss="quantile", alpha=0.3, **few), d.X, d.real),
    "boosting from zero": fit(GradientBoostingRegressor(init="zero", **few), d.X, d.real),
    "boosting from Dummy": fit(
        GradientBoostingRegressor(init=DummyRegressor(strategy="median"), **few), d.X, d.real
    ),
    "boosting from a forest": fit(
        GradientBoostingRegressor(init=RandomForestRegressor(n_estimators=3, max_depth=3, **r), **few),
        d.X,
        d.real,
    ),
    "boosting from float64 trees": fit(
        GradientBoostingRegressor(init=HistGradientBoostingRegressor(**hist), **few), d.X, d.real
    ),
    "boosting classifier": fit(GradientBoostingClassifier(**few), d.X, d.binary),
    "boosting classifier, exponential": fit(
        GradientBoostingClassifier(loss="exponential", **few), d.X, d.binary
    ),
    "boosting classifier, three": fit(GradientBoostingClassifier(**few), d.X, d.three),
    "boosting classifier from Dummy": fit(
        GradientBoostingClassifier(init=DummyClassifier(strategy="uniform"), **few), d.X, d.three
    ),
    # histogram boosting
    "hist": fit(HistGradientBoostingRegressor(**hist), d.missing, d.real, sample_weight=d.weight),
    "hist, poisson": fit(
        HistGradientBoostingRegressor(loss="poisson", **hist), d.missing, d.real - d.real.min()
    ),
    "hist, gamma": fit(HistGradientBoostingRegressor(loss="gamma", **hist), d.X, 1 + d.real - d.real.min()),
    "hist, monotonic": fit(
        HistGradientBoostingRegressor(monotonic_cst=[1, 0, 0, 0, -1, 0], **hist), d.X, d.real
    ),
    "hist, early stop": fit(
        HistGradientBoostingRegressor(early_stopping=True, n_iter_no_change=2, **{**hist, "max_iter": 40}),
        d.X,
        d.real,
    ),
    "hist, one leaf": fit(HistGradientBoostingRegressor(max_iter=2), d.X[:20], d.real[:20]),
    "hist, categories": fit(
        HistGradientBoostingRegressor(categorical_features=[1, 4], **hist), d.codes, d.real
    ),
    "hist, text categories": fit(
        HistGradientBoostingRegressor(categorical_features=[False, True, False, False, True, False], **hist),
        d.words,
        d.real,
    ),
    "hist classifier": fit(HistGradientBoostingClassifier(**hist), d.missing, d.binary),
    "hist classifier, three": fit(HistGradientBoostingClassifier(**hist), d.missing, d.three),
    "hist classifier, categories": fit(
        HistGradientBoostingClassifier(categorical_features=[4, 1], **hist), d.codes, d.three
    ),
    # ensembles of models
    "voting": fit(
        VotingRegressor(
            [
                ("forest", RandomForestRegressor(**few)),
                ("boosting", GradientBoostingRegressor(**few)),
                ("hist", HistGradientBoostingRegressor(**hist)),  # float64 beside float32
                ("bagging", BaggingRegressor(n_estimators=3, max_features=4, **r)),
                ("left out", "drop"),
            ],
            weights=[1, 2, 3, 4, 5],
        ),
        d.X,
        d.real,
    ),
    "voting classifier": fit(
        VotingClassifier(
            [
                ("forest", RandomForestClassifier(**few)),
                ("tree", DecisionTreeClassifier(max_depth=4, **r)),
                ("bagging", BaggingClassifier(n_estimators=3, **r)),
            ],
            voting="soft",
            weights=[1, 2, 3],
        ),
        d.X,
        d.three,
    ),
    "bagging": fit(BaggingRegressor(n_estimators=5, max_features=3, **r), d.missing, d.real),
    "bagging, two targets": fit(BaggingRegressor(n_estimators=3, **r), d.X, d.two),
    "bagging, repeated columns": fit(
        BaggingRegressor(GradientBoostingRegressor(**few), n_estimators=4, bootstrap_features=True, **r),
        d.X,
        d.real,
    ),
    "bagging of categories": fit(
        BaggingRegressor(
            # Members see 60 rows only, and not all categories.
            UnweightedRegressor(
                [("hist", HistGradientBoostingRegressor(categorical_features=[1, 4], **hist))]
            ),
            n_estimators=3,
            max_samples=60,
            **r,
        ),
        d.codes,
        d.real,
    ),
    "bagging classifier": fit(BaggingClassifier(n_estimators=5, max_features=3, **r), d.X, d.three),
    "bagging classifier, lost classes": fit(
        # Members see 3 rows only, and some miss a class.
        BaggingClassifier(
            UnweightedClassifier([("tree", DecisionTreeClassifier(**r))], voting="soft"),
            n_estimators=6,
            max_samples=3,
            **r,
        ),
        d.X,
        d.three,
    ),
}


@functools.cache
def fitted(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MODELS[name]()


def live(model: Any, X: Any) -> np.ndarray:
    """The model's own raw output, (n, K)."""
    if isinstance(model, IsolationForest):
        # Path lengths, out of score = 2 ** (-length / c(max_samples)).
        n = model.max_samples_
        out = np.log2(-model.score_samples(X)) * -(2 * (np.log(n - 1) + np.euler_gamma) - 2 * (n - 1) / n)
    elif isinstance(model, HistGradientBoostingRegressor) and model.loss in {"poisson", "gamma"}:
        out = np.log(model.predict(X))
    elif not is_classifier(model):
        out = model.predict(X)
    elif isinstance(model, GradientBoostingClassifier | HistGradientBoostingClassifier):
        out = model.decision_function(X)
    else:
        out = model.predict_proba(X)
        if isinstance(out, list):
            out = np.hstack(out)
    return np.asarray(out).reshape(len(X), -1)


def training_rows(name: str) -> np.ndarray:
    """Rows like those that the model was fitted on."""
    if "text categories" in name:
        return d.words
    if "categories" in name:
        return d.codes
    return d.X


def unit(forest: Any) -> np.ndarray:
    """|constant| + the sum of the trees' largest |leaf|, (K,): what rounding is measured in."""
    tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.tree_start))
    leaf = np.where((forest.left < 0)[:, None], np.abs(forest.value + forest.root_mean[tree]), 0)
    largest = np.maximum.reduceat(leaf, forest.tree_start[:-1], axis=0)
    total = np.abs(forest.constant).copy()
    for t, output in enumerate(forest.tree_output):
        if output < 0:
            total += largest[t]
        else:
            total[output] += largest[t, 0]
    return total
