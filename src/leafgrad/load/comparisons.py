"""Every way of comparing a feature with a threshold, as `x <= t` goes left: the one that a `Forest` knows.

A library may ask `x < t`, `x > t` or `x >= t`, another at every node. For numbers of the width in which it
compares, `x < t` is `x <= t'` with t' the number before t; the opposite question has the same answers with
the children, and the side of missing values, exchanged. Nothing is rounded, and no row goes another way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leafgrad.load.trees import BoolArray, Float, FloatArray, floor_to_float32


@dataclass(frozen=True)
class AtMost:
    """Splits that send `x <= threshold` left."""

    left: npt.NDArray[np.int32]
    right: npt.NDArray[np.int32]
    threshold: FloatArray
    missing_left: BoolArray


def at_most(
    comparison: npt.ArrayLike,
    left: npt.NDArray[np.int32],
    right: npt.NDArray[np.int32],
    threshold: FloatArray,
    missing_left: BoolArray,
    dtype: Float,
) -> AtMost:
    """Put each split in the form `x <= t` goes left.

    Parameters
    ----------
    comparison : array of str
        Per node what goes left: "<=", "<", ">" or ">=" than the threshold, or "in" and "not in" a set of
        categories. Anything else, as at leaves, is left alone.
    left, right : array
        Children.
    threshold : array
        The library's own thresholds.
    missing_left : array
        Whether a missing value goes left.
    dtype : type
        The width in which the library compares.
    """
    asked = np.asarray(comparison)
    strict = (asked == "<") | (asked == ">=")
    opposite = (asked == ">") | (asked == ">=") | (asked == "not in")
    before = np.where(strict, _before(threshold, dtype), threshold)
    # No number is less than -inf: nothing goes where `x < t` does, as nothing goes beyond inf.
    nothing = strict & (threshold == -np.inf)
    before = np.where(nothing, np.inf, before)
    swapped = opposite ^ nothing
    return AtMost(
        left=np.where(swapped, right, left),
        right=np.where(swapped, left, right),
        threshold=before,
        missing_left=missing_left ^ swapped,
    )


def _before(threshold: FloatArray, dtype: Float) -> FloatArray:
    """Largest number of this width that is less than each threshold."""
    if dtype == np.float64:
        return np.nextafter(threshold, -np.inf)
    low = floor_to_float32(threshold)
    below = np.nextafter(low, np.float32(-np.inf))
    return np.where(low.astype(np.float64) < threshold, low, below).astype(np.float64)
