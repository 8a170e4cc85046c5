"""The peak of memory of one call, beyond what its process held before; Linux tells it, others do not."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def _megabytes(key: str) -> float:
    lines = STATUS.read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{key}:")) / 1e3


def peak(call: Callable[[], Any]) -> tuple[Any, float]:
    """What `call` returns, and the megabytes it needed at most, its result included; NaN where nobody tells."""
    try:
        CLEAR.write_text("5")  # the peak starts anew
    except OSError:
        return call(), math.nan
    before = _megabytes("VmRSS")
    result = call()
    return result, _megabytes("VmHWM") - before
