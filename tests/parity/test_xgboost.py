"""The forest is the XGBoost model: same leaves, same margins, same Shapley values; files say what models say.

XGBoost adds leaves in float32. A margin may differ by 1e-6 of |base score| + the sum of the trees' largest
|leaf|: the rounding of a sum of a few trees. Its own Shapley values are sums over paths in float32, by
division and (since 3.3) by quadrature with 8 points: on paths this short they keep to the same bound, while
deep trees lose more there.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import xgboost as xgb

import leafgrad as lg
from leafgrad.load.probes import probe_rows, spoken
from parity import xgboost_zoo as zoo
from parity.zoo import unit

MARGIN, CONTRIBUTION = 1e-6, 1e-6
NAMES = list(zoo.models())
# Trees of several targets keep no covers before XGBoost 3.2: rows must be counted.
BARE = {name for name in NAMES if "vector leaves" in name} if zoo.VERSION < (3, 2) else set()
EACH = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.supports("XGBoost", name)) for name in NAMES]
)


def load(name: str, model: Any = None, **options: Any) -> lg.Forest:
    if name in BARE:
        options["data"] = zoo.rows(name)
    return lg.load(zoo.fitted(name) if model is None else model, **options)


def assert_same(forest: lg.Forest, model: Any, X: np.ndarray) -> None:
    own = forest.predict(X).reshape(len(X), -1)
    assert np.all(np.abs(own - zoo.margin(model, X)) <= MARGIN * unit(forest))
    finite = ~np.isinf(X.astype(np.float32)).any(axis=1)
    matrix = zoo.from_matrix(model, X[finite], output_margin=True).reshape(finite.sum(), -1)
    assert np.all(np.abs(own[finite] - matrix) <= MARGIN * unit(forest))


def odd_rows(forest: lg.Forest, X: np.ndarray) -> np.ndarray:
    """Rows of X with missing and huge values, codes that no training row had, and half a code."""
    out = X.copy()
    odd = [
        np.nan,
        np.inf,
        -np.inf,
        1e30,
        1e300,
        -1e-300,
        0.0,
        -0.0,
        -1,
        -0.5,
        2.7,
        31,
        32,
        63,
        64,
        1e5,
        2**24,
    ]
    rng = np.random.default_rng(1)
    chosen = rng.random(X.shape) < 0.4
    out[chosen] = rng.choice(odd, chosen.sum())
    return out


@EACH
@np.errstate(over="ignore")
def test_margins_are_the_models(name: str) -> None:
    model, X = zoo.fitted(name), zoo.rows(name)
    forest = load(name)
    assert forest.checked
    assert forest.library == "XGBoost"
    assert_same(forest, model, X)
    assert_same(forest, model, odd_rows(forest, X))
    # On, just below and just above thresholds: other rows than those that `load` has looked at.
    assert_same(forest, model, spoken(forest, probe_rows(forest, seed=1)))


@EACH
def test_shapley_values_add_up_to_the_library_itself(name: str) -> None:
    model, X = zoo.fitted(name), zoo.rows(name)[:40]
    forest = load(name)
    values = lg.explain(forest, X, progress=False).values.reshape(len(X), zoo.N_FEATURES, -1)
    assert np.all(np.abs(values.sum(axis=1) + forest.base - zoo.margin(model, X)) <= MARGIN * unit(forest))


@EACH
def test_shapley_values_are_the_librarys_own(name: str) -> None:
    """Also far from the training data, and where values are missing."""
    model, X = zoo.fitted(name), zoo.rows(name)
    if name in BARE:
        with pytest.raises(lg.UnsupportedModelError, match="does not tell how many rows went each way"):
            lg.load(model)
    if "vector leaves" in name and zoo.VERSION < (3, 3):
        with pytest.raises(xgb.core.XGBoostError, match="not yet implemented"):
            zoo.contributions(model, X, 3)
        return
    forest = lg.load(model)
    for rows in (X[:60], 1000 * X[:30] - 300, np.where(np.arange(5) % 2, X[:30], np.nan)):
        own, nothing = zoo.contributions(model, rows, forest.n_outputs)
        values = lg.explain(forest, rows, progress=False).values.reshape(own.shape)
        # XGBoost 2.0 to 3.2 weigh a child by its own share of its parent's float32 sum, and so do we.
        assert np.all(np.abs(values - own) <= CONTRIBUTION * unit(forest))
        assert np.all(np.abs(forest.base - nothing) <= CONTRIBUTION * unit(forest))


@EACH
@pytest.mark.parametrize("ending", ["json", "ubj"])
def test_a_saved_model_explains_to_the_bit_as_the_live_one(name: str, ending: str, tmp_path: Path) -> None:
    model, X = zoo.fitted(name), zoo.rows(name)[:30]
    path = zoo.save(model, tmp_path, ending)
    live, read = load(name), load(name, path)
    assert read.checked
    for field in ("feature_names", "categories", "link", "classes", "missing", "absent_missing"):
        assert getattr(read, field) == getattr(live, field)
    if name.startswith("missing is"):  # no file of XGBoost's tells the wrapper's `missing`
        assert (live.missing_value, read.missing_value) == (model.missing, None)
        read = read.replace(missing_value=model.missing)
    assert np.array_equal(read.predict(X), live.predict(X))
    assert np.array_equal(
        lg.explain(read, X, progress=False).values, lg.explain(live, X, progress=False).values
    )
    # Nor does it matter whether it comes as a path or as content.
    assert np.array_equal(load(name, path.read_bytes()).threshold, read.threshold)


# What the forest says of itself


@pytest.mark.parametrize("form", ["json", "ubj"])
def test_a_models_content_in_place_of_a_file(form: str) -> None:
    booster = zoo.fitted("Booster")
    content = booster.save_raw(form)
    forms = [content, bytes(content), content.decode()] if form == "json" else [content, bytes(content)]
    for given in forms:
        np.testing.assert_array_equal(lg.load(given).value, lg.load(booster).value)


def test_links_and_classes() -> None:
    def facts(name: str) -> tuple[Any, ...]:
        forest = load(name)
        return forest.n_outputs, forest.classes, forest.link

    assert facts("regressor") == (1, None, "identity")
    assert facts("classifier") == (1, (0, 1), "sigmoid")
    assert facts("classifier, three classes") == (3, (0, 1, 2), "softmax")
    assert facts("three classes, vector leaves") == (3, (0, 1, 2), "softmax")
    assert facts("classifier, several labels") == (2, None, "sigmoid")
    assert facts("parallel trees, three classes") == (3, (0, 1, 2), "softmax")
    assert facts("targets, vector leaves") == (3, None, "identity")
    assert facts("base_score") == (1, (0, 1), "sigmoid")
    for name in ("count:poisson", "reg:gamma", "reg:tweedie", "survival:cox", "survival:aft"):
        assert facts(name) == (1, None, "exp")
    assert facts("reg:logistic") == (1, None, "sigmoid")
    assert facts("binary:logitraw") == (1, None, "identity")
    assert facts("binary:hinge") == (1, (0, 1), "step")
    assert facts("ranker") == (1, None, "identity")
    assert facts("reg:quantileerror") == (2, None, "identity")


@pytest.mark.parametrize("name", [name for name in NAMES if name != "binary:hinge"])
def test_the_link_leads_to_the_models_prediction(name: str) -> None:
    from leafgrad import links

    model, X = zoo.fitted(name), zoo.rows(name)[:50]
    forest = load(name)
    own = links.apply(forest.link, forest.predict(X).reshape(len(X), -1))
    if name == "parallel trees, three classes":  # multi:softmax predicts the label
        assert np.array_equal(own.argmax(axis=1), zoo.from_matrix(model, X))
        return
    theirs = zoo.from_matrix(model, X).reshape(len(X), -1)
    assert own == pytest.approx(theirs, rel=1e-4, abs=1e-4 * float(np.abs(theirs).max()))  # of float32 exp


def test_a_hinge_has_no_link_to_follow() -> None:
    forest, X = lg.load(zoo.fitted("binary:hinge")), zoo.GAPS[:3]
    order = lg.explain(forest, X, progress=False)
    assert lg.curves(forest, X, order).insertion.shape == (3, 6)
    with pytest.raises(lg.UnsupportedModelError, match="'step', which is not known here"):
        lg.curves(forest, X, order, link="model")


@pytest.mark.parametrize("name", ["classifier", "classifier, three classes", "categories of a frame"])
def test_the_predicted_label_is_the_models(name: str) -> None:
    model, X = zoo.fitted(name), zoo.rows(name)
    assert np.array_equal(lg.explain(model, X, output="predicted", progress=False).output, model.predict(X))


def test_names_come_along() -> None:
    assert lg.load(zoo.fitted("regressor")).feature_names is None
    forest = lg.load(zoo.fitted("categories of a frame"))
    assert forest.feature_names == ("size", "age", "city", "height", "grade")
    with pytest.raises(lg.InputError, match="X lacks columns of the model: 'city'"):
        forest.predict(zoo.FRAME.drop(columns="city"))


# Missing values


@pytest.mark.supports("XGBoost", "sparse rows")
def test_an_absent_entry_is_missing_and_a_stored_zero_is_not() -> None:
    dense = np.where(np.random.default_rng(2).random(zoo.X.shape) < 0.4, np.nan, np.floor(3 * zoo.X))
    stored = ~np.isnan(dense)
    sparse = scipy.sparse.csr_matrix((dense[stored], np.nonzero(stored)), shape=dense.shape)
    assert (sparse.data == 0).any()
    for model in (
        xgb.XGBRegressor(n_estimators=5, max_depth=3).fit(sparse, zoo.REAL),
        xgb.train({"max_depth": 3}, xgb.DMatrix(sparse, zoo.REAL), 5),
    ):
        forest = lg.load(model)
        assert np.array_equal(forest.predict(sparse), forest.predict(dense))
        live = model.predict(sparse if isinstance(model, xgb.XGBModel) else xgb.DMatrix(sparse))
        assert np.all(np.abs(forest.predict(sparse) - live) <= MARGIN * unit(forest))
        values = lg.explain(forest, sparse[:20], progress=False).values
        assert np.array_equal(values, lg.explain(forest, dense[:20], progress=False).values)


def test_a_missing_number_is_compared_in_float32() -> None:
    X = np.round(zoo.X, 1)
    model = xgb.XGBRegressor(n_estimators=5, max_depth=3, missing=0.1).fit(X, zoo.REAL)
    forest = lg.load(model)
    assert forest.missing_value == 0.1
    odd = X[:30].copy()
    odd[:10, 0], odd[10:20, 0], odd[20:, 0] = 0.1, np.float32(0.1), np.nan
    assert_same(forest, model, odd)
    assert np.array_equal(forest.predict(odd[:10]), forest.predict(np.where(odd == 0.1, np.nan, odd)[:10]))


# Rounds


@pytest.mark.supports("XGBoost", "iteration_range")
def test_a_slice_is_explained_as_the_range_of_rounds() -> None:
    for name in ("Booster", "dart", "parallel trees, three classes", "targets, a tree each"):
        booster = zoo.booster_of(zoo.fitted(name))
        for a, b in ((0, 2), (1, 3)):
            forest = lg.load(booster[a:b])
            live = booster.predict(xgb.DMatrix(zoo.GAPS), iteration_range=(a, b), output_margin=True)
            own = forest.predict(zoo.GAPS).reshape(len(zoo.GAPS), -1)
            assert np.all(np.abs(own - live.reshape(own.shape)) <= MARGIN * unit(forest))


def test_a_booster_predicts_with_all_rounds_and_its_wrapper_up_to_the_best() -> None:
    model = zoo.fitted("early stopping")
    booster = model.get_booster()
    assert lg.load(model).n_trees == model.best_iteration + 1
    assert lg.load(booster).n_trees == booster.num_boosted_rounds()
    assert_same(lg.load(booster), booster, zoo.GAPS)


# Categories


@pytest.mark.supports("XGBoost", "categories in another order")
def test_a_model_of_many_columns() -> None:
    """Nearly every row of so many would hold an infinity, if any cell might; XGBoost tells no leaves then."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3_000))
    model = xgb.XGBRegressor(n_estimators=5, max_depth=3, n_jobs=1).fit(X, X[:, 0] + X[:, 2_999])
    forest = lg.load(model)
    assert forest.checked
    assert_same(forest, model, X)


