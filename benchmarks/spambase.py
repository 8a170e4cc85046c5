"""Rankings of spambase judged by insertion and deletion, by the paper's protocol.

A page of its own for one data set; what it rests on, from the split to the intervals, is paper/'s.
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

from paper.data import load
from paper.facts import DATA, PINNED, Size
from paper.methods import ADAM, ADAM_10, ALONE, CHOSEN, GA, judge
from paper.models import KINDS, size, split, train
from paper.tables.gains import comparison
from paper.tables.scores import means
from paper.work import CLASSES, output

METHODS = (GA, ADAM, ADAM_10, *ALONE, *CHOSEN)
FACTS = DATA["spambase"]


def page(*, data: Path | None, quick: bool) -> str:
    """The tables, as Markdown; under a minute."""
    import leafgrad as lg

    parts = split(load("spambase", data))
    rows = parts.explained[: 20 if quick else None]
    versions = ", ".join(f"{name} {version(name)}" for name in ("leafgrad", "scikit-learn", "numpy"))
    text = [f"{len(rows)} rows. Made with {versions}."]
    found: dict[str, dict[str, Any]] = {}
    for kind in KINDS:
        model = train(kind, parts, FACTS.depth)
        text.append(told(kind, size(model, parts)))
        print(text[-1], flush=True)
        forest = lg.load(model)
        found[kind] = {which: judge(forest, rows, output(model, rows, which)) for which in CLASSES}
    text += [f"### {kind}\n\n{means(found[kind], METHODS).markdown()}" for kind in KINDS]
    pairs = {f"{kind}, {which}": judged for kind in KINDS for which, judged in found[kind].items()}
    text.append(f"### Row by row\n\n{comparison(pairs).markdown()}")
    return "\n\n".join(text)


def told(kind: str, own: Size) -> str:
    """Whether the model is the paper's."""
    text = "accuracy {:.3f}, {:,} leaves, {:,} nodes"
    said = FACTS.model(kind)
    if own == said:
        return f"The {kind}: {text.format(*own)}, as in the paper."
    wanted = " with ".join(f"{name} {number}" for name, number in PINNED.items())
    return (
        f"The {kind}: {text.format(*own)}. **Not the paper's model** ({text.format(*said)}): take {wanted}."
    )
