"""Pagelets and shingles of pages, and their counts over a site (Bar-Yossef, Rajagopalan; WWW 2002)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from domsieve.analysis.columns.batch import AttributeIs, Batch, Bools, Ints, TagIs, painted
from domsieve.analysis.columns.hash import U64, combine, mix
from domsieve.analysis.columns.links import link_references, page_references
from domsieve.analysis.columns.tables import (
    Grouping,
    Table,
    TableForm,
    check_known,
    grouped,
    grouping,
    merged,
    ranges,
)
from domsieve.analysis.columns.words import words_of
from domsieve.snapshot.page import Kind

_LARGEST = np.iinfo(np.uint64).max
_BASE = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True, eq=False)
class Pagelets:
    """The L pagelets of P pages in document order.

    Parameters
    ----------
    node, page : int64 (L,), the element and the page of each pagelet.
    links, words : int64 (L,), the number of hyperlinks and of words in each pagelet.
    shingle : uint64 (L,), the shingle of each pagelet.
    page_shingle : uint64 (P,), the shingle of all words of each page.
    of_node : int64 (N,), the pagelet that each node is in; -1 for ancestors of pagelets and texts between pagelets.
    worded : bool (N,), visible texts with words.
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
    """Return the pagelets of a batch, in O(N + window * words).

    Parameters
    ----------
    shown : bool (N,), the visible nodes.
    k : an element is split if one of its children has at least this many hyperlinks, at least 1.
    window : words per window, at least 1.
    exact : use the hash of all words of a pagelet instead of its shingle.
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
    """Return the shingle of each group of words.

    Parameters
    ----------
    words : uint64 (W,), the hashes of the words.
    group : int64 (W,), the group of each word, ascending.
    groups : the number of groups.
    window, exact : as for `pagelets`.
    """
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
    """Return the pagelets of all pages and the number of links in each."""
    tree = (batch.kind != Kind.TEXT) & (batch.kind != Kind.PSEUDO)
    link = np.zeros(shown.size, np.bool_)
    link[batch.attr_owner[(batch.attr_is & AttributeIs.HREF) != 0]] = True
    link &= shown & ((batch.tag_is & TagIs.ANCHOR) != 0)
    before = np.concatenate(([0], np.cumsum(link)))
    count = before[batch.end] - before[:-1]
    split = np.zeros(shown.size, np.bool_)
    heavy = np.flatnonzero(tree & (count >= k) & (batch.parent >= 0))
    split[batch.parent[heavy]] = True
    # The root element is always split, so that the search starts with head and body.
    roots = batch.first[:-1]
    split[roots] = True
    top = np.flatnonzero((batch.tag_is & TagIs.HTML) != 0)
    split[top[np.isin(batch.parent[top], roots)]] = True
    node = np.flatnonzero(tree & ~split & (batch.parent >= 0))
    node = node[split[batch.parent[node]]]
    return node, count[node]


_KEPT = TableForm({"rank": "<u8"})
_PAGELETS = TableForm({"rank": "<u8", "shingle": "<u8", "count": "<i8"}, (), ("rank", "shingle"))
_ADDRESSES = TableForm({"address": "<u8", "page": "<u8"}, (), ("address", "page"))
_LINKS = TableForm({"rank": "<u8", "target": "<u8"}, (), ("rank", "target"))
_MOST = 1 << 62  # so that no sum overflows


@dataclass(frozen=True, slots=True, eq=False)
class TemplateCounts:
    """What was learned about the pages of a site.

    Parameters
    ----------
    pages : number of learned pages.
    kept : page shingles, each with the ``rank`` of the page that represents all pages with that shingle.
    pagelets : (rank, shingle) pairs of those pages, and the ``count`` of the pagelet on the page.
    addresses : (address, page shingle) pairs of all pages; None for local detection.
    links : (rank, target address) pairs; None for local detection.
    """

    pages: int
    kept: Table
    pagelets: Table
    addresses: Table | None
    links: Table | None

    @property
    def nbytes(self) -> int:
        """Number of bytes in the tables."""
        tables = (self.kept, self.pagelets, self.addresses, self.links)
        return sum(table.nbytes for table in tables if table is not None)

    def check(self) -> None:
        """Raise an error unless these are consistent counts of pagelets.

        Raises
        ------
        ValueError, TypeError : they are not; the message names the table.
        """
        _KEPT.check("kept", self.kept)
        _PAGELETS.check("pagelets", self.pagelets)
        number = self.pagelets.fixed["count"]
        if number.size and not 0 < int(number.min()) <= int(number.max()) <= _MOST // number.size:
            raise ValueError("pagelets has impossible counts")
        pages = Table(np.unique(self.kept.fixed["rank"]), {}, {})
        check_known("pagelets", self.pagelets.fixed["rank"], pages)
        if (self.addresses is None) != (self.links is None):
            raise ValueError("only one of addresses and links is given")
        if self.addresses is not None and self.links is not None:
            _ADDRESSES.check("addresses", self.addresses)
            _LINKS.check("links", self.links)
            check_known("addresses", self.addresses.fixed["page"], self.kept)
            check_known("links", self.links.fixed["rank"], pages)


def merge_counts(parts: Sequence[TemplateCounts]) -> TemplateCounts:
    """Return the sum of one or more counts, with the same bytes for any order of the parts."""
    shingle = np.concatenate([part.kept.key for part in parts])
    rank = np.concatenate([part.kept.fixed["rank"] for part in parts])
    order = np.lexsort((rank, shingle))
    first = order[np.flatnonzero(np.diff(shingle[order], prepend=~shingle[order[:1]]))]
    kept = Table(shingle[first], {"rank": rank[first]}, {})

    def of_kept(name: str) -> Table | None:
        tables = [getattr(part, name) for part in parts]
        if tables[0] is None:
            return None
        table = merged(tables)
        stays = np.isin(table.fixed["rank"], kept.fixed["rank"])
        return Table(table.key[stays], {n: c[stays] for n, c in table.fixed.items()}, {})

    addresses = [part.addresses for part in parts if part.addresses is not None]
    whole = of_kept("pagelets")
    assert whole is not None
    return TemplateCounts(
        sum(part.pages for part in parts),
        kept,
        whole,
        merged(addresses) if addresses else None,
        of_kept("links"),
    )


@dataclass(frozen=True, slots=True, eq=False)
class PageLinks:
    """The links between learned pages.

    Parameters
    ----------
    ranks : by address, the ``rank`` of the page that represents it.
    source : uint64 (L,), the rank of the page of each link.
    targets : the links, grouped by the address that they lead to.
    """

    ranks: Table
    source: U64
    targets: Grouping

    @classmethod
    def of(cls, counts: TemplateCounts) -> "PageLinks | None":
        """Return the links between learned pages; None for local detection."""
        if counts.addresses is None or counts.links is None:
            return None
        known = grouping(counts.addresses.fixed["address"])
        # An address may have had several texts; the one with the smallest shingle represents it.
        page = np.minimum.reduceat(counts.addresses.fixed["page"][known.order], known.first[:-1])
        rank = counts.kept.fixed["rank"][counts.kept.find(page)]
        ranks = Table(known.key, {"rank": rank}, {})
        return cls(ranks, counts.links.fixed["rank"], grouping(counts.links.fixed["target"]))

    def edges(self) -> tuple[U64, U64]:
        """Return the ranks of all pairs of linked pages, each pair in both directions."""
        row = self.ranks.find(self.targets.key)[self.targets.code]
        source, target = self.source[row >= 0], self.ranks.fixed["rank"][row[row >= 0]]
        apart = source != target
        source, target = source[apart], target[apart]
        return np.concatenate((source, target)), np.concatenate((target, source))

    def neighbours(self, batch: Batch) -> tuple[Ints, U64]:
        """Return the learned pages that are linked with each page of a batch, in either direction.

        Returns
        -------
        page, rank : pairs of a page of the batch, ascending, and the rank of a learned page; each pair once.
        """
        source, target = links_of(batch)
        outward = self.ranks.find(target)
        group = Table(self.targets.key, {}, {}).find(page_references(batch))
        linked = np.flatnonzero(group >= 0)
        at, here = ranges(self.targets.first[group[linked]], np.diff(self.targets.first)[group[linked]])
        page = np.concatenate((source[outward >= 0], linked[here]))
        inward = self.source[self.targets.order[at]]
        rank = np.concatenate((self.ranks.fixed["rank"][outward[outward >= 0]], inward))
        pairs = grouping(combine(page.astype(np.uint64), rank)).sample
        pairs = pairs[np.argsort(page[pairs], kind="stable")]
        return page[pairs], rank[pairs]

    def joined_rows(self, pagelets: Table) -> tuple[Ints, Ints]:
        """Return the pairs of rows of `pagelets` with the same shingle whose pages are linked."""
        source, target = self.edges()
        pages = grouping(pagelets.fixed["rank"])
        page = Table(pages.key, {}, {}).find(source)
        source_page, target = page[page >= 0], target[page >= 0]
        at, edge = ranges(pages.first[source_page], np.diff(pages.first)[source_page])
        row = pages.order[at]
        other = pagelets.find(combine(target[edge], pagelets.fixed["shingle"][row]))
        return row[other >= 0], other[other >= 0]


def pairs_of(**columns: U64) -> Table:
    """Return a table of the distinct pairs in two columns, which are given by name."""
    first, second = columns.values()
    return grouped(combine(first, second), columns, {})


def links_of(batch: Batch) -> tuple[Ints, U64]:
    """Return the page of the batch and the hash of the target address of each link."""
    at = np.flatnonzero((batch.attr_is & AttributeIs.HREF) != 0)
    at = at[(batch.tag_is[batch.attr_owner[at]] & TagIs.ANCHOR) != 0]
    node = batch.attr_owner[at]
    target = link_references(batch, node, batch.attr_value[at], query=True)
    return batch.page[node].astype(np.int64), target
