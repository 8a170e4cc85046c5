"""leafgrad: every model and value; the instruction set comes from the environment."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.contenders import ADAM, BANZHAF, BETA, EVERYTHING, EXACT, GA, SHAPLEY, SIZES, Ask, Ready

PACKAGE = "leafgrad"
MODELS = EVERYTHING
VALUES = frozenset((*EXACT, GA, ADAM))
THREADS, PER_ROW = True, False
APART, WHY = 1e-12, "its own instruction sets and numbers of threads differ by roundings"


def value(name: str, features: int) -> Any:
    """A value by its name; the coalition sizes are random, and no semivalue's."""
    import leafgrad as lg

    if name == SIZES:
        return lg.ProbabilisticValue(np.random.default_rng(features).dirichlet(np.ones(features)))
    return {SHAPLEY: lg.Shapley(), BANZHAF: lg.Banzhaf(), BETA: lg.BetaShapley(4, 1)}[name]


def explain(model: Any, ask: Ask) -> Ready:
    import leafgrad as lg

    forest = lg.load(model)
    settings: dict[str, Any] = {"threads": ask.threads, "progress": False}
    if ask.value in (GA, ADAM):
        optimizer = lg.GradientAscent(steps=100) if ask.value == GA else lg.Adam(steps=10)
        return Ready(lambda X: lg.rank(forest, X, optimizer=optimizer, **settings).values)
    wanted = value(ask.value, forest.n_features)
    return Ready(lambda X: lg.explain(forest, X, wanted, **settings).values)
