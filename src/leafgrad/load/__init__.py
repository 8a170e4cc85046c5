"""From a user's model to a `Forest`: `load`, and the table of libraries it knows.

A loader is found by the modules of the model's own classes, or by what a file begins with (`files`), and only
then imported; no library is imported to find out. Each loader is one module with a function
`read(model, cover) -> Source`, and `read_file(content, name, cover) -> Source` where it reads files too; all
else is common: the check against the live model (`check`, on the rows of `probes`) and covers counted from
data (`covers`).
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leafgrad.errors import InputError, UnsupportedModelError
from leafgrad.forest import Forest

if TYPE_CHECKING:
    from leafgrad.load.trees import Source

__all__ = ["load"]

# Top module of a model's class -> the loader's module.
LIBRARIES = {
    "sklearn": "leafgrad.load.sklearn",
    "xgboost": "leafgrad.load.xgboost",
    "lightgbm": "leafgrad.load.lightgbm",
    "catboost": "leafgrad.load.catboost",
    "onnx": "leafgrad.load.onnx",
    "treelite": "leafgrad.load.treelite",
}

SUPPORTED = (
    "Supported are the tree models of scikit-learn, imbalanced-learn, XGBoost, LightGBM, CatBoost, ONNX and "
    "treelite, and trees of your own by leafgrad.Forest.from_arrays."
)


def load(model_or_path: Any, *, data: Any = None, cover: str | None = None, check: bool = True) -> Forest:
    """Load a model's trees, and check them against the model.

    Parameters
    ----------
    model_or_path : object
        A fitted model; a `Forest`; the path of a file that `Forest.save` or the model's library wrote; or
        such a file's content, as text or bytes.
    data : object
        Rows to count covers from, such as the training data; the training's own weights are then not used.
    cover : str or None
        What weighs the two sides of a split on an unknown feature. None: what the library's own importances
        use (scikit-learn's weighted row counts). "counts": plain counts of the training rows. "hessian": sums
        of second derivatives. "data": counts of the rows of `data`. Not every model keeps each of them.
    check : bool
        Compare with the live model on rows that sit on and around its thresholds; raise where they differ.
        For a file, its library is asked if it is installed.

    Returns
    -------
    Forest
        The forest; its `checked` says whether it was compared with the live model.

    Raises
    ------
    UnsupportedModelError
        If the model is no sum of trees; the message says what to pass instead.
    ModelFormatError
        If a file is damaged.
    ModelMismatchError
        If the loaded trees and the live model disagree.

    Examples
    --------
    >>> import leafgrad as lg
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RandomForestRegressor(n_estimators=5, random_state=0).fit(X, y)
    >>> forest = lg.load(model)
    >>> forest.n_trees, forest.n_features, forest.checked
    (5, 10, True)
    """
    if cover == "data" and data is None:
        raise InputError("cover='data' counts covers from rows, and none came. Pass them as data=X.")
    if data is not None and cover not in (None, "data"):
        raise InputError(
            f"data=... counts covers from its rows, and cover={cover!r} asks for others. Pass one."
        )
    from leafgrad.load import files  # these here: importing leafgrad need not wait for them
    from leafgrad.load.check import verified
    from leafgrad.load.covers import recounted

    own = None if cover == "data" else cover
    source: Source | None = None
    if isinstance(model_or_path, str | bytes | bytearray | os.PathLike):
        content, name = _content(model_or_path)
        if content is None or files.is_forest(content):
            model_or_path = Forest.load(name if content is None else content)
        else:
            source = import_module(files.reader_of(content, name)).read_file(content, name, own)
    if isinstance(model_or_path, Forest):
        forest = model_or_path
        if cover not in (None, "data"):
            raise InputError(
                f"cover={cover!r} was asked of a Forest, which keeps only the shares it was built with. "
                "Load the model itself again, or pass data=X to count covers from."
            )
    else:
        source = source or _reader(model_or_path)(model_or_path, own)
        if source.trees.cover is None and data is None:
            raise UnsupportedModelError(
                f"this {source.model_name} does not tell how many rows went each way, which weighs the sides "
                "of a split on an unknown feature. Pass rows to count them from, such as the training data: "
                "data=X."
            )
        forest = (source if data is None else source.without_covers()).forest()
        if check:
            forest = verified(forest, source)
    return forest if data is None else recounted(forest, data)


def _reader(model: Any) -> Any:
    """Find the `read` function for this model, by the modules of its classes."""
    if isinstance(model, type):
        raise UnsupportedModelError(
            f"the class {model.__name__} came where a model is wanted. "
            f"Pass a fitted model, {model.__name__}(...).fit(X, y)."
        )
    for top in (kind.__module__.partition(".")[0] for kind in type(model).__mro__):
        if top in LIBRARIES:
            return import_module(LIBRARIES[top]).read
    raise UnsupportedModelError(
        f"{type(model).__module__}.{type(model).__name__} is of no library that leafgrad knows. {SUPPORTED}"
    )


def _content(given: str | bytes | bytearray | os.PathLike[str]) -> tuple[bytes | None, str]:
    """What a file holds, and how messages call it; no content for one of our own."""
    if isinstance(given, bytes | bytearray):
        return bytes(given), "the model's content"
    if isinstance(given, str) and ("\n" in given or given.startswith("{")):  # no path, but a model's text
        return given.encode(), "the model's text"
    path = Path(given)
    return None if path.suffix == ".npz" else path.read_bytes(), str(path)
