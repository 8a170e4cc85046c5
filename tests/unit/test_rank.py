"""`rank`, `greedy`: what they take and say; zeta itself is in tests/laws/test_rank.py."""

import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse

import forests
import leafgrad as lg
from climbing import FOREST, LABELS, MARGIN, NAMES, RNG, SIGNS, THREE, X, error_of
from leafgrad import encode, plan
from leafgrad.reference import brute, paths, ranker

OPTIMIZERS = [lg.GradientAscent(1.0, 12), lg.Adam(steps=12), lg.Adam(0.05, 12, eps_inside=False)]
SMALL = 1e-13  # two games of the same numbers round each its own way, and a trajectory carries that on


# What comes back


def test_shapes_and_names():
    ranked = lg.rank(FOREST, X, optimizer=lg.Adam(steps=3))
    assert ranked.values.shape == (70, 5)
    assert ranked.feature_names == NAMES
    assert (ranked.method, ranked.additive) == ("adam:5,3", False)
    assert ranked.output_names == (0,)
    assert (ranked.output, ranked.groups, ranked.chosen) == (None, None, None)
    assert (ranked.trace, ranked.z, ranked.subset) == (None, None, None)
    assert ranked.rate.tolist() == [5.0] * 70
    assert ranked.data is X
    np.testing.assert_array_equal(ranked.base_values, lg.explain(FOREST, X).base_values)
    assert lg.rank(FOREST, X[0]).method == "adam:5,100"


@pytest.mark.parametrize(("output", "more"), [(None, (3,)), ("y", ()), (LABELS, ()), ("predicted", ())])
def test_trace_z_and_subset(output, more):
    how = {"optimizer": lg.GradientAscent(2.0, 6), "output": output}
    ranked = lg.rank(THREE, X, trace=True, **how)
    assert ranked.values.shape == ranked.z.shape == ranked.subset.shape == (70, 5, *more)
    assert ranked.trace.shape == (70, 7, *more)
    assert ranked.rate.shape == ranked.base_values.shape == (70, *more)
    assert (ranked.z >= 0).all()
    assert (ranked.z <= 1).all()
    np.testing.assert_array_equal(ranked.subset, ranked.z > 0.5)
    np.testing.assert_allclose(ranked.trace[:, 0], 0.0, rtol=0, atol=SMALL)
    np.testing.assert_array_equal(ranked.values, lg.rank(THREE, X, **how).values)


def test_the_trace_is_the_objective_at_z():
    for steps in range(1, 5):
        ranked = lg.rank(FOREST, X, optimizer=lg.GradientAscent(1.0, steps), trace=True)
        at = lg.extension(FOREST, X, ranked.z) - lg.extension(FOREST, X, 1 - ranked.z)
        np.testing.assert_allclose(ranked.trace[:, -1], at / 2, rtol=0, atol=SMALL)


def test_slices_and_files(tmp_path):
    ranked = lg.rank(THREE, X, optimizer=lg.GradientAscent(2.0, 6), trace=True)
    part = ranked[3:5, ["x1", "x4"], "y"]
    np.testing.assert_array_equal(part.trace, ranked.trace[3:5, :, 1])
    np.testing.assert_array_equal(part.z, ranked.z[3:5][:, [1, 4], 1])
    np.testing.assert_array_equal(part.subset, ranked.subset[3:5][:, [1, 4], 1])
    np.testing.assert_array_equal(part.rate, ranked.rate[3:5, 1])
    best = lg.best_of(THREE, X, ["shapley", "banzhaf", "beta:4,1"])
    np.testing.assert_array_equal(best[2:9, :, "z"].chosen, best.chosen[2:9, 2])
    for explanation in (ranked, best, part):
        explanation.save(tmp_path / "explanation.npz")
        again = lg.Explanation.load(tmp_path / "explanation.npz")
        assert again.method == explanation.method
        for name in ("values", "trace", "z", "subset", "rate", "chosen"):
            np.testing.assert_array_equal(getattr(again, name), getattr(explanation, name))


# Outputs, players, rows


def calls(optimizer=OPTIMIZERS[0], n=70, of=np.asarray):
    """Both functions as f(forest, **more) -> array."""
    return {
        "rank": lambda model, **more: lg.rank(model, of(X[:n]), optimizer=optimizer, **more).values,
        "greedy": lambda model, **more: lg.greedy(model, of(X[:n]), **more).values,
    }


