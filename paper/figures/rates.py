"""How the rate is chosen: the mean objective at every step, under each of the paper's candidates.

The paper takes the largest rate whose objective converges consistently. What `rate="auto"` of leafgrad makes
of that rule is in the table beside it.
"""

from __future__ import annotations

import warnings
from typing import Any

from paper import figure
from paper.cache import key
from paper.data import Floats
from paper.facts import DATA
from paper.table import Table, save
from paper.work import VALUE, Work, output

NAME = "rates"
RATES = (0.1, 0.5, 1.0, 5.0, 10.0)
STEPS = 100
KIND = "decision tree"


def make(work: Work) -> None:
    """Draw the figure and write the table."""
    names = work.at_hand()
    drawn, places = figure.axes(2, len(names))
    table = Table(
        ("data", "method", "chosen", *(f"rate {rate:g}" for rate in RATES)), ("", "", "", *[".5f"] * 5)
    )
    for column, name in enumerate(names):
        for row, method in enumerate(("GA", "ADAM")):
            found = objective(work, name, method)
            place = places[row, column]
            for at, (rate, path) in enumerate(found["paths"].items()):
                place.plot(path, color=f"C{at}", label=f"rate {rate:g}")
            place.set_title(f"{name}, {method}")
            place.set_xlabel("steps")
            table.add(name, method, found["chosen"], *(float(path[-1]) for path in found["paths"].values()))
        places[0, 0].set_ylabel("mean objective")
        places[1, 0].set_ylabel("mean objective")
    drawn.legend(*places[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=len(RATES))
    drawn.suptitle("objective (F(z) - F(1-z)) / 2 while climbing; decision trees")
    figure.save(work.out, NAME, drawn)
    note = (
        f'The mean objective after {STEPS} steps, and the rate that `rate="auto"` chooses: the largest of '
        "0.01, 0.05, ..., 100 at which the objective rises and settles. The paper chose 5 for all. Of the "
        "predicted class, or the value."
    )
    save(work.out, NAME, "The rate, from the objective", [note, table])


def objective(work: Work, name: str, method: str) -> dict[str, Any]:
    """The mean objective of the rows per step, by rate, and what "auto" chooses."""
    about = key("objective", __name__, work.data(name).digest, name, method)
    return work.cache.kept(about, lambda: _objective(work, name, method))


def _objective(work: Work, name: str, method: str) -> dict[str, Any]:
    import leafgrad as lg

    make: Any = {"GA": lg.GradientAscent, "ADAM": lg.Adam}[method]
    model, X = work.model(name, KIND), work.parts(name).explained
    which = VALUE if DATA[name].classes is None else "predicted class"
    wanted = output(model, X, which)
    forest = lg.load(model)

    def climb(rate: Any) -> Any:
        return lg.rank(
            forest, X, optimizer=make(rate=rate, steps=STEPS), output=wanted, trace=True, progress=False
        )

    paths: dict[float, Floats] = {rate: climb(rate).trace.mean(axis=0) for rate in RATES}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        rates = sorted({float(rate) for rate in _flat(climb("auto").rate)})
    chosen = ", ".join(f"{rate:g}" for rate in rates)
    return {"paths": paths, "chosen": chosen + (" (none settles for some class)" if said else "")}


def _flat(rate: Any) -> list[float]:
    import numpy as np

    return [float(one) for one in np.unique(np.asarray(rate))]
