"""Builds the program of workloads, and counts each of them under valgrind's callgrind."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.instructions.counts import Count, Counts

ROOT = Path(__file__).parents[2]
TARGET = "leafgrad_instructions"
MEASURED = "leafgrad_measured"  # the function of main.cpp
ISA = "avx2"  # the widest that valgrind runs
ENVIRONMENT = {
    "LEAFGRAD_ISA": ISA,
    # Or the first call of a library's function would pay for finding it.
    "LD_BIND_NOW": "1",
    # Or the C library clears memory by `rep stosb` where it sees fit: one instruction to the CPU, one a byte
    # to valgrind. That was a third of one row of a large tree, and depends on the CPU.
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-ERMS,-FSRM",
}


class CountError(Exception):
    """Nothing could be counted; the message says why, and the cure."""


def build(folder: Path) -> Path:
    """The program, built in a CMake folder that may be there already."""
    if not (folder / "CMakeCache.txt").exists():
        python = f"-DPython_EXECUTABLE={sys.executable}"
        _run("cmake", "-S", str(ROOT), "-B", str(folder), "-G", "Ninja", python)
    _run("cmake", "--build", str(folder), "--target", TARGET)
    return folder.resolve() / TARGET


def count(program: Path) -> Counts:
    """Every workload the program has; half a minute."""
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        raise CountError("valgrind is not installed, and counts the instructions: `apt-get install valgrind`")
    of, about = {}, {"compiler": "", "isa": ""}
    for name in _run(str(program)).splitlines():
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder, "callgrind.out")
            options = (f"--toggle-collect={MEASURED}", f"--callgrind-out-file={out}")
            told = json.loads(_run(valgrind, "-q", "--tool=callgrind", *options, str(program), name))
            of[name] = Count(total(out.read_text()), told["rows"], told["passes"])
        about = {key: told[key] for key in about}
        print(f"{name}: {of[name].instructions:,}", flush=True)
    return Counts(**about, of=of)


def total(text: str) -> int:
    """The instructions that a file of callgrind's adds up to."""
    events = re.search(r"^events: (.*)$", text, re.MULTILINE)
    totals = re.search(r"^totals: (\d+)$", text, re.MULTILINE)
    if events is None or events[1] != "Ir" or totals is None:
        raise CountError("valgrind left no total of instructions (`events: Ir`, `totals: ...`) in its file")
    if totals[1] == "0":
        raise CountError(f"valgrind counted nothing: the program does not call {MEASURED} by this name")
    return int(totals[1])


def _run(*command: str) -> str:
    """The output of a command."""
    environment = {**os.environ, **ENVIRONMENT}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise CountError(f"{command[0]} is not there: `pip install '.[dev]'` has cmake and ninja") from error
    if done.returncode != 0:
        raise CountError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout
