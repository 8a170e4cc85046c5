"""The exact maximiser of the paper's joint objective: every subset is tried.

What rankings are judged by in tests and docs, where features are few: no ranking's best prefix, and no
relaxed solution, is above it. A set and the rest have opposite objectives, so half of the 2^N are asked for.
Unlike the other oracles it asks the native game (`leafgrad.objective`), which they have tested.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from leafgrad import game, plan
from leafgrad.errors import InputError
from leafgrad.forest import Forest

Floats: TypeAlias = npt.NDArray[np.float64]
Bools: TypeAlias = npt.NDArray[np.bool_]

MOST = 20  # players
BATCH = 2**14  # subsets at once: 2.6 MB of 20 players


def best_subset(
    model: Any, X: Any, *, output: Any = None, groups: game.Groups = None, threads: int | None = None
) -> tuple[Bools, Floats]:
    """Find the subset with the largest (f_x(S) - f_x(rest)) / 2, for each row and output.

    Parameters
    ----------
    model, X, output, groups, threads
        As for `explain`; X has rows that `X[i : i + 1]` cuts out.

    Returns
    -------
    subset : ndarray of bool, `(n, N)` or `(n, N, K)`
        Who is in it; of equal ones the first, counting player j as 2^j.
    objective : ndarray, `(n,)` or `(n, K)`
        Its objective; never below 0.

    Examples
    --------
    >>> import leafgrad as lg
    >>> from leafgrad.reference.best_subset import best_subset
    >>> stump = lg.Forest.from_arrays(
    ...     tree_start=[0, 3], left=[1, -1, -1], right=[2, -1, -1], feature=[0, -1, -1],
    ...     threshold=[0.5, 0, 0], cover=[4, 3, 1], value=[0, 0, 1], n_features=2)
    >>> best_subset(stump, [[0.7, 9.0], [0.2, 3.0]])
    (array([[ True, False],
           [False, False]]), array([0.375, 0.125]))
    """
    forest = plan.as_forest(model)
    prepared = plan.prepare(forest, X, output=output, groups=groups, threads=threads)
    n, width = prepared.rows.n, len(prepared.players.names)
    if width > MOST:
        raise InputError(
            f"best_subset tries all 2^N subsets of N players, and N = {width} is more than {MOST}; "
            "leafgrad.rank finds good ones where players are many"
        )
    if width == 0:
        raise InputError("the model has no features, so there is no subset to choose")
    n_outputs = 1 if prepared.selection.flat else len(prepared.selection.columns)
    subset = np.empty((n, width, n_outputs), dtype=np.bool_)
    best = np.empty((n, n_outputs))
    for i in range(n):
        row = X if prepared.rows.single else X.iloc[i : i + 1] if hasattr(X, "iloc") else X[i : i + 1]
        own = output[i : i + 1] if isinstance(output, list | np.ndarray) else output
        ask = {"output": own, "groups": groups, "threads": threads}
        subset[i], best[i] = _of_row(forest, row, width, n_outputs, ask)
    return (subset[..., 0], best[..., 0]) if prepared.selection.flat else (subset, best)


def _of_row(
    forest: Forest, row: Any, width: int, n_outputs: int, ask: dict[str, Any]
) -> tuple[Bools, Floats]:
    """The best subset of one row, `(N, K)`, and its objective, `(K,)`."""
    half = 2 ** (width - 1)  # subsets without the last player; the rest of each has it
    everyone = 2 * half - 1
    best, who = np.full(n_outputs, -np.inf), np.zeros(n_outputs, dtype=np.int64)
    least, where = np.full(n_outputs, np.inf), np.zeros(n_outputs, dtype=np.int64)
    for start in range(0, half, BATCH):
        numbers = np.arange(start, min(start + BATCH, half))
        found = game.objective(forest, row, _members(numbers, width), progress=False, **ask)
        found = found.reshape(len(numbers), n_outputs)
        high, low = np.argmax(found, axis=0), len(found) - 1 - np.argmin(found[::-1], axis=0)
        top, bottom = np.max(found, axis=0), np.min(found, axis=0)
        who, best = np.where(top > best, numbers[high], who), np.maximum(best, top)
        where, least = np.where(bottom <= least, numbers[low], where), np.minimum(least, bottom)
    rest = -least > best
    return _members(np.where(rest, everyone - where, who), width).T, np.where(rest, -least, best)


def _members(numbers: npt.NDArray[np.int64], width: int) -> Bools:
    """Subsets by number: bit j says that player j is in."""
    return (numbers[:, None] >> np.arange(width) & 1).astype(np.bool_)
