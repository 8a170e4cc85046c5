"""`rank`, the paper's TreeGrad-Ranker, and its rival `greedy`.

The Ranker climbs the relaxed objective (F(z) - F(1-z)) / 2 from z = 1/2 and scores features by the mean of
the gradients met on the way. Neither it nor greedy is linear in the game: every output climbs in a game of
its own, and where the negated margin is meant, that game is the negated one.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from leafgrad import optimizers, plan
from leafgrad import progress as _progress
from leafgrad.arguments import short
from leafgrad.errors import InputError
from leafgrad.explanation import Explanation
from leafgrad.game import Groups
from leafgrad.optimizers import RATES, Adam, GradientAscent, Optimizer
from leafgrad.plan import Floats, Plan
from leafgrad.progress import Mode

if TYPE_CHECKING:
    from leafgrad import _core
    from leafgrad.forest import Forest

ADAM = Adam()
SAMPLE = 32  # rows on which rate="auto" is chosen
FALLS = 1e-6  # the most the mean objective may fall in one step, and
SETTLED = 0.01  # move over the last half of the steps, in units of its range
ROUNDING = 1e-13  # of the objective, in units of the sum over trees of max|leaf - root mean|


def rank(
    model: Any,
    X: Any,
    *,
    optimizer: Optimizer | Literal["auto"] = ADAM,
    output: Any = None,
    groups: Groups = None,
    threads: int | None = None,
    progress: Mode = "auto",
    trace: bool = False,
) -> Explanation:
    """Score features by TreeGrad-Ranker: the mean gradient met while climbing the relaxed joint objective.

    Parameters
    ----------
    model, X, output, groups, threads, progress
        As for `explain`.
    optimizer : Adam, GradientAscent or "auto"
        How to climb; "auto" is `GradientAscent(rate="auto", steps=100)`. A rate of "auto" is chosen for each
        output, on at most 32 rows spread evenly over X.
    trace : bool
        Whether to keep the objective of every step, the last z and the subset it stands for.

    Returns
    -------
    Explanation
        With `values` the paper's zeta, `(n, N)`, or `(n, N, K)` for K > 1 outputs, and `rate` the learning
        rates; with `trace=True` also `trace`, `z` and `subset`.

    Warns
    -----
    UserWarning
        Where `rate="auto"` finds no rate at which the objective rises and settles.

    Notes
    -----
    z may start on a saddle of the objective, as between two features that count the same to the last bit.
    There each step multiplies roundings, and after many of them such features may score differently.

    Examples
    --------
    >>> import leafgrad as lg
    >>> stump = lg.Forest.from_arrays(
    ...     tree_start=[0, 3], left=[1, -1, -1], right=[2, -1, -1], feature=[0, -1, -1],
    ...     threshold=[0.5, 0, 0], cover=[4, 3, 1], value=[0, 0, 1], n_features=2)
    >>> ranked = lg.rank(stump, [[0.7, 9.0]], optimizer=lg.GradientAscent(steps=2), trace=True)
    >>> ranked.values, ranked.method
    (array([[0.75, 0.  ]]), 'ga:5,2')
    >>> ranked.trace, ranked.subset
    (array([[0.   , 0.375, 0.375]]), array([[ True, False]]))
    """
    optimizer = optimizers.parse(optimizer)
    if not isinstance(trace, bool | np.bool_):
        raise InputError(f"trace={trace!r}; pass True or False")
    prepared = plan.prepare(model, X, output=output, groups=groups, threads=threads)
    rates = _rates(prepared, optimizer)
    n, players = prepared.rows.n, len(prepared.players.names)
    length = optimizer.steps + 1

    def step(played: plan.Played, block: npt.NDArray[Any], _: plan.At) -> Floats:
        (column,) = played.columns.tolist()
        zeta, z, path = _run(
            played.game,
            block,
            optimizer,
            rates[column] / _unit_of_step(prepared.forest, optimizer, column),
            trace=bool(trace),
            threads=prepared.threads,
            bar=bar,
        )
        return (zeta if path is None else np.concatenate([zeta, z, path], axis=1))[..., None]

    with _progress.track(progress, n * len(prepared.selection.names or "1")) as bar:
        out = prepared.run(step, (2 * players + length if trace else players,), n, bar, alone=True)
    z = np.ascontiguousarray(out[:, players : 2 * players]) if trace else None
    return replace(
        prepared.explanation(out[:, :players].copy() if trace else out, _method(optimizer, rates)),
        trace=np.ascontiguousarray(out[:, 2 * players :]) if trace else None,
        z=z,
        subset=None if z is None else z > 0.5,
        rate=_spread(prepared, rates),
    )


def greedy(
    model: Any,
    X: Any,
    *,
    output: Any = None,
    groups: Groups = None,
    threads: int | None = None,
    progress: Mode = "auto",
) -> Explanation:
    """Rank features by the paper's greedy baseline, which builds the set one feature at a time.

    To the set S chosen so far it adds the feature i with the largest f(S + i) - f(rest), the lowest index on
    ties.

    Parameters
    ----------
    model, X, output, groups, threads, progress
        As for `explain`.

    Returns
    -------
    Explanation
        With `values` N, N-1, ..., 1 in the order of choice.

    Examples
    --------
    >>> import leafgrad as lg
    >>> stump = lg.Forest.from_arrays(
    ...     tree_start=[0, 3], left=[1, -1, -1], right=[2, -1, -1], feature=[1, -1, -1],
    ...     threshold=[0.5, 0, 0], cover=[4, 3, 1], value=[0, 0, 1], n_features=2)
    >>> lg.greedy(stump, [[9.0, 0.7], [9.0, 0.2]]).values
    array([[1., 2.],
           [2., 1.]])
    """
    prepared = plan.prepare(model, X, output=output, groups=groups, threads=threads)
    n, players = prepared.rows.n, len(prepared.players.names)

    def step(played: plan.Played, block: npt.NDArray[Any], _: plan.At) -> Floats:
        order = played.game.greedy(block, threads=prepared.threads, progress=bar)
        out = np.empty(order.shape)
        np.put_along_axis(out, order.astype(np.intp), np.arange(players, 0.0, -1.0)[None, :], axis=1)
        return out[..., None]

    with _progress.track(progress, n * len(prepared.selection.names or "1")) as bar:
        out = prepared.run(step, (players,), n, bar, alone=True)
    return prepared.explanation(out, "greedy")


# Learning rates


def _rates(prepared: Plan, optimizer: Optimizer) -> dict[int, float]:
    """The learning rate of each output (a column of the forest) that some row wants.

    It is chosen over rows of all X, whichever of them want the output, and by the game as it is: the negated
    one climbs the same objective, mirrored. So it does not depend on how the output was asked for.
    """
    rowwise = prepared.selection.rows
    columns = prepared.selection.columns if rowwise is None else np.unique(rowwise.column)
    if optimizer.rate != "auto":
        return dict.fromkeys(columns.tolist(), optimizer.rate)
    sample = _sample(prepared)
    rates, unsettled = {}, []
    for k in columns.tolist():
        rate = _chosen(prepared, optimizer, sample, k)
        rates[k] = RATES[0] if rate is None else rate
        if rate is None:
            unsettled.append(k)
    if unsettled:
        all_names = prepared.kept.everything.names
        of = "" if len(all_names) == 1 else f" of {', '.join(repr(all_names[k]) for k in unsettled)}"
        cure = "lg.Adam()" if isinstance(optimizer, GradientAscent) else "other settings of lg.Adam"
        if isinstance(optimizer, GradientAscent) and optimizer.scale is None:
            cure = f'lg.GradientAscent(rate="auto", scale="range") or {cure}'
        warnings.warn(
            f'rate="auto": with no rate from {short(RATES[0])} to {short(RATES[-1])} does the objective{of} '
            f"rise and settle in {optimizer.steps} steps; {short(RATES[0])} is taken. "
            f"Pass more steps, a rate, or {cure}",
            UserWarning,
            stacklevel=3,
        )
    return rates


def _sample(prepared: Plan) -> npt.NDArray[Any]:
    """At most so many encoded rows, spread evenly over X."""
    n = prepared.rows.n
    wanted = np.unique(np.linspace(0, max(n - 1, 0), SAMPLE).round().astype(np.intp)[: n or 0])
    parts = []
    for start, block in prepared.rows.blocks():
        parts.append(block[wanted[(wanted >= start) & (wanted < start + len(block))] - start])
    return np.concatenate(parts) if parts else np.empty((0, prepared.forest.n_features))


def _chosen(prepared: Plan, optimizer: Optimizer, sample: npt.NDArray[Any], k: int) -> float | None:
    """The largest rate under which the mean objective rises and settles; None if there is none."""
    played = prepared.kept.played(prepared.forest, prepared.players, np.array([k], dtype=np.int32))
    unit = _unit_of_step(prepared.forest, optimizer, k)
    rounding = ROUNDING * float(prepared.forest.scale[k])
    for rate in reversed(RATES):
        _, _, path = _run(
            played.game, sample, optimizer, rate / unit, trace=True, threads=prepared.threads, bar=None
        )
        assert path is not None
        if not len(path) or _settles(path.mean(axis=0), rounding):
            return rate
    return None


def _settles(objective: Floats, rounding: float) -> bool:
    """Whether the objective, from z_0 on, hardly falls, and hardly moves in the last half of the steps."""
    spread = float(np.ptp(objective))
    late = objective[len(objective) // 2 :]
    falls, moves = float((-np.diff(objective)).max()), float(np.ptp(late))
    return falls <= max(FALLS * spread, rounding) and moves <= max(SETTLED * spread, rounding)


def _unit_of_step(forest: Forest, optimizer: Optimizer, k: int) -> float:
    """What a step divides the gradient by: 1, or the sum over trees of (largest - smallest leaf)."""
    if not isinstance(optimizer, GradientAscent) or optimizer.scale is None or not forest.n_trees:
        return 1.0
    inner = (forest.left >= 0)[:, None]
    start = forest.tree_start[:-1]
    high = np.maximum.reduceat(np.where(inner, -np.inf, forest.value), start, axis=0)
    low = np.minimum.reduceat(np.where(inner, np.inf, forest.value), start, axis=0)
    if forest.tree_output[0] < 0:  # leaves are vectors, of all outputs
        total = float((high - low)[:, k].sum())
    else:
        total = float((high - low)[forest.tree_output == k, 0].sum())
    return total or 1.0  # 0: every gradient is 0


def _run(
    game: _core.Game,
    X: npt.NDArray[Any],
    optimizer: Optimizer,
    rate: float,
    *,
    trace: bool,
    threads: int,
    bar: _progress.Bar | None,
) -> tuple[Floats, Floats, Floats | None]:
    """The loop in the core: zeta, the last z, the objective of every step."""
    adam = optimizer if isinstance(optimizer, Adam) else ADAM
    return game.rank(
        X,
        steps=optimizer.steps,
        rate=min(rate, sys.float_info.max),
        adam=isinstance(optimizer, Adam),
        beta1=adam.beta1,
        beta2=adam.beta2,
        eps=adam.eps,
        eps_inside=adam.eps_inside,
        trace=trace,
        threads=threads,
        progress=bar,
    )


def _spread(prepared: Plan, rates: dict[int, float]) -> Floats:
    """The rates, shaped like `base_values`."""
    n, selection = prepared.rows.n, prepared.selection
    if selection.rows is not None:
        return np.array([rates[k] for k in selection.rows.column.tolist()], dtype=np.float64)
    each = np.array([rates[k] for k in selection.columns.tolist()])
    return np.full(n, each[0]) if selection.flat else np.tile(each, (n, 1))


def _method(optimizer: Optimizer, rates: dict[int, float]) -> str:
    """The optimiser's name, with the rates that "auto" has chosen."""
    if optimizer.rate != "auto":
        return optimizer.name
    found = "|".join(short(rate) for rate in sorted(set(rates.values())))
    return optimizer.name.replace(":auto", f":auto={found}" if found else ":auto", 1)
