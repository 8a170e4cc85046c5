"""The native router sends every row as the oracles do: ties, missing values and odd codes included."""

from __future__ import annotations

import numpy as np
import pytest

import forests
import leafgrad as lg
from leafgrad import _core
from leafgrad.reference import paths


def oracle_leaves(forest: lg.Forest, row: np.ndarray) -> list[int]:
    """The leaf of each tree, by `paths.goes_left`."""
    leaves = []
    for tree in paths.game(forest, row).trees:
        v = 0
        while not tree.is_leaf(v):
            v = tree.taken(v)
        leaves.append(v)
    return leaves


@pytest.mark.parametrize("isa", _core.available_isas())
@pytest.mark.parametrize("name", ["plain", "missing", "categories", "float32", "deep"])
def test_leaves(name: str, isa: str) -> None:
    rng = np.random.default_rng(4)
    forest = forests.forest(rng, forests.SHAPES[name].but(n_trees=3))
    X = forests.rows(rng, forest, 100)
    expected = [oracle_leaves(forest, row) for row in X]
    _core.use_isa(isa)
    try:
        assert forest.leaves(X).tolist() == expected
        assert [forest.leaves(row)[0].tolist() for row in X[:20]] == expected[:20]
    finally:
        _core.use_isa()


CODES = [
    -1e9,
    -33.0,
    -1.0,
    -0.5,
    -0.0,
    0.0,
    0.9,
    1.0,
    31.0,
    32.0,
    63.0,
    63.9,
    64.0,
    1e9,
    1e300,
    np.inf,
    -np.inf,
    np.nan,
]


@pytest.mark.parametrize("isa", _core.available_isas())
@pytest.mark.parametrize("listed", [[0], [1], [31, 32], [63], range(64)])
@pytest.mark.parametrize("other_left", [False, True])
@pytest.mark.parametrize("missing_left", [False, True])
@pytest.mark.parametrize("negative_other", [False, True])
def test_categories(
    listed: object, other_left: bool, missing_left: bool, negative_other: bool, isa: str
) -> None:
    check_categories(listed, other_left, missing_left, isa, negative_other)


def test_no_categories_listed() -> None:
    for isa in _core.available_isas():
        check_categories([], True, False, isa)


def check_categories(
    listed: object, other_left: bool, missing_left: bool, isa: str, negative_other: bool = False
) -> None:
    """A stump: its own node, then others whose sets lie behind and must not be looked at."""
    forest = lg.Forest.from_arrays(
        tree_start=[0, 3, 6],
        left=[1, -1, -1] * 2,
        right=[2, -1, -1] * 2,
        feature=[0, -1, -1] * 2,
        threshold=[0.0] * 6,
        cover=[2, 1, 1] * 2,
        value=[0, 1, 2] * 2,
        missing_left=[missing_left] * 6,
        categories_left={0: listed, 3: [1, 3, 5]},
        other_left=[other_left] * 6,
        negative_other=[negative_other] * 6,
    )
    X = np.array(CODES)[:, None]
    _core.use_isa(isa)
    try:
        assert forest.leaves(X).tolist() == [oracle_leaves(forest, row) for row in X]
    finally:
        _core.use_isa()


TINY = float(np.float32(1e-35))
BESIDE = np.nextafter([TINY, TINY, -TINY, -TINY], [1, -1, 1, -1]).tolist()
NUMBERS = [0.0, -0.0, TINY, -TINY, *BESIDE, 1e-300, 1.0, -1.0, np.nan]


@pytest.mark.parametrize("isa", _core.available_isas())
@pytest.mark.parametrize("threshold", [-1.0, 0.0, TINY, 2.0])
@pytest.mark.parametrize("missing_left", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_zero_as_missing(threshold: float, missing_left: bool, dtype: type, isa: str) -> None:
    forest = lg.Forest.from_arrays(
        tree_start=[0, 3],
        left=[1, -1, -1],
        right=[2, -1, -1],
        feature=[0, -1, -1],
        threshold=[threshold, 0, 0],
        cover=[2, 1, 1],
        value=[0, 1, 2],
        missing_left=[missing_left] * 3,
        zero_missing=[True] * 3,
        dtype=dtype,
    )
    X = np.array(NUMBERS * 9, dtype=dtype)[:, None]
    _core.use_isa(isa)
    try:
        assert forest.leaves(X).tolist() == [oracle_leaves(forest, row) for row in X]
    finally:
        _core.use_isa()
    assert forest.leaves([[0.0]]) == (1 if missing_left else 2)


@pytest.mark.parametrize("isa", _core.available_isas())
@pytest.mark.parametrize("missing", [False, True])
def test_rows_that_float32_holds_exactly(isa: str, *, missing: bool) -> None:
    """A block of them is compared as float32, with float64 thresholds between, on and beyond its numbers."""
    largest = float(np.finfo(np.float32).max)
    numbers = [0.0, -0.0, 1.0, -1.0, 0.1, 1e-45, -1e-45, 1e-38, 3.5e4, largest, -largest, np.inf, -np.inf]
    exact = np.array(numbers, dtype=np.float32).astype(float)
    finite = exact[np.isfinite(exact)]
    thresholds = np.concatenate(
        [finite, np.nextafter(finite, np.inf), np.nextafter(finite, -np.inf), [1e300, -1e300]]
    )
    n = len(thresholds)
    forest = lg.Forest.from_arrays(  # a stump each
        tree_start=3 * np.arange(n + 1),
        left=np.tile([1, -1, -1], n),
        right=np.tile([2, -1, -1], n),
        feature=np.tile([0, -1, -1], n),
        threshold=np.stack([thresholds, np.zeros(n), np.zeros(n)], axis=1).ravel(),
        cover=np.tile([2, 1, 1], n),
        value=np.tile([0, 0, 1], n),
        n_features=1,
        missing_left=np.tile([True, False, False], n) if missing else None,
    )
    X = np.append(exact, np.nan)[:, None] if missing else exact[:, None]
    wanted = np.where((thresholds >= X) | np.isnan(X), 1, 2)
    between = np.append(X, [[0.1]], axis=0)  # no float32: all are compared as float64
    _core.use_isa(isa)
    try:
        assert np.array_equal(forest.leaves(X), wanted)
        assert np.array_equal(forest.leaves(between)[:-1], wanted)
        assert np.array_equal(forest.leaves(between)[-1], np.where(thresholds >= 0.1, 1, 2))
    finally:
        _core.use_isa()
