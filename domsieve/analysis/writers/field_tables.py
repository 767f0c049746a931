"""Write the fields of pages as JSON lines, CSV and Parquet.

A page is a line, and so is each record of a list page. Columns are ``url``, for records also ``record``, then the
fields; a field of the same name gets the suffix ``_field``. The values of a list are joined by ``; `` in tables.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from domsieve.analysis.fields.extraction import FieldValue, PageFields
from domsieve.analysis.writers._parquet import write_parquet
from domsieve.analysis.writers.record_tables import safe_cell
from domsieve.sanitize import utf8

_JOINT = "; "


@dataclass(frozen=True, slots=True)
class FieldSheet:
    """The fields of one page.

    Parameters
    ----------
    url : address of the page, or its file.
    found : its fields.
    names : the names of all fields, in order.
    has_records : whether the page is a list of records.
    """

    url: str
    found: PageFields
    names: Sequence[str]
    has_records: bool = False

    @property
    def rows(self) -> Sequence[Mapping[str, FieldValue]]:
        """The fields of the page, or of each of its records."""
        return self.found.records if self.has_records else (self.found.fields,)


def write_fields_jsonl(sheets: Sequence[FieldSheet]) -> bytes:
    """Return a line of JSON for each page or record: its address and its fields with value, confidence and node.

    A field that the page does not have has the value null and no node; its confidence is that of its absence.
    """
    lines: list[bytes] = []
    for sheet in sheets:
        for number, row in enumerate(sheet.rows, 1):
            line: dict[str, object] = {"url": utf8(sheet.url)}
            if sheet.has_records:
                line["record"] = number
            line["fields"] = {utf8(name): _entry(row.get(name)) for name in sheet.names}
            lines.append(msgspec.json.encode(line) + b"\n")
    return b"".join(lines)


def _entry(value: FieldValue | None) -> Mapping[str, object]:
    if value is None:
        return {"value": None, "confidence": 0.0}
    entry: dict[str, object] = {"value": value.value, "confidence": value.confidence}
    if value.value is not None:
        entry |= {"node": value.node, "description": value.description}
    return entry


def write_fields_csv(sheets: Sequence[FieldSheet]) -> bytes:
    """Return a table as CSV by RFC 4180: a header line, CRLF, UTF-8 without byte order mark.

    Cells that a spreadsheet would run as formulas begin with an apostrophe.
    """
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow([safe_cell(column) for column in _columns(sheets)])
    for row in field_rows(sheets):
        writer.writerow(
            [
                "" if value is None else value if isinstance(value, int) else safe_cell(_joined(value))
                for value in row.values()
            ]
        )
    return file.getvalue().encode("utf-8")


def write_fields_parquet(sheets: Sequence[FieldSheet]) -> bytes:
    """Return a Parquet table: ``url``, for records ``record``, and a nullable text column for each field.

    Raises
    ------
    UsageError : pyarrow is not installed.
    """
    rows = field_rows(sheets)
    return write_parquet(
        {
            column: np.array([row[column] for row in rows], np.int64)
            if column == "record"
            else [None if (value := row[column]) is None else _joined(value) for row in rows]
            for column in _columns(sheets)
        }
    )


def _joined(value: str | int | tuple[str, ...]) -> str:
    return utf8(_JOINT.join(value) if isinstance(value, tuple) else str(value))


def field_rows(sheets: Sequence[FieldSheet]) -> list[dict[str, str | int | tuple[str, ...] | None]]:
    """Return one dict per page or record: ``url``, for records ``record``, and the fields; None for missing ones."""
    rows: list[dict[str, str | int | tuple[str, ...] | None]] = []
    columns = _columns(sheets)
    for sheet in sheets:
        for number, fields in enumerate(sheet.rows, 1):
            row: dict[str, str | int | tuple[str, ...] | None] = dict.fromkeys(columns)
            row["url"] = sheet.url
            if "record" in row:
                row["record"] = number
            for name in sheet.names:
                if name in fields:
                    row[_heading(name)] = fields[name].value
            rows.append(row)
    return rows


def _columns(sheets: Sequence[FieldSheet]) -> list[str]:
    fixed = ["url", "record"] if any(sheet.has_records for sheet in sheets) else ["url"]
    return [*fixed, *dict.fromkeys(_heading(name) for sheet in sheets for name in sheet.names)]


def _heading(name: str) -> str:
    return f"{name}_field" if name in {"url", "record"} else name
