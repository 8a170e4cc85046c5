"""One file for what leafgrad saves: an npz of plain arrays, and what they are called as JSON.

No pickle, so that a file from elsewhere is data and nothing more. It is written beside its place and moved
there, so that a crash leaves the old file or none; zip's checksums tell a damaged one.
"""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from leafgrad.errors import InputError, ModelFormatError

Arrays = dict[str, npt.NDArray[Any]]


def write(
    path: str | os.PathLike[str], kind: str, version: int, meta: dict[str, Any], arrays: Arrays
) -> None:
    """Write the arrays and what describes them to `path`, whole or not at all."""
    described = {"format": f"leafgrad.{kind}", "version": version, **meta}
    stored = {**arrays, "meta": np.frombuffer(json.dumps(described).encode(), dtype=np.uint8)}
    target = Path(path)
    part = target.with_name(f".{target.name}.{os.urandom(8).hex()}.part")
    try:
        with part.open("xb") as file:
            np.savez(file, **stored)  # type: ignore[arg-type]  # the stub's own keyword
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def read(given: str | os.PathLike[str] | bytes, kind: str, version: int) -> tuple[dict[str, Any], Arrays]:
    """Read what `write` wrote, a file or its content: the description and the arrays."""
    # No file, or none that may be read: the system says so.
    with io.BytesIO(given) if isinstance(given, bytes) else Path(given).open("rb") as file:
        try:
            with np.load(file, allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
            meta = json.loads(arrays.pop("meta").tobytes())
            if meta["format"] != f"leafgrad.{kind}":
                raise KeyError("format")
        except (
            Exception
        ) as error:  # numpy, zipfile and json raise a dozen kinds for what is no file of theirs
            raise ModelFormatError(
                f"{called(given)} is damaged, or is no {kind} saved by leafgrad"
            ) from error
    if meta.get("version") != version:
        raise ModelFormatError(
            f"{called(given)} is of version {meta.get('version')}, this leafgrad reads {version}; "
            "update leafgrad"
        )
    return meta, arrays


def called(given: str | os.PathLike[str] | bytes) -> str:
    """What messages call a file, or its content."""
    return "the content" if isinstance(given, bytes) else os.fspath(given)


def packed(label: Any) -> Any:
    """A label as JSON; a tuple as an object, to tell it from nothing else."""
    if isinstance(label, tuple):
        return {"tuple": [packed(part) for part in label]}
    if isinstance(label, np.generic):
        label = label.item()
    if label is None or isinstance(label, str | int | float | bool):
        return label
    raise InputError(f"the label {label!r} ({type(label).__name__}) cannot be saved; text and numbers can")


def unpacked(label: Any) -> Any:
    """What `packed` was given."""
    return tuple(unpacked(part) for part in label["tuple"]) if isinstance(label, dict) else label
