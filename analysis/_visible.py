"""Which nodes a reader of the page can meet: the first step of every method (spec: DOM normalisation).

Rendered pages answer by layout; raw pages only by tag names, the `hidden` attribute and inline CSS.
"""

import re

import numpy as np
from numpy.typing import NDArray

from analysis._batch import Batch, below
from analysis._hash import hash_of, hashes_of
from snapshot import Kind

_NEVER_SHOWN = hashes_of(["head", "script", "style", "noscript", "template", "title", "datalist"])
_STYLE, _HIDDEN, _TYPE = (hash_of(name) for name in ("style", "hidden", "type"))
_HIDDEN_VALUE = hash_of("hidden")
_HIDING = re.compile(r"(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))", re.IGNORECASE)


def visible_nodes(batch: Batch) -> NDArray[np.bool_]:
    """Return, for each of the N nodes, whether it is shown; a text node counts with its element.

    Rendered: a text node must have a box and computed ``visibility: visible``; an element a box, or a descendant
    with one (``display: contents``). Raw: neither the node nor an ancestor is of a tag that is never shown,
    carries ``hidden``, is a hidden input, or has inline CSS that hides it.
    """
    shown = np.empty(batch.kind.size, np.bool_)
    never = np.isin(batch.tag_hash, _NEVER_SHOWN)[batch.tag] & batch.elements()
    hidden = below(never | _hidden_by_attribute(batch), batch.end)
    for page, a, b in zip(batch.pages, batch.first[:-1], batch.first[1:], strict=True):
        if not page.has_layout:
            shown[a:b] = ~hidden[a:b]
            continue
        shown[a:b] = page.rendered()
        column = page.style_names.index("visibility") if "visibility" in page.style_names else None
        if column is not None and page.styles.size:
            words = page.strings.take(np.unique(page.styles[:, column]).tolist())
            if any(word != "visible" for word in words):
                seen = np.array([page.strings[v] == "visible" for v in page.styles[:, column].tolist()])
                text = page.kind == Kind.TEXT
                shown[a:b][text] &= seen[page.style[text]] & (page.style[text] >= 0)
    return shown


def _hidden_by_attribute(batch: Batch) -> NDArray[np.bool_]:
    marked = np.zeros(batch.kind.size, np.bool_)
    name = batch.string_hash[batch.attr_name]
    owner = batch.attr_owner
    marked[owner[name == _HIDDEN]] = True
    marked[owner[(name == _TYPE) & (batch.string_hash[batch.attr_value] == _HIDDEN_VALUE)]] = True
    inline = np.flatnonzero(name == _STYLE)
    values, which = np.unique(batch.attr_value[inline], return_inverse=True)
    hides = np.array([bool(_HIDING.search(text)) for text in batch.strings.take(values.tolist())], np.bool_)
    if hides.any():
        marked[owner[inline[hides[which]]]] = True
    return marked
