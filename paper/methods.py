"""Every ranking that the paper compares, and its curves on some rows.

The Ranker and greedy are `lg.rank` and `lg.greedy`, probabilistic values `lg.explain`; Beta-Insertion,
-Deletion and -Joint take for each row the Beta value that scores best on that very row, by `lg.best_of`. A
booster is ranked on its margin and judged by what it makes of it, its probability.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paper.data import Floats
from paper.facts import PARAMETERS, RUNS
from paper.scores import Judged

GA, ADAM, ADAM_10 = "GA (100, 5)", "ADAM (100, 5)", "ADAM (10, 5)"
BETAS = tuple(f"Beta ({a}, {b})" for a, b in PARAMETERS)
ALONE = ("greedy", "Banzhaf", *BETAS)
CHOSEN: dict[str, Any] = {"Beta-Insertion": "insertion", "Beta-Deletion": "deletion", "Beta-Joint": "joint"}
RANKERS = tuple(f"{kind} ({steps}, {rate})" for kind in ("GA", "ADAM") for steps, rate in RUNS)


def rankings(forest: Any, X: Floats, output: Any, link: Any) -> dict[str, Any]:
    """An Explanation, whose order is the ranking, for each method."""
    import leafgrad as lg

    optimizers: dict[str, Callable[..., Any]] = {"GA": lg.GradientAscent, "ADAM": lg.Adam}
    found: dict[str, Any] = {
        f"{kind} ({steps}, {rate})": lg.rank(
            forest, X, optimizer=make(rate=float(rate), steps=steps), output=output, progress=False
        )
        for kind, make in optimizers.items()
        for steps, rate in RUNS
    }
    found["greedy"] = lg.greedy(forest, X, output=output, progress=False)
    found["Banzhaf"] = lg.explain(forest, X, lg.Banzhaf(), output=output, progress=False)
    for name, (alpha, beta) in zip(BETAS, PARAMETERS, strict=True):
        found[name] = lg.explain(forest, X, lg.BetaShapley(alpha, beta), output=output, progress=False)
    betas = [found[name] for name in BETAS]
    for name, by in CHOSEN.items():
        found[name] = lg.best_of(forest, X, betas, by=by, link=link, progress=False)
    return found


def judge(forest: Any, X: Floats, output: Any, *, raw: bool = False) -> dict[str, Judged]:
    """The curves of every method's rankings; `raw`: of a booster's margin, not of its probability."""
    import leafgrad as lg

    link: Any = None if raw or forest.link == "identity" else "model"
    found = {}
    for name, ranking in rankings(forest, X, output, link).items():
        drawn = lg.curves(forest, X, ranking, link=link, progress=False)
        found[name] = Judged(drawn.insertion, drawn.deletion)
    return found
