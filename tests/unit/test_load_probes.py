"""Probe rows get to the splits they are made for, and go both ways there."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import leafgrad as lg
from forests import Shape, forest, rows
from leafgrad.category_hash import category_hash
from leafgrad.load.probes import PER_SPLIT, _spread, probe_rows, spoken
from leafgrad.load.trees import parents

SHAPES = {
    "float64": Shape(),
    "float32": Shape(single=True),
    "deep": Shape(depth=9, n_features=3, repeats=0.6, n_trees=2),
    "missing": Shape(missing=True),
    "categorical": Shape(categorical=True, missing=True),
}


def passed(f: lg.Forest, X: np.ndarray) -> np.ndarray:
    """Whether any row passes each node."""
    up = parents(f.tree_start, f.left, f.right)
    found = np.zeros(len(up), dtype=bool)
    at = np.unique(f.leaves(X) + f.tree_start[:-1])
    while len(at):
        found[at] = True
        at = np.unique(up[at])
        at = at[at >= 0]
    return found


@pytest.mark.parametrize("shape", SHAPES)
def test_every_split_that_can_be_reached_is_crossed_both_ways(shape: str) -> None:
    """Splits of random trees may be behind contradictions; nearly all that rows can cross are crossed."""
    rng = np.random.default_rng(9)
    crossed = reachable = 0
    for seed in range(5):
        f = forest(np.random.default_rng(seed), SHAPES[shape])
        root = np.repeat(f.tree_start[:-1], np.diff(f.tree_start))
        inner = np.flatnonzero(f.left >= 0)
        left, right = root[inner] + f.left[inner], root[inner] + f.right[inner]
        probed, any_rows = passed(f, probe_rows(f, rows=4 * 1024)), passed(f, rows(rng, f, 20_000))
        crossed += np.count_nonzero(probed[left] & probed[right])
        reachable += np.count_nonzero((probed | any_rows)[left] & (probed | any_rows)[right])
    assert reachable > 20
    assert crossed >= 0.98 * reachable


def test_the_first_two_rows_of_a_split_are_the_last_left_and_the_first_right() -> None:
    for single in (False, True):
        f = forest(np.random.default_rng(3), Shape(n_trees=1, depth=3, repeats=0, stop=0, single=single))
        inner = np.flatnonzero(f.left >= 0)
        splits = _spread(inner, 512 // PER_SPLIT, np.random.default_rng(0))
        X = probe_rows(f)
        for i, split in enumerate(splits.tolist()):
            left, right = X[i * PER_SPLIT : i * PER_SPLIT + 2, f.feature[split]].tolist()
            assert right == np.nextafter(left, np.inf)
            assert f.dtype.type(left) <= f.threshold[split] < f.dtype.type(right)


def test_no_more_rows_than_asked_for_and_fewer_where_they_are_wide() -> None:
    rng = np.random.default_rng(0)
    assert probe_rows(forest(rng, Shape())).shape == (512, 5)
    wide = forest(rng, Shape(n_features=40_000))
    assert probe_rows(wide).shape == (100, 40_000)


def test_a_single_leaf() -> None:
    f = lg.Forest.from_arrays(
        tree_start=[0, 1],
        left=[-1],
        right=[-1],
        feature=[-1],
        threshold=[0],
        cover=[1],
        value=[3],
        n_features=2,
    )
    assert probe_rows(f).shape == (1, 2)


def test_all_splits_of_a_small_forest_are_chosen() -> None:
    inner = np.arange(60)
    assert set(_spread(inner, 128, np.random.default_rng(0)).tolist()) == set(range(60))


def test_only_values_that_the_forest_takes() -> None:
    rng = np.random.default_rng(1)
    for single in (False, True):
        f = forest(rng, Shape(single=single), infinite=False)
        with np.errstate(over="raise"):
            assert np.isfinite(probe_rows(f).astype(np.float32)).all()
    assert np.isnan(probe_rows(forest(rng, Shape(missing=True)))).any()
    assert np.isinf(probe_rows(forest(rng, Shape()))).any()


@pytest.mark.parametrize("n_features", [2, 20, 5_000])
def test_infinities_are_in_some_rows_however_wide(n_features: int) -> None:
    X = probe_rows(one_split(n_features=n_features, missing=True))
    with_infinity = np.isinf(X).any(axis=1).mean()
    assert 0 < with_infinity < 0.25


def test_spoken_rows_hold_the_users_values() -> None:
    f = forest(np.random.default_rng(0), Shape(), missing=True)
    codes = np.array([[0.5, 1, 0, 2, 7], [0.5, np.nan, np.nan, np.nan, 7], [0.5, np.nan, np.nan, np.nan, 7]])
    words = spoken(f.replace(categories=(None, ("a", "b"), (10, 20), (0.5, 1.5, 2.5), None)), codes)
    assert words.dtype == object
    assert words[0].tolist() == [0.5, "b", 10, 2.5, 7]
    assert {words[1, 1], words[2, 1]} == {"a value never seen", None}
    unseen, missing = sorted([words[1, 2], words[2, 2]], key=np.isnan)
    assert unseen == 21
    assert np.isnan(missing)
    numbers = spoken(f.replace(categories=(None, (3, 4), (10, 20), (0.5, 1.5, 2.5), None)), codes)
    assert numbers.dtype == np.float64
    assert numbers[0].tolist() == [0.5, 4, 10, 2.5, 7]
    assert spoken(f, codes) is codes


@pytest.mark.parametrize(("hashed", "known"), [(True, {"a value never seen", "another one"}), (False, {1})])
def test_a_column_of_no_known_categories_is_spoken_as_unseen_ones(hashed: bool, known: set) -> None:
    """No split is on it, so that its numbers are those of any other column."""
    f = one_split(n_features=2, missing=True, categories=(None, ()), categories_hashed=hashed)
    X = spoken(f, probe_rows(f))
    assert set(X[pd.notna(X[:, 1]), 1]) == known


def test_hashed_categories_are_spoken_as_texts_with_these_hashes() -> None:
    """No text of the model's own is known; any with the same hash goes the same way."""
    hashes = tuple(map(category_hash, ("a", "b", "c")))
    f = lg.Forest.from_arrays(
        tree_start=[0, 3],
        left=[1, -1, -1],
        right=[2, -1, -1],
        feature=[1, -1, -1],
        threshold=np.zeros(3),
        cover=np.ones(3),
        value=[0, 1, 2],
        categories_left={0: [1]},
        missing_left=[True] * 3,
        categories=(None, hashes),
        categories_hashed=True,
    )
    X = spoken(f, np.array([[0.5, 0], [0.5, 1], [0.5, 2], [0.5, np.nan], [0.5, np.nan]]))
    assert X[:, 0].tolist() == [0.5] * 5
    assert [category_hash(text) for text in X[:3, 1]] == list(hashes)
    assert len({category_hash(text) for text in X[:, 1]}) == 5
    assert f.predict(X).tolist() == [2, 1, 2, 1, 1]


