"""What every function does around the core: model, X, output and groups in; the core's answers joined.

All is resolved here once, into plain arrays. Blocks of rows, and rows that want different outputs, become
several calls of the core, which `Plan.run` puts together again. Games and their quadrature rules are kept
with the forest, so that explaining one row at a time costs little beside the walk.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from leafgrad import _core, encode, outputs
from leafgrad import groups as grouping
from leafgrad import threads as threading
from leafgrad.explanation import Explanation, Source
from leafgrad.forest import Forest

if TYPE_CHECKING:
    from leafgrad.encode import Rows
    from leafgrad.groups import Players
    from leafgrad.outputs import Selection
    from leafgrad.probabilistic import ProbabilisticValue
    from leafgrad.progress import Bar
    from leafgrad.values import Semi

Floats: TypeAlias = npt.NDArray[np.float64]
Starts: TypeAlias = npt.NDArray[np.int64]
Rule: TypeAlias = tuple[Starts, Floats, Floats]
Sizes: TypeAlias = tuple[Starts, Floats]
At: TypeAlias = slice | npt.NDArray[np.intp]
Step: TypeAlias = Callable[["Played", npt.NDArray[Any], At], Floats]

GAMES = 16  # kept per forest beside the default one: a game is as large as the forest,
KEPT_NODES = 2**19  # so of large forests fewer, some 64 MB in all
RULES = 16  # kept per game, and as many distributions over sizes
PART = 2**19  # numbers in the results of a block that are copied, per thread: 4 MB, but no less than
ROWS = 16  # rows: fewer would not fill the core's lanes


class Played:
    """A game, which outputs of the forest it plays for, and what is already laid out for it."""

    __slots__ = ("_closed", "_rules", "_sizes", "columns", "game")

    def __init__(self, game: _core.Game, columns: npt.NDArray[np.int32]) -> None:
        self.game = game
        self.columns = columns
        self._rules: dict[Semi, Rule] = {}
        self._sizes: dict[ProbabilisticValue, Sizes] = {}
        self._closed: _core.ClosedGame | None = None

    @property
    def closed(self) -> _core.ClosedGame:
        """The game as polynomials see it; made when it is first asked for."""
        closed = self._closed
        if closed is None:
            closed = self._closed = _core.ClosedGame(self.game)
        return closed

    def rule(self, value: Semi) -> Rule:
        """The rules of all numbers of players, one after the other: U's is start[U]:start[U+1]."""
        rule = self._rules.get(value)
        if rule is None:
            needed = np.unique(self.game.most_players).tolist()
            rules = {players: value.rule(players) for players in needed}
            nodes, weights = (_joined([rule[i] for rule in rules.values()]) for i in (0, 1))
            rule = _starts({players: len(nodes) for players, (nodes, _) in rules.items()}), nodes, weights
            self._rules = _kept_with(self._rules, value, rule, RULES)
        return rule

    def sizes(self, value: ProbabilisticValue) -> Sizes:
        """The distributions over sizes, laid out like `rule`."""
        sizes = self._sizes.get(value)
        if sizes is None:
            needed = np.unique(self.game.most_players)
            most = int(needed.max(initial=0))
            value.check(self.game.n_players, most)
            each = {players: value.of(players) for players in needed.tolist() if players > 0}
            sizes = _starts({players: len(p) for players, p in each.items()}), _joined(list(each.values()))
            self._sizes = _kept_with(self._sizes, value, sizes, RULES)
        return sizes


def _starts(lengths: dict[int, int]) -> Starts:
    """Where that of each number of players begins; one that is not needed has no length."""
    start = np.zeros(max(lengths, default=0) + 2, dtype=np.int64)
    for players, length in lengths.items():
        start[players + 1] = length
    return np.cumsum(start)


def _joined(parts: list[Floats]) -> Floats:
    return np.concatenate([np.empty(0), *parts])


