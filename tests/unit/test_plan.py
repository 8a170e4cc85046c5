"""Plans: blocks and rows with outputs of their own are joined as if they had been one call; what is kept."""

import gc
import weakref

import numpy as np
import pytest
import scipy.sparse

import forests
import leafgrad as lg
from leafgrad import encode, plan
from leafgrad.forest import Forest

RNG = np.random.default_rng(5)
THREE = forests.forest(RNG, forests.Shape(n_outputs=3, vector=True, depth=5), classes=("a", "b", "c"))
MARGIN = forests.forest(RNG, forests.Shape(depth=5), classes=("no", "yes"), constant=0.1)
X = RNG.normal(size=(100, 5))
LABELS = RNG.choice(["a", "b", "c"], size=100)
Z = RNG.random((100, 5))
SMALL = 1e-14  # a call of few rows may take another kernel: DESIGN's bound


def functions(n=100, of=np.asarray):
    """Every public function as f(forest, **more) -> array, on n rows with a point each."""
    rows, points, known = of(X[:n]), Z[:n], Z[:n] > 0.5
    return {
        "explain": lambda model, **more: lg.explain(model, rows, **more).values,
        "gradient": lambda model, **more: lg.gradient(model, rows, points, **more),
        "extension": lambda model, **more: lg.extension(model, rows, points, **more),
        "predict_known": lambda model, **more: lg.predict_known(model, rows, known, **more),
        "objective": lambda model, **more: lg.objective(model, rows, known, **more),
    }


NAMES = list(functions())


@pytest.mark.parametrize("name", NAMES)
def test_one_output_is_its_column_of_all(name):
    function = functions()[name]
    every = function(THREE)
    for k, label in enumerate("abc"):
        np.testing.assert_allclose(function(THREE, output=label), every[..., k], rtol=0, atol=SMALL)


@pytest.mark.parametrize("name", NAMES)
def test_an_output_per_row_is_its_column_of_all(name):
    function = functions()[name]
    every = function(THREE)
    own = np.searchsorted(["a", "b", "c"], LABELS)
    expected = every[np.arange(100), ..., own]
    np.testing.assert_allclose(function(THREE, output=LABELS), expected, rtol=0, atol=SMALL)


@pytest.mark.parametrize("name", NAMES)
def test_the_negative_class_is_the_margin_negated(name):
    function = functions()[name]
    margin = function(MARGIN)
    np.testing.assert_array_equal(function(MARGIN, output="yes"), margin)
    np.testing.assert_array_equal(function(MARGIN, output="no"), -margin)
    negative = np.arange(100) % 3 == 0
    labels = np.where(negative, "no", "yes")
    sign = np.where(negative, -1, 1).reshape(-1, *[1] * (margin.ndim - 1))
    np.testing.assert_array_equal(function(MARGIN, output=labels), sign * margin)


def test_no_zero_becomes_minus_zero():
    values = lg.explain(MARGIN.replace(), np.zeros((40, 5)), output="no").values
    assert not np.signbit(values[values == 0]).any()
    values = lg.explain(MARGIN, np.zeros((40, 5)), output=["no"] * 40).values
    assert not np.signbit(values[values == 0]).any()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("output", [None, "b", LABELS])
def test_blocks_are_joined_as_if_they_were_one(monkeypatch, name, output):
    whole = functions()[name](THREE, output=output)
    monkeypatch.setattr(encode, "ELEMENTS", 5 * 64)
    assert [len(block) for _, block in encode.rows(THREE, np.asfortranarray(X)).blocks()] == [50, 50]
    joined = functions(of=np.asfortranarray)[name](THREE, output=output)
    np.testing.assert_allclose(joined, whole, rtol=0, atol=SMALL)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("output", [None, "b", LABELS])
@pytest.mark.parametrize("of", [np.asfortranarray, lambda X: X], ids=["blocks", "whole"])
def test_results_are_joined_of_small_parts(monkeypatch, name, output, of):
    whole = functions()[name](THREE, output=output)
    monkeypatch.setattr(plan, "PART", 5 * 7)
    monkeypatch.setattr(plan, "ROWS", 1)
    joined = functions(of=of)[name](THREE, output=output, threads=2)
    np.testing.assert_allclose(joined, whole, rtol=0, atol=SMALL)


def test_negated_rows_are_negated_once_in_small_parts(monkeypatch):
    labels = ["no", "yes"] * 50
    whole = lg.explain(MARGIN, X, output=labels).values
    yes = lg.explain(MARGIN, X, output="yes").values
    np.testing.assert_array_equal(whole, np.where(np.arange(100)[:, None] % 2, yes, 0.0 - yes))
    monkeypatch.setattr(plan, "PART", 35)
    monkeypatch.setattr(plan, "ROWS", 1)
    np.testing.assert_array_equal(lg.explain(MARGIN, X, output=labels).values, whole)
    one = lg.gradient(MARGIN, X[:1], Z[:9], output=["no"])
    np.testing.assert_array_equal(one, 0.0 - lg.gradient(MARGIN, X[:1], Z[:9], output="yes"))


