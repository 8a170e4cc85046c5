"""The claims about errors, condition numbers and run times."""

from __future__ import annotations

import math

import numpy as np

from paper.claims import HELD, IN_PART, NOT_HELD, OPEN, Claim, of_counts
from paper.figures import inaccuracy, runtime
from paper.figures.conditions import numbers
from paper.work import Work

STABLE = 1e-10  # an algorithm is stable here if no error is above


def up_to(work: Work) -> Claim:
    """Linear TreeShap's error over TreeGrad-Shap's."""
    words = (
        '"The numerical error of Linear TreeShap can be up to 10^15 times larger than that of TreeGrad-Shap"'
    )
    lines = errors(work)
    if lines is None:
        return Claim(words, "The data is not at hand.", OPEN)
    ratios = {d: lines["Linear TreeShap"][d] / lines["TreeGrad-Shap (M = D)"][d] for d in inaccuracy.DEPTHS}
    at = max(ratios, key=lambda d: ratios[d])
    said = f"At most {ratios[at]:.0e} times, at D = {at}; {ratios[45]:.0e} at D = 45."
    far = math.log10(ratios[at])
    return Claim(words, said, HELD if far > 14.5 else IN_PART if far > 12 else NOT_HELD)


def only_stable(work: Work) -> Claim:
    """No other algorithm is stable."""
    words = '"TreeGrad-Shap is the only numerically stable algorithm"'
    lines = errors(work)
    if lines is None:
        return Claim(words, "The data is not at hand.", OPEN)
    worst = {name: max(line.values(), key=_rank) for name, line in lines.items()}
    stable = [name for name, error in worst.items() if error <= STABLE]
    others = [name for name in stable if "TreeGrad-Shap" not in name and name != "leafgrad"]
    said = "The largest errors: " + "; ".join(f"{name} {error:.0e}" for name, error in worst.items()) + "."
    if others:
        said += (
            f" With 11 features these stay exact too: {', '.join(others)}. They take as many nodes as there "
            "are features, or decode low degrees only; with more they lose all digits (docs/accuracy.md)."
        )
    return Claim(words, said, NOT_HELD if "TreeGrad-Shap" not in stable else IN_PART if others else HELD)


def tree_prob(work: Work) -> Claim:
    """TreeProb at 35 and 65 nodes."""
    words = '"The numerical error of TreeProb is already 10^-8 when M = 35, and increases to 10 when M = 65"'
    lines = errors(work)
    if lines is None:
        return Claim(words, "The data is not at hand.", OPEN)
    first, last = (lines["TreeProb (M = D)"][d] for d in (35, 65))
    near = [abs(math.log10(own / said)) < 1 for own, said in ((first, 1e-8), (last, 10.0))]
    return Claim(words, f"{first:.0e} at M = 35, {last:.0e} at M = 65.", of_counts(sum(near), 2))


def ill_conditioned(work: Work) -> Claim:
    """Condition numbers at D = 20."""
    words = '"The condition numbers of the involved matrices are already over 100,000 when D = 20"'
    found = numbers(work)
    own = {name: found[name][20] for name in ("Linear TreeShap", "TreeShap-K (gamma = 1)")}
    said = "; ".join(f"{name} {number:.2g}" for name, number in own.items()) + "."
    return Claim(words, said, of_counts(sum(number > 1e5 for number in own.values()), len(own)))


def unit_circle(work: Work) -> Claim:
    """TreeProb's matrix."""
    words = "The Vandermonde matrix of the roots of unity has condition number 1"
    largest = max(numbers(work)["TreeProb (roots of unity)"].values())
    return Claim(words, f"At most {largest:.3f}, up to D = 100.", HELD if largest < 1 + 1e-9 else NOT_HELD)


def v1(work: Work) -> Claim:
    """Linear TreeShap V1's matrix."""
    words = '"The condition number of [Linear TreeShap V1\'s operator] does not even exceed 100 when D = 100"'
    own = {name: line[100] for name, line in numbers(work).items() if "V1" in name}
    listed = "; ".join(f"{name.split('(')[1][:-1]}: {number:.2g}" for name, number in own.items())
    said = (
        f"At D = 100: {listed}. The paper names no gamma. With 1 a factor changes nothing; 0 is that of a "
        "row which disagrees."
    )
    below = [number <= 100 for number in own.values()]
    return Claim(words, said, HELD if all(below) else IN_PART if any(below) else NOT_HELD)


def run_time(work: Work) -> Claim:
    """Linear TreeShap and TreeGrad-Shap are equally efficient; TreeGrad is O(L)."""
    words = "Linear TreeShap and TreeGrad-Shap are equally efficient; TreeGrad takes O(L), they O(LD)"
    name = next((name for name in runtime.DEPTHS if work.missing(name) is None), None)
    if name is None:
        return Claim(words, "No large data set is at hand.", OPEN)
    found = {depth: runtime.seconds(work, name, depth) for depth in runtime.DEPTHS[name]}
    mean = {
        (depth, method): float(np.mean(found[depth]["rows"][method]))
        for depth in found
        for method in runtime.REFERENCES
    }
    linear, shap, grad = runtime.REFERENCES
    ratios = [mean[depth, linear] / mean[depth, shap] for depth in found]
    # Time per leaf: flat in D for O(L). Small trees are all overhead, so from the first of 5,000 leaves on.
    large = [depth for depth in found if found[depth]["leaves"] >= 5_000]
    growth = {
        method: (mean[large[-1], method] / found[large[-1]]["leaves"])
        / (mean[large[0], method] / found[large[0]]["leaves"])
        for method in runtime.REFERENCES
    }
    said = (
        f"Trees on {name}: Linear TreeShap takes {min(ratios):.1f} to {max(ratios):.1f} times as long as "
        "TreeGrad-Shap. "
        f"From D = {large[0]} to {large[-1]} time per leaf grows by {growth[linear]:.2f} (Linear TreeShap), "
        f"{growth[shap]:.2f} (TreeGrad-Shap), {growth[grad]:.2f} (TreeGrad)."
    )
    equal = max(ratios) < 3 and min(ratios) > 1 / 3
    flat = growth[grad] < min(growth[linear], growth[shap])
    return Claim(words, said, of_counts(equal + flat, 2))


def errors(work: Work) -> dict[str, dict[int, float]] | None:
    """The mean error by algorithm and D; None where the data is not at hand."""
    data = inaccuracy.at_hand(work)
    if data is None:
        return None
    found = {depth: inaccuracy.errors(work, data, depth)["errors"] for depth in inaccuracy.DEPTHS}
    return {
        name: {depth: found[depth][name] for depth in inaccuracy.DEPTHS if name in found[depth]}
        for name in inaccuracy.SHOWN
    }


def _rank(error: float) -> float:
    """No number is the worst of all."""
    return math.inf if math.isnan(error) else error


CLAIMS = (up_to, only_stable, tree_prob, ill_conditioned, unit_circle, v1, run_time)
