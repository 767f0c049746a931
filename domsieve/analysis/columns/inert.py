"""What no reader can use: elements that are ``inert``, by attribute or style, and all in them."""

import numpy as np

from domsieve.analysis.columns.batch import Bools, below
from domsieve.analysis.columns.flow import by_style_row
from domsieve.analysis.columns.page_columns import attributes_of
from domsieve.snapshot.page import Kind, Snapshot


def inert_nodes(page: Snapshot) -> Bools:
    """Return which of the N nodes are inert."""
    marked = np.zeros(len(page), np.bool_)
    marked[attributes_of(page).nodes("inert")] = True
    inert = below(marked & (page.kind == Kind.ELEMENT), page.end.astype(np.int64))
    if (row := by_style_row(page, "interactivity", "inert".__eq__)) is not None:
        inert |= (page.style >= 0) & (row[page.style] > 0)
    return inert
