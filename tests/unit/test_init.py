"""The package's face: the names of DESIGN's API, and nothing else."""

from importlib.metadata import version

import pytest

import leafgrad


def test_the_public_names():
    assert set(leafgrad.__all__) == {
        "load", "Forest", "explain", "gradient", "extension", "predict_known", "objective",
        "Shapley", "Banzhaf", "BetaShapley", "Semivalue", "ProbabilisticValue",
        "Explanation", "curves", "Curves",
        "rank", "greedy", "best_of", "Adam", "GradientAscent",
        "LeafgradError", "ModelFormatError", "UnsupportedModelError", "ModelMismatchError", "InputError",
        "__version__",
    }  # fmt: skip
    assert all(hasattr(leafgrad, name) for name in leafgrad.__all__)


def test_functions_are_not_hidden_by_the_modules_of_their_names():
    import leafgrad.explain
    import leafgrad.load

    assert callable(leafgrad.explain)
    assert callable(leafgrad.load)


def test_the_version_is_the_packages():
    assert leafgrad.__version__ == version("leafgrad")
    with pytest.raises(AttributeError, match="module 'leafgrad' has no attribute 'shapley'"):
        leafgrad.shapley  # noqa: B018
