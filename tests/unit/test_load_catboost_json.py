"""CatBoost's JSON beside its trees: columns and their places, labels, loss; truncated and hostile text."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import numpy as np
import pytest

import leafgrad as lg
from leafgrad.load.catboost_json import columns, facts, parse

NUMBERS: list[dict[str, Any]] = [
    {"feature_index": 0, "flat_feature_index": 2, "feature_id": "z"},
    {"feature_index": 1, "flat_feature_index": 0, "feature_id": ""},
]
TEXT: list[dict[str, Any]] = [{"feature_index": 0, "flat_feature_index": 1, "feature_name": "city"}]


def model(**info: Any) -> dict[str, Any]:
    return {"features_info": {"float_features": NUMBERS, "categorical_features": TEXT, **info}}


def test_columns() -> None:
    found = columns(model())
    assert found.n == 3
    assert found.floats == {0: 2, 1: 0}
    assert found.categorical == {0: 1}
    assert found.names == ("0", "city", "z")
    assert found.named(1) == "'city'"
    assert found.missing_left.tolist() == [True, True, True]


def test_columns_without_names() -> None:
    found = columns({"features_info": {"float_features": [{"feature_index": 0, "flat_feature_index": 0}]}})
    assert found.names is None
    assert found.named(0) == "column 0"


@pytest.mark.parametrize(
    ("treatment", "seen", "left"),
    [("AsIs", False, True), ("AsFalse", True, True), ("AsTrue", True, False), ("AsTrue", False, True)],
)
def test_missing_values(treatment: str, seen: bool, left: bool) -> None:
    feature = {**NUMBERS[1], "nan_value_treatment": treatment, "has_nans": seen}
    assert columns(model(float_features=[NUMBERS[0], feature])).missing_left.tolist() == [left, True, True]


def test_facts() -> None:
    about = facts(
        {
            "model_info": {
                "params": {"loss_function": {"type": "Logloss"}},
                "class_params": {
                    "class_names": ["no", "yes"],
                    "class_to_label": [0, 1],
                    "class_label_type": "String",
                },
            },
            "scale_and_bias": [2, [3]],
        }
    )
    assert (about.loss, about.labels, about.places) == ("Logloss", ("no", "yes"), (0, 1))
    assert (about.scale, about.bias) == (2.0, (3.0,))
    bare = facts({})
    assert (bare.loss, bare.labels, bare.places, bare.scale, bare.bias) == ("", None, None, 1.0, (0.0,))


@pytest.mark.parametrize(
    ("classes", "labels"),
    [
        ({"class_names": [0, 1], "class_to_label": [0, 1], "class_label_type": "Float"}, (0.0, 1.0)),
        ({"class_names": [4, 7], "class_to_label": [0, 1], "class_label_type": "Integer"}, (4, 7)),
        ({"class_names": [], "class_to_label": [0, 1], "class_label_type": "Integer"}, (0, 1)),
        (
            {"class_names": ["a", "b", "c"], "class_to_label": [0, 2], "class_label_type": "String"},
            ("a", "c"),
        ),
        (
            {"class_names": [False, True], "class_to_label": [0, 1], "class_label_type": "Boolean"},
            (False, True),
        ),
    ],
)
def test_labels(classes: dict[str, Any], labels: tuple[Any, ...]) -> None:
    found = facts({"model_info": {"class_params": classes}})
    assert found.labels == labels
    assert list(map(type, found.labels or ())) == list(map(type, labels))
    assert found.places == tuple(classes["class_to_label"])


@pytest.mark.parametrize(
    ("info", "message"),
    [
        ({"float_features": [*NUMBERS, {**NUMBERS[0], "feature_index": 2}]}, "places of the 4 features in X"),
        ({"float_features": [NUMBERS[0]]}, "the places of the 2 features in X are not 0 to 1, each once"),
        ({"float_features": [NUMBERS[0], {**NUMBERS[1], "feature_index": 0}]}, "have one feature_index"),
        ({"float_features": [NUMBERS[0], {**NUMBERS[1], "feature_index": -1}]}, "an index is -1; wanted"),
        ({"float_features": [NUMBERS[0], {**NUMBERS[1], "flat_feature_index": 0.0}]}, "an index is 0.0"),
        (
            {"float_features": [{**NUMBERS[0], "nan_value_treatment": "AsNull"}, NUMBERS[1]]},
            "'AsNull'; wanted",
        ),
    ],
)
def test_damaged_columns(info: dict[str, Any], message: str) -> None:
    with pytest.raises(lg.ModelFormatError, match=re.escape(message)):
        columns(model(**info))


def test_damaged_facts() -> None:
    with pytest.raises(lg.ModelFormatError, match=r"scale_and_bias is 1, \[nan\]; wanted finite"):
        facts({"scale_and_bias": [1, [float("nan")]]})


@pytest.mark.parametrize("kind", ["text", "embedding"])
def test_texts_and_embeddings_are_refused(kind: str) -> None:
    with pytest.raises(
        lg.UnsupportedModelError, match=rf"has {kind} features.*numeric columns of the {kind}s"
    ):
        columns(model(**{f"{kind}_features": [{"feature_index": 0, "flat_feature_index": 3}]}))


# The text itself

SMALL = {
    **model(),
    "oblivious_trees": [
        {
            "splits": [{"float_feature_index": 0, "border": 0.5, "split_type": "FloatFeature"}],
            "leaf_values": [-1.25, 2.5],
            "leaf_weights": [3, 4],
        }
    ],
    "scale_and_bias": [1, [0.5]],
}
WRITTEN = json.dumps(SMALL, indent=1).encode()


def test_the_text_is_read() -> None:
    assert parse(WRITTEN) == SMALL
    assert lg.load(WRITTEN, check=False).n_features == 3


def test_cut_anywhere_it_is_damaged() -> None:
    """The mark of a CatBoost file stands near its beginning; cut before, it is taken for another's."""
    for end in range(WRITTEN.index(b"float_features"), len(WRITTEN)):
        with pytest.raises(lg.ModelFormatError, match="the model's content is damaged"):
            lg.load(WRITTEN[:end], check=False)


