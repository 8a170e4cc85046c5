"""Soft VotingClassifier, VotingRegressor and Bagging, over members that are linear in their leaves.

Such a mean is a forest again: all members' trees, scaled by the member's weight. A bagging member sees its
own subset of the columns, and may have seen fewer classes than the whole. Members may be ensembles
themselves, or pipelines of imbalanced-learn's samplers and a model: samplers leave rows alone that are
predicted. A mean of boosted classifiers' probabilities is no sum of leaves, and is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from leafgrad.errors import UnsupportedModelError
from leafgrad.load.sklearn_trees import LIBRARY
from leafgrad.load.trees import Source, Trees, joined, labels, names

Reader = Callable[[Any, str | None], Source]
OTHERS = ("xgboost", "lightgbm", "catboost")  # whose scikit-learn wrappers may be members


def read_voting(model: Any, cover: str | None, read: Reader) -> Source:
    """Read a soft VotingClassifier or a VotingRegressor.

    Parameters
    ----------
    model : object
        The fitted model.
    cover : str or None
        None or "counts".
    read : callable
        Reads the members.
    """
    if getattr(model, "voting", "soft") == "hard":
        raise UnsupportedModelError(
            f"this {type(model).__name__} has voting='hard', and a count of votes is no sum of leaves. "
            "Fit it with voting='soft', or pass one of its members: model.estimators_[i]."
        )
    members = [_member(model, estimator, cover, read) for estimator in model.estimators_]
    weights = model._weights_not_none  # those of dropped members left out
    weights = np.ones(len(members)) if weights is None else np.asarray(weights, dtype=np.float64)
    shares = (weights / weights.sum()).tolist()
    parts = [member.trees.scaled(share) for member, share in zip(members, shares, strict=True)]
    return _whole(model, members, parts, columns=[slice(None)] * len(members))


def read_bagging(model: Any, cover: str | None, read: Reader) -> Source:
    """Read a BaggingClassifier or BaggingRegressor.

    Parameters
    ----------
    model : object
        The fitted model.
    cover : str or None
        None or "counts".
    read : callable
        Reads the members.
    """
    members = [_member(model, estimator, cover, read) for estimator in model.estimators_]
    parts = []
    for member, features in zip(members, model.estimators_features_, strict=True):
        trees = member.trees.on_features(features, model.n_features_in_).scaled(1 / len(members))
        if member.classes is not None and len(member.classes) < len(model.classes_):
            # Members are fitted on the numbers of the classes: theirs say where their outputs belong.
            trees = trees.on_outputs(np.asarray(member.classes, dtype=np.int64), len(model.classes_))
        parts.append(trees)
    return _whole(model, members, parts, columns=model.estimators_features_)


def _whole(model: Any, members: Sequence[Source], parts: Sequence[Trees], columns: Sequence[Any]) -> Source:
    """Join the parts; each member is given its columns of X."""

    def leaves(X: Any) -> Any:
        told = [
            np.full((len(X), member.trees.n_trees), -1) if member.leaves is None else member.leaves(X[:, own])
            for member, own in zip(members, columns, strict=True)
        ]
        return np.hstack(told)

    classifier = hasattr(model, "classes_")
    return Source(
        trees=joined(parts),
        n_features=model.n_features_in_,
        raw=model.predict_proba if classifier else model.predict,
        leaves=leaves if any(member.leaves is not None for member in members) else None,
        plain=True,
        feature_names=names(getattr(model, "feature_names_in_", None)),
        classes=labels(model.classes_) if classifier else None,
        missing=all(member.missing for member in members),
        infinite=all(member.infinite for member in members),
        library=LIBRARY,
        model_name=type(model).__name__,
    )


def _member(model: Any, estimator: Any, cover: str | None, read: Reader) -> Source:
    """Read one member, or say why the mean of such members is no forest."""
    estimator = _behind_samplers(estimator)
    whole, part = type(model).__name__, type(estimator).__name__
    library = type(estimator).__module__.partition(".")[0]
    if library in OTHERS:
        raise UnsupportedModelError(
            f"this {whole} combines models of {library}, and members of other libraries than scikit-learn "
            f"are loaded one at a time. Pass one {part}: model.estimators_[i]."
        )
    try:
        source = read(estimator, cover)
    except UnsupportedModelError as error:
        raise UnsupportedModelError(f"a member of this {whole} is not supported: {error}") from error
    if hasattr(model, "classes_") != (source.classes is not None):
        raise UnsupportedModelError(
            f"this {whole} averages the labels that its {part} members predict, and a vote is no sum of "
            "leaves. Pass one member: model.estimators_[i]."
        )
    if not source.plain:
        what = "predictions" if source.classes is None else "probabilities"
        raise UnsupportedModelError(
            f"this {whole} averages the {what} of its {part} members, which are not linear in their leaves. "
            "Pass one member (model.estimators_[i]), or use members such as RandomForest or ExtraTrees."
        )
    return source


def _behind_samplers(estimator: Any) -> Any:
    """Give the last step of a pipeline whose other steps only resample the rows of the training."""
    steps = [step for _, step in getattr(estimator, "steps", ())]
    if len(steps) > 1 and all(hasattr(step, "fit_resample") for step in steps[:-1]):
        return steps[-1]
    return estimator
