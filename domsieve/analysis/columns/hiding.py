"""Why a text of a page cannot be seen, or cannot be read: computed styles and boxes, without pixels."""

import re
from collections.abc import Iterator
from enum import IntEnum
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import F64, Bools, Ints, cached_per_page
from domsieve.analysis.columns.css_values import (
    EVERYWHERE,
    NOWHERE,
    blended,
    filtered,
    shadows,
    shape,
)
from domsieve.analysis.columns.page_columns import attributes_of, has_tag, page_texts
from domsieve.analysis.columns.paint_styles import LEAST_CONTRAST, LEAST_OPACITY, LEAST_PX, PaintStyles
from domsieve.analysis.columns.rectangles import contains, intersection, is_larger
from domsieve.analysis.columns.visible import never_shown, shown_nodes
from domsieve.budget import check, spending
from domsieve.snapshot.page import PIXELS, Kind, Snapshot


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
# Letters up to this size, blurs from this share of a letter on and lines closer than this share cannot be read.
_LEAST_LETTER_PX, _MOST_BLUR, _LEAST_LINE = 3.0, 0.5, 0.4
# Nor can letters that are so many sizes apart, in the mean.
_MOST_APART = 30
_FEWEST_IN_LINE = 4
# The area of a letter in parts of the square of its size, the least one of narrow letters, and its width likewise.
_LETTER_AREA, _LEAST_LETTER_AREA, _LETTER_WIDTH = 0.5, 0.2, 0.4
# So much of a text at its edges has less than a tenth of its ink: in shares of its width, and of its letters' size.
_EDGE, _EDGE_OF_LINE = 0.03, 0.25
# Guesses that bound the work: texts are compared with boxes in up to 64 horizontal bands of at least 128 texts.
_BANDS, _FEWEST_IN_BAND, _MOST_COVERS = 64, 128, 2_000
_WHITE = np.array([255.0, 255.0, 255.0])
_ADDRESS = re.compile(r'url\(["\']?#([^"\')]{1,200})["\']?\)')


