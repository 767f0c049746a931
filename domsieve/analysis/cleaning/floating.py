"""What floats over a page: boxes that stay in place while it is scrolled, such as consent boxes and bars.

Imports the columns.
"""

import numpy as np

from domsieve.analysis.columns.batch import Bools, below, counted_before
from domsieve.analysis.columns.flow import by_style_row
from domsieve.snapshot.page import Kind, Snapshot

_MOST_FLOATING = 0.5


def floating_nodes(page: Snapshot, visible: Bools) -> Bools:
    """Return which of the N nodes lie in a box that stays in place, of those with less than half of the words."""
    roots = np.zeros(len(page), np.bool_)
    by_row = by_style_row(page, "position", lambda value: value == "fixed")
    if by_row is None:
        return roots
    fixed = np.flatnonzero((page.kind == Kind.ELEMENT) & (page.style >= 0) & (by_row[page.style] > 0))
    if not fixed.size:
        return roots
    text = np.flatnonzero((page.kind == Kind.TEXT) & visible)
    words = np.zeros(len(page), np.int64)
    words[text] = [len(line.split()) for line in page.strings.take(page.text[text].tolist())]
    before = counted_before(words)
    small = fixed[before[page.end[fixed]] - before[fixed] < _MOST_FLOATING * before[-1]]
    roots[small] = True
    return below(roots, page.end.astype(np.int64))
