"""Pages of the benchmarks of trafilatura and htmldate: notes by address in a JSON file, and the pages in a zip."""

import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from domsieve.errors import TargetError
from domsieve.renderer.html_parser.content import html_as_utf8
from domsieve.urls import has_web_scheme
from experiments.corpora.origins import domain_of

CHANGES = Path(__file__).with_name("modified_dates.json")
"""The dates of the last change of 83 pages of htmldate's benchmark, by file, as we read them on the pages."""


@dataclass(frozen=True, slots=True)
class AnnotatedPage:
    """One page.

    Parameters
    ----------
    name : its file in the corpus.
    url : its address; empty where the notes have none.
    source : the HTML as it came.
    """

    name: str
    url: str
    source: bytes

    @property
    def domain(self) -> str:
        """Host of its address without ``www.``, its name where it has no address."""
        return domain_of(self.url, self.name)

    @property
    def html(self) -> str:
        """The source as text, for extractors that take that; a few pages are not in UTF-8."""
        return html_as_utf8(self.source)[0].decode()


@dataclass(frozen=True, slots=True)
class SegmentPage(AnnotatedPage):
    """A page with segments of its text that belong to the content (`wanted`), and that do not (`unwanted`)."""

    wanted: tuple[str, ...]
    unwanted: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DatedPage(AnnotatedPage):
    """A page with its date, ``YYYY-MM-DD``; empty where the notes have none.

    `modified` is the date of its last change, empty where the page says none; None where nobody looked.
    """

    date: str
    modified: str | None = None


def segment_pages(data: Path, start: int = 0, end: int | None = None) -> Iterator[SegmentPage]:
    """Yield the pages `start` to `end` of trafilatura's benchmark, in the order of its notes.

    Raises
    ------
    TargetError : a file is not there, or is not what it should be.
    """
    for page, note in _annotated(data / "trafilatura", "evaldata.json", start, end):
        yield SegmentPage(page.name, page.url, page.source, tuple(note["with"]), tuple(note["without"]))


def dated_pages(data: Path, start: int = 0, end: int | None = None) -> Iterator[DatedPage]:
    """Yield the pages `start` to `end` of htmldate's benchmark, in the order of its notes.

    Raises
    ------
    TargetError : a file is not there, or is not what it should be.
    """
    changes: dict[str, str] = json.loads(CHANGES.read_text("utf-8"))
    for page, note in _annotated(data / "dates", "dates.json", start, end):
        date = note["date"]  # a number that is none (NaN) where there is no date
        dated = date if isinstance(date, str) else ""
        yield DatedPage(page.name, page.url, page.source, dated, changes.get(page.name))


def count_notes(file: Path) -> int:
    """Return how many pages a file of notes has; 0 where there is no such file."""
    return len(json.loads(file.read_text("utf-8"))) if file.exists() else 0


def _annotated(
    folder: Path, notes: str, start: int, end: int | None
) -> Iterator[tuple[AnnotatedPage, dict[str, Any]]]:
    try:
        known: dict[str, dict[str, Any]] = json.loads((folder / notes).read_text("utf-8"))
        with zipfile.ZipFile(folder / "pages.zip") as archive:
            for url, note in islice(known.items(), start, end):
                source = archive.read(note["file"])
                url = url.strip()
                known_url = has_web_scheme(url) and len(url.split()) == 1
                yield AnnotatedPage(note["file"], url if known_url else "", source), note
    except (OSError, LookupError, ValueError, zipfile.BadZipFile) as error:
        raise TargetError(f"'{folder}' is no corpus of annotated pages: {error}.") from error
