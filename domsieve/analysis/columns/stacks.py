"""Texts that lie on other texts, such as all the words of a sentence in one cell of a grid."""

import numpy as np

from domsieve.analysis.columns.batch import F64, Bools, Ints
from domsieve.analysis.columns.covers import Covers
from domsieve.analysis.columns.page_columns import page_texts
from domsieve.analysis.columns.rectangles import intersection
from domsieve.analysis.columns.scene import Scene
from domsieve.budget import check
from domsieve.snapshot.contrast import contrast

# Letters of about one size and colour, and so strong, cannot be told apart.
_MOST_SIZES, _MOST_CONTRAST, _LEAST_ALPHA = 1.1, 64.0, 0.7
# Texts of one line are on each other if their middles are so near, in sizes of a letter, and the other is over so
# much of the one; longer ones, if they have the same place. Of others, lines go around each other.
_NEAR, _LEAST_OVER, _SAME_PLACE, _ONE_LINE = 0.1, 0.8, 0.9, 1.9
# A text has so many letters, and is no wider than so many sizes of each, and the space between them: words far apart
# have gaps, in which others can be read.
_FEWEST_LETTERS, _MOST_WIDTH = 3, 1.2
SPACED = 0.4
"""With so much ``letter-spacing``, in sizes of a letter, others have room between the letters."""

_MOST_DEPTH = 64  # of elements that are looked at around a text
# Each text is compared with so many whose tops follow its own.
_MOST_COMPARED = 64


def are_stacked(
    scene: Scene, covers: Covers, text: Ints, letters: F64, letter: F64, ink: F64, owner: Ints
) -> Bools:
    """Return which texts lie on others, of about the same size and colour, with no ground between them.

    Parameters
    ----------
    text : texts that can be seen.
    letters, letter : how many letters each has, and their size in px.
    ink : the colours of the letters (n, 4).
    owner : the elements that paint their grounds, -1 for the page.
    """
    node, above = scene.node, scene.page.parent[text].astype(np.int64)
    size = scene.rect[text, 2:] - scene.rect[text, :2]
    spacing = np.maximum(node.spacing_px[text], 0.0)
    is_spaced = spacing >= SPACED * letter
    usable = (letters >= _FEWEST_LETTERS) & (size[:, 0] <= (_MOST_WIDTH * letter + spacing) * letters)
    usable &= ~node.in_drawing[text] & ~scene.is_turned(above) & (node.shadow_number[text] == 0)
    usable &= (node.outline[text, 3] == 0) & (scene.effect_of[above] < 0) & (scene.shade_of[above] < 0)
    usable &= ink[:, 3] * scene.opacity[above] >= _LEAST_ALPHA
    found, at = np.zeros(text.size, np.bool_), np.flatnonzero(usable)
    left = intersection(scene.clip[above[at]], scene.rect[text[at]])
    pairs = _pairs(left, letter[at])
    first, second = at[pairs[0]], at[pairs[1]]
    # What is scrolled on its own goes away from the other.
    same = (scene.mover[above[first]] == scene.mover[above[second]]) & (owner[first] == owner[second])
    same &= scene.scroller_of[above[first]] == scene.scroller_of[above[second]]
    same &= contrast(ink[first, :3], ink[second, :3]) <= _MOST_CONTRAST
    first, second, over = first[same], second[same], pairs[2][:, same]
    if not first.size:
        return found
    these = np.unique(np.concatenate((first, second)))
    is_bare = np.zeros(text.size, np.bool_)
    behind = covers.behind(text[these], owner[these], np.ones(len(scene.page), np.bool_))
    is_bare[these] = behind[:, 0] < 0
    words = dict(zip(these.tolist(), map(_plain, page_texts(scene.page).of(text[these])), strict=True))
    for one, other, share, back in zip(first.tolist(), second.tolist(), *over.tolist(), strict=True):
        short, long = sorted((words[one], words[other]), key=len)
        # The same letters on each other look bold.
        if (
            not long.startswith(short)
            and is_bare[[one, other]].all()
            and (is_spaced[[one, other]].all() or _are_laid(scene, text[[one, other]]))
        ):
            found[one] |= share >= _LEAST_OVER
            found[other] |= back >= _LEAST_OVER
    return found


def _are_laid(scene: Scene, pair: Ints) -> bool:
    """Return whether styles lay two texts on each other, and nothing blurs the lower one.

    Without style sheets, boxes that are too low lie on each other.
    """
    page, node = scene.page, scene.node
    low, high = sorted(pair.tolist())
    is_moved = False
    for one in (low, high):
        at = int(page.parent[one])
        for _ in range(_MOST_DEPTH):
            if at <= low and page.end[at] > high:
                break
            if node.backdrop_number[at]:
                return False
            is_moved |= bool(node.is_placed[at] or node.is_transformed[at])
            at = int(page.parent[at])
        else:
            return False
    return is_moved or page.computed_style(at).get("display", "").endswith("grid")


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _pairs(rect: F64, letter: F64) -> tuple[Ints, Ints, F64]:
    """Return pairs of rectangles that are on each other, and how much of each is in the other (2, pairs)."""
    order = np.lexsort((rect[:, 0], rect[:, 1]))
    rect, letter = rect[order], letter[order]
    size = np.maximum(rect[:, 2:] - rect[:, :2], 0)
    middle, area = (rect[:, 1] + rect[:, 3]) / 2, np.maximum(size.prod(axis=1), 1e-9)
    is_line = size[:, 1] <= _ONE_LINE * letter
    found: list[tuple[Ints, Ints, F64]] = []
    for step in range(1, min(_MOST_COMPARED, len(order))):
        check()
        shared = intersection(rect[:-step], rect[step:])
        shared_size = np.maximum(shared[:, 2:] - shared[:, :2], 0)
        over = shared_size.prod(axis=1) / np.stack((area[:-step], area[step:]))
        lines = is_line[:-step] & is_line[step:] & (over.max(axis=0) >= _LEAST_OVER)
        lines &= np.abs(middle[:-step] - middle[step:]) <= _NEAR * letter[:-step]
        sizes = letter[:-step] / np.maximum(letter[step:], 1e-9)
        same = np.maximum(sizes, 1 / np.maximum(sizes, 1e-9)) <= _MOST_SIZES
        at = np.flatnonzero((lines | (over.min(axis=0) >= _SAME_PLACE)) & same)
        found.append((order[at], order[at + step], over[:, at]))
        if not (rect[step:, 1] < rect[:-step, 3]).any():
            break
    if not found:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((2, 0))
    first, second, shares = zip(*found, strict=True)
    return np.concatenate(first), np.concatenate(second), np.concatenate(shares, axis=1)
