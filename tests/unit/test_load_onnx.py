"""ONNX models that are refused, damaged, or read in a way of their own."""

from __future__ import annotations

import time
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import leafgrad as lg
from golden.onnx.make_onnx import (
    BOTH,
    DEEP,
    ML,
    ROWS,
    before,
    behind,
    chain,
    classifier,
    model,
    of_nodes,
    regressor,
    split,
    stump,
    table,
)
from leafgrad.load import files

ours = import_module("leafgrad.load.onnx")


def damaged(kind: str = "target", op_type: str = "TreeEnsembleRegressor", **changes: Any) -> onnx.ModelProto:
    attributes = {**table([DEEP, stump(1.0, 2.0)], kind), "n_targets": 1, **changes}
    return model(
        op_type, {name: value for name, value in attributes.items() if value is not None}, ["scores"]
    )


def changed(name: str, at: int, value: Any) -> dict[str, Any]:
    values = list(table([DEEP, stump(1.0, 2.0)], "target")[name])
    values[at] = value
    return {name: values}


FORMAT: list[tuple[Any, str]] = [
    (damaged(**changed("nodes_truenodeids", 0, 99)), "names node 99 of tree 0 as the true child of a node"),
    (damaged(**changed("nodes_falsenodeids", 0, -1)), "names node -1 of tree 0 as the false child"),
    (damaged(**changed("nodes_truenodeids", 0, 0)), r"tree 0, node 0: has children 0 and"),
    (damaged(**changed("nodes_falsenodeids", 0, 1)), r"tree 0, node 0: has children 1 and 1"),
    (damaged(**changed("nodes_truenodeids", 1, 0)), r"has children 0 and"),  # a circle
    (damaged(**changed("nodes_nodeids", 1, 0)), "has node 0 of tree 0 twice"),
    (damaged(**changed("target_nodeids", 0, 77)), "names node 77 of tree 0 as a target weight"),
    (damaged(**changed("target_treeids", 0, 7)), "names node .* of tree 7 as a target weight"),
    (damaged(**changed("target_ids", 0, 3)), "a weight of output 3; it has 1 outputs"),
    (damaged(**changed("target_ids", 0, -2)), "a weight of output -2"),
    (damaged(**changed("nodes_featureids", 0, 5)), "use column 5 of an input of 3 columns"),
    (damaged(**changed("nodes_featureids", 0, -5)), "splits on feature -5"),
    (damaged(**changed("nodes_values", 0, float("nan"))), "its threshold is NaN"),
    (damaged(**changed("target_weights", 0, float("inf"))), "leaf value is not finite"),
    (damaged(nodes_featureids=[0]), "nodes_featureids has 1 entries; wanted 14"),
    (damaged(target_weights=[0.5]), "target_weights has 1 entries"),
    (damaged(nodes_missing_value_tracks_true=[1]), "nodes_missing_value_tracks_true has 1 entries for 14"),
    (damaged(n_targets=0), "has no targets or classes"),
    (damaged(nodes_modes=None), "has no nodes"),
    (damaged(base_values=[1.0, 2.0]), "has 2 base_values for 1 outputs"),
    (damaged(target_nodeids=[2] * 8, target_treeids=[0] * 8), "two weights of one leaf for the same output"),
]


@pytest.mark.parametrize("given, message", FORMAT, ids=[message[:30] for _, message in FORMAT])
def test_what_contradicts_itself_is_damaged(given: Any, message: str) -> None:
    with pytest.raises(lg.ModelFormatError, match=message):
        lg.load(given, data=ROWS)


def newer(**changes: Any) -> onnx.ModelProto:
    made = split([DEEP])
    for attribute in list(made.graph.node[0].attribute):
        if attribute.name in changes:
            made.graph.node[0].attribute.remove(attribute)
    for name, value in changes.items():
        if value is not None:
            made.graph.node[0].attribute.append(helper.make_attribute(name, value))
    return made


@pytest.mark.parametrize(
    "given, message",
    [
        (newer(tree_roots=[9]), "tree_roots that are none of its 5 nodes"),
        (newer(nodes_truenodeids=[1, 99, 0, 0, 0]), "a true child that is none of its nodes"),
        (newer(nodes_falsenodeids=[-1, 0, 0, 0, 0]), "a false child that is none of its nodes"),
        (newer(nodes_featureids=[0]), "nodes_featureids has 1 entries; wanted 5"),
        (newer(leaf_targetids=[0, 0, 0, 0, 0, 4]), "a weight of output 4"),
        (newer(leaf_targetids=[0]), "leaf_weights has 6 entries; wanted 1"),
        (newer(nodes_missing_value_tracks_true=[1]), "1 nodes_missing_value_tracks_true for 5 nodes"),
        (newer(aggregate_function=9), "aggregate_function 9"),
        (newer(nodes_truenodeids=[0, 0, 1, 2, 3], nodes_trueleafs=[0, 1, 1, 1, 1]), "has children 0 and"),
    ],
)
def test_a_newer_node_that_contradicts_itself(given: Any, message: str) -> None:
    with pytest.raises(lg.ModelFormatError, match=message):
        lg.load(given, data=ROWS)


