"""What happens to every verdict after the method: the document is kept together, hidden text and widgets go."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from domsieve.analysis.block_types.detection import (
    DROPPED_BY_KIND,
    EVERY_METHOD_DECIDES,
    KindChoice,
    apply_kinds,
)
from domsieve.analysis.cleaning.hidden_text import drop_hidden
from domsieve.analysis.cleaning.page_widgets import drop_widgets
from domsieve.analysis.document.damage import with_warnings
from domsieve.analysis.document.joint_choice import with_structure
from domsieve.analysis.document.media import with_media
from domsieve.analysis.page_flags.flags import Mark, described, missing_mark, page_marks
from domsieve.analysis.registry import Method, page_cleaner
from domsieve.analysis.verdict import Verdict
from domsieve.analysis.writers.text import write_text
from domsieve.snapshot.fault import fault_of
from domsieve.snapshot.page import Snapshot
from domsieve.types import HiddenText

# The methods to use if a method keeps nothing, in this order.
_NEXT_BEST: tuple[Method, ...] = ("auto", "none")
_SURELY_TEXT = 20  # kept texts with letters or digits; of fewer it is seen what is written


def judged(
    page: Snapshot,
    judge: Callable[[Snapshot], Verdict],
    *,
    hidden: HiddenText,
    may_change: bool,
    kinds: KindChoice = EVERY_METHOD_DECIDES,
) -> Verdict:
    """Return the final verdict on a page; if the method keeps nothing, that of the next best method.

    Blocks that are kept or dropped by their type do not count for that.

    Parameters
    ----------
    page : the page.
    judge : the method.
    hidden : see `drop_hidden`.
    may_change : whether another method may be used.
    kinds : the types of blocks that are kept or dropped, whatever the method decides.
    """
    said = judge(page)
    first = without_extras(page, said, hidden=hidden)
    if may_change and not keeps_text(page, first):
        for name in _NEXT_BEST:
            if name != first.method:
                said_next = page_cleaner(name)(page)
                other = without_extras(page, said_next, hidden=hidden)
                if keeps_text(page, other):
                    said = said_next
                    first = replace(other, instead_of=first.method, known_share=first.known_share)
                    break
    if not kinds:
        return first
    whole = without_extras(page, said, hidden=hidden, kinds=kinds)
    return replace(whole, instead_of=first.instead_of, known_share=first.known_share)


def without_extras(
    page: Snapshot, verdict: Verdict, *, hidden: HiddenText, kinds: KindChoice = EVERY_METHOD_DECIDES
) -> Verdict:
    """Return the verdict with the parts of the document kept together, without widgets and hidden text.

    With `hidden` ``"keep"``, hidden text stays. Types of blocks that are kept are kept even if they are widgets, but
    not if they are hidden.
    """
    document = drop_widgets(page, with_media(page, with_structure(page, verdict)))
    return drop_hidden(page, apply_kinds(page, document, kinds), hidden=hidden)


def keeps_text(page: Snapshot, verdict: Verdict) -> bool:
    """Return whether any kept text has a letter or digit."""
    kept = np.flatnonzero(verdict.kept & (page.text >= 0)).tolist()
    worded = 0
    for node in kept:
        worded += any(map(str.isalnum, page.text_of(node)))
        if worded == _SURELY_TEXT:
            return True
    return worded > 0 and any(map(str.isalnum, write_text(page, verdict)))


def with_condition(
    page: Snapshot, verdict: Verdict, missing: Callable[[Snapshot], Snapshot | None] = lambda _: None
) -> Verdict:
    """Return the verdict with the fault of the page, if it was used in spite of one, its marks and its warnings."""
    return replace(with_warnings(page, verdict), fault=fault_of(page), marks=marks_of(page, missing))


def marks_of(page: Snapshot, missing: Callable[[Snapshot], Snapshot | None]) -> tuple[Mark, ...]:
    """Return the marks of a page; `missing` returns the page that its site shows at addresses without a page."""
    marks = page_marks(page)
    if any(mark.kind == "soft_404" for mark in marks):
        return marks
    model = missing(page)
    mark = None if model is None else missing_mark(page, model)
    return (*marks, mark) if mark else marks


def remarks(page: Snapshot, verdict: Verdict | None = None) -> list[str]:
    """Return warnings for readers of a result, one sentence each; empty for most pages.

    Without a `verdict`, the warnings are about the page alone.
    """
    fault, marks = (fault_of(page), page_marks(page)) if verdict is None else (verdict.fault, verdict.marks)
    said: list[str] = []
    if fault:
        said.append(f"It counts as failed: {fault.detail}")
    elif not page.provenance.complete:
        said.append(f"It is incomplete: {'; '.join(page.provenance.reasons).removesuffix('.')}.")
    said += [f"It looks like {described(mark)}." for mark in marks]
    if verdict is None:
        return said
    if verdict.instead_of:
        said.append(
            f"The method {verdict.instead_of} keeps nothing of it; {verdict.method} was taken instead."
        )
    elif not keeps_text(page, verdict):
        said.append(f"Nothing of it is kept: {_why_nothing(page, verdict)}.")
    return said + [warning.detail for warning in verdict.warnings]


def how_loaded(page: Snapshot) -> str:
    """Return whether a page was rendered or only fetched, and why; empty if there was no choice."""
    origin = page.provenance
    if not origin.reason:
        return ""
    return f"{'rendered' if page.has_layout else 'fetched'}; {origin.reason}"


def _why_nothing(page: Snapshot, verdict: Verdict) -> str:
    reasons = np.unique(verdict.reason[page.text >= 0]).tolist()
    if any(verdict.reasons[number].startswith(DROPPED_BY_KIND) for number in reasons):
        return "what the method keeps is of a kind that is dropped"
    if any(map(str.isalnum, write_text(page, page_cleaner("none")(page)))):
        return "the method keeps none of its text, or nobody can see it"
    if not page.has_layout and "script" in page.tags.to_list():
        return "its source shows no text, which scripts may bring when it is rendered"
    return "it shows no text"
