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
from domsieve.analysis.columns.batch import Bools, Ints, counted_before
from domsieve.analysis.columns.page_blocks import page_blocks
from domsieve.analysis.columns.page_columns import attributes_of, has_tag, in_tag, page_texts
from domsieve.analysis.columns.panels import TOGGLES
from domsieve.analysis.columns.words import fold, folded
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
_LEADING = ("a", "button", "img", "picture", "iframe", "object", "video")  # an advert has one of these
# Guesses: generous for an advert, and too small for the content of a page.
_LONGEST_LABEL = 40
_MOST_ADVERT_WORDS = 60
_MOST_LEVELS = 8  # levels between a label and its box
_LONGEST_NAME = 200  # characters of a name that are read


def labelled_adverts(page: Snapshot, words: Ints) -> list[int]:
    """Return the root nodes of boxes that are labelled as adverts, ascending; of empty boxes only the label.

    A box has at most 60 words and less than half of the page's words. It must contain a link, a button or a picture,
    or be an ``aside``, or have a class, id or label that says it is an advert.

    Parameters
    ----------
    page : a page of N nodes.
    words : int64 (N + 1,), the number of words before each node, then the total.
    """
    texts = page_texts(page)
    short = [*{text for text in texts.text if len(text) < _LONGEST_LABEL}]
    labels = {text for text, words in zip(short, folded(short), strict=True) if words in _LABELS}
    if not labels:
        return []
    boxes = _Boxes(page, words)
    nodes = zip(texts.node.tolist(), texts.text, strict=True)
    roots = [boxes.around(node) for node, text in nodes if text in labels]
    return sorted({root for root in roots if root > 0})


class _Boxes:
    """Finds the box of an advert from its label."""

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
        """Return the box of a label, or the label's own element if it has no box, or 0 if the text is not a label."""
        inside = self._count(label)
        own = self._parent[label]
        if self._count(own) != inside:
            return 0
        while self._count(self._parent[own]) == inside and self._name(own) not in _NO_LABELS:
            check()
            own = self._parent[own]
        if own <= 0 or self._name(own) in _NO_LABELS or self._has_own_words(self._parent[own]):
            return 0
        box = self._parent[own]
        for _ in range(_MOST_LEVELS):
            check()
            count, starts_with_label = self._count(box), self._words[label] == self._words[box]
            if box <= 0 or self._name(box) in _NO_BOXES or not starts_with_label:
                break
            if count > _MOST_ADVERT_WORDS or 2 * count >= self._words[-1]:
                break
            if self._leads(box) or self._name(box) == "aside" or self._is_named(box):
                return box
            box = self._parent[box]
        return own

    def _name(self, node: int) -> str:
        return self._tags[self._tag[node]]

    def _has_own_words(self, node: int) -> bool:
        """Return whether an element has text directly inside it, so that the label is only part of a line."""
        inside = self._page.parent[node : self._end[node]] == node
        texts = node + np.flatnonzero(inside & (self._page.text[node : self._end[node]] >= 0))
        return bool((self._words[texts + 1] > self._words[texts]).any())

    def _leads(self, node: int) -> bool:
        return bool(self._leading[self._end[node]] > self._leading[node])

    def _is_named(self, node: int) -> bool:
        attributes = self._page.attributes(node)
        names = " ".join(attributes.get(name, "")[:_LONGEST_NAME] for name in ("class", "id", "aria-label"))
        return not _NAMES.isdisjoint(names.lower().replace("-", " ").replace("_", " ").split())

    def _count(self, node: int) -> int:
        """Return the number of words in a node."""
        return int(self._words[self._end[node]] - self._words[node])


