"""Pictures in the styles of a page: what may move by itself, and what is finer than the pixels of a picture."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from domsieve.renderer.page._pixel_parts import F64, Bools, Ints, px

# What may move by itself: elements, and those with pictures, which may have several frames.
_MOVING = ("img", "video", "canvas", "object", "embed", "iframe", "frame", "image", "input", "marquee")
_PICTURED = (
    "background-image",
    "mask-image",
    "border-image",
    "-webkit-mask-box-image-source",
    "list-style-image",
)
_SIDES = ("border-top", "border-right", "border-bottom", "border-left")
_FARTHER = ("box-shadow", "filter")
_LENGTH = re.compile(r"[0-9.]{1,30}px")
_CLEAR = frozenset({"rgba(0, 0, 0, 0)", "transparent", "none", "normal", ""})
# Elements of drawings that paint nothing but what is in them.
_GROUPS = frozenset({"svg", "g", "a", "switch", "text", "tspan", "textpath", "foreignobject"})
_SIZES = ("background-size", "mask-size")
# Patterns of smaller pictures, and of gradients with more colours, may be finer than pixels. Guesses.
_FINE_PX, _MOST_STOPS = 6.0, 24
# Those with so few parentheses have up to three colours.
_FEW_STOPS = 4
# Boxes that are narrower are strips: in pictures of half the size, text shows through those that touch. Guesses.
_STRIP_PX, _FEW_STRIPS, _MOST_STRIPS = 4.0, 6, 2_000
_FINE = frozenset({"pattern", "femorphology", "feconvolvematrix", "feturbulence"})


def may_move(column: Mapping[str, Sequence[str]], row: Ints, names: Sequence[str]) -> Bools:
    """Return which nodes (N,) may have a picture that moves by itself.

    Parameters
    ----------
    column, row : the distinct values of each property, and which of them each node has (N,).
    names : the name of each node, in lower case.
    """
    return np.isin(names, _MOVING) | _having(lambda one: "url(" in one, _PICTURED, column, row)


def paint_reach(
    column: Mapping[str, Sequence[str]], row: Ints, names: Sequence[str], is_drawing: Bools
) -> F64:
    """Return by how many px what each node (N,) paints reaches beyond its box at most; NaN for letters alone.

    For the parameters see `may_move`; `is_drawing` are the nodes in drawings (N,).
    """

    def said(test: Callable[[str], object], *properties: str) -> Bools:
        return _having(test, properties, column, row)

    paints = np.isin(names, _MOVING) | (is_drawing & ~np.isin(names, [*_GROUPS]))
    paints |= said(_is_something, "background-color", *_FARTHER, "backdrop-filter", *_PICTURED)
    paints |= said(lambda one: one and not one.startswith("0px"), *_SIDES, "outline")
    reach = np.zeros(row.size)
    for name in (*_FARTHER, "border-image", "outline", "outline-offset"):
        if name in column:
            reach = np.maximum(reach, np.array([*map(_longest, column[name])])[row])
    reach[said(lambda one: "url(" in one, "filter") | said(_is_something, "-webkit-box-reflect")] = np.inf
    return np.where(paints, reach, np.nan)


def _is_something(value: str) -> bool:
    return value not in _CLEAR


def _longest(value: str) -> float:
    """Return the longest length in px in a value."""
    return max((px(one) for one in _LENGTH.findall(value)), default=0.0)


def may_be_fine(column: Mapping[str, Sequence[str]], row: Ints) -> Bools:
    """Return which nodes (N,) may show what is in them, or behind it, otherwise in another size; see `may_move`."""

    def is_fine(value: str) -> bool:
        return "url(" in value or ("gradient(" in value and value.count("(") > _FEW_STOPS)

    return _having(is_fine, (*_PICTURED, "clip-path", "filter", "fill", "stroke"), column, row)


def painted_by_script(column: Mapping[str, Sequence[str]], row: Ints) -> Bools:
    """Return which nodes (N,) have something that a paint worklet draws; for the parameters see `may_move`."""
    return _having(lambda one: "paint(" in one, (*_PICTURED, "-webkit-box-reflect"), column, row)


def _having(
    test: Callable[[str], object], properties: Iterable[str], column: Mapping[str, Sequence[str]], row: Ints
) -> Bools:
    """Return which nodes (N,) have any of some properties with a value that passes a test; see `may_move`."""
    found = np.zeros(row.size, np.bool_)
    for name in properties:
        if name in column:
            found |= np.array([bool(test(one)) for one in column[name]])[row]
    return found


def has_fine_patterns(
    column: Mapping[str, Sequence[str]], names: Sequence[str], strings: Sequence[str]
) -> bool:
    """Return whether a page may have patterns that are finer than pixels.

    Parameters
    ----------
    column : the distinct values of each property.
    names : the names of the nodes, in lower case.
    strings : all names and values of the capture.
    """
    pictures = [value for name in _PICTURED for value in column.get(name, ())]
    sizes = [value for name in _SIZES for value in column.get(name, ())]
    lengths = [one.rstrip(",") for value in sizes for one in value.split()]
    return (
        not _FINE.isdisjoint(names)
        or any(one.lower() == "spreadmethod" for one in strings)  # of a gradient of SVG that is repeated
        or any("repeating-" in value or value.count("rgb") > _MOST_STOPS for value in pictures)
        or any(one.endswith("px") and px(one) < _FINE_PX for one in lengths)
        or not {"auto", ""}.issuperset(column["image-rendering"])
    )


def has_strips(
    column: Mapping[str, Sequence[str]], row: Ints, names: Sequence[str], bounds: F64, lines: F64
) -> bool:
    """Return whether any line of text lies at so many narrow pictures that these together may cover it.

    Parameters
    ----------
    column, row, names : as for `may_move`.
    bounds : left, top, right and bottom of the boxes (N, 4) in px.
    lines : the edges of the lines (n, 4).
    """
    may_be = np.isin(names, (*_MOVING, "svg"))
    may_be |= _having(lambda one: one not in {"none", ""}, _PICTURED, column, row)
    size = np.nan_to_num(bounds[:, 2:] - bounds[:, :2])
    strips = bounds[may_be & (size > 0).all(axis=1) & (size < _STRIP_PX).any(axis=1)]
    if len(strips) > _MOST_STRIPS:
        return True
    count = np.zeros(len(lines), np.intp)
    for begin_x, begin_y, end_x, end_y in strips.tolist():
        meets = (lines[:, 0] < end_x) & (lines[:, 2] > begin_x)
        count += meets & (lines[:, 1] < end_y) & (lines[:, 3] > begin_y)
    return bool((count > _FEW_STRIPS).any())