def test_members_without_their_values() -> None:
    made = split([("BRANCH_MEMBER", 1, [2.0], {0: 1.0}, ("BRANCH_MEMBER", 1, [3.0], {0: -4.0}, {0: 9.0}))])
    for attribute in list(made.graph.node[0].attribute):
        if attribute.name == "membership_values":
            made.graph.node[0].attribute.remove(attribute)
    with pytest.raises(lg.ModelFormatError, match="1 sets of members for 2 BRANCH_MEMBER nodes"):
        lg.load(made, data=ROWS)


FLOAT = TensorProto.FLOAT
X = helper.make_tensor_value_info("raw", FLOAT, [None, 3])
Y = helper.make_tensor_value_info("Y", FLOAT, None)
SCALER = helper.make_node("Scaler", ["raw"], ["X"], name="scale", domain=ML, offset=[1.0], scale=[2.0])
HALVES = [helper.make_tensor_value_info(f"part{i}", FLOAT, [None, None]) for i in (0, 1)]
MARGIN = classifier([stump(-0.25, 0.5)], [0, 1])

REFUSED: list[tuple[Any, str]] = [
    (before(regressor([DEEP]), [SCALER], [X]), r"node 'scale' \(Scaler\) .* changes X before its trees"),
    (
        before(
            regressor([DEEP]),
            [helper.make_node("Concat", ["part0", "part1"], ["X"], axis=1)],
            HALVES,
        ),
        "node Concat that makes 'X' .* changes X",
    ),
    (
        before(
            regressor([DEEP]),
            [helper.make_node("Cast", ["raw"], ["X"], to=FLOAT)],
            [helper.make_tensor_value_info("raw", TensorProto.INT64, [None, 3])],
        ),
        "input 'raw' .* element type 7; supported are float and double.*FloatTensorType",
    ),
    (behind(regressor([DEEP]), ("Tanh", None, {})), r"node 'step0' \(Tanh\) .* something else of the trees"),
    (behind(regressor([DEEP]), ("Mul", np.ones(3, np.float32) * [1, 2, 3], {})), "'step0'"),
    (behind(regressor([DEEP]), ("Exp", None, {}), ("Add", np.float32(1), {})), r"'step1' \(Add\)"),
    (behind(MARGIN, ("Mul", np.float32(2), {})), "graph changes the scores of this TreeEnsembleClassifier"),
    (
        behind(regressor([DEEP], post_transform="LOGISTIC"), ("Exp", None, {})),
        "post_transform='LOGISTIC', and the graph transforms",
    ),
    (regressor([DEEP], aggregate_function="MAX"), "aggregate_function='MAX', which is no sum of trees"),
    (split([DEEP], aggregate="MIN"), "aggregate_function='MIN'"),
    (
        regressor([DEEP], post_transform="SOFTMAX_ZERO"),
        "'SOFTMAX_ZERO', which drops scores of 0",
    ),
    (regressor([DEEP], post_transform="ELU"), "post_transform='ELU'. Known are NONE, SOFTMAX"),
    (
        classifier([stump(0.25, 0.5)], [0, 1], base_values=[0.5, 0.5]),
        "one set .* with 2 base_values",
    ),
    (
        classifier([stump(0.25, 0.5)], [0, 1], post_transform="SOFTMAX"),
        "'SOFTMAX', whose meaning",
    ),
    (classifier([BOTH], [0, 1], base_values=[0.5, 0.5]), "base_values beside them.*read in different ways"),
    (classifier([stump(0.25, 0.5)], [5]), r"classes \(5,\) .*two classes or more"),
    (classifier([stump(0.25, 0.5)], [0, 1], post_transform="PROBIT"), "post_transform='PROBIT'"),
    (
        regressor([stump(1.0, 2.0, "BRANCH_EQ", 1), stump(1.0, 2.0, feature=1)]),
        "1 is compared by order",
    ),
    (regressor([stump(1.0, 2.0, "BRANCH_EQ", 1, 0.5, True)]), "column 1 equals a value sends missing values"),
    (damaged(**changed("nodes_modes", 0, "BRANCH_ODD")), "a node of mode 'BRANCH_ODD'. Known are BRANCH_LEQ"),
    (
        of_nodes(
            [helper.make_node("Identity", ["raw"], ["Y"])],
            [X],
            [helper.make_tensor_value_info("Y", FLOAT, None)],
        ),
        "no TreeEnsembleRegressor, .* node; its nodes are Identity",
    ),
]


@pytest.mark.parametrize("given, message", REFUSED, ids=[message[:30] for _, message in REFUSED])
def test_refused_by_name_with_the_cure(given: Any, message: str) -> None:
    with pytest.raises(lg.UnsupportedModelError, match=f"(?s){message}") as caught:
        lg.load(given, data=ROWS)
    assert str(caught.value).endswith(".")


def test_several_ensembles() -> None:
    one, two = regressor([DEEP]), regressor([DEEP])
    two.graph.node[0].output[0] = "others"
    both = of_nodes([*one.graph.node, *two.graph.node], one.graph.input, one.graph.output)
    with pytest.raises(lg.UnsupportedModelError, match=r"2 tree ensembles \('trees' \(TreeEns"):
        lg.load(both, data=ROWS)


