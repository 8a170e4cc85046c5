"""The committed ONNX files, one a feature: read as onnxruntime scored them when they were made.

It adds up in float32 for all but the double TreeEnsemble: 1e-6 of the leaves' size, which is at most 40 here.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

import leafgrad as lg
from golden.onnx.make_onnx import HERE, MODELS, ROWS

SCORES = json.loads((HERE / "scores.json").read_text())


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.supports("ONNX", f"node: {name}")) for name in MODELS]
)
def test_scores_are_the_runtimes(name: str) -> None:
    forest = lg.load(HERE / f"{name}.onnx", data=ROWS)
    assert forest.checked
    expected = np.array(SCORES[name])
    if name.startswith("margin"):
        expected = expected[:, 1:]  # of -margin and margin
    if name == "exponential":
        expected += np.log(3)  # 3 exp(m) is exp(m + log 3)
    assert np.abs(forest.predict(ROWS).reshape(len(ROWS), -1) - expected).max() <= 1e-6 * 40


@pytest.mark.parametrize("name", MODELS)
def test_files_are_as_the_script_makes_them(name: str) -> None:
    import onnx

    # The same model, not the same bytes: onnx may write its fields in another order some day.
    assert onnx.load(HERE / f"{name}.onnx").graph == MODELS[name]().graph


@pytest.mark.parametrize("name", MODELS)
def test_explanations_add_up(name: str) -> None:
    forest = lg.load(HERE / f"{name}.onnx", data=ROWS)
    explanation = lg.explain(forest, ROWS, progress=False)
    values = explanation.values.reshape(len(ROWS), forest.n_features, -1)
    total = values.sum(axis=1) + forest.base
    assert np.abs(total - forest.predict(ROWS).reshape(len(ROWS), -1)).max() <= 1e-12 * 40
