"""Who imports whom: the arrows between leafgrad's modules, and what a user never pays for unasked."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import leafgrad

HEAVY = {
    "scipy", "sklearn", "pandas", "polars", "pyarrow", "narwhals", "tqdm", "shap", "matplotlib", "typer",
    "xgboost", "lightgbm", "catboost", "IPython", "mpmath",
}  # fmt: skip
SOURCE = Path(leafgrad.__file__).parent
MODULES = {
    ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(SOURCE.rglob("*.py"))
}


def imports(module, *, whole=True):
    """What a module imports: everywhere in it, or at its top only."""
    tree = ast.parse(MODULES[module].read_text())
    found = set()
    for node in ast.walk(tree) if whole else tree.body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} imports relatively"
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in MODULES else node.module for name in names}
    return found


def of_leafgrad(module):
    return {name for name in imports(module) if name.partition(".")[0] == "leafgrad"}


@pytest.mark.parametrize("module", [name for name in MODULES if ".load" in name])
def test_loaders_know_forest_and_errors_only(module):
    allowed = {
        "leafgrad.forest",
        "leafgrad.errors",
        "leafgrad.encode",
        "leafgrad.threads",
        "leafgrad.category_hash",
    }
    others = {name for name in of_leafgrad(module) if not name.startswith("leafgrad.load")}
    assert others <= allowed


@pytest.mark.parametrize("module", [name for name in MODULES if ".reference" not in name])
def test_nobody_imports_the_reference(module):
    assert not any(name.startswith("leafgrad.reference") for name in of_leafgrad(module))


@pytest.mark.parametrize(
    ("module", "allowed"),
    [
        ("leafgrad.errors", set()),
        ("leafgrad.arguments", {"leafgrad.errors"}),
        ("leafgrad.gauss", {"leafgrad.errors"}),
        ("leafgrad.density", {"leafgrad.errors", "leafgrad.gauss"}),
        ("leafgrad.probabilistic", {"leafgrad", "leafgrad.arguments", "leafgrad.errors"}),
        (
            "leafgrad.values",
            {
                "leafgrad.errors",
                "leafgrad.arguments",
                "leafgrad.density",
                "leafgrad.gauss",
                "leafgrad.probabilistic",
            },
        ),
        ("leafgrad.tables", {"leafgrad.errors"}),
        ("leafgrad.threads", {"leafgrad.errors"}),
        ("leafgrad.progress", {"leafgrad.errors"}),
        (
            "leafgrad.encode",
            {
                *("leafgrad.errors", "leafgrad.tables", "leafgrad.forest", "leafgrad"),
                *("leafgrad.category_hash", "leafgrad.category_types"),
            },
        ),
        ("leafgrad.outputs", {"leafgrad.errors", "leafgrad.forest"}),
        ("leafgrad.groups", {"leafgrad.errors", "leafgrad.forest"}),
        ("leafgrad.forest_arguments", {"leafgrad.errors"}),
    ],
)
def test_the_lower_modules_stay_low(module, allowed):
    assert of_leafgrad(module) <= allowed


def run(code):
    """Run code in an interpreter of its own; what it prints is JSON."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


NEW = """
import json, sys
{before}
before = set(sys.modules)
{code}
print(json.dumps(sorted({{name.partition(".")[0] for name in set(sys.modules) - before}})))
"""


def new_modules(code, before="import numpy"):
    return set(run(NEW.format(before=before, code=code)))


def test_importing_leafgrad_imports_nothing_heavy():
    found = new_modules("import leafgrad")
    assert "leafgrad" in found
    assert not found & HEAVY
    # Of the standard library too what takes milliseconds: `secrets` brings hashlib and OpenSSL.
    assert not found & {"asyncio", "hashlib", "hmac", "secrets", "zipfile"}


def test_importing_leafgrad_leaves_its_larger_rooms_for_later():
    loaded = set(run(NEW.replace('.partition(".")[0]', "").format(before="", code="import leafgrad")))
    later = {"archive", "cli", "demo", "explanation_file", "forest_file", "reference"}
    later |= {"load.check", "load.covers", "load.probes", "load.sklearn", "load.trees"}
    later = {f"leafgrad.{name}" for name in later}
    assert later <= set(MODULES)
    assert not loaded & later


FITTED = """
import numpy as np
from sklearn.ensemble import RandomForestClassifier
X = np.random.default_rng(0).random((60, 3))
model = RandomForestClassifier(3, random_state=0).fit(X, X[:, 0] > 0.5)
"""


def test_explaining_a_scikit_learn_model_imports_no_other_library():
    code = (
        "import leafgrad as lg; e = lg.explain(model, X, output='predicted'); e.order, e.data, e[3], repr(e)"
    )
    assert new_modules(code, FITTED) & HEAVY <= {"scipy", "sklearn"}


@pytest.mark.parametrize("make", ["pandas", "polars", "pyarrow"])
def test_a_frame_of_one_make_imports_no_other(make):
    frame = {
        "pandas": "import pandas; X = pandas.DataFrame(X)",
        "polars": "import polars; X = polars.DataFrame(X)",
        "pyarrow": "import pyarrow; X = pyarrow.table({str(j): X[:, j] for j in range(3)})",
    }[make]
    code = "import leafgrad as lg; lg.explain(model, X).to_frame()"
    own = {"pandas": {"pandas", "pyarrow"}}.get(make, {make})  # pandas keeps text in arrow's arrays
    assert new_modules(code, FITTED + frame) & HEAVY <= {"scipy", "sklearn", "narwhals"} | own