WIDGET_REASONS = (
    "links a heading to itself",
    "numbers the lines of code",
    "a button to copy or share",
    "a button",
    "a tool of the page",
    "a path of links to the page",
    "skips to the content",
    "says the title again",
    "labelled as an advert",
)
_PERMALINK, _NUMBERS, _SHARING, _BUTTON, _TOOL, _PATH, _SKIP, _TITLE, _ADVERT = range(len(WIDGET_REASONS))
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
# Guesses: generous for widgets, and too small for content.
_MOST_WORDS = {_SKIP: 20, _TOOL: 12, _BUTTON: 8}
_OPENING = ("aria-controls", "aria-expanded", *TOGGLES)
_LEAST_TIMES_ON_PAGE = 2  # the page must have at least twice the words of a widget
_LONGEST_BUTTON = 60  # characters on a button or link
_MOST_NODES = 24  # nodes in a button or link
_CODE_NEAR = 6  # levels between line numbers and an element that contains code


def drop_widgets(page: Snapshot, verdict: Verdict) -> Verdict:
    """Return the verdict with page widgets dropped from the kept content, with a reason for each.

    Widgets are links of headings to themselves, line numbers of code, copy and share buttons, links to the source of
    the page, breadcrumbs, skip links, a title that is repeated right after itself, and boxes labelled as adverts.

    Verdicts of the method ``"none"`` and of ``paper`` mode are returned unchanged.
    """
    if verdict.method == "none" or verdict.parameters.get("mode") == "paper" or not verdict.kept.any():
        return verdict
    with spending("page widgets", page.provenance.url):
        kind = _Finder(page, verdict.kept).kinds()
    dropped = (kind >= 0) & verdict.kept
    kept, reason, score = verdict.kept.copy(), verdict.reason.copy(), verdict.score.copy()
    kept[dropped] = False
    reason[dropped] = len(verdict.reasons) + kind[dropped]
    score[dropped] = 0
    return replace(
        verdict, kept=kept, score=score, reason=reason, reasons=(*verdict.reasons, *WIDGET_REASONS)
    )


