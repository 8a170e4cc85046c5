"""Rankings of spambase judged by insertion and deletion, by the paper's protocol.

A tree and a boosted model; the first 200 test rows; the probability of each row's predicted class, and of
the other one. The boosted model is ranked on its margin and judged on its probability. Every number is a mean
over the rows; two methods are compared row by row, as their scores depend on the row most.

The split and the models are those of the paper only under some versions of scikit-learn and NumPy: the sizes
of the trees tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

OPENML = 44
SEED = 2025
ROWS = 200
RESAMPLES = 10_000
PARAMETERS = ((16, 1), (8, 1), (4, 1), (2, 1), (1, 1), (1, 2), (1, 4), (1, 8), (1, 16))
RANKERS = ("GA (100, 5)", "ADAM (100, 5)", "ADAM (10, 5)")
COMPARED = RANKERS[:2]
CHOSEN: dict[str, Any] = {"Beta-Insertion": "insertion", "Beta-Deletion": "deletion", "Beta-Joint": "joint"}
CLASSES = ("predicted class", "other class")

# The paper's models: score on the test part, leaves, nodes.
PAPER = {"decision tree": (0.925, 166, 331), "boosted trees": (0.922, 977, 1_949)}


@dataclass(frozen=True)
class Scores:
    """A ranking's Ins and Del on each row."""

    insertion: Floats
    deletion: Floats

    def measure(self, name: str) -> Floats:
        """One of `MEASURES`, row by row."""
        measures = {"Ins": self.insertion, "Del": self.deletion, "Ins - Del": self.insertion - self.deletion}
        return measures[name]


# Whether more is better.
MEASURES = {"Ins": True, "Del": False, "Ins - Del": True}


def page(*, data: Path | None, quick: bool) -> str:
    """The tables, as Markdown; under a minute."""
    X, y = _data(data)
    train, test = _split(X, y)
    rows = test[0][: 20 if quick else ROWS]
    versions = ", ".join(f"{name} {version(name)}" for name in ("leafgrad", "scikit-learn", "numpy"))
    parts = [f"{len(rows)} rows. Made with {versions}."]
    found = {}
    for name, model in _models(train).items():
        parts.append(_size(name, model, test))
        print(parts[-1], flush=True)
        for which in CLASSES:
            found[name, which] = _scores(model, rows, which)
    parts += [f"### {name}\n\n{table({c: found[name, c] for c in CLASSES})}" for name in PAPER]
    parts.append(f"### Row by row\n\n{comparison(found)}")
    return "\n\n".join(parts)


def _data(folder: Path | None) -> tuple[Floats, NDArray[Any]]:
    """X and y, from `folder`/spambase.parquet (last column: target) or from OpenML."""
    if folder is None:
        from sklearn.datasets import fetch_openml

        X, y = fetch_openml(data_id=OPENML, as_frame=False, return_X_y=True)
        return np.asarray(X, dtype=np.float64), np.asarray(y, dtype=str)
    import pandas as pd

    frame = pd.read_parquet(folder / "spambase.parquet")
    return frame.iloc[:, :-1].to_numpy(np.float64), frame["target"].to_numpy(str)


def _split(X: Floats, y: NDArray[Any]) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """The training part and the test part."""
    from sklearn.model_selection import train_test_split

    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=SEED, stratify=y)
    return (X_train, y_train), (X_test, y_test)


def _models(train: tuple[Any, Any]) -> dict[str, Any]:
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(max_depth=15, random_state=SEED)
    boosted = GradientBoostingClassifier(n_estimators=5, max_depth=15, random_state=SEED)
    return {"decision tree": tree.fit(*train), "boosted trees": boosted.fit(*train)}


def _size(name: str, model: Any, test: tuple[Any, Any]) -> str:
    """Whether the model is the paper's."""
    trees = [stage.tree_ for stage in np.ravel(getattr(model, "estimators_", model))]
    own = (round(model.score(*test), 3), sum(t.n_leaves for t in trees), sum(t.node_count for t in trees))
    text = "accuracy {:.3f}, {:,} leaves, {:,} nodes"
    if own == PAPER[name]:
        return f"The {name}: {text.format(*own)}, as in the paper."
    return (
        f"The {name}: {text.format(*own)}. **Not the paper's model** ({text.format(*PAPER[name])}): "
        "take scikit-learn 1.6.1 with NumPy 2.2.6."
    )


