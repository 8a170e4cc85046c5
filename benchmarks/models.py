"""The models that are measured, trained once and kept in benchmarks/.cache (or $LEAFGRAD_BENCH_CACHE).

X is rounded to float32, so that no contender sees other numbers than the model does. A file's name holds
the recipe's and the library's version: another version trains another model. Here are the rows and
scikit-learn's models; `boosters` has the others'.
"""

from __future__ import annotations

import copy
import os
import pickle
from collections.abc import Callable
from functools import cache
from importlib import import_module
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


def sparse_rows(n: int, features: int, entries: int = 50, seed: int = 0) -> Any:
    """Sparse rows (CSR) of so many entries each; everything else is absent."""
    from scipy.sparse import csr_matrix

    rng = np.random.default_rng(seed)
    columns = np.sort(np.argsort(rng.random((n, features), dtype=np.float32), axis=1)[:, :entries])
    values = rng.normal(size=columns.size).astype(np.float32).astype(np.float64)
    ends = np.arange(0, columns.size + 1, entries)
    return csr_matrix((values, columns.ravel().astype(np.int32), ends), shape=(n, features))


def kept(name: str, train: Callable[[], Any], library: str = "sklearn") -> Any:
    """The model of that name: from the cache, else trained now."""
    path = CACHE / f"{name}-1-{library}{import_module(library).__version__}.pickle"
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

    return kept(f"boosted-{trees}x{depth}-{features}-{n}", train)


@cache
def deep_forest(trees: int = 100, features: int = 30, n: int = 20_000) -> Any:
    """A random forest for regression, grown until leaves are pure."""
    from sklearn.ensemble import RandomForestRegressor

    def train() -> Any:
        X = rows(n, features)
        return RandomForestRegressor(trees, n_jobs=-1, random_state=0).fit(X, target(X)).set_params(n_jobs=1)

    return kept(f"forest-{trees}-{features}-{n}", train)


@cache
def tree(leaves: int = 2_000, features: int = 20, n: int = 20_000) -> Any:
    """One tree for regression, grown best first to so many leaves."""
    from sklearn.tree import DecisionTreeRegressor

    def train() -> Any:
        X = rows(n, features)
        return DecisionTreeRegressor(max_leaf_nodes=leaves, random_state=0).fit(X, target(X))

    return kept(f"tree-{leaves}-{features}-{n}", train)


@cache
def many_outputs(
    outputs: int = 10, trees: int = 100, depth: int = 8, features: int = 50, n: int = 20_000
) -> Any:
    """A random forest for several targets at once, of moderate depth."""
    from sklearn.ensemble import RandomForestRegressor

    def train() -> Any:
        X = rows(n, features)
        Y = np.stack([target(np.roll(X, 5 * k, axis=1)) for k in range(outputs)], axis=1)
        forest = RandomForestRegressor(trees, max_depth=depth, max_features=0.3, n_jobs=-1, random_state=0)
        return forest.fit(X, Y).set_params(n_jobs=1)

    return kept(f"outputs-{outputs}-{trees}x{depth}-{features}-{n}", train)


@cache
def classes(classes: int = 5, iterations: int = 100, features: int = 50, n: int = 20_000) -> Any:
    """Histogram gradient boosting for several classes: a tree per class and iteration."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    def train() -> Any:
        X = rows(n, features)
        y = np.digitize(target(X), np.quantile(target(X), np.arange(1, classes) / classes))
        model = HistGradientBoostingClassifier(max_iter=iterations, early_stopping=False, random_state=0)
        return model.fit(X, y)

    return kept(f"classes-{classes}-{iterations}-{features}-{n}", train)


def first_trees(forest: Any, trees: int) -> Any:
    """The forest of its first trees alone."""
    part = copy.copy(forest)
    part.estimators_ = forest.estimators_[:trees]
    part.n_estimators = trees
    return part
