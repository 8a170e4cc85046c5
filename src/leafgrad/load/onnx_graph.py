"""An ONNX graph around its trees: what X is to them, and what becomes of their scores.

Only nodes that provably leave X as it is may stand before the trees (Identity, a Cast between floats, inputs
put side by side), as thresholds speak of the columns that the trees see. Behind them, a score may be renamed,
cast, reshaped or put into a ZipMap, be multiplied and shifted by constants, which stays a sum of trees, and
then pass one link function. Anything else is refused by the node's name.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from leafgrad.errors import ModelFormatError, UnsupportedModelError
from leafgrad.load.trees import Float

OPERATORS = ("TreeEnsembleRegressor", "TreeEnsembleClassifier", "TreeEnsemble")
FLOAT, DOUBLE = 1, 11  # element types of onnx.TensorProto
WIDTHS: dict[int, Float] = {FLOAT: np.float32, DOUBLE: np.float64}
SHAPES_ONLY = ("Identity", "ZipMap", "Reshape", "Flatten", "Squeeze", "Unsqueeze")


@dataclass(frozen=True)
class Input:
    """One input of the graph, and how many columns of X it takes; None: the graph leaves it open."""

    name: str
    width: int | None
    dtype: Float


@dataclass(frozen=True)
class Around:
    """The trees' place in the graph."""

    node: Any  # of the trees
    inputs: tuple[Input, ...]  # in the order of the columns that the trees see
    dtype: Float  # the narrowest width that X passes through
    factor: float  # raw output = factor * score + shift
    shift: float
    link: str | None  # what the graph applies to the raw output; None: nothing


def around(graph: Any) -> Around:
    """Find the trees of a graph, and read what is before and behind them.

    Parameters
    ----------
    graph : onnx.GraphProto
        The graph.
    """
    found = [node for node in graph.node if node.op_type in OPERATORS and node.domain == "ai.onnx.ml"]
    if not found:
        some = sorted({node.op_type for node in graph.node})
        raise UnsupportedModelError(
            f"this ONNX model has no {', '.join(OPERATORS)} node; its nodes are {', '.join(some) or 'none'}. "
            "Pass a model whose trees are one of these."
        )
    if len(found) > 1:
        raise UnsupportedModelError(
            f"this ONNX model has {len(found)} tree ensembles ({_named(found[0])}, {_named(found[1])}, ...), "
            "whose outputs it combines. Pass a model of one, or convert the members one at a time."
        )
    node = found[0]
    inputs, dtypes = _sources(graph, node.input[0])
    score = node.output[1 if node.op_type == "TreeEnsembleClassifier" else 0]
    factor, shift, link = _fate(graph, score)
    return Around(
        node=node,
        inputs=tuple(inputs),
        dtype=np.float32 if np.float32 in dtypes else np.float64,
        factor=factor,
        shift=shift,
        link=link,
    )


# Before the trees


def _sources(graph: Any, name: str) -> tuple[list[Input], set[Float]]:
    """Inputs of the graph that make up a tensor, left to right, and the widths they pass through."""
    makers = {output: node for node in graph.node for output in node.output}
    given = {tensor.name: tensor for tensor in graph.input}
    if name in given and name not in makers:
        kind = given[name].type.tensor_type
        if kind.elem_type not in WIDTHS:
            raise UnsupportedModelError(
                f"input {name!r} of this ONNX model is of element type {kind.elem_type}; supported are float "
                "and double. Convert the model with float inputs, such as FloatTensorType."
            )
        shape = kind.shape.dim
        width = shape[1].dim_value if len(shape) == 2 and shape[1].dim_value > 0 else None
        dtype = WIDTHS[kind.elem_type]
        return [Input(name, width, dtype)], {dtype}
    node = makers.get(name)
    if node is None:
        raise ModelFormatError(
            f"the trees of this ONNX model read {name!r}, which nothing in the graph makes"
        )
    if node.op_type == "Identity":
        return _sources(graph, node.input[0])
    if node.op_type == "Cast" and (to := _attribute(node, "to")) in WIDTHS:
        inputs, dtypes = _sources(graph, node.input[0])
        return inputs, dtypes | {WIDTHS[to]}
    if node.op_type == "Concat" and _attribute(node, "axis") in (1, -1):
        parts = [_sources(graph, part) for part in node.input]
        inputs = [source for own, _ in parts for source in own]
        if all(source.width is not None for source in inputs) and len({s.name for s in inputs}) == len(
            inputs
        ):
            return inputs, {dtype for _, own in parts for dtype in own}
    raise UnsupportedModelError(
        f"node {_named(node)} of this ONNX model changes X before its trees see it. Convert the trees "
        "without that step, and pass what it makes of X."
    )


