"""Which scikit-learn estimator is read how, and what is said to the others.

A model is known by the names of the scikit-learn classes it derives from, the nearest first: nothing of
scikit-learn needs importing. What is no sum of trees is refused by name, with what to pass instead.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from leafgrad.errors import InputError, UnsupportedModelError
from leafgrad.load.sklearn_boosting import read_boosting
from leafgrad.load.sklearn_ensembles import read_bagging, read_voting
from leafgrad.load.sklearn_hist import read_hist
from leafgrad.load.sklearn_trees import read_forest, read_isolation, read_tree
from leafgrad.load.trees import Source

OLDEST = (1, 4)  # before, trees kept counts where they now keep probabilities

READERS: dict[str, Callable[[Any, str | None], Source]] = {
    "DecisionTreeClassifier": read_tree,
    "DecisionTreeRegressor": read_tree,
    "RandomForestClassifier": read_forest,
    "RandomForestRegressor": read_forest,
    "ExtraTreesClassifier": read_forest,
    "ExtraTreesRegressor": read_forest,
    "IsolationForest": read_isolation,
    "GradientBoostingClassifier": lambda model, cover: read_boosting(model, cover, read),
    "GradientBoostingRegressor": lambda model, cover: read_boosting(model, cover, read),
    "HistGradientBoostingClassifier": read_hist,
    "HistGradientBoostingRegressor": read_hist,
    "VotingClassifier": lambda model, cover: read_voting(model, cover, read),
    "VotingRegressor": lambda model, cover: read_voting(model, cover, read),
    "BaggingClassifier": lambda model, cover: read_bagging(model, cover, read),
    "BaggingRegressor": lambda model, cover: read_bagging(model, cover, read),
}

MEMBER = "Pass one of its members: model.estimators_[i]."
STACKED = (
    "its members' predictions go through one more model. Pass a member (model.estimators_[i]), or "
    "model.final_estimator_ with model.transform(X) as X."
)
REFUSED = {
    "Pipeline": (
        "its earlier steps change X. Pass its last step, {last}, and model[:-1].transform(X) as X. Samplers "
        "leave X as it is: where all earlier steps are such, pass X itself."
    ),
    "CalibratedClassifierCV": (
        "calibrated probabilities are no sum of trees. "
        "Pass an inner model: model.calibrated_classifiers_[i].estimator."
    ),
    "BaseSearchCV": "it is a search over models. Pass the model that it found: model.best_estimator_.",
    "AdaBoostClassifier": f"its members vote, and a vote is no sum of leaves. {MEMBER}",
    "AdaBoostRegressor": f"it predicts a weighted median, which is no sum of leaves. {MEMBER}",
    "EasyEnsembleClassifier": (
        "its members are AdaBoost models, which vote. Pass a tree of a member: "
        "model.estimators_[i][-1].estimators_[j]."
    ),
    "StackingClassifier": STACKED,
    "StackingRegressor": STACKED,
    "TransformedTargetRegressor": (
        "it transforms the prediction back. Pass model.regressor_; its values are on the transformed scale."
    ),
    "RFE": "it drops columns first. Pass model.estimator_, and model.transform(X) as X.",
    "BaseThresholdClassifier": "it wraps another model. Pass that model: model.estimator_.",
    "SelfTrainingClassifier": (
        "it wraps another model. Pass that model: model.estimator_ (before 1.6, model.base_estimator_)."
    ),
    "FrozenEstimator": "it wraps another model. Pass that model: model.estimator.",
    "MultiOutputRegressor": f"it has one model per target. {MEMBER}",
    "MultiOutputClassifier": f"it has one model per target. {MEMBER}",
    "RegressorChain": f"its members read each other's predictions. {MEMBER}",
    "ClassifierChain": f"its members read each other's predictions. {MEMBER}",
    "OneVsRestClassifier": f"it has one model per class, and scales their probabilities. {MEMBER}",
    "OneVsOneClassifier": f"its members vote on pairs of classes. {MEMBER}",
    "OutputCodeClassifier": f"its members vote. {MEMBER}",
    "RandomTreesEmbedding": "it encodes rows and predicts nothing. Pass a RandomForest or ExtraTrees model.",
}


def read(model: Any, cover: str | None) -> Source:
    """Read a fitted scikit-learn model, or refuse it by name.

    Parameters
    ----------
    model : object
        The model.
    cover : str or None
        None: weighted row counts, as the model's own importances use. "counts": row counts.
    """
    if cover not in (None, "counts"):
        raise InputError(
            f"cover={cover!r} is not kept by scikit-learn. Use cover=None (weighted counts of the training "
            "rows), cover='counts' (plain counts) or cover='data' with data=X."
        )
    name = type(model).__name__
    for kind in type(model).__mro__:
        known = kind.__name__ if kind.__module__.startswith(("sklearn.", "imblearn.")) else ""
        if known in REFUSED:
            why = REFUSED[known].replace("{last}", _last_step(model))
            raise UnsupportedModelError(f"{name} is no sum of trees: {why}")
        if known in READERS:
            _require_fitted(model)
            _require_version()
            source = replace(READERS[known](model, cover), negative_weights=True)
            # imbalanced-learn's forests and baggings are scikit-learn's, fitted on resampled rows.
            ours = type(model).__module__.startswith("imblearn.")
            return replace(source, library="imbalanced-learn") if ours else source
    raise UnsupportedModelError(
        f"{name} is no sum of trees. The scikit-learn models that are: {', '.join(READERS)}."
    )


def _last_step(model: Any) -> str:
    """Name the last step of a pipeline."""
    steps = getattr(model, "steps", None)
    return f"model[-1] (a {type(steps[-1][1]).__name__})" if steps else "model[-1]"


def _require_fitted(model: Any) -> None:
    if not any(hasattr(model, fitted) for fitted in ("tree_", "estimators_", "_predictors")):
        raise UnsupportedModelError(f"this {type(model).__name__} is not fitted. Call model.fit(X, y) first.")


def _require_version() -> None:
    version = str(sys.modules["sklearn"].__version__)
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST:
        raise UnsupportedModelError(
            f"scikit-learn {version} keeps its trees in an older form. Use scikit-learn 1.4 or newer."
        )