def test_a_frame_in_another_order_of_categories_goes_the_models_way() -> None:
    """By value since XGBoost 3.1; before, the frame's own codes count, right or wrong."""
    model = zoo.fitted("categories of a frame")
    forest = lg.load(model)
    kept = zoo.VERSION >= (3, 1)
    assert (forest.categories[2] == tuple(zoo.FRAME["city"].cat.categories)) == kept
    assert forest.categories[0] is None
    assert_frame(forest, model, zoo.FRAME)
    turned = zoo.FRAME.copy()
    for name in ("city", "grade"):
        # A list: XGBoost 3.2 reads a reversed view of integers wrong.
        turned[name] = turned[name].cat.reorder_categories(list(turned[name].cat.categories)[::-1])
    assert_frame(forest, model, turned)
    assert np.array_equal(forest.predict(turned), forest.predict(zoo.FRAME)) == kept
    part = zoo.FRAME.iloc[10:13].copy()
    part["city"] = part["city"].cat.remove_unused_categories()
    part.loc[part.index[0], "grade"] = None
    assert_frame(forest, model, part)
    assert_frame(forest, model, part.iloc[:1])


def assert_frame(forest: lg.Forest, model: Any, frame: pd.DataFrame) -> None:
    live = model.predict(frame, output_margin=True)
    assert np.all(np.abs(forest.predict(frame) - live) <= MARGIN * unit(forest))


