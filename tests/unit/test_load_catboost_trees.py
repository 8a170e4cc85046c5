"""CatBoost's trees from JSON written by hand: the layout, the routes, the shares, and what is damaged.

Expected numbers are counted by hand from the comments beside them.
"""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import pytest

import leafgrad as lg
from leafgrad.category_hash import category_hash
from leafgrad.load import catboost
from leafgrad.load.trees import Trees


def number(j: int, place: int, **more: Any) -> dict[str, Any]:
    return {"feature_index": j, "flat_feature_index": place, "has_nans": False, "borders": [], **more}


def border(j: int, value: float) -> dict[str, Any]:
    return {"split_type": "FloatFeature", "float_feature_index": j, "border": value, "split_index": 0}


def is_a(j: int, text: str) -> dict[str, Any]:
    signed = np.uint32(category_hash(text)).astype(np.int32)  # as CatBoost writes it
    return {"split_type": "OneHotFeature", "cat_feature_index": j, "value": int(signed), "split_index": 0}


# x0 in column 0; a category in column 1; x1 in column 2, which has seen missing values as the greatest.
# Tree 0 asks on top whether column 1 is "b", then whether x0 > 0.5: leaf = 2 [b] + [x0 > 0.5].
# Tree 1 asks x1 > 2 alone; tree 2 asks nothing.
SYMMETRIC: dict[str, Any] = {
    "features_info": {
        "float_features": [
            number(0, 0),
            number(1, 2, has_nans=True, nan_value_treatment="AsTrue"),
        ],
        "categorical_features": [{"feature_index": 0, "flat_feature_index": 1}],
    },
    "oblivious_trees": [
        {
            "splits": [border(0, 0.5), is_a(0, "b")],
            "leaf_values": [1.0, 2.0, 3.0, 4.0],
            "leaf_weights": [10.0, 30.0, 0.0, 0.0],
        },
        {"splits": [border(1, 2)], "leaf_values": [-1, 1], "leaf_weights": [3, 1]},
        {"splits": None, "leaf_values": [0.25], "leaf_weights": [40]},
    ],
    "scale_and_bias": [2.0, [100.0]],
}
# x0 > 0.5 ? (column 1 is "b" ? 4 : (x0 > 0.75 ? 5 : 2)) : 1
NESTED: dict[str, Any] = {
    "features_info": SYMMETRIC["features_info"],
    "trees": [
        {
            "split": border(0, 0.5),
            "left": {"value": 1.0, "weight": 10},
            "right": {
                "split": is_a(0, "b"),
                "left": {
                    "split": border(0, 0.75),
                    "left": {"value": 2.0, "weight": 5},
                    "right": {"value": 5.0, "weight": 15},
                },
                "right": {"value": 4.0, "weight": 0.5},
            },
        },
        {"value": 0.25, "weight": 30.5},
    ],
    "scale_and_bias": [1, [0]],
}


def read(model: dict[str, Any]) -> Trees:
    return catboost.read_file(json.dumps(model).encode(), "model.json", None).trees


def forest_of(model: dict[str, Any]) -> lg.Forest:
    return catboost.read_file(json.dumps(model).encode(), "model.json", None).forest()


def test_a_symmetric_tree_is_a_heap_with_its_last_split_on_top() -> None:
    trees = read(SYMMETRIC)
    assert trees.start.tolist() == [0, 7, 10, 11]
    assert trees.left.tolist() == [1, 3, 5, -1, -1, -1, -1, 1, -1, -1, -1]
    assert trees.right.tolist() == [2, 4, 6, -1, -1, -1, -1, 2, -1, -1, -1]
    assert trees.feature.tolist() == [1, 0, 0, -1, -1, -1, -1, 2, -1, -1, -1]
    assert trees.threshold[[1, 2, 7]].tolist() == [0.5, 0.5, 2.0]
    assert trees.value[trees.left < 0, 0].tolist() == [2.0, 4.0, 6.0, 8.0, -2.0, 2.0, 0.5]  # twice
    assert trees.cover is not None
    assert trees.cover.tolist() == [40, 40, 0, 10, 30, 0, 0, 4, 3, 1, 40]
    assert trees.constant.tolist() == [100.0]
    assert trees.dtype == np.float32


