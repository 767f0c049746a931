"""The heading that is the title of the page, kept where a method dropped it. Imports the metadata and the verdict."""

from dataclasses import replace

import numpy as np

from domsieve.analysis.cleaning.furniture import FURNITURE_REASONS
from domsieve.analysis.cleaning.furniture_words import PERMALINK_MARKS
from domsieve.analysis.columns.batch import prune
from domsieve.analysis.columns.hidden import HIDING_REASONS
from domsieve.analysis.kinds.judging import DROPPED_BY_KIND
from domsieve.analysis.metadata.elements import elements_of
from domsieve.analysis.metadata.reading import read_title
from domsieve.analysis.metadata.titles import folded_title
from domsieve.analysis.metadata.values import LONGEST_TITLE, Metadata
from domsieve.analysis.verdict import Verdict
from domsieve.snapshot.page import Snapshot

TITLE_REASON = "the title of the page"
"""The reason of the verdict on what is kept as the title."""

_SETTLED = frozenset((*HIDING_REASONS[1:], *FURNITURE_REASONS))  # what is dropped for these stays so
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


def _is_settled(reason: str) -> bool:
    return reason in _SETTLED or reason.startswith(DROPPED_BY_KIND)


def judge_title(page: Snapshot, verdict: Verdict) -> Verdict:
    """Return the verdict with the title of the page kept, by what the page says that its title is.

    A verdict that keeps everything (method ``"none"``), one of ``paper`` mode, and one that keeps what the main
    region leaves stay as they are.
    """
    parameters = verdict.parameters
    if verdict.method == "none" or parameters.get("mode") == "paper" or parameters.get("complement"):
        return verdict
    names = page.tags.to_list()
    main = np.flatnonzero(np.array([name == "h1" for name in names])[page.tag])
    if verdict.kept[main].all():
        return verdict
    return _with_title(page, verdict, read_title(page))


def keep_title(page: Snapshot, verdict: Verdict, metadata: Metadata) -> Verdict:
    """Return the verdict with the main heading kept that is the title of the page.

    Nothing changes where the verdict keeps a heading that says the same, or keeps nothing at all; where the title is
    no main heading; and where the heading is hidden, furniture, or of a kind that is dropped.
    """
    return _with_title(page, verdict, metadata.title)


def _with_title(page: Snapshot, verdict: Verdict, said: str) -> Verdict:
    title = folded_title(said)
    text = page.text >= 0
    if not title or not (verdict.kept & text).any():
        return verdict
    elements = elements_of(page)
    settled = np.isin(verdict.reason, [n for n, why in enumerate(verdict.reasons) if _is_settled(why)])
    found: list[int] = []
    for node in elements.tagged(*_HEADINGS):
        if folded_title(elements.shown_text(node, LONGEST_TITLE)) != title:
            continue
        inside = np.flatnonzero(text[node : page.end[node]]) + node
        if verdict.kept[inside].any():
            return verdict
        if not found and elements.tag(node) == "h1":
            wanted = inside[~settled[inside]].tolist()
            found = [n for n in wanted if page.text_of(n).strip() not in PERMALINK_MARKS]
    if not found:
        return verdict
    kept, score, reason = verdict.kept.copy(), verdict.score.copy(), verdict.reason.copy()
    kept[found] = True
    kept |= prune(kept, page.end)
    score[found] = 1
    reason[found] = len(verdict.reasons)
    return replace(verdict, kept=kept, score=score, reason=reason, reasons=(*verdict.reasons, TITLE_REASON))
