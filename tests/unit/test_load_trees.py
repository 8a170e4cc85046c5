"""Operations on trees: rounding of thresholds, joining, subsets of columns, other codes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from leafgrad.errors import ModelFormatError, UnsupportedModelError
from leafgrad.load.trees import (
    Source,
    Trees,
    floor_to_float32,
    joined,
    labels,
    last_rounding_to,
    names,
    parents,
    summed_up,
)

numbers = st.floats(allow_nan=False) | st.floats(-1e3, 1e3) | st.floats(width=32, allow_nan=False)


def rounded(x: float) -> np.float32:
    with np.errstate(over="ignore"):
        return np.float64(x).astype(np.float32)


@given(numbers, numbers)
@example(0.1, 0.1)
@example(float(np.finfo(np.float32).max), 3.5e38)
@example(-3.5e38, -3.5e38)
@example(-float(np.finfo(np.float32).max), 0.0)
@example(float("inf"), float("inf"))
@example(float("-inf"), -1e300)
@example(2.0**-149, 2.0**-150)
def test_rounding_of_thresholds(threshold: float, x: float) -> None:
    """Both ways to say `float32(x) <= threshold` are that, at x and around the number where it turns."""
    low = floor_to_float32(threshold)
    turn = float(last_rounding_to(threshold))
    near = [np.nextafter(turn, -np.inf), turn, np.nextafter(turn, np.inf)]
    for y in [x, threshold, float(low), *near]:
        sklearn = np.float64(rounded(y)) <= threshold
        assert (rounded(y) <= low) == sklearn
        assert (y <= turn) == sklearn


def stump(**changes: object) -> Trees:
    """x[1] <= 0.5: 1, else 3, of three and one rows; and a second tree of a single leaf, 10."""
    return replace(
        Trees(
            start=np.array([0, 3, 4]),
            left=np.array([1, -1, -1, -1], np.int32),
            right=np.array([2, -1, -1, -1], np.int32),
            feature=np.array([1, -1, -1, -1], np.int32),
            threshold=np.array([0.5, 0, 0, 0]),
            cover=np.array([4.0, 3, 1, 4]),
            value=np.array([[0.0], [1], [3], [10]]),
            constant=np.array([100.0]),
        ),
        **changes,
    )


def outputs(trees: Trees, X: object, n_features: int = 2, **facts: object) -> list[float]:
    return Source(trees, n_features, raw=None, **facts).forest().predict(X).tolist()


ROWS = [[9.0, 0.5], [9.0, 0.6]]


def test_scaled() -> None:
    assert outputs(stump(), ROWS) == [111, 113]
    assert outputs(stump().scaled(0.5), ROWS) == [55.5, 56.5]


def test_on_columns_of_a_wider_matrix() -> None:
    wide = stump().on_features([2, 0], 4)
    assert outputs(wide, [[0.5, 7, 7, 7], [0.6, 7, 7, 7]], 4) == [111, 113]


def test_a_column_given_twice() -> None:
    assert outputs(stump().on_features([0, 0], 1), [[0.5], [0.6]], 1) == [111, 113]


def test_on_outputs_of_a_wider_model() -> None:
    wide = stump().on_outputs([2], 3)
    assert outputs(wide, ROWS) == [[0, 0, 111], [0, 0, 113]]


def test_joined() -> None:
    both = joined([stump(), stump(missing_left=np.array([True, False, False, False])).scaled(2)])
    assert both.start.tolist() == [0, 3, 4, 7, 8]
    assert both.left.tolist() == [1, -1, -1, -1] * 2  # still counted from the trees' own roots
    assert outputs(both, ROWS, missing=True) == [333, 339]
    assert outputs(both, [[9.0, np.nan]], missing=True) == [113 + 222]


def test_joined_in_two_widths() -> None:
    """A float32 tree beside a float64 one: each still decides on its own rounding of x."""
    threshold = np.array([0.1, 0, 0, 0])  # between two float32
    single, double = stump(threshold=threshold, dtype=np.float32), stump(threshold=threshold)
    low = floor_to_float32(0.1)
    middle = (float(low) + float(np.nextafter(low, np.float32(1)))) / 2
    rows = [[0, x] for x in (float(low), 0.1, np.nextafter(0.1, 1), middle, np.nextafter(middle, 1), 0.2)]
    expected = np.array(outputs(single, rows)) + np.array(outputs(double, rows))
    assert outputs(joined([single, double]), rows) == expected.tolist()
    assert len(set(expected.tolist())) == 3  # the two part in between
    assert joined([single, single]).dtype == np.float32


def coded(values: tuple[object, ...], left: list[int], missing_left: bool) -> Trees:
    return stump(
        sets={0: np.array(left)},
        categories=(None, values),
        missing_left=np.array([missing_left, False, False, False]),
    )


def test_joined_with_other_categories() -> None:
    """What only one part knows is unknown to the other, and goes where its missing values go."""
    one, two = coded(("a", "b"), [1], False), coded(("b", "c", "d"), [1], True)
    rows = [[0, value] for value in ("a", "b", "c", "d", "strange", None)]
    table = np.array(rows, dtype=object)
    apart = [outputs(part, table, missing=True) for part in (one, two)]
    both = joined([one, two])
    assert both.categories == (None, ("a", "b", "c", "d"))
    assert outputs(both, table, missing=True) == np.sum(apart, axis=0).tolist()
    assert apart == [[113, 111, 113, 113, 113, 113], [111, 113, 111, 113, 111, 111]]


def test_categories_on_a_wider_matrix() -> None:
    part = coded(("a", "b"), [1], False).on_features([2, 0], 3)
    assert part.categories == (("a", "b"), None, None)


def test_a_column_read_both_ways_is_refused() -> None:
    mixed = joined([coded(("a", "b"), [1], False), stump()])
    with pytest.raises(UnsupportedModelError, match=r"this Mean, one member splits column 1 by categories"):
        outputs(mixed, ROWS, model_name="Mean")


def test_parents() -> None:
    start, left = np.array([0, 1, 6]), np.array([-1, 2, -1, 3, -1, -1], np.int32)
    right = np.array([-1, 1, -1, 4, -1, -1], np.int32)
    assert parents(start, left, right).tolist() == [-1, -1, 1, 1, 3, 3]


def test_covers_are_summed_up() -> None:
    start, left = np.array([0, 1, 6]), np.array([-1, 2, -1, 3, -1, -1], np.int32)
    right = np.array([-1, 1, -1, 4, -1, -1], np.int32)
    leaves = np.array([2.0, 0, 1, 0, 4, 8])
    assert summed_up(start, left, right, leaves).tolist() == [2, 13, 1, 12, 4, 8]


def test_children_that_lead_back_are_found_while_summing() -> None:
    for left, right in (([1, 0, -1], [2, 2, -1]), ([1, 2, -1], [1, 2, -1]), ([0, -1, -1], [0, -1, -1])):
        with pytest.raises(ModelFormatError, match="children lead back to nodes above or beside them"):
            summed_up(np.array([0, 3]), np.array(left, np.int32), np.array(right, np.int32), np.ones(3))


def test_names_and_labels() -> None:
    assert names(np.array(["a", "b"], dtype=object)) == ("a", "b")
    assert names(None) is None
    assert labels(np.array([1, 2])) == (1, 2)
    assert type(labels(np.array([1, 2]))[0]) is int
    assert labels(np.array([True, False])) == (True, False)