def test_a_nested_tree_is_laid_out_as_it_is_written_down() -> None:
    trees = read(NESTED)
    assert trees.start.tolist() == [0, 7, 8]
    assert trees.left.tolist() == [1, -1, 3, 4, -1, -1, -1, -1]
    assert trees.right.tolist() == [2, -1, 6, 5, -1, -1, -1, -1]
    assert trees.feature.tolist() == [0, -1, 1, 0, -1, -1, -1, -1]
    assert trees.value[trees.left < 0, 0].tolist() == [1.0, 2.0, 5.0, 4.0, 0.25]
    assert trees.cover is not None
    assert trees.cover.tolist() == [30.5, 10, 20.5, 20, 5, 15, 0.5, 30.5]


def rows(*given: Any) -> np.ndarray:
    return np.array(given, dtype=object)


def test_routes() -> None:
    above = float(np.nextafter(np.float32(0.5), np.float32(1)))
    halfway = (0.5 + above) / 2  # rounds to 0.5 in float32, the even one
    X = rows(
        [0.5, "a", 2.0],  # a border belongs to the left
        [halfway, "a", 2.0],
        [above, "a", 2.1],
        [0.5, "b", np.nan],  # column 2 sends NaN right
        [np.nan, "never seen", np.inf],  # column 0 left
        [1.0, "b", -np.inf],
        [1, 5, 0],
    )
    first = [1, 1, 2, 3, 1, 4, 2]
    second = [-1, -1, 1, 1, 1, -1, -1]
    assert forest_of(SYMMETRIC).predict(X).tolist() == [
        100 + 2 * (a + b + 0.25) for a, b in zip(first, second, strict=True)
    ]
    assert forest_of(NESTED).predict(X).tolist() == [1.25, 1.25, 2.25, 1.25, 1.25, 4.25, 5.25]


def test_without_missing_values_in_training_they_go_left() -> None:
    model = copy.deepcopy(SYMMETRIC)
    model["features_info"]["float_features"][1]["has_nans"] = False
    assert forest_of(model).predict(rows([0.0, "a", np.nan])).tolist() == [100 + 2 * (1 - 1 + 0.25)]


def test_the_game_of_empty_leaves() -> None:
    """ "b" was never seen in training: a half each below it, and no weight to it above."""
    forest = forest_of(SYMMETRIC)
    assert forest.base.tolist() == [100 + 2 * ((10 * 1 + 30 * 2) / 40 + (-3 + 1) / 4 + 0.25)]
    X = rows([1.0, "b", 2.0])
    known = np.array([[True, False, False], [False, True, False], [True, True, False]])
    # x0 known: 2; the category known: the mean of 3 and 4; both: 4. The second tree: -1/2.
    expected = [100 + 2 * (first - 0.5 + 0.25) for first in (2.0, 3.5, 4.0)]
    assert [lg.predict_known(forest, X, k[None])[0] for k in known] == pytest.approx(expected, rel=1e-15)


def test_nodes_that_ask_the_same_share_one_set() -> None:
    model = copy.deepcopy(SYMMETRIC)
    tree = model["oblivious_trees"][0]
    tree["splits"] = [is_a(0, "b"), is_a(0, "c"), border(0, 0.5)]
    tree["leaf_values"] = list(map(float, range(8)))
    tree["leaf_weights"] = [1.0] * 8
    forest = forest_of(model)
    assert np.count_nonzero(forest.category_set >= 0) == 6
    assert len(forest.set_start) - 1 == 2
    assert forest.categories == (None, (category_hash("b"), category_hash("c")), None)
    assert forest.categories_hashed
    values = forest.predict(rows([0, "b", 0], [0, "c", 0], [0, "d", 0], [1, "c", 0]))
    assert values.tolist() == [100 + 2 * (leaf - 1 + 0.25) for leaf in (1, 2, 0, 6)]


