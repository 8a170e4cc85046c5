"""The peak of a process's memory, beyond what it held at a mark; Linux tells it, others do not."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")

_marked = math.nan


def _megabytes(key: str) -> float:
    lines = STATUS.read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{key}:")) / 1e3


def mark() -> None:
    """The peak starts anew, from what is held now."""
    global _marked  # noqa: PLW0603  of the process
    try:
        CLEAR.write_text("5")
        _marked = _megabytes("VmRSS")
    except OSError:
        _marked = math.nan


def since() -> float:
    """Megabytes held at most since the mark, beyond those held then; NaN where nobody tells."""
    return math.nan if math.isnan(_marked) else _megabytes("VmHWM") - _marked


def peak(call: Callable[[], Any]) -> tuple[Any, float]:
    """What `call` returns, and the megabytes it needed at most, its result included."""
    mark()
    result = call()
    return result, since()
