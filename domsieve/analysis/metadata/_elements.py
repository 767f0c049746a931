"""The elements that metadata is read from, found by tag and attribute, and how near they are to the title."""

import re
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import below, cached_per_page
from domsieve.analysis.columns.flow import word_set
from domsieve.analysis.columns.links import Addresses
from domsieve.analysis.columns.page_columns import attributes_of, page_texts
from domsieve.analysis.metadata.values import LONGEST_URL, clean_text
from domsieve.budget import check
from domsieve.snapshot.page import Kind, Snapshot
from domsieve.urls import split_url

_INLINE_NAMES = """
a abbr b bdi bdo cite code data del dfn em font i ins kbd label mark q s samp small span strike strong sub sup time tt
u var wbr
"""
_INLINE = frozenset(_INLINE_NAMES.split())
_SILENT = frozenset(("button", "option", "script", "select", "style", "svg", "template", "textarea"))
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_LONGEST_NAME = 500
# Limits that bound the time for hostile pages.
_MOST_TEXTS = 400  # text nodes that are read in one element
_MOST_LOOKED_AT = 20_000  # elements that are returned for one query


@cached_per_page
def elements_of(page: Snapshot) -> "Elements":
    """Return the elements of a page; computed once per page."""
    return Elements(page)


class Elements:
    """Elements of a page, without those in frames, with their attributes and texts; all in document order.

    Attributes
    ----------
    readable : text nodes outside of scripts, styles and controls, ascending.
    shown : those of them with a layout box; in raw pages, those outside of the head.
    """

    def __init__(self, page: Snapshot) -> None:
        self.page = page
        self.names = page.tags.to_list()
        self.parent = page.parent
        texts = page_texts(page)
        self._text, self._rank = texts.text, texts.rank
        self.end = page.end
        self._tag_ids = {name: number for number, name in enumerate(self.names)}
        document = page.kind == Kind.DOCUMENT
        document[0] = False
        self._own = ~below(document, page.end.astype(np.int64))
        self._element = self._own & (page.kind == Kind.ELEMENT)
        self._attributes = attributes_of(page)
        silent = np.array([name in _SILENT for name in self.names])[page.tag] & (page.kind == Kind.ELEMENT)
        readable = (page.text >= 0) & self._own & ~below(silent, page.end.astype(np.int64))
        self.readable = np.flatnonzero(readable)
        shown = page.style[self.readable] >= 0 if page.has_layout else self._outside_head(self.readable)
        self.shown = self.readable[shown]
        self._addresses = Addresses(page)
        self._with_attribute: dict[str, list[tuple[int, str]]] = {}
        self._value_words: dict[str, dict[str, frozenset[str]]] = {}
        self._blocks: dict[int, int] = {}

    def _outside_head(self, nodes: NDArray[np.intp]) -> NDArray[np.bool_]:
        head = np.array([name in {"head", "title"} for name in self.names])[self.page.tag]
        inside: NDArray[np.bool_] = below(head, self.page.end.astype(np.int64))[nodes]
        return ~inside

    def tag(self, node: int) -> str:
        """Return the tag name of a node."""
        return self.names[int(self.page.tag[node])]

    def tagged(self, *tags: str) -> list[int]:
        """Return the elements with one of these tag names."""
        wanted = np.zeros(len(self.names), np.bool_)
        wanted[[self._tag_ids[tag] for tag in tags if tag in self._tag_ids]] = True
        if not wanted.any():
            return []
        nodes: list[int] = np.flatnonzero(self._element & wanted[self.page.tag])[:_MOST_LOOKED_AT].tolist()
        return nodes

    def with_attribute(self, name: str) -> list[tuple[int, str]]:
        """Return the elements with an attribute, and its values."""
        if name not in self._with_attribute:
            self._with_attribute[name] = self._find_attribute(name)
        return self._with_attribute[name]

    def _find_attribute(self, name: str) -> list[tuple[int, str]]:
        check()
        nodes, values = self._attributes.values(name)
        given = zip(nodes.tolist(), self._element[nodes].tolist(), values, strict=True)
        return [(node, value) for node, is_own, value in given if is_own][:_MOST_LOOKED_AT]

    def named(self, attribute: str) -> list[tuple[int, str, frozenset[str]]]:
        """Return the elements with an attribute such as ``class``, its values, and the words in the values.

        The words are in lower case: ``postMeta entry-date`` has the words post, meta, entry and date.
        """
        words = self._words_of(attribute)
        return [(node, value, words[value]) for node, value in self.with_attribute(attribute)]

    def named_after(self, attribute: str, words: frozenset[str]) -> list[tuple[int, str]]:
        """Return the elements with one of the words in an attribute, and its values; see `named`."""
        values = {value for value, own in self._words_of(attribute).items() if not words.isdisjoint(own)}
        return [(node, value) for node, value in self.with_attribute(attribute) if value in values]

    def _words_of(self, attribute: str) -> dict[str, frozenset[str]]:
        if attribute not in self._value_words:
            words: dict[str, frozenset[str]] = {}
            for value in {value: None for _, value in self.with_attribute(attribute)}:
                check()
                words[value] = frozenset(map(str.lower, _WORDS.findall(value[:_LONGEST_NAME])))
            self._value_words[attribute] = words
        return self._value_words[attribute]

    def attributes(self, node: int) -> dict[str, str]:
        """Return the attributes of an element, by name."""
        span = range(int(self.page.attr_start[node]), int(self.page.attr_start[node + 1]))
        strings, name, value = self.page.strings, self.page.attr_name, self.page.attr_value
        return {strings[int(name[i])]: strings[int(value[i])] for i in span}

    def links(self, node: int) -> list[str]:
        """Return the absolute addresses of the links in a node, or of those that contain it."""
        end = int(self.end[node])
        found = [
            self.url(link, href)
            for link, href in self.with_attribute("href")
            if link < end and (link >= node or self.end[link] >= end) and self.tag(link) == "a"
        ]
        return [address for address in found if address]

    def text(self, node: int, longest: int) -> str:
        """Return the readable text in a node, shown or not, as one line of at most `longest` characters."""
        texts = self._within(self.readable, node)
        return clean_text(self._joined(texts), longest)

    def shown_text(self, node: int, longest: int) -> str:
        """Return the shown text in a node as one line of at most `longest` characters."""
        return clean_text(self._joined(self._within(self.shown, node)), longest)

    def nodes_beginning_with(self, pattern: re.Pattern[str], *, longest: int) -> list[int]:
        """Return the text nodes, those of buttons too, of at most `longest` characters that begin with a pattern."""
        held = np.array(
            [len(text) <= longest and pattern.match(text) is not None for text in self._text], np.bool_
        )
        if not held.any():
            return []
        texts = np.flatnonzero((self.page.text >= 0) & self._own)
        nodes: list[int] = texts[held[self._rank[texts]]][:_MOST_LOOKED_AT].tolist()
        return nodes

    def texts_within(self, node: int) -> list[int]:
        """Return the shown text nodes in a node, at most 400."""
        return self._within(self.shown, node)

    def style(self, node: int, name: str) -> str:
        """Return the value of a property of the computed style of a node, empty without a box."""
        row = int(self.page.style[node])
        if row < 0 or name not in self.page.style_names:
            return ""
        return self.page.strings[int(self.page.styles[row, self.page.style_names.index(name)])]

    def _within(self, texts: NDArray[np.intp], node: int) -> list[int]:
        first, last = np.searchsorted(texts, (node, int(self.end[node])))
        inside: list[int] = texts[first : min(last, first + _MOST_TEXTS)].tolist()
        return inside

    def _joined(self, texts: Iterable[int]) -> str:
        parts: list[str] = []
        last, rank = -1, self._rank
        for text in texts:
            block = self.block(text)
            if parts and block != last:
                parts.append(" ")
            parts.append(self._text[rank[text]])
            last = block
        return "".join(parts)

    def block(self, node: int) -> int:
        """Return the nearest ancestor of a node that is not an inline element."""
        if node not in self._blocks:
            around = int(self.parent[node])
            while around > 0 and self.tag(around) in _INLINE:
                check()
                around = int(self.parent[around])
            self._blocks[node] = around
        return self._blocks[node]

    def lines(self, first: int, last: int) -> list[tuple[int, str]]:
        """Return the lines of the text nodes ``shown[first:last]``, each with its first node."""
        groups: list[tuple[int, list[int]]] = []
        previous = -1
        for text in self.shown[max(first, 0) : max(last, 0)].tolist():
            block = self.block(text)
            if not groups or block != previous:
                groups.append((text, []))
            groups[-1][1].append(text)
            previous = block
        lines = ((node, clean_text(self._joined(texts), 300)) for node, texts in groups)
        return [(node, line) for node, line in lines if line]

    def shown_texts(self, first: int, last: int) -> list[tuple[int, str]]:
        """Return the text nodes ``shown[first:last]`` that are not blank, with their texts, stripped."""
        nodes = self.shown[max(first, 0) : max(last, 0)].tolist()
        found = ((node, self._text[self._rank[node]].strip()) for node in nodes)
        return [(node, text) for node, text in found if text]

    def url(self, node: int, value: str) -> str:
        """Return the absolute address for an attribute value, empty unless it is a valid http or https address."""
        if len(value) > LONGEST_URL or not any(character.isalnum() for character in value):
            return ""
        address = self._addresses.absolute(node, value, linked=False)
        parts = split_url(address) if address else None
        if not address or parts is None or parts.scheme not in {"http", "https"} or not parts.netloc:
            return ""
        return address if len(address) <= LONGEST_URL else ""


