"""The error of every algorithm for Shapley values, against exact fractions, as trees grow to depth 100.

Trees are chains, so that a path may hold a hundred distinct features and fractions stay affordable: each
split sends a twentieth to a half of the cover aside into a leaf. Errors are the largest over the features of
a few rows, in units of max|leaf - mean|. Besides the Shapley value there is one of random coalition sizes,
for those that take any weights. Last come the condition numbers of the matrices that the paper blames.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import leafgrad as lg
from leafgrad.reference import conditioning, exact, paths
from leafgrad.reference.rivals import RIVALS
from leafgrad.reference.shap_tree import shap_tree_explainer
from leafgrad.reference.traverse import over_trees
from leafgrad.reference.treeprob import tree_prob
from leafgrad.reference.treeprob_modified import tree_prob_modified

Floats = NDArray[np.float64]
Contender: TypeAlias = Callable[[lg.Forest, Floats], Floats]

SIZES = (5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 80, 90, 100)
SHOWN = (10, 20, 35, 50, 65, 80, 100)  # in the page's tables
ROWS = 3
FAR = 1e3  # beyond every threshold

# What grows along the x axis of each family.
FAMILIES = {
    "distinct": "by distinct features on a path: a new one at every split",
    "repeats": "by distinct features on a path: after every second, a split on one of them again",
    "ten features": "by depth: ten features in all, again and again",
}


def features(family: str, size: int, rng: np.random.Generator) -> list[int]:
    """The features split on, from the root down."""
    if family == "distinct":
        return list(range(size))
    if family == "ten features":
        return [*range(min(size, 10)), *rng.integers(10, size=max(size - 10, 0)).tolist()]
    found: list[int] = []
    for j in range(size):
        found.append(j)
        if j % 2:
            found.append(int(rng.integers(j + 1)))
    return found


def chain(splits: Sequence[int], rng: np.random.Generator) -> lg.Forest:
    """A chain of splits; the k-th on a feature sends x <= k aside to the left, into a leaf."""
    n, inner = 2 * len(splits) + 1, 2 * np.arange(len(splits))
    left, right, feature, threshold = (np.full(n, -1) for _ in range(4))
    left[inner], right[inner], feature[inner] = inner + 1, inner + 2, splits
    threshold[inner] = [list(splits[:i]).count(j) for i, j in enumerate(splits)]
    cover = np.ones(n)  # of the leaves aside
    cover[inner[1:]] = rng.uniform(1, 20, size=len(splits) - 1)  # of what goes on, beside a leaf
    return lg.Forest.from_arrays(
        tree_start=[0, n],
        left=left,
        right=right,
        feature=feature,
        threshold=threshold,
        cover=cover,
        value=rng.normal(size=n),
    )


def rows(forest: lg.Forest, rng: np.random.Generator) -> Floats:
    """Rows that agree with nine features in ten all the way down, and with the others a part of it."""
    splits = np.bincount(forest.feature[forest.feature >= 0], minlength=forest.n_features)
    shape = (ROWS, forest.n_features)
    part = rng.integers(0, splits + 1, size=shape) - 0.5
    return np.where(rng.random(shape) < 0.9, FAR, part)


def random_sizes(n: int) -> list[float]:
    """A distribution over coalition sizes that is no semivalue's."""
    sizes: list[float] = np.random.default_rng(n).dirichlet(np.ones(n)).tolist()
    return sizes


def shapley() -> dict[str, Contender]:
    """Ours, the paper's algorithms, and shap's where it is installed."""
    found: dict[str, Contender] = {
        "leafgrad": lambda forest, x: lg.explain(forest, x, progress=False).values[0]
    }
    found |= {name: _of_first_output(rival) for name, rival in RIVALS.items()}
    if find_spec("shap"):
        found["shap TreeExplainer"] = _of_first_output(shap_tree_explainer)
    return found


def of_sizes() -> dict[str, Contender]:
    """Those that take any probabilistic value."""
    return {
        "leafgrad, random sizes": _ours_of_random_sizes,
        "TreeProb, random sizes": _of_random_sizes(tree_prob),
        "TreeProb (modified), random sizes": _of_random_sizes(tree_prob_modified),
    }


