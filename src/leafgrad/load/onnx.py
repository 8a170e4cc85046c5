"""ONNX models whose trees are one TreeEnsembleRegressor, TreeEnsembleClassifier or TreeEnsemble node.

The graph is read with the onnx package (`onnx_graph` says what may stand around the trees) and compared with
onnxruntime, where it is installed, on the trees' scores before any link. ONNX keeps no covers: they are
counted from `data=X`.

A classifier of two classes may have one set of weights. Where all of them are positive and nothing transforms
them they are the probability p of the second class, and the outputs 1 - p and p; else they are its margin,
and the one output. So onnxruntime reads them; what it reads in an odd way of its own is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from leafgrad.errors import InputError, ModelFormatError, UnsupportedModelError
from leafgrad.load.files import installed
from leafgrad.load.onnx_attributes import ensemble
from leafgrad.load.onnx_graph import Around, around
from leafgrad.load.onnx_trees import Ensemble, leaf_values, trees
from leafgrad.load.trees import FloatArray, Source, Trees

LINKS = {"NONE": "identity", "LOGISTIC": "sigmoid", "SOFTMAX": "softmax", "PROBIT": "probit"}


def read(model: Any, cover: str | None) -> Source:
    """Read an `onnx.ModelProto`.

    Parameters
    ----------
    model : object
        The model.
    cover : None
        ONNX keeps no covers.
    """
    if type(model).__name__ != "ModelProto":
        raise UnsupportedModelError(
            f"{type(model).__name__} of onnx is no whole model. Pass an onnx.ModelProto, as onnx.load gives."
        )
    if cover is not None:
        raise InputError(
            f"cover={cover!r} is not kept by ONNX models. Pass rows to count covers from: data=X."
        )
    from onnx import helper, numpy_helper

    place = around(model.graph)
    kind = place.node.op_type
    attributes = {a.name: helper.get_attribute_value(a) for a in place.node.attribute}
    arrays = {
        name: numpy_helper.to_array(value) if hasattr(value, "data_type") else value
        for name, value in attributes.items()
    }
    of = ensemble(kind, arrays)
    own, link, column = _outputs(of, place, kind)
    width = _width(place, of)
    scaled = own.scaled(place.factor)
    scaled = replace(scaled, constant=scaled.constant + place.shift)
    categories = scaled.categories
    if categories is not None:
        scaled = replace(scaled, categories=categories[:width] + (None,) * (width - len(categories)))
    names = tuple(source.name for source in place.inputs)
    return Source(
        trees=scaled,
        n_features=width,
        raw=_runtime(model, place, column) if installed("onnxruntime") else None,
        tolerance=1e-6,
        feature_names=names if len(names) > 1 and all(source.width == 1 for source in place.inputs) else None,
        classes=of.classes,
        link=link,
        missing=True,
        infinite=True,
        library="ONNX",
        model_name=kind,
    )


def read_file(content: bytes, name: str, cover: str | None) -> Source:
    """Read an .onnx file.

    Parameters
    ----------
    content : bytes
        All of the file.
    name : str
        Its path, for messages.
    cover : None
        ONNX keeps no covers.
    """
    if not installed("onnx"):
        raise UnsupportedModelError(
            f"{name} is read through onnx, which is not installed. Run: pip install onnx"
        )
    import onnx
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

    try:
        model = onnx.load_model_from_string(content)
    except DecodeError as error:
        raise ModelFormatError(f"{name} is no ONNX model: {error}. Write it again with onnx.save.") from error
    return read(model, cover)


def _width(place: Around, of: Ensemble) -> int:
    """Number of columns: what the inputs say, or as many as the trees use."""
    used = int(of.feature[of.question != ""].max(initial=-1)) + 1
    given = [source.width for source in place.inputs]
    known = [width for width in given if width is not None]
    if len(known) < len(given):
        return used
    if used > sum(known):
        raise ModelFormatError(
            f"the trees of this ONNX model use column {used - 1} of an input of {sum(known)} columns"
        )
    return sum(known)


def _outputs(of: Ensemble, place: Around, kind: str) -> tuple[Trees, str, int | None]:
    """Give the trees with their constant, the link, and the column of the runtime's scores, if it is one."""
    if of.transform not in LINKS:
        raise UnsupportedModelError(
            f"this {kind} has post_transform={of.transform!r}, which drops scores of 0 and has no inverse. "
            "Convert the model with SOFTMAX or NONE."
        )
    if of.transform != "NONE" and (place.link is not None or (place.factor, place.shift) != (1, 0)):
        raise UnsupportedModelError(
            f"this {kind} has post_transform={of.transform!r}, and the graph transforms its scores once "
            "more. Convert the model with one of them."
        )
    link = place.link or LINKS[of.transform]
    value, output = leaf_values(of)
    own = trees(of, value, output, place.dtype)
    if of.classes is not None and len(of.classes) <= 2:
        return _of_two_classes(of, own, place, kind, link)
    if len(of.base) not in (0, of.n_outputs):
        raise ModelFormatError(f"this {kind} has {len(of.base)} base_values for {of.n_outputs} outputs")
    constant = np.zeros(of.n_outputs) if len(of.base) == 0 else of.base
    return (
        replace(own, constant=constant),
        "identity" if of.n_outputs == 1 and link == "softmax" else link,
        None,
    )


