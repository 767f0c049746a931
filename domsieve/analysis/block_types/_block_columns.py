"""Columns for block types: the words in names of elements, and how much text, links and headings they hold."""

from collections.abc import Mapping
from enum import IntEnum, IntFlag, auto

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.block_types._block_phrases import LONGEST_BEGINNING, Pieces, begins_of
from domsieve.analysis.columns.batch import Bools, Ints, below, counted_before, distinct
from domsieve.analysis.columns.hash import U64, combine, hashes_of, span_hashes
from domsieve.analysis.columns.tables import sorted_set
from domsieve.snapshot.page import Kind, Snapshot


class Group(IntEnum):
    """Tags, and groups of attributes in which words have the same meaning."""

    TAG = 6
    NAME = 1
    ROLE = 2
    TYPE = 3
    LABEL = 4
    REL = 5


GROUPS: Mapping[str, Group] = {
    **dict.fromkeys(("class", "id", "data-testid", "data-component", "data-block"), Group.NAME),
    "role": Group.ROLE,
    **dict.fromkeys(("itemtype", "itemprop", "typeof", "property"), Group.TYPE),
    "aria-label": Group.LABEL,
    "rel": Group.REL,
}
"""The attributes that are read, with their groups."""


class NameFlag(IntFlag):
    """What the names of an element say about it. No name decides alone; see the module `name_rules`."""

    COMMENT = auto()
    TALLY = auto()  # with COMMENT: the number of comments, or a link to them
    TYPED_COMMENT = auto()
    RELATED = auto()
    PICK = auto()
    THING = auto()  # with PICK: more stories, most read
    CAPTION = auto()
    PICTURE = auto()
    CREDIT = auto()  # with PICTURE: the photographer
    SLIDE = auto()  # part of a carousel, in which a caption is a heading
    BYLINE = auto()
    BIOGRAPHY = auto()  # with BYLINE: more about the author than the name
    POST = auto()
    META = auto()  # with POST: the line with author and date
    SHARE = auto()
    CRUMB = auto()
    NAVIGATION = auto()  # by role or type
    MENU = auto()  # by name
    FRAME = auto()  # header or footer of the page
    BESIDE = auto()  # sidebar
    PAGER = auto()
    COOKIE = auto()
    NOTICE = auto()  # with COOKIE: a banner
    CONSENT = auto()  # by the name of a vendor of consent banners
    DIALOG = auto()
    GRID = auto()  # a table by its role
    LAYOUT = auto()  # a table that is used for layout, by its role
    UNREAD = auto()  # contains no text of the page
    WHOLE = auto()  # contains the whole page, so its names do not count
    LINK = auto()
    BUTTON = auto()
    TITLE = auto()
    HEADING = auto()
    TIME = auto()
    CODE = auto()
    LISTING = auto()
    FIGURE_CAPTION = auto()
    FIGURE = auto()
    IMAGE = auto()
    QUOTE = auto()
    ARTICLE = auto()
    TABLE = auto()
    ROW = auto()
    CELL = auto()
    HEAD = auto()
    TABLE_CAPTION = auto()


_COMMENT = """
comment comments commentarea commentbox commentform commentlist commentsection commentthread commenter commenting
usercomments usercomment disqus kommentar kommentare comentario comentarios commentaire commentaires commenti
"""
_RELATED = """
related relatedposts relatedarticles recommended recommendation recommendations recommend recommends similar
outbrain taboola zergnet revcontent mgid yarpp trending upsell upsells crosssell crosssells recirc recirculation
readnext mostread mostpopular popularposts recentposts relatedcontent relatedlinks morefrom
"""
_SHARE = """
share sharing sharebar sharebuttons sharedaddy sharethis sharetools shares shariff addthis addtoany socialshare
socialsharing heateor essb ssba ssk a2a sharer
"""

