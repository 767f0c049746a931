"""Tables as Markdown."""

import pytest

from experiments.frame.document import print_tables
from experiments.frame.tables import Table


def test_a_table_is_written_with_title_and_note() -> None:
    table = Table(
        "Shares", ("site", "pages", "share"), [["a", 1200, 0.5], ["b", None, None]], "A note.", digits=2
    )
    assert print_tables([table]) == (
        "**Shares**\n\n"
        "| site | pages | share |\n"
        "|---|---:|---:|\n"
        "| a | 1,200 | 0.50 |\n"
        "| b |  |  |\n\n"
        "A note.\n"
    )


def test_a_bar_in_a_cell_ends_no_column() -> None:
    text = print_tables([Table("Programs", ("program", "a | b"), [["sh -c 'a | b'", 1]])])
    assert r"| program | a \| b |" in text
    assert r"| sh -c 'a \| b' | 1 |" in text


def test_a_row_has_a_cell_per_column() -> None:
    with pytest.raises(ValueError, match="Shares: a row of 1 cells below 2 columns"):
        Table("Shares", ("site", "pages"), [["a"]])
