"""An Explanation as one file: an npz of plain arrays, and what they are called as JSON.

No pickle, so that a file from elsewhere is data and nothing more. It is written beside its place and moved
there, so that a crash leaves the old file or none; zip's checksums tell a damaged one.
"""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from leafgrad import tables
from leafgrad.errors import InputError, ModelFormatError
from leafgrad.explanation import Explanation, Source
from leafgrad.outputs import label_array

FORMAT, VERSION = "leafgrad.Explanation", 1
OPTIONAL = ("trace", "z", "subset")


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
        "format": FORMAT,
        "version": VERSION,
        "make": explanation.source.table.make,
        "feature_names": explanation.feature_names,
        "output_names": [_packed(label) for label in explanation.output_names],
        "method": explanation.method,
        "additive": explanation.additive,
        "groups": explanation.groups,
        "output": None,
    }
    if isinstance(explanation.output, np.ndarray):
        labels = explanation.output.tolist()
        distinct = {label: code for code, label in enumerate(dict.fromkeys(labels))}
        arrays["output_code"] = np.array([distinct[label] for label in labels], dtype=np.int64)
        meta["output_labels"] = [_packed(label) for label in distinct]
    else:
        meta["output"] = _packed(explanation.output)
    if explanation.data.dtype.kind == "O":
        meta["data"] = [[_cell(cell) for cell in row] for row in explanation.data.tolist()]
    else:
        arrays["data"] = explanation.data
    arrays["meta"] = np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)

    target = Path(path)
    part = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
    try:
        with part.open("xb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]  # the stub's own keyword
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def load(path: str | os.PathLike[str]) -> Explanation:
    """Read what `save` wrote."""
    with Path(path).open("rb") as file:  # no file, or none that may be read: the system says so
        try:
            with np.load(file, allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
            meta = json.loads(arrays.pop("meta").tobytes())
            if meta["format"] != FORMAT:
                raise KeyError("format")
        except (
            Exception
        ) as error:  # numpy, zipfile and json raise a dozen kinds for what is no file of theirs
            raise ModelFormatError(
                f"{os.fspath(path)} is damaged, or is no explanation saved by leafgrad"
            ) from error
    if meta.get("version") != VERSION:
        raise ModelFormatError(
            f"{os.fspath(path)} is of version {meta.get('version')}, this leafgrad reads {VERSION}; "
            "update leafgrad"
        )
    try:
        return _built(arrays, meta)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise ModelFormatError(f"{os.fspath(path)} is damaged: {error}") from error


def _built(arrays: dict[str, npt.NDArray[Any]], meta: dict[str, Any]) -> Explanation:
    values, base = arrays["values"], arrays["base_values"]
    names = tuple(meta["feature_names"])
    output_names = tuple(_unpacked(label) for label in meta["output_names"])
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
    output = _unpacked(meta["output"])
    if "output_code" in arrays:
        labels = [_unpacked(label) for label in meta["output_labels"]]
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


def _packed(label: Any) -> Any:
    """A label as JSON; a tuple as an object, to tell it from nothing else."""
    if isinstance(label, tuple):
        return {"tuple": [_packed(part) for part in label]}
    if isinstance(label, np.generic):
        label = label.item()
    if label is None or isinstance(label, str | int | float | bool):
        return label
    raise InputError(f"the label {label!r} ({type(label).__name__}) cannot be saved; text and numbers can")


def _unpacked(label: Any) -> Any:
    return tuple(_unpacked(part) for part in label["tuple"]) if isinstance(label, dict) else label


def _cell(cell: Any) -> Any:
    """A value of a column that is no number, as JSON; what JSON does not know is kept as text."""
    if isinstance(cell, np.generic):
        cell = cell.item()
    if cell is None or tables.is_missing(cell):
        return None
    return cell if isinstance(cell, str | int | float | bool) else str(cell)
