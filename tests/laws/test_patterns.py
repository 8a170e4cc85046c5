"""Trees of few tests, whose rows are of few kinds: many rows pick what their kind has got, few are walked.

Both are the same numbers but for the order of additions: to 1e-14 of the sum over trees of
max|leaf - root mean|.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import forests
import leafgrad as lg
from leafgrad import _core, encode, plan
from leafgrad.reference import exact
from leafgrad.reference.paths import game

MANY = 700  # picked: 256 rows or more, and no multiple of any block
FEW = 200  # walked


@pytest.fixture(params=_core.available_isas(), name="isa")
def _isa(request: pytest.FixtureRequest):
    _core.use_isa(request.param)
    yield request.param
    _core.use_isa()


def oblivious(rng: np.random.Generator, depth: int, **how: Any) -> lg.Forest:
    """Trees of one test a level, as CatBoost grows them; features may repeat, and covers be 0."""
    trees, features, outputs = how.get("trees", 12), how.get("features", 5), how.get("outputs", 1)
    n_splits = 2**depth - 1
    n_nodes = 2 * n_splits + 1
    level = np.log2(np.arange(n_nodes) + 1).astype(int)
    split = np.arange(n_nodes) < n_splits
    arrays: dict[str, list[Any]] = {
        name: [] for name in ("left", "right", "feature", "threshold", "cover", "value")
    }
    missing, sets = [], {}
    for tree in range(trees):
        tests = rng.integers(features, size=depth + 1)
        at = np.round(rng.normal(size=depth + 1), 1)
        cover = np.ones(n_nodes)
        for node in range(n_splits):
            share = rng.choice([0.0, 1.0, rng.random(), rng.random(), rng.random()])
            cover[[2 * node + 1, 2 * node + 2]] = cover[node] * np.array([share, 1 - share])
        arrays["left"].append(np.where(split, 2 * np.arange(n_nodes) + 1, -1))
        arrays["right"].append(np.where(split, 2 * np.arange(n_nodes) + 2, -1))
        arrays["feature"].append(np.where(split, tests[level], -1))
        arrays["threshold"].append(np.where(split, at[level], 0.0))
        arrays["cover"].append(cover)
        arrays["value"].append(rng.normal(size=(n_nodes, outputs)))
        missing.append((rng.random(depth + 1) < 0.5)[level])
        if how.get("categorical"):
            codes = sorted(set(rng.integers(6, size=3).tolist()))
            sets |= {tree * n_nodes + node: codes for node in range(n_splits) if level[node] == depth - 1}
    more = {"categories_left": sets} if sets else {}
    return lg.Forest.from_arrays(
        **{name: np.concatenate(parts) for name, parts in arrays.items()},
        tree_start=np.arange(trees + 1) * n_nodes,
        n_features=features,
        n_outputs=outputs,
        missing_left=np.concatenate(missing),
        dtype=how.get("dtype", np.float64),
        **more,
    )


FORESTS: dict[str, dict[str, Any]] = {
    "depth 6": {"depth": 6, "features": 9},
    "repeats": {"depth": 6, "features": 3},
    "shallow": {"depth": 4},
    "too deep": {"depth": 7},
    "float32, categories": {"depth": 5, "categorical": True, "dtype": np.float32},
    "ten outputs": {"depth": 6, "outputs": 10},
}


def case(name: str) -> tuple[lg.Forest, np.ndarray]:
    rng = np.random.default_rng(sum(map(ord, name)))
    forest = oblivious(rng, **FORESTS[name])
    return forest, forests.rows(rng, forest, MANY)


def in_parts(forest: lg.Forest, X: np.ndarray, *args: Any, **kwargs: Any) -> np.ndarray:
    parts = [X[i : i + FEW] for i in range(0, MANY, FEW)]
    return np.concatenate([lg.explain(forest, part, *args, **kwargs).values for part in parts])


@pytest.mark.parametrize("value", ["shapley", "banzhaf:0.3", "beta:4,1"])
@pytest.mark.parametrize("name", FORESTS)
def test_many_rows_are_as_few(name: str, value: str, isa: str) -> None:
    forest, X = case(name)
    picked = lg.explain(forest, X, value).values
    walked = in_parts(forest, X, value)
    worst = np.abs(picked - walked).max(axis=(0, 1)) if picked.ndim == 3 else np.abs(picked - walked).max()
    assert (worst <= 1e-14 * forests.unit(forest)).all()


def test_an_exact_row_among_many(isa: str) -> None:
    forest, X = case("repeats")
    picked = lg.explain(forest, X).values
    for i in (0, MANY - 1):
        wanted = exact.value(game(forest, X[i]), lg.Shapley())[:, 0].astype(float)
        np.testing.assert_allclose(picked[i], wanted, rtol=0, atol=1e-14 * forests.unit(forest)[0])


@pytest.mark.parametrize("name", ["depth 6", "ten outputs"])
def test_the_place_among_many_changes_no_bit(name: str, isa: str) -> None:
    forest, X = case(name)
    order = np.random.default_rng(1).permutation(MANY)
    picked = lg.explain(forest, X, threads=1).values
    assert np.array_equal(lg.explain(forest, X[order], threads=2).values, picked[order])
    assert np.array_equal(lg.explain(forest, X[:300]).values, picked[:300])


def test_the_way_does_not_hang_on_how_a_call_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of few rows of a call of many, and the few rows of a label, go the way of the many."""
    forest, X = case("ten outputs")
    names = np.array(forest.output_names if forest.output_names is not None else range(10))
    labels = names[np.random.default_rng(2).integers(10, size=MANY)]  # some 70 rows each
    whole = lg.explain(forest, X).values
    picked = whole[np.arange(MANY), :, [list(names).index(label) for label in labels]]
    assert np.array_equal(lg.explain(forest, X, output=labels).values, picked)
    monkeypatch.setattr(plan, "ROWS", 100)
    monkeypatch.setattr(plan, "PART", 1)
    monkeypatch.setattr(encode, "ELEMENTS", 500)
    sparse = csr_array(X)
    assert not encode.rows(forest, sparse).whole  # it comes in blocks
    assert np.array_equal(lg.explain(forest, sparse).values, whole)


def test_groups_are_players() -> None:
    forest, X = case("depth 6")
    groups = {"pair": [0, 4]}
    picked = lg.explain(forest, X, groups=groups).values
    walked = np.concatenate(
        [lg.explain(forest, X[i : i + FEW], groups=groups).values for i in range(0, MANY, FEW)]
    )
    np.testing.assert_allclose(picked, walked, rtol=0, atol=1e-14 * forests.unit(forest)[0])