WORDS: Mapping[Group, Mapping[int, str]] = {
    Group.TAG: {
        NameFlag.UNREAD: "datalist head noscript option script select style template textarea title",
        NameFlag.WHOLE: "html body main",
        NameFlag.LINK: "a",
        NameFlag.BUTTON: "button summary",
        NameFlag.TITLE: "h1",
        NameFlag.HEADING: "h2 h3 h4 h5 h6",
        NameFlag.TIME: "time",
        NameFlag.CODE: "pre code",
        NameFlag.LISTING: "pre",
        NameFlag.FIGURE_CAPTION: "figcaption",
        NameFlag.FIGURE: "figure",
        NameFlag.IMAGE: "img picture video",
        NameFlag.QUOTE: "blockquote",
        NameFlag.ARTICLE: "article",
        NameFlag.NAVIGATION: "nav",
        NameFlag.FRAME: "header footer",
        NameFlag.BESIDE: "aside",
        NameFlag.DIALOG: "dialog",
        NameFlag.TABLE: "table",
        NameFlag.ROW: "tr",
        NameFlag.CELL: "td th",
        NameFlag.HEAD: "th thead caption",
        NameFlag.TABLE_CAPTION: "caption",
    },
    Group.NAME: {
        NameFlag.COMMENT: _COMMENT,
        NameFlag.TALLY: (
            "count counter counts num number numbers link links icon icons bubble toggle total anchor jump "
            "trigger policy"
        ),
        NameFlag.RELATED: _RELATED,
        NameFlag.PICK: "more most latest recent popular also top",
        NameFlag.THING: "posts articles stories news entries read viewed like from products reads",
        NameFlag.CAPTION: "caption captions figcaption imagecaption imgcaption",
        NameFlag.PICTURE: "photo photos image images img picture media figure foto bild",
        NameFlag.CREDIT: "credit credits photographer",
        NameFlag.SLIDE: "carousel slide slides slider slideshow hero swiper jumbotron banner",
        NameFlag.BYLINE: (
            "byline bylines author authors autor autore auteur autoren dateline postedby writtenby postauthor pubdate"
        ),
        NameFlag.BIOGRAPHY: (
            "bio biography about box card avatar photo social links follow profile description desc archive list "
            "page widget books"
        ),
        NameFlag.POST: "post entry article story blog news",
        NameFlag.META: "meta postmeta entrymeta",
        NameFlag.SHARE: _SHARE,
        NameFlag.CRUMB: "crumb crumbs crumbtrail",
        NameFlag.MENU: (
            "nav navbar navigation navlist subnav topnav sidenav menu menubar submenu toc sitemap pagination pager "
            "paging pagenav"
        ),
        NameFlag.FRAME: "header masthead topbar footer colophon",
        NameFlag.BESIDE: "sidebar aside rail",
        NameFlag.COOKIE: (
            "cookie cookies gdpr ccpa consent privacy cookiebanner cookiebar cookieconsent cookielaw cookienotice "
            "cookiepolicy"
        ),
        NameFlag.NOTICE: (
            "banner bar notice popup modal message dialog overlay policy law info alert prompt wall disclaimer "
            "container settings preferences manager box consent accept compliance wrapper "
            "cookiebanner cookiebar cookieconsent cookielaw cookienotice cookiepolicy"
        ),
        NameFlag.CONSENT: (
            "onetrust cookiebot usercentrics didomi iubenda osano truste evidon tarteaucitron cmplz klaro cky cmpbox"
        ),
    },
    Group.ROLE: {
        NameFlag.COMMENT: "comment",
        NameFlag.NAVIGATION: "navigation menu menubar",
        NameFlag.FRAME: "banner contentinfo",
        NameFlag.BESIDE: "complementary",
        NameFlag.DIALOG: "dialog alertdialog",
        NameFlag.BUTTON: "button",
        NameFlag.GRID: "table grid treegrid",
        NameFlag.LAYOUT: "none presentation",
    },
    Group.TYPE: {
        NameFlag.TYPED_COMMENT: "comment comments",
        NameFlag.TALLY: "count counter",
        NameFlag.RELATED: "related",
        NameFlag.BYLINE: "author creator",
        NameFlag.NAVIGATION: "navigation",
    },
    Group.LABEL: {
        NameFlag.COMMENT: "comments",
        NameFlag.RELATED: "related recommended",
        NameFlag.SHARE: "share sharing",
        NameFlag.NAVIGATION: "navigation pagination",
        NameFlag.COOKIE: "cookie cookies consent",
        NameFlag.NOTICE: "cookie cookies consent",
    },
    Group.REL: {NameFlag.BYLINE: "author", NameFlag.PAGER: "prev previous next"},
}
"""The words of each group by what they say; they are compared as whole words in lower case."""

ANYWHERE: tuple[bytes, int, tuple[Group, ...]] = (
    b"breadcrumb",
    NameFlag.CRUMB,
    (Group.NAME, Group.TYPE, Group.LABEL),
)
"""A part of a word, what a value that contains it says, and the groups in which this counts."""


Bits = NDArray[np.uint64]
_LONGEST = 500  # bytes of a value that are read
_CAPITAL = np.array([byte < 128 and chr(byte).isupper() for byte in range(256)], np.bool_)
_ELEMENT = int(Kind.ELEMENT)


def _bits_of(words: Mapping[Group, Mapping[int, str]]) -> dict[tuple[Group, str], int]:
    """Return the bits of each word in its group."""
    bits: dict[tuple[Group, str], int] = {}
    for group, sets in words.items():
        for bit, members in sets.items():
            for word in members.split():
                bits[group, word] = bits.get((group, word), 0) | int(bit)
    return bits


