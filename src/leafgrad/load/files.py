"""Whose a model file is: told by what it holds, not by its name.

A JSON file may be of XGBoost or of CatBoost, and a renamed file stays what it is. ONNX and treelite have no
mark of their own: a file's ending counts there, or else that it begins with a version, as theirs do.
"""

from __future__ import annotations

from importlib.util import find_spec

from leafgrad.errors import ModelFormatError, UnsupportedModelError

XGBOOST, LIGHTGBM, CATBOOST = "leafgrad.load.xgboost", "leafgrad.load.lightgbm", "leafgrad.load.catboost"
ONNX, TREELITE = "leafgrad.load.onnx", "leafgrad.load.treelite"
SPACE = b" \t\r\n"
# A protocol buffer's first field, the version of the format, and the field behind it: ONNX.
ONNX_FIELDS = b"\x12\x1a\x22\x28\x32\x3a\x42"
CHECKPOINTS = (b"\x03\x00\x00\x00", b"\x04\x00\x00\x00")  # treelite's major version


def is_forest(content: bytes) -> bool:
    """Whether this is what `Forest.save` writes, whatever the file is called.

    Parameters
    ----------
    content : bytes
        All of the file.
    """
    return content.startswith(b"PK") and b"meta.npy" in content


def reader_of(content: bytes, name: str) -> str:
    """Find the loader's module for a file.

    Parameters
    ----------
    content : bytes
        All of the file.
    name : str
        Its path, for messages and for its ending.
    """
    if not content:
        raise ModelFormatError(f"{name} is empty; pass a model that its library saved")
    if content.startswith(b"CBM1"):
        return CATBOOST
    if content.startswith((b"tree\n", b"tree\r\n")):
        return LIGHTGBM
    if content.startswith(b"{"):
        # Text has a name or its space behind the brace; Universal Binary JSON a mark of a length.
        if content[1:2] not in (b'"', b"}", *(bytes([space]) for space in SPACE)):
            return XGBOOST
        return CATBOOST if b'"features_info"' in content else XGBOOST
    if name.endswith(".onnx"):
        return ONNX
    if name.endswith((".tl", ".treelite")):
        return TREELITE
    if content[:1] == b"\x08" and content[2:3] in [bytes([field]) for field in ONNX_FIELDS]:
        return ONNX
    if content.startswith(CHECKPOINTS):
        return TREELITE
    if content.startswith((b"\x80", b"PK", b"\x1f\x8b", b"x")):
        raise UnsupportedModelError(
            f"{name} is a pickle or an archive, which can run code when read. Load it yourself (pickle.load, "
            "joblib.load) and pass the model."
        )
    raise UnsupportedModelError(
        f"{name} is no model file that leafgrad knows. It reads .npz of Forest.save, .json and .ubj of "
        "XGBoost, .txt of LightGBM, .cbm and .json of CatBoost, .onnx, and treelite checkpoints (.tl)."
    )


def installed(library: str) -> bool:
    """Whether a library is there to be asked about its own files.

    Parameters
    ----------
    library : str
        Its top module.
    """
    return find_spec(library) is not None
