"""GradientBoostingClassifier and -Regressor: `init_` plus learning_rate times a sum of regression trees.

The output is the margin (`decision_function`), one per class from three classes on. Its link is read off
the loss: the exponential loss has half-logit margins, so its probability is sigmoid(2 * margin). An `init`
that is a tree regressor is a sum of trees itself, and they are added; it sees rows rounded to float32.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from leafgrad.errors import UnsupportedModelError
from leafgrad.load.sklearn_trees import LIBRARY, stack
from leafgrad.load.trees import FloatArray, Source, joined, labels, names

# The links of scikit-learn's losses, for both kinds of boosting, and what a Forest calls them.
LINKS = {
    "IdentityLink": "identity",
    "LogLink": "exp",
    "LogitLink": "sigmoid",
    "HalfLogitLink": "sigmoid:2",
    "MultinomialLogit": "softmax",
}


def read_boosting(model: Any, cover: str | None, read: Callable[[Any, str | None], Source]) -> Source:
    """Read a GradientBoostingClassifier or -Regressor.

    Parameters
    ----------
    model : object
        The fitted model.
    cover : str or None
        None or "counts".
    read : callable
        Reads an `init` that is a model of trees.
    """
    n_stages, n_outputs = model.estimators_.shape
    trees = stack(
        [estimator.tree_ for estimator in model.estimators_.flat],
        cover,
        value=lambda tree: tree.value.reshape(tree.node_count, 1),
        factor=model.learning_rate,
    )
    trees = replace(
        trees,
        constant=np.zeros(n_outputs),
        output=np.tile(np.arange(n_outputs, dtype=np.int32), n_stages) if n_outputs > 1 else None,
        missing_left=None,  # boosting refuses NaN
    )
    init = None
    if _is_constant(model.init_):
        trees = replace(trees, constant=_start(model))
    else:
        init = _read_init(model, cover, read)
        trees = joined([trees, replace(init.trees.on_rounded_rows(), missing_left=None)])

    def leaves(X: Any) -> Any:
        own = model.apply(X).reshape(len(X), -1)
        if init is None:
            return own
        rounded = np.asarray(X, dtype=np.float32)
        untold = np.full((len(X), init.trees.n_trees), -1)
        return np.hstack([own, untold if init.leaves is None else init.leaves(rounded)])

    classes = labels(model.classes_) if hasattr(model, "classes_") else None
    return Source(
        trees=trees,
        n_features=model.n_features_in_,
        raw=model.predict if classes is None else model.decision_function,
        leaves=leaves,
        plain=classes is None,
        feature_names=names(getattr(model, "feature_names_in_", None)),
        classes=classes,
        link=link_of(model),
        missing=False,
        infinite=False,
        library=LIBRARY,
        model_name=type(model).__name__,
    )


def link_of(model: Any) -> str:
    """Name the link from the margin to the model's prediction.

    Parameters
    ----------
    model : object
        A fitted booster of either kind.
    """
    link = type(model._loss.link).__name__
    if link not in LINKS:
        raise UnsupportedModelError(
            f"this {type(model).__name__} uses the loss {type(model._loss).__name__}, whose link {link} is "
            f"not known here (known are {', '.join(LINKS)}). Fit it with one of scikit-learn's own losses."
        )
    return LINKS[link]


def _start(model: Any) -> FloatArray:
    """Margins before the first tree, (K,), when all rows have the same."""
    start = model._raw_predict_init(np.zeros((1, model.n_features_in_), dtype=np.float32))
    return np.asarray(start, dtype=np.float64).reshape(-1)


def _is_constant(init: Any) -> bool:
    """Whether all rows start the same: from "zero", or from a Dummy model that does not draw at random."""
    dummy = any(kind.__name__ in {"DummyClassifier", "DummyRegressor"} for kind in type(init).__mro__)
    return isinstance(init, str) or (dummy and init.strategy != "stratified")


def _read_init(model: Any, cover: str | None, read: Callable[[Any, str | None], Source]) -> Source:
    """Read an `init` whose prediction is a sum of trees, or refuse it."""
    reason = "a classifier starts from the logit of its probabilities, which is no sum of trees"
    if not hasattr(model, "classes_"):
        reason = "its prediction is no sum of trees over the same numeric columns"
        try:
            init = read(model.init_, cover)
        except UnsupportedModelError as error:
            reason = str(error).rstrip(".")
        else:
            if init.plain and init.classes is None and init.trees.categories is None:
                return init
    raise UnsupportedModelError(
        f"this {type(model).__name__} starts from init={type(model.init_).__name__}, which cannot be part of "
        f'a forest: {reason}. Fit it with init=None, "zero", a Dummy model, or (regressors) a tree model.'
    )
