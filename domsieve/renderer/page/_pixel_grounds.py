"""Grounds that stay in the window while a page is scrolled: a picture of the whole page has them in one place only.

They are fixed and sticky boxes without text that are painted below texts that pass over them.
"""

from typing import NamedTuple

import numpy as np

from domsieve.renderer.page._pixel_parts import Bools
from domsieve.renderer.page._pixel_scene import Scene

# A ground has this share of the window's height; half of the letters of the texts that it is wide enough for are
# painted later. Guesses, as is the bound of the work.
_LEAST_OF_WINDOW, _LEAST_LATER, _MOST_GROUNDS = 0.5, 0.5, 40


class Ground(NamedTuple):
    """A box that is the ground of text which passes over it.

    Parameters
    ----------
    node : the fixed or sticky box.
    bottom : the last place where it can be, in CSS px of the page.
    parts : (B,), the parts of texts that pass over it.
    """

    node: int
    bottom: float
    parts: Bools


def grounds_of(scene: Scene, height: float) -> list[Ground]:
    """Return the grounds that stay in a window of some height (px), which must not be scrolled."""
    document = scene.capture.documents[0]
    size = scene.ids.size
    paint, box = np.full(size, -1), np.full((size, 4), np.nan)
    entries = np.array(document.layout.node_index, np.intp)[::-1]
    paint[entries] = np.array(document.layout.paint_orders)[::-1]
    box[entries] = np.array(document.layout.bounds)[::-1]
    with_text = scene.around(scene.has_letters)
    middle = (scene.box[:, :2] + scene.box[:, 2:]) / 2
    on_page = (scene.document_of[scene.owner] == 0) & (scene.fixed_box < 0)
    found = []
    for node in [*scene.behind.tolist(), *scene.fixed.tolist(), *scene.sticky.tolist()][:_MOST_GROUNDS]:
        left, top, wide, high = box[node].tolist()
        is_high = high >= _LEAST_OF_WINDOW * height  # not where there is no box
        if scene.document_of[node] != 0 or with_text[node] or not is_high:
            continue
        bottom = document.content_height
        parts = on_page & (middle[:, 0] > left) & (middle[:, 0] < left + wide) & (middle[:, 1] > top)
        if node in scene.sticky:  # it stays in the box around it
            bottom = float(box[scene.parent[node], [1, 3]].sum())
            parts &= middle[:, 1] < bottom
        letters = scene.letters[parts]
        inside = scene.below_one(node)
        inside[node] = True
        later = letters[paint[scene.owner[parts]] > paint[inside].max()].sum()
        if letters.size and (node in scene.behind or later >= _LEAST_LATER * letters.sum()):
            found.append(Ground(node, bottom, parts))
    return found
