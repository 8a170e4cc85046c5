"""The categories of XGBoost's columns: which columns have them, and the values behind the codes.

Since XGBoost 3.1 a model that was trained on a data frame keeps the values, and looks those of a new frame
up. Older models, and those trained on arrays, know codes only: then a frame's own codes count. XGBoost 3.1
to 3.3 cut the values short if one of them is not ASCII (they measure text in characters, and cut it in
bytes): such values are lost, and stand as None.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from leafgrad.load.trees import BoolArray, Categories
from leafgrad.load.xgboost_document import Part, column

WHOLE_TEXT = (3, 4)  # from this XGBoost on


def categories(learner: Part, model: Part, split_on: BoolArray, version: Sequence[Any]) -> Categories | None:
    """Give per column None if it is numeric, else its values in the order of their codes; () if not kept.

    Parameters
    ----------
    learner : Part
        The file's `learner`.
    model : Part
        Its model of trees.
    split_on : array
        Per column, whether a tree splits it by categories.
    version : sequence of int
        Of the XGBoost that saved the file.
    """
    width = len(split_on)
    types = learner.texts("feature_types")
    if len(types) not in (0, width):
        raise learner.wrong("feature_types", types, f"none, or one for each of {width} features")
    kept = model.part("cats").parts("enc") if "cats" in model else []
    if len(kept) not in (0, width):
        raise model.part("cats").wrong("enc", kept, f"none, or one for each of {width} features")
    coded = split_on.copy()
    coded |= np.array([kind == "c" for kind in types] or False)
    found: list[tuple[Any, ...] | None] = [() if own else None for own in coded]
    for j, part in enumerate(kept):
        values = _values(part, cut=list(version) < [*WHOLE_TEXT])
        found[j] = values or found[j]
    return tuple(found) if any(values is not None for values in found) else None


def _values(part: Part, *, cut: bool) -> tuple[Any, ...]:
    """Values of one column: numbers, or texts laid end to end in UTF-8; None for lost ones."""
    if "offsets" not in part:
        numbers, _ = column([part], "values", np.int64)
        values = numbers.tolist()
    else:
        offsets = column([part], "offsets", np.int64)[0]
        text = column([part], "values", np.int8)[0].tobytes()
        if len(offsets) and (offsets[0] != 0 or offsets[-1] != len(text) or (np.diff(offsets) < 0).any()):
            raise part.wrong("offsets", offsets.tolist(), "numbers that rise from 0 to the length of values")
        ends = offsets.tolist()
        if cut and not text.isascii():
            return (None,) * max(0, len(ends) - 1)
        try:
            values = [text[a:b].decode() for a, b in pairwise(ends)]
        except UnicodeDecodeError:  # cut short, and saved again by a later XGBoost
            return (None,) * (len(ends) - 1)
    if len(set(values)) < len(values):
        raise part.wrong("values", values, "a category only once")
    return tuple(values)
