"""Words of a paragraph that are so far apart, by line breaks, white space or padding, that a window shows one."""

from collections.abc import Iterator
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np

from domsieve.analysis.columns.batch import F64, Bools, Ints
from domsieve.analysis.columns.page_columns import MEDIA, has_tag, page_texts
from domsieve.analysis.columns.paint_styles import LEAST_PX, USUAL_LINE
from domsieve.analysis.columns.scene import Scene
from domsieve.budget import check

# Pieces of at most so many letters; of so many, each this share of a window after the one before, nobody reads a
# sentence. In lists and tickers, items may be farther apart: along and across lines, in windows.
_SHORT, _FEWEST, _MOST_OF_WINDOW = 20, 4, 0.4
_BETWEEN_TEXTS = (1.0, 0.5)
# Of what is between two pieces so much, in parts of the way, is what they belong to.
_LEAST_CONTENT = 0.1
_MOST_DEPTH = 64  # of inline elements around a text
_ROW = 1.9  # a text no higher than so many letters is one row
_INLINE = frozenset({"inline", "contents", "ruby"})
# A space is at least so many sizes of letters wide, and as wide as so many letters.
_LEAST_SPACE, _SPACE, _WIDE_SPACE = 0.25, 0.5, 2.0
_WIDE, _TAB = frozenset("\u2001\u2003\u3000"), 8
# Spaces that stay where others are collapsed.
_ODD = frozenset(filter(str.isspace, map(chr, range(0x80, 0x3001))))
_CONTENT = (*sorted(MEDIA), "button", "canvas", "embed", "hr", "input", "math", "meter", "object", "picture")
_MORE_CONTENT = ("progress", "select", "svg", "textarea")


class _Piece(NamedTuple):
    """Letters that stand together: their text, its place among the texts, their box, and how many they are."""

    text: int
    place: int
    box: tuple[float, float, float, float]
    letters: int


def are_spread(scene: Scene, text: Ints, letters: F64, letter: F64) -> Bools:
    """Return which texts have, with those of the same paragraph, short pieces that are very far apart.

    Parameters
    ----------
    text : texts that have boxes, in document order.
    letters, letter : how many letters each has, and their size in px.
    """
    node, found = scene.node, np.zeros(text.size, np.bool_)
    window = np.array(node.window_px)
    if not text.size or not np.isfinite(window).all():
        return found
    owner = paragraphs(scene, text)
    of, count = np.unique(owner, return_inverse=True)[1], len(set(owner.tolist()))
    box, rect = np.tile([np.inf, np.inf, -np.inf, -np.inf], (count, 1)), scene.rect[text]
    np.minimum.at(box[:, :2], of, rect[:, :2])
    np.maximum.at(box[:, 2:], of, rect[:, 2:])
    is_large = ((box[:, 2:] - box[:, :2]) > (_FEWEST - 1) * _MOST_OF_WINDOW * window).any(axis=1)
    at = np.flatnonzero(is_large[of] & ~node.in_drawing[text])
    if not at.size:
        return found
    content, words = _Content(scene, text), _Words(scene, text, letter)
    lost = np.zeros(text.size)
    for some in grouped(at, of[at]):
        pieces = [one for place in some.tolist() for one in words.pieces(place)]
        for run in _far_runs(pieces, window, content):
            for one in run:
                lost[one.place] += one.letters
    found[lost >= np.maximum(letters / 2, 1)] = True
    return found


def paragraphs(scene: Scene, text: Ints) -> Ints:
    """Return the nearest element around each text that is not inline."""
    is_inline = scene.node.each("display", "inline", lambda value: value in _INLINE)
    at = scene.page.parent[text].astype(np.int64)
    for _ in range(_MOST_DEPTH):
        waiting = is_inline[at] & (at > 0)
        if not waiting.any():
            break
        at[waiting] = scene.page.parent[at[waiting]]
    return at


def grouped(at: Ints, of: Ints) -> Iterator[Ints]:
    """Yield those of some places together that are of the same thing."""
    order = np.argsort(of, kind="stable")
    for some in np.split(at[order], np.flatnonzero(np.diff(of[order])) + 1):
        check()
        yield some


class _Content:
    """What is on a page but the texts of a paragraph."""

    def __init__(self, scene: Scene, text: Ints) -> None:
        page = scene.page
        rect = scene.rect
        there = has_tag(page, *_CONTENT, *_MORE_CONTENT)
        there |= scene.node.each("background-image", "none", lambda value: value != "none").astype(np.bool_)
        there[text] = True
        there &= scene.node.seen & (page.style >= 0)
        self.node = np.flatnonzero(there)
        self.rect = rect[self.node]
        self._end = page.end

    def share(self, axis: int, first: float, last: float, own: set[int]) -> float:
        """Return how much of a way, down (1) or across (0) the page, others than the texts `own` are beside."""
        begin, end = np.maximum(self.rect[:, axis], first), np.minimum(self.rect[:, axis + 2], last)
        those = np.flatnonzero(end > begin)
        # Backgrounds around the paragraph are no content of it.
        texts = np.array(sorted(own))
        ends = self._end[self.node[those]]
        those = those[np.searchsorted(texts, self.node[those]) == np.searchsorted(texts, ends)]
        return float((end - begin)[those].sum() / max(last - first, 1.0))


