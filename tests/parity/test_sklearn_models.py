"""The forest is the model: same leaves, same outputs, same refusals, and attributions that add up to it.

Rows lie on, just below and just above thresholds, and are missing, infinite or of unknown categories where
the model takes such. Outputs may differ by 1e-12 of |constant| + the sum of the trees' largest |leaf|: both
add the same leaves, in another order and with the mean taken before or after.
"""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
    VotingRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import leafgrad as lg
from leafgrad.load.probes import probe_rows, spoken
from parity.zoo import MODELS, N_FEATURES, d, few, fitted, hist, live, r, training_rows, unit

EXACT = 1e-12


def near_thresholds(forest: lg.Forest, X: np.ndarray, seed: int = 0) -> np.ndarray:
    """Rows of X with half of their numeric columns moved to a threshold, or next to it."""
    rng = np.random.default_rng(seed)
    out = X.copy()
    numeric = (forest.category_set < 0) & (forest.left >= 0)
    for j in range(forest.n_features):
        own = forest.threshold[numeric & (forest.feature == j)]
        own = own[np.isfinite(own)]
        if len(own):
            t = rng.choice(own, len(X))
            t32 = t.astype(np.float32)
            near = np.array(
                [
                    *(t, np.nextafter(t, np.inf), np.nextafter(t, -np.inf)),
                    *(t32, np.nextafter(t32, np.float32(np.inf)), np.nextafter(t32, np.float32(-np.inf))),
                    (t + np.nextafter(t32, np.float32(np.inf))) / 2,  # where float32 rounding turns
                ],
                dtype=np.float64,
            )
            moved = near[rng.integers(len(near), size=len(X)), np.arange(len(X))]
            chosen = rng.random(len(X)) < 0.5
            out[chosen, j] = moved[chosen]
    return out


def outputs(forest: lg.Forest, X: Any) -> np.ndarray:
    return forest.predict(X).reshape(len(X), -1)


def assert_same(forest: lg.Forest, model: Any, X: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # remarks about feature names
        expected = live(model, X)
    assert outputs(forest, X).shape == expected.shape
    assert np.all(np.abs(outputs(forest, X) - expected) <= EXACT * unit(forest))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.supports("scikit-learn", name)) for name in MODELS]
)
def test_outputs_are_the_models(name: str) -> None:
    model, X = fitted(name), training_rows(name)
    forest = lg.load(model)
    assert forest.checked
    assert_same(forest, model, X)
    assert_same(forest, model, near_thresholds(forest, X))
    # Rows built along paths to splits, other ones than those that `load` has looked at.
    assert_same(forest, model, spoken(forest, probe_rows(forest, seed=1)))


@pytest.mark.parametrize("name", MODELS)
def test_missing_and_infinite_values_as_the_model_takes_them(name: str) -> None:
    model, X = fitted(name), training_rows(name)
    forest = lg.load(model)
    for value, takes in ((np.nan, forest.missing), (np.inf, forest.infinite), (-np.inf, forest.infinite)):
        rows = X[:60].copy()
        rows[np.arange(60), np.resize([0, 2, 3, 5], 60)] = value
        if takes:
            assert_same(forest, model, rows)
        else:
            with pytest.raises(lg.InputError, match="NaN" if np.isnan(value) else "inf"):
                forest.predict(rows)
            with pytest.raises(ValueError, match=r"NaN|infinity"):
                live(model, rows)


@pytest.mark.parametrize("name", MODELS)
def test_shapley_values_add_up_to_the_library_itself(name: str) -> None:
    model, X = fitted(name), training_rows(name)[:40]
    forest = lg.load(model)
    explanation = lg.explain(forest, X, progress=False)
    values = explanation.values.reshape(len(X), N_FEATURES, -1)
    total = values.sum(axis=1) + forest.base
    assert np.all(np.abs(total - live(model, X)) <= EXACT * unit(forest))


@pytest.mark.parametrize("name", MODELS)
def test_a_model_itself_is_explained_as_its_forest(name: str) -> None:
    model, X = fitted(name), training_rows(name)[:3]
    direct = lg.explain(model, X, progress=False)
    assert np.array_equal(direct.values, lg.explain(lg.load(model), X, progress=False).values)


