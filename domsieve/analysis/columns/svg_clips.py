"""Read what ``clipPath`` elements of SVG leave of a box."""

from math import inf, isfinite

from domsieve.analysis.columns.css_shapes import EVERYWHERE, NOWHERE, Edges, length, shape
from domsieve.snapshot.page import Kind, Snapshot

_NEEDED = {
    "rect": frozenset({"width", "height"}),
    "circle": frozenset({"r"}),
    "ellipse": frozenset({"rx", "ry"}),
    "path": frozenset({"d"}),
}
_MOST_SHAPES = 100  # in one path that are looked at. A guess


def drawn_edges(page: Snapshot, path: int, width: float, height: float) -> Edges:
    """Return the rectangle around what a ``clipPath`` leaves of a box of this size, in px from its corner.

    Parameters
    ----------
    path : the element. If it has anything but plain shapes, or a transform, `EVERYWHERE` is returned.
    width, height : size of the box, in px.
    """
    own = page.attributes(path)
    children = [one for one in range(path + 1, int(page.end[path])) if page.kind[one] == Kind.ELEMENT]
    if len(children) > _MOST_SHAPES or {"transform", "style", "clip-path"} & own.keys():
        return EVERYWHERE
    is_share = own.get("clippathunits", "").strip() == "objectBoundingBox"
    found = []
    for one in children:
        drawn = _shape_edges(page.tag_name(one), page.attributes(one), width, height, is_share=is_share)
        if drawn is None:
            return EVERYWHERE
        if drawn != NOWHERE:
            found.append(drawn)
    if not found:
        return NOWHERE
    left, top = (min(edges[at] for edges in found) for at in (0, 1))
    right, bottom = (max(edges[at] for edges in found) for at in (2, 3))
    return left, top, right, bottom


def _shape_edges(
    tag: str, said: dict[str, str], width: float, height: float, *, is_share: bool
) -> Edges | None:
    """Return the rectangle around a shape; None if it is not known."""
    if {"transform", "style", "class", "id", "clip-path"} & said.keys():
        return None

    def of(name: str, whole: float) -> float:
        return length(said.get(name, "0"), whole)

    # A style sheet may set what has no attribute.
    if not _NEEDED.get(tag, frozenset()) <= said.keys():
        return None
    wide, high = (1.0, 1.0) if is_share else (width, height)
    edges: tuple[float, ...]
    if tag == "rect":
        x, y = of("x", wide), of("y", high)
        edges = x, y, x + of("width", wide), y + of("height", high)
    elif tag in {"circle", "ellipse"}:
        x, y = of("cx", wide), of("cy", high)
        across, down = (of("r", 1.0),) * 2 if tag == "circle" else (of("rx", wide), of("ry", high))
        if "%" in said.get("r", ""):
            return None
        edges = x - across, y - down, x + across, y + down
    elif tag == "polygon":
        numbers = said.get("points", "").replace(",", " ").split()
        places = [length(one, inf) for one in numbers[: len(numbers) // 2 * 2]]
        if not places:
            return NOWHERE
        edges = min(places[::2]), min(places[1::2]), max(places[::2]), max(places[1::2])
    elif tag == "path" and (drawn := shape(f"path({said.get('d', '')})", width, height)):
        edges = drawn.edges
    else:
        return None
    if not all(map(isfinite, edges)):
        return None
    left, top, right, bottom = edges
    if right <= left or bottom <= top:
        return NOWHERE
    return (
        (left * width, top * height, right * width, bottom * height)
        if is_share
        else (left, top, right, bottom)
    )