# Behind the trees


def _fate(graph: Any, score: str) -> tuple[float, float, str | None]:
    """Follow the score to an output of the graph: its factor, its shift and its link."""
    outputs = {tensor.name for tensor in graph.output}
    constants = {tensor.name: tensor for tensor in graph.initializer}
    refused = None
    waiting: list[tuple[str, float, float, str | None]] = [(score, 1.0, 0.0, None)]
    while waiting:
        name, factor, shift, link = waiting.pop(0)
        if name in outputs:
            return factor, shift, link
        for node in graph.node:
            if name in node.input:
                after = _step(node, name, constants, factor, shift, link)
                if after is None:
                    refused = refused or node
                else:
                    waiting.append((node.output[0], *after))
    if refused is None:
        raise ModelFormatError("the scores of this ONNX model's trees reach none of its outputs")
    raise UnsupportedModelError(
        f"node {_named(refused)} of this ONNX model makes something else of the trees' scores, which is no "
        "sum of trees. Convert the trees without that step."
    )


def _step(
    node: Any, name: str, constants: dict[str, Any], factor: float, shift: float, link: str | None
) -> tuple[float, float, str | None] | None:
    """What a node makes of factor * score + shift under a link; None: nothing that is known."""
    kind = node.op_type
    if kind in SHAPES_ONLY or (kind == "Cast" and _attribute(node, "to") in WIDTHS):
        return factor, shift, link
    if link is None and kind in ("Exp", "Sigmoid"):
        return factor, shift, {"Exp": "exp", "Sigmoid": "sigmoid"}[kind]
    if kind in ("Mul", "Div", "Add", "Sub") and len(node.input) == 2:
        first = node.input[0] == name
        other = constants.get(node.input[1 if first else 0])
        number = None if other is None else _number(other)
        if number is None or not math.isfinite(number) or (not first and kind == "Div"):
            return None
        return _linear(kind, first, number, factor, shift, link)
    return None


def _linear(
    kind: str, first: bool, number: float, factor: float, shift: float, link: str | None
) -> tuple[float, float, str | None] | None:
    """Apply one arithmetic node to factor * score + shift, or to its exponential."""
    if (kind in ("Mul", "Div") and number == 1) or (kind == "Add" and number == 0):
        return factor, shift, link
    if kind == "Div":
        if number == 0:
            return None
        kind, number = "Mul", 1 / number
    if link is None and kind == "Mul":
        return factor * number, shift * number, None
    if link is None:
        return (
            (factor, shift + (number if kind == "Add" else -number), None)
            if first or kind == "Add"
            else (
                -factor,
                number - shift,
                None,
            )
        )
    if link == "exp" and kind == "Mul" and number > 0:
        return factor, shift + math.log(number), link  # c * exp(m) = exp(m + log c)
    return None


def _number(tensor: Any) -> float | None:
    """The one number that a constant consists of."""
    from onnx import numpy_helper

    values = np.unique(numpy_helper.to_array(tensor))
    return float(values[0]) if len(values) == 1 and values.dtype.kind in "fiu" else None


def _attribute(node: Any, name: str) -> Any:
    from onnx import helper

    for attribute in node.attribute:
        if attribute.name == name:
            return helper.get_attribute_value(attribute)
    return None


def _named(node: Any) -> str:
    return f"{node.name!r} ({node.op_type})" if node.name else f"{node.op_type} that makes {node.output[0]!r}"
