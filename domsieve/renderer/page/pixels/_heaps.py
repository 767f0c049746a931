"""Texts on top of each other in a picture of a page: which of them nobody can read."""

from itertools import product

import numpy as np
from numpy.typing import NDArray

from domsieve.renderer.page.pixels._boxes import lines_around
from domsieve.renderer.page.pixels._grounds import around_each
from domsieve.renderer.page.pixels._letters import Letters
from domsieve.renderer.page.pixels._parts import F64, OUTWARDS, Bools, Ints
from domsieve.renderer.page.pixels._scene import Scene
from domsieve.snapshot.contrast import contrast

# So many different texts on top of each other, on so much of a part, cannot be read. Lines that are much higher than
# their letters are slanted, and say little about where these are.
_PILE, _BURIED, _SLANTED = 3, 0.5, 3.0
# Slanted lines lie on each other if they are nearer than this share of their font; a letter is so wide. Guesses.
_NEAR, _LETTER = 0.5, 0.5
# So many copies of a text are looked for. Shadows and effects shift them no farther than this share of a letter.
_MOST_COPIES, _MOST_SHIFT = 300, 0.15
_SAME = (
    "letter-spacing",
    "word-spacing",
    "font-size",
    "font-family",
    "font-style",
    "font-stretch",
    "text-transform",
)
# Two texts cannot be read if so much of the ink of one is where the other has more ink than this, of 255, or so much
# ink of the other, as a share of its own, is at most a pixel beside it; and if what their letters change differs by
# less than the last share. Measured: .2 to .9 under and .3 to .7 beside for two texts of one colour up to 5 px apart,
# .17 and .35 for lines at .6 of the size of their font. On 40 real pages, 92 of 21,000 words that meet others lie so.
_MIXED, _LEAST_INK, _BESIDE, _ALIKE = 0.3, 40, 0.38, 0.4
# Of letters that cannot be drawn apart, reflections and shadows, only the ink beside a text is known. Measured: .25
# to .6 for those on a text, 0 for others.
_BESIDE_UNKNOWN = 0.2
# How far down and to the right the letters of a line may be from where they are drawn, in pixels.
_SHIFTS = sorted(product((-1, 0, 1), repeat=2), key=lambda shift: max(map(abs, shift)))
# Letters that are so many times larger are areas, on which smaller ones can be read if their colours differ by this
# share. A guess: black letters can hardly be read on #333, of which the share is .2.
_OTHER_SIZE, _ALIKE_AREA = 2.5, 0.22


