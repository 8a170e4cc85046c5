"""Rankings judged: Ins and Del of each row, and what may be said of the difference of two methods.

Scores depend on the row far more than on the method, so methods are compared row by row: the mean of the
paired differences, with its bootstrap interval.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from paper.data import Floats
from paper.facts import SEED

RESAMPLES = 10_000

# Whether more is better.
MEASURES = {"Ins": True, "Del": False, "Ins - Del": True}


@dataclass(frozen=True)
class Judged:
    """The curves of a method's rankings, `(n, N+1)`: the top k known, and the top k unknown."""

    insertion: Floats
    deletion: Floats

    def measure(self, name: str) -> Floats:
        """One of `MEASURES`, row by row.

        Del averages over the bottom 1, ..., N known, that is the deletion curve but for its end.
        """
        insertion, deletion = self.insertion[:, 1:].mean(axis=1), self.deletion[:, :-1].mean(axis=1)
        measures: dict[str, Floats] = {"Ins": insertion, "Del": deletion, "Ins - Del": insertion - deletion}
        return measures[name]

    @property
    def positive(self) -> Floats:
        """f(S*+): the largest output of a set of top features, of at least one."""
        return np.asarray(self.insertion[:, 1:].max(axis=1))

    @property
    def negative(self) -> Floats:
        """f(S*-): the smallest output of a set of bottom features, of at least one."""
        return np.asarray(self.deletion[:, :-1].min(axis=1))


class Gain(NamedTuple):
    """The mean of paired differences, signed so that more is better, and its 95 % interval."""

    mean: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """What the interval allows to say."""
        return "better" if self.low > 0 else "worse" if self.high < 0 else "level"

    def __str__(self) -> str:
        """As `+0.0010 [+0.0004, +0.0016]`, bold where it is better."""
        text = f"{self.mean:+.4f} [{self.low:+.4f}, {self.high:+.4f}]"
        return f"**{text}**" if self.verdict == "better" else text


def gain(own: Judged, theirs: Judged, measure: str) -> Gain:
    """By how much `own` is better than `theirs`."""
    difference = own.measure(measure) - theirs.measure(measure)
    if not MEASURES[measure]:
        difference = -difference
    return Gain(float(difference.mean()), *interval(difference))


def interval(differences: Floats) -> tuple[float, float]:
    """95 % bootstrap interval of the mean of paired differences: percentiles of resampled means."""
    low, high = np.percentile(_times(len(differences)) @ differences / len(differences), [2.5, 97.5])
    return float(low), float(high)


@cache
def _times(rows: int) -> Floats:
    """How often each resample draws each row, `(RESAMPLES, rows)`."""
    drawn = np.random.default_rng(SEED).integers(0, rows, size=(RESAMPLES, rows))
    return np.array([np.bincount(resample, minlength=rows) for resample in drawn], dtype=np.float64)


def best(names: list[str], judged: Mapping[str, Judged], measure: str) -> str:
    """Of these methods the one with the best mean; the first of equal ones."""
    choose = max if MEASURES[measure] else min
    return choose(names, key=lambda name: float(judged[name].measure(measure).mean()))
