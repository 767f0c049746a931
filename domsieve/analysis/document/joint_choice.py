"""Decide on the parts of a document together: a heading with its section, a list or table as a whole."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.block_types.detection import nodes_aside
from domsieve.analysis.columns.batch import F64, Bools, Ints, painted, prune
from domsieve.analysis.columns.page_blocks import page_blocks
from domsieve.analysis.columns.visible import shown_nodes
from domsieve.analysis.document.document_tree import (
    HEADING_LEVELS,
    LOWEST_OF_DOCUMENT,
    DocumentTree,
    document_of,
    words_before,
    words_between,
)
from domsieve.analysis.document.other_content import comments_on_article, related_after_end, repeats
from domsieve.analysis.verdict import Verdict
from domsieve.budget import spending
from domsieve.snapshot.page import Kind, Snapshot

CAUSES = (
    "heading of kept text",
    "heading of dropped text",
    "part of kept text",
    "within kept text",
    "repeats kept text",
    "related pages after the end",
    "readers' comments on an article",
    "section of kept heading",
)
"""Why the structure of the document changed the decision on a block."""
(
    _HEADING_OF_KEPT,
    _HEADING_OF_DROPPED,
    _PART_OF_KEPT,
    _IN_KEPT_TEXT,
    _REPEATS,
    _RELATED,
    _COMMENTS,
    _SECTION,
) = range(1, len(CAUSES) + 1)

# Chosen on pages of whole sites and of WCXB. From 30 to 100 words, and for a share from .3 to .6, little changes.
_WORDS_BELOW = 60
_LEAST_KEPT = 0.5
# The least shares of the words and of the blocks of a part. Posts of forums lie in lists and tables, one long text
# among many names and numbers. Without probabilities, nothing tells a menu in a layout table from a cell.
_LEAST_OF_PART, _LEAST_OF_PART_ALONE = (0.5, 1 / 3), (0.7, 0.6)
_LEAST_AROUND, _MAYBE_CONTENT = 0.75, 0.15
_SURELY_BOILERPLATE = 0.05
_SURELY_CONTENT = 0.5
_LEAST_ALIKE = 0.5
_MOST_ASIDE = 0.5
_QUESTIONS = 3


@dataclass(frozen=True, slots=True, eq=False)
class JointChoice:
    """The decision on B blocks.

    Parameters
    ----------
    kept : bool (B,), which blocks to keep.
    cause : uint8 (B,), 1 + the index in `CAUSES` of the reason for which the decision changed; 0 if it did not.
    """

    kept: Bools
    cause: NDArray[np.uint8]


def parts_in_text(tree: DocumentTree, words: F64, kept: Bools, probability: F64) -> Bools:
    """Return which lists, tables and blocks of code are within kept text and may be content themselves; bool (G,).

    Three quarters of the words around them must be kept, and some text before them, so that no menu counts. Their
    mean probability must be .15 or more. Tables and lists have few sentences, so each of their blocks alone looks
    less like content than the text around them. Parts with the same classes, such as what posts say of their authors,
    are kept only if half of them pass.

    Parameters
    ----------
    tree, words, kept, probability : as for `choose_together`.
    """
    inside, around = tree.group.T, tree.context.T
    own, kept_own = (words_between(column, *inside) for column in (words, words * kept))
    other, kept_other = (words_between(column, *around) for column in (words, words * kept))
    with np.errstate(invalid="ignore"):
        share = (kept_other - kept_own) / (other - own)
    may_be = _share(words, probability, tree.group) >= _MAYBE_CONTENT
    follows = words_before(words * kept)[inside[0]] > 0
    found = tree.is_data & may_be & follows & (share >= _LEAST_AROUND)
    _, alike = np.unique(tree.look, return_inverse=True)
    most = np.bincount(alike, found) >= _LEAST_ALIKE * np.bincount(alike, tree.is_data)
    return np.asarray(found & most[alike])


def choose_together(
    tree: DocumentTree,
    words: F64,
    kept: Bools,
    probability: F64 | None = None,
    in_text: Bools | None = None,
    gone: Bools | None = None,
    by_site: bool = False,
) -> JointChoice:
    """Return the choice in which the parts of a document are kept together, in O(B + parts).

    A list, table, block of code, quote or figure is kept if at least half of its words and a third of its blocks are,
    without what surely is boilerplate. (Without probabilities, .7 of its words and .6 of its blocks.) Then a heading
    is kept if at least half of the next 60 words of its section are, or of the text right below it. It is dropped if
    nothing of its section is kept, unless it looks like content itself, as the titles in a list of articles do. The
    line of a closed ``details`` is dropped, unless there are three or more, which may be questions. A heading with
    nothing but headings below goes with them.

    Text that many pages of a site share looks like boilerplate to methods that learn from the site, also "Exceptions:
    none" in a reference. So a short section of such a page is kept if its heading is, text before it and the next
    heading are, and its mean probability is .15 or more. On pages that are judged alone this would add cards of other
    pages and prices.

    Parameters
    ----------
    tree : the parts of the page.
    words : (B,), the number of words of each block.
    kept : (B,), which blocks the method keeps one by one.
    probability : (B,), how likely each block is content, in [0, 1]; None if the method does not say.
    in_text : (G,), which parts are kept because they are within kept text; see `parts_in_text`.
    gone : (B,), which blocks were dropped before, such as repeats: a heading of nothing else goes with them.
    by_site : whether the probabilities come from several pages of the site.
    """
    may_be_kept = np.ones(kept.size, np.bool_) if probability is None else probability >= _SURELY_BOILERPLATE
    may_be_dropped = np.ones(kept.size, np.bool_) if probability is None else probability < _SURELY_CONTENT
    chosen, cause = kept.copy(), np.zeros(kept.size, np.uint8)

    def change(ranges: Ints, allowed: Bools, *, keep: bool, why: int) -> None:
        changed = _inside(ranges, kept.size) & allowed & (chosen != keep)
        chosen[changed], cause[changed] = keep, why

    of_words, of_blocks = _LEAST_OF_PART_ALONE if probability is None else _LEAST_OF_PART
    by_words = _share(words, kept, tree.group) >= of_words
    by_blocks = _share(np.ones(kept.size), kept, tree.group) >= of_blocks
    change(_outermost(tree.group[by_words & by_blocks]), may_be_kept, keep=True, why=_PART_OF_KEPT)
    if in_text is not None:
        change(_outermost(tree.group[in_text]), may_be_kept, keep=True, why=_IN_KEPT_TEXT)
    below = words.copy()
    below[_inside(tree.heading, words.size)] = 0
    after = tree.heading[:, 1]
    before = words_before(below)
    near = np.minimum(np.searchsorted(before, before[after] + _WORDS_BELOW), tree.section)
    section = np.stack((after, tree.section), axis=1)
    share = np.fmax(
        _share(below, chosen, np.stack((after, near), axis=1)),
        _share(below, chosen, np.stack((after, tree.near), axis=1)),
    )
    of_section = _share(below, chosen, section)
    change(tree.heading[share >= _LEAST_KEPT], may_be_kept, keep=True, why=_HEADING_OF_KEPT)
    change(tree.heading[of_section == 0], may_be_dropped, keep=False, why=_HEADING_OF_DROPPED)
    if gone is not None:
        repeated = (of_section == 0) & (_share(below, gone, section) >= _LEAST_KEPT)
        change(tree.heading[repeated], np.ones_like(kept), keep=False, why=_HEADING_OF_DROPPED)
    closed = tree.heading[np.isnan(of_section) & (tree.level == HEADING_LEVELS["summary"])]
    if len(closed) < _QUESTIONS:
        change(closed, np.ones_like(kept), keep=False, why=_HEADING_OF_DROPPED)
    of_headings = np.isnan(of_section) & (_share(words, chosen, section) >= _LEAST_KEPT)
    change(tree.heading[of_headings], may_be_kept, keep=True, why=_HEADING_OF_KEPT)
    if by_site and probability is not None:
        change(_lone_sections(tree, below, chosen, probability), may_be_kept, keep=True, why=_SECTION)
    return JointChoice(chosen, cause)


def _lone_sections(tree: DocumentTree, below: F64, chosen: Bools, probability: F64) -> Ints:
    """Return the outermost short sections (n, 2) within kept text of which only the heading is kept."""
    after, end = tree.heading[:, 1], tree.section
    section = np.stack((after, end), axis=1)
    size = words_between(below, after, end)
    of_document = tree.level <= LOWEST_OF_DOCUMENT
    begins = np.zeros(chosen.size + 1, np.bool_)
    begins[tree.heading[of_document, 0]] = True
    begins[:-1] &= chosen
    lone = (
        of_document
        & chosen[tree.heading[:, 0]]
        & (size > 0)
        & (size <= _WORDS_BELOW)
        & (words_between(below * chosen, after, end) == 0)
        & begins[end]
        & (words_before(below * chosen)[after] > 0)
        & (_share(below, probability, section) >= _MAYBE_CONTENT)
    )
    return _outermost(section[lone])


def _share(words: F64, kept: Bools | F64, ranges: Ints) -> F64:
    """Return the share of the words in each range (n, 2) of blocks that is kept; NaN for ranges without words."""
    first, last = ranges.T
    with np.errstate(invalid="ignore"):
        return np.asarray(words_between(words * kept, first, last) / words_between(words, first, last))


def _outermost(ranges: Ints) -> Ints:
    """Return the ranges (n, 2) that are in no other; they are nested or apart, and outer ones come first."""
    reached = np.concatenate(([0], np.maximum.accumulate(ranges[:, 1])[:-1])) if len(ranges) else ranges[:, 1]
    return np.asarray(ranges[ranges[:, 0] >= reached])


def _inside(ranges: Ints, blocks: int) -> Bools:
    """Return which blocks are in one of the ranges (n, 2), which are in order and apart."""
    return painted(ranges[:, 0], ranges[:, 1], np.ones(len(ranges), np.bool_), size=blocks, ground=False)


def with_structure(page: Snapshot, verdict: Verdict) -> Verdict:
    """Return the verdict with the visible parts of the document kept together; see `choose_together`.

    Before that, text that appears a second time is dropped, and so are related pages after the end of the text and
    readers' comments on an article.

    Texts whose decision changes get a reason and the number ``by_structure``: 1 for kept and -1 for dropped. Verdicts
    of method ``"none"``, of mode ``"paper"`` and of the complement of a region are returned unchanged.

    Raises
    ------
    BudgetError : the page has used its budget.
    """
    if not verdict.may_be_refined or not verdict.kept.any():
        return verdict
    with spending("structure", page.provenance.url):
        blocks, document = page_blocks(page), document_of(page)
        tree, words, voice = document.tree, document.words, document.voice
        kept = verdict.kept[voice]
        cause = np.zeros(words.size, np.uint8)
        cause[repeats(page, document, kept)] = _REPEATS
        cause[related_after_end(page, document, kept & (cause == 0))] = _RELATED
        cause[comments_on_article(page, document, kept & (cause == 0))] = _COMMENTS
        kept = kept & (cause == 0)
        likely, in_text = None, None
        if verdict.method == "auto":
            likely = verdict.score[voice].astype(np.float64)
            in_text = parts_in_text(tree, words, kept, likely)
            if in_text.any():
                in_text &= ~(_share(words, nodes_aside(page)[voice], tree.group) > _MOST_ASIDE)
        of_site = "by_site" in verdict.numbers
        choice = choose_together(tree, words, kept, likely, in_text, cause > 0, of_site)
        cause = np.where(cause > 0, cause, choice.cause)
        if not cause.any():
            return verdict
        of_block = np.zeros(len(blocks), np.uint8)
        of_block[document.number] = cause
        return _changed(page, verdict, blocks.node, of_block[blocks.block])


def _changed(page: Snapshot, verdict: Verdict, node: Ints, cause: NDArray[np.uint8]) -> Verdict:
    """Return the verdict with the decision on each of the text nodes (M,) changed that has a cause (M,)."""
    node, cause = node[cause > 0], cause[cause > 0]
    keeps = np.isin(cause, (_HEADING_OF_KEPT, _PART_OF_KEPT, _IN_KEPT_TEXT, _SECTION))
    before = verdict.kept & (page.kind == Kind.TEXT)
    content = before.copy()
    content[node] = keeps
    was_around, is_around = prune(before, page.end), prune(content, page.end)
    gone, new = was_around & ~is_around, is_around & ~was_around
    kept = (verdict.kept & ~gone) | is_around
    # Elements without content, such as images and line breaks, go with the element around them.
    alone = np.flatnonzero((page.end == np.arange(1, len(page) + 1)) & (page.kind == Kind.ELEMENT))
    parent = page.parent[alone]
    kept[alone[gone[parent]]] = False
    kept[alone[new[parent] & shown_nodes(page)[alone]]] = True
    reason = verdict.reason.copy()
    reason[node] = len(verdict.reasons) + cause - 1
    by_structure = np.full(len(page), np.nan, np.float32)
    by_structure[node] = np.where(keeps, 1, -1)
    return replace(
        verdict,
        kept=kept,
        reason=reason,
        reasons=(*verdict.reasons, *CAUSES),
        numbers={**verdict.numbers, "by_structure": by_structure},
    )
