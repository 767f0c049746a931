"""Features of each block of a page: its text, its place, its neighbours and what the head of the page says."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.auto.context_features import Around, MeasuredBlocks
from domsieve.analysis.columns.batch import F64, Ints
from domsieve.analysis.columns.hash import U64, combine
from domsieve.analysis.columns.page_columns import AttributeIndex, stated_types
from domsieve.analysis.columns.tables import grouping
from domsieve.analysis.columns.words import Characters, CharIs, kinds_of
from domsieve.snapshot.page import Snapshot
from domsieve.urls import split_url

Row = NDArray[np.float64] | NDArray[np.int64] | NDArray[np.bool_] | float
Named = Iterator[tuple[str, Row]]

_OWN_TAGS = (
    *("p", "li", "td", "th", "h1", "h2", "h3", "h4", "pre", "div", "span", "dt", "dd", "blockquote"),
    *("figcaption", "button", "label", "a"),
)
_TAGS_ABOVE = (
    *("nav", "header", "footer", "aside", "form", "main", "article", "section", "ul", "ol", "table"),
    *("dl", "button", "blockquote", "figure", "pre", "a"),
)
_HEADINGS = tuple(f"h{level}" for level in range(1, 7))
_LANDMARKS = ("nav", "header", "footer", "aside", "form", "dialog")
# Levels and neighbours are part of the names of features, so the model must be learned again if they change.
_LEVELS = (0, 1, 2, 3, 4, 6, 8)
_STEPS = (-1, 1, -2, 2)


def block_figures(
    blocks: MeasuredBlocks, around: Around, attributes: AttributeIndex, likeness: Ints
) -> dict[str, dict[str, Row]]:
    """Return the features of the B blocks of a page by group and name, each (B,) or one number for all blocks.

    Takes O(N log N). There must be at least one block.
    """
    text, place = dict(_of_text(blocks)), dict(_of_place(blocks, around))
    place.update(_of_likeness(blocks, likeness))
    heading = _headings(blocks)
    place["is heading"] = heading > 0
    surroundings = dict(_of_levels(blocks, around, attributes))
    surroundings.update(_of_neighbours(blocks, {**text, **place}))
    surroundings.update(_of_distance(blocks, around, heading))
    return {
        "text": text,
        "place": {**place, **dict(_of_tags(blocks))},
        "surroundings": surroundings,
        "page": dict(_of_page(blocks, {**text, **place})),
    }


def _of_text(blocks: MeasuredBlocks) -> Named:
    chars = blocks.characters
    counted, length = np.maximum(blocks.words, 1), np.maximum(blocks.size, 1)

    def having(kind: CharIs) -> F64:
        return blocks.total(chars.having(kind))

    yield "words", blocks.words
    yield "letters per word", length / counted
    yield "marks", having(CharIs.MARK) / counted
    yield "commas", having(CharIs.COMMA) / counted
    yield "capitals", having(CharIs.UPPER) / length
    yield "digits", having(CharIs.DIGIT) / length
    yield "singles", having(CharIs.SINGLE) / length
    for name, kind in _COUNTED.items():
        yield name, having(kind)
    yield "years", blocks.total(chars.years())
    last = kinds_of("".join([text[-1] for text in blocks.text]))
    first = kinds_of("".join([text[0] for text in blocks.text]))
    yield "ends a sentence", (last & CharIs.END) != 0
    yield "ends in a colon", (last & CharIs.COLON) != 0
    yield "begins small", (first & CharIs.LOWER) != 0
    yield "begins with a digit", (first & CharIs.DIGIT) != 0


_COUNTED = {
    "money": CharIs.MONEY,
    "arrows": CharIs.ARROW,
    "rights": CharIs.RIGHTS,
    "questions": CharIs.QUESTION,
}


def _of_place(blocks: MeasuredBlocks, around: Around) -> Named:
    number, plain, linked = len(blocks), blocks.plain, blocks.linked
    whole = max(float(blocks.before[-1]), 1.0)
    code, many = blocks.path_code, int(blocks.path_code.max()) + 1
    plain_of, linked_of = (np.bincount(code, column, many)[code] for column in (plain, linked))
    keys = grouping(blocks.key)
    yield "link share", linked / np.maximum(blocks.words, _TINY)
    yield "depth", around.depth
    yield "position", np.arange(number) / number
    yield "blocks before", np.arange(number)
    yield "blocks behind", number - np.arange(number)
    yield "words before", blocks.before[:-1] / whole
    yield "blocks of path", np.bincount(code)[code]
    yield "words of path", plain_of / whole
    yield "link share of path", linked_of / np.maximum(plain_of + linked_of, _TINY)
    yield "repeats", np.where(blocks.key == 0, 0, np.diff(keys.first)[keys.code] - 1)
    yield "nodes inside", blocks.end - blocks.start


_TINY = 2.0**-20  # avoids a division by 0


def likeness_of(blocks: MeasuredBlocks, around: Around, attributes: AttributeIndex) -> Ints:
    """Return a number (B,), from 0 on, equal for blocks with the same path and the same classes on three levels."""
    label = _classes(blocks.page, attributes)
    key = blocks.path_code.astype(np.uint64)
    for level in range(_LIKE_LEVELS):
        key = combine(key, label[around.node[around.level(level)]])
    return grouping(key).code


_LIKE_LEVELS = 3  # the model was learned with this


def _of_likeness(blocks: MeasuredBlocks, code: Ints) -> Named:
    yield "blocks alike", np.bincount(code)[code]
    yield "words alike", np.bincount(code, blocks.plain)[code] / max(float(blocks.before[-1]), 1.0)
    yield "long alike", np.bincount(code, blocks.long)[code]


def _of_tags(blocks: MeasuredBlocks) -> Named:
    elements, own = blocks.elements, blocks.page.tag[blocks.around]
    for tag in _OWN_TAGS:
        yield f"is {tag}", own == elements.number(tag)
    for tag in _TAGS_ABOVE:
        yield f"in {tag}", elements.around(tag, blocks.start)


def _headings(blocks: MeasuredBlocks) -> Ints:
    """Return the level of the heading that each block is in, from 1 to 6; 0 outside of headings."""
    level = np.zeros(len(blocks), np.int64)
    for number, tag in enumerate(_HEADINGS, 1):
        level[blocks.elements.around(tag, blocks.start) > 0] = number
    return level


def _of_levels(blocks: MeasuredBlocks, around: Around, attributes: AttributeIndex) -> Named:
    page = blocks.page
    alike = _alike_beside(page, attributes)
    children = np.bincount(page.parent[1:], minlength=len(page))
    long = np.concatenate(([0.0], np.cumsum(blocks.long)))
    long_words = np.concatenate(([0.0], np.cumsum(blocks.plain * blocks.long)))
    linked_before = np.concatenate(([0.0], np.cumsum(blocks.linked)))
    whole = max(float(blocks.before[-1]), 1.0)
    for wanted in _LEVELS:
        level = around.level(wanted)
        node = around.node[level]
        plain, linked = around.held(blocks.before, level), around.held(linked_before, level)
        name = f"{wanted} above: "
        yield name + "words", plain
        yield name + "share", plain / whole
        yield name + "link share", linked / np.maximum(plain + linked, _TINY)
        yield name + "words per block", plain / np.maximum(around.last[level] - around.first[level], 1)
        yield name + "long share", around.held(long_words, level) / np.maximum(plain, 1)
        yield name + "long blocks", around.held(long, level)
        yield name + "alike beside", alike[node]
        yield name + "children", children[node]


def _alike_beside(page: Snapshot, attributes: AttributeIndex) -> Ints:
    """Return how many siblings of each node have the same tag and class."""
    label = _classes(page, attributes)
    above = page.parent.astype(np.uint64) * np.uint64(len(page.tags) + 1) + page.tag.astype(np.uint64)
    groups = grouping(above * np.uint64(len(page.strings) + 2) + label)
    return np.asarray(np.diff(groups.first)[groups.code] - 1)


def _classes(page: Snapshot, attributes: AttributeIndex) -> U64:
    """Return a number for the class attribute of each node, 0 if it has none."""
    node, value = attributes.strings("class")
    label = np.zeros(len(page), np.uint64)
    label[node] = value + 1
    return label


_OF_NEIGHBOUR = ("words", "link share", "marks", "ends a sentence", "is heading")


def _of_neighbours(blocks: MeasuredBlocks, features: dict[str, Row]) -> Named:
    path = blocks.path_code.astype(np.float64)
    for step in _STEPS:
        for name in _OF_NEIGHBOUR:
            yield f"{step:+d}: {name}", shifted(np.asarray(features[name], np.float64), step)
        yield f"{step:+d}: same path", path == shifted(path, step)


def shifted(column: F64, step: int) -> F64:
    """Return the value of the block `step` blocks later for each block; NaN beyond the first and last block."""
    moved = np.full_like(column, np.nan)
    if step > 0:
        moved[:-step] = column[step:]
    else:
        moved[-step:] = column[:step]
    return moved


def _of_distance(blocks: MeasuredBlocks, around: Around, heading: Ints) -> Named:
    number = len(blocks)
    at = np.arange(number)
    behind = np.maximum.accumulate(np.where(heading > 0, at, -1))
    yield "blocks from heading", np.where(behind >= 0, at - behind, np.nan)
    yield "level of heading", np.where(behind >= 0, heading[behind], np.nan)
    first = np.flatnonzero(heading == 1)
    names = ("blocks from h1", "words from h1", "levels to h1")
    if first.size:
        yield from zip(names, _from(blocks, around, int(first[0])), strict=True)
    else:
        yield from ((name, np.nan) for name in names)
    names = ("blocks from longest", "words from longest", "levels to longest")
    yield from zip(names, _from(blocks, around, int(np.argmax(blocks.plain))), strict=True)
    long = np.flatnonzero(blocks.long)
    before, after = np.full(number, number), np.full(number, number)
    if long.size:
        rank = np.searchsorted(long, at, side="right")
        before = np.where(rank > 0, at - long[np.maximum(rank - 1, 0)], number)
        rank = np.searchsorted(long, at)
        after = np.where(rank < long.size, long[np.minimum(rank, long.size - 1)] - at, number)
    yield "long before", before
    yield "long after", after
    nearest = np.clip(np.where(before <= after, at - before, at + after), 0, number - 1)
    yield "levels to long", around.levels_to(nearest) if long.size else np.nan
    yield "share of landmark", _share_of_landmark(blocks, around)


def _from(blocks: MeasuredBlocks, around: Around, block: int) -> tuple[Row, Row, Row]:
    """Return the distance of each block from one block: in blocks, in words and in levels."""
    return (
        np.arange(len(blocks)) - block,
        blocks.before[:-1] - blocks.before[block],
        around.levels_to(np.full(len(blocks), block)),
    )


def _share_of_landmark(blocks: MeasuredBlocks, around: Around) -> Row:
    """Return the share of the page's words in the innermost landmark around each block; NaN without a landmark."""
    is_landmark = np.zeros(len(blocks.page.tags), np.bool_)
    is_landmark[[n for tag in _LANDMARKS if (n := blocks.elements.number(tag)) >= 0]] = True
    marked = is_landmark[blocks.page.tag[around.node]]
    level, block = marked.argmax(axis=0), np.arange(len(blocks))
    words = blocks.before[around.last[level, block]] - blocks.before[around.first[level, block]]
    return np.where(marked.any(axis=0), words / max(float(blocks.before[-1]), 1.0), np.nan)