def other_class(predicted: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """The paper's class that is not the predicted one: some constant offset further, drawn once."""
    offset = np.random.RandomState(SEED).choice(np.arange(1, len(classes)))
    return np.asarray(classes[(np.searchsorted(classes, predicted) + offset) % len(classes)])


def _scores(model: Any, X: Floats, which: str) -> dict[str, Scores]:
    """Every method's scores on the class in question."""
    import leafgrad as lg

    forest = lg.load(model)
    predicted = model.predict(X)
    output = predicted if which == CLASSES[0] else other_class(predicted, model.classes_)
    link: Any = None if forest.link == "identity" else "model"
    betas = {f"Beta ({a}, {b})": lg.BetaShapley(a, b) for a, b in PARAMETERS}
    optimizers: tuple[lg.GradientAscent | lg.Adam, ...] = (
        lg.GradientAscent(rate=5.0, steps=100),
        lg.Adam(rate=5.0, steps=100),
        lg.Adam(rate=5.0, steps=10),
    )
    rankings: dict[str, Any] = {
        name: lg.rank(forest, X, optimizer=optimizer, output=output)
        for name, optimizer in zip(RANKERS, optimizers, strict=True)
    }
    rankings["greedy"] = lg.greedy(forest, X, output=output)
    rankings["Banzhaf"] = lg.explain(forest, X, lg.Banzhaf(), output=output)
    rankings |= {name: lg.explain(forest, X, value, output=output) for name, value in betas.items()}
    for name, by in CHOSEN.items():
        rankings[name] = lg.best_of(forest, X, list(betas.values()), by=by, output=output, link=link)
    curves = {name: lg.curves(forest, X, ranking, link=link) for name, ranking in rankings.items()}
    return {name: Scores(c.insertion_score, c.deletion_score) for name, c in curves.items()}


def table(found: Mapping[str, Mapping[str, Scores]]) -> str:
    """Mean Ins and Del of each method, per class; the best of a column is bold."""
    names = list(next(iter(found.values())))
    columns = [(which, measure) for which in found for measure in ("Ins", "Del")]
    lines = [
        f"| ranked by | {' | '.join(f'{measure}, {which}' for which, measure in columns)} |",
        "|---|" + "---:|" * len(columns),
    ]
    cells = {}
    for which, measure in columns:
        means = {name: f"{scores.measure(measure).mean():.4f}" for name, scores in found[which].items()}
        best = (max if MEASURES[measure] else min)(means.values(), key=float)
        for name, text in means.items():
            cells[name, which, measure] = f"**{text}**" if text == best else text
    lines += [f"| {name} | {' | '.join(cells[name, *column] for column in columns)} |" for name in names]
    return "\n".join(lines)


def comparison(found: Mapping[tuple[str, str], Mapping[str, Scores]]) -> str:
    """The compared rankers against the rivals of the best means, as gains: more is better in every cell."""
    gains_of = " | ".join(f"gain of {name}" for name in COMPARED)
    lines = [
        f"| model, class | measure | best rival | {gains_of} |",
        "|---|---|---|" + "---:|" * len(COMPARED),
    ]
    for (model, which), scores in found.items():
        for measure, more in MEASURES.items():
            for rival in rivals({name: x.measure(measure).mean() for name, x in scores.items()}, more=more):
                theirs = scores[rival].measure(measure)
                gains = []
                for name in COMPARED:
                    own = scores[name].measure(measure)
                    gain = own - theirs if more else theirs - own
                    low, high = interval(gain)
                    text = f"{gain.mean():+.4f} [{low:+.4f}, {high:+.4f}]"
                    gains.append(f"**{text}**" if low > 0 else text)
                cells = (f"{model}, {which}", measure, f"{rival}: {theirs.mean():.4f}", *gains)
                lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def rivals(means: Mapping[str, float], *, more: bool) -> list[str]:
    """The best of the methods that are one ranking each, and the best of those that choose row by row."""
    best = max if more else min
    alone = [name for name in means if name not in (*RANKERS, *CHOSEN)]
    chosen = [name for name in means if name in CHOSEN]
    return [best(names, key=lambda name: means[name]) for names in (alone, chosen) if names]


def interval(differences: Floats) -> tuple[float, float]:
    """95 % bootstrap interval of the mean of paired differences: percentiles of resampled means."""
    rng = np.random.default_rng(SEED)
    drawn = rng.integers(0, len(differences), size=(RESAMPLES, len(differences)))
    low, high = np.percentile(differences[drawn].mean(axis=1), [2.5, 97.5])
    return float(low), float(high)
