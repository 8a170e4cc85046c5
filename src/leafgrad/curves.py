"""Insertion and deletion curves: how the output moves as the features of a ranking become known, or unknown.

The curves judge a ranking, whoever made it. All prefixes of a row's ranking are points of one walk, not N + 1
calls. A link is applied to the finished curves, never inside the game: f_x stays the expected raw output.
With a ranking per output, each output is a game of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from leafgrad import explained, links, plan, rankings
from leafgrad import progress as _progress
from leafgrad.errors import InputError
from leafgrad.explanation import Explanation
from leafgrad.game import Groups
from leafgrad.outputs import Selection
from leafgrad.plan import Floats, Plan
from leafgrad.progress import Bar, Mode
from leafgrad.tables import Array

Ints: TypeAlias = npt.NDArray[np.intp]
By: TypeAlias = Literal["joint", "insertion", "deletion"]


class Best(NamedTuple):
    """A subset read off a ranking.

    Attributes
    ----------
    k : ndarray of int, `(n,)` or `(n, K)`
        How many features it has.
    subset : ndarray of bool, `(n, N)` or `(n, N, K)`
        Which.
    """

    k: Ints
    subset: npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Curves:
    """What `curves` returns: the output along each row's ranking, and the scores of that ranking.

    Attributes
    ----------
    insertion : ndarray, `(n, N+1)` or `(n, N+1, K)`
        At k, the output when only the top k features are known.
    deletion : ndarray, `(n, N+1)` or `(n, N+1, K)`
        At k, the output when the top k features are unknown, and the rest known.
    joint : ndarray, `(n, N+1)` or `(n, N+1, K)`
        At k, the paper's objective of the top k, half of insertion minus deletion. Without a link no digits
        are lost to a large base.
    order : ndarray of int, `(n, N)` or `(n, N, K)`
        The ranking: features from the best to the last.
    feature_names : tuple of str
        x0, x1, ... where the model has no names.
    output_names : tuple
        A label per output; empty where each row has its own, which `output` then holds.
    output : None, label or ndarray of labels
        All outputs, one, or one per row.
    groups : dict or None
        The groups of features that were one player.
    link : str or None
        What was applied to the raw output.

    Examples
    --------
    >>> import leafgrad as lg
    >>> stump = lg.Forest.from_arrays(
    ...     tree_start=[0, 3], left=[1, -1, -1], right=[2, -1, -1], feature=[0, -1, -1],
    ...     threshold=[0.5, 0, 0], cover=[4, 3, 1], value=[0, 0, 1], feature_names=["age", "height"])
    >>> curves = lg.curves(stump, [[0.7, 9.0], [0.2, 3.0]], [["age", "height"], ["height", "age"]])
    >>> curves
    Curves of 2 rows x 2 features; mean insertion score 0.5625, deletion score 0.3125
    >>> curves[1].insertion
    array([[0.25, 0.25, 0.  ]])
    """

    insertion: Floats
    deletion: Floats
    joint: Floats
    order: Ints
    feature_names: tuple[str, ...]
    output_names: tuple[Any, ...]
    output: Any = None
    groups: dict[str, tuple[Any, ...]] | None = None
    link: str | None = None

    def __post_init__(self) -> None:
        for array in (self.insertion, self.deletion, self.joint, self.order):
            array.flags.writeable = False

    @property
    def insertion_score(self) -> Floats:
        """The paper's Ins: the mean output over the top 1, ..., N, `(n,)` or `(n, K)`. Higher is better."""
        return np.asarray(self.insertion[:, 1:].mean(axis=1))

    @property
    def deletion_score(self) -> Floats:
        """The paper's Del: the mean output over the bottom 1, ..., N, `(n,)` or `(n, K)`. Lower is better.

        The bottom N are all features, so the prediction is in, and the output of nothing known is not.
        """
        return np.asarray(self.deletion[:, :-1].mean(axis=1))

    @property
    def joint_score(self) -> Floats:
        """Ins - Del, `(n,)` or `(n, K)`. Higher is better."""
        # The two curves end where the other begins; so it is twice the sum of `joint`, which has no base.
        return np.asarray(2.0 * self.joint.sum(axis=1) / len(self.feature_names))

    def best(self, by: By = "joint") -> Best:
        """The best set that the ranking leads to, one of at least one feature.

        Parameters
        ----------
        by : "joint", "insertion" or "deletion"
            "joint": the top k with the largest `joint`. "insertion": the top k with the largest output, the
            paper's S*+. "deletion": the *bottom* k with the smallest output, the paper's S*-. Of equal ones
            the smallest.

        Returns
        -------
        Best
            A pair: `k`, the size, and `subset`, who is in it.

        Examples
        --------
        >>> import leafgrad as lg
        >>> stump = lg.Forest.from_arrays(
        ...     tree_start=[0, 3], left=[1, -1, -1], right=[2, -1, -1], feature=[0, -1, -1],
        ...     threshold=[0.5, 0, 0], cover=[4, 3, 1], value=[0, 0, 1], n_features=2)
        >>> k, subset = lg.curves(stump, [0.7, 9.0], [0, 1]).best()
        >>> k, subset
        (array([1]), array([[ True, False]]))
        """
        check_by(by)
        if by == "deletion":
            k = 1 + np.argmin(self.deletion[:, -2::-1], axis=1)
        else:
            k = 1 + np.argmax((self.joint if by == "joint" else self.insertion)[:, 1:], axis=1)
        n, width = self.order.shape[:2]
        order = self.order if self.order.ndim == self.insertion.ndim else self.order[:, :, None]
        place = np.arange(width).reshape(1, -1, *[1] * (k.ndim - 1))
        chosen = place >= width - k[:, None] if by == "deletion" else place < k[:, None]
        subset = np.zeros((n, width, *k.shape[1:]), dtype=np.bool_)
        np.put_along_axis(subset, np.broadcast_to(order, subset.shape), chosen, axis=1)
        return Best(k, subset)

    def __len__(self) -> int:
        return len(self.insertion)

    def __iter__(self) -> Iterator[Curves]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, rows: Any) -> Curves:
        """Some rows, by position, slice, mask or list of positions; the axis of rows stays."""
        if isinstance(rows, tuple):
            raise InputError(f"curves are sliced by rows alone; {len(rows)} keys came")
        at = np.atleast_1d(np.arange(len(self))[rows])
        if at.ndim != 1:
            raise InputError(f"rows of shape {at.shape} came; pass a position, a slice, a mask or a list")
        return replace(
            self,
            insertion=self.insertion[at],
            deletion=self.deletion[at],
            joint=self.joint[at],
            order=self.order[at],
            output=self.output[at] if isinstance(self.output, np.ndarray) else self.output,
        )

    def __repr__(self) -> str:
        n, points, *rest = self.insertion.shape
        sizes = [_count(n, "row"), _count(points - 1, "feature"), *(_count(k, "output") for k in rest)]
        text = f"Curves of {' x '.join(sizes)}"
        if self.output is not None and not isinstance(self.output, np.ndarray):
            text += f", output {self.output!r}"
        if self.link is not None:
            text += f", link {self.link!r}"
        if self.insertion.size == 0:
            return text
        scores = self.insertion_score.mean(), self.deletion_score.mean()
        return f"{text}; mean insertion score {scores[0]:.4g}, deletion score {scores[1]:.4g}"


