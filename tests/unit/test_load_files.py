import pickle
from pathlib import Path

import pytest

import leafgrad as lg
from leafgrad.load.files import reader_of


@pytest.mark.parametrize(
    ("content", "name", "loader"),
    [
        (b'{"learner":{},"version":[2,1,0]}', "model.json", "xgboost"),
        (b'{\n "learner": {}}', "no ending", "xgboost"),
        (b"{L\x00\x00\x00\x00\x00\x00\x00\x07learner", "model.json", "xgboost"),
        (b"{i\x07learner", "model.bin", "xgboost"),
        (b'{"features_info":{},"oblivious_trees":[]}', "model.json", "catboost"),
        (b"CBM1\x00\x00", "model", "catboost"),
        (b"tree\nversion=v4\n", "model.txt", "lightgbm"),
        (b"tree\r\nversion=v4\r\n", "model.json", "lightgbm"),
        (b"\x08\x09\x12", "model.onnx", "onnx"),
        (b"\x08\x09\x12", "the model's content", "onnx"),
        (b"\x08\x08\x3a", "model.bin", "onnx"),
        (b"\x04\x00\x00\x00", "model.tl", "treelite"),
        (b"\x04\x00\x00\x00\x08\x00", "the model's content", "treelite"),
    ],
)
def test_files_are_known_by_what_they_hold(content: bytes, name: str, loader: str) -> None:
    assert reader_of(content, name) == f"leafgrad.load.{loader}"


def test_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "model.json").touch()
    with pytest.raises(lg.ModelFormatError, match=r"model\.json is empty; pass a model"):
        lg.load(tmp_path / "model.json")


@pytest.mark.parametrize("content", [pickle.dumps([1]), b"PK\x03\x04", b"\x1f\x8b\x08"])
def test_pickles_are_not_opened(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "model.pkl").write_bytes(content)
    with pytest.raises(lg.UnsupportedModelError, match=r"can run code when read\. Load it yourself"):
        lg.load(tmp_path / "model.pkl")


def test_a_file_of_nobody() -> None:
    with pytest.raises(lg.UnsupportedModelError, match=r"treehouse\.txt is no model file"):
        reader_of(b"treehouse\n", "treehouse.txt")
    with pytest.raises(lg.UnsupportedModelError, match="the model's content is no model file"):
        lg.load(b"what is this")


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        lg.load(tmp_path / "nothing.json")
