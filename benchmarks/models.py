"""The models that are measured, trained once and kept in benchmarks/.cache (or $LEAFGRAD_BENCH_CACHE).

X is rounded to float32, so that no contender sees other numbers than the model does. A file's name holds
the recipe's and scikit-learn's version: another version trains another model.
"""

from __future__ import annotations

import copy
import os
import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

CACHE = Path(os.environ.get("LEAFGRAD_BENCH_CACHE", Path(__file__).parent / ".cache"))


def rows(n: int, features: int, seed: int = 0) -> NDArray[np.float64]:
    """Normal rows, each number exact in float32."""
    return np.random.default_rng(seed).normal(size=(n, features)).astype(np.float32).astype(np.float64)


def target(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Smooth, rough and joint effects on a third of the features, and noise."""
    k = max(2, X.shape[1] // 6)
    noise = np.random.default_rng(1).normal(size=len(X))
    return np.sin(2 * X[:, :k]).sum(1) + (X[:, :k] * X[:, k : 2 * k]).sum(1) + np.sign(X[:, 0]) + noise


def _kept(name: str, train: Callable[[], Any]) -> Any:
    import sklearn

    path = CACHE / f"{name}-1-sklearn{sklearn.__version__}.pickle"
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        print(f"training {name} (once)", flush=True)
        path.write_bytes(pickle.dumps(train()))
    return pickle.loads(path.read_bytes())


@cache
def boosted(trees: int = 200, depth: int = 6, features: int = 50, n: int = 20_000) -> Any:
    """Gradient boosting for regression."""
    from sklearn.ensemble import GradientBoostingRegressor

    def train() -> Any:
        X = rows(n, features)
        return GradientBoostingRegressor(n_estimators=trees, max_depth=depth, random_state=0).fit(
            X, target(X)
        )

    return _kept(f"boosted-{trees}x{depth}-{features}-{n}", train)


@cache
def deep_forest(trees: int = 100, features: int = 30, n: int = 20_000) -> Any:
    """A random forest for regression, grown until leaves are pure."""
    from sklearn.ensemble import RandomForestRegressor

    def train() -> Any:
        X = rows(n, features)
        return RandomForestRegressor(trees, n_jobs=-1, random_state=0).fit(X, target(X)).set_params(n_jobs=1)

    return _kept(f"forest-{trees}-{features}-{n}", train)


@cache
def tree(leaves: int = 2_000, features: int = 20, n: int = 20_000) -> Any:
    """One tree for regression, grown best first to so many leaves."""
    from sklearn.tree import DecisionTreeRegressor

    def train() -> Any:
        X = rows(n, features)
        return DecisionTreeRegressor(max_leaf_nodes=leaves, random_state=0).fit(X, target(X))

    return _kept(f"tree-{leaves}-{features}-{n}", train)


def first_trees(forest: Any, trees: int) -> Any:
    """The forest of its first trees alone."""
    part = copy.copy(forest)
    part.estimators_ = forest.estimators_[:trees]
    part.n_estimators = trees
    return part
