"""What a page changes when it is pictured: style sheets may ask whether scripts are on, or what can be scrolled."""

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from domsieve.renderer.page._pixel_capture import PixelCapture
from domsieve.renderer.page._pixel_parts import F64
from domsieve.renderer.page._pixel_scene import Scene
from domsieve.snapshot.page import Kind

# Boxes that move by less are not moved.
_STILL_PX = 1.0

# More boxes than these that change are a page that changes as a whole.
_MOST_CHANGED = 100

_Drawn = dict[int, tuple[tuple[str, ...], list[float]]]


def mark_changed(scene: Scene, before: PixelCapture, after: PixelCapture, names: Sequence[str]) -> None:
    """Mark the texts of a scene as unsure that differ in two captures, or of which what may cover them does.

    The overflow of the root and the body may differ: a lock was released.

    Raises
    ------
    ValueError : the page has changed its structure.
    """
    lock = [number for number, name in enumerate(names) if name in {"overflow-x", "overflow-y"}]
    size = scene.kind.size
    restyled, moved, boxes = np.zeros(size, np.bool_), np.zeros(size, np.bool_), np.full((size, 4), np.nan)
    start = 0
    for number, document in enumerate(before.documents):
        first, second = _drawn(before, number), _drawn(after, number)
        for node in first.keys() | second.keys():
            one, other, at = first.get(node), second.get(node), start + node
            if one:
                left, top, width, height = one[1]
                boxes[at] = left, top, left + width, top + height
            if not one or not other:
                restyled[at] = moved[at] = True
                continue
            if one[0] != other[0]:
                may_differ = lock if scene.names[at] in {"html", "body"} else ()
                restyled[at] = any(
                    a != b
                    for at, (a, b) in enumerate(zip(one[0], other[0], strict=True))
                    if at not in may_differ
                )
            moved[at] = max(abs(a - b) for a, b in zip(one[1], other[1], strict=True)) > _STILL_PX
        start += len(document.nodes.node_type)
    scene.unsure |= restyled | scene.below(restyled) | (moved & (scene.kind == Kind.TEXT))
    others = np.flatnonzero((restyled | moved) & ~np.isnan(boxes[:, 0]) & (scene.kind != Kind.TEXT))
    if others.size > _MOST_CHANGED:
        scene.unsure[:] = True
        return
    for node in others.tolist():
        left, top, right, bottom = boxes[node].tolist()
        x, y, x_end, y_end = boxes.T
        meets = (x < right) & (x_end > left) & (y < bottom) & (y_end > top)
        scene.unsure |= meets & ~scene.below_one(node)


def mark_under(scene: Scene, places: Iterable[F64]) -> None:
    """Mark the texts of a scene as unsure that are where something is that may change at any time.

    Parameters
    ----------
    places : corners (n, 2) of each such thing in CSS px of the page.
    """
    for corners in places:
        first, last = corners.min(axis=0), corners.max(axis=0)
        meets = (scene.box[:, :2] < last).all(axis=1) & (scene.box[:, 2:] > first).all(axis=1)
        scene.unsure[scene.owner[meets]] = True


def _drawn(capture: PixelCapture, number: int) -> _Drawn:
    """Return the computed styles and the box of each node of a document that has any."""
    layout = capture.documents[number].layout
    rows: dict[bytes, tuple[str, ...]] = {}
    found: _Drawn = {}
    for node, raw, bounds in zip(layout.node_index, layout.styles, layout.bounds, strict=True):
        key = bytes(raw)
        if key not in rows:
            rows[key] = tuple(
                capture.strings[value] if value >= 0 else "" for value in msgspec.json.decode(raw)
            )
        found.setdefault(node, (rows[key], bounds))
    return found