def check_by(by: object) -> None:
    """Raise unless it names a score."""
    if not isinstance(by, str) or by not in {"joint", "insertion", "deletion"}:
        raise InputError(f'by={by!r}; pass "joint", "insertion" or "deletion"')


def curves(
    model: Any,
    X: Any,
    order: npt.ArrayLike | Explanation,
    *,
    output: Any = None,
    groups: Groups = None,
    link: Literal["model"] | None = None,
    threads: int | None = None,
    progress: Mode = "auto",
) -> Curves:
    """Insertion and deletion curves of a ranking of the features.

    Parameters
    ----------
    model, X, output, groups, threads, progress
        As for `explain`; output and groups come from `order` where that is an Explanation.
    order : array of int or of feature names, or Explanation
        Each row's features from the best to the last: `(N,)` for all rows, `(n, N)`, or `(n, N, K)` for a
        ranking per output. With groups, the players. Of an Explanation of the same rows its `order`.
    link : None or "model"
        What is drawn: None for the raw output, "model" for what the model makes of it, such as a booster's
        probability from its margin.

    Returns
    -------
    Curves
        `(n, N+1)`, or `(n, N+1, K)` for K > 1 outputs.

    Raises
    ------
    InputError
        Where X or an argument does not fit the model, or a ranking is no permutation.

    Examples
    --------
    >>> import leafgrad as lg
    >>> stump = lg.Forest.from_arrays(
    ...     tree_start=[0, 3], left=[1, -1, -1], right=[2, -1, -1], feature=[0, -1, -1],
    ...     threshold=[0.5, 0, 0], cover=[4, 3, 1], value=[0, 0, 1], n_features=2)
    >>> X = [[0.7, 9.0]]
    >>> curves = lg.curves(stump, X, lg.explain(stump, X))
    >>> curves.insertion, curves.deletion
    (array([[0.25, 1.  , 1.  ]]), array([[1.  , 0.25, 0.25]]))
    >>> curves.insertion_score, curves.deletion_score, curves.joint_score
    (array([1.]), array([0.625]), array([0.375]))
    """
    forest = plan.as_forest(model)
    applied = links.resolve(link, forest.link, forest.n_outputs)
    if isinstance(order, Explanation):
        prepared = explained.question(forest, X, order, output, groups, threads)
        ranking = explained.ranking(prepared, order)
    else:
        prepared = plan.prepare(forest, X, output=output, groups=groups, threads=threads)
        ranking = rankings.positions(prepared, order)
    width = len(prepared.players.names)
    if width == 0:
        raise InputError("the model has no features, so there is nothing to rank")
    ranking = np.broadcast_to(ranking, (prepared.rows.n, *ranking.shape[1:]))
    apart = ranking.shape[2] if ranking.ndim == 3 else 1  # rankings of each row
    with _progress.track(progress, apart * prepared.rows.n) as bar:
        if ranking.ndim == 2:
            parts = _of_one_ranking(prepared, ranking, applied, bar)
        else:
            each = [
                _of_one_ranking(_of_output(prepared, k), ranking[:, :, k], applied, bar) for k in range(apart)
            ]
            parts = tuple(np.stack(part, axis=-1) for part in zip(*each, strict=True))
    insertion, deletion, joint = parts
    selection = prepared.selection
    return Curves(
        insertion=insertion,
        deletion=deletion,
        joint=joint,
        order=np.array(ranking, dtype=np.intp, order="C"),  # a copy: it becomes read-only
        feature_names=prepared.players.names,
        output_names=selection.names,
        output=selection.output,
        groups=prepared.players.groups,
        link=applied,
    )


