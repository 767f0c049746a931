"""Tag path sequence (TPS) filter: find the main region of a single page (Velloso, Dorneles: JIDM 4(3), 2013).

Implements Algorithms 1 and 6. Where the paper leaves details open, we decided: the sequence starts at ``body`` and
has elements only; script, style, noscript, template and elements that a rendered page does not show are left out;
shadow roots and frames are transparent. ``paper`` mode follows the authors' program, which gave Table I: raw
``class`` and ``style`` in the paths, non-blank texts in the sequence, and strict thresholds.
"""

from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.cleaning._tps_search import Cuts, page_regions, tag_path_codes
from domsieve.analysis.columns.batch import Batch, Ints, page_batch, prune
from domsieve.analysis.columns.hash import hash_of
from domsieve.analysis.columns.styles import presentation_styles
from domsieve.analysis.columns.visible import in_body, visible_nodes, worded
from domsieve.analysis.estimator import Bounds, PageEstimator, Share, Text
from domsieve.analysis.verdict import Verdict
from domsieve.budget import spending
from domsieve.errors import ParameterError
from domsieve.snapshot.page import Kind, Snapshot
from domsieve.types import Mode, StyleLevel

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
    """Tag path sequence (TPS) filter: keeps the largest region whose tag paths do not occur in the rest of the page.

    Parameters
    ----------
    mode : ``"site"`` is tuned for modern sites; ``"paper"`` uses the conventions behind Table I, which fix `style`
        and `include_text` and ignore visibility.
    style : the style that is part of a step of a tag path. ``"layout"`` and ``"full"`` are computed CSS; raw pages,
        which have none, use ``"html"`` instead: presentational attributes and class tokens.
    gap : the two sides of a cut must differ in length by more than this share of the sequence, in [0, 1).
    include_text : include non-blank texts in the sequence.
    cuts : ``"leftmost"`` tries one cut per threshold, as published; ``"best"`` tries all and takes the one that
        removes most. On the pages of Table I that removes more noise, but also more content.
    regions : the number of parts of the page that make up the main region, at least 1: the result of the search, then
        the largest other parts. More than 1 is for pages whose records differ so much that they are in several
        regions (section 6.3 of the paper).
    complement : keep everything outside the main region instead, for pages whose content is the smaller part. The
        argument `has_content` of `transform` decides this page by page.
    has_text : a text that only the content has; if it is not in the main region, the rest of the page is kept. Case
        and white space are ignored.
    max_rounds : the maximum number of cuts, at least 0; None for no limit. Real pages need up to about 40; without a
        limit, a page made for it would take quadratic time.
    min_fraction : the search ends when a cut would keep less than this share of the sequence, in [0, 1].
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
        has_text: Text | None = None,
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
        self.has_text = has_text
        self.max_rounds = max_rounds
        self.min_fraction = min_fraction

    @classmethod
    def of_mode(cls, mode: Mode, **changes: Any) -> Self:
        """Return a filter for a mode.

        Parameters
        ----------
        mode : ``"site"`` or ``"paper"``.
        **changes : parameters to set to other values.

        Raises
        ------
        ParameterError : the mode does not exist, or it fixes one of the parameters.
        """
        for name in ("style", "include_text"):
            if mode == "paper" and name in changes:
                raise ParameterError(
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
        """Return the verdict on one page, or a list with one verdict per page of a sequence.

        A text node is kept if it is visible and its element is in the region. The numbers of a node, or of a text
        node's element, are ``path``, the code of its tag path; ``count``, how often that path occurs; ``position``,
        its position in the sequence, from 1; and ``region``, the part of the page it is in: 1 for the result of the
        search, then 2, 3 and so on by size. The verdict's parameters include ``rounds``, the number of cuts that led
        to the region. With 0 rounds the page was not divided, except perhaps for wrapper elements at its start.

        Parameters
        ----------
        pages : one page or a sequence of pages.
        has_content : called with a page and the nodes that would be kept, including texts, in document order; returns
            whether these contain the content. If not, the complement is kept (Algorithm 6; the paper does not specify
            the test).

        Raises
        ------
        UsageError : a parameter has an invalid value.
        BudgetError : a page costs too much time or memory.
        """
        self.check()
        if has_content is None and self.has_text is not None:
            has_content = contains_text(self.has_text)
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
        if self.has_text is None:
            del parameters["has_text"]  # results that do not depend on it stay as they were without it
        return Verdict(self.name, kept, wanted.astype(np.float32), reason, _REASONS, numbers, parameters)


def contains_text(text: str) -> HasContent:
    """Return a test for whether nodes contain `text`, ignoring case and white space."""
    wanted = _plain(text)

    def has_content(page: Snapshot, nodes: NDArray[np.int64]) -> bool:
        return wanted in _plain(" ".join(map(page.text_of, nodes.tolist())))

    return has_content


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def tag_path_sequence(
    batch: Batch, shown: NDArray[np.bool_], *, style: StyleLevel, include_text: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the nodes of a page's tag path sequence and their codes, both (n,).

    Parameters
    ----------
    batch : one page.
    shown : (N,), the visible nodes. Only rendered pages are restricted to them: on raw pages it is rarely certain
        that a node is hidden.
    style, include_text : parameters of `TagPathFilter`.
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
    """Return the nodes of a page's sequence by the conventions of Table I, and their tag path codes, both (n,)."""
    page = batch.pages[0]
    steps = (batch.elements() | worded(page)) & in_body(batch, _LEFT_OUT_BY_PAPER)
    name, value = batch.string_hash[batch.attr_name], batch.attr_value + 1
    value[np.diff(batch.strings.offsets)[batch.attr_value] == 0] = 0  # an empty attribute counts as missing
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
    """Return a number for the pair of tag and style of each of N nodes; -1 for nodes that are not in `steps`."""
    _, style_number = np.unique(style[steps], return_inverse=True)
    _, number = np.unique(tag[steps] * (style_number.max(initial=0) + 1) + style_number, return_inverse=True)
    step = np.full(tag.size, -1, np.int64)
    step[steps] = number
    return step


def _owners(page: Snapshot, members: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the node that decides for each node: itself, or the element around it if it is not in the sequence."""
    node = np.arange(len(page))
    owner = np.where(members | (page.kind == Kind.ELEMENT), node, np.maximum(page.parent, 0))
    while (between := (page.kind[owner] != Kind.ELEMENT) & ~members[owner] & (owner > 0)).any():
        owner[between] = page.parent[owner[between]]
    return owner
