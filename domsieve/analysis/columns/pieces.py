"""Words that narrow columns, or short lines that go down, cut into pieces which stand side by side."""

import unicodedata

import numpy as np

from domsieve.analysis.columns.batch import F64, Bools, Ints, below
from domsieve.analysis.columns.page_columns import page_texts
from domsieve.analysis.columns.paint_styles import LEAST_PX, USUAL_LINE
from domsieve.analysis.columns.scene import Scene
from domsieve.budget import check

# Nobody reads rows of pieces of two or three letters: so many lines that go down, of no more letters in the mean, and
# so many for each word; or of so many letters in columns no wider than so many sizes of these. By eye.
_FEWEST_LINES, _MOST_LETTERS, _LINES_PER_WORD = 4, 3.5, 1.4
_FEWEST_LETTERS, _MOST_WIDTH = 8, 2.0
# The least width of a letter, in sizes.
_LETTER = 0.4


def are_in_pieces(scene: Scene, text: Ints, letters: F64) -> Bools:
    """Return which texts are cut into pieces of two or three letters that stand side by side.

    Ideographs are read so.

    Parameters
    ----------
    text : texts that have boxes.
    letters : how many letters each has.
    """
    node = scene.node
    size, letter = scene.rect[text, 2:] - scene.rect[text, :2], np.maximum(node.letter_px[text], LEAST_PX)
    line = np.where(np.isfinite(node.line_px[text]), node.line_px[text], USUAL_LINE * letter)
    line = np.maximum(line, LEAST_PX)
    level = node.is_level[text]
    lines = size[:, 0] / line
    goes_down = ~level & (lines >= _FEWEST_LINES) & (letters <= _MOST_LETTERS * lines)
    is_narrow = level & (size[:, 0] <= _MOST_WIDTH * letter)
    found = goes_down | _in_columns(scene, text, letters, is_narrow, size / np.stack((letter, line), axis=1))
    at = np.flatnonzero(found)
    for place, said in zip(at.tolist(), page_texts(scene.page).of(text[at]), strict=True):
        is_broken = not goes_down[place] or lines[place] >= _LINES_PER_WORD * len(said.split())
        wide = sum(unicodedata.east_asian_width(one) in {"W", "F"} for one in said)
        found[place] = is_broken and wide <= letters[place] / 2
    return np.asarray(found)


def _in_columns(scene: Scene, text: Ints, letters: F64, is_narrow: Bools, size: F64) -> Bools:
    """Return which texts go on in other columns of a box in which all texts are narrow.

    The box of a text is that of its part in the first column, so it may be a word at the end of this.
    """
    page, has_columns = scene.page, scene.node.has_columns
    room = np.ceil(size[:, 0] / _LETTER) * np.maximum(np.round(size[:, 1]), 1)
    found = is_narrow & (letters >= _FEWEST_LETTERS) & (letters >= 2 * room)
    found &= below(has_columns, page.end.astype(np.int64))[text]
    known: dict[int, bool] = {}
    for place in np.flatnonzero(found).tolist():
        check()
        box = int(page.parent[text[place]])
        while not has_columns[box]:
            box = int(page.parent[box])
        if box not in known:
            known[box] = bool(is_narrow[(text > box) & (text < page.end[box])].all())
        found[place] = known[box]
    return found
