"""Pictures of a part of a page, with letters and without: in which boxes they differ."""

import base64
import io
from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from domsieve.renderer.page._pixel_parts import F64, Bools, Ints
from domsieve.renderer.page._pixel_scene import Scene

if TYPE_CHECKING:
    from PIL.Image import Image

SCALE = 0.5
"""Size of the pictures over that of the page."""
LEAST_SHARE = 0.10
"""A text is seen if this share of the ink of its letters differs."""

# By more than so many of 255 levels.
_LEAST_CONTRAST = 6
# Bounds of the work: texts that are made transparent alone, and pictures for them.
_MOST_ALONE, _MOST_GROUPS = 1_000, 8
# Letters reach a little beyond their boxes, and a few pixels of icons farther.
_REACH_PX, _FEW_PIXELS = 4, 40


class Pictures:
    """The pictures of one part of the page, with and without letters.

    Attributes
    ----------
    changed : (B,), how many pixels of each part of a text differ.
    unsure : (B,), the parts that cannot be told from what moves, or from others that overlap them.
    """

    def __init__(self, scene: Scene, clip: F64, without: "Image", complete: "Image") -> None:
        place, _ = scene.in_view()
        self._scene = scene
        self._without, self._complete = [without], [complete]
        self._differs = _apart(complete, without)
        height, width = self._differs.shape
        scaled = (place - np.tile(clip[:2], 2)) * SCALE
        edges = np.clip(np.nan_to_num(np.rint(scaled)), 0, [width, height, width, height]).astype(np.intp)
        edges[:, 2:] = np.maximum(edges[:, 2:], edges[:, :2])
        self._edges = edges
        self.unsure = np.zeros(len(place), np.bool_)
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

    def missing(self, boxes: Bools) -> int:
        """Return how many of some parts that are in this part of the page do not differ enough to be seen."""
        return int(
            np.count_nonzero(boxes & (area(self._edges) > 0) & (self.changed < LEAST_SHARE * self._scene.ink))
        )

    def take_out(self, without: Sequence["Image"], complete: Sequence["Image"]) -> None:
        """Take out what moves by itself: pixels that are not apart in all pictures with and all without letters."""
        from PIL import ImageChops

        lightest, darkest = [], []
        for pictures in ([*self._without, *without], [*self._complete, *complete]):
            lightest.append(reduce(ImageChops.lighter, pictures))
            darkest.append(reduce(ImageChops.darker, pictures))
        levels = ImageChops.lighter(
            ImageChops.subtract(darkest[0], lightest[1]), ImageChops.subtract(darkest[1], lightest[0])
        )
        need, before = LEAST_SHARE * self._scene.ink, self.changed
        self._differs &= np.asarray(levels).max(axis=2) > _LEAST_CONTRAST
        self.changed = self._count(self._differs)
        self.unsure |= (before >= need) & (self.changed < need)

    def crowds(self, boxes: Bools, can_be_alone: Bools) -> list[Ints]:
        """Return groups of parts that overlap others and may be seen for these; no two texts of a group overlap.

        Parts that cannot be made transparent alone are unsure.
        """
        scene = self._scene
        cover = np.zeros(self._differs.shape, np.uint16)
        edges = self._lines()
        reach = np.ceil(scene.reach_px[scene.owner[self._first_of_line]] * SCALE).astype(np.intp)[:, None]
        wide = edges + reach * np.array([-1, -1, 1, 1])
        for x, y, right, bottom in np.maximum(wide, 0).tolist():
            cover[y:bottom, x:right] += 1
        own = self._count(self._differs & (cover == 1))
        need = LEAST_SHARE * scene.ink
        doubtful = boxes & (own < need) & (self.changed >= need)
        self.unsure |= doubtful & ~can_be_alone
        doubtful &= can_be_alone
        texts = np.unique(scene.owner[doubtful])
        self.unsure |= doubtful & np.isin(scene.owner, texts[_MOST_ALONE:])
        groups: list[list[int]] = []
        line_owner = scene.owner[self._first_of_line]
        for text in texts[:_MOST_ALONE].tolist():
            ours = edges[line_owner == text]
            for group in groups:
                if not _meet(ours, edges[np.isin(line_owner, group)]):
                    group.append(text)
                    break
            else:
                if len(groups) < _MOST_GROUPS:
                    groups.append([text])
                else:
                    self.unsure |= doubtful & (scene.owner == text)
        return [np.flatnonzero(doubtful & np.isin(scene.owner, group)) for group in groups]

    def _lines(self) -> Ints:
        """Return the edges (L, 4) of the lines of all parts."""
        _, self._first_of_line, line = np.unique(self._scene.line, return_index=True, return_inverse=True)
        edges = np.zeros((self._first_of_line.size, 4), np.intp)
        edges[:, :2] = np.iinfo(np.int32).max
        np.minimum.at(edges[:, :2], line, self._edges[:, :2])
        np.maximum.at(edges[:, 2:], line, self._edges[:, 2:])
        return edges

    def count_alone(self, group: Ints, picture: "Image") -> None:
        """Count what differs of the parts of a group in a picture where only the letters of their texts are blank."""
        self.changed[group] = self._count(_apart(self._complete[0], picture) & self._differs)[group]


def _meet(first: Ints, second: Ints) -> bool:
    """Return whether any of some rectangles (A, 4) overlaps any of others (B, 4)."""
    meets = (first[:, None, :2] < second[None, :, 2:]) & (first[:, None, 2:] > second[None, :, :2])
    return bool(meets.all(axis=2).any())


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
