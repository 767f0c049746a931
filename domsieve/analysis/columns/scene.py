"""The nodes of a page as they are painted: what each inherits of clipping, opacity, colours and transforms."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from domsieve.analysis.columns.batch import F64, Bools, Ints
from domsieve.analysis.columns.css_shapes import (
    EVERYWHERE,
    NOWHERE,
    Edges,
    Shape,
    clip_edges,
    painted,
    shape,
)
from domsieve.analysis.columns.css_transforms import thinness
from domsieve.analysis.columns.css_values import laid_on, number, pictures, split_list
from domsieve.analysis.columns.page_columns import attributes_of, has_tag, in_tag
from domsieve.analysis.columns.paint_styles import DRAWN, LEAST_OPACITY, LEAST_PX, PaintStyles
from domsieve.analysis.columns.patches import Patches
from domsieve.analysis.columns.rectangles import grown, intersection, is_larger, unturned
from domsieve.analysis.columns.svg_clips import drawn_edges
from domsieve.budget import check
from domsieve.snapshot.page import Kind, Snapshot

_ADDRESS = re.compile(r'url\(["\']?#([^"\')]{1,200})["\']?\)')
_MASK = (
    ("mask-size", "auto"),
    ("mask-position", "0% 0%"),
    ("mask-repeat", "repeat"),
    ("mask-mode", "match-source"),
    ("mask-composite", "add"),
)
_BLACK = frozenset({"black", "#000", "#000000", "none", "rgb(0,0,0)", "transparent"})
_SQUARE = np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)])
_LEAST_TURN = 1e-3
# What a transform makes thinner than this share is a line.
_LEAST_SCALE = 0.02


class Scene:
    """The computed styles of a page, and what each node inherits: clipping, opacity, background and filters.

    Attributes
    ----------
    ground : (N, 3), the colour behind the content of a node, NaN where it is unknown.
    beside : (N, 3), the same without pictures that fill only a part of their boxes.
    area : (N, 4), the edges of the background of a node: without end for that of the page.
    ground_of : (N,), the element that has this background, -1 for the page.
    lettering : (N, 4), the colour of letters that are cut out of a background (``background-clip: text``).
    is_fixed : (N,), whether the content of a node stays where it is when the page is scrolled.
    room_px : how far the page can be scrolled down.
    mover : (N,), the nearest fixed or sticky box around the content of a node, -1 for none.
    scroller_of : (N,), the nearest box that scrolls the content of a node, -1 for none.
    bar_of : (N,), the nearest element with a line that is behind the letters of a node, -1 for none.
    line_of : (N,), the nearest element with a line under or through the letters of a node, -1 for none.
    next_line : (N,), of such elements the next one around it.
    context_of : (N,), the nearest stacking context, -1 for that of the page.
    effect_of : (N,), the nearest element with a blend mode or a filter that changes colours, -1 for none.
    shade_of : (N,), the nearest element with a filter that gives letters a shadow, -1 for none.
    shape_of : (N,), the nearest element with one of `shapes`, which are no rectangles, -1 for none.
    is_odd : (N,), what is painted only in parts that are not known.
    plane : (N, 2, 2), the transform of the content of a node.
    """

    def __init__(self, page: Snapshot) -> None:
        self.page = page
        self.node = PaintStyles(page)
        self.patches = Patches(page, self.node)
        n = len(page)
        x, y, width, height = page.box.astype(np.float64).T
        self.rect = np.stack((x, y, x + width, y + height), axis=1)
        # How far the page can be scrolled.
        self.room_px = float(max(np.nanmax(self.rect[:, 3], initial=0.0) - self.node.window_px[1], 0.0))
        self.area = self.patches.area.copy()
        self.shapes: dict[int, Shape] = {}
        self.edges = self._edges()
        self.has_edges: Bools = np.asarray(np.isfinite(self.edges).any(axis=1))
        self.clip = np.tile(EVERYWHERE, (n, 1))  # applies to the normal flow inside a node
        self.clip_placed = self.clip.copy()  # applies to its absolutely positioned descendants
        self.clip_fixed = self.clip.copy()  # and to fixed ones
        self.own_clip = self.clip.copy()
        self.opacity = np.ones(n)
        self.holds_fixed = np.zeros(n, np.bool_)
        self.is_fixed = np.zeros(n, np.bool_)
        self.mover, self.scroller_of = np.full(n, -1), np.full(n, -1)
        self.in_hidden_frame = np.zeros(n, np.bool_)
        self.blur_px = np.zeros(n)
        self.plane = np.tile(np.eye(2), (n, 1, 1))
        self.ground = np.tile(np.full(3, 255.0), (n, 1))
        self._has_marks = is_larger(self.patches.mark, 0.0).any()
        self.beside = self.ground.copy() if self._has_marks else self.ground
        self.ground_of = np.full(n, -1)
        self.cut_to_text = np.zeros(n, np.bool_)
        self.is_struck = np.zeros(n, np.bool_)
        self.bar_of = np.full(n, -1)
        self.line_of, self.next_line = np.full(n, -1), np.full(n, -1)
        self.lettering = np.zeros((n, 4))
        self.effect_of, self.context_of = np.full(n, -1), np.full(n, -1)
        self.shade_of, self.shape_of = np.full(n, -1), np.full(n, -1)
        self.is_odd = np.zeros(n, np.bool_)
        self.reaches_left, self.reaches_up = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
        self.is_context_root = self.node.is_context | self.node.is_root
        self._roots = self._canvases()
        for nodes in _levels(page):
            check()
            self._inherit(nodes)

    def _canvases(self) -> dict[int, F64]:
        """Return the background that fills the page or frame of each root: CSS Backgrounds Level 3, section 2.11."""
        page, found = self.page, {}
        bodies = {int(page.parent[one]): one for one in np.flatnonzero(has_tag(page, "body"))[::-1].tolist()}
        for root in np.flatnonzero(has_tag(page, "html")).tolist():
            owner = root if self.patches.ground[root, 3] > 0 else bodies.get(root, root)
            found[root] = self.patches.ground[owner].copy()
            if owner in self.patches.mixes:
                self.patches.mixes[root] = self.patches.mixes.pop(owner)
            self.patches.ground[owner, 3] = 0
            if page.parent[root] > 0:
                self._fill_frame(root, owner)
            left = {root, bodies.get(root, root)}
            if page.parent[root] == 0:
                self.reaches_left[0] = self.node.reaches_left[[*left]].any()
                self.reaches_up[0] = self.node.reaches_up[[*left]].any()
        return found

    def _fill_frame(self, root: int, owner: int) -> None:
        """Let the background of a frame's page fill the frame, with borders and padding as wide as at its corner."""
        frame = int(self.page.parent[self.page.parent[root]])
        # The first patch of a node is its background.
        at = int(np.searchsorted(self.patches.node[:-1], owner))
        if at < self.patches.node.size - 1 and self.patches.node[at] == owner and self.node.is_frame[frame]:
            inset = max(0.0, *(self.rect[root, :2] - self.rect[frame, :2]).tolist())
            self.patches.outer[at] = grown(self.rect[frame], -inset)

    def _edges(self) -> F64:
        """Return the edges (N, 4) of what ``clip-path``, ``clip`` and masks leave of each node."""
        page, node = self.page, self.node
        empty = self._empty_references()
        named = attributes_of(page).found("id", str) if (node.shape_number >= 0).any() else {}
        times = Counter(named.values())
        paths = {
            name: one for one, name in named.items() if times[name] == 1 and page.tag_name(one) == "clippath"
        }
        in_drawing = in_tag(page, "svg")
        edges = np.tile(EVERYWHERE, (len(page), 1))
        for one in np.flatnonzero(node.shape_number >= 0).tolist():
            check()
            value = node.shape_values[node.shape_number[one]]
            x, y, width, height = page.box[one].astype(float).tolist()
            if address := _ADDRESS.search(value):
                if address[1] in empty:
                    edges[one] = NOWHERE
                elif not in_drawing[one] and address[1] in paths:
                    edges[one] = _moved(drawn_edges(page, paths[address[1]], width, height), x, y)
            elif found := shape(value, width, height):
                edges[one] = _moved(found.edges, x, y)
                if not found.is_rectangle:
                    self.shapes[one] = found
        nothing = node.is_turned | node.is_cut_away
        for one in np.flatnonzero((node.mask_number >= 0) | (node.clip_number >= 0)).tolist():
            check()
            x, y, width, height = page.box[one].astype(float).tolist()
            left: list[Edges] = []
            if node.clip_number[one] >= 0:
                left.append(clip_edges(node.clip_values[node.clip_number[one]]))
            if node.mask_number[one] >= 0:
                left.append(self._mask_edges(one, width, height, empty))
            for own in left:
                edges[one] = intersection(edges[one][None], np.array([_moved(own, x, y)]))[0]
        edges[nothing] = NOWHERE
        return edges

    def _mask_edges(self, one: int, width: float, height: float, empty: set[str]) -> Edges:
        """Return the edges of what a mask leaves of a node, in px from its corner."""
        value = self.node.mask_values[self.node.mask_number[one]]
        if width <= 0 or height <= 0 or ((address := _ADDRESS.search(value)) and address[1] in empty):
            return NOWHERE
        style = self.page.computed_style(one)
        lists = [split_list(style.get(name, initial)) for name, initial in _MASK]
        images, found = split_list(value), list[Edges]()
        for at, ink in enumerate(pictures(value)):
            size, position, repeat, mode, composite = (said[at % len(said)].strip() for said in lists)
            if composite not in {"add", ""} and at + 1 < len(images):
                return NOWHERE  # the result of masks without each other is not known
            edges = painted(
                size, position, repeat, width, height, is_file="url(" in images[min(at, len(images) - 1)]
            )
            dark = mode == "luminance" and max(ink[:3]) / 255 < LEAST_OPACITY
            if ink[3] >= LEAST_OPACITY and not dark and edges != NOWHERE:
                found.append(edges)
        if not found:
            return NOWHERE
        left, top = (min(edges[at] for edges in found) for at in (0, 1))
        right, bottom = (max(edges[at] for edges in found) for at in (2, 3))
        fills = left <= 0 and top <= 0 and right >= width and bottom >= height
        return EVERYWHERE if fills else (left, top, right, bottom)

    def _empty_references(self) -> set[str]:
        """Return the ids of masks and clip paths of SVG that contain nothing, or only groups."""
        page = self.page
        in_mask = in_tag(page, "mask")
        holders = np.flatnonzero(has_tag(page, "mask", "clippath"))
        if not holders.size:
            return set()
        draws = has_tag(page, *DRAWN, "text")
        attributes = attributes_of(page)
        for name in ("width", "height", "r", "rx", "ry"):
            draws[
                [*attributes.found(name, lambda said: True if number(said.strip(), 1.0) == 0 else None)]
            ] = False
        # What is black in a mask shows nothing.
        dark = [*attributes.found("fill", lambda said: True if said.strip().lower() in _BLACK else None)]
        draws[[one for one in dark if in_mask[one]]] = False
        drawn = np.append(0, np.cumsum(draws))
        hollow = {int(one) for one in holders if drawn[page.end[one]] == drawn[one]}
        return {name for one, name in attributes.found("id", str).items() if one in hollow}

    def _inherit(self, nodes: Ints) -> None:
        page, node = self.page, self.node
        above = np.maximum(page.parent[nodes], 0)
        held = self.holds_fixed[above]
        fixed = np.asarray(node.fixed[nodes])
        placed = np.asarray(node.absolute[nodes])
        own = np.where(placed[:, None], self.clip_placed[above], self.clip[above])
        own[fixed] = self.clip_fixed[above[fixed]]
        shaped = self.has_edges[nodes]
        own[shaped] = intersection(own[shaped], self.edges[nodes[shaped]])
        self.own_clip[nodes] = own
        inner = own.copy()
        cuts, scrolls = node.cuts[nodes], node.scrolls[nodes]
        inner[cuts] = intersection(own[cuts], self.rect[nodes[cuts]])
        if node.planes:
            self.plane[nodes] = self.plane[above]
            for one in nodes[node.has_plane[nodes]].tolist():
                outer, plane = page.parent[one], node.planes[one]
                if one in node.rooms:
                    root, plane = node.rooms[one]
                    outer = page.parent[root]
                self.plane[one] = self.plane[outer] @ plane
            self._turn_shapes(nodes[cuts & self.is_turned(nodes)])
        # All content of a scrolling box can be seen if a letter of it can.
        least = np.maximum(node.letter_px[nodes[scrolls]], LEAST_PX)
        seen = is_larger(intersection(own[scrolls], self.rect[nodes[scrolls]]), least)
        inner[scrolls] = np.where(seen[:, None], EVERYWHERE, NOWHERE)
        # But of a frame only what is to the right of its corner and below it.
        framed = np.flatnonzero(scrolls)[seen & node.is_frame[nodes[scrolls]]]
        for axis, reaches in enumerate((node.reaches_left, node.reaches_up)):
            begins = framed[~reaches[nodes[framed]]]
            inner[begins, axis] = self.rect[nodes[begins], axis]
        self.clip[nodes] = inner
        # What cuts fixed boxes and does not hold them goes past them when the page is scrolled.
        edges = self.edges[nodes[shaped]]
        passing = (edges[:, 3] > edges[:, 1]) & ~(self.is_fixed[above] | fixed)[shaped]
        passed = edges - [0.0, self.room_px, 0.0, 0.0] * passing[:, None]
        for clip, cut, holds in (
            (self.clip_placed, edges, node.holds_placed),
            (self.clip_fixed, passed, node.holds_fixed),
        ):
            outer = clip[above]
            outer[shaped] = intersection(outer[shaped], cut)
            clip[nodes] = np.where((holds | node.is_frame)[nodes, None], inner, outer)
        scroller = self.scroller_of[above]
        # What is placed leaves a box that scrolls, unless that is its containing block.
        scroller[fixed | (placed & ~node.holds_placed[scroller])] = -1
        self.scroller_of[nodes] = np.where(scrolls, nodes, scroller)
        self.holds_fixed[nodes] = held | node.holds_fixed[nodes]
        self.opacity[nodes] = self.opacity[above] * node.opacity[nodes]
        # A fixed box in a transformed one moves with it.
        moves = node.moves[nodes] & ~(fixed & held)
        self.mover[nodes] = np.where(moves, nodes, self.mover[above])
        is_fixed = self.is_fixed[above] | (fixed & ~held)
        # What a fixed box scrolls to can be seen if the box can.
        is_fixed[scrolls & ~self.is_beyond(nodes)] = False
        self.is_fixed[nodes] = is_fixed
        self.reaches_left[nodes] = self.reaches_left[above] | (scrolls & node.reaches_left[nodes])
        self.reaches_up[nodes] = self.reaches_up[above] | (scrolls & node.reaches_up[nodes])
        is_framed = page.kind[nodes] == Kind.DOCUMENT
        self.in_hidden_frame[nodes] = self.in_hidden_frame[above] | (is_framed & ~node.seen[above])
        self.blur_px[nodes] = np.maximum(self.blur_px[above], node.blur_px[nodes])
        flows = ~(fixed | placed) & node.is_decorated_through[nodes]
        self.is_struck[nodes] = (self.is_struck[above] & flows) | node.is_struck[nodes]
        self.bar_of[nodes] = np.where(node.is_barred[nodes], nodes, np.where(flows, self.bar_of[above], -1))
        self.next_line[nodes] = np.where(flows, self.line_of[above], -1)
        self.line_of[nodes] = np.where(node.has_line[nodes], nodes, self.next_line[nodes])
        self._inherit_colours(nodes, above)

    def is_beyond(self, nodes: Ints) -> Bools:
        """Return which nodes are to the right of the window or below it before the page is scrolled."""
        width, height = self.node.window_px
        return np.asarray((self.rect[nodes, 0] >= width) | (self.rect[nodes, 1] >= height))

    def stands_in(self, context: Ints, owner: Ints) -> Bools:
        """Return which grounds, by their elements, are painted in stacking contexts, of which -1 is that of the page.

        That of the window, -1 too, is transparent until it is shown.
        """
        return np.asarray(
            (owner >= np.maximum(context, 0)) & ((context < 0) | (owner < self.page.end[context]))
        )

    def is_turned(self, nodes: Ints) -> Bools:
        """Return which boxes have no horizontal edges, because a transform turns them."""
        return np.asarray(np.abs(self.plane[nodes][:, [0, 1], [1, 0]]).max(axis=1, initial=0) > _LEAST_TURN)

    def _turn_shapes(self, nodes: Ints) -> None:
        """Give boxes that cut and are turned the shape of a parallelogram."""
        half = unturned(self.rect[nodes], self.plane[nodes])
        for one, size, plane in zip(nodes.tolist(), half, self.plane[nodes], strict=True):
            ring = (_SQUARE * size) @ plane.T + (self.rect[one, 2:] - self.rect[one, :2]) / 2
            if not np.isnan(ring).any():
                self.shapes.setdefault(one, Shape((ring,)))

    def is_flat(self, nodes: Ints) -> Bools:
        """Return which nodes a transform turns into lines."""
        return np.asarray(thinness(self.plane[nodes]) <= _LEAST_SCALE)

    def _inherit_colours(self, nodes: Ints, above: Ints) -> None:
        node, patches = self.node, self.patches
        # The background of a table is not behind its caption.
        behind = np.where(node.is_caption[nodes], np.maximum(self.page.parent[above], 0), above)
        cut = node.cut_to_text[nodes]
        paints = (patches.ground[nodes, 3] > 0) & ~cut
        for ground, of in ((self.ground, patches.ground), (self.beside, patches.beside))[
            : 1 + self._has_marks
        ]:
            ground[nodes] = ground[behind]
            those = nodes[paints & (of[nodes, 3] > 0)]
            ground[those] = laid_on(of[those], ground[those])
        own = patches.ground[nodes]
        self.ground_of[nodes] = np.where(paints, nodes, self.ground_of[behind])
        for root in self._roots.keys() & set(nodes.tolist()):
            self._paint_canvas(root)
        self.cut_to_text[nodes] = self.cut_to_text[above] | cut
        self.lettering[nodes] = np.where(cut[:, None], own, self.lettering[above])
        self.context_of[nodes] = np.where(node.is_context[nodes], nodes, self.context_of[above])
        self.effect_of[nodes] = np.where(node.has_effect[nodes], nodes, self.effect_of[above])
        self.shade_of[nodes] = np.where(node.shade[nodes, 3] > LEAST_OPACITY, nodes, self.shade_of[above])
        self.shape_of[nodes] = self.shape_of[above]
        if self.shapes:
            shaped = nodes[np.isin(nodes, [*self.shapes])]
            self.shape_of[shaped] = shaped
        self.is_odd[nodes] = self.is_odd[above] | (self.shape_of[nodes] >= 0) | (node.mask_number[nodes] >= 0)
        self.is_odd[nodes] |= node.has_reference[nodes] | node.has_mask_border[nodes]

    def _paint_canvas(self, root: int) -> None:
        """Give a root the background of the page or frame, which has the colour of its scheme below it."""
        page = self.page
        own = self._roots[root]
        frame = int(page.parent[page.parent[root]]) if page.parent[root] > 0 else -1
        base = np.array(self.node.canvas(root))
        if frame >= 0 and (self.node.canvas(root) == self.node.canvas(frame)):
            base = self.ground[frame]
        self.ground[root] = laid_on(own[None], base[None])[0]
        self.beside[root] = self.ground[root]
        self.ground_of[root] = root if own[3] > 0 else frame
        if root in self.patches.mixes:
            mixes = self.patches.mixes[root]
            mixes[:, :3], mixes[:, 3] = laid_on(mixes, base), 1.0
        self.area[root] = EVERYWHERE


def _moved(edges: Edges, x: float, y: float) -> Edges:
    left, top, right, bottom = edges
    return (x + left, y + top, x + right, y + bottom) if edges != NOWHERE else NOWHERE


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
