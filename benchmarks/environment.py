"""The environment that suites are measured in: benchmarks/.venv, with exactly the peers of requirements.txt.

It is made with Python 3.12 or newer, as older ones get older peers. leafgrad is installed there from this
checkout, and again whenever its sources have changed: as users have it, not editable. Only the standard
library is imported here, so that any Python can start it.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
VENV = HERE / ".venv"
REQUIREMENTS = HERE / "requirements.txt"
OLDEST = (3, 12)
SOURCES = ("pyproject.toml", "CMakeLists.txt", "native", "src")

# The release of fasttreeshap is built against an old NumPy, and wants another version of one package than
# shap does: so it is built against the NumPy that is there, and nothing is installed for it.
LAST = "fasttreeshap==0.1.6"
ALONE = ("--no-deps", "--no-build-isolation", "--no-cache-dir", "--no-binary=fasttreeshap")

CURE = "Give one by --python PATH, or measure with the peers of your own environment by --here"


def version_of(python: str) -> tuple[int, int] | None:
    """Of an interpreter, by a path or a name on PATH; None where there is none that answers."""
    code = "import sys; print(*sys.version_info[:2])"
    try:
        answer = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return None
    try:
        major, minor = (int(part) for part in answer.stdout.split())
    except ValueError:
        return None
    return major, minor


def choose(
    wanted: str | None = None,
    version: Callable[[str], tuple[int, int] | None] = version_of,
    candidates: Sequence[str] = (sys.executable, "python3.13", "python3.12", "python3.14"),
) -> str:
    """The Python that makes the environment: the one asked for, else the first that is new enough."""
    oldest = ".".join(map(str, OLDEST))
    if wanted is not None:
        found = version(wanted)
        if found is None:
            raise SystemExit(f"--python {wanted}: no Python answers there. {CURE}.")
        if found < OLDEST:
            raise SystemExit(f"--python {wanted}: it is {found[0]}.{found[1]}, older than {oldest}. {CURE}.")
        return wanted
    for python in candidates:
        if (version(python) or (0, 0)) >= OLDEST:
            return python
    raise SystemExit(f"no Python {oldest} or newer among {', '.join(candidates)}. {CURE}.")


def digest(paths: Sequence[Path]) -> str:
    """Of the contents of all files in these files and folders."""
    found = hashlib.sha256()
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and "__pycache__" not in file.parts and file.suffix != ".so":
                found.update(str(file.relative_to(path.parent)).encode())
                found.update(file.read_bytes())
    return found.hexdigest()


def _run(*command: object) -> None:
    subprocess.run([str(part) for part in command], check=True)


def prepared(python: str | None = None) -> Path:
    """The environment's Python, with everything up to date in it."""
    inside, stamp = VENV / "bin" / "python", VENV / "made.json"
    state = json.loads(stamp.read_text()) if stamp.exists() else {}
    asked = f"{digest([REQUIREMENTS])}, {LAST}"
    sources = digest([ROOT / name for name in SOURCES])
    pip = inside, "-m", "pip", "--disable-pip-version-check", "install", "-q"
    if state.get("peers") != asked or python is not None or not inside.exists():
        chosen = choose(python)
        print(f"making {VENV} with {chosen} (once; some minutes)", flush=True)
        if VENV.exists():
            shutil.rmtree(VENV)
        _run(chosen, "-m", "venv", VENV)
        _run(*pip, "-r", REQUIREMENTS)
        try:
            _run(*pip, *ALONE, LAST)
        except subprocess.CalledProcessError:
            print(f"{LAST} cannot be built here: it is left out", flush=True)
        state = {"peers": asked}
    if state.get("sources") != sources:
        print("installing this checkout's leafgrad", flush=True)
        _run(*pip, "--no-deps", "--force-reinstall", ROOT)
        stamp.write_text(json.dumps({**state, "sources": sources}) + "\n")
    return inside


def rerun(arguments: Sequence[str], python: str | None = None) -> int:
    """`python -m benchmarks` with these arguments in the environment; its exit code."""
    command = [str(prepared(python)), "-m", "benchmarks", "--here", *arguments]
    return subprocess.run(command, cwd=ROOT, check=False).returncode
