"""Links: their formulas, far-out margins, names that are not known; and a library's own predictions."""

import re

import numpy as np
import pytest

from leafgrad import links
from leafgrad.errors import InputError, UnsupportedModelError

MARGINS = np.array([[-3.0, 0.0, 0.25], [1.0, 2.0, -40.0]])


@pytest.mark.parametrize(
    ("link", "formula"),
    [
        ("identity", lambda m: m),
        ("sigmoid", lambda m: 1 / (1 + np.exp(-m))),
        ("sigmoid:2", lambda m: 1 / (1 + np.exp(-2 * m))),
        ("sigmoid:0.5", lambda m: 1 / (1 + np.exp(-m / 2))),
        ("exp", np.exp),
        ("exp:0.5", lambda m: np.exp(m / 2)),
        ("identity:0.2", lambda m: 0.2 * m),
        ("softplus", lambda m: np.log1p(np.exp(m))),
        ("square", lambda m: np.sign(m) * m**2),
        ("square:0.25", lambda m: np.sign(m) * (m / 4) ** 2),
        ("softmax", lambda m: np.exp(m) / np.exp(m).sum(axis=-1, keepdims=True)),
        ("softmax:0.5", lambda m: np.exp(m / 2) / np.exp(m / 2).sum(axis=-1, keepdims=True)),
    ],
)
def test_formulas(link, formula):
    # A few roundings of numbers near 1: exp is within 1 ulp.
    np.testing.assert_allclose(links.apply(link, MARGINS), formula(MARGINS), rtol=1e-14)
    assert links.apply(link, MARGINS).shape == MARGINS.shape


def test_far_out_margins_neither_overflow_nor_vanish():
    far = np.array([-1e4, -700.0, 700.0, 1e4])
    np.testing.assert_array_equal(links.apply("sigmoid", far)[[0, 3]], [0.0, 1.0])
    np.testing.assert_allclose(links.apply("sigmoid", far)[1], np.exp(-700.0), rtol=1e-14)
    np.testing.assert_array_equal(links.apply("softplus", far)[[0, 2, 3]], [0.0, 700.0, 1e4])
    np.testing.assert_array_equal(links.apply("softmax", np.array([[1e4, 0.0, -1e4]])), [[1.0, 0.0, 0.0]])


def test_the_negative_class_keeps_its_digits():
    # 1 - sigmoid(40) is 0 in float64; the probability is e^-40.
    np.testing.assert_allclose(links.apply("sigmoid", np.array([-40.0])), [np.exp(-40.0)], rtol=1e-14)


def test_the_model_stands_for_its_own_link():
    assert links.resolve(None, "anything", 1) is None
    assert links.resolve("model", "identity", 1) == "identity"
    assert links.resolve("model", "sigmoid:2.0", 1) == "sigmoid:2.0"
    assert links.resolve("model", "softmax", 3) == "softmax"


def test_only_a_softmax_joins_outputs():
    others = (None, "identity", "sigmoid", "sigmoid:2", "exp", "softplus", "square")
    assert not any(links.joins(link) for link in others)
    assert links.joins("softmax")
    assert links.joins("softmax:0.2")


@pytest.mark.parametrize("link", ["sigmoid", "softmax", "", True, 1, ["model"], np.array(["model", "model"])])
def test_only_the_models_own_link_may_be_asked_for(link):
    message = "pass None for the raw output, or \"model\" for the link of the model, which is 'softmax'"
    with pytest.raises(InputError, match=re.escape(message)):
        links.resolve(link, "softmax", 3)


@pytest.mark.parametrize(
    "link", ["probit", "", "sigmoid:", "sigmoid:two", "sigmoid:nan", "exp:", "softmax:inf", ":2"]
)
def test_a_link_that_is_not_known(link):
    message = f"the model's link is {link!r}, which is not known here (known are identity, sigmoid,"
    with pytest.raises(UnsupportedModelError, match=re.escape(message)):
        links.resolve("model", link, 3)


def test_a_softmax_of_one_output_is_refused():
    with pytest.raises(UnsupportedModelError, match="it has one output only, whose softmax is always 1"):
        links.resolve("model", "softmax", 1)
