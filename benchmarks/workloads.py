"""What is explained: models of every library with rows that none of them was trained on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks import boosters, models
from benchmarks.models import rows, sparse_rows


@dataclass(frozen=True)
class Workload:
    """A model and its rows; the second of each pair is small, to try the code."""

    about: str
    library: str
    model: Callable[[], Any]
    small: Callable[[], Any]
    features: tuple[int, int] = (50, 10)
    rows: int = 20_000
    outputs: int = 1
    sparse: bool = False
    oracle: int = 1  # rows for the exact oracle
    without: dict[str, str] = field(default_factory=dict)  # peers left out, and why

    def trained(self, quick: bool) -> Any:
        """The model."""
        return self.small() if quick else self.model()

    def some(self, n: int, quick: bool) -> Any:
        """That many rows."""
        make = sparse_rows if self.sparse else rows
        return make(n, self.features[quick], seed=7)

    def encoded(self, X: Any) -> Any:
        """Rows as the oracle takes them: what is absent is missing to XGBoost, the sparse model's library."""
        if not self.sparse:
            return X
        absent = np.full(X.shape, np.nan)
        entries = X.tocoo()
        absent[entries.row, entries.col] = entries.data
        return absent


TABLES = "its tables of so deep trees take a minute before the first row"
SMALL = 20, 4, 10, 1_000  # trees, depth, features, rows

WORKLOADS: dict[str, Workload] = {}
for _depth in (4, 6, 8, 10):
    WORKLOADS[f"XGBoost, depth {_depth}"] = Workload(
        f"200 trees of depth {_depth}, 50 features",
        "xgboost",
        lambda d=_depth: boosters.xgboost(depth=d),
        lambda: boosters.xgboost(*SMALL),
        without={"woodelf": TABLES} if _depth > 8 else {},
    )
for _leaves in (31, 63, 255):
    WORKLOADS[f"LightGBM, {_leaves} leaves"] = Workload(
        f"200 trees of {_leaves} leaves, 50 features",
        "lightgbm",
        lambda n=_leaves: boosters.lightgbm(leaves=n),
        lambda: boosters.lightgbm(20, 10, 10, 1_000),
        without={"woodelf": TABLES} if _leaves > 63 else {},
    )
WORKLOADS |= {
    "CatBoost, depth 6": Workload(
        "200 oblivious trees of depth 6, 50 features",
        "catboost",
        boosters.catboost,
        lambda: boosters.catboost(*SMALL),
        without={
            "shap": "it refuses models with leaves that no training row reached",
            "shapiq": "it gives other values where no training row reached a leaf, by some percent",
        },
    ),
    "forest at full depth": Workload(
        "random forest, 20 trees at full depth, 30 features",
        "sklearn",
        lambda: models.first_trees(models.deep_forest(), 20),
        lambda: models.first_trees(models.deep_forest(5, 10, 1_000), 2),
        features=(30, 10),
        rows=2_000,
        without={"woodelf": TABLES},
    ),
    "one tree": Workload(
        "one tree of 10,000 leaves, 20 features",
        "sklearn",
        lambda: models.tree(10_000),
        lambda: models.tree(100, 10, 1_000),
        features=(20, 10),
        rows=10_000,
    ),
    "several classes": Workload(
        "histogram gradient boosting, 5 classes, 100 iterations, 50 features",
        "sklearn",
        models.classes,
        lambda: models.classes(5, 5, 10, 1_000),
        rows=10_000,
        outputs=5,
    ),
    "sparse": Workload(
        "XGBoost, 100 trees of depth 6, 5,000 features of which a row has 50",
        "xgboost",
        boosters.sparse_xgboost,
        lambda: boosters.sparse_xgboost(10, 200, 500),
        features=(5_000, 200),
        rows=2_000,
        sparse=True,
        without=dict.fromkeys(("shap", "shapiq", "woodelf"), "no sparse rows"),
    ),
    "ten outputs": Workload(
        "random forest for ten targets, 100 trees of depth 8, 50 features",
        "sklearn",
        models.many_outputs,
        lambda: models.many_outputs(10, 5, 4, 10, 1_000),
        rows=10_000,
        outputs=10,
        without={"shapiq": "it takes one target", "woodelf": "it takes one target"},
    ),
}
