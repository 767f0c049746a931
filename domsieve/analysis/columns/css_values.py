"""Read computed CSS values: colours, gradients, filters, blend modes and shapes, as far as hidden text needs them."""

import re
from collections.abc import Callable, Iterator
from math import cos, inf, isnan, nan, radians, sin

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]
Colour = tuple[float, float, float, float]
"""Red, green and blue from 0 to 255, and alpha from 0 to 1; NaN in all channels for an unknown colour."""

UNKNOWN: Colour = (nan, nan, nan, 0.5)  # neither opaque nor transparent
NO_COLOUR: Colour = (0.0, 0.0, 0.0, 0.0)
EVERYWHERE = (-inf, -inf, inf, inf)
NOWHERE = (0.0, 0.0, 0.0, 0.0)

_NUMBER = re.compile(r"-?\d*\.?\d+(?:e-?\d+)?")
_MOST_SHADOWS = 4  # of a text that are looked at. A guess, too
_LONGEST = 2_000  # characters of a value that are read. A guess: values of real pages are shorter
_CALL = re.compile(r"([a-z-]{1,40})\(")


def number(value: str, default: float) -> float:
    """Return the number with which a value begins, or the default."""
    match = _NUMBER.match(value)
    return float(match[0]) if match else default


def clamp(value: float, most: float) -> float:
    """Return `value` limited to 0 .. `most`, as CSS does."""
    return min(max(value, 0.0), most)


