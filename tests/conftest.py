"""The support table of the docs, written by the tests that ran.

A test marked `supports(library, feature)` shows that a feature of a library's models is explained as the
model predicts. `pytest --support docs/support` notes, for the versions installed, the features all of
whose tests passed; runs on other versions add theirs. `python tools/support.py` makes docs/support.md of it.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

# As the table names a library -> the distributions that may have installed it.
DISTRIBUTIONS = {
    "scikit-learn": ("scikit-learn",),
    "imbalanced-learn": ("imbalanced-learn",),
    "XGBoost": ("xgboost", "xgboost-cpu"),
    "LightGBM": ("lightgbm",),
    "CatBoost": ("catboost",),
    "ONNX": ("onnx",),
    "treelite": ("treelite",),
}
passed: dict[tuple[str, str], bool] = {}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--support", type=Path, metavar="DIR", help="note in DIR what `supports` tests showed")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    for mark in item.iter_markers("supports"):
        if report.when == "call" or not report.passed:
            key = (mark.args[0], mark.args[1])
            passed[key] = passed.get(key, True) and report.passed
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    folder: Path | None = session.config.getoption("--support")
    if folder is None:
        return
    for library in {library for library, _ in passed}:
        path = folder / f"{library.lower()}.json"
        features: dict[str, list[str]] = json.loads(path.read_text()) if path.exists() else {}
        run = f"{_version(library)} on Python {'.'.join(platform.python_version_tuple()[:2])}"
        for runs in features.values():
            if run in runs:
                runs.remove(run)
        for (of, feature), good in passed.items():
            if of == library and good:
                features.setdefault(feature, []).append(run)
                features[feature].sort()
        kept = {feature: runs for feature, runs in sorted(features.items()) if runs}
        path.write_text(json.dumps(kept, indent=1) + "\n")


def _version(library: str) -> str:
    for name in DISTRIBUTIONS[library]:
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    raise LookupError(f"a test supports {library}, which is not installed")