def _ours_of_random_sizes(forest: lg.Forest, x: Floats) -> Floats:
    value = lg.ProbabilisticValue(random_sizes(forest.n_features))
    values: Floats = lg.explain(forest, x, value, progress=False).values[0]
    return values


def _of_first_output(rival: Callable[[lg.Forest, Floats, int], Floats]) -> Contender:
    return lambda forest, x: rival(forest, x, 0)


def _of_random_sizes(algorithm: Callable[..., Floats]) -> Contender:
    return lambda forest, x: over_trees(
        forest, x, 0, lambda tree: algorithm(tree, random_sizes(forest.n_features))
    )


@cache
def case(family: str, size: int) -> tuple[lg.Forest, Floats, list[paths.Game]]:
    """A tree and its rows."""
    rng = np.random.default_rng([list(FAMILIES).index(family), size])
    forest = chain(features(family, size, rng), rng)
    X = rows(forest, rng)
    return forest, X, [paths.game(forest, x) for x in X]


def errors(family: str, size: int, contenders: dict[str, Contender], value: Any) -> dict[str, float]:
    """The largest error over rows and features; infinite where a result is not a number."""
    forest, X, games = case(family, size)
    expected = np.array([exact.value(game, value)[:, 0].astype(float) for game in games])
    found = {}
    for name, contender in contenders.items():
        with np.errstate(all="ignore"):
            off = abs(np.array([contender(forest, x) for x in X]) - expected) / forest.scale[0]
        found[name] = float(np.where(np.isfinite(off), off, np.inf).max())
    return found


@dataclass(frozen=True)
class Study:
    """What was measured: by family and contender the error at each size, and condition numbers by depth."""

    sizes: tuple[int, ...]
    errors: dict[str, dict[str, list[float]]]
    depths: tuple[int, ...]
    conditions: dict[str, list[float]]


@cache
def measure(quick: bool) -> Study:
    """All of it; three minutes, or a few seconds of the smallest."""
    from tqdm import tqdm

    sizes = SIZES[:3] if quick else SIZES
    found: dict[str, dict[str, list[float]]] = {family: {} for family in FAMILIES}
    with tqdm(total=len(FAMILIES) * sum(size**2 for size in sizes), unit="", desc="accuracy") as bar:
        for family in FAMILIES:
            for size in sizes:
                n = case(family, size)[0].n_features
                of_size = errors(family, size, shapley(), lg.Shapley())
                of_size |= errors(family, size, of_sizes(), random_sizes(n))
                for name, error in of_size.items():
                    found[family].setdefault(name, []).append(error)
                bar.update(size**2)
    depths = tuple(range(2, 11 if quick else 41, 2))
    matrices: dict[str, Callable[[int], float]] = {
        "Linear TreeShap: Vandermonde, Chebyshev nodes": conditioning.chebyshev_vandermonde,
        "TreeShap-K, gamma = 1": conditioning.tree_shap_k,
        "Linear TreeShap V1, gamma = 3": lambda D: conditioning.linear_tree_shap_v1(D, 3.0),
        "Linear TreeShap V1, gamma = 2": lambda D: conditioning.linear_tree_shap_v1(D, 2.0),
        "TreeProb: Vandermonde, roots of unity": conditioning.unit_circle_vandermonde,
    }
    conditions = {name: [condition(D) for D in depths] for name, condition in matrices.items()}
    return Study(sizes, found, depths, conditions)


def page(*, data: Path | None, quick: bool) -> str:  # noqa: ARG001
    """The tables, as Markdown; `data` is not needed."""
    study = measure(quick)
    names = ("leafgrad", "numpy") + (("shap",) if "shap TreeExplainer" in study.errors["distinct"] else ())
    parts = [f"{ROWS} rows. Made with {', '.join(f'{name} {version(name)}' for name in names)}."]
    parts += [
        f"### {family.capitalize()}\n\n{what.capitalize()}.\n\n{table(study, family)}"
        for family, what in FAMILIES.items()
    ]
    parts.append(f"### Condition numbers\n\n{condition_table(study)}")
    return "\n\n".join(parts)


