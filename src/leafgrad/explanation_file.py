"""An Explanation as one file: its arrays, its labels, and the user's data.

Data that are no numbers are kept cell by cell, as text and numbers, so that no pickle is needed.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from leafgrad import archive, tables
from leafgrad.archive import packed, unpacked
from leafgrad.errors import ModelFormatError
from leafgrad.explanation import Explanation, Source
from leafgrad.outputs import label_array

VERSION = 1
OPTIONAL = ("trace", "z", "subset", "rate", "chosen")


def save(explanation: Explanation, path: str | os.PathLike[str]) -> None:
    """Write `explanation` to `path`, whole or not at all."""
    arrays: dict[str, npt.NDArray[Any]] = {
        "values": explanation.values,
        "base_values": explanation.base_values,
    }
    for name in OPTIONAL:
        if getattr(explanation, name) is not None:
            arrays[name] = getattr(explanation, name)
    meta: dict[str, Any] = {
        "make": explanation.source.table.make,
        "feature_names": explanation.feature_names,
        "output_names": [packed(label) for label in explanation.output_names],
        "method": explanation.method,
        "additive": explanation.additive,
        "groups": explanation.groups,
        "output": None,
    }
    if isinstance(explanation.output, np.ndarray):
        labels = explanation.output.tolist()
        distinct = {label: code for code, label in enumerate(dict.fromkeys(labels))}
        arrays["output_code"] = np.array([distinct[label] for label in labels], dtype=np.int64)
        meta["output_labels"] = [packed(label) for label in distinct]
    else:
        meta["output"] = packed(explanation.output)
    if explanation.data.dtype.kind == "O":
        meta["data"] = [[_cell(cell) for cell in row] for row in explanation.data.tolist()]
    else:
        arrays["data"] = explanation.data
    archive.write(path, "Explanation", VERSION, meta, arrays)


def load(path: str | os.PathLike[str]) -> Explanation:
    """Read what `save` wrote."""
    meta, arrays = archive.read(path, "Explanation", VERSION)
    try:
        return _built(arrays, meta)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise ModelFormatError(f"{os.fspath(path)} is damaged: {error}") from error


def _built(arrays: dict[str, npt.NDArray[Any]], meta: dict[str, Any]) -> Explanation:
    values, base = arrays["values"], arrays["base_values"]
    names = tuple(meta["feature_names"])
    output_names = tuple(unpacked(label) for label in meta["output_names"])
    if (
        values.ndim not in {2, 3}
        or base.shape != (len(values), *values.shape[2:])
        or values.dtype.kind != "f"
    ):
        raise ValueError(f"values {values.shape} and base_values {base.shape} do not fit")
    if len(names) != values.shape[1] or (values.ndim == 3 and len(output_names) != values.shape[2]):
        raise ValueError("names and values do not fit")
    if "data" in meta:
        data = np.empty(values.shape[:2], dtype=object)
        for i, row in zip(range(len(data)), meta["data"], strict=True):
            for j, cell in zip(range(len(names)), row, strict=True):
                data[i, j] = cell
    else:
        data = arrays["data"]
    if data.shape != values.shape[:2]:
        raise ValueError(f"values {values.shape} and data {data.shape} do not fit")
    output = unpacked(meta["output"])
    if "output_code" in arrays:
        labels = [unpacked(label) for label in meta["output_labels"]]
        output = label_array([labels[code] for code in arrays["output_code"].tolist()])
        if len(output) != len(values):
            raise ValueError("output and values do not fit")
    table = tables.table(data)
    table.make = meta["make"]
    groups = meta["groups"]
    return Explanation(
        values=values,
        base_values=base,
        feature_names=names,
        output_names=output_names,
        method=meta["method"],
        additive=meta["additive"],
        output=output,
        groups=None if groups is None else {name: tuple(members) for name, members in groups.items()},
        **{name: arrays.get(name) for name in OPTIONAL},
        source=Source(table),
    )


def _cell(cell: Any) -> Any:
    """A value of a column that is no number, as JSON; what JSON does not know is kept as text."""
    if isinstance(cell, np.generic):
        cell = cell.item()
    if cell is None or tables.is_missing(cell):
        return None
    return cell if isinstance(cell, str | int | float | bool) else str(cell)
