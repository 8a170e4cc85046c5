"""Small ONNX models, one a feature, and what onnxruntime makes of them.

`python tests/golden/onnx/make_onnx.py` writes them. A tree is a leaf, {output: weight}, or a split, (mode,
feature, value, yes, no) with a True behind where a missing value answers yes. `MODELS` makes each model anew;
scores.json has their scores without the node's post_transform, as the raw output has none.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = Path(__file__).parent
ML = "ai.onnx.ml"
NUMBERED = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER"]
AGGREGATES = ["AVERAGE", "SUM", "MIN", "MAX"]
TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"]
TYPES = {np.float32: TensorProto.FLOAT, np.float64: TensorProto.DOUBLE}
Tree = Any  # see above


def table(trees: Sequence[Tree], prefix: str) -> dict[str, list[Any]]:
    """The attributes of TreeEnsembleRegressor ("target") and -Classifier ("class")."""
    out: dict[str, list[Any]] = {
        name: []
        for name in (
            *("nodes_treeids", "nodes_nodeids", "nodes_featureids", "nodes_modes", "nodes_values"),
            *("nodes_truenodeids", "nodes_falsenodeids", "nodes_missing_value_tracks_true"),
            *(f"{prefix}_treeids", f"{prefix}_nodeids", f"{prefix}_ids", f"{prefix}_weights"),
        )
    }

    def put(t: int, tree: Tree, place: dict[int, int]) -> int:
        """Add a tree; a child that is one object with another is one node with it."""
        if id(tree) in place:
            return place[id(tree)]
        node = place[id(tree)] = len(place)
        at = len(out["nodes_modes"])
        leaf = isinstance(tree, dict)
        mode, feature, value, missing = ("LEAF", 0, 0.0, 0) if leaf else (*tree[:3], int(len(tree) > 5))
        row = (t, node, feature, mode, value, 0, 0, missing)
        for name, entry in zip(list(out)[:8], row, strict=True):
            out[name].append(entry)
        if leaf:
            for output, weight in tree.items():
                for name, entry in zip(list(out)[8:], (t, node, output, weight), strict=True):
                    out[name].append(entry)
        else:
            out["nodes_truenodeids"][at] = put(t, tree[3], place)
            out["nodes_falsenodeids"][at] = put(t, tree[4], place)
        return node

    for t, tree in enumerate(trees):
        put(t, tree, {})
    return out


def regressor(trees: Sequence[Tree], n_targets: int = 1, **more: Any) -> onnx.ModelProto:
    attributes = {**table(trees, "target"), "n_targets": n_targets, **more}
    return model("TreeEnsembleRegressor", attributes, ["scores"])


def classifier(trees: Sequence[Tree], labels: Sequence[Any], **more: Any) -> onnx.ModelProto:
    kind = "classlabels_strings" if isinstance(labels[0], str) else "classlabels_int64s"
    attributes = {**table(trees, "class"), kind: list(labels), **more}
    return model("TreeEnsembleClassifier", attributes, ["label", "scores"])


def split(
    trees: Sequence[Tree],
    n_targets: int = 1,
    aggregate: str = "SUM",
    transform: str = "NONE",
    dtype: Any = np.float32,
) -> onnx.ModelProto:
    """The newer TreeEnsemble; a value may be a list of members; a leaf has one output."""
    out: dict[str, list[Any]] = {
        name: []
        for name in (
            *("nodes_featureids", "nodes_modes", "nodes_splits", "nodes_missing_value_tracks_true"),
            *("nodes_truenodeids", "nodes_trueleafs", "nodes_falsenodeids", "nodes_falseleafs"),
        )
    }
    targets, weights, members, roots = [], [], [], []

    def leaf(tree: Tree) -> int:
        ((target, weight),) = tree.items()
        targets.append(target)
        weights.append(weight)
        return len(targets) - 1

    def put(tree: Tree) -> int:
        at = len(out["nodes_modes"])
        member = tree[0] == "BRANCH_MEMBER"
        if member:
            members.extend([*tree[2], np.nan])
        row = (tree[1], NUMBERED.index(tree[0]), 0.0 if member else tree[2], int(len(tree) > 5), 0, 0, 0, 0)
        for name, entry in zip(out, row, strict=True):
            out[name].append(entry)
        for side, child in (("true", tree[3]), ("false", tree[4])):
            out[f"nodes_{side}leafs"][at] = int(isinstance(child, dict))
            out[f"nodes_{side}nodeids"][at] = leaf(child) if isinstance(child, dict) else put(child)
        return at

    for tree in trees:
        if isinstance(tree, dict):  # a tree of one leaf is a split with it on both sides
            roots.append(len(out["nodes_modes"]))
            number = leaf(tree)
            for name, entry in zip(out, (0, 0, 0.0, 0, number, 1, number, 1), strict=True):
                out[name].append(entry)
        else:
            roots.append(put(tree))
    attributes: dict[str, Any] = {
        **out,
        "nodes_modes": numpy_helper.from_array(np.array(out["nodes_modes"], dtype=np.uint8)),
        "nodes_splits": numpy_helper.from_array(np.array(out["nodes_splits"], dtype=dtype)),
        "leaf_weights": numpy_helper.from_array(np.array(weights, dtype=dtype)),
        "leaf_targetids": targets,
        "tree_roots": roots,
        "n_targets": n_targets,
        "aggregate_function": AGGREGATES.index(aggregate),
        "post_transform": TRANSFORMS.index(transform),
    }
    if members:
        attributes["membership_values"] = numpy_helper.from_array(np.array(members, dtype=dtype))
    return model("TreeEnsemble", attributes, ["scores"], opset=5, dtype=dtype)


def model(
    op_type: str,
    attributes: dict[str, Any],
    outputs: Sequence[str],
    *,
    opset: int = 3,
    dtype: Any = np.float32,
    width: int | None = 3,
) -> onnx.ModelProto:
    """A graph of one node on X of `width` columns."""
    node = helper.make_node(op_type, ["X"], list(outputs), domain=ML, name="trees", **attributes)
    kinds = {"label": TensorProto.STRING if "classlabels_strings" in attributes else TensorProto.INT64}
    score = TYPES[dtype] if op_type == "TreeEnsemble" else TensorProto.FLOAT
    return of_nodes(
        [node],
        [helper.make_tensor_value_info("X", TYPES[dtype], [None, width])],
        [
            helper.make_tensor_value_info(
                name, kinds.get(name, score), [None] if name == "label" else [None, None]
            )
            for name in outputs
        ],
        opset=opset,
    )


def of_nodes(
    nodes: Sequence[Any], inputs: Sequence[Any], outputs: Sequence[Any], constants: Any = (), opset: int = 3
) -> onnx.ModelProto:
    graph = helper.make_graph(list(nodes), "graph", list(inputs), list(outputs), list(constants))
    opsets = [helper.make_opsetid(ML, opset), helper.make_opsetid("", 15)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def behind(of: onnx.ModelProto, *steps: tuple[Any, ...]) -> onnx.ModelProto:
    """The same with nodes behind its scores: (op_type, constant or None, attributes)."""
    nodes, constants, name = list(of.graph.node), list(of.graph.initializer), "scores"
    for i, (op_type, constant, attributes) in enumerate(steps):
        given = [name]
        if constant is not None:
            given.append(f"constant{i}")
            constants.append(numpy_helper.from_array(np.asarray(constant), given[1]))
        name = f"step{i}"
        domain = ML if op_type == "ZipMap" else ""
        nodes.append(helper.make_node(op_type, given, [name], name=f"step{i}", domain=domain, **attributes))
    last = helper.make_tensor_value_info(name, TensorProto.FLOAT, [None, None])
    if nodes[-1].op_type == "ZipMap":
        kind = helper.make_map_type_proto(
            TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, [])
        )
        last = helper.make_value_info(name, helper.make_sequence_type_proto(kind))
    outputs = [tensor for tensor in of.graph.output if tensor.name == "label"]
    return of_nodes(nodes, of.graph.input, [*outputs, last], constants, opset=of.opset_import[0].version)


def before(
    of: onnx.ModelProto, nodes: Sequence[Any], inputs: Sequence[Any], constants: Any = ()
) -> onnx.ModelProto:
    """The same with nodes before its trees; the last of them makes X."""
    return of_nodes(
        [*nodes, *of.graph.node], inputs, of.graph.output, constants, opset=of.opset_import[0].version
    )


def stump(
    a: float, b: float, mode: str = "BRANCH_LEQ", feature: int = 0, value: float = 0.5, *more: Any
) -> Tree:
    return (mode, feature, value, {0: a}, {0: b}, *more)


def chain(values: Sequence[float], yes: Tree, no: Tree, feature: int = 1) -> Tree:
    """A set of categories as converters write it: one equality below the other, with one common child."""
    tree = no
    for value in reversed(values):
        tree = ("BRANCH_EQ", feature, value, yes, tree)
    return tree


def _columns() -> onnx.ModelProto:
    """Three inputs of one column, side by side; one of them is double."""
    inputs = [
        helper.make_tensor_value_info("age", TensorProto.FLOAT, [None, 1]),
        helper.make_tensor_value_info("size", TensorProto.DOUBLE, [None, 1]),
        helper.make_tensor_value_info("price", TensorProto.FLOAT, [None, 1]),
    ]
    nodes = [
        helper.make_node("Cast", ["size"], ["size32"], to=TensorProto.FLOAT),
        helper.make_node("Identity", ["price"], ["same"]),
        helper.make_node("Concat", ["age", "size32", "same"], ["X"], axis=1),
    ]
    return before(regressor([DEEP]), nodes, inputs)


DEEP = (
    *("BRANCH_LEQ", 0, 0.5),
    ("BRANCH_LT", 1, 2.0, {0: 1.0}, ("BRANCH_GT", 2, -1.5, {0: 2.5}, {0: -3.0})),
    ("BRANCH_GTE", 2, 0.25, ("BRANCH_LEQ", 0, 0.75, {0: 4.0}, {0: 0.125}), {0: -0.5}),
)
SET = chain([2.0, 5.0, 7.0], stump(1.0, 2.0), stump(-3.0, 4.0, "BRANCH_LEQ", 2, 0.1))
MISSING = (
    "BRANCH_LEQ",
    0,
    0.5,
    stump(1.0, 2.0, "BRANCH_GT", 1, 2.0, True),
    stump(3.0, 5.0, "BRANCH_LT", 2),
    True,
)
BOTH = ("BRANCH_LEQ", 0, 0.5, {0: 0.25, 1: 0.75}, {0: 0.5, 1: 0.5})
TWO = ("BRANCH_GT", 1, 2.0, {0: 1.0, 1: -1.0}, {1: 7.0})
THREE = [("BRANCH_LEQ", 0, 0.5, {k: 0.5 + k}, {k: -1.0 - k}) for k in (0, 1, 2)]
DOUBLES = {
    "nodes_values_as_tensor": numpy_helper.from_array(np.array([0.1, 0, 0, 0.7, 0, 0])),
    "target_weights_as_tensor": numpy_helper.from_array(np.array([0.1, 0.2, 0.3, 0.4])),
}


def _doubles() -> onnx.ModelProto:
    attributes = table([stump(0, 0), stump(0, 0, "BRANCH_LT", 1)], "target")
    del attributes["nodes_values"], attributes["target_weights"]
    return model(
        "TreeEnsembleRegressor", {**attributes, **DOUBLES, "n_targets": 1}, ["scores"], dtype=np.float64
    )


MODELS: dict[str, Callable[[], onnx.ModelProto]] = {
    "leq": lambda: regressor([stump(1.0, 2.0)]),
    "lt": lambda: regressor([stump(1.0, 2.0, "BRANCH_LT")]),
    "gt": lambda: regressor([stump(1.0, 2.0, "BRANCH_GT")]),
    "gte": lambda: regressor([stump(1.0, 2.0, "BRANCH_GTE")]),
    "eq": lambda: regressor([stump(1.0, 2.0, "BRANCH_EQ", 1, 2.0)]),
    "neq": lambda: regressor([stump(1.0, 2.0, "BRANCH_NEQ", 1, 2.0)]),
    "fractions_equal": lambda: regressor(
        [stump(1.0, 2.0, "BRANCH_EQ", 1, 0.1), stump(1.0, 5.0, "BRANCH_EQ", 1)]
    ),
    "set_as_chain": lambda: regressor([SET]),
    "missing": lambda: regressor([MISSING, stump(1.0, 2.0, "BRANCH_GTE", 2, 0.5, True)]),
    "deep": lambda: regressor([DEEP]),
    "one_leaf": lambda: regressor([{0: 2.5}, stump(1.0, 2.0)]),
    "average": lambda: regressor([DEEP, stump(1.0, 2.0)], aggregate_function="AVERAGE", base_values=[10.0]),
    "base_values": lambda: regressor([BOTH, TWO], n_targets=2, base_values=[10.0, -20.0]),
    "two_targets": lambda: regressor([TWO, BOTH], n_targets=2),
    "double": _doubles,
    "probability": lambda: classifier([stump(0.25, 0.5), stump(0.125, 0.0, "BRANCH_GT", 1)], [0, 1]),
    "margin": lambda: classifier(
        [stump(-0.25, 0.5), DEEP], ["no", "yes"], post_transform="LOGISTIC", base_values=[0.5]
    ),
    "margin_plain": lambda: classifier([stump(-0.25, 0.5), DEEP], [0, 1]),
    "two_sets": lambda: classifier([BOTH, BOTH], [3, 7]),
    "three_classes": lambda: classifier(
        [*THREE, *THREE], ["a", "b", "c"], post_transform="SOFTMAX", base_values=[0.5, 0.25, -1.0]
    ),
    "three_logistic": lambda: classifier(THREE, [1, 2, 3], post_transform="LOGISTIC"),
    "zipmap": lambda: behind(
        classifier([stump(0.25, 0.5)], [0, 1]), ("ZipMap", None, {"classlabels_int64s": [0, 1]})
    ),
    "arithmetic": lambda: behind(
        regressor([DEEP]), ("Div", np.float32(4), {}), ("Sub", np.float32(1.5), {}), ("Identity", None, {})
    ),
    "exponential": lambda: behind(regressor([DEEP]), ("Exp", None, {}), ("Mul", np.float32(3), {})),
    "columns": _columns,
    "ensemble5": lambda: split([DEEP, {0: 0.5}, MISSING]),
    "ensemble5_double": lambda: split([DEEP, stump(0.1, 0.2, "BRANCH_LT", 1, 0.1)], dtype=np.float64),
    "ensemble5_members": lambda: split(
        [
            (
                "BRANCH_MEMBER",
                1,
                [2.0, 5.0, 7.0],
                stump(1.0, 2.0),
                ("BRANCH_MEMBER", 1, [3.0], {0: -4.0}, {0: 9.0}),
            )
        ]
    ),
    "ensemble5_targets": lambda: split(
        [stump(1.0, 2.0), ("BRANCH_GT", 1, 2.0, {1: 3.0}, {1: 0.5})], n_targets=2, aggregate="AVERAGE"
    ),
}
# Rows on, above and below the thresholds, of known and unknown categories, missing and infinite.
GRID = [
    0.5,
    float(np.nextafter(np.float32(0.5), np.float32(1))),
    float(np.nextafter(np.float32(0.5), np.float32(0))),
]
ROWS = np.array(
    [
        [x, y, z]
        for x in (*GRID, 0.75, np.nan, np.inf, -np.inf, 0.1)
        for y in (2.0, 2.5, 5.0, 7.0, 3.0, 0.1, 0.5, np.nan, -1.0, 1e9)
        for z in (0.25, 0.1, -1.5, np.nan, 0.5)
    ]
)


def scores(of: onnx.ModelProto, rows: np.ndarray) -> np.ndarray:
    """What onnxruntime makes of the rows when nothing is transformed: its last output before any Exp."""
    import onnxruntime

    bare = onnx.ModelProto()
    bare.CopyFrom(of)
    for node in bare.graph.node:
        for attribute in [a for a in node.attribute if a.name == "post_transform"]:
            node.attribute.remove(attribute)
    outside = {"Exp", "ZipMap"}
    while any(node.op_type in outside for node in bare.graph.node):
        bare.graph.node.pop()
    while len(bare.graph.output):
        bare.graph.output.pop()
    bare.graph.output.append(helper.make_empty_tensor_value_info(bare.graph.node[-1].output[-1]))
    session = onnxruntime.InferenceSession(bare.SerializeToString(), providers=["CPUExecutionProvider"])
    kinds = {"tensor(float)": np.float32, "tensor(double)": np.float64}
    given, start = {}, 0
    for tensor in session.get_inputs():
        given[tensor.name] = rows[:, start : start + tensor.shape[1]].astype(kinds[tensor.type])
        start += tensor.shape[1]
    return np.asarray(session.run(None, given)[0], dtype=np.float64).reshape(len(rows), -1)


def main() -> None:
    expected = {}
    for name, make in MODELS.items():
        made = make()
        onnx.checker.check_model(made)
        (HERE / f"{name}.onnx").write_bytes(made.SerializeToString(deterministic=True))
        expected[name] = scores(made, ROWS).tolist()
    (HERE / "scores.json").write_text(json.dumps(expected) + "\n")


if __name__ == "__main__":
    main()
