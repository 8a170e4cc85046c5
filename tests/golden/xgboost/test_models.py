"""Files of XGBoost 2.0 to 3.4, read without it: they say what the XGBoost that wrote them said.

Made by make_models.py. XGBoost adds up in float32: its margins are known to 1e-6, its contributions (sums
over paths, by division or by quadrature) to 1e-5 of |base score| + the sum of the trees' largest |leaf|.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import leafgrad as lg
from leafgrad.load import xgboost
from parity.zoo import unit

HERE = Path(__file__).parent
EXPECTED: dict[str, Any] = {
    path.stem.partition("-")[2]: json.loads(path.read_text()) for path in HERE.glob("expected-*.json")
}
FILES = sorted(path for path in HERE.iterdir() if path.suffix in {".json", ".ubj"} and path not in set(
    HERE.glob("expected-*.json")
))  # fmt: skip


def of(path: Path) -> tuple[np.ndarray, dict[str, Any]]:
    feature, _, version = path.stem.rpartition("-")
    rows = np.array(EXPECTED[version]["rows"], dtype=float)
    return rows, EXPECTED[version][feature]


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xgboost, "installed", lambda _: False)


def test_every_version_and_format_is_there() -> None:
    assert len(EXPECTED) == 4
    assert len(FILES) == 2 * sum(len(said) - 1 for said in EXPECTED.values()) == 112


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_margins_and_contributions(path: Path) -> None:
    rows, said = of(path)
    bare = path.stem == "vector-leaves-2.0.3"  # trees of several targets kept no covers before 3.2
    if bare:
        with pytest.raises(lg.UnsupportedModelError, match="does not tell how many rows went each way"):
            lg.load(path)
    forest = lg.load(path, data=rows if bare else None)
    assert not forest.checked
    margin = np.array(said["margin"]).reshape(len(rows), -1)
    assert np.all(np.abs(forest.predict(rows).reshape(margin.shape) - margin) <= 1e-6 * unit(forest))
    values = lg.explain(forest, rows, progress=False).values.reshape(len(rows), 3, -1)
    assert np.all(np.abs(values.sum(axis=1) + forest.base - margin) <= 1e-6 * unit(forest))
    assert ("contributions" in said) == (path.stem not in {"vector-leaves-2.0.3", "vector-leaves-3.2.0"})
    if "contributions" in said:
        own = np.array(said["contributions"]).reshape(len(rows), forest.n_outputs, 4)
        assert np.all(np.abs(values - own[:, :, :3].transpose(0, 2, 1)) <= 1e-5 * unit(forest))
        assert np.all(np.abs(forest.base - own[:, :, 3]) <= 1e-5 * unit(forest))


@pytest.mark.parametrize(
    "path", [path for path in FILES if path.suffix == ".ubj"], ids=lambda path: path.name
)
def test_both_formats_are_the_same_model(path: Path) -> None:
    rows, _ = of(path)
    data = rows if "vector-leaves" in path.name else None
    a, b = (lg.load(path.with_suffix(ending), data=data) for ending in (".ubj", ".json"))
    assert np.array_equal(
        lg.explain(a, rows, progress=False).values, lg.explain(b, rows, progress=False).values
    )
    for field in ("categories", "classes", "link", "feature_names", "model_name"):
        assert getattr(a, field) == getattr(b, field)
