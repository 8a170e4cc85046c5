"""Numbers that a user passes, checked: each a finite float, or an error that names it."""

from __future__ import annotations

import math
from collections.abc import Iterable

from leafgrad.errors import InputError


def number(given: object, field: str, what: str) -> float:
    """A finite float, or an error that names the field."""
    if isinstance(given, str | bytes) or given is None:
        raise InputError(f"{what}: {field} is {given!r}; pass a number")
    try:
        result = float(given)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what}: {field} is {given!r}; pass a number") from None
    if not math.isfinite(result):
        raise InputError(f"{what}: {field} is {result}; pass a finite number")
    return result


def vector(given: Iterable[float], field: str, what: str) -> tuple[float, ...]:
    """A non-empty tuple of finite floats, or an error that names the field."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise InputError(f"{what}: {field} is {given!r}; pass a sequence of numbers")
    result = tuple(number(each, f"{field}[{i}]", what) for i, each in enumerate(given))
    if not result:
        raise InputError(f"{what}: {field} is empty; pass at least one number")
    return result


def short(given: float) -> str:
    """The shortest text that reads back as the same float: 4 rather than 4.0."""
    return repr(int(given)) if given.is_integer() and abs(given) < 1e15 else repr(given)
