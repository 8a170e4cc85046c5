"""Forests to test with: random, adversarial, and as hypothesis strategies; all through `Forest.from_arrays`.

`Shape` says what kind of trees to grow, `arrays(rng, shape)` grows them, `rows(rng, forest, n)` makes rows
that sit on, just below and just above their thresholds, with missing values and unseen categories where the
forest knows such. `shapes()` and `seeds` are the strategies: shrinking simplifies the shape. `unit` is what
errors are measured in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from leafgrad.forest import Forest

Floats = npt.NDArray[np.float64]
Cover = Literal["plain", "tiny", "zero", "both"]
Leaves = Literal["plain", "wide", "offset"]

# The smallest product of one player's shares that a Forest takes is 1e-290.
SMALLEST_PRODUCT = 1e-280


@dataclass(frozen=True)
class Shape:
    """What trees to grow."""

    n_trees: int = 3
    depth: int = 4
    n_features: int = 5
    n_outputs: int = 1
    vector: bool = False  # a leaf holds all outputs; else trees take outputs in turn
    chain: bool = False  # every split has a leaf on one side
    repeats: float = 0.3  # chance that a split takes a feature of its path again
    cover: Cover = "plain"  # tiny: shares down to 1e-30; zero: children and nodes of cover 0
    leaves: Leaves = "plain"  # wide: 1e8 and 1e-8 together; offset: all near 1e8
    missing: bool = False
    categorical: bool = False
    single: bool = False  # float32 comparisons
    stop: float = 0.15  # chance that a branch ends early

    def but(self, **changes: Any) -> Shape:
        """The same with some fields changed."""
        return replace(self, **changes)


def forest(rng: np.random.Generator, shape: Shape, **others: Any) -> Forest:
    """A Forest of that shape; `others` go to `from_arrays`."""
    return Forest.from_arrays(**{**arrays(rng, shape), **others})


def arrays(rng: np.random.Generator, shape: Shape) -> dict[str, Any]:
    """The arguments of `Forest.from_arrays`."""
    grown = [_grow(rng, shape) for _ in range(shape.n_trees)]
    start = np.cumsum([0] + [len(tree.left) for tree in grown])
    joined: dict[str, Any] = {
        name: np.concatenate([np.array(getattr(tree, name)) for tree in grown])
        for name in ("left", "right", "feature", "threshold", "cover", "value")
    }
    joined |= {"tree_start": start, "n_features": shape.n_features, "n_outputs": shape.n_outputs}
    joined["dtype"] = np.float32 if shape.single else np.float64
    if not shape.vector:
        joined["tree_output"] = np.arange(shape.n_trees) % shape.n_outputs
    if shape.missing:
        joined["missing_left"] = rng.random(start[-1]) < 0.5
    if shape.categorical:
        joined["categories_left"] = {
            int(start[t]) + node: codes for t, tree in enumerate(grown) for node, codes in tree.sets.items()
        }
        joined["other_left"] = rng.random(start[-1]) < 0.5
    return joined


@dataclass
class _Tree:
    """One tree as lists that grow."""

    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    feature: list[int] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)
    cover: list[float] = field(default_factory=list)
    value: list[Floats] = field(default_factory=list)
    sets: dict[int, list[int]] = field(default_factory=dict)

    def leaf(self, cover: float, value: Floats) -> int:
        """Append a leaf; its index."""
        self.left.append(-1)
        self.right.append(-1)
        self.feature.append(-1)
        self.threshold.append(0.0)
        self.cover.append(cover)
        self.value.append(value)
        return len(self.left) - 1


def _grow(rng: np.random.Generator, shape: Shape) -> _Tree:
    """One random tree: leaves turn into splits until they are deep enough."""
    tree = _Tree()
    width = shape.n_outputs if shape.vector else 1
    waiting: list[tuple[int, dict[int, float]]] = [(tree.leaf(1.0, _leaf(rng, shape, width)), {})]
    depth = {0: 0}
    while waiting:
        node, path = waiting.pop()  # `path`: product of the shares so far of each feature met
        if depth[node] == shape.depth or shape.n_features == 0:
            continue
        if depth[node] and not shape.chain and rng.random() < shape.stop:
            continue
        fresh = [j for j in range(shape.n_features) if j not in path]
        again = not fresh or (path and rng.random() < shape.repeats)
        j = int(rng.choice(list(path) if again else fresh))
        shares = _shares(rng, shape.cover, path.get(j, 1.0))
        # The core takes ratios of siblings alone; what the parent's cover was must not matter.
        total = 0.0 if shape.cover in ("zero", "both") and rng.random() < 0.1 else 10.0 ** rng.uniform(-2, 4)
        left, right = (tree.leaf(share * total, _leaf(rng, shape, width)) for share in shares)
        tree.left[node], tree.right[node], tree.feature[node] = left, right, j
        if shape.categorical and j % 2 == 0:
            tree.sets[node] = [code for code in range(int(rng.integers(0, 70))) if rng.random() < 0.5]
        else:
            tree.threshold[node] = _threshold(rng, shape)
        children = [left, right]
        if shape.chain:
            children = [children[int(rng.integers(2))]]
        for child, share in zip((left, right), shares if total else (0.5, 0.5), strict=True):
            depth[child] = depth[node] + 1
            if child in children:
                waiting.append((child, {**path, j: path.get(j, 1.0) * share}))
    return _shuffled(tree, rng)


def _shuffled(tree: _Tree, rng: np.random.Generator) -> _Tree:
    """The same tree with its nodes in any order behind the root: nothing may lean on theirs."""
    old = np.concatenate([[0], 1 + rng.permutation(len(tree.left) - 1)])  # new -> old
    new = np.argsort(old)
    return _Tree(
        left=[int(new[tree.left[v]]) if tree.left[v] >= 0 else -1 for v in old],
        right=[int(new[tree.right[v]]) if tree.right[v] >= 0 else -1 for v in old],
        feature=[tree.feature[v] for v in old],
        threshold=[tree.threshold[v] for v in old],
        cover=[tree.cover[v] for v in old],
        value=[tree.value[v] for v in old],
        sets={int(new[v]): codes for v, codes in tree.sets.items()},
    )


def _shares(rng: np.random.Generator, cover: Cover, product: float) -> tuple[float, float]:
    """Shares of the two children of a split on a feature whose shares multiply to `product` so far."""
    small = float(rng.uniform(0.05, 0.95))
    if cover in ("tiny", "both") and rng.random() < 0.5:
        small = 10.0 ** rng.uniform(-30, -1)
    if cover in ("zero", "both") and rng.random() < 0.2:
        small = 0.0
    if 0.0 < product * min(small, 1.0 - small) < SMALLEST_PRODUCT:
        small = 0.5
    return (small, 1.0 - small) if rng.random() < 0.5 else (1.0 - small, small)


def _leaf(rng: np.random.Generator, shape: Shape, width: int) -> Floats:
    value = rng.normal(size=width)
    if shape.leaves == "wide":
        value *= 10.0 ** rng.choice([-8.0, 0.0, 8.0], size=width)
    if shape.leaves == "offset":
        value += 1e8
    return value


def _threshold(rng: np.random.Generator, shape: Shape) -> float:
    """One of few numbers, so that rows tie; some that float32 cannot hold."""
    number = float(rng.integers(-3, 4)) / 3
    return float(np.float32(number)) if shape.single and rng.random() < 0.5 else number


def rows(rng: np.random.Generator, forest: Forest, n: int) -> Floats:
    """Rows on and beside thresholds; NaN and unseen categories where the forest takes them."""
    X = rng.normal(size=(n, forest.n_features))
    for j in range(forest.n_features):
        mine = np.flatnonzero(forest.feature == j)
        if not len(mine):
            continue
        if any(forest.category_set[mine] >= 0):
            X[:, j] = rng.choice([*range(70), 70.0, 1e4, 2.7, -1.0, -0.5], size=n)
        else:
            centre = rng.choice(forest.threshold[mine], size=n)
            beside = np.array([np.nextafter(centre, -np.inf), centre, np.nextafter(centre, np.inf), X[:, j]])
            if forest.dtype == np.float32:
                beside[0] = np.nextafter(centre.astype(np.float32), np.float32(-np.inf))
                beside[2] = np.nextafter(centre.astype(np.float32), np.float32(np.inf))
            X[:, j] = beside[rng.integers(4, size=n), np.arange(n)]
        if forest.missing:
            X[rng.random(n) < 0.15, j] = np.nan
    return X


def points(rng: np.random.Generator, n: int, n_players: int) -> Floats:
    """Points z: ordinary, and with coordinates at and next to the ends of [0, 1]."""
    hard = np.array([0.0, 1e-300, 1e-200, 1e-17, 1e-8, 0.5, 1.0 - 1e-8, 1.0 - 2**-53, 1.0])
    z = rng.random((n, n_players))
    return np.where(rng.random(z.shape) < 0.5, rng.choice(hard, size=z.shape), z)


def unit(forest: Forest) -> Floats:
    """Per output, the sum over its trees of max|leaf - root mean|: what errors are measured in."""
    total = np.zeros(forest.n_outputs)
    for t, output in enumerate(forest.tree_output):
        peak = np.abs(forest.value[forest.tree_start[t] : forest.tree_start[t + 1]]).max(axis=0)
        if output < 0:
            total += peak
        else:
            total[output] += peak[0]
    return np.maximum(total, np.finfo(float).tiny)


def chain(features: Sequence[int], rng: np.random.Generator, **others: Any) -> Forest:
    """A chain: one split after the other on `features`, a leaf to one side of each, two at the end."""
    n = len(features)
    inner = 2 * np.arange(n)
    left, right, feature = np.full(2 * n + 1, -1), np.full(2 * n + 1, -1), np.full(2 * n + 1, -1)
    cover = np.ones(2 * n + 1)
    goes_on_left = rng.random(n) < 0.5
    left[inner] = np.where(goes_on_left, inner + 2, inner + 1)
    right[inner] = np.where(goes_on_left, inner + 1, inner + 2)
    feature[inner] = features
    cover[inner[1:]] = rng.uniform(1, 20, size=n - 1)  # beside leaves of cover 1
    return Forest.from_arrays(
        **{
            "tree_start": [0, 2 * n + 1],
            "left": left,
            "right": right,
            "feature": feature,
            "threshold": rng.normal(size=2 * n + 1),
            "cover": cover,
            "value": rng.normal(size=2 * n + 1),
            **others,
        }
    )


seeds = st.integers(0, 2**32 - 1)


@st.composite
def shapes(draw: st.DrawFn, *, most_features: int = 6, deepest: int = 6, **fixed: Any) -> Shape:
    """Any shape small enough for the oracles; `fixed` fields stay as given."""
    chosen: dict[str, Any] = {
        "n_trees": draw(st.integers(1, 3)),
        "depth": draw(st.integers(0, deepest)),
        "n_features": draw(st.integers(1, most_features)),
        "n_outputs": draw(st.integers(1, 3)),
        "vector": draw(st.booleans()),
        "chain": draw(st.booleans()),
        "repeats": draw(st.sampled_from([0.0, 0.3, 0.9])),
        "cover": draw(st.sampled_from(["plain", "tiny", "zero", "both"])),
        "leaves": draw(st.sampled_from(["plain", "wide", "offset"])),
        "missing": draw(st.booleans()),
        "categorical": draw(st.booleans()),
        "single": draw(st.booleans()),
    }
    shape = Shape(**{**chosen, **fixed})
    if shape.chain:  # a chain costs little: twelve splits, so that features repeat often
        shape = shape.but(depth=2 * shape.depth) if "depth" not in fixed else shape
    return shape


# By name, shapes that have found mistakes or stand for a demand of the exactness promise.
SHAPES = {
    "plain": Shape(),
    "one leaf": Shape(depth=0),
    "stumps": Shape(depth=1, n_trees=4),
    "ten repeats": Shape(n_trees=2, depth=12, n_features=2, chain=True, repeats=0.9),
    "bushy repeats": Shape(n_trees=2, depth=7, n_features=3, repeats=0.8, stop=0.1),
    "tiny shares": Shape(cover="tiny", depth=6, repeats=0.5),
    "tiny shares of one player": Shape(cover="tiny", depth=9, n_features=1, chain=True),
    "covers of 0": Shape(cover="zero", depth=6, repeats=0.5),
    "zero and tiny": Shape(cover="both", depth=8, n_features=4, repeats=0.6, chain=True),
    "wide leaves": Shape(leaves="wide", depth=5),
    "offset leaves": Shape(leaves="offset", depth=5),
    "missing": Shape(missing=True, depth=5),
    "categories": Shape(categorical=True, missing=True, depth=5),
    "float32": Shape(single=True, missing=True, depth=5),
    "many outputs": Shape(n_outputs=3, n_trees=6),
    "vector leaves": Shape(n_outputs=3, vector=True, depth=5),
    "vector leaves, adversarial": Shape(
        n_outputs=2, vector=True, depth=10, chain=True, cover="both", leaves="wide", repeats=0.7, n_features=4
    ),
    "unused features": Shape(n_features=9, depth=2, n_trees=1),
    "one feature": Shape(n_features=1, depth=6, stop=0.1),
    "deep": Shape(n_trees=1, depth=9, n_features=8, stop=0.1, repeats=0.4),
}