def _of_page(blocks: MeasuredBlocks, features: dict[str, Row]) -> Named:
    page = blocks.page
    plain, words = float(blocks.before[-1]), float(blocks.words.sum())
    long_words = float((blocks.plain * blocks.long).sum())
    yield "page blocks", len(blocks)
    yield "page words", words
    yield "page link share", 1 - plain / max(words, _TINY)
    yield "page long share", long_words / max(plain, 1.0)
    yield "page long blocks", int(blocks.long.sum())
    yield "page longest", float(blocks.plain.max()) / max(plain, 1.0)
    for name in ("money", "years", "questions", "is heading"):
        yield f"page {name}", int(np.count_nonzero(features[name]))
    for name, tags in _PAGE_TAGS.items():
        yield f"page {name}", sum(blocks.elements.of(tag).size for tag in tags)
    yield "page repeats", int(np.count_nonzero(features["repeats"]))
    yield "page paths", int(blocks.path_code.max()) + 1
    parts = split_url(page.provenance.final_url or page.provenance.url)
    known = parts is not None and bool(parts.netloc)
    path = "" if parts is None else parts.path.strip("/")
    slug = Characters.of([path.rpartition("/")[2][:_LONG_SLUG]])
    yield "address depth", path.count("/") + bool(path) if known else np.nan
    yield "address words", int(slug.words[0]) if known else np.nan
    yield "address hyphens", path.count("-") if known else np.nan
    yield "address digits", int(slug.having(CharIs.DIGIT)[0]) if known else np.nan


