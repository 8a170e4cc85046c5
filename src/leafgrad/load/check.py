"""The load-time self-check: the forest against the user's live model, on rows chosen to tell them apart.

A library changes, a model is edited by hand, a subclass predicts in its own way: then the only right answer
is an error. Every loader uses this one comparison. Leaves are compared where the library tells them,
outputs always.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from leafgrad.errors import LeafgradError, ModelMismatchError
from leafgrad.forest import Forest
from leafgrad.load.probes import probe_rows, spoken
from leafgrad.load.trees import FloatArray, Source, parents


def verified(forest: Forest, source: Source) -> Forest:
    """Give the forest marked as checked, if the live model is at hand and agrees on all probe rows.

    Parameters
    ----------
    forest : Forest
        The forest of this source.
    source : Source
        Where it came from.
    """
    if source.raw is None:
        return forest
    X = spoken(forest, probe_rows(forest, source.trees.threshold))
    compare(forest, X, raw=source.raw, leaves=source.leaves, tolerance=source.tolerance)
    return forest.replace(checked=True)


def compare(
    forest: Forest,
    X: npt.NDArray[Any],
    *,
    raw: Callable[[Any], Any],
    leaves: Callable[[Any], Any] | None = None,
    tolerance: float = 1e-12,
) -> None:
    """Raise `ModelMismatchError` at the first row on which the forest and the live model part.

    Parameters
    ----------
    forest : Forest
        The loaded forest.
    X : array
        Rows `(m, N)` as a user would pass them.
    raw : callable
        Gives the live model's raw output, `(m,)` or `(m, K)`.
    leaves : callable or None
        Gives the live model's leaves `(m, T)`, as node indices within their trees; -1 where it cannot tell.
    tolerance : float
        Allowed difference of outputs, in units of |constant| + the sum of the trees' largest |leaf|:
        1e-12 for libraries that add up in float64, 1e-6 for float32.
    """
    if leaves is not None:
        _compare_leaves(forest, X, _asked(leaves, forest, X))
    _compare_outputs(forest, X, _asked(raw, forest, X), tolerance)


def _asked(question: Callable[[Any], Any], forest: Forest, X: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Ask the live model about rows that it must take if the forest does."""
    try:
        with _quiet():
            return np.asarray(question(X)).reshape(len(X), -1)
    except LeafgradError:
        raise  # our own: the library could not read the model's file
    except ValueError as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        raise _mismatch(
            f"the live {forest.model_name} refuses rows that the loaded forest takes: {reason}"
        ) from error


def _compare_leaves(forest: Forest, X: npt.NDArray[Any], live: npt.NDArray[Any]) -> None:
    own = forest.leaves(X)
    if live.shape != own.shape:
        raise _mismatch(
            f"the live {forest.model_name} has {live.shape[1]} trees, the loaded forest {own.shape[1]}"
        )
    apart = (live >= 0) & (live != own)
    if apart.any():
        row, tree = np.argwhere(apart)[0].tolist()
        leaf = int(live[row, tree])
        raise _mismatch(
            f"probe row {row} reaches leaf {own[row, tree]} of tree {tree} in the loaded forest, and leaf "
            f"{leaf} in the live {forest.model_name}{_parting(forest, X[row : row + 1], tree, leaf)}"
        )


def _compare_outputs(forest: Forest, X: npt.NDArray[Any], live: npt.NDArray[Any], tolerance: float) -> None:
    own = forest.predict(X).reshape(len(X), -1)
    if live.shape != own.shape:
        raise _mismatch(
            f"the live {forest.model_name} has {live.shape[1]} outputs, the loaded forest {own.shape[1]}"
        )
    allowed = tolerance * _scale(forest)
    # Written so that a NaN on either side counts as different.
    apart = ~(np.abs(live - own) <= allowed)
    if apart.any():
        row, k = np.argwhere(apart)[0].tolist()
        raise _mismatch(
            f"on probe row {row}, output {k} is {float(own[row, k])!r} in the loaded forest and "
            f"{float(live[row, k])!r} in the live {forest.model_name}; they may differ by {allowed[k]:.1e}"
        )


def _mismatch(how: str) -> ModelMismatchError:
    return ModelMismatchError(f"{how}. {_CURE}")


_CURE = (
    "Was the model changed after fitting, does its class predict in its own way, or is its library newer "
    "than this leafgrad? Nothing is loaded, as explanations would be of another model; check=False loads it "
    "nevertheless. If the model is as it was fitted, please report this."
)


def _scale(forest: Forest) -> FloatArray:
    """Size of each output, (K,): |constant| plus the sum over trees of their largest |leaf|."""
    tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.tree_start))
    leaf = np.abs(forest.value + forest.root_mean[tree])
    leaf[forest.left >= 0] = 0
    largest = np.maximum.reduceat(leaf, forest.tree_start[:-1], axis=0)
    if (forest.tree_output < 0).all():
        total = largest.sum(axis=0)
    else:
        total = np.bincount(forest.tree_output, weights=largest[:, 0], minlength=forest.n_outputs)
    size: FloatArray = np.abs(forest.constant) + total
    return size


def _parting(forest: Forest, x: npt.NDArray[Any], tree: int, leaf: int) -> str:
    """Name the split at which the row's way parts from the way to the live model's leaf."""
    start, end = forest.tree_start[tree : tree + 2].tolist()
    if leaf >= end - start:
        return ", which the forest does not have"
    local = np.array([0, end - start])
    up = parents(local, forest.left[start:end], forest.right[start:end])
    passed = set()
    node = int(forest.leaves(x)[0, tree])
    while node >= 0:
        passed.add(node)
        node = int(up[node])
    node = leaf
    while node not in passed:
        node = int(up[node])
    feature = int(forest.feature[start + node])
    if feature < 0:
        return ", which is a split in the forest"
    name = f"column {feature}" if forest.feature_names is None else repr(forest.feature_names[feature])
    threshold = float(forest.threshold[start + node])
    return f": they part at {name}, whose value is {x[0, feature]!s} and threshold {threshold!r}"


def accepts(raw: Callable[[Any], Any], n_features: int, number: float) -> bool:
    """Whether the live model takes this number as a feature's value.

    Parameters
    ----------
    raw : callable
        Gives the live model's raw output.
    n_features : int
        Number of columns it takes.
    number : float
        NaN or infinity.
    """
    try:
        with _quiet():
            raw(np.full((1, n_features), number))
    except ValueError:
        return False
    return True


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the library's remarks about nameless columns and the like while it is asked."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
