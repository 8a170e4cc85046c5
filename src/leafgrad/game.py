"""The game itself: f_x(S), its multilinear extension F_x(z), the gradient of it, and the paper's objective.

`f_x(S)` is the expected output when only the players in S are known; `F_x(z)` when player j is known with
probability z_j, so f_x(S) is F_x at the corners of the cube. One walk of the core serves all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from leafgrad import plan, tables
from leafgrad import progress as _progress
from leafgrad.errors import InputError
from leafgrad.plan import Floats, Plan
from leafgrad.progress import Mode
from leafgrad.tables import Array

Groups: TypeAlias = Mapping[str, Iterable[Any]] | None


def gradient(
    model: Any,
    X: Any,
    z: npt.ArrayLike,
    *,
    output: Any = None,
    groups: Groups = None,
    threads: int | None = None,
    progress: Mode = "auto",
) -> Floats:
    """Gradient of the multilinear extension F_x at z.

    Parameters
    ----------
    model, X, output, groups, threads, progress
        As for `explain`.
    z : array
        Probability of each player to be known, in [0, 1]: `(N,)` for all rows, `(n, N)` for one point per
        row, or `(m, N)` for many points of one row. With groups, N is the number of players.

    Returns
    -------
    ndarray
        `(n, N)`, or `(n, N, K)` for K > 1 outputs; m lines for m points of one row.

    Examples
    --------
    >>> import leafgrad as lg
    >>> stump = lg.Forest.from_arrays(
    ...     tree_start=[0, 3], left=[1, -1, -1], right=[2, -1, -1], feature=[0, -1, -1],
    ...     threshold=[0.5, 0, 0], cover=[4, 3, 1], value=[0, 0, 1])
    >>> lg.gradient(stump, [[0.7], [0.2]], [0.5])
    array([[ 0.75],
           [-0.25]])
    """
    prepared = plan.prepare(model, X, output=output, groups=groups, threads=threads)
    points = _points(prepared, z)

    def step(played: plan.Played, block: Array, at: plan.At) -> Floats:
        return played.game.gradient(block, _at(prepared, points, at), prepared.threads, bar)

    lines = _lines(prepared, points)
    with _progress.track(progress, lines) as bar:
        return prepared.run(step, (points.shape[1],), lines, bar, copies=not _ready(points))


def extension(
    model: Any,
    X: Any,
    z: npt.ArrayLike,
    *,
    output: Any = None,
    groups: Groups = None,
    threads: int | None = None,
    progress: Mode = "auto",
) -> Floats:
    """Expected output F_x(z) when player j is known with probability z_j, independently.

    Parameters
    ----------
    model, X, output, groups, threads, progress
        As for `explain`.
    z : array
        As for `gradient`.

    Returns
    -------
    ndarray
        `(n,)`, or `(n, K)` for K > 1 outputs; m lines for m points of one row.

    Examples
    --------
    >>> import leafgrad as lg
    >>> stump = lg.Forest.from_arrays(
    ...     tree_start=[0, 3], left=[1, -1, -1], right=[2, -1, -1], feature=[0, -1, -1],
    ...     threshold=[0.5, 0, 0], cover=[4, 3, 1], value=[0, 0, 1])
    >>> lg.extension(stump, [0.7], [[0.0], [0.5], [1.0]])
    array([0.25 , 0.625, 1.   ])
    """
    prepared = plan.prepare(model, X, output=output, groups=groups, threads=threads)
    return _walk(prepared, _points(prepared, z), progress)


def predict_known(
    model: Any,
    X: Any,
    known: npt.ArrayLike,
    *,
    output: Any = None,
    groups: Groups = None,
    threads: int | None = None,
    progress: Mode = "auto",
) -> Floats:
    """Expected output f_x(S) when only the players in S are known.

    Parameters
    ----------
    model, X, output, groups, threads, progress
        As for `explain`.
    known : array of bool
        Whether each player is in S: `(N,)` for all rows, `(n, N)` for one set per row, or `(m, N)` for many
        sets of one row.

    Returns
    -------
    ndarray
        `(n,)`, or `(n, K)` for K > 1 outputs; m lines for m sets of one row.

    Examples
    --------
    >>> import leafgrad as lg
    >>> stump = lg.Forest.from_arrays(
    ...     tree_start=[0, 3], left=[1, -1, -1], right=[2, -1, -1], feature=[0, -1, -1],
    ...     threshold=[0.5, 0, 0], cover=[4, 3, 1], value=[0, 0, 1])
    >>> lg.predict_known(stump, [0.7], [[False], [True]])
    array([0.25, 1.  ])
    """
    prepared = plan.prepare(model, X, output=output, groups=groups, threads=threads)
    return _walk(prepared, _known(prepared, known), progress)


def objective(
    model: Any,
    X: Any,
    known: npt.ArrayLike,
    *,
    output: Any = None,
    groups: Groups = None,
    threads: int | None = None,
    progress: Mode = "auto",
) -> Floats:
    """Half the difference between knowing only S and knowing only the rest, (f_x(S) - f_x(rest)) / 2.

    Parameters
    ----------
    model, X, output, groups, threads, progress
        As for `explain`.
    known : array of bool
        As for `predict_known`.

    Returns
    -------
    ndarray
        `(n,)`, or `(n, K)` for K > 1 outputs; m lines for m sets of one row.

    Examples
    --------
    >>> import leafgrad as lg
    >>> stump = lg.Forest.from_arrays(
    ...     tree_start=[0, 3], left=[1, -1, -1], right=[2, -1, -1], feature=[0, -1, -1],
    ...     threshold=[0.5, 0, 0], cover=[4, 3, 1], value=[0, 0, 1])
    >>> lg.objective(stump, [0.7], [True])
    array([0.375])
    """
    prepared = plan.prepare(model, X, output=output, groups=groups, threads=threads)
    points = _known(prepared, known)

    # The base is left out of both, so a large one costs no digits.
    def step(played: plan.Played, block: Array, at: plan.At) -> Floats:
        own = _at(prepared, points, at)
        known_only = played.game.extension(block, own, prepared.threads, bar)
        if bar is not None:
            bar.advance(len(block))
        return 0.5 * (known_only - played.game.extension(block, 1.0 - own, prepared.threads, bar))

    lines = _lines(prepared, points)
    with _progress.track(progress, 2 * lines) as bar:
        return prepared.run(step, (), lines, bar, copies=True)


def _walk(prepared: Plan, points: Array, progress: Mode) -> Floats:
    """F_x at the points."""

    def step(played: plan.Played, block: Array, at: plan.At) -> Floats:
        return played.game.extension(block, _at(prepared, points, at), prepared.threads, bar)

    lines = _lines(prepared, points)
    with _progress.track(progress, lines) as bar:
        return prepared.base(lines) + prepared.run(step, (), lines, bar, copies=not _ready(points))


def _lines(prepared: Plan, points: Array) -> int:
    """Rows of the result: those of X, or the points of one row."""
    return len(points) if prepared.rows.n == 1 else prepared.rows.n


def _at(prepared: Plan, points: Array, at: plan.At) -> Floats:
    """The points of these rows; the core shares one point among rows, and one row among points."""
    own = points if len(points) == 1 or prepared.rows.n == 1 else points[at]
    return np.ascontiguousarray(own, dtype=np.float64)


def _ready(points: Array) -> bool:
    """Whether the core can read the points as they are; else they are turned a block at a time."""
    return points.dtype == np.float64 and points.flags.c_contiguous


def _points(prepared: Plan, z: npt.ArrayLike) -> Array:
    """`z` as `(1, N)`, `(n, N)`, or `(m, N)` for one row, each entry in [0, 1]."""
    points = _shaped(prepared, z, "z")
    if points.size and not (points.min() >= 0.0 and points.max() <= 1.0):
        i, j = map(int, np.argwhere(~((points >= 0.0) & (points <= 1.0)))[0])
        raise InputError(
            f"{_place(prepared, z, 'z', i, j)} is {points[i, j]}; z holds probabilities, from 0 to 1"
        )
    return points


def _known(prepared: Plan, known: npt.ArrayLike) -> Array:
    """`known` as a point at a corner of the cube."""
    points = _shaped(prepared, known, "known")
    if points.dtype == np.bool_:
        return points
    wrong = (points != 0.0) & (points != 1.0)
    if wrong.any():
        i, j = map(int, np.argwhere(wrong)[0])
        raise InputError(
            f"{_place(prepared, known, 'known', i, j)} is {points[i, j]}; `known` holds True and False "
            "(for probabilities take leafgrad.extension)"
        )
    return points


def _shaped(prepared: Plan, given: npt.ArrayLike, name: str) -> Array:
    players, n = prepared.players.names, prepared.rows.n
    wanted_of = "a probability" if name == "z" else "True or False"
    columns = getattr(given, "columns", None)
    if columns is not None and list(columns) not in (list(players), list(range(len(players)))):
        raise InputError(
            f"{name} is a frame with other columns than the players {', '.join(map(repr, players[:5]))}"
            f"{', ...' if len(players) > 5 else ''}; pass these, in their order"
        )
    try:
        array = np.asarray(given)
        if array.dtype.kind not in tables.NUMBERS + "O":
            raise InputError(
                f"{name} holds no numbers (dtype {array.dtype}); pass {wanted_of} for each player"
            )
        if array.dtype.kind == "O":
            array = array.astype(np.float64)
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} does not turn into numbers: {error}") from error
    wanted = f"({len(players)},) for all rows, ({n}, {len(players)}) for one per row" + (
        f", or (m, {len(players)})" if n == 1 else ""
    )
    if array.ndim == 1:
        array = array[None, :]
    if array.ndim != 2 or array.shape[1] != len(players) or (n != 1 and len(array) not in {1, n}):
        raise InputError(f"{name} has shape {np.shape(given)}; pass {wanted}")
    return array


def _place(prepared: Plan, given: npt.ArrayLike, name: str, i: int, j: int) -> str:
    index = f"{j}" if np.ndim(given) == 1 else f"{i}, {j}"
    return f"{name}[{index}] ({prepared.players.names[j]!r})"
