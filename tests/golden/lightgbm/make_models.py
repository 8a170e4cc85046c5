"""Writes *.txt and expected.json beside it: `python tests/golden/lightgbm/make_models.py`, with LightGBM.

One small model per feature of LightGBM's text format, and what LightGBM itself says of a few rows: raw scores
and, but for the tree of 75 levels in which it loses them, contributions. leafgrad is not asked for anything.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pandas as pd

FOLDER = Path(__file__).parent
rng = np.random.default_rng(0)
n = 200
X = rng.normal(size=(n, 4)).round(3)
X[:, 1] = rng.integers(-1, 40, n)
X[rng.random(n) < 0.2, 2] = np.nan
X[rng.random(n) < 0.4, 3] = 0
y = (X[:, 0] + np.sin(X[:, 1]) + np.nan_to_num(X[:, 2]) - np.abs(X[:, 3])).round(3)
three = np.digitize(y, [-0.6, 0.6])
rows = np.vstack(
    [
        X[:4],
        [0, 39, 0, 0],
        [1e300, 40, np.inf, -1e-35],
        [-np.inf, -1, np.nan, np.nan],
        [np.nan, np.nan, np.nan, 1e-36],
        [0.5, 2.5, -0.5, 1e6],
        [0.5, 2**31, 1e-40, 1e-34],
    ]
)
frame = pd.DataFrame(X, columns=["size", "city", "age", "grade=x"]).assign(
    city=pd.Categorical(np.array(["bonn", "größe", "lima"])[X[:, 1].astype(int) % 3])
)
quick = {
    "verbose": -1,
    "num_threads": 1,
    "num_leaves": 5,
    "min_data_in_leaf": 5,
    "min_data_per_group": 3,
    "cat_smooth": 1.0,
    "seed": 0,
}
forest = {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.6}


def trained(target: Any, data: Any = X, **params: Any) -> Any:
    columns = {} if data is frame else {"categorical_feature": [1]}
    return lightgbm.train({**quick, **params}, lightgbm.Dataset(data, target, **columns), 3)


def chain(levels: int = 75) -> str:
    """A tree that splits on another feature at every level: training on little data goes not so deep."""
    counts = np.cumsum(rng.integers(1, 9, levels + 1))[::-1]
    lines = {
        "num_leaves": [levels + 1],
        "num_cat": [0],
        "split_feature": range(levels),
        "split_gain": [1] * levels,
        "threshold": [0.5] * levels,
        "decision_type": [8] * levels,
        "left_child": [-1 - leaf for leaf in range(levels)],
        "right_child": [*range(1, levels), -1 - levels],
        "leaf_value": rng.normal(size=levels + 1).round(3).tolist(),
        "leaf_weight": [1] * (levels + 1),
        "leaf_count": [*(counts[:-1] - counts[1:]).tolist(), int(counts[-1])],
        "internal_value": [0] * levels,
        "internal_weight": [0] * levels,
        "internal_count": counts[:-1].tolist(),
        "is_linear": [0],
        "shrinkage": [1],
    }
    tree = "".join(f"{key}={' '.join(map(str, values))}\n" for key, values in lines.items())
    names = " ".join(f"f{j}" for j in range(levels))
    return (
        "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\n"
        f"max_feature_idx={levels - 1}\nobjective=regression\nfeature_names={names}\n"
        f"feature_infos={' '.join(['none'] * levels)}\n\nTree=0\n{tree}\n\nend of trees\n"
    )


MODELS: dict[str, Any] = {
    "regression": lambda: trained(y),
    "regression_sqrt": lambda: trained(y, reg_sqrt=True),
    "poisson": lambda: trained(np.exp(y), objective="poisson"),
    "binary_sigmoid": lambda: trained(y > 0, objective="binary", sigmoid=2.5),
    "multiclass": lambda: trained(three, objective="multiclass", num_class=3),
    "multiclassova": lambda: trained(three, objective="multiclassova", num_class=3, sigmoid=0.5),
    "cross_entropy_lambda": lambda: trained(three / 2, objective="cross_entropy_lambda"),
    "own_objective": lambda: trained(y, objective=lambda p, d: (p - d.get_label(), np.ones(n))),
    "random_forest": lambda: trained(y, **forest),
    "dart": lambda: trained(y, boosting="dart", drop_rate=0.5),
    "one_hot_categories": lambda: trained(y, max_cat_to_onehot=100),
    "pandas_categories": lambda: trained(y, frame),
    "missing_none": lambda: trained(y, use_missing=False),
    "missing_zero": lambda: trained(y, zero_as_missing=True),
    "one_leaf": lambda: trained(np.full(n, 3.25)),
    "monotone": lambda: lightgbm.train(
        {**quick, "monotone_constraints": [1, 0, 0, 0]}, lightgbm.Dataset(X, y), 3
    ),
    "deep": chain,
    "linear": lambda: trained(y, linear_tree=True),
}

if __name__ == "__main__":
    expected: dict[str, Any] = {"lightgbm": lightgbm.__version__}
    for name, make in MODELS.items():
        model = make()
        text = model if isinstance(model, str) else model.model_to_string()
        (FOLDER / f"{name}.txt").write_text(text, encoding="utf-8")
        booster = lightgbm.Booster(model_str=text)
        asked = (
            np.vstack([np.ones(75), np.linspace(0, 1, 75), np.eye(75)[3] * np.nan])
            if name == "deep"
            else rows
        )
        said = {"rows": asked.tolist(), "raw": booster.predict(asked, raw_score=True).tolist()}
        if name != "deep":
            if name != "linear":
                said["contributions"] = booster.predict(asked, pred_contrib=True).tolist()
            said["prediction"] = booster.predict(asked).tolist()
        expected[name] = said
    lines = [f"{json.dumps(name)}: {json.dumps(said)}" for name, said in expected.items()]
    (FOLDER / "expected.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
