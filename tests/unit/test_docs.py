"""Examples are promises: those of every docstring, README.md and docs/ are run, on the installed package."""

import doctest
import importlib
import pkgutil
import re
import runpy
from pathlib import Path

import pytest

import leafgrad

ROOT = Path(__file__).parents[2]
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
MODULES = ["leafgrad"] + [
    module.name
    for module in pkgutil.walk_packages(leafgrad.__path__, "leafgrad.")
    if not module.name.endswith("._core")
]


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name), optionflags=OPTIONS)
    assert result.failed == 0


def test_public_functions_show_an_example() -> None:
    """What `leafgrad` exports and is called by a user has an example; errors and types may do without."""
    finder = doctest.DocTestFinder()  # a class may have it at a method
    without = [
        name
        for name in leafgrad.__all__
        if callable(thing := getattr(leafgrad, name))
        and not (isinstance(thing, type) and issubclass(thing, Exception))
        and not any(test.examples for test in finder.find(thing, name))
    ]
    assert without == []


PAGES = [
    ROOT / "README.md",
    *(page for page in sorted(ROOT.glob("docs/**/*.md")) if ">>>" in page.read_text()),
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_of_pages(page: Path) -> None:
    result = doctest.testfile(str(page), module_relative=False, optionflags=OPTIONS)
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize(
    "page", sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]), ids=lambda p: p.name
)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_the_support_table_is_what_the_tests_noted() -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "support.py"))
    assert (ROOT / "docs" / "support.md").read_text() == tool["page"](tool["noted"]())


def test_readme_shows_the_two_commands() -> None:
    text = (ROOT / "README.md").read_text()
    commands = (
        "python3 -m venv .venv && . .venv/bin/activate && pip install '.[all]' && leafgrad demo",
        "pip install '.[test]' && pytest",
    )
    script = (ROOT / ".ci" / "run").read_text()
    for command in commands:
        assert command in text
        assert f"\n{command}\n" in script