def _hashed(bits: Mapping[tuple[Group, str], int]) -> tuple[U64, Bits]:
    """Return the hashes of (word, group) pairs, ascending, and the bits of each."""
    hashes = combine(hashes_of([word for _, word in bits]), np.array([group for group, _ in bits], np.uint64))
    order = np.argsort(hashes)
    return hashes[order], np.array(list(bits.values()), np.uint64)[order]


_HASHES, _BITS = _hashed(_bits_of(WORDS))
_TAGS = {word: bits for (group, word), bits in _bits_of(WORDS).items() if group == Group.TAG}


def _look_up(hashes: U64, group: NDArray[np.uint64] | np.uint64) -> Bits:
    hashes = combine(hashes, group)
    at = np.minimum(np.searchsorted(_HASHES, hashes), _HASHES.size - 1)
    return np.where(_HASHES[at] == hashes, _BITS[at], np.uint64(0))


class Names:
    """The names of the elements of a page, read in O(N + attributes + bytes of their values).

    Attributes
    ----------
    said : uint64 (N,), the bits of `NameFlag` that each node's tag and attributes say; 0 where there is no element.
    """

    def __init__(self, page: Snapshot) -> None:
        self._page = page
        self._owner = np.repeat(np.arange(len(page)), np.diff(page.attr_start))
        ids, self._name = distinct(page.attr_name.astype(np.int64), len(page.strings))
        self._spelt = {name: number for number, name in enumerate(page.strings.take(ids.tolist()))}
        self.said = np.array([_TAGS.get(tag, 0) for tag in page.tags], np.uint64)[page.tag]
        self._add_attributes()
        self.said[page.kind != _ELEMENT] = 0
        self._at = np.flatnonzero(self.said)
        self._bits = self.said[self._at]

    def called(self, *bits: int) -> Ints:
        """Return the elements whose names have all of the given properties, ascending.

        Parameters
        ----------
        *bits : bits of `NameFlag`. Of an argument with several bits one is enough: ``called(A | B, C)`` is
            (A or B) and C.
        """
        chosen = (self._bits & np.uint64(bits[0])) != 0
        for bit in bits[1:]:
            chosen &= (self._bits & np.uint64(bit)) != 0
        return np.asarray(self._at[chosen])

    def are(self, nodes: Ints, bits: int) -> NDArray[np.bool_]:
        """Return which of the nodes have at least one of these bits of `NameFlag`."""
        return np.asarray((self.said[nodes] & np.uint64(bits)) != 0)

    def values(self, name: str) -> tuple[Ints, Ints]:
        """Return the nodes that have an attribute, ascending, and the string ids of its values."""
        at = np.flatnonzero(self._name == self._spelt.get(name, -1))
        return self._owner[at], self._page.attr_value[at].astype(np.int64)

    def _add_attributes(self) -> None:
        groups = np.array([GROUPS.get(name, 0) for name in self._spelt], np.int64)
        group = groups[self._name] if groups.size else self._name
        at = np.flatnonzero(group)
        if not at.size:
            return
        room, strings = len(Group) + 1, self._page.strings
        value = self._page.attr_value[at].astype(np.int64)
        pairs, pair = distinct(value * room + group[at], len(strings) * room)
        bits = _said_by(Pieces(strings, pairs // room, longest=_LONGEST), pairs % room)[pair]
        owner = self._owner[at]
        first = np.flatnonzero(np.diff(owner, prepend=-1))
        self.said[owner[first]] |= np.bitwise_or.reduceat(bits, first)


def _said_by(values: Pieces, group: Ints) -> Bits:
    """Return the bits of `NameFlag` of each value, by its words and by parts of its words."""
    bits = np.zeros(group.size, np.uint64)
    letter, capital = values.letter, _CAPITAL[values.data]
    starts = letter.copy()
    starts[1:] &= ~letter[:-1] | (capital[1:] & ~capital[:-1])
    begin = np.flatnonzero(starts)
    if begin.size:
        gaps = np.flatnonzero(~letter)  # includes the zero byte after each value
        close = np.minimum(np.append(begin[1:], values.data.size), gaps[np.searchsorted(gaps, begin)])
        owner = np.searchsorted(values.first, begin, side="right") - 1
        word_bits = _look_up(span_hashes(values.lower, begin, close), group[owner].astype(np.uint64))
        first = np.flatnonzero(np.diff(owner, prepend=-1))
        bits[owner[first]] = np.bitwise_or.reduceat(word_bits, first)
    part, bit, wanted = ANYWHERE
    for value in values.holding((part,)).tolist():
        if group[value] in wanted:
            bits[value] |= np.uint64(bit)
    return bits


_SHORT = 80  # maximum bytes of a label
_LONGEST_LABEL_BYTES = 4_096  # bytes of a text whose letters are counted exactly


class Columns:
    """A page of N nodes, with names of its elements and counts of their content.

    Attributes
    ----------
    page : the page.
    names : the names of its elements.
    end : int64 (N,), one past the last node of each subtree.
    text : int64 (M,), the text nodes that count: those outside of scripts, styles, the head and form options.
    size : int64 (N,), letters (characters other than white space) of each of these; 0 for other nodes.
    letters, linked, links, titles : int64 (N + 1,), before each node the number of letters, of letters in links, of
        links, and of non-empty headings of the first level; then the total.
    total : the number of letters on the page.
    in_link : bool (N,), which nodes are in links.
    """

    def __init__(self, page: Snapshot) -> None:
        self.page = page
        self.end: Ints = page.end.astype(np.int64)
        self.names = Names(page)
        unread = self.inside(self.names.called(NameFlag.UNREAD))
        self.text: Ints = np.flatnonzero((page.text >= 0) & ~unread)
        ids, which = distinct(page.text[self.text].astype(np.int64), len(page.strings))
        letters = Pieces(page.strings, ids, longest=_LONGEST_LABEL_BYTES).letters()
        self.size = np.zeros(len(page), np.int64)
        self.size[self.text] = letters[which]
        self.letters = counted_before(self.size)
        self.total = int(self.letters[-1])
        link = self.names.called(NameFlag.LINK)
        self.in_link = self.inside(link)
        self.links = self.counted(link)
        self.linked = counted_before(self.size * self.in_link)
        title = self.names.called(NameFlag.TITLE)
        self.titles = self.counted(title[self.of(self.letters, title) > 0])
        self._labels, self._begins = self._find_labels()

    def _find_labels(self) -> tuple[Ints, NDArray[np.uint8]]:
        strings = self.page.text[self.text].astype(np.int64)
        short = (np.diff(self.page.strings.offsets)[strings] <= _SHORT) & (self.size[self.text] > 1)
        ids, which = distinct(strings[short], len(self.page.strings))
        begins = begins_of(Pieces(self.page.strings, ids, longest=_SHORT).beginnings(LONGEST_BEGINNING))[
            which
        ]
        return self.text[short][begins > 0], begins[begins > 0]

    def inside(self, nodes: Ints) -> Bools:
        """Return which of the N nodes are one of these nodes, or in one."""
        return below(self.marks(nodes), self.end) if nodes.size else np.zeros(len(self.page), np.bool_)

    def marks(self, nodes: Ints) -> Bools:
        """Return the nodes as a Boolean column (N,)."""
        marked = np.zeros(len(self.page), np.bool_)
        marked[nodes] = True
        return marked

    def counted(self, nodes: Ints) -> Ints:
        """Return the number of these nodes before each node, then the total; shape (N + 1,)."""
        return counted_before(self.marks(nodes))

    def of(self, counts: Ints, nodes: Ints) -> Ints:
        """Return the count inside each of the nodes.

        Parameters
        ----------
        counts : (N + 1,), the count before each node, such as `letters`.
        """
        return counts[self.end[nodes]] - counts[nodes]

    def among(self, nodes: Ints, roots: Ints) -> Bools:
        """Return which of the nodes are one of the roots or inside one; both are ascending."""
        roots = self.tops(roots)
        if not roots.size:
            return np.zeros(nodes.size, np.bool_)
        last = np.searchsorted(roots, nodes, side="right") - 1
        return (last >= 0) & (nodes < self.end[roots[last]])

    def tops(self, nodes: Ints) -> Ints:
        """Return the nodes that are not inside another one; `nodes` is ascending."""
        if nodes.size < 2:
            return nodes
        until = np.maximum.accumulate(self.end[nodes])
        return np.asarray(nodes[np.append(True, nodes[1:] >= until[:-1])])

    def labels(self, bit: int) -> list[int]:
        """Return the short text nodes that start like one of the phrases of a set; `bit` is one of `Begins`."""
        nodes: list[int] = self._labels[(self._begins & bit) != 0].tolist()
        return nodes

    def words(self, node: int, *, most: int) -> str:
        """Return the texts in a node, separated by spaces; empty if it has more than `most` letters."""
        if self.letters[self.end[node]] - self.letters[node] > most:
            return ""
        a, b = self.text.searchsorted((node, self.end[node])).tolist()
        ids = self.page.text[self.text[a:b]].tolist()
        return " ".join(text for text in self.page.strings.take(ids) if not text.isspace())


def union(*nodes: Ints) -> Ints:
    """Return the distinct nodes of several arrays, ascending."""
    return sorted_set(np.concatenate(nodes))
