"""Finds boxes that are labelled as adverts: small ones whose first words are "Advertisement" or the like.

Laws in many countries require such a label, so most sites use the same few words. Imports the columns and the
Snapshot.
"""

from collections.abc import Sequence

import numpy as np

from domsieve.analysis.columns.batch import Ints, counted_before
from domsieve.analysis.columns.texts import page_texts
from domsieve.analysis.columns.words import fold
from domsieve.budget import check
from domsieve.snapshot.page import Kind, Snapshot

_LABELS = frozenset(
    """
    ad|advert|adverts|advertisement|advertisements|advertorial|ad feature|paid advertisement|
    paid content|paid post|sponsored|sponsored by|sponsored content|sponsored links|sponsored post|
    anzeige|anzeigen|werbung|gesponsert|publicité|publicités|annonce publicitaire|contenu sponsorisé|
    publicidad|anuncio publicitario|contenido patrocinado|patrocinado|publicidade|pubblicità|contenuto sponsorizzato|
    advertentie|advertenties|gesponsord|annons|annonse|annoncørindhold|mainos|reklama|reklamy|inzerce|reklám|
    hirdetés|reklam|реклама|на правах рекламы|广告|廣告|贊助|广告推广|広告|スポンサー|광고|quảng cáo|iklan
    """.replace("\n", "")
    .replace("    ", "")
    .split("|")
)
_NAMES = _LABELS | {"ads", "advertising", "adslot"}
_NO_LABELS = (
    "a",
    "button",
    "summary",
    "h1",
    "h2",
    "th",
    "td",
    "dt",
    "option",
    "label",
    "title",
    "pre",
    "code",
)
_NO_BOXES = ("html", "body", "main", "article", "p", "tr", "tbody", "table", "dl", "pre")
_LONGEST_LABEL = 40
_LEADING = ("a", "button", "img", "picture", "iframe", "object", "video")
_MOST_WORDS = 60
_MOST_LEVELS = 8
_LONGEST = 200  # characters of a name that are read


def labelled_adverts(page: Snapshot, words: Ints) -> list[int]:
    """Return the roots of the boxes that are labelled as adverts, ascending; of empty ones the label alone.

    A box holds at most 60 words, fewer than half of those of the page, and a link, a button or a picture; or it is an
    ``aside``, or its names say what it is.

    Parameters
    ----------
    page : N nodes.
    words : int64 (N + 1,), words before each node.
    """
    texts = page_texts(page)
    labels = {
        text
        for text in set(texts.text)
        if len(text) < _LONGEST_LABEL and fold(text).strip(" :–-•") in _LABELS
    }
    if not labels:
        return []
    box = _Boxes(page, words)
    said = zip(texts.node.tolist(), texts.text, strict=True)
    roots = [box.around(node) for node, text in said if text in labels]
    return sorted({root for root in roots if root > 0})


class _Boxes:
    def __init__(self, page: Snapshot, words: Ints) -> None:
        self._page = page
        self._end: list[int] = page.end.tolist()
        self._parent: list[int] = page.parent.tolist()
        self._words = words
        self._tags: Sequence[str] = page.tags.to_list()
        self._tag: list[int] = page.tag.tolist()
        leads = np.array([tag in _LEADING for tag in self._tags], np.bool_)[page.tag]
        leads &= page.kind == Kind.ELEMENT
        self._leading = counted_before(leads)

    def around(self, label: int) -> int:
        """Return the box that a label names, the element of the label where there is none, and 0 for no label."""
        inside = self._held(label)
        own = self._parent[label]
        if self._held(own) != inside:
            return 0
        while self._held(self._parent[own]) == inside and self._name(own) not in _NO_LABELS:
            check()
            own = self._parent[own]
        if own <= 0 or self._name(own) in _NO_LABELS or self._speaks(self._parent[own]):
            return 0
        box = self._parent[own]
        for _ in range(_MOST_LEVELS):
            check()
            held, says_first = self._held(box), self._words[label] == self._words[box]
            if box <= 0 or self._name(box) in _NO_BOXES or not says_first:
                break
            if held > _MOST_WORDS or 2 * held >= self._words[-1]:
                break
            if self._leads(box) or self._name(box) == "aside" or self._is_named(box):
                return box
            box = self._parent[box]
        return own

    def _name(self, node: int) -> str:
        return self._tags[self._tag[node]]

    def _speaks(self, node: int) -> bool:
        """Return whether words stand right in an element, so that the label is but one of a line."""
        inside = self._page.parent[node : self._end[node]] == node
        texts = node + np.flatnonzero(inside & (self._page.text[node : self._end[node]] >= 0))
        return bool((self._words[texts + 1] > self._words[texts]).any())

    def _leads(self, node: int) -> bool:
        return bool(self._leading[self._end[node]] > self._leading[node])

    def _is_named(self, node: int) -> bool:
        attributes = self._page.attributes(node)
        said = " ".join(attributes.get(name, "")[:_LONGEST] for name in ("class", "id", "aria-label"))
        return not _NAMES.isdisjoint(said.lower().replace("-", " ").replace("_", " ").split())

    def _held(self, node: int) -> int:
        return int(self._words[self._end[node]] - self._words[node])
