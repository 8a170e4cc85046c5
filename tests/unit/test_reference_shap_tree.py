"""shap's TreeExplainer on a Forest of ours: right for shallow trees, and what it cannot be given."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import forests
from leafgrad import values
from leafgrad.reference import exact, paths
from leafgrad.reference.shap_tree import shap_tree_explainer

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # shap's own imports
    pytest.importorskip("shap")

CLOSE = 1e-12  # it divides by shares of 1/20 and more, at most nine times


@pytest.mark.parametrize(
    "name", ["plain", "one leaf", "bushy repeats", "many outputs", "vector leaves", "unused features"]
)
def test_shapley_values_of_shallow_trees(name: str) -> None:
    rng = np.random.default_rng(0)
    forest = forests.forest(rng, forests.SHAPES[name])
    x = forests.rows(rng, forest, 1)[0]
    expected = exact.value(paths.game(forest, x), values.Shapley()).astype(float)
    found = np.stack([shap_tree_explainer(forest, x, k) for k in range(forest.n_outputs)], axis=1)
    assert (abs(found - expected) <= CLOSE * forests.unit(forest)).all()


@pytest.mark.parametrize("name", ["categories", "float32", "missing"])
def test_what_its_form_of_a_tree_cannot_say_is_refused(name: str) -> None:
    rng = np.random.default_rng(1)
    forest = forests.forest(rng, forests.SHAPES[name])
    x = np.full(forest.n_features, np.nan if name == "missing" else 0.0)
    with pytest.raises(
        ValueError, match=r"numeric splits in float64 and no missing values; give shap the model"
    ):
        shap_tree_explainer(forest, x, 0)
