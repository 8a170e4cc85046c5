"""Exact explanations and rankings of features for tree models.

>>> import leafgrad as lg
>>> forest = lg.load(model)  # doctest: +SKIP
>>> lg.explain(forest, X).values  # doctest: +SKIP
"""

from leafgrad.best_of import best_of
from leafgrad.curves import Curves, curves
from leafgrad.errors import (
    InputError,
    LeafgradError,
    ModelFormatError,
    ModelMismatchError,
    UnsupportedModelError,
)
from leafgrad.explain import explain
from leafgrad.explanation import Explanation
from leafgrad.forest import Forest
from leafgrad.game import extension, gradient, objective, predict_known
from leafgrad.load import load
from leafgrad.optimizers import Adam, GradientAscent
from leafgrad.probabilistic import ProbabilisticValue
from leafgrad.rank import greedy, rank
from leafgrad.values import Banzhaf, BetaShapley, Semivalue, Shapley

__all__ = [
    "Adam",
    "Banzhaf",
    "BetaShapley",
    "Curves",
    "Explanation",
    "Forest",
    "GradientAscent",
    "InputError",
    "LeafgradError",
    "ModelFormatError",
    "ModelMismatchError",
    "ProbabilisticValue",
    "Semivalue",
    "Shapley",
    "UnsupportedModelError",
    "__version__",
    "best_of",
    "curves",
    "explain",
    "extension",
    "gradient",
    "greedy",
    "load",
    "objective",
    "predict_known",
    "rank",
]


def __getattr__(name: str) -> str:
    if name == "__version__":  # asked for seldom, and slow to find
        from importlib.metadata import version

        return version("leafgrad")
    raise AttributeError(f"module 'leafgrad' has no attribute {name!r}")
