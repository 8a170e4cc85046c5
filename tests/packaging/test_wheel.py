"""The wheel as met by a user without a compiler: small, the package only, and it explains a model."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.wheel
ROOT = Path(__file__).parents[2]

EXPLAIN = """
import numpy as np
from sklearn.ensemble import RandomForestRegressor
import leafgrad as lg

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 5))
model = RandomForestRegressor(n_estimators=5, random_state=0).fit(X, X[:, 0] * X[:, 1])
e = lg.explain(model, X)
# 1e-12: a few hundred roundings of 1e-16 in sums of order 1
np.testing.assert_allclose(e.base_values + e.values.sum(axis=1), model.predict(X), rtol=0, atol=1e-12)
print(lg.__file__)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheelhouse")
    subprocess.run(
        [sys.executable, ROOT / "tools" / "wheels.py", "--out", out],
        env={**os.environ, "PYTHONS": sys.executable},
        check=True,
    )
    (path,) = out.iterdir()
    return path


def test_is_manylinux_and_small(wheel: Path) -> None:
    tag = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    assert wheel.name.startswith("leafgrad-")
    assert f"-{tag}-{tag}-manylinux" in wheel.name
    assert wheel.stat().st_size < 1_000_000


def test_holds_the_package_and_nothing_else(wheel: Path) -> None:
    entries = (name for name in zipfile.ZipFile(wheel).namelist() if not name.endswith("/"))
    names = [name for name in entries if ".dist-info/" not in name]
    kept = [name for name in names if name.endswith((".py", "/py.typed", ".pyi", ".so"))]
    assert names == kept
    assert all(name.startswith("leafgrad/") for name in names)
    assert [name for name in names if name.endswith(".so")] == [
        name for name in names if name.startswith("leafgrad/_core.") and name.endswith(".so")
    ]
    source = {
        str(path.relative_to(ROOT / "src"))
        for pattern in ("*.py", "*.pyi", "py.typed")
        for path in (ROOT / "src" / "leafgrad").rglob(pattern)
    }
    assert source == {name for name in names if not name.endswith(".so")}
    assert {"leafgrad/py.typed", "leafgrad/_core.pyi"} <= source


def test_explains_a_model_where_there_is_no_compiler(wheel: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    bare = tmp_path / "venv" / "bin"
    env = {name: value for name, value in os.environ.items() if name not in {"CC", "CXX", "PYTHONPATH"}}
    env["PATH"] = str(bare)
    # --only-binary: whatever a dependency would have to compile is an error, not a detour.
    install = ["-m", "pip", "install", "-q", "--only-binary=:all:", wheel, "scikit-learn"]
    subprocess.run([bare / "python", *install], check=True, env=env)
    done = subprocess.run(
        [bare / "python", "-c", EXPLAIN], check=True, env=env, cwd=tmp_path, capture_output=True, text=True
    )
    assert Path(done.stdout.strip()).is_relative_to(tmp_path / "venv")
