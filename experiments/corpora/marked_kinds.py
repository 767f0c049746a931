"""Pages whose markup names kinds of blocks: which texts it names, and the pages without that markup.

Names that site builders choose, classes and ids, are no truth here: they are what kinds are told by.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from domsieve.snapshot.page import Kind, Snapshot
from domsieve.snapshot.strings import StringTable
from domsieve.types import BlockKind

Bools = NDArray[np.bool_]

_TYPES = ("itemtype", "itemprop", "typeof", "property", "vocab", "itemscope")
_LONGEST_NAME = 60
_FORUM = b"DiscussionForumPosting"
_SHARING = (
    "facebook.com/sharer",
    "twitter.com/intent",
    "twitter.com/share",
    "x.com/intent",
    "linkedin.com/share",
    "pinterest.com/pin/create",
    "reddit.com/submit",
    "whatsapp.com/send",
    "t.me/share",
)
# Tags that name a kind, and what stands in their place where the name is taken away.
_PLAIN_TAGS: Mapping[BlockKind, Mapping[str, str]] = {
    "navigation": {"nav": "div"},
    "captions": {"figcaption": "div"},
    "tables": {"th": "td", "thead": "tbody", "tfoot": "tbody", "caption": "div"},
}
# Attributes that name a kind.
_NAMING: Mapping[BlockKind, tuple[str, ...]] = {
    "comments": (*_TYPES, "role"),
    "tables": ("role", "scope", "headers"),
    "captions": _TYPES,
    "bylines": (*_TYPES, "rel"),
    "share": ("href",),
    "breadcrumbs": (*_TYPES, "role", "aria-label"),
    "navigation": (*_TYPES, "role", "aria-label"),
    "related": (*_TYPES, "aria-label", "role"),
}
_NAMES = ("class", "id", "data-testid", "data-component", "data-block")


def named_texts(page: Snapshot) -> dict[BlockKind, Bools]:
    """Return for each kind that the markup names which of the N nodes are its texts."""
    marks = _Marks(page)
    comments = marks.typed("comment", "usercomments") | marks.with_value("role", "comment")
    comments |= marks.with_word("itemprop", "comment")
    if _FORUM in page.strings.blob.tobytes():
        comments[:] = False  # they are the posts of a forum
    paths = marks.typed("breadcrumblist") | marks.holding("aria-label", "breadcrumb")
    menus = (
        marks.tagged("nav") | marks.with_value("role", "navigation") | marks.typed("sitenavigationelement")
    )
    in_comments = marks.inside(comments)
    authors = marks.short(marks.with_word("itemprop", "author") | marks.with_word("rel", "author"))
    found: dict[BlockKind, Bools] = {
        "comments": in_comments,
        "tables": marks.inside(marks.headed_tables()),
        "captions": marks.inside(marks.tagged("figcaption")),
        "bylines": marks.inside(marks.first(authors & ~in_comments)),
        "share": marks.inside(marks.holding("href", *_SHARING)),
        "breadcrumbs": marks.inside(paths),
        "navigation": marks.inside(menus) & ~marks.inside(paths),
        "related": marks.inside(marks.with_word("itemprop", "relatedlink") | marks.labelled_related()),
    }
    texts = marks.texts()
    return {kind: nodes & texts for kind, nodes in found.items() if (nodes & texts).any()}


def readable(page: Snapshot) -> Bools:
    """Return which of the N nodes are texts that may be read."""
    return _Marks(page).texts()


def without_markup(page: Snapshot, kind: BlockKind, *, names: bool) -> Snapshot:
    """Return the page without the tags and attributes that name a kind, and without classes and ids if `names`.

    Nodes keep their numbers. Of addresses only those that share a page are taken away.
    """
    plain = _PLAIN_TAGS.get(kind, {})
    tags = StringTable.from_strings([plain.get(name, name) for name in page.tags])
    naming = {*_NAMING.get(kind, ()), *(_NAMES if names else ())}
    spelt = page.strings.take(page.attr_name.tolist())
    gone = np.array([name in naming for name in spelt], np.bool_)
    if kind == "share":
        values = page.strings.take(page.attr_value.tolist())
        leads = np.array([_shares(value) for value in values], np.bool_)
        gone &= leads | np.array([name != "href" for name in spelt], np.bool_)
    stays = np.concatenate(([0], np.cumsum(~gone)))
    return replace(
        page,
        tags=tags,
        attr_start=stays[page.attr_start].astype(np.int32),
        attr_name=page.attr_name[~gone],
        attr_value=page.attr_value[~gone],
    )


class _Marks:
    def __init__(self, page: Snapshot) -> None:
        self._page = page
        self._tags = page.tags.to_list()
        self._owner = np.repeat(np.arange(len(page)), np.diff(page.attr_start))
        self._names = page.strings.take(page.attr_name.tolist())
        self._values = [value.lower() for value in page.strings.take(page.attr_value.tolist())]

    def tagged(self, *tags: str) -> Bools:
        wanted = np.array([tag in tags for tag in self._tags], np.bool_)
        return np.asarray(wanted[self._page.tag] & (self._page.kind == Kind.ELEMENT))

    def texts(self) -> Bools:
        silent = self.inside(self.tagged("script", "style", "noscript", "template", "head", "select"))
        found = np.zeros(len(self._page), np.bool_)
        for node in np.flatnonzero((self._page.text >= 0) & ~silent).tolist():
            found[node] = not self._page.text_of(node).isspace()
        return found

    def inside(self, roots: Bools) -> Bools:
        found = np.zeros(len(self._page), np.bool_)
        for root in np.flatnonzero(roots).tolist():
            found[root : self._page.end[root]] = True
        return found

    def short(self, roots: Bools) -> Bools:
        """Return those of the elements whose text is as short as a name."""
        found = roots.copy()
        for root in np.flatnonzero(roots).tolist():
            texts = self._page.text[root : self._page.end[root]]
            said = "".join(self._page.strings.take(texts[texts >= 0].tolist())).strip()
            found[root] = 0 < len(said) <= _LONGEST_NAME
        return found

    def first(self, roots: Bools) -> Bools:
        """Return the first of the elements alone."""
        found = np.zeros_like(roots)
        found[np.flatnonzero(roots)[:1]] = True
        return found

    def headed_tables(self) -> Bools:
        """Return tables with heads that hold no other table and do not say that they lay out the page."""
        tables = self.tagged("table") & ~self.with_value("role", "presentation", "none")
        heads, every = np.flatnonzero(self.tagged("th", "caption")), np.flatnonzero(self.tagged("table"))
        for table in np.flatnonzero(tables).tolist():
            span = (table, int(self._page.end[table]))
            (first, last), inner = np.searchsorted(heads, span), np.searchsorted(every, span)
            tables[table] = last > first and inner[1] - inner[0] == 1
        return tables

    def labelled_related(self) -> Bools:
        links = self.tagged("a", "button")
        return self.holding("aria-label", "related ", "recommended ", "you may also") & ~links

    def typed(self, *types: str) -> Bools:
        last = [value.rstrip("/").rpartition("/")[2].rpartition(":")[2] for value in self._values]
        return self._that(lambda i: self._names[i] in {"itemtype", "typeof"} and last[i] in types)

    def with_value(self, name: str, *values: str) -> Bools:
        return self._that(lambda i: self._names[i] == name and self._values[i].strip() in values)

    def with_word(self, name: str, word: str) -> Bools:
        return self._that(lambda i: self._names[i] == name and word in self._values[i].split())

    def holding(self, name: str, *parts: str) -> Bools:
        return self._that(lambda i: self._names[i] == name and any(part in self._values[i] for part in parts))

    def _that(self, holds: Callable[[int], bool]) -> Bools:
        found = np.zeros(len(self._page), np.bool_)
        found[[owner for i, owner in enumerate(self._owner.tolist()) if holds(i)]] = True
        return found


def _shares(address: str) -> bool:
    return any(part in address.lower() for part in _SHARING)