@pytest.mark.parametrize("name", ["rank", "greedy"])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_every_output_climbs_alone(name, optimizer):
    call = calls(optimizer)[name]
    every = call(THREE)
    for k, label in enumerate("xyz"):
        np.testing.assert_array_equal(call(THREE, output=label), every[..., k])
    own = np.searchsorted(["x", "y", "z"], LABELS)
    np.testing.assert_array_equal(call(THREE, output=LABELS), every[np.arange(70), :, own])
    predicted = np.argmax(THREE.predict(X), axis=1)
    np.testing.assert_array_equal(call(THREE, output="predicted"), every[np.arange(70), :, predicted])


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_the_negated_margin_climbs_mirrored(optimizer):
    """The Ranker of -f: zeta' = -zeta and z' = 1 - z, step by step, while the objective is the same."""
    yes = lg.rank(MARGIN, X, optimizer=optimizer, trace=True)
    no = lg.rank(MARGIN, X, optimizer=optimizer, output="no", trace=True)
    assert no.output == "no"
    np.testing.assert_array_equal(no.base_values, -yes.base_values)
    np.testing.assert_allclose(no.values, -yes.values, rtol=0, atol=SMALL)
    np.testing.assert_allclose(no.z, 1 - yes.z, rtol=0, atol=SMALL)
    np.testing.assert_allclose(no.trace, yes.trace, rtol=0, atol=SMALL)
    mixed = lg.rank(MARGIN, X, optimizer=optimizer, output=SIGNS, trace=True)
    of = SIGNS == "no"
    for found, one, other in (
        (mixed.values, no.values, yes.values),
        (mixed.z, no.z, yes.z),
        (mixed.trace, no.trace, yes.trace),
        (mixed.base_values, no.base_values, yes.base_values),
    ):
        np.testing.assert_array_equal(found[of], one[of])
        np.testing.assert_array_equal(found[~of], other[~of])


def test_the_negated_margin_is_the_model_negated():
    """A model whose leaves are negated gives the same bits: for greedy there is no mirror."""
    arrays = forests.arrays(np.random.default_rng(3), forests.Shape(depth=5))
    forest = lg.Forest.from_arrays(**arrays, classes=("no", "yes"))
    negative = lg.Forest.from_arrays(**{**arrays, "value": -arrays["value"]})
    for call in calls().values():
        np.testing.assert_array_equal(call(forest, output="no"), call(negative))
    assert (calls()["greedy"](forest, output="no") != 6 - calls()["greedy"](forest)).any()


def test_categories_and_labels_do_not_hinder_the_negated_model():
    forest = forests.forest(
        RNG, forests.Shape(categorical=True, missing=True), classes=(0, 1), feature_names=NAMES,
        categories=[("u", object, 1.5, None)] + [None] * 4,
    )  # fmt: skip
    negative = plan._negative(forest)
    np.testing.assert_array_equal(negative.value, -forest.value)
    np.testing.assert_array_equal(negative.base, -forest.base)
    assert not np.signbit(negative.value[negative.value == 0]).any()


@pytest.mark.parametrize("name", ["rank", "greedy"])
def test_groups_are_players(name):
    groups = {"g": ["a", "d"]}
    grouped = calls()[name](FOREST, groups=groups)
    assert grouped.shape == (70, 4)
    for i in range(3):
        game = paths.game(FOREST, X[i], [0, 1, 2, 0, 3])
        if name == "rank":
            expected = ranker.climb(game, OPTIMIZERS[0]).zeta.astype(float)
            np.testing.assert_allclose(grouped[i], expected, rtol=0, atol=SMALL)
        else:
            assert_greedy(brute.f_x(game)[:, 0], grouped[i])


@pytest.mark.parametrize("name", ["rank", "greedy"])
@pytest.mark.parametrize("output", [None, "z", LABELS])
def test_blocks_and_makes(monkeypatch, name, output):
    whole = calls()[name](THREE, output=output)
    for of in (np.asfortranarray, scipy.sparse.csr_array, lambda X: X.tolist()):
        np.testing.assert_array_equal(calls(of=of)[name](THREE, output=output), whole)
    monkeypatch.setattr(encode, "ELEMENTS", 5 * 32)
    np.testing.assert_array_equal(calls(of=np.asfortranarray)[name](THREE, output=output), whole)


