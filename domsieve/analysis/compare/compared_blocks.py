"""Classify blocks of text by what scripts did to them, and find those that differ between two loads."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, get_args

import msgspec

from domsieve.analysis.columns.invisible import visible_text
from domsieve.analysis.columns.page_blocks import PageBlocks
from domsieve.analysis.columns.words import fold
from domsieve.analysis.compare.node_matching import NOT_MATCHED

Change = Literal["in source", "changed", "moved", "created", "removed", "hidden"]

Seen = Literal["both", "rendered", "other"]

CHANGES: tuple[Change, ...] = get_args(Change)


class ComparedBlock(msgspec.Struct, frozen=True, kw_only=True):
    """A block of text, and what scripts did to it.

    Parameters
    ----------
    change : ``"in source"``: visible in both versions, with the same text in the same place. ``"changed"``: with
        other text in its place, or hidden in the source. ``"moved"``: with the same text in another place.
        ``"created"``: only on the rendered page. ``"removed"``: visible in the source only. ``"hidden"``: present,
        but not visible.
    rendered, raw : node range ``start, end`` of the text in that version, None if it is not there.
    words : number of words of `text`.
    text : text on the rendered page, or in the source if it is only there.
    """

    change: Change
    rendered: tuple[int, int] | None
    raw: tuple[int, int] | None
    words: int
    text: str


class DifferingBlock(msgspec.Struct, frozen=True, kw_only=True):
    """A block of text whose words differ between two loads of a page.

    Parameters
    ----------
    seen : load on which it is visible: ``"both"``, with different words, ``"rendered"`` (the page that is compared
        with its source), or ``"other"``.
    rendered, other : node range ``start, end`` of the text on that load, None if it is not visible.
    words : number of words that only one of the loads has, as multisets; at least 1.
    text, other_text : text on that load, empty if it is not visible.
    """

    seen: Seen
    rendered: tuple[int, int] | None
    other: tuple[int, int] | None
    words: int
    text: str
    other_text: str


def compare_blocks(raw: PageBlocks, rendered: PageBlocks, raw_of: Sequence[int]) -> list[ComparedBlock]:
    """Return the blocks of both versions, with what scripts did to them.

    Parameters
    ----------
    raw, rendered : blocks of both versions.
    raw_of : matching raw node for each node of the rendered page, see `match_nodes`.
    """
    twin, straight = _twins(raw, rendered, raw_of)
    compared = [
        _compared(
            _change(raw, rendered, block, twin.get(block), straight), raw, rendered, block, twin.get(block)
        )
        for block in range(len(rendered))
    ]
    return compared + [
        _compared("hidden" if raw.hidden[block] else "removed", raw, rendered, None, block)
        for block in _rest(raw, twin)
    ]


def differing_blocks(
    other: PageBlocks, rendered: PageBlocks, other_of: Sequence[int]
) -> list[DifferingBlock]:
    """Return the blocks whose words differ between two loads of a page, those of the rendered page first.

    Parameters
    ----------
    other, rendered : blocks of both loads.
    other_of : matching node of the other load for each node of the rendered page, see `match_nodes`.
    """
    twin, _ = _twins(other, rendered, other_of)
    differing = [_differing(other, rendered, block, twin.get(block)) for block in range(len(rendered))]
    differing += [_differing(other, rendered, None, block) for block in _rest(other, twin)]
    return [block for block in differing if block.words]


def _differing(
    other: PageBlocks, rendered: PageBlocks, block: int | None, twin: int | None
) -> DifferingBlock:
    """Return the difference between two matching blocks; `words` is 0 if no visible word differs."""
    here = block if block is not None and not rendered.hidden[block] else None
    there = twin if twin is not None and not other.hidden[twin] else None
    words = Counter(rendered.said[here].split() if here is not None else ())
    words_there = Counter(other.said[there].split() if there is not None else ())
    return DifferingBlock(
        seen="both"
        if here is not None and there is not None
        else "rendered"
        if here is not None
        else "other",
        rendered=None if here is None else (int(rendered.start[here]), int(rendered.end[here])),
        other=None if there is None else (int(other.start[there]), int(other.end[there])),
        words=(words - words_there).total() + (words_there - words).total(),
        text="" if here is None else visible_text(rendered.text[here]),
        other_text="" if there is None else visible_text(other.text[there]),
    )


def _rest(raw: PageBlocks, twin: Mapping[int, int]) -> list[int]:
    """Return the raw blocks that match no rendered block."""
    taken = set(twin.values())
    return [block for block in range(len(raw)) if block not in taken]


def _twins(raw: PageBlocks, rendered: PageBlocks, raw_of: Sequence[int]) -> tuple[dict[int, int], set[int]]:
    """Return the matching raw block by rendered block, and the rendered blocks that did not change their order."""
    block_of = dict(zip(raw.node.tolist(), raw.block.tolist(), strict=True))
    taken: dict[int, int] = {}  # rendered block by raw block
    twin: dict[int, int] = {}
    owners = zip(rendered.node.tolist(), rendered.block.tolist(), strict=True)
    votes = Counter((b, block_of.get(raw_of[n], NOT_MATCHED)) for n, b in owners)
    for (block, other), _ in sorted(votes.items(), key=lambda vote: (-vote[1], vote[0])):
        if other != NOT_MATCHED and block not in twin and other not in taken:
            twin[block], taken[other] = other, block
    in_place = _in_order([twin[block] for block in sorted(twin)])
    straight = {block for block, stays in zip(sorted(twin), in_place, strict=True) if stays}
    _find_elsewhere(raw, rendered, twin, taken)
    return twin, straight


def _find_elsewhere(
    raw: PageBlocks, rendered: PageBlocks, twin: dict[int, int], taken: dict[int, int]
) -> None:
    """Match rendered blocks without a match of equal text with free raw blocks of equal text, in any place."""
    same: dict[int, list[int]] = {}
    for block in reversed(range(len(raw))):
        key = int(raw.key[block])
        is_free = block not in taken or raw.key[block] != rendered.key[taken[block]]
        if key and is_free and not raw.hidden[block]:
            same.setdefault(key, []).append(block)
    for block in range(len(rendered)):
        key = int(rendered.key[block])
        if (
            rendered.hidden[block]
            or (block in twin and int(raw.key[twin[block]]) == key)
            or not same.get(key)
        ):
            continue
        other = same[key].pop()
        if block in twin:
            del taken[twin.pop(block)]
        if other in taken:
            del twin[taken.pop(other)]
        twin[block], taken[other] = other, block


def _change(
    raw: PageBlocks, rendered: PageBlocks, block: int, other: int | None, straight: set[int]
) -> Change:
    if rendered.hidden[block]:
        return "hidden"
    if other is None:
        return "created"
    if raw.hidden[other] or raw.text[other] != rendered.text[block]:
        return "changed"
    return "in source" if block in straight else "moved"


def _compared(
    change: Change, raw: PageBlocks, rendered: PageBlocks, block: int | None, other: int | None
) -> ComparedBlock:
    text = rendered.text[block] if block is not None else raw.text[other or 0]
    return ComparedBlock(
        change=change,
        rendered=None if block is None else (int(rendered.start[block]), int(rendered.end[block])),
        raw=None if other is None else (int(raw.start[other]), int(raw.end[other])),
        words=len(fold(text).split()),
        text=visible_text(text),
    )


def _in_order(places: Sequence[int]) -> list[bool]:
    """Return which of the places are part of a longest ascending subsequence; the others were moved."""
    tails: list[int] = []  # by length, the position where a subsequence with the least end ends
    ends: list[int] = []
    before: list[int] = []
    for position, place in enumerate(places):
        length = bisect_left(ends, place)
        before.append(tails[length - 1] if length else -1)
        if length == len(tails):
            tails.append(position)
            ends.append(place)
        else:
            tails[length], ends[length] = position, place
    stays = [False] * len(places)
    at = tails[-1] if tails else -1
    while at >= 0:
        stays[at] = True
        at = before[at]
    return stays
