"""The model as leafgrad sees it: the flat arrays of all trees, and what its numbers are called.

A `Forest` is frozen. The native core holds the arrays, has checked them once, and has stored every leaf minus
its tree's root mean, so that targets near 1e8 lose no digits; the arrays here are read-only views of it. The
rest is metadata: names, the constant, the link. Every loader ends in `Forest.from_arrays`.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from leafgrad import _core, forest_arguments, forest_arrays
from leafgrad.errors import ModelFormatError
from leafgrad.forest_arrays import (
    CATEGORICAL,
    LARGEST_ZERO,
    MISSING_LEFT,
    NEGATIVE_OTHER,
    OTHER_LEFT,
    ZERO_MISSING,
)

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import ArrayLike

__all__ = [
    "CATEGORICAL",
    "LARGEST_ZERO",
    "MISSING_LEFT",
    "NEGATIVE_OTHER",
    "OTHER_LEFT",
    "ZERO_MISSING",
    "Forest",
]

T = TypeVar("T")


class _OfCore(Generic[T]):
    """A read-only attribute that the native forest of the same name holds."""

    def __init__(self, doc: str) -> None:
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, forest: Forest | None, owner: type) -> T:
        if forest is None:
            return self  # type: ignore[return-value]  # on the class, for its documentation
        return cast(T, getattr(forest.core, self.name))


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Forest:
    """A sum of trees, ready to be explained.

    Build one with `leafgrad.load(model)`, or with `Forest.from_arrays` for a tree of one's own. The arrays of
    the trees (`left`, `share`, `value`, ...) are read-only and indexed by one global node number; the first
    node of a tree is its root.

    Attributes
    ----------
    core
        The native forest.
    constant
        What the model adds to its trees, one number an output: `(K,)`.
    feature_names, output_names
        Names of the columns and of the outputs; None where the model has none.
    classes
        A classifier's labels; for a classifier of several targets a tuple of labels each; None for others.
    link
        From raw output to prediction: "identity", "sigmoid", "softmax", "exp", "softplus" or "square", each
        perhaps with a factor on the raw output: "sigmoid:2".
    missing, infinite
        Whether the model takes NaN and infinity.
    missing_value
        A number that means NaN wherever it stands in X, or None.
    absent_missing
        Whether an absent entry of a sparse X is NaN; else it is 0.
    categories
        Per feature the values of a categorical column, in the order of their codes, or None.
    categories_hashed
        Whether `categories` holds CatBoost's hashes of the values instead of the values.
    frame_categories
        LightGBM's rule: the values of the columns of a category type, in the order in which a data frame has
        such columns; arrays hold codes. None: not its rule.
    rounds_integers
        Whether an array of anything but float32 and float64 is rounded to float32 before it is compared.
    codes_in_arrays
        XGBoost's rule: an array holds codes, and only columns of a category type hold values. Else every X
        holds values.
    checked
        Whether the forest was compared with the live model when it was loaded.
    library, model_name
        Where it came from.
    """

    core: _core.Forest
    constant: NDArray[np.float64]
    feature_names: tuple[str, ...] | None = None
    output_names: tuple[Any, ...] | None = None
    classes: tuple[Any, ...] | None = None
    link: str = "identity"
    missing: bool = False
    missing_value: float | None = None
    absent_missing: bool = False
    infinite: bool = True
    categories: tuple[tuple[Any, ...] | None, ...] | None = None
    categories_hashed: bool = False
    frame_categories: tuple[tuple[Any, ...], ...] | None = None
    rounds_integers: bool = False
    codes_in_arrays: bool = False
    checked: bool = False
    library: str = ""
    model_name: str = ""

    # The trees, as the core holds them.
    tree_start = _OfCore[NDArray[np.int64]]("First node of each tree and the end, `(T+1,)`.")
    left = _OfCore[NDArray[np.int32]]("Left child, counted from its tree's root; -1 at a leaf.")
    right = _OfCore[NDArray[np.int32]]("Right child, counted from its tree's root; -1 at a leaf.")
    feature = _OfCore[NDArray[np.int32]]("Column a node splits on; -1 at a leaf.")
    threshold = _OfCore[NDArray[np.float64]]("`x <= threshold` goes left, in `dtype`.")
    flags = _OfCore[NDArray[np.uint8]](
        "1: NaN left; 2: categorical; 4: other codes left; 8: zero is NaN; 16: from -1 to 0 is another code."
    )
    category_set = _OfCore[NDArray[np.int32]]("Set of a categorical node, else -1.")
    set_start = _OfCore[NDArray[np.int64]]("First word of each category set and the end.")
    set_words = _OfCore[NDArray[np.uint32]]("Bit c % 32 of a set's word c // 32: code c goes left.")
    share = _OfCore[NDArray[np.float64]]("Cover share of a node in its parent; 1 at roots.")
    value = _OfCore[NDArray[np.float64]]("Leaf values minus their tree's root mean, `(n_nodes, W)`.")
    tree_output = _OfCore[NDArray[np.int32]]("Output a tree adds to; -1 for vector leaves.")
    root_mean = _OfCore[NDArray[np.float64]]("Cover-weighted mean of each tree's leaves, `(T, W)`.")
    n_trees = _OfCore[int]("Number of trees.")
    n_leaves = _OfCore[int]("Number of leaves of all trees.")
    n_features = _OfCore[int]("Number of columns the model takes.")
    n_outputs = _OfCore[int]("Number of raw outputs, K.")
    max_depth = _OfCore[int]("Most splits on one path.")

    @functools.cached_property
    def dtype(self) -> np.dtype[Any]:
        """The width in which the model compares, float32 or float64."""
        return np.dtype(np.float32 if self.core.single else np.float64)

    @functools.cached_property
    def base(self) -> NDArray[np.float64]:
        """The model's output when nothing is known, `(K,)`: the constant plus the trees' root means."""
        base = [[c] for c in self.constant]
        for tree, output in enumerate(self.tree_output):
            for k, mean in enumerate(self.root_mean[tree]):
                base[k if output < 0 else output].append(mean)
        out = np.array([math.fsum(terms) for terms in base])
        out.flags.writeable = False
        return out

    @functools.cached_property
    def scale(self) -> NDArray[np.float64]:
        """The sum over trees of max|leaf - root mean|, `(K,)`: the unit in which errors are told."""
        scale = np.zeros(self.n_outputs)
        peaks = np.maximum.reduceat(np.abs(self.value), self.tree_start[:-1], axis=0)
        if self.value.shape[1] == self.n_outputs and (self.tree_output < 0).all():
            scale += peaks.sum(axis=0)
        else:
            np.add.at(scale, self.tree_output, peaks[:, 0])
        return scale

    @functools.cached_property
    def _default_game(self) -> _core.Game:
        n = self.n_features
        return _core.Game(
            self.core, np.arange(n, dtype=np.int32), n, np.arange(self.n_outputs, dtype=np.int32)
        )

    def game(self, players: ArrayLike | None = None, outputs: ArrayLike | None = None) -> _core.Game:
        """The trees in walking order, for given players and outputs; the default one is kept.

        Parameters
        ----------
        players
            The player that owns each feature, `(n_features,)`, from 0; None: every feature is its own.
        outputs
            The outputs to explain; None: all.

        Returns
        -------
        _core.Game
            What the native core explains.
        """
        if players is None and outputs is None:
            return self._default_game
        owner = np.arange(self.n_features) if players is None else np.asarray(players)
        chosen = np.arange(self.n_outputs) if outputs is None else np.asarray(outputs)
        n_players = int(owner.max()) + 1 if owner.size else 0
        return _core.Game(
            self.core,
            np.ascontiguousarray(owner, dtype=np.int32),
            n_players,
            np.ascontiguousarray(chosen, dtype=np.int32),
        )

    def predict(self, X: Any, *, threads: int | None = None) -> NDArray[np.float64]:
        """The model's own raw output: margins of boosters, probabilities of tree and forest classifiers.

        Parameters
        ----------
        X
            Rows, in any form `leafgrad.explain` takes.
        threads
            Number of threads; None: what the process may use.

        Returns
        -------
        ndarray
            `(n,)`, or `(n, K)` when the model has K > 1 outputs.
        """
        from leafgrad import encode
        from leafgrad.threads import resolve

        rows = encode.rows(self, X)
        out = np.empty((rows.n, self.n_outputs))
        for start, block in rows.blocks():
            out[start : start + len(block)] = self.core.predict(block, resolve(threads)) + self.constant
        return out[:, 0] if self.n_outputs == 1 else out

    def leaves(self, X: Any, *, threads: int | None = None) -> NDArray[np.int32]:
        """The leaf each row reaches in each tree, as its node number within the tree.

        Parameters
        ----------
        X
            Rows, in any form `leafgrad.explain` takes.
        threads
            Number of threads; None: what the process may use.

        Returns
        -------
        ndarray
            `(n, n_trees)` of int32.
        """
        from leafgrad import encode
        from leafgrad.threads import resolve

        rows = encode.rows(self, X)
        out = np.empty((rows.n, self.n_trees), np.int32)
        for start, block in rows.blocks():
            out[start : start + len(block)] = self.core.leaves(block, resolve(threads))
        return out

    def replace(self, **metadata: Any) -> Forest:
        """The same trees with other metadata.

        Parameters
        ----------
        **metadata
            Fields of the forest.

        Returns
        -------
        Forest
            A new forest that shares the native core.
        """
        return dataclasses.replace(self, **metadata)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the forest to one `.npz` file, readable with no other library than leafgrad.

        Parameters
        ----------
        path
            The file; it appears whole or not at all.
        """
        from leafgrad import forest_file

        forest_file.save(self, path)

    @staticmethod
    def load(path: str | PathLike[str] | bytes) -> Forest:
        """Read a forest that `save` wrote.

        Parameters
        ----------
        path
            The file, or its content as bytes.

        Returns
        -------
        Forest
            The forest; its explanations are bit for bit those of the one saved.
        """
        from leafgrad import forest_file

        return forest_file.load(path)

    def __repr__(self) -> str:
        what = " ".join(part for part in (self.library, self.model_name) if part)
        return (
            f"<Forest{f' of {what}' if what else ''}: {self.n_trees} trees, {self.n_leaves} leaves, "
            f"depth {self.max_depth}, {self.n_features} features, {self.n_outputs} outputs>"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        from leafgrad import forest_file

        return forest_file.unpack, forest_file.pack(self)

    @staticmethod
    def from_arrays(
        *,
        tree_start: ArrayLike,
        left: ArrayLike,
        right: ArrayLike,
        feature: ArrayLike,
        threshold: ArrayLike,
        cover: ArrayLike,
        value: ArrayLike,
        tree_output: ArrayLike | None = None,
        missing_left: ArrayLike | None = None,
        categories_left: Mapping[int, Iterable[int]] | None = None,
        other_left: ArrayLike | None = None,
        zero_missing: ArrayLike | None = None,
        negative_other: ArrayLike | None = None,
        compare: str = "<=",
        dtype: Any = np.float64,
        constant: ArrayLike = 0.0,
        n_features: int | None = None,
        n_outputs: int | None = None,
        feature_names: Sequence[str] | None = None,
        output_names: Sequence[Any] | None = None,
        classes: Sequence[Any] | None = None,
        link: str = "identity",
        missing: bool | None = None,
        missing_value: float | None = None,
        absent_missing: bool = False,
        infinite: bool = True,
        categories: Sequence[Sequence[Any] | None] | None = None,
        categories_hashed: bool = False,
        checked: bool = False,
        library: str = "",
        model_name: str = "",
    ) -> Forest:
        """Build a forest from plain arrays, one entry a node over all trees.

        Parameters
        ----------
        tree_start
            `(T+1,)`: tree t is the nodes `tree_start[t]` to `tree_start[t+1] - 1`; the first is its root.
        left, right
            Child of each node, counted from its tree's root; -1 at a leaf.
        feature
            Column each node splits on; ignored at leaves.
        threshold
            `x <= threshold` goes left (`x < threshold` with `compare="<"`); ignored at leaves and
            categorical nodes.
        cover
            Training weight that reached each node, at least 0. Only the ratio of siblings matters; 1/2
            each where both are 0.
        value
            `(n,)` or `(n, W)`: leaf values; other rows are ignored. W = 1 or the number of outputs.
        tree_output
            `(T,)`: the output each tree adds to, where leaves are single numbers and there are several
            outputs.
        missing_left
            Per node, whether NaN goes left; None: the model takes no NaN, unless `missing=True`.
        categories_left
            Categorical nodes: node -> the codes that go left. A code is `int(x)`.
        other_left
            Per node, whether codes beyond its set go left: negative ones, and those from the next multiple
            of 32 above the largest listed code. Those between go right, like all that are not listed.
        zero_missing
            Per node, whether numbers from -1e-35 to 1e-35 (as float32 has it) go where NaN goes: LightGBM's
            zero_as_missing.
        negative_other
            Per node, whether a number between -1 and 0 is beyond a set of categories, as treelite has it;
            else it is cut to code 0, as LightGBM does.
        compare
            "<=" or "<".
        dtype
            float32 or float64: the width in which the model casts x and compares it with the threshold.
        constant
            What the model adds to its trees: a number, or one an output.
        n_features, n_outputs
            Numbers of columns and outputs; None: what the arrays need.
        feature_names, output_names, classes
            Names, see the attributes.
        link
            See the attributes.
        missing, infinite
            Whether NaN and infinity are taken.
        missing_value
            A number that means NaN wherever it stands in X.
        absent_missing
            Whether an absent entry of a sparse X is NaN; else it is 0.
        categories
            Per feature, values of a categorical column in the order of their codes.
        categories_hashed
            Whether they are CatBoost's hashes of the values.
        checked, library, model_name
            For loaders.

        Returns
        -------
        Forest
            The checked forest.

        Examples
        --------
        A stump that answers 1 where the second column is above 0.5, learned from 3 rows below and 1 above:

        >>> from leafgrad import Forest
        >>> stump = Forest.from_arrays(
        ...     tree_start=[0, 3], left=[1, -1, -1], right=[2, -1, -1], feature=[1, -1, -1],
        ...     threshold=[0.5, 0, 0], cover=[4, 3, 1], value=[0, 0, 1])
        >>> stump.base
        array([0.25])
        >>> stump.predict([[0.0, 0.4], [0.0, 0.6]])
        array([0., 1.])
        """
        core = forest_arrays.core(
            tree_start=tree_start,
            left=left,
            right=right,
            feature=feature,
            threshold=threshold,
            cover=cover,
            value=value,
            tree_output=tree_output,
            missing_left=missing_left,
            categories_left=categories_left,
            other_left=other_left,
            zero_missing=zero_missing,
            negative_other=negative_other,
            compare=compare,
            dtype=dtype,
            infinite=infinite,
            n_features=n_features,
            n_outputs=n_outputs,
            least_features=0 if feature_names is None else len(feature_names),
        )
        constants = forest_arguments.constants(constant, core.n_outputs)
        if feature_names is not None and len(feature_names) != core.n_features:
            raise ModelFormatError(
                f"there are {len(feature_names)} feature_names for {core.n_features} features"
            )
        forest_arguments.check_labels(classes, output_names, categories, core.n_outputs, core.n_features)
        forest = Forest(
            core=core,
            constant=constants,
            feature_names=None if feature_names is None else tuple(str(name) for name in feature_names),
            output_names=None if output_names is None else tuple(output_names),
            classes=None if classes is None else tuple(classes),
            link=link,
            missing=missing_left is not None if missing is None else bool(missing),
            missing_value=None if missing_value is None else float(missing_value),
            absent_missing=bool(absent_missing),
            infinite=bool(infinite),
            categories=None
            if categories is None
            else tuple(None if c is None else tuple(c) for c in categories),
            categories_hashed=bool(categories_hashed),
            checked=checked,
            library=library,
            model_name=model_name,
        )
        forest.game()  # refuses, now rather than later, shares that float64 cannot carry
        return forest
