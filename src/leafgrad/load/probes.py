"""Rows that sit on, just below and just above a forest's thresholds: where two readings of a model part.

Half the difficulty is to get there. Splits are sampled over all trees, and for each, rows are built along
the path to it: every feature tested above stays inside the interval (or the set of categories) that leads
there, and the split's own feature takes the last value that goes left, the first that goes right, a
neighbour in float64 or in float32, and, if the model takes it, NaN. All other features sit near thresholds
of their own, so that a row tests other trees as well; some are missing, some huge. Rows are in the forest's
codes; `spoken` decodes categories.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from leafgrad.category_hash import text_of
from leafgrad.forest import CATEGORICAL, LARGEST_ZERO, OTHER_LEFT, ZERO_MISSING, Forest
from leafgrad.load.trees import (
    BoolArray,
    FloatArray,
    IntArray,
    floor_to_float32,
    last_rounding_to,
    parents,
)

PER_SPLIT = 4  # rows per sampled split
CELLS = 4_000_000  # numbers in all rows together, at most
POOL = 8_192  # splits whose thresholds fill the other features
LONGEST_PATH = 4_096  # levels followed upwards, at most
TABLE = 16_000_000  # of splits, categorical columns and codes, at most
MOST_CODES = 1_024  # of one column that are looked at


@np.errstate(over="ignore")  # the neighbour of the largest number
def probe_rows(
    forest: Forest, thresholds: FloatArray | None = None, rows: int = 512, seed: int = 0
) -> FloatArray:
    """Make rows `(m, N)` near the splits, in the forest's codes.

    Parameters
    ----------
    forest : Forest
        The loaded forest.
    thresholds : array or None
        The library's own numbers `(n_nodes,)`, where the forest holds rounded ones.
    rows : int
        How many at most.
    seed : int
        Of the random choices.
    """
    rng = np.random.default_rng(seed)
    thresholds = forest.threshold if thresholds is None else thresholds
    inner = np.flatnonzero(forest.left >= 0)
    if not len(inner):
        return np.zeros((1, forest.n_features))
    m = max(1, min(rows, CELLS // max(1, forest.n_features)) // PER_SPLIT)
    splits = _spread(inner, m, rng)
    codes = _Codes.of(forest, max(8, TABLE // (m * max(1, forest.n_features))), rng)
    X = _background(forest, thresholds, _spread(inner, POOL, rng), codes, m * PER_SPLIT, rng)
    low, high, allowed = _ways_to(forest, splits, codes)
    _lead(X, forest, low, high, allowed, codes, rng)
    _straddle(X, forest, splits, thresholds[splits], allowed, codes, rng)
    if not forest.infinite:
        # Of float32 in any case: a float64 forest may be the mean of members that refuse what is larger.
        top = float(np.finfo(np.float32).max)
        np.clip(X, -top, top, out=X)  # NaN stays
    return X


def spoken(forest: Forest, X: FloatArray) -> npt.NDArray[Any]:
    """Give the rows as a user would: codes as category values, no code as missing or as a value never seen.

    Parameters
    ----------
    forest : Forest
        The loaded forest.
    X : array
        Rows in its codes.
    """
    if forest.categories is None or forest.codes_in_arrays:
        return X
    # Of a column in which all was missing nobody knows whether it was to be text.
    text = forest.categories_hashed or any(
        not values or any(isinstance(value, str) for value in values)
        for values in forest.categories
        if values is not None
    )
    out = X.astype(object) if text else X.copy()
    for j, values in enumerate(forest.categories):
        if values is not None:
            known: tuple[Any, ...]
            if forest.categories_hashed:  # CatBoost's, which refuses None
                known = (*map(text_of, values), "a value never seen", "another one")
            elif any(isinstance(value, str) for value in values):
                known = (*values, "a value never seen", None)
            else:
                known = (*values, max(values, default=0) + 1, np.nan)
            uncoded = ~((X[:, j] >= 0) & (X[:, j] < len(values)))  # NaN, and all where no value is known
            table = np.array(known, dtype=object)
            code = np.where(uncoded, len(values) + np.arange(len(X)) % 2, X[:, j])
            out[:, j] = table[code.astype(np.int64)]
    return out


@dataclass(frozen=True)
class _Codes:
    """Which columns hold codes, and which codes of theirs are looked at."""

    columns: IntArray  # (c,)
    place: IntArray  # (N,) place of a column among `columns`, -1 if numeric
    size: IntArray  # (c,) how many are looked at
    listed: IntArray  # (c, largest size)
    beyond: IntArray  # (c,) a code that is in no set

    @classmethod
    def of(cls, forest: Forest, most: int, rng: np.random.Generator) -> _Codes:
        nodes = np.flatnonzero(forest.flags & CATEGORICAL)
        size = np.zeros(forest.n_features, dtype=np.int64)
        words = np.diff(forest.set_start)[forest.category_set[nodes]] if len(nodes) else np.zeros(0, np.int64)
        np.maximum.at(size, forest.feature[nodes], np.maximum(1, 32 * words))
        for j, values in enumerate(forest.categories or ()):
            if values or (values is not None and not forest.codes_in_arrays):
                size[j] = max(len(values), min(1, size[j]))
        columns = np.flatnonzero(size)
        place = np.full(forest.n_features, -1, dtype=np.int64)
        place[columns] = np.arange(len(columns))
        size, most = size[columns], min(most, MOST_CODES)
        listed = np.tile(np.arange(min(most, int(size.max(initial=0)))), (len(columns), 1))
        for c in np.flatnonzero(size > most).tolist():
            listed[c] = _some_of_many(forest, nodes[place[forest.feature[nodes]] == c], size[c], most, rng)
        return cls(columns, place, np.minimum(size, most), listed, size)

    def all_allowed(self, m: int) -> BoolArray:
        """Give the table (m, c, codes) in which every code is allowed."""
        width = int(self.size.max(initial=0))
        return np.repeat((np.arange(width) < self.size[:, None])[None], m, axis=0)


def _some_of_many(
    forest: Forest, nodes: IntArray, size: int, most: int, rng: np.random.Generator
) -> IntArray:
    """Take codes of a column that has more than can be looked at: half of them out of its sets."""
    found = [rng.integers(size, size=most)]
    filled = np.flatnonzero(forest.set_words)
    for node in rng.choice(nodes, most // 2).tolist() if len(nodes) else ():
        begin, end = forest.set_start[forest.category_set[node] :][:2].tolist()
        i, j = np.searchsorted(filled, [begin, end]).tolist()
        if i < j:
            word = int(filled[rng.integers(i, j)])
            bits = np.flatnonzero(int(forest.set_words[word]) >> np.arange(32) & 1)
            found.append(np.array([32 * (word - begin) + rng.choice(bits)]))
    chosen: IntArray = np.unique(np.concatenate(found[::-1])[:most])
    return np.resize(chosen, most)


def _spread(inner: IntArray, m: int, rng: np.random.Generator) -> IntArray:
    """Take m splits evenly over all trees, at random within each stretch."""
    at = ((np.arange(m) + rng.random(m)) * (len(inner) / m)).astype(np.int64)
    chosen: IntArray = inner[np.minimum(at, len(inner) - 1)]
    return chosen


def _background(
    forest: Forest, thresholds: FloatArray, pool: IntArray, codes: _Codes, n: int, rng: np.random.Generator
) -> FloatArray:
    """Fill n rows with values near thresholds of each column's own, some missing, some huge."""
    pool = pool[np.argsort(forest.feature[pool], kind="stable")]
    first = np.searchsorted(forest.feature[pool], np.arange(forest.n_features + 1))
    count = np.diff(first)
    shape = (n, forest.n_features)
    pick = np.minimum(first[:-1] + (rng.random(shape) * count).astype(np.int64), len(pool) - 1)
    X = np.where(count > 0, _near(thresholds[pool], rng)[pick], 0.0)
    odd = rng.random(shape)
    X = np.where(odd < 0.02, 1e30 * np.sign(odd - 0.01), X)
    if forest.infinite:
        # In an eighth of the rows alone: of one with infinity XGBoost tells no leaves, and a wide row would
        # nearly always have one.
        rare = rng.random((n, 1)) < 0.125
        endless = np.where(odd < 0.03, np.inf, np.where(odd >= 0.97, -np.inf, X))
        X = np.where(rare, endless, X)
    for place, column in enumerate(codes.columns):
        X[:, column] = codes.listed[place, rng.integers(codes.size[place], size=n)]
    if forest.missing:
        X = np.where(rng.random(shape) < 0.1, np.nan, X)
    return X


