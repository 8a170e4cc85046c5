"""XGBoost's models: a Booster, a scikit-learn wrapper, or a file that one of them saved.

A live model is read through the bytes it would save, so that there is one reader, and a model explains the
same before and after it is stored. A wrapper adds what its `predict` does: rounds up to `best_iteration`,
and a `missing` of its own. XGBoost rounds X to float32, asks `x < threshold`, and adds leaves in float32.
"""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from leafgrad.errors import InputError, ModelFormatError, UnsupportedModelError
from leafgrad.load.files import installed
from leafgrad.load.trees import Source, labels
from leafgrad.load.xgboost_categories import categories
from leafgrad.load.xgboost_document import Part, parse
from leafgrad.load.xgboost_objectives import Objective, constant, objective_of
from leafgrad.load.xgboost_trees import Loaded, gradient_booster, read_trees, unknown_fields

LIBRARY = "XGBoost"
OLDEST = (2, 0)
MOST_FEATURES = 2**22  # a file may declare any number, and each costs memory
UNIT = 2.0**-24  # of rounding in float32
WRAPPERS = {"classifier": "XGBClassifier", "regressor": "XGBRegressor", "ranker": "XGBRanker"}
Rows = npt.NDArray[Any]


def read(model: Any, cover: str | None) -> Source:
    """Read a live model.

    Parameters
    ----------
    model : object
        A Booster or a scikit-learn wrapper.
    cover : str or None
        None or "hessian": sums of hessians.
    """
    own = [kind for kind in type(model).__mro__ if kind.__module__.partition(".")[0] == "xgboost"]
    name = type(model).__name__
    if any(kind.__module__.startswith(("xgboost.dask", "xgboost.spark")) for kind in own):
        raise UnsupportedModelError(f"{name} predicts on a cluster. Pass its Booster: model.get_booster().")
    wraps = any(kind.__name__ == "XGBModel" for kind in own)
    if not wraps and not any(kind.__name__ == "Booster" for kind in own):
        raise UnsupportedModelError(f"{name} is no model. Pass a Booster or a fitted XGBModel.")
    _require_version()
    if wraps and not model.__sklearn_is_fitted__():
        raise UnsupportedModelError(f"this {name} is not fitted. Call model.fit(X, y) first.")
    known = getattr(model, "classes_", None) if wraps else None
    if known is not None and len(known) < 2:
        raise UnsupportedModelError(
            f"this {name} was fitted on the one class {known[0]!s}: its margin is that of a second class, "
            "which it has never seen. Fit it on two classes or more."
        )
    booster = model.get_booster() if wraps else model
    source, facts = _source(parse(bytes(booster.save_raw("ubj"))), cover, wraps=wraps)
    if not wraps:
        raw, leaves = _margins(lambda: booster, facts.rounds), _leaves(lambda: booster, facts)
        return replace(source, model_name=name, raw=raw, leaves=leaves)
    missing = math.nan if model.missing is None else float(model.missing)
    return replace(
        source,
        raw=lambda X: model.predict(X, output_margin=True),
        leaves=_leaves(lambda: booster, facts, missing),
        model_name=name,
        classes=labels(known) if known is not None and facts.may_classify else source.classes,
        missing_value=None if math.isnan(missing) else missing,
    )


def read_file(content: bytes, name: str, cover: str | None) -> Source:
    """Read what `save_model` wrote, `.json` or `.ubj`.

    Parameters
    ----------
    content : bytes
        All of the file.
    name : str
        Its path, for messages.
    cover : str or None
        None or "hessian": sums of hessians.
    """
    try:
        document = parse(content)
        version = _version(document)
        attributes = document.part("learner").part("attributes")
        wrapper = attributes.text("scikit_learn") if "scikit_learn" in attributes else None
        source, facts = _source(document, cover, wraps=wrapper is not None)
    except ModelFormatError as error:
        raise ModelFormatError(f"{name} is damaged: {error}. Save the model again.") from error
    source = replace(source, model_name=_wrapper_name(wrapper))
    if source.model_name == "XGBClassifier" and facts.may_classify:
        source = replace(source, classes=tuple(range(max(2, facts.n_outputs))))
    if not _library_is_as_new(version):
        if new := unknown_fields(document.part("learner")):
            raise UnsupportedModelError(
                f"{name} was saved by XGBoost {'.'.join(map(str, version))} with fields unknown to leafgrad, "
                f"{', '.join(new[:5])}, and no such XGBoost is here to check against. Install it, or a newer "
                "leafgrad."
            )
        return source
    # Read by the library when it is asked, which with check=False is never.
    booster = cache(lambda: _library_reads(content, name))
    return replace(source, raw=_margins(booster, facts.rounds), leaves=_leaves(booster, facts))


@dataclass(frozen=True)
class _Facts:
    """What asking the live model needs to know."""

    n_outputs: int
    rounds: int | None  # those that count; None for all
    may_classify: bool  # margin above 0, or the largest margin, tells the label
    loaded: Loaded


