"""Read computed CSS values: colours, gradients, filters and blend modes, as far as hidden text needs them."""

import re
from collections.abc import Callable, Iterator, Sequence
from math import cos, isnan, nan, radians, sin

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]
Colour = tuple[float, float, float, float]
"""Red, green and blue from 0 to 255, and alpha from 0 to 1; NaN in all channels for an unknown colour."""

UNKNOWN: Colour = (nan, nan, nan, 0.5)  # neither opaque nor transparent
NO_COLOUR: Colour = (0.0, 0.0, 0.0, 0.0)

_NUMBER = re.compile(r"-?\d*\.?\d+(?:e-?\d+)?")
_MOST_SHADOWS = 4  # of a text that are looked at. A guess, too
_LONGEST = 2_000  # characters of a value that are read. A guess: values of real pages are shorter
# Stops of a gradient that differ by less, of 255 in each channel, are one colour.
_MOST_SPREAD = 8.0
# The largest blur of a shadow that still has the shape of its letters, and the furthest shadow, in px. Guesses.
_MOST_SHADE_BLUR_PX, _FURTHEST_PX = 24.0, 500.0
_NAME = re.compile(r"-?[^\W\d][\w-]*")
_NO_NAMES = frozenset({"default", "inherit", "initial", "normal", "only", "revert", "revert-layer", "unset"})
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


def _power(exponent: float) -> Callable[[float], float]:
    return lambda coded: float(max(coded, 0.0) ** exponent)


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


_Convert = Callable[[float, float, float], tuple[float, float, float]]


def _rgb_space(
    transfer: Callable[[float], float], to_xyz: Sequence[Sequence[float]], convert: _Convert = _of_xyz
) -> _Convert:
    """Return how to read a space of red, green and blue from its transfer function and its matrix to XYZ."""

    def read(*channels: float) -> tuple[float, float, float]:
        linear = [transfer(channel) for channel in channels]
        x, y, z = (sum(a * b for a, b in zip(row, linear, strict=True)) for row in to_xyz)
        return convert(x, y, z)

    return read


