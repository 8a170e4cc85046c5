"""Files that CatBoost once wrote (make_models.py) are read as that CatBoost meant them.

Tolerances as in tests/parity/test_catboost.py: outputs 1e-12, ShapValues 1e-11, of the largest output here,
which is near 1 and more.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import leafgrad as lg

HERE = Path(__file__).parent
GOLDEN: dict[str, Any] = json.loads((HERE / "expected.json").read_text())["models"]
FACTS = {
    "binary": ("sigmoid", (0, 1)),
    "three-classes": ("softmax", ("low", "middle", "top")),
    "three-classes-lossguide": ("softmax", ("low", "middle", "top")),
    "one-against-all": ("sigmoid", ("low", "middle", "top")),
    "poisson": ("exp", None),
}


@pytest.mark.parametrize("form", ["json", "cbm"])
@pytest.mark.parametrize("name", GOLDEN)
def test_files(name: str, form: str) -> None:
    path = HERE / f"{name}.{form}"
    forest = lg.load(path, check=form == "cbm")  # without the library, where it is not needed
    raw, theirs = np.array(GOLDEN[name]["raw"]), np.array(GOLDEN[name]["shap_values"])
    X = GOLDEN[name]["X"]
    scale = max(1.0, np.abs(raw).max())
    assert np.abs(forest.predict(X).reshape(raw.shape) - raw).max() <= 1e-12 * scale
    values = lg.explain(forest, X, progress=False).values.reshape(len(raw), 3, -1)
    assert np.abs(values - theirs[:, :-1]).max() <= 1e-11 * scale
    assert np.abs(forest.base - theirs[:, -1]).max() <= 1e-11 * scale
    assert (forest.link, forest.classes) == FACTS.get(name, ("identity", None))


def test_every_file_is_tested() -> None:
    written = {path.stem for path in HERE.iterdir() if path.suffix in {".json", ".cbm"}}
    assert written == {*GOLDEN, "expected"}
