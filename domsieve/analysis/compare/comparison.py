"""Compare the raw source of a page with its rendered version: blocks, words, counts, and the origin of new words.

Words are runs of letters and digits after NFKC normalisation and lower-casing, counted as multisets; see `words`.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Literal

import msgspec
import numpy as np

from domsieve.analysis.cleaning.hidden_text import drop_hidden
from domsieve.analysis.cleaning.none import NoCleaning
from domsieve.analysis.columns.page_blocks import page_blocks
from domsieve.analysis.columns.page_columns import attributes_of
from domsieve.analysis.columns.visible import in_closed_panels
from domsieve.analysis.columns.words import fold
from domsieve.analysis.compare.compared_blocks import (
    ComparedBlock,
    DifferingBlock,
    compare_blocks,
    differing_blocks,
)
from domsieve.analysis.compare.node_matching import NOT_MATCHED, match_nodes
from domsieve.analysis.records.wobm import WebObjectBlocks
from domsieve.analysis.verdict import Verdict
from domsieve.analysis.writers.text import write_text
from domsieve.budget import check, spending
from domsieve.snapshot.page import Snapshot

_MARKUP = re.compile(r"<[^<>]*>")


class Overlap(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers of words in two texts and in their intersection, as multisets.

    Parameters
    ----------
    wanted : number of words of the reference text.
    found_in : number of words of the text that is searched for them.
    both : number of words in both.
    """

    wanted: int
    found_in: int
    both: int

    @property
    def recall(self) -> float:
        """Share of the wanted words that are found, in [0, 1]; 1 if there are none."""
        return self.both / self.wanted if self.wanted else 1.0

    @property
    def precision(self) -> float:
        """Share of the searched words that are wanted, in [0, 1]; 1 if there are none."""
        return self.both / self.found_in if self.found_in else 1.0

    def __add__(self, other: "Overlap") -> "Overlap":
        return Overlap(
            wanted=self.wanted + other.wanted,
            found_in=self.found_in + other.found_in,
            both=self.both + other.both,
        )


class PageVersion(msgspec.Struct, frozen=True, kw_only=True):
    """Counts for one version (raw or rendered) of a page.

    Parameters
    ----------
    nodes, links, images : numbers of nodes, of ``a`` and ``area`` elements with ``href``, and of ``img`` elements.
    records : number of data records, None without layout.
    words : number of visible words.
    cleaned_words : number of words in `cleaned`.
    cleaned : the text that a method keeps.
    """

    nodes: int
    links: int
    images: int
    records: int | None
    words: int
    cleaned_words: int
    cleaned: str


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """A response to a script with data for the page.

    Parameters
    ----------
    url, status, bytes : address, HTTP status and size of the response.
    words : number of words in the response.
    delivered : number of these words that are visible on the rendered page but not in the raw source.
    """

    url: str
    status: int
    bytes: int
    words: int
    delivered: int


class TwoLoads(msgspec.Struct, frozen=True, kw_only=True):
    """Differences between two loads of a page, such as adverts, times and tokens.

    Parameters
    ----------
    visible : visible words of the rendered page, searched for among those of the other load.
    blocks : texts whose words differ, those of the rendered page first, each in document order. Text that only moved
        does not count; missing text does not count either if just one of the loads was truncated.
    """

    visible: Overlap
    blocks: list[DifferingBlock]


Outcome = Literal["enough", "needed", "unknown"]


class BrowserNeed(msgspec.Struct, frozen=True, kw_only=True):
    """How ``render="auto"`` judges a page of which it has both versions.

    Parameters
    ----------
    outcome : ``"enough"``: the source shows what the rendered page shows. ``"needed"``: it does not.
        ``"unknown"``: the rendered page is cut, or shows too little to compare with.
    why : what is missing, as the end of a sentence; empty if the source is enough.
    signs : what in the source alone says that it needs a browser, likewise.
    """

    outcome: Outcome
    why: str
    signs: tuple[str, ...]


