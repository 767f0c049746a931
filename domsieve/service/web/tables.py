"""Records and comparisons as tables for the web page, from the files of their jobs. All cells are text.

The files were written by our workers, of what strangers' pages hold; a table has bounded rows, columns and cells.
"""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from domsieve.plain import plain
from domsieve.service.web.labels import flat, size

TABLE_BYTES = 4_000_000
"""What is read of a file of records at most; a larger comparison is for the download."""
_ROWS, _COLUMNS, _CHANGED = 200, 60, 200
_CELL = 400
# What a file of another form leads to; csv.Error, where a field is longer than the process takes at all.
_OTHER = (AttributeError, KeyError, TypeError, ValueError, csv.Error)
_PLACES = ("page", "region", "record")
_LAST_THREE = frozenset({1, 2, 3})
_CHANGES = {
    "created": "Added by a script",
    "changed": "Changed by a script",
    "moved": "Moved by a script",
    "removed": "Removed by a script",
    "hidden": "Hidden",
    "in source": "The same in the source",
}


@dataclass(frozen=True, slots=True)
class Table:
    """A table of texts.

    Parameters
    ----------
    name : its heading, and its name for screen readers.
    columns : names of the columns, all different.
    rows : the cells.
    left_out : rows that are not shown.
    numbers : columns that hold numbers, by position.
    """

    name: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    left_out: int = 0
    numbers: frozenset[int] = frozenset()


def record_tables(data: bytes, content_type: str, *, is_whole: bool) -> list[Table]:
    """Return the records of a file of CSV or JSON lines, a table for each region of the page; none of other files.

    Parameters
    ----------
    data : the file or its beginning.
    content_type : of the file.
    is_whole : whether all of it is there; the line that breaks off is left out.
    """
    if not is_whole:
        data = data[: data.rfind(b"\n") + 1]
    text = data.decode("utf-8", "replace")
    try:
        rows = list(_of_csv(text) if content_type.startswith("text/csv") else _of_lines(text))
    except _OTHER:
        return []
    regions: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        regions.setdefault(row.get("region", ""), []).append(row)
    many = len(regions) > 1
    return [_records(f"Region {region}" if many else "Records", rows) for region, rows in regions.items()]


def comparison_tables(data: bytes) -> list[Table]:
    """Return what a comparison found: words, both sides, what scripts changed, what brought the data, what differs.

    None of a file that another version of the program wrote in another form.
    """
    try:
        return [table for table in _compared(json.loads(data)) if table.rows]
    except _OTHER:
        return []


def _compared(facts: Mapping[str, Any]) -> list[Table]:
    raw, rendered = facts["raw"], facts["rendered"]
    named = [
        ("Words you can see", "words"),
        ("Words of the content", "cleaned_words"),
        ("Links", "links"),
        ("Images", "images"),
        ("Records", "records"),
        ("Nodes", "nodes"),
    ]
    sides = [[label, flat(raw[name]), flat(rendered[name])] for label, name in named]
    words = [
        [label, flat(one["wanted"]), flat(one["both"]), _share(one["both"], one["wanted"])]
        for label, one in (("Content", facts["content"]), ("All that you can see", facts["visible"]))
    ]
    changed = [block for block in facts["blocks"] if block["change"] != "in source"]
    same = len(facts["blocks"]) - len(changed)
    texts = [
        [_CHANGES.get(block["change"], block["change"]), flat(block["words"]), _cell(block["text"])]
        for block in changed[:_CHANGED]
    ]
    brought = [
        [
            _cell(one["url"]),
            flat(one["status"]),
            size(one["bytes"]),
            flat(one["words"]),
            flat(one["delivered"]),
        ]
        for one in facts["data"][:_ROWS]
    ]
    return [
        Table(
            "Words of the rendered page",
            ("Which", "Rendered", "In the source", "Share"),
            words,
            0,
            _LAST_THREE,
        ),
        Table("Both sides", ("What", "Source", "Rendered"), sides, 0, frozenset({1, 2})),
        Table(
            f"Texts that differ ({same:,} are the same)",
            ("What happened", "Words", "Text"),
            texts,
            len(changed) - len(texts),
            frozenset({1}),
        ),
        Table(
            "Responses that brought data",
            ("Address", "Status", "Size", "Words", "Of these only in the rendered page"),
            brought,
            len(facts["data"]) - len(brought),
            frozenset({1, 2, 3, 4}),
        ),
        *([_differing(facts["loads"]["blocks"])] if "loads" in facts else []),
    ]


def _differing(blocks: Sequence[Mapping[str, Any]]) -> Table:
    texts = [
        [flat(block["words"]), _cell(block["text"]), _cell(block["other_text"])]
        for block in blocks[:_CHANGED]
    ]
    columns = ("Words", "Here", "In the other load")
    return Table(
        "Texts that differ between two loads", columns, texts, len(blocks) - len(texts), frozenset({0})
    )


def _records(name: str, rows: Sequence[Mapping[str, str]]) -> Table:
    named = dict.fromkeys(name for row in rows for name, value in row.items() if value)
    columns = [column for column in named if column not in _PLACES][:_COLUMNS]
    shown = [[_cell(row.get(column, "")) for column in columns] for row in rows[:_ROWS]]
    headings = [column.replace("_", " ") for column in columns]
    return Table(f"{name}: {len(rows):,}", headings, shown, len(rows) - len(shown))


def _of_csv(text: str) -> Iterable[dict[str, str]]:
    return csv.DictReader(io.StringIO(text, newline=""), restval="")


def _of_lines(text: str) -> Iterable[dict[str, str]]:
    for line in text.splitlines():
        record = json.loads(line)
        fields = {name: str(field["value"]) for name, field in record["fields"].items()}
        yield {"region": str(record["region"]), **fields}


def _cell(text: str) -> str:
    words = plain(text[: _CELL + 1])
    return words if len(text) <= _CELL else f"{words[:_CELL]}…"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "–"
