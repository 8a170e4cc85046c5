"""DecisionTree, ExtraTree, RandomForest, ExtraTrees and IsolationForest of scikit-learn.

Their `tree_` compares `float32(x) <= threshold` with a float64 threshold, and sends NaN by a stored flag in
the versions and settings that take it. Whether a model takes NaN or infinity has changed from version to
version and depends on its settings: the live model is asked with one row, instead of repeating its rules
here.

A classifier's output is its class probabilities; with several targets, those of the first, then of the
second... An IsolationForest's output is the mean path length E[h(x)] of a row, longer for more normal rows:
`score_samples(X) = -2 ** (-E[h(x)] / c(max_samples_))` rises with it, so a positive attribution speaks for
an inlier.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from leafgrad.load.check import accepts
from leafgrad.load.trees import FloatArray, IntArray, Source, Trees, labels, names

LIBRARY = "scikit-learn"


def read_tree(model: Any, cover: str | None) -> Source:
    """Read a DecisionTree or ExtraTree, classifier or regressor.

    Parameters
    ----------
    model : object
        The fitted model.
    cover : str or None
        None or "counts".
    """
    return _mean(model, [model], cover, leaves=lambda X: model.apply(X)[:, None])


def read_forest(model: Any, cover: str | None) -> Source:
    """Read a RandomForest or ExtraTrees, classifier or regressor.

    Parameters
    ----------
    model : object
        The fitted model.
    cover : str or None
        None or "counts".
    """
    return _mean(model, model.estimators_, cover, leaves=model.apply)


def _mean(model: Any, estimators: Sequence[Any], cover: str | None, leaves: Callable[[Any], Any]) -> Source:
    """Read the mean of decision trees that `model` is."""
    classes: tuple[Any, ...] | None = None
    raw = model.predict
    columns = np.arange(model.n_outputs_)
    if hasattr(model, "classes_"):
        several = model.n_outputs_ > 1
        targets = [labels(c) for c in (model.classes_ if several else [model.classes_])]
        classes = tuple(targets) if several else targets[0]
        # A leaf's row is padded to the longest list of classes; each target keeps its own.
        most = max(map(len, targets))
        columns = np.concatenate([target * most + np.arange(len(c)) for target, c in enumerate(targets)])

        def raw(X: Any) -> Any:
            probabilities = model.predict_proba(X)
            return np.hstack(probabilities) if several else probabilities

    def value(tree: Any) -> FloatArray:
        table: FloatArray = tree.value.reshape(tree.node_count, -1)
        return table if table.shape[1] == len(columns) else table[:, columns]

    return Source(
        trees=stack([e.tree_ for e in estimators], cover, value=value, factor=1 / len(estimators)),
        n_features=model.n_features_in_,
        raw=raw,
        leaves=leaves,
        plain=True,
        feature_names=names(getattr(model, "feature_names_in_", None)),
        classes=classes,
        missing=accepts(raw, model.n_features_in_, np.nan),
        infinite=accepts(raw, model.n_features_in_, np.inf),
        library=LIBRARY,
        model_name=type(model).__name__,
    )


def read_isolation(model: Any, cover: str | None) -> Source:
    """Read an IsolationForest; the top of the module says what its output is.

    Parameters
    ----------
    model : object
        The fitted model.
    cover : str or None
        None or "counts".
    """
    members = model.estimators_
    trees = stack([e.tree_ for e in members], cover, value=_path_lengths, factor=1 / len(members))
    subsets = [slice(None)] * len(members)
    if members[0].n_features_in_ != model.n_features_in_:
        subsets = model.estimators_features_
        tree = np.repeat(np.arange(trees.n_trees), np.diff(trees.start))
        columns = np.asarray(subsets, dtype=np.int32)[tree, np.maximum(trees.feature, 0)]
        trees = replace(trees, feature=np.where(trees.feature >= 0, columns, np.int32(-1)))
    unit = float(average_path_length(model.max_samples_))

    def raw(X: Any) -> FloatArray:
        length: FloatArray = -unit * np.log2(-model.score_samples(X))
        return length

    def leaves(X: Any) -> IntArray:
        rows = np.asarray(X, dtype=np.float32)
        return np.stack([e.tree_.apply(rows[:, s]) for e, s in zip(members, subsets, strict=True)], axis=1)

    return Source(
        trees=trees,
        n_features=model.n_features_in_,
        raw=raw,
        leaves=leaves,
        feature_names=names(getattr(model, "feature_names_in_", None)),
        output_names=("path length",),
        missing=accepts(raw, model.n_features_in_, np.nan),
        infinite=accepts(raw, model.n_features_in_, np.inf),
        library=LIBRARY,
        model_name=type(model).__name__,
    )


def _path_lengths(tree: Any) -> FloatArray:
    """Edges from the root to each node, plus what the rows that ended there would take to be told apart."""
    length: FloatArray = tree.compute_node_depths() - 1.0 + average_path_length(tree.n_node_samples)
    return length[:, None]


def average_path_length(n: npt.ArrayLike) -> FloatArray:
    """Mean path to a row in a random tree that isolates n rows: c(n) of the isolation forest's paper.

    Parameters
    ----------
    n : array-like
        Numbers of rows.
    """
    rows = np.asarray(n, dtype=np.float64)
    many = np.maximum(rows, 3)
    length = 2 * (np.log(many - 1) + np.euler_gamma) - 2 * (many - 1) / many
    return np.where(rows > 2, length, np.where(rows == 2, 1.0, 0.0))


def stack(
    trees: Sequence[Any], cover: str | None, *, value: Callable[[Any], FloatArray], factor: float
) -> Trees:
    """Put scikit-learn's `Tree` objects one after the other.

    Parameters
    ----------
    trees : sequence
        The `tree_` of each estimator.
    cover : str or None
        None: weighted row counts. "counts": row counts.
    value : callable
        Gives a tree's leaf values, a row per node.
    factor : float
        What to multiply them by.
    """
    nodes = [tree.__getstate__()["nodes"] for tree in trees]  # a structured array each, not copied

    def column(name: str, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        return np.concatenate([n[name] for n in nodes], dtype=dtype, casting="unsafe")

    left = column("left_child", np.int32)
    feature = column("feature", np.int32)
    feature[left < 0] = -1
    values = np.concatenate([value(tree) for tree in trees], dtype=np.float64)
    values *= factor
    return Trees(
        start=np.cumsum([0] + [len(n) for n in nodes], dtype=np.int64),
        left=left,
        right=column("right_child", np.int32),
        feature=feature,
        threshold=column("threshold", np.float64),
        cover=column("n_node_samples" if cover == "counts" else "weighted_n_node_samples", np.float64),
        value=values,
        constant=np.zeros(values.shape[1]),
        dtype=np.float32,
        missing_left=column("missing_go_to_left", np.bool_),
    )
