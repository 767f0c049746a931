"""Read computed CSS lengths, and what ``clip-path``, masks and pictures in a background leave or paint of a box."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import cos, inf, isnan, nan, pi, sin

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.css_values import F64, calls

Edges = tuple[float, float, float, float]
"""Left, top, right and bottom."""
EVERYWHERE: Edges = (-inf, -inf, inf, inf)
NOWHERE: Edges = (0.0, 0.0, 0.0, 0.0)

_NUMBER = r"(?:\d++(?:\.\d++)?|\.\d++)(?:e-?\d++)?"
_LENGTH = re.compile(rf"(-?{_NUMBER})(px|%)?")
_TOKEN = re.compile(rf"[a-z]{{3,5}}\(|[-+]?{_NUMBER}(?:px|%)?|[-+*/(),]")
_PATH = re.compile(rf"[A-Za-z]|-?{_NUMBER}")
_ROUND = 24  # corners that stand for a circle
_MOST_CORNERS = 400  # of a shape that are looked at. A guess
_LONGEST, _MOST_TOKENS = 4_000, 100  # of a length; each token is up to three calls deep. Guesses


def length(said: str, whole: float) -> float:
    """Return a computed length in px, NaN if it is none; percentages are of `whole`, ``calc()`` is understood."""
    if match := _LENGTH.fullmatch(said.strip()):
        return float(match[1]) * (whole / 100 if match[2] == "%" else 1.0)
    tokens = _TOKEN.findall(said[:_LONGEST])[::-1]
    if len(tokens) > _MOST_TOKENS:
        return nan
    try:
        value = _sum(tokens, whole)
    except (IndexError, ValueError, ZeroDivisionError):
        return nan
    return nan if tokens else value


def _sum(tokens: list[str], whole: float) -> float:
    value = _product(tokens, whole)
    while tokens and tokens[-1] in {"+", "-"}:
        sign = 1 if tokens.pop() == "+" else -1
        value += sign * _product(tokens, whole)
    return value


def _product(tokens: list[str], whole: float) -> float:
    value = _term(tokens, whole)
    while tokens and tokens[-1] in {"*", "/"}:
        value = value * _term(tokens, whole) if tokens.pop() == "*" else value / _term(tokens, whole)
    return value


_FUNCTIONS: dict[str, Callable[[list[float]], float]] = {
    "(": lambda of: of[0],
    "calc(": lambda of: of[0],
    "min(": min,
    "max(": max,
    "clamp(": lambda of: max(of[0], min(of[1], of[2])),
}


def _term(tokens: list[str], whole: float) -> float:
    token = tokens.pop()
    if not token.endswith("("):
        return float(token.rstrip("px%")) * (whole / 100 if token.endswith("%") else 1.0)
    if token not in _FUNCTIONS:
        raise ValueError(token)
    of = [_sum(tokens, whole)]
    while (after := tokens.pop()) == ",":
        of.append(_sum(tokens, whole))
    if after != ")":
        raise ValueError(after)
    return _FUNCTIONS[token](of)


def lengths(said: str) -> list[str]:
    """Return the parts of a value between its outer spaces."""
    parts, depth = [""], 0
    for letter in said.strip()[:_LONGEST]:
        depth += (letter == "(") - (letter == ")")
        if letter == " " and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part for part in parts if part]


# Shapes: CSS Shapes Module Level 1, section 3.


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape in px from the corner of its box.

    Parameters
    ----------
    rings : closed lines, each as corners (k, 2).
    is_rectangle : whether the shape fills the rectangle around it.
    by_parity : whether a point that two rings are around is outside.
    """

    rings: tuple[F64, ...]
    is_rectangle: bool = False
    by_parity: bool = False

    @property
    def edges(self) -> Edges:
        """The rectangle around it; `NOWHERE` if it has no area."""
        corners = np.concatenate(self.rings)
        (left, top), (right, bottom) = corners.min(axis=0).tolist(), corners.max(axis=0).tolist()
        return (left, top, right, bottom) if right > left and bottom > top else NOWHERE

    def contains(self, points: F64) -> NDArray[np.bool_]:
        """Return which points (n, 2) are inside. Takes O(n corners)."""
        first = np.concatenate(self.rings)
        second = np.concatenate([np.roll(ring, -1, axis=0) for ring in self.rings])
        x, y = points[:, 0, None], points[:, 1, None]
        up, down = (first[:, 1] <= y) & (second[:, 1] > y), (first[:, 1] > y) & (second[:, 1] <= y)
        side = (second[:, 0] - first[:, 0]) * (y - first[:, 1]) - (x - first[:, 0]) * (
            second[:, 1] - first[:, 1]
        )
        turns = (up & (side > 0)).astype(np.int64) - (down & (side < 0))
        found: NDArray[np.int64] = turns.sum(axis=1)
        return np.asarray(found % 2 != 0 if self.by_parity else found != 0)


