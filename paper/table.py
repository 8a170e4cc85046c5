"""A table in two forms: Markdown to read, CSV with every digit to work with."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paper.cache import write


@dataclass
class Table:
    """Lines under a header. Cells are raw; `formats` says per column how Markdown shows a number."""

    header: tuple[str, ...]
    formats: tuple[str, ...] = ()
    right: tuple[int, ...] = ()  # columns of text that are set to the right, as numbers are
    lines: list[tuple[Any, ...]] = field(default_factory=list)

    def add(self, *cells: Any) -> None:
        """Append a line."""
        if len(cells) != len(self.header):
            raise ValueError(f"{len(cells)} cells came for the {len(self.header)} columns {self.header}")
        self.lines.append(cells)

    def markdown(self) -> str:
        """The table alone; None is an empty cell, and columns of numbers are to the right."""
        formats = self.formats or ("",) * len(self.header)
        right = {j for line in self.lines for j, cell in enumerate(line) if _is_number(cell)} | {*self.right}
        rules = "|".join("---:" if j in right else "---" for j in range(len(self.header)))
        cells = [
            [_shown(cell, form) for cell, form in zip(line, formats, strict=True)] for line in self.lines
        ]
        rows = [self.header, *cells]
        head, *body = (f"| {' | '.join(row)} |" for row in rows)
        return "\n".join([head, f"|{rules}|", *body])

    def csv(self) -> str:
        """The same with numbers in full."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.header)
        writer.writerows(("" if cell is None else cell for cell in line) for line in self.lines)
        return text.getvalue()


def save(
    folder: Path, name: str, title: str, parts: Sequence[str | Table], data: Table | None = None
) -> None:
    """Write NAME.md, of paragraphs and tables, and NAME.csv, of `data` or else of its one table."""
    texts = [part.markdown() if isinstance(part, Table) else part for part in parts]
    write(folder / f"{name}.md", "\n\n".join([f"# {title}", *texts]) + "\n")
    if data is None:
        (data,) = (part for part in parts if isinstance(part, Table))
    write(folder / f"{name}.csv", data.csv())


def _is_number(cell: Any) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool)


def _shown(cell: Any, form: str) -> str:
    if cell is None:
        return ""
    return format(cell, form) if _is_number(cell) else str(cell)