def test_bytes_turned_anywhere_are_read_or_refused() -> None:
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(1500):
        content = bytearray(WRITTEN)
        for at in rng.integers(2, len(content), rng.integers(1, 4)):
            content[at] = rng.integers(256)
        if b'"features_info"' not in content:
            continue
        try:
            lg.load(bytes(content), check=False)
        except (lg.ModelFormatError, lg.UnsupportedModelError):
            refused += 1
    assert refused > 500


@pytest.mark.parametrize(
    "content",
    [
        b'{"features_info": ' + b'{"a": ' * 200_000,
        b'{"trees": ' + b"[" * 200_000 + b'"features_info"',
        b'{"features_info": {}, "n": ' + b"1" * 5000 + b"}",
        b'{"features_info": {}, "trees": [' + b'{"left": ' * 100_000,
        b'{"features_info": [1, 2]}',
        b'{"other": "features_info", "features_info": null}',
        b'{"features_info": {"float_features": 5}}',
        b'{"features_info": "\xff\xfe"}',
        b'{"features_info": {"float_features": {"a": 1}}, "trees": [{}]}',
    ],
    ids=lambda content: content[:40],
)
def test_hostile_text(content: bytes) -> None:
    start = time.process_time()
    with pytest.raises(lg.ModelFormatError, match="the model's content is damaged"):
        lg.load(content)
    assert time.process_time() - start < 5


def test_places_far_out_take_no_memory() -> None:
    far = {
        **SMALL,
        "features_info": {"float_features": [{"feature_index": 0, "flat_feature_index": 2**31 - 1}]},
    }
    with pytest.raises(lg.ModelFormatError, match="are not 0 to 0"):
        lg.load(json.dumps(far).encode())
