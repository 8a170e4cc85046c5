"""`best_of`: of several values or explanations, for each row the one whose ranking has the best curves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from leafgrad import plan, values
from leafgrad.curves import By, check_by, curves
from leafgrad.errors import InputError
from leafgrad.explain import explain
from leafgrad.explanation import Explanation
from leafgrad.game import Groups
from leafgrad.plan import Floats, Plan
from leafgrad.progress import Mode
from leafgrad.values import Value


def best_of(
    model: Any,
    X: Any,
    candidates: Iterable[Value | str | Explanation],
    *,
    by: By = "joint",
    link: Any = None,
    output: Any = None,
    groups: Groups = None,
    threads: int | None = None,
    progress: Mode = "auto",
) -> Explanation:
    """Take for each row the candidate whose ranking has the best curves.

    The paper's Beta-Insertion, Beta-Deletion and Beta-Joint are this over its Beta Shapley values.

    Parameters
    ----------
    model, X, groups, threads, progress
        As for `explain`.
    candidates : iterable of values, their names, or explanations
        Explanations are of the same rows, in the same order, and of the same output and groups.
    by : "joint", "insertion" or "deletion"
        The score of `curves`: the highest insertion score, the lowest deletion score, or the highest
        difference of the two. Ties go to the first candidate.
    link : None or "model"
        As for `curves`.
    output
        As for `explain`; None where candidates are explanations: theirs.

    Returns
    -------
    Explanation
        The values of each row's (and output's) best candidate; `chosen` is that candidate's number, from 0.

    Examples
    --------
    >>> import leafgrad as lg
    >>> stump = lg.Forest.from_arrays(
    ...     tree_start=[0, 3], left=[1, -1, -1], right=[2, -1, -1], feature=[0, -1, -1],
    ...     threshold=[0.5, 0, 0], cover=[4, 3, 1], value=[0, 0, 1], n_features=2)
    >>> X = [[0.7, 9.0], [0.2, 3.0]]
    >>> best = lg.best_of(stump, X, ["shapley", lg.greedy(stump, X)])
    >>> best.chosen, best.method
    (array([0, 0]), 'best by joint of shapley, greedy')
    """
    check_by(by)
    listed = _candidates(candidates)
    given = next((candidate for candidate in listed if isinstance(candidate, Explanation)), None)
    if given is not None:
        output = given.output if output is None else output
        groups = given.groups if groups is None else groups
    forest = plan.as_forest(model)
    prepared = plan.prepare(forest, X, output=output, groups=groups, threads=threads)
    for i, candidate in enumerate(listed):
        if isinstance(candidate, Explanation):
            _check_same(prepared, candidate, i)

    out: Floats | None = None
    best, chosen = np.empty(0), np.empty(0, dtype=np.intp)
    methods = []
    for i, candidate in enumerate(listed):
        if not isinstance(candidate, Explanation):
            candidate = explain(  # noqa: PLW2901
                forest, X, candidate, output=output, groups=groups, threads=threads, progress=progress
            )
        methods.append(candidate.method)
        found = curves(forest, X, candidate, link=link, threads=threads, progress=progress)
        score: Floats = {
            "joint": lambda found: found.joint_score,
            "insertion": lambda found: found.insertion_score,
            "deletion": lambda found: 0.0 - found.deletion_score,
        }[by](found)
        if out is None:
            out, best, chosen = candidate.values.copy(), score, np.zeros(score.shape, dtype=np.intp)
            continue
        better = score > best
        best, chosen = np.where(better, score, best), np.where(better, i, chosen)
        out = np.where(better[:, None], candidate.values, out)
    assert out is not None
    return replace(prepared.explanation(out, f"best by {by} of {', '.join(methods)}"), chosen=chosen)


def _candidates(candidates: Any) -> list[Value | Explanation]:
    if isinstance(candidates, str | Explanation | Value) or not isinstance(candidates, Iterable):
        raise InputError(
            f"candidates is {candidates!r}, not a list of candidates; pass values, their names or "
            'explanations, such as ["shapley", "beta:4,1"]'
        )
    listed = [
        candidate if isinstance(candidate, Explanation) else values.parse(candidate)
        for candidate in candidates
    ]
    if not listed:
        raise InputError('candidates is empty; pass at least one, such as ["shapley", "beta:4,1"]')
    return listed


def _check_same(prepared: Plan, candidate: Explanation, i: int) -> None:
    """Raise unless the candidate explains these rows, players and outputs."""
    selection = prepared.selection
    width = () if selection.flat else (len(selection.columns),)
    shape = (prepared.rows.n, len(prepared.players.names), *width)
    for what, found, wanted in (
        ("is of shape", candidate.values.shape, shape),
        ("has the features", candidate.feature_names, prepared.players.names),
        ("has the groups", candidate.groups, prepared.players.groups),
        ("has the outputs", candidate.output_names, selection.names),
    ):
        if found != wanted:
            raise InputError(
                f"candidates[{i}] {what} {found}, but {wanted} is wanted; candidates are of the same rows, "
                "output and groups"
            )
    same = np.array_equal(np.asarray(candidate.output), np.asarray(selection.output))
    if not same:
        raise InputError(
            f"candidates[{i}] explains other outputs of the rows; candidates are of the same rows, output "
            "and groups"
        )
