"""Results as a table of lines, each with what it had to reach, as Markdown and JSON."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


@dataclass(frozen=True)
class Line:
    """One measured fact: `value` in `unit`; `wanted` says what it must reach, `details` how it came about.

    `facts` are further numbers of the same measurement, for the JSON: the details tell them in words.
    """

    workload: str
    measure: str
    value: float
    unit: str
    wanted: str = ""
    details: str = ""
    facts: dict[str, float] = field(default_factory=dict)


def _cpu() -> str:
    text = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    names = [line.split(":")[1].strip() for line in text.splitlines() if line.startswith("model name")]
    flags = [flag for flag in ("avx2", "avx512f") if f" {flag} " in text]
    return f"{names[0] if names else platform.machine()} ({', '.join(flags)}), {os.cpu_count()} cores"


def _there(package: str) -> bool:
    try:
        return bool(version(package))
    except PackageNotFoundError:
        return False


@dataclass
class Report:
    """What a suite measured, and on what."""

    title: str
    command: str
    packages: tuple[str, ...]
    lines: list[Line] = field(default_factory=list)

    def add(
        self,
        workload: str,
        measure: str,
        value: float,
        unit: str,
        wanted: str = "",
        details: str = "",
        facts: dict[str, float] | None = None,
    ) -> None:
        """Append a `Line` and show it at once."""
        print(f"{workload}: {measure} = {value:.4g} {unit}" + (f" ({wanted})" if wanted else ""), flush=True)
        self.lines.append(Line(workload, measure, value, unit, wanted, details, facts or {}))

    def machine(self) -> dict[str, str]:
        """The machine and the versions: numbers mean nothing without them."""
        versions = {name: version(name) for name in self.packages if _there(name)}
        return {"cpu": _cpu(), "python": platform.python_version(), **versions}

    def markdown(self) -> str:
        """The report as one Markdown page."""
        about = ", ".join(f"{name} {value}" for name, value in self.machine().items())
        table = ["| workload | measure | value | wanted | how |", "|---|---|---:|---|---|"]
        table += [
            f"| {x.workload} | {x.measure} | {x.value:.4g} {x.unit} | {x.wanted} | {x.details} |"
            for x in self.lines
        ]
        return "\n".join([f"# {self.title}", "", f"Made by `{self.command}` on: {about}.", "", *table, ""])

    def value(self, workload: str, measure: str) -> float:
        """One measured number."""
        return self.line(workload, measure).value

    def line(self, workload: str, measure: str) -> Line:
        """One measured fact."""
        return next(x for x in self.lines if (x.workload, x.measure) == (workload, measure))

    @staticmethod
    def lines_of(path: Path) -> list[Line]:
        """Those that `write` wrote."""
        return [Line(**line) for line in json.loads(path.read_text())["lines"]]

    def write(self, folder: Path, name: str) -> None:
        """Write `name`.md and `name`.json into `folder`."""
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.md").write_text(self.markdown())
        content = {"machine": self.machine(), "lines": [asdict(line) for line in self.lines]}
        (folder / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n")


def replace_between(page: Path, name: str, text: str) -> None:
    """Put `text` between the comments `<!-- name -->` and `<!-- /name -->`, where the page has them."""
    start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, found, rest = page.read_text().partition(start)
    if found:
        after = rest.partition(end)[2]
        page.write_text(f"{before}{start}\n{text}\n{end}{after}")
