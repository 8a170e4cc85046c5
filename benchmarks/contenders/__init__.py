"""The libraries that are measured, one a file, named as they are.

A file tells what its library takes, and makes it ready: `explain(model, ask)`, and `predict(model, ask)`
where it is the model's own. It is the way its own documentation shows, with every preparation that can be
done before the rows are explained (a DMatrix, a Pool, a DataFrame) left out of the time. All give leafgrad's
shape: (rows, features), or (rows, features, outputs).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol, cast

OWN = ("xgboost", "lightgbm", "catboost", "sklearn")  # libraries of models
NAMES = ("leafgrad", *OWN, "shap", "fasttreeshap", "shapiq", "woodelf")

SHAPLEY, BANZHAF, BETA, SIZES = "Shapley", "Banzhaf", "Beta(4, 1)", "any coalition sizes"
GA, ADAM = "Ranker, GA, T = 100", "Ranker, ADAM, T = 10"
EXACT = (SHAPLEY, BANZHAF, BETA, SIZES)  # the oracle has them

EVERYTHING = frozenset(OWN)


@dataclass(frozen=True)
class Ask:
    """What is asked of a contender."""

    value: str = SHAPLEY
    threads: int = 1
    outputs: int = 1
    from_array: bool = False  # the preparation belongs to the call: what one row costs from a NumPy array


def as_it_is(X: Any) -> Any:
    """No preparation."""
    return X


@dataclass(frozen=True)
class Ready:
    """A contender with its model: `call(prepare(X))`."""

    call: Callable[[Any], Any]
    prepare: Callable[[Any], Any] = as_it_is


class Library(Protocol):
    """What a file of this package holds."""

    PACKAGE: str  # as pip knows it
    MODELS: frozenset[str]  # libraries whose models it explains
    VALUES: frozenset[str]
    THREADS: bool  # whether it can take several
    PER_ROW: bool  # whether a row costs the same among few and among many
    APART: float  # from leafgrad, in the largest value: more is an error
    WHY: str  # of APART

    def explain(self, model: Any, ask: Ask) -> Ready:
        """Made ready."""


def library(name: str) -> Library:
    """The file of that name; it imports its library only when it is made ready."""
    return cast("Library", import_module(f"benchmarks.contenders.{name}"))


def installed(name: str) -> bool:
    """Whether it is there to be measured."""
    try:
        version(library(name).PACKAGE)
    except PackageNotFoundError:
        return False
    return True


def imported(name: str) -> None:
    """Import the library itself, so that later memory is not its code's."""
    own = getattr(library(name), "imported", None)
    if own:
        own()
    else:
        import_module(name)