@pytest.mark.parametrize("name", ["rank", "greedy"])
@pytest.mark.parametrize("output", [None, "z", [], "predicted"])
def test_no_rows(name, output):
    found = calls(n=0)[name](THREE, output=output)
    assert found.shape == (0, 5, *((3,) if output is None else ()))
    traced = lg.rank(THREE, X[:0], output=output, optimizer=lg.Adam("auto", 4), trace=True)
    assert traced.trace.shape == (0, 5, *((3,) if output is None else ()))


def test_no_features_and_no_trees():
    leaf = lg.Forest.from_arrays(
        tree_start=[0, 1], left=[-1], right=[-1], feature=[-1], threshold=[0], cover=[1], value=[2.5]
    )
    empty = lg.Forest.from_arrays(
        tree_start=[0], left=[], right=[], feature=[], threshold=[], cover=[], value=np.empty((0, 1)),
        n_features=2,
    )  # fmt: skip
    for optimizer in ("auto", lg.Adam(), lg.GradientAscent(scale="range")):
        ranked = lg.rank(leaf, np.empty((3, 0)), optimizer=optimizer, trace=True)
        assert ranked.values.shape == ranked.z.shape == (3, 0)
        assert (ranked.trace == 0).all()
        ranked = lg.rank(empty, np.zeros((2, 2)), optimizer=optimizer, trace=True)
        assert ranked.values.tolist() == [[0.0, 0.0]] * 2
        assert ranked.z.tolist() == [[0.5, 0.5]] * 2
        assert not ranked.subset.any()
    assert lg.greedy(leaf, np.empty((3, 0))).values.shape == (3, 0)
    assert lg.greedy(empty, np.zeros((2, 2))).values.tolist() == [[2.0, 1.0]] * 2


def test_a_model_is_loaded():
    from sklearn.tree import DecisionTreeRegressor

    model = DecisionTreeRegressor(max_depth=3).fit(X, X[:, 0])
    for call in calls().values():
        np.testing.assert_array_equal(call(model), call(lg.load(model)))
    best = lg.best_of(model, X, ["shapley", "banzhaf"])
    np.testing.assert_array_equal(best.values, lg.best_of(lg.load(model), X, ["shapley", "banzhaf"]).values)


@pytest.mark.parametrize("output", [None, "predicted", "z"])
def test_progress_counts_the_rows_of_every_output(monkeypatch, output):
    from leafgrad import progress

    bars = []
    track = progress.start

    def start(mode, total):
        bars.append(track(True, total))
        return bars[-1]

    monkeypatch.setattr(progress, "start", start)
    monkeypatch.setattr(progress, "_tqdm", lambda: lambda **_: type("", (), {"refresh": int, "close": int})())
    for call in calls().values():
        call(THREE, output=output)
        assert bars[-1]._before == bars[-1].total == (210 if output is None else 70)


# Learning rates


def rule(trace):
    """What "auto" asks of the mean objective, written down once more: `trace` is (rows, T + 1)."""
    mean = trace.mean(axis=0)
    span = mean.max() - mean.min()
    late = mean[50:]
    return all(b - a >= -1e-6 * span for a, b in itertools.pairwise(mean)) and np.ptp(late) < 0.01 * span


