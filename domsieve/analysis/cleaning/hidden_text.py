"""Drop or restore hidden text, after every method.

Hidden text may be an instruction that an attacker planted for language models, or words for search engines. Methods
look at repetition and structure, so this step does not depend on the method.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import Bools, Ints, counted_before, prune
from domsieve.analysis.columns.hiding import HIDING_REASONS, hidden_media, hidden_texts
from domsieve.analysis.columns.visible import never_shown, shown_nodes
from domsieve.analysis.verdict import Verdict
from domsieve.snapshot.page import Snapshot
from domsieve.snapshot.pixels import cut_words
from domsieve.types import HiddenText


def drop_hidden(page: Snapshot, verdict: Verdict, *, hidden: HiddenText) -> Verdict:
    """Return the verdict with hidden text, pictures and players dropped, or hidden text kept inside kept content.

    Parameters
    ----------
    page, verdict : a page and the verdict on it.
    hidden : with ``"keep"``, a hidden text is kept if its nearest visible ancestor is. Otherwise all hidden text is
        dropped, and the reason says how it is hidden. Text that no browser shows, such as a ``title``, is always
        dropped, but does not count as hidden. A page for ``"pixels"`` has the column that `hidden_texts`
        uses, and other pages are without it.
    """
    hiding = hidden_texts(page)
    unseen = np.flatnonzero(hiding)
    kept, reason, score = verdict.kept.copy(), verdict.reason.copy(), verdict.score.copy()
    kept &= ~(never_shown(page) & (page.text >= 0))  # whatever the method
    if hidden == "keep":
        kept[unseen[kept[_shown_above(page, unseen)]]] = True
        kept = prune(kept, page.end)
    else:
        hiding = hiding + _empty_media(page, kept & (hiding == 0))
        unseen = np.flatnonzero(hiding)
        kept[unseen] = False
        reason[unseen] = len(verdict.reasons) + hiding[unseen] - 1
        score[unseen] = 0
    return replace(
        verdict,
        kept=kept,
        score=score,
        reason=reason,
        reasons=(*verdict.reasons, *HIDING_REASONS[1:]),
        parameters={**verdict.parameters, "hidden": hidden},
    )


def hidden_words(page: Snapshot, verdict: Verdict) -> int:
    """Return the number of words, separated by white space, that were dropped as hidden or cut from texts."""
    texts = np.flatnonzero(verdict.decided_by(HIDING_REASONS[1:]) & (page.text >= 0))
    words = sum(len(text.split()) for text in page.strings.take(page.text[texts].tolist()))
    return words + int(cut_words(page).sum())


def _empty_media(page: Snapshot, kept: Bools) -> NDArray[np.uint8]:
    """Return the `hidden_media` (N,) without those that have kept text in them."""
    before = counted_before(kept & (page.text >= 0))
    return np.where(before[page.end] == before[:-1], hidden_media(page), np.uint8(0))


def _shown_above(page: Snapshot, nodes: Ints) -> Ints:
    """Return the nearest visible ancestor of each node."""
    shown = shown_nodes(page)
    above = page.parent[nodes].astype(np.int64)
    while (hidden := ~shown[above] & (above > 0)).any():
        above[hidden] = page.parent[above[hidden]]
    return above