class Kept:
    """What is kept with a forest; it does not refer to the forest, so that both are freed at once."""

    __slots__ = ("_default", "_games", "_most", "everything", "players")

    def __init__(self, forest: Forest) -> None:
        self.players = grouping.resolve(forest)
        self.everything = outputs.everything(forest)
        self._most = min(GAMES, KEPT_NODES // max(1, len(forest.left)))
        self._default = Played(forest.game(), self.everything.columns)
        self._games: dict[Any, Played] = {}

    def played(
        self, forest: Forest, players: Players, columns: npt.NDArray[np.int32], *, negated: bool = False
    ) -> Played:
        """The game of these players and outputs, or of these outputs negated."""
        of_feature = players.of_feature
        if of_feature is None and len(columns) == len(self.everything.columns) and not negated:
            return self._default
        key = (columns.tobytes(), None if of_feature is None else of_feature.tobytes(), negated)
        played = self._games.get(key)
        if played is None:
            source = _negative(forest) if negated else forest
            played = Played(source.game(of_feature, columns), columns)
            self._games = _kept_with(self._games, key, played, self._most)
        return played


def _negative(forest: Forest) -> Forest:
    """The forest with every leaf's sign changed, which rounds nothing; without labels."""
    from leafgrad import forest_file

    meta, arrays = forest_file.pack(
        forest.replace(feature_names=None, output_names=None, classes=None, categories=None)
    )
    for name in ("value", "root_mean"):
        arrays[name] = 0.0 - arrays[name]
    return forest_file.unpack(meta, arrays)


def _kept_with(kept: dict[Any, Any], key: Any, value: Any, most: int) -> dict[Any, Any]:
    """The latest `most` items: a new dict, as other threads may be reading the old one."""
    items = [*kept.items(), (key, value)]
    return dict(items[max(0, len(items) - most) :])


@dataclass(frozen=True, eq=False, slots=True)
class Plan:
    """A user's question, resolved: which rows, players and outputs of which forest, on how many threads."""

    forest: Forest
    rows: Rows
    players: Players
    selection: Selection
    threads: int
    kept: Kept

    def run(
        self,
        step: Step,
        tail: tuple[int, ...],
        lines: int,
        bar: Bar | None,
        *,
        alone: bool = False,
        copies: bool = False,
    ) -> Floats:
        """Call `step(played, block, at)` for each block and output; their results, `(lines, *tail[, K])`.

        `at` is where the block's rows stand in X, and where its results go. For one row (only) a step may
        give any number of lines. A step gives `(m, *tail, k)` for the k outputs of its game. One that
        `copies` arrays as long as the block is given blocks that keep them small beside the output.

        Where the negated margin is meant, results are negated: they are linear in the game. For what is not,
        `alone` gives each step a game of one output, and the game itself is the negated one.
        """
        if alone or self.selection.rows is not None:
            return self._one_by_one(step, tail, lines, bar, signed=alone)
        columns = self.selection.columns
        played = self.kept.played(self.forest, self.players, columns)
        out = None
        size = None if self.rows.whole and not copies else self._rows_at_once(tail, len(columns))
        for start, block in self.rows.blocks(size):
            part = step(played, block, slice(start, start + len(block)))
            if bar is not None:
                bar.advance(len(block))
            if len(block) == self.rows.n:
                out = part
                break
            if out is None:
                out = np.empty((lines, *tail, len(columns)))
            out[start : start + len(block)] = part
            del part  # or it would wait beside the next one
        if out is None:
            out = np.empty((lines, *tail, len(columns)))
        if self.selection.flat:
            out = out.reshape(out.shape[:-1])
        # 0 - x, not -x: no zero turns into -0.
        return np.subtract(0.0, out, out=out) if self.selection.negated else out

    def _one_by_one(
        self, step: Step, tail: tuple[int, ...], lines: int, bar: Bar | None, *, signed: bool
    ) -> Floats:
        """A game for each output; `signed`: and for each sign."""
        rowwise, one = self.selection.rows, self.rows.n == 1
        out = np.empty((lines, *tail) if self.selection.flat else (lines, *tail, len(self.selection.columns)))
        size = self._rows_at_once(tail, 1)
        for start, block in self.rows.blocks(None if self.rows.whole else size):
            for k, negated, own, column in self._wanted(start, len(block), signed=signed):
                played = self.kept.played(
                    self.forest, self.players, np.array([k], dtype=np.int32), negated=negated
                )
                for first, end in encode.stretches(len(own), size):
                    some = own[first:end]
                    whole = len(own) == len(block)
                    part = step(played, block[first:end] if whole else block[some], start + some)[..., 0]
                    if rowwise is not None and not signed:
                        away = slice(None) if one else rowwise.negated[start + some]
                        if rowwise.negated[start + some].any():
                            part[away] = 0.0 - part[away]
                    out[(slice(None) if one else start + some, ..., *column)] = part
                    del part
                    if bar is not None:
                        bar.advance(len(some))
        return out

    def _rows_at_once(self, tail: tuple[int, ...], n_outputs: int) -> int:
        """Rows of a block whose results, and themselves, are small beside all."""
        widest = max(1, math.prod(tail) * n_outputs, self.forest.n_features)
        return max(ROWS, PART * self.threads // widest)

    def _wanted(
        self, start: int, n: int, *, signed: bool
    ) -> Iterator[tuple[int, bool, npt.NDArray[np.intp], tuple[int, ...]]]:
        """For n rows from `start`: output, is it negated, which of the rows, and its column of the result."""
        rowwise = self.selection.rows
        if rowwise is None:
            for i, k in enumerate(self.selection.columns.tolist()):
                yield k, signed and self.selection.negated, np.arange(n), () if self.selection.flat else (i,)
            return
        column, negated = rowwise.column[start : start + n], rowwise.negated[start : start + n] & signed
        for k in np.unique(column).tolist():
            for sign in (False, True):
                own = np.flatnonzero((column == k) & (negated == sign))
                if len(own):
                    yield k, sign, own, ()

    def explanation(self, scores: Floats, method: str, *, additive: bool = False) -> Explanation:
        """What a user gets back: the scores, and what they are of."""
        return Explanation(
            values=scores,
            base_values=self.base(self.rows.n),
            feature_names=self.players.names,
            output_names=self.selection.names,
            method=method,
            additive=additive,
            output=self.selection.output,
            groups=self.players.groups,
            source=Source.of(self.rows.table, self.players.of_feature),
        )

    def base(self, lines: int) -> Floats:
        """F where nothing is known, `(lines,)` or `(lines, K)`."""
        base = self.forest.base
        rowwise = self.selection.rows
        if rowwise is not None:
            own = np.where(rowwise.negated, 0.0 - base[rowwise.column], base[rowwise.column])
            return own if len(own) == lines else np.repeat(own, lines)
        if not self.selection.flat:
            return np.tile(base[self.selection.columns], (lines, 1))
        own = base[self.selection.columns[0]]
        return np.full(lines, 0.0 - own if self.selection.negated else own)


def prepare(model: Any, X: Any, *, output: Any, groups: Any, threads: int | None) -> Plan:
    """Resolve all that `explain` and its kin have in common."""
    forest = as_forest(model)
    kept = vars(forest).get("_kept")
    if kept is None:
        kept = vars(forest)["_kept"] = Kept(forest)  # beside the forest's own cached properties
    n_threads = threading.resolve(threads)
    rows = encode.rows(forest, X)
    players = kept.players if groups is None else grouping.resolve(forest, groups)
    selection = (
        kept.everything
        if output is None
        else outputs.resolve(forest, output, rows.n, lambda: _raw(forest, rows, n_threads))
    )
    return Plan(forest, rows, players, selection, n_threads, kept)


def as_forest(model: Any) -> Forest:
    """The forest itself, or the one loaded from a model."""
    if isinstance(model, Forest):
        return model
    from leafgrad.load import load

    return load(model)


def _raw(forest: Forest, rows: Rows, n_threads: int) -> Floats:
    """Raw outputs `(n, K)` of rows already encoded."""
    out = np.empty((rows.n, forest.n_outputs))
    for start, block in rows.blocks():
        out[start : start + len(block)] = forest.core.predict(block, n_threads)
    return out + forest.constant
