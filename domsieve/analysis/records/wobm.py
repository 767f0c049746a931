"""Web object block mining (WOBM): find lists of similar objects by the tags of neighbouring groups of siblings.

Liu, Xiong, Gao: ICICTA 2010.

==========================  =============================================================
paper                       here
==========================  =============================================================
K, longest generalized node `max_length`
T, threshold of NED         `threshold`, with `norm` the denominator
fields of an object         `min_fields`, pruned when the median over the objects is less
share of links              `max_link_share`, pruned when the median is more
==========================  =============================================================

Mode ``"paper"`` is the published algorithm. Where the paper is silent: NED divides by the sum of lengths; groups are
similar at a distance up to the threshold; a region has at least two groups; the symbols of a tag string are tags,
without text; there is no minimum depth; a field is a text that is not blank, an image or a form control, and a link
with text is a single field; fields and links are counted per object and judged by their medians. A pruned region
still covers everything below it.

Mode ``"site"`` ignores menus and header rows (see `menus` and `table_grid`), turns chains of groups into lists of
single records (see `listing`), searches below pruned regions, and reports the main list. If that has almost no text,
it searches again, first without inline tags and then for lists of bare links.
"""

from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import Bools, TagIs
from domsieve.analysis.estimator import Bounds, PageEstimator, Share
from domsieve.analysis.records._listing import Lists
from domsieve.analysis.records._regions import (
    Block,
    Chains,
    edit_measure,
    group_pairs,
    neighbours,
    node_range,
    to_records,
    walk,
)
from domsieve.analysis.records._table_grid import TableGrid
from domsieve.analysis.records._tag_tree import Range, Shown, TagTree, menu_nodes
from domsieve.analysis.records.leaves import Content
from domsieve.analysis.records.result import Records
from domsieve.budget import spending
from domsieve.snapshot.page import Kind, Snapshot

_RULES = frozenset(["br", "hr"])
_SEVERAL = 3  # fewest records of a list that is found by a second search; two similar parts are rarely a list
# Shares of the text of a page, guesses that worked on the development sites: below the first, records are searched
# again; a list found without inline tags needs the second, a list of bare links, which most pages have, the third.
_LITTLE, _MUCH, _MOST = 0.1, 0.2, 0.5