def test_sparse_blocks_with_a_point_per_row():
    zeros = scipy.sparse.csr_array(X)
    np.testing.assert_array_equal(lg.gradient(THREE, zeros, Z), lg.gradient(THREE, X, Z))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("output", [None, "b", [], "predicted"])
def test_no_rows(name, output):
    result = functions(0)[name](THREE, output=output)
    tail = (5,) if name in {"explain", "gradient"} else ()
    assert result.shape == (0, *tail, *((3,) if output is None else ()))


def test_no_features():
    leaf = Forest.from_arrays(
        tree_start=[0, 1], left=[-1], right=[-1], feature=[-1], threshold=[0], cover=[1], value=[2.5]
    )
    explanation = lg.explain(leaf, np.empty((3, 0)))
    assert explanation.values.shape == (3, 0)
    assert explanation.base_values.tolist() == [2.5] * 3
    assert lg.extension(leaf, np.empty((3, 0)), np.empty(0)).tolist() == [2.5] * 3


def test_no_trees():
    empty = Forest.from_arrays(
        tree_start=[0], left=[], right=[], feature=[], threshold=[], cover=[], value=np.empty((0, 1)),
        n_features=2, constant=3.0,
    )  # fmt: skip
    explanation = lg.explain(empty, np.zeros((2, 2)))
    assert explanation.values.tolist() == [[0.0, 0.0]] * 2
    assert explanation.base_values.tolist() == [3.0] * 2


def test_base_values_are_the_output_where_nothing_is_known():
    for forest, output in [(THREE, None), (THREE, "c"), (THREE, LABELS), (MARGIN, "no"), (MARGIN, None)]:
        base = lg.explain(forest, X, output=output).base_values
        nothing = lg.extension(forest, X, np.zeros(5), output=output)
        np.testing.assert_allclose(base, nothing, rtol=0, atol=SMALL)


def test_a_model_is_loaded():
    from sklearn.tree import DecisionTreeRegressor

    model = DecisionTreeRegressor(max_depth=3).fit(X, X[:, 0])
    np.testing.assert_array_equal(lg.explain(model, X).values, lg.explain(lg.load(model), X).values)


def test_predicted_values_come_from_rows_encoded_once(monkeypatch):
    calls = []
    rows = encode.rows
    monkeypatch.setattr(encode, "rows", lambda *given: calls.append(1) or rows(*given))
    lg.explain(THREE, X, output="predicted")
    assert len(calls) == 1


# What is kept


def fresh(**others):
    return forests.forest(np.random.default_rng(1), forests.Shape(n_outputs=3, vector=True), **others)


def kept(forest):
    return vars(forest)["_kept"]


def test_games_and_rules_are_kept_with_the_forest(monkeypatch):
    forest, made = fresh(), []
    game = Forest.game
    monkeypatch.setattr(Forest, "game", lambda self, *given: made.append(given) or game(self, *given))
    for _ in range(3):
        lg.explain(forest, X, output=1)
        lg.explain(forest, X, groups={"g": [0, 1]})
        lg.explain(forest, X, "banzhaf")
    assert len(made) == 3
    lg.explain(forest, X, lg.Banzhaf(0.5))
    assert list(kept(forest)._default._rules) == [lg.Banzhaf()]


def test_only_so_many_are_kept():
    forest = fresh()
    for j in range(2, 30):
        lg.explain(forest, X, lg.Banzhaf(1 / j))
    assert len(kept(forest)._default._rules) == plan.RULES
    for k in range(3):
        for group in ([0, 1], [1, 2], [2, 3], [3, 4], [0, 2], [0, 3]):
            lg.explain(forest, X, output=k, groups={"g": group})
    assert len(kept(forest)._games) == plan.GAMES


def test_games_of_large_forests_are_not_kept(monkeypatch):
    monkeypatch.setattr(plan, "KEPT_NODES", 10)
    forest = fresh()
    first = lg.explain(forest, X, output=1).values
    assert len(kept(forest)._games) == 0
    np.testing.assert_array_equal(lg.explain(forest, X, output=1).values, first)


def test_what_is_kept_goes_with_the_forest():
    forest = fresh()
    lg.explain(forest, X, output=1)
    gone = weakref.ref(forest)
    gc.disable()
    try:
        del forest
        assert gone() is None  # at once, without a garbage collection
    finally:
        gc.enable()


def test_a_forest_with_other_metadata_does_not_share_what_is_kept():
    forest = fresh()
    assert lg.explain(forest, X).output_names == (0, 1, 2)
    assert lg.explain(forest.replace(output_names=("p", "q", "r")), X).output_names == ("p", "q", "r")


def test_threads_may_share_a_forest():
    from concurrent.futures import ThreadPoolExecutor

    forest = fresh()
    calls = [(value, k) for value in ("shapley", "banzhaf:0.1", "beta:2,3") for k in range(3)] * 20

    def explain(call):
        return lg.explain(forest, X, call[0], output=call[1], groups={"g": [call[1], 4]}).values

    expected = {call: explain(call) for call in set(calls)}
    vars(forest).pop("_kept")
    with ThreadPoolExecutor(8) as pool:
        for call, found in zip(calls, pool.map(explain, calls), strict=True):
            np.testing.assert_array_equal(found, expected[call])
