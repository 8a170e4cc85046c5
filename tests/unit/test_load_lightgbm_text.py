"""The parser of LightGBM's text: nothing that is cut off or hostile gets through, crashes or hangs."""

from __future__ import annotations

import locale
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leafgrad as lg
from leafgrad.load.lightgbm_text import parse

FOLDER = Path(__file__).parents[1] / "golden" / "lightgbm"
NAMES = sorted(path.stem for path in FOLDER.glob("*.txt") if path.stem != "linear")


def text(name: str = "regression") -> str:
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


def unsized(changed: str) -> str:
    """The text without its tree_sizes, so that a tree may be edited."""
    return "\n".join(line for line in changed.split("\n") if not line.startswith("tree_sizes="))


def line(key: str, value: str, tree: int = 0, name: str = "regression") -> str:
    """The model's text with one line of one tree changed."""
    head, *trees = unsized(text(name)).split("\nTree=")
    lines = trees[tree].split("\n")
    at = next(i for i, given in enumerate(lines) if given.startswith(f"{key}="))
    lines[at] = f"{key}={value}"
    trees[tree] = "\n".join(lines)
    return "\nTree=".join([head, *trees])


def header(key: str, value: str) -> str:
    lines = text().split("\n")
    at = next(i for i, given in enumerate(lines) if given.startswith(key))
    lines[at] = value
    return "\n".join(lines)


# The tree of the file: 5 leaves, 4 splits; category sets in some.
DAMAGED = [
    (line("num_leaves", "6"), r"split_feature of tree 0 has 4 numbers, wanted 5"),
    (line("num_leaves", "2000000000"), r"has 4 numbers, wanted 1999999999"),
    (line("num_leaves", "0"), r"num_leaves of tree 0 is 0"),
    (line("num_leaves", "99999999999"), r"num_leaves of tree 0 is 99999999999"),
    (line("num_leaves", "five"), r"num_leaves of tree 0 is 'five', wanted whole numbers"),
    (line("num_leaves", ""), r"num_leaves of tree 0 has 0 numbers, wanted 1"),
    (line("threshold", "0.5 nan 1 1"), r"threshold of tree 0 is '0.5 nan 1 1', wanted finite numbers"),
    (line("threshold", "0.5 1e999 1 1", 1), r"threshold of tree 1 is '0.5 1e999 1 1', wanted finite"),
    (line("threshold", "0,5 1 1 1"), r"wanted finite numbers"),
    (line("threshold", "0.5 1 1_0 1"), r"wanted finite numbers"),
    (line("threshold", "0.5  1 1"), r"wanted finite numbers"),
    (line("leaf_value", "1 2 3 4 --5"), r"leaf_value of tree 0 is '1 2 3 4 --5', wanted finite"),
    (line("left_child", "1 -1 -2 1-2"), r"left_child of tree 0 is '1 -1 -2 1-2', wanted whole numbers"),
    (line("left_child", "1 -1 -2 9"), r"a split has left_child=9"),
    (line("right_child", "1 -1 -2 -7"), r"a split has right_child=-7"),
    (line("left_child", "0 0 0 0"), r"node 0: has children 0"),
    (line("left_child", "1 1 1 1"), r"two parents|two different nodes|hang from its root"),
    (line("split_feature", "0 1 2 4"), r"a split has split_feature=4"),
    (line("split_feature", "0 1 2 -1"), r"a split has split_feature=-1"),
    (line("split_feature", "0 1 2 99999999999999999999"), r"a split has split_feature=9223372036854775807"),
    (line("decision_type", "2 2 2 12"), r"a split has decision_type=12"),
    (line("decision_type", "2 2 2 16"), r"a split has decision_type=16"),
    (line("decision_type", "2 2 2 -2"), r"a split has decision_type=-2"),
    (line("leaf_count", "1 2 3 4 -5"), r"it has leaf_count=-5"),
    (line("internal_count", "1 2 3 -4"), r"it has internal_count=-4"),
    (header("num_class", "num_class=2"), r"it has 3 trees, 1 an iteration, for 2 classes"),
    (header("num_class", "num_class="), r"num_class in its header is '', wanted a whole number"),
    (header("num_class", "num_class=x"), r"num_class in its header is 'x', wanted whole numbers"),
    (header("num_tree", "num_tree_per_iteration=2"), r"it has 3 trees, 2 an iteration"),
    (header("num_tree", "num_tree_per_iteration=0"), r"it has 3 trees, 0 an iteration"),
    (header("max_feature", "max_feature_idx=9"), r"4 feature_names and 4 feature_infos for 10 features"),
    (header("max_feature", "max_feature_idx=2000000000"), r"for 2000000001 features"),
    (header("feature_infos", "feature_infos=none"), r"4 feature_names and 1 feature_infos for 4 features"),
    (header("feature_infos", ""), r"1 feature_infos for 4 features"),
    (header("label_index", "num_class=1"), r"its header has two lines 'num_class'"),
    (header("tree_sizes", "tree_sizes=1 2 3"), r"the 3 trees that came do not have the sizes"),
    (header("tree_sizes", "tree_sizes=1"), r"the 3 trees that came do not have the sizes"),
    (header("Tree=1", "Tree=7"), r"tree 1 has the number '7'"),
    (unsized(text()).replace("shrinkage=1\n", "leaf_value=1\n", 1), r"tree 0 has two lines 'leaf_value'"),
    (text().replace("end of trees", "end of the trees"), r"no line 'end of trees'"),
    (text().replace("end of parameters", ""), r"its parameters do not end"),
    (text().replace("pandas_categorical:null", "pandas_categorical:[[1, 1]]"), r"pandas_categorical, is no"),
    (text().replace("pandas_categorical:null", "pandas_categorical:[[null]]"), r"pandas_categorical, is no"),
    (text().replace("pandas_categorical:null", "pandas_categorical:7"), r"pandas_categorical, is no"),
    (text().replace("pandas_categorical:null", "pandas_categorical:" + "[" * 99999), r"pandas_categorical"),
]


