"""The column of a Snapshot that says which of its texts can be seen in pictures of the page; few have it."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from domsieve.snapshot.page import PIXELS, UNPICTURED, Snapshot
from domsieve.snapshot.strings import StringTable

LEAST_SLOT = 1.0, 0.5
"""Text can be read in a box that scrolls if this shows so much at once: width and height in sizes of a letter."""

# Words of more letters may show in part; of all, so many letters in a row are cut out. Guesses.
_LONGEST, _FEWEST_CUT = 20, 4
# What pictures say of texts: the whole word, or the beginning of a word with numbers.
_UNSURE, _SEEN, _IN_PART, _CUT = "unsure", "seen", "seen ", "cut "


def has_pixels(page: Snapshot) -> bool:
    """Return whether pictures of the page were taken, which say what can be seen, or failed."""
    return PIXELS in page.style_names


def sights(page: Snapshot, nodes: NDArray[np.intp]) -> NDArray[np.str_]:
    """Return what pictures say of some nodes of a page that has them; "" for all but texts."""
    rows = page.styles[page.style[nodes], page.style_names.index(PIXELS)]
    return np.array(page.strings.take(rows.tolist()), np.str_)


def are_seen(sights_: NDArray[np.str_]) -> NDArray[np.bool_]:
    """Return which of some `sights` are of texts that pictures show, whole or in part."""
    return np.char.startswith(sights_, _SEEN)


def is_unpictured(page: Snapshot) -> bool:
    """Return whether pictures of the page failed, so that layout decides on all or some of its texts."""
    return UNPICTURED in _said(page)


def unsure_texts(page: Snapshot) -> int:
    """Return the number of texts of which pictures do not say whether they can be seen; 0 without pictures.

    They count as hidden, but where pictures failed, layout decides.
    """
    if not (said := _said(page)):
        return 0
    unsure = np.array([value in {_UNSURE, UNPICTURED} for value in said])[page.style]
    texts = page.strings.take(page.text[unsure & (page.text >= 0)].tolist())
    return sum(1 for text in texts if text.strip())


def with_seen_texts(page: Snapshot) -> Snapshot:
    """Return the page with its texts cut to what its pictures show of them; the page itself if they show all.

    `cut_words` counts the words that do not show, or not whole.
    """
    said, text_of = _said(page), {}
    for node in np.flatnonzero(page.text >= 0).tolist() if said else ():
        if (word := said[page.style[node]]).startswith(_IN_PART):
            ranges = [part.split("-") for part in word[len(_IN_PART) :].split()]
            text_of[node] = _cut(page.text_of(node), [(int(first), int(end)) for first, end in ranges])
    if not text_of:
        return page
    strings, text, style = page.strings.to_list(), page.text.copy(), page.style.copy()
    rows = page.styles[style[[*text_of]]]
    for number, (node, (kept, dropped)) in enumerate(text_of.items()):
        text[node], rows[number, page.style_names.index(PIXELS)] = len(strings), len(strings) + 1
        style[node] = len(page.styles) + number
        strings += kept, f"{_CUT}{dropped}"
    return replace(
        page,
        text=text,
        style=style,
        styles=np.concatenate((page.styles, rows)),
        strings=StringTable.from_strings(strings),
    )


def cut_words(page: Snapshot) -> NDArray[np.int64]:
    """Return the number of words that `with_seen_texts` has cut from each of the N nodes of a page."""
    if not (said := _said(page)):
        return np.zeros(len(page), np.int64)
    words = [int(value[len(_CUT) :]) if value.startswith(_CUT) else 0 for value in said]
    return np.array(words, np.int64)[page.style]


def _said(page: Snapshot) -> list[str]:
    """Return what pictures say of nodes with each row of styles, and of those without; empty without pictures."""
    if not has_pixels(page):
        return []
    return [*page.strings.take(page.styles[:, page.style_names.index(PIXELS)].tolist()), ""]


def _cut(text: str, ranges: Sequence[tuple[int, int]]) -> tuple[str, int]:
    """Return the words of a text that are in ranges, and the number of the others.

    Of a long word, which may be several that something joins, or a sentence, runs of letters are cut out.
    """
    kept, space, letters, dropped = [], "", 0, 0
    for is_space, run in groupby(text, str.isspace):
        word = "".join(run)
        if is_space:
            space = word
            continue
        end = letters + len(word)
        seen = [(first - letters, last - letters) for first, last in ranges if first < end and last > letters]
        shown = _shown(word, [(max(first, 0), min(last, len(word))) for first, last in seen])
        if shown:
            kept.append(space + shown)
        dropped += shown != word
        letters = end
    return "".join(kept) + (space if text[-1:].isspace() else ""), dropped


def _shown(word: str, seen: Sequence[tuple[int, int]]) -> str:
    """Return what shows of a word, most of it if it is short, of which some letters are seen."""
    shown = "".join(word[first:last] for first, last in seen)
    if not any(map(str.isalnum, shown)):
        return shown
    if len(word) <= _LONGEST and 2 * len(shown) <= len(word):
        return ""
    found, begin = [], 0
    for first, last in [*seen, (len(word), len(word))] if seen else ():
        gap = word[begin:first]
        # Letters between signs are a word of their own.
        beside = word[:begin][-1:] + word[first:][:1]
        is_word = any(map(str.isalnum, gap)) and not any(map(str.isalnum, beside))
        if len(gap) < _FEWEST_CUT and not is_word:
            found.append(gap)
        found.append(word[first:last])
        begin = last
    return "".join(found)


def without_pixels(page: Snapshot) -> Snapshot:
    """Return the page without what pictures say of it; the page itself if it has no such column."""
    if not has_pixels(page):
        return page
    at = page.style_names.index(PIXELS)
    names = page.style_names[:at] + page.style_names[at + 1 :]
    return replace(page, style_names=names, styles=np.delete(page.styles, at, axis=1))
