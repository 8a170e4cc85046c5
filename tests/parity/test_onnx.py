"""ONNX models are explained as onnxruntime scores them, and as the model that they were converted from.

Rows lie on and around thresholds, are missing, infinite or of unknown categories. onnxruntime adds up in
float32: outputs may differ by 1e-6 of |constant| + the sum of the trees' largest |leaf|.
"""

from __future__ import annotations

import functools
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import onnx
import onnxmltools
import onnxruntime
import pytest
import skl2onnx
import xgboost
from onnxmltools.convert.common.data_types import FloatTensorType
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import leafgrad as lg
from golden.onnx.make_onnx import MODELS as GOLDEN
from golden.onnx.make_onnx import NUMBERED, classifier, regressor, scores, split
from leafgrad.load.probes import probe_rows, spoken
from parity.zoo import d, few, unit

SINGLE = d.X.astype(np.float32).astype(np.float64)  # rows that are the same to both widths
codes = SINGLE.copy()
codes[:, 1] = np.floor(d.X[:, 1] * 40)
codes[:, 4] = np.floor(d.X[:, 4] * 5)
three = np.unique(d.three, return_inverse=True)[1]
tree = {"max_depth": 5, "random_state": 0}


@dataclass(frozen=True)
class Case:
    """A model, the rows and target it is fitted to, and how it is converted."""

    model: Any
    y: np.ndarray
    X: np.ndarray = field(default_factory=lambda: SINGLE)
    fit: tuple[tuple[str, Any], ...] = ()
    double: bool = False  # an input of float64
    weights: Any = None

    def converted(self) -> onnx.ModelProto:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.model.fit(self.X, self.y, **dict(self.fit))
            kind = type(self.model).__module__.partition(".")[0]
            if kind == "sklearn":
                sample = self.X[:1].astype(np.float64 if self.double else np.float32)
                options = {"zipmap": False} if hasattr(self.model, "classes_") else None
                return skl2onnx.to_onnx(
                    self.model, sample, options=options, target_opset={"": 15, "ai.onnx.ml": 3}
                )
            convert = getattr(onnxmltools, f"convert_{kind}")
            return convert(self.model, initial_types=[("X", FloatTensorType([None, self.X.shape[1]]))])


def boosted(kind: Any, y: np.ndarray, X: np.ndarray = SINGLE, fit: Any = (), **how: Any) -> Case:
    own = {"n_jobs": 1, "n_estimators": 6}
    own |= (
        {"verbose": -1, "num_leaves": 8, "min_child_samples": 5}
        if "LGBM" in kind.__name__
        else {"max_depth": 4}
    )
    return Case(kind(**own, **how), y, X, fit)


LGBM, XGB = lightgbm.LGBMRegressor, xgboost.XGBRegressor
CASES: dict[str, Case] = {
    "scikit-learn tree": Case(DecisionTreeRegressor(**tree), d.real),
    "scikit-learn tree classifier": Case(DecisionTreeClassifier(**tree), d.binary),
    "scikit-learn random forest": Case(RandomForestRegressor(**few), d.real),
    "scikit-learn random forest, double": Case(RandomForestRegressor(**few), d.real, double=True),
    "scikit-learn random forest, two targets": Case(RandomForestRegressor(**few), d.two),
    "scikit-learn random forest classifier": Case(RandomForestClassifier(**few), d.three),
    "scikit-learn extra trees classifier": Case(ExtraTreesClassifier(**few), d.binary),
    "scikit-learn extra trees classifier, double": Case(ExtraTreesClassifier(**few), d.binary, double=True),
    "scikit-learn boosting": Case(GradientBoostingRegressor(**few), d.real),
    "scikit-learn boosting classifier": Case(GradientBoostingClassifier(**few), d.binary),
    "scikit-learn boosting classifier, three": Case(GradientBoostingClassifier(**few), d.three),
    "LightGBM": boosted(LGBM, d.real),
    "LightGBM, missing": boosted(LGBM, d.real, d.missing),
    "LightGBM, categories": boosted(LGBM, d.real, codes, (("categorical_feature", [1, 4]),)),
    "LightGBM, binary": boosted(lightgbm.LGBMClassifier, d.binary),
    "LightGBM, multiclass": boosted(lightgbm.LGBMClassifier, three),
    "LightGBM, poisson": boosted(LGBM, d.real - d.real.min(), objective="poisson"),
    "XGBoost": boosted(XGB, d.real),
    "XGBoost, missing": boosted(XGB, d.real, d.missing),
    "XGBoost, binary": boosted(xgboost.XGBClassifier, d.binary),
    "XGBoost, multiclass": boosted(xgboost.XGBClassifier, three),
    "XGBoost, poisson": boosted(XGB, d.real - d.real.min(), objective="count:poisson"),
}


@functools.cache
def converted(name: str) -> onnx.ModelProto:
    return CASES[name].converted()


