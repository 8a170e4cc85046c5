"""How many threads a call may use: what the user says, else what the machine really grants.

`os.cpu_count()` counts the host's processors; a container or a batch job is often allowed far fewer, by
CPU affinity or by a cgroup quota, and threads beyond that only wait for each other. No pool is kept: the
number is resolved anew in each call, so that a fork or a changed affinity is no special case.
"""

from __future__ import annotations

import math
import operator
import os
from functools import lru_cache
from pathlib import Path

from leafgrad.errors import InputError

VARIABLE = "LEAFGRAD_NUM_THREADS"


def resolve(threads: int | None = None) -> int:
    """The number of threads to use.

    Parameters
    ----------
    threads : int or None
        At least 1. None: the environment variable `LEAFGRAD_NUM_THREADS`, else the processors this process
        may run on, at most its cgroup's CPU quota (rounded up).

    Returns
    -------
    int

    Examples
    --------
    >>> resolve(3)
    3
    """
    if threads is None:
        text = os.environ.get(VARIABLE)
        if text is None:
            return _available()
        try:
            number = int(text)
        except ValueError:
            number = 0
        if number < 1:
            raise InputError(
                f"{VARIABLE}={text!r} is not a number of threads; set it to 1 or more, or unset it"
            )
        return number
    if isinstance(threads, bool):
        raise InputError(
            f"threads={threads!r} is not a number of threads; pass an integer from 1, or None for all"
        )
    try:
        number = operator.index(threads)
    except TypeError:
        raise InputError(
            f"threads={threads!r} is not a number of threads; pass an integer from 1, or None for all"
        ) from None
    if number < 1:
        raise InputError(f"threads={number}: pass 1 or more, or None for all")
    return number


def _available() -> int:
    try:
        processors = len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS or Windows
        processors = os.cpu_count() or 1
    quota = _quota()
    return processors if quota is None else max(1, min(processors, math.ceil(quota)))


@lru_cache(maxsize=8)
def _quota(proc: str = "/proc/self/cgroup", mount: str = "/sys/fs/cgroup") -> float | None:
    """Processors' worth of CPU time that the cgroup or one of its parents grants, None for no limit."""
    try:
        lines = Path(proc).read_text().splitlines()
    except OSError:
        return None
    limits = []
    for line in lines:
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" and not controllers:
            roots, read = [Path(mount)], _quota_v2
        elif "cpu" in controllers.split(","):
            roots, read = [Path(mount, controllers), Path(mount, "cpu")], _quota_v1
        else:
            continue
        for root in roots:
            group = root / path.lstrip("/")
            # A container sees its host's path but mounts its own group as the root: look at every level.
            for level in [group, *group.parents]:
                if not level.is_relative_to(root):
                    break
                limit = read(level)
                if limit is not None:
                    limits.append(limit)
    return min(limits, default=None)


def _quota_v2(group: Path) -> float | None:
    try:
        quota, period = (group / "cpu.max").read_text().split()
        return None if quota == "max" else int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return None


def _quota_v1(group: Path) -> float | None:
    try:
        quota = int((group / "cpu.cfs_quota_us").read_text())
        period = int((group / "cpu.cfs_period_us").read_text())
        return quota / period if quota > 0 else None
    except (OSError, ValueError, ZeroDivisionError):
        return None
