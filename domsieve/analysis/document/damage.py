"""Warn of results that a reader would not trust: headings without text, text cut before its end, garbled letters."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from domsieve.analysis.block_types.detection import nodes_aside
from domsieve.analysis.columns.batch import Bools
from domsieve.analysis.columns.missing import missing_letters
from domsieve.analysis.columns.page_blocks import page_blocks
from domsieve.analysis.columns.page_columns import has_tag, in_link
from domsieve.analysis.document.document_tree import (
    LONG_BLOCK,
    LOWEST_OF_DOCUMENT,
    Document,
    document_of,
    words_between,
    words_of,
)
from domsieve.analysis.verdict import PageWarning, Verdict
from domsieve.budget import spending
from domsieve.snapshot.page import Snapshot

# Guesses that readers of real pages agreed with.
_FEWEST_EMPTY, _LEAST_EMPTY = 2, 1 / 3  # headings, and their share
_SHORTEST_CUT, _LEAST_CUT = 60, 0.25  # words, and their share of those that are kept
_MOST_HIDDEN = 0.5
_LEAST_RUNNING = 60  # words of hidden paragraphs; fewer may be one notice
_FEWEST_MISSING = 15  # letters, as for doubt about pictures
_LEAST_GARBLED = 0.02


def with_warnings(page: Snapshot, verdict: Verdict) -> Verdict:
    """Return a final verdict with warnings of damage, in O(N); the expected F1 falls by the share of garbled letters.

    Verdicts that keep all text or no text get none but of text that may be missing.

    Raises
    ------
    BudgetError : the page has used its budget.
    """
    with spending("warnings", page.provenance.url):
        missing = [*_missing(page, verdict)]
        if not verdict.may_be_refined or not verdict.kept.any():
            return replace(verdict, warnings=tuple(missing)) if missing else verdict
        garbled, expected = garbled_share(page, verdict), verdict.expected_f1
        return replace(
            verdict,
            warnings=(*_warnings(page, verdict, garbled), *missing),
            expected_f1=None if expected is None else expected * (1 - garbled),
        )


def _missing(page: Snapshot, verdict: Verdict) -> Iterator[PageWarning]:
    """Yield a warning if rules and pictures disagree on text, or pictures show text that no result has."""
    if verdict.parameters.get("hidden") != "pixels":
        return
    missing = missing_letters(page)
    if sum(missing) >= _FEWEST_MISSING:
        why = (
            (missing.by_rules, "rules drop what pictures may show"),
            (missing.by_pictures, "pictures do not show what rules keep"),
            (missing.added, "style sheets show or add words"),
        )
        said = ", ".join(f"{reason} ({letters:,} letters)" for letters, reason in why if letters)
        yield PageWarning(kind="text_missing", detail=f"Text may be missing: {said}.")


def _warnings(page: Snapshot, verdict: Verdict, garbled: float) -> Iterator[PageWarning]:
    document = document_of(page)
    kept = verdict.kept[document.voice]
    empty, headings = _empty_headings(document, kept)
    if empty >= max(_FEWEST_EMPTY, _LEAST_EMPTY * headings):
        yield PageWarning(
            kind="headings_without_text",
            detail=f"{empty} of {headings} headings are kept without the text below them.",
        )
    if cut := _words_cut(page, document, kept):
        yield PageWarning(
            kind="text_cut",
            detail=f"The text is cut before its end: {cut:,} words of the paragraphs that follow are dropped.",
        )
    hidden = hidden_part(page)
    if hidden.share > _MOST_HIDDEN and hidden.is_content_like and verdict.parameters.get("hidden") != "keep":
        way = "Keep it with --hidden keep" if page.has_layout else "Render the page, or use --hidden keep"
        yield PageWarning(
            kind="hidden_content",
            detail=f"{hidden.hidden:,} of {hidden.words:,} words are hidden and read like content. {way}.",
        )
    if garbled >= _LEAST_GARBLED:
        yield PageWarning(
            kind="garbled_text",
            detail=f"The page was read in a wrong encoding: {garbled:.0%} of its letters are garbled.",
        )


def _empty_headings(document: Document, kept: Bools) -> tuple[int, int]:
    """Return how many kept headings have a section of which nothing is kept, and how many are kept."""
    tree = document.tree
    first, after = tree.heading.T
    is_kept = kept[first] & (tree.level <= LOWEST_OF_DOCUMENT)
    words, kept_words = (
        words_between(column, after, tree.section) for column in (document.words, document.words * kept)
    )
    return int((is_kept & (words >= LONG_BLOCK) & (kept_words == 0)).sum()), int(is_kept.sum())


def _words_cut(page: Snapshot, document: Document, kept: Bools) -> int:
    """Return the number of words of paragraphs that follow kept ones in the same element; 0 for few."""
    around, words = page_blocks(page).around[document.number], document.words
    paragraph = np.flatnonzero(has_tag(page, "p")[around] & (words >= LONG_BLOCK))
    if not paragraph.size or kept[paragraph].all():
        return 0
    paragraph = paragraph[~nodes_aside(page)[document.voice[paragraph]]]
    _, of = np.unique(page.parent[around[paragraph]], return_inverse=True)
    is_kept = kept[paragraph]
    last = np.full(of.max(initial=-1) + 1, -1)
    np.maximum.at(last, of[is_kept], np.flatnonzero(is_kept))
    follows = ~is_kept & (last[of] >= 0) & (np.arange(of.size) > last[of])
    cut = np.bincount(of, words[paragraph] * follows)
    left = np.bincount(of, words[paragraph] * is_kept)
    return int(cut[cut >= np.maximum(_SHORTEST_CUT, _LEAST_CUT * left)].sum())


@dataclass(frozen=True, slots=True)
class HiddenPart:
    """How much of a page is hidden.

    Parameters
    ----------
    words, hidden : numbers of words on the page, and of those that are hidden. Text in elements that browsers never
        show, such as ``script``, does not count.
    is_content_like : most of the hidden words are in paragraphs of 15 or more words without links, and these have 60
        words or more.
    """

    words: int
    hidden: int
    is_content_like: bool

    @property
    def share(self) -> float:
        """Share of the page's words that are hidden, in [0, 1]; 0 for a page without words."""
        return self.hidden / self.words if self.words else 0.0