class WebObjectBlocks(PageEstimator[Records]):
    """Finds regions of similar, adjacent groups of siblings; each group is a record.

    The defaults were chosen on search result pages; ``of_mode("paper")`` has those of the paper. The `numbers` of a
    region are ``fields`` and ``link_share`` (medians over its records) and ``characters`` (of text, in total).

    Parameters
    ----------
    max_length : maximum number of siblings in a group, at least 1; the paper's K is 3.
    threshold : maximum normalised edit distance of neighbouring groups, at least 0. The paper does not print its
        value; mode ``"paper"`` uses 0.15.
    norm : divide the distance by the ``"sum"`` of the lengths of both tag strings, or by their ``"mean"``, for which
        thresholds must be twice as large.
    min_fields : minimum number of fields of an object. The paper does not print its value; mode ``"paper"`` uses 3.
    max_link_share : maximum ratio of links to tags of an object, at least 0.
    record_threshold : maximum distance of a record from the typical record of its list, at least 0. With None, groups
        are records as in the paper, without looking for shorter records, skipping siblings, accepting an incomplete
        last record, or splitting rows of several records.
    max_gap : maximum number of siblings, such as adverts, between two records of a list.
    main_share : regions with less than this share of the text of the largest region are not reported, unless they
        continue it below another parent with the same tag path; in [0, 1], where 0 reports all.
    """

    name = "wobm"
    paper = MappingProxyType(
        {"max_length": 3, "threshold": 0.15, "min_fields": 3, "record_threshold": None, "main_share": 0.0}
    )

    def __init__(
        self,
        *,
        max_length: Annotated[int, Bounds(1)] = 10,
        threshold: Annotated[float, Bounds(0)] = 0.2,
        norm: Literal["sum", "mean"] = "sum",
        min_fields: Annotated[int, Bounds(0)] = 2,
        max_link_share: Annotated[float, Bounds(0)] = 0.5,
        record_threshold: Annotated[float, Bounds(0)] | None = 0.3,
        max_gap: Annotated[int, Bounds(0)] = 5,
        main_share: Share = 0.3,
    ) -> None:
        self.max_length = max_length
        self.threshold = threshold
        self.norm = norm
        self.min_fields = min_fields
        self.max_link_share = max_link_share
        self.record_threshold = record_threshold
        self.max_gap = max_gap
        self.main_share = main_share

    def on(self, page: Snapshot, *, kept: NDArray[np.bool_] | None = None) -> Records:
        """Return the records of a page.

        Parameters
        ----------
        page : a page of N nodes.
        kept : bool (N,), the nodes to consider, such as those a `Verdict` keeps; None for all.

        Raises
        ------
        UsageError : a parameter has an invalid value.
        BudgetError : the page exceeded its budget.
        """
        self.check()
        with spending(self.name, page.provenance.url):
            if self.record_threshold is None:
                search = _Search(self, page, kept)
                return search.records(search.blocks())
            shown = Shown.of(page)
            apart = menu_nodes(shown) | TableGrid.of(page, text=shown.text).head_nodes(page)
            return self._site(page, ~apart if kept is None else kept & ~apart, shown)

    def _site(self, page: Snapshot, kept: Bools, shown: Shown) -> Records:
        """Return the records of the first search that finds enough text of the page."""
        first = _Search(self, page, kept, shown=shown)
        blocks = first.blocks()
        little = first.share(blocks)
        if little >= _LITTLE:
            return first.records(blocks)
        plain = _Search(self, page, kept, left_out=(shown.batch.tag_is & TagIs.INLINE) != 0, shown=shown)
        lists = plain.several(plain.blocks())
        if plain.share(lists) >= max(_MUCH, 2 * little):
            return plain.records(lists)
        lists = first.several(first.bare_blocks())
        if first.share(lists) >= max(_MOST, 2 * little):
            return first.records(lists)
        return first.records(blocks)

    def _result(self, page: Snapshot) -> Records:
        return self.on(page)


