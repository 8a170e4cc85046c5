"""Reading the attributes of an ONNX node of trees: TreeEnsembleRegressor and -Classifier (opsets 1 to 3 of
ai.onnx.ml, and on) and TreeEnsemble (opset 5), all as one `Ensemble`.

Nodes are named by tree and number in the older operators, and by position in the newer, which keeps leaves
apart. Every list must be as long as its neighbours, and every name must name something.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from leafgrad.errors import ModelFormatError, UnsupportedModelError
from leafgrad.load.onnx_trees import Ensemble, with_chains_joined
from leafgrad.load.trees import BoolArray, FloatArray, IntArray

MODES = {
    "BRANCH_LEQ": "<=",
    "BRANCH_LT": "<",
    "BRANCH_GTE": ">=",
    "BRANCH_GT": ">",
    "BRANCH_EQ": "in",
    "BRANCH_NEQ": "not in",
    "BRANCH_MEMBER": "in",
    "LEAF": "",
}
NUMBERED = ("<=", "<", ">=", ">", "in", "not in", "in")  # by the number in TreeEnsemble's nodes_modes
AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")
TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")


def ensemble(op_type: str, attributes: dict[str, Any]) -> Ensemble:
    """Read the attributes of a node.

    Parameters
    ----------
    op_type : str
        "TreeEnsembleRegressor", "TreeEnsembleClassifier" or "TreeEnsemble".
    attributes : dict
        By name: numbers, text, or lists and arrays of them.
    """
    read = _read_split if op_type == "TreeEnsemble" else _read_table
    return with_chains_joined(read(op_type, attributes))


def _read_table(op_type: str, attributes: dict[str, Any]) -> Ensemble:
    """Read opsets 1 to 3: a table of nodes and a table of weights, both by tree and node."""
    own = _Attributes(attributes)
    classifier = op_type == "TreeEnsembleClassifier"
    kind = "class" if classifier else "target"
    modes = own.texts("nodes_modes")
    n = len(modes)
    if n == 0:
        raise ModelFormatError(f"this {op_type} has no nodes")
    odd = set(modes) - set(MODES)
    if odd:
        raise UnsupportedModelError(
            f"this {op_type} has a node of mode {min(odd)!r}. Known are {', '.join(MODES)}."
        )
    tree_id, node_id = own.ints("nodes_treeids", n), own.ints("nodes_nodeids", n)
    # Trees in the order of their first nodes, and each in one piece.
    _, first, which = np.unique(tree_id, return_index=True, return_inverse=True)
    order = np.argsort(first[which], kind="stable")
    question = np.array([MODES[mode] for mode in modes], dtype="<U6")[order]
    tree_id, node_id = tree_id[order], node_id[order]
    find = _Finder(tree_id, node_id, op_type)
    inner = question != ""
    threshold = own.numbers("nodes_values", n)[order]
    child = {}
    for side in ("true", "false"):
        ids = own.ints(f"nodes_{side}nodeids", n)[order]
        child[side] = np.full(n, -1, dtype=np.int64)
        child[side][inner] = find(tree_id[inner], ids[inner], f"the {side} child of a node")
    classes = own.labels() if classifier else None
    outputs = own.ints(f"{kind}_ids")
    n_outputs = len(classes) if classes is not None else own.whole("n_targets", 0)
    weight = own.numbers(f"{kind}_weights", len(outputs))
    holder = find(
        own.ints(f"{kind}_treeids", len(outputs)),
        own.ints(f"{kind}_nodeids", len(outputs)),
        f"a {kind} weight",
    )
    return _checked(
        Ensemble(
            start=np.concatenate([[0], np.flatnonzero(np.diff(tree_id)) + 1, [n]]).astype(np.int64),
            question=question,
            true=child["true"],
            false=child["false"],
            feature=own.ints("nodes_featureids", n)[order],
            threshold=threshold,
            missing_true=_missing_true(own, question, n, order),
            sets={int(i): threshold[i : i + 1] for i in np.flatnonzero(np.isin(question, ("in", "not in")))},
            weight_node=holder,
            weight_output=outputs,
            weight=weight,
            base=own.numbers("base_values", None),
            n_outputs=n_outputs,
            classes=classes,
            average=_aggregate(own.text("aggregate_function", "SUM"), op_type),
            transform=own.text("post_transform", "NONE"),
        ),
        op_type,
    )


def _read_split(op_type: str, attributes: dict[str, Any]) -> Ensemble:
    """Read opset 5: a table of splits and one of leaves, where every use of a leaf becomes a node."""
    own = _Attributes(attributes)
    number = own.ints("nodes_modes")
    n = len(number)
    if ((number < 0) | (number >= len(NUMBERED))).any():
        raise UnsupportedModelError(
            f"this {op_type} has a node of mode {int(number.max())}. Known are 0 to 6."
        )
    root = own.ints("tree_roots")
    targets = own.ints("leaf_targetids")
    weights = own.numbers("leaf_weights", len(targets))
    child, is_leaf = {}, {}
    for side in ("true", "false"):
        child[side] = own.ints(f"nodes_{side}nodeids", n)
        is_leaf[side] = own.ints(f"nodes_{side}leafs", n) != 0
        most = np.where(is_leaf[side], len(targets), n)
        if ((child[side] < 0) | (child[side] >= most)).any():
            raise ModelFormatError(f"this {op_type} has a {side} child that is none of its nodes and leaves")
    if len(root) == 0 or ((root < 0) | (root >= n)).any():
        raise ModelFormatError(f"this {op_type} has tree_roots that are none of its {n} nodes")
    sets = _members(own, number, op_type)
    splits = own.numbers("nodes_splits", n)
    for i in np.flatnonzero((number == 4) | (number == 5)).tolist():
        sets[i] = splits[i : i + 1]
    missing = own.ints("nodes_missing_value_tracks_true")
    if len(missing) not in (0, n):
        raise ModelFormatError(
            f"this {op_type} has {len(missing)} nodes_missing_value_tracks_true for {n} nodes"
        )
    # From each root downwards; a split that two others lead to is followed twice, and then refused as such.
    origin: list[int] = []  # of each new node: its split, or its leaf as -1 - leaf
    start, links = [0], {"true": {}, "false": {}}  # type: ignore[var-annotated]
    for first in root.tolist():
        origin.append(first)
        at = start[-1]
        seen: dict[int, int] = {first: at}
        while at < len(origin):
            split = origin[at]
            for side in ("true", "false") if split >= 0 else ():
                to = int(child[side][split])
                key = -1 - to if is_leaf[side][split] else to
                if key >= 0 and key in seen:
                    links[side][at] = seen[key]
                else:
                    links[side][at] = len(origin)
                    if key >= 0:
                        seen[key] = len(origin)
                    origin.append(key)
            at += 1
        start.append(len(origin))
    source = np.array(origin, dtype=np.int64)
    inner = source >= 0
    split_of = np.maximum(source, 0)
    question = np.where(inner, np.array(NUMBERED, dtype="<U6")[number[split_of]], "")
    children = {side: np.full(len(source), -1, dtype=np.int64) for side in links}
    for side, to_child in links.items():
        children[side][list(to_child)] = list(to_child.values())
    leaf = np.flatnonzero(~inner)
    aggregate, transform = own.whole("aggregate_function", 1), own.whole("post_transform", 0)
    if not 0 <= transform < len(TRANSFORMS) or not 0 <= aggregate < len(AGGREGATES):
        raise ModelFormatError(
            f"this {op_type} has aggregate_function {aggregate}, post_transform {transform}"
        )
    return _checked(
        Ensemble(
            start=np.array(start, dtype=np.int64),
            question=question,
            true=children["true"],
            false=children["false"],
            feature=own.ints("nodes_featureids", n)[split_of],
            threshold=splits[split_of],
            missing_true=((missing[split_of] == 1) if len(missing) else np.zeros(len(source), np.bool_))
            | (question == "not in"),
            sets={int(i): sets[int(source[i])] for i in np.flatnonzero(inner) if int(source[i]) in sets},
            weight_node=leaf,
            weight_output=targets[-1 - source[leaf]],
            weight=weights[-1 - source[leaf]],
            base=np.zeros(0),
            n_outputs=own.whole("n_targets", 0),
            average=_aggregate(AGGREGATES[aggregate], op_type),
            transform=TRANSFORMS[transform],
        ),
        op_type,
    )


def _members(own: _Attributes, number: IntArray, op_type: str) -> dict[int, FloatArray]:
    """Values of each BRANCH_MEMBER node: they stand in a row, with a NaN behind each node's."""
    nodes = np.flatnonzero(number == 6).tolist()
    values = own.numbers("membership_values", None)
    ends = np.flatnonzero(np.isnan(values)).tolist()
    if len(ends) < len(nodes):
        ends.append(len(values))  # the last NaN may be left out
    if len(ends) != len(nodes):
        raise ModelFormatError(
            f"this {op_type} has {len(ends)} sets of members for {len(nodes)} BRANCH_MEMBER nodes"
        )
    begins = [0, *(end + 1 for end in ends)]
    return {node: values[a:b] for node, a, b in zip(nodes, begins, ends, strict=False)}


