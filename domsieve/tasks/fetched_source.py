"""A fetched page as far as it has been looked at, and what it shows together with its rendered version."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.auto.cleaner import floating_nodes
from domsieve.analysis.browser_need.signs import depends_on_content, signs_of, visible_words
from domsieve.analysis.browser_need.site_evidence import Lesson
from domsieve.analysis.browser_need.source_parts import scripts_of, source_parts
from domsieve.analysis.browser_need.style_chains import (
    SeenChains,
    StyleChains,
    hidden_by_chain,
    seen_chains,
    style_chains,
    without_texts,
)
from domsieve.analysis.browser_need.sufficiency import compare_source
from domsieve.analysis.columns.batch import Bools
from domsieve.analysis.columns.page_columns import page_texts
from domsieve.analysis.columns.visible import shown_nodes
from domsieve.analysis.compare.raw_visibility import when_rendered
from domsieve.analysis.registry import page_cleaner
from domsieve.analysis.verdict import Verdict
from domsieve.budget import Meter
from domsieve.errors import BudgetError
from domsieve.renderer.html_parser.misnesting import is_misnested
from domsieve.renderer.protocol import Rendering
from domsieve.snapshot.fault import fault_of
from domsieve.snapshot.page import Snapshot
from domsieve.tasks.postprocess import judged
from domsieve.tasks.style_context import StyleContext

MAY_HIDE = "style sheets may hide a part of its text"
"""Why a page is rendered that has texts which were never seen visible."""
_MISNESTED = "browsers mend its tags in another way"
LEAST_ALIKE = 0.98
"""The least word F1 between what cleaning keeps of a page with, and without, the texts that may be hidden."""
_SURELY_DRAWN = 0.5
"""A source with a sign and less than this share of the rendered page's words need not be compared; a guess."""


@dataclass(slots=True)
class FetchedSource:
    """A fetched page, as far as it has been looked at.

    Parameters
    ----------
    rendering : the page; None if it could not be fetched.
    signs : signs that it needs a browser.
    depends : whether cleaning it may show more signs.
    context : its style sheets; None if they were not looked at.
    chains : its chains.
    scripts : see `scripts_of`.
    verdict : what the default method keeps of it, once that was asked for.
    """

    rendering: Rendering | None = None
    signs: tuple[str, ...] = ()
    depends: bool = False
    context: StyleContext | None = None
    chains: StyleChains | None = None
    scripts: frozenset[int] = frozenset()
    verdict: Verdict | None = None

    def clean(self) -> Verdict:
        """Return what the default method keeps of the page; it is cleaned only once.

        Raises
        ------
        BudgetError : the page exceeded its budget.
        """
        assert self.rendering
        if self.verdict is None:
            page = self.rendering.snapshot
            with Meter(page.provenance.url).running("decide"):
                self.verdict = _verdict(page)
        return self.verdict

    def depends_on(self, doubtful: Bools, *, hidden: Bools) -> bool:
        """Return whether what is kept of the page depends on texts of which nobody knows whether they are visible.

        It does if one of them is kept. It also does if cleaning chooses other texts once they are gone: without its
        menus, more of a page looks like content.

        Parameters
        ----------
        doubtful : (N,), these texts.
        hidden : (N,), texts that are known to be hidden; they do not count.

        Raises
        ------
        BudgetError : the page exceeded its budget.
        """
        assert self.rendering
        if not doubtful.any():
            return False
        if np.any(doubtful & self.clean().kept):
            return True
        page = self.rendering.snapshot
        with Meter(page.provenance.url).running("decide"):
            whole = _verdict(without_texts(page, hidden)) if hidden.any() else self.clean()
            left = _verdict(without_texts(page, hidden | doubtful))
            texts = page_texts(page)
            before, after = whole.kept[texts.node] & ~doubtful[texts.node], left.kept[texts.node]
            common, *all_kept = (int(texts.words[kept].sum()) for kept in (before & after, before, after))
        return 2 * common < LEAST_ALIKE * sum(all_kept)

    def look_closer(self) -> None:
        """Look for the signs that only cleaning shows.

        Raises
        ------
        BudgetError : the page exceeded its budget.
        """
        assert self.rendering
        parts = source_parts(self.rendering.source or b"")
        self.signs = signs_of(self.rendering.snapshot, parts, self.clean())


