"""Beyond the paper: the same comparison for models of other kinds, on two of its data sets.

A random forest is ranked and judged on its probability; XGBoost's and LightGBM's boosters are ranked on the
margin and judged on the probability, as the paper does with boosted trees. All are left at their libraries'
defaults (the forest at the data set's depth). What cannot be made here is said.
"""

from __future__ import annotations

from collections.abc import Mapping

from paper.methods import ADAM, ADAM_10, ALONE, BETAS, CHOSEN, GA
from paper.models import BEYOND
from paper.scores import MEASURES, Judged
from paper.table import Table, save
from paper.tables.gains import NOTE, comparison
from paper.tables.scores import means
from paper.work import CLASSES, Case, Work

NAME = "beyond"
DATA_SETS = ("spambase", "GPSP")
RAW_RIVALS = (("greedy",), ("Banzhaf", *BETAS), tuple(CHOSEN))
MARGIN = (
    "The same rankings, but the curves are those of the margin, on which they were made; "
    "Beta-Insertion, Beta-Deletion and Beta-Joint choose by them."
)
METHODS = (GA, ADAM, ADAM_10, *ALONE, *CHOSEN)


def make(work: Work) -> None:
    """Write the tables."""
    parts: list[str | Table] = [
        "A random forest of 100 trees of the data set's depth, XGBoost and LightGBM as they come."
    ]
    every = Table(("data", "model", "explained", "ranked by", *MEASURES))
    compared: dict[str, Mapping[str, Judged]] = {}
    made: dict[tuple[str, str], dict[str, Mapping[str, Judged]]] = {}
    for case in cases(work):
        found = judged(work, case)
        if isinstance(found, str):
            parts += [f"## {case.data}, {case.kind}", found] if case.which == CLASSES[0] else []
            continue
        compared[str(case)] = made.setdefault((case.data, case.kind), {})[case.which] = found
        for method in METHODS:
            scores = (float(found[method].measure(measure).mean()) for measure in MEASURES)
            every.add(*case, method, *scores)
    for (name, kind), of_classes in made.items():
        parts += [f"## {name}, {kind}", means(of_classes, METHODS)]
    parts += ["## Row by row", NOTE, comparison(compared)]
    margins = {str(case): judged(work, case, raw=True) for case in cases(work) if on_margin(case)}
    found_margins = {label: of for label, of in margins.items() if not isinstance(of, str)}
    if found_margins:
        parts += ["## Row by row, judged on the margin", MARGIN, comparison(found_margins, RAW_RIVALS)]
    save(work.out, NAME, "Beyond the paper", parts, every)


def cases(work: Work) -> list[Case]:
    """What is explained beyond the paper."""
    names = [name for name in DATA_SETS if work.missing(name) is None]
    return [Case(name, kind, which) for kind in BEYOND for name in names for which in CLASSES]


def on_margin(case: Case) -> bool:
    """Whether the model is ranked on a margin; one class is enough to see what judging on it changes."""
    return case.kind != "random forest" and case.which == CLASSES[0]


def judged(work: Work, case: Case, *, raw: bool = False) -> Mapping[str, Judged] | str:
    """The curves of every method, or why there are none."""
    import leafgrad as lg

    try:
        return work.judged(case, raw=raw)
    except ImportError as error:
        return f"Not made: {error}."
    except lg.UnsupportedModelError:
        return f"Not made: leafgrad does not read models of {case.kind} yet."
