"""The game's functions: every shape of z, by the 2^N oracle and by each other, and every mistake."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

import forests
import leafgrad as lg
from leafgrad.errors import InputError
from leafgrad.reference import brute, paths

RNG = np.random.default_rng(8)
FOREST = forests.forest(RNG, forests.Shape(n_trees=4, n_outputs=2, vector=True), constant=[1.0, -2.0])
SINGLE = forests.forest(RNG, forests.Shape())
X = forests.rows(RNG, FOREST, 6)
Z = forests.points(RNG, 6, 5)
KNOWN = RNG.random((6, 5)) < 0.5
ATOL = 1e-13 * forests.unit(FOREST)  # the exactness promise


def oracle(x):
    return brute.f_x(paths.game(FOREST, x))


def test_gradient_is_the_oracles():
    found = lg.gradient(FOREST, X, Z)
    assert found.shape == (6, 5, 2)
    for i, x in enumerate(X):
        assert (abs(found[i] - brute.gradient(oracle(x), Z[i])) <= ATOL).all()


def test_extension_is_the_oracles():
    found = lg.extension(FOREST, X, Z)
    assert found.shape == (6, 2)
    for i, x in enumerate(X):
        assert (abs(found[i] - FOREST.base - brute.extension(oracle(x), Z[i])) <= ATOL + 1e-15).all()


def test_predict_known_is_the_oracles():
    found = lg.predict_known(FOREST, X, KNOWN)
    for i, x in enumerate(X):
        worth = oracle(x)[int(KNOWN[i] @ 2 ** np.arange(5))]
        assert (abs(found[i] - FOREST.base - worth) <= ATOL + 1e-15).all()


def test_objective_is_its_definition():
    found = lg.objective(FOREST, X, KNOWN)
    expected = (lg.predict_known(FOREST, X, KNOWN) - lg.predict_known(FOREST, X, ~KNOWN)) / 2
    assert (abs(found - expected) <= ATOL).all()


def test_objective_loses_no_digits_to_a_large_base():
    far = FOREST.replace(constant=np.array([1e12, 1e12]))
    np.testing.assert_array_equal(lg.objective(far, X, KNOWN), lg.objective(FOREST, X, KNOWN))


def test_everything_known_is_the_prediction_and_nothing_known_the_base():
    np.testing.assert_allclose(
        lg.predict_known(FOREST, X, np.ones(5, bool)), FOREST.predict(X), rtol=0, atol=2 * ATOL.max()
    )
    nothing = lg.predict_known(FOREST, X, np.zeros(5, bool))
    np.testing.assert_allclose(nothing, np.tile(FOREST.base, (6, 1)), rtol=0, atol=2 * ATOL.max())


# Shapes

CALLS = {
    "gradient": (lambda x, z, **more: lg.gradient(SINGLE, x, z, **more), Z, (5,)),
    "extension": (lambda x, z, **more: lg.extension(SINGLE, x, z, **more), Z, ()),
    "predict_known": (lambda x, z, **more: lg.predict_known(SINGLE, x, z, **more), KNOWN, ()),
    "objective": (lambda x, z, **more: lg.objective(SINGLE, x, z, **more), KNOWN, ()),
}


@pytest.mark.parametrize("name", CALLS)
def test_one_point_for_all_rows(name):
    call, points, tail = CALLS[name]
    found = call(X, points[0])
    assert found.shape == (6, *tail)
    np.testing.assert_allclose(found, call(X, np.tile(points[0], (6, 1))), rtol=0, atol=1e-14)
    np.testing.assert_array_equal(found, call(X, points[:1]))


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("m", [0, 1, 3, 6])
def test_many_points_of_one_row(name, m):
    call, points, tail = CALLS[name]
    for row in (X[2], X[2:3]):
        found = call(row, points[:m])
        assert found.shape == (m, *tail)
        np.testing.assert_allclose(found, call(np.tile(X[2], (m, 1)), points[:m]), rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", CALLS)
def test_one_point_of_one_row(name):
    call, points, tail = CALLS[name]
    assert call(X[0], points[0]).shape == (1, *tail)


@pytest.mark.parametrize("name", CALLS)
def test_many_points_of_one_row_with_its_own_output(name):
    model = FOREST.replace(classes=("a", "b"))
    call = getattr(lg, name)
    points = CALLS[name][1]
    every = call(model, X[1], points)
    k = int(np.argmax(model.predict(X[1])))
    for output in (["a", "b"][k], [["a", "b"][k]], "predicted"):
        found = call(model, X[1], points, output=output)
        np.testing.assert_allclose(found, every[..., k], rtol=0, atol=1e-14)


def test_many_points_of_one_row_of_the_negative_class():
    model = SINGLE.replace(classes=("no", "yes"))
    for output in ("no", ["no"]):
        np.testing.assert_array_equal(
            lg.extension(model, X[0], Z, output=output), -lg.extension(model, X[0], Z)
        )
        np.testing.assert_array_equal(
            lg.gradient(model, X[0], Z, output=output), -lg.gradient(model, X[0], Z)
        )


@pytest.mark.parametrize(
    "of", [list, np.asfortranarray, lambda z: z.astype(np.float32), lambda z: z.astype(object), pd.DataFrame]
)
def test_points_of_any_make(of):
    z = np.round(Z * 4) / 4
    np.testing.assert_array_equal(lg.gradient(SINGLE, X, of(z)), lg.gradient(SINGLE, X, z))


def test_known_as_zeros_and_ones():
    for of in (np.int64, np.float32, np.uint8, object):
        found = lg.predict_known(SINGLE, X, KNOWN.astype(of))
        np.testing.assert_array_equal(found, lg.predict_known(SINGLE, X, KNOWN))


def test_points_are_of_players():
    groups = {"g": [0, 3]}
    z = np.array([0.3, 0.5, 0.0, 1.0])
    found = lg.gradient(SINGLE, X, z, groups=groups)
    assert found.shape == (6, 4)
    assert lg.predict_known(SINGLE, X, KNOWN[:, :4], groups=groups).shape == (6,)
    np.testing.assert_allclose(
        lg.extension(SINGLE, X, [1, 0, 0, 1], groups=groups),
        lg.predict_known(SINGLE, X, [True, False, False, True, True]),
        rtol=0,
        atol=1e-14,
    )


# Mistakes


@pytest.mark.parametrize(
    ("z", "message"),
    [
        ([0.5, 0.5, 1.5, 0.5, 0.5], "z[2] ('x2') is 1.5; z holds probabilities, from 0 to 1"),
        ([0.5, -1e-300, 0.5, 0.5, 0.5], "z[1] ('x1') is -1e-300; z holds probabilities"),
        ([0.5, 0.5, 0.5, 0.5, np.nan], "z[4] ('x4') is nan; z holds probabilities"),
        (np.where(np.eye(6, 5, k=-2), np.inf, 0.0), "z[2, 0] ('x0') is inf; z holds probabilities"),
        ([0.5], "z has shape (1,); pass (5,) for all rows, (6, 5) for one per row"),
        (np.zeros((3, 5)), "z has shape (3, 5); pass (5,) for all rows, (6, 5) for one per row"),
        (np.zeros((6, 4)), "z has shape (6, 4); pass"),
        (np.zeros((1, 6, 5)), "z has shape (1, 6, 5); pass"),
        (0.5, "z has shape (); pass (5,) for all rows"),
        (["a"] * 5, "z holds no numbers (dtype <U1); pass a probability for each player"),
        ([1j] * 5, "z holds no numbers (dtype complex128)"),
        ([object()] * 5, "z does not turn into numbers"),
        ([[0.5, 0.5], [0.5]], "z does not turn into numbers"),
        (
            pd.DataFrame(Z, columns=list("abcde")),
            "z is a frame with other columns than the players 'x0', 'x1'",
        ),
        (pl.DataFrame(Z, schema=["x1", "x0", "x2", "x3", "x4"]), "z is a frame with other columns than"),
    ],
)
@pytest.mark.parametrize("function", [lg.gradient, lg.extension])
def test_wrong_points(function, z, message):
    with pytest.raises(InputError, match=re.escape(message)):
        function(SINGLE, X, z)


def test_the_shapes_for_one_row_are_told():
    with pytest.raises(InputError, match=re.escape("(5,) for all rows, (1, 5) for one per row, or (m, 5)")):
        lg.gradient(SINGLE, X[0], np.zeros((2, 4)))


@pytest.mark.parametrize(
    ("known", "message"),
    [
        (
            [0, 0, 0.5, 0, 0],
            "known[2] ('x2') is 0.5; `known` holds True and False (for probabilities take leafgrad.ext",
        ),
        (np.where(np.eye(6, 5), np.nan, 1), "known[0, 0] ('x0') is nan; `known` holds True and False"),
        (np.full((6, 5), 2), "known[0, 0] ('x0') is 2; `known` holds"),
        ([0, 3], "known has shape (2,); pass (5,) for all rows"),
        (["x0", "x1"], "known holds no numbers (dtype <U2); pass True or False for each player"),
    ],
)
@pytest.mark.parametrize("function", [lg.predict_known, lg.objective])
def test_wrong_sets(function, known, message):
    with pytest.raises(InputError, match=re.escape(message)):
        function(SINGLE, X, known)


def test_frames_of_points_in_the_players_order():
    model = SINGLE.replace(feature_names=tuple("abcde"))
    frame = pl.DataFrame(Z, schema=list("abcde"))
    np.testing.assert_array_equal(lg.gradient(model, X, frame), lg.gradient(model, X, Z))
