"""Letters that style sheets put between those of words, so that readers see other words."""

import numpy as np

from domsieve.analysis.columns.batch import F64, Bools, Ints
from domsieve.analysis.columns.page_columns import page_texts
from domsieve.analysis.columns.scene import Scene
from domsieve.analysis.columns.spread import grouped, paragraphs
from domsieve.budget import check
from domsieve.snapshot.page import Kind

# So many pieces with others on both sides are no accident. Each is compared with so many that begin where it ends.
_FEWEST, _MOST_COMPARED = 3, 16


def are_infixed(scene: Scene, text: Ints, letter: F64) -> Bools:
    """Return which texts stand between letters of style sheets in a word, or have these between their own.

    Parameters
    ----------
    text : texts that have boxes, in document order.
    letter : the size of their letters in px.
    """
    page, found = scene.page, np.zeros(text.size, np.bool_)
    is_generated = page.kind[page.parent[text]] == Kind.PSEUDO
    at = np.flatnonzero(is_generated)
    said = page_texts(page).of(text[at])
    is_generated[at] = [one[:1].isalpha() or one[-1:].isalpha() for one in said]
    if np.count_nonzero(is_generated) < _FEWEST:
        return found
    of = np.unique(paragraphs(scene, text), return_inverse=True)[1]
    usable = (np.bincount(of, is_generated) >= _FEWEST)[of]
    at = np.flatnonzero(usable)
    for some in grouped(at, of[at]):
        found[some] = _are_between(
            scene.rect[text[some]], is_generated[some], letter[some], page_texts(page).of(text[some])
        )
    return found


def _are_between(rect: F64, is_generated: Bools, letter: F64, words: list[str]) -> Bools:
    """Return which pieces of a paragraph touch letters of the other kind; none if few do so on both sides."""
    left, top = np.round(rect[:, 0]), rect[:, 1]
    order = np.lexsort((top, left))
    left, top = left[order], top[order]
    before, after = np.zeros((2, len(rect)), np.bool_)
    for one, right in enumerate(np.round(rect[:, 2]).tolist()):
        check()
        for column in (right - 1, right, right + 1):
            first, last = np.searchsorted(left, column), np.searchsorted(left, column, "right")
            near = rect[one, 1] + letter[one] * np.array([-1.0, 1.0])
            begin, end = first + np.searchsorted(top[first:last], near)
            for other in order[begin : min(end, begin + _MOST_COMPARED)].tolist():
                shared = min(rect[one, 3], rect[other, 3]) - max(rect[one, 1], rect[other, 1])
                if is_generated[one] == is_generated[other] or shared < letter[one] / 2:
                    continue
                if words[one][-1:].isalpha() and words[other][:1].isalpha():
                    after[one] = before[other] = True
    if np.count_nonzero(before & after) < _FEWEST:
        return np.zeros(len(rect), np.bool_)
    return before | after
