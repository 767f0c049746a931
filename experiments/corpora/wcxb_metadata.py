"""Title, author and date of the pages of WCXB, and the pages without JSON-LD and OpenGraph."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from domsieve.errors import TargetError
from experiments.corpora.wcxb_pages import Half, read_page

_MARK = re.compile(rb"[>\"']")
# The namespaces of OpenGraph, as attributes name them.
_OPEN_GRAPH = re.compile(rb"\b(?:property|name)=[\"']?(?:article|book|music|og|product|profile|video):")
_GAPS = re.compile(rb"\s+")


@dataclass(frozen=True, slots=True)
class LabelledPage:
    """One page.

    Parameters
    ----------
    name, type, half : as those of the page with its content.
    url : its address; its name where it has none.
    source : the HTML as it came.
    title, author, published : what people found; empty where they found nothing. A date is a day or a month.
    """

    name: str
    type: str
    half: Half
    url: str
    source: bytes
    title: str
    author: str
    published: str


def read_labels(html: Path, truth: Path) -> LabelledPage:
    """Return a page.

    Raises
    ------
    TargetError : one of the files is not there, or is not what it should be.
    """
    page = read_page(html, truth)
    entry: dict[str, Any] = json.loads(truth.read_text("utf-8"))
    known = entry["ground_truth"]
    said = [known.get(name) or "" for name in ("title", "author", "publish_date")]
    if not all(isinstance(text, str) for text in said):
        raise TargetError(f"'{truth}' is no page of WCXB: a label is no text.")
    title, author, published = said
    return LabelledPage(
        page.name, page.type, page.half, entry.get("url") or page.name, page.source, title, author, published
    )


def without_structured_data(source: bytes) -> bytes:
    """Return the source of a page without scripts of JSON-LD and ``meta`` elements of OpenGraph."""
    low = source.lower()
    parts: list[bytes] = []
    last = at = 0
    while (at := low.find(b"<", at)) >= 0:
        if low.startswith(b"<meta", at):
            end = _tag_end(low, at)
            drop = bool(_OPEN_GRAPH.search(_GAPS.sub(b" ", low[at:end]).replace(b" = ", b"=")))
        elif low.startswith(b"<script", at):
            drop = b"ld+json" in low[at : _tag_end(low, at)]
            closing = low.find(b"</script", at)
            end = _tag_end(low, closing) if closing >= 0 else len(low)
        else:
            at += 1
            continue
        if drop:
            parts.append(source[last:at])
            last = end
        at = end
    return b"".join([*parts, source[last:]])


def _tag_end(source: bytes, at: int) -> int:
    """Return where the tag that begins at a place ends; marks in quotes do not end it."""
    while mark := _MARK.search(source, at):
        at = mark.end()
        if mark[0] == b">":
            return at
        closing = source.find(mark[0], at)
        if closing < 0:
            return at
        at = closing + 1
    return len(source)
