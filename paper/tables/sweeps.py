"""What more steps and a lower rate do to GA and to ADAM, row by row, with intervals: on decision trees."""

from __future__ import annotations

from paper.scores import MEASURES, gain
from paper.table import Table, save
from paper.work import Work

NAME = "sweeps"
# (what is asked, the change, from which it is made)
CHANGES = (
    ("more steps", (50, 5), (10, 5)),
    ("more steps", (100, 5), (50, 5)),
    ("more steps", (100, 1), (10, 1)),
    ("lower rate", (10, 1), (10, 5)),
    ("lower rate", (100, 1), (100, 5)),
)
KIND = ("decision tree",)
NOTE = (
    "What the change gains: the mean of the paired differences over the rows, more is better, with its "
    "95 % bootstrap interval; bold where all of it is above 0."
)


def make(work: Work) -> None:
    """Write the table."""
    short = Table(("explained", "method", "change (steps, rate)", *MEASURES), right=(3, 4, 5))
    every = Table(("explained", "method", "asked", "from", "to", "measure", "gain", "low", "high", "verdict"))
    for case in work.cases(KIND):
        judged = work.judged(case)
        for method in ("GA", "ADAM"):
            for asked, to, start in CHANGES:
                new, old = judged[f"{method} {to}"], judged[f"{method} {start}"]
                gains = {measure: gain(new, old, measure) for measure in MEASURES}
                short.add(str(case), method, f"{asked}: {start} to {to}", *map(str, gains.values()))
                for measure, of in gains.items():
                    every.add(str(case), method, asked, str(start), str(to), measure, *of, of.verdict)
    save(work.out, NAME, "Steps and rates", [NOTE, short], every)
