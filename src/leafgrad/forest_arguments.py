"""What `Forest.from_arrays` is given, looked at before the core sees it: what does not fit is named.

Shapes and kinds are checked here, that the nodes make trees is checked in the core.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from leafgrad.errors import ModelFormatError

MOST_CODES = 2**31  # of a category set: the libraries' are int32


def vector(given: npt.ArrayLike, dtype: Any, name: str) -> npt.NDArray[Any]:
    """One number a node or tree, of this type and no other value than was given."""
    try:
        array = np.asarray(given)
        with np.errstate(invalid="ignore"):
            out = np.ascontiguousarray(array, dtype=dtype)
        if out.dtype.kind == "i" and array.dtype.kind == "f" and not (out == array).all():
            raise ValueError("it holds other numbers than whole ones of that size")
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelFormatError(f"{name} does not convert to {np.dtype(dtype)}: {error}") from error
    if out.ndim != 1:
        raise ModelFormatError(f"{name} has {out.ndim} dimensions; wanted one entry a node (or tree)")
    return out


def flags(given: npt.ArrayLike, n: int, name: str) -> npt.NDArray[np.bool_]:
    """One flag a node."""
    out = vector(given, np.bool_, name)
    if len(out) != n:
        raise ModelFormatError(f"{name} has {len(out)} entries for {n} nodes")
    return out


def values(given: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Leaf values as a copy, a row a node."""
    try:
        out = np.array(given, dtype=np.float64, ndmin=1)
    except (TypeError, ValueError) as error:
        raise ModelFormatError(f"value does not convert to float64: {error}") from error
    if out.ndim == 1:
        out = out[:, None]
    if out.ndim != 2:
        raise ModelFormatError(f"value has {out.ndim} dimensions; wanted (nodes,) or (nodes, outputs)")
    return out


def constants(given: npt.ArrayLike, n_outputs: int) -> npt.NDArray[np.float64]:
    """One finite number an output, read-only."""
    wanted = f"wanted finite numbers, one, or one for each of {n_outputs} outputs"
    try:
        out = np.broadcast_to(np.asarray(given, dtype=np.float64), (n_outputs,)).copy()
    except (TypeError, ValueError):
        raise ModelFormatError(f"constant is {given!r}; {wanted}") from None
    if not np.isfinite(out).all():
        raise ModelFormatError(f"constant is {given!r}; {wanted}")
    out.flags.writeable = False
    return out


def category_sets(
    given: Mapping[Any, Iterable[int]] | None, split: npt.NDArray[np.bool_]
) -> dict[int, npt.NDArray[Any]]:
    """Codes of each categorical node, which is a split, as whole numbers that a bit can stand for.

    Nodes that share one object of codes share one array.
    """
    out: dict[int, npt.NDArray[Any]] = {}
    known: dict[int, tuple[Iterable[int], npt.NDArray[Any]]] = {}  # the object too: its id stays its own
    for node, codes in (given or {}).items():
        if not isinstance(node, int | np.integer) or not 0 <= node < len(split) or not split[node]:
            raise ModelFormatError(f"categories_left: node {node!r} is no split of the {len(split)} nodes")
        if id(codes) in known:
            out[int(node)] = known[id(codes)][1]
            continue
        listed = codes if isinstance(codes, np.ndarray) else np.array(list(codes))
        if listed.size and (
            listed.dtype.kind not in "iu"
            or listed.ndim != 1
            or listed.min() < 0
            or listed.max() >= MOST_CODES
        ):
            raise ModelFormatError(
                f"categories_left: node {node} has a code that is out of range; wanted whole numbers from 0 "
                f"to {MOST_CODES - 1}"
            )
        known[id(codes)] = codes, listed
        out[int(node)] = listed
    return out


def check_labels(
    classes: Sequence[Any] | None,
    output_names: Sequence[Any] | None,
    categories: Sequence[Any] | None,
    n_outputs: int,
    n_features: int,
) -> None:
    """Raise unless there are as many labels as what they stand for."""
    if output_names is not None and len(output_names) != n_outputs:
        raise ModelFormatError(f"there are {len(output_names)} output_names for {n_outputs} outputs")
    if categories is not None and len(categories) != n_features:
        raise ModelFormatError(f"there are {len(categories)} categories for {n_features} features")
    if classes is None:
        return
    if any(isinstance(label, tuple) for label in classes):
        total = sum(len(labels) for labels in classes)
        if total != n_outputs:
            raise ModelFormatError(f"there are {total} classes of all targets for {n_outputs} outputs")
    elif len(classes) != n_outputs and not (n_outputs == 1 and len(classes) == 2):
        two = " (or two, whose one output is the margin of the second)" if n_outputs == 1 else ""
        raise ModelFormatError(f"there are {len(classes)} classes for {n_outputs} outputs; wanted one{two}")
