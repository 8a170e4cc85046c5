"""The question that an explanation has answered, asked again: its outputs, groups and order for another call.

What else is passed must agree with the explanation, and the explanation with the model and X.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from leafgrad import groups as grouping
from leafgrad import outputs, plan
from leafgrad.errors import InputError
from leafgrad.explanation import Explanation
from leafgrad.forest import Forest
from leafgrad.game import Groups
from leafgrad.outputs import Selection
from leafgrad.plan import Plan
from leafgrad.tables import Array


def question(
    forest: Forest, X: Any, explanation: Explanation, output: Any, groups: Groups, threads: int | None
) -> Plan:
    """The plan of the explanation's own question; what else was passed must agree with it."""
    prepared = plan.prepare(forest, X, output=None, groups=explanation.groups, threads=threads)
    n, players = prepared.rows.n, prepared.players
    if len(explanation) != n:
        raise InputError(
            f"the explanation has {len(explanation)} rows, X has {n}; pass the rows that were explained"
        )
    if groups is not None:
        given = grouping.resolve(forest, groups)
        if given.names != players.names or not _same_array(given.of_feature, players.of_feature):
            raise InputError(
                f"groups={groups!r} contradicts the explanation, whose groups are {explanation.groups!r}; "
                "leave groups out, or explain with these"
            )
    selection = _explained(prepared, explanation)
    if output is not None:
        asked = plan.prepare(forest, X, output=output, groups=None, threads=threads).selection
        if not _same(asked, selection, n):
            raise InputError(
                f"output={_brief(output)} contradicts the explanation, which is of "
                f"{_what(explanation)}; leave output out, explain with this one, or pass explanation.order"
            )
    return replace(prepared, selection=selection)


def _explained(prepared: Plan, explanation: Explanation) -> Selection:
    """The outputs of the explanation, among those of the forest."""
    forest = prepared.forest
    if explanation.values.ndim == 3:
        known = outputs.names(forest)
        unknown = [label for label in explanation.output_names if label not in known]
        if unknown:
            raise InputError(
                f"the explanation has the output {unknown[0]!r}, which the model does not have; "
                "pass the model that was explained"
            )
        columns = np.array([known.index(label) for label in explanation.output_names], dtype=np.int32)
        return Selection(columns, False, False, explanation.output_names, None)
    if explanation.output is None:
        if forest.n_outputs != 1:
            raise InputError(
                f"the explanation is of a model of one output, this one has {forest.n_outputs}; "
                "pass the model that was explained"
            )
        return prepared.kept.everything
    return outputs.resolve(forest, explanation.output, prepared.rows.n, _never)


def ranking(prepared: Plan, explanation: Explanation) -> Array:
    """The explanation's order, as players of this plan."""
    players, names = prepared.players.names, explanation.feature_names
    if names == players:
        return explanation.order
    position = {name: j for j, name in enumerate(players)}
    if len(names) != len(players) or set(names) != set(position):
        lacking = [name for name in players if name not in set(names)]
        what = f"lacks {lacking[0]!r}" if lacking else "has others"
        raise InputError(
            f"the explanation has {len(names)} features, the model {len(players)}, and {what}; pass all "
            "features of the model that was explained, not a slice of them"
        )
    return np.array([position[name] for name in names], dtype=np.intp)[explanation.order]


def _same(a: Selection, b: Selection, n: int) -> bool:
    """Whether two selections ask for the same numbers of each row."""
    if a.flat != b.flat:
        return False
    return all(_same_array(x, y) for x, y in zip(_meant(a, n), _meant(b, n), strict=True))


def _meant(selection: Selection, n: int) -> tuple[Array, Array]:
    """Columns and signs: row by row where there is no axis of outputs."""
    if selection.rows is not None:
        return selection.rows.column, selection.rows.negated
    if selection.flat:
        return np.repeat(selection.columns, n), np.repeat(np.bool_(selection.negated), n)
    return selection.columns, np.zeros(len(selection.columns), dtype=np.bool_)


def _same_array(a: Array | None, b: Array | None) -> bool:
    return a is b if a is None or b is None else np.array_equal(a, b)


def _what(explanation: Explanation) -> str:
    if explanation.values.ndim == 3:
        return f"the outputs {', '.join(map(repr, explanation.output_names))}"
    if explanation.output is None:
        return "the model's one output"
    if isinstance(explanation.output, np.ndarray):
        return f"one output per row, {_brief(explanation.output)}"
    return f"the output {explanation.output!r}"


def _brief(output: Any) -> str:
    if isinstance(output, list | np.ndarray):
        shown = [repr(label) for label in (output.tolist() if isinstance(output, np.ndarray) else output)]
        return f"[{', '.join(shown[:3])}{', ...' if len(shown) > 3 else ''}]"
    return repr(output)


def _never() -> Array:
    raise AssertionError("an explanation holds labels, not 'predicted'")
