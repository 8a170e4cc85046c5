"""Data of paper/: from the folder, else from OpenML, else it is said why not."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from paper import data
from paper.data import NotAtHand, load


def parquet(path: Path, **columns: object) -> None:
    pd.DataFrame(columns).to_parquet(path)


def test_the_last_column_is_the_target(tmp_path: Path) -> None:
    parquet(tmp_path / "spambase.parquet", a=[1, 2], b=[0.5, 0.25], target=["1", "0"])
    found = load("spambase", tmp_path)
    assert found.X.dtype == np.float64
    np.testing.assert_array_equal(found.X, [[1, 0.5], [2, 0.25]])
    np.testing.assert_array_equal(found.y, ["1", "0"])


def test_a_regressions_target_is_numbers(tmp_path: Path) -> None:
    parquet(tmp_path / "superconduct.parquet", a=[1, 2], target=[29, 26])
    assert load("superconduct", tmp_path).y.dtype == np.float64


def test_the_digest_is_of_the_content(tmp_path: Path) -> None:
    for folder, last in (("one", 2.0), ("two", 2.0), ("three", 3.0)):
        (tmp_path / folder).mkdir()
        parquet(tmp_path / folder / "spambase.parquet", a=[1.0, last], target=["1", "0"])
    one, two, three = (load("spambase", tmp_path / folder).digest for folder in ("one", "two", "three"))
    assert one == two
    assert one != three


def test_another_last_column_is_refused(tmp_path: Path) -> None:
    parquet(tmp_path / "GPSP.parquet", target=["1", "0"], a=[1, 2])
    with pytest.raises(ValueError, match=r"the last column is 'a'; it must be the target, and so named"):
        load("GPSP", tmp_path)


def test_what_has_no_file_comes_from_openml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def fetched(number: int) -> tuple[object, object]:
        asked.append(number)
        return [[1.0], [2.0]], ["a", "b"]

    monkeypatch.setattr(data, "_from_openml", fetched)
    assert load("jannis", tmp_path).y.tolist() == ["a", "b"]
    assert asked == [41168]


def test_what_cannot_be_had_is_not_at_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def unreachable(number: int) -> None:
        asked.append(number)
        raise OSError("no network")

    monkeypatch.setattr(data, "_from_openml", unreachable)
    for _ in range(2):
        with pytest.raises(
            NotAtHand, match=r"no file BT.parquet, and OpenML 4549 is out of reach \(no network"
        ):
            load("BT", tmp_path)
    assert asked == [4549]  # once: to be out of reach may take long
    with pytest.raises(NotAtHand, match=r"no file click_small.parquet"):
        load("click_small", tmp_path)
