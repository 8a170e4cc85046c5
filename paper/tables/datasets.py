"""The paper's table of data sets, beside what is at hand."""

from __future__ import annotations

import numpy as np

from paper.facts import DATA
from paper.table import Table, save
from paper.work import Work

NAME = "datasets"
HEADER = ("data", "OpenML", "rows", "paper", "held", "features", "paper", "held", "classes", "paper", "held")
FORMATS = ("", "d", ",d", ",d", "", "d", "d", "", "d", "d", "")


def make(work: Work) -> None:
    """Write the table."""
    table = Table(HEADER, FORMATS)
    absent = []
    for facts in DATA.values():
        said = (facts.rows, facts.features, facts.classes)
        own: tuple[int | None, ...] = (None,) * 3
        why = work.missing(facts.name)
        if why is None:
            data = work.data(facts.name)
            own = (*data.X.shape, None if facts.classes is None else len(np.unique(data.y)))
        else:
            absent.append(f"- {facts.name}: {why}")
        cells = [(a, b, verdict(a, b, why)) for a, b in zip(own, said, strict=True)]
        table.add(facts.name, facts.openml, *(part for cell in cells for part in cell))
    save(work.out, NAME, "The data sets", [table, *told(absent)])


def verdict(own: object, said: object, why_not: str | None) -> str:
    """Whether a cell is the paper's."""
    if why_not is not None:
        return "not at hand" if why_not != "not asked for" else why_not
    if said is None:
        return ""
    return "yes" if own == said else "**no**"


def told(absent: list[str]) -> list[str]:
    """What is missing, said openly."""
    return ["Missing, with nothing put in its place:", "\n".join(absent)] if absent else []
