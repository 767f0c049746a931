"""Chains of a source: what style sheets can tell its elements apart by as to hidden text, from the root down.

The chain of an element is made of those of its ancestors and itself that something may hide: a rule of a style
sheet, an attribute such as ``hidden``, inline style, or the nature of the tag, such as ``details``. Elements with
equal chains are hidden alike, so a text whose chain was seen visible on a rendered page is visible.
"""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.browser_need.hiding_rules import HidingRules, may_move
from domsieve.analysis.columns.batch import Bools, Ints, below, cached_per_page, nearest, page_batch
from domsieve.analysis.columns.hash import U64, combine, hash_of, hashes_of
from domsieve.analysis.columns.page_columns import has_tag, page_texts
from domsieve.analysis.columns.visible import never_shown
from domsieve.analysis.compare.raw_visibility import WhenRendered
from domsieve.budget import check, spending
from domsieve.snapshot.page import Kind, Snapshot
from domsieve.snapshot.strings import Interner

# An attribute by itself, or the browser's own style sheet, hides text by these.
_ATTRIBUTES = frozenset(("hidden", "open", "popover", "style", "color", "bgcolor", "background", "size"))
_TAG_NAMES = """
audio canvas datalist details dialog iframe input marquee math noframes noscript object optgroup option rp select
summary svg template textarea title video
"""
_TAGS = frozenset(_TAG_NAMES.split())
_LONGEST_VALUE = 200
UNKNOWABLE = np.uint64(0)
"""The chain of elements of which nothing is known, because a rule that may hide them is not supported."""


@dataclass(frozen=True, slots=True)
class StyleChains:
    """The chains of the N nodes of a source. The chain of a text is that of the element around it.

    Parameters
    ----------
    chain : (N,), equal for nodes with equal chains; `UNKNOWABLE` for some.
    pair : (N,), for an element that something may hide, a hash of this and of the same for the nearest such ancestor;
        0 for other nodes.
    boxes : elements that may lie over text that is not theirs: hashes of their chains, and of whether there is text
        beside them.
    """

    chain: U64
    pair: U64
    boxes: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class SeenChains:
    """What texts of rendered pages have shown about chains.

    Parameters
    ----------
    visible, hidden : chains of texts that were seen visible, and never hidden; and the other way round.
    mixed : chains of texts that were seen visible and of others that were there and hidden.
    pairs : pairs (see `StyleChains`) on the way to visible texts, without those that end the way to a hidden one.
    boxes : see `StyleChains`.
    """

    visible: AbstractSet[int] = frozenset()
    hidden: AbstractSet[int] = frozenset()
    mixed: AbstractSet[int] = frozenset()
    pairs: AbstractSet[int] = frozenset()
    boxes: AbstractSet[int] = frozenset()


def style_chains(page: Snapshot, rules: HidingRules) -> StyleChains:
    """Return the chains of a source, in O(N) for each rule whose names are on the page."""
    with spending("chains", page.provenance.url):
        label, moved, unclear = _labels(page, rules)
        chains = _chains(page, label, unclear)
        return replace(chains, boxes=_boxes(page, chains.chain, moved))


def _boxes(page: Snapshot, chain: U64, moved: Ints) -> frozenset[int]:
    before = np.concatenate(([0], np.cumsum(_texts(page))))
    around = page.parent[moved]
    is_beside = before[page.end[around]] - before[around] > before[page.end[moved]] - before[moved]
    return frozenset(combine(chain[moved], is_beside.astype(np.uint64)).tolist())


def _chains(page: Snapshot, label: U64, unclear: Bools) -> StyleChains:
    parent = page.parent.astype(np.int64)
    chain, nearest = np.zeros(len(page), np.uint64), np.zeros(len(page), np.uint64)
    pair = np.zeros(len(page), np.uint64)
    depth = _depths(page)
    order = np.argsort(depth, kind="stable")
    first = np.searchsorted(depth[order], np.arange(depth.max() + 2))
    chain[0] = hash_of("#document")
    for level in range(1, first.size - 1):
        check()
        nodes = order[first[level] : first[level + 1]]
        above = chain[parent[nodes]]
        own = label[nodes]
        longer = np.where(own > 0, combine(above, own), above)
        chain[nodes] = np.where(unclear[nodes] | (above == UNKNOWABLE), UNKNOWABLE, longer)
        near = nearest[parent[nodes]]
        pair[nodes] = np.where(own > 0, combine(near, own), 0)
        nearest[nodes] = np.where(own > 0, own, near)
    return StyleChains(chain, pair)


def _depths(page: Snapshot) -> Ints:
    """Return the number of ancestors of each node: of the subtrees that have begun, those that have not ended."""
    here = np.arange(len(page))
    ends = np.bincount(page.end, minlength=len(page) + 1)
    return here - np.cumsum(ends)[:-1]


