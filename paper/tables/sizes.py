"""The paper's table of models: how good and how large they are, cell by cell beside the paper's numbers.

Other versions of scikit-learn and NumPy train other trees, so cells are only compared under the pinned ones.
"""

from __future__ import annotations

from importlib.metadata import version

from paper.facts import DATA, PINNED, Size
from paper.models import KINDS, pinned
from paper.table import Table, save
from paper.tables.datasets import told, verdict
from paper.work import Work

NAME = "models"
HEADER = (
    "data",
    "model",
    "depth",
    *("score", "paper", "held", "leaves", "paper", "held", "nodes", "paper", "held"),
)
FORMATS = ("", "", "d", ".3f", ".3f", "", ",d", ",d", "", ",d", ",d", "")


def make(work: Work) -> None:
    """Write the table."""
    table = Table(HEADER, FORMATS)
    absent = []
    for facts in DATA.values():
        why = work.missing(facts.name)
        if why is not None:
            absent.append(f"- {facts.name}: {why}")
        for kind in KINDS:
            own = None if why is not None else work.size(facts.name, kind)
            table.add(facts.name, kind, facts.depth, *cells(own, facts.model(kind), why, compared=pinned()))
    used = ", ".join(f"{name} {version(name)}" for name in PINNED)
    notes = [f"Score: accuracy, or R^2 for regression, on the test part. Trained with {used}."]
    if not pinned():
        wanted = ", ".join(f"{name} {number}" for name, number in PINNED.items())
        notes.append(f"**Not compared**: other trees come from other versions than {wanted}.")
    save(work.out, NAME, "The models", [*notes, table, *told(absent)])


def cells(own: Size | None, said: Size, why_not: str | None, *, compared: bool) -> list[float | str | None]:
    """Ours, the paper's and the verdict, for each of score, leaves and nodes."""
    line: list[float | str | None] = []
    for mine, theirs in zip(own or (None,) * 3, said, strict=True):
        judged = verdict(mine, theirs, why_not) if compared or why_not is not None else "not compared"
        line += [mine, theirs, judged]
    return line
