"""Why a text of a page cannot be seen, or cannot be read: computed styles and boxes, without pixels."""

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import F64, Bools, Ints, cached_per_page
from domsieve.analysis.columns.covers import Covers
from domsieve.analysis.columns.css_transforms import slant, thinness
from domsieve.analysis.columns.css_values import blended, filtered, has_shape, laid_on, shadows
from domsieve.analysis.columns.folded import are_folded
from domsieve.analysis.columns.letter_room import (
    are_apart,
    are_piled,
    are_turned,
    drawn_shares,
    lengths,
    letter_sizes,
    overlaps,
)
from domsieve.analysis.columns.page_columns import page_texts
from domsieve.analysis.columns.paint_styles import LEAST_CONTRAST, LEAST_OPACITY, LEAST_PX
from domsieve.analysis.columns.rectangles import intersection, is_larger, samples, share_in
from domsieve.analysis.columns.scene import Scene
from domsieve.analysis.columns.stacks import are_stacked
from domsieve.analysis.columns.visible import never_shown, shown_nodes
from domsieve.budget import check, spending
from domsieve.snapshot.contrast import contrast
from domsieve.snapshot.moments import moments
from domsieve.snapshot.page import PIXELS, Snapshot
from domsieve.snapshot.pixels import LEAST_SLOT


class Hiding(IntEnum):
    """Why a text cannot be seen. If there are several reasons, the first counts."""

    NONE = 0
    NO_BOX = 1
    INVISIBLE = 2
    NO_SIZE = 3
    TRANSPARENT = 4
    CLIPPED = 5
    OFF_SCREEN = 6
    SAME_COLOUR = 7
    COVERED = 8
    UNREADABLE = 9
    UNSEEN = 10


HIDING_REASONS = (
    "",
    "hidden: not rendered",
    "hidden: visibility",
    "hidden: no size",
    "hidden: transparent",
    "hidden: clipped",
    "hidden: off screen",
    "hidden: colour of its ground",
    "hidden: covered",
    "hidden: unreadable",
    "hidden: not in the picture of the page",
)

# Text in a box that cuts is seen if so much of a line is, and of its width, in sizes of a letter.
_LEAST_OF_LINE, _LEAST_OF_LETTER = 0.5, 1.5
# Letters up to this size, and blurs from this share of a letter on, cannot be read.
_LEAST_LETTER_PX, _MOST_BLUR = 3.0, 0.5
# Letters of these sizes, in px, cannot be read either if they are no farther from their ground than so many of 255.
# Found by eye, on pictures of sizes from 3.5 to 8 px in nine greys on white. Between them, limits are in between.
_FAINT_SIZES, _FAINT_CONTRASTS = (4.0, 5.0, 6.0, 7.0), (48.0, 32.0, 16.0, LEAST_CONTRAST)
# Nor can letters that are skewed by more than 68 degrees, of which this is the cosine.
_LEAST_SLANT = 0.375
# So much of a text at its edges has less than a tenth of its ink: in shares of its width, and of its letters' size.
_EDGE, _EDGE_OF_LINE = 0.03, 0.25
# A text of which less can be seen is hidden, as for `tests/renderer/pixel_oracle.py`.
_LEAST_SHARE = 0.1
# Fixed and sticky boxes of so much of the window's height, and so many of them, are grounds that texts come over.
_LEAST_OF_WINDOW, _MOST_MOVERS = 0.5, 20
# Boxes that cut often leave a line of a teaser, which counts as visible.
_LEAST_LEFT = 0.05
# So many points of a text are compared with shapes, and so many texts at once. Guesses, as is the number of boxes
# that a text is looked for in.
_ACROSS, _DOWN, _AT_ONCE, _MOST_LEFT = 15, 5, 500, 16
# Points near the edges of a text, in shares of its width and height.
_EDGES = ((1 / 6, 1 / 2), (5 / 6, 1 / 2), (1 / 2, 1 / 6), (1 / 2, 5 / 6))
# Filters and blend modes inside one another that are computed. A guess, too.
_MOST_EFFECTS = 6


@cached_per_page
def hidden_texts(page: Snapshot) -> NDArray[np.uint8]:
    """Return the `Hiding` of each of the N nodes; `Hiding.NONE` for nodes that are not text with words.

    If the page was captured with pictures (`PIXELS`), text that they do not show is hidden, too, and so is text that
    they cannot judge: a page can bring that about.

    Takes O(N log N), and up to 2,000 boxes are compared with each text.
    """
    with spending("visibility", page.provenance.url):
        return _hidden(page)


