"""Check the docstrings of the public names by numpydoc's rules: `python tools/docstrings.py`.

Public is what `leafgrad.__all__` holds, and the methods and properties of its classes. All else is free to
say what it is in one line.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator

from numpydoc.validate import validate

import leafgrad

FREE = {
    "ES01",  # a longer text
    "EX01",  # an example everywhere: tests/unit/test_docs.py wants one for each public name
    "GL01",  # text away from the opening line
    "PR03",  # parameters in their order: several may be told in one line
    "PR04",  # types: annotations give them
    "PR08",  # descriptions in capitals: they may start with code
    "RT03",  # a sentence about a return value whose type says all
    "SA01",  # "See Also"
    "SS05",  # infinitives
}
FREE_FOR_CLASSES = FREE | {"PR01"}  # a frozen class tells its fields as attributes


def public() -> Iterator[str]:
    """Import paths of all that is public."""
    for name in leafgrad.__all__:
        thing = getattr(leafgrad, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            yield f"leafgrad.{name}"
        if inspect.isclass(thing):
            members = [member for member, value in vars(thing).items() if _told(member, value)]
            yield from (f"leafgrad.{name}.{member}" for member in members)


def _told(member: str, value: object) -> bool:
    """Whether a member of a class has a docstring of its own; a property by lambda has but a line."""
    if member.startswith("_"):
        return False
    if isinstance(value, property):
        return value.fget is not None and value.fget.__name__ != "<lambda>"
    return inspect.isfunction(value) or isinstance(value, classmethod | staticmethod)


def wrong(path: str) -> list[str]:
    """What numpydoc says against one docstring."""
    told = validate(path)
    free = FREE_FOR_CLASSES if told["type"] == "type" else FREE
    return [f"{path}: {code} {message}" for code, message in told["errors"] if code not in free]


if __name__ == "__main__":
    errors = [line for path in public() for line in wrong(path)]
    print(*errors, sep="\n")
    sys.exit(bool(errors))
