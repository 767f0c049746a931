"""The tag path sequence filter as a page method: the one record-bearing region of a page, from it alone.

Velloso, Dorneles: JIDM 4(3), 2013, Algorithms 1 and 6. Decisions where the paper is silent: the sequence starts at
``body`` and holds elements only; script, style, noscript, template and what a rendered page does not show are
not in it; shadow roots and frames are looked through. ``paper`` mode does what the authors' program did to
give Table I: raw ``class`` and ``style`` in the paths, text that is not blank in the sequence, strict
thresholds. Imports the Snapshot and the presentation styles.
"""

from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.cleaning.tps_search import Cuts, page_regions, tag_path_codes
from domsieve.analysis.columns.batch import Batch, Ints, page_batch, prune
from domsieve.analysis.columns.hash import hash_of
from domsieve.analysis.columns.styles import presentation_styles
from domsieve.analysis.columns.visible import in_body, visible_nodes, worded
from domsieve.analysis.estimator import Bounds, PageEstimator, Share
from domsieve.analysis.verdict import Verdict
from domsieve.budget import spending
from domsieve.errors import UsageError
from domsieve.snapshot.page import Kind, Snapshot
from domsieve.vocabulary import Mode, StyleLevel

_LEFT_OUT_BY_PAPER = frozenset(["head", "script", "noscript"])
_CLASS, _STYLE = hash_of("class"), hash_of("style")
_REASONS = (
    "outside the main region",
    "not visible",
    "above the main region",
    "in the main region",
    "in the main region, which is left out",
    "above the complement",
    "in the complement",
)
_OUTSIDE, _HIDDEN, _ABOVE, _INSIDE, _LEFT_OUT_REGION, _ABOVE_COMPLEMENT, _COMPLEMENT = range(len(_REASONS))

HasContent = Callable[[Snapshot, NDArray[np.int64]], bool]


class TagPathFilter(PageEstimator[Verdict]):
    """Keeps the largest region whose tag paths do not occur in the rest of the page.

    Parameters
    ----------
    mode : ``"site"`` for today's sites, or ``"paper"`` for the conventions that gave Table I; these fix `style`
        and `include_text` and know no visibility.
    style : what counts as the style of a step. ``"layout"`` and ``"full"`` are computed CSS; raw pages have
        none and use ``"html"`` instead: presentational attributes and class tokens.
    gap : a cut must leave sides that differ by more than this share of the sequence, in [0, 1).
    include_text : whether text that is not blank stands in the sequence beside the elements.
    cuts : ``"leftmost"`` tries one cut per threshold, as published; ``"best"`` all, and takes the one that cuts
        off most. On the pages of Table I that removes more, and more of the content as well.
    regions : how many parts of the page make up the main region, the largest ones after the one that the search
        ends with. More than 1 is for pages whose records differ so much that they part into several
        regions (paper, section 6.3).
    complement : whether to keep what the main region leaves instead; for pages whose content is the smaller
        part. See `has_content` of `transform` for a test that decides page by page.
    max_rounds : most cuts, None for no limit. Real pages need up to about 40; a page made to need one per
        handful of nodes would take quadratic time.
    min_fraction : a cut that would keep less than this share of the sequence ends the search, in [0, 1].
    """

    name = "tps"
    paper = MappingProxyType({"mode": "paper"})

    def __init__(
        self,
        *,
        mode: Mode = "site",
        style: StyleLevel = "layout",
        gap: Annotated[float, Bounds(0, 1, below=True)] = 0.20,
        include_text: bool = False,
        cuts: Cuts = "leftmost",
        regions: Annotated[int, Bounds(1)] = 1,
        complement: bool = False,
        max_rounds: Annotated[int, Bounds(0)] | None = 100,
        min_fraction: Share = 0.0,
    ) -> None:
        self.mode = mode
        self.style = style
        self.gap = gap
        self.include_text = include_text
        self.cuts = cuts
        self.regions = regions
        self.complement = complement
        self.max_rounds = max_rounds
        self.min_fraction = min_fraction

    @classmethod
    def of_mode(cls, mode: Mode, **changes: Any) -> Self:
        """Return a filter of the mode, some parameters changed.

        Raises
        ------
        UsageError : there is no such mode, or it fixes one of the parameters.
        """
        for name in ("style", "include_text"):
            if mode == "paper" and name in changes:
                raise UsageError(
                    f"{cls.__name__}: {name} is fixed by the mode 'paper'; leave one of them out.",
                    parameter=name,
                )
        return super().of_mode(mode, **changes)

    @overload
    def transform(self, pages: Snapshot, *, has_content: HasContent | None = None) -> Verdict: ...
    @overload
    def transform(
        self, pages: Sequence[Snapshot], *, has_content: HasContent | None = None
    ) -> list[Verdict]: ...
    def transform(
        self, pages: Snapshot | Sequence[Snapshot], *, has_content: HasContent | None = None
    ) -> Verdict | list[Verdict]:
        """Return the verdict on one page, or one verdict per page of a sequence.

        A text node is kept when its element lies in the region and the text is visible. Numbers of a node, or
        of the element of a text node: ``path``, the code of its tag path; ``count``, how often that path
        occurs; ``position``, its place in the sequence, 1-based; ``region``, the part of the page it lies in, 1
        for the one the search ends with, then 2, 3 ... by size.
        With the parameters stand the ``rounds``, the cuts that led to the region; 0 of them is a page that does not
        part, of which at most wrapper elements at its start were peeled off.

        Parameters
        ----------
        pages : what is judged.
        has_content : is given a page and the nodes, texts included, that would be kept of it, in document
            order, and says whether the content is among them; where it is not, the complement is kept (Algorithm
            6). The paper leaves the test open.

        Raises
        ------
        UsageError : a parameter is not what it may be.
        """
        self._check()
        if isinstance(pages, Snapshot):
            return self._judged(pages, has_content)
        return [self._judged(page, has_content) for page in pages]

    def _judged(self, page: Snapshot, has_content: HasContent | None) -> Verdict:
        with spending(self.name, page.provenance.url):
            return self._verdict(page, has_content)

    def _result(self, page: Snapshot) -> Verdict:
        return self._verdict(page, None)

    def _verdict(self, page: Snapshot, has_content: HasContent | None) -> Verdict:
        batch = page_batch(page)
        paper = self.mode == "paper"
        if paper:
            shown = np.ones(len(page), np.bool_)
            nodes, codes = paper_sequence(batch)
        else:
            shown = visible_nodes(batch)
            nodes, codes = tag_path_sequence(batch, shown, style=self.style, include_text=self.include_text)
        parts = page_regions(
            codes,
            gap=self.gap,
            strict=paper,
            cuts=self.cuts,
            max_rounds=self.max_rounds,
            min_fraction=self.min_fraction,
        )
        number = np.zeros(nodes.size, np.int64)
        for i, part in enumerate(parts, 1):
            number[part.lo - 1 : part.hi] = i
        place = np.zeros(len(page), np.int64)
        place[nodes] = np.arange(1, nodes.size + 1)
        place = place[_owners(page, place > 0)]
        placed = (place > 0) & shown
        inside = placed & np.concatenate(([False], number <= self.regions))[place]
        wanted, above, within, outside = inside, _ABOVE, _INSIDE, _OUTSIDE
        complement = self.complement
        if has_content is not None:
            complement ^= not has_content(page, np.flatnonzero(placed & (inside ^ complement)))
        if complement:
            wanted = placed & ~inside
            above, within, outside = _ABOVE_COMPLEMENT, _COMPLEMENT, _LEFT_OUT_REGION
        kept = prune(wanted, page.end)
        reason = np.where(shown, outside, _HIDDEN).astype(np.uint8)
        reason[kept] = above
        reason[wanted] = within
        numbers = {
            name: np.concatenate(([np.nan], figure)).astype(np.float32)[place]
            for name, figure in (
                ("path", codes),
                ("count", np.bincount(codes)[codes]),
                ("position", np.arange(1, nodes.size + 1)),
                ("region", number),
            )
        }
        parameters = {**self.scalars(), "rounds": len(parts[0].rounds)}
        return Verdict(self.name, kept, wanted.astype(np.float32), reason, _REASONS, numbers, parameters)


