"""HistGradientBoostingClassifier and -Regressor: float64 comparisons, missing values, categorical splits.

With categorical columns, the model's `_preprocessor` puts them first and replaces their values by codes 0,
1, ...; an unknown value becomes NaN there. Nodes name the reordered columns, so they are mapped back, and
the Forest's `categories` repeat the coding. The codes that go left are a bitset of 256 bits per categorical
node. The output is the margin; with poisson or gamma loss it is the logarithm of the prediction, with the
link "exp".
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from leafgrad.errors import UnsupportedModelError
from leafgrad.load.sklearn_boosting import link_of
from leafgrad.load.sklearn_trees import LIBRARY
from leafgrad.load.trees import BoolArray, Categories, IntArray, Source, Trees, labels, names


def read_hist(model: Any, cover: str | None) -> Source:  # noqa: ARG001  row counts are its only covers
    """Read a HistGradientBoostingClassifier or -Regressor.

    Parameters
    ----------
    model : object
        The fitted model.
    cover : str or None
        None or "counts", which are the same here.
    """
    classes = labels(model.classes_) if hasattr(model, "classes_") else None
    if classes is not None and len(classes) < 2:
        raise UnsupportedModelError(
            f"this {type(model).__name__} was fitted on the one class {classes[0]!r}: its margin is that of "
            "a second class, which it has never seen. Fit it on two classes or more."
        )
    link = link_of(model)
    n_outputs = model.n_trees_per_iteration_
    predictors = [tree for stage in model._predictors for tree in stage]
    nodes = [tree.nodes for tree in predictors]

    def column(name: str, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        return np.concatenate([n[name] for n in nodes], dtype=dtype, casting="unsafe")

    def raw(X: Any) -> Any:
        # One thread: a few rows are not worth more.
        return model._raw_predict(X, n_threads=1)

    leaf = column("is_leaf", np.bool_)
    start = np.cumsum([0] + [len(n) for n in nodes], dtype=np.int64)
    order, categories = _columns(model)
    coded = np.flatnonzero(column("is_categorical", np.bool_) & ~leaf)
    trees = Trees(
        start=start,
        left=np.where(leaf, np.int32(-1), column("left", np.int32)),
        right=np.where(leaf, np.int32(-1), column("right", np.int32)),
        feature=np.where(leaf, np.int32(-1), order[column("feature_idx", np.int64)]),
        threshold=column("num_threshold", np.float64),
        cover=column("count", np.float64),
        value=column("value", np.float64)[:, None],
        constant=np.array(np.broadcast_to(np.ravel(model._baseline_prediction), n_outputs), dtype=np.float64),
        output=np.tile(np.arange(n_outputs, dtype=np.int32), len(nodes) // n_outputs)
        if n_outputs > 1
        else None,
        missing_left=column("missing_go_to_left", np.bool_),
        sets=_sets(predictors, start, coded, column("bitset_idx", np.int64)[coded]),
        categories=categories,
    )
    return Source(
        trees=trees,
        n_features=model.n_features_in_,
        raw=raw,
        plain=classes is None and link == "identity",
        feature_names=names(getattr(model, "feature_names_in_", None)),
        classes=classes,
        link=link,
        missing=True,
        infinite=True,
        library=LIBRARY,
        model_name=type(model).__name__,
    )


def _columns(model: Any) -> tuple[npt.NDArray[np.int32], Categories | None]:
    """Original column of each column that nodes name, and the values behind the codes."""
    if model._preprocessor is None:
        return np.arange(model.n_features_in_, dtype=np.int32), None
    coded = np.asarray(model.is_categorical_, dtype=np.bool_)
    first = np.flatnonzero(coded)
    categories: list[tuple[Any, ...] | None] = [None] * len(coded)
    encoder = model._preprocessor.named_transformers_["encoder"]
    for column, values in zip(first.tolist(), encoder.categories_, strict=True):
        categories[column] = _values(model, column, values)
    return np.concatenate([first, np.flatnonzero(~coded)]).astype(np.int32), tuple(categories)


def _values(model: Any, column: int, known: npt.NDArray[Any]) -> tuple[Any, ...]:
    """Values of one categorical column in the order of their codes; a missing value is none of them."""
    values = tuple(known.tolist())
    if values and isinstance(values[-1], float) and np.isnan(values[-1]):
        values = values[:-1]  # NaN seen in training stands last, and is coded NaN
    odd = [value for value in values if not isinstance(value, str | int | float)]
    if odd or known.dtype.kind in "mM":
        what = known.dtype if known.dtype.kind in "mM" else repr(odd[0])
        raise UnsupportedModelError(
            f"column {column} of this {type(model).__name__} has a category that is neither text nor a "
            f"number: {what}. Replace it before fitting: None by NaN or by a text, others by text."
        )
    return values


def _sets(predictors: list[Any], start: IntArray, coded: IntArray, bitset: IntArray) -> dict[int, IntArray]:
    """Codes that go left at each categorical node; `bitset` is each one's row in its tree's table."""
    if not len(coded):
        return {}
    tables = [tree.raw_left_cat_bitsets for tree in predictors]
    first = np.cumsum([0] + [len(table) for table in tables])
    tree = np.searchsorted(start, coded, side="right") - 1
    words = np.concatenate(tables)[first[tree] + bitset].astype("<u4")
    bits: BoolArray = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little").astype(np.bool_)
    node, code = np.nonzero(bits)
    codes = np.split(code, np.searchsorted(node, np.arange(1, len(coded))))
    return dict(zip(coded.tolist(), codes, strict=True))
