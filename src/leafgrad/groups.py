"""Which features are one player of the game: groups of features are known or unknown together.

One-hot columns or the parts of a date are one thing to a reader; as one player they get one value, which is
not the sum of their single values. A node of a tree routes on its feature and belongs to its player, so
groups cost nothing.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from leafgrad.errors import InputError

if TYPE_CHECKING:
    from leafgrad.forest import Forest


@dataclass(frozen=True, eq=False)
class Players:
    """The players of a game on a forest.

    Attributes
    ----------
    of_feature : int32 array, (n_features,), or None
        Each feature's player; None where every feature is its own.
    names : tuple of str
        The players' names, in the features' order.
    groups : dict or None
        The groups, as feature names or positions.
    """

    of_feature: npt.NDArray[np.int32] | None
    names: tuple[str, ...]
    groups: dict[str, tuple[Any, ...]] | None


def feature_names(forest: Forest) -> tuple[str, ...]:
    """The forest's names, or x0, x1, ... where it has none."""
    if forest.feature_names is not None:
        return tuple(forest.feature_names)
    return tuple(f"x{j}" for j in range(forest.n_features))


def resolve(forest: Forest, groups: Any = None) -> Players:
    """The players of `groups`; ungrouped features stay players of their own.

    Parameters
    ----------
    forest : Forest
    groups : mapping of a name to features, or None
        Features by name, by position where the forest has no names. A group stands where its first feature
        stood, under its own name.

    Returns
    -------
    Players
    """
    names = feature_names(forest)
    if groups is None or (isinstance(groups, Mapping) and not groups):
        return Players(None, names, None)
    if not isinstance(groups, Mapping):
        raise InputError(
            f"groups is a {type(groups).__name__}; pass a dict from a name to its features, "
            'such as {"city": ["city_a", "city_b"]}'
        )
    group_of: dict[int, str] = {}
    kept: dict[str, tuple[Any, ...]] = {}
    find = _finder(forest, names)
    for group, features in groups.items():
        if not isinstance(group, str):
            raise InputError(
                f"groups has the name {group!r} ({type(group).__name__}); a group's name is text"
            )
        if isinstance(features, str) or not isinstance(features, Iterable):
            raise InputError(f"groups[{group!r}] is {features!r}; pass a list of features, [{features!r}]")
        members = [find(feature, group) for feature in features]
        if not members:
            raise InputError(f"groups[{group!r}] is empty; name its features or leave it out")
        for j in members:
            if j in group_of:
                also = "twice" if group_of[j] == group else f"in {group_of[j]!r} too"
                raise InputError(
                    f"groups[{group!r}] has the feature {names[j]!r} {also}; a feature is in one group once"
                )
            group_of[j] = group
        kept[group] = tuple(names[j] if forest.feature_names is not None else j for j in members)
    position = {name: j for j, name in enumerate(names)}
    for group in kept:
        if group in position and group_of.get(position[group]) != group:
            raise InputError(
                f"groups[{group!r}] has the name of a feature that is not in it; name the group otherwise"
            )
    number: dict[str, int] = {}
    players: list[str] = []
    of_feature = np.empty(len(names), dtype=np.int32)
    for j, name in enumerate(names):
        group_name = group_of.get(j)
        if group_name is not None and group_name in number:
            of_feature[j] = number[group_name]
            continue
        of_feature[j] = len(players)
        players.append(name if group_name is None else group_name)
        if group_name is not None:
            number[group_name] = len(players) - 1
    return Players(of_feature, tuple(players), kept)


def _finder(forest: Forest, names: tuple[str, ...]) -> Any:
    """A function from a user's feature to its position."""
    named = forest.feature_names is not None
    position = {name: j for j, name in enumerate(names)}

    def find(feature: Any, group: str) -> int:
        if named:
            if isinstance(feature, str) and feature in position:
                return position[feature]
            wanted = f"pass names of the model's features: {_some(names)}"
        else:
            wanted = f"the model has no names, so pass positions, 0 to {len(names) - 1}"
            if not isinstance(feature, bool | str):
                try:
                    j = operator.index(feature)
                except TypeError:
                    j = -1
                if 0 <= j < len(names):
                    return j
        raise InputError(f"groups[{group!r}] has {feature!r}, which is no feature of the model; {wanted}")

    return find


def _some(names: tuple[str, ...], most: int = 5) -> str:
    shown = ", ".join(map(repr, names[:most]))
    return shown if len(names) <= most else f"{shown}, ... ({len(names)} in all)"
