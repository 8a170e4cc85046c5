"""What the paper says: its data sets, its models, and the settings of its runs.

Settings that its text leaves open were found by experiment: those that reproduce its table of models.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

SEED = 2025
ROWS = 200  # explained: the first of the test part
STAGES = 5  # of the boosted trees
PINNED = {"scikit-learn": "1.6.1", "numpy": "2.2.6"}  # other versions train other trees


class Size(NamedTuple):
    """A model: accuracy or R^2 on the test part, to three digits, and how large it is."""

    score: float
    leaves: int
    nodes: int


@dataclass(frozen=True)
class DataSet:
    """A row of the paper's tables of data sets and of models; `classes` is None for regression."""

    name: str
    openml: int
    rows: int
    features: int
    classes: int | None
    depth: int
    tree: Size
    boosted: Size
    standardised: bool = False  # the target, by the training part

    def model(self, kind: str) -> Size:
        """The paper's model of this kind."""
        return {"decision tree": self.tree, "boosted trees": self.boosted}[kind]


DATA = {
    data.name: data
    for data in (
        DataSet("FOTP", 1475, 6_118, 51, 6, 20, Size(0.537, 1_275, 2_549), Size(0.568, 43_103, 86_176)),
        DataSet("GPSP", 4538, 9_873, 32, 5, 10, Size(0.498, 481, 961), Size(0.572, 11_195, 22_365)),
        DataSet(
            "jannis", 41168, 83_733, 54, 4, 40, Size(0.588, 11_050, 22_099), Size(0.613, 365_809, 731_598)
        ),
        DataSet(
            "MiniBooNE", 41150, 130_064, 50, 2, 20, Size(0.899, 4_108, 8_215), Size(0.894, 25_924, 51_843)
        ),
        DataSet("philippine", 41145, 5_832, 308, 2, 15, Size(0.709, 372, 743), Size(0.724, 2_572, 5_139)),
        DataSet("spambase", 44, 4_601, 57, 2, 15, Size(0.925, 166, 331), Size(0.922, 977, 1_949)),
        DataSet(
            "BT",
            4549,
            583_250,
            77,
            None,
            50,
            Size(0.901, 408_461, 816_921),
            Size(0.609, 2_042_440, 4_084_875),
            standardised=True,
        ),
        DataSet(
            "superconduct", 43174, 21_263, 81, None, 10, Size(0.863, 697, 1_393), Size(0.578, 3_594, 7_183)
        ),
        DataSet(
            "wave_energy",
            44975,
            72_000,
            48,
            None,
            30,
            Size(0.525, 56_814, 113_627),
            Size(0.465, 284_265, 568_525),
            standardised=True,
        ),
    )
}

OTHERS = {"Click_prediction_small": 1219}  # of the figure of inaccuracy

# The panels of the paper's figures, three to a figure.
PANELS = {
    "1": ("FOTP", "GPSP", "jannis"),
    "2": ("MiniBooNE", "philippine", "spambase"),
    "regression": ("BT", "superconduct", "wave_energy"),
}

PARAMETERS = ((16, 1), (8, 1), (4, 1), (2, 1), (1, 1), (1, 2), (1, 4), (1, 8), (1, 16))
RUNS = ((10, 1), (10, 5), (50, 5), (100, 1), (100, 5))  # (steps, rate), of GA and of ADAM