_PAGE_TAGS = {
    "items": ("li",),
    "cells": ("td",),
    "controls": ("form", "input", "select", "textarea"),
    "articles": ("article",),
    "code": ("pre", "code"),
    "pictures": ("img", "picture"),
}
_LONG_SLUG = 200


_DESCRIBING = frozenset(("description", "og:description", "twitter:description", "dc.description"))
_KINDS = {
    "article": "article blogposting newsarticle techarticle reportagenewsarticle scholarlyarticle",
    "product": "product productgroup offer aggregateoffer",
    "list": "itemlist collectionpage searchresultspage offercatalog",
    "forum": "discussionforumposting qapage question answer comment",
    "business": "localbusiness service professionalservice faqpage softwareapplication",
}
_MEMBERS = {name: frozenset(members.split()) for name, members in _KINDS.items()}
_MOST_CHARACTERS = 200_000  # of a text that is read; bounds the work
_HEAD_LEVELS = (1, 2, 4, 6)  # part of the names of features


def described_figures(blocks: MeasuredBlocks, around: Around, attributes: AttributeIndex) -> Named:
    """Yield the features of blocks by name, in O(words + levels * B)."""
    description, types = _descriptions(attributes), stated_types(attributes)
    yield from _of_blocks(blocks, around, description)
    for name, members in _MEMBERS.items():
        yield f"page says {name}", sum(one in members for one in types) if types else np.nan
    yield "page says types", len(types)
    yield "page words of description", sum(map(len, description))


