"""Shapley values equal shap's (path dependent) wherever shap is right; elsewhere, the sum of the members'.

Tolerance: 1e-12 of |constant| + the sum of the trees' largest |leaf|. Both sides compute in float64; shap's
method divides by cover shares at every level of a path and loses digits with depth, here at most 20 levels.
What shap refuses (boosting of several classes or from other models, voting, bagging) is compared with the sum
over its members. Categorical splits, which shap silently reads as numbers, are compared with the definition.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import leafgrad as lg
from leafgrad import encode
from leafgrad.reference import brute, paths
from parity.zoo import MODELS, N_FEATURES, d, fitted, training_rows, unit

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # shap's own imports
    shap = pytest.importorskip("shap")

CLOSE = 1e-12
STARTS = ["boosting from zero", "boosting from a forest", "boosting from float64 trees"]
MULTICLASS = ["boosting classifier, three", "boosting classifier from Dummy"]
OTHER = ("voting", "bagging", *STARTS, *MULTICLASS)
RIGHT = [name for name in MODELS if not name.startswith(OTHER) and "categories" not in name]


def shap_values(model: Any, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """shap's values (n, N, K) and its values of nothing known (K,)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        explainer = shap.TreeExplainer(model, feature_perturbation="tree_path_dependent")
        values = np.asarray(explainer.shap_values(X, check_additivity=False))
    return values.reshape(len(X), X.shape[1], -1), np.ravel(explainer.expected_value)


def our_values(model: Any, X: np.ndarray) -> np.ndarray:
    return lg.explain(model, X, progress=False).values.reshape(len(X), N_FEATURES, -1)


def assert_close(ours: np.ndarray, theirs: np.ndarray, model: Any) -> None:
    assert ours.shape == theirs.shape
    assert np.all(np.abs(ours - theirs) <= CLOSE * unit(lg.load(model)))


@pytest.mark.parametrize("name", RIGHT)
def test_as_shap(name: str) -> None:
    model = fitted(name)
    X = (d.missing if lg.load(model).missing else d.X)[:60]
    theirs, base = shap_values(model, X)
    if "pair" in name:
        # shap pads the first target, of two classes, to three, and makes all probabilities together sum to 1.
        theirs, base = 2 * theirs[..., [0, 1, 3, 4, 5]], 2 * base[[0, 1, 3, 4, 5]]
    assert_close(our_values(model, X), theirs, model)
    assert_close(lg.load(model).base, base, model)


@pytest.mark.parametrize("name", MULTICLASS)
def test_boosting_of_several_classes_is_the_sum_of_its_trees(name: str) -> None:
    model, X = fitted(name), d.X[:30]
    expected = np.zeros((len(X), N_FEATURES, 3))
    for stage in model.estimators_:
        for k, tree in enumerate(stage):
            expected[:, :, k] += model.learning_rate * shap_values(tree, X)[0][:, :, 0]
    assert_close(our_values(model, X), expected, model)


@pytest.mark.parametrize("name", STARTS)
def test_boosting_from_a_model_is_that_model_and_its_trees(name: str) -> None:
    model, X = fitted(name), d.X[:30].astype(np.float32).astype(np.float64)
    expected = np.zeros((len(X), N_FEATURES, 1)) if name.endswith("zero") else shap_values(model.init_, X)[0]
    for tree in model.estimators_[:, 0]:
        expected = expected + model.learning_rate * shap_values(tree, X)[0]
    assert_close(our_values(model, X), expected, model)


@pytest.mark.parametrize("name", ["voting", "voting classifier"])
def test_voting_is_the_weighted_mean_of_its_members(name: str) -> None:
    model, X = fitted(name), d.X[:30]
    members = [our_values(member, X) for member in model.estimators_]
    weights = [w for w, (_, member) in zip(model.weights, model.estimators, strict=False) if member != "drop"]
    assert_close(our_values(model, X), np.average(members, axis=0, weights=weights), model)


@pytest.mark.parametrize(
    "name",
    [
        "bagging",
        "bagging, two targets",
        "bagging, repeated columns",
        "bagging classifier",
        "bagging classifier, lost classes",
    ],
)
def test_bagging_is_the_mean_of_its_members_on_their_columns(name: str) -> None:
    model, X = fitted(name), d.X[:30]
    ours = our_values(model, X)
    game = lg.load(model)
    expected = np.zeros_like(ours)
    for member, columns in zip(model.estimators_, model.estimators_features_, strict=True):
        part = lg.explain(member, X[:, columns], progress=False).values.reshape(len(X), len(columns), -1)
        outputs = range(ours.shape[2]) if game.classes is None else member.classes_
        if len(set(columns)) < len(columns):
            # A column that the member sees twice is one feature here, and two there: one player as a group.
            groups = {f"{c}": [i for i in range(len(columns)) if columns[i] == c] for c in set(columns)}
            twice = {key: group for key, group in groups.items() if len(group) > 1}
            explanation = lg.explain(member, X[:, columns], groups=twice, progress=False)
            part = explanation.values.reshape(len(X), -1, 1)
        for i, column in enumerate(dict.fromkeys(columns.tolist())):
            expected[:, column, list(outputs)] += part[:, i] / len(model.estimators_)
    assert_close(ours, expected, model)


@pytest.mark.parametrize("name", [name for name in MODELS if "categories" in name])
def test_categories_by_the_sum_over_all_sets(name: str) -> None:
    """shap reads categories as numbers: here the definition itself is what we must equal."""
    forest, X = lg.load(fitted(name)), training_rows(name)[:5]
    omega = brute.omega(lg.Shapley(), N_FEATURES)
    rows = encode.matrix(forest, X)
    expected = np.stack([brute.value(brute.f_x(paths.game(forest, row)), omega) for row in rows])
    assert_close(our_values(forest, X), expected, fitted(name))