def _hidden(page: Snapshot) -> NDArray[np.uint8]:
    texts = page_texts(page)
    text = texts.node[~texts.is_blank]
    reason = np.zeros(len(page), np.uint8)
    text = text[~never_shown(page)[text]]
    if not page.has_layout:
        reason[text[~shown_nodes(page)[text]]] = Hiding.NO_BOX
        return reason
    reason[text[page.style[text] < 0]] = Hiding.NO_BOX
    text = text[page.style[text] >= 0]
    if text.size:
        reason[text] = _Judge(page).judge(text)
    for moment, counts in moments(page):
        if (lost := text[(reason[text] != Hiding.NONE) & counts[text]]).size:
            reason[lost[_Judge(moment).judge(lost) == Hiding.NONE]] = Hiding.NONE
    if PIXELS in page.style_names:
        # Pictures only add to the rules: a page that knows of them could make hidden text show in them.
        sight = page.strings.take(page.styles[page.style[text], page.style_names.index(PIXELS)].tolist())
        is_hidden = np.isin(sight, ("unseen", "unsure"))
        reason[text[is_hidden & (reason[text] == Hiding.NONE)]] = Hiding.UNSEEN
    return reason


class _Judge:
    """Judges the texts of a page."""

    def __init__(self, page: Snapshot) -> None:
        self.page = page
        self.scene = Scene(page)
        self.node, self.rect = self.scene.node, self.scene.rect
        self.covers = Covers(self.scene)

    def judge(self, text: Ints) -> NDArray[np.uint8]:
        """Return the `Hiding` of each of these texts, which have boxes."""
        scene, node, above = self.scene, self.node, self.page.parent[text].astype(np.int64)
        rect = self.rect[text]
        size = np.minimum(rect[:, 2] - rect[:, 0], rect[:, 3] - rect[:, 1])
        letters = lengths(self.page, text)
        read = letter_sizes(scene, text, letters)
        letter = np.where(
            node.in_drawing[text], read, node.letter_px[text]
        )  # drawings have units of their own
        drawn = read * np.sqrt(thinness(scene.plane[above])) * drawn_shares(scene, text)
        # Letters on a background that is cut to them have an edge of its colour.
        edge = np.where(scene.cut_to_text[above][:, None], scene.lettering[above], 0.0)
        inks = (self._inks(text), node.outline[text], edge)
        back = self._backdrop(text)
        shaded = self._has_shadows(back)
        opacity = scene.opacity[above]
        strength = opacity * np.maximum(inks[0][:, 3], inks[1][:, 3])
        unseen = np.where(shaded, opacity, strength) < LEAST_OPACITY
        on_own_bar, on_other_bar = self._bars(text, inks)
        bare = ~shaded & ~on_other_bar
        faint, pale = bare.copy(), np.zeros(text.size, np.bool_)
        faint[bare] = self._has_no_contrast(back.take(np.flatnonzero(bare)), [ink[bare] for ink in inks])
        small = np.flatnonzero(bare & ~faint & (drawn < _FAINT_SIZES[-1]))
        most = np.interp(drawn[small], _FAINT_SIZES, _FAINT_CONTRASTS)
        pale[small] = self._has_no_contrast(
            back.take(small)._replace(most=most), [ink[small] for ink in inks]
        )
        cores = self._cores(text)
        # A line of one letter's size is enough, whatever the size of its box.
        wide = np.minimum(_LEAST_OF_LETTER * letter, rect[:, 2] - rect[:, 0] - LEAST_PX)
        high = np.minimum(_LEAST_OF_LINE * letter, rect[:, 3] - rect[:, 1] - LEAST_PX)
        least = np.maximum(np.stack((wide, high), axis=1), LEAST_PX)
        shown = intersection(scene.clip[above], rect)
        tests = (
            scene.in_hidden_frame[text] | node.is_unpainted[text],
            ~node.seen[text] | are_folded(scene, text),
            (size <= LEAST_PX) | (read <= LEAST_PX) | scene.is_flat(above),
            unseen,
            ~is_larger(shown, least)
            | self._is_in_slot(text, letter)
            | (share_in(shown, rect) < _LEAST_LEFT)
            | self._is_cut(text, cores),
            self._is_off_screen(text),
            faint,
            self.covers.hidden(text, self._shown(text), inks, back.owner, back.ground)
            | scene.is_struck[above]
            | on_own_bar,
            (drawn <= _LEAST_LETTER_PX)
            | pale
            | (slant(scene.plane[above]) < _LEAST_SLANT)
            | node.is_coded[text]
            | node.is_blot[text]
            | (scene.blur_px[above] >= _MOST_BLUR * letter)
            | are_apart(scene, text, letters, letter)
            | overlaps(scene, text, letters)
            | are_piled(scene, text, letters)
            | are_turned(scene, text),
        )
        of = (Hiding.INVISIBLE, *range(Hiding.INVISIBLE, Hiding.UNREADABLE + 1))
        reason = np.select(tests, [np.uint8(one) for one in of], np.uint8(Hiding.NONE))
        left = np.flatnonzero(reason == Hiding.NONE)
        some = (letters[left], letter[left], inks[0][left], back.owner[left])
        reason[left[are_stacked(scene, self.covers, text[left], *some)]] = Hiding.UNREADABLE
        return reason

    def _has_no_contrast(self, back: "_Backdrop", inks: Sequence[F64]) -> Bools:
        """Return which letters have the colour of all that they stand on, in all their inks (n, 4)."""
        node, faint = self.node, self._is_faint(back, inks)
        mixed = np.flatnonzero(~faint & np.isin(back.owner, [*self.scene.patches.mixes]) & (back.behind < 0))
        faint[mixed] = self._is_faint_on_mixes(back.take(mixed), [ink[mixed] for ink in inks])
        alone = np.flatnonzero(faint & (back.behind < 0))
        others = ~(node.is_placed | node.is_drawn)
        faint[alone] = self.covers.behind(back.text[alone], back.owner[alone], others)[:, 0] < 0
        for stands_out in (self._stands_out, self._comes_over):
            faint[faint] = ~stands_out(back.take(np.flatnonzero(faint)), [ink[faint] for ink in inks])
        return faint

    def _bars(self, text: Ints, inks: Sequence[F64]) -> tuple[Bools, Bools]:
        """Return which letters are on a thick line that is painted before them, of their own or another colour."""
        node, bar = self.node, self.scene.bar_of[self.page.parent[text]]
        there = (bar >= 0) & ~node.is_skipped[text] & (node.letter_px[text] == node.letter_px[bar])
        own = node.shadow_number[text] == 0
        for ink in inks:
            own &= (ink[:, 3] == 0) | (contrast(ink[:, :3], node.bar[bar]) <= LEAST_CONTRAST)
        return np.asarray(there & own), np.asarray(there & ~own)

    def _is_in_slot(self, text: Ints, letter: F64) -> Bools:
        """Return which texts are in boxes that scroll and show no whole letter of them at once."""
        scene = self.scene
        scroller = scene.scroller_of[self.page.parent[text]]
        shown = intersection(scene.own_clip[scroller], scene.rect[scroller])
        return (scroller >= 0) & ~is_larger(shown, letter[:, None] * LEAST_SLOT)

    def _is_off_screen(self, text: Ints) -> Bools:
        """Return which texts are where nobody can scroll to."""
        scene, rect, above = self.scene, self.rect[text], self.page.parent[text]
        left, up = scene.reaches_left[above], scene.reaches_up[above]
        beyond = scene.is_fixed[above] & scene.is_beyond(text)
        width, height = self.node.window_px
        # A page that scrolls to the left or up does so from the right or the bottom edge of the window.
        beyond |= scene.reaches_left[0] & (rect[:, 0] >= width) | scene.reaches_up[0] & (rect[:, 1] >= height)
        return np.asarray(((rect[:, 2] <= 0) & ~left) | ((rect[:, 3] <= 0) & ~up) | beyond)

    def _shown(self, text: Ints) -> F64:
        """Return what boxes that cut and the edges of the page leave of the cores of texts; all if nothing."""
        scene, above, cores = self.scene, self.page.parent[text], self._cores(text)
        edges = scene.clip[above].copy()
        for axis, reaches in enumerate((scene.reaches_left[above], scene.reaches_up[above])):
            edges[~reaches, axis] = np.maximum(edges[~reaches, axis], 0.0)
        left = intersection(cores, edges)
        return np.where(is_larger(left, 0.0)[:, None], left, cores)

    def _is_cut(self, text: Ints, cores: F64) -> Bools:
        """Return of which texts shapes that are no rectangles leave too little."""
        scene = self.scene
        cut = np.zeros(text.size, np.bool_)
        at = scene.shape_of[self.page.parent[text]]
        while (there := np.flatnonzero(at >= 0)).size:
            for one in np.unique(at[there]).tolist():
                those = there[at[there] == one]
                for some in np.array_split(those, 1 + those.size // _AT_ONCE):
                    check()
                    points = samples(cores[some], _ACROSS, _DOWN) - self.rect[one, :2]
                    inside = scene.shapes[one].contains(points.reshape(-1, 2)).reshape(some.size, -1)
                    cut[some] |= inside.mean(axis=1) < _LEAST_SHARE
            at[there] = scene.shape_of[np.maximum(self.page.parent[at[there]], 0)]
        return cut

    def _inks(self, text: Ints) -> F64:
        """Return the colour of the letters of each text (n, 4): its own, or that of a background cut to letters."""
        ink = self.node.ink[text].copy()
        above = self.page.parent[text]
        through = self.scene.cut_to_text[above] & (ink[:, 3] < 1)
        ink[through] = np.where(
            (ink[through, 3:] < LEAST_OPACITY),
            self.scene.lettering[above[through]],
            [np.nan, np.nan, np.nan, 1.0],
        )
        return ink

    def _backdrop(self, text: Ints) -> "_Backdrop":
        """Return what is behind texts."""
        scene, cores = self.scene, self._shown(text)
        owner = scene.ground_of[self.page.parent[text]]
        ground = scene.ground[self.page.parent[text]].copy()
        for _ in range(_MOST_LEFT):
            # Backgrounds of elements that a text has left do not count.
            out = np.flatnonzero(owner >= 0)
            out = out[share_in(scene.area[owner[out]], cores[out]) < _LEAST_SHARE]
            if not out.size:
                break
            around = np.maximum(self.page.parent[owner[out]], 0)
            ground[out], owner[out] = scene.ground[around], scene.ground_of[around]
        # Nor do pictures that are somewhere else; where they are not, a background without a colour is none.
        on = np.flatnonzero(owner >= 0)
        mark = scene.patches.mark[owner[on]]
        on = on[is_larger(mark, 0.0) & (share_in(mark, cores[on]) < _LEAST_SHARE)]
        ground[on] = scene.beside[owner[on]]
        bare = on[scene.patches.beside[owner[on], 3] == 0]
        owner[bare] = scene.ground_of[np.maximum(self.page.parent[owner[bare]], 0)]
        # A text that is partly outside of its ground also stands on the one behind.
        beyond = ground.copy()
        out = np.flatnonzero(owner >= 0)
        out = out[share_in(scene.area[owner[out]], cores[out]) < 1 - _LEAST_SHARE]
        beyond[out] = scene.ground[np.maximum(self.page.parent[owner[out]], 0)]
        behind = self.covers.behind(text, owner, self.node.is_placed | self.node.is_drawn)
        on = np.flatnonzero(behind[:, 0] >= 0)
        whole = share_in(scene.patches.outer[behind[on, 0]], cores[on]) >= 1 - _LEAST_SHARE
        whole &= ~scene.is_turned(scene.patches.node[behind[on, 0]])
        beyond[on] = ground[on]
        ground[on] = self.covers.laid(behind[on], ground[on])
        owner[on] = scene.patches.node[behind[on, 0]]
        beyond[on[whole]] = ground[on[whole]]
        most = np.full(text.size, float(LEAST_CONTRAST))
        return _Backdrop(text, owner, ground, beyond, behind[:, 0], most)

    def _stands_out(self, back: "_Backdrop", inks: Sequence[F64]) -> Bools:
        """Return which texts are not faint on a box that is behind a part of them, but not behind their middle."""
        found, cores = np.zeros(back.text.size, np.bool_), self._cores(back.text)
        of = self.node.is_placed | self.node.is_drawn
        for point in _EDGES if found.size else ():
            behind = self.covers.behind(back.text, back.owner, of, cores, point)
            is_large = share_in(self.scene.patches.outer[behind[:, 0]], cores) >= _LEAST_SHARE
            on = np.flatnonzero(is_large & (behind[:, 0] >= 0) & (behind[:, 0] != back.behind))
            found[on] |= self._shows_on(back.take(on), behind[on], [ink[on] for ink in inks])
        return found

    def _comes_over(self, back: "_Backdrop", inks: Sequence[F64]) -> Bools:
        """Return which texts are not faint on a fixed or sticky box that they come over when the page is scrolled."""
        scene, covers, page = self.scene, self.covers, self.page
        found, cores = np.zeros(back.text.size, np.bool_), self._cores(back.text)
        of, own = scene.mover[covers.of], scene.mover[page.parent[back.text]]
        is_high = covers.clip[:, 3] - covers.clip[:, 1] >= _LEAST_OF_WINDOW * self.node.window_px[1]
        is_high &= ~(self.node.fixed[of] & scene.is_beyond(of))
        for mover in np.unique(of[(of >= 0) & is_high])[:_MOST_MOVERS].tolist():
            high = covers.clip[is_high & (of == mover)]
            area = np.concatenate((high[:, :2].min(axis=0), high[:, 2:].max(axis=0)))
            moved = cores.copy()
            moved[:, 1::2] += (area[1::2].mean() - cores[:, 1::2].mean(axis=1))[:, None]
            meets = (own != mover) & (share_in(area[None], moved) >= _LEAST_SHARE)
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

    def _shows_on(self, back: "_Backdrop", behind: Ints, inks: Sequence[F64]) -> Bools:
        """Return which texts are not faint on the patches `behind` them (n, k), the uppermost first."""
        ground, owner = self.covers.laid(behind, back.ground), self.scene.patches.node[behind[:, 0]]
        return ~self._is_faint(back._replace(ground=ground, beyond=ground, owner=owner), inks)

    def _is_faint(self, back: "_Backdrop", inks: Sequence[F64]) -> Bools:
        """Return which letters have the colour of their ground, in all their inks (n, 4)."""
        faint, opacity = np.ones(back.text.size, np.bool_), self.scene.opacity[self.page.parent[back.text]]
        for ink in inks:
            apart = self._contrasts(back, ink[:, :3]) * opacity * ink[:, 3]
            faint &= (apart <= back.most) | (ink[:, 3] == 0)
        return faint

    def _is_faint_on_mixes(self, back: "_Backdrop", inks: Sequence[F64]) -> Bools:
        """Return which letters have the colour of their ground on each of the colours that it is between."""
        scene, faint = self.scene, np.ones(back.text.size, np.bool_)
        if not faint.size:
            return faint
        mixes = [scene.patches.mixes[one] for one in back.owner.tolist()]
        around = scene.ground[np.maximum(self.page.parent[back.owner], 0)]
        whole = share_in(scene.area[back.owner], self._shown(back.text)) >= 1 - _LEAST_SHARE
        for turn in range(max(map(len, mixes))):
            ground = laid_on(np.array([of[turn % len(of)] for of in mixes]), around)
            beyond = np.where(whole[:, None], ground, back.beyond)
            faint &= self._is_faint(back._replace(ground=ground, beyond=beyond), inks)
        return faint

    def _contrasts(self, back: "_Backdrop", colours: F64) -> F64:
        """Return the largest `contrast` of letters (n, 3) and their grounds; NaN if not known."""
        scene, node, above = self.scene, self.node, self.page.parent[back.text]
        letters, ground, beyond = colours.copy(), back.ground.copy(), back.beyond.copy()
        # On an opaque ground that casts the shadow with them, letters have none of their own.
        casts = scene.shade_of[above]
        is_alone = ~((back.owner >= casts) & (back.owner < self.page.end[casts]))
        is_alone |= scene.patches.ground[back.owner, 3] <= 1 - LEAST_OPACITY
        is_alone |= share_in(scene.area[back.owner], self._shown(back.text)) < 1 - _LEAST_SHARE
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

    def _blend(self, mode: str, of: Ints, at: Ints, back: "_Backdrop", changed: tuple[F64, F64, F64]) -> None:
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

    def _has_shadows(self, back: "_Backdrop") -> Bools:
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

    def _cores(self, text: Ints) -> F64:
        """Return the parts of the boxes of texts (n, 4) that have most of their ink: letters are lower than lines."""
        rect = self.rect[text].copy()
        edge = np.stack(
            (_EDGE * (rect[:, 2] - rect[:, 0]), _EDGE_OF_LINE * self.node.letter_px[text]), axis=1
        )
        edge = np.minimum(edge, np.maximum(rect[:, 2:] - rect[:, :2], 0) / 3)
        rect[:, :2] += edge
        rect[:, 2:] -= edge
        return rect


class _Backdrop(NamedTuple):
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

    def take(self, at: Ints) -> "_Backdrop":
        """Return what is behind some of the texts."""
        return _Backdrop._make(one[at] for one in self)
