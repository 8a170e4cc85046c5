"""Whatever wraps a model of whichever library is refused with the name of what to pass instead."""

from __future__ import annotations

import warnings
from typing import Any

import catboost
import lightgbm
import numpy as np
import pytest
import xgboost
from imblearn.ensemble import (
    BalancedBaggingClassifier,
    EasyEnsembleClassifier,
    RUSBoostClassifier,
)
from imblearn.pipeline import Pipeline as SamplingPipeline
from imblearn.under_sampling import RandomUnderSampler
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    BaggingRegressor,
    GradientBoostingClassifier,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.feature_selection import RFE
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import leafgrad as lg

rng = np.random.default_rng(0)
X = rng.random((80, 3))
y = X[:, 0] + X[:, 1]
label = (y > 1.2).astype(int)

few = {"n_estimators": 2, "n_jobs": 1}
REGRESSORS = [
    xgboost.XGBRegressor(**few),
    lightgbm.LGBMRegressor(**few, verbose=-1),
    catboost.CatBoostRegressor(iterations=2, silent=True, allow_writing_files=False, thread_count=1),
]
CLASSIFIERS = [
    xgboost.XGBClassifier(**few),
    lightgbm.LGBMClassifier(**few, verbose=-1),
    catboost.CatBoostClassifier(iterations=2, silent=True, allow_writing_files=False, thread_count=1),
]


def fitted(model: Any, target: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, target)


def assert_refused(model: Any, target: Any, message: str) -> None:
    with pytest.raises(lg.UnsupportedModelError, match=f"(?s){message}"):
        lg.load(fitted(model, target))


@pytest.mark.parametrize("inner", REGRESSORS, ids=lambda model: type(model).__name__)
def test_around_a_regressor_of_another_library(inner: Any) -> None:
    kind, library = type(inner).__name__, type(inner).__module__.partition(".")[0]
    assert_refused(
        Pipeline([("scale", StandardScaler()), ("model", inner)]),
        y,
        rf"Pipeline .*last step, model\[-1\] \(a {kind}\), and model\[:-1\]\.transform\(X\)",
    )
    assert_refused(GridSearchCV(inner, {}, cv=2), y, r"GridSearchCV .*model\.best_estimator_")
    members = rf"combines models of {library}, .*Pass one {kind}: model\.estimators_\[i\]"
    assert_refused(VotingRegressor([("a", inner)]), y, f"VotingRegressor {members}")
    assert_refused(BaggingRegressor(inner, n_estimators=2), y, f"BaggingRegressor {members}")
    assert_refused(StackingRegressor([("a", inner)], cv=2), y, r"StackingRegressor .*model\.final_estimator_")
    assert_refused(RFE(inner, n_features_to_select=2), y, r"RFE .*model\.estimator_")


@pytest.mark.parametrize("inner", CLASSIFIERS, ids=lambda model: type(model).__name__)
def test_around_a_classifier_of_another_library(inner: Any) -> None:
    kind, library = type(inner).__name__, type(inner).__module__.partition(".")[0]
    assert_refused(
        CalibratedClassifierCV(inner, cv=2), label, r"model\.calibrated_classifiers_\[i\]\.estimator"
    )
    assert_refused(
        VotingClassifier([("a", inner)], voting="soft"),
        label,
        rf"combines models of {library}, .*Pass one {kind}: model\.estimators_\[i\]",
    )
    assert_refused(StackingClassifier([("a", inner)], cv=2), label, r"StackingClassifier .*estimators_\[i\]")


def test_what_the_messages_name_is_there() -> None:
    """Each cure leads to a model that loads."""
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    steps = fitted(make_pipeline(StandardScaler(), tree), label)
    assert lg.load(steps[-1]).predict(steps[:-1].transform(X)) == pytest.approx(steps.predict_proba(X))
    calibrated = fitted(CalibratedClassifierCV(tree, cv=2), label)
    assert lg.load(calibrated.calibrated_classifiers_[0].estimator).checked
    stacked = fitted(StackingClassifier([("a", tree)], final_estimator=tree, cv=2), label)
    assert lg.load(stacked.estimators_[0]).checked
    assert lg.load(stacked.final_estimator_).predict(stacked.transform(X)) == pytest.approx(
        stacked.predict_proba(X)
    )
    easy = fitted(EasyEnsembleClassifier(n_estimators=2, random_state=0), label)
    assert lg.load(easy.estimators_[0][-1].estimators_[0]).checked


# imbalanced-learn

tree = DecisionTreeClassifier(max_depth=3, random_state=0)
IMBALANCED: list[tuple[Any, str]] = [
    (
        SamplingPipeline([("draw", RandomUnderSampler()), ("tree", tree)]),
        r"Pipeline .*model\[-1\] \(a DecisionTreeClassifier\).*Samplers leave X as it is.*pass X itself",
    ),
    (
        EasyEnsembleClassifier(n_estimators=2),
        r"EasyEnsembleClassifier .*estimators_\[i\]\[-1\]\.estimators_\[j\]",
    ),
    (RUSBoostClassifier(n_estimators=2), r"RUSBoostClassifier is no sum of trees: .*model\.estimators_\[i\]"),
    (
        BalancedBaggingClassifier(GradientBoostingClassifier(n_estimators=2), n_estimators=2),
        r"BalancedBaggingClassifier averages the probabilities of its GradientBoostingClassifier members",
    ),
    (
        BalancedBaggingClassifier(make_pipeline(StandardScaler(), tree), n_estimators=2),
        r"a member of this BalancedBaggingClassifier is not supported: Pipeline is no sum of trees",
    ),
]


@pytest.mark.parametrize("model, message", IMBALANCED, ids=lambda v: type(v).__name__)
def test_imbalanced_learn(model: Any, message: str) -> None:
    assert_refused(model, label, message)


def test_a_pipeline_of_a_sampler_says_what_to_do() -> None:
    steps = fitted(SamplingPipeline([("draw", RandomUnderSampler(random_state=0)), ("tree", tree)]), label)
    assert np.array_equal(lg.load(steps[-1]).predict(X), steps.predict_proba(X))


def test_not_fitted() -> None:
    for model in (Pipeline([("tree", DecisionTreeRegressor())]), SamplingPipeline([("tree", tree)])):
        with pytest.raises(lg.UnsupportedModelError, match=r"model\[-1\] \(a DecisionTree"):
            lg.load(model)
