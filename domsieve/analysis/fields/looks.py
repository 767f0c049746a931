"""How texts of a rendered page look: computed font, colour and size, and where on the page they are."""

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np

from domsieve.snapshot.page import Kind, Snapshot

_COLUMN_PX = 40
_ROW_PX = 16
_GAP_PX = 300  # between a label and its value
_MOST_TRIES = 8
_LARGEST_PX = 1e6  # keeps a made-up size finite


def page_looks(page: Snapshot) -> dict[int, list[str]] | None:
    """Return the features of the look of each element that has text; None for pages without layout."""
    if not page.has_layout:
        return None
    owners = {int(node) for node in page.parent[np.flatnonzero(page.kind == int(Kind.TEXT))].tolist()}
    wanted = ("font-size", "font-weight", "color", "background-color", "text-decoration-line")
    at = {name: page.style_names.index(name) for name in wanted if name in page.style_names}
    looks: dict[int, list[str]] = {}
    rows: dict[int, dict[str, str]] = {}
    sizes: dict[int, float] = {}
    for node in sorted(owners):
        row = int(page.style[node])
        if row < 0:
            continue
        if row not in rows:
            values = page.strings.take([int(page.styles[row, column]) for column in at.values()])
            rows[row] = dict(zip(at, values, strict=True))
        style = rows[row]
        size_px = style.get("font-size", "").removesuffix("px")
        sizes[node] = min(float(size_px), _LARGEST_PX) if size_px.replace(".", "", 1).isdecimal() else 0.0
        struck = " struck" if "line-through" in style.get("text-decoration-line", "") else ""
        looks[node] = [
            f"font {round(sizes[node])}px {style.get('font-weight', '')}{struck}",
            f"colour {style.get('color', '')}",
            f"x {round(float(page.box[node, 0]) / _COLUMN_PX)}",
        ]
    ranks = {size: rank for rank, size in enumerate(sorted({*sizes.values()}, reverse=True), 1)}
    for node, size in sizes.items():
        looks[node].append(f"size {ranks[size]}")
    return looks


def drawn_at_left(page: Snapshot, nodes: Sequence[int]) -> dict[int, int]:
    """Return by number of a text the number of the one drawn at its left, whatever their order in the source.

    In O(N log N).

    Parameters
    ----------
    page : the page; without layout nothing is found.
    nodes : the text nodes, in document order.
    """
    if not page.has_layout:
        return {}
    boxes = page.box[np.asarray(nodes, np.int64)].astype(float).tolist()
    rows: dict[int, list[tuple[float, int]]] = {}
    for number, (x, y, width, height) in enumerate(boxes):
        if width > 0 and height > 0:  # NaN is no box
            rows.setdefault(int((y + height / 2) // _ROW_PX), []).append((x + width, number))
    for row in rows.values():
        row.sort()
    found: dict[int, int] = {}
    for at, own in rows.items():
        near = [rows[key] for key in (at - 1, at, at + 1) if key in rows]
        for _, number in own:
            x, y, _, height = boxes[number]
            best = x - _GAP_PX
            for row in near:
                end = bisect_right(row, (x + 1, len(boxes)))
                for right, other in reversed(row[max(0, end - _MOST_TRIES) : end]):
                    top, tall = boxes[other][1], boxes[other][3]
                    if right > best and other != number and top <= y + height / 2 <= top + tall:
                        best, found[number] = right, other
    return found