def shape(value: str, width: float, height: float) -> Shape | None:
    """Return the shape of a ``clip-path`` in a box of this size; None if it is not known."""
    name, said = next(calls(value), ("", ""))
    found = _SHAPES[name](said, width, height) if name in _SHAPES else None
    if found is None or any(np.isnan(ring).any() or not len(ring) for ring in found.rings) or not found.rings:
        return None
    return found


def _rectangle(left: float, top: float, right: float, bottom: float) -> Shape:
    right, bottom = max(left, right), max(top, bottom)
    return Shape((np.array([(left, top), (right, top), (right, bottom), (left, bottom)]),), is_rectangle=True)


def _of_inset(said: str, width: float, height: float) -> Shape | None:
    edges = lengths(said.partition("round")[0])
    if not 1 <= len(edges) <= 4:
        return None
    top = edges[0]
    right = edges[1] if len(edges) > 1 else top
    bottom = edges[2] if len(edges) > 2 else top
    left = edges[3] if len(edges) > 3 else right
    return _rectangle(
        length(left, width),
        length(top, height),
        width - length(right, width),
        height - length(bottom, height),
    )


def _of_ellipse(said: str, width: float, height: float) -> Shape | None:
    radii, _, place = said.partition("at ")
    sizes, middle = lengths(radii), (lengths(place) or ["50%", "50%"])
    if len(sizes) > 2 or len(middle) != 2:
        return None
    x, y = length(middle[0], width), length(middle[1], height)
    # A percentage of the radius of a circle is one of the diagonal.
    is_circle = len(sizes) < 2
    wholes = ((width**2 + height**2) ** 0.5 / 2**0.5,) * 2 if is_circle else (width, height)
    sizes = sizes or ["closest-side"]
    beside, above = (abs(x), abs(width - x)), (abs(y), abs(height - y))
    sides = (beside + above,) * 2 if is_circle else (beside, above)
    across, down = (
        _KEYWORDS[size](of) if size in _KEYWORDS else length(size, whole)
        for size, whole, of in zip((sizes[0], sizes[-1]), wholes, sides, strict=True)
    )
    turns = [2 * pi * at / _ROUND for at in range(_ROUND)]
    return Shape((np.array([(x + across * cos(turn), y + down * sin(turn)) for turn in turns]),))


_KEYWORDS: dict[str, Callable[[tuple[float, ...]], float]] = {"closest-side": min, "farthest-side": max}


def _of_polygon(said: str, width: float, height: float) -> Shape | None:
    rule, _, rest = said.partition(",")
    by_parity, said = rule == "evenodd", rest if rule in {"evenodd", "nonzero"} else said
    points = [lengths(part) for part in said.split(",")[:_MOST_CORNERS]]
    if any(len(point) != 2 for point in points):
        return None
    ring = np.array([(length(x, width), length(y, height)) for x, y in points])
    return Shape((ring,), by_parity=by_parity)


def _of_rect(said: str, width: float, height: float) -> Shape | None:
    edges = lengths(said.partition("round")[0])
    if len(edges) != 4:
        return None
    auto = ("0px", f"{width}px", f"{height}px", "0px")
    top, right, bottom, left = (
        own if edge == "auto" else edge for edge, own in zip(edges, auto, strict=True)
    )
    return _rectangle(length(left, width), length(top, height), length(right, width), length(bottom, height))


def _of_xywh(said: str, width: float, height: float) -> Shape | None:
    edges = lengths(said.partition("round")[0])
    if len(edges) != 4:
        return None
    x, y = length(edges[0], width), length(edges[1], height)
    return _rectangle(x, y, x + length(edges[2], width), y + length(edges[3], height))


# Numbers after each command of a path: SVG 2, section 9.3.
_COUNTS = {"M": 2, "L": 2, "T": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "A": 7, "Z": 0}


def _of_path(said: str, _width: float, _height: float) -> Shape | None:
    """Return a path with its control points as corners; the rectangle around it if it has arcs."""
    rings: list[list[tuple[float, float]]] = []
    x = y = 0.0
    grown = 0.0
    rule, _, rest = said.partition(",")
    for command, numbers in _commands(rest if rule in {"evenodd", "nonzero"} else said):
        kind, is_relative = command.upper(), command.islower()
        ox, oy = (x, y) if is_relative else (0.0, 0.0)
        if kind == "Z":
            if rings:
                x, y = rings[-1][0]
                rings.append([(x, y)])
            continue
        if kind == "M" or not rings:
            rings.append([])
        if kind == "H":
            points = [(ox + numbers[0], y)]
        elif kind == "V":
            points = [(x, oy + numbers[0])]
        elif kind == "A":
            grown = max(grown, 2 * abs(numbers[0]), 2 * abs(numbers[1]))
            points = [(ox + numbers[5], oy + numbers[6])]
        else:
            points = [(ox + a, oy + b) for a, b in zip(numbers[::2], numbers[1::2], strict=True)]
        rings[-1] += points
        x, y = rings[-1][-1]
    if grown:
        corners = np.concatenate([np.array(ring) for ring in rings])
        (left, top), (right, bottom) = corners.min(axis=0).tolist(), corners.max(axis=0).tolist()
        return _rectangle(left - grown, top - grown, right + grown, bottom + grown)
    return Shape(tuple(np.array(ring) for ring in rings), by_parity=rule == "evenodd")


