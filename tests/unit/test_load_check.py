"""The self-check finds every small lie about a model, and says where it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeRegressor

from leafgrad.errors import ModelMismatchError
from leafgrad.load.check import accepts, compare, verified
from leafgrad.load.sklearn import read
from leafgrad.load.trees import Source, Trees, floor_to_float32, parents

rng = np.random.default_rng(0)
X = rng.random((200, 4))
y = X[:, 0] + X[:, 1] * X[:, 2]
missing = np.where(rng.random(X.shape) < 0.2, np.nan, X)
codes = X.copy()
codes[:, 1] = np.floor(9 * X[:, 1])
hist = {"max_leaf_nodes": 8, "min_samples_leaf": 5, "random_state": 0}

# At most 64 splits each, so that every one is looked at.
MODELS = {
    "tree": DecisionTreeRegressor(max_depth=5, random_state=0).fit(missing, y),
    "forest": RandomForestClassifier(n_estimators=4, max_depth=4, random_state=0).fit(X, y > 1),
    "boosting": GradientBoostingRegressor(n_estimators=5, random_state=0).fit(X, y),
    "boosting, three": GradientBoostingClassifier(n_estimators=3, random_state=0).fit(
        X, np.digitize(y, [0.5, 1])
    ),
    "hist": HistGradientBoostingRegressor(max_iter=5, **hist).fit(missing, y),
    "hist, categories": HistGradientBoostingRegressor(max_iter=5, categorical_features=[1], **hist).fit(
        codes, y
    ),
    "isolation": IsolationForest(n_estimators=4, max_samples=16, random_state=0).fit(X),
}


def lie(trees: Trees, **changes: Any) -> Trees:
    return replace(trees, **changes)


def inner(trees: Trees, numeric: bool = True) -> np.ndarray:
    nodes = np.flatnonzero(trees.left >= 0)
    coded = np.isin(nodes, list(trees.sets))
    return nodes[~coded if numeric else coded]


def thresholds_up(trees: Trees, node: int) -> Trees:
    """One split sends one more number left: the next float32, or float64."""
    threshold = trees.threshold.copy()
    t = threshold[node]
    single = trees.dtype == np.float32
    threshold[node] = (
        np.nextafter(floor_to_float32(t), np.float32(np.inf)) if single else np.nextafter(t, np.inf)
    )
    return lie(trees, threshold=threshold)


def thresholds_down(trees: Trees, node: int) -> Trees:
    threshold = trees.threshold.copy()
    t = threshold[node]
    single = trees.dtype == np.float32
    threshold[node] = (
        np.nextafter(floor_to_float32(t), np.float32(-np.inf)) if single else np.nextafter(t, -np.inf)
    )
    return lie(trees, threshold=threshold)


def other_feature(trees: Trees, node: int) -> Trees:
    feature = trees.feature.copy()
    feature[node] = (feature[node] + 2) % 4  # from column 1, which holds categories, to 3
    return lie(trees, feature=feature)


def children_swapped(trees: Trees, node: int) -> Trees:
    left, right = trees.left.copy(), trees.right.copy()
    left[node], right[node] = right[node], left[node]
    return lie(trees, left=left, right=right)


LIES: dict[str, Callable[[Trees, int], Trees]] = {
    "threshold up": thresholds_up,
    "threshold down": thresholds_down,
    "other feature": other_feature,
    "children swapped": children_swapped,
}


def first_on_path(trees: Trees) -> list[int]:
    """Splits whose feature is not split above them: missing values get there."""
    up = parents(trees.start, trees.left, trees.right)
    found = []
    for node in inner(trees).tolist():
        above, features = int(up[node]), set()
        while above >= 0:
            features.add(int(trees.feature[above]))
            above = int(up[above])
        if int(trees.feature[node]) not in features:
            found.append(node)
    return found


def assert_found(source: Source, trees: Trees, match: str | None = None) -> None:
    forest = replace(source, trees=trees).forest()
    with pytest.raises(ModelMismatchError, match=match):
        verified(forest, source)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("kind", LIES)
def test_a_lie_about_any_split_is_found(name: str, kind: str) -> None:
    source = read(MODELS[name], None)
    nodes = inner(source.trees)
    assert 5 < len(nodes) <= 64
    assert verified(source.forest(), source).checked
    found = 0
    for node in nodes.tolist():
        if np.isinf(source.trees.threshold[node]) and "threshold" in kind:
            found += 1  # a split between missing and other values: no number is near
            continue
        forest = replace(source, trees=LIES[kind](source.trees, node)).forest()
        try:
            verified(forest, source)
        except ModelMismatchError:
            found += 1
    # A split on another feature may send all rows one way, which may be the right one.
    assert found == len(nodes) if kind != "other feature" else found >= 0.85 * len(nodes)


def test_a_lie_about_missing_values() -> None:
    for name in ("tree", "hist"):
        source = read(MODELS[name], None)
        for node in first_on_path(source.trees)[:12]:
            flags = source.trees.missing_left.copy()
            flags[node] = not flags[node]
            assert_found(source, lie(source.trees, missing_left=flags))


def test_a_lie_about_categories() -> None:
    source = read(MODELS["hist, categories"], None)
    assert len(source.trees.sets) > 5
    for node, left in source.trees.sets.items():
        assert_found(
            source, lie(source.trees, sets={**source.trees.sets, node: np.setxor1d(np.arange(9), left)})
        )


def test_a_lie_about_leaves() -> None:
    for name, model in MODELS.items():
        source = read(model, None)
        value = source.trees.value.copy()
        # The leaf of the first row of the first tree, off by 1e-9 of itself.
        row = codes[:1] if "categories" in name else X[:1]
        leaf = int(source.forest().leaves(row)[0, 0])
        value[leaf] *= 1 + 1e-9
        forest = replace(source, trees=lie(source.trees, value=value)).forest()
        with pytest.raises(ModelMismatchError, match=r"on probe row 0, output 0 is .* may differ by"):
            compare(forest, row, raw=source.raw, leaves=source.leaves)


def test_a_lie_about_the_constant_is_found() -> None:
    source = read(MODELS["boosting"], None)
    assert_found(source, lie(source.trees, constant=source.trees.constant + 1e-6), "output 0 is")


def test_the_message_names_row_tree_and_feature() -> None:
    model = DecisionTreeRegressor(max_depth=1).fit(X, np.where(X[:, 2] > 0.5, 1.0, 0.0))
    source = replace(read(model, None), feature_names=("a", "b", "c", "d"))
    forest = replace(source, trees=children_swapped(source.trees, 0)).forest()
    with pytest.raises(ModelMismatchError) as caught:
        compare(forest, np.array([[0.0, 0, 0.25, 0]]), raw=source.raw, leaves=source.leaves)
    message = str(caught.value)
    assert "probe row 0 reaches leaf 2 of tree 0 in the loaded forest, and leaf 1 in the live" in message
    assert f"they part at 'c', whose value is 0.25 and threshold {float(forest.threshold[0])!r}" in message
    assert "check=False" in message
    unnamed = replace(source, trees=children_swapped(source.trees, 0), feature_names=None).forest()
    with pytest.raises(ModelMismatchError, match="they part at column 2"):
        compare(unnamed, np.zeros((1, 4)), raw=source.raw, leaves=source.leaves)


def test_leaves_that_the_forest_does_not_have() -> None:
    source = read(MODELS["tree"], None)
    forest = source.forest()
    with pytest.raises(ModelMismatchError, match=r"leaf 999 .*which the forest does not have"):
        compare(forest, X[:1], raw=source.raw, leaves=lambda rows: np.full((len(rows), 1), 999))
    with pytest.raises(ModelMismatchError, match=r"leaf 0 .*: they part at"):
        compare(forest, X[:1], raw=source.raw, leaves=lambda rows: np.zeros((len(rows), 1)))


def test_leaves_that_the_library_does_not_tell() -> None:
    source = read(MODELS["tree"], None)
    compare(source.forest(), X[:9], raw=source.raw, leaves=lambda rows: np.full((len(rows), 1), -1))


def test_other_numbers_of_trees_or_outputs() -> None:
    source = read(MODELS["tree"], None)
    forest = source.forest()
    with pytest.raises(ModelMismatchError, match="DecisionTreeRegressor has 2 trees, the loaded forest 1"):
        compare(forest, X, raw=source.raw, leaves=lambda rows: np.zeros((len(rows), 2)))
    with pytest.raises(ModelMismatchError, match="DecisionTreeRegressor has 2 outputs, the loaded forest 1"):
        compare(forest, X, raw=lambda rows: np.zeros((len(rows), 2)))


def test_a_live_model_that_refuses_what_the_forest_takes() -> None:
    model = RandomForestRegressor(n_estimators=2, random_state=0).fit(X, y)
    source = replace(read(model, None), infinite=True)
    with pytest.raises(ModelMismatchError, match=r"RandomForestRegressor refuses rows .*infinity"):
        verified(source.forest(), source)


def test_nan_from_either_side_is_a_difference() -> None:
    source = read(MODELS["tree"], None)
    with pytest.raises(ModelMismatchError, match="nan in the live"):
        compare(source.forest(), X, raw=lambda rows: np.full(len(rows), np.nan))


def test_what_a_model_accepts() -> None:
    tree = MODELS["tree"]
    assert accepts(tree.predict, 4, np.nan)
    assert not accepts(tree.predict, 4, np.inf)
