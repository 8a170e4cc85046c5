"""XGBoost's files when they are damaged, hostile, foreign or new: an error that says so, at little cost.

The library is kept out (`installed` says no): these files are for our own parser. What a good file means is
shown in tests/parity/test_xgboost.py and tests/golden/xgboost.
"""

from __future__ import annotations

import copy
import json
import locale
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import xgboost as xgb
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import leafgrad as lg
from leafgrad.load import xgboost as loader

GOLDEN = Path(__file__).parents[1] / "golden" / "xgboost"
JSON = {path.stem: path.read_bytes() for path in GOLDEN.glob("*-3.4.1.json") if "expected" not in path.name}
UBJ = {path.stem: path.read_bytes() for path in GOLDEN.glob("*-3.4.1.ubj")}
fuzzed = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "installed", lambda _: False)


def document(name: str = "gbtree") -> dict[str, Any]:
    return json.loads(JSON[f"{name}-3.4.1"])


def put(whole: Any, path: str, value: Any) -> None:
    *way, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    for step in way:
        whole = whole[step]
    if value is KeyError:
        del whole[last]
    else:
        whole[last] = value


MODEL = "learner.gradient_booster.model"
TREE = f"{MODEL}.trees.0"
BASE = "learner.learner_model_param"


@pytest.mark.parametrize(
    ("name", "path", "value", "message"),
    [
        ("gbtree", "learner", KeyError, "learner is missing; wanted an object"),
        ("gbtree", "learner", [], r"learner is \[\]; wanted an object"),
        ("gbtree", "version", "3.4.1", "version is '3.4.1'; wanted a list"),
        ("gbtree", "version", [3, "x"], "wanted three whole numbers"),
        ("gbtree", "learner.objective", None, "learner.objective is missing; wanted an object"),
        ("gbtree", "learner.objective.name", 3, "objective.name is 3; wanted a text"),
        ("gbtree", f"{BASE}.num_feature", "-3", "num_feature is '-3'; wanted a whole number"),
        ("gbtree", f"{BASE}.num_feature", "²", "num_feature is '²'; wanted a whole number"),
        ("gbtree", f"{BASE}.num_feature", True, "num_feature is True; wanted a whole number"),
        ("gbtree", f"{BASE}.num_feature", "1", "splits on feature"),
        ("gbtree", f"{BASE}.num_class", "1000000000", "wanted at most the 2 outputs of the trees"),
        ("vector-leaves", f"{BASE}.num_target", "1000000000", "wanted at most the 2 outputs of the trees"),
        ("gbtree", f"{BASE}.base_score", "NaN", "has no finite margin"),
        ("gbtree", f"{BASE}.base_score", "[1,2]", "a number, or one for each of 1 outputs"),
        ("gbtree", f"{BASE}.base_score", "0,5", "base_score is '0,5'; wanted a number"),
        ("gbtree", f"{BASE}.base_score", "[" * 5000, "wanted a number, or one for each output"),
        ("binary", f"{BASE}.base_score", "1E0", "has no finite margin under this objective"),
        ("poisson", f"{BASE}.base_score", "-1E0", "has no finite margin under this objective"),
        ("frame", "learner.feature_names", ["a"], "wanted none, or one for each of 3 features"),
        ("frame", "learner.feature_names", [1, 2, 3], "wanted a list of texts"),
        ("frame", "learner.feature_types", ["c"], "wanted none, or one for each of 3 features"),
        ("frame", f"{MODEL}.cats.enc", [{}], "wanted none, or one for each of 3 features"),
        ("frame", f"{MODEL}.cats.enc.2.offsets", [0, 99], "numbers that rise from 0 to the length of values"),
        ("frame", f"{MODEL}.cats.enc.2", {"type": 15, "values": [1, 1]}, "wanted a category only once"),
        ("gbtree", f"{MODEL}.gbtree_model_param.num_trees", "7", "num_trees is '7'; wanted 2"),
        ("gbtree", f"{MODEL}.iteration_indptr", [0, 2, 1, 2], "numbers that rise from 0 to 2 trees"),
        ("gbtree", f"{MODEL}.tree_info", [0], "one of 1 outputs for each tree"),
        ("gbtree", f"{MODEL}.tree_info", [0, 1], "one of 1 outputs for each tree"),
        ("three-classes", f"{MODEL}.tree_info", [-1] * 6, "one of 3 outputs for each tree"),
        ("dart", f"{MODEL}.weight_drop", [1.0], "a number for each of 5 trees"),
        ("dart", f"{MODEL}.weight_drop", [1e999] * 5, "a number for each of 5 trees"),
        ("dart", "learner.gradient_booster.weight_drop", [1.0] * 5, "the weights of the trees, once"),
        (
            "early-stopping",
            "learner.attributes.best_iteration",
            "99",
            "best_iteration is 99, and the model has",
        ),
        ("early-stopping", "learner.attributes.best_iteration", "one", "wanted a whole number"),
        ("gbtree", f"{MODEL}.trees", {}, "trees is {}; wanted a list"),
        ("gbtree", f"{TREE}", 5, r"trees\[0\] is 5; wanted an object"),
        ("gbtree", f"{TREE}.left_children", None, r"trees\[0\].left_children is missing; wanted an array"),
        ("gbtree", f"{TREE}.left_children", [], r"trees\[0\] has no node"),
        ("gbtree", f"{TREE}.left_children.0", 0, "has children 0 and"),
        ("gbtree", f"{TREE}.left_children.0", 10**6, "has children 1000000 and"),
        ("gbtree", f"{TREE}.left_children.0", 10**12, "left_children holds numbers beyond int32"),
        ("gbtree", f"{TREE}.left_children.0", 10**30, "left_children holds other things than int32 numbers"),
        ("gbtree", f"{TREE}.left_children.0", 1.5, "left_children holds other things than int32 numbers"),
        ("gbtree", f"{TREE}.left_children.0", "1", "left_children holds other things than int32 numbers"),
        ("gbtree", f"{TREE}.left_children.0", [1], "left_children holds other things than int32 numbers"),
        ("gbtree", f"{TREE}.left_children.0", None, "left_children holds other things than int32 numbers"),
        ("gbtree", f"{TREE}.left_children.0", -7, "a left child below -1"),
        ("gbtree", f"{TREE}.left_children.1", 1, "has two parents|has children 1"),
        ("gbtree", f"{TREE}.left_children.1", 2, "has two parents"),
        ("gbtree", f"{TREE}.right_children.0", -1, "has one child"),
        ("gbtree", f"{TREE}.right_children", [1], "right_children has 1 entries for"),
        ("gbtree", f"{TREE}.split_indices.0", -3, "splits on feature -3"),
        ("gbtree", f"{TREE}.split_conditions.0", float("nan"), "its threshold is NaN"),
        ("gbtree", f"{TREE}.split_conditions", ["x"] * 15, "holds other things than float32 numbers"),
        ("gbtree", f"{TREE}.tree_param.size_leaf_vector", "3", "leaves of 1 to 3 values, and there are 1"),
        ("vector-leaves", f"{TREE}.leaf_weights", [0.0, 0.0], "a row of all outputs for every leaf"),
        ("vector-leaves", f"{TREE}.right_children", [10**6] * 15, "wanted|row of all outputs|entries for"),
        ("partition", f"{TREE}.categories_nodes.0", 1000, "lead out of their tree"),
        ("partition", f"{TREE}.categories_sizes.0", 10**9, "lead out of their tree"),
        ("partition", f"{TREE}.categories_segments.0", -1, "lead out of their tree"),
        ("partition", f"{TREE}.categories_segments", [], "have different lengths"),
        ("partition", f"{TREE}.split_type.0", 0, "not the nodes that split by categories|split_type"),
        ("partition", f"{TREE}.categories.0", -1, "codes beyond 0 to 16777215"),
        ("partition", f"{TREE}.categories.0", 2**30, "codes beyond 0 to 16777215"),
    ],
)
def test_damage_is_told(name: str, path: str, value: Any, message: str) -> None:
    whole = document(name)
    if path.endswith("split_type.0"):  # of a split that has categories
        node = whole["learner"]["gradient_booster"]["model"]["trees"][0]["categories_nodes"][0]
        path = f"{TREE}.split_type.{node}"
    put(whole, path, value)
    with pytest.raises(lg.ModelFormatError, match=message):
        lg.load(json.dumps(whole).encode())


