"""Sources from which browsers build another tree than the parser are told; a parser of the standard says which."""

import html5lib
import pytest

from domsieve.renderer.html_parser.misnesting import is_misnested
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import Kind

Places = list[tuple[str, tuple[str, ...]]]

MISNESTED = {
    "a block ends bold text": "<!doctype html><p>one <b>two<p>three</b> four",
    "wrong order": "<!doctype html><b>one <div>two</b> three</div>",
    "a paragraph in a heading": "<!doctype html><h1>one<p>two</h1>",
    "terms that are not closed": "<!doctype html><dl><dt>one<dt>two<dd>three</dl>",
    "a table in a paragraph": "<p>one<table><tr><td>two</table> three</p>",
}
ALIKE = {
    "well-formed": "<!doctype html><h1>one</h1><p>two <b>three</b></p><dl><dt>four</dt><dd>five</dd></dl>",
    "closed by the next": "<!doctype html><ul><li>one<li>two</ul><p>three<p>four",
    "an end tag that closes nothing": "<!doctype html><p>one</p></div></a><img></img>",
    "a table ends the paragraph": "<!doctype html><p>one<table><tr><td>two</table></p>",
    "nothing": "  ",
}


def by_parser(source: str) -> Places:
    """Return the texts with the tags around them."""
    page = parse_html(source.encode(), url="page")
    tags, around = page.tags.to_list(), {0: ()}
    found: Places = []
    for node in range(1, len(page)):
        path: tuple[str, ...] = around[int(page.parent[node])]
        if page.kind[node] == Kind.TEXT:
            found.append((page.text_of(node).strip(), path))
        else:
            around[node] = (*path, tags[page.tag[node]])
    return found


def by_standard(source: str) -> Places:
    root = html5lib.parse(source, treebuilder="etree", namespaceHTMLElements=False)
    found: Places = []

    def walk(element, path: tuple[str, ...]) -> None:  # type: ignore[no-untyped-def]
        inside = (*path, element.tag)
        found.append(((element.text or "").strip(), inside))
        for child in element:
            walk(child, inside)
            found.append(((child.tail or "").strip(), inside))

    walk(root, ())
    return found


def worded(places: Places) -> Places:
    return [(text, tuple(tag for tag in path if tag != "tbody")) for text, path in places if text]


@pytest.mark.parametrize("source", MISNESTED.values(), ids=MISNESTED)
def test_wrong_nesting_that_changes_the_tree_is_told(source: str) -> None:
    assert worded(by_parser(source)) != worded(by_standard(source))
    assert is_misnested(source.encode(), url="page")


@pytest.mark.parametrize("source", ALIKE.values(), ids=ALIKE)
def test_what_both_read_alike_is_not(source: str) -> None:
    assert worded(by_parser(source)) == worded(by_standard(source))
    assert not is_misnested(source.encode(), url="page")


def test_the_charset_of_the_response_counts() -> None:
    source = "<!doctype html><p>one <b>two<p>three</b> four".encode("utf-16-le")
    assert is_misnested(source, url="page", content_type="text/html; charset=utf-16le")
    assert not is_misnested(source, url="page", content_type="text/html; charset=windows-1252")