def _missing_true(own: _Attributes, question: npt.NDArray[np.str_], n: int, order: IntArray) -> BoolArray:
    """Whether NaN answers True: where the node says so, and to "not equal" always."""
    told = own.ints("nodes_missing_value_tracks_true")
    if len(told) not in (0, n):
        raise ModelFormatError(f"nodes_missing_value_tracks_true has {len(told)} entries for {n} nodes")
    tracks = told[order] == 1 if len(told) else np.zeros(n, np.bool_)
    answer: BoolArray = tracks | (question == "not in")
    return answer


def _aggregate(name: str, op_type: str) -> bool:
    """Whether the trees' mean is taken; a minimum or maximum is no sum."""
    if name not in ("SUM", "AVERAGE"):
        raise UnsupportedModelError(
            f"this {op_type} has aggregate_function={name!r}, which is no sum of trees. "
            "Supported are SUM and AVERAGE."
        )
    return name == "AVERAGE"


def _checked(of: Ensemble, op_type: str) -> Ensemble:
    """Raise where the parts contradict each other."""
    if of.n_outputs < 1:
        raise ModelFormatError(f"this {op_type} has no targets or classes")
    if ((of.weight_output < 0) | (of.weight_output >= of.n_outputs)).any():
        worst = int(of.weight_output[np.argmax(np.abs(of.weight_output - 0.5))])
        raise ModelFormatError(
            f"this {op_type} has a weight of output {worst}; it has {of.n_outputs} outputs"
        )
    pairs = of.weight_node * of.n_outputs + of.weight_output
    if len(np.unique(pairs)) < len(pairs):
        raise ModelFormatError(f"this {op_type} has two weights of one leaf for the same output")
    if of.transform not in TRANSFORMS:
        raise UnsupportedModelError(
            f"this {op_type} has post_transform={of.transform!r}. Known are {', '.join(TRANSFORMS)}."
        )
    return of


