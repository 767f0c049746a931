"""The raw source of a page against what the browser made of it: blocks, words, counts, and where the words came from.

Words are those of `words`: runs of letters and digits after NFKC and lower-casing, counted as multisets.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np

from domsieve.analysis.cleaning.hidden_text import drop_hidden
from domsieve.analysis.cleaning.none import NoCleaning
from domsieve.analysis.columns.page_blocks import page_blocks
from domsieve.analysis.columns.page_columns import attributes_of
from domsieve.analysis.columns.words import fold
from domsieve.analysis.compare.compared_blocks import (
    ComparedBlock,
    DifferingBlock,
    compare_blocks,
    differing_blocks,
)
from domsieve.analysis.compare.matching import NOT_MATCHED, match_nodes
from domsieve.analysis.records.wobm import WebObjectBlocks
from domsieve.analysis.verdict import Verdict
from domsieve.analysis.writers.text import write_text
from domsieve.budget import check, spending
from domsieve.snapshot.page import Snapshot

_MARKUP = re.compile(r"<[^<>]*>")


class Overlap(msgspec.Struct, frozen=True, kw_only=True):
    """How many words two texts have, alone and both, counted as multisets.

    Parameters
    ----------
    wanted : words of the text that is looked for.
    found_in : words of the text that it is looked for in.
    both : words of both.
    """

    wanted: int
    found_in: int
    both: int

    @property
    def recall(self) -> float:
        """Return which share of the wanted words is found; 1 when none is wanted."""
        return self.both / self.wanted if self.wanted else 1.0

    @property
    def precision(self) -> float:
        """Return which share of the words looked through is wanted; 1 when there are none."""
        return self.both / self.found_in if self.found_in else 1.0

    def __add__(self, other: "Overlap") -> "Overlap":
        return Overlap(
            wanted=self.wanted + other.wanted,
            found_in=self.found_in + other.found_in,
            both=self.both + other.both,
        )


class PageVersion(msgspec.Struct, frozen=True, kw_only=True):
    """What one side of a page holds.

    Parameters
    ----------
    nodes, links, images : numbers of all nodes, of elements with a link's address, of ``img`` elements.
    records : number of data records, None without layout.
    words : words that can be seen.
    cleaned_words : words of `cleaned`.
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
    """A response that a script asked for.

    Parameters
    ----------
    url, status, bytes : of the response.
    words : number of its words.
    delivered : how many of these are seen on the rendered page and not in the raw source.
    """

    url: str
    status: int
    bytes: int
    words: int
    delivered: int


class TwoLoads(msgspec.Struct, frozen=True, kw_only=True):
    """What differs between two loads of a page: adverts, times, tokens.

    Parameters
    ----------
    visible : the words seen on the rendered page, looked for in those seen on the other load.
    blocks : the texts whose words differ, those of the rendered page first, each in document order. Text that only
        moved does not differ, nor does what a load lacks that was cut, unless both were.
    """

    visible: Overlap
    blocks: list[DifferingBlock]


class Comparison(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What scripts make of one page.

    Parameters
    ----------
    raw, rendered : the two sides.
    styled : whether the raw source was laid out by a browser, so that what its style sheets hide is known.
    visible : the words seen on the rendered page, looked for in those seen in the raw source.
    content : the cleaned words of the rendered page, or all that are seen where cleaning leaves none, looked for in
        the words seen in the raw source.
    content_of_raw : the same of the raw source, looked for in the words seen on the rendered page.
    matched : number of nodes of the rendered page that the raw source has too.
    blocks : the texts of both sides, those of the rendered page first, each in document order.
    data : the responses that carried data, those that delivered most words first.
    loads : what differs from another load of the page; None, and not written, where there was one load.
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


def compare_page(
    raw: Snapshot,
    rendered: Snapshot,
    *,
    raw_verdict: Verdict,
    verdict: Verdict,
    data: Iterable[dict[str, Any]] = (),
    other: Snapshot | None = None,
) -> Comparison:
    """Return what scripts made of a page; O(N log N) for N nodes of both sides.

    Parameters
    ----------
    raw : the source, best as a browser shows it without scripts; parsed, its style sheets hide nothing.
    rendered : the page of the same navigation.
    raw_verdict, verdict : what a method keeps of either, hidden text left out.
    data : responses with their ``url``, ``status``, ``bytes`` and ``text``.
    other : another load of the rendered page; content is then without what rotates, see `without_rotating`.
    """
    with spending("compare", rendered.provenance.url):
        return _compared(raw, rendered, raw_verdict, verdict, data, other)


def compare_loads(other: Snapshot, rendered: Snapshot) -> TwoLoads:
    """Return what differs between two loads of a page; O(N log N) for N nodes of both.

    Blocks are matched as those of the raw source are. Where one load was cut and the other was not, what only the
    whole one has does not differ: the other did not come that far.
    """
    with spending("compare", rendered.provenance.url):
        other_of = match_nodes(other, rendered).tolist()
        blocks = differing_blocks(page_blocks(other), page_blocks(rendered), other_of)
        whole, other_whole = rendered.provenance.complete, other.provenance.complete
        if whole != other_whole:
            lacking = "rendered" if whole else "other"
            blocks = [block for block in blocks if block.seen != lacking]
        return TwoLoads(visible=_overlap(_seen_words(rendered), _seen_words(other)), blocks=blocks)


def without_rotating(verdict: Verdict, blocks: Iterable[DifferingBlock]) -> Verdict:
    """Return a verdict that keeps no text of which most words differ between two loads of its page.

    A text that differs in a few words, such as a paragraph with the time in it, stays.
    """
    kept = verdict.kept.copy()
    for block in blocks:
        here, there = words(block.text), words(block.other_text)
        if block.rendered is not None and 2 * (here & there).total() < here.total():
            kept[slice(*block.rendered)] = False
    return replace(verdict, kept=kept)


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
    seen_raw, seen = _seen_words(raw), _seen_words(rendered)
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
        blocks=compare_blocks(page_blocks(raw), page_blocks(rendered), raw_of.tolist()),
        data=sorted(deliveries, key=lambda delivery: -delivery.delivered),
        loads=loads,
    )


def words(text: str) -> Counter[str]:
    """Return how often each word is in `text`."""
    return Counter(fold(text).split())


def _seen_words(page: Snapshot) -> Counter[str]:
    return words(write_text(page, drop_hidden(page, NoCleaning().transform(page), keep=False)))


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
    """Return the texts and numbers in JSON, without its names; what is no JSON is one text."""
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
