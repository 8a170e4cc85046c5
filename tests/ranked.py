"""Forests, rows and rankings that curves are drawn of, and what equal curves are."""

import numpy as np

import forests

RNG = np.random.default_rng(21)
NAMES = ("a", "b", "c", "d", "e")
FOREST = forests.forest(RNG, forests.Shape(), feature_names=NAMES)
THREE = forests.forest(
    RNG, forests.Shape(n_outputs=3, n_trees=6), feature_names=NAMES, classes=("x", "y", "z"), link="softmax"
)
TWO = FOREST.replace(classes=("no", "yes"), link="sigmoid")
PLAIN = FOREST.replace(feature_names=None)
X = RNG.normal(size=(12, 5))
ORDER = RNG.random((12, 5)).argsort(axis=1)
ARRAYS = ("insertion", "deletion", "joint", "order")
GROUPS = {"ends": ["a", "e"]}


def assert_same(a, b, rows=slice(None)):
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name)[rows], err_msg=name)
