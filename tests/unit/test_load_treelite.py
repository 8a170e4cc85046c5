"""treelite models that are refused, damaged, or read in a way of their own."""

from __future__ import annotations

import time
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import treelite

import leafgrad as lg
from golden.treelite.make_treelite import CATEGORIES, DEEP, ROWS, model, stump

ours = import_module("leafgrad.load.treelite")


def edited(tree: dict[str, Any] | None = None, header: dict[str, Any] | None = None, made: Any = None) -> Any:
    made = made or model([DEEP])
    for name, value in (tree or {}).items():
        made.get_tree_accessor(0).set_field(name, np.asarray(value))
    for name, value in (header or {}).items():
        made.get_header_accessor().set_field(name, np.asarray(value))
    return made


def field(name: str, at: int, value: Any, made: Any = None) -> Any:
    made = made or model([DEEP])
    values = made.get_tree_accessor(0).get_field(name).copy()
    values[at] = value
    return edited({name: values}, made=made)


VECTORS = [stump([0.25, 0.75], [0.5, 0.5])]


def vectors() -> Any:
    return model(
        VECTORS, task="kMultiClf", classes=[2], shape=(1, 2), targets=[-1], labels=[-1], link="softmax"
    )


int32, uint64 = np.int32, np.uint64
FORMAT: list[tuple[Any, str]] = [
    (lambda: field("cleft", 0, 99), r"tree 0, node 0: has children 99 and"),
    (lambda: field("cright", 0, -1), "node 0: has one child"),
    (lambda: field("cleft", 0, 0), "node 0: has children 0 and"),
    (lambda: field("cleft", 1, 0), "has children 0 and"),  # a circle
    (lambda: field("cleft", 1, 4), r"two parents|children 4 and|hang from its root"),
    (lambda: field("split_index", 0, 7), "splits on feature 7 of 3"),
    (lambda: field("split_index", 0, -2), "splits on feature -2 of 3"),
    (lambda: field("threshold", 0, np.nan), "its threshold is NaN"),
    (lambda: field("cmp", 0, 77), "a comparison of code 77"),
    (lambda: field("leaf_value", 2, np.inf), "leaf value is not finite"),
    (lambda: edited({"cleft": np.array([1], int32)}), "tree 0 .* has 1 entries of cleft for 9 nodes"),
    (lambda: edited({"data_count": np.array([3], uint64)}), "tree 0 .* has 1 entries of data_count for 9"),
    (lambda: field("category_list_end", 0, 9), "category_list of this treelite model is shorter"),
    (lambda: field("leaf_vector_end", 1, 99, vectors()), "leaf_vector of this treelite model is shorter"),
    (
        lambda: field("leaf_vector_end", 1, 1, vectors()),
        "node 1 of tree 0 has a leaf vector of 1 numbers; wanted 2",
    ),
    (lambda: edited(header={"base_scores": np.array([1.0, 2.0])}), "has 2 base scores for 1 outputs"),
    (lambda: edited(header={"target_id": np.array([], int32)}), "has 0 target_id and 1 class_id for 1 trees"),
    (lambda: edited(header={"target_id": np.array([5], int32)}), "a tree of target 5 of 1"),
    (lambda: edited(header={"class_id": np.array([3], int32)}), "a tree of class 3 of 1"),
    (
        lambda: edited(header={"class_id": np.array([0], int32)}, made=vectors()),
        r"leaves of shape \(1, 2\), and trees that want \[\(1, 1\)\]",
    ),
]


@pytest.mark.parametrize("make, message", FORMAT, ids=[message[:40] for _, message in FORMAT])
def test_what_contradicts_itself_is_damaged(make: Any, message: str) -> None:
    with pytest.raises(lg.ModelFormatError, match=message):
        lg.load(make())


def test_a_model_without_trees() -> None:
    with pytest.raises(lg.ModelFormatError, match="has no trees"):
        lg.load(model([]))


def test_equality_is_refused() -> None:
    with pytest.raises(lg.UnsupportedModelError, match=r"asks '=='.*use a categorical split"):
        lg.load(model([("==", 0, 0.5, 1.0, 2.0)]))


def test_categories_beyond_what_a_set_holds() -> None:
    with pytest.raises(lg.UnsupportedModelError, match=r"category 4000000000; categories from 16777216 on"):
        lg.load(model([([1, 4_000_000_000], 1, False, 1.0, 2.0)]))


def test_an_object_of_treelite_that_is_no_model() -> None:
    with pytest.raises(lg.UnsupportedModelError, match=r"of treelite is no model.*load_xgboost_model"):
        lg.load(model([DEEP]).get_header_accessor())


