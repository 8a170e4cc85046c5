"""Universal Binary JSON against a writer of its own, and against whatever a damaged file may hold."""

from __future__ import annotations

import struct
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import leafgrad as lg
from leafgrad.load import ubjson

DTYPES = {
    "i": ">i1",
    "U": ">u1",
    "I": ">i2",
    "u": ">u2",
    "l": ">i4",
    "m": ">u4",
    "L": ">i8",
    "d": ">f4",
    "D": ">f8",
}


def length(n: int) -> bytes:
    return b"L" + struct.pack(">q", n)


def written(value: Any) -> bytes:
    """As XGBoost writes."""
    if isinstance(value, dict):
        body = b"".join(length(len(k.encode())) + k.encode() + written(v) for k, v in value.items())
        return b"{" + body + b"}"
    if isinstance(value, list):
        return b"[#" + length(len(value)) + b"".join(map(written, value))
    if isinstance(value, np.ndarray):
        mark = next(mark for mark, kind in DTYPES.items() if np.dtype(kind) == value.dtype)
        return b"[$" + mark.encode() + b"#" + length(len(value)) + value.tobytes()
    if isinstance(value, str):
        return b"S" + length(len(value.encode())) + value.encode()
    if isinstance(value, bool) or value is None:
        return {None: b"Z", True: b"T", False: b"F"}[value]
    return b"D" + struct.pack(">d", value) if isinstance(value, float) else b"L" + struct.pack(">q", value)


plain = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text()
documents = st.recursive(
    plain, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20
)


@given(documents)
def test_what_was_written_is_read(document: Any) -> None:
    assert ubjson.parse(written(document)) == document


@pytest.mark.parametrize(("mark", "kind"), DTYPES.items())
def test_arrays_of_numbers(mark: str, kind: str) -> None:
    array = np.array([0, 1, 2, 100], dtype=kind)
    found = ubjson.parse(written(array))
    assert found.dtype == np.dtype(kind)
    assert np.array_equal(found, array)
    assert ubjson.parse(mark.encode() + array.tobytes()[-array.itemsize :]) == 100


def test_other_writers_arrays_and_marks() -> None:
    assert ubjson.parse(b"[i\x01i\x02]") == [1, 2]
    assert ubjson.parse(b"[]") == []
    assert ubjson.parse(b"NN[NTNCxN]") == [True, "x"]
    assert ubjson.parse(b"{i\x01ai\x05}") == {"a": 5}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "1 more bytes are declared, and 0 are left"),
        (b"[#L\x7f\xff\xff\xff\xff\xff\xff\xff", "and 0 are left"),
        (b"[$d#L\x7f\xff\xff\xff\xff\xff\xff\xff\x00", "and 1 are left"),
        (b"[$D#L\x20\x00\x00\x00\x00\x00\x00\x00", "are declared"),
        (b"S" + length(10**12) + b"a", "and 1 are left"),
        (b"S" + length(-1) + b"a", "a length of -1"),
        (b"[$S#i\x01", "array of marks 'S', which are no numbers"),
        (b"[$T#L\x7f\xff\xff\xff\xff\xff\xff\xff", "array of marks 'T'"),
        (b"[$ii\x01", "without its length"),
        (b"{Si\x01a", "an unexpected mark, b'S'"),
        (b"{i\x01aTi\x01aT}", "an object has 'a' twice"),
        (b"Si\x01\xff", "no UTF-8"),
        (b"TT", "bytes follow its end"),
        (b"X", "at byte 0: an unexpected mark, b'X'"),
        (b"[" * 10_000, "more than 64 levels"),
        (b"{i\x01a" * 10_000, "more than 64 levels"),
        (b"[#i\x01" * 10_000, "more than 64 levels"),
    ],
)
def test_damage_is_told(content: bytes, message: str) -> None:
    tracemalloc.start()
    with pytest.raises(lg.ModelFormatError, match="its UBJSON is damaged at byte") as caught:
        ubjson.parse(content)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert message in str(caught.value)
    assert peak < 2**20  # a declared length is not believed


@given(documents, st.data())
def test_a_cut_document_is_damaged(document: Any, data: st.DataObject) -> None:
    content = written(document)
    cut = data.draw(st.integers(0, len(content) - 1))
    with pytest.raises(lg.ModelFormatError):
        ubjson.parse(content[:cut])


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_damaged(content: bytes) -> None:
    try:
        found = ubjson.parse(content)
    except lg.ModelFormatError:
        return
    assert found is None or isinstance(found, bool | int | float | str | list | dict | np.ndarray)
