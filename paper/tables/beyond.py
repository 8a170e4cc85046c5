"""Beyond the paper: the same comparison for models of other kinds, on two of its data sets.

A random forest is ranked and judged on its probability; XGBoost's and LightGBM's boosters are ranked on the
margin and judged on the probability, as the paper does with boosted trees. All are left at their libraries'
defaults (the forest at the data set's depth). What cannot be made here is said.
"""

from __future__ import annotations

from collections.abc import Mapping

from paper.methods import ADAM, ADAM_10, ALONE, CHOSEN, GA
from paper.models import BEYOND
from paper.scores import Judged
from paper.table import Table, save
from paper.tables.gains import NOTE, comparison
from paper.tables.scores import means
from paper.work import CLASSES, Case, Work

NAME = "beyond"
DATA_SETS = ("spambase", "GPSP")
METHODS = (GA, ADAM, ADAM_10, *ALONE, *CHOSEN)


def make(work: Work) -> None:
    """Write the tables."""
    parts: list[str | Table] = [
        "A random forest of 100 trees of the data set's depth, XGBoost and LightGBM as they come."
    ]
    every = Table(("data", "model", "explained", "ranked by", "Ins", "Del", "Ins - Del"))
    compared: dict[str, Mapping[str, Judged]] = {}
    for kind in BEYOND:
        for name in DATA_SETS:
            if work.missing(name) is not None:
                continue
            parts.append(f"## {name}, {kind}")
            why = unavailable(work, name, kind)
            if why is not None:
                parts.append(f"Not made: {why}.")
                continue
            found = {which: work.judged(Case(name, kind, which)) for which in CLASSES}
            parts.append(means(found, METHODS))
            for which, judged in found.items():
                compared[str(Case(name, kind, which))] = judged
                for method in METHODS:
                    scores = (float(judged[method].measure(m).mean()) for m in ("Ins", "Del", "Ins - Del"))
                    every.add(name, kind, which, method, *scores)
    save(work.out, NAME, "Beyond the paper", [*parts, "## Row by row", NOTE, comparison(compared)], every)


def unavailable(work: Work, name: str, kind: str) -> str | None:
    """Why a kind of model is not had here; None where it is."""
    import leafgrad as lg

    try:
        lg.load(work.model(name, kind))
    except ImportError as error:
        return f"{error}"
    except lg.UnsupportedModelError:
        return f"leafgrad does not read models of {kind} yet"
    return None
