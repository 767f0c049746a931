"""How texts of a rendered page look: computed font, colour and size, and where on the page they are."""

import numpy as np

from domsieve.snapshot.page import Kind, Snapshot

_COLUMN_PX = 40
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
            f"x {round(float(page.box[node, 0]) / 40)}",
        ]
    ranks = {size: rank for rank, size in enumerate(sorted({*sizes.values()}, reverse=True), 1)}
    for node, size in sizes.items():
        looks[node].append(f"size {ranks[size]}")
    return looks
