"""The claims as a table, for the results and for docs/paper.md."""

from __future__ import annotations

from paper.claims import numerics, rankings
from paper.data import ROOT
from paper.table import Table, save
from paper.work import Work

NAME = "claims"
PAGE = ROOT / "docs" / "paper.md"


def make(work: Work) -> None:
    """Write the table; a full run into paper/results also puts it into the page of the docs."""
    table = Table(("the paper", "measured here", "verdict"))
    for claim in (*rankings.CLAIMS, *(() if work.quick else numerics.CLAIMS)):
        table.add(*claim(work))
    save(work.out, NAME, "The paper, claim by claim", [table])
    if work.out == ROOT / "paper" / "results":
        from benchmarks.report import replace_between

        replace_between(PAGE, NAME, table.markdown())
