"""Drop page widgets, whatever the method: heading anchors, copy buttons, share bars, labelled adverts."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.block_types.detection import paths_and_shares
from domsieve.analysis.cleaning.page_widget_words import (
    CONTENTS,
    COPY,
    COPY_PARTS,
    EDIT_CLASSES,
    LINE_NUMBER_CLASSES,
    PAGE_TOOLS,
    PERMALINK,
    PERMALINK_CLASSES,
    PERMALINK_MARKS,
    PERMALINK_TO,
    SKIP,
    SKIP_CLASSES,
)
from domsieve.analysis.columns.batch import Bools, Ints, below, counted_before
from domsieve.analysis.columns.page_columns import attributes_of, page_texts
from domsieve.analysis.columns.words import fold
from domsieve.analysis.verdict import Verdict
from domsieve.budget import check, spending
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
_MOST_ADVERT_WORDS = 60
_MOST_LEVELS = 8
_LONGEST_NAME = 200  # characters of a name that are read


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
            if held > _MOST_ADVERT_WORDS or 2 * held >= self._words[-1]:
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
        said = " ".join(attributes.get(name, "")[:_LONGEST_NAME] for name in ("class", "id", "aria-label"))
        return not _NAMES.isdisjoint(said.lower().replace("-", " ").replace("_", " ").split())

    def _held(self, node: int) -> int:
        return int(self._words[self._end[node]] - self._words[node])


FURNITURE_REASONS = (
    "links a heading to itself",
    "numbers the lines of code",
    "a button to copy or share",
    "a tool of the page",
    "a path of links to the page",
    "skips to the content",
    "says the title again",
    "labelled as an advert",
)
_PERMALINK, _NUMBERS, _BUTTON, _TOOL, _PATH, _SKIP, _TITLE, _ADVERT = range(len(FURNITURE_REASONS))
_MOST_WORDS = {_SKIP: 20, _TOOL: 12}
_LEAST_TIMES_ON_PAGE = 2
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_LONGEST_BUTTON = 60  # characters on a button or link
_MOST_NODES = 24  # inside of one
_CODE_NEAR = 6  # levels above a number in which there is code


def judge_furniture(page: Snapshot, verdict: Verdict) -> Verdict:
    """Return the verdict with the furniture inside its content dropped, for reasons of its own.

    Furniture are links of headings to themselves, numbers of lines of code, buttons that copy or share, links to the
    source of the page, paths of links that lead to it (breadcrumbs), links that skip to the content, the title where
    it is said twice on end, and boxes that are labelled as adverts.

    A verdict that keeps everything (method ``"none"``) and one of ``paper`` mode stay as they are.
    """
    if verdict.method == "none" or verdict.parameters.get("mode") == "paper" or not verdict.kept.any():
        return verdict
    with spending("furniture", page.provenance.url):
        kind = _Finder(page, verdict.kept).kinds()
    dropped = (kind >= 0) & verdict.kept
    kept, reason, score = verdict.kept.copy(), verdict.reason.copy(), verdict.score.copy()
    kept[dropped] = False
    reason[dropped] = len(verdict.reasons) + kind[dropped]
    score[dropped] = 0
    return replace(
        verdict, kept=kept, score=score, reason=reason, reasons=(*verdict.reasons, *FURNITURE_REASONS)
    )


class _Finder:
    """Finds the elements of a page that are furniture, among those that are kept."""

    def __init__(self, page: Snapshot, kept: Bools) -> None:
        self._page = page
        self._kept = kept
        self._text = page_texts(page)
        self._tags = page.tags.to_list()
        self._end = page.end.tolist()
        self._parent = page.parent.tolist()
        self._attributes = attributes_of(page)
        words = np.zeros(len(page), np.int64)
        words[self._text.node] = [len(text.split()) for text in self._text.text]
        self._words = counted_before(words)
        self._code = counted_before(self._named("pre", "code"))
        self._titles = counted_before(self._named("h1"))
        self._in_heading = below(self._named(*_HEADINGS), page.end.astype(np.int64))
        self._found: dict[int, int] = {}

    def kinds(self) -> NDArray[np.int8]:
        """Return for each of N nodes which furniture it lies in, -1 for none."""
        for what, roots in zip((_PATH, _BUTTON), paths_and_shares(self._page), strict=True):
            self._take(what, roots.tolist(), bool)
        self._take(_ADVERT, labelled_adverts(self._page, self._words), bool)
        classes, copying = self._by_class()
        numbered = self._with("data-line-number", bool)
        for nodes in (classes[_NUMBERS], numbered):
            self._take(_NUMBERS, nodes, self._is_line_numbers)
        for small in (_TOOL, _SKIP):
            self._take(small, classes[small], partial(self._is_small, what=small))
        pressed = self._with("role", lambda value: value == "button")
        buttons = {*self._of("button", "summary", "clipboard-copy"), *pressed, *copying}
        for node in sorted({*buttons, *self._of("a")}):
            check()
            said = self._by_words(node, is_button=node in buttons)
            if said is not None and self._kept[node]:
                self._found.setdefault(node, said)
        self._take(_PERMALINK, classes[_PERMALINK], self._is_mark)
        kind = self._painted()
        for node in self._titles_again(kind < 0):
            kind[node : self._end[node]] = _TITLE
        return kind

    def _take(self, what: int, nodes: Iterable[int], holds: Callable[[int], bool]) -> None:
        for node in nodes:
            check()
            if self._kept[node] and node not in self._found and holds(node):
                self._found[node] = what

    def _painted(self) -> NDArray[np.int8]:
        kind = np.full(len(self._page), -1, np.int8)
        until = 0
        for node, what in sorted(self._found.items()):
            if node >= until:  # else it lies in other furniture
                until = self._end[node]
                kind[node:until] = what
        return kind

    # What is true of an element.

    def _is_small(self, node: int, what: int) -> bool:
        words = int(self._words[self._end[node]] - self._words[node])
        return words <= _MOST_WORDS[what] and words * _LEAST_TIMES_ON_PAGE < int(self._words[-1])

    def _is_line_numbers(self, node: int) -> bool:
        words = "".join(self._texts(node)).split()
        if not words or not all(map(str.isdecimal, words)):
            return False
        for _ in range(_CODE_NEAR):
            if node > 0 and self._code[self._end[node]] == self._code[node]:
                node = self._parent[node]
        return node > 0 and bool(self._code[self._end[node]] > self._code[node])

    def _is_mark(self, node: int) -> bool:
        text = self._said(node)
        said = fold(text).strip()
        return text in PERMALINK_MARKS or said in PERMALINK or said.startswith(PERMALINK_TO)

    def _by_words(self, node: int, *, is_button: bool) -> int | None:
        text = self._said(node)
        if text in PERMALINK_MARKS:
            return _PERMALINK if self._heads(node) else None
        said = fold(text).strip()
        if said in COPY and is_button:
            return _BUTTON
        if said in PAGE_TOOLS or (said in CONTENTS and is_button):
            return _TOOL
        return _SKIP if said.startswith(SKIP) and self._attribute(node, "href").startswith("#") else None

    def _heads(self, node: int) -> bool:
        """Return whether a link stands in a heading, a term or a caption, or leads to where it stands."""
        around = self._parent[node]
        if self._in_heading[node] or self._tags[self._page.tag[around]] in {"dt", "caption", "figcaption"}:
            return True
        href = self._attribute(node, "href")
        return len(href) > 1 and href == f"#{self._attribute(around, 'id')}"

    def _titles_again(self, free: Bools) -> list[int]:
        """Return the headings right behind another that say what it said, where one of the two is an ``h1``."""
        heading = np.flatnonzero(self._named(*_HEADINGS) & self._kept & free).tolist()
        said = [fold("".join(self._texts(node))).strip() for node in heading]
        again = []
        for (first, before), (second, text) in pairwise(zip(heading, said, strict=True)):
            titles = self._titles[second + 1] > self._titles[first]
            if text and text == before and titles and self._words[second] == self._words[self._end[first]]:
                again.append(second)
        return again

    # What an element holds.

    def _texts(self, node: int) -> list[str]:
        said = self._text
        first, last = said.node.searchsorted((node, self._end[node])).tolist()
        return said.text[first:last]

    def _said(self, node: int) -> str:
        """Return what is written on a button or link; nothing where it holds too much."""
        if self._end[node] - node > _MOST_NODES:
            return ""
        text = " ".join(self._texts(node)).strip()
        return text if len(text) <= _LONGEST_BUTTON else ""

    def _attribute(self, node: int, name: str) -> str:
        return self._page.attributes(node).get(name, "")

    # Elements by tag and attribute.

    def _named(self, *names: str) -> Bools:
        is_named = np.array([name in names for name in self._tags], np.bool_)[self._page.tag]
        return np.asarray(is_named & (self._page.kind == Kind.ELEMENT))

    def _of(self, *names: str) -> list[int]:
        nodes: list[int] = np.flatnonzero(self._named(*names) & self._kept).tolist()
        return nodes

    def _with(self, name: str, holds: Callable[[str], object]) -> list[int]:
        """Return the elements with an attribute whose value, in lower case, is one that is looked for."""
        return [*self._attributes.found(name, lambda value: True if holds(value.lower()) else None)]

    def _by_class(self) -> tuple[dict[int, list[int]], list[int]]:
        """Return the elements whose classes say what they are, and those whose classes speak of copying."""
        by_kind: dict[int, list[int]] = {what: [] for what in range(len(FURNITURE_REASONS))}
        known = self._attributes.found("class", lambda value: _kinds_of_classes(value.lower()) or None)
        for node, kinds in known.items():
            for what in kinds:
                by_kind[what].append(node)
        return by_kind, self._with("class", lambda value: any(part in value for part in COPY_PARTS))


_BY_CLASS = (
    (_PERMALINK, PERMALINK_CLASSES),
    (_NUMBERS, LINE_NUMBER_CLASSES),
    (_TOOL, EDIT_CLASSES),
    (_SKIP, SKIP_CLASSES),
)


def _kinds_of_classes(value: str) -> list[int]:
    classes = {*value.split()}
    return [what for what, known in _BY_CLASS if not known.isdisjoint(classes)]
