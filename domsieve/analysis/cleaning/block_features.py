"""What tells content from boilerplate on a single page: figures of each block of text, and of what stands around it.

Shallow text features (Kohlschütter, Fankhauser, Nejdl: WSDM 2010) are the length of a block, the share of its words
in links, and those of its neighbours. Beside them stand here the tags around a block, what the elements above it
hold, and how often its tag path and its text occur. Words of class names and ids are not read: on pages of site
builders they say nothing. Imports the columns.
"""

import re

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import F64, Bools, Ints, below
from domsieve.analysis.columns.page_blocks import PageBlocks
from domsieve.snapshot import Kind, Snapshot

_MARKS = re.compile(r"[.,;:!?。、]")
_ARROWS = re.compile(r"[|»›]")
_RIGHTS = re.compile(r"©|rights reserved", re.IGNORECASE)
_OF_TEXT = (
    *("words", "marks", "letters per word", "capitals", "digits", "ends a sentence", "ends in a colon"),
    *("below 3 words", "15 words", "40 words", "arrows", "rights"),
)
_OF_PLACE = (
    *("link share", "depth", "position", "words before", "blocks of path", "words of path", "repeats"),
)
_OWN_TAGS = (
    *("p", "li", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "div", "span", "dt", "dd"),
    *("blockquote", "figcaption", "button", "label", "a", "option", "summary", "article", "section"),
)
_TAGS_ABOVE = (
    *("nav", "header", "footer", "aside", "form", "main", "article", "section", "ul", "ol", "table"),
    *("dialog", "dl", "details", "button", "blockquote", "figure"),
)
_LEVELS = (1, 2, 3, 4, 6, 8)
_OF_LEVEL = ("words", "share", "link share", "words per block")
_NEIGHBOURS = (-1, 1, -2, 2)
_OF_NEIGHBOUR = ("words", "link share", "marks", "ends a sentence")

FEATURES = (
    *_OF_TEXT,
    *_OF_PLACE,
    *(f"is {tag}" for tag in _OWN_TAGS),
    *(f"in {tag}" for tag in _TAGS_ABOVE),
    *(f"{level} above: {name}" for level in _LEVELS for name in _OF_LEVEL),
    *(f"{step:+d}: {name}" for step in _NEIGHBOURS for name in _OF_NEIGHBOUR),
)
"""Names of the F figures of a block. Counts are ln(1 + count), shares lie in [0, 1], the others are 0 or 1."""


def block_features(page: Snapshot, blocks: PageBlocks) -> F64:
    """Return the figures (B, F) of the B blocks of a page; O(N), and a loop over texts and levels."""
    around = _elements_around(page, blocks)
    linked = _linked_words(page, blocks)
    plain = blocks.words - linked
    sums = [np.concatenate(([0.0], np.cumsum(column))) for column in (plain, linked)]
    own = np.column_stack((_of_text(blocks), _of_place(page, blocks, around, plain, linked)))
    tags = page.tags.to_list()
    own_tag = np.array([tags[tag] for tag in page.tag[around].tolist()], object)
    is_tag = np.column_stack([own_tag == tag for tag in _OWN_TAGS])
    in_tag = np.column_stack([_below_tag(page, tags, tag)[blocks.start] for tag in _TAGS_ABOVE])
    levels: list[F64] = []
    node, level = around, 0
    for wanted in _LEVELS:
        while level < wanted:
            node, level = np.where(page.parent[node] > 0, page.parent[node], node), level + 1
        levels.append(_of_level(page, blocks, node, sums))
    names = [*_OF_TEXT, *_OF_PLACE]
    shared = own[:, [names.index(name) for name in _OF_NEIGHBOUR]]
    near = [_shifted(shared, step) for step in _NEIGHBOURS]
    return np.column_stack((own, is_tag, in_tag, *levels, *near)).astype(np.float64)


