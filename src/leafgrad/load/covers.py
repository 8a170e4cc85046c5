"""Covers recounted from data: how many of the user's rows reach each node.

The game's weights are then those of these rows instead of the training's, and models whose files keep no
covers can be explained at all. A node that no row reaches gives each of its children one half.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import encode
from leafgrad.errors import InputError
from leafgrad.forest import MISSING_LEFT, NEGATIVE_OTHER, OTHER_LEFT, ZERO_MISSING, Forest
from leafgrad.load.trees import FloatArray, IntArray, summed_up
from leafgrad.threads import resolve

PAIRS = 4_000_000  # of rows and trees, held together


def recounted(forest: Forest, data: Any) -> Forest:
    """Give the same forest with the rows of `data` as its training weight.

    Parameters
    ----------
    forest : Forest
        Any forest.
    data : object
        Rows as `leafgrad.explain` takes them.
    """
    cover = _count(forest, data)
    has_set = np.flatnonzero(forest.category_set >= 0)
    sets = [_codes(forest, which) for which in range(len(forest.set_start) - 1)]
    tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.tree_start))
    return Forest.from_arrays(
        tree_start=forest.tree_start,
        left=forest.left,
        right=forest.right,
        feature=forest.feature,
        threshold=forest.threshold,
        cover=cover,
        value=forest.value + forest.root_mean[tree],
        tree_output=None if (forest.tree_output < 0).all() else forest.tree_output,
        missing_left=(forest.flags & MISSING_LEFT) != 0,
        categories_left={node: sets[forest.category_set[node]] for node in has_set.tolist()} or None,
        other_left=(forest.flags & OTHER_LEFT) != 0,
        zero_missing=(forest.flags & ZERO_MISSING) != 0,
        negative_other=(forest.flags & NEGATIVE_OTHER) != 0,
        dtype=forest.dtype,
        constant=forest.constant,
        n_features=forest.n_features,
        n_outputs=forest.n_outputs,
        feature_names=forest.feature_names,
        output_names=forest.output_names,
        classes=forest.classes,
        link=forest.link,
        missing=forest.missing,
        missing_value=forest.missing_value,
        absent_missing=forest.absent_missing,
        infinite=forest.infinite,
        categories=forest.categories,
        categories_hashed=forest.categories_hashed,
        checked=forest.checked,
        library=forest.library,
        model_name=forest.model_name,
    ).replace(
        frame_categories=forest.frame_categories,
        rounds_integers=forest.rounds_integers,
        codes_in_arrays=forest.codes_in_arrays,
    )


def _count(forest: Forest, data: Any) -> FloatArray:
    """Count the rows that reach each node, (n_nodes,)."""
    rows = encode.rows(forest, data)
    if rows.n == 0:
        raise InputError("data has no rows to count covers from. Pass the training data, or rows like them.")
    count = np.zeros(len(forest.left))
    for _, block in rows.blocks(max(1, PAIRS // max(1, forest.n_trees))):
        leaf = forest.core.leaves(block, resolve(None)) + forest.tree_start[:-1]
        count += np.bincount(leaf.ravel(), minlength=len(count))
    return summed_up(forest.tree_start, forest.left, forest.right, count)


def _codes(forest: Forest, which: int) -> IntArray:
    """Codes of one category set."""
    words = forest.set_words[forest.set_start[which] : forest.set_start[which + 1]]
    return np.flatnonzero(np.unpackbits(words.astype("<u4").view(np.uint8), bitorder="little"))