def test_what_a_frame_may_not_hold() -> None:
    forest = lg.load(zoo.fitted("categories of a frame"))
    with pytest.raises(lg.InputError, match=r"X is one row of a data frame.*X\.iloc\[\[i\]\]"):
        forest.predict(zoo.FRAME.iloc[0])
    strange = zoo.FRAME.iloc[:5].copy()
    strange["city"] = pd.Categorical(["nowhere", *strange["city"][1:]])
    plain = zoo.FRAME.assign(grade=zoo.FRAME["grade"].astype(int))
    if zoo.VERSION >= (3, 1):
        with pytest.raises(lg.InputError, match=r"'nowhere' in row 0, column 'city', a category that the tr"):
            forest.predict(strange)
        with pytest.raises(lg.InputError, match=r"plain values in column 'grade', .*X\.astype\({name: 'cat"):
            forest.predict(plain)
    else:  # codes, as XGBoost has them
        assert_frame(forest, zoo.fitted("categories of a frame"), strange)
        assert_frame(forest, zoo.fitted("categories of a frame"), plain)


def test_values_that_are_not_ascii_are_read_or_known_to_be_lost() -> None:
    frame = zoo.FRAME.assign(city=zoo.FRAME["city"].cat.rename_categories(lambda name: f"stä{name}"))
    model = xgb.XGBRegressor(n_estimators=4, enable_categorical=True).fit(frame, zoo.REAL)
    forest = lg.load(model)
    assert np.all(np.abs(forest.predict(zoo.CODES) - model.predict(frame)) <= MARGIN * unit(forest))
    if zoo.VERSION >= (3, 4) or zoo.VERSION < (3, 1):  # by value, by the frame's own codes
        assert_frame(forest, model, frame)
    else:
        with pytest.raises(
            lg.InputError, match=r"before 3\.4 saved the categories of column 'city' cut short"
        ):
            forest.predict(frame)


