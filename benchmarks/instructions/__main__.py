"""`python -m benchmarks.instructions [--check] [--build FOLDER]`: count instructions; write them, or compare.

Half a minute, and a build of the core. Needs valgrind, a CPU with AVX2, and cmake, ninja and nanobind (the
`dev` extra).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.instructions.callgrind import CountError, build, count
from benchmarks.instructions.counts import Counts, verdict
from benchmarks.models import CACHE

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.instructions", description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="compare with the committed counts, write nothing"
    )
    parser.add_argument("--build", type=Path, default=CACHE / "instructions", help="CMake folder to build in")
    arguments = parser.parse_args()
    results = Path(__file__).parents[1] / "results"
    try:
        counted = count(build(arguments.build))
    except CountError as error:
        sys.exit(f"error: {error}")
    if arguments.check:
        text, good = verdict(Counts.read(results), counted)
        print(f"\n{text}")
        sys.exit(0 if good else 1)
    counted.write(results)
    print(f"\n{counted.markdown()}")
