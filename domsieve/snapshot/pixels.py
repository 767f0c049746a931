"""The column of a Snapshot that says which of its texts can be seen in pictures of the page; few have it."""

from dataclasses import replace

import numpy as np

from domsieve.snapshot.page import PIXELS, Snapshot

_UNSURE = "unsure"


def has_pixels(page: Snapshot) -> bool:
    """Return whether pictures of the page were taken, which say what can be seen."""
    return PIXELS in page.style_names


def unsure_texts(page: Snapshot) -> int:
    """Return the number of texts of which pictures do not say whether they can be seen; 0 without pictures.

    They are judged by layout.
    """
    if not has_pixels(page):
        return 0
    said = page.strings.take(page.styles[:, page.style_names.index(PIXELS)].tolist())
    unsure = np.array([*(value == _UNSURE for value in said), False])[page.style]
    texts = page.strings.take(page.text[unsure & (page.text >= 0)].tolist())
    return sum(1 for text in texts if text.strip())


def without_pixels(page: Snapshot) -> Snapshot:
    """Return the page without what pictures say of it; the page itself if it has no such column."""
    if not has_pixels(page):
        return page
    at = page.style_names.index(PIXELS)
    names = page.style_names[:at] + page.style_names[at + 1 :]
    return replace(page, style_names=names, styles=np.delete(page.styles, at, axis=1))
