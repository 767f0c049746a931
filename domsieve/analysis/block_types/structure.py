"""Blocks whose kind shows in how they are built and in what they say, whatever they are called.

Each rule starts from the few texts and links that can be part of such a block, and looks at what stands around them.
Imports the columns, the phrases and those of walls.
"""

from collections.abc import Iterable
from itertools import islice, pairwise

import numpy as np

from domsieve.analysis.block_types.block_columns import Columns
from domsieve.analysis.block_types.block_phrases import (
    ADDRESS_STEMS,
    BY,
    CONSENT_STEMS,
    HOME,
    RELATED,
    REPLY,
    SHARE,
    SHARE_ADDRESSES,
    Begins,
    Pieces,
)
from domsieve.analysis.block_types.name_words import Says
from domsieve.analysis.columns.batch import Ints, counted_before, distinct
from domsieve.analysis.columns.flow import by_style_row
from domsieve.analysis.columns.tables import sorted_set
from domsieve.analysis.columns.words import fold
from domsieve.analysis.page_flags.wall_phrases import CONSENT, CONSENT_TOPIC, folded
from domsieve.budget import check

_MOST_LOOKED_AT = 200  # places of one kind on a page
_MOST_STEPS = 6  # levels above one
_LONGEST_ADDRESS = 300
_BUTTON_LETTERS, _LABEL_LETTERS = 40, 60
_PATH_LETTERS, _PATH_LINKS, _PATH_FIRST = 240, 10, 2
_SHARE_LETTERS = 300
_BYLINE_LETTERS, _DATE_LETTERS = 100, 30
_BEFORE, _AFTER = 6, 14  # texts around the title
_CONSENT_LETTERS = 20_000
_RELATED_LINKED, _LISTED = 0.3, 2
_ARTICLE = 0.3  # of the unlinked letters, ahead of comments
_ARROWS = frozenset("/>›»→❯▸▶⟩\\＞")
_MARKS = _ARROWS | frozenset("|·•:-")
_TO_FRONT = frozenset((b"/", b"./", b"../", b"../../", b"index.html", b"/index.html", b"../index.html"))
_SLASH = ord("/")
_LINK_OR_BUTTON, _HEADING, _TIME = int(Says.LINK | Says.BUTTON), int(Says.HEADING), int(Says.TIME)


