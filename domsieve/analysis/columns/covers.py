"""What is painted behind texts and over them by boxes that are not around them."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import product

import numpy as np

from domsieve.analysis.columns.batch import F64, Bools, Ints
from domsieve.analysis.columns.css_shapes import EVERYWHERE
from domsieve.analysis.columns.css_values import blended, blur_of, filtered, laid_on
from domsieve.analysis.columns.paint_styles import LEAST_OPACITY, LEAST_PX
from domsieve.analysis.columns.rectangles import (
    contains,
    grown,
    intersection,
    is_larger,
    samples,
    share_in,
    unturned,
)
from domsieve.analysis.columns.scene import Scene
from domsieve.budget import check
from domsieve.snapshot.contrast import LEAST_CONTRAST, contrast

# Guesses that bound the work: texts are compared with boxes in up to 64 horizontal bands of at least 128 texts.
_BANDS, _FEWEST_IN_BAND, _MOST_COVERS = 64, 128, 2_000
# So many points of a text are looked at, and so many of them at once.
_ACROSS, _DOWN, _PAIRS = 9, 3, 20_000


class Covers:
    """The rectangles that can be seen, and in what order they are painted."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        page, node, patches = scene.page, scene.node, scene.patches
        of = patches.node
        self.colour = self._filtered()
        clip = intersection(scene.own_clip[of], patches.outer)
        seen = node.seen[of] & (page.style[of] >= 0) & (scene.opacity[of] >= LEAST_OPACITY)
        seen &= is_larger(clip, LEAST_PX) & (of > 0) & ~scene.in_hidden_frame[of]
        self.patch = np.flatnonzero(seen)
        self.of: Ints = of[self.patch]
        self.clip: F64 = clip[self.patch]
        # The box that scrolls each, and what of it shows outside of that one's content.
        self.scroller = self._scrollers(self.of)
        self._window_of = self._windows()
        self.window: F64 = intersection(self.clip, self._window_of[self.scroller])
        root = self._roots(self.of)
        self.root = root
        self.turn: F64 = np.where(root >= 0, root + 0.5, page.paint[self.of])
        self.begins: F64 = self.turn + _WITHIN * (root < 0)

    def _scrollers(self, boxes: Ints) -> Ints:
        """Return the box that scrolls each of the boxes, -1 for none."""
        scene, node = self._scene, self._scene.node
        found = scene.scroller_of[boxes].copy()
        own = np.flatnonzero(found == boxes)
        found[own] = scene.scroller_of[scene.page.parent[boxes[own]]]
        leaves = node.fixed[boxes[own]] | (node.absolute[boxes[own]] & ~node.holds_placed[found[own]])
        found[own[leaves]] = -1
        return found

    def _windows(self) -> F64:
        """Return the part of the page (N + 1, 4) in which the content of boxes that scroll shows; the last is all."""
        scene = self._scene
        found = np.tile(EVERYWHERE, (len(scene.page) + 1, 1))
        scrollers = np.unique(scene.scroller_of)
        scrollers = scrollers[scrollers >= 0]
        around = self._scrollers(scrollers)
        shown = intersection(scene.rect[scrollers], scene.own_clip[scrollers])
        for one, outer, rect in zip(scrollers.tolist(), around.tolist(), shown, strict=True):
            found[one] = intersection(rect[None], found[outer][None])[0]
        return found

    def _is_in_view(self, text: Ints, over: Ints) -> Bools:
        """Return whether texts are scrolled with covers, by pairs: others are covered only where a cover shows."""
        scroller = self.scroller[over]
        return np.asarray((scroller < 0) | ((text > scroller) & (text < self._scene.page.end[scroller])))

    def _filtered(self) -> F64:
        """Return the colours of the patches (P, 4) after filters and opacity, unknown after blending."""
        scene = self._scene
        of, node, page = scene.patches.node, scene.node, scene.page
        colour = scene.patches.colour.copy()
        colour[:, 3] *= scene.opacity[of]
        colour[scene.patches.is_picture, :3] = np.nan
        owner = scene.effect_of[of]
        for value in np.unique(node.filter_number[owner[owner >= 0]]).tolist():
            at = np.flatnonzero((owner >= 0) & (node.filter_number[owner] == value))
            colour[at, :3] = filtered(colour[at, :3], node.filter_values[value])
        self.is_plain: Bools = (owner < 0) | (
            (node.blend_number[owner] == 0) & (scene.effect_of[page.parent[owner]] < 0)
        )
        return colour

    def laid(self, behind: Ints, ground: F64) -> F64:
        """Return the colours of grounds (n, 3) below patches (n, k), the uppermost first; NaN if not known."""
        scene = self._scene
        ground = ground.copy()
        opaque = np.zeros(len(behind), np.bool_)
        for patch in behind.T[::-1]:
            ink = self.colour[patch]
            unclear = ~self.is_plain[patch] | scene.is_odd[scene.patches.node[patch]]
            unclear |= scene.patches.is_picture[patch]
            mixed = laid_on(ink, ground)
            mixed[unclear] = np.nan
            ground = np.where((patch >= 0)[:, None], mixed, ground)
            opaque |= (patch >= 0) & (ink[:, 3] > 1 - LEAST_OPACITY) & ~unclear
        # There may be more below the last one.
        ground[(behind[:, -1] >= 0) & ~opaque] = np.nan
        return ground

    def _roots(self, boxes: Ints) -> Ints:
        """Return the paint order of the stacking context of each box that is behind its content; -1 for others."""
        page = self._scene.page
        found = np.full(boxes.size, -1)
        behind = self._scene.node.is_behind[boxes]
        at = page.parent[boxes].astype(np.int64)
        waiting = np.flatnonzero(behind)
        while waiting.size:
            at[waiting] = np.maximum(at[waiting], 0)
            is_root = (page.paint[at[waiting]] < page.paint[boxes[waiting]]) & (page.style[at[waiting]] >= 0)
            is_root |= at[waiting] == 0
            found[waiting[is_root]] = page.paint[at[waiting[is_root]]]
            waiting = waiting[~is_root]
            at[waiting] = page.parent[at[waiting]]
        return found

    def ground_turns(self, owner: Ints) -> F64:
        """Return when the grounds of these elements (n,), -1 for the page, are painted; compare with `begins`.

        Boxes behind a stacking context are painted after its background, and before those of others in it.
        """
        within = np.where(self._scene.is_context_root[owner], 0.0, _WITHIN)
        return np.where(owner >= 0, self._scene.page.paint[owner] + within, -1.0)

    def behind(
        self,
        text: Ints,
        owner: Ints,
        of: Bools,
        rect: F64 | None = None,
        share: tuple[float, float] = (0.5, 0.5),
    ) -> Ints:
        """Return the uppermost patches behind a point of each text that are of no ancestor and above its ground.

        Parameters
        ----------
        text : the texts.
        owner : the elements that paint their grounds, -1 for the page.
        of : bool (N,), the boxes to look at.
        rect, share : rectangles (n, 4), those of the texts unless given, and where in them the points are.

        Returns
        -------
        patches : (n, 3), the uppermost first, -1 for no more.
        """
        found = np.full((text.size, _LAYERS), -1)
        scene = self._scene
        page, patches = scene.page, scene.patches
        paints = (self.colour[self.patch, 3] > LEAST_OPACITY) | patches.is_picture[self.patch]
        those = np.flatnonzero(of[self.of] & paints)
        if not text.size or not those.size:
            return found
        ground = self.ground_turns(owner)
        rect = scene.rect[text] if rect is None else rect
        points = np.tile(rect[:, :2] + np.array(share) * (rect[:, 2:] - rect[:, :2]), 2)
        for at, over in self._bands(points, those):
            node, box, turn = text[at][:, None], self.of[over][None], self.turn[over][None]
            around = (box < node) & (page.end[box] > node)
            between = self.begins[over][None] >= ground[at][:, None]
            between &= turn <= page.paint[text[at]][:, None] + 0.5
            # In a drawing the order is that of the document.
            between &= ~scene.node.is_drawn[box] | (box < node) | (turn < page.paint[text[at]][:, None])
            point = points[at][:, None]
            there = contains(self.clip[over][None], point) & ~contains(
                patches.hole[self.patch[over]][None] + _INWARDS, point
            )
            there &= self._is_in_view(node, over[None]) | contains(self.window[over][None], point)
            turns = np.where(there & ~around & between, turn, -np.inf)
            for layer in range(_LAYERS if at.size else 0):
                last = (
                    over.size - 1 - np.argmax(turns[:, ::-1], axis=1)
                )  # of boxes in the same layer the last one
                rows = np.flatnonzero(turns[np.arange(at.size), last] > -np.inf)
                if not rows.size:
                    break
                found[at[rows], layer] = self.patch[over[last[rows]]]
                turns[rows, last[rows]] = -np.inf
        return found

    def hidden(self, text: Ints, cores: F64, inks: Sequence[F64], owners: Ints, grounds: F64) -> Bools:
        """Return which texts are under boxes that are painted later and move with them.

        A box with a negative ``z-index`` has a later number than the content of its stacking context, but is painted
        before it (CSS 2.1, appendix E).

        Parameters
        ----------
        text : the texts.
        cores : the parts of them to look at (n, 4).
        inks : the colours of their letters and of the outlines of these, each (n, 4).
        owners : the elements that paint their grounds, -1 for nothing.
        grounds : the colours of these (n, 3).
        """
        scene = self._scene
        # Where a reader has to scroll to a text, only what scrolls with it can be over it, or over all of the box.
        around = scene.scroller_of[scene.page.parent[text]]
        scroller = np.where(share_in(scene.rect[around], cores) >= _IN_VIEW, -1, around)

        def are_under(at: Ints, places: F64, *, outside: bool) -> Bools:
            own = ([ink[at] for ink in inks], owners[at], grounds[at], around[at])
            return self._is_under(text[at], places, *own, outside=outside)

        found = self._is_under(text, cores, inks, owners, grounds, scroller)
        window = self._window_of[around]
        away = np.flatnonzero((scroller >= 0) & ~found & is_larger(window, LEAST_PX))
        left = np.flatnonzero(found & (around >= 0) & (scroller < 0))
        found[away] = are_under(away, window[away], outside=True)
        if left.size:  # a reader may scroll them away from there, but not from what scrolls with them
            left = left[~are_under(left, cores[left], outside=False)]
            most = np.maximum(np.minimum(self._ways[around], cores[:, :2] - window[:, :2]), 0.0)
        for axis, share in product((1, 0), _SCROLLED) if left.size else ():
            moved = cores[left].copy()
            moved[:, axis::2] -= share * most[left, axis, None]
            found[left] = are_under(left, moved, outside=True)
            left = left[found[left]]
        return found

    @cached_property
    def _ways(self) -> F64:
        """How far boxes scroll to the right and down (N, 2), as their texts say, not above 0 for others."""
        scene, page, node = self._scene, self._scene.page, self._scene.node
        last = np.full((len(page), 2), -np.inf)
        boxed = np.flatnonzero((page.text >= 0) & (page.style >= 0))
        for axis in (0, 1):
            np.fmax.at(last[:, axis], scene.scroller_of[page.parent[boxed]], scene.rect[boxed, 2 + axis])
        can = node.scroll_axes | (node.is_frame[:, None] & [False, True])
        return np.asarray(np.where(can, last - scene.rect[:, 2:], -np.inf))

    def _is_under(
        self,
        text: Ints,
        cores: F64,
        inks: Sequence[F64],
        owners: Ints,
        grounds: F64,
        scroller: Ints,
        *,
        outside: bool = False,
    ) -> Bools:
        """Return which texts are under boxes that are in the same scroller, -1 for all boxes, or `outside` of it."""
        if not text.size:
            return np.zeros(0, np.bool_)
        scene = self._scene
        page, patches, node = scene.page, scene.patches, scene.node
        ink = self.colour[self.patch]
        works = (ink[:, 3] > LEAST_OPACITY) | (node.backdrop_number[self.of] > 0)
        usable = works & ~scene.is_odd[self.of] & ~scene.cut_to_text[self.of]
        usable &= self.turn + patches.is_top[self.patch] >= page.paint[text].min()
        those = np.flatnonzero(usable)
        through = np.ones((text.size, _ACROSS * _DOWN))
        changed = np.zeros(text.size, np.bool_)
        last = np.where(scroller < 0, len(page), page.end[scroller])
        for at, over in self._bands(cores, those):
            one, box = text[at][:, None], self.of[over][None]
            own = page.paint[one]
            later = (page.paint[box] > own) & (self.root[over][None] != own)
            later |= node.is_drawn[box] & (page.paint[box] == own) & (box > one)
            later |= patches.is_top[self.patch[over]][None] & (box < one) & (page.end[box] > one)
            later &= ((box > scroller[at][:, None]) & (box < last[at][:, None])) ^ outside
            later &= (box < one) | (box >= page.end[one])
            mover = scene.mover[page.parent[text[at]]]
            later &= (scene.mover[box] == mover[:, None]) & self._meets(cores[at], over)
            if node.paces and later.any():
                later &= ~self._passes(text[at], cores[at], over)
            first, second = np.nonzero(later)
            for begin in range(0, first.size, _PAIRS):
                check()
                pair = slice(begin, begin + _PAIRS)
                self._cover(
                    text, at[first[pair]], over[second[pair]], cores, through, changed, inks, owners, grounds
                )
        return np.asarray(changed | (through.max(axis=1) <= LEAST_OPACITY))

    @cached_property
    def _paces(self) -> tuple[F64, Ints, Ints]:
        """At which pace each node scrolls, the box that scrolls it, and the room that it shares, -1 for none (N,)."""
        scene, page = self._scene, self._scene.page
        pace, eye, room = np.ones(len(page)), scene.scroller_of.copy(), np.full(len(page), -1)
        for one, (own, around, root) in scene.node.paces.items():
            below = slice(one, page.end[one])
            pace[below], eye[below], room[below] = own, around, root
        return pace, eye, room

    def _passes(self, text: Ints, cores: F64, over: Ints) -> Bools:
        """Return which boxes `over` texts are behind them, or go at another pace and so leave them (n, m)."""
        page, (pace, eye, room) = self._scene.page, self._paces
        box, scroller = self.of[over], eye[text]
        others = (
            (eye[box] == scroller[:, None]) & (pace[box] != pace[text][:, None]) & (scroller >= 0)[:, None]
        )
        # What is farther in the same room is behind.
        found: Bools = (room[box] >= 0) & (text[:, None] > room[box]) & (text[:, None] < page.end[room[box]])
        found &= pace[box] < pace[text][:, None]
        port, way = self._window_of[scroller], np.maximum(self._ways[scroller, 1], 0.0)
        for share in _PASSED if others.any() else ():
            by = (share * way * pace[text])[:, None], (share * way)[:, None] * pace[box]
            top, bottom = cores[:, 1, None] - by[0], cores[:, 3, None] - by[0]
            is_in_view = (bottom > port[:, 1, None]) & (top < port[:, 3, None])
            is_apart = (self.clip[over, 1] - by[1] >= bottom) | (self.clip[over, 3] - by[1] <= top)
            found |= is_in_view & is_apart
        return np.asarray(found & others)

    def _meets(self, cores: F64, over: Ints) -> Bools:
        clip, core = self.clip[over][None], cores[:, None]
        return np.asarray(((clip[..., :2] < core[..., 2:]) & (clip[..., 2:] > core[..., :2])).all(axis=-1))

    def _cover(
        self,
        text: Ints,
        at: Ints,
        over: Ints,
        cores: F64,
        through: F64,
        changed: Bools,
        inks: Sequence[F64],
        owners: Ints,
        grounds: F64,
    ) -> None:
        """Lay each of the patches `over` on one of the texts, which is `at` that place."""
        scene, points = self._scene, samples(cores[at], _ACROSS, _DOWN)
        patch, of = self.patch[over], self.of[over]
        clip = np.where(self._is_in_view(text[at], over)[:, None], self.clip[over], self.window[over])
        inside = _inside(points, clip) & ~_inside(points, scene.patches.hole[patch])
        turned = np.flatnonzero(scene.is_turned(of))
        if turned.size:
            inside[turned] &= _inside_turned(points[turned], scene.rect[of[turned]], scene.plane[of[turned]])
        ink, alpha = self.colour[patch], self.colour[patch, 3]
        blends = self._blends(of)
        plain = ~blends & (ink[:, 3] > 0)
        np.multiply.at(through, at[plain], 1 - alpha[plain, None] * inside[plain])
        for pair in np.flatnonzero(
            (~plain | (scene.node.backdrop_number[of] > 0)) & inside.all(axis=1)
        ).tolist():
            one, box = int(at[pair]), int(of[pair])
            letters = [of_letters[one, :3] for of_letters in inks if of_letters[one, 3] > 0]
            stands = scene.stands_in(np.array([scene.context_of[scene.page.parent[box]]]), owners[[one]])[0]
            changed[one] |= all(
                self._is_levelled(box, ink[pair], own, grounds[one], stands=stands) for own in letters
            )

    def _blends(self, boxes: Ints) -> Bools:
        """Return which boxes are blended, or are in an element that is."""
        scene = self._scene
        found, at = np.zeros(boxes.size, np.bool_), scene.effect_of[boxes].copy()
        while (there := np.flatnonzero(at >= 0)).size:
            found[there] |= scene.node.blend_number[at[there]] > 0
            at[there] = scene.effect_of[np.maximum(scene.page.parent[at[there]], 0)]
        return found

    def _is_levelled(self, box: int, ink: F64, letters: F64, ground: F64, *, stands: bool) -> bool:
        """Return whether a box with a blend mode or a backdrop filter makes letters the colour of their ground.

        The box is not blended with a ground unless it `stands` in the same stacking context.
        """
        node = self._scene.node
        colours = np.stack((letters, ground))
        if node.backdrop_number[box]:
            value = node.backdrop_values[node.backdrop_number[box]]
            if blur_of(value) >= _MOST_BACKDROP_BLUR_PX:
                return True
            colours = filtered(colours, value)
        if node.blend_number[box] and self._scene.effect_of[self._scene.page.parent[box]] < 0:
            top = np.tile(ink[:3], (2, 1))
            mixed = blended(top, colours, node.blend_values[node.blend_number[box]])
            if not stands:
                mixed[1] = ink[:3]
            colours = colours + (mixed - colours) * ink[3]
        elif self._blends(np.array([box]))[0]:
            return False
        return bool(contrast(*colours) <= LEAST_CONTRAST)

    def _bands(self, rect: F64, those: Ints) -> Iterator[tuple[Ints, Ints]]:
        """Yield groups of rows of `rect` with similar tops, each with `those` of the covers that reach these tops.

        Each group gets at most the 2,000 largest boxes, so that no page can cause quadratic time.
        """
        if not those.size or not len(rect):
            return
        order = np.argsort(rect[:, 1], kind="stable")
        top, bottom = self.clip[those, 1], self.clip[those, 3]
        area = (self.clip[those, 2] - self.clip[those, 0]) * (bottom - top)
        for at in np.array_split(order, min(_BANDS, 1 + order.size // _FEWEST_IN_BAND)):
            check()
            first, last = rect[at, 1].min(), rect[at, 3].max()
            over = np.flatnonzero((top <= last) & (bottom >= first))
            if over.size > _MOST_COVERS:
                over = np.sort(over[np.argsort(-area[over], kind="stable")[:_MOST_COVERS]])
            if over.size:
                yield at, those[over]


# What is added to the paint order of a box for what is in it, or behind the content of its stacking context.
_WITHIN = 0.75
_LAYERS = 3
_LEAST_AREA = 1e-6
# Texts are looked at in so many places to which boxes scroll them, in shares of the way.
_SCROLLED = (0.0, 0.25, 0.5, 0.75, 1.0)
_PASSED = tuple(np.linspace(0.0, 1.0, 17).tolist())
# A text is in view in its scrolling box if so much of it is.
_IN_VIEW = 0.5
_INWARDS = np.array([1.0, 1.0, -1.0, -1.0])
# Letters of usual sizes cannot be read through a filter of this blur.
_MOST_BACKDROP_BLUR_PX = 8.0


def _inside(points: F64, rect: F64) -> Bools:
    """Return which points (n, k, 2) are in the rectangle of their row (n, 4), with half a pixel of tolerance."""
    edges = grown(rect, np.where(is_larger(rect, 0.0), 0.5, 0.0))[:, None]
    return np.asarray(((points > edges[..., :2]) & (points < edges[..., 2:])).all(axis=-1))


def _inside_turned(points: F64, rect: F64, plane: F64) -> Bools:
    """Return which points (n, k, 2) are in a box that a matrix (n, 2, 2) turns, which `rect` (n, 4) is around."""
    half = unturned(rect, plane)
    determinant = np.abs(np.linalg.det(plane))
    safe = np.where(determinant[:, None, None] < _LEAST_AREA, np.eye(2), plane)
    middle = (rect[:, :2] + rect[:, 2:]) / 2
    own = np.einsum("nij,nkj->nki", np.linalg.inv(safe), points - middle[:, None])
    return np.asarray((np.abs(own) <= half[:, None]).all(axis=-1) & (determinant >= _LEAST_AREA)[:, None])
