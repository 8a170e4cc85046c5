"""LightGBM: raw scores, contributions and saved files are those of the live model.

Rows lie on, above and below thresholds, at and beside zero, far out, are missing, and hold categories never
seen, negative and fractional. Raw scores may differ by 1e-12 of |constant| + the sum of the trees' largest
|leaf|: both add the same leaves, in another order and with the mean taken before or after. LightGBM's
contributions unwind a product of shares per path and lose digits with its length: 1e-11 of the same unit
at the five to ten levels of these trees.
"""

from __future__ import annotations

import functools
import json
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import leafgrad as lg
from leafgrad import links
from leafgrad.load.probes import probe_rows
from leafgrad.reference import exact, paths
from parity.zoo import unit

# LightGBM 4.0.0 on newer numpy.
pytestmark = pytest.mark.filterwarnings("ignore:np.find_common_type is deprecated:DeprecationWarning")

EXACT, THEIRS = 1e-12, 1e-11
TINY = float(np.float32(1e-35))  # what LightGBM takes for zero
n = 400
rng = np.random.default_rng(0)
X = rng.normal(size=(n, 6))
X[:, 1] = rng.integers(-2, 40, n)  # codes; negative ones are missing
X[rng.random(n) < 0.15, 2] = np.nan
X[rng.random(n) < 0.4, 3] = 0
X[rng.random(n) < 0.1, 4] = np.nan
X[rng.random(n) < 0.3, 4] = 0
y = X[:, 0] + np.sin(X[:, 1]) + np.nan_to_num(X[:, 2]) - np.abs(X[:, 3]) + (np.nan_to_num(X[:, 4]) == 0)
three = np.digitize(y, [-0.6, 0.6])
share = 1 / (1 + np.exp(-y))
weight = rng.random(n) + 0.1
codes = {"categorical_feature": [1]}
quick = {
    "verbose": -1,
    "num_threads": 1,
    "num_leaves": 12,
    "min_data_in_leaf": 5,
    "min_data_per_group": 3,
    "cat_smooth": 1.0,
    "seed": 0,
}
rf = {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.6}


def trained(target: Any, rounds: int = 8, data: dict[str, Any] = codes, rows: Any = X, **params: Any) -> Any:
    return lightgbm.train({**quick, **params}, lightgbm.Dataset(rows, target, **data), rounds)


def early(target: Any = y, **params: Any) -> Any:
    train = lightgbm.Dataset(X[:250], target[:250])
    rest = lightgbm.Dataset(X[250:], target[250:], reference=train)
    stop = lightgbm.early_stopping(3, verbose=False)
    return lightgbm.train(
        {**quick, "learning_rate": 0.8, **params},
        train,
        60,
        [rest],
        callbacks=[stop],
        keep_training_booster=True,
    )


def squared(margin: Any, data: Any) -> Any:
    return margin - data.get_label(), np.ones(len(margin))


def wrapped(kind: Callable[..., Any], target: Any, fit: dict[str, Any] | None = None, **params: Any) -> Any:
    options = {key: value for key, value in quick.items() if key != "seed"}
    return kind(n_estimators=6, **options, **params).fit(X, target, **(fit or {}))


DEEP = Path(__file__).parents[1] / "golden" / "lightgbm" / "deep.txt"

