"""What a user ranks features by, positions or names, as positions: each ranking has every player once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from leafgrad.errors import InputError
from leafgrad.plan import Plan
from leafgrad.tables import Array


def positions(prepared: Plan, given: npt.ArrayLike) -> Array:
    """A user's ranking as positions, `(n or 1, N)` or `(n, N, K)`, each a permutation."""
    players, selection, n = prepared.players.names, prepared.selection, prepared.rows.n
    try:
        order = np.asarray(given)
    except (TypeError, ValueError) as error:
        raise InputError(f"order does not turn into an array: {error}") from error
    shapes = f"({len(players)},) for all rows, ({n}, {len(players)}) for one per row"
    if not selection.flat:
        shapes += f", ({n}, {len(players)}, {len(selection.columns)}) for one per row and output"
    fits = (
        order.shape == (len(players),)
        or order.shape in {(n, len(players)), (1, len(players))}
        or (not selection.flat and order.shape == (n, len(players), len(selection.columns)))
    )
    if not fits:
        also = ""
        if order.ndim == 3 and selection.flat:
            also = "; its axis of outputs is for output=None, all outputs of a model that has several"
        raise InputError(f"order has shape {order.shape}; pass {shapes}{also}")
    if order.ndim == 1:
        order = order[None]
    if order.dtype.kind in "OUT":
        order = _from_names(order, players)
    elif order.dtype.kind not in "iu" and order.size:
        raise InputError(
            f"order holds no positions (dtype {order.dtype}); pass integers, 0 to {len(players) - 1}, the "
            "best feature first, or feature names. For scores pass numpy.argsort(-scores, axis=1)"
        )
    _check_permutations(order, players)
    return order


def _from_names(order: Array, players: tuple[str, ...]) -> Array:
    """Positions of names; objects may be positions already."""
    position: dict[Any, int] = {name: j for j, name in enumerate(players)}
    out = np.empty(order.shape, dtype=np.int64)
    for at, cell in enumerate(order.ravel().tolist()):
        try:
            out.flat[at] = cell if type(cell) is int else position[cell]
        except (KeyError, TypeError, OverflowError):
            place = ", ".join(map(str, np.unravel_index(at, order.shape)))
            shown = ", ".join(map(repr, players[:5])) + (", ..." if len(players) > 5 else "")
            raise InputError(f"order[{place}] is {cell!r}, which is none of the features {shown}") from None
    return out


def _check_permutations(order: Array, players: tuple[str, ...]) -> None:
    """Raise unless each ranking has every player once."""
    width = len(players)
    if width == 0 or order.size == 0:
        return
    outside = (order < 0) | (order >= width)
    if outside.any():
        place = tuple(map(int, np.argwhere(outside)[0]))
        raise InputError(
            f"order[{', '.join(map(str, place))}] is {order[place]}; "
            f"the {width} features are 0 to {width - 1}"
        )
    seen = np.zeros(order.shape, dtype=np.bool_)
    np.put_along_axis(seen, order.astype(np.intp), True, axis=1)
    if seen.all():
        return
    i, lacking, *k = map(int, np.argwhere(~seen)[0])
    row = order[i, :, k[0]] if k else order[i]
    twice = int(np.argmax(np.bincount(row.astype(np.intp), minlength=width) > 1))
    of_output = f", output {k[0]}," if k else ""
    raise InputError(
        f"order, row {i}{of_output} is no permutation of the {width} features: it has {twice} "
        f"({players[twice]!r}) more than once and lacks {lacking} ({players[lacking]!r})"
    )
