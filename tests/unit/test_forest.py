"""Forest: the arrays as given, refused by name where they are no trees, and its own prediction."""

from __future__ import annotations

import dataclasses
import math
import threading

import numpy as np
import pytest

import leafgrad as lg
from leafgrad.errors import InputError, ModelFormatError

# x0 <= 0.5 ? 1 : (x1 <= 0.25 ? 2 : 3), 1 + 2 + 5 rows
TREE = {
    "tree_start": [0, 5],
    "left": [1, -1, 3, -1, -1],
    "right": [2, -1, 4, -1, -1],
    "feature": [0, -1, 1, -1, -1],
    "threshold": [0.5, 0, 0.25, 0, 0],
    "cover": [8, 1, 7, 2, 5],
    "value": [0, 1.0, 0, 2.0, 3.0],
}


def build(**changes):
    return lg.Forest.from_arrays(**{**TREE, **changes})


def test_what_is_kept():
    forest = build(constant=10.0, feature_names=["a", "b"])
    assert (forest.n_trees, forest.n_leaves, forest.n_features, forest.n_outputs, forest.max_depth) == (
        1,
        3,
        2,
        1,
        2,
    )
    np.testing.assert_array_equal(forest.share, [1, 1 / 8, 1 - 1 / 8, 2 / 7, 1 - 2 / 7])
    mean = (1 * 1 + 2 * 2 + 5 * 3) / 8
    np.testing.assert_allclose(forest.base, [10 + mean], rtol=1e-15)
    np.testing.assert_allclose(forest.value[:, 0], [0, 1 - mean, 0, 2 - mean, 3 - mean], rtol=1e-15)
    np.testing.assert_allclose(forest.scale, [mean - 1], rtol=1e-15)
    assert forest.dtype == np.float64
    assert repr(forest) == "<Forest: 1 trees, 3 leaves, depth 2, 2 features, 1 outputs>"


def test_predicts_and_tells_leaves():
    forest = build(constant=10.0)
    X = [[0.5, 9], [math.nextafter(0.5, 1), 0.25], [0.6, 0.26]]
    np.testing.assert_allclose(forest.predict(X), [11, 12, 13], rtol=1e-15)
    np.testing.assert_array_equal(forest.leaves(X), [[1], [3], [4]])


def test_frozen():
    forest = build()
    with pytest.raises(dataclasses.FrozenInstanceError):
        forest.link = "exp"
    for name in ("left", "share", "value", "base", "constant"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(forest, name)[0] = 1
    other = forest.replace(link="exp")
    assert (other.link, forest.link, other.core is forest.core) == ("exp", "identity", True)


def test_comparisons_are_kept_in_the_models_width():
    third = float(np.float32(1 / 3))
    assert third > 1 / 3  # so float32(1/3) is not <= 1/3, and the largest float32 that is comes before it
    below = float(np.nextafter(np.float32(third), np.float32(0)))
    for compare, threshold, kept in (
        ("<=", 1 / 3, below),
        ("<", third, below),
        ("<=", third, third),
        ("<", 1 / 3, below),
    ):
        forest = build(threshold=[threshold, 0, 0.25, 0, 0], dtype=np.float32, compare=compare)
        assert forest.threshold[0] == kept, (compare, threshold)
    assert build(compare="<").threshold[0] == math.nextafter(0.5, 0)
    build(compare="<", threshold=[-math.inf, 0, 0, 0, 0], infinite=False)
    wide = build(threshold=[1e300, 0, -1e300, 0, 0], dtype=np.float32)
    assert wide.threshold[0] == np.finfo(np.float32).max
    assert wide.threshold[2] == -math.inf


def test_shares_of_nodes_without_cover_and_of_huge_ones():
    np.testing.assert_array_equal(build(cover=[0] * 5).share, [1, 0.5, 0.5, 0.5, 0.5])
    np.testing.assert_array_equal(build(cover=[1, 0, 1, 1, 0]).share, [1, 0, 1, 1, 0])
    np.testing.assert_array_equal(build(cover=[1, 1e308, 1e308, 1, 3]).share, [1, 0.5, 0.5, 0.25, 0.75])


def test_a_product_of_shares_that_float64_cannot_carry_is_refused():
    deep = {
        "tree_start": [0, 5],
        "left": [1, 3, -1, -1, -1],
        "right": [2, 4, -1, -1, -1],
        "threshold": [0.5, 0.2, 0, 0, 0],
        "value": [0, 0, 1, 2, 3.0],
        "cover": [1, 1e-160, 1, 1e-140, 1],
    }
    lg.Forest.from_arrays(**deep, feature=[0, 1, -1, -1, -1])  # two players: harmless
    with pytest.raises(ModelFormatError, match="tree 0: on one path the cover shares of one player"):
        lg.Forest.from_arrays(**deep, feature=[0, 0, -1, -1, -1])
    lg.Forest.from_arrays(**{**deep, "cover": [1, 1e-160, 1, 0, 1]}, feature=[0, 0, -1, -1, -1])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"right": [2, -1, -1, -1, -1]}, "tree 0, node 2: has one child"),
        (
            {"left": [1, -1, 5, -1, -1]},
            "tree 0, node 2: has children 5 and 4; wanted two different nodes in 1..4",
        ),
        ({"left": [1, -1, 0, -1, -1]}, "tree 0, node 2: has children 0 and 4"),
        ({"left": [1, -1, 4, -1, -1]}, "tree 0, node 2: has children 4 and 4"),
        ({"left": [3, -1, 3, -1, -1]}, "tree 0, node 3: has two parents"),
        (
            {"left": [1, -1, -1, -1, -1], "right": [2, -1, -1, -1, -1]},
            "5 nodes, of which 3 hang from its root",
        ),
        ({"feature": [0, -1, -1, -1, -1]}, "tree 0, node 2: splits on feature -1 of 1"),
        ({"feature": [0, -1, 2, -1, -1], "n_features": 2}, "tree 0, node 2: splits on feature 2 of 2"),
        ({"threshold": [math.nan, 0, 0, 0, 0]}, "tree 0, node 0: its threshold is NaN"),
        ({"value": [0, math.inf, 0, 2, 3]}, "tree 0, node 1: its leaf value is not finite"),
        ({"value": [0, 1.7e308, 0, -1.7e308, 3]}, "the range of its leaves overflows"),
        ({"cover": [8, 1, 7, -2, 5]}, "tree 0, node 3: its cover is -2"),
        ({"cover": [8, 1, 7, math.nan, 5]}, "tree 0, node 3: its cover is nan"),
        ({"cover": [8, 1, 7]}, "cover has 3 entries for 5 nodes"),
        ({"tree_start": [0, 4]}, "tree_start must begin with 0 and end with the number of nodes"),
        ({"tree_start": [0, 0, 5]}, "tree 0 has no node"),
        ({"tree_start": []}, "tree_start must begin with 0"),
        ({"tree_output": [1], "n_outputs": 1}, "tree 0 adds to output 1 of 1"),
        (
            {"value": np.zeros((5, 2)), "tree_output": [0], "n_outputs": 2},
            "tree 0 adds to output 0 of 2 with 2 values",
        ),
        ({"value": np.zeros((5, 2)), "n_outputs": 3}, "a leaf has 2 values; wanted 1 or n_outputs = 3"),
        ({"feature_names": ["a"]}, "there are 1 feature_names for 2 features"),
        ({"compare": "<", "threshold": [-math.inf, 0, 0, 0, 0]}, "x < -inf, which sends nothing left"),
    ],
)
def test_arrays_that_are_no_trees(changes, message):
    with pytest.raises(ModelFormatError, match=message.replace("(", r"\(")):
        build(**changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"compare": ">"}, "compare is '>'; wanted '<=' or '<'"),
        ({"dtype": np.int32}, "dtype is int32; wanted"),
    ],
)
def test_arguments_that_do_not_fit(changes, message):
    with pytest.raises(InputError, match=message):
        build(**changes)


