"""docs/support.md from docs/support/*.json, which `pytest --support docs/support` wrote.

`python tools/support.py` writes the page.
"""

from __future__ import annotations

import json
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
NAMES = ["scikit-learn", "imbalanced-learn", "XGBoost", "LightGBM", "CatBoost", "ONNX", "treelite"]
HEAD = """# What is supported, as tested

Made by `python tools/support.py` of what the tests showed: a feature is listed with every version of its
library on which all of its tests passed (`pytest --support docs/support`, run on each). What each
model's output is, and what is refused, stands in [models](models/README.md).
"""


def page(table: dict[str, dict[str, list[str]]]) -> str:
    """The page: one table per library, a column per version."""
    parts = [HEAD]
    for library, features in table.items():
        runs = sorted({run for own in features.values() for run in own}, key=_order)
        parts.append(f"## {library}\n")
        parts.append(f"| feature | {' | '.join(runs)} |\n|---|{':---:|' * len(runs)}")
        parts += [
            f"| {feature} | {' | '.join('yes' if run in own else '' for run in runs)} |"
            for feature, own in features.items()
        ]
        parts.append("")
    return "\n".join(parts)


def _order(run: str) -> tuple[list[int], str]:
    """Versions in their order: 1.10 behind 1.9."""
    number = run.partition(" ")[0]
    return [int(part) if part.isdigit() else 0 for part in number.split(".")], run


def noted() -> dict[str, dict[str, list[str]]]:
    """Read what test runs noted, per library."""
    files = {name: DOCS / "support" / f"{name.lower()}.json" for name in NAMES}
    return {name: json.loads(path.read_text()) for name, path in files.items() if path.exists()}


if __name__ == "__main__":
    (DOCS / "support.md").write_text(page(noted()))