_BESIDE_TAGS = ("aside", "footer", "nav", "dialog")
# Words in a class or id of parts about other pages, other people, or the site.
_BESIDE = word_set("""
comment comments reply replies related sidebar footer nav navigation menu widget recommended recommendation
recommendations popular trending latest teaser carousel breadcrumb breadcrumbs newsletter modal popup cookie promo
sponsored ad ads advert similar card cards review reviews testimonial testimonials copyright
""")
# Guesses that worked on the development sites.
_NEAR = 15  # shown texts from the title
_NEAR_COST, _FAR_COST = 30, 2_000  # in parts that are not about the subject, near the title and elsewhere


class Places:
    """Costs of nodes by their distance from the title.

    Parameters
    ----------
    elements : elements of the page.
    title : node of the heading that is the title, 0 if there is none.
    """

    def __init__(self, elements: Elements, title: int) -> None:
        self.title = title
        self._elements = elements
        self._shown = elements.shown
        self._end = int(elements.end[title]) if title else 0
        self._from = int(np.searchsorted(self._shown, title))
        self._to = int(np.searchsorted(self._shown, self._end))
        marked = np.zeros(len(elements.page), np.bool_)
        marked[elements.tagged(*_BESIDE_TAGS)] = True
        for name in ("class", "id"):
            marked[[node for node, _ in elements.named_after(name, _BESIDE)]] = True
        marked[self._wide(np.flatnonzero(marked))] = False
        if title:
            around = title
            while around > 0:
                marked[around] = False
                around = int(elements.parent[around])
        self._beside = below(marked, elements.page.end.astype(np.int64))

    def _wide(self, nodes: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the nodes with most of the shown text: a class such as ``has-sidebar`` is that of the layout."""
        page = self._elements.page
        lengths = np.diff(page.strings.offsets)[page.text[self._shown]]
        sums = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
        inside = (
            sums[np.searchsorted(self._shown, page.end[nodes])] - sums[np.searchsorted(self._shown, nodes)]
        )
        wide: NDArray[np.intp] = nodes[2 * inside > sums[-1]]
        return wide

    def cost(self, node: int) -> int:
        """Return the distance of a node, with a surcharge in parts that are not about the subject of the page."""
        distance = self.distance(node)
        if not self._beside[node]:
            return distance
        return distance + (_NEAR_COST if distance <= _NEAR else _FAR_COST)

    def is_beside(self, node: int) -> bool:
        """Return whether a node is in a part that is not about the subject of the page."""
        return bool(self._beside[node])

    def distance(self, node: int) -> int:
        """Return the number of shown texts between the title and a node; those before the title count twice."""
        if not self.title:
            return int(np.searchsorted(self._shown, node))
        at = int(np.searchsorted(self._shown, node))
        if self.title <= node < self._end:
            return 0
        return at - self._to if node >= self._end else 2 * (self._from - at)

    def texts(self, before: int, after: int) -> list[tuple[int, str]]:
        """Return the shown texts around the title that are not blank; see `Elements.shown_texts`."""
        return self._elements.shown_texts(self._from - before, self._to + after)

    def lines(self, before: int, after: int) -> list[tuple[int, str]]:
        """Return the lines around the title, in so many shown texts before and after it; see `Elements.lines`."""
        return self._elements.lines(self._from - before, self._to + after)