def _verdict(page: Snapshot) -> Verdict:
    return judged(page, page_cleaner("auto"), hidden="layout", may_change=True)


def looked_at(raw: Rendering, context: StyleContext) -> FetchedSource:
    """Return a fetched page with the signs that its source shows, and its chains.

    Raises
    ------
    BudgetError : the page exceeded its budget.
    """
    page = raw.snapshot
    with Meter(page.provenance.url).running("decide"):
        parts = source_parts(raw.source or b"")
        signs = signs_of(page, parts)
        if not signs and is_misnested(
            raw.source or b"", url=page.provenance.url, content_type=page.provenance.content_type
        ):
            signs = (_MISNESTED,)
        depends = not signs and depends_on_content(page, parts)
        chains = style_chains(page, context.rules)
        return FetchedSource(raw, signs, depends, context, chains, scripts_of(page, parts))


def nothing_learned(url: str, prefix: str, source: FetchedSource, rendered: Snapshot) -> Lesson:
    """Return that a page was rendered, without looking at it."""
    return Lesson(
        url=url,
        prefix=prefix,
        outcome="unknown",
        why=source.signs[0],
        had_signs=True,
        browser=rendered.provenance.browser,
    )


def styles_learned(url: str, prefix: str, source: FetchedSource, rendered: Snapshot) -> Lesson | None:
    """Return only which chains of a page are visible; audits compare the content."""
    if fault_of(rendered) or not (source.rendering and source.chains and source.context):
        return None
    raw = source.rendering.snapshot
    try:
        with Meter(url).running("decide"):
            seen = seen_chains(raw, source.chains, _when_kept(raw, rendered))
    except BudgetError:
        return None
    return Lesson(
        url=url,
        prefix=prefix,
        outcome="unknown",
        why=MAY_HIDE,
        had_signs=True,
        context=source.context.key,
        boxes=tuple(sorted(source.chains.boxes)),
        scripts=tuple(sorted(source.scripts)),
        browser=rendered.provenance.browser,
        **seen,
    )


def lesson_of(url: str, prefix: str, source: FetchedSource, rendered: Snapshot) -> Lesson | None:
    """Return what the two versions of a page show; None if they cannot be compared."""
    if fault_of(rendered):
        return None
    drawn = Lesson(
        url=url,
        prefix=prefix,
        outcome="needed",
        why=source.signs[0] if source.signs else "",
        had_signs=True,
        browser=rendered.provenance.browser,
    )
    if source.rendering is None or source.chains is None:
        return drawn
    raw = source.rendering.snapshot
    if source.signs and visible_words(raw) < _SURELY_DRAWN * _boxed_words(rendered):
        return drawn
    try:
        with Meter(url).running("decide"):
            seen = seen_chains(raw, source.chains, _when_kept(raw, rendered))
            # Compared is what would be left of the source, with the hidden text known.
            hidden = frozenset(seen["hidden"]).difference(seen["visible"])
            known = hidden_by_chain(raw, source.chains, SeenChains(hidden=hidden))
            left = without_texts(raw, known)
            raw_verdict = _verdict(left) if known.any() or source.verdict is None else source.verdict
            result = compare_source(left, rendered, raw_verdict=raw_verdict, verdict=_verdict(rendered))
    except BudgetError:
        return None
    return Lesson(
        url=url,
        prefix=prefix,
        outcome=result.outcome,
        why=result.why,
        had_signs=bool(source.signs),
        context=source.context.key if source.context else "",
        boxes=tuple(sorted(source.chains.boxes)),
        scripts=tuple(sorted(source.scripts)),
        browser=rendered.provenance.browser,
        **seen,
    )


def _when_kept(raw: Snapshot, rendered: Snapshot) -> NDArray[np.uint8]:
    """Return what becomes of the texts of a source; those that cleaning drops by their layout count as gone."""
    return when_rendered(raw, rendered, dropped=floating_nodes(rendered, shown_nodes(rendered)))


def _boxed_words(page: Snapshot) -> int:
    texts = page_texts(page)
    return int(texts.words[shown_nodes(page)[texts.node]].sum())
