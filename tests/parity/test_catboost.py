"""The forest is the CatBoost model: same leaves, outputs and ShapValues, from the object and from its files.

Rows lie on, just below and just above borders, and are missing, infinite, far from the training's, or of
categories never seen. Outputs may differ by 1e-12 of |constant| + the sum of the trees' largest |leaf|: both
add the same leaves in float64, in another order. ShapValues may differ by 1e-11 of it: the library divides
them out of path weights again, which costs digits on the library's side.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import catboost
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from catboost import CatBoost, CatBoostClassifier, CatBoostRegressor

import leafgrad as lg
from leafgrad.load.probes import probe_rows, spoken
from parity.catboost_zoo import (
    FRAME,
    MODELS,
    coded,
    contributions,
    d,
    few,
    fitted,
    live,
    rows_of,
    strange_rows,
)
from parity.zoo import unit

EXACT, SHAP = 1e-12, 1e-11
EVERY = [pytest.param(name, marks=pytest.mark.supports("CatBoost", name)) for name in MODELS]


def outputs(forest: lg.Forest, X: Any) -> np.ndarray:
    return forest.predict(X).reshape(len(X), -1)


def assert_same(name: str, forest: lg.Forest, X: Any) -> None:
    expected = live(name, X)
    assert outputs(forest, X).shape == expected.shape
    assert np.all(np.abs(outputs(forest, X) - expected) <= EXACT * unit(forest))


@pytest.mark.parametrize("name", EVERY)
def test_outputs_are_the_models(name: str) -> None:
    forest = lg.load(fitted(name))
    assert forest.checked
    assert_same(name, forest, rows_of(name))
    assert_same(name, forest, strange_rows(name))
    # Rows built along paths to splits, other ones than those that `load` has looked at.
    for seed in (1, 2, 3):
        assert_same(name, forest, spoken(forest, probe_rows(forest, seed=seed)))


@pytest.mark.parametrize("name", EVERY)
def test_shapley_values_are_the_librarys_and_add_up_to_its_output(name: str) -> None:
    forest = lg.load(fitted(name))
    for X in (rows_of(name), strange_rows(name), spoken(forest, probe_rows(forest, seed=4))):
        values = lg.explain(forest, X, progress=False).values.reshape(len(X), 6, -1)
        total = values.sum(axis=1) + forest.base
        assert np.all(np.abs(total - live(name, X)) <= EXACT * unit(forest))
        if name == "monotonic":
            continue  # see below
        theirs = contributions(name, X)
        k = theirs.shape[2]
        assert k == (1 if name == "uncertainty" else forest.n_outputs)
        assert np.all(np.abs(values[:, :, :k] - theirs[:, :-1]) <= SHAP * unit(forest)[:k])
        assert np.all(np.abs(forest.base[:k] - theirs[:, -1]) <= SHAP * unit(forest)[:k])


def test_where_the_library_takes_empty_leaves_for_zero(tmp_path: Path) -> None:
    """With monotone constraints, a leaf that no training row reached may have a value.

    The library passes over such leaves, as if they held 0, which elsewhere they do; and it adds the rows that
    it is asked about to the leaf weights, so that its answer for a row depends on the others (the training's
    own change no share). With the values gone, ours are its numbers; with them, ours are the model's.
    """
    forest = lg.load(fitted("monotonic"))
    path = tmp_path / "model.json"
    fitted("monotonic").save_model(str(path), format="json")
    emptied = json.loads(path.read_text())
    for tree in emptied["oblivious_trees"]:
        pairs = zip(tree["leaf_values"], tree["leaf_weights"], strict=True)
        tree["leaf_values"] = [value if weight else 0.0 for value, weight in pairs]
    theirs = contributions("monotonic", d.X)[:, :-1, 0]
    ours = lg.explain(json.dumps(emptied).encode(), d.X, progress=False)
    assert np.all(np.abs(ours.values - theirs) <= SHAP * unit(forest))
    assert np.max(np.abs(lg.explain(forest, d.X, progress=False).values - theirs)) > 1e-3


@pytest.mark.parametrize("name", EVERY)
def test_files_give_the_same_bits(name: str, tmp_path: Path) -> None:
    forest, X = lg.load(fitted(name)), strange_rows(name, 40)
    explained = lg.explain(forest, X, progress=False)
    for form in ("json", "cbm"):
        path = tmp_path / f"model.{form}"
        fitted(name).save_model(str(path), format=form)
        again = lg.load(path)
        assert again.checked
        assert (again.link, again.classes, again.feature_names, again.output_names, again.library) == (
            *(forest.link, forest.classes, forest.feature_names, forest.output_names),
            "CatBoost",
        )
        assert again.model_name == "CatBoost"
        assert np.array_equal(lg.explain(again, X, progress=False).values, explained.values)
        assert np.array_equal(again.base, forest.base)
        assert np.array_equal(lg.load(path.read_bytes()).predict(X), forest.predict(X))


@pytest.mark.parametrize("name", EVERY)
def test_leaf_by_leaf(name: str) -> None:
    """The library's number of a leaf and our node are the same leaf, whatever the order of the numbers."""
    forest = lg.load(fitted(name))
    X = spoken(forest, probe_rows(forest, seed=5))
    ours, theirs = forest.leaves(X), np.asarray(fitted(name).calc_leaf_indexes(X), dtype=np.int64)
    assert ours.shape == theirs.shape
    met = 0
    for t in range(forest.n_trees):
        pairs = np.unique(np.column_stack([ours[:, t], theirs[:, t]]), axis=0)
        assert len(np.unique(pairs[:, 0])) == len(np.unique(pairs[:, 1])) == len(pairs)
        met += len(pairs)
        if "loss" not in name and "depthwise" not in name:
            nodes = forest.tree_start[t + 1] - forest.tree_start[t]
            assert np.array_equal(ours[:, t], theirs[:, t] + nodes // 2)  # the heap's last level
    assert met > forest.n_leaves / 3  # many are behind contradictions, and no row gets there


# The game


@pytest.mark.parametrize("grow", ["symmetric", "one-hot", "three classes"])
def test_the_last_split_of_a_symmetric_tree_is_on_top(grow: str, tmp_path: Path) -> None:
    """With the first one on top, predictions are the same and Shapley values are not the library's."""
    model, X = fitted(grow), strange_rows(grow, 50)
    path = tmp_path / "model.json"
    model.save_model(str(path), format="json")
    written = json.loads(path.read_text())
    for tree in written["oblivious_trees"]:
        depth = len(tree["splits"])
        turned = [int(f"{k:0{depth}b}"[::-1], 2) for k in range(2**depth)]
        k = len(tree["leaf_values"]) >> depth
        tree["splits"] = tree["splits"][::-1]
        tree["leaf_values"] = np.reshape(tree["leaf_values"], (-1, k))[turned].ravel().tolist()
        tree["leaf_weights"] = np.array(tree["leaf_weights"])[turned].tolist()
    forest = lg.load(json.dumps(written).encode(), check=False)
    assert_same(grow, forest, X)
    values = lg.explain(forest, X, progress=False).values.reshape(50, 6, -1)
    assert np.max(np.abs(values - contributions(grow, X)[:, :-1])) > 1e-3


def test_covers_are_the_leaf_weights() -> None:
    """Without weights of its own, a row weighs one: counting the training rows gives the same shares."""
    for name in ("symmetric", "lossguide", "one-hot"):
        forest = lg.load(fitted(name))
        assert np.array_equal(lg.load(fitted(name), data=rows_of(name)).share, forest.share)
    weighted = lg.load(fitted("sample weights"))
    assert not np.allclose(lg.load(fitted("sample weights"), data=d.X).share, weighted.share)


@pytest.mark.supports("CatBoost", "leaves without weights, covers from data")
@pytest.mark.parametrize("name", ["symmetric", "lossguide"])
def test_a_file_without_weights_needs_rows(name: str, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    fitted(name).save_model(str(path), format="json")

    def bare(node: Any) -> Any:
        if isinstance(node, dict):
            return {key: bare(own) for key, own in node.items() if key not in ("leaf_weights", "weight")}
        return [bare(own) for own in node] if isinstance(node, list) else node

    content = json.dumps(bare(json.loads(path.read_text()))).encode()
    with pytest.raises(lg.UnsupportedModelError, match=r"does not tell how many rows went each way.*data=X"):
        lg.load(content)
    if name == "symmetric":  # the library itself reads only nested trees with weights
        forest = lg.load(content, data=d.X)
        assert forest.checked
    else:
        forest = lg.load(content, data=d.X, check=False)
    assert np.array_equal(forest.share, lg.load(fitted(name)).share)


# Rows


@pytest.mark.supports("CatBoost", "integers, rounded once")
def test_integers_are_rounded_to_float32_once() -> None:
    rng = np.random.default_rng(0)
    I = rng.integers(-5, 5, (300, 2))  # noqa: E741
    I[:, 0] = 2**60 + 2**36 * rng.integers(-8, 8, 300)
    model = CatBoostRegressor(**few).fit(I, (I[:, 0] > 2**60) + 0.1 * I[:, 1])
    forest = lg.load(model)
    T = I[:64].copy()
    T[:, 0] = 2**60 + 2**36 * np.arange(-32, 32) + rng.integers(-1, 2, 64)  # around ties of the rounding
    for X in (T, T.astype(object), pd.DataFrame(T), T.astype(np.float64)):
        assert np.all(np.abs(forest.predict(X) - model.predict(X)) <= EXACT * unit(forest))


@pytest.mark.supports("CatBoost", "sparse rows, an absent entry is 0")
def test_sparse_rows() -> None:
    X = scipy.sparse.csr_matrix(np.where(d.X < 0.6, 0, d.X))
    model = CatBoostRegressor(**few).fit(X, d.real)
    forest = lg.load(model)
    assert np.all(np.abs(forest.predict(X) - model.predict(X)) <= EXACT * unit(forest))
    assert np.array_equal(forest.predict(X), forest.predict(X.toarray()))


KINDS: dict[str, Any] = {
    "text": pd.Series(["1", "2", "7", "x"], dtype=object),
    "python integers": pd.Series([1, 2, 7, -1], dtype=object),
    "integers": pd.Series([1, 2, 7, -1]),
    "small integers": pd.Series([1, 2, 7, 0], dtype="uint8"),
    "nullable integers": pd.Series([1, 2, 7, 0], dtype="Int64"),
    "truth values": pd.Series([True, False, True, False]),
    "numpy's values": pd.Series([np.int32(1), np.str_("2"), np.True_, b"7"], dtype=object),
    "pandas categories": pd.Series(["1", "2", "7", "x"], dtype="category"),
    "pandas categories of integers": pd.Series([1, 2, 7, 9], dtype="category"),
    "pandas strings": pd.Series(["1", "2", "7", "x"], dtype="string"),
}


def one_column(values: Any) -> pd.DataFrame:
    return pd.DataFrame({"a": np.full(len(values), 0.5), "b": values})


@pytest.fixture(scope="module")
def coded_by_digits() -> Any:
    """A model to which each of 0, 1, 2 and 7 is something else; all others are as each other."""
    rng = np.random.default_rng(0)
    column = rng.choice(["0", "1", "2", "7", "other"], 400)
    target = pd.Series(column).map({"0": 0.0, "1": 1.0, "2": 4.0, "7": 9.0, "other": 20.0}).to_numpy()
    options = {**few, "cat_features": ["b"], "one_hot_max_size": 50}
    frame = one_column(column).assign(a=rng.random(400))
    return CatBoostRegressor(**options).fit(frame, target)


@pytest.mark.supports("CatBoost", "categories of every make")
@pytest.mark.parametrize("kind", KINDS)
def test_categories_of_every_make(kind: str, coded_by_digits: Any) -> None:
    forest, X = lg.load(coded_by_digits), one_column(KINDS[kind])
    expected = coded_by_digits.predict(X)
    assert len(np.unique(expected)) > 1
    assert np.all(np.abs(forest.predict(X) - expected) <= EXACT * unit(forest))


@pytest.mark.parametrize("value", [1.0, np.nan, None, pd.NA, 2.5, np.float32(1)])
def test_what_the_library_refuses_in_a_column_of_categories(value: Any, coded_by_digits: Any) -> None:
    X = one_column(pd.Series(["1", value], dtype=object))
    with pytest.raises((catboost.CatBoostError, TypeError)):
        coded_by_digits.predict(X)
    with pytest.raises(
        lg.InputError, match=r"in row 1, column 'b', a column of categories.*text or integers"
    ):
        lg.load(coded_by_digits).predict(X)


def test_a_float_array_has_no_categories(coded_by_digits: Any) -> None:
    X = np.array([[0.5, 1.0]])
    with pytest.raises(catboost.CatBoostError, match="no categorical features"):
        coded_by_digits.predict(X)
    with pytest.raises(lg.InputError, match=r"X has 1\.0 in row 0, column 1, a column of categories"):
        lg.load(coded_by_digits).predict(X)


def test_long_and_foreign_texts_as_categories() -> None:
    """Hashes go by the length of the text, in bytes: all lengths, in and out of ASCII."""
    rng = np.random.default_rng(0)
    letters = list("abcäß漢😀 ")
    texts = ["".join(rng.choice(letters, n)) for n in range(100)]
    target = np.arange(100) % 7
    options = {**few, "cat_features": ["b"], "one_hot_max_size": 200, "iterations": 60, "depth": 3}
    model = CatBoostRegressor(**options).fit(one_column(texts * 3), np.tile(target, 3))
    forest = lg.load(model)
    assert len({len(codes) for codes in forest.categories if codes}) == 1
    expected = model.predict(one_column(texts))
    assert len(np.unique(expected)) > 20
    assert np.all(np.abs(forest.predict(one_column(texts)) - expected) <= EXACT * unit(forest))


def test_a_column_of_categories_that_no_tree_splits_on() -> None:
    frame = pd.DataFrame({"a": d.X[:, 0], "b": "one and the same"})
    model = CatBoostRegressor(**few, cat_features=["b"], one_hot_max_size=255).fit(frame, d.real)
    forest = lg.load(model)
    assert forest.checked
    assert forest.categories == (None, ())
    assert np.all(np.abs(forest.predict(frame) - model.predict(frame)) <= EXACT * unit(forest))


# What the forest says of the model


def facts(name: str) -> tuple[Any, ...]:
    forest = lg.load(fitted(name))
    return forest.n_outputs, forest.classes, forest.output_names, forest.link


def test_outputs_classes_and_links() -> None:
    three = ("low", "middle", "top")
    assert facts("symmetric") == (1, None, None, "identity")
    assert facts("classifier") == (1, (0, 1), None, "sigmoid")
    assert facts("classifier, focal") == (1, (0, 1), None, "sigmoid")
    assert facts("classifier, cross-entropy") == (1, (0, 1), None, "sigmoid")
    assert facts("three classes") == (3, three, None, "softmax")
    assert facts("lossguide, three classes") == (3, three, None, "softmax")
    assert facts("one against all") == (3, three, None, "sigmoid")
    assert facts("a class never seen") == (3, ("low", "top", "middle"), None, "softmax")
    assert facts("several labels") == (2, None, (0, 1), "sigmoid")
    assert facts("two targets") == (2, None, None, "identity")
    assert facts("poisson") == (1, None, None, "exp")
    assert facts("tweedie") == (1, None, None, "exp")
    assert facts("uncertainty") == (
        *(2, None, ("mean", "logarithm of the standard deviation")),
        "RMSEWithUncertainty",
    )
    assert facts("ranker") == (1, None, None, "identity")
    assert facts("sum of models") == (1, None, None, "unknown")


@pytest.mark.parametrize(
    "name",
    [
        *("classifier", "classifier, focal", "classifier, cross-entropy", "three classes"),
        *("one against all", "several labels", "several labels, cross-entropy"),
    ],
)
def test_the_link_leads_to_the_librarys_probability(name: str) -> None:
    forest, X = lg.load(fitted(name)), strange_rows(name)
    margin, expected = outputs(forest, X), fitted(name).predict_proba(X)
    if forest.link == "softmax":
        own = np.exp(margin - margin.max(axis=1, keepdims=True))
        own /= own.sum(axis=1, keepdims=True)
    else:
        own = 1 / (1 + np.exp(-margin))
        expected = expected[:, 1:] if margin.shape[1] == 1 else expected
    assert own == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("name", ["poisson", "tweedie", "symmetric", "quantiles", "survival", "two targets"])
def test_the_link_leads_to_the_librarys_prediction(name: str) -> None:
    forest, X = lg.load(fitted(name)), strange_rows(name)
    raw = outputs(forest, X)
    own = np.exp(raw) if forest.link == "exp" else raw
    assert own == pytest.approx(fitted(name).predict(X).reshape(len(X), -1), rel=1e-10)


def test_outputs_of_uncertainty_are_what_they_are_called() -> None:
    name = "uncertainty"
    raw = outputs(lg.load(fitted(name)), d.X)
    predicted = fitted(name).predict(d.X)  # mean and variance
    assert raw[:, 0] == pytest.approx(predicted[:, 0], rel=1e-12)
    assert np.exp(2 * raw[:, 1]) == pytest.approx(predicted[:, 1], rel=1e-10)
    with pytest.raises(lg.UnsupportedModelError, match="'RMSEWithUncertainty', which is not known"):
        lg.curves(fitted(name), d.X[:2], np.tile(np.arange(6), (2, 1)), link="model")


LABELS = {
    "integers": np.array([3, 1, 2]),
    "numbers": np.array([0.5, 1.0, 2.0]),
    "text": np.array(["c", "a", "b"]),
    "truth values": np.array([False, True]),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_are_those_of_the_model(kind: str) -> None:
    model = CatBoostClassifier(**few).fit(d.X, np.resize(LABELS[kind], len(d.X)))
    forest = lg.load(model)
    assert forest.classes == tuple(model.classes_.tolist())
    assert list(map(type, forest.classes)) == list(map(type, model.classes_.tolist()))
    expected = model.predict(d.X[:20], prediction_type="RawFormulaVal").reshape(20, -1)[:, -1]
    last = lg.explain(model, d.X[:20], output=forest.classes[-1], progress=False)
    assert last.values.sum(axis=1) + last.base_values == pytest.approx(expected, rel=1e-10)


def test_names_come_along() -> None:
    assert lg.load(fitted("one-hot")).feature_names == tuple("abcdef")
    assert lg.load(fitted("symmetric")).feature_names is None
    with pytest.raises(lg.InputError, match="another order"):
        lg.load(fitted("one-hot")).predict(FRAME[list("fedcba")])


@pytest.mark.parametrize("name", ["shrunk", "best iteration"])
def test_all_trees_that_are_left_and_no_others(name: str) -> None:
    model = fitted(name)
    assert lg.load(model).n_trees == model.tree_count_ < 12


def test_a_class_that_predicts_in_its_own_way_is_found_out() -> None:
    class Doubled(CatBoostRegressor):
        def predict(self, data: Any, **options: Any) -> Any:
            return 2 * super().predict(data, **options)

    model = Doubled(**few).fit(d.X, d.real)
    with pytest.raises(lg.ModelMismatchError, match="in the live Doubled"):
        lg.load(model)


def test_a_file_that_was_changed_is_explained_as_it_is_now(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    fitted("symmetric").save_model(str(path), format="json")
    changed = json.loads(path.read_text())
    changed["scale_and_bias"] = [1, [1000.0]]
    path.write_text(json.dumps(changed))
    forest = lg.load(path)
    assert forest.checked
    expected = CatBoost().load_model(str(path), format="json").predict(d.X)
    assert forest.predict(d.X) == pytest.approx(expected, rel=1e-12)
    assert expected.mean() > 900


# Refused


def test_target_statistics_are_refused_by_the_names_of_their_columns() -> None:
    model = CatBoostRegressor(**{**coded, "one_hot_max_size": 2}).fit(FRAME, d.real)
    with pytest.raises(
        lg.UnsupportedModelError,
        match=r"this CatBoostRegressor splits on target statistics \(CTR\) of the categories in 'e', which .*"
        "one_hot_max_size=255",
    ):
        lg.load(model)


def test_text_and_embeddings_are_refused() -> None:
    texts = pd.DataFrame({"a": d.X[:, 0], "t": np.resize(["good day", "bad day", "good night"], len(d.X))})
    model = CatBoostClassifier(**few, text_features=["t"]).fit(texts, d.binary)
    with pytest.raises(
        lg.UnsupportedModelError, match=r"Can save model with text features only.*numeric columns"
    ):
        lg.load(model)
    vectors = pd.DataFrame({"a": d.X[:, 0], "v": list(d.X[:, 1:4])})
    model = CatBoostClassifier(**few, embedding_features=["v"]).fit(vectors, d.binary)
    with pytest.raises(lg.UnsupportedModelError, match=r"embedding.*numeric columns"):
        lg.load(model)


def test_a_model_without_trees() -> None:
    model = CatBoostRegressor(**few).fit(d.X, d.real)
    model.shrink(0)
    with pytest.raises(lg.UnsupportedModelError, match="this CatBoostRegressor has no trees"):
        lg.load(model)
