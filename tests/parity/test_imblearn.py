"""imbalanced-learn's forests and baggings: explained as they predict, with the covers of the rows they kept.

Outputs may differ by 1e-12 of the sum of the trees' largest |leaf|, as scikit-learn's.
"""

from __future__ import annotations

import functools
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from imblearn.ensemble import BalancedBaggingClassifier, BalancedRandomForestClassifier
from imblearn.over_sampling import RandomOverSampler
from imblearn.pipeline import make_pipeline
from imblearn.under_sampling import RandomUnderSampler
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.tree import DecisionTreeClassifier

import leafgrad as lg
from leafgrad.load.probes import probe_rows
from parity.zoo import d, few, unit

RARE = (d.real > np.quantile(d.real, 0.9)).astype(int)
THREE = np.array(["common", "rare", "rarest"])[np.digitize(d.real, np.quantile(d.real, [0.7, 0.93]))]
drawn = {"sampling_strategy": "all", "replacement": True, "bootstrap": False}
tree = DecisionTreeClassifier(max_depth=4, random_state=0)

MODELS: dict[str, tuple[Any, Any]] = {
    "balanced forest": (BalancedRandomForestClassifier(**few, **drawn), RARE),
    "balanced forest, bootstrap": (
        BalancedRandomForestClassifier(**few, **{**drawn, "bootstrap": True}, class_weight="balanced"),
        RARE,
    ),
    "balanced forest, three classes": (BalancedRandomForestClassifier(**few, **drawn), THREE),
    "balanced bagging": (BalancedBaggingClassifier(n_estimators=5, random_state=0), RARE),
    "balanced bagging, subsets of columns": (
        BalancedBaggingClassifier(tree, n_estimators=5, max_features=3, random_state=0),
        THREE,
    ),
    "balanced bagging of forests": (
        BalancedBaggingClassifier(RandomForestClassifier(**few), n_estimators=3, random_state=0),
        RARE,
    ),
    "balanced bagging, oversampled": (
        BalancedBaggingClassifier(tree, n_estimators=3, sampler=RandomOverSampler(), random_state=0),
        RARE,
    ),
    "voting over a sampler's pipeline": (
        VotingClassifier([("drawn", make_pipeline(RandomUnderSampler(random_state=0), tree))], voting="soft"),
        THREE,
    ),
}


@functools.cache
def fitted(name: str) -> Any:
    model, y = MODELS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(d.X, y)


def assert_same(forest: lg.Forest, model: Any, X: Any) -> None:
    assert np.all(np.abs(forest.predict(X) - model.predict_proba(X)) <= 1e-12 * unit(forest))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.supports("imbalanced-learn", name)) for name in MODELS]
)
def test_outputs_are_the_models(name: str) -> None:
    model = fitted(name)
    forest = lg.load(model)
    assert forest.checked
    assert forest.classes == tuple(model.classes_.tolist())
    assert forest.link == "identity"
    assert_same(forest, model, d.X)
    for seed in (1, 2):
        assert_same(forest, model, probe_rows(forest, seed=seed))


@pytest.mark.parametrize("name", MODELS)
def test_shapley_values_add_up_to_the_library_itself(name: str) -> None:
    model, X = fitted(name), d.X[:40]
    forest = lg.load(model)
    total = lg.explain(forest, X, progress=False).values.sum(axis=1) + forest.base
    assert np.all(np.abs(total - model.predict_proba(X)) <= 1e-12 * unit(forest))


@pytest.mark.parametrize("name", MODELS)
def test_saved_and_reloaded_the_bits_are_the_same(name: str) -> None:
    again = pickle.loads(pickle.dumps(fitted(name)))
    a, b = (lg.explain(model, d.X[:10], progress=False).values for model in (fitted(name), again))
    assert np.array_equal(a, b)


def test_covers_are_the_counts_of_the_rows_that_a_tree_was_given() -> None:
    forest = lg.load(fitted("balanced forest"), cover="counts")
    for t, member in enumerate(fitted("balanced forest").estimators_):
        own = member.tree_
        nodes = slice(forest.tree_start[t], forest.tree_start[t + 1])
        inner = np.flatnonzero(own.children_left >= 0)
        expected = own.n_node_samples[own.children_left[inner]] / own.n_node_samples[inner]
        assert forest.share[nodes][own.children_left[inner]] == pytest.approx(expected, rel=1e-12)


def test_where_it_came_from() -> None:
    assert lg.load(fitted("balanced forest")).library == "imbalanced-learn"
    assert lg.load(fitted("balanced bagging")).model_name == "BalancedBaggingClassifier"
    assert lg.load(fitted("voting over a sampler's pipeline")).library == "scikit-learn"
