"""Records as CSV, JSON lines and Parquet."""

import csv
import io
import json
import sys
from typing import Any

import pytest

from domsieve.analysis.records.iepad import RepeatedPatterns
from domsieve.analysis.writers.record_tables import (
    RecordSheet,
    write_records_csv,
    write_records_jsonl,
    write_records_parquet,
)
from domsieve.errors import UsageError
from tests.analysis.contract import body
from tests.analysis.pages import page


def sheet(*items: str, url: str = "https://example.org/dir/page.html") -> RecordSheet:
    """Return the records of a list of these items, found as the method finds them."""
    html = "".join(f"<li><p>{item}</p></li>" for item in items)
    snapshot = page(f"<html><body><ul>{html}</ul></body></html>", url=url)
    return RecordSheet.of(snapshot, RepeatedPatterns().transform(snapshot))


def rows(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode("utf-8"), newline="")))


def cells(*items: str) -> list[str]:
    return [row[3] for row in rows(write_records_csv([sheet(*items)]))[1:]]


def test_csv_has_a_header_and_a_line_per_record() -> None:
    assert write_records_csv([sheet("a", "b,c", 'd"e')]) == (
        b"page,region,record,title\r\n"
        b"https://example.org/dir/page.html,1,1,a\r\n"
        b'https://example.org/dir/page.html,1,2,"b,c"\r\n'
        b'https://example.org/dir/page.html,1,3,"d""e"\r\n'
    )


FORMULAS = ("=1+1", "+cmd", "-2+3", "@sum", "＝1", "＋1", "－1", "＠a", "-", "+1+1", "=", "-5a", "@")


@pytest.mark.parametrize("text", FORMULAS)
def test_csv_quotes_what_a_spreadsheet_would_run(text: str) -> None:
    assert cells("x", "y", text)[2] == f"'{text}"


@pytest.mark.parametrize(
    "text", ["-3.5", "+1,234.50", "-1 000", "-5 %", "-1e5", "-.5", "3.5", "-1'000", "a=b"]
)
def test_csv_leaves_numbers_and_words_alone(text: str) -> None:
    assert cells("x", "y", text)[2] == text


def test_csv_quotes_formulas_in_addresses_of_pages() -> None:
    data = write_records_csv([sheet("a", "b", "c", url="=cmd.html")])
    assert rows(data)[1][0] == "'=cmd.html"


def test_hostile_text_stays_in_its_cell() -> None:
    hostile = 'a\r\n=1\n,";\t\u2028|\u202eb\x00\x1b[2J'
    assert cells("x", hostile, "y") == ["x", 'a =1 ,"; |\u202eb[2J', "y"]
    data = write_records_jsonl([sheet("x", hostile, "y")])
    assert data.count(b"\n") == 3
    assert json.loads(data.splitlines()[1])["fields"]["title"]["value"] == 'a =1 ,"; |\u202eb[2J'


def test_regions_of_different_fields_share_one_table() -> None:
    prices = "".join(f"<tr><td>{n}</td><td itemprop=page>{n}.50</td></tr>" for n in range(3))
    snapshot = body("<ul>" + "<li><p class=name>x</p></li>" * 3 + f"</ul><table>{prices}</table>")
    found = RecordSheet.of(snapshot, RepeatedPatterns().transform(snapshot))
    table = rows(write_records_csv([found]))
    assert table[0] == ["page", "region", "record", "name", "number", "page_field"]
    assert [row[1:] for row in table[1:]] == [
        *(["1", str(n), "x", "", ""] for n in (1, 2, 3)),
        *(["2", str(n + 4), "", str(n), f"{n}.50"] for n in range(3)),
    ]


def test_jsonl_says_where_everything_stands() -> None:
    found = sheet("<a href=x>a</a>", "b", "c")
    lines = [json.loads(line) for line in write_records_jsonl([found]).splitlines()]
    assert [line["record"] for line in lines] == [1, 2, 3]
    first, stop = found.records.pieces_of(0)[0]
    assert lines[0] == {
        "page": "https://example.org/dir/page.html",
        "method": "iepad",
        "region": 1,
        "record": 1,
        "nodes": [[first, stop]],
        "fields": {
            "link": {"kind": "link", "value": "https://example.org/dir/x", "nodes": [first + 2, stop]},
            "title": {"kind": "text", "value": "a", "nodes": [first + 3, stop]},
        },
    }
    assert "link" not in lines[1]["fields"]


def test_pages_follow_each_other() -> None:
    both = [sheet("a", "b", "c"), sheet("d", "e", "f", url="file\udce4.html")]
    table = rows(write_records_csv(both))
    assert [(row[0], *row[2:]) for row in table[3:5]] == [
        ("https://example.org/dir/page.html", "3", "c"),
        ("file\ufffd.html", "1", "d"),
    ]
    assert len(write_records_jsonl(both).splitlines()) == 6


def test_no_records() -> None:
    empty = RecordSheet.of(body("x"), RepeatedPatterns().transform(body("x")))
    for none in ([], [empty]):
        assert write_records_csv(none) == b"page,region,record\r\n"
        assert write_records_jsonl(none) == b""


def test_parquet() -> None:
    parquet: Any = pytest.importorskip("pyarrow.parquet")
    found = sheet("<b>a</b>", "<b>=b</b><i>c</i>", "<b>d</b>")
    data = write_records_parquet([found])
    assert data == write_records_parquet([found])
    table = parquet.read_table(io.BytesIO(data))
    assert table.to_pydict() == {
        "page": ["https://example.org/dir/page.html"] * 3,
        "region": [1, 1, 1],
        "record": [1, 2, 3],
        "title": ["a", "=b", "d"],
        "text_2": [None, "c", None],
    }
    assert parquet.read_table(io.BytesIO(write_records_parquet([]))).num_rows == 0


def test_parquet_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"the extra parquet"):
        write_records_parquet([sheet("a", "b", "c")])
