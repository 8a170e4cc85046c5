"""CatBoost's JSON: what its fields say, checked before anything is built of them.

`features_info` lists the columns by kind, each with its place in X; `model_info` holds the training's
parameters and the class labels; the trees are read in `catboost_trees`. Text and embedding features are
refused by name. Messages here are the ends of sentences that `catboost` begins with the model's name.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from leafgrad.errors import ModelFormatError, UnsupportedModelError
from leafgrad.load.trees import BoolArray

Json = dict[str, Any]


@dataclass(frozen=True)
class Columns:
    """The columns of X: how splits call them, and where missing values go."""

    n: int
    names: tuple[str, ...] | None
    floats: dict[int, int]  # index among the float features -> column
    categorical: dict[int, int]  # index among the categorical features -> column
    missing_left: BoolArray  # (n,)

    def named(self, column: int) -> str:
        """Name one column in a message."""
        return f"column {column}" if self.names is None else repr(self.names[column])


@dataclass(frozen=True)
class Facts:
    """What the model says of itself beside its trees."""

    loss: str  # "" where it does not say
    labels: tuple[Any, ...] | None  # one per output, or the two of one margin
    places: tuple[int, ...] | None  # column of each output in the library's own prediction
    scale: float
    bias: tuple[float, ...]  # one for all outputs, or one each


def parse(content: bytes) -> Json:
    """Read the text of a model.

    Parameters
    ----------
    content : bytes
        All of the file.
    """
    try:
        model = json.loads(content)
    except RecursionError:
        raise ModelFormatError("it is nested too deeply") from None
    if not isinstance(model, dict) or not isinstance(model.get("features_info"), dict):
        raise ModelFormatError("it has no features_info")
    return model


def columns(model: Json) -> Columns:
    """Read the columns.

    Parameters
    ----------
    model : dict
        What `parse` gave.
    """
    info = model["features_info"]
    for kind in ("text", "embedding"):
        if info.get(f"{kind}_features"):
            raise UnsupportedModelError(
                f"has {kind} features, which are no single numbers to split on. Compute numeric columns of "
                f"the {kind}s yourself, and train on these."
            )
    floats, coded = info.get("float_features") or [], info.get("categorical_features") or []
    listed = floats + coded
    n = len(listed)
    place = {_whole(feature["flat_feature_index"]): feature for feature in listed}
    if sorted(place) != list(range(n)):
        raise ModelFormatError(f"the places of the {n} features in X are not 0 to {n - 1}, each once")
    missing_left = np.ones(n, dtype=np.bool_)
    for feature in floats:
        treatment = feature.get("nan_value_treatment", "AsIs")
        if treatment not in ("AsIs", "AsFalse", "AsTrue"):
            raise ModelFormatError(f"nan_value_treatment is {treatment!r}; wanted AsIs, AsFalse or AsTrue")
        # Without missing values in training they are compared as they are, and NaN is above nothing.
        missing_left[feature["flat_feature_index"]] = treatment != "AsTrue" or not feature.get("has_nans")
    names = [place[j].get("feature_id") or place[j].get("feature_name") or "" for j in range(n)]
    own = {_whole(feature["feature_index"]): feature["flat_feature_index"] for feature in floats}
    categorical = {_whole(feature["feature_index"]): feature["flat_feature_index"] for feature in coded}
    if len(own) + len(categorical) < n:
        raise ModelFormatError("two features have one feature_index")
    return Columns(
        n=n,
        names=tuple(str(name) or str(j) for j, name in enumerate(names)) if any(names) else None,
        floats=own,
        categorical=categorical,
        missing_left=missing_left,
    )


def facts(model: Json) -> Facts:
    """Read loss, labels, scale and bias.

    Parameters
    ----------
    model : dict
        What `parse` gave.
    """
    info = model.get("model_info") or {}
    loss = ((info.get("params") or {}).get("loss_function") or {}).get("type", "")
    scale, bias = model.get("scale_and_bias") or (1.0, 0.0)
    bias = bias if isinstance(bias, list) else [bias]
    numbers = [float(number) for number in (scale, *bias)]
    if not np.isfinite(numbers).all():
        raise ModelFormatError(f"scale_and_bias is {scale!r}, {bias!r}; wanted finite numbers")
    labels, places = _labels(info.get("class_params") or {})
    return Facts(str(loss), labels, places, numbers[0], tuple(numbers[1:]))


def _labels(classes: Json) -> tuple[tuple[Any, ...] | None, tuple[int, ...] | None]:
    """Labels of the outputs, and their places among all classes: one never seen in training has no output."""
    seen, named = classes.get("class_to_label"), classes.get("class_names")
    if not seen:
        return None, None
    kind = float if classes.get("class_label_type") == "Float" else None
    places = tuple(_whole(label) for label in seen)
    labels = [named[place] if named else place for place in places]
    return tuple(kind(label) if kind else label for label in labels), places


def _whole(number: Any) -> int:
    """An index: a whole number from 0 on."""
    if type(number) is not int or not 0 <= number < 2**31:
        raise ModelFormatError(f"an index is {number!r}; wanted a whole number from 0 on")
    return number
