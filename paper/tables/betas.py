"""Is the Beta value that is best at insertion also best at deletion? By the means, and row by row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paper.methods import BETAS
from paper.scores import best
from paper.table import Table, save
from paper.work import Case, Work

NAME = "betas"


class Agreement(NamedTuple):
    """Of one case: the best Beta by mean Ins, by mean Del, and the share of rows with one best at both."""

    insertion: str
    deletion: str
    rows: float


def make(work: Work) -> None:
    """Write the table."""
    table = Table(
        ("explained", "best at Ins", "best at Del", "one is best at both", "rows where one is"),
        ("", "", "", "", ".0%"),
    )
    for case in work.cases():
        found = agreement(work, case)
        same = "yes" if found.insertion == found.deletion else "no"
        table.add(str(case), found.insertion, found.deletion, same, found.rows)
    note = (
        "The nine Beta values. In a row several may tie for the best: one of them best at the other measure "
        "too is enough."
    )
    save(work.out, NAME, "The best Beta value", [note, table])


def agreement(work: Work, case: Case) -> Agreement:
    """Whether the best Beta at insertion is the best at deletion."""
    judged = work.judged(case)
    names = list(BETAS)
    # The scores of one row: ties are ties of the curves, but for the last digits of sums in another order.
    insertion = np.stack([judged[name].measure("Ins") for name in names])
    deletion = np.stack([judged[name].measure("Del") for name in names])
    near = 1e-12 * np.abs([insertion, deletion]).max()
    both = (insertion >= insertion.max(axis=0) - near) & (deletion <= deletion.min(axis=0) + near)
    rows = float(both.any(axis=0).mean())
    return Agreement(best(names, judged, "Ins"), best(names, judged, "Del"), rows)
