"""Records on the web page: a part of them as tables, with links, and with pictures for users who ask for them."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from domsieve.sanitize import plain
from domsieve.service.web.guard import PAGE_POLICY
from domsieve.urls import has_web_scheme

RECORDS = frozenset({"records", "records_html", "fields", "learn_fields"})
"""Kinds of jobs whose result is records."""
TABLE_BYTES = 4_000_000
"""Maximum length of a file that is read for tables; of records, the rest can only be downloaded."""
PART = 50
"""Number of records that are shown at once."""
PICTURES_POLICY = PAGE_POLICY.replace("img-src 'self' data:", "img-src 'self' data: http: https:")
"""The policy of the page for users who asked for the pictures of records."""
OTHER_FILE = (AttributeError, KeyError, TypeError, ValueError, csv.Error)
"""Errors of files in another form; csv.Error if a field is too long."""

_CELL, _COLUMNS = 400, 60
_PLACES = ("page", "region", "record")
_TITLE, _PRICE, _LINK, _IMAGE = "title", "price", "link", "image"
_LONGEST_ADDRESS, _SHOWN_ADDRESS = 8_192, 60
_NUMBER_DIGITS = 7

_Row = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RecordCell:
    """A field of a record: its text, the address that it leads to, and that of its picture; empty for none."""

    text: str
    href: str = ""
    picture: str = ""


@dataclass(frozen=True, slots=True)
class RecordTable:
    """Records of one data region.

    Parameters
    ----------
    name : its name for people.
    columns : names of the columns; title and price come first.
    rows : the cells.
    same : name and value of each field that is the same in all records of the region, shown or not.
    """

    name: str
    columns: Sequence[str]
    rows: Sequence[Sequence[RecordCell]]
    same: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class ShownRecords:
    """A part of the records of a result.

    Parameters
    ----------
    first, last : numbers of the first and the last record of the part, from 1.
    total : number of records of the result.
    readable : number of those that can be shown; the others are in the download.
    tables : the part, one table per data region.
    """

    first: int
    last: int
    total: int
    readable: int
    tables: Sequence[RecordTable]

    @property
    def before(self) -> int:
        """First record of the part before this one; 0 if there is none."""
        return max(1, self.first - PART) if self.first > 1 else 0

    @property
    def after(self) -> int:
        """First record of the next part; 0 if there is none."""
        return self.last + 1 if self.last < self.readable else 0

    @property
    def has_pictures(self) -> bool:
        """Whether a record of the part has a picture."""
        return any(cell.picture for table in self.tables for row in table.rows for cell in row)


def record_number(text: str | None) -> int:
    """Return the number of a record in an address; 1 for anything else."""
    is_number = text is not None and text.isascii() and text.isdecimal() and len(text) <= _NUMBER_DIGITS
    return max(1, int(text or 1)) if is_number else 1


def shown_records(
    data: bytes, content_type: str, *, is_whole: bool, total: int | None = None, first: int = 1
) -> ShownRecords | None:
    """Return a part of the records of a CSV or JSON lines file; None for other files and without records.

    Parameters
    ----------
    data : the file or its beginning.
    content_type : media type of the file.
    is_whole : whether `data` is complete; if not, the last line is left out.
    total : number of records of a file that is not whole; None if it is unknown.
    first : number of the first record to show, from 1; the last part if there are fewer.
    """
    if not is_whole:
        data = data[: data.rfind(b"\n") + 1]
    text = data.decode("utf-8", "replace")
    try:
        rows = list(_of_csv(text) if content_type.startswith("text/csv") else _of_lines(text))
    except OTHER_FILE:
        return None
    if not rows:
        return None
    if first > len(rows):
        first = (len(rows) - 1) // PART * PART + 1
    part = range(first - 1, min(first - 1 + PART, len(rows)))
    regions: dict[str, list[int]] = {}
    for number, row in enumerate(rows):
        regions.setdefault(row.get("region", ""), []).append(number)
    tables = []
    for region, numbers in regions.items():
        if shown := [rows[number] for number in numbers if number in part]:
            name = f"Region {region}: {len(numbers):,} records" if len(regions) > 1 else "Records"
            tables.append(_table(name, [rows[number] for number in numbers], shown))
    known = len(rows) if is_whole else max(len(rows), total or 0)
    return ShownRecords(first, part.stop, known, len(rows), tables)


def _table(name: str, rows: Sequence[_Row], shown: Sequence[_Row]) -> RecordTable:
    named = dict.fromkeys(name for row in rows for name, value in row.items() if value)
    columns = sorted((column for column in named if column not in _PLACES), key=_rank)[:_COLUMNS]
    if _TITLE in columns and _LINK in columns:
        columns.remove(_LINK)  # the title leads there
    same = [column for column in columns if len(rows) > 1 and column != _TITLE and _is_same(rows, column)]
    kept = [column for column in columns if column not in same]
    if not kept:
        kept, same = columns, []
    return RecordTable(
        name,
        [_heading(column) for column in kept],
        [[_cell_of(row, column) for column in kept] for row in shown],
        [(_heading(column), short(rows[0][column])) for column in same],
    )


def _rank(column: str) -> int:
    if column in {_TITLE, _PRICE}:
        return (_TITLE, _PRICE).index(column)
    return 2 if column.startswith(_IMAGE) else 3


def _is_same(rows: Sequence[_Row], column: str) -> bool:
    return len({row.get(column, "") for row in rows}) == 1


def _heading(column: str) -> str:
    return column.replace("_", " ").capitalize()


def _cell_of(row: _Row, column: str) -> RecordCell:
    text = row.get(column, "")
    if column == _TITLE:
        href = _web_address(row.get(_LINK, ""))
        return RecordCell(short(text) or _address(href), href)
    href = _web_address(text)
    if href and column.startswith(_IMAGE):
        return RecordCell("Picture", href, href)
    return RecordCell(_address(text) if href else short(text), href)


def _web_address(text: str) -> str:
    """Return an address of the web that is safe to link to; empty for anything else."""
    is_address = has_web_scheme(text) and len(text) <= _LONGEST_ADDRESS and plain(text) == text
    return text if is_address and not any(map(str.isspace, text)) else ""


def _address(url: str) -> str:
    said = url.partition("://")[2]
    return said if len(said) <= _SHOWN_ADDRESS else f"{said[:_SHOWN_ADDRESS]}…"


def short(text: str) -> str:
    """Return a text for a cell, without control characters; its beginning if it is long."""
    words = plain(text[: _CELL + 1])
    return words if len(text) <= _CELL else f"{words[:_CELL]}…"


def _of_csv(text: str) -> Iterable[dict[str, str]]:
    return csv.DictReader(io.StringIO(text, newline=""), restval="")


def _of_lines(text: str) -> Iterator[dict[str, str]]:
    for line in text.splitlines():
        record = json.loads(line)
        fields = {name: _said(field["value"]) for name, field in record["fields"].items()}
        # Fields of whole pages lead to their page.
        page = {_LINK: str(record["url"])} if "region" not in record else {}
        yield {"region": str(record.get("region", "")), **page, **fields}


def _said(value: object) -> str:
    if isinstance(value, list):
        return "; ".join(map(str, value))
    return "" if value is None else str(value)