def _commands(path: str) -> Iterator[tuple[str, list[float]]]:
    """Yield the commands of a path with their numbers; of several in a row, each has its letter."""
    command, numbers = "", list[float]()
    for token in _PATH.findall(path[:_LONGEST]):
        if token.isalpha():
            command, numbers = token, []
        else:
            numbers.append(float(token))
        if command.upper() in _COUNTS and len(numbers) == _COUNTS[command.upper()]:
            yield command, numbers
            numbers = []
            command = {"M": "L", "m": "l"}.get(command, command)


def _of_shape(said: str, width: float, height: float) -> Shape | None:
    """Return a ``shape()`` of straight lines to absolute places; None for others."""
    ring: list[tuple[float, float]] = []
    for part in said.split(","):
        words = lengths(part)
        if words in (["close"], ["evenodd"], ["nonzero"]):
            continue
        to = next((at for at, word in enumerate(words) if word in {"from", "to"}), None)
        if to is None or "curve" in words or "arc" in words or "smooth" in words:
            return None
        place = words[to + 1 :]
        if words[0] == "hline" and ring:
            ring.append((length(place[0], width), ring[-1][1]))
        elif words[0] == "vline" and ring:
            ring.append((ring[-1][0], length(place[0], height)))
        elif len(place) == 2:
            ring.append((length(place[0], width), length(place[1], height)))
        else:
            return None
    return Shape((np.array(ring),)) if ring else None


_SHAPES: dict[str, Callable[[str, float, float], Shape | None]] = {
    "inset": _of_inset,
    "circle": _of_ellipse,
    "ellipse": _of_ellipse,
    "polygon": _of_polygon,
    "path": _of_path,
    "rect": _of_rect,
    "xywh": _of_xywh,
    "shape": _of_shape,
}


def clip_edges(value: str) -> Edges:
    """Return the edges of what the older property ``clip`` leaves of a positioned box, in px from its corner."""
    name, said = next(calls(value), ("", ""))
    edges = lengths(said.replace(",", " "))
    if name != "rect" or len(edges) != 4:
        return EVERYWHERE
    starts = [-inf if edge == "auto" else length(edge, 0.0) for edge in (edges[3], edges[0])]
    ends = [inf if edge == "auto" else length(edge, 0.0) for edge in (edges[1], edges[2])]
    if any(map(isnan, (*starts, *ends))):
        return EVERYWHERE
    if ends[0] - starts[0] <= 1 or ends[1] - starts[1] <= 1:
        return NOWHERE
    # What is outside of the box is cut only by edges that are not `auto`.
    return starts[0], starts[1], ends[0], ends[1]


# Pictures of backgrounds and masks: CSS Backgrounds and Borders Module Level 3, sections 3.4 to 3.9.


def painted(size: str, position: str, repeat: str, width: float, height: float, *, is_file: bool) -> Edges:
    """Return where a picture of a background or mask is painted in a box of this size, in px from its corner.

    Parameters
    ----------
    size, position, repeat : of this picture.
    is_file : whether it has a size of its own, which is not known.
    """
    sizes, places = lengths(size), lengths(position)
    repeats = repeat.split()
    edges = []
    for axis, whole in enumerate((width, height)):
        said = sizes[min(axis, len(sizes) - 1)] if sizes else "auto"
        own = whole if said in {"auto", "cover", "contain"} else length(said, whole)
        is_known = not (is_file and said in {"auto", "cover", "contain"}) and not isnan(own)
        repeats_here = (
            repeats[0] not in {"no-repeat", "repeat-y" if axis == 0 else "repeat-x"}
            if len(repeats) < 2
            else repeats[axis] != "no-repeat"
        )
        if is_known and own <= 0:
            return NOWHERE
        if not is_known or repeats_here or len(places) != 2:
            edges.append((0.0, whole))
            continue
        # A percentage is one of the room that is left.
        start = length(places[axis], whole - own)
        edges.append((max(0.0, start), min(whole, start + own)) if not isnan(start) else (0.0, whole))
    (left, right), (top, bottom) = edges
    return (left, top, right, bottom) if right > left and bottom > top else NOWHERE