def test_covers() -> None:
    both, counts, none = model([DEEP], hessian=True), model([DEEP]), model([DEEP], counts=False)
    hessian = model([DEEP], counts=False, hessian=True)
    assert np.array_equal(lg.load(both).share, lg.load(both, cover="hessian").share)
    assert np.array_equal(lg.load(counts).share, lg.load(both, cover="counts").share)
    assert not np.array_equal(lg.load(counts).share, lg.load(both).share)
    assert lg.load(counts).share[1] == 0.75
    assert np.array_equal(lg.load(hessian).share, lg.load(both).share)
    for made, asked, message in (
        (counts, "hessian", r"cover='hessian' is not kept .*cover=None, cover='counts', or rows"),
        (hessian, "counts", r"cover='counts' is not kept .*cover='hessian', or rows"),
        (none, "counts", r"cover='counts' is not kept by this treelite model. Use rows .*data=X"),
        (both, "nonsense", r"cover='nonsense' is not kept .*cover='counts', cover='hessian'"),
    ):
        with pytest.raises(lg.InputError, match=message):
            lg.load(made, cover=asked)
    with pytest.raises(lg.UnsupportedModelError, match=r"Model does not tell how many rows.*data=X"):
        lg.load(none)
    assert lg.load(none, data=ROWS).checked


def test_counts_of_some_nodes_only_are_none() -> None:
    made = field("data_count_present", 3, 0)
    with pytest.raises(lg.UnsupportedModelError, match="does not tell how many rows"):
        lg.load(made)


def test_children_of_covers() -> None:
    forest = lg.load(
        model([CATEGORIES]), data=[[0, 2, 0], [0, 5, 0], [1, 40, 0], [0, 3, 0], [0, 99, 0], [0, np.nan, 0]]
    )
    # Left: in the set, or missing. There, x <= 0.5; right: not in {0, 3}, or missing.
    assert forest.share[1] == pytest.approx(4 / 6)


def test_a_file_that_is_no_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.tl"
    for content in (b"\x04\x00", b"\x09\x00\x00\x00" * 9, b"what is this, and why is it here"):
        path.write_bytes(content)
        with pytest.raises(lg.ModelFormatError, match=r"model\.tl is no treelite checkpoint.*serialize"):
            lg.load(path)
    whole = model([DEEP]).serialize_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(lg.ModelFormatError, match=r"model\.tl is damaged: treelite says .*serialize"):
        lg.load(path)
    monkeypatch.setattr(ours, "installed", lambda _: False)
    with pytest.raises(lg.UnsupportedModelError, match=r"through treelite, which is not installed.*pip"):
        lg.load(path)


def test_bytes_of_a_model() -> None:
    assert lg.load(model([DEEP]).serialize_bytes()).checked


def test_a_lie_about_the_model_is_found() -> None:
    """The forest of one model against another, as after a change in treelite."""
    source = ours.read(model([DEEP]), None)
    other = ours.read(model([("<=", *DEEP[1:])]), None)
    with pytest.raises(lg.ModelMismatchError, match=r"reaches leaf .* of tree 0 .* in the live Model"):
        import_module("leafgrad.load.check").verified(source.forest(), other)


@pytest.mark.parametrize("name", ["exponential", "sigmoid", "logarithm_one_plus_exp", "signed_square"])
def test_links_are_treelites_post_processors(name: str) -> None:
    made = model([DEEP], width="float64", link=name, base=[0.25])
    X = np.nan_to_num(ROWS[:40])
    order = np.tile(np.arange(3), (len(X), 1))
    final = lg.curves(made, X, order, link="model", progress=False).insertion[:, -1]
    assert final == pytest.approx(treelite.gtil.predict(made, X, nthread=1).ravel(), rel=1e-12)


def test_a_post_processor_that_is_no_link_is_kept_by_name() -> None:
    forest = lg.load(model([DEEP], task="kBinaryClf", link="hinge"))
    assert forest.link == "hinge"
    with pytest.raises(lg.UnsupportedModelError, match=r"the model's link is 'hinge'.*link=None"):
        lg.curves(forest, ROWS[:2], [[0, 1, 2]] * 2, link="model", progress=False)


def test_a_thousand_trees_load_fast() -> None:
    made = model([DEEP] * 1000)
    start = time.process_time()
    forest = lg.load(made, check=False)
    assert time.process_time() - start < 0.5
    assert forest.n_trees == 1000