def contains_text(text: str) -> HasContent:
    """Return a test whether nodes hold a text; case and white space do not matter."""
    wanted = _plain(text)

    def has_content(page: Snapshot, nodes: NDArray[np.int64]) -> bool:
        return wanted in _plain(" ".join(map(page.text_of, nodes.tolist())))

    return has_content


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def tag_path_sequence(
    batch: Batch, shown: NDArray[np.bool_], *, style: StyleLevel, include_text: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the nodes of the sequence of one page and their tag path codes, both (n,).

    Only a rendered page leaves out what is not `shown` (N,); a raw page hides too little for certain.
    """
    page = batch.pages[0]
    steps = batch.elements()
    if include_text:
        steps |= worded(page)
    steps &= in_body(batch)
    level: StyleLevel = style if page.has_layout or style == "none" else "html"
    codes = tag_path_codes(page.parent, _step_numbers(batch.tag, presentation_styles(batch, level), steps))
    nodes = np.flatnonzero(steps & shown if page.has_layout else steps)
    return nodes, codes[nodes]


def paper_sequence(batch: Batch) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the sequence of one page by the conventions of Table I: nodes and tag path codes, both (n,)."""
    page = batch.pages[0]
    steps = (batch.elements() | worded(page)) & in_body(batch, _LEFT_OUT_BY_PAPER)
    name, value = batch.string_hash[batch.attr_name], batch.attr_value + 1
    value[np.diff(batch.strings.offsets)[batch.attr_value] == 0] = 0  # an empty attribute is as good as none
    raw = np.zeros((2, len(page)), np.int64)
    for row, wanted in zip(raw, (_CLASS, _STYLE), strict=True):
        row[batch.attr_owner[name == wanted]] = value[name == wanted]
    style = raw[0] * (len(batch.strings) + 1) + raw[1]
    codes = tag_path_codes(page.parent, _step_numbers(batch.tag, style, steps))
    nodes = np.flatnonzero(steps)
    return nodes, codes[nodes]


def _step_numbers(
    tag: Ints, style: NDArray[np.int64 | np.uint64], steps: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return for each of N nodes the number of its pair of tag and style, -1 where it makes no step."""
    _, style_number = np.unique(style[steps], return_inverse=True)
    _, number = np.unique(tag[steps] * (style_number.max(initial=0) + 1) + style_number, return_inverse=True)
    step = np.full(tag.size, -1, np.int64)
    step[steps] = number
    return step


def _owners(page: Snapshot, members: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return for each node the one that speaks for it: itself, or for text and the like its element."""
    here = np.arange(len(page))
    owner = np.where(members | (page.kind == Kind.ELEMENT), here, np.maximum(page.parent, 0))
    while (between := (page.kind[owner] != Kind.ELEMENT) & ~members[owner] & (owner > 0)).any():
        owner[between] = page.parent[owner[between]]
    return owner


def noise_removed(total_raw: int, targets_raw: int, total_pruned: int, targets_pruned: int) -> float:
    """Return the share of wrongly extracted records that pruning removed, at most 1 (paper, equation 4)."""
    return 1 - (total_pruned - targets_pruned) / (total_raw - targets_raw)
