"""The parts of a page as readers see them: headings with their sections, lists, tables, code, quotes and figures."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import F64, Ints, cached_per_page, counted_before
from domsieve.analysis.columns.hash import U64, combine
from domsieve.analysis.columns.page_blocks import PageBlocks, page_blocks
from domsieve.analysis.columns.page_columns import attributes_of, has_tag
from domsieve.analysis.columns.words import WORDS_PER_SINGLE
from domsieve.snapshot.page import Kind, Snapshot

HEADING_LEVELS = {**{f"h{level}": level for level in range(1, 7)}, "summary": 7, "legend": 7, "dt": 8}
"""The level of each element that is a heading of what follows, from 1 for the highest."""
LONG_BLOCK = 15
"""Words of a block of running text, from which it counts as a paragraph."""
LOWEST_OF_DOCUMENT = 6
"""The lowest level of a heading of the document; the others are headings within a list or a form."""
_DEFAULT_LEVEL = 2  # of role=heading without aria-level, as ARIA says
_LONGEST_HEADING = 40  # words. A guess: an element with more is a text that somebody marked up as a heading
_SECTIONING = (
    *("article", "aside", "body", "dd", "details", "dialog", "fieldset", "footer", "form", "li", "main"),
    *("nav", "section", "td", "th"),
)
"""Elements where the section of a heading ends. A header is none, because it stands above its section."""
_GROUPS = ("blockquote", "dl", "figure", "ol", "pre", "table", "ul")
_LONGEST_PART = 40  # words of a block on average. A guess: posts of a forum are longer
_TITLE_BOX_WORDS = 30  # a guess: a section with a title and less text is the box of the title
_CONTEXT_WORDS = 60  # a guess: two or three sentences
_MOST_LEVELS = 48
"""Ancestors of a heading further up are ignored: a guess, deeper than ordinary pages."""
_LONGEST_WORD = 15  # letters; text with longer words has no spaces between them
_ARIA_LEVELS = {str(level): level for level in range(1, 10)}


@dataclass(frozen=True, slots=True, eq=False)
class DocumentTree:
    """The parts of a page of B blocks.

    Parameters
    ----------
    heading : int64 (H, 2), the H headings in document order are the blocks ``heading[h, 0] .. heading[h, 1] - 1``.
    level : int64 (H,), the level of each heading, from 1 for the highest.
    section : int64 (H,), the section of each heading is the blocks ``heading[h, 1] .. section[h] - 1``: up to the
        next heading of the same or a higher level, within the element that it heads.
    near : int64 (H,), of these, the blocks ``heading[h, 1] .. near[h] - 1`` are in the smallest element around the
        heading that has text after it.
    group : int64 (G, 2), the blocks of each list, table, block of code, quote and figure, in document order:
        an outer one comes before those inside it. Those with headings inside, or with long texts such as the
        posts of a forum, are left out.
    context : int64 (G, 2), the blocks of the smallest element around each of these that has 60 more words; of the
        whole page if there is none.
    look : uint64 (G,), equal for those with the same tag and classes, and the same around them.
    is_data : bool (G,), which of these are code, tables and lists of two blocks or more, and no quotes or figures.
    """

    heading: Ints
    level: Ints
    section: Ints
    near: Ints
    group: Ints
    context: Ints
    look: U64
    is_data: NDArray[np.bool_]

    @classmethod
    def of(cls, page: Snapshot, start: Ints, end: Ints, words: F64 | Ints) -> "DocumentTree":
        """Return the parts of a page, in O(N + B) for N nodes.

        Parameters
        ----------
        start, end : int64 (B,), the text of each block is in the nodes ``start .. end - 1``; ascending.
        words : (B,), the number of words of each block.
        """
        heading, level, node = _headings(page, start, end, words)
        nodes = np.flatnonzero(has_tag(page, *_GROUPS))
        group = _blocks_in(page, start, nodes)
        first, last = group.T
        before = words_before(words)
        section, near = _sections(page, start, node, heading, level, before)
        begins = np.zeros(start.size, np.bool_)
        begins[heading[level <= LOWEST_OF_DOCUMENT, 0]] = True
        headings = counted_before(begins)
        is_code = has_tag(page, "pre")[nodes]
        is_short = is_code | (before[last] - before[first] <= _LONGEST_PART * (last - first))
        is_part = (last > first) & is_short & (headings[last] == headings[first])
        nodes, group = nodes[is_part], group[is_part]
        is_data = has_tag(page, "pre", "table")[nodes] | (
            has_tag(page, "dl", "ol", "ul")[nodes] & (group[:, 1] - group[:, 0] > 1)
        )
        context = _contexts(page, start, before, nodes)
        return cls(heading, level, section, near, group, context, looks(page, nodes), is_data)


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """The B visible blocks of a page as a document.

    Parameters
    ----------
    number : int64 (B,), their numbers among all blocks of the page.
    voice : int64 (B,), the longest text node of each.
    words : float64 (B,), the number of words of each; see `words_of`.
    tree : their headings, sections and parts.
    """

    number: Ints
    voice: Ints
    words: F64
    tree: DocumentTree


@cached_per_page
def document_of(page: Snapshot) -> Document:
    """Return the visible blocks of a page as a document."""
    blocks = page_blocks(page)
    number = np.flatnonzero(blocks.hidden == 0)
    words = words_of(blocks)[number]
    tree = DocumentTree.of(page, blocks.start[number], blocks.end[number], words)
    return Document(number, blocks.voice[number], words, tree)


def looks(page: Snapshot, nodes: Ints) -> U64:
    """Return a hash for each of the nodes, equal if they and their parents have the same tags and classes."""
    node, value = attributes_of(page).strings("class")
    label = np.zeros(len(page), np.uint64)
    label[node] = value + 1
    key = np.zeros(nodes.size, np.uint64)
    for level in (nodes, np.maximum(page.parent[nodes], 0)):
        key = combine(key, combine(label[level], page.tag[level].astype(np.uint64)))
    return key


def words_of(blocks: PageBlocks) -> F64:
    """Return the number of words of each block, (B,); without spaces, a character counts 0.625 words."""
    letters = np.array([len(text) for text in blocks.text], np.float64)
    return np.where(letters > _LONGEST_WORD * blocks.words, WORDS_PER_SINGLE * letters, blocks.words)


def words_before(words: F64 | Ints) -> F64:
    """Return the words before each of the B blocks, then the total; shape (B + 1,)."""
    return np.concatenate(([0.0], np.cumsum(words)))


def words_between(words: F64, first: Ints, last: Ints) -> F64:
    """Return the words of the blocks ``first:last`` of each of the n ranges; shape (n,)."""
    before = words_before(words)
    return np.asarray(before[last] - before[first])


def _blocks_in(page: Snapshot, start: Ints, nodes: Ints) -> Ints:
    """Return the first block in each of the elements, and the first one after it, shape (n, 2)."""
    return np.stack((np.searchsorted(start, nodes), np.searchsorted(start, page.end[nodes])), axis=1)


def _contexts(page: Snapshot, start: Ints, before: F64, nodes: Ints) -> Ints:
    """Return the blocks of the element around each of the elements that has enough words outside of it."""

    def words_in(nodes: Ints) -> F64:
        blocks = _blocks_in(page, start, nodes)
        return np.asarray(before[blocks[:, 1]] - before[blocks[:, 0]])

    wanted = words_in(nodes) + _CONTEXT_WORDS
    around = page.parent[nodes].astype(np.int64)
    for _ in range(_MOST_LEVELS):
        climbs = (around > 0) & (words_in(around) < wanted)
        if not climbs.any():
            break
        around = np.where(climbs, page.parent[around], around)
    return _blocks_in(page, start, np.maximum(around, 0))


def _headings(page: Snapshot, start: Ints, end: Ints, words: F64 | Ints) -> tuple[Ints, Ints, Ints]:
    """Return the blocks of each heading, its level and its element; the outermost one of nested headings."""
    level = _levels(page)
    node = np.flatnonzero(level)
    blocks = _blocks_in(page, start, node)
    holds = blocks[:, 1] > blocks[:, 0]
    node, blocks = node[holds], blocks[holds]
    before = words_before(words)
    long = before[blocks[:, 1]] - before[blocks[:, 0]] > _LONGEST_HEADING
    # A block that goes on after the element is no heading.
    whole = np.flatnonzero(~long & (end[blocks[:, 1] - 1] <= page.end[node]))
    reached = np.concatenate(([0], np.maximum.accumulate(page.end[node[whole]])))[:-1]
    outer = whole[node[whole] >= reached]
    return blocks[outer], level[node[outer]], node[outer]


def _levels(page: Snapshot) -> NDArray[np.int64]:
    """Return the level of each of N nodes that is a heading, 0 for all others."""
    by_tag = np.array([HEADING_LEVELS.get(name, 0) for name in page.tags], np.int64)
    level = np.where(page.kind == Kind.ELEMENT, by_tag[page.tag], 0)
    attributes = attributes_of(page)
    marked = attributes.found("role", lambda value: value.strip().lower() == "heading" or None)
    if marked:
        said = attributes.found("aria-level", lambda value: _ARIA_LEVELS.get(value.strip()))
        for node in marked:
            level[node] = said.get(node) or level[node] or _DEFAULT_LEVEL
    return level


def _sections(
    page: Snapshot, start: Ints, node: Ints, heading: Ints, level: Ints, before: F64
) -> tuple[Ints, Ints]:
    """Return the block at which the section of each heading ends, and that of the text right below it."""
    sectioning = has_tag(page, *_SECTIONING)
    boxes, in_list, in_details = has_tag(page, "section"), has_tag(page, "dl"), has_tag(page, "details")
    after = heading[:, 1]

    def climbed(ends: Callable[[Ints, Ints], NDArray[np.bool_]]) -> Ints:
        """Return the first block after the nearest element around each heading that `ends` accepts."""
        above = np.maximum(page.parent[node], 0).astype(np.int64)
        for _ in range(_MOST_LEVELS):
            climbs = (above > 0) & ~ends(above, np.searchsorted(start, page.end[above]))
            if not climbs.any():
                break
            above = np.where(climbs, np.maximum(page.parent[above], 0), above)
        return np.searchsorted(start, page.end[above])

    # The box of a title has a byline at most. A term without a definition heads nothing behind its list, and the line
    # of a closed ``details`` nothing behind that.
    is_term, is_summary = level == HEADING_LEVELS["dt"], level == HEADING_LEVELS["summary"]

    def ends(above: Ints, last: Ints) -> NDArray[np.bool_]:
        is_box = boxes[above] & (level == 1) & (before[last] - before[after] < _TITLE_BOX_WORDS)
        of_own = (in_list[above] & is_term) | (in_details[above] & is_summary)
        return np.asarray((sectioning[above] & (last > after) & ~is_box) | of_own)

    section = climbed(ends)
    begins, levels = heading[:, 0].tolist(), level.tolist()
    is_open: list[int] = []
    for number, own in enumerate(levels):
        while is_open and levels[is_open[-1]] >= own:
            closed = is_open.pop()
            section[closed] = min(section[closed], begins[number])
        is_open.append(number)
    section = np.maximum(section, after)
    return section, np.clip(climbed(lambda _, last: last > after), after, section)
