"""Mean Ins and Del of every method: one table per model, the best of a column in bold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paper.methods import ALONE, CHOSEN, RANKERS
from paper.models import KINDS
from paper.scores import MEASURES, Judged
from paper.table import Table, save
from paper.work import VALUE, Case, Work

NAME = "scores"
METHODS = (*RANKERS, *ALONE, *CHOSEN)


def make(work: Work) -> None:
    """Write the tables, and one CSV of them all."""
    every = Table(("data", "model", "explained", "ranked by", "Ins", "Del", "Ins - Del"))
    parts: list[str | Table] = [NOTE]
    for (name, kind), cases in grouped(work, KINDS).items():
        found = {case.which: work.judged(case) for case in cases}
        parts += [f"## {name}, {kind}", means(found)]
        for which, judged in found.items():
            for method in METHODS:
                scores = [float(judged[method].measure(measure).mean()) for measure in MEASURES]
                every.add(name, kind, which, method, *scores)
    save(work.out, NAME, "Scores of the rankings", parts, every)


NOTE = (
    "Ins is better the larger, Del the smaller. GA and ADAM are given with (steps, rate). "
    "Beta-Insertion, Beta-Deletion and Beta-Joint take the best Beta of each row."
)


def grouped(work: Work, kinds: tuple[str, ...]) -> dict[tuple[str, str], list[Case]]:
    """The cases at hand, those of one model together."""
    found: dict[tuple[str, str], list[Case]] = {}
    for case in work.cases(kinds):
        found.setdefault((case.data, case.kind), []).append(case)
    return found


def means(found: Mapping[str, Mapping[str, Judged]], methods: Sequence[str] = METHODS) -> Table:
    """Mean Ins and Del of each method, for each of what is explained; the best of a column is bold."""
    columns = [(which, measure) for which in found for measure in ("Ins", "Del")]
    cells = {}
    for which, measure in columns:
        column = {name: f"{found[which][name].measure(measure).mean():.4f}" for name in methods}
        best = (max if MEASURES[measure] else min)(column.values(), key=float)
        for name, text in column.items():
            cells[name, which, measure] = f"**{text}**" if text == best else text
    of = [measure if which == VALUE else f"{measure}, {which}" for which, measure in columns]
    table = Table(("ranked by", *of), right=tuple(range(1, len(of) + 1)))
    for name in methods:
        table.add(name, *(cells[name, *column] for column in columns))
    return table
