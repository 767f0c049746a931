"""Which letters of a page are painted but cannot be read: struck out, blurred, pale, or cut."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from domsieve.renderer.page.pixels._boxes import Boxes, chunks
from domsieve.renderer.page.pixels._parts import F64, FEWEST_LETTERS, LINE_HEIGHT, Bools, Ints, blur_px, px
from domsieve.snapshot.contrast import FAINT_PX, WEIGHTS, least_contrast

# Blurs from this share of a letter on cannot be read; several add up as the root of the sum of their squares. Nor can
# letters under lines through them that are as thick as this share; lines of an automatic thickness have the other.
# Double lines have a gap, and waves go up and down, so they count as so many lines. Found by eye, on pictures of
# letters of 11 to 32 px under black and red lines from .1 to .5 of their size.
_MOST_BLUR, _MOST_STRUCK, _THICKNESS = 0.21, 0.3, 0.08
_AS_LINES = {"double": 1.5, "wavy": 1.2}
# Under lines that are clearer than this, letters can be read, unless pictures tell that they do not show.
_LEAST_OPAQUE = 0.75
# Words that begin farther back than so many sizes, after the space that a font has, lie in the one before.
_MOST_BACK = 1.25
# Letters up to this size cannot be read whatever their contrast is; as the rules say.
_LEAST_PX = 3.0
# Letters that stand out from their ground by less than this share of what differs without them are not what differs.
_EVEN_SHARE = 0.5
LEAST_OPACITY = 0.03
"""Of what is clearer nothing is seen."""
# The differences of neighbouring pixels over the sum of all, times the size of the letters. Measured on six fonts of
# five sizes: 5 to 30 for sharp letters, 2.7 to 4.2 with a blur of .2 of a letter, 1.1 to 3.4 with one of .3.
_LEAST_GRAIN = 2.6
# Letters must change in so many rows, in sizes of a letter; so much of the fullest row must change for one to count.
# The body of small letters is half of their size.
_LEAST_ROWS, _LEAST_OF_ROW = 0.3, 0.1


def unread(
    column: Mapping[str, Sequence[str]],
    row: Ints,
    levels: Sequence[Ints],
    parent: Ints,
    is_drawing: Bools,
    is_text: Bools,
) -> Bools:
    """Return which nodes (N,) have letters that are struck out, blurred, replaced by dots, or between others.

    Parameters
    ----------
    column : the distinct values of each property.
    row : (N,), which of them each node has.
    levels, parent : the nodes of each depth, and the node above each.
    is_drawing : (N,), the drawings, through which no line of the text around them goes.
    is_text : (N,), the texts; captures give them the styles of the elements that they are in.
    """
    font = np.array([px(value) for value in column["font-size"]])[row]
    blur = np.where(is_text, 0, np.array([blur_px(value) ** 2 for value in column["filter"]])[row])
    struck = np.zeros(row.size)
    looks = zip(column["text-decoration-line"], column["text-decoration"], strict=True)
    is_struck = ["line-through" in line and alpha_of(look) >= _LEAST_OPAQUE for line, look in looks]
    for node in np.flatnonzero(np.array(is_struck)[row] & ~is_text).tolist():
        own = px(column["text-decoration-thickness"][row[node]]) or _THICKNESS * font[node]
        struck[node] = own * _AS_LINES.get(column["text-decoration-style"][row[node]], 1.0)
    dotted = np.array([value not in {"none", ""} for value in column["-webkit-text-security"]])[row]
    space = sum(
        np.array([px(value) for value in column[name]])[row] for name in ("letter-spacing", "word-spacing")
    )
    is_back = is_text & (space < -_MOST_BACK * font)
    places = zip(column["display"], column["position"], column["float"], strict=True)
    is_apart = ~is_text & np.array([_is_apart(*place) for place in places])[row]
    for nodes in levels[1:]:
        blur[nodes] += blur[parent[nodes]]
        struck[nodes] += np.where(is_drawing[nodes] | is_apart[nodes], 0, struck[parent[nodes]])
    is_covered = (np.sqrt(blur) > _MOST_BLUR * font) | (struck > _MOST_STRUCK * font)
    return np.asarray((dotted | is_back | is_covered) & (row >= 0))


def _is_apart(display: str, position: str, side: str) -> bool:
    """Return whether a box does not have the lines of what is around it."""
    return display.startswith("inline-") or position in {"absolute", "fixed"} or side not in {"none", ""}


def alpha_of(decoration: str) -> float:
    """Return the opacity of a computed colour, or of a computed ``text-decoration``."""
    _, mark, alpha = decoration.rpartition(")")[0].rpartition("," if "rgba(" in decoration else "/")
    try:
        return float(alpha) if mark else 1.0
    except ValueError:
        return 1.0


def clear(column: Mapping[str, Sequence[str]], row: Ints) -> Bools:
    """Return which nodes (N,) are so clear by their own opacity that nobody sees them; see `unread`."""
    return np.array([value != "" and float(value) < LEAST_OPACITY for value in column["opacity"]])[row]


def are_pale(levels: NDArray[np.uint8], edges: Ints, sizes_px: F64) -> Bools:
    """Return which parts of texts have letters that are too small for how little they differ in a picture.

    Parameters
    ----------
    levels, edges : how much each pixel differs (height, width), and where the parts are in it (n, 4).
    sizes_px : how large the letters are on the page (n,).
    """
    found = np.zeros(len(edges), np.bool_)
    least = np.where(sizes_px > _LEAST_PX, least_contrast(sizes_px), 255)
    for one in np.flatnonzero(sizes_px < FAINT_PX).tolist():
        x, y, right, bottom = edges[one].tolist()
        found[one] = levels[y:bottom, x:right].max(initial=0) <= least[one]
    return found


def are_even(picture: NDArray[np.uint8], levels: NDArray[np.uint8], edges: Ints) -> Bools:
    """Return which parts (n,) stand out less than they differ from what is there without letters.

    Parameters
    ----------
    picture : it with letters (height, width, 3).
    levels : by how much each pixel differs without them (height, width).
    edges : of the parts in pixels (n, 4).
    """
    found, colours = np.zeros(len(edges), np.bool_), picture.reshape(-1, 3)
    for some in chunks(edges):
        boxes = Boxes(edges[some], levels.shape[1], np.ones(len(edges[some]), np.bool_))
        index, first = boxes.index, boxes.rows[boxes.first]
        darkest, lightest = (one.reduceat(colours[index], first, axis=0) for one in (np.minimum, np.maximum))
        contrast = ((lightest - darkest) * WEIGHTS).max(axis=1)
        found[some] = contrast < _EVEN_SHARE * np.maximum.reduceat(levels.ravel()[index], first)
    return found


def are_cut(differs: Bools, edges: Ints, sizes: F64, letters: Ints) -> Bools:
    """Return which parts of texts change in so few rows of a picture that nobody can read them.

    Parameters
    ----------
    differs, edges : which pixels differ (height, width), and where the parts are among them (n, 4).
    sizes : how large the letters are in pixels of the picture, at most (n,).
    letters : the number of letters of each part (n,).
    """
    found = np.zeros(len(edges), np.bool_)
    wide, high = (edges[:, 2:] - edges[:, :2]).T
    is_level = (wide >= high) | (letters < FEWEST_LETTERS)
    least = _LEAST_ROWS * np.minimum(sizes, np.minimum(wide, high) / LINE_HEIGHT)
    for chunk in chunks(edges):
        boxes = Boxes(edges[chunk], differs.shape[1], is_level[chunk])
        counts = boxes.by_row(differs.ravel()[boxes.index])
        is_full = counts > _LEAST_OF_ROW * np.maximum.reduceat(counts, boxes.first)[boxes.box]
        rows = boxes.by_box(is_full)
        found[chunk] = (rows > 0) & (rows < least[chunk])
    return found


def is_smeared(levels: NDArray[np.uint8], size: float) -> bool:
    """Return whether what letters change in a picture is so smooth that they cannot be read.

    Parameters
    ----------
    levels : how much each pixel of the part of a text differs (height, width).
    size : the size of the letters in pixels of the picture.
    """
    part = levels.astype(np.int64)
    grain = np.abs(np.diff(part, axis=0)).sum() + np.abs(np.diff(part, axis=1)).sum()
    return bool(grain * size < _LEAST_GRAIN * part.sum())