def test_a_leaf_must_be_a_number() -> None:
    whole = document()
    tree = whole["learner"]["gradient_booster"]["model"]["trees"][0]
    tree["split_conditions"][tree["left_children"].index(-1)] = float("inf")
    with pytest.raises(lg.ModelFormatError, match="its leaf value is not finite"):
        lg.load(json.dumps(whole).encode())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"learner": ', "its JSON is damaged"),
        (b'{"a": 1, "a": 2}', "an object has 'a' twice"),
        (b'{"a":' * 200_000, "nested too deep"),
        (b'{"a": ' + b"1" * 5000 + b"}", "its JSON is damaged"),
        (b'{"a": "\xff"}', "its JSON is damaged"),
        (b"{L\x00\x00\x00\x00\x00\x00\x00\x07learner{}}", "gradient_booster|version is"),
        (b"{}", "version is"),
    ],
)
def test_files_that_are_no_document(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_bytes(content)
    with pytest.raises(lg.ModelFormatError, match=message) as caught:
        lg.load(path)
    assert "model.json is damaged: " in str(caught.value)
    assert str(caught.value).endswith("Save the model again.")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (
            "learner.gradient_booster.name",
            "gblinear",
            r"booster=gblinear, which has no trees.*booster=\"gbtree\"",
        ),
        ("learner.gradient_booster.name", "forest", "booster=forest is not known to leafgrad"),
        (
            "learner.objective.name",
            "reg:new",
            r"objective reg:new is not known.*objective of your own \(obj=",
        ),
        (f"{BASE}.num_feature", "10000000", "takes 10000000 features, and leafgrad at most 4194304"),
        (f"{TREE}.extra", [1], r"saved by XGBoost 3\.4\.1 with fields unknown to leafgrad, extra,"),
        ("learner.extra", 1, "fields unknown to leafgrad, extra, and no such XGBoost is here"),
    ],
)
def test_what_is_refused_by_name(path: str, value: Any, message: str) -> None:
    whole = document()
    put(whole, path, value)
    with pytest.raises(lg.UnsupportedModelError, match=message):
        lg.load(json.dumps(whole).encode())


