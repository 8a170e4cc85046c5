"""The boosted models of other libraries than scikit-learn, trained once and kept as `models` keeps its own.

All learn the same 20,000 rows of 50 features; the sparse one has 5,000 features of which a row holds 50.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from benchmarks.models import kept, rows, sparse_rows, target


@cache
def xgboost(trees: int = 200, depth: int = 6, features: int = 50, n: int = 20_000) -> Any:
    """A Booster of depth-wise grown trees, by histograms."""

    def train() -> Any:
        import xgboost as xgb

        X = rows(n, features)
        settings = {"max_depth": depth, "tree_method": "hist", "seed": 0}
        return xgb.train(settings, xgb.DMatrix(X, target(X)), trees)

    return kept(f"xgboost-{trees}x{depth}-{features}-{n}", train, "xgboost")


@cache
def sparse_xgboost(trees: int = 100, features: int = 5_000, n: int = 20_000) -> Any:
    """A Booster on sparse rows: an absent entry is missing to it."""

    def train() -> Any:
        import xgboost as xgb

        X = sparse_rows(n, features)
        y = X @ np.random.default_rng(1).normal(size=features)
        settings = {"max_depth": 6, "tree_method": "hist", "seed": 0, "max_bin": 64}
        return xgb.train(settings, xgb.DMatrix(X, y), trees)

    return kept(f"xgboost-sparse-{trees}-{features}-{n}", train, "xgboost")


@cache
def lightgbm(trees: int = 200, leaves: int = 63, features: int = 50, n: int = 20_000) -> Any:
    """A Booster of trees grown best first to so many leaves."""

    def train() -> Any:
        import lightgbm as lgb

        X = rows(n, features)
        settings = {"objective": "regression", "num_leaves": leaves, "verbosity": -1, "seed": 0}
        settings["deterministic"] = True
        return lgb.train(settings, lgb.Dataset(X, target(X)), trees)

    return kept(f"lightgbm-{trees}x{leaves}-{features}-{n}", train, "lightgbm")


@cache
def catboost(trees: int = 200, depth: int = 6, features: int = 50, n: int = 20_000) -> Any:
    """A regressor of oblivious trees."""

    def train() -> Any:
        from catboost import CatBoostRegressor

        X = rows(n, features)
        settings = {"iterations": trees, "depth": depth, "random_seed": 0, "learning_rate": 0.2}
        return CatBoostRegressor(**settings, verbose=False, allow_writing_files=False).fit(X, target(X))

    return kept(f"catboost-{trees}x{depth}-{features}-{n}", train, "catboost")
