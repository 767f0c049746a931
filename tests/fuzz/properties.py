"""What holds for results whatever a page says: properties that several fuzz tests check."""

import json
import re
from collections import Counter
from typing import Any
from xml.etree.ElementTree import Element

import html5lib
import numpy as np

from domsieve.analysis.columns.flow import word_set
from domsieve.analysis.verdict import Verdict
from domsieve.snapshot.page import Kind, Snapshot
from tests.analysis.reading import BARE_TAG, read

# Of what is written nothing else is left after white space and what no format writes: controls.
_UNWRITTEN = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
_RUNS = word_set(
    "script style iframe frame frameset object embed applet form input button select textarea link base "
    "template noscript svg math video audio source track canvas portal meta title html head body img"
)
_OF_DOCUMENTS = frozenset({"html", "head", "body", "meta", "title", "link", "img"})
_ADDRESSES = frozenset({"href", "src", "cite"})
_ATTRIBUTES = _ADDRESSES | word_set(
    "dir lang title hreflang value alt width height datetime reversed start type colspan rowspan headers "
    "scope charset name content rel http-equiv"
)


def letters(text: str) -> str:
    """Return all that is no white space and no control."""
    return _UNWRITTEN.sub("", text)


def words_of(page: Snapshot, verdict: Verdict) -> str:
    """Return the letters of the texts that a verdict keeps, which are what its text says."""
    silent = np.zeros(len(page), np.bool_)
    for node in range(len(page)):
        above = int(page.parent[node])
        silent[node] = (above >= 0 and silent[above]) or (
            page.kind[node] == Kind.PSEUDO or page.tag_name(node) in {"input", "textarea"}
        )
    kept = np.flatnonzero(verdict.kept & (page.kind == Kind.TEXT) & ~silent)
    return letters("".join(page.text_of(int(node)) for node in kept))


def strict_json(text: str) -> Any:
    """Return the value of a JSON text that every reader takes: no NaN, no names twice, UTF-8."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len({name for name, _ in pairs}) == len(pairs), "a name twice"
        return dict(pairs)

    text.encode("utf-8")
    return json.loads(text, parse_constant=refuse, object_pairs_hook=once)


def parsed_html(html: str) -> Element:
    """Return a document as the HTML standard has it read."""
    html.encode("utf-8")
    root: Element = html5lib.parse(html, namespaceHTMLElements=False)
    return root


def assert_inert(html: str, *, allowed: frozenset[str] = _OF_DOCUMENTS) -> Element:
    """Fail if a browser would run or load something other than pictures of the document; return it parsed."""
    root = parsed_html(html)
    for element in root.iter():
        assert isinstance(element.tag, str), "a comment"
        assert element.tag not in _RUNS - allowed, element.tag
        assert re.fullmatch("[a-z][a-z0-9]*", element.tag), element.tag
        for name, value in element.attrib.items():
            assert name in _ATTRIBUTES, name
            if name in _ADDRESSES:
                assert_leads_to_web(value, relative=True)
        if element.tag == "meta":
            if "http-equiv" in element.attrib:
                assert element.attrib == {
                    "http-equiv": "Content-Security-Policy",
                    "content": "default-src 'none'",
                }
            else:
                assert element.attrib.keys() in ({"charset"}, {"name", "content"})
        if element.tag == "link":
            assert element.attrib["rel"] in {"canonical", "license"}
    return root


def assert_leads_to_web(address: str, *, relative: bool = False) -> None:
    """Fail unless an address is one of the web or of mail, as a browser reads it."""
    bare = re.sub("[\x00-\x20]", "", address).lower()
    scheme = re.match("[a-z][a-z0-9+.-]*:", bare)
    if scheme is None and relative:
        return
    assert scheme, address
    assert scheme[0] in {"http:", "https:", "mailto:"}, address


def same_letters(first: str, second: str) -> bool:
    """Return whether two texts are made of the same letters, in any order."""
    return Counter(letters(first)) == Counter(letters(second))


def assert_safe_markdown(markdown: str) -> list[str]:
    """Fail if Markdown holds raw HTML but the bare tags, or leads elsewhere than to the web; return its words."""
    found = read(markdown)
    assert all(BARE_TAG.fullmatch(tag) for tag in found.html), found.html
    for _, address in found.links + found.images:
        assert_leads_to_web(address, relative=True)
    return found.words


def most_cpu_s(page: Snapshot) -> float:
    """Return what one step of the analysis of a page may cost."""
    return 2 + len(page) / 1000
