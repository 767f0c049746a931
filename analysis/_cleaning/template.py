"""Template method: drops the pagelets that stand on other pages too (Bar-Yossef, Rajagopalan; baselines A).

    paper                       here
    K, number of hyperlinks     k
    shingle                     `Pagelets.shingle`
    local, global detection     detection
    PAGELETS table              counts.pagelets

A learned page is known by its address; of pages whose whole text has one shingle the one of least rank, a hash of
its pagelets and its address, stands for all, so the order of learning changes nothing. A component of linked pages
is larger than one page exactly when a page of it links with another one, which is all that cleaning asks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from analysis._cleaning.pagelets import Pagelets, pagelets
from analysis._columns.batch import Batch, Bools, Ints, surrounded
from analysis._columns.hash import U64, combine, mix
from analysis._columns.links import link_references, page_references
from analysis._columns.names import AttributeIs, TagIs
from analysis._columns.tables import Table, grouped, grouping, merged, ranges
from analysis._columns.visible import visible_nodes
from analysis._site_model import SiteModel
from analysis._verdict import Verdict
from snapshot import ModelError

_REASONS = (
    "not visible",
    "holds no words",
    "stands on other pages too",
    "stands here alone",
    "above kept content",
)
_HIDDEN, _EMPTY, _TEMPLATE, _ALONE, _ABOVE = range(len(_REASONS))


@dataclass(frozen=True, slots=True, eq=False)
class TemplateCounts:
    """What was learned of `pages` pages.

    Parameters
    ----------
    kept : page shingles, each with the ``rank`` of the page that stands for all pages of that shingle.
    pagelets : (rank, shingle) pairs of those pages and how often the pagelet stands there, its ``count``.
    addresses : (address, page shingle) pairs of all pages; links : (rank, address linked to) pairs. None for local
        detection.
    """

    pages: int
    kept: Table
    pagelets: Table
    addresses: Table | None
    links: Table | None

    @property
    def nbytes(self) -> int:
        """Bytes held by the tables."""
        tables = (self.kept, self.pagelets, self.addresses, self.links)
        return sum(table.nbytes for table in tables if table is not None)


def merge_counts(parts: Sequence[TemplateCounts]) -> TemplateCounts:
    """Return the counts of all pages together: the same bytes whatever the order of the parts."""
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


class TemplateFilter(SiteModel[TemplateCounts]):
    """Drops from each page the pagelets whose shingle stands on another learned page.

    Parameters
    ----------
    k : hyperlinks that make a part of a page one of its own, at least 1; the paper's 3.
    window : words per window of a shingle, at least 1.
    exact : whether only pagelets of equal words are equal.
    detection : ``"local"``, or ``"global"``: the other page must be linked with this one, in either direction.
    count : ``"pages"``, or ``"pagelets"`` as printed: two equal pagelets of one page are a template too. Global
        detection counts pages.
    """

    name = "template"
    counts = TemplateCounts
    joined = merge_counts

    def __init__(
        self,
        *,
        k: int = 3,
        window: int = 10,
        exact: bool = False,
        detection: Literal["local", "global"] = "local",
        count: Literal["pages", "pagelets"] = "pages",
    ) -> None:
        self.k = k
        self.window = window
        self.exact = exact
        self.detection = detection
        self.count = count

    @property
    def groups_(self) -> list[int]:
        """Number of pages of each template, ascending: of each shingle, or of each component of linked pages."""
        counts = self.counts_
        code = grouping(counts.pagelets.fixed["shingle"]).code
        if self.detection == "global":
            row, other = _linked_rows(counts)
            graph = coo_array((np.ones(row.size, np.bool_), (row, other)), shape=(code.size, code.size))
            code = connected_components(graph, directed=False)[1]
        size = np.bincount(code)
        return sorted(size[size > 1].tolist())

    def facts(self) -> dict[str, int]:
        """Return the number of different pages, of their pagelets and of templates among these."""
        counts = self.counts_
        return {
            "different_pages": len(counts.kept),
            "pagelets": len(counts.pagelets),
            "templates": len(self.groups_),
        }

    def _check(self) -> None:
        for name in ("k", "window"):
            if getattr(self, name) < 1:
                raise ModelError(f"Parameter {name} is {getattr(self, name)}; it must be at least 1.")

    def _count(self, batch: Batch) -> TemplateCounts:
        found = self._pagelets(batch, visible_nodes(batch))
        held = np.flatnonzero(found.words)
        page, shingle = found.page[held], found.shingle[held]
        address = page_references(batch)
        of_page = np.bincount(page, minlength=len(batch.pages))
        place = np.arange(held.size) - np.repeat(np.cumsum(of_page) - of_page, of_page)
        rank = address.copy()
        np.add.at(rank, page, mix(combine(shingle, place.astype(np.uint64))))
        links = addresses = None
        if self.detection == "global":
            source, target = _links(batch)
            np.add.at(rank, source, mix(target))
            links = _pairs(rank=rank[source], target=target)
            addresses = _pairs(address=address, page=found.page_shingle)
        once = np.zeros(rank.size, np.bool_)
        once[np.unique(rank, return_index=True)[1]] = True
        held = np.flatnonzero(once[page])
        rows = grouping(combine(rank[page[held]], shingle[held]))
        sample = held[rows.sample]
        table = Table(
            rows.key,
            {"rank": rank[page[sample]], "shingle": shingle[sample], "count": np.diff(rows.first)},
            {},
        )
        every = Table(found.page_shingle, {"rank": rank}, {})
        return merge_counts([TemplateCounts(len(batch.pages), every, table, addresses, links)])

    def _pagelets(self, batch: Batch, shown: Bools) -> Pagelets:
        return pagelets(batch, shown, k=self.k, window=self.window, exact=self.exact)

    def _others(self, counts: TemplateCounts, batch: Batch, found: Pagelets) -> Ints:
        """Return on how many learned pages, its own left out, each pagelet stands; how often for ``"pagelets"``."""
        own_row = counts.kept.find(found.page_shingle)
        own = np.where(own_row >= 0, counts.kept.fixed["rank"][own_row], np.uint64(0))
        if self.detection == "global":
            page, rank = _neighbours(counts, batch)
            strange = rank != own[page]
            page, rank = page[strange], rank[strange]
            size = np.bincount(page, minlength=own.size)
            at, pagelet = ranges((np.cumsum(size) - size)[found.page], size[found.page])
            there = counts.pagelets.find(combine(rank[at], found.shingle[pagelet])) >= 0
            return np.bincount(pagelet[there], minlength=found.page.size)
        same = grouping(counts.pagelets.fixed["shingle"])
        number = counts.pagelets.fixed["count"]
        if self.count == "pages":
            number = np.ones_like(number)
        here = Table(same.key, {}, {"number": same.sum(number)}).find(found.shingle)
        whole = np.where(here >= 0, np.append(same.sum(number), 0)[here], 0)
        mine = counts.pagelets.find(combine(own[found.page], found.shingle))
        others: Ints = whole - np.where(mine >= 0, np.append(number, 0)[mine], 0)
        if self.count == "pagelets":
            twins = grouping(combine(found.page.astype(np.uint64), found.shingle))
            others += np.diff(twins.first)[twins.code] - 1
        return others

    def _verdicts(self, batch: Batch) -> list[Verdict]:
        counts = self.counts_
        shown = visible_nodes(batch)
        found = self._pagelets(batch, shown)
        others = self._others(counts, batch, found)
        template = (others > 0) & (found.words > 0)
        inside = np.append(template, np.False_)[found.of_node]
        childless = batch.end == np.arange(1, shown.size + 1)
        content = shown & ~inside & ((found.of_node >= 0) | found.worded)
        kept = surrounded(batch, content, shown & ~inside & ~content & childless)
        worded = np.append(found.words > 0, np.False_)[found.of_node] | found.worded
        reasons = np.select((inside, content & worded, kept & ~content), (_TEMPLATE, _ALONE, _ABOVE), _EMPTY)
        reasons[~shown & ~kept] = _HIDDEN
        numbers = {
            name: np.append(values.astype(np.float32), np.float32(np.nan))[found.of_node]
            for name, values in (("links", found.links), ("words", found.words), ("other_pages", others))
        }
        parameters = {**self.get_params(), "pages": counts.pages}
        return [
            Verdict(
                self.name,
                kept[a:b],
                content[a:b].astype(np.float32),
                reasons[a:b].astype(np.uint8),
                _REASONS,
                {name: column[a:b] for name, column in numbers.items()},
                parameters,
            )
            for a, b in zip(batch.first[:-1], batch.first[1:], strict=True)
        ]


def _pairs(**columns: U64) -> Table:
    """Return the table of the pairs in two columns, each pair once."""
    first, second = columns.values()
    return grouped(combine(first, second), columns, {})


def _links(batch: Batch) -> tuple[Ints, U64]:
    """Return the links of all pages: the page of the batch, and the address linked to."""
    at = np.flatnonzero((batch.attr_is & AttributeIs.HREF) != 0)
    at = at[(batch.tag_is[batch.attr_owner[at]] & TagIs.ANCHOR) != 0]
    node = batch.attr_owner[at]
    target = link_references(batch, node, batch.attr_value[at], query=True)
    return batch.page[node].astype(np.int64), target


def _ranks(counts: TemplateCounts, address: U64) -> tuple[NDArray[np.bool_], U64]:
    """Return which addresses were learned, and for those the rank of the page that stands for them."""
    assert counts.addresses is not None
    known = grouping(counts.addresses.fixed["address"])
    row = Table(known.key, {}, {}).find(address)
    learned = row >= 0
    # An address may have shown several texts; the one of the least shingle speaks for it.
    page = np.minimum.reduceat(counts.addresses.fixed["page"][known.order], known.first[:-1])
    rank: U64 = counts.kept.fixed["rank"][counts.kept.find(page[row[learned]])]
    return learned, rank


def _edges(counts: TemplateCounts) -> tuple[U64, U64]:
    """Return the ranks of all pairs of learned pages that a link joins, in both directions."""
    assert counts.links is not None
    learned, target = _ranks(counts, counts.links.fixed["target"])
    source = counts.links.fixed["rank"][learned]
    apart = source != target
    source, target = source[apart], target[apart]
    return np.concatenate((source, target)), np.concatenate((target, source))


def _linked_rows(counts: TemplateCounts) -> tuple[Ints, Ints]:
    """Return the pairs of pagelets of one shingle whose pages a link joins."""
    source, target = _edges(counts)
    table = counts.pagelets
    pages = grouping(table.fixed["rank"])
    page = Table(pages.key, {}, {}).find(source)
    source_page, target = page[page >= 0], target[page >= 0]
    at, edge = ranges(pages.first[source_page], np.diff(pages.first)[source_page])
    row = pages.order[at]
    other = table.find(combine(target[edge], table.fixed["shingle"][row]))
    return row[other >= 0], other[other >= 0]


def _neighbours(counts: TemplateCounts, batch: Batch) -> tuple[Ints, U64]:
    """Return the learned pages that a link joins with each page of the batch, page by page, each once."""
    assert counts.links is not None
    source, target = _links(batch)
    learned, outward = _ranks(counts, target)
    address = page_references(batch)
    here = grouping(address)
    group = Table(here.key, {}, {}).find(counts.links.fixed["target"])
    inward, group = counts.links.fixed["rank"][group >= 0], group[group >= 0]
    at, link = ranges(here.first[group], np.diff(here.first)[group])
    page = np.concatenate((source[learned], here.order[at]))
    rank = np.concatenate((outward, inward[link]))
    pairs = grouping(combine(page.astype(np.uint64), rank)).sample
    pairs = pairs[np.argsort(page[pairs], kind="stable")]
    return page[pairs], rank[pairs]
