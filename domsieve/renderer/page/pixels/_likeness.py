"""Whether what a picture of a page shows of its texts looks like their letters, which are drawn apart.

If it does not, nobody reads them there: strips of letters, dots, and what other texts or filters draw in their place
are no letters.
"""

from collections.abc import Iterable
from itertools import product

import numpy as np
from numpy.typing import NDArray

from domsieve.renderer.page.pixels._boxes import Boxes, area, chunks, sums
from domsieve.renderer.page.pixels._letters import INKS, Letters
from domsieve.renderer.page.pixels._parts import F64, Bools, Ints
from domsieve.renderer.page.pixels._scene import Scene
from domsieve.snapshot.page import Kind

# Letters are at most so many pixels from where they should be: the boxes of buttons are a little off. Around a part
# is a margin, for the box of a narrow letter may have no ground.
_FARTHEST, _MARGIN = (3, 2), 1
# Of letters that lie on others, less than this share of their ink beside these says nothing. A guess.
_LEAST_FREE = 0.6
# Large letters are compared in fewer pixels, of at least so many rows.
_MOST_ROWS = 40
# A pixel with less ink than this, of 255, is none.
_LEAST_INK = 6
# So many letters along a path are compared together, or parts of fewer letters than this beside each other: single
# letters may look like strips and dots of them.
_TOGETHER, _FEWEST_LETTERS = 9, 3
# Correlation of what differs with the letters. Measured on 84,000 parts of 60 pages: .95 and more for nearly all,
# below .5 for 2 of 10,000, most of them under other texts; .2 to .48 for letters in strips, dots and bands.
_LEAST_LIKENESS = 0.5
# Letters in elements of their own, many in a row. Measured: .82 and more, and .56 to .71 for those in strips.
_LEAST_IF_APART = 0.75
# If half of the parts of a text are below the first limit, those below the second do not look like their letters.
_LEAST_OF_TEXT, _LEAST_IF_STRANGE = 0.55, 0.8
# A part is not read either if two of its letters, or half of them, are not seen: each shows less than the first share
# of what its clearer letters show, for their ink, and does not look like itself, or less than the second. Else the
# others vouch for them. Measured: .5 and more for all of 156,000 letters of 12 pages but 22. Letters are looked at
# one by one if they are so long (px), and this share of their area is ink, which points and dashes have not.
_LEAST_OF_LETTER, _LEAST_OF_PALE, _FEWEST_LOST, _LEAST_ALONG_PX, _LEAST_INKED = (0.5, 0.3), 0.6, 2, 3, 0.04
# Letters in outlines are seen by these, or by their filling. Measured: .68 and more for those that can be read, up to
# .63 for those under 8 shadows.
_LEAST_OF_OUTLINE = 0.65
# Letters cannot be read either if they are not quite alike, and so much of their contrast along the rows is in rows
# that lines cover: darker than this share of the darkest pixel, with less than this share of the letters' contrast.
# Measured: .5 and more for three lines through a text; up to .4 for those of 142,000 parts of 54 pages that are not
# quite alike.
_MOST_COVERED, _LEAST_DARK, _LEAST_CONTRAST = 0.55, 0.5, 0.4
# The ends of a line, where lines through it may begin, are left out of boxes longer than this.
_LONG = 6
# So many letters and signs in a row that are not compared say nothing. A guess.
_MOST_UNCOMPARED = 6
# Where letters may be, beginning with the place where they are mostly, in rings around it.
_PLACES = sorted(product(range(-3, 4), range(-2, 3)), key=lambda place: max(map(abs, place)))
_RINGS = _PLACES[:1], _PLACES[1:9], _PLACES[9:]


