"""CatBoost, CatBoostClassifier, -Regressor and -Ranker, live or from .cbm and .json files.

A live model writes itself as JSON, with all digits, and is then read as a file is: one reader, the same bits
from either. A .cbm file is read by the library. What is explained is RawFormulaVal. Covers are the leaf
weights, as the library's ShapValues take them.
"""

from __future__ import annotations

import functools
import inspect
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from leafgrad.errors import InputError, ModelFormatError, UnsupportedModelError
from leafgrad.load.catboost_json import Facts, columns, facts, parse
from leafgrad.load.catboost_trees import read_trees
from leafgrad.load.files import installed
from leafgrad.load.trees import IntArray, Source, Trees

LIBRARY = "CatBoost"
# What the library's own predictions make of the raw output, by the loss. The others' link is the loss's name,
# which nobody knows: asking for it is then refused by name.
LINKS = {
    **dict.fromkeys(("Logloss", "CrossEntropy", "Focal"), "sigmoid"),
    **dict.fromkeys(("MultiClassOneVsAll", "MultiLogloss", "MultiCrossEntropy"), "sigmoid"),
    "MultiClass": "softmax",
    **dict.fromkeys(("Poisson", "Tweedie"), "exp"),
    **dict.fromkeys(("RMSE", "MAE", "Quantile", "MultiQuantile", "GroupQuantile", "Expectile"), "identity"),
    **dict.fromkeys(("LogLinQuantile", "Lq", "Huber", "LogCosh", "MAPE", "RMSPE"), "identity"),
    **dict.fromkeys(("MultiRMSE", "MultiRMSEWithMissingValues", "Cox", "SurvivalAft"), "identity"),
    **dict.fromkeys(("QueryRMSE", "QuerySoftMax", "PairLogit", "PairLogitPairwise"), "identity"),
    **dict.fromkeys(("YetiRank", "YetiRankPairwise", "LambdaMart"), "identity"),
    **dict.fromkeys(("StochasticFilter", "StochasticRank"), "identity"),
}
MULTILABEL = ("MultiLogloss", "MultiCrossEntropy")
UNCERTAINTY = ("mean", "logarithm of the standard deviation")  # outputs of RMSEWithUncertainty


def read(model: Any, cover: str | None) -> Source:
    """Read a fitted model.

    Parameters
    ----------
    model : object
        A CatBoost model of any class.
    cover : str or None
        None: the leaf weights.
    """
    name = type(model).__name__
    if not any(kind.__name__ == "CatBoost" for kind in type(model).__mro__):
        raise UnsupportedModelError(
            f"{name} is no model of CatBoost's. Pass a CatBoost, CatBoostClassifier, CatBoostRegressor or "
            "CatBoostRanker."
        )
    if not model.is_fitted():
        raise UnsupportedModelError(f"this {name} is not fitted. Call model.fit(X, y) first.")
    return _source(_exported(model), f"this {name}", name, cover, lambda: model, in_order=False)


def read_file(content: bytes, name: str, cover: str | None) -> Source:
    """Read a .cbm or .json file.

    Parameters
    ----------
    content : bytes
        All of the file.
    name : str
        What messages call it.
    cover : str or None
        None: the leaf weights.
    """
    if not content.startswith(b"CBM1"):
        live = functools.cache(lambda: _loaded(content, name)) if installed("catboost") else None
        return _source(content, name, "CatBoost", cover, live, in_order=True)
    if not installed("catboost"):
        raise UnsupportedModelError(
            f"{name} is a .cbm file, which only catboost reads, and it is not installed. Install it "
            "(pip install catboost), or save the model as JSON where it is: "
            'model.save_model("model.json", format="json").'
        )
    return read(_loaded(content, name), cover)


