"""Writes oracle.json: `python tests/golden/make_oracle.py`.

Small forests, rows, and what exact arithmetic says of them. All numbers come from `leafgrad.reference.exact`
(leaf-path products in fractions, rounded once to float64); the native core is not asked for any. The file
holds the forests as the arguments of `Forest.from_arrays`, so that a change of the random generators cannot
change what is tested.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import forests
from leafgrad import values
from leafgrad.forest import Forest
from leafgrad.reference import exact, paths

FILE = Path(__file__).with_name("oracle.json")
CASES = {
    "repeats": forests.Shape(n_trees=2, depth=4, n_features=3, repeats=0.7),
    "zero and tiny shares": forests.Shape(n_trees=1, depth=6, n_features=2, chain=True, cover="both"),
    "categories and missing": forests.Shape(n_trees=2, depth=3, n_features=4, categorical=True, missing=True),
    "two outputs": forests.Shape(n_trees=4, depth=2, n_features=3, n_outputs=2),
    "vector leaves of 1e8 and 1e-8": forests.Shape(
        n_trees=1, depth=3, n_features=3, n_outputs=3, vector=True, leaves="wide"
    ),
}
VALUES = ["shapley", "banzhaf:0.3", "beta:4,1", "beta:0.5,2.25"]


def case(shape: forests.Shape, seed: int) -> dict[str, Any]:
    """One forest, three rows, and all that can be said of them."""
    rng = np.random.default_rng(seed)
    arrays = {name: plain(part) for name, part in forests.arrays(rng, shape).items()}
    del arrays["dtype"]  # float64
    forest = Forest.from_arrays(**restored(arrays))
    X, z = forests.rows(rng, forest, 3), forests.points(rng, 3, forest.n_features)
    known = rng.random(z.shape) < 0.5
    games = [paths.game(forest, row) for row in X]
    return {
        "arrays": arrays,
        "X": X.tolist(),
        "z": z.tolist(),
        "known": known.tolist(),
        "unit": forests.unit(forest).tolist(),
        "gradient": [rounded(exact.gradient(game, point)) for game, point in zip(games, z, strict=True)],
        "extension": [rounded(exact.extension(game, point)) for game, point in zip(games, z, strict=True)],
        "predict_known": [
            rounded(exact.known(game, np.flatnonzero(members)))
            for game, members in zip(games, known, strict=True)
        ],
        "values": {
            name: [rounded(exact.value(game, values.parse(name))) for game in games] for name in VALUES
        },
    }


def restored(arrays: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `from_arrays`, from JSON."""
    changed = dict(arrays)
    if "categories_left" in arrays:
        changed["categories_left"] = {int(node): codes for node, codes in arrays["categories_left"].items()}
    return changed


def plain(part: Any) -> Any:
    """For JSON."""
    if isinstance(part, dict):
        return {str(key): each for key, each in part.items()}
    return part.tolist() if isinstance(part, np.ndarray) else part


def rounded(numbers: np.ndarray) -> list[Any]:
    """Fractions to the nearest float64."""
    floats: list[Any] = numbers.astype(float).tolist()
    return floats


if __name__ == "__main__":
    cases = {name: case(shape, seed) for seed, (name, shape) in enumerate(CASES.items())}
    lines = [f"{json.dumps(name)}: {json.dumps(of_case)}" for name, of_case in cases.items()]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
