"""Chains of a source: what style sheets can tell its elements apart by as to hidden text, from the root down.

The chain of an element is made of those of its ancestors and itself that something may hide: a rule of a style
sheet, an attribute such as ``hidden``, inline style, or the nature of the tag, such as ``details``. Elements with
equal chains are hidden alike, so a text whose chain was seen visible on a rendered page is visible.
"""

from collections.abc import Set as AbstractSet
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.browser_need.hiding_rules import HidingRules
from domsieve.analysis.columns.batch import Bools, Ints
from domsieve.analysis.columns.hash import U64, combine, hash_of, hashes_of
from domsieve.analysis.columns.page_columns import page_texts
from domsieve.analysis.columns.visible import never_shown
from domsieve.analysis.compare.raw_visibility import WhenRendered
from domsieve.budget import check, spending
from domsieve.snapshot.page import Kind, Snapshot
from domsieve.snapshot.strings import Interner

# An attribute by itself, or the browser's own style sheet, hides text by these.
_ATTRIBUTES = frozenset(("hidden", "open", "popover", "style", "color", "bgcolor", "background", "size"))
_TAG_NAMES = """
audio canvas datalist details dialog iframe input marquee math noframes noscript object optgroup option rp select svg
template textarea title video
"""
_TAGS = frozenset(_TAG_NAMES.split())
_LONGEST_VALUE = 200
UNKNOWABLE = np.uint64(0)
"""The chain of elements of which nothing is known, because a rule that may hide them is not supported."""


def style_chains(page: Snapshot, rules: HidingRules) -> U64:
    """Return the chain of each of the N nodes of a source, uint64 (N,); `UNKNOWABLE` for some.

    The chain of a text is that of the element around it. Takes O(N) for each rule whose names are on the page.
    """
    with spending("chains", page.provenance.url):
        label, unclear = _labels(page, rules)
        return _chains(page, label, unclear)


def _chains(page: Snapshot, label: U64, unclear: Bools) -> U64:
    parent = page.parent.astype(np.int64)
    chain = np.zeros(len(page), np.uint64)
    depth = _depths(page)
    order = np.argsort(depth, kind="stable")
    first = np.searchsorted(depth[order], np.arange(depth.max() + 2))
    chain[0] = hash_of("#document")
    for level in range(1, first.size - 1):
        check()
        nodes = order[first[level] : first[level + 1]]
        above = chain[parent[nodes]]
        own = np.where(label[nodes] > 0, combine(above, label[nodes]), above)
        chain[nodes] = np.where(unclear[nodes] | (above == UNKNOWABLE), UNKNOWABLE, own)
    return chain


def _depths(page: Snapshot) -> Ints:
    """Return the number of ancestors of each node: of the subtrees that have begun, those that have not ended."""
    here = np.arange(len(page))
    ends = np.bincount(page.end, minlength=len(page) + 1)
    return here - np.cumsum(ends)[:-1]


def _labels(page: Snapshot, rules: HidingRules) -> tuple[U64, Bools]:
    """Return the label of each node, 0 for those that nothing can hide; and the elements with unclear rules."""
    tags = page.tags.to_list()
    told: dict[int, list[str]] = {}
    is_element = page.kind == Kind.ELEMENT
    special = np.array([tag in _TAGS or not rules.is_complete for tag in tags], np.bool_)[page.tag]
    for node in np.flatnonzero(special & is_element).tolist():
        told[node] = [tags[page.tag[node]]]
    strings = page.strings.to_list()
    wanted = np.array([name in _ATTRIBUTES or not rules.is_complete for name in strings], np.bool_)
    owner = np.repeat(np.arange(len(page)), np.diff(page.attr_start))
    for at in np.flatnonzero(wanted[page.attr_name]).tolist():
        value = strings[page.attr_value[at]][:_LONGEST_VALUE]
        told.setdefault(int(owner[at]), []).append(f"[{strings[page.attr_name[at]]}={value}]")
    by_rules, unclear = rules.labels(page)
    for node, text in by_rules.items():
        told.setdefault(node, []).append(text)
    label = np.zeros(len(page), np.uint64)
    nodes = sorted(told)
    if nodes:
        label[nodes] = hashes_of([" ".join(told[node]) for node in nodes])
    return label, unclear & is_element


def seen_chains(chain: U64, rendered: NDArray[np.uint8]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the chains of texts that were seen visible, and of those that were seen hidden, each sorted.

    Parameters
    ----------
    chain : (N,), the chains of a source.
    rendered : (N,), the `WhenRendered` of its nodes.
    """
    shown = np.unique(chain[(rendered == WhenRendered.SHOWN) & (chain != UNKNOWABLE)])
    hidden = np.unique(chain[rendered == WhenRendered.HIDDEN])
    return tuple(shown.tolist()), tuple(hidden.tolist())


def texts_of_chains(page: Snapshot, chain: U64, chosen: AbstractSet[int]) -> Bools:
    """Return which of the N nodes are texts with words that have one of these chains.

    Parameters
    ----------
    chain : (N,), the chains of the page.
    chosen : the chains.
    """
    texts = page_texts(page)
    nodes = texts.node[~texts.is_blank]
    found = np.zeros(len(page), np.bool_)
    found[nodes] = [number in chosen for number in chain[nodes].tolist()]
    return found & ~never_shown(page)


def unseen_texts(page: Snapshot, chain: U64, visible: AbstractSet[int]) -> Bools:
    """Return which of the N nodes are texts with words of which it is not known that they are visible.

    Parameters
    ----------
    chain : (N,), the chains of the page.
    visible : the chains that were seen visible, and never hidden.
    """
    texts = page_texts(page)
    unseen = np.zeros(len(page), np.bool_)
    unseen[texts.node[~texts.is_blank]] = True
    return unseen & ~never_shown(page) & ~texts_of_chains(page, chain, visible)


def without_texts(page: Snapshot, texts: Bools) -> Snapshot:
    """Return a source with some of its text nodes emptied; nothing of them stays in the page.

    Parameters
    ----------
    page : a page without layout.
    texts : (N,), the text nodes to empty.
    """
    if not texts.any():
        return page
    text = page.text.copy()
    text[texts] = len(page.strings)  # the empty string, which is added
    columns = (text[text >= 0], page.attr_name, page.attr_value)
    used = np.unique(np.concatenate(columns))
    strings = page.strings.take(used[used < len(page.strings)].tolist())
    interner = Interner()
    ids = interner.ids([*strings, ""][: used.size])

    def renumbered(column: NDArray[np.int32]) -> NDArray[np.int32]:
        at = np.minimum(np.searchsorted(used, column), used.size - 1)
        return np.where(column < 0, -1, ids[at]).astype(np.int32)

    return replace(
        page,
        strings=interner.table(),
        text=renumbered(text),
        attr_name=renumbered(page.attr_name),
        attr_value=renumbered(page.attr_value),
    )
