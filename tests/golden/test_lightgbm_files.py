"""Files of LightGBM's format, one a feature, against what LightGBM said of them (lightgbm/make_models.py).

Raw scores to 1e-12 of the sum of the trees' largest |leaf|, contributions to 1e-11 of it: see
tests/parity/test_lightgbm.py.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import leafgrad as lg
from leafgrad import links
from parity.zoo import unit

FOLDER = Path(__file__).with_name("lightgbm")
EXPECTED: dict[str, Any] = json.loads((FOLDER / "expected.json").read_text())
NAMES = sorted(set(EXPECTED) - {"lightgbm", "linear"})


def test_every_file_is_looked_at() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(EXPECTED) - {"lightgbm"}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("check", [False, True])
def test_what_lightgbm_said(name: str, check: bool) -> None:
    said = EXPECTED[name]
    forest = lg.load(FOLDER / f"{name}.txt", check=check)
    assert forest.checked is check
    rows, raw = np.array(said["rows"]), np.array(said["raw"])
    found = forest.predict(rows)
    assert found.shape == raw.shape
    assert np.all(np.abs(found - raw) <= 1e-12 * unit(forest))
    if "contributions" in said:
        theirs = np.array(said["contributions"]).reshape(len(rows), forest.n_outputs, -1)
        values = lg.explain(forest, rows, progress=False).values.reshape(len(rows), forest.n_features, -1)
        assert np.all(np.abs(values.transpose(0, 2, 1) - theirs[:, :, :-1]) <= 1e-11 * unit(forest)[:, None])
        assert np.all(np.abs(forest.base - theirs[:, :, -1]) <= 1e-11 * unit(forest))
        own = links.apply(links.resolve("model", forest.link, forest.n_outputs), found)
        assert own == pytest.approx(np.array(said["prediction"]), rel=1e-10, abs=1e-15)


def test_linear_trees_are_refused() -> None:
    with pytest.raises(lg.UnsupportedModelError, match=r"linear\.txt has linear trees"):
        lg.load(FOLDER / "linear.txt")
