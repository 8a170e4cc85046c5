"""Check the docstrings of the public names by numpydoc's rules: `python tools/docstrings.py`.

Public is what `leafgrad.__all__` holds, and the methods and properties of its classes that leafgrad itself wrote.
Everything else is free to say what it is in one line.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator

from numpydoc.validate import validate

import leafgrad

# What is not asked for: a longer text (ES01), "See Also" (SA01), an example everywhere (EX01: tests/unit/test_docs.py
# wants one for each public name), text away from the opening line (GL01), types where annotations give them
# (PR04), several parameters told in one line (PR03), descriptions that start with a capital (PR08: they may start
# with code), a sentence about each return value (RT), and verbs in the infinitive (SS05).
FREE = {
    "ES01",
    "SA01",
    "EX01",
    "GL01",
    "PR03",
    "PR04",
    "PR08",
    "RT01",
    "RT02",
    "RT03",
    "RT04",
    "RT05",
    "SS05",
}
# A frozen class tells its fields as attributes.
FREE_FOR_CLASSES = FREE | {"PR01"}


def public() -> Iterator[str]:
    """Import paths of all that is public."""
    for name in leafgrad.__all__:
        thing = getattr(leafgrad, name)
        if not (inspect.isclass(thing) or inspect.isfunction(thing)):
            continue
        yield f"leafgrad.{name}"
        if inspect.isclass(thing):
            yield from (
                f"leafgrad.{name}.{member}" for member, value in vars(thing).items() if _told(member, value)
            )


def _told(member: str, value: object) -> bool:
    """Whether a member of a class has a docstring of its own kind; a property by lambda has but a line."""
    if member.startswith("_"):
        return False
    if isinstance(value, property):
        return value.fget is not None and value.fget.__name__ != "<lambda>"
    return inspect.isfunction(value) or isinstance(value, classmethod | staticmethod)


def main() -> None:
    """Print what is wrong, and exit with 1 if anything is."""
    wrong = [
        f"{path}: {code} {message}"
        for path in public()
        for code, message in (told := validate(path))["errors"]
        if code not in (FREE_FOR_CLASSES if told["type"] == "type" else FREE)
    ]
    print(*wrong, sep="\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
