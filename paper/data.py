"""The data: from a folder of Parquet files, else from OpenML, else it is not at hand, and that is said.

A file NAME.parquet holds OpenML's rows in OpenML's order, the target last. What is fetched stays in
paper/.cache. Nothing ever stands in for a data set.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paper.facts import DATA, OTHERS

Floats = NDArray[np.float64]
ROOT = Path(__file__).parents[1]


class NotAtHand(Exception):  # noqa: N818  a fact, not an error
    """The data set is neither in the folder nor to be had from OpenML; the text says why."""


@dataclass(frozen=True)
class Data:
    """Rows and target; `digest` stands for their content."""

    name: str
    X: Floats
    y: NDArray[Any]
    digest: str


def folder() -> Path:
    """Where Parquet files are looked for: $LEAFGRAD_PAPER_DATA, or shared/data beside the project."""
    return Path(os.environ.get("LEAFGRAD_PAPER_DATA", ROOT.parent / "shared" / "data"))


def load(name: str, where: Path | None = None) -> Data:
    """A data set of the paper, or any file of the folder.

    Parameters
    ----------
    name : str
        One of `facts.DATA` or `facts.OTHERS`, or a file's name without its suffix.
    where : Path, optional
        The folder; `folder()` if None.

    Returns
    -------
    Data
        Features as float64; the target as float64 for regression and as text for classification.

    Raises
    ------
    NotAtHand
        Where it cannot be had.
    """
    found = _load(name, folder() if where is None else where)
    if isinstance(found, str):
        raise NotAtHand(found)
    return found


@cache
def _load(name: str, where: Path) -> Data | str:
    """The data set, or why it is not at hand: asked for once, for OpenML may be slow to be out of reach."""
    known, path = DATA.get(name), where / f"{name}.parquet"
    number = OTHERS.get(name) if known is None else known.openml
    if path.exists():
        X, y = _from_file(path)
    elif number is None:
        return f"no file {path.name}"
    else:
        try:
            X, y = _from_openml(number)
        except OSError as error:  # what urllib raises without a network is one
            return f"no file {path.name}, and OpenML {number} is out of reach ({error})"
    X = np.ascontiguousarray(X, dtype=np.float64)
    regression = known is not None and known.classes is None
    y = np.asarray(y, dtype=np.float64 if regression else str)
    return Data(name, X, y, hashlib.sha256(X.tobytes() + y.tobytes()).hexdigest())


def _from_file(path: Path) -> tuple[Any, Any]:
    import pandas as pd

    frame = pd.read_parquet(path)
    if frame.columns[-1] != "target":
        raise ValueError(
            f"{path}: the last column is {frame.columns[-1]!r}; it must be the target, and so named"
        )
    return frame.iloc[:, :-1].to_numpy(np.float64), frame["target"].to_numpy()


def _from_openml(number: int) -> tuple[Any, Any]:
    from sklearn.datasets import fetch_openml

    kept = ROOT / "paper" / ".cache" / "openml"
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "A network error occurred", UserWarning)
        X, y = fetch_openml(
            data_id=number, as_frame=False, return_X_y=True, data_home=str(kept), n_retries=1, delay=0.1
        )
    return X, y
