"""The hash against CatBoost's own words for it, for texts of all lengths, and run backwards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import catboost
import numpy as np
import pytest

from leafgrad.category_hash import category_hash, text_of


def hashes_of(texts: list[str], folder: Path) -> dict[str, int]:
    """CatBoost's own, which it writes beside a model when it is given the training rows."""
    rows, target = [[text] for text in texts * 2], np.arange(2 * len(texts)) % 3
    pool = catboost.Pool(rows, target, cat_features=[0])
    model = catboost.CatBoost(
        {"iterations": 1, "verbose": 0, "allow_writing_files": False, "thread_count": 1}
    )
    model.fit(pool).save_model(str(folder / "model.json"), format="json", pool=pool)
    written = json.loads((folder / "model.json").read_text())["features_info"]["cat_features_hash"]
    return {entry["value"]: entry["hash"] for entry in written}


def test_as_catboost_hashes_texts_of_all_lengths(tmp_path: Path) -> None:
    """Each length has a way of its own up to 64 bytes; beyond, 64 at a time."""
    rng = np.random.default_rng(0)
    lengths = [*range(70), 95, 96, 97, 127, 128, 129, 191, 192, 193, 256, 1000]
    texts = ["".join(rng.choice(list("abcXYZ09 _,"), n)) for n in lengths]
    texts += ["".join(rng.choice(list("äß漢😀"), n)) for n in range(1, 40)]
    told = hashes_of(texts, tmp_path)
    assert set(told) == set(texts)
    assert {len(text.encode()) for text in told} >= set(range(70))
    assert {text: category_hash(text) for text in told} == told


@pytest.mark.parametrize(
    ("value", "text"),
    [(2, "2"), (-17, "-17"), (True, "1"), (False, "0"), (np.int64(5), "5"), (np.bool_(True), "1")],
)
def test_numbers_are_their_digits(value: Any, text: str) -> None:
    assert category_hash(value) == category_hash(text) == category_hash(text.encode())


def test_a_text_for_every_hash() -> None:
    rng = np.random.default_rng(0)
    for wanted in [0, 1, 2**31, 2**32 - 1, *rng.integers(0, 2**32, 50).tolist()]:
        text = text_of(wanted)
        assert category_hash(text) == wanted
        assert len(text) == 16
        assert text.isascii()
        assert text.isprintable()
