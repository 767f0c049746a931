"""What the head of a page says of its content: its description, and the types of things it is about.

Nobody sees these words, but where a block repeats them its content begins. Two texts are alike where they share
neighbouring words. Imports the columns, the measured blocks and what stands around them.
"""

import re

import numpy as np

from domsieve.analysis.auto.around import Around
from domsieve.analysis.auto.figures import Named
from domsieve.analysis.auto.measured import MeasuredBlocks
from domsieve.analysis.columns.attributes import AttributeIndex
from domsieve.analysis.columns.characters import Characters
from domsieve.analysis.columns.hash import U64, combine
from domsieve.analysis.columns.tables import grouping
from domsieve.snapshot.json_ld import JSON_LD

_DESCRIBING = frozenset(("description", "og:description", "twitter:description", "dc.description"))
_TYPE = re.compile(r'"@type"\s{0,9}:\s{0,9}"(\w{1,60})"')
_KINDS = {
    "article": "article blogposting newsarticle techarticle reportagenewsarticle scholarlyarticle",
    "product": "product productgroup offer aggregateoffer",
    "list": "itemlist collectionpage searchresultspage offercatalog",
    "forum": "discussionforumposting qapage question answer comment",
    "business": "localbusiness service professionalservice faqpage softwareapplication",
}
_MEMBERS = {name: frozenset(members.split()) for name, members in _KINDS.items()}
_MOST_CHARACTERS = 200_000
_LEVELS = (1, 2, 4, 6)


def described_figures(blocks: MeasuredBlocks, around: Around, attributes: AttributeIndex) -> Named:
    """Yield the figures of blocks by name; O(words + levels * B)."""
    description, types = _read(attributes)
    yield from _of_blocks(blocks, around, description)
    for name, members in _MEMBERS.items():
        yield f"page says {name}", sum(one in members for one in types) if types else np.nan
    yield "page says types", len(types)
    yield "page words of description", sum(map(len, description))


def _read(attributes: AttributeIndex) -> tuple[list[str], list[str]]:
    """Return the descriptions of a page, and the types that it names, in lower case."""
    types = [
        kind.lower()
        for text in attributes.values(JSON_LD)[1]
        for kind in _TYPE.findall(text[:_MOST_CHARACTERS])
    ]
    describing = attributes.found("name", _as_description) | attributes.found("property", _as_description)
    typing = attributes.found("property", _as_type)
    if not describing and not typing:
        return [], types
    content = dict(zip(*_plain(attributes, "content"), strict=True))
    types += [content.get(node, "").strip().lower().rpartition(":")[2] for node in typing]
    found = (content.get(node, "")[:_MOST_CHARACTERS] for node in describing)
    return [*dict.fromkeys(filter(None, found))], types


def _as_description(name: str) -> bool | None:
    return name.strip().lower() in _DESCRIBING or None


def _as_type(name: str) -> bool | None:
    return name.strip().lower() == "og:type" or None


def _plain(attributes: AttributeIndex, name: str) -> tuple[list[int], list[str]]:
    nodes, values = attributes.values(name)
    return nodes.tolist(), values


def _of_blocks(blocks: MeasuredBlocks, around: Around, description: list[str]) -> Named:
    number = len(blocks)
    known = _neighbours(description)
    block, pairs = blocks.pairs
    held, best = np.zeros(number), -1
    if known.size:
        hit = known[np.minimum(np.searchsorted(known, pairs), known.size - 1)] == pairs
        held = np.bincount(block[hit], minlength=number).astype(np.float64)
        best = int(np.argmax(held)) if held.any() else -1
    whole = known.size or np.nan
    yield "share of description", held / whole
    yield "levels to description", np.nan if best < 0 else around.levels_to(np.full(number, best))
    yield "blocks from description", np.nan if best < 0 else np.arange(number) - best
    before = np.concatenate(([0.0], np.cumsum(held)))
    for level in _LEVELS:
        yield f"{level} above: share of description", around.held(before, level) / whole


def _neighbours(texts: list[str]) -> U64:
    """Return the distinct hashes of two neighbouring words of the texts, ascending."""
    chars = Characters.of(texts)
    text = np.searchsorted(chars.first, chars.begin, side="right")
    hashes = chars.hashes()
    return grouping(combine(hashes[:-1], hashes[1:])[text[1:] == text[:-1]]).key
