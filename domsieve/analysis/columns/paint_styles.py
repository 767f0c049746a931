"""Computed styles that decide whether letters can be seen, one array per property."""

import math
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import Bools, Ints, below, distinct
from domsieve.analysis.columns.css_values import (
    NO_COLOUR,
    UNKNOWN,
    blur_of,
    changes_colours,
    clamp,
    colour,
    number,
    opacity_of,
    picture,
)
from domsieve.analysis.columns.page_columns import has_tag
from domsieve.snapshot.page import Snapshot

LEAST_PX = 1.0
"""Boxes and letters up to this size show nothing."""
LEAST_CONTRAST = 8.0
"""The largest difference between a letter and its ground that nobody can read, of 255 in a channel after opacity."""
LEAST_OPACITY = LEAST_CONTRAST / 255
"""Black letters on white with less cannot be read."""

_POSITIONS = {"static": 0, "relative": 1, "absolute": 2, "fixed": 3, "sticky": 4}
_CUTS, _SCROLLS = 1, 2
# What a transform makes thinner than this share is a line.
_LEAST_SCALE = 0.02
_NUMBERS = re.compile(r"-?\d*\.?\d+(?:e[-+]?\d+)?")
_SIZE = re.compile(r"(\d{1,6})x(\d{1,6})")
_SIDES = ("top", "right", "bottom", "left")
_PAINTED_LATER = frozenset({"clippath", "defs", "marker", "mask", "pattern", "symbol"})
"""Elements of SVG whose content is painted only where something refers to it."""


class PaintStyles:
    """Computed styles of the N nodes, each array (N, ...); CSS initial values for what was not captured.

    What is read later has numbers: the one of each node and the list of values, where 0 is the initial value.
    """

    def __init__(self, page: Snapshot) -> None:
        self._page = page
        self._columns: dict[str, tuple[list[str], Ints]] = {}
        position = self._each("position", "static", lambda value: _POSITIONS.get(value, 0))
        self.absolute, self.fixed = position == _POSITIONS["absolute"], position == _POSITIONS["fixed"]
        self.moves = self.fixed | (position == _POSITIONS["sticky"])
        self.seen = self._each("visibility", "visible", lambda value: value == "visible")
        self.letter_px = self._each("font-size", "16px", partial(number, default=16.0))
        self.line_px = self._each("line-height", "normal", partial(number, default=np.inf))
        self.opacity = self._each("opacity", "1", lambda value: clamp(number(value, 1.0), 1.0))
        self.opacity = self.opacity * self._each("filter", "none", opacity_of)
        self.blur_px = self._each("filter", "none", blur_of)
        self.has_filter = self._each("filter", "none", changes_colours)
        self.filter_number, self.filter_values = self._numbers("filter", "none")
        self.blend_number, self.blend_values = self._numbers("mix-blend-mode", "normal")
        self.shadow_number, self.shadow_values = self._numbers("text-shadow", "none")
        self._read_inks()
        self._read_grounds()
        across, down = (self._each(f"overflow-{axis}", "visible", _overflow) for axis in "xy")
        # Overflow of the root and the body applies to the window, which scrolls.
        self.is_root = has_tag(page, "html", "body")
        inside = ~self.is_root
        contained = self._each("contain", "none", _paints_inside)
        self.cuts: Bools = inside & ((across == _CUTS) | (down == _CUTS) | contained)
        self.scrolls: Bools = inside & ((across == _SCROLLS) | (down == _SCROLLS))
        self.shape_number, self.shape_values = self._numbers("clip-path", "none", unset=-1)
        self.mask_number, self.mask_values = self._numbers("mask-image", "none", unset=-1)
        empty = self._each(
            "mask-image", "none", lambda value: value != "none" and picture(value)[3] < LEAST_OPACITY
        )
        is_small = self._each("mask-size", "auto", _is_no_size)
        self.is_masked: Bools = empty | (is_small & (self.mask_number >= 0))
        turned = self._each("transform", "none", _faces_away)
        self.is_turned: Bools = turned & self._each(
            "backface-visibility", "visible", lambda value: value == "hidden"
        )
        # No transform applies to boxes in a line.
        inline = self._each("display", "inline", lambda value: value == "inline")
        self.is_flat: Bools = self._each("transform", "none", _flattens) & ~inline
        # The older property `clip` applies to positioned boxes only.
        self.shapeless: Bools = (self.absolute | self.fixed) & self._each("clip", "auto", _is_empty)
        self.is_placed: Bools = position > 0
        self.holds_placed = (
            self.is_placed | self.shapeless | (self.shape_number >= 0) | self.is_masked | contained
        )
        indexed = self.is_placed & self._each("z-index", "auto", lambda value: value != "auto")
        self.is_context: Bools = (
            indexed | self.moves | (self.opacity < 1) | (self.filter_number > 0) | (self.blend_number > 0)
        )
        self.is_context |= (self.shape_number >= 0) | (self.mask_number >= 0) | contained
        self.is_context |= self._each("isolation", "auto", lambda value: value != "auto")
        self.is_context |= self._each("transform", "none", lambda value: value != "none")
        self.is_behind: Bools = self.is_placed & self._each(
            "z-index", "auto", lambda value: value.startswith("-")
        )
        self.is_picture = has_tag(
            page, "canvas", "embed", "iframe", "img", "object", "picture", "svg", "video"
        )
        self.is_frame = has_tag(page, "iframe", "frame")
        self.is_unpainted = self._below(*_PAINTED_LATER)
        size = _SIZE.fullmatch(str(page.provenance.options.get("viewport_px", "")))
        self.window_px = (float(size[1]), float(size[2])) if size else (np.inf, np.inf)

    def _read_inks(self) -> None:
        self.ink = self._each("color", "rgb(0, 0, 0)", colour)
        if "-webkit-text-fill-color" in self._page.style_names:
            self.ink = self._each("-webkit-text-fill-color", "rgb(0, 0, 0)", colour)
        self.outline = self._each("-webkit-text-stroke-color", "rgb(0, 0, 0)", colour)
        outlined = self._each("-webkit-text-stroke-width", "0px", partial(number, default=0.0)) > 0
        drawn = self._below("svg") & ~self._below("foreignobject")
        if drawn.any():
            fill = self._each("fill", "rgb(0, 0, 0)", colour)
            fill[:, 3] *= self._each("fill-opacity", "1", lambda value: clamp(number(value, 1.0), 1.0))
            self.ink = np.where(drawn[:, None], fill, self.ink)
            self.outline = np.where(drawn[:, None], self._each("stroke", "none", colour), self.outline)
        self.outline[~outlined & ~drawn] = NO_COLOUR
        self.has_no_fill: Bools = drawn & self._each("fill", "rgb(0, 0, 0)", lambda value: value == "none")

    def _read_grounds(self) -> None:
        below_picture = self._each("background-color", "rgba(0, 0, 0, 0)", colour)
        pictures = self._each("background-image", "none", picture)
        # One that is smaller than its box is an underline or a mark, not the ground of a text.
        sized = self._each("background-size", "auto", lambda value: value not in {"auto", "cover"})
        pictures[sized & (pictures[:, 3] > 0)] = UNKNOWN
        share = pictures[:, 3:]
        alpha = share + below_picture[:, 3:] * (1 - share)
        with np.errstate(invalid="ignore"):
            mixed = (
                pictures[:, :3] * share + below_picture[:, :3] * below_picture[:, 3:] * (1 - share)
            ) / alpha
        mixed = np.where(share == 0, below_picture[:, :3], np.where(share == 1, pictures[:, :3], mixed))
        self.ground = np.concatenate((mixed, alpha), axis=1)
        self.cut_to_text = self._each("background-clip", "border-box", lambda value: value == "text")
        # Pictures do not count: they may be transparent or missing.
        self.is_opaque: Bools = (self.ground[:, 3] == 1) | self._is_all_border()

    def _is_all_border(self) -> Bools:
        """Return which boxes are filled by their borders, all of them solid and opaque."""
        solid, width = np.ones(len(self._page), np.bool_), {}
        for side in _SIDES:
            said = self._each(f"border-{side}", "0px none rgb(0, 0, 0)", _border)
            width[side] = said[:, 0]
            solid &= said[:, 1] == 1
        box = self._page.box
        return np.asarray(
            solid
            & ((width["left"] + width["right"] >= box[:, 2]) | (width["top"] + width["bottom"] >= box[:, 3]))
        )

    def _each(self, name: str, initial: str, read: Callable[[str], Any]) -> NDArray[Any]:
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
        return page.strings.take(values.tolist()), np.append(value_of_row, -1)[page.style]

    def _numbers(self, name: str, initial: str, *, unset: int = 0) -> tuple[Ints, list[str]]:
        """Return a number for the value of each node, and the values; `unset` is that of the initial value."""
        values = [] if unset else [initial]
        seen = {initial: unset}

        def read(value: str) -> int:
            if value not in seen:
                seen[value] = len(values)
                values.append(value)
            return seen[value]

        return np.asarray(self._each(name, initial, read), np.int64), values

    def _below(self, *names: str) -> Bools:
        return below(has_tag(self._page, *names), self._page.end.astype(np.int64))


