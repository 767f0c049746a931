"""What the boxes of a page paint: rectangles of one colour, of backgrounds, shadows, borders, outlines and SVG."""

from functools import lru_cache
from itertools import product
from math import inf, isnan, nan

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import F64, Bools, Ints
from domsieve.analysis.columns.css_shapes import NOWHERE, Edges, length, painted
from domsieve.analysis.columns.css_values import (
    NO_COLOUR,
    UNKNOWN,
    Colour,
    blended,
    colour,
    number,
    over,
    pictures,
    shadows,
    split_list,
    stops_of,
)
from domsieve.analysis.columns.page_columns import has_tag
from domsieve.analysis.columns.paint_styles import LEAST_OPACITY, PaintStyles
from domsieve.analysis.columns.rectangles import grown, intersection
from domsieve.budget import check
from domsieve.snapshot.page import Kind, Snapshot

_PICTURE = (
    ("background-image", "none"),
    ("background-size", "auto"),
    ("background-position", "0% 0%"),
    ("background-repeat", "repeat"),
    ("background-blend-mode", "normal"),
)
_SIDES = ("left", "top", "right", "bottom")
_SOLID = frozenset({"solid", "groove", "ridge", "inset", "outset"})
_WITH_GAPS, _DOUBLE = 1, 2  # kinds of borders; 0 is solid
_INSIDE_BORDERS = frozenset({"padding-box", "content-box"})
# So many colours that the gradients of a background are between are looked at. A guess
_MOST_MIXES = 8
# Thinner borders, outlines and shadows hide no letters.
_LEAST_RING_PX = 8.0
# Several low boxes do, also with thin ones.
_THIN_BOX_PX = 12.0
_ENDS = ("x1", "y1", "x2", "y2")
# Lines with gaps, ends of their own, or styles that may give them these.
_ODD_LINES = frozenset(
    ("stroke-dasharray", "marker-start", "marker-end", "vector-effect", "style", "class", "pathlength")
)
# What the corner of a square with round corners loses of its radius on both sides: 1 - 1 / sqrt(2).
_CORNER = 0.293