def table(study: Study, family: str) -> str:
    """The error of each contender at the sizes shown."""
    shown = [i for i, size in enumerate(study.sizes) if size in SHOWN]
    header = " | ".join(str(study.sizes[i]) for i in shown)
    lines = [f"| | {header} |", "|---|" + "---:|" * len(shown)]
    for name, of_size in study.errors[family].items():
        lines.append(f"| {name} | {' | '.join(short(of_size[i]) for i in shown)} |")
    return "\n".join(lines)


def condition_table(study: Study) -> str:
    """The condition number of each matrix at some depths."""
    shown = [i for i, depth in enumerate(study.depths) if depth % 10 == 0]
    lines = [
        f"| depth | {' | '.join(str(study.depths[i]) for i in shown)} |",
        "|---|" + "---:|" * len(shown),
    ]
    for name, of_depth in study.conditions.items():
        lines.append(f"| {name} | {' | '.join(short(of_depth[i]) for i in shown)} |")
    return "\n".join(lines)


def short(number: float) -> str:
    """One digit and the power of ten, in as few letters as can be."""
    if number == 0 or 1 <= number < 100:
        return f"{number:.1f}" if number else "0"
    digit, _, power = f"{number:.0e}".partition("e")
    return f"{digit}e{int(power)}"


def beside(folder: Path) -> None:
    """The numbers and the figure, beside the page."""
    study = measure(False)  # by position, as above: the cache tells the two ways of calling apart
    content = {
        "sizes": study.sizes,
        "errors": study.errors,
        "depths": study.depths,
        "conditions": study.conditions,
    }
    (folder / "accuracy.json").write_text(json.dumps(content, indent=1, allow_nan=False) + "\n")
    draw(study, folder)


# One colour and mark for each, told apart without colour too.
STYLES: dict[str, dict[str, Any]] = {
    "leafgrad": {"color": "black", "linewidth": 2.5, "zorder": 3},
    "TreeGrad-Shap": {"color": "#0072B2", "marker": "o"},
    "TreeGrad-Shap (vectorized)": {"color": "#56B4E9", "marker": ".", "linestyle": "--"},
    "Linear TreeShap": {"color": "#D55E00", "marker": "s"},
    "Linear TreeShap (well-conditioned)": {"color": "#D55E00", "marker": "s", "linestyle": ":"},
    "Linear TreeShap V1": {"color": "#E69F00", "marker": "^"},
    "TreeShap-K": {"color": "#CC79A7", "marker": "v"},
    "TreeProb": {"color": "#009E73", "marker": "D"},
    "TreeProb (M = D)": {"color": "#009E73", "marker": "D", "linestyle": "--"},
    "TreeProb (modified)": {"color": "#009E73", "marker": "D", "linestyle": ":"},
    "shap TreeExplainer": {"color": "0.5", "marker": "x"},
}


def draw(study: Study, folder: Path) -> None:
    """accuracy.svg and accuracy.png: three panels of errors and one of condition numbers."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    with plt.rc_context({"svg.fonttype": "none", "svg.hashsalt": "accuracy", "font.size": 9}):
        figure, axes = plt.subplots(2, 2, figsize=(10, 8.5), layout="constrained")
        for ax, family in zip(axes.flat, FAMILIES, strict=False):
            for name, style in STYLES.items():
                if name in study.errors[family]:
                    ax.plot(study.sizes, study.errors[family][name], markersize=4, label=name, **style)
            ax.set(yscale="log", ylim=(1e-18, 1e12), title=family, ylabel="largest error")
            ax.set_xlabel("depth" if family == "ten features" else "distinct features on a path")
            ax.axhline(1, color="0.8", linewidth=0.8)
        ax = axes.flat[3]
        marks = zip(study.conditions.items(), ("s-", "v-", "^-", "^:", "D-"), strict=True)
        for (name, of_depth), mark in marks:
            colour = STYLES[name.partition(":")[0].partition(",")[0]]["color"]
            ax.plot(study.depths, of_depth, mark, color=colour, markersize=4, label=name)
        ax.set(
            yscale="log",
            title="condition numbers",
            xlabel="depth",
            ylabel="largest / smallest singular value",
        )
        ax.legend(fontsize=8)
        handles, labels = axes.flat[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4)
        figure.savefig(folder / "accuracy.svg", metadata={"Date": None, "Creator": None})
        figure.savefig(folder / "accuracy.png", dpi=110, metadata={"Software": None})
        plt.close(figure)