class Comparison(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What scripts change in one page.

    Parameters
    ----------
    raw, rendered : counts for both versions.
    styled : the raw source was laid out by a browser, so text that its style sheets hide does not count as visible.
    visible : visible words of the rendered page, searched for among those of the raw source.
    content : cleaned words of the rendered page (or all visible words if cleaning keeps none), searched for among the
        visible words of the raw source.
    content_of_raw : cleaned words of the raw source, likewise, searched for among the visible words of the rendered
        page.
    matched : number of nodes of the rendered page that are also in the raw source.
    blocks : texts of both versions, those of the rendered page first, each in document order.
    data : responses with data, those that delivered most words first.
    loads : differences from another load of the page; None, and omitted from JSON, if there was only one load.
    need : how ``render="auto"`` judges the page; None, and omitted from JSON, without a stored source.
    """

    raw: PageVersion
    rendered: PageVersion
    styled: bool
    visible: Overlap
    content: Overlap
    content_of_raw: Overlap
    matched: int
    blocks: list[ComparedBlock]
    data: list[Delivery]
    loads: TwoLoads | None = None
    need: BrowserNeed | None = None


def compare_page(
    raw: Snapshot,
    rendered: Snapshot,
    *,
    raw_verdict: Verdict,
    verdict: Verdict,
    data: Iterable[dict[str, Any]] = (),
    other: Snapshot | None = None,
) -> Comparison:
    """Compare the raw source of a page with its rendered version, in O(N log N) for N nodes of both.

    Parameters
    ----------
    raw : the source, preferably captured by a browser without scripts. If it was only parsed, text that its style
        sheets hide counts as visible. Closed panels count as hidden, because they are on the rendered page.
    rendered : the rendered page of the same navigation.
    raw_verdict, verdict : verdicts of a method on both versions, without hidden text.
    data : responses to scripts, with ``url``, ``status``, ``bytes`` and ``text``.
    other : another load of the rendered page; text that rotates between the loads is then not part of the content,
        see `without_rotating`.

    Raises
    ------
    BudgetError : the page exceeded its budget.
    """
    with spending("compare", rendered.provenance.url):
        return _compared(raw, rendered, raw_verdict, verdict, data, other)


def compare_loads(other: Snapshot, rendered: Snapshot) -> TwoLoads:
    """Return the differences between two loads of a page, in O(N log N) for N nodes of both.

    If just one of the loads was truncated, text that only the complete one has does not count as a difference.

    Parameters
    ----------
    other, rendered : the two loads.

    Raises
    ------
    BudgetError : the page exceeded its budget.
    """
    with spending("compare", rendered.provenance.url):
        other_of = match_nodes(other, rendered).tolist()
        blocks = differing_blocks(page_blocks(other), page_blocks(rendered), other_of)
        whole, other_whole = rendered.provenance.complete, other.provenance.complete
        if whole != other_whole:
            lacking = "rendered" if whole else "other"
            blocks = [block for block in blocks if block.seen != lacking]
        return TwoLoads(visible=_overlap(seen_words(rendered), seen_words(other)), blocks=blocks)


def without_rotating(verdict: Verdict, blocks: Iterable[DifferingBlock]) -> Verdict:
    """Return a verdict that drops text of which most words differ between two loads of the page.

    Text with a few different words, such as a paragraph that contains the time, is kept.

    Parameters
    ----------
    verdict : verdict on the rendered page.
    blocks : differing blocks, see `compare_loads`.
    """
    kept = verdict.kept.copy()
    for block in blocks:
        here, there = words(block.text), words(block.other_text)
        if block.rendered is not None and 2 * (here & there).total() < here.total():
            kept[slice(*block.rendered)] = False
    return replace(verdict, kept=kept)


def content_overlaps(
    raw: Snapshot, rendered: Snapshot, *, raw_verdict: Verdict, verdict: Verdict
) -> tuple[Overlap, Overlap]:
    """Return `Comparison.content` and `Comparison.content_of_raw` of a page, without comparing its nodes.

    Parameters
    ----------
    raw, rendered, raw_verdict, verdict : see `compare_page`.
    """
    seen_raw, seen = seen_words(raw), seen_words(rendered)
    cleaned_raw, cleaned = write_text(raw, raw_verdict), write_text(rendered, verdict)
    return _overlap(words(cleaned) or seen, seen_raw), _overlap(words(cleaned_raw) or seen_raw, seen)


def _compared(
    raw: Snapshot,
    rendered: Snapshot,
    raw_verdict: Verdict,
    verdict: Verdict,
    data: Iterable[dict[str, Any]],
    other: Snapshot | None,
) -> Comparison:
    loads = None if other is None else compare_loads(other, rendered)
    if loads:
        verdict = without_rotating(verdict, loads.blocks)
    closed = in_closed_panels(raw)
    raw_verdict = replace(raw_verdict, kept=raw_verdict.kept & ~closed)
    raw_blocks = page_blocks(raw)
    raw_blocks = replace(raw_blocks, hidden=np.maximum(raw_blocks.hidden, closed[raw_blocks.start]))
    seen_raw, seen = seen_words(raw), seen_words(rendered)
    cleaned_raw, cleaned = write_text(raw, raw_verdict), write_text(rendered, verdict)
    new = seen - seen_raw
    deliveries = [_delivery(response, new) for response in data]
    raw_of = match_nodes(raw, rendered)
    return Comparison(
        raw=_version(raw, seen_raw, cleaned_raw),
        rendered=_version(rendered, seen, cleaned),
        styled=raw.has_layout,
        visible=_overlap(seen, seen_raw),
        content=_overlap(words(cleaned) or seen, seen_raw),
        content_of_raw=_overlap(words(cleaned_raw) or seen_raw, seen),
        matched=int((raw_of != NOT_MATCHED).sum()),
        blocks=compare_blocks(raw_blocks, page_blocks(rendered), raw_of.tolist()),
        data=sorted(deliveries, key=lambda delivery: -delivery.delivered),
        loads=loads,
    )


def words(text: str) -> Counter[str]:
    """Return the number of occurrences of each word in `text`."""
    return Counter(fold(text).split())


def seen_words(page: Snapshot) -> Counter[str]:
    """Return the number of occurrences of each visible word of a page; closed panels are not visible."""
    verdict = drop_hidden(page, NoCleaning().transform(page), hidden="layout")
    return words(write_text(page, replace(verdict, kept=verdict.kept & ~in_closed_panels(page))))


def _overlap(wanted: Counter[str], found_in: Counter[str]) -> Overlap:
    return Overlap(wanted=wanted.total(), found_in=found_in.total(), both=(wanted & found_in).total())


def _version(page: Snapshot, seen: Counter[str], cleaned: str) -> PageVersion:
    tags = page.tags.to_list()
    number = {name: int(np.count_nonzero(page.tag == tags.index(name))) for name in ("img",) if name in tags}
    return PageVersion(
        nodes=len(page),
        links=_links(page),
        images=number.get("img", 0),
        records=len(WebObjectBlocks().transform(page)) if page.has_layout else None,
        words=seen.total(),
        cleaned_words=words(cleaned).total(),
        cleaned=cleaned,
    )


def _links(page: Snapshot) -> int:
    linking = np.array([name in {"a", "area"} for name in page.tags.to_list()], np.bool_)[page.tag]
    return int(np.count_nonzero(linking[np.unique(attributes_of(page).nodes("href"))]))


def _delivery(response: dict[str, Any], new: Counter[str]) -> Delivery:
    check()
    carried = words(_MARKUP.sub(" ", " ".join(_texts(response["text"]))))
    return Delivery(
        url=response["url"],
        status=response["status"],
        bytes=response["bytes"],
        words=carried.total(),
        delivered=(carried & new).total(),
    )


def _texts(body: str) -> list[str]:
    """Return the texts and numbers in JSON, without keys; a body that is not JSON is one text."""
    try:
        rest = [json.loads(body)]
    except (ValueError, RecursionError):
        return [body]
    texts: list[str] = []
    while rest:
        value = rest.pop()
        if isinstance(value, dict):
            rest += value.values()
        elif isinstance(value, list):
            rest += value
        elif isinstance(value, str) or (isinstance(value, int | float) and not isinstance(value, bool)):
            texts.append(str(value))
    return texts