class Patches:
    """What boxes paint, as P rectangles in the order of their nodes, and the grounds of what is inside of N nodes.

    Attributes
    ----------
    ground : (N, 4), the colour that a node paints behind its content; unknown if there are pictures in it.
    beside : (N, 4), the same without pictures that only fill a part of the node.
    mark : (N, 4), the edges of what these pictures fill.
    area : (N, 4), the edges of what a background fills: not transparent borders if it is cut to what is in them.
    mixes : colours (k, 4) by node, up to 8, between which each point of a background is that has several.
    node, outer, hole, colour : (P,) the node that paints a rectangle, and its edges (P, 4), with a hole (P, 4) in
        it that may be empty, and the colour (P, 4).
    is_top : (P,), what is painted after the content of the node.
    mixed_borders : of nodes whose borders are not equally clear, such as those of triangles, the edges of each border
        (4,) and its colour; of a corner, the colour of the one that is less clear.
    """

    def __init__(self, page: Snapshot, styles: PaintStyles) -> None:
        self._page, self._styles = page, styles
        x, y, width, height = page.box.astype(np.float64).T
        self._rect = np.stack((x, y, x + width, y + height), axis=1)
        # Texts have the styles of their parents.
        self._is_box: Bools = (page.style >= 0) & (page.kind != Kind.TEXT) & ~styles.is_unpainted
        self.ground = np.where(self._is_box[:, None], styles.background, NO_COLOUR)
        partly = styles.each("background-clip", "border-box", lambda value: value == "content-box")
        partly &= self.ground[:, 3] > 0
        # Where the padding ends, and the background with it, is not known.
        self.mixes: dict[int, F64] = {
            one: np.array([self.ground[one], NO_COLOUR]) for one in np.flatnonzero(partly).tolist()
        }
        self.ground[partly] = UNKNOWN
        drawn = styles.is_drawn & self._is_box
        self.ground[drawn] = styles.fill[drawn]
        unclear = drawn & ~has_tag(page, "rect") & (self.ground[:, 3] > 0)
        self.ground[unclear] = UNKNOWN
        self._read_lines(drawn)
        self.ground[self._empty_cells()] = NO_COLOUR
        self.beside = self.ground.copy()
        self.mark = np.tile(NOWHERE, (len(page), 1))
        self._more: list[tuple[int, Edges, Edges, Colour, bool]] = []
        self._borders = [styles.each(f"border-{side}", "0px none rgb(0, 0, 0)", _border) for side in _SIDES]
        self.area = self._areas()
        self._read_pictures()
        self._read_shadows()
        self.mixed_borders: list[tuple[int, F64, Colour]] = []
        self._read_borders()
        self._read_outlines()
        self._collect()

    def _read_lines(self, drawn: Bools) -> None:
        """Read the level and upright lines of drawings. Their boxes also have half of their width at both ends."""
        page, styles = self._page, self._styles
        width = styles.each("stroke-width", "1px", lambda value: number(value, 1.0))
        size = page.box[:, 2:].min(axis=1)
        lines = drawn & has_tag(page, "line") & (styles.outline[:, 3] > 0) & (size >= _LEAST_RING_PX)
        for one in np.flatnonzero(lines & ~styles.has_plane).tolist():
            check()
            said = page.attributes(one)
            ends = [number(said.get(name, "0"), nan) for name in ("x1", "y1", "x2", "y2")]
            lengths = abs(ends[2] - ends[0]), abs(ends[3] - ends[1])
            is_odd = not _ODD_LINES.isdisjoint(said) or any("%" in said.get(name, "") for name in _ENDS)
            if is_odd or (lengths[0] > 0) == (lengths[1] > 0):
                continue
            axis = 0 if lengths[0] > 0 else 1
            cap = self._rect[one, axis + 2] - self._rect[one, axis]
            cap *= width[one] / 2 / (lengths[axis] + width[one])
            self._rect[one, [axis, axis + 2]] += (cap, -cap)
            self.ground[one] = styles.outline[one]

    def _collect(self) -> None:
        paints = (self.beside[:, 3] > LEAST_OPACITY) | self._styles.is_picture
        boxes = np.flatnonzero(self._is_box & (paints | (self._styles.backdrop_number > 0)))
        node = np.append(boxes, [one[0] for one in self._more]).astype(np.int64)
        order = np.argsort(node, kind="stable")
        # The last one paints nothing, so that -1 can mean none.
        order = np.append(order, node.size)
        node = np.append(node, 0)
        self._more.append((0, NOWHERE, NOWHERE, NO_COLOUR, False))
        self.node: Ints = node[order]
        edges = np.array([(*one[1], *one[2], *one[3]) for one in self._more]).reshape(-1, 12)
        radius = self._styles.each("border-radius", "0px", _radius)[boxes, None]
        size = self.area[boxes, 2:] - self.area[boxes, :2]
        cut = _CORNER * np.clip(np.where(radius < 0, -radius * size, radius), 0, size / 2)
        outer = self.area[boxes] + np.concatenate((cut, -cut), axis=1)
        self.outer: F64 = np.concatenate((outer, edges[:, :4]))[order]
        self.hole: F64 = np.concatenate((np.tile(NOWHERE, (boxes.size, 1)), edges[:, 4:8]))[order]
        self.colour: F64 = np.concatenate((self.beside[boxes], edges[:, 8:]))[order]
        is_top = np.append(np.zeros(boxes.size, np.bool_), [one[4] for one in self._more]).astype(np.bool_)
        self.is_top: Bools = is_top[order]
        self.is_picture: Bools = self._styles.is_picture[self.node] & (self.colour[:, 3] <= LEAST_OPACITY)

    def _add(self, one: int, outer: F64, hole: F64 | None, ink: Colour, *, is_top: bool = False) -> None:
        left, top, right, bottom = outer.tolist()
        edges: Edges = (left, top, right, bottom)
        inner = NOWHERE if hole is None else tuple(hole.tolist())
        self._more.append((one, edges, inner, ink, is_top))

    def _areas(self) -> F64:
        inside = self._styles.each(
            "background-clip", "border-box", lambda value: set(value.split(", ")) <= _INSIDE_BORDERS
        )
        width = np.stack(
            [np.where((one[:, 4] == 0) & (one[:, 5] == 0), one[:, 0], 0.0) for one in self._borders], axis=1
        )
        return self._rect + np.where(inside[:, None], width, 0.0) * (1, 1, -1, -1)

    def _read_pictures(self) -> None:
        columns = [self._styles.numbers(name, initial) for name, initial in _PICTURE]
        for one in np.flatnonzero((columns[0][0] > 0) & self._is_box).tolist():
            check()
            values = tuple(column[of[one]] for of, column in columns)
            left, top, right, bottom = self._rect[one].tolist()
            base: Colour = tuple(self.ground[one].tolist())
            whole, parts, mixes = _layered(values, base, right - left, bottom - top)
            self.mixes.pop(one, None)
            if len(mixes) > 1:
                self.mixes[one] = np.array(mixes)
            self.beside[one] = whole
            self.ground[one] = over(UNKNOWN, whole) if parts else whole
            if parts:
                corner = np.array([left, top, left, top])
                edges = np.array([rect for rect, _ in parts])
                self.mark[one] = corner + np.append(edges[:, :2].min(axis=0), edges[:, 2:].max(axis=0))
                for rect, ink in parts:
                    self._add(one, corner + rect, None, ink)

    def _read_shadows(self) -> None:
        numbers, values = self._styles.numbers("box-shadow", "none")
        read = [shadows(value) for value in values]
        for one in np.flatnonzero((numbers > 0) & self._is_box).tolist():
            box = self._rect[one]
            for ink, lengths, is_inside in reversed(read[numbers[one]]):
                x, y, blur, spread = (*lengths, *[0.0] * 4)[:4]
                if ink[3] <= LEAST_OPACITY or abs(x) + abs(y) + spread - blur < _LEAST_RING_PX:
                    continue
                shift = np.array([x, y, x, y])
                if not is_inside:
                    self._add(one, grown(box, spread - blur) + shift, box, ink)
                    continue
                hole = intersection(grown(box, blur - spread)[None] + shift, box[None])[0]
                self._fill_or_add(one, hole, ink)

    def _fill_or_add(self, one: int, hole: F64, ink: Colour) -> None:
        """Add a ring in a box, which without a hole is its ground."""
        if (hole[2:] <= hole[:2]).any():
            for grounds in (self.ground, self.beside):
                grounds[one] = over(ink, tuple(grounds[one].tolist()))
        else:
            self._add(one, self._rect[one], hole, ink)

    def _read_borders(self) -> None:
        page = self._page
        read = self._borders
        width = np.stack([one[:, 0] for one in read], axis=1)
        pictured, values = self._styles.numbers("border-image", "none")
        size = np.tile(page.box[:, 2:], 2)
        thin = (page.box[:, 2:].min(axis=1) <= _THIN_BOX_PX)[:, None]
        wide = ((width >= _LEAST_RING_PX) | ((width > 0) & (thin | (width >= size / 2)))).any(axis=1)
        for one in np.flatnonzero((wide | (pictured > 0)) & self._is_box).tolist():
            check()
            kinds = {int(side[one, 5]) for side in read if side[one, 0] > 0}
            inks: list[Colour] = [
                tuple(side[one, 1:5].tolist()) if side[one, 5] == 0 or kinds == {_DOUBLE} else NO_COLOUR
                for side in read
            ]
            box, px = self._rect[one], width[one]
            if pictured[one]:
                inks = [pictures(values[pictured[one]])[0]] * 4
                if " fill" in values[pictured[one]]:
                    self._fill_or_add(one, np.zeros(4), inks[0])
                    continue
            hole = box + px * (1, 1, -1, -1)
            alphas = {ink[3] for ink, of in zip(inks, px.tolist(), strict=True) if of > 0}
            if len(alphas) == 1:
                same = len({ink for ink, of in zip(inks, px.tolist(), strict=True) if of > 0}) == 1
                ink = inks[int(px.argmax())]
                ink = ink if same else (*UNKNOWN[:3], ink[3])
                if kinds == {_DOUBLE} and not pictured[one]:
                    # Two lines and the gap between them are a third of it each: CSS Backgrounds Level 3, section 4.2.
                    third = px / 3 * (1, 1, -1, -1)
                    self._add(one, box, box + third, ink)
                    self._add(one, box + 2 * third, None if (hole[2:] <= hole[:2]).any() else hole, ink)
                else:
                    self._fill_or_add(one, hole, ink)
                continue
            for across, down in product((0, 2), (1, 3)):
                if px[across] > 0 and px[down] > 0 and inks[across][3] != inks[down][3]:
                    ends = [sorted((box[side], hole[side])) for side in (across, down)]
                    ink = max(inks[across], inks[down], key=lambda one: one[3])
                    self.mixed_borders.append((one, np.array(ends).T.ravel(), ink))
            for side in range(4):  # without the corners, which borders share
                edges = hole.copy()
                edges[side], edges[(side + 2) % 4] = box[side], hole[side]
                self._add(one, edges, None, inks[side])
                if px[side] > 0:
                    self.mixed_borders.append((one, edges, inks[side]))

    def _read_outlines(self) -> None:
        read = self._styles.each("outline", "rgb(0, 0, 0) none 3px", _outline)
        offset = self._styles.each("outline-offset", "0px", lambda value: number(value, 0.0))
        thin = self._page.box[:, 2:].min(axis=1) <= _THIN_BOX_PX
        wide = (read[:, 0] >= _LEAST_RING_PX) | ((read[:, 0] > 0) & thin)
        for one in np.flatnonzero(wide & self._is_box).tolist():
            check()
            hole = grown(self._rect[one], offset[one])
            is_empty = bool((hole[2:] <= hole[:2]).any())
            outer = grown(self._rect[one], offset[one] + read[one, 0])
            ink: Colour = tuple(read[one, 1:].tolist())
            self._add(one, outer, None if is_empty else hole, ink, is_top=True)

    def _empty_cells(self) -> NDArray[np.int64]:
        """Return the cells that ``empty-cells: hide`` leaves without background: no text is in their flow."""
        page, styles = self._page, self._styles
        hides = styles.each("empty-cells", "show", lambda value: value == "hide")
        hides &= styles.each("display", "inline", lambda value: value == "table-cell")
        found = []
        texts = (page.kind == Kind.TEXT) & (page.style >= 0)
        for one in np.flatnonzero(hides).tolist():
            check()
            inside = range(one + 1, int(page.end[one]))
            taken = [at for at in inside if styles.absolute[at] or styles.fixed[at]]
            flowing = texts[one : page.end[one]].copy()
            for at in taken:
                flowing[at - one : page.end[at] - one] = False
            if not flowing.any():
                found.append(one)
        return np.array(found, np.int64)


