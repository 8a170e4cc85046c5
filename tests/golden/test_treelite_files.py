"""The committed treelite checkpoints, one a feature: read as treelite scored them when they were made.

Models of float32 add up in it: 1e-6 of the leaves' size, which is at most 40 here; those of float64, 1e-12.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
import treelite

import leafgrad as lg
from golden.treelite.make_treelite import HERE, MODELS, ROWS

SCORES = json.loads((HERE / "scores.json").read_text())
PADDED = {"targets_and_classes": [0, 1, 3, 4, 5]}  # the first target has two classes, in a table of three


def load(name: str) -> lg.Forest:
    return lg.load(HERE / f"{name}.tl", data=ROWS if name == "no_covers" else None)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.supports("treelite", f"model: {name}")) for name in MODELS]
)
def test_scores_are_treelites(name: str) -> None:
    forest = load(name)
    assert forest.checked
    expected = np.array(SCORES[name])
    expected = expected[:, PADDED.get(name, slice(None))]
    tolerance = (1e-12 if forest.dtype == np.float64 else 1e-6) * 40
    assert np.abs(forest.predict(ROWS).reshape(len(ROWS), -1) - expected).max() <= tolerance


@pytest.mark.parametrize("name", MODELS)
def test_files_are_as_the_script_makes_them(name: str) -> None:
    # Not the same bytes: a checkpoint begins with the version that wrote it.
    saved = treelite.Model.deserialize(HERE / f"{name}.tl")
    assert saved.dump_as_json() == MODELS[name]().dump_as_json()


@pytest.mark.parametrize("name", MODELS)
def test_explanations_add_up(name: str) -> None:
    forest = load(name)
    explanation = lg.explain(forest, ROWS, progress=False)
    total = explanation.values.reshape(len(ROWS), forest.n_features, -1).sum(axis=1) + forest.base
    assert np.abs(total - forest.predict(ROWS).reshape(len(ROWS), -1)).max() <= 1e-12 * 40
