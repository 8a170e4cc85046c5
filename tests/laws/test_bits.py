"""A row's bits do not depend on its neighbours, its place or the number of threads.

A row alone, or among few, may go another way, and is within 1e-14 of the same row in a batch. Instruction
sets agree within 1e-13.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

import forests
import leafgrad as lg
from leafgrad import _core

# Enough work for eight threads, with repeats, missing values and categories.
SHAPE = forests.Shape(
    n_trees=30, depth=7, n_features=8, stop=0.1, missing=True, categorical=True, cover="both"
)
ROWS = 4001  # no multiple of any block


@pytest.fixture(scope="module", name="case")
def _case() -> tuple[lg.Forest, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    forest = forests.forest(rng, SHAPE)
    return forest, forests.rows(rng, forest, ROWS), forests.points(rng, ROWS, forest.n_features)


def _explain(value: str) -> Callable[..., np.ndarray]:
    return lambda forest, X, _, **how: lg.explain(forest, X, value, **how).values


CALLS: dict[str, Callable[..., np.ndarray]] = {
    "shapley": _explain("shapley"),
    "banzhaf": _explain("banzhaf"),
    "gradient": lg.gradient,
    "extension": lg.extension,
    "predict_known": lambda forest, X, z, **how: lg.predict_known(forest, X, z > 0.5, **how),
    "predict": lambda forest, X, _, **how: forest.predict(X, **how),
}


@pytest.mark.parametrize("call", CALLS)
def test_any_number_of_threads(call: str, case: tuple[lg.Forest, np.ndarray, np.ndarray]) -> None:
    forest, X, z = case
    alone = CALLS[call](forest, X, z, threads=1)
    for threads in (2, 3, 8):
        assert np.array_equal(CALLS[call](forest, X, z, threads=threads), alone)


@pytest.mark.parametrize("call", CALLS)
def test_any_order_and_any_company(call: str, case: tuple[lg.Forest, np.ndarray, np.ndarray]) -> None:
    forest, X, z = case
    whole = CALLS[call](forest, X, z)
    order = np.random.default_rng(0).permutation(ROWS)
    assert np.array_equal(CALLS[call](forest, X[order], z[order]), whole[order])
    for begin, end in ((0, 100), (1, 101), (ROWS - 77, ROWS), (13, 13 + 512)):
        assert np.array_equal(CALLS[call](forest, X[begin:end], z[begin:end]), whole[begin:end])


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("name", ["plain", "zero and tiny", "vector leaves, adversarial", "deep", "float32"])
def test_few_rows_and_one_alone(call: str, name: str) -> None:
    """Few rows may take another kernel, which rounds otherwise: 1e-14 of the unit, some 50 roundings."""
    rng = np.random.default_rng(9)
    forest = forests.forest(rng, forests.SHAPES[name])
    X, z = forests.rows(rng, forest, 200), forests.points(rng, 200, forest.n_features)
    whole = CALLS[call](forest, X, z)
    unit = forests.unit(forest) + abs(forest.base) * (call in {"extension", "predict_known", "predict"})
    unit = unit if forest.n_outputs > 1 else unit[0]
    for n in (1, 2, 3, 5, 8, 17, 33):
        assert (abs(CALLS[call](forest, X[:n], z[:n]) - whole[:n]) <= 1e-14 * unit).all(), n
    for i in range(20):
        assert (abs(CALLS[call](forest, X[i], z[i])[0] - whole[i]) <= 1e-14 * unit).all(), i


@pytest.mark.parametrize("few", [1, 2, 3])
def test_few_rows_of_an_output_of_their_own(few: int) -> None:
    """Rows that alone want an output are not alone: a row's bits hang on nothing but the row."""
    rng = np.random.default_rng(6)
    forest = forests.forest(rng, SHAPE.but(n_outputs=3, vector=True)).replace(classes=("a", "b", "c"))
    X = forests.rows(rng, forest, 200)
    labels = np.array(["a"] * (200 - few) + ["b"] * few)
    together = lg.explain(forest, X, output="b").values
    for order in (np.arange(200), rng.permutation(200)):
        values = lg.explain(forest, X[order], output=labels[order]).values
        own = labels[order] == "b"
        np.testing.assert_array_equal(values[own], together[order][own])


def test_every_instruction_set_agrees(case: tuple[lg.Forest, np.ndarray, np.ndarray]) -> None:
    """Fused multiply-add rounds once where others round twice: within 1e-13 of the unit."""
    forest, X, z = case
    X, z = X[:300], z[:300]
    found = {}
    try:
        for isa in _core.available_isas():
            _core.use_isa(isa)
            assert _core.isa() == isa
            found[isa] = [CALLS[call](forest, X, z) for call in CALLS]
    finally:
        _core.use_isa()
    assert "generic" in found
    for isa, results in found.items():
        for ours, generic in zip(results, found["generic"], strict=True):
            assert abs(ours - generic).max() <= 1e-13 * forests.unit(forest)[0], isa


@pytest.mark.parametrize("isa", ["generic", "avx2", "avx512"])
def test_the_environment_forces_an_instruction_set(isa: str) -> None:
    if isa not in _core.available_isas():
        pytest.skip(f"this CPU has no {isa}")
    code = """if True:
        import json, leafgrad as lg
        from leafgrad import _core
        stump = lg.Forest.from_arrays(
            tree_start=[0, 3], left=[1, -1, -1], right=[2, -1, -1], feature=[0, -1, -1],
            threshold=[0.5, 0, 0], cover=[4, 3, 1], value=[0, 0, 1])
        print(json.dumps([_core.isa(), lg.explain(stump, [[0.7]] * 70).values[69].tolist()]))
    """
    environment = {**os.environ, "LEAFGRAD_ISA": isa}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == [isa, [0.75]]
