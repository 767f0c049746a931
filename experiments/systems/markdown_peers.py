"""Programs of others that make Markdown of a page, under their names in the tables, each from HTML to Markdown.

They come with the extra `evaluate`, so they are imported when they are first called.
"""

from collections.abc import Mapping

from experiments.systems.peers import Extractor


def _trafilatura(html: str) -> str:
    import trafilatura

    kept = trafilatura.extract(
        html, output_format="markdown", include_formatting=True, include_links=True, include_tables=True
    )
    return kept or ""


def _resiliparse(html: str) -> str:
    from resiliparse.extract.html2text import extract_plain_text

    return str(extract_plain_text(html, main_content=True, list_bullets=True, links=False))


def _readability(html: str) -> str:
    from markdownify import markdownify
    from readability import Document

    return str(markdownify(Document(html).summary(), heading_style="ATX"))


MARKDOWN_PEERS: Mapping[str, Extractor] = {
    "trafilatura": _trafilatura,
    "resiliparse": _resiliparse,
    "readability-lxml, markdownify": _readability,
}
"""resiliparse gives plain text with bullets; no other of these writes Markdown of its own."""

MARKDOWN_PACKAGES = ("markdown-it-py", "markdownify", "readability-lxml", "resiliparse", "trafilatura")
"""Distributions whose versions shape what the peers write, and what is read back."""