MODELS: dict[str, Callable[[], Any]] = {
    "regression": lambda: trained(y),
    "regression, weights": lambda: trained(y, data={**codes, "weight": weight}),
    "regression, sqrt": lambda: trained(y, reg_sqrt=True),
    "regression_l1": lambda: trained(y, objective="regression_l1"),
    "huber": lambda: trained(y, objective="huber"),
    "fair": lambda: trained(y, objective="fair"),
    "quantile": lambda: trained(y, objective="quantile", alpha=0.7),
    "mape": lambda: trained(y + 9, objective="mape"),
    "poisson": lambda: trained(share, objective="poisson"),
    "gamma": lambda: trained(share, objective="gamma"),
    "tweedie": lambda: trained(share, objective="tweedie"),
    "binary": lambda: trained(y > 0, objective="binary"),
    "binary, sigmoid": lambda: trained(y > 0, objective="binary", sigmoid=2.5),
    "multiclass": lambda: trained(three, objective="multiclass", num_class=3),
    "multiclassova": lambda: trained(three, objective="multiclassova", num_class=3),
    "multiclassova, sigmoid": lambda: trained(three, objective="multiclassova", num_class=3, sigmoid=0.5),
    "cross_entropy": lambda: trained(share, objective="cross_entropy"),
    "cross_entropy_lambda": lambda: trained(share, objective="cross_entropy_lambda"),
    "lambdarank": lambda: trained(three, data={**codes, "group": [100] * 4}, objective="lambdarank"),
    "rank_xendcg": lambda: trained(three, data={**codes, "group": [100] * 4}, objective="rank_xendcg"),
    "objective of one's own": lambda: trained(y, objective=squared),
    "dart": lambda: trained(y, 20, boosting="dart", drop_rate=0.5),
    "goss": lambda: trained(y, data_sample_strategy="goss"),
    "random forest": lambda: trained(y, **rf),
    "random forest, binary": lambda: trained(y > 0, objective="binary", **rf),
    "random forest, multiclass": lambda: trained(three, objective="multiclass", num_class=3, **rf),
    "bagging": lambda: trained(y, bagging_fraction=0.5, bagging_freq=1),
    "extra trees": lambda: trained(y, extra_trees=True),
    "quantized gradients": lambda: trained(y, data={}, use_quantized_grad=True),
    "monotone constraints": lambda: trained(
        y, data={}, monotone_constraints=[1, 0, 0, 0, 0, -1], monotone_constraints_method="advanced"
    ),
    "one leaf": lambda: trained(np.full(n, 3.25)),
    "1e8 offset": lambda: trained(y + 1e8),
    "numbers only": lambda: trained(y, data={}),
    "categories, one-hot": lambda: trained(y, max_cat_to_onehot=100),
    "categories, large codes": lambda: trained(y, rows=np.where(np.arange(6) == 1, X * 1000, X)),
    "missing: none": lambda: trained(y, use_missing=False),
    "missing: zeros": lambda: trained(y, zero_as_missing=True),
    "missing: NaN": lambda: trained(y, rows=np.where(rng.random(X.shape) < 0.2, np.nan, X)),
    "deep": lambda: lightgbm.Booster(model_file=str(DEEP)),
    "early stopping": early,
    "continued training": lambda: lightgbm.train(
        quick, lightgbm.Dataset(X, y), 4, init_model=trained(y, data={})
    ),
    "refit": lambda: trained(y, data={}).refit(X[:200], y[:200] + 1),
    "LGBMRegressor": lambda: wrapped(lightgbm.LGBMRegressor, y, codes),
    "LGBMRegressor, rf": lambda: wrapped(
        lightgbm.LGBMRegressor, y, boosting_type="rf", subsample=0.5, subsample_freq=1
    ),
    "LGBMClassifier": lambda: wrapped(lightgbm.LGBMClassifier, np.where(y > 0, "yes", "no")),
    "LGBMClassifier, three": lambda: wrapped(lightgbm.LGBMClassifier, np.array(["a", "b", "c"])[three]),
    "LGBMRanker": lambda: wrapped(lightgbm.LGBMRanker, three, {"group": [100] * 4}),
}
FEATURES = [pytest.param(name, marks=pytest.mark.supports("LightGBM", name)) for name in MODELS]


