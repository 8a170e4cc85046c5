"""The core, and the oracle itself, against numbers written down once by exact arithmetic (make_oracle.py).

The laws ask the oracle anew for random forests; this file would show a mistake that the oracle and the core
came to share. The core's tolerance is the exactness promise's, 1e-13 of the sum over trees of
max|leaf - root mean|; the oracle has none.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import leafgrad as lg
from leafgrad import values
from leafgrad.reference import exact, paths

GOLDEN: dict[str, Any] = json.loads(Path(__file__).with_name("oracle.json").read_text())
TOLERANCE = 1e-13


def forest_of(case: dict[str, Any]) -> lg.Forest:
    arrays = dict(case["arrays"])
    if "categories_left" in arrays:
        arrays["categories_left"] = {int(node): codes for node, codes in arrays["categories_left"].items()}
    return lg.Forest.from_arrays(**arrays)


@pytest.mark.parametrize("name", GOLDEN)
def test_the_core(name: str) -> None:
    case = GOLDEN[name]
    forest = forest_of(case)
    X, z, known, unit = (np.array(case[field]) for field in ("X", "z", "known", "unit"))

    def check(found: np.ndarray, expected: list[Any], rounding: np.ndarray | float = 0.0) -> None:
        wanted = np.array(expected)
        assert (abs(found.reshape(wanted.shape) - wanted) <= TOLERANCE * unit + rounding).all()

    of_base = 2.0**-52 * abs(forest.base)  # base + walk is rounded once
    base = forest.base if forest.n_outputs > 1 else forest.base[0]
    check(lg.gradient(forest, X, z), case["gradient"])
    check(lg.extension(forest, X, z) - base, case["extension"], of_base)
    check(lg.predict_known(forest, X, known) - base, case["predict_known"], of_base)
    for value, expected in case["values"].items():
        check(lg.explain(forest, X, value).values, expected)


@pytest.mark.parametrize("name", GOLDEN)
def test_the_oracle(name: str) -> None:
    """To the last bit."""
    case = GOLDEN[name]
    forest = forest_of(case)
    for i, row in enumerate(case["X"]):
        game = paths.game(forest, row)
        known = np.flatnonzero(case["known"][i])
        assert exact.gradient(game, case["z"][i]).astype(float).tolist() == case["gradient"][i]
        assert exact.extension(game, case["z"][i]).astype(float).tolist() == case["extension"][i]
        assert exact.known(game, known).astype(float).tolist() == case["predict_known"][i]
        for value, expected in case["values"].items():
            assert exact.value(game, values.parse(value)).astype(float).tolist() == expected[i]