def hidden_part(page: Snapshot) -> HiddenPart:
    """Return how much of a page's text is hidden, and whether it reads like content."""
    blocks = page_blocks(page)
    words, hidden = words_of(blocks), blocks.hidden > 0
    if not hidden.any():
        return HiddenPart(int(words.sum()), 0, is_content_like=False)
    running = words[hidden & ~in_link(page)[blocks.voice] & (words >= LONG_BLOCK)].sum()
    total = words[hidden].sum()
    return HiddenPart(int(words.sum()), int(total), bool(running >= max(_LEAST_RUNNING, total / 2)))


_MOST_CHARACTERS = 20_000
_MISREAD = re.compile("[\u00c2-\u00f4][\u0080-\u00bf\u0152-\u0178\u2013-\u203a\u20ac\u2122]{1,3}")
"""UTF-8 that was read as windows-1252 or ISO 8859-1."""
_ODD = re.compile("[\ufffd\u0080-\u009f]")
_LATIN_1 = re.compile("[\u00a1-\u00ff]")
_IDEOGRAPHS = re.compile("[\u4e00-\u9fff]+")
_ASCII = bytes(range(128))
_LEAST_LATIN_1 = 0.4  # no language has as many letters of this kind
_LEAST_READABLE = 0.5


def garbled_share(page: Snapshot, verdict: Verdict) -> float:
    """Return the share of the characters of the kept text that are from a wrong encoding, in [0, 1]."""
    nodes = np.flatnonzero(verdict.kept & (page.text >= 0))
    text = "".join(page.strings.take(page.text[nodes].tolist()))[:_MOST_CHARACTERS]
    if text.isascii():
        return 0.0
    size = len(text) - sum(map(text.count, " \n\t"))
    # Most of a text is ASCII, and deleting that is ten times as fast as searching it.
    wide = text.encode("utf-8", "replace").translate(None, _ASCII).decode()
    garbled = len(_ODD.findall(wide))
    if _MISREAD.search(wide):
        garbled += sum(map(len, _MISREAD.findall(text)))
    latin = len(_LATIN_1.findall(wide))
    garbled = max(garbled, latin if latin > _LEAST_LATIN_1 * size else 0)
    ideographs = "".join(_IDEOGRAPHS.findall(wide))
    # UTF-8 that was read as GB 18030 can be read again. Chinese cannot be read as UTF-8.
    again = ideographs.encode("gb18030").decode("utf-8", "ignore")
    if len(again.encode()) > _LEAST_READABLE * len(ideographs.encode("gb18030")):
        garbled += len(ideographs)
    return min(garbled / size, 1.0) if size else 0.0