@pytest.mark.parametrize(("damaged", "message"), DAMAGED, ids=[message for _, message in DAMAGED])
def test_damages_are_named(damaged: str, message: str) -> None:
    with pytest.raises(lg.ModelFormatError, match=message):
        lg.load(damaged)


def category(**changes: str) -> str:
    """A tree of one categorical split, changed."""
    lines = {
        "num_leaves": "2",
        "num_cat": "1",
        "split_feature": "0",
        "split_gain": "1",
        "threshold": "0",
        "decision_type": "1",
        "left_child": "-1",
        "right_child": "-2",
        "leaf_value": "1 2",
        "leaf_count": "1 1",
        "internal_count": "2",
        "cat_boundaries": "0 1",
        "cat_threshold": "5",
        "is_linear": "0",
        "shrinkage": "1",
        **changes,
    }
    tree = "\n".join(f"{key}={value}" for key, value in lines.items())
    return (
        "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\nmax_feature_idx=0\n"
        f"feature_names=a\nfeature_infos=none\n\nTree=0\n{tree}\n\n\nend of trees\n"
    )


def test_a_category_set() -> None:
    assert lg.load(category()).predict([[0.0], [1.0], [2.0], [3.0], [-1.0]]).tolist() == [1, 2, 1, 2, 2]
    assert lg.load(category(cat_threshold="0")).predict([[0.0], [1.0]]).tolist() == [2, 2]
    assert lg.load(category(cat_boundaries="0 0", cat_threshold="")).predict([[0.0]]).tolist() == [2]
    assert lg.load(category(cat_boundaries="0 2", cat_threshold="0 4294967295")).predict(
        [[31.0], [32.0], [63.0], [64.0]]
    ).tolist() == [2, 1, 1, 2]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"threshold": "1"}, r"do not each have one of its num_cat sets"),
        ({"threshold": "-1"}, r"do not each have one"),
        ({"threshold": "0.5"}, r"do not each have one"),
        ({"num_cat": "0"}, r"cat_boundaries of tree 0 has 2 numbers, wanted 0"),
        ({"num_cat": "-1"}, r"num_cat of tree 0 is -1"),
        ({"num_cat": "2"}, r"cat_boundaries of tree 0 has 2 numbers, wanted 3"),
        ({"cat_boundaries": "1 2"}, r"cat_boundaries of a tree do not rise from 0"),
        ({"num_cat": "2", "cat_boundaries": "0 2 1"}, r"cat_boundaries of a tree do not rise from 0"),
        ({"cat_boundaries": "0 -1"}, r"cat_boundaries of a tree do not rise from 0"),
        ({"cat_boundaries": "0 2"}, r"cat_threshold of tree 0 has 1 numbers, wanted 2"),
        ({"cat_boundaries": "0 4000000000"}, r"cat_threshold of tree 0 has 1 numbers, wanted 4000000000"),
        ({"cat_threshold": "4294967296"}, r"number beyond 32 bits"),
        ({"cat_threshold": "-1"}, r"number beyond 32 bits"),
    ],
)
def test_category_sets_that_are_none(changes: dict[str, str], message: str) -> None:
    with pytest.raises(lg.ModelFormatError, match=message):
        lg.load(category(**changes))


