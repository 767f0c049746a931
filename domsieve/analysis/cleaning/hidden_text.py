"""Takes out of a verdict, or puts back, what a person cannot see: one step behind every method.

Hidden text is where instructions to language models are planted, and where sites keep what search engines alone are
meant to read. Methods judge by repetition and structure, so this is decided apart from them.
"""

from dataclasses import replace

import numpy as np

from domsieve.analysis.columns.batch import Ints, prune
from domsieve.analysis.columns.hidden import HIDING_REASONS, hidden_texts
from domsieve.analysis.columns.visible import shown_nodes
from domsieve.analysis.verdict import Verdict
from domsieve.snapshot.page import Snapshot


def judge_hidden(page: Snapshot, verdict: Verdict, *, keep: bool) -> Verdict:
    """Return the verdict with the hidden texts of the page dropped, or kept where the element around them is.

    Parameters
    ----------
    page, verdict : a page and what a method says of it.
    keep : whether a hidden text shares the fate of the nearest element around it that is shown. Else it is dropped,
        and the reason is how it is hidden.
    """
    hiding = hidden_texts(page)
    hidden = np.flatnonzero(hiding)
    kept, reason, score = verdict.kept.copy(), verdict.reason.copy(), verdict.score.copy()
    if keep:
        kept[hidden[kept[_shown_above(page, hidden)]]] = True
        kept = prune(kept, page.end)
    else:
        kept[hidden] = False
        reason[hidden] = len(verdict.reasons) + hiding[hidden] - 1
        score[hidden] = 0
    return replace(
        verdict,
        kept=kept,
        score=score,
        reason=reason,
        reasons=(*verdict.reasons, *HIDING_REASONS[1:]),
        parameters={**verdict.parameters, "keep_hidden": keep},
    )


def hidden_words(page: Snapshot, verdict: Verdict) -> int:
    """Return the number of words that `judge_hidden` dropped, parted by white space."""
    hiding = [number for number, reason in enumerate(verdict.reasons) if reason in HIDING_REASONS[1:]]
    texts = np.flatnonzero(np.isin(verdict.reason, hiding) & (page.text >= 0))
    return sum(len(text.split()) for text in page.strings.take(page.text[texts].tolist()))


def _shown_above(page: Snapshot, nodes: Ints) -> Ints:
    """Return the nearest node above each that is shown."""
    shown = shown_nodes(page)
    above = page.parent[nodes].astype(np.int64)
    while (lost := ~shown[above] & (above > 0)).any():
        above[lost] = page.parent[above[lost]]
    return above
