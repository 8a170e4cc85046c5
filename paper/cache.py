"""What was computed is kept, so that an interrupted run goes on where it stopped.

A result's key is what it came from: the data's digest and the settings, the source of the module that
computes it and of all of paper/ that this imports, leafgrad itself, and the versions that matter. Change any
and it is computed anew. Files appear whole or not at all.
"""

from __future__ import annotations

import ast
import hashlib
import os
import pickle
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
FOLDER = Path(__file__).parent / ".cache"
PACKAGES = ("numpy", "scipy", "scikit-learn", "shap", "xgboost", "xgboost-cpu", "lightgbm")


@dataclass
class Cache:
    """Results by key, in memory and, unless `folder` is None, in files."""

    folder: Path | None = FOLDER
    memory: dict[str, Any] = field(default_factory=dict)

    def has(self, name: str) -> bool:
        """Whether the result under this key is kept."""
        return name in self.memory or (self.folder is not None and self._path(name).exists())

    def kept(self, name: str, make: Callable[[], T]) -> T:
        """The result under this key, made if it is not there."""
        if name not in self.memory:
            if self.has(name):
                self.memory[name] = pickle.loads(self._path(name).read_bytes())
            else:
                self.memory[name] = make()
                if self.folder is not None:
                    write(self._path(name), pickle.dumps(self.memory[name]))
        result: T = self.memory[name]
        return result

    def _path(self, name: str) -> Path:
        assert self.folder is not None
        return self.folder / f"{name}.pickle"


def key(what: str, module: str, *about: object) -> str:
    """A readable name and a digest: of the module that computes it, and of `about`, what it computes from."""
    parts = (what, about, sources(module), _leafgrad(), _versions())
    return f"{what}-{hashlib.sha256(repr(parts).encode()).hexdigest()[:24]}"


def write(path: Path, content: bytes | str) -> None:
    """Put a whole file in place, in one step: a reader never sees half of it."""
    data = content.encode() if isinstance(content, str) else content
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, half = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(half).chmod(0o644)
        Path(half).replace(path)
    except BaseException:
        Path(half).unlink(missing_ok=True)
        raise


@cache
def sources(module: str) -> str:
    """A digest of the module's source, and of all modules of paper/ that it imports, directly or not."""
    seen: dict[str, str] = {}
    todo = [module]
    while todo:
        name = todo.pop()
        path = _path_of(name)
        if name in seen or path is None:
            continue
        seen[name] = path.read_text()
        for node in ast.walk(ast.parse(seen[name])):
            if isinstance(node, ast.Import):
                todo += [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                todo += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return hashlib.sha256(repr(sorted(seen.items())).encode()).hexdigest()


def _path_of(module: str) -> Path | None:
    """The file of a module of paper/; None for others, and for names that are no module."""
    first, *rest = module.split(".")
    if first != "paper":
        return None
    path = Path(__file__).parent.joinpath(*rest)
    candidates = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in candidates if file.is_file()), None)


@cache
def _leafgrad() -> str:
    """A digest of leafgrad: its Python files and its native core."""
    import leafgrad
    from leafgrad import _core

    files = sorted(file for place in leafgrad.__path__ for file in Path(place).rglob("*.py"))
    whole = hashlib.sha256()
    for file in [*files, Path(str(_core.__file__))]:
        whole.update(file.read_bytes())
    return whole.hexdigest()


@cache
def _versions() -> tuple[str, ...]:
    found = []
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return tuple(found)
