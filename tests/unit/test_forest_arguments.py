"""What does not fit in `Forest.from_arrays` is refused by name, never cut, rounded or left unused."""

import math
import re

import numpy as np
import pytest

import leafgrad as lg
from leafgrad.errors import ModelFormatError

# x0 <= 0.5 ? 1 : (x1 <= 0.25 ? 2 : 3)
TREE = {
    "tree_start": [0, 5],
    "left": [1, -1, 3, -1, -1],
    "right": [2, -1, 4, -1, -1],
    "feature": [0, -1, 1, -1, -1],
    "threshold": [0.5, 0, 0.25, 0, 0],
    "cover": [8, 1, 7, 2, 5],
    "value": [0, 1.0, 0, 2.0, 3.0],
}
TWO = {"value": np.zeros((5, 2))}
PAIRS = (("a", "b"), ("c",))


def build(**changes):
    return lg.Forest.from_arrays(**{**TREE, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"left": ["a"] * 5}, "left does not convert to int32"),
        ({"left": [1.5, -1, 3, -1, -1]}, "left does not convert to int32: it holds other numbers"),
        ({"left": [[1, -1, -1, -1, -1]]}, "left has 2 dimensions; wanted one entry a node (or tree)"),
        ({"feature": [3e9, -1, 1, -1, -1]}, "feature does not convert to int32"),
        ({"tree_output": [0.5]}, "tree_output does not convert to int32: it holds other numbers"),
        ({"missing_left": [True, False]}, "missing_left has 2 entries for 5 nodes"),
        ({"value": np.zeros((5, 2, 1))}, "value has 3 dimensions; wanted (nodes,) or (nodes, outputs)"),
        ({"value": ["a"] * 5}, "value does not convert to float64"),
        ({"value": [0, 9e307, 0, -9e307, 3]}, "tree 0: the range of its leaves overflows float64"),
        ({"constant": math.nan}, "constant is nan; wanted finite numbers, one, or one for each of 1 outputs"),
        ({"constant": [1, 2]}, "constant is [1, 2]; wanted finite numbers, one, or"),
        ({"constant": "x"}, "constant is 'x'; wanted finite numbers"),
        ({"categories_left": {9: [1]}}, "categories_left: node 9 is no split of the 5 nodes"),
        ({"categories_left": {1: [1]}}, "categories_left: node 1 is no split"),
        ({"categories_left": {"a": [1]}}, "categories_left: node 'a' is no split"),
        ({"categories_left": {0: [-1]}}, "categories_left: node 0 has a code that is out of range"),
        ({"categories_left": {0: [3.5]}}, "categories_left: node 0 has a code that is out of range"),
        ({"categories_left": {0: [10**12]}}, "out of range; wanted whole numbers from 0 to 2147483647"),
        ({"categories": [None] * 3}, "there are 3 categories for 2 features"),
        ({"feature_names": ["a"]}, "there are 1 feature_names for 2 features"),
        ({"output_names": ["a", "b"]}, "there are 2 output_names for 1 outputs"),
        ({"classes": ["a", "b", "c"]}, "there are 3 classes for 1 outputs; wanted one (or two, whose one"),
        ({**TWO, "classes": ["a"]}, "there are 1 classes for 2 outputs; wanted one"),
        ({**TWO, "classes": PAIRS}, "there are 3 classes of all targets for 2 outputs"),
    ],
)
def test_what_does_not_fit(changes, message):
    with pytest.raises(ModelFormatError, match=re.escape(message)):
        build(**changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"left": [1.0, -1.0, 3.0, -1.0, -1.0]},
        {"categories_left": {np.int64(0): iter([1, 2])}},
        {"categories_left": {0: []}},
        {"classes": ["only"]},
        {"classes": ["no", "yes"]},
        {**TWO, "classes": ["no", "yes"], "constant": 1.0},
        {**TWO, "classes": (("a",), ("b",)), "constant": [1.0, 2.0]},
    ],
)
def test_what_fits(changes):
    assert build(**changes).n_leaves == 3


def test_categories_of_any_make_are_the_same():
    for codes in ([1, 40], (1, 40), {1, 40}, np.array([40, 1]), (code for code in (1, 40))):
        forest = build(categories_left={0: codes})
        assert forest.predict([[1.0, 0], [40.0, 0], [2.0, 0]]).tolist() == [1, 1, 2]


def test_the_users_arrays_are_copied():
    values = np.array(TREE["value"])
    forest = build(value=values)
    values[:] = 9.0
    assert forest.predict([[0.0, 0.0]]).tolist() == [1.0]