class Comparison:
    """How much what differs in a picture looks like the letters of some parts.

    Parameters
    ----------
    levels : how much each pixel of the picture differs without letters (height, width).
    drawn : the letters in each ink, in the same places (height, width, INKS).
    scene, inks, edges : the scene, and the ink of each of its parts (B,), and their left, top, right and bottom in
        pixels (B, 4).
    parts : the numbers of some.
    origin : if `levels` are only a part of the picture, the place of its first pixel, to the right and down (2,).

    Attributes
    ----------
    levels, origin : as given.
    edges : (B, 4), where the parts are in `levels`.
    most : (B,), how many pixels may count as changed.
    """

    def __init__(
        self,
        levels: NDArray[np.uint8],
        drawn: NDArray[np.uint8],
        scene: Scene,
        inks: Ints,
        edges: Ints,
        parts: Ints,
        origin: Ints | None = None,
    ) -> None:
        self.levels, self._drawn, self._parts = levels, [drawn], parts
        self.origin = np.zeros(2, np.intp) if origin is None else origin
        self.edges = np.clip(edges - np.tile(self.origin, 2), 0, np.tile(levels.shape[::-1], 2))
        self.most = np.full(len(edges), np.inf)
        self._inks, self._text = inks[parts], scene.owner[parts]
        self._is_level, self._outlined = scene.is_level[self._text], scene.outlined[self._text]
        self._in_own_font = scene.in_own_font[self._text]
        self._boxes, self._singles = self.edges[parts], self.edges[parts]
        curved = np.flatnonzero(scene.is_curved[self._text])
        if curved.size:
            self._boxes[curved], self._is_level[curved] = _grouped(self._boxes[curved], self._text[curved])
        is_short = scene.letters[parts] < _FEWEST_LETTERS
        along = np.where(self._is_level, *(self._singles[:, 2:] - self._singles[:, :2]).T)
        self._letters = np.minimum(scene.letters[parts], along // _LEAST_ALONG_PX)
        short = np.flatnonzero(is_short & self._is_level & ~scene.is_curved[self._text])
        self._is_apart = np.zeros(parts.size, np.bool_)
        if short.size:
            runs = _runs(self._boxes[short])
            self._boxes[short] = _grouped(self._boxes[short], runs)[0]
            self._is_apart[short] = np.bincount(runs)[runs] >= _TOGETHER
        self._likeness, self._covered = np.zeros(parts.size), np.zeros(parts.size, np.bool_)
        self._see(drawn)
        at = np.flatnonzero(self._likeness < _LEAST_IF_STRANGE)
        covered = _covered(levels, drawn, self._inks[at], self._boxes[at], self._is_level[at])
        self._covered[at] = covered > _MOST_COVERED

    @property
    def low(self) -> Bools:
        """The parts (B,) that do not quite look like their letters, where that says something.

        They are in a font of the page, or of a text of which some parts do not look like their letters at all.
        """
        return self._all(self._is_low())

    @property
    def doubtful(self) -> Bools:
        """Those of them that have shadows or strokes: a picture without the filling of the letters must tell."""
        return self._all(self._is_low() & self._outlined)

    def draw(self, drawn: NDArray[np.uint8]) -> None:
        """Compare what is still low with letters that were drawn in another way."""
        self._drawn.append(drawn)
        self._see(drawn)

    def fill(self, levels: NDArray[np.uint8], count: F64) -> None:
        """Compare the doubtful parts with what differs without the filling of letters.

        Parameters
        ----------
        levels : how much each pixel differs then (height, width).
        count : how many of each part do (B,).
        """
        doubtful = self._is_low() & self._outlined
        for drawn in self._drawn:
            found = self._with_letters(levels, drawn, doubtful)
            wins = (found > self._likeness) & (found >= _LEAST_OF_OUTLINE)
            self._likeness[wins], self._covered[wins] = found[wins], False
            self.most[self._parts[wins]] = count[self._parts[wins]]

    def unlike(self) -> Bools:
        """Return which parts (B,) do not look like their letters."""
        return self._all(self._is_unlike())

    def _is_low(self) -> Bools:
        texts = self._text[self._is_unlike()]
        return (self._likeness < _LEAST_IF_STRANGE) & (self._in_own_font | np.isin(self._text, texts))

    def _is_unlike(self) -> Bools:
        text = np.unique(self._text, return_inverse=True)[1]
        order = np.lexsort((self._likeness, text))
        count = np.bincount(text)
        middle = self._likeness[order][np.cumsum(count) - count + count // 2]
        is_strange = (middle < _LEAST_OF_TEXT)[text] | self._covered
        least = np.where(self._is_apart, _LEAST_IF_APART, _LEAST_LIKENESS)
        return np.asarray(self._likeness < np.where(is_strange, _LEAST_IF_STRANGE, least))

    def _see(self, drawn: NDArray[np.uint8]) -> None:
        """Compare what is low with letters and their edges."""
        found = self._with_letters(self.levels, drawn, self._is_low())
        self._likeness = np.maximum(self._likeness, found)
        doubtful = self._is_low() & self._outlined
        if doubtful.any():
            edges = self._with_letters(self.levels, _edges_of(drawn), doubtful)
            is_outline = edges >= _LEAST_OF_OUTLINE
            self._likeness[is_outline] = np.maximum(self._likeness, edges)[is_outline]

    def _with_letters(self, levels: NDArray[np.uint8], drawn: NDArray[np.uint8], chosen: Bools) -> F64:
        """Return the likeness of each part with its letters, see `_likenesses`; 0 for those that are not chosen."""
        found = np.zeros(self._parts.size)
        at = np.flatnonzero(chosen)
        found[at] = likenesses(levels, drawn, self._inks[at], self._boxes[at], self._is_level[at])
        at = np.flatnonzero((found >= _LEAST_LIKENESS) & (self._letters > 0))
        if at.size:
            found[at[self._lacks_letters(levels, drawn, at)]] = 0
        return found

    def _lacks_letters(self, levels: NDArray[np.uint8], drawn: NDArray[np.uint8], some: Ints) -> Bools:
        """Return which of some of the parts have letters that are not seen: several, or half of them.

        They are measured by the clearer ones of the part and those that are compared with it.
        """
        number, edges = _divided(self._singles[some], self._letters[some], self._is_level[some])
        seen, inks = sums(levels, edges), self._inks[some[number]]
        ink = np.choose(inks, [sums(drawn[..., one], edges) for one in range(INKS)])
        is_inked = ink >= _LEAST_INKED * 255 * np.maximum(area(edges), 1)
        together = np.unique(self._boxes[some], axis=0, return_inverse=True)[1].ravel()[number]
        whole, whole_ink = (np.bincount(together, one * is_inked)[together] for one in (seen, ink))
        shows = is_inked & (seen * whole_ink >= whole * ink)
        whole, whole_ink = (np.bincount(together, one * shows)[together] for one in (seen, ink))
        is_pale, is_lost = (is_inked & (seen * whole_ink < least * whole * ink) for least in _LEAST_OF_LETTER)
        pale = np.flatnonzero(is_pale & ~is_lost)
        like = likenesses(levels, drawn, inks[pale], edges[pale], self._is_level[some[number[pale]]])
        is_lost[pale] = like < _LEAST_OF_PALE
        lost, whole = np.bincount(number, is_lost, some.size), np.bincount(number, minlength=some.size)
        return np.asarray((lost >= _FEWEST_LOST) | (2 * lost >= np.maximum(whole, 1)))

    def _all(self, chosen: Bools) -> Bools:
        """Return which parts of the scene (B,) some of those compared are."""
        found = np.zeros(len(self.edges), np.bool_)
        found[self._parts[chosen]] = True
        return found


def uncompared(scene: Scene, letters: Letters, is_seen: Bools) -> Bools:
    """Return which parts (B,) of texts, of those that seem to be seen, are not compared with their letters.

    Single ones between others, such as signs between words, are left out.
    """
    order = np.lexsort((scene.first, scene.owner))
    parts = order[is_seen[order]]
    is_any = (scene.is_sign | ~letters.is_drawn)[parts]
    run = np.cumsum(~is_any)
    many = np.bincount(run, scene.letters[parts] * is_any) > _MOST_UNCOMPARED
    found = np.zeros_like(is_seen)
    found[parts[is_any & many[run]]] = True
    return np.asarray(found & (scene.kind[scene.owner] == Kind.TEXT))


def _runs(edges: Ints) -> Ints:
    """Return the run of each of some boxes (n, 4): the next one of a run is beside the last, in the same line."""
    low, high = edges[:-1], edges[1:]
    size = np.maximum(low[:, 3] - low[:, 1], 1)
    near = np.abs(high[:, 0] - low[:, 2]) <= size
    near &= (np.abs(high[:, [1, 3]] - low[:, [1, 3]]) <= 1).all(axis=1)
    return np.append(0, np.cumsum(~near))


def _grouped(edges: Ints, text: Ints) -> tuple[Ints, Bools]:
    """Return what is around groups of neighbouring letters of each text, and whether that is wider than high.

    Parameters
    ----------
    edges, text : the edges (n, 4) and the text (n,) of each letter.
    """
    order = np.argsort(text, kind="stable")
    edges, count = edges[order], np.unique(text, return_counts=True)[1]
    number = np.arange(len(edges)) - np.repeat(np.cumsum(count) - count, count)
    total = np.repeat(count, count)
    group = number * np.maximum(np.rint(total / _TOGETHER).astype(np.intp), 1) // total
    begin = np.flatnonzero((np.diff(group, prepend=-1) != 0) | (number == 0))
    size = np.diff(begin, append=len(edges))
    around = np.concatenate(
        (np.minimum.reduceat(edges[:, :2], begin), np.maximum.reduceat(edges[:, 2:], begin)), axis=1
    )
    is_wide = around[:, 2] - around[:, 0] >= around[:, 3] - around[:, 1]
    back = np.argsort(order)
    return np.repeat(around, size, axis=0)[back], np.repeat(is_wide, size)[back]


def _divided(edges: Ints, pieces: Ints, is_level: Bools) -> tuple[Ints, Ints]:
    """Return the box and the edges of each piece of some boxes (n, 4), which are divided along their lines."""
    box = np.repeat(np.arange(len(edges)), pieces)
    number = np.arange(box.size) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    axis = np.where(is_level[box], 0, 1)
    row = np.arange(box.size)
    begin, end = edges[box, axis], edges[box, axis + 2]
    found = edges[box]
    found[row, axis] = begin + (end - begin) * number // pieces[box]
    found[row, axis + 2] = begin + (end - begin) * (number + 1) // pieces[box]
    return box, found


def _edges_of(drawn: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the edges of letters, in all inks."""
    from PIL import Image, ImageChops  # loaded on use: only this mode needs it

    letters = Image.fromarray(drawn)
    return np.asarray(ImageChops.multiply(letters, ImageChops.invert(letters)))


def likenesses(
    levels: NDArray[np.uint8], drawn: NDArray[np.uint8], inks: Ints, edges: Ints, is_level: Bools
) -> F64:
    """Return the likeness of what differs in each of some boxes (n, 4) with the letters in it.

    It is the largest correlation in all places that the letters may have, also without the pixels where other letters
    are, for these may be seen or not. What is like enough in one place is not looked for in others.

    Parameters
    ----------
    levels, drawn : see `Comparison`.
    inks, edges, is_level : of each box the ink of its letters (n,), its edges, and whether its line is level (n,).
    """
    begin = np.maximum(edges[:, :2] - _MARGIN, 0)
    end = np.minimum(edges[:, 2:] + _MARGIN, levels.shape[::-1])
    around, steps = (
        np.concatenate((begin, end), axis=1),
        np.maximum((end - begin).min(axis=1) // _MOST_ROWS, 1),
    )
    found = np.zeros(len(edges))
    for places, is_apart in *((ring, False) for ring in _RINGS), (_PLACES, True):
        low = np.flatnonzero(found < _LEAST_IF_STRANGE)
        for chunk in chunks(around[low]):
            some = low[chunk]
            boxes = Boxes(around[some], levels.shape[1], is_level[some], steps[some])
            best = _correlations(levels, drawn, inks[some], boxes, places, is_apart=is_apart)
            found[some] = np.maximum(found[some], best)
    return found


def _covered(
    levels: NDArray[np.uint8], drawn: NDArray[np.uint8], inks: Ints, edges: Ints, is_level: Bools
) -> F64:
    """Return how much of the contrast of letters is in rows of each box (n, 4) that lines cover; see `likenesses`."""
    size = edges[:, 2:] - edges[:, :2]
    inset = np.where(is_level[:, None], [1, 0], [0, 1]) * (size > _LONG)
    inside = np.concatenate((edges[:, :2] + inset, edges[:, 2:] - inset), axis=1)
    found = np.zeros(len(edges))
    for chunk in chunks(inside):
        boxes = Boxes(inside[chunk], levels.shape[1], is_level[chunk])
        pixel, ink = np.arange(boxes.index.size), boxes.by_pixel(inks[chunk][boxes.box])
        letters = drawn.reshape(-1, INKS)[boxes.index]
        # Where other letters are, these cover the row.
        is_free = np.maximum(letters[pixel, ink - 1], letters[pixel, ink - 2]) <= _LEAST_INK
        shown, own = (
            is_free * one.astype(np.float64) for one in (levels.ravel()[boxes.index], letters[pixel, ink])
        )
        count = np.maximum(boxes.by_row(is_free), 1)
        mean = boxes.by_row(shown) / count
        seen, spread = (
            boxes.by_row(values**2) - boxes.by_row(values) ** 2 / count for values in (shown, own)
        )
        dark, most = (
            np.maximum.reduceat(np.maximum.reduceat(values, boxes.rows), boxes.first)[boxes.box]
            for values in (shown, own)
        )
        is_covered = seen * np.maximum(most, 1) ** 2 < (_LEAST_CONTRAST * dark) ** 2 * spread
        is_covered &= mean > _LEAST_DARK * dark
        whole = boxes.by_box(spread)
        found[chunk] = boxes.by_box(np.where(is_covered, spread, 0)) / np.maximum(whole, 1)
    return found


def _correlations(
    levels: NDArray[np.uint8],
    drawn: NDArray[np.uint8],
    inks: Ints,
    boxes: Boxes,
    places: Iterable[tuple[int, int]],
    *,
    is_apart: bool,
) -> F64:
    """Return the largest correlation of what differs in each of some boxes with its letters in some places.

    Each row has its own mean: lines and bars along the letters say nothing about these, but cover them.

    Parameters
    ----------
    places : how far letters are shifted, in rows and in pixels along these.
    is_apart : whether pixels with other letters are left out.
    """
    shown, letters = levels.ravel()[boxes.index].astype(np.float64), drawn.reshape(-1, INKS)[boxes.index]
    found = np.zeros(boxes.first.size)
    pixel, ink = np.arange(len(letters)), boxes.by_pixel(inks[boxes.box])
    own, is_free = letters[pixel, ink].astype(np.float64), np.ones(1, np.bool_)
    if is_apart:
        is_free = np.maximum(letters[pixel, ink - 1], letters[pixel, ink - 2]) <= _LEAST_INK
        if is_free.all():
            return found
    along, column = boxes.by_pixel(boxes.along), pixel - boxes.by_pixel(boxes.rows)
    seen, power = shown, shown**2
    for down, aside in places:
        row = boxes.row + down
        inside = boxes.by_pixel((row >= 0) & (row < boxes.across))
        inside &= (column >= -aside) & (column < along - aside)
        there = np.where(inside, pixel + down * along + aside, 0)
        count, drawn_there = boxes.along, np.where(inside, own[there], 0.0)
        if is_apart:
            free = ~inside | is_free[there]
            count = np.maximum(boxes.by_row(free.astype(np.float64)), 1)
            drawn_there, seen, power = (np.where(free, one, 0.0) for one in (drawn_there, shown, shown**2))
        total, seen_total = boxes.by_row(drawn_there), boxes.by_row(seen)
        spread, sight, cross = (
            boxes.by_box(boxes.by_row(product) - sums / count)
            for product, sums in (
                (drawn_there**2, total**2),
                (power, seen_total**2),
                (drawn_there * seen, total * seen_total),
            )
        )
        size = np.sqrt(np.maximum(spread, 0) * np.maximum(sight, 0))
        likeness = np.abs(np.divide(cross, size, out=np.zeros_like(cross), where=size > 1))
        found = np.maximum(found, likeness)
    if is_apart:
        ink, free_ink = (boxes.by_box(boxes.by_row(one)) for one in (own, np.where(is_free, own, 0.0)))
        found[free_ink < _LEAST_FREE * ink] = 0
    return found