def test_a_model_without_trees() -> None:
    whole = document()
    model = whole["learner"]["gradient_booster"]["model"]
    model |= {"trees": [], "tree_info": [], "iteration_indptr": [0], "gbtree_model_param": {}}
    with pytest.raises(lg.UnsupportedModelError, match="this model has no trees: every row gets the base"):
        lg.load(json.dumps(whole).encode())


def test_several_expectiles_are_no_sum() -> None:
    whole = document("targets")
    put(whole, "learner.objective.name", "reg:expectileerror")
    with pytest.raises(lg.UnsupportedModelError, match="one model per alpha, and pass each"):
        lg.load(json.dumps(whole).encode())


def test_sums_of_hessians_below_0_weigh_nothing() -> None:
    whole = document()
    put(whole, f"{TREE}.sum_hessian.1", -1.0)
    content = json.dumps(whole).encode()
    with pytest.raises(lg.UnsupportedModelError, match="does not tell how many rows went each way"):
        lg.load(content)
    assert lg.load(content, data=np.random.default_rng(0).random((9, 3))).n_trees == 2


def test_huge_categories_cost_little() -> None:
    """One code of 2**24 - 1 is a set of 2 MB; a thousand are refused before they are made."""
    whole = document("partition")
    tree = whole["learner"]["gradient_booster"]["model"]["trees"][0]
    tree["categories"][0] = 2**24 - 1
    assert lg.load(json.dumps(whole).encode()).n_trees == 2
    model = whole["learner"]["gradient_booster"]["model"]
    model["trees"] = [copy.deepcopy(tree) for _ in range(1000)]
    model |= {"tree_info": [0] * 1000, "iteration_indptr": [0, 1000], "gbtree_model_param": {}}
    tracemalloc.start()
    with pytest.raises(lg.UnsupportedModelError, match="category sets of this model take 2000 MB"):
        lg.load(json.dumps(whole).encode())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**27


def test_rounds_of_files_before_they_told_them() -> None:
    """XGBoost 1 wrote no iteration_indptr."""
    whole = document("early-stopping")
    best = int(whole["learner"]["attributes"]["best_iteration"])
    del whole["learner"]["gradient_booster"]["model"]["iteration_indptr"]
    assert lg.load(json.dumps(whole).encode()).n_trees == best + 1
    del whole["learner"]["attributes"]["scikit_learn"]  # a Booster predicts with all
    assert lg.load(json.dumps(whole).encode()).n_trees > best + 1


# Fuzz: cut, and with bytes changed


@fuzzed
@given(st.sampled_from(sorted(UBJ)), st.data())
def test_a_cut_file_is_damaged(name: str, data: st.DataObject) -> None:
    content = data.draw(st.sampled_from([JSON[name], UBJ[name]]))
    cut = data.draw(st.integers(1, len(content) - 1))
    with pytest.raises(lg.ModelFormatError):
        lg.load(content[:cut])


def read(content: bytes) -> None:
    """Load and explain: whatever goes through the parser must be a model."""
    try:
        forest = lg.load(content, check=False)
    except lg.LeafgradError:
        return
    rows = np.full((2, forest.n_features), 0.5)
    if forest.n_features < 1000:
        assert np.isfinite(lg.explain(forest, rows, progress=False).values).all()


@fuzzed
@given(st.sampled_from(sorted(UBJ)), st.data())
def test_changed_bytes_are_read_or_refused(name: str, data: st.DataObject) -> None:
    content = bytearray(data.draw(st.sampled_from([JSON[name], UBJ[name]])))
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(2, len(content) - 1))] = data.draw(st.integers(0, 255))
    read(bytes(content))


