"""Which CatBoost object or file is read how, and what is said to the others."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import catboost
import numpy as np
import pytest

import leafgrad as lg
from leafgrad.load import catboost as loader
from leafgrad.load.catboost import LINKS

rng = np.random.default_rng(0)
X = rng.random((120, 3))
y = X[:, 0] + X[:, 1] * X[:, 2]
options: dict[str, Any] = {
    "iterations": 3,
    "depth": 3,
    "verbose": 0,
    "thread_count": 1,
    "allow_writing_files": False,
}


@pytest.fixture(scope="module")
def model() -> Any:
    return catboost.CatBoostRegressor(**options).fit(X, y)


def test_where_it_came_from(model: Any) -> None:
    forest = lg.load(model)
    assert (forest.library, forest.model_name, forest.checked) == ("CatBoost", "CatBoostRegressor", True)
    assert not lg.load(model, check=False).checked
    assert (forest.missing, forest.infinite, forest.categories, forest.dtype) == (
        True,
        True,
        None,
        np.float32,
    )


@pytest.mark.parametrize("kind", [catboost.CatBoost, catboost.CatBoostClassifier])
def test_not_fitted(kind: Any) -> None:
    with pytest.raises(
        lg.UnsupportedModelError, match=rf"this {kind.__name__} is not fitted\. Call model\.fit"
    ):
        lg.load(kind())


def test_no_model() -> None:
    with pytest.raises(lg.UnsupportedModelError, match=r"Pool is no model of CatBoost's\. Pass a CatBoost, "):
        lg.load(catboost.Pool(X))


@pytest.mark.parametrize("cover", ["counts", "hessian", "nonsense"])
def test_other_covers(model: Any, cover: str) -> None:
    with pytest.raises(
        lg.InputError, match=rf"cover='{cover}' is not kept by CatBoost.*cover='data' with data=X"
    ):
        lg.load(model, cover=cover)
    assert np.array_equal(lg.load(model, cover="data", data=X).share, lg.load(model).share)


def test_every_loss_has_a_link_or_is_refused_by_name(model: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    model.save_model(str(path), format="json")
    written = json.loads(path.read_text())
    for loss, link in {**LINKS, "PythonUserDefinedPerObject": "PythonUserDefinedPerObject"}.items():
        written["model_info"]["params"]["loss_function"]["type"] = loss
        assert lg.load(json.dumps(written).encode(), check=False).link == link
    order = np.tile(np.arange(3), (2, 1))
    forest = lg.load(json.dumps(written).encode(), check=False)
    with pytest.raises(lg.UnsupportedModelError, match="'PythonUserDefinedPerObject', which is not known"):
        lg.curves(forest, X[:2], order, link="model")


def test_a_json_file_needs_no_library(model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.json"
    model.save_model(str(path), format="json")
    monkeypatch.setattr(loader, "installed", lambda _: False)
    forest = lg.load(path)
    assert not forest.checked
    assert np.array_equal(forest.predict(X), lg.load(model).predict(X))


def test_a_cbm_file_needs_the_library(model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.cbm"
    model.save_model(str(path))
    monkeypatch.setattr(loader, "installed", lambda _: False)
    with pytest.raises(
        lg.UnsupportedModelError,
        match=r'model\.cbm is a \.cbm file, which only catboost reads.*save_model\("model\.json", ',
    ):
        lg.load(path)


@pytest.mark.parametrize("content", [b"CBM1", b"CBM1\x00\x00\x00\x00", b"CBM1" + b"x" * 100])
def test_a_damaged_cbm_file(content: bytes) -> None:
    with pytest.raises(lg.ModelFormatError, match="damaged, or newer than the installed catboost"):
        lg.load(content)


def test_a_json_file_that_the_library_cannot_read(model: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    model.save_model(str(path), format="json")
    written = json.loads(path.read_text())
    for tree in written["oblivious_trees"]:
        for split in tree["splits"]:
            del split["split_index"]
    path.write_text(json.dumps(written))
    assert np.array_equal(lg.load(path, check=False).predict(X), lg.load(model).predict(X))


def test_a_model_changed_behind_its_back(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = model.copy()
    changed.set_scale_and_bias(1.0, 0.0)
    content = _json_of(model)
    monkeypatch.setattr(loader, "_exported", lambda _: content)
    with pytest.raises(lg.ModelMismatchError, match="in the live CatBoostRegressor"):
        lg.load(changed)


def test_leaves_are_compared_too(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves of equal values in two ways: outputs do not tell, leaves do."""
    for grow in ("SymmetricTree", "Lossguide"):
        one = catboost.CatBoostRegressor(**options, grow_policy=grow).fit(X, y)
        leaves = one.calc_leaf_indexes
        monkeypatch.setattr(one, "calc_leaf_indexes", lambda *a, leaves=leaves, **k: leaves(*a, **k)[:, ::-1])
        with pytest.raises(lg.ModelMismatchError, match=r"probe row \d+ reaches leaf"):
            lg.load(one)


def test_leaves_that_cannot_be_told_apart_are_passed_over() -> None:
    """Nested trees' leaves are found by their values; empty ones are all 0."""
    one = catboost.CatBoostRegressor(**{**options, "iterations": 60}, grow_policy="Depthwise").fit(X, X[:, 0])
    source = loader.read(one, None)
    assert source.leaves is not None
    far = rng.normal(size=(500, 3))
    told, own = source.leaves(far), lg.load(one).leaves(far)
    assert 0 < np.mean(told == -1) < 0.1
    assert np.array_equal(np.where(told < 0, own, told), own)


def _json_of(model: Any) -> bytes:
    return loader._exported(model)


def test_loading_a_thousand_trees_takes_less_than_half_a_second() -> None:
    """The reading of the file; asking the library about it takes its own time."""
    rows = np.random.default_rng(0).random((800, 20))
    target = rows[:, 0] + rows[:, 1] * rows[:, 2]
    for grow in ("SymmetricTree", "Lossguide"):
        given = {**options, "iterations": 25, "depth": 6, "grow_policy": grow}
        written = json.loads(_json_of(catboost.CatBoostRegressor(**given).fit(rows, target)))
        kind = "oblivious_trees" if "oblivious_trees" in written else "trees"
        written[kind] *= 40
        content = json.dumps(written).encode()
        seconds = []
        for _ in range(3):
            start = time.process_time()  # of this process alone: others may be busy
            forest = lg.load(content, check=False)
            seconds.append(time.process_time() - start)
        assert forest.n_trees == 1000
        assert forest.max_depth == 6
        assert min(seconds) < 0.5
