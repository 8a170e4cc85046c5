"""How the Ranker climbs the relaxed objective: by gradient ascent, or by ADAM.

Both are the paper's algorithms "TreeGrad-Ranker with Gradient Ascent (GA)" and "TreeGrad-Ranker with ADAM";
an object here is only their settings, checked once. The loop itself runs in the native core.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias

import numpy as np

from leafgrad.arguments import short
from leafgrad.errors import InputError

Rate: TypeAlias = float | Literal["auto"]

# The paper's candidates {..., 0.1, 0.5, 1, 5, 10, ...} for rate="auto".
RATES = (0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 50.0, 100.0)


@dataclass(frozen=True)
class GradientAscent:
    """Gradient ascent: each step adds `rate` times the gradient, and stays within [0, 1].

    Attributes
    ----------
    rate : float or "auto"
        The learning rate. "auto" takes the largest of 0.01, 0.05, 0.1, ..., 50, 100 with which the mean
        objective of a sample of at most 32 rows rises and settles.
    steps : int
        Number of steps, T; at least 1, which gives the Banzhaf value.
    scale : None or "range"
        "range" divides the gradient by the sum over trees of (largest - smallest leaf), in the step only, so
        that the rate does not depend on the scale of y. None is the paper's form.

    Examples
    --------
    >>> GradientAscent(rate=1, steps=50).name
    'ga:1,50'
    """

    rate: Rate = 5.0
    steps: int = 100
    scale: Literal["range"] | None = None

    def __post_init__(self) -> None:
        _check_loop(self)
        scale: object = self.scale
        if scale is not None and not (isinstance(scale, str) and scale == "range"):
            raise InputError(f'GradientAscent: scale={scale!r}; pass None or "range"')

    @property
    def name(self) -> str:
        """A label for results: "ga:rate,steps", and what else is not the default."""
        return _name("ga", self)


@dataclass(frozen=True)
class Adam:
    """ADAM: steps of about `rate`, whatever the scale of the gradient.

    Attributes
    ----------
    rate : float or "auto"
        The learning rate; "auto" as for `GradientAscent`.
    steps : int
        Number of steps, T; at least 1, which gives the Banzhaf value.
    beta1, beta2 : float
        How much of the means of the gradient and of its square stays from step to step, in [0, 1).
    eps : float
        Positive; keeps the step finite where the gradient is 0.
    eps_inside : bool
        True steps by m / sqrt(v + eps), as the paper prints it; False by m / (sqrt(v) + eps), as is usual.

    Examples
    --------
    >>> Adam().name
    'adam:5,100'
    >>> Adam(steps=10, eps_inside=False).name
    'adam:5,10,eps_inside=False'
    """

    rate: Rate = 5.0
    steps: int = 100
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    eps_inside: bool = True

    def __post_init__(self) -> None:
        _check_loop(self)
        for field in ("beta1", "beta2"):
            beta = _number(self, field, "pass a number from 0 up to, not including, 1")
            if not 0.0 <= beta < 1.0:
                raise InputError(f"Adam: {field}={beta!r}; pass a number from 0 up to, not including, 1")
        if not 0.0 < _number(self, "eps", _POSITIVE) < math.inf:
            raise InputError(f"Adam: eps={self.eps!r}; {_POSITIVE}")
        if not isinstance(self.eps_inside, bool | np.bool_):
            raise InputError(f"Adam: eps_inside={self.eps_inside!r}; pass True or False")
        object.__setattr__(self, "eps_inside", bool(self.eps_inside))

    @property
    def name(self) -> str:
        """A label for results: "adam:rate,steps", and what else is not the default."""
        return _name("adam", self)


Optimizer: TypeAlias = GradientAscent | Adam

_POSITIVE = "pass a positive, finite number"


def parse(optimizer: object) -> Optimizer:
    """The optimiser meant: an object of this module, or "auto" for `GradientAscent(rate="auto")`.

    Parameters
    ----------
    optimizer : GradientAscent, Adam or "auto"
        What the user passed.

    Returns
    -------
    GradientAscent or Adam

    Raises
    ------
    InputError
        For anything else.

    Examples
    --------
    >>> parse("auto")
    GradientAscent(rate='auto', steps=100, scale=None)
    """
    if isinstance(optimizer, GradientAscent | Adam):
        return optimizer
    if isinstance(optimizer, str) and optimizer == "auto":
        return GradientAscent(rate="auto", steps=100)
    if isinstance(optimizer, type) and issubclass(optimizer, GradientAscent | Adam):
        name = optimizer.__name__
        raise InputError(f"optimizer={name} is the class, not an object; write {name}(...)")
    raise InputError(
        f"optimizer={optimizer!r} ({type(optimizer).__name__}) is no optimiser; "
        'pass lg.Adam(...), lg.GradientAscent(...) or "auto"'
    )


def _check_loop(optimizer: Optimizer) -> None:
    """Check and normalise the two settings that every optimiser has."""
    kind, rate = type(optimizer).__name__, optimizer.rate
    steps: Any = optimizer.steps
    if not (isinstance(rate, str) and rate == "auto"):
        wanted = f'{_POSITIVE}, or "auto"'
        if not 0.0 < _number(optimizer, "rate", wanted) < math.inf:
            raise InputError(f"{kind}: rate={rate!r}; {wanted}")
    if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or not 1 <= steps < 2**31:
        raise InputError(f"{kind}: steps={steps!r}; pass an integer from 1 (1 gives the Banzhaf value)")
    object.__setattr__(optimizer, "steps", int(steps))


def _number(optimizer: Optimizer, field: str, wanted: str) -> float:
    """The field as a float, stored so; an error that names it where it is none."""
    given: Any = getattr(optimizer, field)
    try:
        if isinstance(given, str | bytes | bool):
            raise TypeError
        number = float(given)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{type(optimizer).__name__}: {field}={given!r}; {wanted}") from None
    object.__setattr__(optimizer, field, number)
    return number


def _name(kind: str, optimizer: Optimizer) -> str:
    """`kind:rate,steps`, then each other setting that is not its default."""
    rate = optimizer.rate if optimizer.rate == "auto" else short(optimizer.rate)
    others = [
        f",{field.name}={getattr(optimizer, field.name)}"
        for field in fields(optimizer)
        if field.name not in {"rate", "steps"} and getattr(optimizer, field.name) != field.default
    ]
    return f"{kind}:{rate},{optimizer.steps}{''.join(others)}"
