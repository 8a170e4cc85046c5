"""Rankings as users write them: positions or names, of any make; what is no ranking is refused."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

import leafgrad as lg
from leafgrad.errors import InputError
from ranked import FOREST, NAMES, ORDER, THREE, X, assert_same


@pytest.mark.parametrize(
    "of",
    [
        np.asfortranarray,
        lambda order: order.tolist(),
        lambda order: order.astype(np.int32),
        lambda order: order.astype(np.uint8),
        lambda order: order.astype(object),
        lambda order: order[:, ::-1][:, ::-1],
        pd.DataFrame,
        lambda order: np.array(NAMES)[order],
        lambda order: np.array(NAMES, dtype=object)[order],
        lambda order: [[NAMES[j] for j in row] for row in order],
        lambda order: pl.DataFrame(np.array(NAMES)[order]),
    ],
)
def test_orders_of_any_make(of):
    assert_same(lg.curves(FOREST, X, of(ORDER)), lg.curves(FOREST, X, ORDER))


def test_one_order_for_all_rows():
    every = lg.curves(FOREST, X, np.tile(ORDER[3], (12, 1)))
    assert_same(lg.curves(FOREST, X, ORDER[3]), every)
    assert_same(lg.curves(FOREST, X, ORDER[3:4]), every)
    assert_same(lg.curves(FOREST, X, [NAMES[j] for j in ORDER[3]]), every)


MISTAKES = [
    (FOREST, ORDER * 1.0, "order holds no positions (dtype float64); pass integers, 0 to 4, the best"),
    (FOREST, ORDER > 2, "order holds no positions (dtype bool)"),
    (FOREST, ORDER + 1, "is 5; the 5 features are 0 to 4"),
    (FOREST, np.where(np.eye(12, 5, k=-3), -1, ORDER), "order[3, 0] is -1; the 5 features are 0 to 4"),
    (
        FOREST,
        np.where(np.arange(12)[:, None] == 7, [0, 1, 2, 1, 4], ORDER),
        "order, row 7 is no permutation of the 5 features: it has 1 ('b') more than once and lacks 3 ('d')",
    ),
    (
        THREE,
        np.stack([ORDER, np.zeros_like(ORDER), ORDER], axis=2),
        "order, row 0, output 1, is no permutation of the 5 features: it has 0 ('a') more than once",
    ),
    (FOREST, ORDER[:, :4], "order has shape (12, 4); pass (5,) for all rows, (12, 5) for one per row"),
    (FOREST, ORDER[:11], "order has shape (11, 5); pass (5,) for all rows, (12, 5) for one per row"),
    (
        FOREST,
        ORDER[:, :, None],
        "order has shape (12, 5, 1); pass (5,) for all rows, (12, 5) for one per row; its",
    ),
    (
        THREE,
        ORDER[:, :, None],
        "order has shape (12, 5, 1); pass (5,) for all rows, (12, 5) for one per row, (12, 5, 3) for",
    ),
    (FOREST, 3, "order has shape (); pass"),
    (FOREST, np.array([*NAMES[:4], "f"]), "order[0, 4] is 'f', which is none of the features 'a', 'b'"),
    (FOREST, [*NAMES[:4], None], "order[0, 4] is None, which is none of the features"),
    (FOREST, [*NAMES[:4], "a"], "order, row 0 is no permutation of the 5 features: it has 0 ('a') more th"),
    (FOREST, [[0, 1], [2]], "order does not turn into an array"),
]  # fmt: skip


@pytest.mark.parametrize(("model", "order", "message"), MISTAKES)
def test_wrong_orders(model, order, message):
    with pytest.raises(InputError, match=re.escape(message)):
        lg.curves(model, X, order)


def test_an_order_per_output_needs_all_outputs():
    order = np.stack([ORDER] * 3, axis=2)
    with pytest.raises(
        InputError, match="its axis of outputs is for output=None, all outputs of a model that has"
    ):
        lg.curves(THREE, X, order, output="x")