def test_no_two_splits_may_claim_one_large_set() -> None:
    """Else a small file could ask for much memory."""
    shared = {
        "num_leaves": "3",
        "split_feature": "0 0",
        "threshold": "0 0",
        "decision_type": "1 1",
        "left_child": "1 -2",
        "right_child": "-1 -3",
        "leaf_value": "1 2 3",
        "leaf_count": "1 1 1",
        "internal_count": "3 2",
        "split_gain": "1 1",
    }
    with pytest.raises(lg.ModelFormatError, match=r"do not each have one of its num_cat sets"):
        lg.load(category(**shared))


def test_splits_in_a_circle_are_found_in_time() -> None:
    for left in ("1 0", "0 0", "1 1"):
        circle = {
            "num_leaves": "3",
            "num_cat": "0",
            "split_feature": "0 0",
            "threshold": "0 0",
            "decision_type": "2 2",
            "left_child": left,
            "right_child": "1 0",
            "leaf_value": "1 2 3",
            "leaf_count": "1 1 1",
            "internal_count": "3 2",
            "leaf_weight": "1 1 1",
            "split_gain": "1 1",
            "cat_boundaries": "",
            "cat_threshold": "",
        }
        for cover in (None, "hessian"):
            with pytest.raises(lg.ModelFormatError, match="the trees are damaged"):
                lg.load(category(**circle), cover=cover)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (text().replace("version=v4", "version=v2"), r"of the format v2, wanted v3 or v4.*save it again"),
        (text().replace("version=v4\n", ""), r"of the format None"),
        ("tree\n\nend of trees\n", r"of the format None"),
        (text().replace("label_index=", "magic="), r"the header of .* 'magic'.* newer than this leafgrad"),
        (unsized(text()).replace("split_gain=", "magic=", 1), r"a tree of .* 'magic'.* newer"),
    ],
)
def test_what_is_of_another_format_is_refused(changed: str, message: str) -> None:
    with pytest.raises(lg.UnsupportedModelError, match=message):
        lg.load(changed)


def test_text_that_is_no_text() -> None:
    with pytest.raises(lg.ModelFormatError, match="no UTF-8 text"):
        lg.load(text().encode().replace(b"Column_0", b"\xff\xfe"))
    with pytest.raises(lg.ModelFormatError, match="leaf_value of tree 0 is"):
        lg.load(unsized(text()).encode().replace(b"leaf_value=", b"leaf_value=\xff", 1))


def test_v3_and_line_ends_of_windows() -> None:
    forest = lg.load(text())
    for same in (text().replace("version=v4", "version=v3"), text().replace("\n", "\r\n"), unsized(text())):
        assert np.array_equal(lg.load(same).value, forest.value)


