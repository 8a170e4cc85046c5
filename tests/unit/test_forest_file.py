"""A forest read again is to the bit the one written; a damaged file says so."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import leafgrad as lg
from leafgrad import forest_file
from leafgrad.errors import ModelFormatError

# Shares of 1/3 and 2/3 do not add up to 1 in float64: dividing by their sum again would change them.
ARRAYS = {
    "tree_start": [0, 5, 8],
    "left": [1, -1, 3, -1, -1, 1, -1, -1],
    "right": [2, -1, 4, -1, -1, 2, -1, -1],
    "feature": [0, -1, 1, -1, -1, 2, -1, -1],
    "threshold": [0.5, 0, 0.1, 0, 0, 0, 0, 0],
    "cover": [9, 3, 6, 2, 4, 7, 3, 4],
    "value": np.array([0, 0.1, 0, 0.7, 1e8, 0, 3.3, -0.3]),
    "missing_left": [True, False, False, False, False, False, False, False],
    "categories_left": {5: [1, 40]},
    "other_left": [False] * 5 + [True] + [False] * 2,
}


def forest() -> lg.Forest:
    return lg.Forest.from_arrays(
        **ARRAYS,
        constant=0.25,
        feature_names=["a", "b", "c"],
        classes=["no", 1],
        link="sigmoid:2",
        library="x",
        model_name="Y",
        categories=[None, None, ("u", "v")],
    )


X = np.array([[0.2, 0.3, 1.0], [np.nan, 0.0, 77.0], [0.7, 0.1, 3.0], [0.9, 0.2, 40.0]])


def test_saved_and_loaded_to_the_bit(tmp_path):
    written = forest()
    written.save(tmp_path / "forest.npz")
    read = lg.Forest.load(tmp_path / "forest.npz")
    for name in (*forest_file.ARRAYS, "share", "base", "constant"):
        np.testing.assert_array_equal(getattr(read, name), getattr(written, name), strict=True)
    for name in (*forest_file.PLAIN, *forest_file.LABELS):
        assert getattr(read, name) == getattr(written, name), name
    assert [p.name for p in tmp_path.iterdir()] == ["forest.npz"]
    a, b = (f.game().gradient(X, np.full((1, 3), 0.3)) for f in (written, read))
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda f: pickle.loads(pickle.dumps(f))])
def test_copies_and_pickles(again):
    written = forest()
    read = again(written)
    np.testing.assert_array_equal(read.share, written.share)
    np.testing.assert_array_equal(read.core.predict(X), written.core.predict(X))
    assert read.classes == written.classes


def test_damaged_files(tmp_path):
    path = tmp_path / "forest.npz"
    forest().save(path)
    whole = path.read_bytes()
    for cut in (0, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        with pytest.raises(ModelFormatError, match="damaged"):
            lg.Forest.load(path)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("left", lambda a: np.where(a == 1, 7, a)),
        ("share", lambda a: a * 2),
        ("share", lambda a: a * 0.9),
        ("root_mean", lambda a: a[:1]),
        ("constant", lambda a: a * np.nan),
        ("value", lambda a: a[:3]),
        ("set_start", lambda a: a + 1),
    ],
)
def test_inconsistent_arrays(name, change):
    meta, arrays = forest_file.pack(forest())
    with pytest.raises(ModelFormatError, match="damaged"):
        forest_file.unpack(meta, {**arrays, name: change(arrays[name])})


def test_hashed_categories_stay_hashed(tmp_path):
    hashed = lg.Forest.from_arrays(**ARRAYS, categories=[None, None, (3, 2**32 - 1)], categories_hashed=True)
    hashed.save(tmp_path / "forest.npz")
    again = lg.Forest.load(tmp_path / "forest.npz")
    assert again.categories_hashed
    assert again.categories == (None, None, (3, 2**32 - 1))
    assert not pickle.loads(pickle.dumps(forest())).categories_hashed