class _Finder:
    """Finds the kept elements of a page that are widgets."""

    def __init__(self, page: Snapshot, kept: Bools) -> None:
        self._page = page
        self._kept = kept
        self._text = page_texts(page)
        self._tags = page.tags.to_list()
        self._end = page.end.tolist()
        self._parent = page.parent.tolist()
        self._attributes = attributes_of(page)
        words = np.zeros(len(page), np.int64)
        words[self._text.node] = self._text.words
        self._words = counted_before(words)
        self._code = counted_before(has_tag(self._page, "pre", "code"))
        self._titles = counted_before(has_tag(self._page, "h1"))
        self._in_heading = in_tag(self._page, *_HEADINGS)
        self._blocks = page_blocks(page)
        self._widgets: dict[int, int] = {}

    def kinds(self) -> NDArray[np.int8]:
        """Return the index in `WIDGET_REASONS` of the widget that each of N nodes is in; -1 for none."""
        for what, roots in zip((_PATH, _SHARING), paths_and_shares(self._page), strict=True):
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
            widget = self._by_words(node, is_button=node in buttons)
            if widget is not None and self._kept[node]:
                self._widgets.setdefault(node, widget)
        self._take(_PERMALINK, classes[_PERMALINK], self._is_mark)
        self._take(_BUTTON, self._of("button"), self._stands_alone)
        kind = self._painted()
        for node in self._titles_again(kind < 0):
            kind[node : self._end[node]] = _TITLE
        return kind

    def _take(self, what: int, nodes: Iterable[int], holds: Callable[[int], bool]) -> None:
        for node in nodes:
            check()
            if self._kept[node] and node not in self._widgets and holds(node):
                self._widgets[node] = what

    def _painted(self) -> NDArray[np.int8]:
        kind = np.full(len(self._page), -1, np.int8)
        until = 0
        for node, what in sorted(self._widgets.items()):
            if node >= until:  # otherwise it is inside another widget
                until = self._end[node]
                kind[node:until] = what
        return kind

    # Tests of an element.

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

    def _stands_alone(self, node: int) -> bool:
        """Return whether a button is no word of a sentence, no heading, and opens no part of the page."""
        if any(self._attribute(node, name) for name in _OPENING) or self._in_heading[node]:
            return False
        first, last = np.searchsorted(self._blocks.start, (node, self._end[node])).tolist()
        return bool(
            last > first
            and self._blocks.end[last - 1] <= self._end[node]
            and self._blocks.words[first:last].sum() <= _MOST_WORDS[_BUTTON]
        )

    def _is_mark(self, node: int) -> bool:
        text = self._short_text(node)
        words = fold(text).strip()
        return text in PERMALINK_MARKS or words in PERMALINK or words.startswith(PERMALINK_TO)

    def _by_words(self, node: int, *, is_button: bool) -> int | None:
        text = self._short_text(node)
        if text in PERMALINK_MARKS:
            return _PERMALINK if self._links_to_itself(node) else None
        words = fold(text).strip()
        if words in COPY and is_button:
            return _SHARING
        if words in PAGE_TOOLS or (words in CONTENTS and is_button):
            return _TOOL
        return _SKIP if words.startswith(SKIP) and self._attribute(node, "href").startswith("#") else None

    def _links_to_itself(self, node: int) -> bool:
        """Return whether a link is in a heading, a term or a caption, or leads to the element that it is in."""
        around = self._parent[node]
        if self._in_heading[node] or self._tags[self._page.tag[around]] in {"dt", "caption", "figcaption"}:
            return True
        href = self._attribute(node, "href")
        return len(href) > 1 and href == f"#{self._attribute(around, 'id')}"

    def _titles_again(self, free: Bools) -> list[int]:
        """Return the headings with the text of the heading right before them, if one of the two is an ``h1``."""
        heading = np.flatnonzero(has_tag(self._page, *_HEADINGS) & self._kept & free).tolist()
        texts = [fold("".join(self._texts(node))).strip() for node in heading]
        again = []
        for (first, before), (second, text) in pairwise(zip(heading, texts, strict=True)):
            titles = self._titles[second + 1] > self._titles[first]
            if text and text == before and titles and self._words[second] == self._words[self._end[first]]:
                again.append(second)
        return again

    # Content of an element.

    def _texts(self, node: int) -> list[str]:
        texts = self._text
        first, last = texts.node.searchsorted((node, self._end[node])).tolist()
        return texts.text[first:last]

    def _short_text(self, node: int) -> str:
        """Return the text of a button or link; empty if it is long."""
        if self._end[node] - node > _MOST_NODES:
            return ""
        text = " ".join(self._texts(node)).strip()
        return text if len(text) <= _LONGEST_BUTTON else ""

    def _attribute(self, node: int, name: str) -> str:
        return self._page.attributes(node).get(name, "")

    # Elements by tag and attribute.

    def _of(self, *names: str) -> list[int]:
        nodes: list[int] = np.flatnonzero(has_tag(self._page, *names) & self._kept).tolist()
        return nodes

    def _with(self, name: str, holds: Callable[[str], object]) -> list[int]:
        """Return the elements with an attribute whose value, in lower case, passes the test `holds`."""
        return [*self._attributes.found(name, lambda value: True if holds(value.lower()) else None)]

    def _by_class(self) -> tuple[dict[int, list[int]], list[int]]:
        """Return the elements by the widget that their classes name, and those with a class about copying."""
        by_kind: dict[int, list[int]] = {what: [] for what in range(len(WIDGET_REASONS))}
        known = self._attributes.found("class", lambda value: _kinds_of_classes(value.lower()))
        for node, kinds in known.items():
            for what in kinds:
                by_kind[what].append(node)
        return by_kind, self._with("class", _is_about_copying)


_BY_CLASS = (
    (_PERMALINK, PERMALINK_CLASSES),
    (_NUMBERS, LINE_NUMBER_CLASSES),
    (_TOOL, EDIT_CLASSES),
    (_SKIP, SKIP_CLASSES),
)
_CLASSES: frozenset[str] = frozenset().union(*(classes for _, classes in _BY_CLASS))


def _is_about_copying(value: str) -> bool:
    # Two searches answer for most classes, which have none of the parts.
    return ("copy" in value or "clipboard" in value) and any(part in value for part in COPY_PARTS)


def _kinds_of_classes(value: str) -> list[int] | None:
    """Return the widgets that classes name; None for the most part."""
    classes = value.split()
    if _CLASSES.isdisjoint(classes):
        return None
    return [what for what, known in _BY_CLASS if not known.isdisjoint(classes)]
