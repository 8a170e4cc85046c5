"""What `leafgrad demo` does: train, explain, and show that the numbers add up.

One patient is told as a story, because that is what an attribution is for. Then every row of every
model is explained and checked: base plus attributions must give back the model's *own* prediction,
asked of scikit-learn, not of leafgrad's copy of the trees. Data and models are those that ship with
scikit-learn, so the demo needs no network.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

PATIENT = 17
SHOWN = 6
BAR = 20
DIABETES_NAMES = {
    "bmi": "body mass index",
    "bp": "blood pressure",
    "s1": "total cholesterol",
    "s2": "LDL cholesterol",
    "s3": "HDL cholesterol",
    "s4": "cholesterol / HDL",
    "s5": "log triglycerides",
    "s6": "blood sugar",
}


@dataclass(frozen=True)
class Case:
    """A fitted model, the rows to explain, and the model's own raw output for them."""

    model: Any
    data: str
    X: Any
    output: NDArray[np.float64]


def _cases() -> list[Case]:
    from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
    from sklearn.ensemble import (
        GradientBoostingRegressor,
        HistGradientBoostingClassifier,
        RandomForestClassifier,
    )

    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    X = X.rename(columns=DIABETES_NAMES)
    boosted = GradientBoostingRegressor(n_estimators=200, learning_rate=0.05, random_state=0).fit(X, y)
    cases = [Case(boosted, "diabetes", X, boosted.predict(X))]

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    forest = RandomForestClassifier(n_estimators=100, random_state=0).fit(X, y)
    cases.append(Case(forest, "breast cancer", X, forest.predict_proba(X)))

    X, y = load_wine(return_X_y=True, as_frame=True)
    hist = HistGradientBoostingClassifier(max_iter=50, min_samples_leaf=5, random_state=0).fit(X, y)
    cases.append(Case(hist, "wine", X, hist.decision_function(X)))
    return cases


def _bar(value: float, largest: float) -> str:
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    up, down = ("█", "▒") if encoding.lower().startswith("utf") else ("#", "-")
    return (up if value >= 0 else down) * round(BAR * abs(value) / largest)


def _story(case: Case) -> list[str]:
    """One row, feature by feature, and the same in plain words."""
    import leafgrad as lg

    row = case.X.iloc[[PATIENT]]
    explanation = lg.explain(case.model, row, progress=False)
    values, base = explanation.values[0], float(explanation.base_values[0])
    names, order = list(row.columns), np.argsort(-np.abs(values), kind="stable")
    lines = [
        "One patient of the diabetes data: gradient boosting predicts how far the",
        "disease will have come in a year. Shapley values split the prediction.",
        "",
        f"  {'feature':<20} {'value':>8} {'adds':>9}",
        f"  {'(nothing known)':<20} {'':>8} {base:>9.2f}",
    ]
    largest = float(np.abs(values).max())
    lines += [
        f"  {names[j]:<20} {row.iloc[0, j]:>8.4g} {values[j]:>+9.2f}  {_bar(values[j], largest)}"
        for j in order[:SHOWN]
    ]
    rest = order[SHOWN:]
    lines += [
        f"  {f'{len(rest)} others':<20} {'':>8} {values[rest].sum():>+9.2f}",
        f"  {'prediction':<20} {'':>8} {case.output[PATIENT]:>9.2f}",
        "",
    ]
    up, down = int(np.argmax(values)), int(np.argmin(values))
    predicted = float(case.output[PATIENT])
    lines += [
        f"In words: the model expects {predicted:.0f} for this patient, and would say {base:.0f} if it knew",
        f"nothing. What raises the number most is {names[up]} ({row.iloc[0, up]:.4g});",
        f"what lowers it most is {names[down]} ({row.iloc[0, down]:.4g}).",
    ]
    return lines


def _measure(case: Case) -> str:
    """Explain every row; one line of the table."""
    import leafgrad as lg

    forest = lg.load(case.model)
    start = time.perf_counter()
    explanation = lg.explain(forest, case.X, progress=False)
    seconds = time.perf_counter() - start
    rows = len(case.X)
    error = np.abs(explanation.values.sum(axis=1) + explanation.base_values - case.output).max()
    name = type(case.model).__name__
    return (
        f"  {name:<31}{forest.n_trees:>6}{forest.n_leaves:>8,}{rows:>6}{seconds:>9.4f}"
        f"{rows / seconds:>10,.0f}{error:>8.0e}"
    )


def demo() -> None:
    """Train three models, tell one patient's story, and print a table of exactness and speed."""
    print(f"leafgrad {version('leafgrad')}: exact explanations of tree models\n")
    cases = _cases()
    print("\n".join(_story(cases[0])))
    print(
        "\nEvery row of three data sets (" + ", ".join(case.data for case in cases) + "), all outputs:\n\n"
        f"  {'model':<31}{'trees':>6}{'leaves':>8}{'rows':>6}{'seconds':>9}{'rows/s':>10}{'error':>8}"
    )
    for case in cases:
        print(_measure(case))
    print(
        "\nerror: the largest |base + sum of values - the model's own prediction|.\n"
        "Next: `import leafgrad as lg; lg.explain(model, X)`; see README.md."
    )
