"""The curves of GA and of ADAM for five pairs of steps and rate, on trees: the paper's ten figures."""

from __future__ import annotations

from typing import Any

from paper.facts import RUNS
from paper.figures.curves import draw, sheets
from paper.work import Work

LOOKS: tuple[dict[str, Any], ...] = (
    {"color": "C1", "linestyle": ":"},
    {"color": "C1"},
    {"color": "C2"},
    {"color": "C0", "linestyle": ":"},
    {"color": "C3", "linestyle": "--"},
)


def make(work: Work) -> None:
    """Draw all ten."""
    for kind in ("GA", "ADAM"):
        styles = {f"{kind} ({steps}, {rate})": look for (steps, rate), look in zip(RUNS, LOOKS, strict=True)}
        for sheet in sheets(f"sweep-{kind.lower()}", ("decision tree",)):
            draw(work, sheet, styles, f"{kind} (steps, rate); {sheet.kind}, {sheet.which}")
