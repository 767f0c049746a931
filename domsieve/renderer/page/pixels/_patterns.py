"""Pictures in the styles of a page that may move by themselves, or that a script paints."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from domsieve.renderer.page.pixels._parts import Bools, Ints

# What may move by itself: elements, and those with pictures, which may have several frames.
_MOVING = ("img", "video", "canvas", "object", "embed", "iframe", "frame", "image", "input", "marquee")
_PICTURED = (
    "background-image",
    "mask-image",
    "border-image",
    "-webkit-mask-box-image-source",
    "list-style-image",
)


def may_move(column: Mapping[str, Sequence[str]], row: Ints, names: Sequence[str]) -> Bools:
    """Return which nodes (N,) may have a picture that moves by itself.

    Parameters
    ----------
    column, row : the distinct values of each property, and which of them each node has (N,).
    names : the name of each node, in lower case.
    """
    return np.isin(names, _MOVING) | _having(lambda one: "url(" in one, _PICTURED, column, row)


def painted_by_script(column: Mapping[str, Sequence[str]], row: Ints) -> Bools:
    """Return which nodes (N,) have something that a paint worklet draws; for the parameters see `may_move`."""
    return _having(lambda one: "paint(" in one, (*_PICTURED, "-webkit-box-reflect"), column, row)


def _having(
    test: Callable[[str], bool], properties: Iterable[str], column: Mapping[str, Sequence[str]], row: Ints
) -> Bools:
    """Return which nodes (N,) have any of some properties with a value that passes a test; see `may_move`."""
    found = np.zeros(row.size, np.bool_)
    for name in properties:
        if name in column:
            found |= np.array([test(one) for one in column[name]])[row]
    return found
