"""What may cover texts in the size of the page, and not in pictures of half this size.

Edges of boxes come to whole pixels, steps of gradients are sharp, and drawings and their filters can tell how fine
they are drawn. So a text under anything that it is not in, or in what may be so fine, is looked at in full size.
"""

import numpy as np

from domsieve.renderer.page._pixel_parts import F64, OUTWARDS, Bools, Ints, meet
from domsieve.renderer.page._pixel_patterns import may_be_fine
from domsieve.renderer.page._pixel_scene import Scene

# So much of the height of a line is in its middle, which must be covered: the boxes of lines overlap a little.
_MIDDLE = 0.4
# So many pairs of texts and boxes are compared at once.
_PAIRS = 1_000_000


class Covers:
    """The boxes of a page that something is painted in."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        is_fine = may_be_fine(scene.column, scene.font_of)
        self._is_fine = is_fine | scene.below(is_fine)

    def over(self, boxes: Bools) -> Bools:
        """Return which parts (B,) of some may be seen otherwise in full size, where they are or were at first."""
        scene, parts = self._scene, np.flatnonzero(boxes)
        edges = scene.bounds + scene.paint_reach_px[:, None] * OUTWARDS
        edges[~(edges[:, 2:] > edges[:, :2]).all(axis=1)] = np.nan
        found = np.zeros_like(boxes)
        found[parts] = self._is_fine[scene.owner[parts]]
        now = scene.in_view()[0]
        found[parts] |= self._among(parts, scene.box[parts], edges)
        moved = parts[(now[parts] != scene.box[parts]).any(axis=1)]
        found[moved] |= self._among(moved, now[moved], edges)
        return found

    def _among(self, parts: Ints, place: F64, edges: F64) -> Bools:
        """Return which of some parts (n,), at a place (n, 4), meet boxes (N, 4) of nodes that they are not in."""
        middle, margin = place.copy(), (place[:, 3] - place[:, 1]) * (1 - _MIDDLE) / 2
        middle[:, 1] += margin
        middle[:, 3] -= margin
        painted = edges[~np.isnan(edges[:, 0])]
        count = np.zeros(parts.size, np.intp)
        step = max(_PAIRS // max(parts.size, 1), 1)
        for first in range(0, len(painted), step):
            count += meet(middle[:, None], painted[None, first : first + step]).sum(axis=1)
        node = self._scene.owner[parts]
        while (node >= 0).any():
            count -= (node >= 0) & meet(middle, edges[node])
            node = np.where(node >= 0, self._scene.parent[node], -1)
        return np.asarray(count > 0)