def calls(value: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the arguments of each function of a value, such as of a list of filters, from left to right.

    Functions inside of arguments are a part of these.
    """
    value = value[:_LONGEST]
    at = 0
    while found := _CALL.search(value, at):
        depth, end = 1, found.end()
        while depth:
            close = value.find(")", end)
            if close < 0:
                end = len(value)
                break
            depth += value.count("(", end, close) - 1
            end = close + 1
        yield found[1], value[found.end() : end - 1]
        at = end


# Colours: CSS Color Module Level 4, sections 9 to 12.


def colour(value: str) -> Colour:
    """Return a computed colour as sRGB; `UNKNOWN` for what is no colour or in a space that is not known."""
    if value in {"none", "transparent"}:
        return NO_COLOUR
    name, said = next(calls(value), ("", ""))
    if (parts := _channels(name, said)) is None:
        return UNKNOWN
    (first, second, third), alpha = parts
    if name in {"rgb", "rgba"}:
        return clamp(first, 255.0), clamp(second, 255.0), clamp(third, 255.0), alpha
    space = said.split(None, 1)[0] if name == "color" else name
    convert = _SPACES.get(space)
    if convert is None:
        return UNKNOWN
    red, green, blue = (clamp(255.0 * channel, 255.0) for channel in convert(first, second, third))
    return red, green, blue, alpha


def _channels(name: str, said: str) -> tuple[list[float], float] | None:
    """Return three channels and alpha; None if there are not that many."""
    if name == "color":
        said = said.partition(" ")[2]
    numbers = [0.0 if part == "none" else number(part, nan) for part in re.split(r"[\s,/]+", said.strip())]
    if len(numbers) not in {3, 4} or any(map(isnan, numbers)):
        return None
    return numbers[:3], clamp(numbers[3], 1.0) if len(numbers) == 4 else 1.0


def _gamma(linear: float) -> float:
    sign, size = (-1 if linear < 0 else 1), abs(linear)
    return sign * (1.055 * size ** (1 / 2.4) - 0.055) if size > 0.0031308 else 12.92 * linear


def _linear(coded: float) -> float:
    return ((coded + 0.055) / 1.055) ** 2.4 if coded > 0.04045 else coded / 12.92


def _of_xyz(x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return sRGB of XYZ with white D65."""
    return (
        _gamma(3.2409699 * x - 1.5373832 * y - 0.4986108 * z),
        _gamma(-0.9692436 * x + 1.8759675 * y + 0.0415551 * z),
        _gamma(0.0556301 * x - 0.2039770 * y + 1.0569715 * z),
    )


def _of_d50(x: float, y: float, z: float) -> tuple[float, float, float]:
    return _of_xyz(
        0.9554734 * x - 0.0230985 * y + 0.0632593 * z,
        -0.0283697 * x + 1.0099955 * y + 0.0210414 * z,
        0.0123140 * x - 0.0205077 * y + 1.3303659 * z,
    )


def _of_lab(light: float, a: float, b: float) -> tuple[float, float, float]:
    middle = (light + 16) / 116
    cubes = [
        root**3 if root**3 > 216 / 24389 else (116 * root - 16) / (24389 / 27)
        for root in (middle + a / 500, middle, middle - b / 200)
    ]
    return _of_d50(cubes[0] * 0.9642956, cubes[1], cubes[2] * 0.8251046)


def _of_oklab(light: float, a: float, b: float) -> tuple[float, float, float]:
    long = (light + 0.3963378 * a + 0.2158038 * b) ** 3
    middle = (light - 0.1055613 * a - 0.0638542 * b) ** 3
    short = (light - 0.0894842 * a - 1.2914855 * b) ** 3
    return (
        _gamma(4.0767416 * long - 3.3077116 * middle + 0.2309699 * short),
        _gamma(-1.2684380 * long + 2.6097574 * middle - 0.3413194 * short),
        _gamma(-0.0041961 * long - 0.7034186 * middle + 1.7076147 * short),
    )


def _of_display_p3(red: float, green: float, blue: float) -> tuple[float, float, float]:
    red, green, blue = _linear(red), _linear(green), _linear(blue)
    return _of_xyz(
        0.4865709 * red + 0.2656677 * green + 0.1982173 * blue,
        0.2289746 * red + 0.6917385 * green + 0.0792869 * blue,
        0.0451134 * green + 1.0439444 * blue,
    )


_Convert = Callable[[float, float, float], tuple[float, float, float]]
_SPACES: dict[str, _Convert] = {
    "srgb": lambda red, green, blue: (red, green, blue),
    "srgb-linear": lambda red, green, blue: (_gamma(red), _gamma(green), _gamma(blue)),
    "display-p3": _of_display_p3,
    "xyz": _of_xyz,
    "xyz-d65": _of_xyz,
    "xyz-d50": _of_d50,
    "lab": _of_lab,
    "lch": lambda light, chroma, hue: _of_lab(light, chroma * cos(radians(hue)), chroma * sin(radians(hue))),
    "oklab": _of_oklab,
    "oklch": lambda light, chroma, hue: _of_oklab(
        light, chroma * cos(radians(hue)), chroma * sin(radians(hue))
    ),
}


_STOP = re.compile(r"(?:rgba?|color|lab|lch|oklab|oklch)\([^()]{0,200}\)|transparent")


def picture(value: str) -> Colour:
    """Return the colour of a ``background-image`` or a mask: of gradients of a single colour, else `UNKNOWN`.

    ``none`` has no colour. Of several pictures the first is on top; the others are seen where it is transparent.
    """
    found = NO_COLOUR
    for name, said in calls(value):
        stops = {colour(stop) for stop in _STOP.findall(said)} if name.endswith("gradient") else set()
        alphas = {stop[3] for stop in stops}
        if alphas == {0.0}:
            continue
        if len(stops) != 1:
            is_opaque = alphas == {1.0} and found == NO_COLOUR
            return (nan, nan, nan, 1.0) if is_opaque else UNKNOWN
        (only,) = stops
        found = over(found, only)
        if found[3] == 1:
            break
    return found


def over(top: Colour, below: Colour) -> Colour:
    """Return a colour painted over another one."""
    alpha = top[3] + below[3] * (1 - top[3])
    if not alpha:
        return NO_COLOUR
    red, green, blue = (
        (a * top[3] + b * below[3] * (1 - top[3])) / alpha for a, b in zip(top[:3], below[:3], strict=True)
    )
    return red, green, blue, alpha


def shadows(value: str) -> list[Colour]:
    """Return the colours of a ``text-shadow``, the first four."""
    return [colour(stop) for stop in _STOP.findall(value[:_LONGEST])[:_MOST_SHADOWS]]


# Filters: Filter Effects Module Level 1, section 14.

_GREY = np.array([[0.2126, 0.7152, 0.0722]] * 3)
_SEPIA = np.array([[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]])
_MATRICES = {"grayscale": (_GREY, False), "saturate": (_GREY, True), "sepia": (_SEPIA, False)}


def filtered(colours: F64, value: str) -> F64:
    """Return colours (n, 3) after the functions of a ``filter``; NaN if one of them is not known.

    ``opacity()`` and ``blur()`` change no colour; see `opacity_of` and `blur_of`. The shadow of ``drop-shadow()`` can
    have any.
    """
    for name, said in calls(value):
        if name in {"opacity", "blur"}:
            continue
        amount = _amount(said)
        if name == "brightness":
            colours = colours * amount
        elif name == "contrast":
            colours = (colours - 127.5) * amount + 127.5
        elif name == "invert":
            colours = colours + (255.0 - 2 * colours) * min(amount, 1.0)
        elif name in _MATRICES:
            to, is_share_kept = _MATRICES[name]
            share = amount if is_share_kept else 1 - min(amount, 1.0)
            colours = colours * share + (colours @ to.T) * (1 - share)
        else:
            return np.full_like(colours, nan)
        colours = np.clip(colours, 0.0, 255.0)
    return colours


def opacity_of(value: str) -> float:
    """Return the opacity of a ``filter``, from 0 to 1."""
    found = 1.0
    for name, said in calls(value):
        if name == "opacity":
            found *= clamp(_amount(said), 1.0)
    return found


def blur_of(value: str) -> float:
    """Return the standard deviation of the blur of a ``filter``, in px."""
    return max((number(said, 0.0) for name, said in calls(value) if name == "blur"), default=0.0)


def changes_colours(value: str) -> bool:
    """Return whether a ``filter`` has functions that change colours."""
    return any(name not in {"opacity", "blur"} for name, _ in calls(value)) or "url(" in value


def _amount(said: str) -> float:
    return number(said, 1.0) / (100 if said.endswith("%") else 1)


# Blend modes: Compositing and Blending Level 1, section 10.
_BLENDS: dict[str, Callable[[F64, F64], F64]] = {
    "multiply": lambda top, below: top * below / 255,
    "screen": lambda top, below: top + below - top * below / 255,
    "darken": np.minimum,
    "lighten": np.maximum,
    "difference": lambda top, below: np.abs(top - below),
    "exclusion": lambda top, below: top + below - 2 * top * below / 255,
    "plus-lighter": lambda top, below: np.minimum(top + below, 255.0),
}


def blended(top: F64, below: F64, mode: str) -> F64:
    """Return colours (n, 3) that are blended with those below them; NaN for a mode that is not known."""
    blend = _BLENDS.get(mode)
    return np.full_like(top, nan) if blend is None else np.asarray(blend(top, below))


# Shapes: CSS Shapes Module Level 1, section 3.


def shape(value: str, width: float, height: float) -> tuple[float, float, float, float]:
    """Return the edges left, top, right and bottom of a ``clip-path`` in a box of this size; `EVERYWHERE` if unknown.

    Of a polygon, circle or path these are the edges of the smallest rectangle around it.
    """
    name, said = next(calls(value), ("", ""))
    if "calc(" in said or name not in _SHAPES:
        return EVERYWHERE
    return _SHAPES[name](said.split(" round ")[0], width, height)


def _length(said: str, whole: float) -> float:
    value = number(said, nan)
    return value * whole / 100 if said.endswith("%") else value


def _of_inset(said: str, width: float, height: float) -> tuple[float, float, float, float]:
    edges = said.split()
    if not 1 <= len(edges) <= 4:
        return EVERYWHERE
    top, right, bottom, left = _four(edges)
    return _known(
        _length(left, width),
        _length(top, height),
        width - _length(right, width),
        height - _length(bottom, height),
    )


def _four(edges: list[str]) -> tuple[str, str, str, str]:
    top = edges[0]
    right = edges[1] if len(edges) > 1 else top
    bottom = edges[2] if len(edges) > 2 else top
    return top, right, bottom, edges[3] if len(edges) > 3 else right


def _of_ellipse(said: str, width: float, height: float) -> tuple[float, float, float, float]:
    radii, _, place = said.partition("at ")
    sizes, middle = radii.split(), (place.split() or ["50%", "50%"])
    if not 1 <= len(sizes) <= 2 or len(middle) != 2:
        return EVERYWHERE
    # A percentage of the radius of a circle is one of the diagonal.
    wholes = (width, height) if len(sizes) == 2 else ((width**2 + height**2) ** 0.5 / 2**0.5,) * 2
    across, down = _length(sizes[0], wholes[0]), _length(sizes[-1], wholes[1])
    x, y = _length(middle[0], width), _length(middle[1], height)
    return _known(x - across, y - down, x + across, y + down)


def _of_polygon(said: str, width: float, height: float) -> tuple[float, float, float, float]:
    points = [part.split() for part in said.removeprefix("evenodd,").removeprefix("nonzero,").split(",")]
    if any(len(point) != 2 for point in points):
        return EVERYWHERE
    xs, ys = [_length(x, width) for x, _ in points], [_length(y, height) for _, y in points]
    return _known(min(xs), min(ys), max(xs), max(ys))


def _of_path(said: str, _width: float, _height: float) -> tuple[float, float, float, float]:
    """Return nothing for a path that moves and never draws, such as ``M0 0``."""
    return EVERYWHERE if re.search(r"[lhvcsqtaLHVCSQTA]", said.replace("evenodd", "")) else NOWHERE


def _of_rect(said: str, width: float, height: float) -> tuple[float, float, float, float]:
    edges = said.split()
    if len(edges) != 4:
        return EVERYWHERE
    auto = ("0px", f"{width}px", f"{height}px", "0px")
    top, right, bottom, left = (
        own if edge == "auto" else edge for edge, own in zip(edges, auto, strict=True)
    )
    return _known(_length(left, width), _length(top, height), _length(right, width), _length(bottom, height))


def _of_xywh(said: str, width: float, height: float) -> tuple[float, float, float, float]:
    edges = said.split()
    if len(edges) != 4:
        return EVERYWHERE
    x, y = _length(edges[0], width), _length(edges[1], height)
    return _known(x, y, x + _length(edges[2], width), y + _length(edges[3], height))


def _known(left: float, top: float, right: float, bottom: float) -> tuple[float, float, float, float]:
    edges = (left, top, right, bottom)
    if any(map(isnan, edges)):
        return EVERYWHERE
    return edges if right > left and bottom > top else NOWHERE


_SHAPES: dict[str, Callable[[str, float, float], tuple[float, float, float, float]]] = {
    "inset": _of_inset,
    "circle": _of_ellipse,
    "ellipse": _of_ellipse,
    "polygon": _of_polygon,
    "path": _of_path,
    "rect": _of_rect,
    "xywh": _of_xywh,
}