@pytest.mark.parametrize(
    "name", ["tree", "random forest", "random forest classifier", "extra trees classifier"]
)
def test_full_depth_rows_on_thresholds_that_float32_does_not_hold(name: str) -> None:
    """At every split, a training row that gets there, moved onto the float64 threshold."""
    model = fitted(name)
    forest = lg.load(model)
    trees = [estimator.tree_ for estimator in getattr(model, "estimators_", [model])]
    rounded_up = 0
    for t, tree in enumerate(trees):
        passed = tree.decision_path(d.X.astype(np.float32)).tocsc()
        inner = np.flatnonzero(tree.children_left >= 0)
        inner = inner[np.diff(passed.indptr)[inner] > 0]
        first = passed.indices[passed.indptr[inner]]
        rows = d.X[first].copy()
        threshold = tree.threshold[inner]
        rows[np.arange(len(inner)), tree.feature[inner]] = threshold
        assert np.array_equal(forest.leaves(rows)[:, t], tree.apply(rows.astype(np.float32)))
        # Rounding to float32 takes the row over the threshold, where a float64 comparison would not send it.
        right = tree.decision_path(rows.astype(np.float32))[np.arange(len(inner)), tree.children_right[inner]]
        rounded_up += np.asarray(right).sum()
        assert np.all(
            threshold.astype(np.float32)[np.asarray(right).ravel() > 0]
            > threshold[np.asarray(right).ravel() > 0]
        )
    assert rounded_up > 20


def test_rows_too_large_for_float32_are_refused_as_the_model_refuses_them() -> None:
    model = fitted("random forest")
    rows = d.X[:3].copy()
    rows[1, 2] = 1e39
    with np.errstate(over="ignore"), pytest.raises(ValueError, match="too large"):
        model.predict(rows)
    with pytest.raises(lg.InputError, match="beyond float32"):
        lg.load(model).predict(rows)


def test_sparse_rows() -> None:
    """An absent entry is a 0, to scikit-learn and here."""
    X = scipy.sparse.csr_array(np.where(d.X < 0.6, 0, d.X))
    for model in (RandomForestRegressor(**few), GradientBoostingRegressor(**few)):
        forest = lg.load(model.fit(X, d.real))
        assert np.all(np.abs(forest.predict(X) - model.predict(X)) <= EXACT * unit(forest))
        assert np.array_equal(forest.predict(X), forest.predict(X.toarray()))


def test_thresholds_beyond_float32_beside_members_that_compare_in_it() -> None:
    """Histogram boosting may put such thresholds; a tree refuses rows with such values."""
    model = VotingRegressor(
        [("tree", DecisionTreeRegressor(**r)), ("hist", HistGradientBoostingRegressor(**hist))]
    )
    model.fit(d.X, d.real)
    for predictors in model.estimators_[1]._predictors:
        nodes = predictors[0].nodes
        nodes["num_threshold"][nodes["is_leaf"] == 0] = 1e300
    forest = lg.load(model)
    assert not forest.infinite
    assert_same(forest, model, d.X)


# What the forest says of the model


def facts(name: str) -> tuple[Any, ...]:
    forest = lg.load(fitted(name))
    return forest.n_outputs, forest.classes, forest.link


def test_outputs_classes_and_links() -> None:
    three, binary = ("low", "middle", "top"), (0, 1)
    assert facts("tree") == (1, None, "identity")
    assert facts("random forest, two targets") == (2, None, "identity")
    assert facts("tree classifier") == (3, three, "identity")
    assert facts("tree classifier, one class") == (1, ("only",), "identity")
    assert facts("extra tree classifier") == (2, binary, "identity")
    assert facts("random forest classifier, pair") == (5, (binary, (0, 1, 2)), "identity")
    assert facts("boosting, huber") == (1, None, "identity")
    assert facts("boosting classifier") == (1, binary, "sigmoid")
    assert facts("boosting classifier, exponential") == (1, binary, "sigmoid:2")
    assert facts("boosting classifier, three") == (3, three, "softmax")
    assert facts("hist, poisson") == (1, None, "exp")
    assert facts("hist, gamma") == (1, None, "exp")
    assert facts("hist classifier") == (1, binary, "sigmoid")
    assert facts("hist classifier, three") == (3, three, "softmax")
    assert facts("bagging classifier, lost classes") == (3, three, "identity")


@pytest.mark.parametrize(
    "name", [name for name in MODELS if "boosting classifier" in name or "hist classifier" in name]
)
def test_the_link_leads_to_the_models_probability(name: str) -> None:
    model, X = fitted(name), training_rows(name)
    forest = lg.load(model)
    margin, probability = outputs(forest, X), model.predict_proba(X)
    kind, _, factor = forest.link.partition(":")
    if kind == "sigmoid":
        own = 1 / (1 + np.exp(-float(factor or 1) * margin[:, 0]))
        assert own == pytest.approx(probability[:, 1], rel=1e-12)
    else:
        own = np.exp(margin - margin.max(axis=1, keepdims=True))
        assert own / own.sum(axis=1, keepdims=True) == pytest.approx(probability, rel=1e-12)


def test_isolation_forest_is_longer_for_more_normal_rows() -> None:
    model = fitted("isolation forest")
    length, score = lg.load(model).predict(d.X), model.score_samples(d.X)
    assert np.array_equal(np.argsort(length, kind="stable"), np.argsort(score, kind="stable"))
    assert lg.load(model).output_names == ("path length",)