def _overflow(value: str) -> int:
    return _CUTS if value in {"hidden", "clip"} else _SCROLLS if value in {"auto", "scroll"} else 0


def _paints_inside(contain: str) -> bool:
    return bool({"paint", "strict", "content"} & set(contain.split()))


def _is_no_size(mask_size: str) -> bool:
    return any(number(part, 1.0) == 0 for part in mask_size.split(",", maxsplit=1)[0].split())


def _faces_away(transform: str) -> bool:
    """Return whether a transform shows the back of a box: the third row turns its axis from the reader."""
    parts = [float(part) for part in _NUMBERS.findall(transform.removeprefix("matrix3d"))]
    return transform.startswith("matrix3d") and len(parts) == 16 and parts[10] < 0


def _flattens(transform: str) -> bool:
    """Return whether a transform turns a box into a line: the smaller singular value of its matrix is almost 0."""
    parts = [float(part) for part in _NUMBERS.findall(transform)]
    if not transform.startswith("matrix(") or len(parts) != 6:
        return False
    area = abs(parts[0] * parts[3] - parts[1] * parts[2])
    # The product of the singular values is the area, and the larger one is at most the norm.
    return area <= _LEAST_SCALE * math.hypot(*parts[:4])


def _border(value: str) -> tuple[float, float]:
    """Return the width of a border, in px, and its alpha; 0 if it is not solid."""
    width, _, rest = value.partition(" ")
    kind, _, ink = rest.partition(" ")
    return number(width, 0.0), colour(ink)[3] if kind == "solid" else 0.0


def _is_empty(rect: str) -> bool:
    """Return whether a value of the property ``clip`` hides everything."""
    edges = [float(part) for part in _NUMBERS.findall(rect)] if "auto" not in rect else []
    return len(edges) == 4 and (edges[2] - edges[0] <= LEAST_PX or edges[1] - edges[3] <= LEAST_PX)
