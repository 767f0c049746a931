"""Which texts of a raw source are visible once the page is rendered."""

from collections import Counter
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import Bools, Ints
from domsieve.analysis.columns.hiding import hidden_texts
from domsieve.analysis.columns.page_columns import page_texts
from domsieve.analysis.columns.visible import in_closed_panels, never_shown
from domsieve.analysis.columns.words import fold
from domsieve.analysis.compare.node_matching import NOT_MATCHED, match_nodes
from domsieve.budget import check, spending
from domsieve.snapshot.page import Snapshot


class WhenRendered(IntEnum):
    """What becomes of a text of the source when the page is rendered."""

    NO_TEXT = 0
    SHOWN = 1
    HIDDEN = 2
    GONE = 3


# A guess: an unmatched text is looked for in what its nearest matched ancestor shows; larger ones show everything.
_MOST_TEXTS = 2_000


def when_rendered(raw: Snapshot, rendered: Snapshot, *, dropped: Bools | None = None) -> NDArray[np.uint8]:
    """Return the `WhenRendered` of each of the N nodes of `raw`; `NO_TEXT` for nodes of which nothing is known.

    A text without a counterpart, such as one that a script has rewritten, is shown if its words are shown in the
    counterpart of its nearest ancestor that has one, or if as many equal texts are shown as the source has, and gone
    otherwise. If it has no words, like a bracket, nothing
    is known of it. Takes O(N log N) for N nodes of both pages.

    Parameters
    ----------
    raw, rendered : both versions of a page.
    dropped : the nodes of `rendered` that count as gone even if they are visible; None for none.
    """
    with spending("compare", rendered.provenance.url):
        return _when_rendered(raw, rendered, dropped)


def _when_rendered(raw: Snapshot, rendered: Snapshot, dropped: Bools | None) -> NDArray[np.uint8]:
    raw_of = match_nodes(raw, rendered)
    there = np.flatnonzero(raw_of != NOT_MATCHED)
    rendered_of = np.full(len(raw), NOT_MATCHED, np.int64)
    rendered_of[raw_of[there]] = there
    own = page_texts(rendered)
    worded = np.zeros(len(rendered), np.bool_)
    worded[own.node[~own.is_blank]] = True
    shown = worded & ~never_shown(rendered) & (hidden_texts(rendered) == 0) & ~in_closed_panels(rendered)
    away = np.zeros(len(rendered), np.bool_) if dropped is None else shown & dropped
    shown &= ~away
    texts = page_texts(raw)
    nodes = texts.node[~texts.is_blank]
    result = np.zeros(len(raw), np.uint8)
    result[nodes] = WhenRendered.HIDDEN
    # Texts also match by their place, so a matched text may be another one.
    equal = np.array(
        [
            other != NOT_MATCHED and raw.text_of(node) == rendered.text_of(other)
            for node, other in zip(nodes.tolist(), rendered_of[nodes].tolist(), strict=True)
        ],
        np.bool_,
    )
    same = nodes[equal]
    result[same[shown[rendered_of[same]]]] = WhenRendered.SHOWN
    result[same[away[rendered_of[same]]]] = WhenRendered.GONE
    lost = nodes[~equal]
    shown_nodes = np.flatnonzero(shown)
    copies = Counter(map(raw.text_of, nodes.tolist()))
    shown_copies = Counter(map(rendered.text_of, shown_nodes.tolist()))
    said: dict[int, frozenset[str]] = {}
    for node in lost.tolist():
        check()
        text = raw.text_of(node)
        wanted = fold(text).split()
        if not wanted:
            # No words are part of any text, so it would count as shown even where everything around it is hidden.
            result[node] = WhenRendered.NO_TEXT
            continue
        around = _matched_above(raw, int(raw.parent[node]), rendered_of)
        if around not in said:
            said[around] = _words_in(rendered, int(rendered_of[around]), shown_nodes)
        is_shown = said[around].issuperset(wanted) or shown_copies[text] >= copies[text]
        result[node] = WhenRendered.SHOWN if is_shown else WhenRendered.GONE
    result[never_shown(raw) & (result > 0)] = WhenRendered.NO_TEXT
    return result


def _matched_above(raw: Snapshot, node: int, rendered_of: Ints) -> int:
    while node > 0 and rendered_of[node] == NOT_MATCHED:
        node = int(raw.parent[node])
    return node


def _words_in(rendered: Snapshot, top: int, shown: Ints) -> frozenset[str]:
    first, last = np.searchsorted(shown, (top, rendered.end[top]))
    if last - first > _MOST_TEXTS:
        return frozenset()
    return frozenset(fold(" ".join(page_texts(rendered).of(shown[first:last]))).split())