def test_names_come_from_the_frame_that_was_fitted() -> None:
    frame = pd.DataFrame(d.X, columns=list("abcdef"))
    for model in (
        RandomForestRegressor(**few),
        GradientBoostingRegressor(**few),
        HistGradientBoostingRegressor(**hist),
    ):
        forest = lg.load(model.fit(frame, d.real))
        assert forest.feature_names == tuple("abcdef")
        assert_same(forest, model, frame)
    assert lg.load(RandomForestRegressor(**few).fit(d.X, d.real)).feature_names is None


def test_what_the_forest_says_survives_the_model() -> None:
    """Nothing of the live model is kept: the forest can be pickled and is the same."""
    forest = lg.load(fitted("hist classifier, categories"))
    again = pickle.loads(pickle.dumps(forest))
    assert np.array_equal(forest.predict(d.codes), again.predict(d.codes))


# Missing values and categories


def test_missing_values_go_where_training_sent_them() -> None:
    """A tree fitted with NaN and one without: both take NaN, by the flags they stored."""
    for X in (d.X, d.missing):
        for model in (DecisionTreeRegressor(max_depth=6, **r), RandomForestRegressor(**few)):
            forest = lg.load(model.fit(X, d.real))
            try:
                model.predict(d.missing)
            except ValueError:
                assert not forest.missing
            else:
                assert forest.missing
                assert_same(forest, model, d.missing)


FRAME = pd.DataFrame(
    {
        "size": d.X[:, 0],
        "city": pd.Categorical(d.words[:, 1]),
        "age": d.missing[:, 2],
        "grade": pd.Categorical(d.codes[:, 4]),
    }
)
CATEGORICAL = {
    "mask": [False, True, False, True],
    "positions": [3, 1],
    "names": ["city", "grade"],
    "dtype": "from_dtype",
}


@pytest.mark.parametrize("form", CATEGORICAL)
@pytest.mark.parametrize("target", ["real", "three"])
def test_categories_in_every_form(form: str, target: str) -> None:
    kind = HistGradientBoostingRegressor if target == "real" else HistGradientBoostingClassifier
    model = kind(categorical_features=CATEGORICAL[form], **hist).fit(FRAME, getattr(d, target))
    forest = lg.load(model)
    assert forest.feature_names == ("size", "city", "age", "grade")
    assert forest.categories[0] is None
    assert forest.categories[2] is None
    assert forest.categories[1] == tuple(sorted(set(d.words[:, 1])))
    assert np.count_nonzero(forest.category_set >= 0) > 0
    assert_same(forest, model, FRAME)
    strange = FRAME.iloc[:90].copy()
    strange["city"] = pd.Categorical(["nowhere", None, "city 3"] * 30)
    strange["grade"] = pd.Categorical([99.0, np.nan, -2.0] * 30)
    assert_same(forest, model, strange)


def test_a_column_of_categories_that_held_nothing_in_training() -> None:
    frame = FRAME[["size"]].assign(city=pd.Categorical([None] * len(FRAME), categories=["a", "b"]))
    model = HistGradientBoostingRegressor(categorical_features="from_dtype", **hist).fit(frame, d.real)
    forest = lg.load(model)
    assert forest.categories == (None, ())
    assert_same(forest, model, frame)


def test_bagging_members_that_know_different_categories() -> None:
    model = fitted("bagging of categories")
    known = [
        tuple(map(len, member.estimators_[0]._preprocessor.named_transformers_["encoder"].categories_))
        for member in model.estimators_
    ]
    assert len(set(known)) > 1
    forest = lg.load(model)
    every = d.codes.copy()
    every[:, 1] = np.resize([*np.unique(d.codes[:, 1]), 1e6], len(every))  # all that anyone knows, and none
    assert_same(forest, model, every)


# Covers


def test_covers_are_weighted_counts_unless_asked_otherwise() -> None:
    model = DecisionTreeClassifier(max_depth=4, **r).fit(d.X, d.three, sample_weight=d.weight)
    tree = model.tree_
    inner = np.flatnonzero(tree.children_left >= 0)
    for cover, counts in ((None, tree.weighted_n_node_samples), ("counts", tree.n_node_samples)):
        share = lg.load(model, cover=cover).share
        for child in (tree.children_left, tree.children_right):
            assert share[child[inner]] == pytest.approx(counts[child[inner]] / counts[inner], rel=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_covers_counted_from_the_training_rows_are_those_of_the_training(name: str) -> None:
    model = fitted(name)
    X = d.missing if "missing" in name else training_rows(name)
    forest = lg.load(model, data=X)
    assert forest.checked
    assert_same(forest, model, X)
    plain = ("tree", "tree, two targets", "extra trees classifier", "boosting from zero")
    if name in plain:  # no weights, no bootstrap: the same counts
        assert np.array_equal(forest.share, lg.load(model, cover="counts").share)


# What is refused is in tests/unit/test_load_refusals.py.