def _exported(model: Any) -> bytes:
    """Give the model as JSON."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.json")
        try:
            model.save_model(str(path), format="json")
        except Exception as error:
            if type(error).__name__ != "CatBoostError":
                raise
            reason = str(error).rpartition(": ")[2]
            raise UnsupportedModelError(
                f"this {type(model).__name__} cannot be written as JSON, as it is read by: {reason}. "
                "Compute numeric columns of texts and embeddings yourself, and train on these."
            ) from error
        return path.read_bytes()


def _loaded(content: bytes, name: str) -> Any:
    """Read a file with the library."""
    catboost = import_module("catboost")
    model = catboost.CatBoost()
    try:
        if content.startswith(b"CBM1"):
            return model.load_model(blob=content)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "model.json")
            path.write_bytes(content)
            return model.load_model(str(path), format="json")
    except catboost.CatBoostError as error:
        raise ModelFormatError(
            f"{name} is damaged, or newer than the installed catboost, which cannot read it: {error}"
        ) from error


def _source(
    content: bytes,
    name: str,
    model_name: str,
    cover: str | None,
    live: Callable[[], Any] | None,
    *,
    in_order: bool,
) -> Source:
    """Make a source of a model's JSON; `in_order`: leaves are numbered as they stand there."""
    if cover is not None:
        raise InputError(
            f"cover={cover!r} is not kept by CatBoost. Use cover=None (its leaf weights, summed over the "
            "training rows), or cover='data' with data=X."
        )
    try:
        model = parse(content)
        own, about = columns(model), facts(model)
        trees = read_trees(model, own, about)
    except UnsupportedModelError as error:
        raise UnsupportedModelError(f"{name} {error}") from None
    except ModelFormatError as error:
        raise ModelFormatError(f"{name} is damaged: {error}. Save the model again.") from error
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise ModelFormatError(
            f"{name} is damaged: {type(error).__name__}, {error}. Save the model again."
        ) from error
    asked = None if live is None else _Live(live, trees, about, in_order or "oblivious_trees" in model)
    k = len(trees.constant)
    margin = k == 1 and about.labels is not None and len(about.labels) == 2
    multilabel = about.loss in MULTILABEL
    labelled = about.labels is not None and (margin or len(about.labels) == k)
    outputs = UNCERTAINTY if about.loss == "RMSEWithUncertainty" else None
    return Source(
        trees=trees,
        n_features=own.n,
        raw=None if asked is None else asked.raw,
        leaves=None if asked is None else asked.leaves,
        feature_names=own.names,
        output_names=about.labels if labelled and multilabel else outputs,
        classes=about.labels if labelled and not multilabel else None,
        link=LINKS.get(about.loss, about.loss or "unknown"),
        missing=True,
        infinite=True,
        library=LIBRARY,
        model_name=model_name,
    )


@dataclass(frozen=True)
class _Live:
    """The library's own model, asked about rows."""

    model: Callable[[], Any]
    trees: Trees
    about: Facts
    in_order: bool

    def raw(self, X: Any) -> Any:
        """RawFormulaVal, of the classes that have outputs."""
        model = self.model()
        options = {"prediction_type": "RawFormulaVal", "thread_count": 1}
        known = inspect.signature(model.predict).parameters  # a ranker has no types of prediction
        given = {name: value for name, value in options.items() if name in known}
        out = np.asarray(_asked(model.predict, X, **given))
        k = len(self.trees.constant)
        if out.ndim == 2 and out.shape[1] > k and self.about.places is not None:
            out = out[:, list(self.about.places)]
        return out

    def leaves(self, X: Any) -> Any:
        """The leaves as nodes of our trees; -1 where two leaves cannot be told apart."""
        first, nodes = self._numbering()
        number = np.asarray(_asked(self.model().calc_leaf_indexes, X, thread_count=1), dtype=np.int64)
        count = np.diff(first)
        if number.shape[1] != len(count):
            return number
        known = nodes[first[:-1] + np.minimum(number, count - 1)]
        return np.where(number < count, known, np.diff(self.trees.start))  # no node has that number

    def _numbering(self) -> tuple[IntArray, IntArray]:
        """First leaf of every tree, and the node of each leaf as the library numbers them."""
        leaf = np.flatnonzero(self.trees.left < 0)
        first = np.searchsorted(leaf, self.trees.start)
        tree = np.repeat(np.arange(self.trees.n_trees), np.diff(first))
        nodes = leaf - self.trees.start[tree]
        if self.in_order:
            return first, nodes
        # Leaves of nested trees are numbered as they grew, which JSON does not tell: find them by values.
        values = self.trees.value[leaf]
        live = np.asarray(self.model().get_leaf_values(), dtype=np.float64).reshape(values.shape)
        live = live * self.about.scale
        mine, theirs = np.lexsort((*values.T, tree)), np.lexsort((*live.T, tree))
        values, live, of = values[mine], live[theirs], tree[mine]
        same = np.append((values[1:] == values[:-1]).all(axis=1) & (of[1:] == of[:-1]), False)
        told = ~(same | np.roll(same, 1)) & (values == live).all(axis=1)
        found = np.full(len(nodes), -1, dtype=np.int64)
        found[theirs] = np.where(told, nodes[mine], -1)
        return first, found


def _asked(question: Callable[..., Any], X: Any, **options: Any) -> Any:
    """Ask the library; its refusals become a ValueError, as everybody else's."""
    try:
        return question(X, **options)
    except Exception as error:
        if type(error).__name__ == "CatBoostError":
            raise ValueError(str(error)) from error
        raise
