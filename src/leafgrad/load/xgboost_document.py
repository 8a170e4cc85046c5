"""A model file of XGBoost as a tree of objects: JSON or UBJSON, each field asked for by name and type.

Whatever is not as wanted is a `ModelFormatError` that says where in the file. The arrays of all trees come
out as one array per field: `column` joins them without a loop over numbers.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from leafgrad.errors import ModelFormatError
from leafgrad.load import ubjson
from leafgrad.load.trees import IntArray

WHOLE, REAL = "iub", "iubf"  # numpy's kinds


def parse(content: bytes) -> Part:
    """Read a `.json` or `.ubj` file.

    Parameters
    ----------
    content : bytes
        All of the file.
    """
    text = content[1:2] in (b'"', b"}", b" ", b"\t", b"\r", b"\n")
    return Part(_from_json(content) if text else ubjson.parse(content), "")


def _from_json(content: bytes) -> Any:
    try:
        return json.loads(content.decode(), object_pairs_hook=_object)
    except ModelFormatError:
        raise
    except RecursionError:
        raise ModelFormatError("its JSON is nested too deep") from None
    except ValueError as error:  # no UTF-8, no JSON, a number of thousands of digits
        raise ModelFormatError(f"its JSON is damaged: {error}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in out if names.count(name) > 1)
        raise ModelFormatError(f"an object has {twice!r} twice")
    return out


class Part:
    """One object of the file, and where it stands."""

    __slots__ = ("fields", "path")

    def __init__(self, fields: Any, path: str) -> None:
        self.path = path
        if not isinstance(fields, dict):
            raise self.wrong("", fields, "an object")
        self.fields = fields

    def __contains__(self, name: str) -> bool:
        return name in self.fields

    def wrong(self, name: str, found: Any, wanted: str) -> ModelFormatError:
        """What to raise for a field.

        Parameters
        ----------
        name : str
            The field; empty for the object itself.
        found : object
            What it holds.
        wanted : str
            What it should.
        """
        where = ".".join(filter(None, (self.path, name))) or "the file"
        short = repr(found) if len(repr(found)) < 40 else f"{repr(found)[:40]}..."
        return ModelFormatError(f"{where} is {'missing' if found is None else short}; wanted {wanted}")

    def part(self, name: str) -> Part:
        """Give an object in it.

        Parameters
        ----------
        name : str
            Its name.
        """
        return Part(self.fields.get(name), ".".join(filter(None, (self.path, name))))

    def parts(self, name: str) -> list[Part]:
        """Give a list of objects.

        Parameters
        ----------
        name : str
            Its name.
        """
        path = ".".join(filter(None, (self.path, name)))
        return [Part(item, f"{path}[{i}]") for i, item in enumerate(self.items(name))]

    def items(self, name: str) -> list[Any]:
        """Give a list; a missing one is empty.

        Parameters
        ----------
        name : str
            Its name.
        """
        found = self.fields.get(name, [])
        if isinstance(found, np.ndarray):
            found = found.tolist()
        if not isinstance(found, list):
            raise self.wrong(name, found, "a list")
        return list(found)

    def texts(self, name: str) -> list[str]:
        """Give a list of texts; a missing one is empty.

        Parameters
        ----------
        name : str
            Its name.
        """
        found = self.items(name)
        if not all(isinstance(item, str) for item in found):
            raise self.wrong(name, found, "a list of texts")
        return found

    def text(self, name: str) -> str:
        """Give a text.

        Parameters
        ----------
        name : str
            Its name.
        """
        found = self.fields.get(name)
        if not isinstance(found, str):
            raise self.wrong(name, found, "a text")
        return found

    def whole(self, name: str, default: int | None = None) -> int:
        """Give a whole number of at least 0, which XGBoost often writes as a text.

        Parameters
        ----------
        name : str
            Its name.
        default : int or None
            What a missing one is.
        """
        found = self.fields.get(name, default)
        if isinstance(found, str) and found.isascii() and found.isdigit() and len(found) < 16:
            found = int(found)
        if not isinstance(found, int) or isinstance(found, bool) or found < 0:
            raise self.wrong(name, self.fields.get(name), "a whole number")
        return found


def column(
    parts: Sequence[Part], name: str, dtype: npt.DTypeLike, *, optional: bool = False
) -> tuple[npt.NDArray[Any], IntArray]:
    """Give one field of all parts, joined, and how many entries each part has.

    Parameters
    ----------
    parts : sequence of Part
        The objects, such as a model's trees.
    name : str
        Name of an array of numbers in each.
    dtype : dtype
        Their type; whole numbers must be so in the file, and fit.
    optional : bool
        Parts may lack it: no entries.
    """
    given = []
    for part in parts:
        values = part.fields.get(name, [] if optional else None)
        if not isinstance(values, list | np.ndarray):
            raise part.wrong(name, values, "an array")
        given.append(values)
    counts = np.fromiter(map(len, given), np.int64, len(given))
    full = [values for values in given if len(values)]
    kind = np.dtype(dtype)
    if not full:
        return np.zeros(0, kind), counts
    if all(isinstance(values, np.ndarray) for values in full):
        found = np.concatenate(full)
    else:
        try:
            found = np.array(list(chain.from_iterable(full)))
        except (ValueError, OverflowError):  # lists within the list
            found = np.array(None)
    if found.ndim != 1 or found.dtype.kind not in (REAL if kind.kind == "f" else WHOLE):
        raise ModelFormatError(f"{parts[0].path} and others: {name} holds other things than {kind} numbers")
    if kind.kind != "f" and found.dtype.kind != "b":
        limits = np.iinfo(kind)
        if found.min() < limits.min or found.max() > limits.max:
            raise ModelFormatError(f"{parts[0].path} and others: {name} holds numbers beyond {kind}")
    with np.errstate(over="ignore"):
        return found.astype(kind), counts
