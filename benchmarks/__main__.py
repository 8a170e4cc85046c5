"""`python -m benchmarks [suite ...] [--quick]`: measure, print, and write.

What is written: benchmarks/results/, and the tables of README.md.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path

from benchmarks.report import replace_between

SUITES = ("foundation",)

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("suite", nargs="*", help=f"of {', '.join(SUITES)}; all, if none is named")
    parser.add_argument("--quick", action="store_true", help="small models: tries the code, measures nothing")
    arguments = parser.parse_args()
    if unknown := set(arguments.suite) - set(SUITES):
        parser.error(f"no suite {', '.join(unknown)}")
    here = Path(__file__).parent
    for name in arguments.suite or SUITES:
        suite = import_module(f"benchmarks.{name}")
        report = suite.run(quick=arguments.quick)
        print(report.markdown())
        if not arguments.quick:
            report.write(here / "results", name)
            replace_between(here.parent / "README.md", name, suite.summary(report))