class _Attributes:
    """The attributes of a node by name, each in the form that is wanted and as long as it must be."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.given = given

    def ints(self, name: str, n: int | None = None) -> IntArray:
        return self._array(name, np.int64, n)

    def numbers(self, name: str, n: int | None) -> FloatArray:
        """Numbers of a list of float32, or of the `_as_tensor` twin, which may be float64."""
        twin = f"{name}_as_tensor"
        return self._array(twin if len(self.given.get(twin, ())) else name, np.float64, n)

    def _array(self, name: str, dtype: npt.DTypeLike, n: int | None) -> npt.NDArray[Any]:
        out = np.asarray(self.given.get(name, ()), dtype=dtype)
        if out.ndim != 1 or (n is not None and len(out) != n):
            raise ModelFormatError(f"{name} has {out.size} entries; wanted {n}, as its neighbours have")
        return out

    def text(self, name: str, default: str) -> str:
        given = self.given.get(name, default)
        return given.decode() if isinstance(given, bytes) else str(given)

    def texts(self, name: str) -> list[str]:
        return [text.decode() if isinstance(text, bytes) else str(text) for text in self.given.get(name, ())]

    def whole(self, name: str, default: int) -> int:
        return int(self.given.get(name, default))

    def labels(self) -> tuple[Any, ...]:
        return tuple(self.texts("classlabels_strings")) or tuple(self.ints("classlabels_int64s").tolist())


class _Finder:
    """Global number of the node that a tree and a node id name."""

    def __init__(self, tree_id: IntArray, node_id: IntArray, op_type: str) -> None:
        self._op_type = op_type
        self._order = np.lexsort((node_id, tree_id))
        self._tree, self._node = tree_id[self._order], node_id[self._order]
        twice = (np.diff(self._tree) == 0) & (np.diff(self._node) == 0)
        if twice.any():
            at = int(np.argmax(twice))
            raise ModelFormatError(f"this {op_type} has node {self._node[at]} of tree {self._tree[at]} twice")
        self._trees = np.unique(tree_id)
        self._first = np.searchsorted(self._tree, self._trees)
        self._span = int(np.ptp(node_id)) + 1
        self._low = int(node_id.min())
        self._key = np.searchsorted(self._trees, self._tree) * self._span + (self._node - self._low)

    def __call__(self, tree_id: IntArray, node_id: IntArray, what: str) -> IntArray:
        which = np.minimum(np.searchsorted(self._trees, tree_id), len(self._trees) - 1)
        inside = (node_id >= self._low) & (node_id < self._low + self._span) & (self._trees[which] == tree_id)
        key = which * self._span + np.where(inside, node_id - self._low, 0)
        at = np.minimum(np.searchsorted(self._key, key), len(self._key) - 1)
        wrong = ~inside | (self._key[at] != key)
        if wrong.any():
            i = int(np.argmax(wrong))
            raise ModelFormatError(
                f"this {self._op_type} names node {int(node_id[i])} of tree {int(tree_id[i])} as {what}, "
                "and there is none"
            )
        return self._order[at]
