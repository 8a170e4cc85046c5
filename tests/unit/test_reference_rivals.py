"""The paper's algorithms for the Shapley value, as one table: right where trees are shallow."""

from __future__ import annotations

import numpy as np
import pytest

import forests
from leafgrad import values
from leafgrad.reference import exact, paths
from leafgrad.reference.rivals import RIVALS

# A factor leaves TreeShap-K and V1 by a recurrence that multiplies what was rounded by about gamma, once for
# each of up to eight coefficients: gamma is up to 20 here (a share of 1/20), and 400 where a feature repeats.
# The others lose what their sums of up to 2^8 times the result round.
SHALLOW = {"Linear TreeShap V1": 1e-6, "TreeShap-K": 1e-9}
OTHERS = 1e-12

SHAPES = [
    "plain",
    "stumps",
    "one leaf",
    "bushy repeats",
    "many outputs",
    "vector leaves",
    "unused features",
    "one feature",
    "categories",
    "float32",
]


@pytest.mark.parametrize("rival", RIVALS)
@pytest.mark.parametrize("name", SHAPES)
def test_shapley_values_of_shallow_trees(name: str, rival: str) -> None:
    rng = np.random.default_rng(SHAPES.index(name))
    forest = forests.forest(rng, forests.SHAPES[name])
    x = forests.rows(rng, forest, 1)[0]
    expected = exact.value(paths.game(forest, x), values.Shapley()).astype(float)
    found = np.stack([RIVALS[rival](forest, x, k) for k in range(forest.n_outputs)], axis=1)
    assert (abs(found - expected) <= SHALLOW.get(rival, OTHERS) * forests.unit(forest)).all()


@pytest.mark.parametrize("rival", RIVALS)
def test_children_of_cover_0_are_refused(rival: str) -> None:
    rng = np.random.default_rng(0)
    forest = forests.forest(rng, forests.SHAPES["covers of 0"])
    with pytest.raises(ValueError, match="a child of cover 0: the paper's gamma is infinite there"):
        RIVALS[rival](forest, np.zeros(forest.n_features), 0)
