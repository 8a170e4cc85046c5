"""The claims about rankings: GA and ADAM with (100, 5) against their rivals, and against themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from paper.claims import HELD, IN_PART, NOT_HELD, OPEN, Claim, of_counts
from paper.facts import DATA
from paper.figures.rates import objective
from paper.methods import ADAM, ADAM_10, ALONE, BETAS, CHOSEN, GA
from paper.models import KINDS, pinned
from paper.scores import Gain, Judged, best, gain
from paper.tables.betas import agreement
from paper.tables.subsets import correlations
from paper.work import Case, Work

TREE = KINDS[:1]
PROBABILISTIC = ("Banzhaf", *BETAS)
NEAR = 0.01  # "near convergence": what is left to gain is below 1 % of Ins - Del
NEAR_BEST = 0.02  # a rate is good if its objective ends less than 2 % below the best
GOES_WITH = 0.5  # "often associated": the mean correlation is above this


def models(work: Work) -> Claim:
    """The paper's table of models."""
    names = work.at_hand()
    words = "The table of models: score, leaves, nodes"
    if not pinned():
        return Claim(words, "Other versions than the pinned ones train other trees.", OPEN)
    same = [work.size(name, kind) == DATA[name].model(kind) for name in names for kind in KINDS]
    absent = ", ".join(name for name in DATA if name not in names)
    said = f"{sum(same)} of {len(same)} models at hand are the paper's in every number."
    return Claim(
        words, said + (f" Not at hand: {absent}." if absent else ""), of_counts(sum(same), len(same))
    )


def insertion(work: Work) -> Claim:
    """Better than every baseline, beyond chance."""
    words = '"TreeGrad-Ranker significantly outperforms the selected baselines on the insertion metric"'
    parts, good, total = [], 0, 0
    for method in (GA, ADAM):
        for rivals, called in (
            (ALONE, "the best single ranking"),
            (tuple(CHOSEN), "the best of those chosen by row"),
        ):
            verdicts = Counter(of.verdict for of in gains(work, method, rivals, "Ins"))
            parts.append(f"{method} against {called}: {counted(verdicts)}.")
            good, total = good + verdicts["better"], total + verdicts.total()
    return Claim(words, " ".join(parts), of_counts(good, total))


def deletion(work: Work) -> Claim:
    """Not worse than the best baseline, beyond chance; the paper names no measure of competitive."""
    words = '"... while remaining competitive on the deletion metric"'
    parts, good, total = [], 0, 0
    for method in (GA, ADAM):
        for rivals, called in (
            (PROBABILISTIC, "Banzhaf and the Betas"),
            (("greedy",), "greedy"),
            (tuple(CHOSEN), "those chosen by row"),
        ):
            found = gains(work, method, rivals, "Del")
            verdicts = Counter(of.verdict for of in found)
            behind = max(-of.mean / scale for of, scale in zip(found, heights(work, method), strict=True))
            parts.append(f"{method} against {called}: {counted(verdicts)}, behind by at most {behind:.1%}.")
            good, total = good + verdicts["better"] + verdicts["level"], total + verdicts.total()
    parts.append("Percentages are of the method's own Ins - Del.")
    return Claim(words, " ".join(parts), of_counts(good, total))


def both(work: Work) -> Claim:
    """The conclusion: better than probabilistic values at both."""
    words = '"TreeGrad-Ranker outperforms probabilistic values on both insertion and deletion metrics"'
    parts, good, total = [], 0, 0
    for method in (GA, ADAM):
        each = [gains(work, method, PROBABILISTIC, measure) for measure in ("Ins", "Del", "Ins - Del")]
        two = sum(ins.verdict == de.verdict == "better" for ins, de in zip(*each[:2], strict=True))
        ins, de, joint = (counted(Counter(of.verdict for of in found)) for found in each)
        parts.append(
            f"{method} against the best of Banzhaf and the Betas: Ins {ins}; Del {de}; Ins - Del {joint}; "
            f"better at both Ins and Del in {two}."
        )
        good, total = good + two, total + len(each[0])
    return Claim(words, " ".join(parts), of_counts(good, total))


def best_betas(work: Work) -> Claim:
    """The best Beta at insertion is not the best at deletion."""
    words = (
        '"The one that achieves the best insertion metric often does not achieve the best deletion metric"'
    )
    found = [agreement(work, case) for case in work.cases()]
    differ = sum(one.insertion != one.deletion for one in found)
    rows = [one.rows for one in found]
    said = (
        f"By the means another Beta is best at deletion in {differ} of {len(found)} cases. Row by row "
        f"one Beta is best at both in {min(rows):.0%} to {max(rows):.0%} of the rows."
    )
    return Claim(words, said, of_counts(differ, len(found)))


def subsets(work: Work) -> Claim:
    """Ins goes with f(S*+), Del with f(S*-)."""
    words = '"A higher Ins is often associated with a higher f(S*+)", and Del with f(S*-)'
    found = [correlations(work, case) for case in work.cases()]
    parts, good, total = [], 0, 0
    for at, called in enumerate(("Ins with f(S*+)", "Del with f(S*-)")):
        means = np.array([pair[at].mean() if len(pair[at]) else 0.0 for pair in found])
        good, total = good + int((means > GOES_WITH).sum()), total + len(means)
        parts.append(
            f"{called}: mean rank correlation within rows {means.min():.2f} to {means.max():.2f}, "
            f"above {GOES_WITH} in {(means > GOES_WITH).sum()} of {len(means)} cases."
        )
    parts.append(
        "It is low where nearly every method reaches the same best set, and few rows tell them apart."
    )
    return Claim(words, " ".join(parts), of_counts(good, total))