def _of_two_classes(
    of: Ensemble, own: Trees, place: Around, kind: str, link: str
) -> tuple[Trees, str, int | None]:
    """Read a classifier of one or two classes as onnxruntime does."""
    if (place.link, place.factor, place.shift) != (None, 1, 0):
        raise UnsupportedModelError(
            f"the graph changes the scores of this {kind} of two classes, which is not supported. "
            "Convert the model without that step."
        )
    if len(of.classes or ()) == 1 or link == "probit":
        raise UnsupportedModelError(
            f"this {kind} has classes {of.classes} and post_transform={of.transform!r}, of which runtimes "
            "make nothing sensible. Convert a model of two classes or more, with NONE, LOGISTIC or SOFTMAX."
        )
    told = np.unique(of.weight_output).tolist()
    if told == [0]:
        if len(of.base) > 1 or link == "softmax":
            raise UnsupportedModelError(
                f"this {kind} has one set of weights for two classes with {len(of.base)} base_values and "
                f"post_transform={of.transform!r}, whose meaning ONNX leaves open. Convert it with at most "
                "one base value, and NONE or LOGISTIC."
            )
        base = float(of.base.sum())
        one = own.value[:, :1] if own.output is None else own.value
        if link == "identity" and not (of.weight < 0).any():
            both = replace(own, value=np.hstack([-one, one]), output=None)
            return replace(both, constant=np.array([1 - base, base])), link, None
        return replace(own, value=one, output=None, constant=np.array([base])), link, 1
    if len(of.base):
        raise UnsupportedModelError(
            f"this {kind} has weights of the second of two classes and base_values beside them, which "
            "runtimes read in different ways. Convert it with weights of the first class only, or without "
            "base values."
        )
    return replace(own, constant=np.zeros(2)), link, None


def _runtime(model: Any, place: Around, column: int | None) -> Callable[[Any], FloatArray]:
    """Give onnxruntime's scores, before any link, as the model's raw output."""

    def raw(X: Any) -> FloatArray:
        session = _session(_up_to_scores(model, place))
        feed, start = {}, 0
        for source in place.inputs:
            width = X.shape[1] if source.width is None else source.width
            with np.errstate(over="ignore"):
                feed[source.name] = np.ascontiguousarray(X[:, start : start + width], dtype=source.dtype)
            start += width
        score = np.asarray(session.run(None, feed)[0], dtype=np.float64).reshape(len(X), -1)
        if column is not None:
            score = score[:, [column]]
        return place.factor * score + place.shift

    return raw


def _session(model: Any) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1  # a few rows are not worth more
    try:
        return onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # of onnxruntime's own kinds, which share no base
        reason = str(error).partition("\n")[0][:120]
        raise ValueError(f"onnxruntime {onnxruntime.__version__} takes no such model ({reason})") from error


def _up_to_scores(model: Any, place: Around) -> Any:
    """Give the model that ends with the trees' scores, and does not transform them."""
    import onnx
    from onnx import helper

    node = onnx.NodeProto()
    node.CopyFrom(place.node)
    for attribute in list(node.attribute):
        if attribute.name == "post_transform":
            node.attribute.remove(attribute)
    wanted = {place.node.input[0]}
    before: list[Any] = []
    for other in reversed(model.graph.node):
        if wanted & set(other.output):
            before.insert(0, other)
            wanted |= set(other.input)
    outputs = list(node.output)
    score = outputs[1 if node.op_type == "TreeEnsembleClassifier" else 0]
    inputs = [tensor for tensor in model.graph.input if tensor.name in {s.name for s in place.inputs}]
    graph = helper.make_graph([*before, node], "trees", inputs, [helper.make_empty_tensor_value_info(score)])
    return helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)