@pytest.mark.parametrize("name", ["regression", "pandas_categories", "multiclass", "one_leaf"])
def test_every_cut_is_noticed_or_harmless(name: str) -> None:
    """A file that ends behind its trees is still the model, but not one that ends within its parameters."""
    whole = text(name).encode()
    forest = lg.load(whole, check=False)
    end = whole.index(b"\nend of trees\n") + len(b"\nend of trees\n")
    loaded = 0
    for cut in range(len(whole)):
        try:
            again = lg.load(whole[:cut], check=False)
        except lg.LeafgradError:
            continue
        loaded += 1
        assert cut >= end
        assert np.array_equal(again.value, forest.value)
        assert again.frame_categories in {(), forest.frame_categories}
        assert (
            again.frame_categories == forest.frame_categories
            or cut <= whole.index(b"\npandas_categorical:") + 1
        )
    assert 0 < loaded < 400  # the end of the trees, the importances, and around the last line


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(NAMES), st.data())
def test_fuzz(name: str, data: st.DataObject) -> None:
    """Bytes changed, dropped or repeated anywhere: an error of ours, or a model; never anything else."""
    content = bytearray(unsized(text(name)).encode() if data.draw(st.booleans()) else text(name).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, max(1, content.find(b"end of trees"))))
        piece = data.draw(
            st.sampled_from([b"", b"-", b" ", b"\n", b"=", b"9", b"e", b".", b"\x00", b"999999999", b"Tree="])
            | st.binary(max_size=3)
        )
        content[at : at + data.draw(st.integers(0, 3))] = piece
    try:
        forest = lg.load(bytes(content), check=False)
    except lg.LeafgradError:
        return
    assert np.isfinite(forest.predict(np.zeros((1, forest.n_features)))).all()


def test_the_locale_does_not_count() -> None:
    before = locale.setlocale(locale.LC_NUMERIC)
    commas = [name for name in ("de_DE.UTF-8", "fr_FR.UTF-8", "C.UTF-8") if _set(name)]
    try:
        assert commas
        assert np.array_equal(lg.load(text()).threshold, FOREST.threshold)
    finally:
        locale.setlocale(locale.LC_NUMERIC, before)
    # Where no such locale is there: the parser takes a point and nothing else.
    with pytest.raises(lg.ModelFormatError, match="wanted finite numbers"):
        lg.load(line("threshold", "0,5 0,5 0,5 0,5"))


FOREST = lg.load(text())


def _set(name: str) -> bool:
    try:
        locale.setlocale(locale.LC_NUMERIC, name)
    except locale.Error:
        return False
    return True


def test_a_thousand_trees_in_half_a_second() -> None:
    """The default size of 31 leaves, all of the parser and the forest; of this process's own time."""
    tree = _large_tree(31)
    model = (
        unsized(text()).partition("\nTree=0")[0]
        + "".join(f"\nTree={t}\n{tree}\n\n" for t in range(1000))
        + "\nend of trees\n"
    )
    seconds = []
    for _ in range(3):
        start = time.process_time()
        forest = lg.load(model, check=False)
        seconds.append(time.process_time() - start)
    assert forest.n_trees == 1000
    assert forest.n_leaves == 31_000
    assert min(seconds) < 0.5


def _large_tree(leaves: int) -> str:
    """A balanced tree with numbers of full length."""
    rng = np.random.default_rng(0)
    splits = leaves - 1
    children = [*range(1, splits), *(-1 - leaf for leaf in range(leaves))]
    return "\n".join(
        f"{key}={' '.join(map(str, values))}"
        for key, values in {
            "num_leaves": [leaves],
            "num_cat": [0],
            "split_feature": rng.integers(0, 4, splits).tolist(),
            "split_gain": rng.random(splits).tolist(),
            "threshold": rng.normal(size=splits).tolist(),
            "decision_type": [2] * splits,
            "left_child": children[::2],
            "right_child": children[1::2],
            "leaf_value": rng.normal(size=leaves).tolist(),
            "leaf_weight": rng.random(leaves).tolist(),
            "leaf_count": [9] * leaves,
            "internal_value": rng.normal(size=splits).tolist(),
            "internal_weight": rng.random(splits).tolist(),
            "internal_count": [18] * splits,
            "is_linear": [0],
            "shrinkage": [0.1],
        }.items()
    )


def test_the_library_is_given_lines_that_were_checked_only() -> None:
    told = parse(text("pandas_categories").encode(), "x").for_the_library()
    assert "split_gain" not in told
    assert "pandas_categorical" not in told
    assert "objective" not in told
    assert told.count("\nTree=") == 3
