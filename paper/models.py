"""The models: trained as in the paper, or, beyond it, by other libraries on the same split."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paper.data import Data, Floats
from paper.facts import DATA, PINNED, ROWS, SEED, STAGES, Size


@dataclass(frozen=True)
class Split:
    """The training part, 80 %, and the test part."""

    X_train: Floats
    X_test: Floats
    y_train: NDArray[Any]
    y_test: NDArray[Any]

    @property
    def explained(self) -> Floats:
        """The rows that the paper explains."""
        return self.X_test[:ROWS]


def split(data: Data) -> Split:
    """Cut a data set as the paper does, and standardise its target where the paper does."""
    from sklearn.model_selection import train_test_split

    facts = DATA.get(data.name)
    regression = data.y.dtype.kind == "f"
    X_train, X_test, y_train, y_test = train_test_split(
        data.X, data.y, test_size=0.2, random_state=SEED, stratify=None if regression else data.y
    )
    if facts is not None and facts.standardised:
        from sklearn.preprocessing import StandardScaler

        scaler = StandardScaler().fit(y_train[:, None])
        y_train, y_test = (scaler.transform(y[:, None])[:, 0] for y in (y_train, y_test))
    return Split(X_train, X_test, y_train, y_test)


def train(kind: str, parts: Split, depth: int) -> Any:
    """A fitted model of one of `KINDS`, or of `BEYOND`, which are for classification."""
    y = parts.y_train
    if kind in BEYOND:
        y = np.unique(y, return_inverse=True)[1]  # XGBoost wants its classes numbered
    return MAKERS[kind](parts.y_train.dtype.kind == "f", depth).fit(parts.X_train, y)


def _tree(regression: bool, depth: int) -> Any:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    return (DecisionTreeRegressor if regression else DecisionTreeClassifier)(
        max_depth=depth, random_state=SEED
    )


def _boosted(regression: bool, depth: int) -> Any:
    from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

    return (GradientBoostingRegressor if regression else GradientBoostingClassifier)(
        n_estimators=STAGES, max_depth=depth, random_state=SEED
    )


def _forest(_: bool, depth: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(max_depth=depth, random_state=SEED)


def _xgboost(_: bool, __: int) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=100, random_state=SEED, n_jobs=1)


def _lightgbm(_: bool, __: int) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(random_state=SEED, n_jobs=1, deterministic=True, verbosity=-1)


MAKERS: dict[str, Callable[[bool, int], Any]] = {
    "decision tree": _tree,
    "boosted trees": _boosted,
    "random forest": _forest,
    "XGBoost": _xgboost,
    "LightGBM": _lightgbm,
}
KINDS = ("decision tree", "boosted trees")
BEYOND = tuple(kind for kind in MAKERS if kind not in KINDS)


def size(model: Any, parts: Split) -> Size:
    """How good and how large a model of scikit-learn is."""
    trees = [stage.tree_ for stage in np.ravel(getattr(model, "estimators_", model))]
    score = round(float(model.score(parts.X_test, parts.y_test)), 3)
    return Size(score, sum(int(t.n_leaves) for t in trees), sum(int(t.node_count) for t in trees))


def pinned() -> bool:
    """Whether the versions are those that train the paper's trees."""
    return all(version(name) == wanted for name, wanted in PINNED.items())


def other_class(predicted: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """The paper's class that is not the predicted one: some constant offset further, drawn once."""
    offset = np.random.RandomState(SEED).choice(np.arange(1, len(classes)))
    return np.asarray(classes[(np.searchsorted(classes, predicted) + offset) % len(classes)])
