"""`output=`: which of the model's outputs to explain, by label, the same for all rows or row by row.

A user names classes and targets, never positions. A binary margin model has one output, the margin of its
positive class; its negative class means that margin negated. Everything is resolved here, once, into columns
of the forest and signs; whoever calls the core only asks for columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from leafgrad.errors import InputError

if TYPE_CHECKING:
    from leafgrad.forest import Forest

# Raw outputs this close, in units of the sum over trees of max|leaf|, are a tie: base + walk does not add in
# the library's order. A mean of 1,000 trees is rounded by less than 1e-14 of that unit.
TIE = 1e-13


@dataclass(frozen=True, eq=False)
class Rowwise:
    """One output per row: its column of the forest, and whether it is negated."""

    column: npt.NDArray[np.intp]
    negated: npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Selection:
    """The outputs to explain.

    Attributes
    ----------
    columns : int32 array, (k,)
        Outputs of the forest; all of them where `rows` tells each row's own.
    negated : bool
        The one output is the margin negated.
    flat : bool
        Results have no axis of outputs.
    names : tuple
        A label per column of the result; empty where each row has its own.
    output : object
        What to keep of the user's argument: None, a label, or an array of labels, one per row.
    rows : Rowwise or None
    """

    columns: npt.NDArray[np.int32]
    negated: bool
    flat: bool
    names: tuple[Any, ...]
    output: Any
    rows: Rowwise | None = None


def resolve(forest: Forest, output: Any, n: int, raw: Callable[[], npt.NDArray[Any]]) -> Selection:
    """What `output` means for this forest.

    Parameters
    ----------
    forest : Forest
    output : None, label, "predicted" or sequence of labels
        A list or array is one label per row, a tuple the (target, class) of a multi-output classifier.
    n : int
        Rows of X.
    raw : callable
        Gives the raw outputs of these rows, `(n, K)`; called for "predicted" only.

    Returns
    -------
    Selection
    """
    if output is None:
        return everything(forest)
    output = _plain(output)
    table = _labels(forest)
    if isinstance(output, str) and output == "predicted":
        if output in table:
            raise InputError(
                'output="predicted" is ambiguous, as the model has a class of that name; pass one label per '
                "row: model.predict(X) for each row's own, or a list of n times 'predicted' for that class"
            )
        return _predicted(forest, raw)
    if isinstance(output, Sequence | np.ndarray) and not isinstance(output, str | bytes | tuple):
        return _one_per_row(forest, table, output, n)
    column, negated = _look_up(forest, table, output, "output")
    label = next(label for label, meant in table.items() if meant == (column, negated))
    return Selection(np.array([column], dtype=np.int32), negated, True, (label,), label)


def everything(forest: Forest) -> Selection:
    """All outputs, for all rows."""
    columns = np.arange(forest.n_outputs, dtype=np.int32)
    return Selection(columns, False, forest.n_outputs == 1, names(forest), None)


def names(forest: Forest) -> tuple[Any, ...]:
    """A label for each output: classes, (target, class) pairs or output names."""
    if forest.classes is None:
        return tuple(range(forest.n_outputs) if forest.output_names is None else forest.output_names)
    return tuple(label for label, (_, negated) in _labels(forest).items() if not negated)


def _labels(forest: Forest) -> dict[Any, tuple[int, bool]]:
    """Every label a user may pass -> (output of the forest, negated)."""
    if forest.classes is None:
        return {_plain(name): (k, False) for k, name in enumerate(names(forest))}
    if _several_targets(forest):
        pairs = [(target, label) for target, labels in enumerate(forest.classes) for label in labels]
        return {pair: (k, False) for k, pair in enumerate(pairs)}
    classes = [_plain(label) for label in forest.classes]
    if _margin(forest):
        return {classes[0]: (0, True), classes[1]: (0, False)}
    return {label: (k, False) for k, label in enumerate(classes)}


def _several_targets(forest: Forest) -> bool:
    return forest.classes is not None and any(isinstance(label, tuple) for label in forest.classes)


def _margin(forest: Forest) -> bool:
    """Whether the one output is the margin of the second of two classes."""
    return forest.classes is not None and forest.n_outputs == 1 and len(forest.classes) == 2


def _look_up(forest: Forest, table: dict[Any, tuple[int, bool]], label: Any, where: str) -> tuple[int, bool]:
    try:
        return table[label]
    except (KeyError, TypeError):  # TypeError: not hashable
        pass
    kind = "classes" if forest.classes is not None else "outputs"
    if _several_targets(forest):
        kind = "(target, class) pairs"
    also = ""
    if where == "output" and forest.classes is not None:
        also = "; or None for all" if _several_targets(forest) else '; or "predicted", or None for all'
    raise InputError(
        f"{where} is {label!r}, which the model does not have; its {kind} are {_some(table)}{also}"
    )


def _one_per_row(forest: Forest, table: dict[Any, tuple[int, bool]], output: Any, n: int) -> Selection:
    shape = np.shape(output) if isinstance(output, np.ndarray) else (len(output),)
    if _several_targets(forest) and len(shape) == 2 and shape[1] == 2:
        labels = [tuple(pair) for pair in output.tolist()]
    elif len(shape) == 1:
        labels = output.tolist() if isinstance(output, np.ndarray) else [_plain(label) for label in output]
    else:
        raise InputError(f"output has shape {shape}; pass one label for all rows, or one per row, ({n},)")
    if len(labels) != n:
        raise InputError(
            f"output is a sequence of {len(labels)} labels, one per row, but X has {n} rows; "
            "pass one label for all rows without a list, or None for all outputs"
        )
    meant = [_look_up(forest, table, label, f"output[{i}]") for i, label in enumerate(labels)]
    column = np.array([k for k, _ in meant], dtype=np.intp)
    return _rowwise(forest, column, np.array([negated for _, negated in meant], dtype=np.bool_))


def _rowwise(forest: Forest, column: npt.NDArray[np.intp], negated: npt.NDArray[np.bool_]) -> Selection:
    label_of = {meant: label for label, meant in _labels(forest).items()}
    wanted = [label_of[meant] for meant in zip(column.tolist(), negated.tolist(), strict=True)]
    every = np.arange(forest.n_outputs, dtype=np.int32)
    return Selection(every, False, True, (), label_array(wanted), Rowwise(column, negated))


def label_array(labels: Sequence[Any]) -> npt.NDArray[Any]:
    """Labels as an array: of their own type where they share one, which is no pair; else of objects."""
    if len(set(map(type, labels))) == 1 and not isinstance(labels[0], tuple):
        return np.array(labels)
    out = np.empty(len(labels), dtype=object)
    out[:] = labels
    return out


def _predicted(forest: Forest, outputs: Callable[[], npt.NDArray[Any]]) -> Selection:
    """Each row's own class, ties as the library's `predict` breaks them."""
    if forest.classes is None:
        raise InputError(
            'output="predicted" is for classifiers, and the model has no classes; '
            f"pass None for all outputs or one of {_some(_labels(forest))}"
        )
    if _several_targets(forest):
        raise InputError(
            f'output="predicted" is for classifiers of one target, and the model has {len(forest.classes)}; '
            "pass one (target, class) pair, or a list of one pair per row"
        )
    raw = outputs()
    tie = TIE * (np.abs(forest.base) + forest.scale)
    if _margin(forest):
        # scikit-learn's GradientBoosting calls a margin of 0 its positive class, all others the negative.
        margin = raw[:, 0]
        positive = margin >= -tie[0] if zero_is_positive(forest) else margin > tie[0]
        return _rowwise(forest, np.zeros(len(raw), dtype=np.intp), ~positive)
    winner = np.argmax(raw >= raw.max(axis=1, keepdims=True) - tie.max(), axis=1)
    return _rowwise(forest, winner, np.zeros(len(raw), dtype=np.bool_))


def zero_is_positive(forest: Forest) -> bool:
    """Whether the library's `predict` takes a binary margin of exactly 0 for the positive class."""
    return forest.library == "scikit-learn" and forest.model_name == "GradientBoostingClassifier"


def _plain(label: Any) -> Any:
    """A label without numpy's or another library's wrapping: a plain scalar, or an array."""
    if isinstance(label, np.generic) or (isinstance(label, np.ndarray) and label.ndim == 0):
        return label.item()
    if isinstance(label, tuple):
        return tuple(_plain(part) for part in label)
    if hasattr(label, "__array__") and not isinstance(label, np.ndarray):
        return np.asarray(label)  # a Series of labels
    return label


def _some(labels: Any, most: int = 20) -> str:
    shown = ", ".join(map(repr, list(labels)[:most]))
    return shown if len(labels) <= most else f"{shown}, ... ({len(labels)} in all)"