def one_split(**others: object) -> lg.Forest:
    arrays = {"tree_start": [0, 3], "left": [1, -1, -1], "right": [2, -1, -1], "feature": [0, -1, -1]}
    arrays |= {"threshold": [0.5, 0, 0], "cover": [2, 1, 1], "value": [0, 1, 2]}
    return lg.Forest.from_arrays(**(arrays | others))


def test_zeros_and_their_neighbours_where_zeros_are_missing() -> None:
    tiny = float(np.float32(1e-35))
    column = probe_rows(one_split(missing_left=[True, False, False], zero_missing=[True, False, False]))[:, 0]
    for number in (0.0, tiny, -tiny, np.nextafter(tiny, 1), np.nextafter(-tiny, -1)):
        assert number in column


@pytest.mark.parametrize("most", [200_000, 2_000_000_000 // 64])
def test_a_few_of_many_codes(most: int) -> None:
    """Both sides of a split on a million codes, at no cost in memory."""
    members = np.unique(np.random.default_rng(0).integers(0, most, 40))
    column = probe_rows(one_split(categories_left={0: members}))[:, 0]
    left = np.isin(column, members)
    assert np.count_nonzero(left) > 20
    assert np.count_nonzero(~left) > 20
    assert column.max() >= members.max()


def test_a_set_of_no_codes() -> None:
    column = probe_rows(one_split(categories_left={0: []}))[:, 0]
    assert set(np.unique(column[~np.isnan(column)])) == {0, 1}
