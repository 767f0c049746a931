"""Columns of one page that several steps read, computed once: its text nodes and its attributes by name."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import Bools, Ints, below, cached_per_page, distinct
from domsieve.analysis.columns.css_values import is_color_scheme
from domsieve.snapshot.page import JSON_LD, Kind, Snapshot


@dataclass(frozen=True, eq=False)
class PageTexts:
    """All T text nodes of a page in document order.

    Parameters
    ----------
    node : int64 (T,), the text nodes.
    text : T strings.
    is_blank : bool (T,), whether the text is empty or only white space.
    rank : int64 (N,), the number of text nodes before each node; for a text node its index among the T.
    """

    node: NDArray[np.int64]
    text: list[str]
    is_blank: NDArray[np.bool_]
    rank: NDArray[np.int64]

    def of(self, nodes: NDArray[np.int64]) -> list[str]:
        """Return the texts of these text nodes."""
        return [self.text[number] for number in self.rank[nodes].tolist()]

    @cached_property
    def words(self) -> Ints:
        """The number of words, separated by white space, in each text; int64 (T,)."""
        return np.array([len(text.split()) for text in self.text], np.int64)


@cached_per_page
def page_texts(page: Snapshot) -> PageTexts:
    """Return the text nodes of a page."""
    is_text = page.kind == int(Kind.TEXT)
    node = np.flatnonzero(is_text)
    text = page.strings.take(page.text[node].tolist())
    blank = np.array([not one or one.isspace() for one in text], np.bool_)
    return PageTexts(node, text, blank, np.cumsum(is_text) - is_text)


PLAYERS = frozenset(["audio", "iframe", "lite-youtube", "video"])
"""The elements that may play sounds or films, or embed them."""
MEDIA = PLAYERS | {"img"}

_XHTML = "http://www.w3.org/1999/xhtml"
# Where SVG and MathML have HTML: https://html.spec.whatwg.org/multipage/parsing.html#html-integration-point
_HTML, _ANNOTATION = "html", "annotation-xml"
_HTML_IN = {"svg": ("foreignobject", "desc", "title"), "math": ("mi", "mo", "mn", "ms", "mtext", _ANNOTATION)}
_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})

T = TypeVar("T")


def has_tag(page: Snapshot, *tags: str) -> Bools:
    """Return which of the N nodes are elements with one of the tags."""
    numbers = _tag_numbers(page)
    wanted = np.zeros(len(numbers), np.bool_)
    wanted[[numbers[tag] for tag in tags if tag in numbers]] = True
    return np.asarray((page.kind == Kind.ELEMENT) & wanted[page.tag])


def count_letters(page: Snapshot, text: Ints) -> Ints:
    """Return how many letters and digits each of some texts has."""
    return np.array([sum(map(str.isalnum, page.text_of(node))) for node in text.tolist()], np.intp)


def in_tag(page: Snapshot, *tags: str) -> Bools:
    """Return which of the N nodes are elements with one of the tags, or in one of these."""
    return below(has_tag(page, *tags), page.end.astype(np.int64))


@cached_per_page
def _tag_numbers(page: Snapshot) -> dict[str, int]:
    return {name: number for number, name in enumerate(page.tags)}


@cached_per_page
def document_of(page: Snapshot) -> NDArray[np.int64]:
    """Return the document of each of the N nodes: that of the page, which is node 0, or of the frame around it."""
    found = np.zeros(len(page), np.int64)
    for node in np.flatnonzero(page.kind == Kind.DOCUMENT).tolist():
        found[node : page.end[node]] = node
    return found


@cached_per_page
def of_html(page: Snapshot) -> Bools:
    """Return which of the N nodes are HTML: in no element of another language, or in HTML in that."""
    is_other = has_tag(page, *(name for name in page.tags.to_list() if ":" in name))
    if page.has_layout:  # whose names are given by namespaces
        return ~is_other
    if "xml" not in page.provenance.content_type.partition(";")[0]:  # parameters say nothing
        return ~_is_embedded(page)
    nodes, spaces = attributes_of(page).values("xmlns")
    is_other[[node for node, space in zip(nodes, spaces, strict=True) if space != _XHTML]] = True
    is_other |= has_tag(page, *_HTML_IN)
    return ~below(is_other, page.end.astype(np.int64))


def _is_embedded(page: Snapshot) -> Bools:
    """Return which of the N nodes browsers take for SVG or MathML, by the names of the elements around them."""
    tags = page.tags.to_list()
    is_marked = has_tag(page, *_HTML_IN, *chain.from_iterable(_HTML_IN.values())) | (
        page.kind == Kind.DOCUMENT
    )
    said = attributes_of(page).found("encoding", lambda value: value.lower() in _HTML_TYPES or None)
    steps = np.zeros(len(page) + 1, np.int64)
    around: list[tuple[int, str]] = []  # the ends of the elements around a node, and their language
    for node in np.flatnonzero(is_marked).tolist():
        name, parent = tags[page.tag[node]], tags[page.tag[page.parent[node]]]
        while around and around[-1][0] <= node:
            around.pop()
        outer, begin = around[-1][1] if around else _HTML, node
        if page.kind[node] == Kind.DOCUMENT:
            inner = _HTML
        elif name in _HTML_IN and (outer == _HTML or (name == "svg" and parent == _ANNOTATION)):
            inner = name
        elif name in _HTML_IN.get(outer, ()) and (name != _ANNOTATION or node in said):
            inner, begin = _HTML, node + 1
        else:
            continue
        change = int(outer == _HTML) - int(inner == _HTML)
        steps[begin] += change
        steps[page.end[node]] -= change
        around.append((int(page.end[node]), inner))
    return np.asarray(np.cumsum(steps[:-1]) > 0)


@cached_per_page
def in_link(page: Snapshot) -> Bools:
    """Return which of the N nodes are links or in links."""
    return in_tag(page, "a")


@cached_per_page
def attributes_of(page: Snapshot) -> "AttributeIndex":
    """Return the index of a page's attributes."""
    return AttributeIndex(page)


