"""CatBoost's hash of a category: the lower 32 bits of CityHash64, version 1, of the value's text in UTF-8.

CatBoost's models hold these hashes and not the values, so that whoever follows one hashes as well. CityHash64
is of Geoff Pike and Jyrki Alakuijala; it mixes words of eight bytes, little end first. It is no secret
hash: `text_of` runs it backwards, and so finds a text for a model's hash whose own text is not told. That
is what the live model is asked with when a loaded one is checked.
"""

from __future__ import annotations

from struct import unpack_from

import numpy as np

K0, K1, K2, K3 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F, 0xC949D7C7509E6557
FOLD = 0x9DDFEA08EB382D69
WORD = 2**64 - 1
TAIL = b"*leafgrd"  # the second half of the texts that `text_of` makes


def category_hash(value: str | int | bytes) -> int:
    """The hash that CatBoost knows a category by, from 0 to 2^32 - 1.

    Parameters
    ----------
    value : str, int or bytes
        A category as it stands in X; an integer counts as its digits, a truth value as 0 or 1.

    Examples
    --------
    >>> from leafgrad.category_hash import category_hash
    >>> category_hash("2") == category_hash(2) == 3010176887
    True
    """
    if isinstance(value, bytes):
        return _city(value) & 0xFFFFFFFF
    text = value if isinstance(value, str) else str(int(value))
    return _city(text.encode()) & 0xFFFFFFFF


def text_of(wanted: int) -> str:
    """A text of 16 printable characters with this hash.

    Parameters
    ----------
    wanted : int
        A hash, from 0 to 2^32 - 1.
    """
    b = int.from_bytes(TAIL, "little")
    v = np.uint64(_rotated(b + 16, 16))
    back = np.uint64(pow(FOLD, -1, 2**64))
    # Any upper half of the 64 bits will do: one in 3,000 gives bytes that are all printable.
    for first in range(0, 2**32, 2**14):
        whole = (np.arange(first, first + 2**14, dtype=np.uint64) << np.uint64(32)) | np.uint64(wanted)
        # `_folded` backwards. A shift by more than 32 undoes itself.
        mixed = (whole ^ np.uint64(b)) * back
        mixed = (mixed ^ (mixed >> np.uint64(47))) * back ^ v
        u = (mixed ^ (mixed >> np.uint64(47))) * back ^ v
        characters = u.astype("<u8").view(np.uint8).reshape(-1, 8)
        good = np.flatnonzero(((characters > 32) & (characters < 127)).all(axis=1))
        if len(good):
            found: bytes = characters[good[0]].tobytes()
            return (found + TAIL).decode("ascii")
    raise AssertionError("no printable text has this hash")  # out of 2^32, about a million have


def _city(s: bytes) -> int:
    """CityHash64, by the length of the text."""
    n = len(s)
    if n > 64:
        return _long(s, n)
    if n > 32:
        return _up_to_64(s, n)
    if n > 16:
        return _up_to_32(s, n)
    if n > 8:
        b = _word(s, n - 8)
        return _folded(_word(s, 0), _rotated(b + n, n)) ^ b
    if n >= 4:
        return _folded(n + (_half(s, 0) << 3), _half(s, n - 4))
    if n > 0:
        y, z = s[0] + (s[n >> 1] << 8), n + (s[-1] << 2)
        return _mixed((y * K2 ^ z * K3) & WORD) * K2 & WORD
    return K2


def _up_to_32(s: bytes, n: int) -> int:
    a, b = _word(s, 0) * K1, _word(s, 8)
    c, d = _word(s, n - 8) * K2, _word(s, n - 16) * K0
    return _folded(_rotated(a - b, 43) + _rotated(c, 30) + d, a + _rotated(b ^ K3, 20) - c + n)


def _up_to_64(s: bytes, n: int) -> int:
    def half(a: int, x: int, y: int, z: int) -> tuple[int, int]:
        b, c = _rotated(a + z, 52), _rotated(a, 37)
        c += _rotated(a + x, 7)
        a += x + y
        return a + z, b + _rotated(a, 31) + c

    v = half(_word(s, 0) + (n + _word(s, n - 16)) * K0, *(_word(s, 8), _word(s, 16)), _word(s, 24))
    w = half(_word(s, 16) + _word(s, n - 32), *(_word(s, n - 24), _word(s, n - 16)), _word(s, n - 8))
    r = _mixed(((v[0] + w[1]) * K2 + (w[0] + v[1]) * K0) & WORD)
    return _mixed((r * K0 + v[1]) & WORD) * K2 & WORD


def _long(s: bytes, n: int) -> int:
    """The end first, then 64 bytes at a time, with 56 bytes of state."""
    x, y, z = _word(s, 0), _word(s, n - 16) ^ K1, _word(s, n - 56) ^ K0
    v = _stirred(s, n - 64, n, y)
    w = _stirred(s, n - 32, n * K1, K0)
    z += _mixed(v[1]) * K1
    x = _rotated(z + x, 39) * K1
    y = _rotated(y, 33) * K1
    for at in range(0, n - 1 & ~63, 64):
        x = (_rotated(x + y + v[0] + _word(s, at + 16), 37) * K1 & WORD) ^ w[1]
        y = (_rotated(y + v[1] + _word(s, at + 48), 42) * K1 & WORD) ^ v[0]
        z = _rotated(z & WORD ^ w[0], 33)
        v = _stirred(s, at, v[1] * K1, x + w[0])
        w = _stirred(s, at + 32, z + w[1], y)
        z, x = x, z
    return _folded(_folded(v[0], w[0]) + _mixed(y) * K1 + z, _folded(v[1], w[1]) + x)


def _stirred(s: bytes, at: int, a: int, b: int) -> tuple[int, int]:
    """Two words of state from 32 bytes and two more words."""
    w, x, y, z = unpack_from("<4Q", s, at)
    a += w
    b = _rotated(b + a + z, 21)
    c = a
    a += x + y
    b += _rotated(a, 44)
    return (a + z) & WORD, (b + c) & WORD


def _folded(u: int, v: int) -> int:
    """One word of two."""
    v &= WORD
    a = _mixed(((u & WORD) ^ v) * FOLD & WORD)
    return _mixed((v ^ a) * FOLD & WORD) * FOLD & WORD


def _mixed(word: int) -> int:
    return word ^ (word >> 47)


def _rotated(word: int, places: int) -> int:
    word &= WORD
    return (word >> places | word << (64 - places)) & WORD


def _word(s: bytes, at: int) -> int:
    return int(unpack_from("<Q", s, at)[0])


def _half(s: bytes, at: int) -> int:
    return int(unpack_from("<I", s, at)[0])