def test_a_category_that_no_tree_asks_for_is_still_text() -> None:
    model = copy.deepcopy(SYMMETRIC)
    model["oblivious_trees"] = model["oblivious_trees"][1:]
    forest = forest_of(model)
    assert forest.categories == (None, (), None)
    assert forest.predict(rows([0, "whatever", 3.0])).tolist() == [100 + 2 * 1.25]


def test_several_outputs() -> None:
    model = copy.deepcopy(SYMMETRIC)
    model["oblivious_trees"] = [
        {"splits": [border(0, 0.5)], "leaf_values": [1, 2, 3, 4, 5, 6], "leaf_weights": [1, 1]}
    ]
    assert read(model).constant.tolist() == [100.0] * 3  # one bias for all
    model["scale_and_bias"] = [1, [0, 10, 20]]
    assert forest_of(model).predict(rows([1, "a", 0])).tolist() == [[4, 15, 26]]
    nested = {**NESTED, "trees": [{"value": [1, 2], "weight": 1}], "scale_and_bias": [1, 7]}
    assert forest_of(nested).predict(rows([1, "a", 0])).tolist() == [[8, 9]]


def test_borders_are_float32_as_the_library_holds_them() -> None:
    """Shortened to nine digits, a border still means the float32 next to it."""
    model = copy.deepcopy(SYMMETRIC)
    exact = np.float32(0.1)
    for written in (float(exact), 0.1, 0.100000001, 0.100000002):
        model["oblivious_trees"][0]["splits"][0]["border"] = written
        forest = forest_of(model)
        X = rows([float(exact), "a", 0], [float(np.nextafter(exact, np.float32(1))), "a", 0])
        assert forest.predict(X).tolist() == [100 + 2 * 0.25, 100 + 2 * 1.25]


def test_leaves_without_weights() -> None:
    def without(given: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in given.items() if key not in {"leaf_weights", "weight"}}

    for model in (SYMMETRIC, NESTED):
        bare = json.loads(json.dumps(model), object_hook=without)
        assert read(bare).cover is None
        with pytest.raises(lg.UnsupportedModelError, match="Pass rows to count them from"):
            lg.load(json.dumps(bare).encode(), check=False)


# Damage