@functools.cache
def fitted(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MODELS[name]()


def booster(model: Any) -> Any:
    return model if isinstance(model, lightgbm.Booster) else model.booster_


def live(model: Any, rows: Any, **options: Any) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # remarks about feature names
        out = model.predict(rows, **{"raw_score": True, **options})
    return np.asarray(out).reshape(len(out), -1)


def odd_rows(forest: lg.Forest, seed: int = 1) -> np.ndarray:
    """Rows near thresholds along paths, then single cells made odd."""
    rng = np.random.default_rng(seed)
    rows = probe_rows(forest, seed=seed)
    zeros = [0.0, -0.0, 1e-40, *(s * np.nextafter(TINY, to) for s in (1, -1) for to in (0, TINY, 1))]
    strange = [
        np.nan,
        np.inf,
        -np.inf,
        1e300,
        -1,
        -0.5,
        0.5,
        2.5,
        31,
        32,
        39,
        40,
        64,
        1e6,
        2.0**31,
        2.0**32 + 3,
    ]
    values = np.array(zeros + strange)
    odd = rng.random(rows.shape) < 0.25
    rows[odd] = rng.choice(values, np.count_nonzero(odd))
    return rows


def far(forest: lg.Forest) -> np.ndarray:
    """Rows where no training row was."""
    rows = np.random.default_rng(2).normal(size=(60, forest.n_features)) * 10.0 ** np.arange(-9, 51)[:, None]
    rows[::7] = np.nan
    return rows


def n_trees(model: Any) -> int:
    return sum(line.startswith("Tree=") for line in booster(model).model_to_string().split("\n"))


@pytest.mark.parametrize("name", FEATURES)
def test_outputs_are_the_raw_scores(name: str) -> None:
    model = fitted(name)
    forest = lg.load(model)
    assert forest.checked
    assert forest.n_trees == n_trees(model)
    for rows in (odd_rows(forest), far(forest), *([X] if forest.n_features == 6 else [])):
        found = forest.predict(rows).reshape(len(rows), -1)
        assert np.all(np.abs(found - live(model, rows)) <= EXACT * unit(forest))


@pytest.mark.parametrize("name", FEATURES)
def test_leaves_are_the_models(name: str) -> None:
    model = fitted(name)
    forest = lg.load(model)
    rows = odd_rows(forest, 3)
    splits = np.bincount(
        np.repeat(np.arange(forest.n_trees), np.diff(forest.tree_start)), weights=forest.left >= 0
    ).astype(int)
    assert np.array_equal(
        forest.leaves(rows) - splits, booster(model).predict(rows, pred_leaf=True).reshape(len(rows), -1)
    )


@pytest.mark.parametrize("name", FEATURES)
def test_shapley_values_are_its_contributions_and_add_up_to_it(name: str) -> None:
    model = fitted(name)
    forest = lg.load(model)
    rows = np.vstack([odd_rows(forest)[::6], far(forest)[::2]])
    values = lg.explain(forest, rows, progress=False).values.reshape(len(rows), forest.n_features, -1)
    assert np.all(np.abs(values.sum(axis=1) + forest.base - live(model, rows)) <= EXACT * unit(forest))
    if name == "deep":
        return  # see below
    theirs = live(model, rows, raw_score=False, pred_contrib=True).reshape(
        len(rows), -1, forest.n_features + 1
    )
    assert np.all(np.abs(values.transpose(0, 2, 1) - theirs[:, :, :-1]) <= THEIRS * unit(forest)[:, None])
    assert np.all(np.abs(forest.base - theirs[:, :, -1]) <= THEIRS * unit(forest))


@pytest.mark.parametrize("name", FEATURES)
def test_a_saved_model_explains_to_the_bit_as_the_live_one(name: str, tmp_path: Path) -> None:
    model = fitted(name)
    forest = lg.load(model)
    rows = odd_rows(forest)[:40]
    values = lg.explain(forest, rows, progress=False).values
    booster(model).save_model(tmp_path / "model.txt")
    text = (tmp_path / "model.txt").read_text()
    reread = lightgbm.Booster(model_file=str(tmp_path / "model.txt"))
    forest.save(tmp_path / "forest.npz")
    for saved in (
        tmp_path / "model.txt",
        str(tmp_path / "model.txt"),
        text,
        text.encode(),
        text.replace("\n", "\r\n"),
        reread,
        pickle.loads(pickle.dumps(model)),
        tmp_path / "forest.npz",
    ):
        again = lg.load(saved)
        assert again.checked
        assert np.array_equal(lg.explain(again, rows, progress=False).values, values)
        assert np.array_equal(again.base, forest.base)
        assert np.array_equal(again.predict(rows), forest.predict(rows))
        assert again.link == forest.link


@pytest.mark.parametrize("name", FEATURES)
def test_the_link_leads_to_the_prediction(name: str) -> None:
    model = fitted(name)
    forest = lg.load(model)
    raw = forest.predict(odd_rows(forest)).reshape(-1, forest.n_outputs)
    wanted = live(booster(model), odd_rows(forest), raw_score=False)
    # Far out, the margin's rounding (1e-12 of its unit) is the prediction's relative one.
    assert links.apply(links.resolve("model", forest.link, forest.n_outputs), raw) == pytest.approx(
        wanted, rel=1e-10, abs=1e-15
    )


def facts(name: str) -> tuple[Any, ...]:
    forest = lg.load(fitted(name))
    return forest.n_outputs, forest.classes, forest.link


def test_outputs_classes_and_links() -> None:
    assert facts("regression") == (1, None, "identity")
    assert facts("regression, sqrt") == (1, None, "square")
    assert facts("poisson") == (1, None, "exp")
    assert facts("binary") == (1, (0, 1), "sigmoid")
    assert facts("binary, sigmoid") == (1, (0, 1), "sigmoid:2.5")
    assert facts("multiclass") == (3, (0, 1, 2), "softmax")
    assert facts("multiclassova") == (3, (0, 1, 2), "sigmoid")
    assert facts("multiclassova, sigmoid") == (3, (0, 1, 2), "sigmoid:0.5")
    assert facts("cross_entropy_lambda") == (1, None, "softplus")
    assert facts("objective of one's own") == (1, None, "identity")
    assert facts("random forest") == (1, None, "identity:0.125")
    assert facts("random forest, multiclass") == (3, (0, 1, 2), "softmax:0.125")
    assert facts("LGBMRanker") == (1, None, "identity")
    assert facts("LGBMClassifier") == (1, ("no", "yes"), "sigmoid")
    assert facts("LGBMClassifier, three") == (3, ("a", "b", "c"), "softmax")


@pytest.mark.parametrize("name", ["LGBMClassifier", "LGBMClassifier, three"])
def test_the_predicted_class_is_the_wrappers(name: str) -> None:
    model = fitted(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        predicted = model.predict(X)
    assert np.array_equal(lg.explain(model, X, output="predicted", progress=False).output, predicted)


def test_a_random_forest_is_explained_by_its_sum_as_it_explains_itself() -> None:
    """raw_score and pred_contrib are sums over the iterations, `predict` their mean: the link divides."""
    model = fitted("LGBMRegressor, rf")
    forest = lg.load(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert forest.predict(X) / 6 == pytest.approx(model.predict(X), rel=1e-12)


@pytest.mark.parametrize("form", ["booster", "wrapper"])
def test_only_the_best_iterations_count(form: str) -> None:
    model = fitted("early stopping")
    if form == "wrapper":
        stop = lightgbm.early_stopping(3, verbose=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `eval_set` has another name in new versions
            model = lightgbm.LGBMRegressor(n_estimators=60, learning_rate=0.8, num_threads=1, verbose=-1)
            model.fit(X[:250], y[:250], eval_set=[(X[250:], y[250:])], callbacks=[stop])
    best = booster(model).best_iteration
    assert 0 < best < (booster(model).num_trees() if form == "booster" else 60)
    forest = lg.load(model)
    assert forest.n_trees == best
    assert np.all(np.abs(forest.predict(X) - live(model, X, raw_score=False)[:, 0]) <= EXACT * unit(forest))


def test_every_missing_type_is_met() -> None:
    """The models above hold splits on which nothing is missing, zeros are, and NaN is."""
    met = set()
    for name in ("numbers only", "missing: none", "missing: zeros", "missing: NaN"):
        for line in booster(fitted(name)).model_to_string().split("\n"):
            if line.startswith("decision_type="):
                met |= {int(word) for word in line.partition("=")[2].split()}
    assert {0, 4, 8} <= {decision & 12 for decision in met}
    assert {0, 2} <= {decision & 2 for decision in met if decision & 12}


# The cases in which other explainers fail


def test_a_tree_of_seventy_levels() -> None:
    """Ours are the values of exact arithmetic where LightGBM's own contributions have lost all digits."""
    model = fitted("deep")
    forest = lg.load(model)
    assert forest.max_depth == 75
    rows = np.vstack([np.ones(75), np.linspace(0, 1, 75)])
    values = lg.explain(forest, rows, progress=False).values
    for row, found in zip(rows, values, strict=True):
        wanted = exact.value(paths.game(forest, row), lg.Shapley()).astype(float)
        assert np.all(np.abs(found - wanted.reshape(found.shape)) <= 1e-13 * forest.scale)


def test_linear_trees_are_refused() -> None:
    model = trained(y, data={}, linear_tree=True)
    for given in (model, model.model_to_string()):
        with pytest.raises(lg.UnsupportedModelError, match=r"has linear trees: .*linear_tree=False"):
            lg.load(given)


# Categories and frames

FRAME = pd.DataFrame(X, columns=list("abcdef")).assign(
    b=pd.Categorical(np.array(["rome", "oslo", "bonn", "lima"])[X[:, 1].astype(int) % 4]),
    c=pd.Categorical(np.digitize(X[:, 0] + rng.normal(size=n), [0, 1]) * 10 + 10),
    e=pd.Categorical(np.array(["low", "mid", "top"])[three], ["low", "mid", "top"], ordered=True),
)


@pytest.mark.supports("LightGBM", "categories of a pandas frame")
@pytest.mark.parametrize("form", ["booster", "wrapper", "text", "reread"])
def test_a_frames_categories_are_coded_as_for_training(form: str) -> None:
    """An ordered one is a number to LightGBM, and no file says which columns they were: the frame does."""
    model = lightgbm.train(quick, lightgbm.Dataset(FRAME, y), 10)
    asked: Any = model
    if form == "wrapper":
        asked = model = lightgbm.LGBMRegressor(n_estimators=10, num_threads=1, verbose=-1).fit(FRAME, y)
    if form == "text":
        asked = model.model_to_string()
    if form == "reread":
        asked = lightgbm.Booster(model_str=model.model_to_string())
    forest = lg.load(asked)
    assert forest.feature_names == tuple("abcdef")
    assert forest.frame_categories == (("bonn", "lima", "oslo", "rome"), (10, 20, 30), ("low", "mid", "top"))
    strange = FRAME.assign(
        b=pd.Categorical(np.resize(["oslo", "nowhere", None, "bonn"], n)),
        c=pd.Categorical(np.resize([30, 77, 10], n)),  # another order, and a value never seen
        e=pd.Categorical(np.resize(["top", None, "low"], n)),
    )
    for frame in (FRAME, strange, FRAME.iloc[:1]):
        found = forest.predict(frame)
        assert np.all(np.abs(found - live(model, frame)[:, 0]) <= EXACT * unit(forest))
        values = lg.explain(forest, frame.iloc[:9], progress=False).values
        theirs = live(model, frame.iloc[:9], raw_score=False, pred_contrib=True)[:, :-1]
        assert np.all(np.abs(values - theirs) <= THEIRS * unit(forest))
    # An array holds the codes themselves, to LightGBM and here.
    coded = FRAME.assign(**{name: FRAME[name].cat.codes for name in "bce"}).to_numpy()
    assert np.array_equal(forest.predict(coded), forest.predict(FRAME))
    assert np.all(np.abs(forest.predict(coded) - live(model, coded)[:, 0]) <= EXACT * unit(forest))


def test_frames_that_lightgbm_would_not_take_or_would_misread() -> None:
    forest = lg.load(lightgbm.train(quick, lightgbm.Dataset(FRAME, y), 3))
    numbers = pd.DataFrame(X, columns=list("abcdef"))
    for frame, message in (
        (numbers, r"0 columns of a category type, but the Booster was trained with 3; .*astype"),
        (FRAME.assign(a=FRAME["b"]), r"4 columns of a category type, but the Booster was trained with 3"),
        (FRAME.iloc[0], r"0 columns of a category type.*X\.iloc\[\[i\]\]"),
        (FRAME.assign(b=pd.Categorical(X[:, 0])), r"whose categories are text: 'bonn'"),
    ):
        with pytest.raises(lg.InputError, match=message):
            forest.predict(frame)
    plain = lg.load(trained(y))
    with pytest.raises(lg.InputError, match=r"3 columns of a category type, .* with 0; pass the numbers"):
        plain.predict(FRAME)


def test_categories_that_no_file_can_hold() -> None:
    frame = FRAME.assign(b=pd.Categorical(pd.to_datetime("2026-01-01") + pd.to_timedelta(three, "D")))
    model = lightgbm.train(quick, lightgbm.Dataset(frame, y), 2, keep_training_booster=True)
    with pytest.raises(lg.UnsupportedModelError, match=r"neither text nor numbers.*Make them text"):
        lg.load(model)


@pytest.mark.supports("LightGBM", "a large category code")
def test_a_category_with_a_large_code() -> None:
    """A set of 200,000 bits a split: the check looks at some codes of many."""
    rows = X.copy()
    rows[:, 1] = np.where(rows[:, 1] < 0, rows[:, 1], rows[:, 1] * 5003)
    model = trained(y, rows=rows)
    forest = lg.load(model)
    assert np.all(np.abs(forest.predict(rows) - live(model, rows)[:, 0]) <= EXACT * unit(forest))
    assert np.all(np.abs(forest.predict(rows + 1) - live(model, rows + 1)[:, 0]) <= EXACT * unit(forest))


# Numbers as LightGBM reads them


@pytest.mark.supports("LightGBM", "integers beyond float32")
@pytest.mark.parametrize(
    "form", ["int64", "int32", "list", "object", "float64", "frame", "float32", "one row"]
)
def test_integers_in_an_array_are_rounded_as_lightgbm_rounds_them(form: str) -> None:
    """A numpy array of integers becomes float32, a frame of them float64."""
    times = 1_700_000_000 + np.arange(0, 4000, 10)
    model = lightgbm.train(quick, lightgbm.Dataset(times[:, None].astype(float), np.sin(times / 200)), 5)
    forest = lg.load(model)
    on = np.unique(np.floor(forest.threshold[forest.left >= 0])).astype(np.int64)
    rows: Any = np.concatenate([on, on + 1, on - 1])[:, None]
    if form == "list":
        rows = rows.tolist()
    elif form == "frame":
        rows = pd.DataFrame(rows)
    elif form == "one row":
        rows = rows[3:4]
    else:
        rows = rows.astype(form)
    assert np.all(np.abs(forest.predict(rows) - live(model, rows)[:, 0]) <= EXACT * unit(forest))


@pytest.mark.supports("LightGBM", "sparse rows")
def test_sparse_rows() -> None:
    """An absent entry is a 0, which may be missing."""
    rows = scipy.sparse.csr_matrix(np.nan_to_num(X))
    for params in ({}, {"zero_as_missing": True}):
        model = trained(y, rows=rows, **params)
        forest = lg.load(model)
        assert np.all(np.abs(forest.predict(rows) - live(model, rows)[:, 0]) <= EXACT * unit(forest))
        assert np.array_equal(forest.predict(rows), forest.predict(rows.toarray()))


# Covers


def of_dump(model: Any, field: str) -> np.ndarray:
    """Shares of the left children by a field of `dump_model`, tree by tree, from the top."""
    out = []

    def walk(node: Any) -> float:
        if "split_index" not in node:
            return float(node[f"leaf_{field}"])
        left, right = (walk(node[side]) for side in ("left_child", "right_child"))
        out.append((node["split_index"], left / (left + right)))
        return left + right

    shares = []
    for tree in model.dump_model()["tree_info"]:
        out = []
        walk(tree["tree_structure"])
        shares += [share for _, share in sorted(out)]
    return np.array(shares)


@pytest.mark.supports("LightGBM", "cover: counts, hessian, data")
@pytest.mark.parametrize("name", ["binary", "goss", "regression, weights"])
def test_covers(name: str) -> None:
    model = fitted(name)
    for cover, field in ((None, "count"), ("counts", "count"), ("hessian", "weight")):
        forest = lg.load(model, cover=cover)
        inner = np.flatnonzero(forest.left >= 0)
        root = np.repeat(forest.tree_start[:-1], np.diff(forest.tree_start))[inner]
        # The larger share is what the smaller leaves of 1: one rounding of numbers up to 1.
        assert forest.share[root + forest.left[inner]] == pytest.approx(of_dump(model, field), abs=1e-15)
    data = lg.load(model, data=X)
    assert data.checked
    assert data.frame_categories == ()
    assert data.rounds_integers
    with pytest.raises(lg.InputError, match=r"cover='weights' is not kept by LightGBM.*'hessian'"):
        lg.load(model, cover="weights")
    if name == "goss":
        assert not np.array_equal(forest.share, lg.load(model).share)


def test_names() -> None:
    frame = pd.DataFrame(X, columns=["größe", "b", "c=d", "e", "f", "g"])
    model = lightgbm.train(quick, lightgbm.Dataset(frame, y), 3)
    assert lg.load(model).feature_names == tuple(frame.columns)
    assert lg.load(model.model_to_string()).feature_names == tuple(frame.columns)
    assert lg.load(fitted("regression")).feature_names is None
    spaced = frame.rename(columns={"b": "b and more"})
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Found whitespace in feature_names")
        model = lightgbm.train(quick, lightgbm.Dataset(spaced, y), 3)
    forest = lg.load(model)
    assert forest.feature_names == ("größe", "b_and_more", "c=d", "e", "f", "g")
    np.testing.assert_array_equal(forest.predict(spaced), forest.predict(X))


# What the live model tells of itself


def test_a_wrapper_that_predicts_in_its_own_way_is_found_out() -> None:
    class Doubled(lightgbm.LGBMRegressor):
        def predict(self, X: Any, **options: Any) -> Any:
            return 2 * super().predict(X, **options)

    model = wrapped(Doubled, y)
    with pytest.raises(lg.ModelMismatchError, match=r"output 0 is .* in the live Doubled.*check=False"):
        lg.load(model)


def test_a_leaf_changed_by_hand_is_followed() -> None:
    model = trained(y)
    before = lg.load(model).predict(X)
    model.set_leaf_output(0, 0, 5.0)
    forest = lg.load(model)
    assert np.any(forest.predict(X) != before)
    assert np.all(np.abs(forest.predict(X) - live(model, X)[:, 0]) <= EXACT * unit(forest))


def test_the_dump_says_the_same_of_thresholds() -> None:
    """Against the other form that LightGBM writes, number by number."""
    model = fitted("numbers only")
    found = json.dumps(model.dump_model()["tree_info"])
    forest = lg.load(model)
    for threshold in forest.threshold[forest.left >= 0]:
        if abs(threshold) > TINY * 1.001:
            assert repr(float(threshold)) in found
