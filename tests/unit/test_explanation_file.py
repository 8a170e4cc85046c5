"""Explanations as files: nothing is lost, nothing half-written stays, and what is no such file says so."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

import forests
import leafgrad as lg
from leafgrad.errors import InputError, ModelFormatError
from leafgrad.explanation_file import load, save

RNG = np.random.default_rng(6)
NAMES = ("a", "b", "c", "d", "e")
FOREST = forests.forest(RNG, forests.Shape(), feature_names=NAMES)
THREE = forests.forest(RNG, forests.Shape(n_outputs=3, vector=True))
X = RNG.normal(size=(6, 5))
CITIES = pd.DataFrame({"height": [1.5, np.nan, 3.5], "city": ["oslo", None, "lima"]}, index=[7, 8, 9])
BY_CITY = lg.Forest.from_arrays(
    tree_start=[0, 3], left=[1, -1, -1], right=[2, -1, -1], feature=[1, -1, -1], threshold=[0, 0, 0],
    cover=[4, 3, 1], value=[0, 0, 1], n_features=2, feature_names=["height", "city"], missing=True,
    categories=[None, ("oslo", "rome")], categories_left={0: [0]},
)  # fmt: skip
PAIRS = THREE.replace(classes=(("x", "y"), (1,)))

EXPLANATIONS = {
    "one output": lg.explain(FOREST, X),
    "several outputs": lg.explain(THREE, X, lg.Banzhaf(0.3)),
    "text labels": lg.explain(THREE.replace(classes=("x", "y", "z")), X, output="y"),
    "float labels": lg.explain(THREE.replace(classes=(0.5, 1.5, float("inf"))), X, output=float("inf")),
    "bool labels": lg.explain(FOREST.replace(classes=(False, True)), X, output=False),
    "labels per row": lg.explain(THREE.replace(classes=("x", "y", "z")), X, output=list("xyzzyx")),
    "numbers per row": lg.explain(THREE.replace(classes=(2, 0, 1)), X, output=np.arange(6) % 3),
    "mixed per row": lg.explain(THREE.replace(classes=("x", 1, "z")), X, output=["x", 1, "z"] * 2),
    "pairs": lg.explain(PAIRS, X),
    "one pair": lg.explain(PAIRS, X, output=(1, 1)),
    "pairs per row": lg.explain(PAIRS, X, output=[(0, "x"), (1, 1)] * 3),
    "groups": lg.explain(FOREST, X, groups={"g": ["a", "c"]}),
    "numbered groups": lg.explain(THREE, X, groups={"g": [0, 4]}),
    "text": lg.explain(BY_CITY, CITIES),
    "polars": lg.explain(FOREST, pl.DataFrame(X, schema=NAMES)),
    "sparse": lg.explain(FOREST, scipy.sparse.csr_array(X)),
    "integers": lg.explain(FOREST, np.arange(10).reshape(2, 5)),
    "no rows": lg.explain(FOREST, X[:0]),
    "no features": lg.explain(FOREST, X)[:, []],
    "umlauts": replace(lg.explain(FOREST, X), feature_names=("ä", "日本", "", "d\n", "\udc80"[:0] + "e")),
    "traced": replace(
        lg.explain(FOREST, X), trace=RNG.random((6, 4)), z=RNG.random((6, 5)), subset=RNG.random((6, 5)) > 0.5
    ),
    "a slice": lg.explain(FOREST, X)[::-2, ["c", "a"]],
}


def names_in(folder):
    return [path.name for path in folder.iterdir()]


@pytest.mark.parametrize("name", EXPLANATIONS)
def test_nothing_is_lost(tmp_path, name):
    explanation = EXPLANATIONS[name]
    path = tmp_path / "some.file"
    explanation.save(path)
    found = lg.Explanation.load(path)
    assert names_in(tmp_path) == ["some.file"]
    for field in ("values", "base_values", "trace", "z", "subset"):
        before, after = getattr(explanation, field), getattr(found, field)
        assert (before is None) == (after is None)
        if before is not None:
            assert before.dtype == after.dtype
            np.testing.assert_array_equal(before, after)
    for field in ("feature_names", "output_names", "method", "additive", "groups"):
        assert getattr(explanation, field) == getattr(found, field)
        assert type(getattr(explanation, field)) is type(getattr(found, field))
    if isinstance(explanation.output, np.ndarray):
        assert explanation.output.dtype == found.output.dtype
        assert explanation.output.tolist() == found.output.tolist()
    else:
        assert explanation.output == found.output
        assert type(explanation.output) is type(found.output)
    assert repr(found) == repr(explanation)
    data, after = explanation.data, found.data
    if data.dtype.kind == "O":
        data, after = pd.DataFrame(data).astype(object), pd.DataFrame(after).astype(object)
        pd.testing.assert_frame_equal(data.where(data.notna(), None), after.where(after.notna(), None))
    else:
        assert data.dtype == after.dtype
        np.testing.assert_array_equal(data, after)
    if explanation.values.size:
        frame, again = explanation.to_frame(), found.to_frame()
        assert type(frame) is type(again)
        assert list(frame.columns) == list(again.columns)
    for part in (explanation[:1], found[:1]):
        assert part.values.shape[0] == min(1, len(explanation))


def test_a_loaded_explanation_is_saved_again(tmp_path):
    EXPLANATIONS["text"].save(tmp_path / "a")
    load(tmp_path / "a").save(tmp_path / "b")
    assert load(tmp_path / "b").data.tolist() == load(tmp_path / "a").data.tolist()


def test_a_text_path_is_taken_as_it_is(tmp_path):
    path = str(tmp_path / "name-without-suffix")
    save(EXPLANATIONS["one output"], path)
    assert load(path).feature_names == NAMES


def test_an_existing_file_is_replaced(tmp_path):
    path = tmp_path / "file"
    path.write_text("older")
    save(EXPLANATIONS["one output"], path)
    assert len(load(path)) == 6


def test_other_cells_are_kept_as_text(tmp_path):
    import decimal

    frame = pl.DataFrame({"height": [decimal.Decimal("1.50")], "city": ["oslo"]})
    save(lg.explain(BY_CITY, frame), tmp_path / "file")
    assert load(tmp_path / "file").data.tolist() == [["1.50", "oslo"]]


# Nothing half-written


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_text("older")

    def fails(file, **arrays):
        file.write(b"half")
        raise OSError("no space left")

    monkeypatch.setattr(np, "savez", fails)
    with pytest.raises(OSError, match="no space left"):
        save(EXPLANATIONS["one output"], path)
    assert names_in(tmp_path) == ["file"]
    assert path.read_text() == "older"


def test_an_interrupted_write_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(file, **arrays):
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save(EXPLANATIONS["one output"], tmp_path / "file")
    assert names_in(tmp_path) == []


def test_a_label_that_json_does_not_know_is_refused(tmp_path):
    explanation = replace(EXPLANATIONS["one output"], output_names=(b"bytes",))
    with pytest.raises(
        InputError, match=r"the label b'bytes' \(bytes\) cannot be saved; text and numbers can"
    ):
        save(explanation, tmp_path / "file")
    assert names_in(tmp_path) == []


# What is no such file


def test_a_missing_file_is_the_systems_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "absent")


def test_a_folder_is_the_systems_error(tmp_path):
    with pytest.raises(IsADirectoryError):
        load(tmp_path)


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "file"
    save(EXPLANATIONS["labels per row"], path)
    return path


def no_explanation(path):
    return pytest.raises(
        ModelFormatError, match=re.escape(f"{path} is damaged, or is no Explanation saved by leafgrad")
    )


@pytest.mark.parametrize("content", [b"", b"not a file of ours", b"PK\x03\x04", b"\x93NUMPY\x01\x00"])
def test_other_files(tmp_path, content):
    path = tmp_path / "file"
    path.write_bytes(content)
    with no_explanation(path):
        load(path)


def test_other_arrays(tmp_path):
    path = tmp_path / "file.npy"
    np.save(path, X)
    with no_explanation(path):
        load(path)
    path = tmp_path / "file.npz"
    np.savez(path, X=X)
    with no_explanation(path):
        load(path)
    np.savez(path, meta=np.frombuffer(b'{"format": "other"}', np.uint8))
    with no_explanation(path):
        load(path)
    np.savez(path, meta=np.frombuffer(b"[1, 2]", np.uint8))
    with no_explanation(path):
        load(path)


def test_a_pickle_is_not_opened(tmp_path):
    path = tmp_path / "file.npz"
    np.savez(path, meta=np.array([object()], dtype=object))
    with no_explanation(path):
        load(path)


def test_every_truncation_is_noticed(saved):
    whole = saved.read_bytes()
    for size in range(0, len(whole), 97):
        saved.write_bytes(whole[:size])
        with no_explanation(saved):
            load(saved)


def test_a_flipped_bit_never_gives_other_numbers(saved):
    whole = saved.read_bytes()
    expected = EXPLANATIONS["labels per row"]
    noticed = 0
    for at in range(0, len(whole), 41):
        saved.write_bytes(whole[:at] + bytes([whole[at] ^ 16]) + whole[at + 1 :])
        try:
            found = load(saved)
        except ModelFormatError:
            noticed += 1
        else:  # a byte of the zip's own that nobody reads, such as a time
            np.testing.assert_array_equal(found.values, expected.values)
            assert found.output.tolist() == expected.output.tolist()
    assert noticed


def test_a_later_version_says_so(saved):
    rewrite(saved, lambda _, meta: meta.update(version=2))
    with pytest.raises(ModelFormatError, match="is of version 2, this leafgrad reads 1; update leafgrad"):
        load(saved)


def rewrite(path, change):
    with np.load(path) as stored:
        arrays = dict(stored)
    meta = json.loads(arrays.pop("meta").tobytes())
    change(arrays, meta)
    with path.open("wb") as file:
        np.savez(file, meta=np.frombuffer(json.dumps(meta).encode(), np.uint8), **arrays)


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays, _: arrays.pop("values"),
        lambda arrays, _: arrays.pop("base_values"),
        lambda arrays, _: arrays.pop("data"),
        lambda arrays, _: arrays.update(values=arrays["values"][:-1]),
        lambda arrays, _: arrays.update(values=arrays["values"].astype("U")),
        lambda arrays, _: arrays.update(values=arrays["values"][0]),
        lambda arrays, _: arrays.update(base_values=arrays["base_values"][:, None]),
        lambda arrays, _: arrays.update(data=arrays["data"][:, 1:]),
        lambda arrays, _: arrays.update(output_code=arrays["output_code"][1:]),
        lambda arrays, _: arrays.update(output_code=arrays["output_code"] + 1),
        lambda _, meta: meta.pop("feature_names"),
        lambda _, meta: meta.update(feature_names=["a"]),
        lambda _, meta: meta.update(output_names=3),
        lambda _, meta: meta.pop("output_labels"),
        lambda _, meta: meta.pop("make"),
        lambda _, meta: meta.pop("method"),
        lambda _, meta: meta.update(groups=[1]),
        lambda _, meta: meta.update(data=[[1]]),
        lambda _, meta: meta.update(data=7),
    ],
)
def test_parts_that_do_not_fit(saved, change):
    rewrite(saved, change)
    with pytest.raises(ModelFormatError, match=f"{re.escape(str(saved))} is damaged: "):
        load(saved)
