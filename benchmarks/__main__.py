"""`python -m benchmarks [name ...] [--quick]`: measure, print, and write.

A suite measures speed: benchmarks/results/, and the tables of README.md or of its page in docs/. A study, run
only when named, measures something else: the tables of its page in docs/, and what stands beside the page.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path

from benchmarks.report import replace_between

SUITES = ("foundation", "ranker", "probabilistic")
STUDIES = ("spambase", "accuracy")

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", nargs="*", help=f"of {', '.join(SUITES + STUDIES)}; all suites if none")
    parser.add_argument("--quick", action="store_true", help="small models: tries the code, measures nothing")
    parser.add_argument("--data", type=Path, help="folder with NAME.parquet, target last; else from OpenML")
    arguments = parser.parse_args()
    if unknown := set(arguments.name) - {*SUITES, *STUDIES}:
        parser.error(f"no suite or study {', '.join(unknown)}")
    here = Path(__file__).parent
    for name in arguments.name or SUITES:
        module = import_module(f"benchmarks.{name}")
        if name in STUDIES:
            page = module.page(data=arguments.data, quick=arguments.quick)
            print(page)
            if not arguments.quick:
                replace_between(here.parent / "docs" / f"{name}.md", name, page)
                if hasattr(module, "beside"):
                    module.beside(here.parent / "docs")
            continue
        report = module.run(quick=arguments.quick)
        print(report.markdown())
        if not arguments.quick:
            report.write(here / "results", name)
            for page in (here.parent / "README.md", here.parent / "docs" / f"{name}.md"):
                if page.exists():
                    replace_between(page, name, module.summary(report))