def live(model: onnx.ModelProto, X: Any, forest: lg.Forest) -> np.ndarray:
    """The runtime's scores before any link, in the outputs of the forest."""
    found = [n for n in model.graph.node if n.op_type.startswith("TreeEnsemble")]
    bare = onnx.ModelProto()
    bare.CopyFrom(model)
    for node in bare.graph.node:
        for attribute in [a for a in node.attribute if a.name == "post_transform"]:
            node.attribute.remove(attribute)
    out = scores_at(bare, found[0].output[-1], np.asarray(X, dtype=np.float64))
    if forest.link == "exp":
        constants = [onnx.numpy_helper.to_array(tensor) for tensor in model.graph.initializer]
        out = out + sum(float(np.log(c).sum()) for c in constants)
    return out[:, 1:] if forest.n_outputs == 1 and out.shape[1] == 2 else out


def scores_at(model: onnx.ModelProto, name: str, X: np.ndarray) -> np.ndarray:
    while len(model.graph.output):
        model.graph.output.pop()
    model.graph.output.append(onnx.helper.make_empty_tensor_value_info(name))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    wide = session.get_inputs()[0].type == "tensor(double)"
    with np.errstate(over="ignore"):
        fed = X.astype(np.float64 if wide else np.float32)
    return np.asarray(session.run(None, {session.get_inputs()[0].name: fed})[0], np.float64).reshape(
        len(X), -1
    )


def assert_same(forest: lg.Forest, model: onnx.ModelProto, X: Any) -> None:
    own, expected = forest.predict(X).reshape(len(X), -1), live(model, X, forest)
    assert own.shape == expected.shape
    assert np.all(np.abs(own - expected) <= 1e-6 * unit(forest))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.supports("ONNX", name)) for name in CASES]
)
def test_outputs_are_the_runtimes(name: str) -> None:
    model, X = converted(name), CASES[name].X
    forest = lg.load(model, data=X)
    assert forest.checked
    assert_same(forest, model, X)
    for seed in (1, 2):
        assert_same(forest, model, spoken(forest, probe_rows(forest, seed=seed)).astype(np.float64))
    for value in (np.nan, np.inf, -np.inf, 1e30, -3.0, 77.0, 2.5):
        rows = X[:60].copy()
        rows[np.arange(60), np.resize([0, 1, 2, 4], 60)] = value
        assert_same(forest, model, rows)


def own_forest(name: str) -> lg.Forest:
    """The original model with the counts of its rows, where it can be loaded."""
    case = CASES[name]
    converted(name)
    return lg.load(case.model, data=case.X)


@pytest.mark.parametrize("name", [name for name in CASES if "scikit-learn" in name])
def test_shapley_values_are_those_of_the_scikit_learn_model(name: str) -> None:
    """Both with the covers of the training rows; the converter rounds leaves to float32."""
    X = CASES[name].X[:40]
    forest, original = lg.load(converted(name), data=CASES[name].X), own_forest(name)
    a, b = (lg.explain(f, X, progress=False).values for f in (forest, original))
    assert np.all(np.abs(a.reshape(b.shape) - b) <= 1e-6 * np.max(unit(original)))


@pytest.mark.parametrize(
    "name", ["LightGBM", "LightGBM, missing", "LightGBM, categories", "LightGBM, binary"]
)
def test_shapley_values_are_lightgbms_own_contributions(name: str) -> None:
    """LightGBM weighs by the counts of its training rows, which the recount finds again."""
    case = CASES[name]
    forest = lg.load(converted(name), data=case.X)
    own = lg.explain(forest, case.X, progress=False).values.reshape(case.X.shape)
    theirs = case.model.predict(case.X, pred_contrib=True)[:, :-1]
    assert np.all(np.abs(own - theirs) <= 1e-6 * np.max(unit(forest)))


@pytest.mark.parametrize("name", ["XGBoost", "XGBoost, missing"])
def test_shapley_values_are_xgboosts_own_contributions(name: str) -> None:
    """A squared error has second derivatives of 1: its sums of them are the counts."""
    case = CASES[name]
    forest = lg.load(converted(name), data=case.X)
    own = lg.explain(forest, case.X, progress=False).values.reshape(case.X.shape)
    theirs = case.model.get_booster().predict(xgboost.DMatrix(case.X, nthread=1), pred_contribs=True)[:, :-1]
    assert np.all(np.abs(own - theirs) <= 2e-6 * np.max(unit(forest)))


@pytest.mark.parametrize("name", CASES)
def test_saved_and_reloaded_the_bits_are_the_same(name: str, tmp_path: Path) -> None:
    model, X = converted(name), CASES[name].X
    onnx.save(model, tmp_path / "model.onnx")
    first = lg.explain(lg.load(model, data=X), X[:20], progress=False).values
    for again in (tmp_path / "model.onnx", str(tmp_path / "model.onnx"), model):
        assert np.array_equal(lg.explain(lg.load(again, data=X), X[:20], progress=False).values, first)


@pytest.mark.parametrize("name", CASES)
def test_shapley_values_add_up_to_the_runtime(name: str) -> None:
    model, X = converted(name), CASES[name].X
    forest = lg.load(model, data=X)
    values = lg.explain(forest, X[:40], progress=False).values.reshape(40, X.shape[1], -1)
    total = values.sum(axis=1) + forest.base
    assert np.all(np.abs(total - live(model, X[:40], forest)) <= 1e-6 * unit(forest))


