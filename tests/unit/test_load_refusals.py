"""What cannot be explained exactly is refused by name, and the message says what to pass instead."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreesEmbedding,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.feature_selection import RFE
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import leafgrad as lg

rng = np.random.default_rng(0)
X = rng.random((60, 3))
y = X[:, 0] + X[:, 1]
label = (y > 1).astype(int)
three = label + (X[:, 2] > 0.5)
tree, stump = DecisionTreeRegressor(max_depth=2), DecisionTreeClassifier(max_depth=2)
boosted = GradientBoostingClassifier(n_estimators=2)
quick = HistGradientBoostingRegressor(max_iter=2)

REFUSED: list[tuple[Any, Any, str]] = [
    # model, target, what the message says
    (Pipeline([("scale", StandardScaler()), ("tree", tree)]), y, r"Pipeline .*last step, model\[-1\]"),
    (make_pipeline(tree), y, r"model\[:-1\].transform\(X\)"),
    (CalibratedClassifierCV(stump, cv=2), label, r"CalibratedClassifierCV .*calibrated_classifiers_\[i\]"),
    (GridSearchCV(tree, {"max_depth": [1, 2]}, cv=2), y, r"GridSearchCV .*best_estimator_"),
    (
        RandomizedSearchCV(tree, {"max_depth": [1, 2]}, n_iter=1, cv=2),
        y,
        r"RandomizedSearchCV .*best_estimator_",
    ),
    (AdaBoostClassifier(n_estimators=2), label, r"AdaBoostClassifier .*vote.*estimators_\[i\]"),
    (AdaBoostRegressor(n_estimators=2), y, r"AdaBoostRegressor .*weighted median.*estimators_\[i\]"),
    (StackingClassifier([("a", stump)], cv=2), label, r"StackingClassifier .*final_estimator_"),
    (StackingRegressor([("a", tree)], cv=2), y, r"StackingRegressor .*estimators_\[i\]"),
    (TransformedTargetRegressor(tree, func=np.log1p, inverse_func=np.expm1), y, r"model.regressor_"),
    (RFE(tree, n_features_to_select=2), y, r"RFE .*model.estimator_"),
    (SelfTrainingClassifier(stump), label, r"SelfTrainingClassifier .*model.estimator_"),
    (MultiOutputRegressor(tree), np.column_stack([y, y]), r"MultiOutputRegressor .*estimators_\[i\]"),
    (ClassifierChain(stump), np.column_stack([label, label]), r"ClassifierChain .*estimators_\[i\]"),
    (OneVsRestClassifier(stump), three, r"OneVsRestClassifier .*estimators_\[i\]"),
    (RandomTreesEmbedding(n_estimators=2), None, r"RandomTreesEmbedding .*RandomForest"),
    (LinearRegression(), y, r"LinearRegression is no sum of trees.*RandomForestRegressor"),
    # soft voting and bagging, by what they average
    (VotingClassifier([("a", stump)]), label, r"voting='hard'.*voting='soft'.*estimators_\[i\]"),
    (
        VotingClassifier([("a", boosted)], voting="soft"),
        label,
        r"VotingClassifier averages the probabilities of its GradientBoostingClassifier members",
    ),
    (
        BaggingClassifier(HistGradientBoostingClassifier(max_iter=2), n_estimators=2),
        label,
        r"BaggingClassifier averages the probabilities of its HistGradientBoostingClassifier members",
    ),
    (
        VotingRegressor([("a", HistGradientBoostingRegressor(loss="poisson", max_iter=2))]),
        y,
        r"VotingRegressor averages the predictions of its HistGradientBoostingRegressor members",
    ),
    (
        VotingRegressor([("a", tree), ("b", LinearRegression())]),
        y,
        r"a member of this VotingRegressor is not supported: LinearRegression is no sum of trees",
    ),
    (
        VotingRegressor([("a", make_pipeline(StandardScaler(), tree))]),
        y,
        r"a member of this VotingRegressor is not supported: Pipeline",
    ),
    (
        BaggingRegressor(stump, n_estimators=2),
        label,
        r"averages the labels that its DecisionTreeClassifier members predict.*estimators_\[i\]",
    ),
    (
        VotingRegressor(
            [("a", HistGradientBoostingRegressor(max_iter=2, categorical_features=[0])), ("b", tree)]
        ),
        y,
        r"splits column 0 by categories and another by its number",
    ),
    # boosting from something else
    (
        GradientBoostingRegressor(n_estimators=2, init=LinearRegression()),
        y,
        r'init=LinearRegression.*no sum of trees.*init=None, "zero", a Dummy model, or \(regressors\) a tree',
    ),
    (
        GradientBoostingClassifier(n_estimators=2, init=RandomForestClassifier(n_estimators=2)),
        label,
        r"init=RandomForestClassifier.*logit of its probabilities",
    ),
    (
        GradientBoostingClassifier(n_estimators=2, init=LogisticRegression()),
        label,
        r"init=LogisticRegression",
    ),
    (
        GradientBoostingClassifier(n_estimators=2, init=DummyClassifier(strategy="stratified")),
        label,
        r"init=DummyClassifier",
    ),
    (
        GradientBoostingRegressor(
            n_estimators=2, init=HistGradientBoostingRegressor(max_iter=2, loss="poisson")
        ),
        y,
        r"init=HistGradientBoostingRegressor.*no sum of trees over the same numeric columns",
    ),
    # a margin of a class that was never seen; a category that is none
    (HistGradientBoostingClassifier(max_iter=2), np.zeros(60), r"fitted on the one class 0.0"),
]


@pytest.mark.parametrize("model, target, message", REFUSED, ids=lambda v: type(v).__name__)
def test_refused_by_name_with_the_cure(model: Any, target: Any, message: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(np.floor(X * 5) if "by categories" in message else X, target)
    with pytest.raises(lg.UnsupportedModelError, match=f"(?s){message}"):
        lg.load(model)


def test_categories_that_are_neither_text_nor_numbers() -> None:
    table = X.astype(object)
    table[:, 1] = np.resize(["a", "b", None], 60)
    model = HistGradientBoostingRegressor(max_iter=2, categorical_features=[1]).fit(table, y)
    with pytest.raises(lg.UnsupportedModelError, match=r"column 1 .*neither text nor a number: None.*NaN"):
        lg.load(model)


@pytest.mark.parametrize(
    "model",
    [tree, RandomForestRegressor(), boosted, quick, VotingRegressor([("a", tree)]), BaggingRegressor(tree)],
    ids=lambda model: type(model).__name__,
)
def test_not_fitted(model: Any) -> None:
    model = type(model)(**model.get_params(deep=False))
    with pytest.raises(lg.UnsupportedModelError, match=rf"{type(model).__name__} is not fitted.*fit\(X, y\)"):
        lg.load(model)


def test_a_refused_model_is_refused_fitted_or_not() -> None:
    with pytest.raises(lg.UnsupportedModelError, match="best_estimator_"):
        lg.load(GridSearchCV(tree, {"max_depth": [1]}))


def test_an_older_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    import sklearn

    monkeypatch.setattr(sklearn, "__version__", "1.3.2")
    with pytest.raises(lg.UnsupportedModelError, match=r"1\.3\.2 .*1\.4 or newer"):
        lg.load(DecisionTreeRegressor().fit(X, y))
    monkeypatch.setattr(sklearn, "__version__", "2.0.dev0")
    assert lg.load(DecisionTreeRegressor().fit(X, y)).checked


def test_a_loss_of_ones_own() -> None:
    model = HistGradientBoostingRegressor(max_iter=2).fit(X, y)

    class OddLink:
        pass

    model._loss.link = OddLink()
    with pytest.raises(
        lg.UnsupportedModelError, match=r"HalfSquaredError.*OddLink.*scikit-learn's own losses"
    ):
        lg.load(model)


def test_negative_weights_and_their_cures() -> None:
    weight = np.random.default_rng(1).normal(size=len(X))
    model = DecisionTreeRegressor(random_state=0).fit(X, y, sample_weight=weight)
    assert model.tree_.weighted_n_node_samples.min() < 0
    with pytest.raises(
        lg.UnsupportedModelError,
        match=r"DecisionTreeRegressor was trained with negative weights: -\d.*cover='counts'.*data=X",
    ):
        lg.load(model)
    for forest in (lg.load(model, cover="counts"), lg.load(model, data=X)):
        assert forest.checked
        assert (forest.share >= 0).all()