class AttributeIndex:
    """Finds the nodes of a page that have an attribute, and reads each distinct value only once."""

    def __init__(self, page: Snapshot) -> None:
        self._strings = page.strings
        self._owner = np.repeat(np.arange(len(page)), np.diff(page.attr_start))
        self._name, self._value = page.attr_name, page.attr_value
        names = distinct(self._name, len(page.strings))[0].tolist()
        self._ids = dict(zip(page.strings.take(names), names, strict=True))
        self._read: dict[str, tuple[Ints, Ints, list[str]]] = {}

    def nodes(self, name: str) -> Ints:
        """Return the nodes with an attribute of this name, ascending."""
        return self._owner[self._at(name)]

    def values(self, name: str) -> tuple[Ints, list[str]]:
        """Return `nodes(name)` and the attribute's value for each of them."""
        nodes, which, values = self._distinct(name)
        return nodes, [values[i] for i in which.tolist()]

    def strings(self, *names: str) -> tuple[Ints, Ints]:
        """Return the nodes that have one of these attributes, ascending, and the string ids of the values.

        A node with several of them is listed once for each.
        """
        wanted = np.zeros(len(self._strings), np.bool_)
        wanted[[self._ids[name] for name in names if name in self._ids]] = True
        at = np.flatnonzero(wanted[self._name])
        return self._owner[at], self._value[at].astype(np.int64)

    def found(self, name: str, test: Callable[[str], T | None]) -> dict[int, T]:
        """Return ``{node: test(value)}`` for the nodes that have the attribute, without those where it is None.

        Parameters
        ----------
        name : the attribute.
        test : called once for each distinct value.
        """
        nodes, which, values = self._distinct(name)
        passed = {i: result for i, value in enumerate(values) if (result := test(value)) is not None}
        if not passed:
            return {}
        at = np.flatnonzero(np.isin(which, list(passed)))
        return {node: passed[i] for node, i in zip(nodes[at].tolist(), which[at].tolist(), strict=True)}

    def with_class(self, name: str) -> Ints:
        """Return the nodes that have a class, ascending."""
        nodes, which, _ = self._distinct("class")
        values = self._values_with.get(name)
        return nodes[:0] if values is None else nodes[np.isin(which, values)]

    @cached_property
    def _values_with(self) -> dict[str, list[int]]:
        """The distinct values of ``class`` that name each class."""
        found: dict[str, list[int]] = {}
        for number, value in enumerate(self._distinct("class")[2]):
            for name in dict.fromkeys(value.split()):
                found.setdefault(name, []).append(number)
        return found

    def _distinct(self, name: str) -> tuple[Ints, Ints, list[str]]:
        """Return `nodes(name)`, the index of each node's value, and the distinct values."""
        if name not in self._read:
            at = self._at(name)
            ids, which = distinct(self._value[at], len(self._strings))
            self._read[name] = self._owner[at], which, self._strings.take(ids.tolist())
        return self._read[name]

    def _at(self, name: str) -> Ints:
        return np.flatnonzero(self._name == self._ids.get(name, -1))


_JSON_TYPE = re.compile(r'"@type"\s{0,9}:\s{0,9}"(\w{1,60})"')
_MOST_CHARACTERS = 200_000  # of JSON-LD that is read; bounds the work


def named_schemes(page: Snapshot) -> dict[int, str]:
    """Return what ``meta`` elements say of the colours of each document that has one, by the node of the document."""
    attributes, found = attributes_of(page), dict[int, str]()
    named = attributes.found("name", lambda value: True if value.lower() == "color-scheme" else None)
    said = attributes.found("content", lambda value: value if is_color_scheme(value) else None)
    is_meta = has_tag(page, "meta")
    for node in sorted(said.keys() & named.keys()):  # browsers take the first that they can read
        if is_meta[node]:
            found.setdefault(int(document_of(page)[node]), said[node])
    return found


def stated_types(attributes: AttributeIndex) -> list[str]:
    """Return the types that a page states in JSON-LD and in ``og:type``, in lower case, such as ``"newsarticle"``."""
    types = [
        kind.lower()
        for text in attributes.values(JSON_LD)[1]
        for kind in _JSON_TYPE.findall(text[:_MOST_CHARACTERS])
    ]
    if typing := attributes.found("property", lambda name: name.strip().lower() == "og:type" or None):
        content = attributes.found("content", str)
        types += [content.get(node, "").strip().lower().rpartition(":")[2] for node in typing]
    return types
