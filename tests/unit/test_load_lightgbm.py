"""The LightGBM loader: what is read from which object, links of objectives, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pytest

import leafgrad as lg
from leafgrad.load import lightgbm as loader
from leafgrad.load.lightgbm_text import parse

FOLDER = Path(__file__).parents[1] / "golden" / "lightgbm"


def text(name: str = "regression") -> str:
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("objective", "link"),
    [
        ("regression", "identity"),
        ("regression sqrt", "square"),
        ("mape", "identity"),
        ("binary sigmoid:1", "sigmoid"),
        ("binary sigmoid:0.7", "sigmoid:0.7"),
        ("multiclassova num_class:3 sigmoid:2", "sigmoid:2.0"),
        ("tweedie", "exp"),
        ("lambdarank", "identity"),
        ("cross_entropy", "sigmoid"),
    ],
)
def test_links_of_objectives(objective: str, link: str) -> None:
    changed = text().replace("objective=regression\n", f"objective={objective}\n")
    assert lg.load(changed).link == link
    assert loader.link_of(parse(changed.encode(), "x")) == link


@pytest.mark.parametrize("objective", ["of the future", "binary sigmoid:x"])
def test_an_objective_that_is_not_known_says_so_when_its_link_is_asked_for(objective: str) -> None:
    forest = lg.load(text().replace("objective=regression\n", f"objective={objective}\naverage_output\n"))
    rows = np.zeros((2, 4))
    order = lg.explain(forest, rows, progress=False)
    with pytest.raises(lg.UnsupportedModelError, match=rf"link is '{objective}', which is not known"):
        lg.curves(forest, rows, order, link="model")


def test_a_model_of_one_class_is_refused() -> None:
    rng = np.random.default_rng(0)
    model = lightgbm.LGBMClassifier(n_estimators=2, num_threads=1, verbose=-1)
    model.fit(rng.random((60, 2)), np.full(60, "only"))
    with pytest.raises(lg.UnsupportedModelError, match=r"LGBMClassifier was fitted on the one class 'only'"):
        lg.load(model)


@pytest.mark.parametrize("kind", [lightgbm.LGBMClassifier, lightgbm.LGBMRegressor, lightgbm.LGBMRanker])
def test_not_fitted(kind: Any) -> None:
    with pytest.raises(lg.UnsupportedModelError, match=rf"this {kind.__name__} is not fitted.*fit\(X, y\)"):
        lg.load(kind())


def test_what_is_no_model() -> None:
    with pytest.raises(lg.UnsupportedModelError, match=r"CVBooster holds one model per fold.*boosters\[i\]"):
        lg.load(lightgbm.CVBooster())
    with pytest.raises(lg.UnsupportedModelError, match=r"Dataset is no model\. Pass a Booster"):
        lg.load(lightgbm.Dataset(np.zeros((2, 2))))


def test_an_older_lightgbm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lightgbm, "__version__", "3.3.5")
    with pytest.raises(lg.UnsupportedModelError, match=r"LightGBM 3\.3\.5 .*4\.0 or newer"):
        lg.load(lightgbm.Booster(model_str=text()))
    monkeypatch.setattr(loader, "version", lambda _: "3.3.5")
    assert not lg.load(text()).checked


def test_without_lightgbm_a_file_is_read_unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    checked = lg.load(FOLDER / "multiclass.txt")
    monkeypatch.setattr(loader, "installed", lambda _: False)
    forest = lg.load(FOLDER / "multiclass.txt")
    assert checked.checked
    assert not forest.checked
    assert np.array_equal(forest.value, checked.value)


def test_an_unchecked_file_does_not_import_lightgbm() -> None:
    program = (
        "import sys, leafgrad as lg; "
        f"lg.load({str(FOLDER / 'regression.txt')!r}, check=False); print('lightgbm' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_what_lightgbm_itself_does_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(**options: Any) -> None:
        raise lightgbm.basic.LightGBMError("not today")

    monkeypatch.setattr(lightgbm, "Booster", refuses)
    with pytest.raises(
        lg.ModelFormatError, match=r"LightGBM itself does not read the model's text: not today"
    ):
        lg.load(text())
    assert lg.load(text(), check=False).n_trees == 3


def _resized(changed: str) -> str:
    """The text without its tree_sizes, which may be left out."""
    return "\n".join(line for line in changed.split("\n") if not line.startswith("tree_sizes="))


def test_covers_that_a_file_does_not_have() -> None:
    lines = _resized(text()).split("\n")
    bare = "\n".join(line for line in lines if not line.startswith(("leaf_count=", "leaf_weight=")))
    with pytest.raises(lg.UnsupportedModelError, match=r"does not tell how many rows went each way.*data=X"):
        lg.load(bare)
    for cover, line in (("counts", "leaf_count"), ("hessian", "leaf_weight")):
        with pytest.raises(lg.InputError, match=rf"cover='{cover}': the model's text .* {line} in all trees"):
            lg.load(bare, cover=cover)
    rows = np.random.default_rng(0).normal(size=(50, 4))
    assert np.array_equal(lg.load(bare, data=rows).share, lg.load(text(), data=rows).share)


def test_the_hessian_of_an_inner_node_is_the_sum_of_its_leaves() -> None:
    forest = lg.load(text("binary_sigmoid"), cover="hessian")
    model = parse(text("binary_sigmoid").encode(), "x")
    assert model.leaf_weight is not None
    first = model.leaf_weight[: model.n_leaves[0]]
    below: dict[int, list[int]] = {}

    def leaves(node: int) -> list[int]:
        if node < 0:
            return [-1 - node]
        below[node] = leaves(int(model.left[node])) + leaves(int(model.right[node]))
        return below[node]

    leaves(0)
    left = int(model.left[0])
    inside = first[below[left] if left >= 0 else [-1 - left]].sum()
    assert forest.share[forest.left[0]] == pytest.approx(inside / first.sum(), rel=1e-14)


def test_a_dask_wrapper_is_asked_through_its_booster() -> None:
    booster = lightgbm.Booster(model_str=text("own_objective"))
    kind = type("DaskLGBMRegressor", (lightgbm.LGBMRegressor,), {"__module__": "lightgbm.dask"})
    kind.predict = None
    model = kind()
    model._Booster = booster
    assert lg.load(model).checked
