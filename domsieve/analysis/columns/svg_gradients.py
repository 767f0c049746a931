"""Read which gradients of SVG are of one colour, or transparent."""

from collections import Counter
from collections.abc import Mapping

import numpy as np

from domsieve.analysis.columns.css_values import NO_COLOUR, UNKNOWN, Colour, clamp, colour, number
from domsieve.analysis.columns.page_columns import attributes_of, has_tag
from domsieve.snapshot.contrast import contrast
from domsieve.snapshot.page import Kind, Snapshot

GRADIENTS = ("lineargradient", "radialgradient")
# Guesses: stops that are looked at, gradients that name one another, and what one colour may differ by.
_MOST_STOPS, _MOST_NAMES, _MOST_CONTRAST = 50, 5, 4.0
_NAMED = {"black": 0.0, "white": 255.0}
_HEX = frozenset("0123456789abcdef")


def gradient_colours(page: Snapshot) -> dict[str, Colour]:
    """Return the colour of each gradient by its ``id``: `UNKNOWN` if it has several, or none in its attributes.

    A capture has no computed styles of stops.
    """
    gradients = np.flatnonzero(has_tag(page, *GRADIENTS)).tolist()
    if not gradients:
        return {}
    named = attributes_of(page).found("id", str)
    times = Counter(named.values())
    by_name = {named[one]: one for one in gradients if one in named}
    return {
        name: UNKNOWN if times[name] > 1 else _colour_of(page, one, by_name) for name, one in by_name.items()
    }


def _colour_of(page: Snapshot, gradient: int, by_name: Mapping[str, int]) -> Colour:
    for _ in range(_MOST_NAMES):
        inside = [
            one for one in range(gradient + 1, int(page.end[gradient])) if page.kind[one] == Kind.ELEMENT
        ]
        if inside:
            break
        said = page.attributes(gradient)
        address = said.get("href", said.get("xlink:href", "")).strip()
        if address.removeprefix("#") not in by_name:
            return UNKNOWN if address else NO_COLOUR
        gradient = by_name[address.removeprefix("#")]
    else:
        return UNKNOWN
    if len(inside) > _MOST_STOPS or any(page.tag_name(one) != "stop" for one in inside):
        return UNKNOWN
    stops = [_stop(page.attributes(one)) for one in inside]
    seen = np.array([one for one in stops if one[3] > 0])
    if not seen.size:
        return NO_COLOUR
    apart = contrast(seen[:, :3], np.tile(seen[0, :3], (len(seen), 1)))
    if not (apart <= _MOST_CONTRAST).all():
        return UNKNOWN
    red, green, blue = seen[0, :3].tolist()
    return red, green, blue, float(seen[:, 3].max())


def _stop(said: Mapping[str, str]) -> Colour:
    """Return the colour of a stop, `UNKNOWN` if it cannot be told from its attributes."""
    if {"class", "id"} & said.keys():
        return UNKNOWN
    values = {name: said[name] for name in ("stop-color", "stop-opacity") if name in said}
    for declaration in said.get("style", "").lower().split(";"):
        name, _, value = declaration.partition(":")
        values[name.strip()] = value.strip().removesuffix("!important").strip()
    if values.keys() - {"stop-color", "stop-opacity", ""}:
        return UNKNOWN
    opacity = values.get("stop-opacity", "1").strip()
    alpha = clamp(number(opacity, 1.0) / (100 if opacity.endswith("%") else 1), 1.0)
    red, green, blue, own = _written(values.get("stop-color", "").strip().lower())
    return red, green, blue, own * alpha


def _written(value: str) -> Colour:
    """Return a colour as pages write it; `UNKNOWN` for names but those of black, white and transparent."""
    if value in _NAMED:
        return (_NAMED[value],) * 3 + (1.0,)
    digits = value.removeprefix("#")
    if value.startswith("#") and len(digits) in {3, 4, 6, 8} and _HEX.issuperset(digits):
        digits = digits if len(digits) > 4 else "".join(2 * digit for digit in digits)
        red, green, blue, alpha = (int(digits[at : at + 2] or "ff", 16) for at in (0, 2, 4, 6))
        return float(red), float(green), float(blue), alpha / 255
    return colour(value)