class _Search:
    """A search for the regions of one page."""

    def __init__(
        self,
        options: WebObjectBlocks,
        page: Snapshot,
        kept: Bools | None,
        *,
        left_out: Bools | None = None,
        shown: Shown | None = None,
    ) -> None:
        self._options, self._page = options, page
        members = kept if left_out is None else ~left_out if kept is None else kept & ~left_out
        self._tree = tree = TagTree.of(page, kept=members, shown=shown)
        self._content = Content.of(
            page,
            tree,
            kept=kept,
            whole_links=options.record_threshold is None,
            flowing=left_out is not None,
            shown=shown,
        )
        mean = options.norm == "mean"
        self._measure = edit_measure(tree, threshold=options.threshold, mean=mean)
        self._near = neighbours(tree, self._measure, options.max_length)
        self._chains = Chains(self._near)
        self._lists = None
        if options.record_threshold is not None:
            scale = 0.5 if mean else 1.0
            self._lists = Lists(
                page,
                tree,
                self._content,
                far=edit_measure(tree, threshold=1.0),
                threshold=options.threshold * scale,
                record_threshold=options.record_threshold * scale,
                longest=options.max_length,
                gap=options.max_gap,
            )

    def blocks(self) -> list[Block]:
        """Return the regions to report."""
        return self._reported(self._has_content)

    def bare_blocks(self) -> list[Block]:
        """Return the regions to report if lists of bare links count as records."""
        return self._reported(self._has_bare_links)

    def several(self, blocks: Sequence[Block]) -> list[Block]:
        """Return the regions with at least `_SEVERAL` records."""
        return [block for block in blocks if len(block.records) >= _SEVERAL]

    def share(self, blocks: Sequence[Block]) -> float:
        """Return the share of the text of the page that is in records, in [0, 1]."""
        return sum(map(self._characters, blocks)) / max(int(self._content.characters[-1]), 1)

    def records(self, blocks: Sequence[Block]) -> Records:
        """Return the regions as `Records`."""
        medians = [self._medians(block) for block in blocks]
        numbers = {
            "fields": [fields for fields, _ in medians],
            "link_share": [share for _, share in medians],
            "characters": [float(self._characters(block)) for block in blocks],
        }
        pieces = [[[self._piece(group)] for group in block.records] for block in blocks]
        parameters = self._options.scalars()
        return to_records(
            self._options.name,
            self._page,
            self._tree,
            blocks,
            pieces=pieces,
            numbers=numbers,
            parameters=parameters,
        )

    def _reported(self, accept: Callable[[Block], bool]) -> list[Block]:
        self._accept = accept
        find = self._chains_of if self._lists is None else self._lists_of
        near = self._near if self._lists is None else [*self._near, self._lists.entry_starts]
        return self._main([block for block in walk(self._tree, near, find) if accept(block)])

    def _chains_of(self, low: int, high: int) -> list[Block]:
        longest, chains, position = self._chains.among(low, high), [], low
        while chain := longest(position):
            chains.append(chain)
            position = chain.stop
        return chains

    def _lists_of(self, low: int, high: int) -> list[Block]:
        """Return the accepted lists of one parent; what is below the others is searched later."""
        assert self._lists is not None
        entries = self._lists.definitions(low, high)
        if entries is not None:
            return [entries] if self._accept(entries) else []
        longest, lists, position = self._chains.among(low, high), [], low
        while chain := longest(position):
            block = self._lists.of(chain, position, high)
            cells = self._lists.cells(block, self._near[0]) if block.length == 1 else None
            position = max(chain.stop, block.stop)
            if cells is not None and self._accept(cells):
                lists.append(cells)
            elif len(block.groups) > 1 and self._accept(block):
                lists.append(block)
        return lists

    def _main(self, blocks: list[Block]) -> list[Block]:
        """Return the regions with most text, and those that continue the first of them below other parents."""
        if not blocks or not self._options.main_share:
            return blocks
        sizes = [self._characters(block) for block in blocks]
        enough = self._options.main_share * max(sizes)
        main = blocks[sizes.index(max(sizes))]
        return [
            b for b, size in zip(blocks, sizes, strict=True) if size >= enough or self._continues(b, main)
        ]

    def _continues(self, block: Block, main: Block) -> bool:
        """Return whether a region continues the main one: equal tag path and length, similar first groups."""
        tree, (one, other) = self._tree, (self._tree.child[[b.first for b in (block, main)]])
        if block.length != main.length or tree.path[one] != tree.path[other]:
            return False
        return bool(np.isfinite(self._measure(group_pairs(tree, [block.groups[0]], [main.groups[0]])))[0])

    def _has_content(self, block: Block) -> bool:
        fields, links = self._medians(block)
        if fields < self._options.min_fields or links > self._options.max_link_share:
            return False
        return self._lists is None or not self._content.is_menu(np.array(self._ranges(block)))

    def _has_bare_links(self, block: Block) -> bool:
        """Return whether the records are links and little else, but not columns of a menu."""
        ranges = np.array(self._ranges(block))
        few_links = self._medians(block)[1] <= self._options.max_link_share
        return few_links and self._content.are_links(ranges) and not self._content.is_menu(ranges)

    def _medians(self, block: Block) -> tuple[float, float]:
        return self._content.medians(np.array(self._ranges(block)))

    def _ranges(self, block: Block) -> list[Range]:
        return [node_range(self._page, self._tree, group) for group in block.records]

    def _piece(self, group: Range) -> Range:
        """Return the nodes of a record; in a list, with the texts that directly follow in the same line."""
        page, (start, stop) = self._page, node_range(self._page, self._tree, group)
        last = int(self._tree.node[self._tree.child[group[1] - 1]])
        if self._lists is not None and page.tag_name(last) not in _RULES:
            limit = page.end[page.parent[last]]
            while stop < limit and page.kind[stop] == Kind.TEXT:
                stop += 1
        return start, stop

    def _characters(self, block: Block) -> int:
        start, stop = np.array(self._ranges(block)).T
        return int((self._content.characters[stop] - self._content.characters[start]).sum())
