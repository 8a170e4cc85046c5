"""Condition numbers of the matrices in the rivals, against the degree D.

Linear TreeShap inverts the Vandermonde matrix of Chebyshev nodes, TreeProb that of the roots of unity;
TreeShap-K and Linear TreeShap V1 let a factor leave by solving a bidiagonal system. gamma is 0 where the row
leaves the path, else the product of 1 / share over the feature's splits: 2 for one even split, 4 for two.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from leafgrad.reference import conditioning
from paper import figure
from paper.cache import key
from paper.table import Table, save
from paper.work import Work

NAME = "conditions"
DEGREES = tuple(range(2, 41))
SHOWN = (5, 10, 15, 20, 25, 30, 35, 40, 100)
V1 = conditioning.linear_tree_shap_v1

MATRICES: dict[str, Callable[[int], float]] = {
    "Linear TreeShap": conditioning.chebyshev_vandermonde,
    "TreeShap-K (gamma = 1)": conditioning.tree_shap_k,
    "TreeProb (roots of unity)": conditioning.unit_circle_vandermonde,
    "Linear TreeShap V1 (gamma = 1)": partial(V1, gamma=1.0),
    "Linear TreeShap V1 (gamma = 0 or 2)": partial(V1, gamma=2.0),
    "Linear TreeShap V1 (gamma = 4)": partial(V1, gamma=4.0),
}


def make(work: Work) -> None:
    """Draw the figure and write the table."""
    found = numbers(work)
    drawn, places = figure.axes(1, 1, width=5.6, height=3.4)
    place = places[0, 0]
    for name in MATRICES:
        place.semilogy(DEGREES, [found[name][d] for d in DEGREES], label=name)
    place.set_xlabel("D")
    place.set_ylabel("condition number")
    drawn.legend(*place.get_legend_handles_labels(), loc="outside right center")
    figure.save(work.out, NAME, drawn)
    table = Table(("D", *MATRICES), ("d", *[".3g"] * len(MATRICES)))
    for d in SHOWN:
        table.add(d, *(found[name][d] for name in MATRICES))
    note = "Largest over smallest singular value, by exact or cancellation-free inverses."
    save(work.out, NAME, "Condition numbers", [note, table])


def numbers(work: Work) -> dict[str, dict[int, float]]:
    """The condition number by matrix and D."""
    degrees = sorted({*DEGREES, *SHOWN})
    return work.cache.kept(
        key("conditions", __name__),
        lambda: {name: {d: condition(d) for d in degrees} for name, condition in MATRICES.items()},
    )
