"""Kinds of blocks: what a line of text is by the elements around it, such as a menu, a list or a paragraph.

Furniture of a page is told by tags, roles and words in ``class`` and ``id``, the innermost element first; elements
that hold more than half of the words of a page are wrappers, whatever they are called. What is no furniture is told
by the nearest element of a kind, and by the share of its words that stand in links.
"""

import re
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.page_blocks import PageBlocks
from domsieve.snapshot.page import Kind, Snapshot

_BY_WORD: dict[str, str] = {
    "consent": "cookie cookies consent gdpr",
    "share": "share sharing sharedaddy social addthis",
    "comments": "comment comments disqus respond",
    "related": (
        "related recommended recommendation recommendations promo promos promotion ad ads advert advertisement "
        "sponsor sponsored trending popular newsletter subscribe signup outbrain taboola upsell"
    ),
    "menu": "nav navbar navigation menu submenu breadcrumb breadcrumbs pagination pager toc sitemap",
    "header": "header masthead topbar banner",
    "footer": "footer colophon",
    "sidebar": "sidebar widget aside",
    "title": "byline author meta dateline timestamp",
}
_PART_OF_WORD = {
    "breadcrumb": "menu",
    "navig": "menu",
    "sidebar": "sidebar",
    "footer": "footer",
    "cookie": "consent",
}
_BY_ROLE = {
    "navigation": "menu",
    "menu": "menu",
    "menubar": "menu",
    "banner": "header",
    "contentinfo": "footer",
    "complementary": "sidebar",
}
_FURNITURE_TAGS = {"nav": "menu", "header": "header", "footer": "footer", "aside": "sidebar"}
_BY_TAG = {
    **dict.fromkeys(("h1", "time", "address"), "title"),
    **dict.fromkeys(("pre", "code", "samp"), "code"),
    **dict.fromkeys(("form", "button", "select", "label", "fieldset", "option"), "form"),
    **dict.fromkeys(("td", "th"), "table"),
    **dict.fromkeys(("h2", "h3", "h4", "h5", "h6"), "heading"),
    **dict.fromkeys(("li", "dt", "dd"), "list"),
    **dict.fromkeys(("figure", "figcaption", "caption"), "caption"),
    **dict.fromkeys(("p", "blockquote"), "paragraph"),
}
KINDS: Final = (
    *_BY_WORD,
    "code",
    "form",
    "table",
    "heading",
    "link list",
    "list",
    "caption",
    "paragraph",
    "other",
)
"""All kinds; of several that one element suggests, the first counts."""

FURNITURE: Final = frozenset(_BY_WORD) - {"title"}
"""The kinds that are mostly no content, by their names alone."""

_NUMBER = {name: i for i, name in enumerate(KINDS)}
_NONE = len(KINDS)
_OTHER, _LINK_LIST = _NUMBER["other"], _NUMBER["link list"]
_MAY_BE_LINKS = [_NUMBER[name] for name in ("table", "list", "paragraph", "other")]
_WORD_KIND = {word: kind for kind, words in _BY_WORD.items() for word in words.split()}
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_MOST_LINKED = 0.5


def kinds_of(page: Snapshot, blocks: PageBlocks) -> NDArray[np.int64]:
    """Return the kind of each of the B blocks of a page, as an index into `KINDS`; O(N)."""
    furniture, shape = _told_by_elements(page, blocks)
    kind = np.where(furniture[blocks.voice] < _NONE, furniture[blocks.voice], shape[blocks.voice])
    length = np.array([len(text.split()) for text in page.strings.take(page.text[blocks.node].tolist())])
    linked = np.bincount(blocks.block, length * _in_links(page)[blocks.node], len(blocks))
    whole = np.bincount(blocks.block, length, len(blocks))
    kind[np.isin(kind, _MAY_BE_LINKS) & (linked > _MOST_LINKED * whole)] = _LINK_LIST
    return kind.astype(np.int64)


def _told_by_elements(page: Snapshot, blocks: PageBlocks) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return what furniture each of the N nodes lies in, and of what shape it is."""
    names = page.tags.to_list()
    tag = page.tag.tolist()
    own = np.minimum(
        _by_attributes(page), np.array([_number(_FURNITURE_TAGS.get(n)) for n in names])[page.tag]
    )
    shape = np.array([_number(_BY_TAG.get(n)) for n in names])[page.tag]
    before = np.concatenate(([0], np.cumsum(np.bincount(blocks.start, blocks.words, len(page)))))
    wrapper = before[page.end] - before[:-1] > before[-1] / 2
    own[wrapper] = _NONE
    shape[wrapper & (shape == _NUMBER["table"])] = _NONE
    # Headers and footers of an article are not those of the page.
    inner = {_NUMBER["header"], _NUMBER["footer"]}
    article = [name in {"article", "main"} for name in names]
    furniture, shapes, inside = own.tolist(), shape.tolist(), [False] * len(page)
    for node, above in enumerate(page.parent.tolist()):
        if above < 0:
            continue
        inside[node] = inside[above] or article[tag[node]]
        if furniture[node] == _NONE or (furniture[node] in inner and inside[node]):
            furniture[node] = furniture[above]
        if shapes[node] == _NONE:
            shapes[node] = shapes[above]
    found = np.array(shapes, np.int64)
    found[found == _NONE] = _OTHER
    return np.array(furniture, np.int64), found


def _by_attributes(page: Snapshot) -> NDArray[np.int64]:
    """Return what furniture role, class and id of each of the N nodes suggest."""
    kind = np.full(len(page), _NONE, np.int64)
    owner = np.repeat(np.arange(len(page)), np.diff(page.attr_start))
    known = {name: page.strings[name] for name in np.unique(page.attr_name).tolist()}
    wanted = np.array([name for name, text in known.items() if text in {"class", "id", "role"}])
    at = np.flatnonzero(np.isin(page.attr_name, wanted))
    values = page.strings.take(page.attr_value[at].tolist())
    for node, name, value in zip(owner[at].tolist(), page.attr_name[at].tolist(), values, strict=True):
        told = _number(_BY_ROLE.get(value)) if known[name] == "role" else _by_words(value)
        kind[node] = min(kind[node], told)
    return kind


@cache
def _by_words(value: str) -> int:
    words = [word.lower() for word in _WORD.findall(value)]
    kinds = [_WORD_KIND.get(word) or _by_part(word) for word in words]
    return min(map(_number, kinds), default=_NONE)


def _by_part(word: str) -> str | None:
    return next((kind for part, kind in _PART_OF_WORD.items() if part in word), None)


def _number(kind: str | None) -> int:
    return _NUMBER[kind] if kind else _NONE


def _in_links(page: Snapshot) -> NDArray[np.bool_]:
    link = np.array([name == "a" for name in page.tags.to_list()])[page.tag] & (page.kind == Kind.ELEMENT)
    start = np.flatnonzero(link)
    steps = np.zeros(len(page) + 1, np.int64)
    np.add.at(steps, start, 1)
    np.subtract.at(steps, page.end[start], 1)
    inside: NDArray[np.bool_] = np.cumsum(steps[:-1]) > 0
    return inside
