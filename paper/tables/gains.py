"""GA and ADAM against the best of their rivals, row by row: is the difference more than chance?

A rival is chosen by its mean over these very rows, which favours it: one of the methods that are one ranking
each, and one of those that choose a Beta value for each row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paper.methods import ADAM, ALONE, CHOSEN, GA
from paper.scores import MEASURES, Judged, best, gain
from paper.table import Table, save
from paper.work import Work

NAME = "gains"
COMPARED = (GA, ADAM)
RIVALS = (ALONE, tuple(CHOSEN))
NOTE = (
    "Mean of the paired differences over the rows, signed so that more is better, and its 95 % bootstrap "
    "interval (10,000 resamples of the rows); bold where all of it is above 0."
)


def make(work: Work) -> None:
    """Write the table."""
    found = {str(case): work.judged(case) for case in work.cases()}
    every = Table(("explained", "measure", "method", "rival", "gain", "low", "high", "verdict"))
    for label, judged in found.items():
        for measure in MEASURES:
            for rivals in RIVALS:
                rival = best(list(rivals), judged, measure)
                for method in COMPARED:
                    of = gain(judged[method], judged[rival], measure)
                    every.add(label, measure, method, rival, *of, of.verdict)
    save(work.out, NAME, "The Ranker against the best rival", [NOTE, comparison(found)], every)


def comparison(found: Mapping[str, Mapping[str, Judged]], rivals: Sequence[Sequence[str]] = RIVALS) -> Table:
    """A line for each of what is explained, measure and kind of rival: gains of GA and of ADAM."""
    table = Table(
        ("explained", "measure", "best rival", *(f"gain of {name}" for name in COMPARED)), right=(3, 4)
    )
    for label, judged in found.items():
        for measure in MEASURES:
            for names in rivals:
                rival = best(list(names), judged, measure)
                gains = (str(gain(judged[name], judged[rival], measure)) for name in COMPARED)
                mean = judged[rival].measure(measure).mean()
                table.add(label, measure, f"{rival}: {mean:.4f}", *gains)
    return table
