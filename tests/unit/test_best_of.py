"""`best_of`: the best of several values or explanations, row by row; and what cannot be compared."""

import numpy as np
import pytest

import leafgrad as lg
from climbing import FOREST, LABELS, MARGIN, SIGNS, THREE, X, error_of

BETAS = ["beta:1,16", "beta:1,4", "shapley", lg.BetaShapley(4, 1), "beta:16,1", "banzhaf"]


@pytest.mark.parametrize("by", ["joint", "insertion", "deletion"])
@pytest.mark.parametrize("output", [None, "y", LABELS, "predicted"])
def test_the_best_candidate_of_each_row(by, output):
    candidates = [*BETAS, lg.greedy(THREE, X, output=output)]
    best = lg.best_of(THREE, X, candidates, by=by, output=output)
    explained = [lg.explain(THREE, X, value, output=output) for value in BETAS] + candidates[-1:]
    curves = [lg.curves(THREE, X, each) for each in explained]
    scores = np.array(
        [
            {"joint": each.joint_score, "insertion": each.insertion_score, "deletion": -each.deletion_score}[
                by
            ]
            for each in curves
        ]
    )
    np.testing.assert_array_equal(best.chosen, scores.argmax(axis=0))  # the first of the best
    assert best.chosen.dtype.kind == "i"
    assert len(np.unique(best.chosen)) > 2
    for index in np.ndindex(best.chosen.shape):
        at = (index[0], slice(None), *index[1:])
        np.testing.assert_array_equal(best.values[at], explained[best.chosen[index]].values[at])
    assert best.method == f"best by {by} of {', '.join(each.method for each in explained)}"
    np.testing.assert_array_equal(best.base_values, explained[0].base_values)
    assert best.additive is False
    assert best.output_names == explained[0].output_names
    np.testing.assert_array_equal(best.output, explained[0].output)


def test_ties_go_to_the_first_candidate():
    first, second = lg.explain(FOREST, X, "shapley"), lg.explain(FOREST, X, "beta:1,1")
    for candidates in ([first, second], ["shapley", first], iter([second, "shapley", second])):
        assert (lg.best_of(FOREST, X, candidates).chosen == 0).all()


def test_output_and_groups_come_from_the_explanations():
    groups = {"g": ["x1", "x3"]} if MARGIN.feature_names else {"g": [1, 3]}
    ranked = lg.rank(MARGIN, X, optimizer=lg.Adam(steps=5), output="no", groups=groups)
    best = lg.best_of(MARGIN, X, ["shapley", ranked])
    assert best.output == "no"
    assert best.groups == ranked.groups
    assert best.values.shape == (70, 4)
    same = lg.best_of(MARGIN, X, ["shapley", ranked], output="no", groups=groups)
    np.testing.assert_array_equal(best.values, same.values)


def test_a_link_may_change_the_choice():
    forest = MARGIN.replace(link="sigmoid")
    raw, linked = (lg.best_of(forest, X, BETAS, link=link) for link in (None, "model"))
    scores = [lg.curves(forest, X, lg.explain(forest, X, value), link="model").joint_score for value in BETAS]
    np.testing.assert_array_equal(linked.chosen, np.argmax(scores, axis=0))
    assert (raw.chosen != linked.chosen).any()


@pytest.mark.parametrize("by", ["Joint", None, 1, ["joint"]])
def test_by(by):
    message = error_of(lambda: lg.best_of(FOREST, X, ["shapley"], by=by))
    assert message == f'by={by!r}; pass "joint", "insertion" or "deletion"'


def test_candidates():
    for wrong in ("shapley", lg.Shapley(), lg.explain(FOREST, X), None):
        message = error_of(lambda wrong=wrong: lg.best_of(FOREST, X, wrong))
        listed = 'pass values, their names or explanations, such as ["shapley", "beta:4,1"]'
        assert message == f"candidates is {wrong!r}, not a list of candidates; {listed}"
    message = error_of(lambda: lg.best_of(FOREST, X, []))
    assert message == 'candidates is empty; pass at least one, such as ["shapley", "beta:4,1"]'
    assert "'nonsense'" in error_of(lambda: lg.best_of(FOREST, X, ["shapley", "nonsense"]))


def test_candidates_of_other_rows_players_or_outputs():
    ours = "candidates are of the same rows, output and groups"
    few = lg.explain(FOREST, X[:3])
    message = error_of(lambda: lg.best_of(FOREST, X, ["shapley", few]))
    assert message == f"candidates[1] is of shape (3, 5), but (70, 5) is wanted; {ours}"
    renamed = lg.explain(FOREST.replace(feature_names=tuple("vwxyz")), X)
    message = error_of(lambda: lg.best_of(FOREST, X, [renamed]))
    assert message.startswith("candidates[0] has the features ('v', 'w', 'x', 'y', 'z'), but ('a', ")
    one, other = (lg.explain(FOREST, X, groups={"a": [*pair]}) for pair in (("a", "b"), ("a", "c")))
    message = error_of(lambda: lg.best_of(FOREST, X, [one, other]))
    assert message.startswith("candidates[1] has the features")
    yes, no = (lg.explain(MARGIN, X, output=label) for label in ("yes", "no"))
    message = error_of(lambda: lg.best_of(MARGIN, X, [yes, no]))
    assert message == f"candidates[1] has the outputs ('no',), but ('yes',) is wanted; {ours}"
    own = lg.explain(MARGIN, X, output=SIGNS)
    message = error_of(lambda: lg.best_of(MARGIN, X, ["shapley", own], output=np.roll(SIGNS, 1)))
    assert message == f"candidates[1] explains other outputs of the rows; {ours}"
    grouped = lg.explain(FOREST, X, groups={"a": ["a"]})
    message = error_of(lambda: lg.best_of(FOREST, X, [lg.explain(FOREST, X), grouped]))
    assert message == f"candidates[1] has the groups {{'a': ('a',)}}, but None is wanted; {ours}"