def _near(t: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Each threshold or one of its neighbours: in float64, in float32, and where float32 rounding turns."""
    below = floor_to_float32(t)
    above = np.nextafter(below, np.float32(np.inf))
    turn = last_rounding_to(t)
    up, down = np.inf, -np.inf
    neighbours = np.stack(
        [
            *(t, np.nextafter(t, up), np.nextafter(t, down)),
            *(below, above, np.nextafter(below, np.float32(down))),
            *(np.nextafter(below, up, dtype=float), np.nextafter(above, down, dtype=float)),
            *(turn, np.nextafter(turn, up)),
        ]
    ).astype(np.float64)
    near: FloatArray = neighbours[rng.integers(len(neighbours), size=len(t)), np.arange(len(t))]
    return near


def _ways_to(forest: Forest, splits: IntArray, codes: _Codes) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Find what a row must fulfil to reach each split: low < x <= high, and the allowed codes."""
    m = len(splits)
    low = np.full((m, forest.n_features), -np.inf)
    high = np.full((m, forest.n_features), np.inf)
    allowed = codes.all_allowed(m)
    parent = parents(forest.tree_start, forest.left, forest.right)
    root = forest.tree_start[np.searchsorted(forest.tree_start, splits, side="right") - 1]
    child, rows = splits, np.arange(m)
    for _ in range(LONGEST_PATH):
        up = parent[child]
        keep = up >= 0
        if not keep.any():
            break
        child, up, root, rows = child[keep], up[keep], root[keep], rows[keep]
        went_left = root + forest.left[up] == child
        feature, threshold = forest.feature[up], forest.threshold[up]
        coded = (forest.flags[up] & CATEGORICAL) != 0
        a, b = ~coded & went_left, ~coded & ~went_left
        high[rows[a], feature[a]] = np.minimum(high[rows[a], feature[a]], threshold[a])
        low[rows[b], feature[b]] = np.maximum(low[rows[b], feature[b]], threshold[b])
        for i in np.flatnonzero(coded):
            place = codes.place[feature[i]]
            allowed[rows[i], place] &= _members(forest, int(up[i]), codes.listed[place]) == went_left[i]
        child = up
    return low, high, allowed


def _members(forest: Forest, node: int, codes: IntArray) -> BoolArray:
    """Whether each of the codes goes left at a categorical node."""
    which = forest.category_set[node]
    words = forest.set_words[forest.set_start[which] : forest.set_start[which + 1]]
    inside = codes < 32 * len(words)
    known = codes[inside]
    table = np.full(len(codes), bool(forest.flags[node] & OTHER_LEFT))
    table[inside] = words[known >> 5] >> (known & 31).astype(np.uint32) & 1
    return table


def _lead(
    X: FloatArray,
    forest: Forest,
    low: FloatArray,
    high: FloatArray,
    allowed: BoolArray,
    codes: _Codes,
    rng: np.random.Generator,
) -> None:
    """Put the features tested on the way to each split where the way asks for them."""
    low, high = np.repeat(low, PER_SPLIT, axis=0), np.repeat(high, PER_SPLIT, axis=0)
    single = forest.dtype == np.float32
    row, column = np.nonzero(np.isfinite(low) | np.isfinite(high) | (low == np.inf) | (high == -np.inf))
    lo, hi = low[row, column], high[row, column]
    least = (
        np.nextafter(lo.astype(np.float32), np.float32(np.inf)).astype(float)
        if single
        else np.nextafter(lo, np.inf)
    )
    take_least = np.isinf(hi) | (np.isfinite(lo) & (rng.random(len(lo)) < 0.5))
    # Only a missing value gets past an interval without numbers.
    X[row, column] = np.where(least > hi, np.nan if forest.missing else hi, np.where(take_least, least, hi))
    asked = ~allowed & (np.arange(allowed.shape[2]) < codes.size[:, None]) if len(codes.columns) else allowed
    for i, place in zip(*np.nonzero(asked.any(axis=2)), strict=True):
        own = slice(i * PER_SPLIT, (i + 1) * PER_SPLIT)
        X[own, codes.columns[place]] = _some(allowed[i, place], codes.listed[place], rng)


def _straddle(
    X: FloatArray,
    forest: Forest,
    splits: IntArray,
    thresholds: FloatArray,
    allowed: BoolArray,
    codes: _Codes,
    rng: np.random.Generator,
) -> None:
    """Put each split's own feature on both sides of it."""
    feature = forest.feature[splits]
    rows = np.arange(len(splits)) * PER_SPLIT
    coded = (forest.flags[splits] & CATEGORICAL) != 0
    last_left = last_rounding_to(thresholds) if forest.dtype == np.float32 else thresholds
    values = [last_left, np.nextafter(last_left, np.inf), _near(thresholds, rng), _near(thresholds, rng)]
    if forest.missing:
        values[3] = np.full(len(splits), np.nan)
    # Zeros that count as missing, and the first numbers beside them that do not.
    zeros = np.array([0, LARGEST_ZERO, -LARGEST_ZERO, *np.nextafter([LARGEST_ZERO, -LARGEST_ZERO], [1, -1])])
    as_missing = (forest.flags[splits] & ZERO_MISSING) != 0
    values[2] = np.where(as_missing, rng.choice(zeros, len(splits)), values[2])
    for k, value in enumerate(values):
        X[(rows + k)[~coded], feature[~coded]] = value[~coded]
    for i in np.flatnonzero(coded):
        given = forest.categories is None or forest.codes_in_arrays
        place = codes.place[feature[i]]
        open_codes, listed = allowed[i, place], codes.listed[place]
        left = _members(forest, int(splits[i]), listed)
        X[rows[i] : rows[i] + PER_SPLIT, feature[i]] = (
            _some(open_codes & left, listed, rng),
            _some(open_codes & ~left, listed, rng),
            float(codes.beyond[place]) if given else np.nan,
            np.nan if forest.missing else _some(open_codes, listed, rng),
        )


def _some(allowed: BoolArray, listed: IntArray, rng: np.random.Generator) -> float:
    """One of the allowed codes; NaN if there is none."""
    codes = np.flatnonzero(allowed)
    return float(listed[rng.choice(codes)]) if len(codes) else np.nan
