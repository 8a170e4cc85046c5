"""Curves are f_x on the prefixes of a ranking: by the 2^N oracle, by the game's own functions, to the bit.

Errors are in units of the sum over trees of max|leaf - root mean|, plus the base's own rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import forests
import leafgrad as lg
from leafgrad import encode
from leafgrad.reference import brute, paths
from leafgrad.reference.best_subset import best_subset

EXACT = 1e-13  # the exactness promise


def orders(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Random permutations along the second axis."""
    return rng.random(shape).argsort(axis=1)


def oracle(forest: lg.Forest, X: Any, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Insertion and deletion without the base, `(n, N+1, K)`, from the 2^N sum."""
    n, width = order.shape[:2]
    insertion = np.empty((n, width + 1, forest.n_outputs))
    deletion = np.empty_like(insertion)
    everyone = 2**width - 1
    for i, x in enumerate(encode.matrix(forest, X)):
        worth = brute.f_x(paths.game(forest, x))
        for k in range(width + 1):
            top = sum(2 ** int(j) for j in order[i, :k])
            insertion[i, k], deletion[i, k] = worth[top], worth[everyone - top]
    return insertion, deletion


def flat(forest: lg.Forest, curve: np.ndarray) -> np.ndarray:
    return curve[..., 0] if forest.n_outputs == 1 else curve


@settings(max_examples=60, deadline=None)
@given(shape=forests.shapes(), seed=forests.seeds, n=st.integers(1, 40))
def test_curves_are_the_oracles(shape: forests.Shape, seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    forest = forests.forest(rng, shape)
    X, order = forests.rows(rng, forest, n), orders(rng, n, forest.n_features)
    insertion, deletion = oracle(forest, X[:5], order[:5])
    found = lg.curves(forest, X, order)
    atol = EXACT * forests.unit(forest)
    rounded = atol + 4 * np.finfo(float).eps * abs(forest.base)
    assert (abs(found[:5].insertion - flat(forest, forest.base + insertion)) <= rounded.max()).all()
    assert (abs(found[:5].deletion - flat(forest, forest.base + deletion)) <= rounded.max()).all()
    assert (abs(found[:5].joint - flat(forest, (insertion - deletion) / 2)) <= atol.max()).all()


@pytest.mark.parametrize("name", forests.SHAPES)
def test_curves_are_predict_known_on_each_prefix(name: str) -> None:
    rng = np.random.default_rng(3)
    forest = forests.forest(rng, forests.SHAPES[name])
    X, order = forests.rows(rng, forest, 70), orders(rng, 70, forest.n_features)
    found = lg.curves(forest, X, order)
    atol = (EXACT * forests.unit(forest) + 4 * np.finfo(float).eps * abs(forest.base)).max()
    for k in range(forest.n_features + 1):
        known = np.zeros(order.shape, dtype=bool)
        np.put_along_axis(known, order[:, :k], True, axis=1)
        assert abs(found.insertion[:, k] - lg.predict_known(forest, X, known)).max() <= atol
        assert abs(found.deletion[:, k] - lg.predict_known(forest, X, ~known)).max() <= atol
        unit = EXACT * forests.unit(forest).max()
        assert abs(found.joint[:, k] - lg.objective(forest, X, known)).max() <= unit
    base = np.broadcast_to(
        forest.base if forest.n_outputs > 1 else forest.base[0], found.insertion[:, 0].shape
    )
    for nothing, all_ in (
        (found.insertion[:, 0], found.insertion[:, -1]),
        (found.deletion[:, -1], found.deletion[:, 0]),
    ):
        np.testing.assert_allclose(nothing, base, rtol=0, atol=atol)
        np.testing.assert_allclose(all_, forest.predict(X), rtol=0, atol=atol)


def test_a_thousand_features() -> None:
    """So many that who is known is laid out a stretch of prefixes at a time."""
    rng = np.random.default_rng(9)
    shape = forests.Shape(n_trees=60, depth=7, n_features=1100, n_outputs=2, stop=0.0, repeats=0.1)
    forest = forests.forest(rng, shape)
    X, order = forests.rows(rng, forest, 70), orders(rng, 70, forest.n_features)
    found = lg.curves(forest, X, order)
    atol = EXACT * forests.unit(forest).max() + 4 * np.finfo(float).eps * abs(forest.base).max()
    for k in (0, 1, 2, 509, 510, 511, 512, 700, 1098, 1099, 1100):
        known = np.zeros(order.shape, dtype=bool)
        np.put_along_axis(known, order[:, :k], True, axis=1)
        assert abs(found.insertion[:, k] - lg.predict_known(forest, X, known)).max() <= atol
        assert abs(found.deletion[:, k] - lg.predict_known(forest, X, ~known)).max() <= atol
    steps = abs(np.diff(found.insertion, axis=1)).max(axis=(0, 2))  # where a stretch ends too
    assert np.count_nonzero(steps) > 900


# The paper's scores and sets, written out from its Eq. (metrics) and the line after it


def paper_sets(ranking: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """S_k^+ = {pi(1), ..., pi(k)} and S_k^- = {pi(N), ..., pi(N-k+1)}, as booleans."""
    top, bottom = np.zeros(len(ranking), dtype=bool), np.zeros(len(ranking), dtype=bool)
    for place in range(1, k + 1):
        top[ranking[place - 1]] = True
        bottom[ranking[len(ranking) - place]] = True
    return top, bottom


@settings(max_examples=40, deadline=None)
@given(shape=forests.shapes(n_outputs=1, cover="plain", leaves="plain", vector=False), seed=forests.seeds)
def test_scores_and_sets_are_the_papers(shape: forests.Shape, seed: int) -> None:
    rng = np.random.default_rng(seed)
    forest = forests.forest(rng, shape)
    X, order = forests.rows(rng, forest, 3), orders(rng, 3, forest.n_features)
    found = lg.curves(forest, X, order)
    tolerance = EXACT * forests.unit(forest)[0] + 8 * np.finfo(float).eps * abs(forest.base[0])
    for i in range(3):
        worth = brute.f_x(paths.game(forest, encode.matrix(forest, X)[i]))[:, 0] + forest.base[0]
        number = 2 ** np.arange(forest.n_features)
        sets = [paper_sets(order[i], k) for k in range(1, forest.n_features + 1)]
        plus = np.array([worth[number @ top] for top, _ in sets])
        minus = np.array([worth[number @ bottom] for _, bottom in sets])
        joint = np.array([(worth[number @ top] - worth[number @ ~top]) / 2 for top, _ in sets])
        assert abs(found.insertion_score[i] - plus.mean()) <= tolerance
        assert abs(found.deletion_score[i] - minus.mean()) <= tolerance
        assert abs(found.joint_score[i] - (plus.mean() - minus.mean())) <= 2 * tolerance
        for by, values, side in (("insertion", plus, 0), ("deletion", -minus, 1), ("joint", joint, 0)):
            k, subset = found.best(by)
            # Values within rounding of the best are as good; what is given must be a best one, of size k.
            assert values[k[i] - 1] >= values.max() - 2 * tolerance
            np.testing.assert_array_equal(subset[i], sets[k[i] - 1][side])


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_no_prefix_is_above_the_best_subset_and_the_best_subset_is_reached(n_outputs: int) -> None:
    rng = np.random.default_rng(n_outputs)
    forest = forests.forest(rng, forests.Shape(n_features=6, n_trees=6, n_outputs=n_outputs))
    X = forests.rows(rng, forest, 5)
    subset, best = best_subset(forest, X)
    tolerance = EXACT * forests.unit(forest).max()
    for _ in range(10):
        joint = lg.curves(forest, X, orders(rng, 5, 6)).joint
        assert (joint.max(axis=1) <= best + tolerance).all()
    # A ranking with the members first passes through the set.
    members_first = np.argsort(~subset, axis=1, kind="stable")
    found = lg.curves(forest, X, members_first)
    np.testing.assert_allclose(found.joint.max(axis=1), best, rtol=0, atol=tolerance)


# The same bits


BITS = forests.Shape(
    n_trees=30, depth=7, n_features=8, stop=0.1, missing=True, categorical=True, cover="both"
)


@pytest.mark.parametrize("link", [None, "model"])
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("own", [False, True], ids=["one ranking", "a ranking per output"])
def test_a_rows_bits_hang_on_nothing_but_the_row(n_outputs: int, own: bool, link: Any) -> None:
    rng = np.random.default_rng(5)
    shape = BITS.but(n_outputs=n_outputs, vector=True)
    forest = forests.forest(rng, shape, link="softmax" if n_outputs > 1 else "sigmoid")
    X, order = forests.rows(rng, forest, 301), orders(rng, 301, 8, *[n_outputs] * (own and n_outputs > 1))
    whole = lg.curves(forest, X, order, link=link, threads=1)
    shuffled = rng.permutation(301)
    parts = [
        (slice(None), lg.curves(forest, X, order, link=link, threads=2)),
        (slice(None), lg.curves(forest, X, order, link=link, threads=7)),
        (shuffled, lg.curves(forest, X[shuffled], order[shuffled], link=link)),
        (slice(20, 40), whole[20:40]),
    ]
    for begin, end in ((0, 100), (13, 78), (7, 8), (298, 301)):
        part = lg.curves(forest, X[begin:end], order[begin:end], link=link)
        parts.append((slice(begin, end), part))
    for at, part in parts:
        for name in ("insertion", "deletion", "joint", "insertion_score", "deletion_score", "joint_score"):
            np.testing.assert_array_equal(getattr(part, name), getattr(whole, name)[at], err_msg=name)


# Outputs and links


def test_curves_of_one_output_or_one_per_row_are_slices() -> None:
    """Within 1e-15 of the unit: a game of one output may be walked in another order than one of three."""
    rng = np.random.default_rng(11)
    forest = forests.forest(rng, forests.Shape(n_trees=9, n_outputs=3), classes=("a", "b", "c"))
    X, order = forests.rows(rng, forest, 90), orders(rng, 90, 5)
    every = lg.curves(forest, X, order)
    assert every.insertion.shape == (90, 6, 3)
    atol = 1e-15 * (forests.unit(forest).max() + abs(forest.base).max())
    own = rng.integers(3, size=90)
    predicted = np.argmax(forest.predict(X), axis=1)
    for output, column in (
        ("b", np.ones(90, int)),
        (list(np.array(["a", "b", "c"])[own]), own),
        ("predicted", predicted),
    ):
        found = lg.curves(forest, X, order, output=output)
        for name in ("insertion", "deletion", "joint"):
            wanted = np.take_along_axis(getattr(every, name), column[:, None, None], axis=2)[..., 0]
            np.testing.assert_allclose(getattr(found, name), wanted, rtol=0, atol=atol)


@pytest.mark.parametrize("link", ["identity", "sigmoid", "softmax", "exp"])
def test_an_order_per_output_is_each_outputs_own_curves(link: str) -> None:
    rng = np.random.default_rng(12)
    forest = forests.forest(rng, forests.Shape(n_trees=9, n_outputs=3), link=link)
    X, order = forests.rows(rng, forest, 20), orders(rng, 20, 5, 3)
    for how in (None, "model"):
        together = lg.curves(forest, X, order, link=how)
        for k in range(3):
            alone = lg.curves(forest, X, order[:, :, k], output=k, link=how)
            for name in (
                "insertion",
                "deletion",
                "joint",
                "insertion_score",
                "deletion_score",
                "joint_score",
            ):
                ours = getattr(together, name)[..., k]
                # Sums over a middle axis are taken one by one, over the last in pairs: a few roundings.
                tolerance = 0 if "score" not in name else 1e-14 * abs(ours).max()
                np.testing.assert_allclose(ours, getattr(alone, name), rtol=0, atol=tolerance)
            for by in ("joint", "insertion", "deletion"):
                for ours, theirs in zip(together.best(by), alone.best(by), strict=True):
                    np.testing.assert_array_equal(ours[..., k], theirs)


def test_the_negative_class_is_the_margin_negated() -> None:
    rng = np.random.default_rng(13)
    forest = forests.forest(rng, forests.Shape(), classes=("no", "yes"), link="sigmoid")
    X, order = forests.rows(rng, forest, 20), orders(rng, 20, 5)
    yes, no = (lg.curves(forest, X, order, output=label) for label in ("yes", "no"))
    np.testing.assert_array_equal(no.insertion, -yes.insertion)
    np.testing.assert_array_equal(no.joint, -yes.joint)
    yes, no = (lg.curves(forest, X, order, output=label, link="model") for label in ("yes", "no"))
    np.testing.assert_allclose(no.insertion, 1 - yes.insertion, rtol=0, atol=4e-16)
    np.testing.assert_allclose(no.joint, -yes.joint, rtol=0, atol=4e-16)
    mixed = lg.curves(forest, X, order, output=["no", "yes"] * 10, link="model")
    np.testing.assert_array_equal(mixed.deletion[::2], no.deletion[::2])
    np.testing.assert_array_equal(mixed.deletion[1::2], yes.deletion[1::2])


def test_a_large_base_costs_the_objective_no_digits() -> None:
    rng = np.random.default_rng(14)
    forest = forests.forest(rng, forests.Shape())
    far = forest.replace(constant=np.array([1e12]))
    X, order = forests.rows(rng, forest, 20), orders(rng, 20, 5)
    near, away = lg.curves(forest, X, order), lg.curves(far, X, order)
    np.testing.assert_array_equal(near.joint, away.joint)
    np.testing.assert_array_equal(near.joint_score, away.joint_score)
    np.testing.assert_array_equal(near.best()[1], away.best()[1])