def test_a_graph_in_pieces() -> None:
    made = regressor([DEEP])
    made.graph.node[0].input[0] = "nothing"
    with pytest.raises(lg.ModelFormatError, match=r"read 'nothing', which nothing in the graph makes"):
        lg.load(made, data=ROWS)
    made = regressor([DEEP])
    made.graph.output[0].name = "elsewhere"
    with pytest.raises(lg.ModelFormatError, match="reach none of its outputs"):
        lg.load(made, data=ROWS)


def test_covers_are_counted_or_the_model_is_refused() -> None:
    with pytest.raises(lg.UnsupportedModelError, match=r"TreeEnsembleRegressor does not tell .* data=X"):
        lg.load(regressor([DEEP]))
    with pytest.raises(lg.InputError, match=r"cover='counts' is not kept by ONNX models.*data=X"):
        lg.load(regressor([DEEP]), cover="counts")
    forest = lg.load(
        regressor([stump(1.0, 2.0)]), data=[[0.0, 0, 0], [0.1, 0, 0], [0.9, 0, 0], [np.nan, 0, 0]]
    )
    assert forest.share.tolist() == [1.0, 0.5, 0.5]  # a missing value answers no


def test_a_chain_of_equalities_is_one_split() -> None:
    forest = lg.load(regressor([chain([2.0, 5.0, 7.0], stump(1.0, 2.0), stump(-3.0, 4.0))]), data=ROWS)
    assert forest.n_leaves == 4
    assert forest.max_depth == 2
    assert forest.categories == (None, (2.0, 5.0, 7.0), None)


def test_a_chain_whose_links_have_other_children_stays_apart() -> None:
    forest = lg.load(
        regressor([("BRANCH_EQ", 1, 2.0, {0: 1.0}, ("BRANCH_EQ", 1, 3.0, {0: 2.0}, {0: 4.0}))]), data=ROWS
    )
    assert forest.n_leaves == 3
    rows = [[0, 2, 0], [0, 3, 0], [0, 4, 0], [0, 2.5, 0], [0, np.nan, 0]]
    assert forest.predict(rows).tolist() == [1, 2, 4, 4, 4]


def test_equality_is_asked_of_the_number_as_the_model_sees_it() -> None:
    """0.1 * 3 * 10 is a little more than 3 in float64, and 3 in float32."""
    forest = lg.load(regressor([stump(1.0, 2.0, "BRANCH_EQ", 1, 3.0)]), data=ROWS)
    noisy = 0.1 * 3 * 10
    assert noisy != 3
    assert forest.predict([[0, noisy, 0], [0, 3.1, 0]]).tolist() == [1.0, 2.0]


def test_a_width_that_the_graph_leaves_open_is_what_the_trees_use() -> None:
    attributes = {**table([DEEP], "target"), "n_targets": 1}
    made = model("TreeEnsembleRegressor", attributes, ["scores"], width=None)
    assert lg.load(made, data=ROWS).n_features == 3


def test_without_the_runtime_nothing_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ours, "installed", lambda library: library != "onnxruntime")
    forest = lg.load(regressor([DEEP]), data=ROWS)
    assert not forest.checked
    monkeypatch.setattr(ours, "installed", files.installed)
    assert lg.load(regressor([DEEP]), data=ROWS).checked
    assert not lg.load(regressor([DEEP]), data=ROWS, check=False).checked


def test_a_runtime_that_does_not_take_the_model() -> None:
    made = regressor([DEEP])
    made.ir_version = 999
    with pytest.raises(lg.ModelMismatchError, match=r"onnxruntime [\d.]+ takes no such model.*check=False"):
        lg.load(made, data=ROWS)
    assert lg.load(made, data=ROWS, check=False).n_trees == 1


def test_a_file_that_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(b"not a protocol buffer at all")
    with pytest.raises(lg.ModelFormatError, match=r"model\.onnx is no ONNX model.*onnx\.save"):
        lg.load(path, data=ROWS)
    monkeypatch.setattr(ours, "installed", lambda _: False)
    with pytest.raises(lg.UnsupportedModelError, match=r"through onnx, which is not installed.*pip"):
        lg.load(path, data=ROWS)


def test_bytes_of_a_model(tmp_path: Path) -> None:
    made = regressor([DEEP])
    (tmp_path / "model.onnx").write_bytes(made.SerializeToString())
    assert lg.load(tmp_path / "model.onnx", data=ROWS).n_trees == 1
    assert lg.load(made.SerializeToString(), data=ROWS).n_trees == 1


def test_another_object_of_onnx() -> None:
    with pytest.raises(lg.UnsupportedModelError, match=r"GraphProto of onnx is no whole model.*onnx.load"):
        lg.load(regressor([DEEP]).graph, data=ROWS)


def test_a_thousand_trees_load_fast() -> None:
    made = regressor([DEEP] * 1000)
    lg.load(made, data=ROWS[:1])
    start = time.process_time()
    lg.load(made, data=ROWS[:1], check=False)
    assert time.process_time() - start < 0.5