# The walk


def _of_one_ranking(prepared: Plan, ranking: Array, link: str | None, bar: Bar | None) -> tuple[Floats, ...]:
    """Insertion, deletion and joint, `(n, N+1)` or `(n, N+1, K)`, where a row has one ranking."""
    wanted = prepared.selection
    if links.joins(link):
        prepared = replace(prepared, selection=prepared.kept.everything)

    def step(played: plan.Played, block: Array, at: plan.At) -> Floats:
        order = np.ascontiguousarray(ranking[at], dtype=np.int32)
        both = played.game.curves(block, order, threads=prepared.threads, progress=bar)
        return np.stack(both, axis=1)

    n, points = prepared.rows.n, ranking.shape[1] + 1
    walked = prepared.run(step, (2, points), n, bar, copies=True)
    insertion, deletion, base = walked[:, 0], walked[:, 1], prepared.base(n)[:, None, None]
    if link is None or link == "identity":
        # Before the base is added, so a large one costs no digits.
        joint = insertion - deletion
        joint *= 0.5
        walked += base
        return insertion, deletion, joint
    walked += base
    found = [links.apply(link, curve) for curve in (insertion, deletion)]
    if prepared.selection is not wanted:
        found = [_wanted(wanted, curve) for curve in found]
    return *found, 0.5 * (found[0] - found[1])


def _wanted(selection: Selection, every: Floats) -> Floats:
    """Of the curves of all outputs those that were asked for."""
    if selection.rows is not None:
        own: Floats = np.take_along_axis(every, selection.rows.column[:, None, None], axis=2)[:, :, 0]
        return own
    own = every[:, :, selection.columns]
    return own[:, :, 0] if selection.flat else own


def _of_output(prepared: Plan, k: int) -> Plan:
    """The same question about the k-th of the outputs asked for alone."""
    selection = prepared.selection
    one = Selection(selection.columns[k : k + 1], False, True, selection.names[k : k + 1], None)
    return replace(prepared, selection=one)


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
