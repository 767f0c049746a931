"""Write changes as an Atom feed (RFC 4287)."""

from collections.abc import Sequence
from itertools import islice
from urllib.parse import quote

from lxml import etree

from domsieve.sanitize import plain, utf8
from domsieve.tasks.site_sync.values import KIND_NAMES, PageChange
from domsieve.urls import has_web_scheme

_ATOM = "http://www.w3.org/2005/Atom"
_MOST_ENTRIES = 100
_MOST_LINES = 20
_MARKS = {"added": "+", "removed": "−", "edited": "±", "moved": "↕"}


def feed_of(changes: Sequence[PageChange], *, source: str) -> bytes:
    """Return an Atom feed of changes, the latest first; the content of entries is plain text.

    Parameters
    ----------
    changes : of several runs, by run.
    source : address of the site.
    """
    feed = etree.Element(f"{{{_ATOM}}}feed", nsmap={None: _ATOM})  # type: ignore[dict-item]
    latest = changes[-_MOST_ENTRIES:][::-1]
    _add(feed, "id", _id(source))
    _add(feed, "title", f"Changes of {source}")
    _add(feed, "updated", latest[0].at if latest else "1970-01-01T00:00:00+00:00")
    author = etree.SubElement(feed, f"{{{_ATOM}}}author")
    _add(author, "name", "domsieve sync")
    for change in latest:
        entry = etree.SubElement(feed, f"{{{_ATOM}}}entry")
        _add(entry, "id", f"{_id(change.url)}#run-{change.run}-{change.kind}")
        _add(entry, "title", f"{KIND_NAMES[change.kind]}: {change.title or change.url}")
        _add(entry, "updated", change.at)
        if has_web_scheme(change.url):
            etree.SubElement(entry, f"{{{_ATOM}}}link", rel="alternate", href=_clean(change.url))
        content = _add(entry, "content", _summary(change))
        content.set("type", "text")
    return etree.tostring(feed, xml_declaration=True, encoding="utf-8", pretty_print=True)


def _summary(change: PageChange) -> str:
    if change.kind == "moved":
        return f"{change.was} is now {change.url}."
    if change.kind != "changed":
        return f"{len(change.passages):,} passages."
    lines = [
        f"{_MARKS[one.kind]} {' › '.join(one.headings)}: {' '.join((one.new or one.old or '').split())[:200]}"
        for one in islice(change.passages, _MOST_LINES)
    ]
    if (rest := len(change.passages) - _MOST_LINES) > 0:
        lines.append(f"and {rest:,} more")
    return "\n".join(lines)


def _add(parent: etree._Element, name: str, text: str) -> etree._Element:
    child = etree.SubElement(parent, f"{{{_ATOM}}}{name}")
    child.text = _clean(text)
    return child


def _clean(text: str) -> str:
    """Return a text without characters that XML does not allow."""
    return (
        utf8("\n".join(plain(line) for line in text.split("\n"))).replace("\ufffe", "").replace("\uffff", "")
    )


def _id(url: str) -> str:
    return quote(_clean(url), safe="%/:?#[]@!$&'()*+,;=~")
