"""The best of all subsets: the yardstick of what rankings lead to."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

import forests
import leafgrad as lg
from leafgrad.errors import InputError
from leafgrad.reference.best_subset import best_subset
from ranked import FOREST, GROUPS, NAMES, RNG, THREE, TWO, X


def test_best_subset_is_the_best_of_all():
    known = np.arange(32)[:, None] >> np.arange(5) & 1 == 1
    for model, how in (
        (FOREST, {}),
        (THREE, {}),
        (TWO, {"output": ["no", "yes"] * 6}),
        (THREE, {"output": "predicted"}),
    ):
        subset, best = best_subset(model, X, **how)
        ask = dict(how)
        for i in range(12):
            if isinstance(how.get("output"), list):
                ask["output"] = how["output"][i : i + 1]
            every = lg.objective(model, X[i], known, **ask)
            # The other half is had by symmetry: within rounding of what each set gives.
            np.testing.assert_allclose(
                best[i], every.max(axis=0), rtol=0, atol=1e-13 * forests.unit(model).max()
            )
            mine = lg.objective(model, X[i], np.moveaxis(subset[i], 0, -1), **ask)
            reached = np.diagonal(mine) if every.ndim == 2 else mine[0]
            np.testing.assert_allclose(reached, best[i], rtol=0, atol=1e-13 * forests.unit(model).max())


def test_best_subset_of_frames_groups_and_one_row():
    subset, best = best_subset(FOREST, X, groups=GROUPS)
    assert subset.shape == (12, 4)
    for frame in (pd.DataFrame(X, columns=NAMES), pl.DataFrame(X, schema=NAMES), scipy.sparse.csr_matrix(X)):
        np.testing.assert_array_equal(best_subset(FOREST, frame, groups=GROUPS)[0], subset)
    np.testing.assert_array_equal(best_subset(FOREST, X[3], groups=GROUPS)[0], subset[3:4])
    assert (best <= best_subset(FOREST, X)[1] + 1e-13).all()  # groups allow fewer sets


def test_best_subset_of_ties_is_the_first():
    leaf = forests.forest(RNG, forests.Shape(depth=0))
    subset, best = best_subset(leaf, X)
    assert not subset.any()
    assert not best.any()


def test_best_subset_in_several_batches(monkeypatch):
    whole = best_subset(THREE, X)
    monkeypatch.setattr("leafgrad.reference.best_subset.BATCH", 7)
    for ours, theirs in zip(best_subset(THREE, X), whole, strict=True):
        np.testing.assert_allclose(ours.astype(float), theirs.astype(float), rtol=0, atol=1e-14)


def test_best_subset_refuses_many_players():
    many = lg.Forest.from_arrays(
        tree_start=[0, 1], left=[-1], right=[-1], feature=[-1], threshold=[0], cover=[1], value=[2.0],
        n_features=21)  # fmt: skip
    with pytest.raises(InputError, match="tries all 2\\^N subsets of N players, and N = 21 is more than 20"):
        best_subset(many, np.zeros((1, 21)))