@pytest.mark.parametrize("kind", [lg.GradientAscent, lg.Adam])
@pytest.mark.parametrize("seed", range(4))
def test_the_largest_rate_that_rises_and_settles(kind, seed):
    rng = np.random.default_rng(seed)
    arrays = forests.arrays(rng, forests.Shape(n_trees=4, depth=4))
    forest = lg.Forest.from_arrays(**{**arrays, "value": arrays["value"] * 10.0 ** (1 - seed)})
    rows = forests.rows(rng, forest, 100)
    sample = rows[np.unique(np.linspace(0, 99, 32).round().astype(int))]
    rates = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 50, 100]
    good = [r for r in rates if rule(lg.rank(forest, sample, optimizer=kind(r), trace=True).trace)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ranked = lg.rank(forest, rows, optimizer=kind("auto"))
    expected = max(good, default=0.01)
    assert ranked.rate.tolist() == [expected] * 100
    assert ranked.method == f"{'ga' if kind is lg.GradientAscent else 'adam'}:auto={expected:g},100"
    assert len(caught) == (not good)
    np.testing.assert_array_equal(ranked.values, lg.rank(forest, rows, optimizer=kind(expected)).values)


def test_auto_is_gradient_ascent():
    ranked = lg.rank(FOREST, X, optimizer="auto")
    same = lg.rank(FOREST, X, optimizer=lg.GradientAscent(rate="auto", steps=100))
    assert ranked.method == same.method
    assert ranked.method.startswith("ga:auto=")
    np.testing.assert_array_equal(ranked.values, same.values)


def test_a_rate_for_each_output_however_it_is_asked_for():
    arrays = forests.arrays(np.random.default_rng(1), forests.Shape(n_outputs=3, vector=True, depth=5))
    forest = lg.Forest.from_arrays(
        **{**arrays, "value": arrays["value"] * [0.01, 1, 30]}, classes=("x", "y", "z")
    )
    every = lg.rank(forest, X, optimizer="auto")
    rates = every.rate[0].tolist()
    assert len(set(rates)) > 1
    assert every.method == f"ga:auto={'|'.join(f'{rate:g}' for rate in sorted(set(rates)))},100"
    own = lg.rank(forest, X, optimizer="auto", output=LABELS)
    for k, label in enumerate("xyz"):
        assert (every.rate[:, k] == rates[k]).all()
        assert (own.rate[label == LABELS] == rates[k]).all()
        one = lg.rank(forest, X, optimizer="auto", output=label)
        assert (one.rate == rates[k]).all()
        np.testing.assert_array_equal(one.values, every.values[..., k])
    margin = lg.rank(MARGIN, X, optimizer="auto")
    for output in ("no", SIGNS, "predicted"):
        np.testing.assert_array_equal(lg.rank(MARGIN, X, optimizer="auto", output=output).rate, margin.rate)


def scaled(by, **more):
    arrays = forests.arrays(np.random.default_rng(1), forests.Shape(depth=5, **more))
    return lg.Forest.from_arrays(**{**arrays, "value": arrays["value"] * by})


def test_no_rate_settles():
    """Gradients of 1e-9 move z by 1e-5 in a hundred steps of rate 100: the objective rises to the end."""
    with pytest.warns(UserWarning, match="auto") as caught:
        ranked = lg.rank(scaled(1e-9), X, optimizer="auto")
    assert str(caught[0].message) == (
        'rate="auto": with no rate from 0.01 to 100 does the objective rise and settle in 100 steps; 0.01 is '
        'taken. Pass more steps, a rate, or lg.GradientAscent(rate="auto", scale="range") or lg.Adam()'
    )
    assert caught[0].filename == __file__
    assert ranked.method == "ga:auto=0.01,100"
    several = scaled(1e-9, n_outputs=3, vector=True)
    with pytest.warns(UserWarning, match="does the objective of 0, 2 rise and settle"):
        lg.rank(several, X, optimizer="auto", output=[0, 2] * 35)
    with pytest.warns(UserWarning, match=r"Pass more steps, a rate, or lg.Adam\(\)$"):
        lg.rank(several, X, optimizer=lg.GradientAscent("auto", 2, "range"))
    with pytest.warns(UserWarning, match="Pass more steps, a rate, or other settings of lg.Adam$"):
        lg.rank(FOREST, X, optimizer=lg.Adam("auto", eps=1e20))


def test_an_objective_that_cannot_move_settles_at_once():
    """Rounding is no movement: with one player alone, z_0's gradient is all there is."""
    forest = forests.chain([0], np.random.default_rng(0), n_features=3)
    ranked = lg.rank(forest, np.zeros((4, 3)), optimizer=lg.GradientAscent("auto", 1))
    assert ranked.rate.tolist() == [100.0] * 4


def test_scale_by_the_range_of_leaves():
    """The step alone is scaled: z goes the same way whatever the scale of y, and zeta keeps its unit."""
    forest, large = scaled(1.0), scaled(2.0**20)
    how = {"optimizer": lg.GradientAscent(3.0, 30, scale="range"), "trace": True}
    one, other = lg.rank(forest, X, **how), lg.rank(large, X, **how)
    np.testing.assert_array_equal(one.z, other.z)
    np.testing.assert_array_equal(one.values * 2.0**20, other.values)
    unit = ranker.leaf_range(paths.game(forest, X[0]))
    plain = lg.rank(forest, X, optimizer=lg.GradientAscent(3.0 / unit, 30), trace=True)
    np.testing.assert_allclose(one.z, plain.z, rtol=0, atol=SMALL)
    np.testing.assert_allclose(one.values, plain.values, rtol=0, atol=SMALL)
    assert one.method == "ga:3,30,scale=range"
    assert one.rate.tolist() == [3.0] * 70


@pytest.mark.parametrize("vector", [True, False])
def test_scale_by_the_range_of_each_output(vector):
    shape = forests.Shape(n_trees=5, n_outputs=2, vector=vector, leaves="offset")
    forest = forests.forest(np.random.default_rng(4), shape)
    ranked = lg.rank(forest, X, optimizer=lg.GradientAscent(2.0, 9, "range"))
    for k in range(2):
        unit = ranker.leaf_range(paths.game(forest, X[0]), k)
        plain = lg.rank(forest, X, optimizer=lg.GradientAscent(2.0 / unit, 9), output=k)
        np.testing.assert_allclose(ranked.values[..., k], plain.values, rtol=0, atol=SMALL)


def test_leaves_without_a_range():
    forest = scaled(0.0)
    assert (lg.rank(forest, X, optimizer=lg.GradientAscent(scale="range")).values == 0).all()
    tiny = lg.rank(scaled(1e-307), X, optimizer=lg.GradientAscent(100.0, 5, scale="range"), trace=True)
    assert np.isfinite(tiny.values).all()
    assert np.isfinite(tiny.z).all()


# Greedy


def assert_greedy(worth, scores):
    """Scores N, N-1, ... in an order in which each choice is the best then; `worth` is f of every set."""
    n = len(scores)
    everyone = 2**n - 1
    assert sorted(scores.tolist()) == list(range(1, n + 1))
    taken = 0
    for i in np.argsort(-scores).tolist():
        gains = {
            j: worth[taken | 1 << j] - worth[everyone & ~(taken | 1 << j)]
            for j in range(n)
            if not taken >> j & 1
        }
        assert gains[i] >= max(gains.values()) - SMALL
        taken |= 1 << i


@pytest.mark.parametrize("name", ["plain", "covers of 0", "bushy repeats", "unused features", "missing"])
def test_greedy_takes_the_best_at_each_step(name):
    rng = np.random.default_rng(2)
    forest = forests.forest(rng, forests.SHAPES[name])
    rows = forests.rows(rng, forest, 6)
    for row, scores in zip(rows, lg.greedy(forest, rows).values, strict=True):
        assert_greedy(brute.f_x(paths.game(forest, row))[:, 0], scores)


def test_greedy_takes_the_lower_index_on_ties():
    """Two stumps of the same gain, one of a loss, and features without any."""
    gains = {4: 1.0, 2: 1.0, 1: -1.0}
    stump = {"left": [1, -1, -1], "right": [2, -1, -1], "threshold": [0.5, 0, 0], "cover": [4, 2, 2]}
    forest = lg.Forest.from_arrays(
        tree_start=[0, 3, 6, 9],
        **{name: list(column) * 3 for name, column in stump.items()},
        feature=[j for feature in gains for j in (feature, -1, -1)],
        value=[v for gain in gains.values() for v in (0, 0, gain)],
        n_features=6,
    )
    greedy = lg.greedy(forest, np.ones((1, 6)))
    assert greedy.order.tolist() == [[2, 4, 0, 3, 5, 1]]
    assert greedy.values.tolist() == [[4.0, 1.0, 6.0, 3.0, 5.0, 2.0]]
    assert (greedy.method, greedy.additive, greedy.rate) == ("greedy", False, None)


# Errors


@pytest.mark.parametrize("trace", [1, None, "yes"])
def test_trace_is_true_or_false(trace):
    assert error_of(lambda: lg.rank(FOREST, X, trace=trace)) == f"trace={trace!r}; pass True or False"


def test_wrong_arguments():
    assert error_of(lambda: lg.rank(FOREST, X, optimizer="adam")).startswith("optimizer='adam' (str)")
    for call in (lg.rank, lg.greedy, lambda *given, **more: lg.best_of(*given, ["shapley"], **more)):
        message = error_of(lambda call=call: call(THREE, X, output="w"))
        assert message.startswith(
            "output is 'w', which the model does not have; its classes are 'x', 'y', 'z'"
        )
        assert "takes 5 columns" in error_of(lambda call=call: call(THREE, X[:, :3]))
        assert "threads" in error_of(lambda call=call: call(THREE, X, threads=0))
        assert "progress" in error_of(lambda call=call: call(THREE, X, progress="no"))
        assert "groups" in error_of(lambda call=call: call(THREE, X, groups=[1]))
