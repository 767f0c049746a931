"""Pagelets and shingles of pages (Bar-Yossef, Rajagopalan; WWW 2002).

    paper        here
    pagelet      element with fewer than k links below each child, but not so its parent
    shingle      least hash of the windows of w neighbouring words; of fewer words the hash of all

Words are those of shown texts; alternative texts and link targets are not fingerprinted.
"""

from dataclasses import dataclass

import numpy as np

from domsieve.analysis.columns.batch import Batch, Bools, Ints, painted
from domsieve.analysis.columns.hash import U64, mix
from domsieve.analysis.columns.names import AttributeIs, TagIs
from domsieve.analysis.columns.words import words_of
from domsieve.snapshot.page import Kind

_LARGEST = np.iinfo(np.uint64).max
_BASE = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True, eq=False)
class Pagelets:
    """The L pagelets of P pages in document order.

    Parameters
    ----------
    node, page, links, words : int64 (L,), element, page, number of hyperlinks and of words below the element.
    shingle : uint64 (L,).
    page_shingle : uint64 (P,), that of all words of a page.
    of_node : int64 (N,), pagelet that each node lies in, -1 above the pagelets and for texts beside them.
    worded : bool (N,), texts that are shown and hold words.
    """

    node: Ints
    page: Ints
    links: Ints
    words: Ints
    shingle: U64
    page_shingle: U64
    of_node: Ints
    worded: Bools


def pagelets(batch: Batch, shown: Bools, *, k: int, window: int, exact: bool) -> Pagelets:
    """Return the pagelets of a batch; O(N + window * words).

    Parameters
    ----------
    k : a child with at least so many hyperlinks splits its parent, at least 1.
    window : words per window, at least 1.
    exact : fingerprint all words of a pagelet instead of its windows.
    """
    node, links = _partition(batch, shown, k)
    of_node = painted(node, batch.end[node], np.arange(node.size), size=shown.size, ground=-1)
    text = np.flatnonzero((batch.kind == Kind.TEXT) & shown)
    text = text[batch.kind[batch.parent[text]] != Kind.PSEUDO]
    wanted = np.zeros(len(batch.strings), np.bool_)
    wanted[batch.text[text]] = True
    words = words_of(batch, wanted)
    which, word = words.within(batch.text[text])
    hashes, holder = words.hashes(word), text[which]
    worded = np.zeros(shown.size, np.bool_)
    worded[holder] = True
    inside = of_node[holder]
    own, page = inside >= 0, batch.page[holder].astype(np.int64)
    return Pagelets(
        node=node,
        page=batch.page[node].astype(np.int64),
        links=links,
        words=np.bincount(inside[own], minlength=node.size),
        shingle=shingles(hashes[own], inside[own], node.size, window=window, exact=exact),
        page_shingle=shingles(hashes, page, len(batch.pages), window=window, exact=exact),
        of_node=of_node,
        worded=worded,
    )


def shingles(words: U64, group: Ints, groups: int, *, window: int, exact: bool) -> U64:
    """Return the shingle of each of `groups`, from the hashes of words and the group of each, in ascending order."""
    size = np.bincount(group, minlength=groups)
    place = np.arange(words.size) - np.repeat(np.cumsum(size) - size, size)
    powers = mix(np.arange(1, int(place.max(initial=0)) + 2, dtype=np.uint64)) | np.uint64(1)
    whole = np.zeros(groups, np.uint64)
    np.add.at(whole, group, mix(words) * powers[place])
    whole = mix(whole)
    starts = np.flatnonzero(place + window <= size[group])
    if exact or not starts.size:
        return whole
    rolling = np.zeros(starts.size, np.uint64)
    for step in range(window):
        rolling = rolling * _BASE + words[starts + step]
    least = np.full(groups, _LARGEST)
    np.minimum.at(least, group[starts], mix(rolling))
    return np.where(size >= window, least, whole)


def _partition(batch: Batch, shown: Bools, k: int) -> tuple[Ints, Ints]:
    """Return the pagelets of all pages and how many links each holds."""
    tree = (batch.kind != Kind.TEXT) & (batch.kind != Kind.PSEUDO)
    link = np.zeros(shown.size, np.bool_)
    link[batch.attr_owner[(batch.attr_is & AttributeIs.HREF) != 0]] = True
    link &= shown & ((batch.tag_is & TagIs.ANCHOR) != 0)
    before = np.concatenate(([0], np.cumsum(link)))
    count = before[batch.end] - before[:-1]
    split = np.zeros(shown.size, np.bool_)
    heavy = np.flatnonzero(tree & (count >= k) & (batch.parent >= 0))
    split[batch.parent[heavy]] = True
    # The search starts below the root element: with head and body.
    roots = batch.first[:-1]
    split[roots] = True
    top = np.flatnonzero((batch.tag_is & TagIs.HTML) != 0)
    split[top[np.isin(batch.parent[top], roots)]] = True
    node = np.flatnonzero(tree & ~split & (batch.parent >= 0))
    node = node[split[batch.parent[node]]]
    return node, count[node]
