"""What a page holds beside its words: headings, code, cells of tables, list items and links, as a reader sees them.

Read once from the page's own elements and once from Markdown, by a parser of CommonMark with GitHub's tables, so that
the two can be laid side by side. Imports nothing of the analysis: what is measured must not measure itself.
"""

import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar
from urllib.parse import unquote, urljoin

from lxml import etree

T = TypeVar("T", bound=Hashable)


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MEDIA = ("audio", "iframe", "lite-youtube", "video")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_UNSEEN = _names(
    """
    head link meta noscript script style template title textarea
    """
)
_LINE_ENDERS = _names(
    """
    address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption
    figure footer form h1 h2 h3 h4 h5 h6 header hr html legend li main nav ol p pre section summary table
    tbody td tfoot th thead tr ul br button img input iframe optgroup option
    """
)
_SCHEMES = ("http://", "https://", "mailto:")
# Marks by which headings link to themselves, some of them without a width.
_MARKS = " \t\n¶#§🔗\u200b"
_HIDING = re.compile(r"display\s{0,9}:\s{0,9}none|visibility\s{0,9}:\s{0,9}hidden", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_BLANK_LINES = re.compile(r"(?:[ \t]{0,99}\n)+")
_UNSEEN_SIGNS = re.compile(r"[\x80-\x84\x86-\x9f]")
# References to notes, and the kinds of callouts, which are not on the page.
_NOTE = re.compile(r"\s{0,9}\[\^?([\w-]{1,20})\]")
_KIND = re.compile(r"\[![A-Z]{1,20}\]")
_TO_NOTE = re.compile(r"\[?\w{1,3}\]?|\W{1,3}")
_NOTES = (
    "ancestor-or-self::*"
    "[contains(@class, 'footnotes') or contains(@class, 'references') or @role = 'doc-endnotes']"
)


@dataclass(slots=True)
class Structures:
    """Multisets of what stands in a page.

    Parameters
    ----------
    words : lower case.
    touching : each two neighbours of them written as one.
    headings : level and text.
    code : each block, without newlines at its ends.
    cells : row, column and text of each cell of a table of data that says something, counted from 0.
    rows : the texts of each such row.
    items : depth from 1, whether the list is ordered, and the text without lists inside.
    links : absolute addresses of links with text. One that spans several blocks is several links in Markdown, which
        has no others, so each address counts once.
    relative : links whose address is none of http, https and mailto.
    """

    words: Counter[str] = field(default_factory=Counter)
    touching: frozenset[str] = frozenset()
    headings: Counter[tuple[int, str]] = field(default_factory=Counter)
    code: Counter[str] = field(default_factory=Counter)
    cells: Counter[tuple[int, int, str]] = field(default_factory=Counter)
    rows: Counter[tuple[str, ...]] = field(default_factory=Counter)
    items: Counter[tuple[int, bool, str]] = field(default_factory=Counter)
    links: Counter[str] = field(default_factory=Counter)
    relative: int = 0

    def take_words(self, text: str) -> None:
        """Take the words of the whole text."""
        found = _WORD.findall(_UNSEEN_SIGNS.sub("", text.lower()))
        self.words = Counter(found)
        self.touching = frozenset(map("".join, pairwise(found)))

    def add_table(self, rows: list[list[str]]) -> None:
        """Take the texts of a table, row by row."""
        rows = [row for row in rows if any(row)]
        for number, row in enumerate(rows):
            self.rows[tuple(filter(None, row))] += 1
            self.cells.update((number, column, text) for column, text in enumerate(row) if text)


def glued(found: Structures, truth: Structures) -> int:
    """Return how many words of `found` are two neighbours of the truth without the space between them."""
    beyond = found.words - truth.words
    return sum(count for word, count in beyond.items() if word in truth.touching and not word.isdecimal())


def share_found(found: Counter[T], truth: Counter[T]) -> float | None:
    """Return the share of the truth that was found, None where there is no truth."""
    return (found & truth).total() / truth.total() if truth else None


def f1_of(found: Counter[T], truth: Counter[T]) -> float | None:
    """Return the F1 of a multiset against the truth, None where there is no truth."""
    return 2 * (found & truth).total() / (found.total() + truth.total()) if truth else None


def flat(text: str) -> str:
    """Return a text without differences of white space, and without the marks of permalinks at its ends."""
    return " ".join(_NOTE.sub(r"[\1]", text).split()).strip(_MARKS)


# From the elements of the page.


def read_elements(root: etree._Element, url: str) -> Structures:
    """Return what stands in an element of a page.

    Tables of data have two rows of two cells, and neither tables nor code, lists or headings inside, nor, where they
    have no heads, cells of several paragraphs. Code has no buttons, and in a heading it is a part of the line. Links
    have text and lead to another page or to a part of this one; those of a heading to itself are no content, and code
    has none.
    Notes and references to them are no items and no links: Markdown has signs of its own for them.

    Parameters
    ----------
    root : lxml's element.
    url : what relative links are relative to.
    """
    found = Structures()
    # A link stands for what is played, with the words that name it.
    played = [
        str(one.get(name, "")) for one in root.iter(*_MEDIA) for name in ("title", "aria-label", "playlabel")
    ]
    found.take_words("\n".join([_said(root), *played]))
    data = {row for table in root.iter("table") if _is_of_data(table) for row in table.iter("tr")}
    for element in _seen(root):
        tag = element.tag
        if tag in _HEADINGS and (text := flat(_said(element))):
            found.headings[int(tag[1]), text] += 1
        elif (
            tag == "pre"
            and not _lies_in(element, root, "pre", *_HEADINGS)
            and (code := _code(element)).strip()
        ):
            found.code[code] += 1
        elif tag == "table" and _is_of_data(element):
            found.add_table(_rows(element))
        elif tag == "li" and (text := flat(_said(element, without=("ul", "ol", "pre"), but=data))):
            lists = [above for above in _above(element, root) if above.tag in {"ul", "ol"}]
            if lists and not _lies_in(element, root, "table") and not element.xpath(_NOTES):
                found.items[_depth(lists), lists[0].tag == "ol", text] += 1
        elif tag == "a" and (href := (element.get("href") or "").strip()) and (text := flat(_said(element))):
            address = urljoin(url, href)
            in_place = _lies_in(element, root, "pre") or (
                href[0] == "#" and (_lies_in(element, root, *_HEADINGS, "dt") or _TO_NOTE.fullmatch(text))
            )
            if address.startswith(_SCHEMES) and not in_place:
                found.links[_plain(address)] = 1
    return found


def _depth(lists: Sequence[etree._Element]) -> int:
    """Return how deep in `lists` an item lies; a list right in another is a level where an item stands before it."""
    depth = 0
    for one in lists:
        outer = one.getparent()
        in_item = outer is None or outer.tag not in {"ul", "ol"}
        depth += in_item or any(before.tag == "li" for before in one.itersiblings(preceding=True))
    return depth


def _seen(root: etree._Element) -> Iterator[etree._Element]:
    """Yield the elements that a reader can meet, in document order."""
    stack = [root]
    while stack:
        element = stack.pop()
        if not isinstance(element.tag, str) or element.tag in _UNSEEN or element.get("hidden") is not None:
            continue
        if _HIDING.search(element.get("style") or ""):
            continue
        yield element
        stack.extend(reversed(element))


def _said(root: etree._Element, without: tuple[str, ...] = (), but: Collection[etree._Element] = ()) -> str:
    """Return the text of an element with a line break wherever a reader sees one.

    Elements inside that are called like one of `without`, or stand in `but`, are left out.
    """
    pieces: list[str] = []
    stack: list[tuple[etree._Element, bool]] = [(root, False)]
    while stack:
        element, is_behind = stack.pop()
        shown = isinstance(element.tag, str) and element.tag not in _UNSEEN and element.get("hidden") is None
        shown = shown and not _HIDING.search(element.get("style") or "")
        shown = shown and (element is root or (element.tag not in without and element not in but))
        if shown and element.tag in _LINE_ENDERS:
            pieces.append("\n")
        if is_behind:
            pieces.append((element.tail or "") if element is not root else "")
            continue
        stack.append((element, True))
        if shown:
            pieces.append(element.text or "")
            stack.extend((child, False) for child in reversed(element))
    return "".join(pieces)


def _code(element: etree._Element) -> str:
    code = ""
    walk = etree.iterwalk(element, events=("start", "end", "comment"))
    for event, node in walk:
        if event == "start" and node.tag == "button":
            walk.skip_subtree()
            continue
        # A block ends the line before it and its own, a break any line.
        is_block = node.tag in _LINE_ENDERS and node is not element and code and not code.endswith("\n")
        code += "\n" * bool(is_block or (node.tag == "br" and event == "start"))
        if event == "start":
            code += node.text or ""
        elif node is not element:
            code += node.tail or ""
    return as_code(code)


def as_code(text: str) -> str:
    """Return code as it is compared: no-break spaces as spaces, no blank lines at its ends."""
    text = text.replace("\xa0", " ").replace("\r\n", "\n").rstrip()
    blank = _BLANK_LINES.match(text)
    return text[blank.end() :] if blank else text


def _above(element: etree._Element, root: etree._Element) -> Iterator[etree._Element]:
    while element is not root:
        parent = element.getparent()
        if parent is None:
            return
        element = parent
        yield element


def _lies_in(element: etree._Element, root: etree._Element, *tags: str) -> bool:
    return any(above.tag in tags for above in _above(element, root))


def _is_of_data(table: etree._Element) -> bool:
    if table.get("role") in {"presentation", "none"} or table.xpath(_NO_DATA) or table.xpath(_LAYS_OUT):
        return False
    rows = [row for row in _rows(table) if sum(map(bool, row)) > 1]
    return len(rows) > 1


_NO_DATA = "boolean(.//table|.//pre|.//ul|.//ol|.//dl|.//h1|.//h2|.//h3|.//h4|.//h5|.//h6|.//form)"
_LAYS_OUT = "not(.//th|.//thead) and boolean(.//td[count(.//p) > 1 or count(.//div) > 1])"


def _rows(table: etree._Element) -> list[list[str]]:
    """Return the texts of a table in place: of a cell that spans others, in the first of them."""
    grid: list[list[str]] = []
    held: dict[tuple[int, int], bool] = {}
    for number, row in enumerate(table.iter("tr")):
        cells: list[str] = []
        for cell in row.iterchildren("td", "th"):
            while held.get((number, len(cells))):
                cells.append("")
            wide, high = (_span(cell, name) for name in ("colspan", "rowspan"))
            for down in range(1, high):
                held.update({(number + down, len(cells) + right): True for right in range(wide)})
            cells += [flat(_said(cell)), *([""] * (wide - 1))]
        grid.append(cells)
    return grid


def _span(cell: etree._Element, name: str) -> int:
    given = (cell.get(name) or "").strip()
    return min(max(int(given), 1), 50) if given.isdecimal() and len(given) < 6 else 1


def _plain(address: str) -> str:
    """Return an address without the differences of spelling that escapes make."""
    return unquote(address).replace("\\", "").rstrip("/")


# From Markdown.


def read_markdown(text: str) -> Structures:
    """Return what stands in Markdown as a reader of CommonMark with GitHub's tables sees it."""
    reading = _Reading()
    for token in _parser().parse(text):
        reading.take(token)
    reading.found.take_words(_KIND.sub(" ", " ".join(reading.said)))
    return reading.found


@cache
def _parser() -> Any:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable(["table", "strikethrough"])


class _Reading:
    """Takes the tokens of a document one by one."""

    def __init__(self) -> None:
        self.found = Structures()
        self.said: list[str] = []
        self._lists: list[bool] = []
        self._items: list[list[str]] = []
        self._rows: list[list[str]] = []
        self._in_table = False
        self._heading = 0

    def take(self, token: Any) -> None:
        """Take a token of a block."""
        kind = token.type
        if kind in {"fence", "code_block"}:
            self.found.code[as_code(token.content)] += 1
            self.said.append(token.content)
        elif kind == "heading_open":
            self._heading = int(token.tag[1])
        elif kind == "heading_close":
            self._heading = 0
        elif kind in {"bullet_list_open", "ordered_list_open"}:
            self._lists.append(kind == "ordered_list_open")
        elif kind in {"bullet_list_close", "ordered_list_close"}:
            self._lists.pop()
        elif kind == "list_item_open":
            self._items.append([])
        elif kind == "list_item_close":
            if said := flat(" ".join(self._items.pop())):
                self.found.items[len(self._lists), self._lists[-1], said] += 1
        elif kind == "table_open":
            self._rows, self._in_table = [], True
        elif kind == "tr_open":
            self._rows.append([])
        elif kind == "table_close":
            self.found.add_table(self._rows)
            self._in_table = False
        elif kind == "inline":
            self._line(token)

    def _line(self, token: Any) -> None:
        said = self._text_of(token.children or ())
        text = flat(said)
        self.said.append(said)
        if self._in_table:
            self._rows[-1].append(text)
        elif self._items:
            self._items[-1].append(said)
        if self._heading and text:
            self.found.headings[self._heading, text] += 1

    def _text_of(self, children: Sequence[Any]) -> str:
        pieces: list[str] = []
        address, began = "", 0
        for child in children:
            if child.type in {"text", "code_inline", "text_special"}:
                pieces.append(child.content)
            elif child.type in {"softbreak", "hardbreak"}:
                pieces.append("\n")
            elif child.type == "link_open":
                address, began = str(child.attrGet("href")), len(pieces)
            elif child.type == "link_close":
                text = flat("".join(pieces[began:]))
                if not address.startswith(_SCHEMES):
                    self.found.relative += 1
                elif text:
                    self.found.links[_plain(address)] = 1
        return "".join(pieces)
