"""Models of paper/: the split, the other class, and the verdict on each number."""

import numpy as np
import pytest
from paper import models
from paper.data import Data
from paper.facts import DATA, Size
from paper.models import BEYOND, KINDS, other_class, size, split, train
from paper.tables.sizes import cells


def data(name: str, y: object) -> Data:
    X = np.random.default_rng(0).normal(size=(len(y), 4))
    return Data(name, X, np.asarray(y), "")


def test_classes_keep_their_shares_and_a_fifth_is_for_testing() -> None:
    parts = split(data("spambase", ["a", "a", "a", "b"] * 100))
    assert len(parts.X_train) == len(parts.y_train) == 320
    assert (parts.y_test == "a").sum() == 60
    assert len(split(data("spambase", ["a", "b"] * 1000)).explained) == 200


@pytest.mark.parametrize("name", [name for name, facts in DATA.items() if facts.classes is None])
def test_the_target_is_standardised_by_the_training_part_where_the_paper_does(name: str) -> None:
    y = np.random.default_rng(1).normal(50.0, 9.0, size=500)
    parts = split(data(name, y))
    moments = parts.y_train.mean(), parts.y_train.std()
    if DATA[name].standardised:
        assert moments == pytest.approx((0.0, 1.0), abs=1e-12)
        assert abs(parts.y_test.mean()) > 1e-3  # the test part has a mean of its own
    else:
        assert set(parts.y_train) | set(parts.y_test) == set(y)


@pytest.mark.parametrize(("classes", "offset"), [(2, 1), (3, 1), (4, 3), (5, 3), (6, 3)])
def test_the_other_class_is_the_papers_offset_further(classes: int, offset: int) -> None:
    labels = np.array([f"class {i}" for i in range(classes)])
    np.testing.assert_array_equal(other_class(labels, labels), np.roll(labels, -offset))


@pytest.mark.parametrize("kind", KINDS)
def test_a_models_size_is_that_of_all_its_trees(kind: str) -> None:
    parts = split(data("GPSP", ["a", "b", "c"] * 60))
    model = train(kind, parts, 3)
    found = size(model, parts)
    trees = [model] if kind == KINDS[0] else list(model.estimators_.ravel())
    assert found.leaves == sum(tree.get_n_leaves() for tree in trees)
    assert found.nodes == 2 * found.leaves - len(trees)
    assert found.score == round(model.score(parts.X_test, parts.y_test), 3)


@pytest.mark.parametrize("kind", BEYOND)
def test_other_libraries_learn_the_same_rows(kind: str) -> None:
    module = {"XGBoost": "xgboost", "LightGBM": "lightgbm"}.get(kind, "sklearn")
    pytest.importorskip(module)
    parts = split(data("spambase", ["a", "b"] * 60))
    assert train(kind, parts, 3).classes_.tolist() == [0, 1]


def test_every_number_of_a_model_has_its_verdict() -> None:
    said = Size(0.537, 1_275, 2_549)
    own = Size(0.537, 1_274, 2_549)
    assert cells(own, said, None, compared=True)[2::3] == ["yes", "**no**", "yes"]
    assert cells(own, said, None, compared=False)[2::3] == ["not compared"] * 3
    assert cells(None, said, "no file", compared=True) == [
        None, 0.537, "not at hand", None, 1_275, "not at hand", None, 2_549, "not at hand"
    ]  # fmt: skip


def test_only_the_pinned_versions_count(monkeypatch: pytest.MonkeyPatch) -> None:
    installed = {"scikit-learn": "1.6.1", "numpy": "2.2.6"}
    monkeypatch.setattr(models, "version", installed.__getitem__)
    assert models.pinned()
    installed["numpy"] = "2.4.6"
    assert not models.pinned()
