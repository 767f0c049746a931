"""Pictures of a part of a page, with letters and without: in which boxes they differ."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from domsieve.renderer.page.pixels._boxes import area, around_all, counts, lines_around
from domsieve.renderer.page.pixels._grounds import (
    blends_in,
    is_noise,
    is_overlaid,
    lie_on_ink,
    steps_of,
)
from domsieve.renderer.page.pixels._heaps import Heaps, equal_lines
from domsieve.renderer.page.pixels._images import FINE, SCALE, levels_of, reduced, shifted, steady_levels
from domsieve.renderer.page.pixels._letters import INKS, Letters
from domsieve.renderer.page.pixels._likeness import Comparison, uncompared
from domsieve.renderer.page.pixels._parts import F64, OUTWARDS, SPREAD_PX, Bools, Ints, common, meet
from domsieve.renderer.page.pixels._reading import are_cut, are_even, are_pale, is_smeared
from domsieve.renderer.page.pixels._scene import Scene
from domsieve.renderer.page.pixels._strokes import Words
from domsieve.renderer.page.pixels._struck import are_struck, may_be_struck, struck_share

if TYPE_CHECKING:
    from PIL.Image import Image

LEAST_SHARE = 0.10
"""A text is seen if this share of the ink of its letters differs."""
# From Hebrew on, many letters are compared only as whole words, so more of the ink must differ that is drawn apart:
# without a cover, .99 of it does.
_FIRST_OF_WORDS, _LEAST_SHOWN = "\u0590", 0.9

# By more than so many of 255 levels: in half of the size, letters are paler than the `LEAST_CONTRAST` of the rules.
_LEAST_CONTRAST = 6
# If less than one in so many pixels of a ground differs from the next one in its row, it is no noise; if less than
# one in so many differs from the next one in its row or column, it has no ink.
_SMOOTH, _EVEN = 4, 10
# Bounds of the work: texts that are made transparent alone, and pictures for them.
_MOST_ALONE, _MOST_GROUPS = 1_000, 8
# Letters reach a little beyond their boxes, and a few pixels of icons farther.
_REACH_PX, _FEW_PIXELS = 4, 40
# Of a text with others in its box, at most so much of what differs is not in these.
_MOST_OWN = 0.95
# Lines that share less of their boxes than this stand beside each other; each may be in the shadow of the other.
_MOST_BESIDE = 0.25
# Two lines of a text that share no more than this of their height do not lie on each other.
_APART = 0.25


class Pictures:
    """The pictures of one part of the page, with and without letters.

    Attributes
    ----------
    changed : (B,), how many pixels of each part of a text differ.
    smeared : (B,), the parts that differ, but cannot be read.
    is_near, is_cut_off : (B,), the parts that may be in the pictures, and those that may be partly beyond them.
    unsure : (B,), the parts that cannot be told from what moves, or from others that overlap them.
    whole, fine : the pictures without and with letters, in full size, and how far they are apart (height, width).
    are_many : whether there are more pictures than one with letters and one without.
    """

    def __init__(self, scene: Scene, clip: F64, without: "Image", complete: "Image") -> None:
        place, _ = scene.in_view()
        self._scene = scene
        self.whole = without, complete
        self._without, self._complete = [without.reduce(FINE)], [complete.reduce(FINE)]
        levels = self._levels = levels_of(self._complete[0], self._without[0])
        self._differs = levels > _LEAST_CONTRAST
        self._clip = clip
        self._edges = self._scaled(place)
        self.is_near = meet(place, clip + _REACH_PX / SCALE * OUTWARDS)
        self.is_cut_off = self.is_near & ((place[:, :2] < clip[:2]) | (place[:, 2:] > clip[2:])).any(axis=1)
        self.unsure = np.zeros(len(place), np.bool_)
        self.are_many = False
        self.changed = self._count(self._differs)
        changed = np.flatnonzero(self.changed > 0)
        self.smeared = self._is_smeared(levels, np.flatnonzero(scene.smeared[scene.owner]), self._edges)
        # A row of letters takes part in two rows of a reduced picture.
        fine = self.fine = levels_of(complete, without)
        edges = np.minimum(FINE * self._edges, np.tile(complete.size, 2))
        self._cut = self._is_cut(fine > _LEAST_CONTRAST, changed, edges, scale=1)
        self.smeared[changed] |= are_pale(fine, edges[changed], scene.letter_px(changed))
        some, picture = changed[~scene.is_sign[changed]], np.asarray(self._complete[0])
        self.smeared[some] |= are_even(picture, levels, self._edges[some])
        self.smeared |= scene.misread
        self.changed[self.smeared] = 0
        self._in_shadow, self._may_be_struck = np.zeros((2, len(place)), np.bool_)
        self._mixed = np.zeros(len(place))
        self._line = scene.line

    def words_in(
        self, parts: Bools, word: Ints, letters: Letters, around: F64 | None = None
    ) -> tuple[Words, NDArray[np.uint8]]:
        """Return the words of some parts (B,) in a picture with letters, in full size, and this.

        Parameters
        ----------
        word : the number of the word of each part (B,).
        letters : the lines, of which these parts were compared one by one.
        around : the place that is in the picture, see `around`, if it is not all of it.
        """
        picture = np.asarray(self.whole[1])
        left, top, right, bottom = self._scaled(around[None])[0] if around is not None else (0, 0, *self.size)
        edges, is_here = FINE * self._edges, area(self._edges) > 0
        edges[is_here] += np.rint(letters.beyond).astype(np.intp)[is_here]
        edges -= FINE * np.array([left, top, left, top])
        words = Words(parts, word, edges, self._scene.drawn_px)
        return words, picture[FINE * top : FINE * bottom, FINE * left : FINE * right]

    @property
    def steady(self) -> NDArray[np.uint8]:
        """How far apart the pictures are in full size (height, width), 0 where something else moves."""
        if not self.are_many:
            return self.fine
        steady = self._differs.repeat(FINE, axis=0).repeat(FINE, axis=1)
        high, wide = self.fine.shape
        return np.where(steady[:high, :wide], self.fine, 0).astype(np.uint8)

    def compared(self, letters: Letters, drawn: "Image") -> Comparison:
        """Compare the parts that differ with their letters.

        Parameters
        ----------
        letters : the lines that were drawn apart.
        drawn : their letters in each ink, in a picture of the same part in full size.
        """
        inked = reduced(drawn)
        self.smeared |= self._is_lost(np.flatnonzero(self.changed > 0), letters, inked, drawn)
        parts = np.flatnonzero(letters.is_drawn & (self.changed > 0) & ~self._scene.is_sign & ~self.smeared)
        inks, edges, is_level = (
            letters.ink[parts],
            self._edges[parts],
            self._scene.is_level[self._scene.owner[parts]],
        )
        whole = np.asarray(self._complete[0])
        # Letters of their own elements are compared in rows, also with those that are cut.
        self.smeared |= self._cut
        for way in is_level, ~is_level:
            self._may_be_struck[parts] |= may_be_struck(whole, inked, inks, edges, way)
        return Comparison(self._levels, inked, self._scene, letters.ink, self._edges, parts)

    def see_shifted(self, comparison: Comparison, around: F64, drawn: "Image") -> None:
        """Compare parts once more with their letters in a place, see `around`, shifted as layers may be."""
        inside = self._inside(around, comparison)
        for ink in shifted(drawn):
            whole = np.zeros((*comparison.levels.shape, INKS), np.uint8)
            whole[inside] = ink
            comparison.draw(whole)

    def fill(self, comparison: Comparison, around: F64, picture: "Image") -> None:
        """Compare doubtful parts once more, in a picture of a place, see `around`, without the filling of letters."""
        found = levels_of(self._complete[0].crop(self._scaled(around[None])[0].tolist()), picture)
        levels = np.zeros_like(comparison.levels)
        inside = self._inside(around, comparison)
        levels[inside] = np.where(found > _LEAST_CONTRAST, found, 0)
        comparison.fill(levels, counts(levels > 0, comparison.edges))

    def _inside(self, around: F64, comparison: Comparison) -> tuple[slice, slice]:
        """Return the rows and columns of a place in what is compared."""
        left, top, right, bottom = (self._scaled(around[None])[0] - np.tile(comparison.origin, 2)).tolist()
        return np.s_[top:bottom, left:right]

    def match(self, comparison: Comparison) -> None:
        """Count nothing of parts that do not look like their letters."""
        self.changed = np.minimum(self.changed, comparison.most)
        unlike = comparison.unlike()
        self._mixed = np.where(unlike & ~self.smeared, self.changed, 0.0)
        self.smeared |= unlike
        self.changed[self.smeared] = 0

    def uncompared(self, boxes: Bools, letters: Letters) -> Bools:
        """Return which parts (B,) of some seem to be seen, but are not compared with their letters."""
        return np.asarray(boxes & uncompared(self._scene, letters, (self.changed > 0) & ~self.smeared))

    def unline(
        self,
        parts: Bools,
        stuck: Bools,
        around: F64,
        pictures: Iterable[Sequence["Image"]],
        *,
        is_alone: bool,
    ) -> None:
        """Count only what also differs without the lines and marks of letters.

        Parameters
        ----------
        parts, stuck : the parts (B,) with lines, and those of them that keep these.
        around, pictures : a place, see `around`, and pictures of it without lines: without and with letters.
        is_alone : whether the letters of others stay, see `crowds`.
        """
        left, top, right, bottom = self._scaled(around[None])[0].tolist()
        shown = np.zeros_like(self._differs)
        shown[top:bottom, left:right] = steady_levels(*pictures) > _LEAST_CONTRAST
        differs = self._differs.copy()
        for x, y, right, bottom in self._edges[parts].tolist():
            differs[y:bottom, x:right] &= shown[y:bottom, x:right]
        self.changed[parts] = np.minimum(self.changed, self._count(differs))[parts]
        self._leave_out(stuck | self._is_cut(differs, np.flatnonzero(parts), self._edges))
        if not is_alone:
            self._differs = differs

    def _is_smeared(self, levels: NDArray[np.uint8], parts: Ints, edges: Ints) -> Bools:
        """Return which parts (B,), of some, change so smoothly in a picture that they cannot be read."""
        found = np.zeros(len(edges), np.bool_)
        sizes = SCALE * self._scene.font_px(parts)
        for part, size in zip(parts.tolist(), sizes.tolist(), strict=True):
            x, y, right, bottom = edges[part].tolist()
            found[part] = is_smeared(levels[y:bottom, x:right], size)
        return found

    def _is_cut(self, differs: Bools, parts: Ints, edges: Ints, scale: float = SCALE) -> Bools:
        """Return which parts (B,), of some, change in so few rows of a picture that nobody can read them."""
        scene, found = self._scene, np.zeros(len(edges), np.bool_)
        parts = parts[~scene.is_sign[parts]]
        found[parts] = are_cut(differs, edges[parts], scale * scene.font_px(parts), scene.letters[parts])
        return found

    def _is_lost(self, parts: Ints, letters: Letters, inked: NDArray[np.uint8], drawn: "Image") -> Bools:
        """Return which parts (B,), of some, are lost in what is behind them; `inked` is `drawn` reduced."""
        found = np.zeros(len(self._edges), np.bool_)
        ground, whole = np.asarray(self._without[0]), np.asarray(self._complete[0])
        grey = np.asarray(self._without[0].convert("L"))
        rough, steps = steps_of(grey, _LEAST_CONTRAST)
        cover = np.zeros(self._differs.shape, np.uint16)
        for x, y, right, bottom in self._edges[parts].tolist():
            cover[y:bottom, x:right] += 1
        for part in parts.tolist():
            x, y, right, bottom = self._edges[part].tolist()
            inside = np.s_[y:bottom, x:right]
            ink = inked[inside] / 255 if letters.is_drawn[part] else None
            own = ink[..., letters.ink[part]] if ink is not None and not self._scene.is_sign[part] else None
            if own is not None and max(letters.all_said[part]) >= _FIRST_OF_WORDS:
                found[part] = own[self._differs[inside]].sum() < _LEAST_SHOWN * own.sum()
            if np.ptp(ground[inside], axis=(0, 1)).max() <= 1:
                continue
            box = ground[inside], whole[inside]
            if own is not None:
                found[part] |= blends_in(*box, own)
            elif (cover[y + 1 : bottom - 1, x + 1 : right - 1] <= 1).all():
                # Letters of an unknown shape have that of what they change, if no others are there.
                found[part] = blends_in(*box, self._levels[inside] / max(int(self._levels[inside].max()), 1))
            if np.count_nonzero(steps[inside]) * _EVEN < (bottom - y) * (right - x):
                continue
            if np.count_nonzero(rough[y:bottom, x + 1 : right]) * _SMOOTH >= (bottom - y) * (right - x):
                found[part] |= is_noise(*box, self._differs[inside], ink)
            # Thin lines of their colour are half as dark in a reduced picture, and twice as thick.
            found[part] |= (
                own is not None and is_overlaid(*box, own) and self._lie_on_ink(part, letters, drawn)
            )
        return found

    def _lie_on_ink(self, part: int, letters: Letters, drawn: "Image") -> bool:
        """Return whether the letters of a part are on other ink of their colour in full size."""
        edges = (FINE * self._edges[part]).tolist()
        ground, whole, inks = (np.asarray(one.crop(edges)) for one in (*self.whole, drawn))
        return lie_on_ink(ground, whole, inks[..., letters.ink[part]] / 255)

    def _scaled(self, boxes: F64) -> Ints:
        """Return the edges in pixels of the picture of boxes (n, 4) in px of the page."""
        height, width = self._differs.shape
        scaled = (boxes - np.tile(self._clip[:2], 2)) * SCALE
        edges = np.clip(np.nan_to_num(np.rint(scaled)), 0, [width, height, width, height]).astype(np.intp)
        edges[:, 2:] = np.maximum(edges[:, 2:], edges[:, :2])
        return np.asarray(edges)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        height, width = self._differs.shape
        return width, height

    def size_of(self, around: F64) -> tuple[int, int]:
        """Return width and height in pixels of a place in px of the page."""
        x, y, right, bottom = self._scaled(around[None])[0].tolist()
        return right - x, bottom - y

    def may_move(self, boxes: Bools) -> Bools:
        """Return which parts (B,) of some seem to be seen, but are where something is that may move by itself."""
        if not self._scene.moving.size:
            return np.zeros_like(boxes)
        mask = np.zeros(self._differs.shape, np.bool_)
        for x, y, right, bottom in self._scaled(self._scene.moving).tolist():
            mask[y:bottom, x:right] = True
        return np.asarray(boxes & (self.changed > 0) & (self._count(mask) > 0))

    def around(self, boxes: Bools) -> F64:
        """Return what is around some parts in px of the page, in whole pixels of the picture."""
        place, _ = self._scene.in_view()
        found = common(around_all(place[boxes]), self._clip)
        found[:2] = self._clip[:2] + np.floor((found[:2] - self._clip[:2]) * SCALE) / SCALE
        found[2:] = self._clip[:2] + np.floor((found[2:] - self._clip[:2]) * SCALE) / SCALE
        return np.asarray(found)

    def differs_from(self, around: F64, without: Sequence["Image"], complete: Sequence["Image"]) -> bool:
        """Return whether later pictures of the same states differ from these in a place."""
        edges = self._scaled(around[None])[0].tolist()
        return any(
            np.count_nonzero(levels_of(own[0].crop(edges), one) > _LEAST_CONTRAST) > _FEW_PIXELS
            for own, later in ((self._without, without), (self._complete, complete))
            for one in later
        )

    def _count(self, mask: Bools) -> F64:
        """Return how many pixels of a mask are in each box."""
        return counts(mask, self._edges)

    def moves(self) -> bool:
        """Return whether anything differs where no letters are."""
        empty = self._differs.copy()
        for x, y, right, bottom in self._edges[self.is_near].tolist():
            empty[max(y - _REACH_PX, 0) : bottom + _REACH_PX, max(x - _REACH_PX, 0) : right + _REACH_PX] = (
                False
            )
        return bool(np.count_nonzero(empty) > _FEW_PIXELS)

    def missing(self, boxes: Bools) -> Bools:
        """Return which parts (B,) of some that are in this part of the page surely differ too little to be seen."""
        return np.asarray(
            boxes & ~self.unsure & (area(self._edges) > 0) & (self.changed < LEAST_SHARE * self._scene.ink)
        )

    def seen(self, boxes: Bools) -> Bools:
        """Return which parts (B,) of some seem to be seen."""
        return np.asarray(boxes & (self.changed > 0) & ~self.smeared)

    def may_be_struck(self, boxes: Bools) -> Bools:
        """Return which parts (B,) of some seem to be seen, but lines may cover much of them."""
        return self.seen(boxes & self._may_be_struck)

    def strike(self, boxes: Bools, around: F64, letters: Letters, drawn: "Image") -> None:
        """Count nothing of some parts of which lines of their colour cover too much.

        Parameters
        ----------
        around, drawn : a place, see `around`, and the letters in it in full size.
        """
        place = FINE * self._scaled(around[None])[0]
        shown, inks = np.asarray(self.whole[1].crop(place.tolist())), np.asarray(drawn)
        edges = np.clip(FINE * self._edges - np.tile(place[:2], 2), 0, np.tile(drawn.size, 2))
        scene, parts, shares = self._scene, np.flatnonzero(boxes), []
        for part in parts.tolist():
            x, y, right, bottom = edges[part].tolist()
            owner, own = scene.owner[part], inks[y:bottom, x:right, letters.ink[part]]
            said = np.full(3, np.nan) if scene.is_drawing[owner] else scene.inks[scene.font_of[owner]]
            shares.append(struck_share(shown[y:bottom, x:right], own, said))
        boxes[parts] = are_struck(np.array(shares), scene.line[parts])
        self._leave_out(boxes)

    def correct(self, missing: Bools, later: "Pictures") -> None:
        """Take over what later pictures show of parts that were missing."""
        found = missing & (later.changed > self.changed)
        self.changed[found] = later.changed[found]
        self.unsure[found] = later.unsure[found]

    def take_out(self, without: Sequence["Image"], complete: Sequence["Image"]) -> None:
        """Take out what moves by itself: pixels that are not apart in all pictures with and all without letters."""
        need, before = LEAST_SHARE * self._scene.ink, self.changed
        self._levels = steady_levels([*self._without, *without], [*self._complete, *complete])
        self.are_many = True
        self._differs &= self._levels > _LEAST_CONTRAST
        self.changed = self._count(self._differs)
        self.changed[self.smeared] = 0
        self.unsure |= (before >= need) & (self.changed < need)

    def crowds(self, boxes: Bools, can_be_alone: Bools) -> list[Ints]:
        """Return groups of parts that overlap others and may be seen for these; no two texts of a group overlap.

        Parts that cannot be made transparent alone are unsure.
        """
        scene = self._scene
        cover = np.zeros(self._differs.shape, np.uint16)
        lines, first, line = np.unique(scene.line, return_index=True, return_inverse=True)
        edges = lines_around(self._edges, line, lines.size)
        moved = np.tile(scene.moved()[first], 2)
        ink = self._scaled(common(scene.ink_box[lines] - moved, scene.ports()[scene.scroller[first]]))
        inked, boxed = area(ink) > 0, area(edges) > 0
        both = np.concatenate((np.minimum(edges, ink)[:, :2], np.maximum(edges, ink)[:, 2:]), axis=1)
        edges = np.where(inked[:, None], np.where(boxed[:, None], both, ink), edges)
        reach = np.ceil(scene.reach_px[scene.owner[first]] * SCALE).astype(np.intp)[:, None]
        wide = edges + reach * OUTWARDS
        # Shadows of a text may lie on its own lines; letters of two lines may not.
        owner = scene.owner[first]
        over = edges[:-1, 3] - edges[1:, 1]
        apart = (owner[1:] == owner[:-1]) & (over <= _APART * (edges[:-1, 3] - edges[:-1, 1]))
        wide[:-1, 3] = np.where(apart, np.maximum(edges[:-1, 3], edges[1:, 1]), wide[:-1, 3])
        wide[1:, 1] = np.where(apart, np.minimum(edges[1:, 1], edges[:-1, 3]), wide[1:, 1])
        reaches = (area(edges) > 0) | (reach[:, 0] > SPREAD_PX)
        equal = equal_lines(scene, first, np.flatnonzero(reaches))
        self._line = equal[line]
        reaches &= equal == np.arange(first.size)
        for x, y, right, bottom in np.maximum(wide[reaches], 0).tolist():
            cover[y:bottom, x:right] += 1
        own = self._count(self._differs & (cover == 1))
        need = LEAST_SHARE * scene.ink
        doubtful = boxes & (own < need) & (self.changed >= need)
        # Pale letters look unlike themselves where darker ones stand in their box.
        mixed = boxes & can_be_alone & (self._mixed >= need) & (own < _MOST_OWN * self._mixed)
        doubtful |= mixed
        self.smeared &= ~mixed
        self.unsure |= doubtful & ~can_be_alone
        doubtful &= can_be_alone
        beside = np.zeros(self._differs.shape, np.uint16)
        for x, y, right, bottom in edges[reaches].tolist() if doubtful.any() else ():
            beside[y:bottom, x:right] += 1
        self._in_shadow = doubtful & (self._count(beside > 1) < _MOST_BESIDE * area(self._edges))
        # What is drawn far from its box must not change together with what is there.
        edges = np.where(reach > SPREAD_PX, wide, edges)
        texts = np.unique(scene.owner[doubtful])
        self.unsure |= doubtful & np.isin(scene.owner, texts[_MOST_ALONE:])
        groups: list[list[int]] = []
        for text in texts[:_MOST_ALONE].tolist():
            ours = edges[owner == text]
            for group in groups:
                if not meet(ours[:, None], edges[np.isin(owner, group)]).any():
                    group.append(text)
                    break
            else:
                if len(groups) < _MOST_GROUPS:
                    groups.append([text])
                else:
                    self.unsure |= doubtful & (scene.owner == text)
        return [np.flatnonzero(doubtful & np.isin(scene.owner, group)) for group in groups]

    def with_equal(self, group: Ints) -> Ints:
        """Return the parts of a group, see `crowds`, and all of lines that are exactly like theirs in their place."""
        return np.flatnonzero(np.isin(self._line, self._line[group]))

    def bury(self) -> Heaps:
        """Count nothing of texts in heaps as changed; return these, of which `mix` tells more."""
        scene = self._scene
        is_painted = (self.changed > 0) & (self.changed >= LEAST_SHARE * scene.ink)
        is_painted &= ~scene.absent[scene.owner]
        heaps = Heaps(scene, self._edges, is_painted, shape=self._differs.shape, scale=SCALE)
        self._leave_out(heaps.buried)
        return heaps

    def mix(self, heaps: Heaps, around: F64, letters: Letters, drawn: "Image") -> None:
        """Count nothing of texts that mix with another one; `drawn` are the letters around them, see `compared`."""
        edges = self._scaled(around[None])[0]
        without, complete = (
            np.asarray(one[0].crop(edges.tolist()), np.int16) for one in (self._without, self._complete)
        )
        self._leave_out(heaps.mixed(letters, reduced(drawn), complete - without, edges[:2]))

    def _leave_out(self, parts: Bools) -> None:
        """Count nothing of some parts (B,) that differ, but cannot be read."""
        self.smeared |= parts
        self.changed[parts] = 0

    def compared_alone(
        self, group: Ints, around: F64, picture: "Image", letters: Letters, drawn: "Image"
    ) -> Comparison:
        """Compare the parts of a group with their letters in a picture where only those of their texts are blank.

        Those in the shadow of another text may be lost in it.

        Parameters
        ----------
        group : the numbers of the parts.
        around, picture : a place with all of these, see `around`, and the picture of it.
        letters, drawn : see `compared`; only the letters of these texts.
        """
        place = self._scaled(around[None])[0]
        levels = levels_of(self._complete[0].crop(place.tolist()), picture)
        parts = group[letters.is_drawn[group] & ~self._scene.is_sign[group]]
        ground, whole = np.asarray(picture), np.asarray(self._complete[0].crop(place.tolist()))
        inks = reduced(drawn)
        for part in parts.tolist():
            x, y, right, bottom = (self._edges[part] - np.tile(place[:2], 2)).tolist()
            inside = np.s_[y:bottom, x:right]
            box = ground[inside], whole[inside], inks[inside][..., letters.ink[part]] / 255
            self.smeared[part] |= blends_in(*box) or (self._in_shadow[part] and is_overlaid(*box))
        parts = parts[~self.smeared[parts]]
        return Comparison(levels, inks, self._scene, letters.ink, self._edges, parts, origin=place[:2])

    def count_alone(self, group: Ints, comparison: Comparison) -> None:
        """Count what differs of the parts of a group, if they look like their letters."""
        (left, top), (height, width) = comparison.origin.tolist(), comparison.levels.shape
        differs = comparison.levels > _LEAST_CONTRAST
        differs &= self._differs[top : top + height, left : left + width]
        changed = np.minimum(counts(differs, comparison.edges), comparison.most)
        changed[self._is_cut(differs, group, comparison.edges)] = 0
        smeared = group[self._scene.smeared[self._scene.owner[group]]]
        changed[self._is_smeared(comparison.levels, smeared, comparison.edges)] = 0
        changed[comparison.unlike() | self.smeared] = 0
        self.changed[group] = changed[group]
