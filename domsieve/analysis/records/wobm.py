"""Web object block mining: lists of like objects in one page, by tag similarity of neighbouring sibling groups.

Liu, Xiong, Gao: ICICTA 2010.

==========================  =============================================================
paper                       here
==========================  =============================================================
K, longest generalized node `max_length`
T, threshold of NED         `threshold`, with `norm` the denominator
fields of an object         `min_fields`, pruned when the median over the objects is less
share of links              `max_link_share`, pruned when the median is more
==========================  =============================================================

The paper's mode is its algorithm. Where it is silent: NED divides by the sum of lengths; groups are alike at a
distance up to the threshold; a region has two groups or more; symbols are tags, text is not in tag strings; no
guard of depth; a field is a text that is not blank, an image or a form control, a link with text being one; fields
and links are counted per object and judged by their medians. What is pruned still covers what lies below it.

The mode for today's sites leaves menus and header rows out (see `menus` and `table_grid`), goes on from the chains to
lists of one record each (see `listing`), searches below what it prunes, and reports the main list. Where that is next
to nothing, it looks again without the marks in the text, and then for bare links. Imports the parts of record mining.
"""

from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import Bools
from domsieve.analysis.columns.names import TagIs
from domsieve.analysis.estimator import Bounds, PageEstimator, Share
from domsieve.analysis.records.leaves import Content
from domsieve.analysis.records.listing import Lists
from domsieve.analysis.records.regions import (
    Block,
    Chains,
    edit_measure,
    group_pairs,
    neighbours,
    node_range,
    to_records,
    walk,
)
from domsieve.analysis.records.result import Records
from domsieve.analysis.records.table_grid import TableGrid
from domsieve.analysis.records.tag_tree import Range, Shown, TagTree, menu_nodes
from domsieve.budget import spending
from domsieve.snapshot.page import Kind, Snapshot

_RULES = frozenset(["br", "hr"])
_SEVERAL = 3  # records of a list that is found the second time
# Shares of the text of a page: what is little for the records of one that has a list, what a list has that shows
# without marks in its text, and one of bare links, which most pages have beside their content.
_LITTLE, _MUCH, _MOST = 0.1, 0.2, 0.5


