"""Computed styles that decide whether letters can be seen, one array per property."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import Bools, Ints, below, distinct
from domsieve.analysis.columns.css_transforms import matrix_of, perspective
from domsieve.analysis.columns.css_values import (
    F64,
    NO_COLOUR,
    Colour,
    blur_of,
    changes_colours,
    clamp,
    colour,
    drop_shadows,
    is_dark,
    number,
    opacity_of,
    pictures,
    shades,
)
from domsieve.analysis.columns.inert import inert_nodes
from domsieve.analysis.columns.page_columns import attributes_of, document_of, has_tag, in_tag, named_schemes
from domsieve.analysis.columns.svg_gradients import gradient_colours
from domsieve.snapshot.contrast import LEAST_CONTRAST, contrast
from domsieve.snapshot.heads import moved_heads
from domsieve.snapshot.page import Kind, Snapshot
from domsieve.urls import join_url

LEAST_PX = 1.0
"""Boxes and letters up to this size show nothing."""
USUAL_LINE = 1.2
"""How high the lines of most fonts are, in sizes of letters."""
LEAST_OPACITY = LEAST_CONTRAST / 255
"""Black letters on white with less cannot be read."""

_POSITIONS = {"static": 0, "relative": 1, "absolute": 2, "fixed": 3, "sticky": 4}
_CUTS, _SCROLLS = 1, 2
# The ground of a page or a frame whose `color-scheme` is dark, as Chrome paints it.
_DARK = (18.0, 18.0, 18.0)
# A stroke or a line through letters of so many sizes of a letter hides them.
_WIDE_STROKE, _WIDE_LINE = 0.16, 0.8
# A line under letters is behind them if it goes from above small letters to their feet, in sizes from there.
_BAR_TOP, _BAR_BOTTOM = -0.65, -0.05
_AUTO_LINE = 0.05  # how thick lines are in sizes, at least in most fonts
_MOST_LETTER_PX = 10_000.0  # browsers have none that are larger
# From this on, letters that are painted with a stroke of their own colour, or below it, are blots.
_BLOT_STROKE = 0.35
# What of a property makes an element the containing block of fixed boxes in it.
_HOLDS_FIXED = re.compile(r"transform|translate|rotate|scale|perspective|filter|contain")
_ADDRESS = re.compile(r'url\("#([^"]{1,200})"\)$')
# Properties in which a picture that is missing paints nothing; without that of a border, its style counts.
_OF_FILES = frozenset({"background-image", "mask-image"})
_FILE = re.compile(r'url\("([^"]{1,1000})"\)')
_NOTHING = "linear-gradient(rgba(0, 0, 0, 0), rgba(0, 0, 0, 0))"
_SIZE = re.compile(r"(\d{1,6})x(\d{1,6})")
_KEEPS_PIXELS = re.compile(r"\b(?:transform|translate|rotate|scale|perspective)\b")
_MAKES_CONTEXT = re.compile(
    r"opacity|transform|translate|rotate|scale|perspective|filter|mask|clip-path|blend"
)
# Values of the attribute ``scrolling`` of frames: the HTML standard, section 15.5.5.
_NO_SCROLLING = frozenset({"no", "noscroll", "off"})
_MOST_DEPTH = 64  # of boxes in one room of three dimensions
# What is drawn smaller or larger by less than this share, since it is farther or nearer, goes with the rest. A guess.
_LEAST_DEPTH = 0.1
DRAWN = ("rect", "circle", "ellipse", "line", "path", "polygon", "polyline", "use", "image")
"""Elements of SVG that paint a shape."""
_PAINTED_LATER = frozenset({"clippath", "defs", "marker", "mask", "pattern", "symbol"})
"""Elements of SVG whose content is painted only where something refers to it."""


class PaintStyles:
    """Computed styles of the N nodes, each array (N, ...); CSS initial values for what was not captured.

    What is read later has numbers: the one of each node and the list of values, where 0 is the initial value.
    """

    def __init__(self, page: Snapshot) -> None:
        self._page = page
        self._columns: dict[str, tuple[list[str], Ints]] = {}
        self._missing = frozenset(page.provenance.missing_pictures)
        position = self.each("position", "static", lambda value: _POSITIONS.get(value, 0))
        self.absolute, self.fixed = position == _POSITIONS["absolute"], position == _POSITIONS["fixed"]
        self.moves = self.fixed | (position == _POSITIONS["sticky"])
        self.seen = self.each("visibility", "visible", lambda value: value == "visible")
        sizes = self.each("font-size", "16px", partial(number, default=16.0))
        self.letter_px = np.minimum(sizes, _MOST_LETTER_PX)
        self.line_px = self.each("line-height", "normal", partial(number, default=np.inf))
        self.opacity = self.each("opacity", "1", lambda value: clamp(number(value, 1.0), 1.0))
        self.opacity = self.opacity * self.each("filter", "none", opacity_of)
        self.blur_px = self.each("filter", "none", blur_of)
        self.filter_number, self.filter_values = self.numbers("filter", "none")
        self.shade = self.each("filter", "none", shades)
        self.drop_shadows = [*map(drop_shadows, self.filter_values)]
        self.backdrop_number, self.backdrop_values = self.numbers("backdrop-filter", "none")
        self.has_any_filter: Bools = (self.filter_number > 0) | (self.backdrop_number > 0)
        self.blend_number, self.blend_values = self.numbers("mix-blend-mode", "normal")
        self.has_effect: Bools = (self.blend_number > 0) | self.each("filter", "none", changes_colours)
        self.shadow_number, self.shadow_values = self.numbers("text-shadow", "none")
        self._read_inks()
        self._read_grounds()
        across, down = (self.each(f"overflow-{axis}", "visible", _overflow) for axis in "xy")
        # Overflow of the root and the body applies to the window, which scrolls.
        self.is_root = has_tag(page, "html", "body")
        inside = ~self.is_root
        contained = self.each("contain", "none", _paints_inside)
        self.cuts: Bools = inside & ((across == _CUTS) | (down == _CUTS) | contained)
        self.has_columns: Bools = self.each("column-count", "auto", lambda value: value not in {"auto", "1"})
        self.has_columns |= self.each("column-width", "auto", lambda value: value != "auto")
        self.scroll_axes: Bools = np.stack((across == _SCROLLS, down == _SCROLLS), axis=1)
        self.scrolls: Bools = inside & ((across == _SCROLLS) | (down == _SCROLLS))
        self.scrolls |= has_tag(page, "marquee")  # it does so by itself
        heads, cells = (np.flatnonzero(has_tag(page, tag) & self.seen) for tag in ("th", "td"))
        goes_across = inside & self.scroll_axes[:, 0]
        self.scrolls[moved_heads(page.parent, page.box, heads, cells, across == _CUTS, goes_across)] = True
        self.is_frame = has_tag(page, "iframe", "frame")
        self._read_reach()
        self._scroll_frames(
            (across == _CUTS) & (down == _CUTS),
            (across > 0) | (down > 0),
            (across == _SCROLLS) | (down == _SCROLLS),
        )
        still = self._stay_still()
        self.scrolls &= ~still
        self.cuts |= still
        self.shape_number, self.shape_values = self.numbers("clip-path", "none", unset=-1)
        self.mask_number, self.mask_values = self.numbers("mask-image", "none", unset=-1)
        border = self.each("-webkit-mask-box-image-source", "none", lambda value: pictures(value)[0])
        self.has_mask_border: Bools = self.each(
            "-webkit-mask-box-image-source", "none", lambda value: value != "none"
        )
        self.is_cut_away: Bools = self.has_mask_border & (border[:, 3] < LEAST_OPACITY)
        self._read_transforms()
        # The older property `clip` applies to positioned boxes only.
        self.clip_number, self.clip_values = self.numbers("clip", "auto", unset=-1)
        self.clip_number[~(self.absolute | self.fixed)] = -1
        self.is_placed: Bools = position > 0
        self.holds_fixed: Bools = self.is_transformed | self.has_any_filter | contained
        self.holds_fixed |= self.each("contain", "none", lambda value: "layout" in value)
        self.holds_fixed |= self.each("will-change", "auto", lambda value: bool(_HOLDS_FIXED.search(value)))
        # Browsers may enlarge the pixels that they have of such elements, and not draw their letters anew.
        keeps = self.each("will-change", "auto", lambda value: bool(_KEEPS_PIXELS.search(value)))
        self.keeps_pixels: Bools = below(keeps, page.end.astype(np.int64))
        self.holds_placed = self.is_placed | self.holds_fixed
        indexed = self.is_placed & self.each("z-index", "auto", lambda value: value != "auto")
        self.is_context: Bools = (
            indexed | self.moves | (self.opacity < 1) | (self.filter_number > 0) | (self.blend_number > 0)
        )
        self.is_context |= (
            (self.shape_number >= 0) | (self.mask_number >= 0) | contained | self.is_transformed
        )
        self.is_context |= self.each("isolation", "auto", lambda value: value != "auto")
        self.is_context |= self.each("transform-style", "flat", lambda value: value != "flat")
        self.is_context |= self.each("will-change", "auto", lambda value: bool(_MAKES_CONTEXT.search(value)))
        self.is_behind: Bools = self.is_placed & self.each(
            "z-index", "auto", lambda value: value.startswith("-")
        )
        self.in_drawing: Bools = in_tag(self._page, "svg")
        self.is_drawn: Bools = has_tag(page, *DRAWN) & self.in_drawing
        self.is_picture = has_tag(
            page, "canvas", "embed", "iframe", "img", "object", "picture", "svg", "video"
        )
        self.is_picture[self._missing_pictures()] = False
        # Lines through letters reach into blocks and boxes in a line, but not into those that are set apart.
        self.is_decorated_through: Bools = self.each(
            "display", "inline", lambda value: not value.startswith("inline-")
        ) & ~self.each("float", "none", lambda value: value != "none")
        self.is_decorated_through &= ~has_tag(page, "svg")
        self.has_reference: Bools = self.each("filter", "none", lambda value: "url(" in value)
        self.is_caption = self.each("display", "inline", lambda value: value == "table-caption")
        # Groups of a drawing without display have boxes for what is in them.
        unshown = self.in_drawing & self.each("display", "inline", lambda value: value == "none")
        self.is_unpainted = in_tag(self._page, *_PAINTED_LATER) | below(unshown, page.end.astype(np.int64))
        size = _SIZE.fullmatch(str(page.provenance.options.get("viewport_px", "")))
        self.window_px = (float(size[1]), float(size[2])) if size else (np.inf, np.inf)

    def _read_reach(self) -> None:
        """Find which way pages and boxes scroll: normally to the right and down."""
        rtl = self.each("direction", "ltr", lambda value: value == "rtl")
        mode = self.each("writing-mode", "horizontal-tb", lambda value: value)
        upright = np.char.startswith(mode, "horizontal")
        from_right = np.char.endswith(mode, "-rl")
        flex = self.each("flex-direction", "row", lambda value: value)
        flexes = self.each("display", "inline", lambda value: value.endswith("flex"))
        self.reaches_left: Bools = np.where(upright, rtl, from_right) | (
            flexes & (flex == "row-reverse") & ~rtl
        )
        self.reaches_up: Bools = (~upright & rtl) | (flexes & (flex == "column-reverse") & upright)

    def _scroll_frames(self, cuts: Bools, has_overflow: Bools, scrolls: Bools) -> None:
        """Let frames scroll, and the way that their documents do, unless they or their documents forbid it."""
        page = self._page
        bodies = {int(page.parent[one]): one for one in np.flatnonzero(has_tag(page, "body"))[::-1].tolist()}
        fixed = attributes_of(page).found(
            "scrolling", lambda said: True if said.strip().lower() in _NO_SCROLLING else None
        )
        for root in np.flatnonzero(has_tag(page, "html") & (page.parent > 0)).tolist():
            frame, body = int(page.parent[page.parent[root]]), bodies.get(root, root)
            # The overflow of the body is that of the window if the root has none.
            of_window = root if has_overflow[root] else body
            # That of other bodies is their own.
            self.scrolls[body] |= of_window != body and scrolls[body]
            self.scrolls[frame] = self.is_frame[frame] and frame not in fixed and not cuts[of_window]
            for reaches in (self.reaches_left, self.reaches_up):
                reaches[frame] = reaches[[root, body]].any()

    def _stay_still(self) -> Bools:
        """Return which boxes that scroll no reader scrolls: no pointer reaches them, and nothing in them takes keys.

        Boxes are often inert behind dialogs, which are fixed.
        """
        page, attributes = self._page, attributes_of(self._page)
        deaf = self.each("pointer-events", "auto", lambda value: value == "none")
        inert = inert_nodes(page)
        is_reached = (page.kind == Kind.ELEMENT) & (page.style >= 0) & ~deaf
        is_reached |= has_tag(page, "a", "button", "input", "select", "summary", "textarea")
        is_reached[attributes.nodes("tabindex")] = True
        reached = np.append(0, np.cumsum(is_reached))
        is_alone = self.is_frame | (reached[page.end] == reached[:-1])
        if self.fixed.any() or has_tag(page, "dialog").any():
            inert[:] = False
        return np.asarray(self.scrolls & ((deaf & is_alone) | inert) & ~has_tag(page, "marquee"))

    def _read_transforms(self) -> None:
        """Read the matrices of transforms, and which boxes show their backs or are behind the reader.

        Of those that are nearer or farther than the content of a box that scrolls, it is known at which pace they go,
        and in which room; of those in rooms that are turned, how all in these turns them.
        """
        page = self._page
        columns = [self.numbers(name, "none") for name in ("rotate", "scale", "transform", "perspective")]
        numbers = np.stack([number for number, _ in columns], axis=1)
        # No transform applies to boxes in a line.
        replaced = has_tag(page, "canvas", "embed", "iframe", "img", "object", "svg", "video")
        numbers[self.each("display", "inline", lambda value: value == "inline") & ~replaced, :3] = 0
        moved = self.each("translate", "none", lambda value: value != "none")
        self.is_transformed: Bools = np.asarray((numbers > 0).any(axis=1) | moved)
        keeps = self.each("transform-style", "flat", lambda value: value == "preserve-3d")
        keeps &= ~self.cuts & ~self.scrolls & (self.opacity == 1) & ~self.has_any_filter
        keeps &= (self.shape_number < 0) & (self.mask_number < 0) & (self.blend_number == 0)
        hides = self.each("backface-visibility", "visible", lambda value: value == "hidden")
        self.has_plane: Bools = np.asarray((numbers[:, :3] > 0).any(axis=1))
        own = _Matrices([values for _, values in columns], numbers)
        self.planes: dict[int, F64] = {
            one: own.of(one)[:2, :2] for one in np.flatnonzero(self.has_plane).tolist()
        }
        self.is_turned = np.zeros(len(page), np.bool_)
        above = page.parent
        solid: dict[int, _Room] = {}
        self.paces: dict[int, tuple[float, int, int]] = {}
        self.rooms: dict[int, tuple[int, F64]] = {}
        for one in np.flatnonzero(self.has_plane | keeps | hides).tolist():
            outer = int(above[one])
            room = solid.get(outer, _Room(root=outer)) if keeps[outer] else _Room(root=one)
            view, own_matrix, eye = own.perspective_of(outer), own.of(one), room.eye
            if view[3, 2]:
                eye = outer
            matrix, turn = room.matrix @ view @ own_matrix, room.turn @ own_matrix[:3, :3]
            if room.depth < _MOST_DEPTH:
                solid[one] = _Room(room.root, np.clip(matrix, -1e9, 1e9), turn, room.depth + 1, eye)
            if eye >= 0 and self.scrolls[eye] and matrix[3, 3] > 0 and abs(matrix[3, 3] - 1) >= _LEAST_DEPTH:
                self.paces[one] = 1 / float(matrix[3, 3]), eye, room.root if keeps[outer] else -1
            if room.turn[2, :2].any():
                self.rooms[one] = room.root, turn[:2, :2]
            # The third row turns the axis of a box from the reader; what is behind the reader has no positive weight.
            self.is_turned[one] = (hides[one] and matrix[2, 2] < 0) or matrix[3, 3] <= 0

    def _read_inks(self) -> None:
        self.ink = self.each("color", "rgb(0, 0, 0)", colour)
        if "-webkit-text-fill-color" in self._page.style_names:
            self.ink = self.each("-webkit-text-fill-color", "rgb(0, 0, 0)", colour)
        self.outline = self.each("-webkit-text-stroke-color", "rgb(0, 0, 0)", colour)
        stroke_px = self.each("-webkit-text-stroke-width", "0px", partial(number, default=0.0))
        drawn = in_tag(self._page, "svg") & ~in_tag(self._page, "foreignobject")
        named = attributes_of(self._page).found("id", str) if drawn.any() else {}
        names = set(named.values())
        gradients = gradient_colours(self._page) if drawn.any() else {}

        def paint(value: str) -> Colour:
            """Return the colour of a fill or stroke; a reference to nothing paints nothing."""
            address = _ADDRESS.match(value)
            if address and address[1] in gradients:
                return gradients[address[1]]
            return NO_COLOUR if address and address[1] not in names else colour(value)

        self.fill = self.each("fill", "rgb(0, 0, 0)", paint)
        if drawn.any():
            self.fill[:, 3] *= self.each("fill-opacity", "1", lambda value: clamp(number(value, 1.0), 1.0))
            self.ink = np.where(drawn[:, None], self.fill, self.ink)
            self.outline = np.where(drawn[:, None], self.each("stroke", "none", paint), self.outline)
            self.outline[:, 3] *= self.each(
                "stroke-opacity", "1", lambda value: clamp(number(value, 1.0), 1.0)
            )
            stroke = self.each("stroke-width", "1px", partial(number, default=1.0))
            stroke_px = np.where(drawn, stroke, stroke_px)
        self.outline[stroke_px <= 0] = NO_COLOUR
        # Wide strokes are painted over the letters.
        first = self.each("paint-order", "normal", lambda value: value.startswith("stroke"))
        wide = (self.outline[:, 3] == 1) & (stroke_px >= _WIDE_STROKE * self.letter_px) & ~first
        with np.errstate(invalid="ignore"):
            own = contrast(self.ink[:, :3], self.outline[:, :3]) <= LEAST_CONTRAST
        self.is_blot: Bools = (
            (self.outline[:, 3] == 1) & (stroke_px >= _BLOT_STROKE * self.letter_px) & (own | ~first)
        )
        self.ink[wide] = self.outline[wide]
        self.has_no_fill: Bools = drawn & self.each("fill", "rgb(0, 0, 0)", lambda value: value == "none")
        self.is_coded: Bools = self.each("-webkit-text-security", "none", lambda value: value != "none")
        self._read_lines()

    def _read_lines(self) -> None:
        """Read which lines go through letters, and which lines under them are so high that they are behind them."""
        line = self.each("text-decoration", "none", _decoration)
        thick_px = np.where(line[:, 3] > 0, line[:, 3] * self.letter_px, line[:, 2])
        is_opaque = line[:, 7] == 1
        self.is_struck: Bools = (
            (line[:, 0] > 0) & is_opaque & (thick_px > 0) & (thick_px >= _WIDE_LINE * self.letter_px)
        )
        offset = self.each("text-underline-offset", "auto", _offset)
        offset_px = offset[:, 0] + offset[:, 1] * self.letter_px
        behind = (offset_px <= _BAR_TOP * self.letter_px) & (
            offset_px + thick_px >= _BAR_BOTTOM * self.letter_px
        )
        self.is_barred: Bools = (line[:, 1] > 0) & is_opaque & (thick_px > 0) & behind
        self.bar = np.where(line[:, 8:9] > 0, self.each("color", "rgb(0, 0, 0)", colour)[:, :3], line[:, 4:7])
        # Where lines under letters are, in sizes from their feet, and how thick those through them are. Double ones
        # are two with a gap, and wavy ones leave gaps, too.
        thick = np.where(thick_px > 0, thick_px / np.maximum(self.letter_px, LEAST_PX), _AUTO_LINE)
        begin = offset_px / np.maximum(self.letter_px, LEAST_PX)
        is_line = is_opaque & (line[:, 9] > 0)
        is_under = is_line & (line[:, 1] > 0) & np.isfinite(begin)
        begin = np.where(is_under, begin, 0.0)
        thick_under, gap = np.where(is_under, thick, 0.0), np.where(line[:, 9] == 2, 2 * thick, 0.0)
        self.under = np.stack((begin, begin + thick_under, begin + gap, begin + gap + thick_under), axis=1)
        self.through = np.where(is_line & (line[:, 0] > 0), thick * line[:, 9], 0.0)
        self.has_line: Bools = is_under | (self.through > 0)
        # Other lines leave out the letters that they meet.
        self.is_skipped: Bools = self.each("text-decoration-skip-ink", "auto", lambda value: value != "none")

    def canvas(self, node: int) -> tuple[float, float, float]:
        """Return the colour of a page or frame without backgrounds, of which this is the root element."""
        return _DARK if is_dark(self.scheme[node]) else (255.0, 255.0, 255.0)

    def _read_grounds(self) -> None:
        self.background = self.each("background-color", "rgba(0, 0, 0, 0)", colour)
        self.cut_to_text = self.each("background-clip", "border-box", lambda value: value.endswith("text"))
        self.scheme = self.each("color-scheme", "normal", str).astype(object)
        for document, scheme in named_schemes(self._page).items():
            own = document_of(self._page) == document
            self.scheme[own & (self.scheme == "normal")] = scheme

    @cached_property
    def spacing_px(self) -> F64:
        """The ``letter-spacing`` of each node."""
        return self.each("letter-spacing", "normal", partial(number, default=0.0))

    @cached_property
    def is_level(self) -> Bools:
        """The nodes whose lines go across the page, not down."""
        return self.each("writing-mode", "horizontal-tb", lambda value: value.startswith("horizontal"))

    def each(self, name: str, initial: str, read: Callable[[str], Any]) -> NDArray[Any]:
        """Return ``read(value)`` of a property for each node; `read` is called once for each distinct value."""
        if name not in self._columns:
            self._columns[name] = self._column(name)
        values, value_of_node = self._columns[name]
        of_node: NDArray[Any] = np.array([*map(read, values), read(initial)])[value_of_node]
        return of_node

    def _column(self, name: str) -> tuple[list[str], Ints]:
        """Return the distinct values of a property, and which of them each node has; -1 for the initial value."""
        page = self._page
        if name not in page.style_names:
            return [], np.full(len(page), -1)
        column = page.styles[:, page.style_names.index(name)]
        values, value_of_row = distinct(column, len(page.strings))
        known = page.strings.take(values.tolist())
        if self._missing and name in _OF_FILES:
            known = [_FILE.sub(self._or_nothing, value) for value in known]
        return known, np.append(value_of_row, -1)[page.style]

    def _or_nothing(self, address: re.Match[str]) -> str:
        """Return a picture that paints nothing in place of one that is missing."""
        return _NOTHING if address[1].partition("#")[0] in self._missing else address[0]

    def _missing_pictures(self) -> list[int]:
        """Return the ``img`` elements whose only file is missing."""
        if not self._missing:
            return []
        page, attributes = self._page, attributes_of(self._page)
        base = page.provenance.final_url
        for one in np.flatnonzero(has_tag(page, "base"))[:1].tolist():
            base = join_url(base, page.attributes(one).get("href", "")) or base
        nodes, files = attributes.values("src")
        is_missing = [(join_url(base, file) or "").partition("#")[0] in self._missing for file in files]
        chosen = np.zeros(len(page), np.bool_)
        chosen[nodes[is_missing]] = True
        chosen[attributes.nodes("srcset")] = False
        chosen[in_tag(self._page, "picture")] = False
        return np.flatnonzero(chosen & has_tag(page, "img")).tolist()

    def numbers(self, name: str, initial: str, *, unset: int = 0) -> tuple[Ints, list[str]]:
        """Return a number for the value of each node, and the values; `unset` is that of the initial value."""
        values = [] if unset else [initial]
        seen = {initial: unset}

        def read(value: str) -> int:
            if value not in seen:
                seen[value] = len(values)
                values.append(value)
            return seen[value]

        return np.asarray(self.each(name, initial, read), np.int64), values


@dataclass(frozen=True, slots=True)
class _Room:
    """What a box of three dimensions does to its children, which share it.

    Attributes
    ----------
    root : the outermost of the boxes that share it.
    matrix, turn : their transforms with perspective (4, 4), and without (3, 3).
    depth : how many they are.
    eye : the box that gives them perspective, -1 for none.
    """

    root: int
    matrix: F64 = field(default_factory=lambda: np.eye(4))
    turn: F64 = field(default_factory=lambda: np.eye(3))
    depth: int = 0
    eye: int = -1


class _Matrices:
    """The matrices of nodes, each computed once per value."""

    def __init__(self, values: list[list[str]], numbers: Ints) -> None:
        self._values, self._numbers = values, numbers
        self._known: dict[tuple[int, ...], F64] = {}

    def of(self, node: int) -> F64:
        """Return the matrix (4, 4) of the transforms of a node."""
        key = tuple(self._numbers[node, :3].tolist())
        if key not in self._known:
            rotate, scale, transform = (self._values[column][at] for column, at in enumerate(key))
            self._known[key] = matrix_of(rotate, scale, transform)
        return self._known[key]

    def perspective_of(self, node: int) -> F64:
        """Return the matrix (4, 4) of what a node does to its children."""
        return perspective(self._values[3][int(self._numbers[node, 3])])


def _overflow(value: str) -> int:
    return _CUTS if value in {"hidden", "clip"} else _SCROLLS if value in {"auto", "scroll"} else 0


def _paints_inside(contain: str) -> bool:
    return bool({"paint", "strict", "content"} & set(contain.split()))


_LINES = frozenset({"underline", "overline", "line-through", "blink"})
_WITH_GAPS = frozenset({"dashed", "dotted"})


def _decoration(value: str) -> tuple[float, ...]:
    """Return whether a line is through and under letters, its thickness in px, or as a share of a letter, and colour.

    Then follows whether the colour is that of the letters, and how many lines it is: 0 for a wavy one. Lines with
    gaps count as none.
    """
    close = value.rfind(")") + 1
    start = value.rfind(" ", 0, value.find("(")) + 1 if close else 0
    words = (value[:start] + value[close:]).split()
    lines = _LINES.intersection(words)
    if not lines or _WITH_GAPS.intersection(words):
        return (0.0,) * 10
    ink = colour(value[start:close]) if close else (0.0, 0.0, 0.0, 1.0)
    px = max((number(word, 0.0) for word in words if word.endswith("px")), default=0.0)
    share = max((number(word, 0.0) / 100 for word in words if word.endswith("%")), default=0.0)
    count = 0 if "wavy" in words else 2 if "double" in words else 1
    return ("line-through" in lines, "underline" in lines, px, share, *ink, not close, count)


def _offset(value: str) -> tuple[float, float]:
    """Return ``text-underline-offset`` in px, and in shares of a letter."""
    size = number(value, np.inf)
    return (0.0, size / 100) if value.endswith("%") else (size, 0.0)
