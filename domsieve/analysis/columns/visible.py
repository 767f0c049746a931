"""Which nodes a reader of the page can see, and why others are hidden."""

import re
from collections.abc import Set as AbstractSet

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import (
    AttributeIs,
    Batch,
    TagIs,
    below,
    cached_per_page,
    distinct,
    page_batch,
)
from domsieve.analysis.columns.hash import hash_of
from domsieve.analysis.columns.panels import opened_panels
from domsieve.snapshot.moments import moments
from domsieve.snapshot.page import Kind, Snapshot

NO_CONTENT = frozenset(["head", "script", "style", "noscript", "template"])
_BLANKS = " \t\n\r\f"


def in_body(batch: Batch, left_out: AbstractSet[str] = NO_CONTENT) -> NDArray[np.bool_]:
    """Return which of N nodes are in the body or frameset of the page.

    Parameters
    ----------
    batch : one page.
    left_out : tags whose elements are not counted as part of the body, nor anything inside them. Pseudo-elements
        never are.
    """
    page = batch.pages[0]
    tags = page.tags.to_list()
    excluded = np.array([name in left_out for name in tags])[page.tag] & batch.elements()
    inside = ~below(excluded | (page.kind == Kind.PSEUDO), batch.end)
    roots = np.flatnonzero((page.parent == 0) & batch.elements())
    tops = np.flatnonzero(np.isin(page.parent, roots) & batch.elements())
    body = next((int(node) for node in tops if tags[page.tag[node]] in {"body", "frameset"}), 0)
    inside[:body] = False
    inside[page.end[body] :] = False
    return inside


def worded(page: Snapshot) -> NDArray[np.bool_]:
    """Return which of N nodes are text with more than ASCII white space; a no-break space counts as text."""
    text = page.kind == Kind.TEXT
    has_words = np.zeros(len(page), np.bool_)
    has_words[text] = [bool(t.strip(_BLANKS)) for t in page.strings.take(page.text[text].tolist())]
    return has_words


_HIDDEN_VALUE = hash_of("hidden")
_HIDING = re.compile(r"(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))", re.IGNORECASE)


@cached_per_page
def shown_nodes(page: Snapshot) -> NDArray[np.bool_]:
    """Return which of the N nodes of one page are shown; see `visible_nodes`."""
    return visible_nodes(page_batch(page))


@cached_per_page
def never_shown(page: Snapshot) -> NDArray[np.bool_]:
    """Return which of the N nodes are in elements such as ``script`` or ``head``, which browsers do not show.

    A node that a style sheet shows nevertheless, such as a visible ``title``, is not one of them.
    """
    batch = page_batch(page)
    return below((batch.tag_is & TagIs.NEVER_SHOWN) != 0, batch.end) & (page.style < 0)


def visible_nodes(batch: Batch) -> NDArray[np.bool_]:
    """Return which of the N nodes are shown.

    On a rendered page a text is shown if it has a box and computed ``visibility: visible``, and an element if it or a
    descendant has a box (``display: contents``). On a raw page a node is shown unless it or an ancestor is of a tag
    that is never shown, has the ``hidden`` attribute, is a hidden input, or is hidden by inline CSS. A panel that a
    visible control opens counts as shown, see `panels`.
    """
    layouts = [page.has_layout for page in batch.pages]
    if all(layouts):
        return np.concatenate([_rendered(page) for page in batch.pages])
    hidden = (batch.tag_is & TagIs.NEVER_SHOWN) != 0
    by_attribute = np.zeros_like(hidden)
    by_attribute[_hidden_by_attribute(batch)] = True
    shown = ~below(hidden | by_attribute, batch.end)
    is_opened = False
    for page, a, b in zip(batch.pages, batch.first[:-1], batch.first[1:], strict=True):
        if not page.has_layout and by_attribute[a:b].any():
            panels = opened_panels(page, np.flatnonzero(by_attribute[a:b]), shown[a:b])
            by_attribute[a + panels] = False
            is_opened |= panels.size > 0
    if is_opened:
        shown = ~below(hidden | by_attribute, batch.end)
    for page, a, b in zip(batch.pages, batch.first[:-1], batch.first[1:], strict=True):
        if page.has_layout:
            shown[a:b] = _rendered(page)
    return shown


def in_closed_panels(page: Snapshot) -> NDArray[np.bool_]:
    """Return which of the N nodes count as shown only because a visible control opens their panel."""
    batch = page_batch(page)
    closed = np.zeros(len(page), np.bool_)
    if not page.has_layout:
        closed[_hidden_by_attribute(batch)] = True
    return below(closed, batch.end) & shown_nodes(page)


def _rendered(page: Snapshot) -> NDArray[np.bool_]:
    boxed = page.rendered()
    shown = boxed & _not_hidden(page)
    for moment, counts in moments(page):  # animations may show it later
        shown |= boxed & counts & _not_hidden(moment)
    return shown


def _not_hidden(page: Snapshot) -> NDArray[np.bool_]:
    """Return which nodes are no text, or have a box and are visible by their style."""
    found = np.ones(len(page), np.bool_)
    if "visibility" in page.style_names and page.styles.size:
        row = page.styles[:, page.style_names.index("visibility")]
        seen = np.array([page.strings[v] == "visible" for v in np.unique(row).tolist()])
        if not seen.all():
            by_row = seen[np.unique(row, return_inverse=True)[1]]
            text = page.kind == Kind.TEXT
            found[text] = by_row[page.style[text]] & (page.style[text] >= 0)
    return found


def _hidden_by_attribute(batch: Batch) -> NDArray[np.int64]:
    """Return the nodes that an attribute hides, in no order and possibly more than once."""
    hidden = (batch.attr_is & AttributeIs.HIDDEN) != 0
    typed = np.flatnonzero(batch.attr_is & AttributeIs.TYPE)
    hidden[typed[batch.hashes(batch.attr_value[typed]) == _HIDDEN_VALUE]] = True
    styled = np.flatnonzero(batch.attr_is & AttributeIs.STYLE)
    values, which = distinct(batch.attr_value[styled], len(batch.strings))
    hides = np.array([bool(_HIDING.search(text)) for text in batch.texts(values)], np.bool_)
    hidden[styled[hides[which]]] = True
    nodes: NDArray[np.int64] = batch.attr_owner[hidden]
    return nodes
