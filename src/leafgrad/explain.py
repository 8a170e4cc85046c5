"""`explain`: rows and a value in, an `Explanation` out.

A semivalue is a weighted sum of gradients of F_x at points of the diagonal; the core walks each tree once for
all points of its rule. Any other probabilistic value is a functional on the polynomials that gradients are
there. Everything else here is bookkeeping.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from leafgrad import plan, values
from leafgrad import progress as _progress
from leafgrad.explanation import Explanation
from leafgrad.plan import Floats
from leafgrad.probabilistic import ProbabilisticValue
from leafgrad.progress import Mode
from leafgrad.tables import Array
from leafgrad.values import Shapley, Value

SHAPLEY = Shapley()


def explain(
    model: Any,
    X: Any,
    value: Value | str = SHAPLEY,
    *,
    output: Any = None,
    groups: Mapping[str, Iterable[Any]] | None = None,
    threads: int | None = None,
    progress: Mode = "auto",
) -> Explanation:
    """Attribute the model's output to its features, exactly.

    Parameters
    ----------
    model : Forest or fitted model
        In a loop, `leafgrad.load` the model once and pass the forest.
    X : array, data frame or sparse matrix, `(n, N)`, or one row, `(N,)`
        Rows to explain. Columns with names must have the model's, in its order.
    value : Shapley, Banzhaf, BetaShapley, Semivalue, ProbabilisticValue or str
        What to average; strings are "shapley", "banzhaf:0.3", "beta:4,1", "leave_one_out", "first_in".
    output : label, "predicted", sequence of labels, or None
        The class or target to explain; "predicted" for each row's own class; a list or array for one label
        per row; a (target, class) tuple for a classifier of several targets; None for all outputs.
    groups : mapping of names to features, or None
        Features that are one player, known or unknown together.
    threads : int or None
        None for as many as this process may use.
    progress : bool or "auto"
        "auto" shows a bar for calls of more than a few seconds, in terminals and notebooks.

    Returns
    -------
    Explanation
        With `values` of shape `(n, N)`, or `(n, N, K)` for K > 1 outputs.

    Raises
    ------
    InputError
        Where X or an argument does not fit the model.

    Examples
    --------
    >>> import leafgrad as lg
    >>> stump = lg.Forest.from_arrays(
    ...     tree_start=[0, 3], left=[1, -1, -1], right=[2, -1, -1], feature=[0, -1, -1],
    ...     threshold=[0.5, 0, 0], cover=[4, 3, 1], value=[0, 0, 1], n_features=2)
    >>> explanation = lg.explain(stump, [[0.7, 9.0]])
    >>> explanation.values, explanation.base_values
    (array([[0.75, 0.  ]]), array([0.25]))
    """
    value = values.parse(value)
    prepared = plan.prepare(model, X, output=output, groups=groups, threads=threads)
    rows, players = prepared.rows, prepared.players

    def step(played: plan.Played, block: Array, _: plan.At) -> Floats:
        # By type: nobody tries to find out whether sizes are those of a semivalue.
        if isinstance(value, ProbabilisticValue):
            return played.closed.probabilistic(block, *played.sizes(value), prepared.threads, bar)
        return played.game.attribute(block, *played.rule(value), rows.n, prepared.threads, bar)

    with _progress.track(progress, rows.n) as bar:
        out = prepared.run(step, (len(players.names),), rows.n, bar)
    return prepared.explanation(out, value.name, additive=value.additive)
