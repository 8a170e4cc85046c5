"""Choosing outputs is slicing: one output, or one per row, is the very numbers of all outputs at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import forests
import leafgrad as lg

CALLS: dict[str, Callable[..., np.ndarray]] = {
    "explain": lambda forest, X, _, **how: lg.explain(forest, X, **how).values,
    "gradient": lg.gradient,
    "extension": lg.extension,
    "predict_known": lambda forest, X, z, **how: lg.predict_known(forest, X, z > 0.5, **how),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("vector", [False, True])
@pytest.mark.parametrize("n", [1, 3, 200])
def test_outputs_are_slices(call: str, vector: bool, n: int) -> None:
    """Within 1e-15 of the unit: a game of one output may be walked in another order than one of four."""
    rng = np.random.default_rng(n)
    forest = forests.forest(rng, forests.Shape(n_trees=8, depth=5, n_outputs=4, vector=vector, stop=0.1))
    X, z = forests.rows(rng, forest, n), forests.points(rng, n, forest.n_features)
    run: Any = CALLS[call]
    every = run(forest, X, z)
    unit = forests.unit(forest).max() + abs(forest.base).max()
    for k in range(4):
        one = run(forest, X, z, output=k)
        assert one.shape == every.shape[:-1]
        assert abs(one - every[..., k]).max() <= 1e-15 * unit
    own = rng.integers(4, size=n)
    by_row = run(forest, X, z, output=own.tolist())
    assert by_row.shape == every.shape[:-1]
    assert (
        abs(by_row - np.array([row[..., k] for row, k in zip(every, own, strict=True)])).max() <= 1e-15 * unit
    )


def test_scalar_leaves_are_vector_leaves_of_one_output() -> None:
    """A tree for output 1 of two is a vector-leaf tree whose other values are 0."""
    rng = np.random.default_rng(5)
    arrays = forests.arrays(rng, forests.Shape(n_trees=4, n_outputs=2, depth=5))
    scalar = lg.Forest.from_arrays(**arrays)
    owner = np.repeat(arrays["tree_output"], np.diff(arrays["tree_start"]))
    leaves = np.where(owner[:, None] == [0, 1], np.reshape(arrays["value"], (-1, 1)), 0.0)
    vector = lg.Forest.from_arrays(**{**arrays, "value": leaves, "tree_output": None})
    X = forests.rows(rng, scalar, 100)
    error = abs(lg.explain(scalar, X).values - lg.explain(vector, X).values)
    assert (error <= 1e-15 * forests.unit(scalar)).all()