def _source(document: Part, cover: str | None, *, wraps: bool) -> tuple[Source, _Facts]:
    if cover not in (None, "hessian"):
        raise InputError(
            f"cover={cover!r} is not kept by XGBoost. Use cover=None or 'hessian' (sums of hessians, as its "
            "own contributions do), or cover='data' with data=X."
        )
    learner = document.part("learner")
    gradient_booster(learner)  # refuses linear models before their arrays are looked for
    facts = learner.part("learner_model_param")
    n_outputs = max(1, facts.whole("num_class", 0), facts.whole("num_target", 1))
    n_features = facts.whole("num_feature")
    if n_features > MOST_FEATURES:
        raise UnsupportedModelError(
            f"this model takes {n_features} features, and leafgrad at most {MOST_FEATURES}. Train on those "
            "that occur."
        )
    names = learner.texts("feature_names")
    if len(names) not in (0, n_features):
        raise learner.wrong("feature_names", names, f"none, or one for each of {n_features} features")
    _require_outputs(learner, facts, n_outputs)
    objective = objective_of(learner, n_outputs)
    rounds = _rounds(learner) if wraps else None
    loaded = read_trees(learner, n_features, constant(learner, objective, n_outputs), rounds)
    trees = loaded.trees
    if cover == "hessian" and trees.cover is None:
        raise InputError(
            "cover='hessian' was asked, and this model keeps no sums of hessians. Pass rows to count covers "
            "from, such as the training data: data=X."
        )
    split_on = np.zeros(n_features, dtype=np.bool_)
    split_on[trees.feature[list(trees.sets)]] = True
    trees = replace(
        trees, categories=categories(learner, gradient_booster(learner)[0], split_on, _version(document))
    )
    classes = _classes(objective, n_outputs)
    source = Source(
        trees=trees,
        n_features=n_features,
        raw=None,
        # DESIGN's 1e-6 of float32 libraries; from 17 trees on, what adding that many numbers may round.
        tolerance=max(1e-6, UNIT * trees.n_trees),
        feature_names=tuple(names) or None,
        classes=classes,
        link=objective.link,
        missing=True,
        absent_missing=True,
        infinite=True,
        codes_in_arrays=trees.categories is not None,
        library=LIBRARY,
    )
    may_classify = classes is not None or (objective.link == "sigmoid" and n_outputs == 1)
    return source, _Facts(n_outputs, rounds, may_classify, loaded)


def _require_outputs(learner: Part, facts: Part, n_outputs: int) -> None:
    """A number of outputs that the trees do not fill must not cost memory."""
    model, _ = gradient_booster(learner)
    most = len(model.items("trees"))
    for part in model.parts("trees")[:1]:
        width = part.part("tree_param").whole("size_leaf_vector", 1)
        if width > 1:
            held = part.fields.get("leaf_weights", part.fields.get("base_weights", ()))
            most = min(width, len(held) if isinstance(held, list | np.ndarray) else 0)
    if n_outputs > max(1, most):
        raise facts.wrong("num_class or num_target", n_outputs, f"at most the {most} outputs of the trees")


def _version(document: Part) -> tuple[int, ...]:
    """Which XGBoost saved the model."""
    found = document.items("version")
    if len(found) < 2 or not all(isinstance(part, int) for part in found):
        raise document.wrong("version", found, "three whole numbers")
    return tuple(found)


def _rounds(learner: Part) -> int | None:
    """How many rounds a wrapper's `predict` uses, if training stopped early."""
    attributes = learner.part("attributes")
    return attributes.whole("best_iteration") + 1 if "best_iteration" in attributes else None


def _classes(objective: Objective, n_outputs: int) -> tuple[Any, ...] | None:
    """Labels 0, 1, ...; none for several binary targets, each of which is an output."""
    if not objective.classifies or (n_outputs > 1 and objective.link != "softmax"):
        return None
    return tuple(range(max(2, n_outputs)))


def _wrapper_name(told: str | None) -> str:
    """Name the class that saved a file, by what it noted of itself."""
    try:
        kind = json.loads(told or "{}").get("_estimator_type")
    except (ValueError, AttributeError, RecursionError):
        kind = None
    return WRAPPERS.get(kind, "Booster") if isinstance(kind, str) else "Booster"


# Asking the live model


def _margins(booster: Callable[[], Any], rounds: int | None) -> Callable[[Any], Any]:
    return lambda X: booster().inplace_predict(X, iteration_range=(0, rounds or 0), predict_type="margin")


def _leaves(booster: Callable[[], Any], facts: _Facts, missing: float = math.nan) -> Callable[[Any], Any]:
    """Leaves by their numbers in the forest; -1 for rows with infinity, of which XGBoost tells none."""
    place, start = facts.loaded.place, facts.loaded.start

    def leaves(X: Rows) -> Rows:
        asked = booster()
        with np.errstate(over="ignore"):
            told = ~np.isinf(X.astype(np.float32)).any(axis=1)
        if not told.any():
            return np.full((len(X), len(start) - 1), -1)
        data = sys.modules["xgboost"].DMatrix(
            X[told], missing=missing, feature_names=asked.feature_names, feature_types=asked.feature_types
        )
        found = asked.predict(data, pred_leaf=True, iteration_range=(0, facts.rounds or 0))
        found = np.asarray(found).reshape(int(told.sum()), -1).astype(np.int64)
        out = np.full((len(X), found.shape[1]), -1)
        if found.shape[1] == len(start) - 1:
            found = place[np.minimum(start[:-1] + found, len(place) - 1)]
        out[told] = found
        return out

    return leaves


def _require_version() -> None:
    version = str(sys.modules["xgboost"].__version__)
    if _numbers(version) < OLDEST:
        raise UnsupportedModelError(f"xgboost {version} is too old to be asked. Use XGBoost 2.0 or newer.")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2])


def _library_is_as_new(version: tuple[int, ...]) -> bool:
    """Whether XGBoost is there to be asked about a file; an older one may misread it."""
    if not installed("xgboost"):
        return False
    import xgboost

    ours = _numbers(xgboost.__version__)
    return ours >= OLDEST and version[:2] <= ours


def _library_reads(content: bytes, name: str) -> Any:
    import xgboost

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return xgboost.Booster(model_file=bytearray(content))
        except xgboost.core.XGBoostError as error:
            reason = str(error).partition("\n")[0]
            raise ModelFormatError(f"xgboost {xgboost.__version__} cannot read {name}: {reason}") from error