def more_steps(work: Work) -> Claim:
    """Performance improves with T, and converges."""
    words = '"The resulting performance improves and converges as T increases" (on trees, rate 5)'
    parts, good, total = [], 0, 0
    for kind in ("GA", "ADAM"):
        first = changes(work, f"{kind} (50, 5)", f"{kind} (10, 5)")
        then = changes(work, f"{kind} (100, 5)", f"{kind} (50, 5)")
        late = max(abs(of.mean) / scale for of, scale in then)
        parts.append(
            f"{kind}, Ins - Del, from T = 10 to 50: {counted(Counter(of.verdict for of, _ in first))}; "
            f"from 50 to 100: {counted(Counter(of.verdict for of, _ in then))}, by at most "
            f"{late:.2%} of Ins - Del."
        )
        good += sum(of.verdict != "worse" for of, _ in first) + sum(abs(of.mean) / s < NEAR for of, s in then)
        total += len(first) + len(then)
    return Claim(words, " ".join(parts), of_counts(good, total))


def adam_early(work: Work) -> Claim:
    """ADAM is near convergence at T = 10."""
    words = '"ADAM reaches near convergence across all the used datasets at T = 10"'
    of_adam = [(of.mean / scale) for of, scale in changes(work, ADAM, ADAM_10)]
    of_ga = [(of.mean / scale) for of, scale in changes(work, GA, "GA (10, 5)")]
    said = (
        f"From T = 10 to 100 ADAM gains {min(of_adam):.2%} to {max(of_adam):.2%} of Ins - Del, "
        f"GA {min(of_ga):.2%} to {max(of_ga):.2%}."
    )
    return Claim(words, said, of_counts(sum(abs(part) < NEAR for part in of_adam), len(of_adam)))


def lower_rate(work: Work) -> Claim:
    """A lower rate does not help."""
    words = '"Lower epsilon does not improve performance" (1 instead of 5, on trees)'
    parts, helped, total = [], [], 0
    for kind in ("GA", "ADAM"):
        for steps in (10, 100):
            found = changes(work, f"{kind} ({steps}, 1)", f"{kind} ({steps}, 5)")
            parts.append(f"{kind}, T = {steps}: {counted(Counter(of.verdict for of, _ in found))}.")
            cases = list(work.cases(TREE))
            helped += [
                f"{kind} on {case.data} (T = {steps}, {of})"
                for case, (of, _) in zip(cases, found, strict=True)
                if of.verdict == "better"
            ]
            total += len(found)
    said = "Ins - Del with the lower rate. " + " ".join(parts)
    if helped:
        said += f" It helped {'; '.join(helped)}: GA's rate depends on the scale of y."
    return Claim(words, said, of_counts(total - len(helped), total))


def rate_from_objective(work: Work) -> Claim:
    """The rate 5 is read off the objective."""
    words = "The largest rate whose objective converges consistently: 5, for all data"
    found = {
        f"{method} on {name}": objective(work, name, method)
        for name in work.at_hand()
        for method in ("GA", "ADAM")
    }
    five = all(one["chosen"] == "5" for one in found.values())
    ends = [{rate: path[-1] for rate, path in one["paths"].items()} for one in found.values()]
    short = max(1 - end[5.0] / max(end.values()) for end in ends)
    rules = "; ".join(f"{one['chosen']} for {what}" for what, one in found.items())
    said = (
        f'By the rule of `rate="auto"`, class by class: {rules}. At rate 5 the objective ends '
        f"at most {short:.1%} below the best of the candidates."
    )
    return Claim(words, said, HELD if five else IN_PART if short < NEAR_BEST else NOT_HELD)


def gains(work: Work, method: str, rivals: Sequence[str], measure: str) -> list[Gain]:
    """Of every case: over the best of the rivals at this measure."""
    found = []
    for case in work.cases():
        judged = work.judged(case)
        found.append(gain(judged[method], judged[best(list(rivals), judged, measure)], measure))
    return found


def heights(work: Work, method: str) -> list[float]:
    """Of every case: the method's mean Ins - Del."""
    return [float(work.judged(case)[method].measure("Ins - Del").mean()) for case in work.cases()]


def changes(work: Work, to: str, start: str) -> list[tuple[Gain, float]]:
    """Of every case of a tree: the gain in Ins - Del from one run to another, and the mean Ins - Del."""

    def of(case: Case) -> tuple[Gain, float]:
        judged: dict[str, Judged] = work.judged(case)
        scale = float(judged[to].measure("Ins - Del").mean())
        return gain(judged[to], judged[start], "Ins - Del"), scale

    return [of(case) for case in work.cases(TREE)]


def counted(verdicts: Counter[str]) -> str:
    """As "better in 9, level in 3, worse in 2 of 14"."""
    some = [verdict for verdict in ("better", "level", "worse") if verdicts[verdict]]
    parts = [f"{verdict} in {verdicts[verdict]}" for verdict in some]
    return f"{', '.join(parts)} of {verdicts.total()}"


CLAIMS = (
    models, insertion, deletion, both, best_betas, subsets, more_steps, adam_early, lower_rate,
    rate_from_objective,
)  # fmt: skip