def test_a_frames_own_codes_where_the_model_kept_no_values() -> None:
    model = zoo.fitted("categories, partition")  # trained on an array
    forest = lg.load(model)
    assert forest.categories == (None, None, (), None, ())
    frame = pd.DataFrame(zoo.X)
    frame[4] = pd.Categorical(zoo.X[:, 4].astype(int), categories=[3, 2, 1, 0])
    live = model.predict(frame, output_margin=True, validate_features=False)
    assert np.all(np.abs(forest.predict(frame) - live) <= MARGIN * unit(forest))
    assert not np.array_equal(forest.predict(frame), forest.predict(zoo.X))


# Covers


def test_covers() -> None:
    model = zoo.fitted("classifier")
    default = lg.load(model)
    assert np.array_equal(lg.load(model, cover="hessian").share, default.share)
    for cover in ("counts", "gain"):
        with pytest.raises(lg.InputError, match=rf"cover='{cover}' is not kept by XGBoost. Use cover=None"):
            lg.load(model, cover=cover)
    counted = lg.load(model, data=zoo.GAPS)
    assert not np.array_equal(counted.share, default.share)
    assert np.array_equal(lg.load(model, cover="data", data=zoo.GAPS).share, counted.share)
    # Where all hessians are 1, their sums count the rows.
    squares = zoo.fitted("Booster")
    assert np.array_equal(lg.load(squares, data=zoo.GAPS).share, lg.load(squares).share)


def test_covers_that_are_not_there() -> None:
    if zoo.VERSION < (3, 2):
        with pytest.raises(lg.InputError, match="this model keeps no sums of hessians"):
            lg.load(zoo.fitted("targets, vector leaves"), cover="hessian")
    else:
        forest = lg.load(zoo.fitted("targets, vector leaves"), cover="hessian")
        assert forest.share == pytest.approx(lg.load(zoo.fitted("targets, vector leaves")).share)


# Safety


def test_explaining_another_librarys_model_imports_no_xgboost() -> None:
    code = (
        "import sys, leafgrad as lg; from sklearn.tree import DecisionTreeRegressor as T;"
        "lg.load(T().fit([[0], [1]], [0, 1])); assert 'xgboost' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
