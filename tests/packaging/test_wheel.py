"""The wheels as met by users without a compiler: small, the package only, and they explain a model.

One for each supported Python that is on this machine, by the one command that makes them all.
"""

import importlib.util
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


spec = importlib.util.spec_from_file_location("wheels", ROOT / "tools" / "wheels.py")
assert spec is not None
assert spec.loader is not None
wheels = importlib.util.module_from_spec(spec)
spec.loader.exec_module(wheels)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, Path]]:
    """By version: the interpreter, and its wheel."""
    out = tmp_path_factory.mktemp("wheelhouse")
    pythons = wheels.interpreters()
    subprocess.run([sys.executable, ROOT / "tools" / "wheels.py", "--out", out], check=True)
    found = {tag: path for path in out.iterdir() for tag in [path.name.split("-")[2]]}
    assert found.keys() == {"cp" + version.replace(".", "") for version in pythons}
    return {v: (python, found["cp" + v.replace(".", "")]) for v, python in pythons.items()}


@pytest.fixture(scope="module", params=wheels.SUPPORTED)
def version(request: pytest.FixtureRequest, made: dict[str, tuple[str, Path]]) -> str:
    if request.param not in made:
        pytest.skip(f"no Python {request.param} on this machine")
    return request.param


@pytest.fixture(scope="module")
def wheel(made: dict[str, tuple[str, Path]], version: str) -> Path:
    return made[version][1]


def test_this_python_is_supported_and_has_its_wheel(made: dict[str, tuple[str, Path]]) -> None:
    assert "{}.{}".format(*sys.version_info) in made


def test_is_manylinux_and_small(wheel: Path, version: str) -> None:
    tag = "cp" + version.replace(".", "")
    assert wheel.name.startswith("leafgrad-")
    assert f"-{tag}-{tag}-manylinux" in wheel.name
    assert wheel.stat().st_size < 1_500_000  # the kernels, for three instruction sets, are 1.1 MB of it


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


def test_explains_a_model_where_there_is_no_compiler(
    made: dict[str, tuple[str, Path]], version: str, tmp_path: Path
) -> None:
    python, wheel = made[version]
    subprocess.run([python, "-m", "venv", tmp_path / "venv"], check=True)
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
