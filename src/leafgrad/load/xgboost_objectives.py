"""XGBoost's objectives: what becomes of a margin, and of the base score that a file tells.

A file tells the base score on the scale of the prediction; XGBoost turns it into a margin in float32, and so
do we: near 1, float32 loses half of the digits of `1/p - 1`, and the margin with them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leafgrad.errors import ModelFormatError, UnsupportedModelError
from leafgrad.load.trees import FloatArray
from leafgrad.load.xgboost_document import Part

Single = npt.NDArray[np.float32]


def _same(base: Single) -> Single:
    return base


def _logit(base: Single) -> Single:
    one = np.float32(1)
    margin: Single = -np.log(one / base - one)
    return margin


@dataclass(frozen=True)
class Objective:
    """What leafgrad must know of an objective."""

    link: str = "identity"  # from margin to prediction; "step" is 1 above 0 and unknown to `links`
    margin: Callable[[Single], Single] = _same  # of the base score
    classifies: bool = False  # the labels are 0, 1, ...; one margin is that of label 1


LOGISTIC = Objective("sigmoid", _logit)
POSITIVE = Objective("exp", np.log)
OBJECTIVES = {
    "binary:logistic": Objective("sigmoid", _logit, classifies=True),
    "binary:hinge": Objective("step", classifies=True),
    "binary:logitraw": Objective(),
    "multi:softprob": Objective("softmax", classifies=True),
    "multi:softmax": Objective("softmax", classifies=True),
    "reg:logistic": LOGISTIC,
    "count:poisson": POSITIVE,
    "reg:gamma": POSITIVE,
    "reg:tweedie": POSITIVE,
    "survival:cox": POSITIVE,
    "survival:aft": POSITIVE,
    "reg:squarederror": Objective(),
    "reg:linear": Objective(),
    "reg:squaredlogerror": Objective(),
    "reg:pseudohubererror": Objective(),
    "reg:absoluteerror": Objective(),
    "reg:quantileerror": Objective(),
    "reg:expectileerror": Objective(),
    "rank:pairwise": Objective(),
    "rank:ndcg": Objective(),
    "rank:map": Objective(),
}


def objective_of(learner: Part, n_outputs: int) -> Objective:
    """Find the model's objective, or refuse it.

    Parameters
    ----------
    learner : Part
        The file's `learner`.
    n_outputs : int
        How many margins the model has.
    """
    name = learner.part("objective").text("name")
    if name not in OBJECTIVES:
        raise UnsupportedModelError(
            f"the objective {name} is not known to leafgrad, nor then how its base score and its margin are "
            f"meant. Known are {', '.join(OBJECTIVES)}. Train with one of them; an objective of your own "
            "(obj=...) is fine, as its model says reg:squarederror."
        )
    if name == "reg:expectileerror" and n_outputs > 1:
        raise UnsupportedModelError(
            "reg:expectileerror with several alphas adds its outputs up after bending them, so that an "
            "expectile is no sum of trees. Train one model per alpha, and pass each."
        )
    return OBJECTIVES[name]


def constant(learner: Part, objective: Objective, n_outputs: int) -> FloatArray:
    """Give the margins that the trees are added to, (K,).

    Parameters
    ----------
    learner : Part
        The file's `learner`.
    objective : Objective
        Of this model.
    n_outputs : int
        K; a single base score holds for all outputs.
    """
    facts = learner.part("learner_model_param")
    text = facts.text("base_score")
    try:
        # "5E-1", or since XGBoost 3.1 "[5E-1,2E-1]": both are JSON, which no locale changes.
        scores = np.array(json.loads(text), dtype=np.float32).reshape(-1)
    except (ValueError, TypeError, RecursionError):
        raise facts.wrong("base_score", text, "a number, or one for each output") from None
    if len(scores) not in (1, n_outputs):
        raise facts.wrong("base_score", text, f"a number, or one for each of {n_outputs} outputs")
    with np.errstate(all="ignore"):
        margins = objective.margin(scores).astype(np.float64)
    if not np.isfinite(margins).all():
        raise ModelFormatError(f"base_score is {text}, which has no finite margin under this objective")
    return np.broadcast_to(margins, n_outputs).copy()
