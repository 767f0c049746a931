"""Why a text of a page cannot be seen, or cannot be read: computed styles and boxes, without pixels."""

from collections.abc import Sequence
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns import formulas
from domsieve.analysis.columns.batch import F64, Bools, Ints, cached_per_page
from domsieve.analysis.columns.covers import Covers
from domsieve.analysis.columns.css_transforms import slant, thinness
from domsieve.analysis.columns.emphasis import are_under_marks
from domsieve.analysis.columns.folded import are_folded
from domsieve.analysis.columns.grounds import LEAST_SHARE, Grounds
from domsieve.analysis.columns.infixes import are_infixed
from domsieve.analysis.columns.letter_room import (
    are_apart,
    are_copied,
    are_marked,
    are_piled,
    are_shuffled,
    are_symbols,
    are_turned,
    drawn_shares,
    lengths,
    letter_sizes,
    overlaps,
)
from domsieve.analysis.columns.lined import are_lined
from domsieve.analysis.columns.page_columns import MEDIA, has_tag, in_tag, page_texts
from domsieve.analysis.columns.paint_styles import LEAST_OPACITY, LEAST_PX
from domsieve.analysis.columns.pieces import are_in_pieces
from domsieve.analysis.columns.rectangles import intersection, is_larger, samples, share_in
from domsieve.analysis.columns.scattered import are_scattered
from domsieve.analysis.columns.scene import Scene
from domsieve.analysis.columns.spread import are_spread
from domsieve.analysis.columns.stacks import are_stacked
from domsieve.analysis.columns.visible import never_shown, shown_nodes
from domsieve.budget import check, spending
from domsieve.snapshot.contrast import FAINT_PX, LEAST_CONTRAST, contrast, least_contrast
from domsieve.snapshot.moments import moments
from domsieve.snapshot.page import PIXELS, Snapshot
from domsieve.snapshot.pixels import LEAST_SLOT, are_seen, sights


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
# Nor can letters that are skewed by more than 68 degrees, of which this is the cosine.
_LEAST_SLANT = 0.375
# Boxes that cut often leave a line of a teaser, which counts as visible.
_LEAST_LEFT = 0.05
# Players and frames up to this size, with their border, show nothing. A guess.
_LEAST_MEDIUM_PX = 8.0
# So many points of a text are compared with shapes, and so many texts at once. Guesses.
_ACROSS, _DOWN, _AT_ONCE = 15, 5, 500
# So many letters that rules drop and pictures show may change a text. Nearer than this, it is beside them. Guesses.
_FEWEST_LOST, _BESIDE_PX = 5, 200.0
# In so many parts of a shape that goes past a text, the text is looked for.
_PASSED = 9


def hidden_texts(page: Snapshot) -> NDArray[np.uint8]:
    """Return the `Hiding` of each of the N nodes; `Hiding.NONE` for nodes that are not text with words.

    If the page was captured with pictures (`PIXELS`), text that they do not show is hidden, too, and so is text that
    they cannot judge: a page can bring that about. If they show text that the rules drop, what is beside that is
    hidden, too: alone, it would say something else.

    Takes O(N log N), and up to 2,000 boxes are compared with each text.
    """
    return np.where(page.text >= 0, _hidden_nodes(page), np.uint8(Hiding.NONE))


def hidden_media(page: Snapshot) -> NDArray[np.uint8]:
    """Return the `Hiding` of each of the N nodes; `Hiding.NONE` for nodes that are no pictures, players or frames.

    Their descriptions and titles are text, too. Pictures without size and opacity may be still to come. What covers
    them is judged by their boxes, also if the page was captured with pictures.
    """
    return np.where(page.text < 0, _hidden_nodes(page), np.uint8(Hiding.NONE))


@cached_per_page
def _hidden_nodes(page: Snapshot) -> NDArray[np.uint8]:
    """Return what `hidden_texts` and `hidden_media` say."""
    with spending("visibility", page.provenance.url):
        return _judged(page)


def _judged(page: Snapshot) -> NDArray[np.uint8]:
    texts = page_texts(page)
    text = texts.node[~texts.is_blank]
    reason = np.zeros(len(page), np.uint8)
    media = np.flatnonzero(has_tag(page, *MEDIA))
    drawn = np.array([*formulas.shapes(page)], np.intp)
    nodes = np.concatenate((text[~never_shown(page)[text]], media, drawn))
    if not page.has_layout:
        reason[nodes[~shown_nodes(page)[nodes]]] = Hiding.NO_BOX
        return reason
    # What is in a canvas has boxes if its own came while scripts were off.
    has_box = (page.style >= 0) & ~in_tag(page, "canvas")
    reason[nodes[~has_box[nodes]]] = Hiding.NO_BOX
    nodes = nodes[has_box[nodes]]
    if nodes.size:
        reason[nodes] = _Judge(page).judge(nodes)
    is_text = page.text >= 0
    for moment, counts in moments(page):  # which say nothing of media
        if (lost := nodes[(reason[nodes] != Hiding.NONE) & (counts | ~is_text)[nodes]]).size:
            reason[lost[_Judge(moment).judge(lost) == Hiding.NONE]] = Hiding.NONE
    if PIXELS in page.style_names:
        # Pictures only add to the rules: a page that knows of them could make hidden text show in them.
        text = nodes[is_text[nodes]]
        sight = sights(page, text)
        is_hidden = np.isin(sight, ("unseen", "unsure"))
        # Pictures show letters that nobody can read for where they stand, too.
        is_lost = are_seen(sight) & ~np.isin(reason[text], (Hiding.NONE, Hiding.UNREADABLE))
        is_hidden |= _are_beside(page, text, text[is_lost])
        reason[text[is_hidden & (reason[text] == Hiding.NONE)]] = Hiding.UNSEEN
    reason[formulas.descriptions(page, reason)] = Hiding.NONE
    return reason


