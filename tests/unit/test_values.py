"""Each value: its rule, its name, and every error message."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafgrad import values
from leafgrad.errors import InputError
from leafgrad.probabilistic import ProbabilisticValue
from leafgrad.values import Banzhaf, BetaShapley, Semivalue, Shapley, parse

parameters = st.floats(-6, 6).map(lambda exponent: 10.0**exponent) | st.floats(0.1, 20)


def test_shapley_is_beta_1_1() -> None:
    for n in (0, 1, 2, 9, 31):
        for mine, theirs in zip(Shapley().rule(n), BetaShapley(1, 1).rule(n), strict=True):
            assert np.array_equal(mine, theirs)
    additive = [Shapley(), BetaShapley(1, 1), BetaShapley(1, 2), Banzhaf(), Semivalue([0.5], [1])]
    assert [value.additive for value in additive] == [True, True, False, False, False]


def test_points() -> None:
    assert [len(Shapley().rule(n)[0]) for n in range(8)] == [1, 1, 1, 2, 2, 3, 3, 4]
    with pytest.raises(InputError, match=r"rule\(n=-1\)"):
        Banzhaf().rule(-1)


def test_rules_are_cached_and_read_only() -> None:
    nodes, weights = BetaShapley(2, 3).rule(9)
    assert nodes is BetaShapley(2.0, 3.0).rule(10)[0]
    for array in (nodes, weights, *Banzhaf().rule(3), *Semivalue([0.5], [1.0]).rule(3)):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0


def test_banzhaf_and_semivalue_rules() -> None:
    assert [part.tolist() for part in Banzhaf(0.25).rule(50)] == [[0.25], [1.0]]
    assert [part.tolist() for part in Banzhaf(0).rule(1)] == [[0.0], [1.0]]
    value = Semivalue(np.array([0.0, 0.5, 1.0]), [0.25, 0, 0.75])
    assert [part.tolist() for part in value.rule(50)] == [[0.0, 1.0], [0.25, 0.75]]


def test_values_are_frozen_values() -> None:
    for value in (Shapley(), Banzhaf(0.3), BetaShapley(4, 1), Semivalue([0.1, 1], [0.5, 0.5])):
        assert pickle.loads(pickle.dumps(value)) == value
        assert hash(value) == hash(pickle.loads(pickle.dumps(value)))
        with pytest.raises(AttributeError):
            value.name = "other"  # type: ignore[misc]
    assert BetaShapley(4, 1) == BetaShapley(4.0, np.float32(1)) != BetaShapley(1, 4)
    assert Semivalue([0.1, 1], [0.5, 0.5]) == Semivalue(np.array([0.1, 1.0]), (0.5, 0.5))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("shapley", Shapley()),
        (" Shapley ", Shapley()),
        ("banzhaf", Banzhaf(0.5)),
        ("banzhaf:0.3", Banzhaf(0.3)),
        ("Banzhaf: 1", Banzhaf(1)),
        ("beta:4,1", BetaShapley(4, 1)),
        ("beta: 1e-3, 2.5", BetaShapley(1e-3, 2.5)),
        ("leave_one_out", ProbabilisticValue.leave_one_out()),
        ("First_in", ProbabilisticValue.first_in()),
    ],
)
def test_parse(text: str, value: values.Value) -> None:
    assert parse(text) == value
    assert parse(value) is value
    assert parse(value.name) == value


@given(parameters, st.floats(0, 1))
def test_names_read_back(parameter: float, p: float) -> None:
    assert parse(Banzhaf(p).name) == Banzhaf(p)
    assert parse(BetaShapley(parameter, 1e20).name) == BetaShapley(parameter, 1e20)


def test_names() -> None:
    assert Shapley().name == "shapley"
    assert Banzhaf().name == "banzhaf:0.5"
    assert Banzhaf(1).name == "banzhaf:1"
    assert BetaShapley(16, 0.25).name == "beta:16,0.25"
    assert Semivalue([0.5], [1]).name == "semivalue(1 node)"
    assert Semivalue([0, 1], [0.5, 0.5]).name == "semivalue(2 nodes)"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Banzhaf(1.5), r"Banzhaf\(p=1\.5\): p is a probability; pass a number from 0 to 1"),
        (lambda: Banzhaf(-0.1), r"p=-0\.1"),
        (lambda: Banzhaf(float("nan")), "p is nan; pass a finite number"),
        (lambda: Banzhaf("0.3"), "p is '0.3'; pass a number"),
        (lambda: Banzhaf(None), "p is None; pass a number"),
        (lambda: Banzhaf([0.3, 0.2]), r"p is \[0\.3, 0\.2\]; pass a number"),
        (lambda: BetaShapley(0, 1), r"alpha=0\.0\): pass positive numbers .* use Banzhaf\(0\)"),
        (lambda: BetaShapley(1, -2), r"beta=-2\.0"),
        (lambda: BetaShapley(1, float("inf")), "beta is inf; pass a finite number"),
        (lambda: BetaShapley(1e301, 1), r"alpha=1e\+301"),
        (lambda: BetaShapley(1j, 1), "alpha is 1j; pass a number"),
        (lambda: Semivalue([0.1, 0.2], [1.0]), "2 nodes but 1 weights came; pass one weight per node"),
        (lambda: Semivalue([], []), "nodes is empty; pass at least one number"),
        (lambda: Semivalue(0.5, [1.0]), r"nodes is 0\.5; pass a sequence"),
        (lambda: Semivalue("0.5", [1.0]), "nodes is '0.5'; pass a sequence"),
        (lambda: Semivalue([0.5], ["x"]), r"weights\[0\] is 'x'; pass a number"),
        (lambda: Semivalue([0.5, 1.1], [0.5, 0.5]), r"nodes\[1\] is 1\.1; nodes are from 0 to 1"),
        (lambda: Semivalue([0.5, 0.6], [1.5, -0.5]), r"weights\[0\] is 1\.5; weights are from 0 to 1"),
        (lambda: Semivalue([0.5, 0.6], [0.5, -0.5]), r"weights\[1\] is -0\.5"),
        (lambda: Semivalue([0.5, 0.6], [0.5, float("nan")]), r"weights\[1\] is nan"),
        (lambda: Semivalue([0.5, 0.6], [0.5, 0.4]), r"the weights sum to 0\.9, but must sum to 1 .*; divide"),
        (lambda: Semivalue([0.5, 0.6], [0.5, 0.5 + 1e-11]), r"sum to 1\.00000000001"),
        (lambda: parse("shaply"), r"'shaply' is not a value leafgrad knows; pass \"shapley\""),
        (lambda: parse("shapley:1"), "shapley takes no number, 1 came"),
        (lambda: parse("first_in:1"), "first_in takes no number, 1 came"),
        (lambda: parse("banzhaf:0.1,0.2"), "banzhaf takes one number, 2 came"),
        (lambda: parse("beta:4"), "beta takes two numbers, 1 came"),
        (lambda: parse("beta:4,x"), "'4,x' is not a list of numbers"),
        (lambda: parse("beta:4,-1"), r"beta=-1\.0"),
        (lambda: parse(Shapley), r"is the class, not an object; write Shapley\(\.\.\.\)"),
        (lambda: parse(3), r"value=3 \(int\) is not a value leafgrad knows"),
        (lambda: parse(None), r"value=None \(NoneType\)"),
    ],
)
def test_errors(make: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()  # type: ignore[operator]


def test_weights_within_the_tolerance_are_used_as_they_are() -> None:
    value = Semivalue([0.5, 0.6], [0.5, 0.5 + 5e-13])
    assert value.rule(3)[1].tolist() == [0.5, 0.5 + 5e-13]
