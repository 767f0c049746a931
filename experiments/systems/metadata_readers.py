"""What reads title, authors and date of a page: ours, and those of others, each from HTML and address.

The others come with the extra `evaluate`, so they are imported when they are first called. newspaper4k holds
python-dateutil below the version that the others share, so it is no part of the extra; it is measured where somebody
has installed it.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any

from domsieve.analysis.metadata.page_metadata import read_metadata
from domsieve.renderer.html_parser.parser import parse_html


@dataclass(frozen=True, slots=True)
class Labels:
    """What a system says of a page, None for what it never says; empty for what it did not find.

    A system with one date gives that; ours the date of publication, else that of the last change.
    """

    title: str | None
    authors: tuple[str, ...] | None
    date: str | None


Reader = Callable[[bytes, str], Labels]
NOTHING = Labels("", (), "")


def _ours(source: bytes, url: str) -> Labels:
    found = read_metadata(parse_html(source, url=url, encoding="utf-8"))
    return Labels(found.title, found.authors, found.published or found.modified)


def _trafilatura(source: bytes, url: str) -> Labels:
    import trafilatura

    found = trafilatura.extract_metadata(source.decode("utf-8", "replace"), default_url=url)
    return Labels(found.title or "", (found.author,) if found.author else (), found.date or "")


def htmldate_reader(*, extensive: bool) -> Reader:
    """Return htmldate with its extensive search, which is its default, or the fast one."""

    def read(source: bytes, url: str) -> Labels:
        import htmldate

        html = source.decode("utf-8", "replace")
        date = htmldate.find_date(html, original_date=True, extensive_search=extensive, url=url or None)
        return Labels(None, None, date or "")

    return read


def _newspaper(source: bytes, url: str) -> Labels:
    article = _newspaper_module().Article(url, fetch_images=False)
    article.download(input_html=source.decode("utf-8", "replace"))
    article.parse()
    date = article.publish_date
    return Labels(article.title or "", tuple(article.authors), date.isoformat() if date else "")


@cache
def _newspaper_module() -> Any:
    """Return newspaper4k, which would fetch a list of domains else."""
    import newspaper  # type: ignore[import-not-found]
    import tldextract  # type: ignore[import-not-found]

    tldextract.tldextract.TLD_EXTRACTOR = tldextract.TLDExtract(suffix_list_urls=())
    return newspaper


def readers() -> Mapping[str, Reader]:
    """Return the systems by their names in the tables."""
    found: dict[str, Reader] = {
        "domsieve": _ours,
        "trafilatura": _trafilatura,
        "htmldate": htmldate_reader(extensive=True),
    }
    if find_spec("newspaper") is not None:
        found["newspaper4k"] = _newspaper
    return found


PACKAGES = ("htmldate", "trafilatura")
"""Distributions whose versions shape what the others find."""


def read_labels_with(reader: Reader, source: bytes, url: str) -> tuple[Labels, bool]:
    """Return what a system says of a page, and whether it failed; what others raise is a failure."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        return reader(source, url), False
    except Exception:  # others' code on strangers' pages: which errors there are, nobody knows
        return NOTHING, True
    finally:
        logging.disable(before)
