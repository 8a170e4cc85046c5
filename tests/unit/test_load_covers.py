"""Covers counted from data: the rows that reach each node, for every kind of split."""

from __future__ import annotations

import numpy as np
import pytest

import leafgrad as lg
from forests import Shape, forest, rows
from leafgrad.load import covers
from leafgrad.load.trees import parents


def counted(f: lg.Forest, X: np.ndarray) -> np.ndarray:
    """Rows at every node, one row and one step at a time."""
    up = parents(f.tree_start, f.left, f.right)
    count = np.zeros(len(f.left))
    for leaf in (f.leaves(X) + f.tree_start[:-1]).ravel().tolist():
        node = leaf
        while node >= 0:
            count[node] += 1
            node = int(up[node])
    return count


@pytest.mark.parametrize(
    "shape",
    [
        Shape(),
        Shape(n_outputs=3, vector=True),
        Shape(n_outputs=3, single=True),
        Shape(missing=True, categorical=True, depth=6),
        Shape(chain=True, depth=30, leaves="offset"),
    ],
    ids=str,
)
def test_shares_are_those_of_the_rows(shape: Shape) -> None:
    rng = np.random.default_rng(0)
    f = forest(rng, shape, constant=5.0)
    X = rows(rng, f, 200)
    again = lg.load(f, data=X)
    count, up = counted(f, X), parents(f.tree_start, f.left, f.right)
    inner = up >= 0
    with np.errstate(invalid="ignore", divide="ignore"):
        expected = np.where(count[up] > 0, count / count[up], 0.5)
    # The larger of two shares is what the smaller leaves of 1: one rounding from the quotient.
    assert np.all(np.abs(again.share - expected)[inner] <= 2.0**-53)
    # The same model still: leaves are kept up to one rounding of leaf minus mean plus mean.
    assert np.array_equal(again.leaves(X), f.leaves(X))
    size = f.scale + np.abs(f.base) + np.abs(f.root_mean).sum()
    assert np.all(np.abs(again.predict(X) - f.predict(X)) <= 1e-14 * size)
    assert np.array_equal(again.flags, f.flags)


def test_the_rest_of_the_forest_is_kept() -> None:
    f = forest(
        np.random.default_rng(0),
        Shape(),
        feature_names=list("abcde"),
        output_names=["price"],
        link="exp",
        infinite=False,
        library="mine",
        model_name="M",
    )
    again = lg.load(f.replace(checked=True), data=np.zeros((3, 5)))
    for fact in (
        "feature_names",
        "link",
        "library",
        "model_name",
        "output_names",
        "infinite",
        "missing",
        "checked",
    ):
        assert getattr(again, fact) == getattr(f.replace(checked=True), fact)


def test_in_blocks_as_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    f = forest(rng, Shape())
    X = rows(rng, f, 100)
    whole = lg.load(f, data=X).share
    monkeypatch.setattr(covers, "PAIRS", 10)
    assert np.array_equal(lg.load(f, data=X).share, whole)


def test_a_deep_chain_takes_time_in_proportion() -> None:
    n = 20_000
    f = lg.Forest.from_arrays(
        tree_start=[0, 2 * n + 1],
        left=np.append(np.where(np.arange(2 * n) % 2 == 0, np.arange(2 * n) + 1, -1), -1),
        right=np.append(np.where(np.arange(2 * n) % 2 == 0, np.arange(2 * n) + 2, -1), -1),
        feature=np.zeros(2 * n + 1),
        threshold=np.arange(2 * n + 1),
        cover=np.where(np.arange(2 * n + 1) % 2 == 0, n + 1 - np.arange(2 * n + 1) // 2, 1),
        value=np.arange(2 * n + 1),
    )
    again = lg.load(f, data=np.array([[0.0], [1e6]]))
    assert again.share[1] == 0.5
    assert again.share[2] == 0.5
    assert again.share[4] == 1


def test_no_rows() -> None:
    with pytest.raises(lg.InputError, match=r"data has no rows.*training data"):
        lg.load(forest(np.random.default_rng(0), Shape()), data=np.zeros((0, 5)))


def test_rows_of_another_shape() -> None:
    with pytest.raises(lg.InputError, match="5"):
        lg.load(forest(np.random.default_rng(0), Shape()), data=np.zeros((3, 4)))


def test_sets_that_nodes_share_stay_shared() -> None:
    codes = [1, 40]
    f = lg.Forest.from_arrays(
        tree_start=[0, 5],
        left=[1, -1, 3, -1, -1],
        right=[2, -1, 4, -1, -1],
        feature=[0, -1, 1, -1, -1],
        threshold=np.zeros(5),
        cover=np.ones(5),
        value=np.arange(5.0),
        categories_left={0: codes, 2: codes},
        categories_hashed=True,
    )
    X = np.array([[1.0, 0], [0, 40], [0, 1], [0, 0]])
    again = lg.load(f, data=X)
    assert again.set_start.tolist() == f.set_start.tolist() == [0, 2]
    assert again.categories_hashed
    assert again.share == pytest.approx([1, 1 / 4, 3 / 4, 2 / 3, 1 / 3], rel=1e-15)
    assert np.array_equal(again.predict(X), f.predict(X))
