"""Whether letters stand out from their ground: what is behind texts, after opacity, filters and blend modes."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from domsieve.analysis.columns.batch import F64, Bools, Ints
from domsieve.analysis.columns.covers import Covers
from domsieve.analysis.columns.css_values import blended, filtered, has_shape, laid_on, shadows
from domsieve.analysis.columns.paint_styles import LEAST_OPACITY
from domsieve.analysis.columns.rectangles import intersection, is_larger, share_in
from domsieve.analysis.columns.scene import Scene
from domsieve.snapshot.contrast import LEAST_CONTRAST, contrast

# So much of a text at its edges has less than a tenth of its ink: in shares of its width, and of its letters' size.
_EDGE, _EDGE_OF_LINE = 0.03, 0.25
# A text of which less can be seen is hidden, as for `tests/renderer/pixel_oracle.py`.
LEAST_SHARE = 0.1
# Fixed and sticky boxes of so much of the window's height, and so many of them, are grounds that texts come over.
_LEAST_OF_WINDOW, _MOST_MOVERS = 0.5, 20
# A text has left at most so many boxes with a background. A guess.
_MOST_LEFT = 16
_MOST_BORDERS = 500  # a guess, too
# Points near the edges of a text, in shares of its width and height.
_EDGES = ((1 / 6, 1 / 2), (5 / 6, 1 / 2), (1 / 2, 1 / 6), (1 / 2, 5 / 6))
# Filters and blend modes inside one another that are computed. A guess, too.
_MOST_EFFECTS = 6


class Backdrop(NamedTuple):
    """What is behind n texts.

    Parameters
    ----------
    text : the texts.
    owner : the element that paints their ground, -1 for nothing.
    ground : its colour (n, 3).
    beyond : the colour behind the parts of texts that are outside of the ground (n, 3).
    behind : the patch behind each that is of no ancestor, -1 for none.
    most : up to which `contrast` each has the colour of its ground.
    """

    text: Ints
    owner: Ints
    ground: F64
    beyond: F64
    behind: Ints
    most: F64

    def take(self, at: Ints) -> "Backdrop":
        """Return what is behind some of the texts."""
        return Backdrop._make(one[at] for one in self)


class Grounds:
    """The grounds that texts of a page stand on."""

    def __init__(self, scene: Scene, covers: Covers) -> None:
        self.page, self.scene, self.covers = scene.page, scene, covers
        self.node, self.rect = scene.node, scene.rect

    def cores(self, text: Ints) -> F64:
        """Return the parts of the boxes of texts (n, 4) that have most of their ink: letters are lower than lines."""
        rect = self.rect[text].copy()
        edge = np.stack(
            (_EDGE * (rect[:, 2] - rect[:, 0]), _EDGE_OF_LINE * self.node.letter_px[text]), axis=1
        )
        edge = np.minimum(edge, np.maximum(rect[:, 2:] - rect[:, :2], 0) / 3)
        rect[:, :2] += edge
        rect[:, 2:] -= edge
        return rect

    def shown(self, text: Ints) -> F64:
        """Return what boxes that cut and the edges of the page leave of the cores of texts; all if nothing."""
        scene, above, cores = self.scene, self.page.parent[text], self.cores(text)
        edges = scene.clip[above].copy()
        for axis, reaches in enumerate((scene.reaches_left[above], scene.reaches_up[above])):
            edges[~reaches, axis] = np.maximum(edges[~reaches, axis], 0.0)
        left = intersection(cores, edges)
        return np.where(is_larger(left, 0.0)[:, None], left, cores)

    def backdrop(self, text: Ints) -> Backdrop:
        """Return what is behind texts."""
        scene, cores = self.scene, self.shown(text)
        owner = scene.ground_of[self.page.parent[text]]
        ground = scene.ground[self.page.parent[text]].copy()
        for _ in range(_MOST_LEFT):
            # Backgrounds of elements that a text has left do not count.
            out = np.flatnonzero(owner >= 0)
            out = out[share_in(scene.area[owner[out]], cores[out]) < LEAST_SHARE]
            if not out.size:
                break
            around = np.maximum(self.page.parent[owner[out]], 0)
            ground[out], owner[out] = scene.ground[around], scene.ground_of[around]
        # Nor do pictures that are somewhere else; where they are not, a background without a colour is none.
        on = np.flatnonzero(owner >= 0)
        mark = scene.patches.mark[owner[on]]
        on = on[is_larger(mark, 0.0) & (share_in(mark, cores[on]) < LEAST_SHARE)]
        ground[on] = scene.beside[owner[on]]
        bare = on[scene.patches.beside[owner[on], 3] == 0]
        owner[bare] = scene.ground_of[np.maximum(self.page.parent[owner[bare]], 0)]
        # A text that is partly outside of its ground also stands on the one behind.
        beyond = ground.copy()
        out = np.flatnonzero(owner >= 0)
        out = out[share_in(scene.area[owner[out]], cores[out]) < 1 - LEAST_SHARE]
        beyond[out] = scene.ground[np.maximum(self.page.parent[owner[out]], 0)]
        behind = self.covers.behind(text, owner, self.node.is_placed | self.node.is_drawn)
        on = np.flatnonzero(behind[:, 0] >= 0)
        whole = share_in(scene.patches.outer[behind[on, 0]], cores[on]) >= 1 - LEAST_SHARE
        whole &= ~scene.is_turned(scene.patches.node[behind[on, 0]])
        beyond[on] = ground[on]
        ground[on] = self.covers.laid(behind[on], ground[on])
        owner[on] = scene.patches.node[behind[on, 0]]
        beyond[on[whole]] = ground[on[whole]]
        most = np.full(text.size, float(LEAST_CONTRAST))
        return Backdrop(text, owner, ground, beyond, behind[:, 0], most)

    def has_no_contrast(self, back: Backdrop, inks: Sequence[F64]) -> Bools:
        """Return which letters have the colour of all that they stand on, in all their inks (n, 4)."""
        node, faint = self.node, self._is_faint(back, inks)
        mixed = np.flatnonzero(~faint & np.isin(back.owner, [*self.scene.patches.mixes]) & (back.behind < 0))
        faint[mixed] = self._is_faint_on_mixes(back.take(mixed), [ink[mixed] for ink in inks])
        alone = np.flatnonzero(faint & (back.behind < 0))
        others = ~(node.is_placed | node.is_drawn)
        faint[alone] = self.covers.behind(back.text[alone], back.owner[alone], others)[:, 0] < 0
        for stands_out in (self._stands_out, self._comes_over, self._is_on_border):
            faint[faint] = ~stands_out(back.take(np.flatnonzero(faint)), [ink[faint] for ink in inks])
        return faint

    def has_shadows(self, back: Backdrop) -> Bools:
        """Return which texts have a shadow that can be seen on their ground."""
        node, text = self.node, back.text
        found = np.zeros(text.size, np.bool_)
        shaded = np.flatnonzero((node.shadow_number[text] > 0) & ~node.has_no_fill[text])
        if not shaded.size:
            return found
        shades = [
            [ink for ink, lengths, _ in shadows(value) if has_shape(lengths)] for value in node.shadow_values
        ]
        for layer in range(max(map(len, shades), default=0)):
            own = [shades[number][layer : layer + 1] for number in node.shadow_number[text[shaded]].tolist()]
            there = shaded[[bool(one) for one in own]]
            ink = np.array([one[0] for one in own if one], np.float64).reshape(-1, 4)
            apart = self._contrasts(back.take(there), ink[:, :3])
            found[there] |= ~(apart * ink[:, 3] <= LEAST_CONTRAST)
        return found

    def _stands_out(self, back: Backdrop, inks: Sequence[F64]) -> Bools:
        """Return which texts are not faint on a box that is behind a part of them, but not behind their middle."""
        found, cores = np.zeros(back.text.size, np.bool_), self.cores(back.text)
        of = self.node.is_placed | self.node.is_drawn
        for point in _EDGES if found.size else ():
            behind = self.covers.behind(back.text, back.owner, of, cores, point)
            is_large = share_in(self.scene.patches.outer[behind[:, 0]], cores) >= LEAST_SHARE
            on = np.flatnonzero(is_large & (behind[:, 0] >= 0) & (behind[:, 0] != back.behind))
            found[on] |= self._shows_on(back.take(on), behind[on], [ink[on] for ink in inks])
        return found

    def _is_on_border(self, back: Backdrop, inks: Sequence[F64]) -> Bools:
        """Return which texts are not faint on one of several borders of an element, as those of triangles."""
        found, cores = np.zeros(back.text.size, np.bool_), self.cores(back.text)
        for one, edges, colour in self.scene.patches.mixed_borders[:_MOST_BORDERS]:
            on = (share_in(edges[None], cores) >= LEAST_SHARE) & (back.text > one) & (colour[3] == 1)
            for ink in inks:
                shows = contrast(ink[:, :3], np.array(colour[:3])) > back.most
                found |= on & shows & (ink[:, 3] >= LEAST_OPACITY)
        return found

    def _comes_over(self, back: Backdrop, inks: Sequence[F64]) -> Bools:
        """Return which texts are not faint on a fixed or sticky box that they come over when the page is scrolled."""
        scene, covers, page = self.scene, self.covers, self.page
        found, cores = np.zeros(back.text.size, np.bool_), self.cores(back.text)
        of, own = scene.mover[covers.of], scene.mover[page.parent[back.text]]
        is_high = covers.clip[:, 3] - covers.clip[:, 1] >= _LEAST_OF_WINDOW * self.node.window_px[1]
        is_high &= ~(self.node.fixed[of] & scene.is_beyond(of))
        for mover in np.unique(of[(of >= 0) & is_high])[:_MOST_MOVERS].tolist():
            high = covers.clip[is_high & (of == mover)]
            area = np.concatenate((high[:, :2].min(axis=0), high[:, 2:].max(axis=0)))
            moved = cores.copy()
            moved[:, 1::2] += (area[1::2].mean() - cores[:, 1::2].mean(axis=1))[:, None]
            meets = (own != mover) & (share_in(area[None], moved) >= LEAST_SHARE)
            if not self.node.fixed[mover]:  # a sticky box stays in the one around it
                around = int(page.parent[mover])
                if self.node.scrolls[around]:  # with all that it scrolls
                    meets &= (back.text > around) & (back.text < page.end[around])
                else:
                    meets &= (cores[:, 3] > self.rect[around, 1]) & (cores[:, 1] < self.rect[around, 3])
            those = np.flatnonzero(meets)
            part = back.take(those)
            behind = covers.behind(part.text, part.owner, scene.mover == mover, moved[those])
            on = np.flatnonzero(behind[:, 0] >= 0)
            found[those[on]] |= self._shows_on(part.take(on), behind[on], [ink[those[on]] for ink in inks])
        return found

    def _shows_on(self, back: Backdrop, behind: Ints, inks: Sequence[F64]) -> Bools:
        """Return which texts are not faint on the patches `behind` them (n, k), the uppermost first."""
        ground, owner = self.covers.laid(behind, back.ground), self.scene.patches.node[behind[:, 0]]
        return ~self._is_faint(back._replace(ground=ground, beyond=ground, owner=owner), inks)

    def _is_faint(self, back: Backdrop, inks: Sequence[F64]) -> Bools:
        """Return which letters have the colour of their ground, in all their inks (n, 4)."""
        faint, opacity = np.ones(back.text.size, np.bool_), self.scene.opacity[self.page.parent[back.text]]
        for ink in inks:
            apart = self._contrasts(back, ink[:, :3]) * opacity * ink[:, 3]
            faint &= (apart <= back.most) | (ink[:, 3] == 0)
        return faint

    def _is_faint_on_mixes(self, back: Backdrop, inks: Sequence[F64]) -> Bools:
        """Return which letters have the colour of their ground on each of the colours that it is between."""
        scene, faint = self.scene, np.ones(back.text.size, np.bool_)
        if not faint.size:
            return faint
        mixes = [scene.patches.mixes[one] for one in back.owner.tolist()]
        around = scene.ground[np.maximum(self.page.parent[back.owner], 0)]
        whole = share_in(scene.area[back.owner], self.shown(back.text)) >= 1 - LEAST_SHARE
        for turn in range(max(map(len, mixes))):
            ground = laid_on(np.array([of[turn % len(of)] for of in mixes]), around)
            beyond = np.where(whole[:, None], ground, back.beyond)
            faint &= self._is_faint(back._replace(ground=ground, beyond=beyond), inks)
        return faint

    def _contrasts(self, back: Backdrop, colours: F64) -> F64:
        """Return the largest `contrast` of letters (n, 3) and their grounds; NaN if not known."""
        scene, node, above = self.scene, self.node, self.page.parent[back.text]
        letters, ground, beyond = colours.copy(), back.ground.copy(), back.beyond.copy()
        # On an opaque ground that casts the shadow with them, letters have none of their own.
        casts = scene.shade_of[above]
        is_alone = ~((back.owner >= casts) & (back.owner < self.page.end[casts]))
        is_alone |= scene.patches.ground[back.owner, 3] <= 1 - LEAST_OPACITY
        is_alone |= share_in(scene.area[back.owner], self.shown(back.text)) < 1 - LEAST_SHARE
        shade = np.where(((casts >= 0) & is_alone)[:, None], node.shade[casts], 0.0)
        of = scene.effect_of[above]
        for _ in range(_MOST_EFFECTS):
            touched = np.flatnonzero(of >= 0)
            if not touched.size:
                break
            kinds = np.stack((node.filter_number[of[touched]], node.blend_number[of[touched]]), axis=1)
            for filter_number, blend_number in np.unique(kinds, axis=0).tolist():
                at = touched[(kinds == (filter_number, blend_number)).all(axis=1)]
                inside = at[(back.owner[at] >= of[at]) & (back.owner[at] < self.page.end[of[at]])]
                for one, those in ((letters, at), (ground, inside), (beyond, inside)):
                    one[those] = filtered(one[those], node.filter_values[filter_number])
                if blend_number:
                    self._blend(node.blend_values[blend_number], of, at, back, (letters, ground, beyond))
            of[touched] = scene.effect_of[np.maximum(self.page.parent[of[touched]], 0)]
        letters[of >= 0] = np.nan
        largest = np.maximum(contrast(letters, ground), contrast(letters, beyond))
        faded = contrast(shade[:, :3], ground) * (shade[:, 3] > LEAST_OPACITY)
        return np.asarray(np.maximum(largest, faded))

    def _blend(self, mode: str, of: Ints, at: Ints, back: Backdrop, changed: tuple[F64, F64, F64]) -> None:
        """Blend what is `changed`, letters and grounds, of the texts `at` with what is below the elements `of`."""
        scene, page, those = self.scene, self.page, of[at]
        letters, ground, beyond = changed
        around = np.maximum(page.parent[those], 0)
        context = scene.context_of[around]
        is_other = (back.owner[at] < those) | (back.owner[at] >= page.end[those])
        below = np.where(is_other[:, None], ground[at], scene.ground[around])
        # A stacking context is blended on its own: where it has no background, nothing is changed. Nor is it on the
        # window, which is transparent until it is shown.
        owner = np.where(is_other, back.owner[at], scene.ground_of[around])
        stands = scene.stands_in(context, owner)
        some, below = at[stands], below[stands]
        letters[some] = blended(letters[some], below, mode)
        own = ~is_other[stands]
        for one in (ground, beyond):
            one[some[own]] = blended(one[some[own]], below[own], mode)