# Random trees, of every mode at once


def grown(rng: np.random.Generator, depth: int, n_outputs: int, modes: list[str], several: bool) -> Any:
    """A random tree on three columns, the second of whole numbers, as the golden script writes trees."""
    if depth == 0 or rng.random() < 0.15:
        outputs = range(n_outputs) if several else [int(rng.integers(n_outputs))]
        return {k: float(np.float32(rng.normal())) for k in outputs}
    feature = int(rng.integers(3))
    if feature == 1:
        equal = [mode for mode in modes if mode in ("BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER")]
        mode = str(rng.choice(equal))
        value: Any = float(rng.integers(6))
        if mode == "BRANCH_MEMBER":
            value = sorted({float(v) for v in rng.integers(6, size=3)})
        missing: tuple[bool, ...] = ()
    else:
        mode = str(rng.choice(NUMBERED[:4]))
        value = float(np.float32(rng.random()))
        missing = (True,) if rng.random() < 0.3 else ()
    children = [grown(rng, depth - 1, n_outputs, modes, several) for _ in range(2)]
    return (mode, feature, value, *children, *missing)


KINDS = {
    "regressor": "TreeEnsembleRegressor",
    "classifier": "TreeEnsembleClassifier",
    "split": "TreeEnsemble",
}


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=pytest.mark.supports("ONNX", f"{name}: every comparison, at random"))
        for kind, name in KINDS.items()
    ],
)
@pytest.mark.parametrize("seed", range(4))
def test_random_trees_of_every_mode(kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_outputs = int(rng.integers(1, 4))
    modes = NUMBERED if kind == "split" else NUMBERED[:6]
    trees = [grown(rng, 5, n_outputs, modes, kind != "split") for _ in range(4)]
    if kind == "regressor":
        model = regressor(trees, n_outputs, aggregate_function=str(rng.choice(["SUM", "AVERAGE"])))
    elif kind == "classifier":
        trees = [grown(rng, 5, 3, modes, True) for _ in range(4)]
        model = classifier(trees, [4, 5, 6], post_transform="SOFTMAX", base_values=[0.5, -1.0, 2.0])
    else:
        model = split(trees, n_outputs)
    training = np.column_stack([rng.random(300), rng.integers(6, size=300), rng.random(300)])
    forest = lg.load(model, data=training)
    assert forest.checked
    assert (forest.left >= 0).sum() > 15
    rows = spoken(forest, probe_rows(forest, seed=7)).astype(np.float64)
    odd = rows[:200].copy()
    odd[:, 1] = rng.choice([0.5, 2.5, -1.0, 99.0, np.nan, np.inf, 3.0 + 1e-9], len(odd))
    for X in (training, rows, odd):
        expected = scores(model, X)
        assert np.all(np.abs(forest.predict(X).reshape(len(X), -1) - expected) <= 1e-6 * unit(forest))


# What the forest says of the model


def test_outputs_classes_and_links() -> None:
    def facts(model: Any, X: Any) -> tuple[Any, ...]:
        forest = lg.load(model, data=X)
        return forest.n_outputs, forest.classes, forest.link

    def of(name: str) -> tuple[Any, ...]:
        return facts(converted(name), CASES[name].X)

    labels = ("low", "middle", "top")
    assert of("scikit-learn random forest") == (1, None, "identity")
    assert of("scikit-learn random forest classifier") == (3, labels, "identity")
    assert of("scikit-learn extra trees classifier") == (2, (0, 1), "identity")
    assert of("scikit-learn boosting classifier") == (1, (0, 1), "sigmoid")
    assert of("scikit-learn boosting classifier, three") == (3, labels, "softmax")
    assert of("LightGBM, poisson") == (1, None, "exp")
    assert of("XGBoost, poisson") == (1, None, "exp")
    rows = np.zeros((2, 3))
    assert facts(GOLDEN["margin"](), rows) == (1, ("no", "yes"), "sigmoid")
    assert facts(GOLDEN["three_logistic"](), rows) == (3, (1, 2, 3), "sigmoid")
    assert lg.load(GOLDEN["columns"](), data=rows).feature_names == ("age", "size", "price")
    assert lg.load(GOLDEN["leq"](), data=rows).feature_names is None


@pytest.mark.parametrize("name", ["scikit-learn boosting classifier", "LightGBM, binary", "XGBoost, poisson"])
def test_the_link_leads_to_what_the_graph_puts_out(name: str) -> None:
    model, X = converted(name), CASES[name].X
    forest = lg.load(model, data=X)
    order = np.tile(np.arange(X.shape[1]), (len(X), 1))
    final = lg.curves(forest, X, order, link="model", progress=False).insertion[:, -1]
    options = onnxruntime.SessionOptions()
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    put = session.run(None, {session.get_inputs()[0].name: X.astype(np.float32)})[-1]
    if isinstance(put, list):  # of a ZipMap
        put = np.array([[row[0], row[1]] for row in put])
    assert final == pytest.approx(np.asarray(put).reshape(len(X), -1)[:, -1], rel=1e-5)