class Structure:
    """Answers for some kinds which nodes are built like them, ascending; a node may lie in another one."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._page = columns.page
        self._parent = columns.page.parent
        self._end = columns.end
        self._links = columns.names.called(Says.LINK)
        self._linking, strings = columns.names.values("href")
        ids, self._address = distinct(strings, len(self._page.strings))
        self._addresses = Pieces(self._page.strings, ids, longest=_LONGEST_ADDRESS)

    # Paths of links to the page.

    def paths(self) -> Ints:
        """Return short rows of links that begin with the front page, parted by arrows or leading deeper each."""
        rows = _nodes(self._row(link) for link in self._to_front()[:_MOST_LOOKED_AT].tolist())
        return _nodes(row for row in rows.tolist() if row and self._is_path(row))

    def _to_front(self) -> Ints:
        """Return the links that lead to a front page."""
        first, data = self._addresses.first, self._addresses.lower
        if not first.size:
            return self._linking
        size = np.diff(first, append=data.size) - 1
        slashes = np.add.reduceat(data == _SLASH, first, dtype=np.int64)
        ends = data[first + size - (size > 0)] == _SLASH
        # https://host and https://host/, and what leads to no more than an index.
        root = (slashes - ends == 2) & (data[first] == ord("h"))
        for number in np.flatnonzero(size <= max(map(len, _TO_FRONT))).tolist():
            root[number] |= data[first[number] : first[number] + size[number]].tobytes() in _TO_FRONT
        return np.asarray(self._linking[root[self._address]])

    def _row(self, link: int) -> int:
        """Return the smallest element around a link that holds another one, 0 without one nearby."""
        links, node = self._columns.links, link
        for _ in range(_MOST_STEPS):
            node = int(self._parent[node])
            if node <= 0:
                return 0
            if links[self._end[node]] - links[node] > 1:
                return node
        return 0

    def _is_path(self, row: int) -> bool:
        check()
        c = self._columns
        end = int(self._end[row])
        letters, links = int(c.letters[end] - c.letters[row]), int(c.links[end] - c.links[row])
        if letters > _PATH_LETTERS or links > _PATH_LINKS or c.titles[end] > c.titles[row]:
            return False
        first = int(self._links[np.searchsorted(self._links, row)])
        home = _said(c.words(first, most=_BUTTON_LETTERS))
        if c.letters[first] > c.letters[row] + _PATH_FIRST or (home and home not in HOME):
            return False
        a, b = c.text.searchsorted((row, end)).tolist()
        texts = [text.strip() for text in self._page.strings.take(self._page.text[c.text[a:b]].tolist())]
        marks = [text for text in texts if text and set(text) <= _MARKS]
        if not _ARROWS.isdisjoint("".join(marks)):
            return len(marks) >= links - 1
        return self._leads_deeper(row, end)

    def _leads_deeper(self, row: int, end: int) -> bool:
        """Return whether each link of a row leads to what stands below the one before it; two at least do."""
        links = self._links[slice(*np.searchsorted(self._links, (row, end)))].tolist()
        paths = [_path(self._page.attributes(link).get("href", "")) for link in links]
        steps = [b.startswith(a) and len(b) > len(a) for a, b in pairwise(paths)]
        return len(steps) > 1 and all(steps)

    # What shares the page.

    def shares(self) -> Ints:
        """Return links and buttons that share the page, by where they lead and what they say."""
        c = self._columns
        found: list[int] = []
        if (hit := self._addresses.holding_both(ADDRESS_STEMS, SHARE_ADDRESSES)).size:
            leads = self._linking[np.isin(self._address, hit)]
            found += leads[c.of(c.letters, leads) <= _BUTTON_LETTERS].tolist()
        for text in c.labels(Begins.SHARE)[:_MOST_LOOKED_AT]:
            check()
            node = self._around(text, _LINK_OR_BUTTON)
            if node and _said(c.words(node, most=_BUTTON_LETTERS)) in SHARE:
                found.append(node)
        return _nodes(found)

    def _around(self, node: int, bits: int) -> int:
        """Return the nearest element around a node that is called so, 0 without one nearby."""
        said = self._columns.names.said
        for _ in range(_MOST_STEPS):
            node = int(self._parent[node])
            if node <= 0:
                return 0
            if int(said[node]) & bits:
                return node
        return 0

    def bars(self, shares: Ints) -> Ints:
        """Return what holds nothing but things that share, and the words that say so."""
        c = self._columns
        shares = c.tops(shares)
        if not shares.size:
            return shares
        own = np.zeros(len(self._page), np.int64)
        shared = c.text[c.among(c.text, shares)]
        own[shared] = c.size[shared]
        for text in c.labels(Begins.SHARE)[:_MOST_LOOKED_AT]:
            own[text] = c.size[text] if _said(self._page.text_of(text)) in SHARE else own[text]
        covered = counted_before(own)
        found = []
        for node in shares.tolist():
            check()
            for _ in range(_MOST_STEPS):
                above = int(self._parent[node])
                end = int(self._end[above])
                letters = int(c.letters[end] - c.letters[above])
                is_bar = letters == covered[end] - covered[above] and letters <= _SHARE_LETTERS
                if above <= 0 or not is_bar or c.titles[end] > c.titles[above]:
                    break
                node = above
            found.append(node)
        return _nodes(found)

    # Who wrote the page, and when.

    def bylines(self) -> Ints:
        """Return short lines near the title of the page that name its authors or its date."""
        c = self._columns
        if not c.titles[-1]:
            return _nodes([])
        title = int(np.argmax(c.titles > 0)) - 1
        at, behind = c.text.searchsorted((title, self._end[title])).tolist()
        near = np.concatenate((c.text[max(at - _BEFORE, 0) : at], c.text[behind : behind + 4 * _AFTER]))
        found = []
        for text in near[c.size[near] > 0][: _BEFORE + _AFTER].tolist():
            said = _said(self._page.text_of(text)[:_BYLINE_LETTERS])
            if f"{said} ".startswith(BY):
                found.append(self._line(text, _BYLINE_LETTERS))
            elif around := self._around(text, _TIME):
                found.append(self._line(around, _DATE_LETTERS))
        return _nodes(filter(None, found))

    def _line(self, node: int, most: int) -> int:
        """Return the largest element around a node that is as short as a line; 0 where none is."""
        c = self._columns
        line = 0
        for _ in range(_MOST_STEPS):
            end = self._end[node]
            if node <= 0 or c.letters[end] - c.letters[node] > most or c.titles[end] > c.titles[node]:
                break
            line, node = node, int(self._parent[node])
        return line

    def lines_of(self, nodes: Ints) -> Ints:
        """Return the lines that the nodes stand in, which say little more than they do."""
        tops = self._columns.tops(nodes)
        own = self._columns.of(self._columns.letters, tops) + _DATE_LETTERS
        pairs = zip(tops.tolist(), own.tolist(), strict=True)
        first = [self._line(node, most) or node for node, most in islice(pairs, _MOST_LOOKED_AT)]
        return _nodes([*first, *tops[_MOST_LOOKED_AT:].tolist()])

    # What else there is to read.

    def related(self) -> Ints:
        """Return lists of links under headings that promise other pages."""
        c = self._columns
        labels = [text for text in c.labels(Begins.RELATED) if not c.in_link[text]]
        found: list[int] = []
        for text in labels[:_MOST_LOOKED_AT]:
            check()
            heading = self._around(text, _HEADING) or text
            if _said(c.words(heading, most=_LABEL_LETTERS)).startswith(RELATED):
                found += self._listed_under(self._alone(heading))
        return _nodes(found)

    def _alone(self, node: int) -> int:
        """Return the largest element around a heading that says nothing else."""
        c = self._columns
        letters = c.letters[self._end[node]] - c.letters[node]
        for _ in range(_MOST_STEPS):
            above = int(self._parent[node])
            if above <= 0 or c.letters[self._end[above]] - c.letters[above] != letters:
                break
            node = above
        return node

    def _listed_under(self, heading: int) -> list[int]:
        """Return the part of the page that a heading opens, or the heading and the list behind it."""
        c = self._columns
        above, node = int(self._parent[heading]), int(self._end[heading])
        if above <= 0:
            return []
        if c.letters[heading] == c.letters[above] and self._is_list(above, at_least=_LISTED):
            return [above]
        for _ in range(_MOST_STEPS):
            if node >= self._end[above]:
                break
            if c.letters[self._end[node]] > c.letters[node]:
                return [heading, node] if self._is_list(node, at_least=1) else []
            node = int(self._end[node])
        return []

    def _is_list(self, node: int, *, at_least: int) -> bool:
        c = self._columns
        end = int(self._end[node])
        letters, linked, links = (int(x[end] - x[node]) for x in (c.letters, c.linked, c.links))
        is_part = letters * 2 < c.total and c.titles[end] == c.titles[node]
        return bool(is_part and links >= at_least and linked >= _RELATED_LINKED * letters)

    # What readers wrote.

    def comments(self) -> Ints:
        """Return what holds all links and buttons that answer a comment, behind an article."""
        c = self._columns
        labels = c.labels(Begins.REPLY)
        texts = [text for text in labels[: 10 * _MOST_LOOKED_AT] if _said(self._page.text_of(text)) in REPLY]
        if len(texts) < _LISTED:
            return _nodes([])
        node, last = int(self._parent[texts[0]]), texts[-1]
        while node > 0 and self._end[node] <= last:
            check()
            node = int(self._parent[node])
        plain = c.letters - c.linked
        is_behind = plain[node] >= _ARTICLE * plain[-1]
        if node <= 0 or c.titles[self._end[node]] > c.titles[node] or not is_behind:
            return _nodes([])
        return _nodes([node])

    # What asks for consent.

    def consent(self, named: Ints) -> Ints:
        """Return those of the named elements, and of the boxes that do not scroll, that ask for consent.

        They speak of cookies or the like, and offer a choice.
        """
        c = self._columns
        nodes = np.concatenate((named, self._fixed()))
        nodes = c.tops(sorted_set(nodes[c.of(c.letters, nodes) <= _CONSENT_LETTERS]))
        return _nodes([node for node in nodes[:_MOST_LOOKED_AT].tolist() if self._asks(node)])

    def _fixed(self) -> Ints:
        by_row = by_style_row(self._page, "position", lambda value: value in {"fixed", "sticky"})
        if by_row is None:
            return _nodes([])
        return np.flatnonzero((by_row[self._page.style] > 0) & (self._page.style >= 0))

    def _asks(self, node: int) -> bool:
        check()
        text = self._columns.words(node, most=_CONSENT_LETTERS)
        if not any(stem in text.lower().encode("utf-8", "replace") for stem in CONSENT_STEMS):
            return False
        said = f" {_said(text)} "
        return _says(said, CONSENT_TOPIC) and _says(said, CONSENT)


def _says(text: str, phrases: str) -> bool:
    return any((f" {phrase} " if phrase[0] < "\u2e80" else phrase) in text for phrase in folded(phrases))


def _said(text: str) -> str:
    return " ".join(fold(text).split())


def _path(href: str) -> str:
    """Return an address without what stands behind its path, ending in a slash."""
    path = href.partition("#")[0].partition("?")[0]
    _, colon, rest = path.partition("://")
    if colon:
        path = "/" + rest.partition("/")[2]
    return path.rstrip("/") + "/"


def _nodes(found: Iterable[int]) -> Ints:
    return np.array(sorted(set(found)), np.int64)
