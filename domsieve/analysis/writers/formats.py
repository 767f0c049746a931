"""The registry of output formats: name, title, file ending, media type and function of each.

The command line, the library, the service and bulk take formats from here. Writers are imported on first use, because
a command needs only one of them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from domsieve.analysis.verdict import Verdict
from domsieve.snapshot.page import Snapshot
from domsieve.types import PageFormat, RecordFormat

if TYPE_CHECKING:
    from domsieve.analysis.writers.field_tables import FieldSheet
    from domsieve.analysis.writers.record_tables import RecordSheet


@dataclass(frozen=True, slots=True)
class FormatEntry:
    """An output format in the registry.

    Parameters
    ----------
    name : the name in options.
    title : the name in text for people.
    ending : the ending of its files, with the dot.
    media_type : as HTTP names it.
    place : module and function in `domsieve.analysis.writers`, such as ``"text.write_text"``.
    options : keyword arguments of the function, of ``"metadata"`` and ``"max_words"``.
    is_prose : whether it is text that people read as it is; metadata then go before it as YAML front matter.
    is_lines : whether each page is a line of JSON or several, so that pages in one file need no headings.
    package : a package that it needs besides those of domsieve; empty for none.
    """

    name: PageFormat | RecordFormat
    title: str
    ending: str
    media_type: str
    place: str
    options: frozenset[str] = frozenset()
    is_prose: bool = False
    is_lines: bool = False
    package: str = ""

    @property
    def function(self) -> Callable[..., Any]:
        """The function that writes it, imported on first use."""
        module, _, name = self.place.rpartition(".")
        function: Callable[..., Any] = getattr(import_module(f"domsieve.analysis.writers.{module}"), name)
        return function


PAGE_FORMATS: Mapping[PageFormat, FormatEntry] = {
    "text": FormatEntry(
        "text", "Plain text", ".txt", "text/plain; charset=utf-8", "text.write_text", is_prose=True
    ),
    "markdown": FormatEntry(
        "markdown",
        "Markdown",
        ".md",
        "text/markdown; charset=utf-8",
        "markdown.write_markdown",
        is_prose=True,
    ),
    "html": FormatEntry(
        "html", "HTML", ".html", "text/html; charset=utf-8", "html.write_html", frozenset({"metadata"})
    ),
    "json": FormatEntry("json", "JSON", ".json", "application/json", "evidence.write_json", is_lines=True),
    "chunks": FormatEntry(
        "chunks",
        "Passages, as JSON lines",
        ".jsonl",
        "application/jsonl",
        "chunks.write_chunks",
        frozenset({"max_words"}),
        is_lines=True,
    ),
}
"""The formats of cleaned pages."""

RECORD_FORMATS: Mapping[RecordFormat, FormatEntry] = {
    "csv": FormatEntry("csv", "CSV", ".csv", "text/csv; charset=utf-8", "record_tables.write_records_csv"),
    "jsonl": FormatEntry(
        "jsonl",
        "JSON lines",
        ".jsonl",
        "application/jsonl",
        "record_tables.write_records_jsonl",
        is_lines=True,
    ),
    "parquet": FormatEntry(
        "parquet",
        "Parquet",
        ".parquet",
        "application/vnd.apache.parquet",
        "record_tables.write_records_parquet",
        package="pyarrow",
    ),
}
"""The formats of records."""


FIELD_FORMATS: Mapping[RecordFormat, FormatEntry] = {
    form: replace(
        entry, place=entry.place.replace("record_tables.write_records", "field_tables.write_fields")
    )
    for form, entry in RECORD_FORMATS.items()
}
"""The formats of fields."""


def write_page(
    page: Snapshot,
    verdict: Verdict,
    form: PageFormat,
    *,
    metadata: bool = False,
    max_words: int | None = None,
) -> str:
    """Return what was kept of a page in a format.

    Parameters
    ----------
    metadata : whether to put the metadata of the page and the expected F1 before text and Markdown, as YAML front
        matter, and the metadata into the head of HTML. JSON and chunks always have both.
    max_words : the most words of a chunk; None for the usual number.
    """
    entry = PAGE_FORMATS[form]
    found = None
    if metadata and (entry.is_prose or "metadata" in entry.options):
        from domsieve.analysis.metadata.page_metadata import read_metadata

        found = read_metadata(page)
    values = {"metadata": found, "max_words": max_words}
    given = {name: value for name, value in values.items() if name in entry.options and value is not None}
    text: str = entry.function(page, verdict, **given)
    if found is None or not entry.is_prose:
        return text
    from domsieve.analysis.writers._front_matter import write_front_matter

    return write_front_matter(found, expected_f1=verdict.expected_f1) + text


def write_records(sheets: "Sequence[RecordSheet]", form: RecordFormat) -> bytes:
    """Return the records of pages in a format.

    Raises
    ------
    UsageError : the format needs a package that is not installed.
    """
    data: bytes = RECORD_FORMATS[form].function(sheets)
    return data


def write_fields(sheets: "Sequence[FieldSheet]", form: RecordFormat) -> bytes:
    """Return the fields of pages in a format.

    Raises
    ------
    UsageError : the format needs a package that is not installed.
    """
    data: bytes = FIELD_FORMATS[form].function(sheets)
    return data