class Heaps:
    """The parts of texts that are on top of others.

    Parameters
    ----------
    scene : the texts.
    edges : left, top, right and bottom of each part in pixels of the picture (B, 4).
    is_painted : the parts (B,) that differ enough in the picture to be seen; also of texts that nobody can read, for
        they cover others all the same.
    shape : height and width of the picture.
    scale : pixels per px of the page.

    Attributes
    ----------
    buried : (B,), the parts that are in a heap of three different texts.
    mixing : (B,), other parts that lie on one other text, or may lie on their own shadow or reflection; whether they
        can be read depends on their letters.
    texts : the texts to draw for `mixed`.
    """

    def __init__(
        self, scene: Scene, edges: Ints, is_painted: Bools, *, shape: tuple[int, int], scale: float
    ) -> None:
        self._scene, self._edges = scene, edges
        is_seen = is_painted & ~scene.unreadable[scene.owner]
        _, self._first, self._line = np.unique(scene.line, return_index=True, return_inverse=True)
        around = lines_around(edges, self._line, self._first.size)
        height = (around[:, 2:] - around[:, :2]).min(axis=1)
        slanted = scene.is_turned[scene.owner[self._first]] & (
            height > _SLANTED * scale * scene.font_px(self._first)
        )
        self._original = self._copies(np.unique(self._line[is_seen]))
        is_copy = np.isin(self._line, [*self._original])
        counts, paints = is_seen & ~is_copy, is_painted & ~is_copy
        cover = np.zeros(shape, np.uint16)
        is_word = counts & ~scene.is_sign & ~slanted[self._line]
        for x, y, right, bottom in around[np.unique(self._line[is_word])].tolist():
            cover[y:bottom, x:right] += 1
        self.buried = is_seen & ~scene.is_sign & ~slanted[self._line]
        self.buried = self._is_in(cover >= _PILE, self.buried)
        self._size = scene.font_px(self._first) * np.sqrt(
            np.abs(np.linalg.det(scene.maps[scene.owner[self._first]]))
        )
        self._around, self._others = around, np.unique(self._line[is_word])
        for part in np.flatnonzero(self.buried).tolist():
            self.buried[part] = self._is_piled(part)
        self._bury_slanted(np.flatnonzero(counts & ~scene.is_sign & slanted[self._line]), scale)
        others = paints & ~is_word
        is_flat = slanted[self._line] & ~scene.is_sign
        for x, y, right, bottom in (
            *around[np.unique(self._line[others & ~is_flat])].tolist(),
            *edges[others & is_flat].tolist(),
        ):
            cover[y:bottom, x:right] += 1
        in_question = counts & ~scene.is_sign & ~self.buried
        self.mixing = self._is_in(cover > 1, in_question) | (in_question & scene.is_drawn_again[scene.owner])
        heap = np.zeros(shape, np.bool_)
        for x, y, right, bottom in edges[self.mixing].tolist():
            heap[y:bottom, x:right] = True
        self._others = np.unique(self._line[paints])
        meets = [heap[y:bottom, x:right].any() for x, y, right, bottom in edges[paints].tolist()]
        self.texts = np.unique(scene.owner[np.flatnonzero(paints)[np.array(meets, np.bool_)]])

    def _meeting(self, part: int) -> tuple[Ints, F64]:
        """Return which of `_others` meet a part of another line, and how many times larger their letters are."""
        edges, own = self._edges[part], self._line[part]
        around = self._around[self._others]
        meets = (around[:, :2] < edges[2:]).all(axis=1) & (around[:, 2:] > edges[:2]).all(axis=1)
        found = self._others[meets & (self._others != own)]
        return found, self._size[found] / max(self._size[own], 1e-3)

    def _is_piled(self, part: int) -> bool:
        """Return whether texts of about the size of a part are in a heap with it; much larger ones are areas."""
        lines, ratio = self._meeting(part)
        left, top, right, bottom = self._edges[part].tolist()
        cover = np.ones((bottom - top, right - left), np.uint16)
        alike = lines[(ratio <= _OTHER_SIZE) & (ratio >= 1 / _OTHER_SIZE)]
        for x, y, end, low in (self._around[alike] - [left, top, left, top]).tolist():
            cover[max(y, 0) : max(low, 0), max(x, 0) : max(end, 0)] += 1
        return bool(np.count_nonzero(cover >= _PILE) > _BURIED * cover.size)

    def _bury_slanted(self, parts: Ints, scale: float) -> None:
        """Find the parts, of slanted lines, in heaps: letters of two other texts lie on theirs."""
        scene, edges, owner = self._scene, self._edges[parts].astype(np.float64), self._scene.owner[parts]
        middle, letter_px = (edges[:, :2] + edges[:, 2:]) / 2, scale * scene.font_px(parts)
        half = scene.letters[parts] * _LETTER * letter_px / 2
        for at, part in enumerate(parts.tolist()):
            apart = np.abs((middle - middle[at]) @ np.linalg.pinv(scene.maps[owner[at]]).T)
            near = (apart[:, 1] < _NEAR * letter_px[at]) & (apart[:, 0] < half + half[at])
            self.buried[part] = np.unique(owner[near & (owner != owner[at])]).size >= _PILE - 1

    def _is_in(self, mask: Bools, parts: Bools) -> Bools:
        """Return which of some parts (B,) are mostly inside of a mask of the picture."""
        found = np.zeros_like(parts)
        for part in np.flatnonzero(parts).tolist() if mask.any() else ():
            x, y, right, bottom = self._edges[part].tolist()
            inside = mask[y:bottom, x:right]
            found[part] = np.count_nonzero(inside) > _BURIED * inside.size
        return found

    def _copies(self, lines: Ints) -> dict[int, int]:
        """Return the lines, of some, that are copies of others by which shadows and effects are made, with these."""
        scene, first = self._scene, self._first
        alike: dict[tuple[str | int, ...], list[int]] = {}
        for line in lines.tolist():
            said = scene.pieces[number] if (number := scene.line[first[line]]) < len(scene.pieces) else ""
            styles = scene.style(int(scene.owner[first[line]]), *_SAME)
            alike.setdefault((said, int(scene.against[first[line]]), *styles), []).append(line)
        found: dict[int, int] = {}
        for group in alike.values():
            if not 1 < len(group) <= _MOST_COPIES:
                continue
            parts = first[group]
            box = scene.line_box[scene.line[parts]] - np.tile(scene.moved()[parts], 2)
            size, maps = _MOST_SHIFT * scene.font_px(parts), scene.maps[scene.owner[parts]]
            for at, line in enumerate(group):
                near = (np.abs(box[:at] - box[at]) <= size[at]).all(axis=1)
                near &= np.isclose(maps[:at], maps[at], atol=0.01).all(axis=(1, 2))
                originals = [
                    group[other] for other in np.flatnonzero(near).tolist() if group[other] not in found
                ]
                if originals:
                    found[line] = originals[0]
        return found

    def mixed(
        self, letters: Letters, drawn: NDArray[np.uint8], change: NDArray[np.int16], corner: Ints
    ) -> Bools:
        """Return which parts (B,) cannot be read, for they mix with another text of about their colour.

        Parameters
        ----------
        letters : the lines that were drawn.
        drawn : the ink of `texts` in a part of the picture (height, width, 3).
        change : what all letters change there (height, width, 3).
        corner : left and top of this part.
        """
        found: Bools = np.zeros_like(self.mixing)
        edges = np.clip(self._edges - np.tile(corner, 2), 0, np.tile(drawn.shape[1::-1], 2))
        levels = contrast(change, np.zeros(3))
        drawn = self._aligned(drawn, letters.ink, levels, edges)
        for part in np.flatnonzero(self.mixing & letters.is_drawn).tolist():
            x, y, right, bottom = edges[part].tolist()
            inside = np.s_[y:bottom, x:right]
            inks = drawn[inside].astype(np.float64) / 255
            own, others = inks[..., letters.ink[part]], np.delete(inks, letters.ink[part], axis=2).max(axis=2)
            lines, ratio = self._meeting(part)
            is_drawn_again = self._scene.is_drawn_again[self._scene.owner[part]]
            is_known = not is_drawn_again and letters.is_drawn[self._first[lines]].all()
            if not is_known:
                others = np.maximum(others, _beside(own, levels[inside]))
            is_own, total = around_each(own, np.maximum) > _LEAST_INK / 255, own.sum()
            under, beside = own[others > _LEAST_INK / 255].sum(), (others * (1 - own))[is_own].sum()
            if under > _MIXED * total or beside > (_BESIDE if is_known else _BESIDE_UNKNOWN) * total:
                found[part] = _are_alike(own, others, change[inside], _most_alike(ratio))
        mixed = {*self._line[found].tolist()}
        for copy, original in self._original.items():
            if original not in mixed:
                continue
            ours, theirs = (np.flatnonzero(self._line == line) for line in (copy, original))
            if ours.size == theirs.size:
                found[ours] = found[theirs]
        return found

    def _aligned(self, drawn: NDArray[np.uint8], ink: Ints, levels: F64, edges: Ints) -> NDArray[np.uint8]:
        """Return the letters of each line moved to where they are most like what differs: at most by one pixel.

        Browsers round the places of lines in pictures in other ways than where they are drawn apart.

        Parameters
        ----------
        drawn, levels : the letters in each ink (height, width, INKS), and how much each pixel differs.
        ink, edges : of each part (B,) its ink, and its edges there (B, 4).
        """
        found = np.zeros_like(drawn)
        _, first = np.unique(self._line, return_index=True)
        around = lines_around(edges, self._line, len(self._around)) + OUTWARDS
        around = np.clip(around, 0, np.tile(drawn.shape[1::-1], 2))
        for (x, y, right, bottom), one in zip(around.tolist(), ink[first].tolist(), strict=True):
            own, shown = drawn[y:bottom, x:right, one], levels[y:bottom, x:right]
            if own.any():
                shifted = (np.roll(own, shift, axis=(0, 1)) for shift in _SHIFTS)
                best = max(shifted, key=lambda letters: float((letters * shown).sum()))
                np.maximum(found[y:bottom, x:right, one], best, out=found[y:bottom, x:right, one])
        return found


