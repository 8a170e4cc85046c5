"""Insertion and deletion curves, averaged over the rows: the paper's ten figures of comparisons.

The upper panels are insertion curves (the higher the better), the lower ones deletion curves (the lower the
better). Three data sets to a figure, as in the paper; one that is not at hand leaves its panels empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from paper import figure
from paper.facts import PANELS
from paper.methods import ADAM, CHOSEN, GA
from paper.models import KINDS
from paper.work import CLASSES, VALUE, Case, Work

STYLES: dict[str, dict[str, Any]] = {
    GA: {"color": "C3"},
    ADAM: {"color": "C0", "linestyle": "--"},
    "greedy": {"color": "0.5", "linestyle": ":"},
    "Banzhaf": {"color": "C2"},
    **{
        name: {"color": colour, "linestyle": "-."}
        for name, colour in zip(CHOSEN, ("C1", "C4", "C5"), strict=True)
    },
}


SHORT = {"decision tree": "tree", "boosted trees": "boosted"}


class Sheet(NamedTuple):
    """One figure: its file's name and what its panels show."""

    name: str
    panels: tuple[str, ...]
    kind: str
    which: str


def sheets(stem: str, kinds: tuple[str, ...]) -> Iterator[Sheet]:
    """The figures of a sort: every kind of model, class and group of data sets."""
    for kind in kinds:
        for group, panels in PANELS.items():
            for which in (VALUE,) if group == "regression" else CLASSES:
                of_class = group if which == VALUE else f"{which.split()[0]}-{group}"
                yield Sheet(f"{stem}-{SHORT[kind]}-{of_class}", panels, kind, which)


def make(work: Work) -> None:
    """Draw all ten."""
    for sheet in sheets("curves", KINDS):
        draw(work, sheet, STYLES, f"{sheet.kind}, {sheet.which}")


def draw(work: Work, sheet: Sheet, styles: Mapping[str, Mapping[str, Any]], title: str) -> None:
    """One figure, of the methods that have a style."""
    if all(work.missing(name) == "not asked for" for name in sheet.panels):
        return
    drawn, places = figure.axes(2, len(sheet.panels))
    first = True
    for column, name in enumerate(sheet.panels):
        upper, lower = places[:, column]
        why = work.missing(name)
        if why is not None:
            figure.say(upper, f"{name}\n{'not at hand' if why != 'not asked for' else why}")
            lower.set_axis_off()
            continue
        judged = work.judged(Case(name, sheet.kind, sheet.which))
        for method, style in styles.items():
            upper.plot(judged[method].insertion.mean(axis=0), label=method, **style)
            lower.plot(judged[method].deletion.mean(axis=0), **style)
        upper.set_title(name)
        lower.set_xlabel("features from the top")
        if first:
            upper.set_ylabel("insertion")
            lower.set_ylabel("deletion")
            first = False
    known = {
        label: line
        for place in places.flat
        for line, label in zip(*place.get_legend_handles_labels(), strict=True)
    }
    drawn.legend(known.values(), known.keys(), loc="outside lower center", ncols=4)
    drawn.suptitle(title)
    figure.save(work.out, sheet.name, drawn)
