"""The floor that the first kernel has to reach, all of it in one run.

Speed against shap's own C kernel (TreeExplainer, path-dependent) on the same model and rows, one thread each,
by instruction set; threads; one row alone; memory; import and load. shap explains fewer rows, and is
compared per row: it works row by row, so its time per row does not depend on how many there are.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import leafgrad._core
from benchmarks import models
from benchmarks.memory import peak
from benchmarks.report import Report
from benchmarks.timing import Contender, process, race
from leafgrad._core import available_isas

ISAS = [isa for isa in ("avx512", "avx2") if isa in available_isas()] or ["generic"]
WIDEST = ISAS[0]


def _model(name: str, quick: bool) -> tuple[Any, int]:
    """A model by name and its number of features, in the process that needs it."""
    if name == "boosted":
        return (models.boosted(20, 4, 10, 1_000), 10) if quick else (models.boosted(), 50)
    if quick:
        return models.first_trees(models.deep_forest(5, 10, 1_000), 2), 10
    return models.first_trees(models.deep_forest(), 20), 30


def _leafgrad(name: str, quick: bool, rows: int, threads: int) -> Callable[[], Any]:
    import leafgrad as lg

    model, features = _model(name, quick)
    forest, X = lg.load(model), models.rows(rows, features, seed=7)
    return lambda: lg.explain(forest, X, threads=threads, progress=False).values[:8]


def _one_row(name: str, quick: bool) -> Callable[[], Any]:
    import leafgrad as lg

    model, features = _model(name, quick)
    forest, X = lg.load(model), models.rows(1, features, seed=7)[0]

    return lambda: len(lg.explain(forest, X))


def _shap(name: str, quick: bool, rows: int) -> Callable[[], Any]:
    import shap

    model, features = _model(name, quick)
    explainer = shap.TreeExplainer(model, feature_perturbation="tree_path_dependent")
    X = models.rows(rows, features, seed=7)
    return lambda: explainer.shap_values(X, check_additivity=False)[:8]


def _against_shap(
    report: Report, name: str, quick: bool, rows: int, shap_rows: int, floors: dict[str, str]
) -> float:
    """Race one model; returns leafgrad's best microseconds per row."""
    contenders = [Contender("shap", _shap, (name, quick, shap_rows))]
    contenders += [Contender(isa, _leafgrad, (name, quick, rows, 1), {"LEAFGRAD_ISA": isa}) for isa in ISAS]
    if name == "boosted":
        threads = {"LEAFGRAD_ISA": WIDEST, "LEAFGRAD_NUM_THREADS": "2"}
        contenders.append(Contender("two", _leafgrad, (name, quick, rows, 2), threads))
    raced = race(contenders, rounds=2 if quick else 5)
    best, values = raced.seconds, raced.returned
    each = {who: 1e6 * s / (shap_rows if who == "shap" else rows) for who, s in best.items()}
    scale, shown = np.abs(values["shap"]).max(), len(values["shap"])
    report.add(name, "shap, one thread", each["shap"], "us/row", "", f"{shap_rows} rows")
    for isa in ISAS:
        apart = np.abs(values[isa][:shown] - values["shap"]).max() / scale
        details = f"{rows:,} rows; differs from shap by {apart:.0e} of the largest value"
        report.add(name, f"leafgrad, {isa}, one thread", each[isa], "us/row", "", details)
        report.add(name, f"times as fast as shap, {isa}", each["shap"] / each[isa], "x", floors.get(isa, ""))
    if "two" in each:
        report.add(
            name, "two threads against one", each[WIDEST] / each["two"], "x", "at least 1.8", f"{rows:,} rows"
        )
    return each[WIDEST]


def _beside_output(rows: int, depth: int, outputs: int, features: int) -> float:
    """Peak memory of `explain`, in MB, beyond what there was before and the output itself."""
    import leafgrad as lg

    rng = np.random.default_rng(0)
    n = 2 * depth + 1
    inner = np.arange(0, n - 1, 2)  # a chain: nodes 0, 2, 4, ... split; 1, 3, 5, ... and the last are leaves
    left, right, feature = (np.full(n, -1) for _ in range(3))
    left[inner], right[inner] = inner + 1, inner + 2
    feature[inner] = rng.permutation(features)[:depth]
    cover = np.ones(n)
    cover[inner] = np.arange(depth, 0, -1) + 1.0
    forest = lg.Forest.from_arrays(
        tree_start=np.array([0, n]),
        left=left,
        right=right,
        feature=feature,
        threshold=np.full(n, 2.0),
        cover=cover,
        value=rng.normal(size=(n, outputs)),
        n_features=features,
    )
    X = rng.normal(size=(rows, features))
    lg.explain(forest, X[:1])
    values, megabytes = peak(lambda: lg.explain(forest, X, threads=1, progress=False).values)
    return megabytes - values.nbytes / 1e6


def _load_seconds(quick: bool) -> float:
    import leafgrad as lg

    model = models.deep_forest(5, 10, 1_000) if quick else models.deep_forest()
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        lg.load(model)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def _import_ms() -> float:
    """As installed: of a copy with its bytecode, without the rebuild of an editable install."""
    code = "import numpy, time; t = time.perf_counter(); import leafgrad; print(time.perf_counter() - t)"
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "leafgrad")
        shutil.copytree(Path(leafgrad.__file__).parent, copy, dirs_exist_ok=True)
        shutil.copy(leafgrad._core.__file__, copy)
        # -S: no site, and so no hook of the editable install.
        command = [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {[folder, *sys.path]!r}; {code}"]
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        runs = [subprocess.run(command, env=kept, capture_output=True, check=True) for _ in range(8)]
    return 1e3 * min(float(run.stdout) for run in runs)


def run(*, quick: bool) -> Report:
    """Measure all of it; about ten minutes, and half an hour more when the models are not yet trained."""
    report = Report(
        "leafgrad and shap on scikit-learn models",
        "python -m benchmarks foundation",
        ("leafgrad", "numpy", "scikit-learn", "shap"),
    )
    models.boosted(*((20, 4, 10, 1_000) if quick else ()))
    models.deep_forest(*((5, 10, 1_000) if quick else ()))

    rows = 500 if quick else 20_000
    share = _against_shap(
        report,
        "boosted",
        quick,
        rows,
        20 if quick else 500,
        {"avx512": "at least 150", "avx2": "at least 80"},
    )
    alone = Contender("one", _one_row, ("boosted", quick), {"LEAFGRAD_ISA": WIDEST})
    one = 1e6 * race([alone], 5 if quick else 50).seconds["one"]
    report.add(
        "boosted",
        "one row alone, call to answer",
        one,
        "us",
        f"at most {60 + 20 * share:.0f}",
        "60 + 20 x a row in a batch",
    )
    _against_shap(
        report,
        "forest",
        quick,
        100 if quick else 2_000,
        5 if quick else 20,
        {"avx512": "at least 200", "avx2": ""},
    )
    with process({}) as pool:
        size = (64, 50, 3, 100) if quick else (256, 1_000, 10, 10_000)
        memory = pool.submit(_beside_output, *size).result()
        details = "{} rows, depth {}, {} outputs, {} features".format(*size)
        report.add("chain", "memory beside model, X and output", memory, "MB", "below 64", details)
        load = pool.submit(_load_seconds, quick).result()
        report.add("forest, 100 trees", "load, with its self-check", load, "s", "below 1")
    report.add("import", "beyond numpy's own", _import_ms(), "ms", "below 150")
    return report