def equal_lines(scene: Scene, first: Ints, lines: Ints) -> Ints:
    """Return of each line (L,) the number of the first that is exactly like it in its very place: often itself.

    Each shows while the other is transparent, so both are looked at as one.

    Parameters
    ----------
    first : the first part of each line (L,).
    lines : the numbers of those to look at.
    """
    found = np.arange(first.size)
    box = np.rint(2 * (scene.line_box[scene.line[first[lines]]] - np.tile(scene.moved()[first[lines]], 2)))
    _, place, count = np.unique(box, axis=0, return_inverse=True, return_counts=True)
    known: dict[tuple[object, ...], int] = {}
    for at in np.flatnonzero(count[place.ravel()] > 1).tolist():
        part = int(first[lines[at]])
        number, row = int(scene.line[part]), int(scene.font_of[scene.owner[part]])
        if number < len(scene.pieces):
            size, turn = scene.font_px(first[lines[[at]]]).tolist(), scene.maps[scene.owner[part]].ravel()
            look = scene.fonts[row], *size, *turn.round(3).tolist(), str(scene.inks[row])
            said = scene.pieces[number], int(scene.against[part]), *look, *box[at].tolist()
            found[lines[at]] = known.setdefault(said, int(lines[at]))
    return found


def _beside(own: F64, levels: F64) -> F64:
    """Return the ink of letters that were not drawn (height, width), 0 to 1: what differs beside those that were.

    Parameters
    ----------
    own, levels : the ink of the latter, and how much each pixel differs (height, width).
    """
    strong = own > own.max() / 2
    most = float(np.median(levels[strong] / own[strong])) if strong.any() else 0.0
    return np.asarray(np.clip(levels / max(most, 1.0) - own, 0, 1))


def _most_alike(ratio: F64) -> float:
    """Return up to which share of difference the colours of a part and of the texts on it are alike.

    Parameters
    ----------
    ratio : how many times larger the letters of each of these are.
    """
    is_other = (ratio > _OTHER_SIZE) | (ratio < 1 / _OTHER_SIZE)
    return _ALIKE_AREA if ratio.size and is_other.all() else _ALIKE


def _are_alike(own: F64, others: F64, change: NDArray[np.int16], most: float) -> bool:
    """Return whether letters change a ground as other letters do; each pixel is of the upper one.

    Parameters
    ----------
    own, others : the ink of the letters and of others (height, width), 0 to 1.
    change : what all letters change (height, width, 3).
    most : which share of what these letters change both may differ by.
    """
    parts = np.stack((own.ravel(), (others * (1 - own)).ravel()), axis=1)
    (first, second), *_ = np.linalg.lstsq(parts, change.reshape(-1, 3).astype(np.float64), rcond=None)
    return bool(contrast(first, second) < most * contrast(first, np.zeros(3)))
