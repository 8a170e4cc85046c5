"""A row alone goes through a kernel of its own: the same numbers as in a batch, to 1e-14 of the unit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import forests
import leafgrad as lg
from leafgrad import _core

SHAPES = {
    "first splits only": forests.Shape(n_features=40, repeats=0.0, depth=6),
    "the row leaves the path at every second repeat": forests.Shape(n_features=3, repeats=0.9, depth=9),
    "covers of 0, shares of 1e-30": forests.Shape(
        n_features=3, repeats=0.7, depth=7, cover="both", stop=0.05
    ),
    "lone splits": forests.Shape(depth=1, n_trees=8),
    "leaves everywhere": forests.Shape(depth=12, stop=0.5, n_trees=20, n_features=12),
    "missing values": forests.Shape(missing=True, depth=6),
    "categories, in float32": forests.Shape(missing=True, categorical=True, single=True, depth=6),
    "outputs in turn": forests.Shape(n_outputs=3, n_trees=7, depth=6),
    "outputs in every leaf": forests.Shape(n_outputs=3, vector=True, depth=6, repeats=0.6),
    "5 points": forests.Shape(n_features=9, depth=9, repeats=0.05, stop=0.02, n_trees=1),
    "10 points": forests.Shape(n_features=20, depth=20, repeats=0.05, chain=True),
    "20 points": forests.Shape(n_features=40, depth=60, repeats=0.2, chain=True),
}


@pytest.fixture(params=_core.available_isas())
def isa(request: pytest.FixtureRequest) -> Iterator[str]:
    _core.use_isa(request.param)
    yield request.param
    _core.use_isa()


@pytest.mark.parametrize("value", ["shapley", "banzhaf"])
@pytest.mark.parametrize("name", SHAPES)
def test_a_row_alone_is_the_row_in_a_batch(isa: str, name: str, value: str) -> None:
    rng = np.random.default_rng(31)
    forest = forests.forest(rng, SHAPES[name])
    X = forests.rows(rng, forest, 60)
    whole = lg.explain(forest, X, value).values
    unit = forests.unit(forest) if forest.n_outputs > 1 else forests.unit(forest)[0]
    for i in range(len(X)):
        assert (abs(lg.explain(forest, X[i], value).values[0] - whole[i]) <= 1e-14 * unit).all(), i
    pairs = lg.explain(forest, X[:2], value).values
    assert np.array_equal(pairs, [lg.explain(forest, row, value).values[0] for row in X[:2]])


def test_one_missing_value_among_many(isa: str) -> None:
    """Rows without any take a shorter way; one is enough to leave it."""
    rng = np.random.default_rng(8)
    forest = forests.forest(rng, forests.Shape(n_features=6, depth=7, n_trees=20, missing=True))
    row = np.nan_to_num(forests.rows(rng, forest, 1))
    rows = np.repeat(row, 7, axis=0)
    rows[np.arange(6), np.arange(6)] = np.nan
    whole = lg.explain(forest, rows).values
    assert not np.array_equal(whole[:6], np.repeat(whole[6:], 6, axis=0))
    for i in range(7):
        alone = lg.explain(forest, rows[i]).values[0]
        assert (abs(alone - whole[i]) <= 1e-14 * forests.unit(forest)[0]).all(), i
