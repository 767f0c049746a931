"""htmldate's benchmark: what counts as right, and what the table says."""

from pathlib import Path

import pytest

from experiments.corpora.annotated_pages import DatedPage, dated_pages
from experiments.experiments.htmldate import HTMLDATE, measure_page
from experiments.frame.experiment import Inputs, Row
from tests.experiments.annotated import write_annotated

SOURCE = (
    '<html><head><meta property="article:published_time" content="2021-03-04"></head><body><p>Rain</body>'
)


def test_every_system_reads_a_page() -> None:
    pytest.importorskip("htmldate")
    row = measure_page(DatedPage("a", "https://e.example/", SOURCE.encode(), "2021-03-04"))
    assert row["failures"] == []
    assert all(said == [True, True] for said in row["dates"].values())
    assert {"domsieve", "htmldate, extensive", "htmldate, fast"} < row["dates"].keys()


def test_the_address_is_read_only_where_it_is_given() -> None:
    pytest.importorskip("htmldate")
    page = DatedPage("a", "https://e.example/2021/03/04/rain", b"<p>Rain", "2021-03-04")
    dates = measure_page(page)["dates"]
    assert dates["domsieve"] == [True, True]
    assert dates["domsieve, without an address"] == [False, False]


def test_pages_without_a_date_are_read_and_any_date_of_them_is_wrong(tmp_path: Path) -> None:
    pytest.importorskip("htmldate")
    write_annotated(
        tmp_path / "dates", "dates.json", {"https://e.example/": (SOURCE, {"date": float("nan")})}
    )
    (page,) = dated_pages(tmp_path)
    assert page.date == ""
    (task,) = HTMLDATE.tasks(Inputs(tmp_path, tmp_path))
    (row,) = task.measure()
    assert row["dates"]["domsieve"] == [True, False]
    assert HTMLDATE.tasks(Inputs(tmp_path / "gone", tmp_path)) == []


def test_dates_of_the_last_change_are_counted_where_somebody_looked() -> None:
    pytest.importorskip("htmldate")
    source = SOURCE.replace("published_time", "modified_time").encode()
    rows = [
        measure_page(DatedPage(str(number), "", source, "2021-03-04", modified))
        for number, modified in enumerate(("2021-03-04", "2020-01-01", "", None))
    ]
    assert "modified" not in rows[3]
    _, changes = HTMLDATE.tables(rows)
    assert changes.rows == [[1, 2, 0, 0]]


def test_the_table_counts_wrong_and_missing_dates_apart() -> None:
    def row(page: str, *said: bool) -> Row:
        return {"page": page, "domain": page, "dates": {"x": list(said)}, "failures": ["x"] * (not said[0])}

    (table,) = HTMLDATE.tables(
        [row("a", True, True), row("b", True, True), row("c", True, False), row("d", False, False)]
    )
    line = dict(zip(table.head, table.rows[0], strict=True))
    figures = [str(line[name]).split()[0] for name in ("precision", "recall", "F1", "right")]
    assert figures == ["0.667", "0.667", "0.667", "0.500"]
    assert line["failures"] == 1
    assert HTMLDATE.tables([]) == []