@lru_cache(maxsize=512)
def _layered(
    values: tuple[str, ...], base: Colour, width: float, height: float
) -> tuple[Colour, list[tuple[Edges, Colour]], list[Colour]]:
    """Return what a background with pictures paints.

    Returns
    -------
    whole : its colour.
    parts : the pictures that fill a part of it, lowest first.
    mixes : the colours between which each point of it is.
    """
    mixes = [base]
    images, *lists = (split_list(value) for value in values)
    parts: list[tuple[Edges, Colour]] = []
    for at, ink in reversed([*enumerate(pictures(values[0]))]):
        size, position, repeat, mode = (one[at % len(one)].strip() for one in lists)
        image = images[min(at, len(images) - 1)]
        is_file = "url(" in image
        edges = painted(size, position, repeat, width, height, is_file=is_file)
        if ink[3] == 0 or edges == NOWHERE:
            continue
        if edges[0] > 0.5 or edges[1] > 0.5 or edges[2] < width - 0.5 or edges[3] < height - 0.5:
            parts.append((edges, ink))
            mixes = [UNKNOWN]
            continue
        inks = stops_of(image) if isnan(ink[0]) and mode == "normal" else []
        if mode != "normal" and base[3] == 1:
            red, green, blue = blended(np.array([ink[:3]]), np.array([base[:3]]), mode)[0].tolist()
            ink = (red, green, blue, ink[3])
        base = over(ink, base)
        inks = inks or [ink]
        mixes = inks if all(one[3] == 1 for one in inks) else [over(one, of) for one in inks for of in mixes]
        mixes = mixes if len(mixes) <= _MOST_MIXES else [UNKNOWN]
        if ink[3] == 1:
            parts.clear()
    return base, parts, mixes


def _radius(value: str) -> float:
    """Return the largest radius of ``border-radius`` in px, or as a negative share of the box."""
    radii = value.replace("/", " ").split()
    shares = [number(radius, 0.0) / 100 for radius in radii if radius.endswith("%")]
    most = max((length(radius, inf) for radius in radii if radius.endswith("px")), default=0.0)
    return -max(shares) if shares and max(shares) > 0 else most


def _outline(value: str) -> tuple[float, ...]:
    """Return the width of an outline, in px, and its colour; no width if it has gaps."""
    ink, _, rest = value.rpartition(") ")
    kind, _, width = rest.partition(" ")
    return (number(width, 0.0), *colour(ink + ")")) if kind in _SOLID else (0.0, *NO_COLOUR)


def _border(value: str) -> tuple[float, ...]:
    """Return the width of a border, in px, its colour, and its kind."""
    width, _, rest = value.partition(" ")
    kind, _, ink = rest.partition(" ")
    return (
        number(width, 0.0),
        *colour(ink),
        0 if kind in _SOLID else _DOUBLE if kind == "double" else _WITH_GAPS,
    )