@cached_per_page
def hidden_texts(page: Snapshot) -> NDArray[np.uint8]:
    """Return the `Hiding` of each of the N nodes; `Hiding.NONE` for nodes that are not text with words.

    If the page was captured with pictures (`PIXELS`), text that they do not show is hidden, too.

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
        reason[text] = _Scene(page).judge(text)
    if PIXELS in page.style_names:
        # Pictures only add to the rules: a page that knows of them could make hidden text show in them.
        sight = page.strings.take(page.styles[page.style[text], page.style_names.index(PIXELS)].tolist())
        reason[text[(np.array(sight) == "unseen") & (reason[text] == Hiding.NONE)]] = Hiding.UNSEEN
    return reason


class _Scene:
    """The computed styles of a page, and what each node inherits: clipping, opacity, background and filters.

    Attributes
    ----------
    ground : (N, 3), the colour behind the content of a node, NaN where it is unknown.
    ground_of : (N,), the element that has this background, -1 for the page.
    lettering : (N, 4), the colour of letters that are cut out of a background (``background-clip: text``).
    is_fixed : (N,), whether the content of a node stays where it is when the page is scrolled.
    context_of : (N,), the nearest stacking context, -1 for that of the page.
    filter_of, blend_of : (N,), the nearest element with a filter that changes colours, or with a blend mode; -1 for
        none, -2 for one inside another, whose result is not known.
    """

    def __init__(self, page: Snapshot) -> None:
        self.page = page
        self.node = PaintStyles(page)
        n = len(page)
        x, y, width, height = page.box.astype(np.float64).T
        self.rect = np.stack((x, y, x + width, y + height), axis=1)
        self.shape = self._shapes()
        self.has_shape = self.shape[:, 2] < np.inf
        self.clip = np.tile(EVERYWHERE, (n, 1))  # applies to the normal flow inside a node
        self.clip_placed = self.clip.copy()  # applies to its absolutely positioned descendants
        self.own_clip = self.clip.copy()
        self.opacity = np.ones(n)
        self.moves = np.zeros(n, np.bool_)
        self.is_fixed = np.zeros(n, np.bool_)
        self.in_hidden_frame = np.zeros(n, np.bool_)
        self.blur_px = np.zeros(n)
        self.is_flat = np.zeros(n, np.bool_)
        self.ground = np.tile(_WHITE, (n, 1))
        self.ground_of = np.full(n, -1)
        self.cut_to_text = np.zeros(n, np.bool_)
        self.lettering = np.zeros((n, 4))
        self.filter_of = np.full(n, -1)
        self.blend_of = np.full(n, -1)
        self.context_of = np.full(n, -1)
        for nodes in _levels(page):
            check()
            self._inherit(nodes)

    def _shapes(self) -> F64:
        """Return the edges (N, 4) of what ``clip-path``, masks and the like leave of each node."""
        page, node = self.page, self.node
        empty = self._empty_references()
        edges = np.tile(EVERYWHERE, (len(page), 1))
        for one in np.flatnonzero(node.shape_number >= 0).tolist():
            check()
            value = node.shape_values[node.shape_number[one]]
            x, y, width, height = page.box[one].astype(float).tolist()
            if address := _ADDRESS.search(value):
                edges[one] = NOWHERE if address[1] in empty else EVERYWHERE
            else:
                left, top, right, bottom = shape(value, width, height)
                edges[one] = x + left, y + top, x + right, y + bottom
        masked = np.array(
            [bool((address := _ADDRESS.search(value)) and address[1] in empty) for value in node.mask_values]
            + [False]
        )
        nothing = (node.mask_number >= 0) & (page.box[:, 2:] <= 0).any(axis=1)
        nothing |= node.is_masked | masked[node.mask_number] | node.shapeless | node.is_turned
        edges[nothing] = NOWHERE
        return edges

    def _empty_references(self) -> set[str]:
        """Return the ids of masks and clip paths of SVG that contain nothing."""
        page = self.page
        hollow = has_tag(page, "mask", "clippath") & (page.end == np.arange(1, len(page) + 1))
        if not hollow.any():
            return set()
        return {str(name) for one, name in attributes_of(page).found("id", str).items() if hollow[one]}

    def _inherit(self, nodes: Ints) -> None:
        page, node = self.page, self.node
        above = np.maximum(page.parent[nodes], 0)
        fixed, placed = node.fixed[nodes], node.absolute[nodes]
        own = np.where(placed[:, None], self.clip_placed[above], self.clip[above])
        own[fixed] = EVERYWHERE
        self.own_clip[nodes] = own
        inner = own.copy()
        cuts, scrolls = node.cuts[nodes], node.scrolls[nodes]
        inner[cuts] = intersection(own[cuts], self.rect[nodes[cuts]])
        # All content of a scrolling box can be seen if a letter of it can.
        least = np.maximum(node.letter_px[nodes[scrolls]], LEAST_PX)
        seen = is_larger(intersection(own[scrolls], self.rect[nodes[scrolls]]), least)
        inner[scrolls] = np.where(seen[:, None], EVERYWHERE, NOWHERE)
        shaped = self.has_shape[nodes]
        inner[shaped] = intersection(inner[shaped], self.shape[nodes[shaped]])
        self.clip[nodes] = inner
        self.clip_placed[nodes] = np.where(node.holds_placed[nodes, None], inner, self.clip_placed[above])
        self.opacity[nodes] = self.opacity[above] * node.opacity[nodes]
        self.moves[nodes] = self.moves[above] | node.moves[nodes]
        is_fixed = self.is_fixed[above] | fixed
        # What a fixed box scrolls to can be seen if the box can.
        is_fixed[scrolls & ~self._is_beyond(nodes)] = False
        self.is_fixed[nodes] = is_fixed
        self.in_hidden_frame[nodes] = self.in_hidden_frame[above] | (node.is_frame & ~node.seen)[above]
        self.blur_px[nodes] = np.maximum(self.blur_px[above], node.blur_px[nodes])
        self.is_flat[nodes] = self.is_flat[above] | node.is_flat[nodes]
        self._inherit_colours(nodes, above)

    def _is_beyond(self, nodes: Ints) -> Bools:
        """Return which nodes are to the right of the window or below it before the page is scrolled."""
        width, height = self.node.window_px
        return np.asarray((self.rect[nodes, 0] >= width) | (self.rect[nodes, 1] >= height))

    def _inherit_colours(self, nodes: Ints, above: Ints) -> None:
        node = self.node
        cut = node.cut_to_text[nodes]
        own, alpha = node.ground[nodes], node.ground[nodes, 3:]
        mixed = own[:, :3] * alpha + self.ground[above] * (1 - alpha)
        painted = (alpha > 0) & ~cut[:, None]
        self.ground[nodes] = np.where(painted, np.where(alpha == 1, own[:, :3], mixed), self.ground[above])
        self.ground_of[nodes] = np.where(painted[:, 0], nodes, self.ground_of[above])
        self.cut_to_text[nodes] = self.cut_to_text[above] | cut
        self.lettering[nodes] = np.where(cut[:, None], own, self.lettering[above])
        self.context_of[nodes] = np.where(node.is_context[nodes], nodes, self.context_of[above])
        for has, owner in ((node.has_filter, self.filter_of), (node.blend_number > 0, self.blend_of)):
            first = np.where((owner[above] == -1) & ~node.is_root[nodes], nodes, -2)
            owner[nodes] = np.where(has[nodes], first, owner[above])

    def judge(self, text: Ints) -> NDArray[np.uint8]:
        """Return the `Hiding` of each of these texts, which have boxes."""
        node, above = self.node, self.page.parent[text]
        rect, letter = self.rect[text], node.letter_px[text]
        size = np.minimum(rect[:, 2] - rect[:, 0], rect[:, 3] - rect[:, 1])
        letters = self._lengths(text)
        read = self._letter_sizes(text, letters)
        inks = (self._inks(text), node.outline[text])
        behind = self._boxes_behind(text, node.is_placed)
        shaded = self._has_shadows(text, behind)
        strength = self.opacity[above] * np.maximum(inks[0][:, 3], inks[1][:, 3])
        unseen = np.where(shaded, self.opacity[above], strength) < LEAST_OPACITY
        faint = ~shaded
        for ink in inks:
            contrast = self._contrasts(text, ink[:, :3], behind) * self.opacity[above] * ink[:, 3]
            faint &= (contrast <= LEAST_CONTRAST) | (ink[:, 3] == 0)
        alone = np.flatnonzero(faint & (behind < 0))
        faint[alone] = self._boxes_behind(text[alone], ~node.is_placed) < 0
        # A line of one letter's size is enough, whatever the size of its box.
        wide = np.minimum(_LEAST_OF_LETTER * letter, rect[:, 2] - rect[:, 0] - LEAST_PX)
        high = np.minimum(_LEAST_OF_LINE * letter, rect[:, 3] - rect[:, 1] - LEAST_PX)
        least = np.maximum(np.stack((wide, high), axis=1), LEAST_PX)
        beyond = self.is_fixed[above] & self._is_beyond(text)
        tests = (
            self.in_hidden_frame[text] | node.is_unpainted[text],
            ~node.seen[text],
            (size <= LEAST_PX) | (read <= LEAST_PX) | self.is_flat[above],
            unseen,
            ~is_larger(intersection(self.clip[above], rect), least),
            (rect[:, 2] <= 0) | (rect[:, 3] <= 0) | beyond,
            faint,
            self._is_covered(text),
            (read <= _LEAST_LETTER_PX)
            | (self.blur_px[above] >= _MOST_BLUR * letter)
            | (rect[:, 2] - rect[:, 0] > _MOST_APART * letter * letters)
            | self._overlaps(text, letters),
        )
        of = (Hiding.INVISIBLE, *range(Hiding.INVISIBLE, Hiding.UNREADABLE + 1))
        return np.select(tests, [np.uint8(one) for one in of], np.uint8(Hiding.NONE))

    def _letter_sizes(self, text: Ints, letters: F64) -> F64:
        """Return the size of letters on the screen: that of the style, unless ``zoom`` or a transform changes it."""
        rect = self.rect[text]
        width, height = np.maximum(rect[:, 2:] - rect[:, :2], 0).T
        area = width * height / letters
        # Lines of different lengths make the area of a text up to twice that of its letters.
        least, most = np.sqrt(area / _LETTER_AREA) / 2, np.sqrt(area / _LEAST_LETTER_AREA)
        # A line is as high as its letters, whichever way it is turned.
        most = np.where(letters >= _FEWEST_IN_LINE, np.minimum(most, np.minimum(width, height)), most)
        return np.asarray(np.clip(self.node.letter_px[text], np.minimum(least, most), most))

    def _lengths(self, text: Ints) -> F64:
        """Return the number of characters of each text that are not white space."""
        texts = page_texts(self.page).of(text)
        return np.array([max(1, len("".join(one.split()))) for one in texts], np.float64)

    def _overlaps(self, text: Ints, letters: F64) -> Bools:
        """Return which texts have several lines that are painted on top of each other."""
        node, rect = self.node, self.rect[text]
        close = node.line_px[text] < _LEAST_LINE * node.letter_px[text]
        wide = letters[close] * _LETTER_WIDTH * node.letter_px[text[close]]
        close[close] = wide > 1.5 * (rect[close, 2] - rect[close, 0])
        return np.asarray(close)

    def _inks(self, text: Ints) -> F64:
        """Return the colour of the letters of each text (n, 4): its own, or that of a background cut to letters."""
        ink = self.node.ink[text].copy()
        above = self.page.parent[text]
        through = self.cut_to_text[above] & (ink[:, 3] < 1)
        ink[through] = np.where(
            (ink[through, 3:] < LEAST_OPACITY), self.lettering[above[through]], [np.nan, np.nan, np.nan, 1.0]
        )
        return ink

    def _contrasts(self, text: Ints, colours: F64, behind: Ints) -> F64:
        """Return the largest difference of a channel between letters (n, 3) and ground (n,), NaN if it is not known.

        Parameters
        ----------
        text : the texts.
        colours : the colours of their letters.
        behind : the box behind each text that is no ancestor; see `_boxes_behind`.
        """
        node, above = self.node, self.page.parent[text]
        owner = np.where(behind >= 0, behind, self.ground_of[above])
        colours, ground = colours.copy(), self.ground[above].copy()
        holds = (owner < 0) | contains(self.rect[owner], self._cores(text))
        known = holds & (node.ground[behind, 3] == 1) & ~node.is_picture[behind]
        ground[behind >= 0] = np.where(known[:, None], node.ground[behind, :3], np.nan)[behind >= 0]
        for of, values, change in (
            (self.filter_of[above], node.filter_number, self._filter),
            (self.blend_of[above], node.blend_number, partial(self._blend, behind)),
        ):
            colours[of == -2] = np.nan
            touched = of >= 0
            for value in np.unique(values[of[touched]]).tolist():
                at = np.flatnonzero(touched)[values[of[touched]] == value]
                inside = at[(owner[at] >= of[at]) & (owner[at] < self.page.end[of[at]])]
                change(value, of[at], at, colours)
                change(value, of[inside], inside, ground)
        contrast = np.abs(colours - ground).max(axis=1)
        # A text that is partly outside of its ground also stands on the one behind.
        out = np.flatnonzero(~holds & (behind < 0))
        outer = self.ground[np.maximum(self.page.parent[owner[out]], 0)]
        contrast[out] = np.maximum(contrast[out], np.abs(colours[out] - outer).max(axis=1))
        return np.asarray(contrast)

    def _filter(self, value: int, _of: Ints, at: Ints, colours: F64) -> None:
        colours[at] = filtered(colours[at], self.node.filter_values[value])

    def _blend(self, behind: Ints, value: int, of: Ints, at: Ints, colours: F64) -> None:
        around = np.maximum(self.page.parent[of], 0)
        below, context = self.ground[around], self.context_of[around]
        # A stacking context is blended on its own: where it has no background, nothing is changed. Nor is it on the
        # window, which is transparent until it is shown.
        stands = self.ground_of[around] >= np.maximum(context, 0)
        box = behind[at]
        is_other = (box >= 0) & ((box < of) | (box >= self.page.end[of]))
        below[is_other] = np.where(
            self.node.ground[box[is_other], 3:] == 1, self.node.ground[box[is_other], :3], np.nan
        )
        stands[is_other] = (self.context_of[np.maximum(self.page.parent[box], 0)] == context)[is_other]
        colours[at[stands]] = blended(colours[at[stands]], below[stands], self.node.blend_values[value])

    def _has_shadows(self, text: Ints, behind: Ints) -> Bools:
        """Return which texts have a shadow that can be seen on their ground."""
        node = self.node
        found = np.zeros(text.size, np.bool_)
        shaded = np.flatnonzero((node.shadow_number[text] > 0) & ~node.has_no_fill[text])
        if not shaded.size:
            return found
        shades = [shadows(value) for value in node.shadow_values]
        for layer in range(max(map(len, shades))):
            own = [shades[number][layer : layer + 1] for number in node.shadow_number[text[shaded]].tolist()]
            there = shaded[[bool(one) for one in own]]
            ink = np.array([one[0] for one in own if one], np.float64).reshape(-1, 4)
            contrast = self._contrasts(text[there], ink[:, :3], behind[there])
            found[there] |= ~(contrast * ink[:, 3] <= LEAST_CONTRAST)
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

    def _painted(self, painted: Bools) -> Ints:
        """Return those of the `painted` (N,) nodes whose boxes can be seen."""
        page = self.page
        boxed = np.flatnonzero(
            painted
            & self.node.seen
            & (page.style >= 0)
            & (page.kind != Kind.TEXT)
            & (self.opacity >= LEAST_OPACITY)
        )
        visible: Ints = boxed[is_larger(intersection(self.own_clip[boxed], self.rect[boxed]), LEAST_PX)]
        return visible

    def _boxes_behind(self, text: Ints, of: Bools) -> Ints:
        """Return the uppermost box behind the middle of each text that is no ancestor and is above its ground.

        Parameters
        ----------
        text : the texts.
        of : bool (N,), the boxes to look at.

        Returns
        -------
        boxes : (n,), -1 for texts that stand on their ground.
        """
        found = np.full(text.size, -1)
        if not text.size:
            return found
        boxes = self._painted(((self.node.ground[:, 3] > LEAST_OPACITY) | self.node.is_picture) & of)
        paint, owner = self.page.paint, self.ground_of[self.page.parent[text]]
        ground = np.where(owner >= 0, paint[owner], -1)
        root = self._roots(boxes)
        turn = np.where(root >= 0, root + 0.5, paint[boxes])
        middle = (self.rect[text, :2] + self.rect[text, 2:]) / 2
        middle = np.concatenate((middle, middle), axis=1)
        for at, over in self._bands(middle, boxes):
            node, box = text[at][:, None], boxes[over][None]
            around = (box < node) & (self.page.end[box] > node)
            between = (turn[over][None] >= ground[at][:, None]) & (
                turn[over][None] <= paint[text[at]][:, None] + 0.5
            )
            behind = contains(self.rect[box], middle[at][:, None]) & ~around & between
            turns = np.where(behind, turn[over][None], -np.inf)
            last = (
                over.size - 1 - np.argmax(turns[:, ::-1], axis=1)
            )  # of boxes in the same layer the last one
            found[at] = np.where(behind.any(axis=1), boxes[over[last]], -1)
        return found

    def _is_covered(self, text: Ints) -> Bools:
        """Return which texts are under one opaque box that is painted later and scrolls with the page.

        A box with a negative ``z-index`` has a later number than the content of its stacking context, but is painted
        before it (CSS 2.1, appendix E).
        """
        paint = self.page.paint
        solid = self.node.is_opaque & ~self.moves & (self.opacity > 1 - LEAST_OPACITY) & ~self.cut_to_text
        boxes = self._painted(solid & (paint > paint[text].min()))
        covers = intersection(self.own_clip[boxes], self.rect[boxes])
        root = self._roots(boxes)
        covered = np.zeros(text.size, np.bool_)
        cores = self._cores(text)
        for at, over in self._bands(cores, boxes):
            own = paint[text[at]][:, None]
            later = (paint[boxes[over]][None] > own) & (root[over][None] != own)
            covered[at] = (later & contains(covers[over][None], cores[at][:, None])).any(axis=1)
        return covered

    def _roots(self, boxes: Ints) -> Ints:
        """Return the paint order of the stacking context of each box that is behind its content; -1 for others."""
        page = self.page
        found = np.full(boxes.size, -1)
        behind = self.node.is_behind[boxes]
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

    def _bands(self, rect: F64, boxes: Ints) -> Iterator[tuple[Ints, Ints]]:
        """Yield groups of rows of `rect` with similar tops, each with the `boxes` that reach those tops.

        Each group gets at most the 2,000 largest boxes, so that no page can cause quadratic time.
        """
        if not boxes.size or not len(rect):
            return
        order = np.argsort(rect[:, 1], kind="stable")
        top, bottom = self.rect[boxes, 1], self.rect[boxes, 3]
        area = (self.rect[boxes, 2] - self.rect[boxes, 0]) * (bottom - top)
        for at in np.array_split(order, min(_BANDS, 1 + order.size // _FEWEST_IN_BAND)):
            check()
            first, last = rect[at[0], 1], rect[at[-1], 1]
            over = np.flatnonzero((top <= last) & (bottom >= first))
            if over.size > _MOST_COVERS:
                over = np.sort(over[np.argsort(-area[over], kind="stable")[:_MOST_COVERS]])
            if over.size:
                yield at, over


def _levels(page: Snapshot) -> Iterator[Ints]:
    """Yield the nodes of each depth, from the children of the document down."""
    steps = np.zeros(len(page) + 1, np.int64)
    steps[1:] += 1
    np.subtract.at(steps, page.end, 1)
    depth = np.cumsum(steps[:-1])
    order = np.argsort(depth, kind="stable")
    cuts = np.searchsorted(depth[order], np.arange(1, int(depth.max(initial=0)) + 2))
    for first, last in pairwise(cuts):
        yield order[first:last]
