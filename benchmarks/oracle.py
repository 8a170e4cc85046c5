"""Exact values of a few rows of a benchmark's forest, in fractions; minutes for deep ones, so they are kept.

A file is named by all numbers that the oracle reads, so that another forest or other rows never meet it.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import models

# Of the forest; no benchmark's has categories.
READ = ("tree_start", "left", "right", "feature", "threshold", "flags", "share", "value", "tree_output")


def exact_values(forest: Any, X: NDArray[np.float64], value: Any) -> NDArray[np.float64]:
    """Values of encoded rows, (rows, features, outputs), each rounded once."""
    from leafgrad.reference import exact, paths

    digest = hashlib.sha256(f"{value!r}".encode())
    for name in (
        "tree_start",
        "left",
        "right",
        "feature",
        "threshold",
        "flags",
        "share",
        "value",
        "tree_output",
    ):
        digest.update(np.ascontiguousarray(getattr(forest, name)).tobytes())
    digest.update(np.ascontiguousarray(X).tobytes())
    path = models.CACHE / f"exact-{digest.hexdigest()[:24]}.npy"
    if not path.exists():
        found = np.array([exact.value(paths.game(forest, x), value).astype(float) for x in X])
        models.CACHE.mkdir(parents=True, exist_ok=True)
        np.save(path, found)
    return np.load(path)
