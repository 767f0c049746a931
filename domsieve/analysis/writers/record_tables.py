"""Write records as CSV, JSON lines and Parquet.

All three contain the same records in the same order: pages as given, regions and records in document order, numbered
from 1 on each page. Tables have the fields of all regions by name; a record has an empty value for fields that its
region does not have. Fields named ``page``, ``region`` or ``record`` get the suffix ``_field``.
"""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import msgspec
import numpy as np

from domsieve.analysis.columns.invisible import visible_page
from domsieve.analysis.records.fields import FieldTable, field_tables
from domsieve.analysis.records.leaves import FieldKind
from domsieve.analysis.records.result import Records
from domsieve.analysis.writers._parquet import write_parquet
from domsieve.budget import check
from domsieve.sanitize import utf8
from domsieve.snapshot.page import Provenance, Snapshot
from domsieve.types import FieldName

_FIXED = ("page", "region", "record")
# Spreadsheets read cells with these first characters as formulas, full-width forms in some locales.
_FORMULA = re.compile("[=+@\t\r\uff1d\uff0b\uff0d\uff20-]")
_NUMBER = re.compile(r"[+-]?(\d+([.,' ]\d+)*|[.,]\d+)([eE][+-]?\d+)? ?%?")


@dataclass(frozen=True, slots=True, eq=False)
class RecordSheet:
    """The records of one page with their fields.

    Parameters
    ----------
    origin : where the page comes from.
    method : name of the method.
    records : result of the method.
    tables : fields of the records, one table per region.
    """

    origin: Provenance
    method: str
    records: Records
    tables: tuple[FieldTable, ...]

    @property
    def url(self) -> str:
        """Address of the page, or name of its file."""
        return utf8(self.origin.url)

    @classmethod
    def of(cls, page: Snapshot, records: Records, fields: Sequence[FieldName] = ()) -> "RecordSheet":
        """Align the records of a page.

        Parameters
        ----------
        page : the page.
        records : records that were found on the page.
        fields : roles of the fields to keep; empty keeps all fields.
        """
        tables = field_tables(visible_page(page), records)
        if fields:
            tables = [table.picked(fields) for table in tables]
        return cls(page.provenance, records.method, records, tuple(tables))


class _Value(msgspec.Struct, frozen=True, kw_only=True):
    kind: FieldKind
    value: str
    nodes: tuple[int, int]


class _Line(msgspec.Struct, frozen=True, kw_only=True):
    page: str
    method: str
    region: int
    record: int
    nodes: list[tuple[int, int]]
    fields: dict[str, _Value]


def write_records_jsonl(sheets: Sequence[RecordSheet]) -> bytes:
    """Return one line of JSON per record, with page, method, region, record, node ranges, and fields by name.

    Each field has a kind, a value and a node range; fields without a value are omitted.
    """
    lines = []
    for sheet in sheets:
        check()
        for table in sheet.tables:
            nodes = [field.nodes.tolist() for field in table.fields]
            for i, record in enumerate(table.records):
                fields = {
                    field.name: _Value(kind=field.kind, value=value, nodes=tuple(nodes[f][i]))
                    for f, field in enumerate(table.fields)
                    if (value := field.values[i]) is not None
                }
                line = _Line(
                    page=sheet.url,
                    method=sheet.method,
                    region=table.region + 1,
                    record=record + 1,
                    nodes=sheet.records.pieces_of(record),
                    fields=fields,
                )
                lines.append(msgspec.json.encode(line) + b"\n")
    return b"".join(lines)


def write_records_csv(sheets: Sequence[RecordSheet]) -> bytes:
    """Return a table of all records as CSV by RFC 4180: a header line, CRLF, UTF-8 without byte order mark.

    Cells that a spreadsheet would read as a formula (with a first character ``= + - @``, a full-width form of these,
    a tab or a carriage return) are prefixed with an apostrophe. Plain numbers such as -3.5 are not.
    """
    columns = _columns(sheets)
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow([*_FIXED, *map(safe_cell, columns)])
    for row in _rows(sheets):
        cells = (safe_cell(row.values.get(name) or "") for name in columns)
        writer.writerow([safe_cell(row.page), row.region, row.record, *cells])
    return file.getvalue().encode("utf-8")


def write_records_parquet(sheets: Sequence[RecordSheet]) -> bytes:
    """Return a Parquet table of all records: ``page``, ``region``, ``record``, and a nullable text column per field.

    Raises
    ------
    UsageError : pyarrow is not installed.
    """
    rows = list(_rows(sheets))
    return write_parquet(
        {
            "page": [row.page for row in rows],
            "region": np.array([row.region for row in rows], np.int64),
            "record": np.array([row.record for row in rows], np.int64),
            **{name: [row.values.get(name) for row in rows] for name in _columns(sheets)},
        }
    )


def record_rows(sheets: Sequence[RecordSheet]) -> list[dict[str, str | int | None]]:
    """Return one dict per record: ``page``, ``region``, ``record``, and the fields of its region (may be None)."""
    return [
        {"page": row.page, "region": row.region, "record": row.record, **row.values} for row in _rows(sheets)
    ]


class _Row(NamedTuple):
    page: str
    region: int
    record: int
    values: dict[str, str | None]


def _rows(sheets: Sequence[RecordSheet]) -> Iterator[_Row]:
    for sheet in sheets:
        check()
        for table in sheet.tables:
            names = [_heading(field.name) for field in table.fields]
            for i, record in enumerate(table.records):
                values = dict(zip(names, (field.values[i] for field in table.fields), strict=True))
                yield _Row(sheet.url, table.region + 1, record + 1, values)


def _columns(sheets: Sequence[RecordSheet]) -> list[str]:
    """Return the names of all columns, in order of first appearance."""
    fields = (field for sheet in sheets for table in sheet.tables for field in table.fields)
    return list(dict.fromkeys(_heading(field.name) for field in fields))


def _heading(name: str) -> str:
    return f"{name}_field" if name in _FIXED else name


def safe_cell(cell: str) -> str:
    """Return a cell with an apostrophe before it if a spreadsheet would run it as a formula."""
    return f"'{cell}" if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell) else cell
