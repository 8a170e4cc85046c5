"""Every error leafgrad raises on purpose.

Each message says what came, what is wanted, and the cure. All derive from `ValueError`, so that code
written for another library's checks keeps working.
"""

from __future__ import annotations


class LeafgradError(ValueError):
    """Base of every error raised on purpose by leafgrad."""


class ModelFormatError(LeafgradError):
    """The model's own data are damaged or inconsistent."""


class UnsupportedModelError(LeafgradError):
    """The model is no sum of trees that can be explained exactly; the message names what to pass instead."""


class ModelMismatchError(LeafgradError):
    """The loaded forest and the user's live model disagree on a probe row."""


class InputError(LeafgradError):
    """The data or an argument do not fit the model or the function."""