def _are_beside(page: Snapshot, text: Ints, lost: Ints) -> Bools:
    """Return which texts are beside some others that are lost, if these have many letters."""
    found = np.zeros(text.size, np.bool_)
    if lengths(page, lost).sum() < _FEWEST_LOST:
        return found
    begin, size = np.split(page.box.astype(np.float64), 2, axis=1)
    rect = np.concatenate((begin, begin + size), axis=1)
    for one in rect[lost] + _BESIDE_PX * np.array([-1, -1, 1, 1]):
        check()
        found |= is_larger(intersection(rect[text], one[None]), 0.0)
    return found


class _Judge:
    """Judges the texts, pictures and players of a page."""

    def __init__(self, page: Snapshot) -> None:
        self.page = page
        self.scene = Scene(page)
        self.node, self.rect = self.scene.node, self.scene.rect
        self.covers = Covers(self.scene)
        self.grounds = Grounds(self.scene, self.covers)

    def judge(self, nodes: Ints) -> NDArray[np.uint8]:
        """Return the `Hiding` of each of these texts and media, which have boxes."""
        reason, is_text = np.zeros(nodes.size, np.uint8), self.page.text[nodes] >= 0
        for which, judge in ((is_text, self._judge_texts), (~is_text, self._judge_media)):
            if which.any():
                reason[which] = judge(nodes[which])
        return reason

    def _judge_texts(self, text: Ints) -> NDArray[np.uint8]:
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
        back = self.grounds.backdrop(text)
        shaded = self.grounds.has_shadows(back)
        opacity = scene.opacity[above]
        strength = opacity * np.maximum(inks[0][:, 3], inks[1][:, 3])
        unseen = np.where(shaded, opacity, strength) < LEAST_OPACITY
        on_own_bar, on_other_bar = self._bars(text, inks)
        bare = ~shaded & ~on_other_bar
        faint, pale = bare.copy(), np.zeros(text.size, np.bool_)
        faint[bare] = self.grounds.has_no_contrast(
            back.take(np.flatnonzero(bare)), [ink[bare] for ink in inks]
        )
        small = np.flatnonzero(bare & ~faint & (drawn < FAINT_PX))
        most = least_contrast(drawn[small])
        pale[small] = self.grounds.has_no_contrast(
            back.take(small)._replace(most=most), [ink[small] for ink in inks]
        )
        cores = self.grounds.cores(text)
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
            | self._is_cut(text, cores, above),
            self._is_off_screen(text, above),
            faint,
            self.covers.hidden(text, self.grounds.shown(text), inks, back.owner, back.ground)
            | scene.is_struck[above]
            | are_under_marks(scene, text, letter, inks[0])
            | on_own_bar,
            (drawn <= _LEAST_LETTER_PX)
            | (node.keeps_pixels[text] & ~node.in_drawing[text] & (node.letter_px[text] <= _LEAST_LETTER_PX))
            | pale
            | (slant(scene.plane[above]) < _LEAST_SLANT)
            | node.is_coded[text]
            | node.is_blot[text]
            | (scene.blur_px[above] >= _MOST_BLUR * letter)
            | are_apart(scene, text, letters, letter)
            | overlaps(scene, text, letters)
            | are_piled(scene, text, letters)
            | are_turned(scene, text)
            | are_shuffled(scene, text)
            | are_scattered(scene, text)
            | are_copied(scene, text, back.owner)
            | are_symbols(scene, text)
            | are_marked(self.page, text),
        )
        of = (Hiding.INVISIBLE, *range(Hiding.INVISIBLE, Hiding.UNREADABLE + 1))
        reason = np.select(tests, [np.uint8(one) for one in of], np.uint8(Hiding.NONE))
        left = np.flatnonzero(reason == Hiding.NONE)
        some = (letters[left], letter[left], inks[0][left], back.owner[left])
        reason[left[are_stacked(scene, self.covers, text[left], *some)]] = Hiding.UNREADABLE
        left = left[reason[left] == Hiding.NONE]
        reason[left[are_infixed(scene, text[left], letter[left])]] = Hiding.UNREADABLE
        left = left[reason[left] == Hiding.NONE]
        is_apart = are_spread(scene, text[left], letters[left], letter[left])
        reason[left[is_apart | are_in_pieces(scene, text[left], letters[left])]] = Hiding.UNREADABLE
        left = left[reason[left] == Hiding.NONE]
        is_lined = are_lined(scene, self.covers, text[left], letter[left], inks[0][left])
        reason[left[is_lined]] = Hiding.COVERED
        return reason

    def _judge_media(self, media: Ints) -> NDArray[np.uint8]:
        scene, rect = self.scene, self.rect[media]
        left, nothing = intersection(scene.own_clip[media], rect), np.zeros((media.size, 4))
        cut = (
            ~is_larger(left, LEAST_PX)
            | (share_in(left, rect) < _LEAST_LEFT)
            | self._is_cut(media, rect, media)
        )
        covered = self.covers.hidden(media, rect, [nothing], np.full(media.size, -1), nothing[:, :3])
        moves = scene.mover[media] != scene.mover[self.page.parent[media]]
        # Pictures have no size until they come, and many fade in when a reader scrolls to them.
        may_come, is_drawn = has_tag(self.page, "img")[media], self.node.in_drawing[media]
        has_size = is_larger(rect, np.where(is_drawn, LEAST_PX, _LEAST_MEDIUM_PX)[:, None])
        tests = (
            scene.in_hidden_frame[media] | ~self.node.seen[media] | are_folded(scene, media),
            (~has_size | scene.is_flat(media)) & ~may_come,
            (scene.opacity[media] < LEAST_OPACITY) & ~may_come,
            has_size & cut,
            has_size & self._is_off_screen(media, media),
            has_size & covered & ~moves,
        )
        of = (
            Hiding.INVISIBLE,
            Hiding.NO_SIZE,
            Hiding.TRANSPARENT,
            Hiding.CLIPPED,
            Hiding.OFF_SCREEN,
            Hiding.COVERED,
        )
        reason = np.select(tests, [np.uint8(one) for one in of], np.uint8(Hiding.NONE))
        drawn = np.flatnonzero(is_drawn)
        shapes = media[drawn]
        is_faint = self.grounds.has_no_contrast(self.grounds.backdrop(shapes), [self.node.ink[shapes]])
        reason[drawn[is_faint & (reason[drawn] == Hiding.NONE)]] = Hiding.SAME_COLOUR
        return reason

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

    def _is_off_screen(self, nodes: Ints, of: Ints) -> Bools:
        """Return which nodes, with the styles `of` these elements, are where nobody can scroll to."""
        scene, rect, above = self.scene, self.rect[nodes], of
        left, up = scene.reaches_left[above], scene.reaches_up[above]
        beyond = scene.is_fixed[above] & scene.is_beyond(nodes)
        width, height = self.node.window_px
        # A page that scrolls to the left or up does so from the right or the bottom edge of the window.
        beyond |= scene.reaches_left[0] & (rect[:, 0] >= width) | scene.reaches_up[0] & (rect[:, 1] >= height)
        return np.asarray(((rect[:, 2] <= 0) & ~left) | ((rect[:, 3] <= 0) & ~up) | beyond)

    def _is_cut(self, nodes: Ints, cores: F64, of: Ints) -> Bools:
        """Return of which nodes, in or as the elements `of`, shapes that are no rectangles leave too little."""
        scene = self.scene
        cut = np.zeros(nodes.size, np.bool_)
        at = scene.shape_of[of]
        while (there := np.flatnonzero(at >= 0)).size:
            for one in np.unique(at[there]).tolist():
                those = there[at[there] == one]
                for some in np.array_split(those, 1 + those.size // _AT_ONCE):
                    check()
                    points = samples(cores[some], _ACROSS, _DOWN) - self.rect[one, :2]
                    shares = self._shares_inside(one, points)
                    # A shape that scrolls with the page goes past what is fixed in it.
                    passed = np.flatnonzero(scene.is_fixed[of[some]] & ~scene.is_fixed[one])
                    places = points[passed]
                    for part in np.linspace(0.0, 1.0, _PASSED) if passed.size else ():
                        top = part * (self.rect[one, 3] - self.rect[one, 1])
                        way = np.clip(top - places[:, :, 1].mean(axis=1), 0.0, scene.room_px)
                        moved = places + way[:, None, None] * [0.0, 1.0]
                        shown = self._shares_inside(one, moved)
                        shares[passed[shown >= _LEAST_OF_LINE]] = 1.0  # else it is only a slit
                    cut[some] |= shares < LEAST_SHARE
            at[there] = scene.shape_of[np.maximum(self.page.parent[at[there]], 0)]
        return cut

    def _shares_inside(self, node: int, points: F64) -> F64:
        """Return which share of each set of points (n, m, 2), in px from the corner of a node, is in its shape."""
        inside = self.scene.shapes[node].contains(points.reshape(-1, 2))
        return np.asarray(inside.reshape(points.shape[:2]).mean(axis=1))

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
