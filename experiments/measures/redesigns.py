"""Redesign the template of a page: all classes and ids renamed, a wrapper, two new siblings, two blocks swapped.

The same seed changes all pages of a site in the same way, as a new template does.
"""

import hashlib
import random
from collections.abc import Iterable

from lxml import html
from lxml.html import HtmlElement

_MAIN_SHARE = 0.6  # of the text of the page that its main block has at least


def redesigned(source: bytes, seed: int) -> bytes:
    """Return the source of a page after a redesign.

    Parameters
    ----------
    source : HTML.
    seed : which redesign.
    """
    root: HtmlElement = html.document_fromstring(source)
    draw = random.Random(seed)
    for element in root.iter():
        if not isinstance(element.tag, str):
            continue
        for name in ("class", "id"):
            if value := element.get(name):
                element.set(name, " ".join(_renamed(token, seed) for token in value.split()))
    body = root.find("body")
    if body is None:
        return bytes(html.tostring(root, encoding="utf-8"))
    main = _main_block(body)
    blocks = [child for child in main if isinstance(child.tag, str) and child.text_content().strip()]
    if len(blocks) > 1:
        first = draw.randrange(2) % (len(blocks) - 1)
        _swap(blocks[first], blocks[first + 1])
    for at in (0, len(main) // 2):
        news = html.Element("div")
        news.text = f"News of our redesign, part {(at and 2) or 1}"
        main.insert(at, news)
    wrapper = html.Element("div")
    for child in list(body):
        wrapper.append(child)
    wrapper.text, body.text = body.text, None
    body.append(wrapper)
    return bytes(html.tostring(root, encoding="utf-8"))


def without_values(source: bytes, values: Iterable[str]) -> bytes:
    """Return the source of a page from whose texts and attributes some values are removed."""
    root: HtmlElement = html.document_fromstring(source)
    for element in root.iter():
        for value in values:
            if element.text and value in element.text:
                element.text = element.text.replace(value, "")
            if element.tail and value in element.tail:
                element.tail = element.tail.replace(value, "")
            if isinstance(element.tag, str):
                for name, text in element.attrib.items():
                    if value in text:
                        element.set(name, text.replace(value, ""))
    return bytes(html.tostring(root, encoding="utf-8"))


def _renamed(token: str, seed: int) -> str:
    """Return another name: letters only, since numbers in names mean nothing."""
    digest = hashlib.sha256(f"{seed} {token}".encode()).digest()
    return "".join(chr(ord("a") + byte % 26) for byte in digest[:8])


def _main_block(body: HtmlElement) -> HtmlElement:
    """Return the innermost element that has most of the text of the page."""
    total = len(body.text_content())
    main = body
    while True:
        inner = [
            child
            for child in main
            if isinstance(child.tag, str) and len(child.text_content()) >= _MAIN_SHARE * total
        ]
        if not inner:
            return main
        main = inner[0]


def _swap(first: HtmlElement, second: HtmlElement) -> None:
    """Swap two neighbouring elements; the texts behind them stay where they are."""
    first.tail, second.tail = second.tail, first.tail
    second.addnext(first)