odd = st.sampled_from(
    [None, -1, 0, 1, 2**31, 2**63, -(2**40), 1.5, float("nan"), 1e300, "", "7", "x", [], {}, True]
)


@fuzzed
@given(st.sampled_from(sorted(JSON)), st.data())
def test_changed_fields_are_read_or_refused(name: str, data: st.DataObject) -> None:
    whole = json.loads(JSON[name])
    place: Any = whole
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        inner = place[key]
        if not isinstance(inner, dict | list) or not inner or data.draw(st.integers(0, 9)) == 0:
            break
        place = inner
    place[key] = data.draw(odd)
    read(json.dumps(whole).encode())


# Live objects


def test_what_is_no_model_or_not_fitted() -> None:
    with pytest.raises(
        lg.UnsupportedModelError, match=r"DMatrix is no model\. Pass a Booster or a fitted XGBModel"
    ):
        lg.load(xgb.DMatrix(np.zeros((2, 2))))
    with pytest.raises(lg.UnsupportedModelError, match=r"XGBRegressor is not fitted. Call model\.fit"):
        lg.load(xgb.XGBRegressor())
    Far = type("DaskXGBRegressor", (), {"__module__": "xgboost.dask"})
    with pytest.raises(lg.UnsupportedModelError, match=r"on a cluster. Pass its Booster: model\.get_booster"):
        lg.load(Far())


@pytest.mark.parametrize("options", [{}, {"base_score": 0.5}])
def test_a_classifier_of_one_class(options: dict[str, Any]) -> None:
    model = xgb.XGBClassifier(n_estimators=2, **options).fit(np.eye(4), np.zeros(4, dtype=int))
    with pytest.raises(lg.UnsupportedModelError, match=r"XGBClassifier was fitted on the one class 0: its"):
        lg.load(model)


def test_a_linear_booster() -> None:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer versions call it deprecated
        model = xgb.train({"booster": "gblinear"}, xgb.DMatrix(np.eye(4), np.arange(4)), 2)
        with pytest.raises(lg.UnsupportedModelError, match=r"booster=gblinear, which has no trees"):
            lg.load(model)


def test_an_old_xgboost(monkeypatch: pytest.MonkeyPatch) -> None:
    model = xgb.train({}, xgb.DMatrix(np.eye(4), np.arange(4)), 1)
    monkeypatch.setattr(xgb, "__version__", "1.7.6")
    with pytest.raises(lg.UnsupportedModelError, match=r"xgboost 1\.7\.6 is too old to be asked"):
        lg.load(model)


def test_a_model_that_predicts_in_its_own_way_is_found_out() -> None:
    class Doubled(xgb.XGBRegressor):
        def predict(self, X: Any, **options: Any) -> Any:
            return 2 * super().predict(X, **options)

    model = Doubled(n_estimators=2, max_depth=2).fit(np.eye(4), np.arange(4))
    with pytest.raises(lg.ModelMismatchError, match="in the live Doubled"):
        lg.load(model)


# Which library is asked about a file


def ask(monkeypatch: pytest.MonkeyPatch, booster: Callable[..., Any], version: str = "3.4.1") -> None:
    fake = SimpleNamespace(__version__=version, Booster=booster, core=xgb.core)
    monkeypatch.setattr(loader, "installed", lambda _: True)
    monkeypatch.setitem(__import__("sys").modules, "xgboost", fake)


def test_a_library_older_than_the_file_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(**_: Any) -> None:
        raise AssertionError

    ask(monkeypatch, never, "3.3.0")
    assert not lg.load(JSON["dart-3.4.1"]).checked


def test_a_library_that_cannot_read_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(**_: Any) -> None:
        raise xgb.core.XGBoostError("no tree\nstack")

    ask(monkeypatch, refuses)
    with pytest.raises(
        lg.ModelFormatError, match=r"xgboost 3\.4\.1 cannot read the model's content: no tree$"
    ):
        lg.load(JSON["gbtree-3.4.1"])
    assert not lg.load(JSON["gbtree-3.4.1"], check=False).checked


def test_no_locale_changes_a_number() -> None:
    before = locale.setlocale(locale.LC_NUMERIC)
    plain = lg.load(JSON["gbtree-3.4.1"])
    for name in ("de_DE.UTF-8", "C.UTF-8", "C"):
        try:
            locale.setlocale(locale.LC_NUMERIC, name)
        except locale.Error:
            continue
        try:
            assert np.array_equal(lg.load(JSON["gbtree-3.4.1"]).threshold, plain.threshold)
        finally:
            locale.setlocale(locale.LC_NUMERIC, before)
