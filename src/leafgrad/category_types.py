"""Categories by the types of X's columns: XGBoost's rule, where an array holds codes and a frame values.

A column of a category type is looked up by its values where the model kept them, whatever the order in which
this frame numbers them. Where the model kept none, XGBoost takes the frame's own codes, and so do we. An
array, and a frame's plain numbers where no values were kept, are codes already; any negative number stands
for no known code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from leafgrad.errors import InputError
from leafgrad.tables import Array, Coder, Table, as_floats, is_missing

if TYPE_CHECKING:
    from leafgrad.forest import Forest


def coders(
    forest: Forest, table: Table, by_value: Callable[[int, tuple[Any, ...]], Coder]
) -> dict[int, Coder]:
    """Give for each categorical column of this table what turns it into codes.

    Parameters
    ----------
    forest : Forest
        Whose `categories` name them; () where values were not kept.
    table : Table
        The user's X.
    by_value : callable
        Makes a coder that looks values up: column, values -> coder; NaN for unknown ones.

    Returns
    -------
    dict
        Column -> coder.
    """
    columns = {j: values for j, values in enumerate(forest.categories or ()) if values is not None}
    if columns and table.single and table.category_columns is not None:
        raise InputError(
            "X is one row of a data frame, which has lost the types of its columns, and the model has "
            "categories; pass a frame of one row, X.iloc[[i]]"
        )
    typed = set(table.category_columns or ())
    out: dict[int, Coder] = {}
    for j, values in columns.items():
        if values and values[0] is None and table.category_columns is not None:
            raise InputError(
                f"X is a data frame, and XGBoost before 3.4 saved the categories of {_column(table, j)} cut "
                "short, as one of them is not ASCII; pass an array of codes, or train again with ASCII "
                "categories or with XGBoost 3.4"
            )
        if j in typed:
            out[j] = _Known(j, values, by_value(j, values)) if values else _own_codes(j)
        elif table.category_columns is not None and values:
            raise InputError(
                f"X has plain values in {_column(table, j)}, which the model knows as a category; pass it as "
                "for training, X.astype({name: 'category'}), or pass an array of codes"
            )
        else:
            out[j] = _codes(j)
    return out


def _column(table: Table, j: int) -> str:
    return table.where(0, j).partition(", ")[2]


class _Known:
    """Look values up, and refuse one that the training has not seen, as XGBoost does since 3.3."""

    def __init__(self, j: int, values: tuple[Any, ...], look_up: Coder) -> None:
        self.j, self.values, self.look_up = j, values, look_up

    def __call__(self, table: Table, column: Array, start: int) -> Array:
        codes = self.look_up(table, column, start)
        for i in np.flatnonzero(np.isnan(codes)).tolist():
            if not is_missing(cell := column[i]):
                shown = ", ".join(map(repr, self.values[:5])) + (", ..." if len(self.values) > 5 else "")
                raise InputError(
                    f"X has {cell!r} in {table.where(start + i, self.j)}, a category that the training has "
                    f"not seen (it saw {shown}); make it missing (None), or drop the row"
                )
        return codes


def _own_codes(j: int) -> Coder:
    return lambda table, column, start: table.own_codes(j, start, start + len(column))


def _codes(j: int) -> Coder:
    def given(table: Table, column: Array, start: int) -> Array:
        with np.errstate(over="ignore"):
            codes = as_floats(table, column, start, j).astype(np.float32)
        return np.where(codes < 0, np.float32(-1), codes)

    return given