def _far_runs(pieces: list[_Piece], window: F64, content: _Content) -> Iterator[list[_Piece]]:
    """Yield runs of short pieces of which each is far from the one before, with nothing between."""
    own = {one.text for one in pieces}
    groups: list[tuple[list[_Piece], bool]] = []  # pieces near each other, and whether more is before them
    for one in pieces:
        check()
        last = groups[-1][0] if groups else []
        far = _way(last[-1], one, window) if last else None
        if last and far is None:
            last.append(one)
        else:
            groups.append(([one], far is not None and _is_filled(last[-1], one, far, content, own)))
    run: list[_Piece] = []
    count = 0  # of the groups in it
    for group, is_cut in groups:
        length = sum(one.letters for one in group)
        if is_cut or length > _SHORT:
            if count >= _FEWEST:
                yield run
            run, count = [], 0
        if length <= _SHORT:
            run, count = run + group, count + 1
    if count >= _FEWEST:
        yield run


def _way(before: _Piece, after: _Piece, window: F64) -> tuple[int, float, float] | None:
    """Return along which axis a piece is far from the one before, and from where to where; None if it is near."""
    is_one = before.text == after.text
    for axis in (1, 0):
        gaps = (
            (before.box[axis + 2], after.box[axis]),
            (after.box[axis + 2], before.box[axis]),
        )
        for first, last in gaps:
            if last - first > (_MOST_OF_WINDOW if is_one else _BETWEEN_TEXTS[axis]) * window[axis]:
                return axis, first, last
    return None


def _is_filled(
    before: _Piece, after: _Piece, way: tuple[int, float, float], content: _Content, own: set[int]
) -> bool:
    return before.text != after.text and content.share(*way, own) > _LEAST_CONTENT


class _Words:
    """Finds the words of texts that have much white space which is kept."""

    def __init__(self, scene: Scene, text: Ints, letter: F64) -> None:
        node = scene.node
        self._text, self._letter = text, letter
        self._said = page_texts(scene.page).of(text)
        self._rect, self._line = scene.rect[text], node.line_px[text]
        self._mode = node.each("white-space", "normal", str)[text].tolist()
        self._level = node.is_level[text].tolist()
        self._window = np.array(node.window_px)

    def pieces(self, place: int) -> list[_Piece]:
        """Return the words of a text with their boxes if they are far apart, otherwise the text."""
        said, mode, rect = self._said[place], self._mode[place], self._rect[place]
        whole = _Piece(int(self._text[place]), place, tuple(rect.tolist()), sum(map(len, said.split())))
        keeps_lines = "pre" in mode or "break-spaces" in mode
        is_large = ((rect[2:] - rect[:2]) > _MOST_OF_WINDOW * self._window).any()
        if not is_large or (not keeps_lines and _ODD.isdisjoint(said)):
            return [whole]
        found = [*self._placed(whole, keeps_lines)]
        if not any(_way(*both, self._window) for both in pairwise(found)):
            return [whole]
        # Words take room as well, which is not known.
        left, top = found[-1].box[:2]
        found[-1] = found[-1]._replace(box=(left, top, *whole.box[2:]))
        return found

    def _placed(self, whole: _Piece, keeps_lines: bool) -> Iterator[_Piece]:
        place, (left, top, right, bottom) = whole.place, whole.box
        said, mode, level = self._said[place], self._mode[place], self._level[place]
        along, across = (right - left, bottom - top) if level else (bottom - top, right - left)
        keeps_spaces, size = keeps_lines and "pre-line" not in mode, float(self._letter[place])
        wraps = mode not in {"pre", "nowrap"} and across > _ROW * size
        room = max(along / max(_LEAST_SPACE * size, LEAST_PX), 1.0)
        row, column, widest = 0.0, 0.0, 1.0
        words: list[tuple[float, float, float]] = []  # row, first and last column
        for is_blank, run in groupby(said.expandtabs(_TAB) if keeps_spaces else said, str.isspace):
            part = "".join(run)
            if is_blank:
                lines = part.count("\n") if keeps_lines else 0
                row += lines
                space = _blank(part.rpartition("\n")[2] if lines else part, keeps_spaces, mode == "pre-wrap")
                if wraps:
                    row += space / _SPACE // room
                else:
                    column = (0.0 if lines else column) + space
            else:
                words.append((row, column, column + len(part)))
                column += len(part)
            widest = max(widest, column)
        line = float(self._line[place])
        line = min(line if np.isfinite(line) else USUAL_LINE * size, across / (row + 1))
        line, step = (line, 0.0) if wraps else (across / (row + 1), along / widest)
        for row, first, last in words:
            begin, end = first * step, last * step if step else along
            low, high = row * line, (row + 1) * line
            inner = (begin, low, end, high) if level else (low, begin, high, end)
            box = (left + inner[0], top + inner[1], left + inner[2], top + inner[3])
            yield _Piece(whole.text, place, box, round(last - first))


def _blank(part: str, keeps: bool, hangs: bool) -> float:
    """Return how wide white space in a line is, in letters."""
    wide = sum(map(_WIDE.__contains__, part))
    plain = sum(map(str.isascii, part))
    odd = len(part) - wide - plain
    return _WIDE_SPACE * wide + _SPACE * (odd + (0 if hangs else plain if keeps else min(plain, 1)))
