"""`load`: what it takes, how it finds a loader, and which arguments go together."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor

import leafgrad as lg

rng = np.random.default_rng(0)
X = rng.random((80, 3))
y = X[:, 0] + X[:, 1] * X[:, 2]


@pytest.fixture
def model() -> Any:
    return RandomForestRegressor(n_estimators=3, max_depth=4, random_state=0).fit(X, y)


def test_a_forest_passes_through(model: Any) -> None:
    forest = lg.load(model)
    assert lg.load(forest) is forest
    assert lg.load(forest, check=False) is forest


def test_a_saved_forest(model: Any, tmp_path: Path) -> None:
    forest = lg.load(model)
    forest.save(tmp_path / "forest.npz")
    (tmp_path / "of any name").write_bytes((tmp_path / "forest.npz").read_bytes())
    for given in (
        tmp_path / "forest.npz",
        str(tmp_path / "forest.npz"),
        tmp_path / "of any name",
        (tmp_path / "forest.npz").read_bytes(),
    ):
        assert np.array_equal(lg.load(given).predict(X), forest.predict(X))


def test_a_saved_explanation_is_no_forest(model: Any, tmp_path: Path) -> None:
    lg.explain(model, X).save(tmp_path / "explained")
    with pytest.raises(lg.ModelFormatError, match=r"the content is damaged, or is no Forest saved by"):
        lg.load(tmp_path / "explained")


def test_unchecked_says_so(model: Any) -> None:
    forest = lg.load(model, check=False)
    assert not forest.checked
    assert np.array_equal(forest.predict(X), lg.load(model).predict(X))


def test_where_it_came_from(model: Any) -> None:
    forest = lg.load(model)
    assert (forest.library, forest.model_name) == ("scikit-learn", "RandomForestRegressor")


def test_a_class_of_ones_own_is_what_it_derives_from() -> None:
    class Mine(RandomForestRegressor):
        pass

    forest = lg.load(Mine(n_estimators=2).fit(X, y))
    assert forest.checked
    assert forest.model_name == "Mine"


def test_a_class_that_predicts_in_its_own_way_is_found_out() -> None:
    class Doubled(DecisionTreeRegressor):
        def predict(self, X: Any, check_input: bool = True) -> Any:
            return 2 * super().predict(X, check_input)

    model = Doubled(max_depth=2).fit(X, y)
    with pytest.raises(lg.ModelMismatchError, match=r"output 0 is .* in the live Doubled.*check=False"):
        lg.load(model)
    assert lg.load(model, check=False).n_trees == 1


def test_the_nearest_module_decides_whose_a_model_is() -> None:
    # Other libraries' wrappers derive from scikit-learn's classes as well.
    Wrapper = type("Wrapper", (DecisionTreeRegressor,), {"__module__": "xgboost.sklearn"})
    with pytest.raises(lg.UnsupportedModelError, match=r"Wrapper is no model\. Pass a Booster"):
        lg.load(Wrapper())


@pytest.mark.parametrize("stranger", [object(), np.zeros(3), None, 5, [DecisionTreeRegressor()]])
def test_strangers(stranger: Any) -> None:
    with pytest.raises(lg.UnsupportedModelError, match=r"of no library.*scikit-learn.*Forest.from_arrays"):
        lg.load(stranger)


def test_a_class_instead_of_a_model() -> None:
    with pytest.raises(lg.UnsupportedModelError, match=r"RandomForestRegressor\(\.\.\.\)\.fit\(X, y\)"):
        lg.load(RandomForestRegressor)


def test_covers_and_data_that_do_not_go_together(model: Any) -> None:
    forest = lg.load(model)
    for arguments, message in (
        ({"cover": "data"}, r"Pass them as data=X"),
        ({"cover": "counts", "data": X}, r"cover='counts' asks for others"),
        ({"cover": "hessian"}, r"cover='hessian' is not kept by scikit-learn.*cover='counts'"),
        ({"cover": "nonsense"}, r"cover='nonsense'"),
    ):
        with pytest.raises(lg.InputError, match=message):
            lg.load(model, **arguments)
    with pytest.raises(lg.InputError, match=r"a Forest, which keeps only.*data=X"):
        lg.load(forest, cover="counts")


OTHERS = "{'sklearn', 'xgboost', 'lightgbm', 'catboost', 'onnx', 'shap', 'pandas', 'polars', 'matplotlib'}"
EXPLAINED = "lg.explain(DecisionTreeRegressor().fit([[0.0], [1.0]], [0.0, 1.0]), [[0.5]], progress=False)"


@pytest.mark.parametrize(
    "code",
    [
        f"before = set(); import leafgrad; after = set(sys.modules) & {OTHERS}",
        (
            f"from sklearn.tree import DecisionTreeRegressor; before = set(sys.modules) & {OTHERS}; "
            f"import leafgrad as lg; {EXPLAINED}; after = set(sys.modules) & {OTHERS}"
        ),
    ],
    ids=["import", "explain"],
)
def test_no_library_is_imported_but_the_models_own(code: str) -> None:
    program = f"import sys; {code}; print(sorted(after - before))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_loading_a_hundred_trees_of_full_depth_takes_less_than_a_second() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((20_000, 30))
    model = ExtraTreesRegressor(n_estimators=4, bootstrap=True, random_state=0).fit(X, rng.random(len(X)))
    model.estimators_ *= 25
    seconds = []
    for _ in range(3):
        start = time.process_time()  # of this process alone: others may be busy
        forest = lg.load(model)
        seconds.append(time.process_time() - start)
    assert forest.checked
    assert forest.n_leaves > 1_200_000
    assert min(seconds) < 1
