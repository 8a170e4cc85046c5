"""`python -m benchmarks [name ...] [--quick]`: measure, print, and write.

A suite measures speed: benchmarks/results/, and the tables of README.md or of its page in docs/. All suites
run in an environment of their own, benchmarks/.venv, which is made here. A study, run only when named and in
the environment at hand, measures something else: the tables of its page in docs/, and what stands beside it.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path

from benchmarks import environment
from benchmarks.report import replace_between

SUITES = ("foundation", "ranker", "probabilistic", "peers", "growth")
STUDIES = ("spambase", "accuracy")
HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"


def suite(name: str, quick: bool, only: str | None = None) -> None:
    """Measure one, and write it unless it was only tried."""
    module = import_module(f"benchmarks.{name}")
    report = module.run(quick=quick, only=only) if name == "peers" else module.run(quick=quick)
    print(report.markdown())
    if quick:
        return
    report.write(HERE / "results", name)
    if hasattr(module, "draw"):
        module.draw(report, HERE / "results")
    for page in (HERE.parent / "README.md", DOCS / f"{name}.md"):
        if page.exists() and hasattr(module, "summary"):
            replace_between(page, name, module.summary(report))
    if hasattr(module, "tables"):
        replace_between(DOCS / "speed.md", name, module.tables(report))


def study(name: str, quick: bool, data: Path | None) -> None:
    """Make one's page."""
    module = import_module(f"benchmarks.{name}")
    page = module.page(data=data, quick=quick)
    print(page)
    if not quick:
        replace_between(DOCS / f"{name}.md", name, page)
        if hasattr(module, "beside"):
            module.beside(DOCS)


def main(argv: list[str] | None = None) -> int:
    """Do what the command line asks for; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", nargs="*", help=f"of {', '.join(SUITES + STUDIES)}; all suites if none")
    parser.add_argument("--quick", action="store_true", help="small models: tries the code, measures nothing")
    parser.add_argument(
        "--only", help="of peers: the races of this workload again, beside those of the others"
    )
    parser.add_argument("--data", type=Path, help="folder with NAME.parquet, target last; else from OpenML")
    parser.add_argument("--here", action="store_true", help="suites run in the environment at hand, too")
    parser.add_argument("--python", help="the Python, 3.12 or newer, that makes benchmarks/.venv anew")
    asked = parser.parse_args(argv)
    if unknown := set(asked.name) - {*SUITES, *STUDIES}:
        parser.error(f"no suite or study {', '.join(unknown)}")
    names = asked.name or list(SUITES)
    suites = [name for name in names if name in SUITES]
    if suites and not asked.here:
        more = [*(["--quick"] if asked.quick else []), *(["--only", asked.only] if asked.only else [])]
        failed = environment.rerun([*suites, *more], asked.python)
        if failed:
            return failed
        suites = []
    for name in names:
        if name in suites:
            suite(name, asked.quick, asked.only)
        elif name in STUDIES:
            study(name, asked.quick, asked.data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
