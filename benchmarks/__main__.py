"""`python -m benchmarks [suite ...] [--quick]`: measure, print, and write benchmarks/results/."""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path

SUITES = ("foundation",)

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("suite", nargs="*", help=f"of {', '.join(SUITES)}; all, if none is named")
    parser.add_argument("--quick", action="store_true", help="small models: tries the code, measures nothing")
    arguments = parser.parse_args()
    if unknown := set(arguments.suite) - set(SUITES):
        parser.error(f"no suite {', '.join(unknown)}")
    for name in arguments.suite or SUITES:
        report = import_module(f"benchmarks.{name}").run(quick=arguments.quick)
        print(report.markdown())
        if not arguments.quick:
            report.write(Path(__file__).parent / "results", name)
