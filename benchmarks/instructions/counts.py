"""What was counted, as a file and as a table, and what has become of it since."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

# The same program takes the same instructions to the last one, so any change is a change of the code. One per
# cent lets those pass that only move a few about.
SAME_COMPILER = 0.01
# Another compiler keeps other numbers in registers: clang 22 took 9 % less to 9.5 % more than g++ 12.
OTHER_COMPILER = 0.15


@dataclass(frozen=True)
class Count:
    """Instructions of one workload, and what they were for: `passes` are splits x points of one row."""

    instructions: int
    rows: int
    passes: int

    @property
    def per_row(self) -> float:
        """Instructions a row."""
        return self.instructions / self.rows

    @property
    def per_pass(self) -> float:
        """Instructions a split, row and point."""
        return self.per_row / self.passes


@dataclass(frozen=True)
class Counts:
    """All workloads of one program, by name, and the compiler that built it."""

    compiler: str
    isa: str
    of: dict[str, Count]

    def write(self, folder: Path) -> None:
        """Write instructions.json and instructions.md into `folder`."""
        (folder / "instructions.json").write_text(json.dumps(asdict(self), indent=1) + "\n")
        (folder / "instructions.md").write_text(self.markdown())

    @classmethod
    def read(cls, folder: Path) -> Counts:
        """What `write` has written."""
        content = json.loads((folder / "instructions.json").read_text())
        of = {name: Count(**count) for name, count in content.pop("of").items()}
        return cls(**content, of=of)

    def markdown(self) -> str:
        """The counts as one page."""
        table = [
            "| workload | rows | instructions | a row | a split, row and point |",
            "|---|---:|---:|---:|---:|",
        ]
        table += [
            f"| {name} | {x.rows} | {x.instructions:,} | {x.per_row:,.0f} | {x.per_pass:.2f} |"
            for name, x in self.of.items()
        ]
        about = f"Made by `python -m benchmarks.instructions` with {self.compiler}: {self.isa}, one thread."
        why = "Why, and what it cannot see: [decisions](../../docs/decisions/instructions.md)."
        return "\n".join(["# Instructions", "", about, why, "", *table, ""])


@dataclass(frozen=True)
class Change:
    """One workload, then and now; `wrong` says what is, or nothing."""

    workload: str
    before: Count | None
    now: Count | None
    tolerance: float

    @property
    def ratio(self) -> float | None:
        """Instructions now by those before."""
        return self.now.instructions / self.before.instructions if self.now and self.before else None

    @property
    def wrong(self) -> str:
        """Why this fails the check."""
        if self.before is None:
            return "has no committed count"
        if self.now is None:
            return "is committed, and gone"
        if (self.before.rows, self.before.passes) != (self.now.rows, self.now.passes):
            return "is another workload than the committed one of its name"
        ratio = self.now.instructions / self.before.instructions
        return f"takes over {self.tolerance:.0%} more" if ratio > 1 + self.tolerance else ""

    @property
    def better(self) -> bool:
        """It takes so much less that the committed count guards nothing any more."""
        return not self.wrong and self.ratio is not None and self.ratio < 1 - self.tolerance


def compare(committed: Counts, counted: Counts) -> list[Change]:
    """Every workload of either, those committed first."""
    tolerance = SAME_COMPILER if committed.compiler == counted.compiler else OTHER_COMPILER
    names = [*committed.of, *(name for name in counted.of if name not in committed.of)]
    return [Change(name, committed.of.get(name), counted.of.get(name), tolerance) for name in names]


def table(changes: Sequence[Change]) -> str:
    """The comparison, a line a workload."""
    width = max(len(change.workload) for change in changes)
    lines = [f"{'workload':{width}} {'committed':>13} {'now':>13} {'change':>8}"]
    for change in changes:
        before, now = (f"{x.instructions:,}" if x else "-" for x in (change.before, change.now))
        moved = f"{change.ratio - 1:+.2%}" if change.ratio is not None else "-"
        verdict = f"  FAILS: {change.wrong}" if change.wrong else "  better" if change.better else ""
        lines.append(f"{change.workload:{width}} {before:>13} {now:>13} {moved:>8}{verdict}")
    return "\n".join(lines)


def verdict(committed: Counts, counted: Counts) -> tuple[str, bool]:
    """What to print, and whether the check holds."""
    changes = compare(committed, counted)
    text = [table(changes), ""]
    if committed.compiler != counted.compiler:
        text.append(
            f"Committed with {committed.compiler}, counted with {counted.compiler}: their code differs, so "
            f"up to {OTHER_COMPILER:.0%} more is let pass."
        )
    good = not any(change.wrong for change in changes)
    again = "`python -m benchmarks.instructions` and commit benchmarks/results/instructions.*"
    if not good:
        text.append(f"The check fails. If this is meant, and worth it: {again}.")
    elif any(change.better for change in changes):
        text.append(f"Better than committed; to hold on to it: {again}.")
    else:
        text.append("The check passes.")
    return "\n".join(text), good
