"""Universal Binary JSON, as XGBoost writes its `.ubj` files: big-endian numbers behind one-letter marks.

Read by ourselves, because a typed array is then one look into the file's bytes and no list of Python
numbers. Nothing that a file declares is believed: a length is checked against the bytes that are left before
it is used, nesting is bounded, and names must differ. So a file of n bytes costs O(n), whatever it says.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from leafgrad.errors import ModelFormatError

DEEPEST = 64  # objects within objects; XGBoost needs 8
# Marks of numbers -> (numpy's type in the file, how to unpack one).
NUMBERS = {
    ord(mark): (np.dtype(kind), struct.Struct(one))
    for mark, kind, one in (
        ("i", ">i1", ">b"),
        ("U", ">u1", ">B"),
        ("I", ">i2", ">h"),
        ("u", ">u2", ">H"),
        ("l", ">i4", ">i"),
        ("m", ">u4", ">I"),
        ("L", ">i8", ">q"),
        ("M", ">u8", ">Q"),
        ("d", ">f4", ">f"),
        ("D", ">f8", ">d"),
    )
}
LENGTHS = {ord(mark) for mark in "iUIumlLM"}  # marks of whole numbers
CONSTANTS = {ord("Z"): None, ord("T"): True, ord("F"): False}
OPEN_ARRAY, END_ARRAY, OPEN_OBJECT, END_OBJECT = b"[]{}"
COUNT, TYPE, TEXT, CHARACTER, NOTHING = b"#$SCN"


def parse(content: bytes) -> Any:
    """Read a document: dicts, lists, text, numbers; arrays of one type of number as numpy arrays.

    Parameters
    ----------
    content : bytes
        All of the file.

    Raises
    ------
    ModelFormatError
        If it is damaged; the message says at which byte, but not in which file.
    """
    reader = _Reader(content)
    document = reader.value(0)
    if reader.at != len(content):
        raise reader.damaged("bytes follow its end")
    return document


class _Reader:
    """A place in the file."""

    __slots__ = ("at", "content")

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.at = 0

    def damaged(self, what: str) -> ModelFormatError:
        return ModelFormatError(f"its UBJSON is damaged at byte {self.at}: {what}")

    def value(self, depth: int) -> Any:
        """Read one value with its mark."""
        return self._value_of(self._mark(), depth)

    def _value_of(self, mark: int, depth: int) -> Any:
        if mark == TEXT:
            return self._text()
        if mark == OPEN_OBJECT:
            return self._object(depth + 1)
        if mark == OPEN_ARRAY:
            return self._array(depth + 1)
        if mark in NUMBERS:
            return self._number(mark)
        if mark in CONSTANTS:
            return CONSTANTS[mark]
        if mark == CHARACTER:
            return self._decoded(self._take(1))
        raise self._unknown(mark)

    def _object(self, depth: int) -> dict[str, Any]:
        self._go_in(depth)
        out: dict[str, Any] = {}
        while (mark := self._mark()) != END_OBJECT:
            name = self._decoded(self._take(self._length(mark)))
            if name in out:
                raise self.damaged(f"an object has {name!r} twice")
            out[name] = self.value(depth)
        return out

    def _array(self, depth: int) -> Any:
        self._go_in(depth)
        mark = self._mark()
        if mark == TYPE:
            kind = self._mark()
            if kind not in NUMBERS:
                raise self.damaged(f"an array of marks {chr(kind)!r}, which are no numbers")
            if self._mark() != COUNT:
                raise self.damaged("an array of one type without its length")
            return self._numbers(kind, self._length(self._mark()))
        out = []
        if mark == COUNT:
            count = self._length(self._mark())
            self._require(count)  # a value is one byte at least
            out = [self.value(depth) for _ in range(count)]
        else:
            while mark != END_ARRAY:
                out.append(self._value_of(mark, depth))
                mark = self._mark()
        return out

    def _numbers(self, mark: int, count: int) -> Any:
        kind = NUMBERS[mark][0]
        self._require(count * kind.itemsize)
        out = np.frombuffer(self.content, kind, count, self.at)
        self.at += count * kind.itemsize
        return out

    def _number(self, mark: int) -> int | float:
        one = NUMBERS[mark][1]
        self._require(one.size)
        out: int | float = one.unpack_from(self.content, self.at)[0]
        self.at += one.size
        return out

    def _length(self, mark: int) -> int:
        if mark not in LENGTHS:
            raise self._unknown(mark)
        length = self._number(mark)
        if length < 0:
            raise self.damaged(f"a length of {length}")
        return int(length)

    def _text(self) -> str:
        return self._decoded(self._take(self._length(self._mark())))

    def _decoded(self, raw: bytes) -> str:
        try:
            return raw.decode()
        except UnicodeDecodeError:
            raise self.damaged("text that is no UTF-8") from None

    def _take(self, count: int) -> bytes:
        self._require(count)
        self.at += count
        return self.content[self.at - count : self.at]

    def _mark(self) -> int:
        """Read the next mark; `N` stands for nothing at all."""
        while True:
            self._require(1)
            mark = self.content[self.at]
            self.at += 1
            if mark != NOTHING:
                return mark

    def _require(self, count: int) -> None:
        left = len(self.content) - self.at
        if count > left:
            raise self.damaged(f"{count} more bytes are declared, and {left} are left")

    def _go_in(self, depth: int) -> None:
        if depth > DEEPEST:
            raise self.damaged(f"more than {DEEPEST} levels of nesting")

    def _unknown(self, mark: int) -> ModelFormatError:
        self.at -= 1
        return self.damaged(f"an unexpected mark, {bytes([mark])!r}")
