"""Links: from a model's raw outputs to what it predicts, each in one place and stable far out.

A booster adds up margins; its library shows their sigmoid, softmax or exponential. The loader names the
function in `forest.link`, with a factor on the margin where there is one ("sigmoid:2"; a random forest of
LightGBM adds up, and predicts from the mean). Under a softmax a class's probability hangs on the margins of
all classes, so whoever applies one needs all outputs; the other links take each output by itself. A negated
margin (the negative class of two) gives 1 - sigmoid, as sigmoid(-m), which keeps its digits where it is
small.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from leafgrad.errors import InputError, UnsupportedModelError

Floats: TypeAlias = npt.NDArray[np.float64]

KNOWN = "identity, sigmoid, softmax, exp, softplus and square, and each with a factor as in sigmoid:2"
KINDS = {"identity", "sigmoid", "softmax", "exp", "softplus", "square"}


def resolve(link: object, of_forest: str, n_outputs: int) -> str | None:
    """The link to apply, None for the raw output.

    Parameters
    ----------
    link : None or "model"
        As the user gave it.
    of_forest : str
        `forest.link`, which "model" stands for.
    n_outputs : int
        How many outputs the forest has.
    """
    if link is None:
        return None
    if not isinstance(link, str) or link != "model":
        raise InputError(
            f'link is {link!r}; pass None for the raw output, or "model" for the link of the model, '
            f"which is {of_forest!r}"
        )
    if joins(_parse(of_forest)[0]) and n_outputs == 1:
        raise UnsupportedModelError(
            "the model's link is 'softmax', but it has one output only, whose softmax is always 1; "
            "pass link=None for the raw output"
        )
    return of_forest


def joins(link: str | None) -> bool:
    """Whether one output's prediction hangs on all outputs."""
    return link is not None and link.partition(":")[0] == "softmax"


def apply(link: str, raw: Floats) -> Floats:
    """Predictions of raw outputs; for a softmax all outputs are the last axis.

    Parameters
    ----------
    link : str
        "identity", "sigmoid", "softmax", "exp", "softplus" (log(1 + exp(m))) or "square" (m|m|, of targets
        whose root was learned), or one of them with a factor on the margin, as "sigmoid:2".
    raw : ndarray
        Raw outputs, of any shape.
    """
    kind, factor = _parse(link)
    margin = raw if factor == 1 else factor * raw
    if kind == "identity":
        return margin
    if kind == "exp":
        return np.exp(margin)
    if kind == "softplus":
        return np.logaddexp(0, margin)
    if kind == "square":
        return margin * np.abs(margin)
    from scipy import special

    out: Floats = special.softmax(margin, axis=-1) if kind == "softmax" else special.expit(margin)
    return out


def _parse(link: str) -> tuple[str, float]:
    kind, colon, text = link.partition(":")
    try:
        factor = float(text) if colon else 1.0
    except ValueError:
        factor = math.nan
    if kind not in KINDS or not math.isfinite(factor):
        raise UnsupportedModelError(
            f"the model's link is {link!r}, which is not known here (known are {KNOWN}); "
            "pass link=None for the raw output"
        )
    return kind, factor
