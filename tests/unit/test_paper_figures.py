"""The figures of paper/ that are not curves: what they compute, on small trees."""

from pathlib import Path

import numpy as np
import pytest
from paper.data import Data, NotAtHand
from paper.figures import curves, inaccuracy, runtime
from paper.models import KINDS, split, train
from paper.tables import beyond
from paper.work import Case, Work

import leafgrad as lg


@pytest.fixture(scope="module")
def data() -> Data:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    return Data("made up", X, np.where(X[:, 0] * X[:, 1] > X[:, 2], "1", "0"), "")


def test_on_a_small_tree_every_algorithm_is_right(data: Data) -> None:
    """Two nodes more than the tree needs: where "M = D" is beyond its depth."""
    parts = split(data)
    model = train("decision tree", parts, 3)
    forest, X = lg.load(model), parts.X_test[:4]
    found = {name: values(forest, X) for name, values in inaccuracy.contenders(model, 5).items()}
    assert set(found) == set(inaccuracy.SHOWN)
    for name, values in found.items():
        # V1 and TreeShap-K amplify roundings by their gammas, up to some hundred per feature here.
        np.testing.assert_allclose(values, found["leafgrad"], atol=1e-9, err_msg=name)


def test_beyond_the_deepest_tree_only_the_number_of_nodes_goes_on(data: Data) -> None:
    found = inaccuracy._errors(data, 40)
    assert found["depth"] < 40
    assert set(found["errors"]) == {name for name, free in inaccuracy.SHOWN.items() if free}
    assert found["errors"]["TreeGrad-Shap (M = D)"] < 1e-14  # a few roundings of shares and probabilities


def test_every_row_is_timed(data: Data) -> None:
    parts = split(Data("made up", data.X, data.X[:, 0] * data.X[:, 1], ""))
    model = train("decision tree", parts, 4)
    found = runtime._seconds(model, parts.X_test[:3])
    assert {name: len(times) for name, times in found["rows"].items()} == dict.fromkeys(
        (*runtime.REFERENCES, *runtime.OWN), 3
    )
    assert all(seconds > 0 for seconds in found["together"].values())
    assert found["leaves"] == model.get_n_leaves()


def test_the_papers_twenty_figures_of_curves() -> None:
    compared = list(curves.sheets("curves", KINDS))
    swept = [sheet for kind in ("ga", "adam") for sheet in curves.sheets(f"sweep-{kind}", KINDS[:1])]
    assert len({sheet.name for sheet in compared}) == len({sheet.name for sheet in swept}) == 10
    assert sum(len(sheet.panels) for sheet in compared) == 2 * (6 * 2 + 3)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ImportError("No module named 'xgboost'"), "Not made: No module named 'xgboost'."),
        (lg.UnsupportedModelError("..."), "Not made: leafgrad does not read models of XGBoost yet."),
    ],
)
def test_a_library_that_is_not_there_is_told(
    monkeypatch: pytest.MonkeyPatch, error: Exception, told: str
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(Work, "judged", fails)
    assert beyond.judged(Work(Path()), Case("spambase", "XGBoost", "predicted class")) == told


def test_what_was_not_asked_for_is_not_at_hand() -> None:
    work = Work(Path(), names=("spambase",))
    assert work.missing("GPSP") == "not asked for"
    with pytest.raises(NotAtHand, match="not asked for"):
        work.data("GPSP")
