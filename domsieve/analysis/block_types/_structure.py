"""Find blocks of some types by their structure and their text, whatever their names.

Each rule starts from the few texts and links that can be part of such a block, and checks the elements around them.
"""

from collections.abc import Iterable
from itertools import islice, pairwise

import numpy as np

from domsieve.analysis.block_types._block_columns import Columns, NameFlag
from domsieve.analysis.block_types._block_phrases import (
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
from domsieve.analysis.columns.batch import Ints, counted_before, distinct
from domsieve.analysis.columns.flow import by_style_row
from domsieve.analysis.columns.tables import sorted_set
from domsieve.analysis.columns.words import fold
from domsieve.analysis.page_flags.wall_phrases import CONSENT, CONSENT_TOPIC, folded
from domsieve.budget import check

# Guesses; experiment `kinds` measures the result. Sizes are in letters: characters other than white space.
_MOST_CANDIDATES = 200  # candidates of one type on a page that are checked; bounds the work
_MOST_STEPS = 6  # levels above a candidate that are checked
_LONGEST_ADDRESS = 300
_BUTTON_LETTERS, _LABEL_LETTERS = 40, 60
_PATH_LETTERS, _PATH_LINKS, _PATH_FIRST = 240, 10, 2
_SHARE_LETTERS = 300
_BYLINE_LETTERS, _DATE_LETTERS = 100, 30
_BEFORE, _AFTER = 6, 14  # number of texts around the title
_CONSENT_LETTERS = 20_000
_RELATED_LINKED, _LISTED, _TEASER_LETTERS = 0.3, 2, 200
_ARTICLE = 0.3  # share of the letters outside of links that must come before comments
_ARROWS = frozenset("/>›»→❯▸▶⟩\\＞")
_MARKS = _ARROWS | frozenset("|·•:-")
_TO_FRONT = frozenset((b"/", b"./", b"../", b"../../", b"index.html", b"/index.html", b"../index.html"))
_SLASH = ord("/")
_LINK_OR_BUTTON, _HEADING, _TIME = (
    int(NameFlag.LINK | NameFlag.BUTTON),
    int(NameFlag.HEADING),
    int(NameFlag.TIME),
)


class Structure:
    """Finds the nodes of some block types by structure.

    Methods return nodes in ascending order, of which some may be inside others.
    """

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._page = columns.page
        self._parent = columns.page.parent
        self._end = columns.end
        self._links = columns.names.called(NameFlag.LINK)
        self._linking, strings = columns.names.values("href")
        ids, self._address = distinct(strings, len(self._page.strings))
        self._addresses = Pieces(self._page.strings, ids, longest=_LONGEST_ADDRESS)

    # Breadcrumbs.

    def paths(self) -> Ints:
        """Return short rows of links from the front page down, with arrows between them or ever longer paths."""
        rows = _nodes(self._row(link) for link in self._to_front()[:_MOST_CANDIDATES].tolist())
        return _nodes(row for row in rows.tolist() if row and self._is_path(row))

    def _to_front(self) -> Ints:
        """Return the links that lead to a front page."""
        first, data = self._addresses.first, self._addresses.lower
        if not first.size:
            return self._linking
        size = np.diff(first, append=data.size) - 1
        slashes = np.add.reduceat(data == _SLASH, first, dtype=np.int64)
        ends = data[first + size - (size > 0)] == _SLASH
        # https://host and https://host/, then relative addresses of the front page.
        root = (slashes - ends == 2) & (data[first] == ord("h"))
        for number in np.flatnonzero(size <= max(map(len, _TO_FRONT))).tolist():
            root[number] |= data[first[number] : first[number] + size[number]].tobytes() in _TO_FRONT
        return np.asarray(self._linking[root[self._address]])

    def _row(self, link: int) -> int:
        """Return the smallest element around a link that contains another link; 0 if there is none nearby."""
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
        home = _folded_text(c.words(first, most=_BUTTON_LETTERS))
        if c.letters[first] > c.letters[row] + _PATH_FIRST or (home and home not in HOME):
            return False
        a, b = c.text.searchsorted((row, end)).tolist()
        texts = [text.strip() for text in self._page.strings.take(self._page.text[c.text[a:b]].tolist())]
        marks = [text for text in texts if text and set(text) <= _MARKS]
        if not _ARROWS.isdisjoint("".join(marks)):
            return len(marks) >= links - 1
        return self._leads_deeper(row, end)

    def _leads_deeper(self, row: int, end: int) -> bool:
        """Return whether a row has three links or more, of which each path extends the one before."""
        links = self._links[slice(*np.searchsorted(self._links, (row, end)))].tolist()
        paths = [_path(self._page.attributes(link).get("href", "")) for link in links]
        steps = [b.startswith(a) and len(b) > len(a) for a, b in pairwise(paths)]
        return len(steps) > 1 and all(steps)

    # Share buttons and bars.

    def shares(self) -> Ints:
        """Return links and buttons that share the page, by their addresses and texts."""
        c = self._columns
        buttons: list[int] = []
        if (hit := self._addresses.holding_both(ADDRESS_STEMS, SHARE_ADDRESSES)).size:
            links = self._linking[np.isin(self._address, hit)]
            buttons += links[c.of(c.letters, links) <= _BUTTON_LETTERS].tolist()
        for text in c.labels(Begins.SHARE)[:_MOST_CANDIDATES]:
            check()
            node = self._around(text, _LINK_OR_BUTTON)
            if node and _folded_text(c.words(node, most=_BUTTON_LETTERS)) in SHARE:
                buttons.append(node)
        return _nodes(buttons)

    def _around(self, node: int, bits: int) -> int:
        """Return the nearest ancestor of a node with one of these bits of `NameFlag`; 0 if there is none nearby."""
        said = self._columns.names.said
        for _ in range(_MOST_STEPS):
            node = int(self._parent[node])
            if node <= 0:
                return 0
            if int(said[node]) & bits:
                return node
        return 0

    def bars(self, shares: Ints) -> Ints:
        """Extend share buttons to the largest elements that contain only such buttons and their labels."""
        c = self._columns
        shares = c.tops(shares)
        if not shares.size:
            return shares
        own = np.zeros(len(self._page), np.int64)
        shared = c.text[c.among(c.text, shares)]
        own[shared] = c.size[shared]
        for text in c.labels(Begins.SHARE)[:_MOST_CANDIDATES]:
            own[text] = c.size[text] if _folded_text(self._page.text_of(text)) in SHARE else own[text]
        covered = counted_before(own)
        bars = []
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
            bars.append(node)
        return _nodes(bars)

    # Bylines.

    def bylines(self) -> Ints:
        """Return short lines near the title of the page that name its authors or its date."""
        c = self._columns
        if not c.titles[-1]:
            return _nodes([])
        title = int(np.argmax(c.titles > 0)) - 1
        at, after = c.text.searchsorted((title, self._end[title])).tolist()
        near = np.concatenate((c.text[max(at - _BEFORE, 0) : at], c.text[after : after + 4 * _AFTER]))
        lines = []
        for text in near[c.size[near] > 0][: _BEFORE + _AFTER].tolist():
            words = _folded_text(self._page.text_of(text)[:_BYLINE_LETTERS])
            if f"{words} ".startswith(BY):
                lines.append(self._line(text, _BYLINE_LETTERS))
            elif around := self._around(text, _TIME):
                lines.append(self._line(around, _DATE_LETTERS))
        return _nodes(filter(None, lines))

    def _line(self, node: int, most: int) -> int:
        """Return the largest element around a node with at most `most` letters; 0 if there is none."""
        c = self._columns
        line = 0
        for _ in range(_MOST_STEPS):
            end = self._end[node]
            if node <= 0 or c.letters[end] - c.letters[node] > most or c.titles[end] > c.titles[node]:
                break
            line, node = node, int(self._parent[node])
        return line

    def lines_of(self, nodes: Ints) -> Ints:
        """Return the lines that contain the nodes and little more text, or the nodes if there is no such line."""
        tops = self._columns.tops(nodes)
        own = self._columns.of(self._columns.letters, tops) + _DATE_LETTERS
        pairs = zip(tops.tolist(), own.tolist(), strict=True)
        first = [self._line(node, most) or node for node, most in islice(pairs, _MOST_CANDIDATES)]
        return _nodes([*first, *tops[_MOST_CANDIDATES:].tolist()])

    # Related pages.

    def related(self) -> Ints:
        """Return lists of links below headings such as "Related articles", with their headings."""
        c = self._columns
        labels = [text for text in c.labels(Begins.RELATED) if not c.in_link[text]]
        lists: list[int] = []
        for text in labels[:_MOST_CANDIDATES]:
            check()
            heading = self._around(text, _HEADING) or text
            if _folded_text(c.words(heading, most=_LABEL_LETTERS)).startswith(RELATED):
                lists += self._listed_under(self._alone(heading))
        return _nodes(lists)

    def _alone(self, node: int) -> int:
        """Return the largest element around a heading that has no other text."""
        c = self._columns
        letters = c.letters[self._end[node]] - c.letters[node]
        for _ in range(_MOST_STEPS):
            above = int(self._parent[node])
            if above <= 0 or c.letters[self._end[above]] - c.letters[above] != letters:
                break
            node = above
        return node

    def _listed_under(self, heading: int) -> list[int]:
        """Return the element that starts with a heading if it is a list, or the heading and the list after it."""
        c = self._columns
        above, node = int(self._parent[heading]), int(self._end[heading])
        if above <= 0:
            return []
        if c.letters[heading] == c.letters[above] and self._is_list(above, start=node, at_least=_LISTED):
            return [above]
        for _ in range(_MOST_STEPS):
            if node >= self._end[above]:
                break
            if c.letters[self._end[node]] > c.letters[node]:
                return [heading, node] if self._is_list(node, start=node, at_least=1) else []
            node = int(self._end[node])
        return []

    def _is_list(self, node: int, *, start: int, at_least: int) -> bool:
        """Return whether an element has many words in links, or begins at `start` with links that have summaries."""
        c = self._columns
        end = int(self._end[node])
        letters, linked, links = (int(x[end] - x[node]) for x in (c.letters, c.linked, c.links))
        is_part = letters * 2 < c.total and c.titles[end] == c.titles[node]
        if not is_part or links < at_least:
            return False
        return linked >= _RELATED_LINKED * letters or (
            self._starts_with_link(start, end) and letters - linked <= _TEASER_LETTERS * links
        )

    def _starts_with_link(self, start: int, end: int) -> bool:
        c = self._columns
        texts = c.text[slice(*c.text.searchsorted((start, end)))]
        texts = texts[c.size[texts] > 0]
        return bool(texts.size and c.in_link[texts[0]])

    # Comments.

    def comments(self) -> Ints:
        """Return the smallest element with all buttons to reply to a comment, if it follows an article."""
        c = self._columns
        labels = c.labels(Begins.REPLY)
        texts = [
            text
            for text in labels[: 10 * _MOST_CANDIDATES]
            if _folded_text(self._page.text_of(text)) in REPLY
        ]
        if len(texts) < _LISTED:
            return _nodes([])
        node, last = int(self._parent[texts[0]]), texts[-1]
        while node > 0 and self._end[node] <= last:
            check()
            node = int(self._parent[node])
        plain = c.letters - c.linked
        follows_article = plain[node] >= _ARTICLE * plain[-1]
        if node <= 0 or c.titles[self._end[node]] > c.titles[node] or not follows_article:
            return _nodes([])
        return _nodes([node])

    # Consent banners.

    def consent(self, named: Ints) -> Ints:
        """Return consent banners: boxes about cookies or privacy that offer a choice.

        Parameters
        ----------
        named : elements with names of banners. Boxes that stay in place while the page scrolls are checked as well.
        """
        c = self._columns
        nodes = np.concatenate((named, self._fixed()))
        nodes = c.tops(sorted_set(nodes[c.of(c.letters, nodes) <= _CONSENT_LETTERS]))
        return _nodes([node for node in nodes[:_MOST_CANDIDATES].tolist() if self._asks(node)])

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
        words = f" {_folded_text(text)} "
        return _has_phrase(words, CONSENT_TOPIC) and _has_phrase(words, CONSENT)


def _has_phrase(text: str, phrases: str) -> bool:
    """Return whether a folded text has one of the phrases; East Asian scripts have no spaces around words."""
    return any((f" {phrase} " if phrase[0] < "\u2e80" else phrase) in text for phrase in folded(phrases))


def _folded_text(text: str) -> str:
    return " ".join(fold(text).split())


def _path(href: str) -> str:
    """Return the path of an address, with a slash at the end."""
    path = href.partition("#")[0].partition("?")[0]
    _, colon, rest = path.partition("://")
    if colon:
        path = "/" + rest.partition("/")[2]
    return path.rstrip("/") + "/"


def _nodes(nodes: Iterable[int]) -> Ints:
    """Return the distinct nodes, ascending."""
    return np.array(sorted(set(nodes)), np.int64)
