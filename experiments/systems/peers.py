"""Extractors of others that look at one page at a time, under their names in the tables, each from HTML to text.

They come with the extra `evaluate`, so they are imported when they are first called. The calls are those with which
the figures in the notes of the corpora were measured.
"""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

Extractor = Callable[[str], str]


def _trafilatura(html: str) -> str:
    import trafilatura

    return trafilatura.extract(html) or ""


def _resiliparse(html: str) -> str:
    from resiliparse.extract.html2text import extract_plain_text

    return str(extract_plain_text(html, main_content=True))


def _all_text(html: str) -> str:
    from resiliparse.extract.html2text import extract_plain_text

    return str(extract_plain_text(html, main_content=False, alt_texts=False))


def _readability(html: str) -> str:
    import lxml.html
    from readability import Document

    return str(lxml.html.fromstring(Document(html).summary()).xpath("string()"))  # what text_content() is


def _readability_lines(html: str) -> str:
    import html_text
    from readability import Document

    return str(html_text.extract_text(Document(html).summary()))


def _justext(html: str) -> str:
    import justext

    paragraphs = justext.justext(html.encode(), _english())
    return "\n".join(paragraph.text for paragraph in paragraphs if not paragraph.is_boilerplate)


@cache
def _english() -> frozenset[str]:
    import justext

    return frozenset(justext.get_stoplist("English"))


def _boilerpy3(html: str) -> str:
    from boilerpy3.extractors import ArticleExtractor

    return str(ArticleExtractor(raise_on_failure=False).get_content(html))


ALL_TEXT = "all text, resiliparse"
BY_HTML_TEXT = "readability-lxml, html_text"
PEERS: Mapping[str, Extractor] = {
    ALL_TEXT: _all_text,
    "trafilatura": _trafilatura,
    "resiliparse": _resiliparse,
    "readability-lxml": _readability,
    BY_HTML_TEXT: _readability_lines,
    "jusText": _justext,
    "boilerpy3": _boilerpy3,
}
"""All visible text, and the extractors. readability-lxml gives HTML, and two ways to its text are in use: lxml's
``text_content``, which glues neighbouring blocks together, and html_text."""

PEER_PACKAGES = ("boilerpy3", "html-text", "justext", "readability-lxml", "resiliparse", "trafilatura")
"""Distributions whose versions shape what the peers find."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """What an extractor made of a page.

    Parameters
    ----------
    text : the text; empty where it failed.
    failed : whether it failed.
    seconds : the processor time that took; of a command the time by the clock.
    late : whether it failed because it took too long.
    """

    text: str
    failed: bool
    seconds: float
    late: bool = False


def extract(extractor: Extractor, html: str) -> Extracted:
    """Return what an extractor makes of a page, without what it logs; whatever it raises is a failure."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    start = time.process_time()
    try:
        text, failed = extractor(html), False
    except Exception:  # others' code on strangers' pages: which errors there are, nobody knows
        text, failed = "", True
    finally:
        seconds = time.process_time() - start
        logging.disable(before)
    return Extracted(text, failed, seconds)