def _descriptions(attributes: AttributeIndex) -> list[str]:
    """Return the distinct descriptions of a page."""
    describing = attributes.found("name", _as_description) | attributes.found("property", _as_description)
    if not describing:
        return []
    content = attributes.found("content", str)
    texts = (content.get(node, "")[:_MOST_CHARACTERS] for node in describing)
    return [*dict.fromkeys(filter(None, texts))]


def _as_description(name: str) -> bool | None:
    return name.strip().lower() in _DESCRIBING or None


def _of_blocks(blocks: MeasuredBlocks, around: Around, description: list[str]) -> Named:
    number = len(blocks)
    known = _neighbours(description)
    block, pairs = blocks.pairs
    common, best = np.zeros(number), -1
    if known.size:
        hit = known[np.minimum(np.searchsorted(known, pairs), known.size - 1)] == pairs
        common = np.bincount(block[hit], minlength=number).astype(np.float64)
        best = int(np.argmax(common)) if common.any() else -1
    whole = known.size or np.nan
    yield "share of description", common / whole
    yield "levels to description", np.nan if best < 0 else around.levels_to(np.full(number, best))
    yield "blocks from description", np.nan if best < 0 else np.arange(number) - best
    before = np.concatenate(([0.0], np.cumsum(common)))
    for level in _HEAD_LEVELS:
        yield f"{level} above: share of description", around.held(before, level) / whole


def _neighbours(texts: list[str]) -> U64:
    """Return the distinct hashes of pairs of neighbouring words in the texts, ascending."""
    chars = Characters.of(texts)
    text = np.searchsorted(chars.first, chars.begin, side="right")
    hashes = chars.hashes()
    return grouping(combine(hashes[:-1], hashes[1:])[text[1:] == text[:-1]]).key
