"""Forests and rows that features are ranked on, and what a mistake is answered."""

import numpy as np
import pytest

import forests
from leafgrad.errors import InputError

RNG = np.random.default_rng(8)
NAMES = ("a", "b", "c", "d", "e")
FOREST = forests.forest(RNG, forests.Shape(depth=5), feature_names=NAMES, constant=0.25)
THREE = forests.forest(RNG, forests.Shape(n_outputs=3, vector=True, depth=5), classes=("x", "y", "z"))
MARGIN = forests.forest(RNG, forests.Shape(depth=5), classes=("no", "yes"), constant=0.1)
X = RNG.normal(size=(70, 5))
LABELS = RNG.choice(["x", "y", "z"], size=70)
SIGNS = np.where(np.arange(70) % 3 == 0, "no", "yes")


def error_of(call):
    with pytest.raises(InputError) as error:
        call()
    return str(error.value)
