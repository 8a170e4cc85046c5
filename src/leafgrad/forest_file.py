"""A Forest as arrays and a description, for files and for pickle.

What is kept is what the core derived, shares and centred leaves, so that a forest read again explains to the
bit as the one written.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from leafgrad import _core, archive
from leafgrad.errors import ModelFormatError
from leafgrad.forest import Forest

VERSION = 1
ARRAYS = (
    "tree_start", "left", "right", "feature", "threshold", "flags", "category_set", "set_start", "set_words",
    "value", "tree_output", "root_mean",
)  # fmt: skip
LABELS = ("feature_names", "output_names", "classes", "categories", "frame_categories")
PLAIN = (
    "link", "missing", "missing_value", "absent_missing", "infinite", "categories_hashed", "rounds_integers",
    "codes_in_arrays",
    "checked", "library", "model_name",
)  # fmt: skip


def pack(forest: Forest) -> tuple[dict[str, Any], archive.Arrays]:
    """The forest as a description and plain arrays."""
    arrays = {name: getattr(forest, name) for name in ARRAYS}
    arrays["share"] = forest.share
    arrays["constant"] = forest.constant
    meta = {name: getattr(forest, name) for name in PLAIN}
    meta |= {name: archive.packed(getattr(forest, name)) for name in LABELS}
    meta |= {"n_features": forest.n_features, "n_outputs": forest.n_outputs, "single": forest.core.single}
    return meta, arrays


def unpack(meta: dict[str, Any], arrays: archive.Arrays) -> Forest:
    """The forest that `pack` took apart."""
    core = _core.Forest(
        **{name: np.ascontiguousarray(arrays[name]) for name in ARRAYS},
        cover=arrays["share"],
        n_features=meta["n_features"],
        n_outputs=meta["n_outputs"],
        single=meta["single"],
    )
    constant = np.array(arrays["constant"], dtype=np.float64)
    if constant.shape != (core.n_outputs,) or not np.isfinite(constant).all():
        raise ModelFormatError("the constant is damaged: wanted one finite number an output")
    constant.flags.writeable = False
    labels = {name: archive.unpacked(meta[name]) for name in LABELS}
    forest = Forest(core=core, constant=constant, **labels, **{name: meta[name] for name in PLAIN})
    forest.game()
    return forest


def save(forest: Forest, path: str | os.PathLike[str]) -> None:
    """Write `forest` to `path`, whole or not at all."""
    meta, arrays = pack(forest)
    archive.write(path, "Forest", VERSION, meta, arrays)


def load(given: str | os.PathLike[str] | bytes) -> Forest:
    """Read what `save` wrote, a file or its content."""
    meta, arrays = archive.read(given, "Forest", VERSION)
    try:
        return unpack(meta, arrays)
    except ModelFormatError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise ModelFormatError(f"{archive.called(given)} is damaged: {error}") from error
