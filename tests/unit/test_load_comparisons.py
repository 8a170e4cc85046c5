"""Every comparison as `x <= t`: the same rows left, at every number there is to try."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

from leafgrad.load.comparisons import at_most

ASKED = {"<=": operator.le, "<": operator.lt, ">": operator.gt, ">=": operator.ge}
SPECIAL = [0.0, -0.0, 0.1, 0.5, 5e-324, -5e-324, 1e-45, 3.4e38, -3.5e38, 1.7e308, np.inf, -np.inf]


def neighbours(t: float, dtype: Any) -> np.ndarray:
    with np.errstate(over="ignore"):
        near = np.array([t, *SPECIAL], dtype=dtype)
        sides = [np.nextafter(near, dtype(side)) for side in (np.inf, -np.inf)]
    return np.concatenate([near, *sides])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("missing_left", [True, False])
def test_rows_go_where_the_comparison_sends_them(asked: str, dtype: Any, missing_left: bool) -> None:
    one = np.ones(1, dtype=np.int32)
    for t in SPECIAL:
        split = at_most([asked], one, 2 * one, np.array([t]), np.array([missing_left]), dtype)
        x = neighbours(t, dtype).astype(np.float64)
        went = np.where(x <= split.threshold, split.left, split.right)
        assert np.array_equal(went == 1, ASKED[asked](x, t)), t
        missing_went = split.left if split.missing_left else split.right
        assert (missing_went == 1) == missing_left


def test_sets_of_categories() -> None:
    one = np.array([1, 1, -1], dtype=np.int32)
    two = np.array([2, 2, -1], dtype=np.int32)
    missing = np.array([True, True, False])
    split = at_most(["in", "not in", ""], one, two, np.array([3.0, 3.0, 0.0]), missing, np.float32)
    assert split.left.tolist() == [1, 2, -1]
    assert split.right.tolist() == [2, 1, -1]
    assert split.missing_left.tolist() == [True, False, False]
    assert split.threshold.tolist() == [3.0, 3.0, 0.0]
