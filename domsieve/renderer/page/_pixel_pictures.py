"""Pictures of a part of a page, with letters and without: in which boxes they differ."""

import base64
import io
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from domsieve.renderer.page._pixel_scene import F64, Bools, Ints, Scene

if TYPE_CHECKING:
    from PIL.Image import Image

SCALE = 0.5
"""Size of the pictures over that of the page."""
LEAST_SHARE = 0.10
"""A text is seen if this share of the ink of its letters differs."""

# By more than so many of 255 levels.
_LEAST_CONTRAST = 6
# Bounds of the work: texts that are made transparent alone, and pictures for them.
_MOST_ALONE, _MOST_GROUPS = 200, 6
# Letters reach a little beyond their boxes, and a few pixels of icons farther. A text is not judged if more than half
# of its place moves.
_REACH_PX, _FEW_PIXELS, _MOST_MOVING = 4, 40, 0.5
# Shadows and blurs reach farther. A guess: larger ones are too faint to be read.
_SPREAD_PX = 20


class Pictures:
    """The pictures of one part of the page, with and without letters.

    Attributes
    ----------
    changed : (B,), how many pixels of each box differ.
    moving : (B,), the boxes most of which moves by itself.
    """

    def __init__(self, scene: Scene, clip: F64, without: "Image", complete: "Image") -> None:
        place, _ = scene.in_view()
        self._scene = scene
        self._complete = complete
        self._differs = _apart(complete, without)
        height, width = self._differs.shape
        scaled = (place - np.tile(clip[:2], 2)) * SCALE
        edges = np.clip(np.nan_to_num(np.rint(scaled)), 0, [width, height, width, height]).astype(np.intp)
        edges[:, 2:] = np.maximum(edges[:, 2:], edges[:, :2])
        self._edges = edges
        self.moving = np.zeros(len(place), np.bool_)
        self.changed = self._count(self._differs)

    def _count(self, mask: Bools) -> F64:
        """Return how many pixels of a mask are in each box."""
        counts = [np.count_nonzero(mask[y:bottom, x:right]) for x, y, right, bottom in self._edges.tolist()]
        return np.array(counts, np.float64)

    def moves(self) -> bool:
        """Return whether anything differs where no letters are."""
        empty = self._differs.copy()
        for x, y, right, bottom in self._edges.tolist():
            empty[max(y - _REACH_PX, 0) : bottom + _REACH_PX, max(x - _REACH_PX, 0) : right + _REACH_PX] = (
                False
            )
        return bool(np.count_nonzero(empty) > _FEW_PIXELS)

    def take_out(self, again: "Image") -> None:
        """Take out what differs between the first picture and another one with letters."""
        moves = _apart(self._complete, again)
        self._differs &= ~moves
        self.changed = self._count(self._differs)
        self.moving = self._count(moves) > _MOST_MOVING * np.maximum(area(self._edges), 1)

    def crowds(self, boxes: Bools, can_be_alone: Bools) -> list[Ints]:
        """Return groups of boxes that overlap others and may be seen for these; no two of a group overlap.

        Boxes that cannot be made transparent alone count as moving.
        """
        cover = np.zeros(self._differs.shape, np.uint16)
        reach = np.where(self._scene.spreads[self._scene.owner], _SPREAD_PX, 0)[:, None]
        wide = self._edges + reach * np.array([-1, -1, 1, 1])
        for x, y, right, bottom in np.maximum(wide, 0).tolist():
            cover[y:bottom, x:right] += 1
        own = self._count(self._differs & (cover == 1))
        need = LEAST_SHARE * self._scene.ink
        doubtful = boxes & (own < need) & (self.changed >= need) & ~self.moving
        self.moving |= doubtful & ~can_be_alone
        chosen = np.flatnonzero(doubtful & can_be_alone)
        self.moving[chosen[_MOST_ALONE:]] = True
        groups: list[list[int]] = []
        for box in chosen[:_MOST_ALONE].tolist():
            left, top, right, bottom = self._edges[box].tolist()
            for group in groups:
                others = self._edges[group]
                meets = (
                    (others[:, 0] < right)
                    & (others[:, 2] > left)
                    & (others[:, 1] < bottom)
                    & (others[:, 3] > top)
                )
                if not meets.any():
                    group.append(box)
                    break
            else:
                if len(groups) < _MOST_GROUPS:
                    groups.append([box])
                else:
                    self.moving[box] = True
        return [np.array(group) for group in groups]

    def count_alone(self, group: Ints, picture: "Image") -> None:
        """Count what differs of the boxes of a group in a picture where only their letters are transparent."""
        self.changed[group] = self._count(_apart(self._complete, picture))[group]


def picture_of(encoded: str) -> "Image":
    from PIL import Image  # loaded on use: only this mode needs it

    with Image.open(io.BytesIO(base64.b64decode(encoded)), formats=["PNG"]) as image:
        return image.convert("RGB")


def _apart(first: "Image", second: "Image") -> Bools:
    """Return which pixels (height, width) of two pictures differ visibly in a channel."""
    from PIL import ImageChops

    red, green, blue = ImageChops.difference(first, second).split()
    levels = ImageChops.lighter(ImageChops.lighter(red, green), blue)
    return np.asarray(levels) > _LEAST_CONTRAST


def area(edges: NDArray[Any]) -> NDArray[Any]:
    """Return the areas of boxes (B, 4), given by left, top, right and bottom."""
    size = np.maximum(edges[:, 2:] - edges[:, :2], 0)
    return np.asarray(size[:, 0] * size[:, 1])