def _of_text(blocks: PageBlocks) -> F64:
    texts, words = blocks.text, blocks.words
    size = np.array([len(text) for text in texts], np.float64)
    marks, capitals, digits, ends, colons, arrows, rights = (
        np.array(column, np.float64)
        for column in (
            [len(_MARKS.findall(text)) for text in texts],
            [sum(map(str.isupper, text)) for text in texts],
            [sum(map(str.isdigit, text)) for text in texts],
            [text[-1:] in {".", "!", "?", "。"} for text in texts],
            [text.endswith(":") for text in texts],
            [_ARROWS.search(text) is not None for text in texts],
            [_RIGHTS.search(text) is not None for text in texts],
        )
    )
    counted, length = np.maximum(words, 1), np.maximum(size, 1)
    return np.column_stack(
        (
            *(np.log1p(words), marks / counted, size / counted / 10, capitals / length, digits / length),
            *(ends, colons, words < 3, words >= 15, words >= 40, arrows, rights),
        )
    )


def _of_place(page: Snapshot, blocks: PageBlocks, around: Ints, plain: F64, linked: F64) -> F64:
    number, whole = len(blocks), max(float(plain.sum()), 1.0)
    paths, path = np.unique(np.array(blocks.path, object).astype(str), return_inverse=True)
    keys, key = np.unique(blocks.key, return_inverse=True)
    return np.column_stack(
        (
            linked / np.maximum(blocks.words, 1),
            np.log1p(_depths(page)[around]),
            np.arange(number) / max(number, 1),
            (np.cumsum(plain) - plain) / whole,
            np.log1p(np.bincount(path, minlength=len(paths))[path]),
            np.bincount(path, plain, len(paths))[path] / whole,
            np.log1p(np.bincount(key, minlength=len(keys))[key] - 1),
        )
    )


def _of_level(page: Snapshot, blocks: PageBlocks, node: Ints, sums: list[F64]) -> F64:
    """Return what the elements `node` (B,) hold: words, their share of the page, their links, words per block."""
    first = np.searchsorted(blocks.start, node)
    last = np.searchsorted(blocks.start, page.end[node])
    plain, linked = (column[last] - column[first] for column in sums)
    return np.column_stack(
        (
            np.log1p(plain),
            plain / max(float(sums[0][-1]), 1.0),
            linked / np.maximum(plain + linked, 1),
            plain / np.maximum(last - first, 1) / 20,
        )
    )


def _elements_around(page: Snapshot, blocks: PageBlocks) -> Ints:
    """Return the innermost element around all of each block."""
    node = page.parent[blocks.start].astype(np.int64)
    while (todo := (page.end[node] < blocks.end) & (node > 0)).any():
        node[todo] = page.parent[node[todo]]
    return node


def _linked_words(page: Snapshot, blocks: PageBlocks) -> F64:
    """Return how many words of each block stand in links."""
    inside = _below_tag(page, page.tags.to_list(), "a")[blocks.node]
    texts = page.strings.take(page.text[blocks.node].tolist())
    words = np.array([len(text.split()) for text in texts], np.float64)
    found = np.bincount(blocks.block, words * inside, len(blocks))
    return np.minimum(found, blocks.words)


def _below_tag(page: Snapshot, tags: list[str], tag: str) -> Bools:
    if tag not in tags:
        return np.zeros(len(page), np.bool_)
    found = (page.tag == tags.index(tag)) & (page.kind == Kind.ELEMENT)
    return below(found, page.end.astype(np.int64))


def _depths(page: Snapshot) -> NDArray[np.int64]:
    """Return how many nodes stand above each node: those opened before it less those closed."""
    steps = np.ones(len(page) + 1, np.int64)
    steps -= np.bincount(page.end, minlength=len(page) + 1)
    return np.cumsum(steps)[:-1] - 1


def _shifted(columns: F64, step: int) -> F64:
    """Return the rows of the blocks `step` further on, 0 beyond the ends."""
    moved = np.zeros_like(columns)
    if step > 0:
        moved[:-step] = columns[step:]
    else:
        moved[-step:] = columns[:step]
    return moved
