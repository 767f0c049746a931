"""Template method: drop pagelets that other pages have as well (Bar-Yossef, Rajagopalan; WWW 2002).

    paper                       here
    K, number of hyperlinks     k
    shingle                     `Pagelets.shingle`
    local, global detection     detection
    PAGELETS table              counts.pagelets

A learned page is identified by its address. Of pages whose whole text has the same shingle only the one of smallest
rank counts; the rank is a hash of its pagelets and its address, so the order of learning does not matter. Cleaning
only needs to know whether a component of linked pages has more than one page, that is, whether a page is linked with
another one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from domsieve.analysis.cleaning._pagelets import (
    Pagelets,
    PageLinks,
    TemplateCounts,
    links_of,
    merge_counts,
    pagelets,
    pairs_of,
)
from domsieve.analysis.columns.batch import Batch, Bools, Ints, surrounded
from domsieve.analysis.columns.hash import combine, mix
from domsieve.analysis.columns.links import page_references
from domsieve.analysis.columns.tables import Table, grouped, grouping, ranges
from domsieve.analysis.columns.visible import visible_nodes
from domsieve.analysis.estimator import Bounds
from domsieve.analysis.site_model import SiteModel, verdicts_of
from domsieve.analysis.verdict import Verdict
from domsieve.types import StyleLevel

_REASONS = (
    "not visible",
    "holds no words",
    "stands on other pages too",
    "stands here alone",
    "above kept content",
)
_HIDDEN, _EMPTY, _TEMPLATE, _ALONE, _ABOVE = range(len(_REASONS))


@dataclass(frozen=True, slots=True, eq=False)
class _Ready:
    """Counts, arranged for looking up pagelets.

    `number` has how often each row of the pagelets counts, for each value of the parameter `count`; `standing` has
    the sums of these by shingle.
    """

    number: Mapping[str, Ints]
    standing: Table
    links: PageLinks | None


class TemplateFilter(SiteModel[TemplateCounts]):
    """Template filter: drops the pagelets of a page that another learned page has as well.

    Parameters
    ----------
    k : the number of hyperlinks from which a part of a page is split off, at least 1; the default, 3, is the paper's.
    window : words per window of a shingle, at least 1.
    exact : require equal words instead of equal shingles.
    detection : ``"local"`` compares with all learned pages; ``"global"`` only with those that are linked with this
        one, in either direction.
    count : ``"pages"``, or ``"pagelets"`` as in the paper, where two equal pagelets of one page are a template, too.
        Global detection always counts pages.
    """

    name = "template"
    counts = TemplateCounts
    joined = merge_counts

    def __init__(
        self,
        *,
        k: Annotated[int, Bounds(1)] = 3,
        window: Annotated[int, Bounds(1)] = 10,
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
        """Number of pages of each template, ascending.

        A template is a shingle, or with global detection a component of linked pages.
        """
        from scipy.sparse import coo_array  # takes as long to load as the rest of the program
        from scipy.sparse.csgraph import connected_components

        counts = self.counts_
        code = grouping(counts.pagelets.fixed["shingle"]).code
        links = self._ready().links
        if links is not None:
            row, other = links.joined_rows(counts.pagelets)
            graph = coo_array((np.ones(row.size, np.bool_), (row, other)), shape=(code.size, code.size))
            code = connected_components(graph, directed=False)[1]
        size = np.bincount(code)
        return sorted(size[size > 1].tolist())

    def facts(self) -> dict[str, int]:
        """Return the number of different pages, of their pagelets, and of templates among these."""
        counts = self.counts_
        return {
            "different_pages": len(counts.kept),
            "pagelets": len(counts.pagelets),
            "templates": len(self.groups_),
        }

    def _learns(self, counts: TemplateCounts, style: StyleLevel | None) -> bool:
        return super()._learns(counts, style) and (counts.links is not None) == (self.detection == "global")

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
            source, target = links_of(batch)
            np.add.at(rank, source, mix(target))
            links = pairs_of(rank=rank[source], target=target)
            addresses = pairs_of(address=address, page=found.page_shingle)
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
        """Return how many other learned pages have each pagelet, or how often they have it for ``"pagelets"``."""
        own_row = counts.kept.find(found.page_shingle)
        own = np.where(own_row >= 0, counts.kept.fixed["rank"][own_row], np.uint64(0))
        known = self._ready()
        if known.links is not None:
            page, rank = known.links.neighbours(batch)
            strange = rank != own[page]
            page, rank = page[strange], rank[strange]
            size = np.bincount(page, minlength=own.size)
            at, pagelet = ranges((np.cumsum(size) - size)[found.page], size[found.page])
            there = counts.pagelets.find(combine(rank[at], found.shingle[pagelet])) >= 0
            return np.bincount(pagelet[there], minlength=found.page.size)
        row = known.standing.find(found.shingle)
        own_pagelet = counts.pagelets.find(combine(own[found.page], found.shingle))
        number = (
            counts.pagelets.fixed["count"]
            if self.count == "pagelets"
            else np.ones(len(counts.pagelets), np.int64)
        )
        whole = np.append(known.standing.sums[self.count], 0)[row] * (row >= 0)
        others: Ints = whole - np.append(number, 0)[own_pagelet] * (own_pagelet >= 0)
        if self.count == "pagelets":
            twins = grouping(combine(found.page.astype(np.uint64), found.shingle))
            others += np.diff(twins.first)[twins.code] - 1
        return others

    def _ready(self) -> _Ready:
        """Return the counts arranged for looking up pagelets; computed again only if they have changed."""
        counts = self.counts_

        def make() -> _Ready:
            shingle = counts.pagelets.fixed["shingle"]
            number = {"pages": np.ones(shingle.size, np.int64), "pagelets": counts.pagelets.fixed["count"]}
            return _Ready(number, grouped(shingle, {}, number), PageLinks.of(counts))

        return self._derived(counts, make)

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
        parameters = {**self.scalars(), "pages": counts.pages}
        return verdicts_of(
            batch,
            self.name,
            kept=kept,
            score=content,
            reason=reasons,
            reasons=_REASONS,
            numbers=numbers,
            parameters=parameters,
        )
