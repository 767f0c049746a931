"""Which nodes of a page a page method looks at: the body, without what holds no content. Imports the batch."""

from collections.abc import Set as AbstractSet

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import Batch, below
from domsieve.snapshot.page import Kind, Snapshot

NO_CONTENT = frozenset(["head", "script", "style", "noscript", "template"])
_BLANKS = " \t\n\r\f"


def in_body(batch: Batch, left_out: AbstractSet[str] = NO_CONTENT) -> NDArray[np.bool_]:
    """Return which of N nodes of one page lie in its body or frameset; pseudo-elements and tags `left_out` do not."""
    page = batch.pages[0]
    tags = page.tags.to_list()
    barred = np.array([name in left_out for name in tags])[page.tag] & batch.elements()
    found = ~below(barred | (page.kind == Kind.PSEUDO), batch.end)
    roots = np.flatnonzero((page.parent == 0) & batch.elements())
    tops = np.flatnonzero(np.isin(page.parent, roots) & batch.elements())
    body = next((int(node) for node in tops if tags[page.tag[node]] in {"body", "frameset"}), 0)
    found[:body] = False
    found[page.end[body] :] = False
    return found


def worded(page: Snapshot) -> NDArray[np.bool_]:
    """Return which of N nodes are text that is not blank; a no-break space is not blank."""
    text = page.kind == Kind.TEXT
    found = np.zeros(len(page), np.bool_)
    found[text] = [bool(t.strip(_BLANKS)) for t in page.strings.take(page.text[text].tolist())]
    return found