class WebObjectBlocks(PageEstimator[Records]):
    """Finds regions of like adjacent sibling groups; one group is one record.

    The defaults were chosen on search result pages; ``of_mode("paper")`` has those of the paper. Figures of a region:
    ``fields`` and ``link_share``, medians over its records; ``characters`` of text in all.

    Parameters
    ----------
    max_length : most siblings of a group, at least 1; the paper's K is 3.
    threshold : largest normalised edit distance of neighbouring groups, at least 0; the paper's is taken as 0.15.
    norm : ``"sum"``: the distance is divided by the sum of the lengths of both tag strings; ``"mean"``: by their
        mean, so that twice the thresholds say the same.
    min_fields : fewest fields of an object; the paper's is taken as 3.
    max_link_share : largest number of links over tags of an object.
    record_threshold : largest distance of a record from the typical one of its list. None: groups are records as
        in the paper, with no search for shorter records, siblings skipped, a last record without its rule, or
        rows of several records.
    max_gap : most siblings, such as adverts, between two records of a list.
    main_share : regions with less than this share of the text of the largest one are not reported, unless they
        continue it below another parent of the same tag path; in [0, 1], 0 reports all.
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
        """Return the records among the nodes `kept` (N,) of a page, such as a `Verdict` names; None for all.

        Raises
        ------
        UsageError : a parameter is not what it may be.
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
        """Return the records of the first way of looking that finds a list worth the page."""
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
    """The regions of one page."""

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
        """Return the regions that are reported."""
        return self._worthy(self._is_worth)

    def bare_blocks(self) -> list[Block]:
        """Return the regions that are reported where lists of nothing but links are records too."""
        return self._worthy(self._is_bare)

    def several(self, blocks: Sequence[Block]) -> list[Block]:
        """Return the regions of several records, which two alike parts of a page seldom are."""
        return [block for block in blocks if len(block.records) >= _SEVERAL]

    def share(self, blocks: Sequence[Block]) -> float:
        """Return the share of the text of the page that is in records."""
        return sum(map(self._characters, blocks)) / max(int(self._content.characters[-1]), 1)

    def records(self, blocks: Sequence[Block]) -> Records:
        """Return regions as the result."""
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

    def _worthy(self, is_worth: Callable[[Block], bool]) -> list[Block]:
        self._worth = is_worth
        find = self._chains_of if self._lists is None else self._lists_of
        near = self._near if self._lists is None else [*self._near, self._lists.entry_starts]
        return self._main([block for block in walk(self._tree, near, find) if is_worth(block)])

    def _chains_of(self, low: int, high: int) -> list[Block]:
        longest, found, position = self._chains.among(low, high), [], low
        while chain := longest(position):
            found.append(chain)
            position = chain.stop
        return found

    def _lists_of(self, low: int, high: int) -> list[Block]:
        """Return the lists of one parent that are worth it: what is pruned covers nothing."""
        assert self._lists is not None
        entries = self._lists.definitions(low, high)
        if entries is not None:
            return [entries] if self._worth(entries) else []
        longest, found, position = self._chains.among(low, high), [], low
        while chain := longest(position):
            block = self._lists.of(chain, position, high)
            cells = self._lists.cells(block, self._near[0]) if block.length == 1 else None
            position = max(chain.stop, block.stop)
            if cells is not None and self._worth(cells):
                found.append(cells)
            elif len(block.groups) > 1 and self._worth(block):
                found.append(block)
        return found

    def _main(self, blocks: list[Block]) -> list[Block]:
        """Return the regions with most text and those that continue the first of them below other parents."""
        if not blocks or not self._options.main_share:
            return blocks
        sizes = [self._characters(block) for block in blocks]
        enough = self._options.main_share * max(sizes)
        main = blocks[sizes.index(max(sizes))]
        return [
            b for b, size in zip(blocks, sizes, strict=True) if size >= enough or self._continues(b, main)
        ]

    def _continues(self, block: Block, main: Block) -> bool:
        """Return whether a region is like the main one: tag paths, lengths, and first groups by their measure."""
        tree, (one, other) = self._tree, (self._tree.child[[b.first for b in (block, main)]])
        if block.length != main.length or tree.path[one] != tree.path[other]:
            return False
        return bool(np.isfinite(self._measure(group_pairs(tree, [block.groups[0]], [main.groups[0]])))[0])

    def _is_worth(self, block: Block) -> bool:
        fields, links = self._medians(block)
        if fields < self._options.min_fields or links > self._options.max_link_share:
            return False
        return self._lists is None or not self._content.is_menu(np.array(self._ranges(block)))

    def _is_bare(self, block: Block) -> bool:
        """Return whether the records are links and little else, but no columns of a menu."""
        ranges = np.array(self._ranges(block))
        few = self._medians(block)[1] <= self._options.max_link_share
        return few and self._content.are_links(ranges) and not self._content.is_menu(ranges)

    def _medians(self, block: Block) -> tuple[float, float]:
        return self._content.medians(np.array(self._ranges(block)))

    def _ranges(self, block: Block) -> list[Range]:
        return [node_range(self._page, self._tree, group) for group in block.records]

    def _piece(self, group: Range) -> Range:
        """Return the nodes of a record; in a list the texts directly behind it too, but none in a new line."""
        page, (start, stop) = self._page, node_range(self._page, self._tree, group)
        last = int(self._tree.node[self._tree.child[group[1] - 1]])
        if self._lists is not None and page.tag_name(last) not in _RULES:
            behind = page.end[page.parent[last]]
            while stop < behind and page.kind[stop] == Kind.TEXT:
                stop += 1
        return start, stop

    def _characters(self, block: Block) -> int:
        start, stop = np.array(self._ranges(block)).T
        return int((self._content.characters[stop] - self._content.characters[start]).sum())