def _labels(page: Snapshot, rules: HidingRules) -> tuple[U64, Ints, Bools]:
    """Return what is known of the nodes.

    Returns
    -------
    The label of each node, 0 for those that nothing can hide; the elements that may lie over others; and bool (N,),
    those with unclear rules.
    """
    tags = page.tags.to_list()
    told: dict[int, list[str]] = {}
    moved = {*np.flatnonzero(has_tag(page, "dialog")).tolist()}
    is_element = page.kind == Kind.ELEMENT
    special = np.array([tag in _TAGS or not rules.is_complete for tag in tags], np.bool_)[page.tag]
    for node in np.flatnonzero(special & is_element).tolist():
        told[node] = [tags[page.tag[node]]]
    strings = page.strings.to_list()
    wanted = np.array([name in _ATTRIBUTES or not rules.is_complete for name in strings], np.bool_)
    owner = np.repeat(np.arange(len(page)), np.diff(page.attr_start))
    for at in np.flatnonzero(wanted[page.attr_name]).tolist():
        value = strings[page.attr_value[at]][:_LONGEST_VALUE]
        name = strings[page.attr_name[at]]
        told.setdefault(int(owner[at]), []).append(f"[{name}={value}]")
        if name == "popover" or (name == "style" and may_move(strings[page.attr_value[at]])):
            moved.add(int(owner[at]))
    by_rules, by_moving, unclear = rules.labels(page)
    for node, text in by_rules.items():
        told.setdefault(node, []).append(text)
    label = np.zeros(len(page), np.uint64)
    nodes = sorted(told)
    if nodes:
        label[nodes] = hashes_of([" ".join(told[node]) for node in nodes])
    # Where not all style sheets are known, anything may be moved.
    above = sorted(moved | by_moving) if rules.is_complete else nodes
    return label, np.array(above, np.int64), unclear & is_element


class SeenTexts(TypedDict):
    """What the texts of a rendered page show about chains, each sorted: fields of a `Lesson`.

    ``visible`` and ``hidden`` are the chains of texts that were seen so, ``surely_hidden`` those of hidden texts that
    are not gone, ``pairs`` those on the way to visible texts, and ``broken`` the last pair on the way to each hidden
    text.
    """

    visible: tuple[int, ...]
    hidden: tuple[int, ...]
    surely_hidden: tuple[int, ...]
    pairs: tuple[int, ...]
    broken: tuple[int, ...]


def seen_chains(page: Snapshot, chains: StyleChains, rendered: NDArray[np.uint8]) -> SeenTexts:
    """Return what the texts of a rendered page show about chains.

    Parameters
    ----------
    page : a source.
    chains : its chains.
    rendered : (N,), the `WhenRendered` of its nodes.
    """
    shown = (rendered == WhenRendered.SHOWN) & (chains.chain != UNKNOWABLE)
    # That nobody can tell whether a bracket is visible says nothing about words like it.
    surely = (rendered == WhenRendered.HIDDEN) & lettered(page)
    hidden = surely | ((rendered == WhenRendered.GONE) & lettered(page))
    before = np.concatenate(([0], np.cumsum(shown)))
    way = (chains.pair > 0) & (before[page.end] > before[:-1])
    labelled = chains.pair > 0
    labelled[0] = True  # the document ends the search
    ends = chains.pair[nearest(page_batch(page), labelled)[hidden]]
    return {
        "visible": _sorted(chains.chain[shown]),
        "hidden": _sorted(chains.chain[hidden]),
        "surely_hidden": _sorted(chains.chain[surely]),
        "pairs": _sorted(chains.pair[way]),
        "broken": _sorted(ends[ends > 0]),
    }


def _sorted(chains: U64) -> tuple[int, ...]:
    return tuple(np.unique(chains).tolist())


@cached_per_page
def lettered(page: Snapshot) -> Bools:
    """Return which of the N nodes are texts with a letter or digit."""
    texts = page_texts(page)
    marks = np.zeros(len(page), np.bool_)
    marks[texts.node] = [any(map(str.isalnum, text)) for text in texts.text]
    return marks


def hidden_by_chain(page: Snapshot, chains: StyleChains, seen: SeenChains) -> Bools:
    """Return which of the N nodes of a source are texts with words whose chains were seen hidden only."""
    found = _texts(page)
    nodes = np.flatnonzero(found)
    found[nodes] = [number in seen.hidden for number in chains.chain[nodes].tolist()]
    return found


def unseen_texts(page: Snapshot, chains: StyleChains, seen: SeenChains) -> Bools:
    """Return which of the N nodes of a source are texts with words of which it is not known that they are visible.

    A text is known to be visible if its chain was seen visible; and also if its chain is new, but all pairs on the
    way to it were seen on the way to visible texts.
    """
    unseen = _texts(page)
    nodes = np.flatnonzero(unseen)
    composed = ~below(
        np.array([number > 0 and number not in seen.pairs for number in chains.pair.tolist()], np.bool_),
        page.end.astype(np.int64),
    )
    chain = chains.chain[nodes].tolist()
    unseen[nodes] = [
        number not in seen.visible
        and (number in seen.hidden or number in seen.mixed or number == UNKNOWABLE or not is_composed)
        for number, is_composed in zip(chain, composed[nodes].tolist(), strict=True)
    ]
    return unseen


def _texts(page: Snapshot) -> Bools:
    texts = page_texts(page)
    marks = np.zeros(len(page), np.bool_)
    marks[texts.node[~texts.is_blank]] = True
    return marks & ~never_shown(page)


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
