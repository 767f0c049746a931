"""Pictures in the styles of a page: what may move by itself, and what is finer than the pixels of a picture."""

from collections.abc import Mapping, Sequence

import numpy as np

from domsieve.renderer.page._pixel_parts import Bools, Ints, px

# What may move by itself: elements, and those with pictures, which may have several frames.
_MOVING = ("img", "video", "canvas", "object", "embed", "iframe", "frame", "image", "input", "marquee")
_PICTURED = (
    "background-image",
    "mask-image",
    "border-image",
    "-webkit-mask-box-image-source",
    "list-style-image",
)
_SIZES = ("background-size", "mask-size")
PATTERNS = (*_PICTURED, *_SIZES)
"""The computed properties with pictures and their sizes."""
# Patterns of smaller pictures, and of gradients with more colours, may be finer than pixels. Guesses.
_FINE_PX, _MOST_STOPS = 4.0, 24
_FINE = frozenset({"pattern", "femorphology", "feconvolvematrix", "feturbulence"})


def may_move(column: Mapping[str, Sequence[str]], row: Ints, names: Sequence[str]) -> Bools:
    """Return which nodes (N,) may have a picture that moves by itself.

    Parameters
    ----------
    column, row : the distinct values of each property, and which of them each node has (N,).
    names : the name of each node, in lower case.
    """
    found = np.isin(names, _MOVING)
    for name in _PICTURED:
        if name in column:
            found |= np.array(["url(" in value for value in column[name]])[row]
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
