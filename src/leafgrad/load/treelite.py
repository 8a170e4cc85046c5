"""treelite models and their checkpoints, as treelite's own inference (GTIL) reads them.

The arrays of each tree are taken through treelite's field accessors. A model compares in the width of its
thresholds, casting X to it first; a missing value takes the default child at every kind of split. Leaves are
numbers, or vectors over targets, classes or both, and the whole may be a mean over trees. The raw output is
what `treelite.gtil.predict(..., pred_margin=True)` gives, and treelite's post-processor is the link.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from leafgrad.errors import ModelFormatError, UnsupportedModelError
from leafgrad.load.comparisons import at_most
from leafgrad.load.files import installed
from leafgrad.load.treelite_nodes import CATEGORICAL, NUMERICAL, Nodes
from leafgrad.load.trees import FloatArray, IntArray, Source, Trees

BINARY, MULTICLASS, ISOLATION = 0, 2, 4  # of task_type
OLDEST, NEWEST = 3, 4  # major versions of the checkpoints that treelite 4 reads
LINKS = {
    "identity": "identity",
    "identity_multiclass": "identity",
    "exponential": "exp",
    "softmax": "softmax",
    "logarithm_one_plus_exp": "softplus",
    "signed_square": "square",
}


def read(model: Any, cover: str | None) -> Source:
    """Read a `treelite.Model`.

    Parameters
    ----------
    model : object
        The model.
    cover : str or None
        None: the sums of second derivatives where the model has them (for trees of scikit-learn these are
        the weighted row counts), else row counts. "hessian" or "counts": one of them.
    """
    if type(model).__name__ != "Model":
        raise UnsupportedModelError(
            f"{type(model).__name__} of treelite is no model. Pass a treelite.Model, such as "
            "treelite.frontend.load_xgboost_model gives."
        )
    header = _Header.of(model)
    nodes = Nodes.of(model, header.n_trees)
    coded = np.flatnonzero(nodes.kind == CATEGORICAL)
    comparison = np.where(nodes.kind == NUMERICAL, nodes.operator, "")
    comparison[coded] = np.where(nodes.listed_right[coded], "not in", "in")
    _refuse_comparisons(comparison[nodes.kind == NUMERICAL])
    dtype = np.float32 if model.input_type == "float32" else np.float64
    split = at_most(comparison, nodes.left, nodes.right, nodes.threshold, nodes.default_left, dtype)
    value, output = header.leaves(nodes)
    return Source(
        trees=Trees(
            start=nodes.start,
            left=split.left,
            right=split.right,
            feature=np.where(nodes.left >= 0, nodes.feature, np.int32(-1)),
            threshold=split.threshold,
            cover=nodes.cover(cover),
            value=value,
            constant=header.base,
            dtype=dtype,
            output=output,
            missing_left=split.missing_left,
            negative_other=np.isin(np.arange(len(nodes.left)), coded),
            sets={int(node): nodes.listed(int(node)) for node in coded},
        ),
        n_features=header.n_features,
        raw=lambda X: _raw(model, X, header.columns),
        leaves=lambda X: _ask("predict_leaf", model, X),
        tolerance=1e-12 if model.output_type == "float64" else 1e-6,
        classes=header.classes,
        output_names=("path length",) if header.task == ISOLATION else None,
        link=header.link,
        missing=True,
        absent_missing=True,
        infinite=True,
        library="treelite",
        model_name="Model",
    )


def read_file(content: bytes, name: str, cover: str | None) -> Source:
    """Read a checkpoint, as `treelite.Model.serialize` writes it.

    Parameters
    ----------
    content : bytes
        All of the file.
    name : str
        Its path, for messages.
    cover : str or None
        As `read` takes it.
    """
    if not installed("treelite"):
        raise UnsupportedModelError(
            f"{name} is read through treelite, which is not installed. Run: pip install treelite"
        )
    import treelite

    # treelite trusts what it reads, so that a file of another kind is best kept from it.
    if len(content) < 12 or not OLDEST <= struct.unpack("<i", content[:4])[0] <= NEWEST:
        raise ModelFormatError(
            f"{name} is no treelite checkpoint: it does not begin with a version that treelite 4 reads. "
            "Write it again with treelite.Model.serialize."
        )
    try:
        model = treelite.Model.deserialize_bytes(content)
    except treelite.TreeliteError as error:
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        raise ModelFormatError(
            f"{name} is damaged: treelite says {reason}. Write it again with treelite.Model.serialize."
        ) from error
    return read(model, cover)


@dataclass(frozen=True)
class _Header:
    """What holds for all trees: how leaves become outputs, and what the outputs are."""

    n_trees: int
    n_features: int
    task: int
    average: bool
    n_classes: list[int]  # of each target
    shape: tuple[int, int]  # targets and classes of a leaf vector
    target: IntArray  # (T,) target a tree speaks of; -1: all of them
    label: IntArray  # (T,) the same for classes
    link: str
    columns: IntArray  # (K,) where the outputs stand among targets x most classes
    base: FloatArray  # (K,)

    @classmethod
    def of(cls, model: Any) -> _Header:
        field = model.get_header_accessor().get_field
        n_trees = model.num_tree
        if n_trees == 0:
            raise ModelFormatError("this treelite model has no trees, and nothing to explain")
        n_classes = field("num_class").tolist()
        most = max(n_classes)
        columns = np.concatenate([t * most + np.arange(n) for t, n in enumerate(n_classes)])
        base = np.array(field("base_scores"), dtype=np.float64)
        header = cls(
            n_trees=n_trees,
            n_features=model.num_feature,
            task=int(field("task_type")[0]),
            average=bool(field("average_tree_output")[0]),
            n_classes=n_classes,
            shape=tuple(field("leaf_vector_shape").tolist()),
            target=field("target_id").astype(np.int64),
            label=field("class_id").astype(np.int64),
            link=_link(field("postprocessor"), float(field("sigmoid_alpha")[0])),
            columns=columns,
            base=base[columns] if len(base) == len(n_classes) * most else base,
        )
        header._check(len(base))
        return header

    def _check(self, n_base: int) -> None:
        most, targets = max(self.n_classes), len(self.n_classes)
        if n_base != targets * most:
            raise ModelFormatError(
                f"this treelite model has {n_base} base scores for {targets * most} outputs"
            )
        if len(self.target) != self.n_trees or len(self.label) != self.n_trees:
            raise ModelFormatError(
                f"this treelite model has {len(self.target)} target_id and {len(self.label)} class_id for "
                f"{self.n_trees} trees"
            )
        for ids, n, name in ((self.target, targets, "target"), (self.label, most, "class")):
            if ((ids < -1) | (ids >= n)).any():
                raise ModelFormatError(f"this treelite model has a tree of {name} {int(ids.max())} of {n}")
        wanted = {
            (targets if t < 0 else 1, most if c < 0 else 1)
            for t, c in zip(self.target.tolist(), self.label.tolist(), strict=True)
        }
        if wanted != {self.shape}:
            raise ModelFormatError(
                f"this treelite model has leaves of shape {self.shape}, and trees that want {sorted(wanted)}"
            )

    @property
    def classes(self) -> tuple[Any, ...] | None:
        """Labels 0, 1, ... of a classifier: a treelite model keeps no others."""
        if self.task not in (BINARY, MULTICLASS):
            return None
        labels = tuple(tuple(range(max(n, 2))) for n in self.n_classes)
        return labels if len(labels) > 1 else labels[0]

    def leaves(self, nodes: Nodes) -> tuple[FloatArray, npt.NDArray[np.int32] | None]:
        """Leaf values (n, W), and the output that each tree adds to where W is 1."""
        targets, most = len(self.n_classes), max(self.n_classes)
        tree = np.repeat(np.arange(self.n_trees), np.diff(nodes.start))
        size = np.where(nodes.left < 0, self.shape[0] * self.shape[1], 0)
        cells = np.zeros((self.n_trees, targets, most), np.bool_)  # that each tree adds to
        for t, (target, label) in enumerate(zip(self.target.tolist(), self.label.tolist(), strict=True)):
            cells[t, slice(None) if target < 0 else target, slice(None) if label < 0 else label] = True
        # A mean is taken for each output over the trees that speak of it.
        share = 1 / np.maximum(cells.sum(axis=0), 1).ravel() if self.average else np.ones(targets * most)
        if self.shape == (1, 1):
            cell = self.target * most + self.label
            output = np.searchsorted(self.columns, cell).astype(np.int32)
            value = nodes.leaf_value * share[cell[tree]]
            return value[:, None], output if len(self.columns) > 1 else None
        leaf = np.flatnonzero(size)
        given = nodes.vector_end[leaf] - nodes.vector_begin[leaf]
        if (given != size[leaf]).any() or (nodes.vector_end[leaf] > len(nodes.vector)).any():
            node = int(leaf[np.argmax(given != size[leaf])])
            raise ModelFormatError(
                f"node {node - nodes.start[tree[node]]} of tree {tree[node]} has a leaf vector of "
                f"{int(nodes.vector_end[node] - nodes.vector_begin[node])} numbers; wanted {int(size[node])}"
            )
        own = nodes.vector[nodes.vector_begin[leaf][:, None] + np.arange(self.shape[0] * self.shape[1])]
        value = np.zeros((len(tree), targets * most))
        row, column = np.nonzero(cells.reshape(self.n_trees, -1)[tree[leaf]])
        value[leaf[row], column] = own.ravel() * share[column]
        return value[:, self.columns], None


def _link(postprocessor: str, alpha: float) -> str:
    """Name treelite's post-processor as a link; one that links do not know keeps its name."""
    if postprocessor in ("sigmoid", "multiclass_ova"):
        return "sigmoid" if alpha == 1 else f"sigmoid:{alpha!r}"
    return LINKS.get(postprocessor, postprocessor)


def _refuse_comparisons(asked: Sequence[Any] | npt.NDArray[np.str_]) -> None:
    odd = set(np.unique(asked).tolist()) - {"<", "<=", ">", ">="}
    if odd:
        raise UnsupportedModelError(
            f"this treelite model has a split that asks {odd.pop() or 'nothing'!r}. "
            "Supported are <, <=, >, >= and sets of categories; use a categorical split in place of ==."
        )


def _raw(model: Any, X: Any, columns: IntArray) -> FloatArray:
    """Give treelite's own raw output, (n, K)."""
    out: FloatArray = _ask("predict", model, X, pred_margin=True).reshape(len(X), -1)[:, columns]
    return out


def _ask(question: str, model: Any, X: Any, **how: Any) -> npt.NDArray[Any]:
    from treelite import gtil

    with np.errstate(over="ignore"):
        # One thread: a few rows are not worth more.
        answer: npt.NDArray[Any] = getattr(gtil, question)(
            model, np.asarray(X, dtype=np.float64), nthread=1, **how
        )
    return answer
