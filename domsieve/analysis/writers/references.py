"""The links and images in the kept content of a page, as the writers write them."""

from collections.abc import Iterator

import msgspec

from domsieve.analysis.columns.flow import boundaries, text_flow
from domsieve.analysis.columns.invisible import visible_page
from domsieve.analysis.verdict import Verdict
from domsieve.analysis.writers._media import Reader, shown_image
from domsieve.analysis.writers.html import Written, written_nodes, written_texts
from domsieve.budget import check, spending
from domsieve.snapshot.page import Snapshot


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """A link in the kept content.

    Parameters
    ----------
    url : absolute address: http, https or mailto.
    text : the kept text of the link with collapsed white space; empty for a link around an image.
    node : the element.
    """

    url: str
    text: str
    node: int


class Image(msgspec.Struct, frozen=True, kw_only=True):
    """An image in the kept content.

    Parameters
    ----------
    url : absolute address of its largest version.
    alt : its description with collapsed white space; empty if it has none.
    node : the element.
    """

    url: str
    alt: str
    node: int


def links_of(page: Snapshot, verdict: Verdict) -> list[Link]:
    """Return the links of the kept content in document order, without those to anchors of the page itself.

    Raises
    ------
    BudgetError : the page exceeded its budget.
    """
    found = []
    with spending("write", page.provenance.url):
        reader, texts, nodes = _kept(page, verdict)
        for node in _named("a", nodes, reader):
            value = reader.given(node).get("href", "").strip()
            url = "" if value.startswith("#") else reader.address(node, value, linked=True)
            if url:
                inside = (texts[i] for i in range(node, reader.end[node]) if i in texts)
                text = "".join(f" {part.text}" if part.gap else part.text for part in inside)
                found.append(Link(url=url, text=" ".join(text.split()), node=node))
    return found


def images_of(page: Snapshot, verdict: Verdict) -> list[Image]:
    """Return the images of the kept content in document order, without decoration and without ``data:`` addresses.

    Raises
    ------
    BudgetError : the page exceeded its budget.
    """
    found = []
    with spending("write", page.provenance.url):
        reader, _, nodes = _kept(page, verdict)
        for node in _named("img", nodes, reader):
            if url := shown_image(reader, node):
                alt = reader.given(node).get("alt", "")
                found.append(Image(url=url, alt=" ".join(alt.split()), node=node))
    return found


def _kept(page: Snapshot, verdict: Verdict) -> tuple[Reader, dict[int, Written], list[int]]:
    page = visible_page(page, verdict.kept)
    reader = Reader(page)
    texts = written_texts(reader, text_flow(page, verdict.kept, boundaries(page)))
    return reader, texts, written_nodes(page, verdict.kept, texts)


def _named(tag: str, nodes: list[int], reader: Reader) -> Iterator[int]:
    for node in nodes:
        check()
        if reader.names[reader.tag[node]] == tag:
            yield node
