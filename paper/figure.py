"""A figure in two forms, SVG and PNG: the same bytes for the same numbers."""

from __future__ import annotations

import io
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paper.cache import write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLE: dict[str, Any] = {
    "svg.hashsalt": "leafgrad",  # names within the file are drawn from it
    "font.size": 8.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "lines.linewidth": 1.1,
    "legend.frameon": False,
    "figure.dpi": 110,
}


def style() -> AbstractContextManager[None]:
    """The house's style: figures are made and saved within it."""
    import matplotlib as mpl

    return mpl.rc_context(STYLE)


def axes(rows: int, columns: int, *, width: float = 3.2, height: float = 2.4) -> tuple[Figure, Any]:
    """A figure and its axes, `(rows, columns)`; no window is ever opened."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * columns, height * rows + 0.6), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def say(place: Axes, text: str) -> None:
    """Words in place of a panel."""
    place.set_axis_off()
    place.text(0.5, 0.5, text, ha="center", va="center", transform=place.transAxes)


def save(folder: Path, name: str, figure: Figure) -> None:
    """Write NAME.svg and NAME.png."""
    for kind, metadata in (("svg", {"Date": None, "Creator": None}), ("png", {"Software": None})):
        content = io.BytesIO()
        figure.savefig(content, format=kind, metadata=metadata)
        write(folder / f"{name}.{kind}", content.getvalue())
