"""The native core: arrays in, arrays out. See native/bindings.cpp."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

_Progress: TypeAlias = Callable[[int], object] | None

class Forest:
    def __init__(
        self,
        *,
        tree_start: NDArray[np.int64],
        left: NDArray[np.int32],
        right: NDArray[np.int32],
        feature: NDArray[np.int32],
        threshold: NDArray[np.float64],
        flags: NDArray[np.uint8],
        category_set: NDArray[np.int32],
        set_start: NDArray[np.int64],
        set_words: NDArray[np.uint32],
        cover: NDArray[np.float64],
        value: NDArray[np.float64],
        tree_output: NDArray[np.int32],
        n_features: int,
        n_outputs: int,
        single: bool,
        root_mean: NDArray[np.float64] | None = None,
    ) -> None: ...
    @property
    def tree_start(self) -> NDArray[np.int64]: ...
    @property
    def left(self) -> NDArray[np.int32]: ...
    @property
    def right(self) -> NDArray[np.int32]: ...
    @property
    def feature(self) -> NDArray[np.int32]: ...
    @property
    def threshold(self) -> NDArray[np.float64]: ...
    @property
    def flags(self) -> NDArray[np.uint8]: ...
    @property
    def category_set(self) -> NDArray[np.int32]: ...
    @property
    def set_start(self) -> NDArray[np.int64]: ...
    @property
    def set_words(self) -> NDArray[np.uint32]: ...
    @property
    def share(self) -> NDArray[np.float64]: ...
    @property
    def value(self) -> NDArray[np.float64]: ...
    @property
    def tree_output(self) -> NDArray[np.int32]: ...
    @property
    def root_mean(self) -> NDArray[np.float64]: ...
    @property
    def n_features(self) -> int: ...
    @property
    def n_outputs(self) -> int: ...
    @property
    def n_leaves(self) -> int: ...
    @property
    def n_trees(self) -> int: ...
    @property
    def max_depth(self) -> int: ...
    @property
    def single(self) -> bool: ...
    def leaves(self, X: NDArray[Any], threads: int = 1, progress: _Progress = None) -> NDArray[np.int32]: ...
    def predict(
        self, X: NDArray[Any], threads: int = 1, progress: _Progress = None
    ) -> NDArray[np.float64]: ...

class Game:
    def __init__(
        self, forest: Forest, player: NDArray[np.int32], n_players: int, outputs: NDArray[np.int32]
    ) -> None: ...
    @property
    def n_players(self) -> int: ...
    @property
    def n_outputs(self) -> int: ...
    @property
    def most_players(self) -> NDArray[np.int32]: ...
    def attribute(
        self,
        X: NDArray[Any],
        rule_start: NDArray[np.int64],
        nodes: NDArray[np.float64],
        weights: NDArray[np.float64],
        rows_in_all: int | None = None,
        threads: int = 1,
        progress: _Progress = None,
    ) -> NDArray[np.float64]: ...
    def gradient(
        self, X: NDArray[Any], z: NDArray[np.float64], threads: int = 1, progress: _Progress = None
    ) -> NDArray[np.float64]: ...
    def extension(
        self, X: NDArray[Any], z: NDArray[np.float64], threads: int = 1, progress: _Progress = None
    ) -> NDArray[np.float64]: ...
    def rank(
        self,
        X: NDArray[Any],
        *,
        steps: int,
        rate: float,
        adam: bool,
        beta1: float,
        beta2: float,
        eps: float,
        eps_inside: bool,
        trace: bool,
        threads: int = 1,
        progress: _Progress = None,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64] | None]: ...
    def greedy(
        self, X: NDArray[Any], *, threads: int = 1, progress: _Progress = None
    ) -> NDArray[np.int32]: ...
    def curves(
        self, X: NDArray[Any], order: NDArray[np.int32], *, threads: int = 1, progress: _Progress = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...

class ClosedGame:
    def __init__(self, game: Game) -> None: ...
    def probabilistic(
        self,
        X: NDArray[Any],
        start: NDArray[np.int64],
        probabilities: NDArray[np.float64],
        threads: int = 1,
        progress: _Progress = None,
    ) -> NDArray[np.float64]: ...

def isa() -> str: ...
def available_isas() -> list[str]: ...
def use_isa(name: str = "") -> None: ...
