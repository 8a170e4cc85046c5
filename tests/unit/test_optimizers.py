"""Optimisers: what they take, what they make of it, and what they say of what they do not take."""

import numpy as np
import pytest

import leafgrad as lg
from leafgrad import optimizers
from leafgrad.errors import InputError


def test_the_papers_settings_are_the_defaults():
    assert lg.GradientAscent() == lg.GradientAscent(rate=5.0, steps=100, scale=None)
    assert lg.Adam() == lg.Adam(rate=5.0, steps=100, beta1=0.9, beta2=0.999, eps=1e-8, eps_inside=True)


@pytest.mark.parametrize(
    ("optimizer", "name"),
    [
        (lg.GradientAscent(), "ga:5,100"),
        (lg.GradientAscent(0.25, 7, scale="range"), "ga:0.25,7,scale=range"),
        (lg.GradientAscent("auto"), "ga:auto,100"),
        (lg.Adam(), "adam:5,100"),
        (lg.Adam(steps=10, beta1=0.5, eps_inside=False), "adam:5,10,beta1=0.5,eps_inside=False"),
        (lg.Adam(1e-3, beta2=0.5, eps=1.0), "adam:0.001,100,beta2=0.5,eps=1.0"),
    ],
)
def test_names_tell_the_settings(optimizer, name):
    assert optimizer.name == name


def test_numbers_of_any_make_are_plain_ones_after():
    optimizer = lg.Adam(
        np.float32(0.5), np.int16(3), beta1=0, beta2=np.float64(0.5), eps=1, eps_inside=np.True_
    )
    assert [type(value) for value in vars(optimizer).values()] == [float, int, float, float, float, bool]
    assert optimizer == lg.Adam(0.5, 3, beta1=0.0, beta2=0.5, eps=1.0)
    assert type(lg.GradientAscent(1).rate) is float


@pytest.mark.parametrize("kind", [lg.GradientAscent, lg.Adam])
def test_they_are_values(kind):
    assert hash(kind(1)) == hash(kind(1.0))
    with pytest.raises(AttributeError):
        kind().rate = 3


@pytest.mark.parametrize("kind", [lg.GradientAscent, lg.Adam])
@pytest.mark.parametrize("rate", [0, -1, np.nan, np.inf, "5", "", None, True, [1], 10**400])
def test_rates(kind, rate):
    with pytest.raises(InputError) as error:
        kind(rate=rate)
    given = f"{kind.__name__}: rate={rate!r}"
    assert str(error.value) == f'{given}; pass a positive, finite number, or "auto"'


@pytest.mark.parametrize("kind", [lg.GradientAscent, lg.Adam])
@pytest.mark.parametrize("steps", [0, -1, 1.5, 2.0, "10", None, True, 2**31, np.nan])
def test_steps(kind, steps):
    with pytest.raises(InputError) as error:
        kind(steps=steps)
    given = f"{kind.__name__}: steps={steps!r}"
    assert str(error.value) == f"{given}; pass an integer from 1 (1 gives the Banzhaf value)"


@pytest.mark.parametrize("scale", ["Range", "", 1, True, np.array(["range"])])
def test_scales(scale):
    with pytest.raises(InputError) as error:
        lg.GradientAscent(scale=scale)
    assert str(error.value) == f'GradientAscent: scale={scale!r}; pass None or "range"'


@pytest.mark.parametrize("field", ["beta1", "beta2"])
@pytest.mark.parametrize("beta", [1, -0.1, np.nan, np.inf, "0.9", None, False])
def test_betas(field, beta):
    with pytest.raises(InputError) as error:
        lg.Adam(**{field: beta})
    given = beta if isinstance(beta, str | bool | None) else float(beta)
    assert str(error.value) == f"Adam: {field}={given!r}; pass a number from 0 up to, not including, 1"


@pytest.mark.parametrize("eps", [0, -1e-8, np.nan, np.inf, "1", None, True])
def test_eps(eps):
    with pytest.raises(InputError) as error:
        lg.Adam(eps=eps)
    given = eps if isinstance(eps, str | bool | None) else float(eps)
    assert str(error.value) == f"Adam: eps={given!r}; pass a positive, finite number"


@pytest.mark.parametrize("inside", [1, None, "yes"])
def test_eps_inside(inside):
    with pytest.raises(InputError) as error:
        lg.Adam(eps_inside=inside)
    assert str(error.value) == f"Adam: eps_inside={inside!r}; pass True or False"


def test_parse():
    assert optimizers.parse("auto") == lg.GradientAscent(rate="auto", steps=100)
    assert optimizers.parse(lg.Adam()) == lg.Adam()
    with pytest.raises(InputError) as error:
        optimizers.parse(lg.Adam)
    assert str(error.value) == "optimizer=Adam is the class, not an object; write Adam(...)"
    for wrong, kind in (("adam", "str"), (None, "NoneType"), (5, "int")):
        with pytest.raises(InputError) as error:
            optimizers.parse(wrong)
        wanted = 'pass lg.Adam(...), lg.GradientAscent(...) or "auto"'
        assert str(error.value) == f"optimizer={wrong!r} ({kind}) is no optimiser; {wanted}"