def test_many_outputs():
    vector = build(value=[[0, 0], [1, 10], [0, 0], [2, 20], [3, 30]])
    np.testing.assert_allclose(vector.predict([[0.7, 0.0]]), [[2, 20]], rtol=1e-15)
    two = lg.Forest.from_arrays(
        tree_start=[0, 3, 6],
        left=[1, -1, -1] * 2,
        right=[2, -1, -1] * 2,
        feature=[0, -1, -1] * 2,
        threshold=[0.5, 0, 0] * 2,
        cover=[2, 1, 1] * 2,
        value=[0, 1, 3, 0, 5, 9],
        tree_output=[1, 0],
        constant=[0.0, 100.0],
    )
    np.testing.assert_allclose(two.base, [7, 102], rtol=1e-15)
    np.testing.assert_allclose(two.predict([[0.0], [1.0]]), [[5, 101], [9, 103]], rtol=1e-15)
    np.testing.assert_allclose(two.scale, [2, 1], rtol=1e-15)


def test_no_trees_and_single_leaves():
    empty = lg.Forest.from_arrays(
        tree_start=[0],
        left=[],
        right=[],
        feature=[],
        threshold=[],
        cover=[],
        value=[],
        constant=4.0,
        n_features=3,
    )
    leaf = lg.Forest.from_arrays(
        tree_start=[0, 1],
        left=[-1],
        right=[-1],
        feature=[-1],
        threshold=[0],
        cover=[9],
        value=[4.0],
        n_features=3,
    )
    for forest in (empty, leaf):
        np.testing.assert_array_equal(forest.predict(np.zeros((2, 3))), [4, 4])
        np.testing.assert_array_equal(lg.explain(forest, np.zeros((2, 3))).values, np.zeros((2, 3)))


def test_one_forest_in_many_threads():
    forest, X = build(), np.random.default_rng(0).random((500, 2))
    expected = lg.explain(forest, X).values
    found: list[np.ndarray] = []
    crew = [threading.Thread(target=lambda: found.append(lg.explain(forest, X).values)) for _ in range(8)]
    for thread in crew:
        thread.start()
    for thread in crew:
        thread.join()
    assert len(found) == 8
    for values in found:
        np.testing.assert_array_equal(values, expected)


def test_nodes_with_one_array_of_codes_share_its_set():
    codes, same = [0, 33], [0, 33]
    forest = build(categories_left={0: codes, 2: codes})
    assert forest.category_set.tolist() == [0, -1, 0, -1, -1]
    assert forest.set_start.tolist() == [0, 2]
    apart = build(categories_left={0: codes, 2: same})
    assert apart.category_set.tolist() == [0, -1, 1, -1, -1]
    X = np.array([[0.0, 33], [1, 33], [33, 0], [1, 1]])
    np.testing.assert_array_equal(forest.predict(X), [1, 2, 1, 3])
    np.testing.assert_array_equal(apart.predict(X), [1, 2, 1, 3])


def test_the_least_float32_is_a_threshold():
    """CatBoost's border between missing values and all others; no float32 is below but -inf."""
    least = float(np.finfo(np.float32).min)
    for compare, expected in (("<=", [1, 1, 2]), ("<", [1, 2, 2])):
        forest = build(threshold=[least, 0, 0.25, 0, 0], dtype=np.float32, compare=compare)
        values = forest.predict(np.array([[-np.inf, 0], [least, 0], [0, 0]]))
        np.testing.assert_array_equal(values, expected)
