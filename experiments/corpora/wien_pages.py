"""The pages of the WIEN test bed as Snapshots, whose records are told by places in the source.

Each attribute is a range of characters. A mark is set before its first character that is no tag and no space, the
page is parsed with the marks, and the nodes that hold them, a text or an element with the value in an attribute, are
those of the record; then the marks are taken out. So offsets need not be followed through the parser.
"""

import json
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from lxml import etree

from domsieve.errors import TargetError
from domsieve.renderer.html_parser.parser import read_tree
from domsieve.snapshot.page import Kind, Provenance, Snapshot
from experiments.corpora.record_pages import LabelledPage, Truth, parse_labelled

_FIRST_MARK = 0xF0000  # private use, as many as a plane has
_MARKS = re.compile("[\U000f0000-\U000ffffd]")
_LEADING = re.compile(r"(?:<[^>]*>|\s)*")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class WienSite:
    """The labelled pages of a site; of a `nested` one a record is a head and a list of any length."""

    name: str
    nested: bool
    pages: list[LabelledPage]


def read_wien(folder: Path) -> list[WienSite]:
    """Return the sites in a folder with ``wien.zip`` and ``index.json``, as the index has them.

    Raises
    ------
    TargetError : the files are not there, or a place is not in the page.
    """
    sites: dict[str, WienSite] = {}
    try:
        with zipfile.ZipFile(folder / "wien.zip") as archive:
            for entry in json.loads((folder / "index.json").read_text("utf-8")):
                name = entry["page"]
                labels = json.loads(archive.read(name.removesuffix(".html") + ".label.json"))
                page = label_page(name, archive.read(name).decode("latin-1"), labels["spans"])
                site = name.partition("/")[0]
                sites.setdefault(site, WienSite(site, entry["nested"], [])).pages.append(page)
    except (OSError, LookupError, ValueError, zipfile.BadZipFile) as error:
        raise TargetError(f"'{folder}' does not hold the pages of WIEN: {error}.") from error
    return list(sites.values())


def label_page(name: str, source: str, records: Sequence[Sequence[Span]]) -> LabelledPage:
    """Return a page and the nodes of its records, given as the character ranges of their attributes.

    Raises
    ------
    ValueError : an attribute is neither in a text nor in a value.
    """
    owner = [number for number, spans in enumerate(records) for _ in spans]
    places = [_place(source, span) for spans in records for span in spans]
    marked = _with_marks(source, places)
    root = parse_labelled(marked)
    holding = {int(mark): node for node, marks in _marks_by_node(_snapshot(name, root)) for mark in marks}
    if lost := [place for mark, place in enumerate(places) if place is not None and mark not in holding]:
        raise ValueError(f"{name}: the attributes at {lost} are in no text and no value")
    for element in root.iter():
        element.text, element.tail = (
            _MARKS.sub("", text) if text else text for text in (element.text, element.tail)
        )
        for key, value in element.attrib.items():
            element.set(key, _MARKS.sub("", str(value)))
    pairs = sorted({(node, owner[mark]) for mark, node in holding.items()})
    node, record = np.array(pairs, np.int64).reshape(-1, 2).T
    return LabelledPage(name, _snapshot(name, root), Truth(node, record))


def _place(source: str, span: Span) -> int | None:
    """Return where the mark of an attribute goes, None where it is empty."""
    start, stop = span
    inside_tag = source.rfind("<", 0, start) > source.rfind(">", 0, start)
    leading = None if inside_tag else _LEADING.match(source, start, stop)
    place = leading.end() if leading else start
    return place if source[place:stop].strip() else None


def _with_marks(source: str, places: Sequence[int | None]) -> str:
    parts, last = [], 0
    for place, mark in sorted((place, mark) for mark, place in enumerate(places) if place is not None):
        parts += [source[last:place], chr(_FIRST_MARK + mark)]
        last = place
    return "".join([*parts, source[last:]])


def _marks_by_node(page: Snapshot) -> list[tuple[int, list[int]]]:
    """Return each node with the marks in its text or in its attributes."""
    found = []
    for node in range(len(page)):
        texts = [page.text_of(node)] if page.kind[node] == Kind.TEXT else page.attributes(node).values()
        if marks := [ord(mark) - _FIRST_MARK for text in texts for mark in _MARKS.findall(text)]:
            found.append((node, marks))
    return found


def _snapshot(name: str, root: etree._Element) -> Snapshot:
    return read_tree(root, Provenance(url=name, final_url=name, producer="raw"))
