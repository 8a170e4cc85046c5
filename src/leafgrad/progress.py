"""A progress bar that only long calls show, and only to somebody who watches.

The core calls back with the rows done, at most some ten times a second. The bar is made by the first
call back after `DELAY` seconds, so a short call neither shows one nor imports tqdm.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, TypeAlias

from leafgrad.errors import InputError

Mode: TypeAlias = bool | Literal["auto"]
DELAY = 3.0  # seconds; below it a bar would only flash up


class Bar:
    """Rows done over all calls of the core that make up one call of the user's."""

    def __init__(self, total: int, delay: float) -> None:
        self.total = total
        self.delay = delay
        self._start = time.monotonic()
        self._before = 0
        self._bar: Any = None

    def __call__(self, done: int) -> None:
        """Show `done` rows of the running call of the core."""
        if self._bar is None:
            if time.monotonic() - self._start < self.delay:
                return
            self._bar = _tqdm()(total=self.total, desc="leafgrad", unit=" rows", leave=False)
        self._bar.n = self._before + done
        self._bar.refresh()

    def advance(self, rows: int) -> None:
        """Count a finished call of the core; the next one starts again at 0."""
        self._before += rows

    def close(self) -> None:
        """Take the bar away, if there is one."""
        if self._bar is not None:
            self._bar.close()


@contextmanager
def track(mode: Mode, total: int) -> Iterator[Bar | None]:
    """The bar to hand to the core, None where nothing is to be shown; it is gone when the block is left."""
    bar = start(mode, total)
    try:
        yield bar
    finally:
        if bar is not None:
            bar.close()


def start(mode: object, total: int) -> Bar | None:
    """The bar of `mode`: True shows it at once, False never, "auto" after a while where somebody watches."""
    if mode is False:
        return None
    if mode is True:
        return Bar(total, 0.0)
    if isinstance(mode, str) and mode == "auto":  # `==` alone would compare an array item by item
        return Bar(total, DELAY) if _watched() else None
    raise InputError(f'progress={mode!r}: pass True, False or "auto" (a bar in terminals and notebooks only)')


def _watched() -> bool:
    try:
        if sys.stderr.isatty():
            return True
    except (AttributeError, ValueError):  # None under pythonw, closed under some servers
        return False
    return _notebook()


def _notebook() -> bool:
    shell = sys.modules.get("IPython")
    if shell is None:
        return False
    return type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"


def _tqdm() -> Callable[..., Any]:
    # tqdm.auto warns where ipywidgets are absent; plain text is good enough there.
    if _notebook() and "ipywidgets" in sys.modules:
        from tqdm.notebook import tqdm as notebook_bar

        return notebook_bar  # type: ignore[no-any-return]
    from tqdm import tqdm as text_bar

    return text_bar  # type: ignore[no-any-return]