def changed(model: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    out = copy.deepcopy(model)
    at = out
    for step in path[:-1]:
        at = at[step]
    if value is KeyError:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return out


TREE = ("oblivious_trees", 0)
DAMAGED: list[tuple[dict[str, Any], tuple[Any, ...], Any, str]] = [
    (SYMMETRIC, (*TREE, "leaf_values"), [1.0, 2.0, 3.0], "not as many leaf_values as its splits ask for"),
    (SYMMETRIC, (*TREE, "leaf_values"), [], "not as many leaf_values"),
    (SYMMETRIC, (*TREE, "leaf_values"), [1, 2, 3, 4] * 2, "not as many leaf_values"),
    (SYMMETRIC, (*TREE, "leaf_values"), "1234", "one of the leaf_values is a str; wanted finite numbers"),
    (SYMMETRIC, (*TREE, "leaf_values"), [1, 2, 3, True], "one of the leaf_values is a bool"),
    (SYMMETRIC, (*TREE, "leaf_values"), [1, 2, 3, None], "one of the leaf_values is a NoneType"),
    (SYMMETRIC, (*TREE, "leaf_values"), [1, 2, 3, float("inf")], "one of the leaf_values is inf"),
    (SYMMETRIC, (*TREE, "leaf_values"), [1, 2, 3, float("nan")], "one of the leaf_values is nan"),
    (SYMMETRIC, (*TREE, "leaf_values"), [1, 2, 3, 10**400], "OverflowError"),
    (SYMMETRIC, (*TREE, "leaf_values"), KeyError, "KeyError, 'leaf_values'"),
    (SYMMETRIC, (*TREE, "leaf_weights"), [1.0], "not one of the leaf_weights per leaf"),
    (SYMMETRIC, (*TREE, "leaf_weights", 0), -1.0, "cover"),
    (SYMMETRIC, (*TREE, "splits", 0, "border"), "0.5", "one of the borders is a str"),
    (SYMMETRIC, (*TREE, "splits", 0, "border"), 1e39, "one of the borders is inf"),
    (SYMMETRIC, (*TREE, "splits", 0, "float_feature_index"), 2, "KeyError, 2"),
    (SYMMETRIC, (*TREE, "splits", 0, "float_feature_index"), -1, "KeyError, -1"),
    (SYMMETRIC, (*TREE, "splits", 1, "cat_feature_index"), 7, "KeyError, 7"),
    (SYMMETRIC, (*TREE, "splits", 1, "value"), 0.5, "TypeError"),
    (SYMMETRIC, (*TREE, "splits"), [border(0, 0.1)] * 17, "a tree has 17 splits; CatBoost grows 16 at most"),
    (SYMMETRIC, (*TREE, "splits"), [1, 2], "AttributeError"),
    (SYMMETRIC, TREE, [], "AttributeError"),
    (SYMMETRIC, ("oblivious_trees",), 5, "TypeError"),
    (SYMMETRIC, ("trees",), NESTED["trees"], "both oblivious_trees and trees"),
    (SYMMETRIC, ("scale_and_bias",), [2.0], "ValueError"),
    (SYMMETRIC, ("scale_and_bias",), [1, [1, 2]], "there are 2 biases for 1 outputs"),
    (NESTED, ("trees", 0, "right", "left"), KeyError, "KeyError, 'left'"),
    (NESTED, ("trees", 0, "right", "left"), [1], "KeyError, 'value'|TypeError"),
    (NESTED, ("trees", 0, "left", "value"), [1, 2], "values of different lengths"),
    (NESTED, ("trees", 0, "left", "value"), None, "ValueError"),
    (NESTED, ("trees", 0, "left", "value"), "1", "one of the values is a str"),
    (NESTED, ("trees", 0, "left", "weight"), "1", "one of the weight is a str"),
    (NESTED, ("trees", 0, "left", "weight"), -3, "cover"),
]


@pytest.mark.parametrize(("model", "path", "value", "message"), DAMAGED, ids=lambda given: str(given)[:40])
def test_damage(model: dict[str, Any], path: tuple[Any, ...], value: Any, message: str) -> None:
    with pytest.raises(lg.ModelFormatError, match=message):
        forest_of(changed(model, path, value))


def test_no_trees() -> None:
    for trees in ([], None, KeyError):
        with pytest.raises(lg.UnsupportedModelError, match=r"model\.json has no trees\. Train one"):
            read(changed(SYMMETRIC, ("oblivious_trees",), trees))


def test_splits_that_are_not_followed() -> None:
    ctr = {"split_type": "OnlineCtr", "border": 3.0, "ctr_target_border_idx": 0, "split_index": 3}
    model = changed(SYMMETRIC, (*TREE, "splits", 0), ctr)
    elements = [{"cat_feature_index": 0, "combination_element": "cat_feature_value"}]
    model["features_info"]["ctrs"] = [{"elements": elements}]
    message = r"model\.json splits on target statistics \(CTR\) of the categories in column 1, which"
    with pytest.raises(lg.UnsupportedModelError, match=message):
        read(model)
    model = changed(SYMMETRIC, (*TREE, "splits", 0), {**ctr, "split_type": "EstimatedFeature"})
    with pytest.raises(lg.UnsupportedModelError, match=r"of the type 'EstimatedFeature'.*numeric columns"):
        read(model)


@pytest.mark.parametrize("model", [SYMMETRIC, NESTED], ids=["symmetric", "nested"])
def test_whatever_stands_in_a_field_is_read_or_refused(model: dict[str, Any]) -> None:
    """Every field in turn is missing or holds something else; nothing but our own errors comes out."""
    others = (KeyError, None, -1, 0, 3, 2**40, 1.5, "x", [], {}, [[]], True, float("nan"))
    refused = 0
    for path in paths(model):
        for value in others:
            try:
                forest_of(changed(model, path, value))
            except (lg.ModelFormatError, lg.UnsupportedModelError):
                refused += 1
    assert refused > 200


def paths(at: Any, before: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    steps = at.items() if isinstance(at, dict) else enumerate(at) if isinstance(at, list) else ()
    return [path for step, below in steps for path in ((*before, step), *paths(below, (*before, step)))]