_P3 = ((0.4865709, 0.2656677, 0.1982173), (0.2289746, 0.6917385, 0.0792869), (0.0, 0.0451134, 1.0439444))
_A98 = (
    (0.5766690, 0.1855582, 0.1882286),
    (0.2973450, 0.6273636, 0.0752915),
    (0.0270314, 0.0706889, 0.9913375),
)
_PROPHOTO = ((0.7977605, 0.1351858, 0.0313493), (0.2880711, 0.7118432, 0.0000857), (0.0, 0.0, 0.8251046))
_REC2020 = ((0.6369580, 0.1446169, 0.1688810), (0.2627002, 0.6779981, 0.0593017), (0.0, 0.0280727, 1.0609851))
_SPACES: dict[str, _Convert] = {
    "srgb": lambda red, green, blue: (red, green, blue),
    "srgb-linear": lambda red, green, blue: (_gamma(red), _gamma(green), _gamma(blue)),
    "display-p3": _rgb_space(_linear, _P3),
    "display-p3-linear": _rgb_space(_power(1.0), _P3),
    "a98-rgb": _rgb_space(_power(563 / 256), _A98),
    "prophoto-rgb": _rgb_space(_power(1.8), _PROPHOTO, _of_d50),
    "rec2020": _rgb_space(_power(2.4), _REC2020),
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


_IN_SPACE = re.compile(r"\bin ")
_STOP = re.compile(r"(?:rgba?|color|lab|lch|oklab|oklch)\([^()]{0,200}\)|transparent")


def pictures(value: str) -> list[Colour]:
    """Return the colour of each picture of a ``background-image`` or a mask, the uppermost first.

    A gradient of almost one colour has it. NaN in the channels means several colours or a file; then alpha is 1 if
    the picture is opaque, 0 if it is fully transparent, and otherwise .5. ``none`` is a picture, too.
    """
    found: list[Colour] = []
    for part in split_list(value):
        name, said = next(calls(part), ("", ""))
        if name.endswith("image-set"):
            found += pictures(split_list(said)[0])
            continue
        stops = np.array([colour(stop) for stop in _STOP.findall(said)] if name.endswith("gradient") else [])
        if part.strip() == "none" or (len(stops) and (stops[:, 3] == 0).all()):
            found.append(NO_COLOUR)
        elif (
            len(stops)
            and "longer hue" not in said
            and (np.ptp(stops, axis=0) <= (*[_MOST_SPREAD] * 3, 0.02)).all()
        ):
            red, green, blue, alpha = stops.mean(axis=0).tolist()
            found.append((red, green, blue, alpha))
        else:
            found.append((nan, nan, nan, 1.0) if len(stops) and (stops[:, 3] == 1).all() else UNKNOWN)
    return found


def stops_of(picture: str) -> list[Colour]:
    """Return the stops of a gradient if all its colours are between them; none for other pictures.

    Gradients are mixed in sRGB with alpha premultiplied, unless they name a space, or a colour is in another one: CSS
    Images Module Level 4, section 3.1.
    """
    name, said = next(calls(picture), ("", ""))
    found = _STOP.findall(said) if name.endswith("gradient") and not _IN_SPACE.search(said) else []
    return [colour(one) for one in found] if all(one.startswith("rgb") for one in found) else []


def split_list(value: str) -> list[str]:
    """Return the parts of a value between its outer commas."""
    value = value[:_LONGEST]
    parts, depth, begin = [], 0, 0
    for at, letter in enumerate(value):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append(value[begin:at])
            begin = at + 1
    return [*parts, value[begin:]]


def laid_on(top: F64, ground: F64) -> F64:
    """Return colours (n, 4) painted over opaque ones (n, 3), which may be unknown where they are not seen."""
    alpha = top[:, 3:]
    with np.errstate(invalid="ignore"):
        mixed = top[:, :3] * alpha + ground * (1 - alpha)
    return np.where(alpha == 1, top[:, :3], np.where(alpha == 0, ground, mixed))


def over(top: Colour, below: Colour) -> Colour:
    """Return a colour painted over another one."""
    alpha = top[3] + below[3] * (1 - top[3])
    if not alpha:
        return NO_COLOUR
    if top[3] in {0.0, 1.0}:  # the other colour may be unknown
        return top if top[3] else below
    red, green, blue = (
        (a * top[3] + b * below[3] * (1 - top[3])) / alpha for a, b in zip(top[:3], below[:3], strict=True)
    )
    return red, green, blue, alpha


def shadows(value: str) -> list[tuple[Colour, list[float], bool]]:
    """Return the first four of ``text-shadow`` or ``box-shadow``: colour, lengths in px, and whether it is inside.

    The lengths are the offsets to the right and down, the blur, and for boxes the spread.
    """
    parts = [(_STOP.search(part), part) for part in split_list(value)[:_MOST_SHADOWS]]
    return [
        (
            colour(ink[0]),
            [number(length, 0.0) for length in part.replace(ink[0], "").split() if length.endswith("px")],
            "inset" in part,
        )
        for ink, part in parts
        if ink
    ]


def has_shape(lengths: Sequence[float]) -> bool:
    """Return whether the shadow of a letter, with these lengths, is near it and sharp enough to read."""
    return max(map(abs, lengths[:2]), default=0.0) <= _FURTHEST_PX and (
        len(lengths) < 3 or lengths[2] <= _MOST_SHADE_BLUR_PX
    )


# Filters: Filter Effects Module Level 1, section 14.

_GREY = np.array([[0.2126, 0.7152, 0.0722]] * 3)
_SEPIA = np.array([[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]])
_MATRICES = {"grayscale": (_GREY, False), "saturate": (_GREY, True), "sepia": (_SEPIA, False)}


_COLOURLESS = frozenset({"opacity", "blur", "drop-shadow"})
_TURNS = {"deg": 1.0, "grad": 0.9, "rad": 57.29577951308232, "turn": 360.0}


def _hue_matrix(said: str) -> F64:
    unit = next((degrees for name, degrees in _TURNS.items() if said.endswith(name)), 1.0)
    turn = radians(number(said, 0.0) * unit)
    by_cos = np.eye(3) - _GREY
    by_sin = np.array([[-0.213, -0.715, 0.928], [0.143, 0.140, -0.283], [-0.787, 0.715, 0.072]])
    matrix: F64 = _GREY + cos(turn) * by_cos + sin(turn) * by_sin
    return matrix


def filtered(colours: F64, value: str) -> F64:
    """Return colours (n, 3) after the functions of a ``filter``; NaN if one of them is not known.

    ``opacity()``, ``blur()`` and ``drop-shadow()`` change no colour; see `opacity_of`, `blur_of` and `shades`.
    """
    for name, said in calls(value):
        if name in _COLOURLESS:
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
        elif name == "hue-rotate":
            colours = colours @ _hue_matrix(said).T
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
    return any(name not in _COLOURLESS for name, _ in calls(value)) or "url(" in value


def drop_shadows(value: str) -> list[tuple[Colour, list[float]]]:
    """Return the colours and lengths of each ``drop-shadow()`` of a ``filter``, as `shadows` does."""
    casts = [said for name, said in calls(value) if name == "drop-shadow"]
    return [(ink, lengths) for said in casts for ink, lengths, _ in shadows(said)]


def shades(value: str) -> Colour:
    """Return the colour of the last ``drop-shadow()`` of a ``filter`` that has the shape of its letters."""
    found = reversed(drop_shadows(value))
    return next((ink for ink, lengths in found if has_shape(lengths)), NO_COLOUR)


def _amount(said: str) -> float:
    return number(said, 1.0) / (100 if said.endswith("%") else 1)


# Blend modes: Compositing and Blending Level 1, section 10.


def _hard_light(top: F64, below: F64) -> F64:
    return np.where(top <= 127.5, 2 * top * below / 255, 255 - 2 * (255 - top) * (255 - below) / 255)


def _soft_light(top: F64, below: F64) -> F64:
    a, b = top / 255, below / 255
    curve = np.where(b <= 0.25, ((16 * b - 12) * b + 4) * b, np.sqrt(np.maximum(b, 0)))
    return 255 * np.where(a <= 0.5, b - (1 - 2 * a) * b * (1 - b), b + (2 * a - 1) * (curve - b))


def _dodge(top: F64, below: F64) -> F64:
    least = np.maximum(255 - top, 1e-9)
    return np.where(below == 0, 0.0, np.minimum(255.0, 255 * below / least))


_LIGHT = np.array([0.3, 0.59, 0.11])


def _with_light(colours: F64, light: F64) -> F64:
    """Return colours with another luminosity (n, 1), kept in range."""
    colours = colours + light - (colours @ _LIGHT)[:, None]
    least, most = colours.min(axis=1, keepdims=True), colours.max(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        colours = np.where(least < 0, light + (colours - light) * light / (light - least), colours)
        return np.where(most > 255, light + (colours - light) * (255 - light) / (most - light), colours)


def _with_saturation(colours: F64, of: F64) -> F64:
    """Return colours with the saturation of others."""
    least, span = colours.min(axis=1, keepdims=True), np.ptp(colours, axis=1, keepdims=True)
    return np.asarray((colours - least) * np.ptp(of, axis=1, keepdims=True) / np.where(span == 0, 1.0, span))


def _light(colours: F64) -> F64:
    light: F64 = (colours @ _LIGHT)[:, None]
    return light


_BLENDS: dict[str, Callable[[F64, F64], F64]] = {
    "multiply": lambda top, below: top * below / 255,
    "screen": lambda top, below: top + below - top * below / 255,
    "overlay": lambda top, below: _hard_light(below, top),
    "hard-light": _hard_light,
    "soft-light": _soft_light,
    "color-dodge": _dodge,
    "color-burn": lambda top, below: 255 - _dodge(255 - top, 255 - below),
    "darken": np.minimum,
    "lighten": np.maximum,
    "difference": lambda top, below: np.abs(top - below),
    "exclusion": lambda top, below: top + below - 2 * top * below / 255,
    "plus-lighter": lambda top, below: np.minimum(top + below, 255.0),
    "hue": lambda top, below: _with_light(_with_saturation(top, below), _light(below)),
    "saturation": lambda top, below: _with_light(_with_saturation(below, top), _light(below)),
    "color": lambda top, below: _with_light(top, _light(below)),
    "luminosity": lambda top, below: _with_light(below, _light(top)),
    "normal": lambda top, _: top,
}


def blended(top: F64, below: F64, mode: str) -> F64:
    """Return colours (n, 3) that are blended with those below them; NaN for a mode that is not known."""
    blend = _BLENDS.get(mode)
    return np.full_like(top, nan) if blend is None else np.asarray(blend(top, below))


def is_color_scheme(value: str) -> bool:
    """Return whether browsers can read a ``color-scheme``: names, and ``only`` before or after them."""
    words = value.lower().split()
    names = words[words[:1] == ["only"] :]
    names = names[: len(names) - (names[-1:] == ["only"] and names == words)]
    is_plain = all(_NAME.fullmatch(name) for name in names) and _NO_NAMES.isdisjoint(names)
    return words == ["normal"] or (bool(names) and is_plain)


def is_dark(scheme: str) -> bool:
    """Return whether a reader who prefers light colours has dark ones with this ``color-scheme``."""
    names = scheme.lower().split()
    return "dark" in names and "light" not in names
