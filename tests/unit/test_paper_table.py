"""Tables of paper/ in Markdown and CSV."""

from pathlib import Path

import pytest
from paper.table import Table, save


def table() -> Table:
    made = Table(("data", "leaves", "score", "held"), ("", ",d", ".3f", ""), right=(3,))
    made.add("a, b", 1275, 0.53741, "yes")
    made.add("c", None, None, "not at hand")
    return made


def test_markdown_is_to_be_read() -> None:
    assert table().markdown().splitlines() == [
        "| data | leaves | score | held |",
        "|---|---:|---:|---:|",
        "| a, b | 1,275 | 0.537 | yes |",
        "| c |  |  | not at hand |",
    ]


def test_csv_has_every_digit() -> None:
    assert table().csv() == 'data,leaves,score,held\n"a, b",1275,0.53741,yes\nc,,,not at hand\n'


def test_a_line_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="2 cells came for the 4 columns"):
        table().add("a", 1)


def test_both_forms_are_saved(tmp_path: Path) -> None:
    save(tmp_path, "models", "The models", ["A note.", table()])
    assert (tmp_path / "models.md").read_text() == f"# The models\n\nA note.\n\n{table().markdown()}\n"
    assert (tmp_path / "models.csv").read_text() == table().csv()
