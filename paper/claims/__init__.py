"""The paper's claims, one by one: its words, what was measured here, and whether it held.

`rankings` are about how good the Ranker's rankings are, `numerics` about errors and run times. Verdicts are
computed; what a claim must reach to hold stands in its function.
"""

from __future__ import annotations

from typing import NamedTuple

HELD, IN_PART, NOT_HELD, OPEN = "held", "held in part", "**did not hold**", "not measured"


class Claim(NamedTuple):
    """A claim of the paper and what became of it."""

    words: str
    measured: str
    verdict: str


def of_counts(good: int, total: int) -> str:
    """Held if all cases agree, in part if more than half do."""
    return HELD if good == total else IN_PART if 2 * good > total else NOT_HELD
