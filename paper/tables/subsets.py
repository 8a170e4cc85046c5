"""Does a higher Ins go with a higher f(S*+), and a lower Del with a lower f(S*-)?

Within each row the methods are ranked by their Ins and by the largest output of their top sets; Spearman's
correlation of the two says whether the rankings agree. Rows where all methods reach the same have none.
"""

from __future__ import annotations

import numpy as np

from paper.data import Floats
from paper.methods import ADAM, ALONE, CHOSEN, GA
from paper.scores import interval
from paper.table import Table, save
from paper.work import Case, Work

NAME = "subsets"
METHODS = (GA, ADAM, *ALONE, *CHOSEN)


def make(work: Work) -> None:
    """Write the table."""
    header = ("explained", "Ins with f(S*+)", "low", "high", "rows", "Del with f(S*-)", "low", "high", "rows")
    table = Table(header, ("", *(".3f", ".3f", ".3f", "d") * 2))
    for case in work.cases():
        cells: list[float | None] = []
        for found in correlations(work, case):
            of = (float(found.mean()), *interval(found)) if len(found) else (None,) * 3
            cells += [*of, len(found)]
        table.add(str(case), *cells)
    note = (
        f"Mean over the rows of Spearman's correlation over {len(METHODS)} methods, its 95 % bootstrap "
        "interval, and the rows that have one."
    )
    save(work.out, NAME, "Scores and the sets they stand for", [note, table])


def correlations(work: Work, case: Case) -> tuple[Floats, Floats]:
    """Of each row that has one: Ins with f(S*+), and Del with f(S*-)."""
    judged = [work.judged(case)[name] for name in METHODS]
    pairs = (
        ([j.measure("Ins") for j in judged], [j.positive for j in judged]),
        ([j.measure("Del") for j in judged], [j.negative for j in judged]),
    )
    first, second = (spearman(np.stack(a, axis=1), np.stack(b, axis=1)) for a, b in pairs)
    return first, second


def spearman(a: Floats, b: Floats) -> Floats:
    """Spearman's correlation of each row of a and b, without the rows that are constant in either.

    Numbers nearer than 1e-12 of the largest count as tied: the same set reached by other sums.
    """
    from scipy.stats import rankdata

    unit = 1e-12 * max(float(np.abs(a).max()), float(np.abs(b).max()))
    ranks = [rankdata(np.round(part / unit), axis=1) for part in (a, b)]
    centred = [rank - rank.mean(axis=1, keepdims=True) for rank in ranks]
    size = np.sqrt((centred[0] ** 2).sum(axis=1) * (centred[1] ** 2).sum(axis=1))
    told = size > 0
    return np.asarray((centred[0] * centred[1]).sum(axis=1)[told] / size[told])
