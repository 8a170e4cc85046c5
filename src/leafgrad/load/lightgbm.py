"""LightGBM: a Booster, its scikit-learn wrappers, and the text that it saves.

All three are read from the text (`model_to_string`), so that a saved model explains to the bit as the live
one. The output is LightGBM's raw score. What turns it into the prediction follows from the text's objective;
where predictions are means over the iterations (random forests), the raw score is a sum nevertheless, and
the link carries the factor.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np

from leafgrad.errors import InputError, ModelFormatError, UnsupportedModelError
from leafgrad.load.files import installed
from leafgrad.load.lightgbm_text import Text, parse
from leafgrad.load.lightgbm_trees import trees_of
from leafgrad.load.trees import IntArray, Source, labels

LIBRARY = "LightGBM"
OLDEST = 4  # major version

# The objective's first word -> the link from the raw score to the prediction.
LINKS = {
    **dict.fromkeys(("regression", "regression_l1", "huber", "fair", "quantile", "mape"), "identity"),
    **dict.fromkeys(("lambdarank", "rank_xendcg", "custom", ""), "identity"),
    **dict.fromkeys(("poisson", "gamma", "tweedie"), "exp"),
    **dict.fromkeys(("binary", "multiclassova", "cross_entropy"), "sigmoid"),
    "multiclass": "softmax",
    "cross_entropy_lambda": "softplus",
}


def read(model: Any, cover: str | None) -> Source:
    """Read a live model of LightGBM, or refuse it by name.

    Parameters
    ----------
    model : object
        A Booster, or a fitted wrapper.
    cover : str or None
        None or "counts": training rows. "hessian": sums of second derivatives.
    """
    name = type(model).__name__
    own = [kind.__name__ for kind in type(model).__mro__ if kind.__module__.startswith("lightgbm.")]
    if "CVBooster" in own:
        raise UnsupportedModelError(f"{name} holds one model per fold. Pass one of them: model.boosters[i].")
    if "Booster" not in own and "LGBMModel" not in own:
        raise UnsupportedModelError(
            f"{name} is no model. Pass a Booster, or a fitted LGBMClassifier, LGBMRegressor or LGBMRanker."
        )
    booster = model if "Booster" in own else getattr(model, "_Booster", None)
    if booster is None:
        raise UnsupportedModelError(f"this {name} is not fitted. Call model.fit(X, y) first.")
    _require_version(str(sys.modules["lightgbm"].__version__))
    try:
        content = booster.model_to_string().encode()
    except (TypeError, ValueError) as error:  # of the JSON in it
        raise UnsupportedModelError(
            f"a category column of the frame that this {name} was fitted on has values that are neither text "
            f"nor numbers, which LightGBM cannot save either ({error}). Make them text before fitting."
        ) from error
    # A wrapper is asked itself, as it may be of a class that predicts in its own way; one for dask takes only
    # dask's tables.
    asked = booster if any("Dask" in kind for kind in own) else model
    return _source(
        parse(content, f"this {name}"),
        cover,
        name,
        raw=lambda X: asked.predict(X, raw_score=True),
        leaves=lambda X: booster.predict(X, pred_leaf=True),
        classes=labels(model.classes_) if "LGBMClassifier" in own else None,
    )


def read_file(content: bytes, name: str, cover: str | None) -> Source:
    """Read the text that LightGBM saved.

    Parameters
    ----------
    content : bytes
        All of it.
    name : str
        What messages call it.
    cover : str or None
        As for `read`.
    """
    text = parse(content, name)
    if not installed("lightgbm") or int(version("lightgbm").partition(".")[0]) < OLDEST:
        return _source(text, cover, "Booster", said=name)

    @functools.cache
    def booster() -> Any:
        import lightgbm

        try:
            return lightgbm.Booster(model_str=text.for_the_library())
        except lightgbm.basic.LightGBMError as error:
            raise ModelFormatError(f"LightGBM itself does not read {name}: {error}") from error

    return _source(
        text,
        cover,
        "Booster",
        raw=lambda X: booster().predict(X, raw_score=True),
        leaves=lambda X: booster().predict(X, pred_leaf=True),
        said=name,
    )


def _source(
    text: Text,
    cover: str | None,
    model_name: str,
    *,
    raw: Callable[[Any], Any] | None = None,
    leaves: Callable[[Any], Any] | None = None,
    classes: tuple[Any, ...] | None = None,
    said: str = "",
) -> Source:
    said = said or f"this {model_name}"
    if cover not in (None, "counts", "hessian"):
        raise InputError(
            f"cover={cover!r} is not kept by LightGBM. Use cover=None or 'counts' (training rows), 'hessian' "
            "(sums of second derivatives) or 'data' with data=X."
        )
    if text.linear:
        raise UnsupportedModelError(
            f"{said} has linear trees: a leaf is a linear function of the row, and what that is worth while "
            "some features are unknown, counts of rows do not tell. Train it with linear_tree=False."
        )
    return Source(
        trees=trees_of(text, cover, said),
        n_features=len(text.feature_names),
        raw=raw,
        leaves=None if leaves is None else _as_nodes(leaves, text.n_leaves),
        feature_names=_names(text.feature_names),
        classes=_classes(text, classes, said),
        link=link_of(text),
        missing=True,
        infinite=True,
        frame_categories=text.categories,
        rounds_integers=True,
        library=LIBRARY,
        model_name=model_name,
    )


def link_of(text: Text) -> str:
    """Name the link from the raw score to LightGBM's prediction.

    Parameters
    ----------
    text : Text
        The parsed model.
    """
    name, *words = text.objective.split(" ")
    link = LINKS.get(name, text.objective)  # an unknown one says so when it is asked for
    factor = 1.0
    for word in words:
        key, _, value = word.partition(":")
        if key == "sqrt":
            link = "square"
        if key == "sigmoid":
            try:
                factor = float(value)
            except ValueError:
                link = text.objective
    if text.averaged:
        factor /= text.n_trees // text.n_outputs
    return link if factor == 1 or link == text.objective else f"{link}:{factor!r}"


def _names(names: tuple[str, ...]) -> tuple[str, ...] | None:
    """The columns' names; None where LightGBM made them up for an array."""
    return None if names == tuple(f"Column_{j}" for j in range(len(names))) else names


def _classes(text: Text, of_wrapper: tuple[Any, ...] | None, said: str) -> tuple[Any, ...] | None:
    """Class labels: the wrapper's, or the numbers that LightGBM itself asks for as labels."""
    if of_wrapper is not None and len(of_wrapper) < 2:
        raise UnsupportedModelError(
            f"{said} was fitted on the one class {of_wrapper[0]!r}: its margin is that of a second class, "
            "which it has never seen. Fit it on two classes or more."
        )
    k = max(2, text.n_outputs)
    if of_wrapper is not None and len(of_wrapper) == k:
        return of_wrapper
    objective = text.objective.partition(" ")[0]
    return tuple(range(k)) if objective in {"binary", "multiclass", "multiclassova"} else None


def _as_nodes(leaves: Callable[[Any], Any], n_leaves: IntArray) -> Callable[[Any], Any]:
    """Leaves as LightGBM numbers them -> nodes, which count the splits first."""
    return lambda X: np.asarray(leaves(X)).reshape(len(X), -1) + (n_leaves - 1)


def _require_version(given: str) -> None:
    if int(given.partition(".")[0]) < OLDEST:
        raise UnsupportedModelError(f"LightGBM {given} is not supported. Use LightGBM {OLDEST}.0 or newer.")
