"""The title of a page, chosen from all that the page says, and how a heading with it is kept.

It stands apart from the other fields because all text formats need it, and dates and authors take long to load.
"""

import re
from dataclasses import replace

import numpy as np

from domsieve.analysis.block_types.detection import DROPPED_BY_KIND
from domsieve.analysis.cleaning.page_widget_words import PERMALINK_MARKS
from domsieve.analysis.cleaning.page_widgets import WIDGET_REASONS
from domsieve.analysis.columns.batch import Bools, Ints, cached_per_page, counted_before, prune
from domsieve.analysis.columns.hiding import HIDING_REASONS
from domsieve.analysis.columns.page_columns import has_tag
from domsieve.analysis.columns.visible import never_shown
from domsieve.analysis.metadata._elements import Elements, Places, elements_of
from domsieve.analysis.metadata._json_ld import claim_json_ld, plain_address
from domsieve.analysis.metadata.markup import claim_links, claim_meta_tags, claim_microdata
from domsieve.analysis.metadata.values import LONGEST_TITLE, Claim, Claims, Metadata, clean_text
from domsieve.analysis.verdict import Verdict
from domsieve.budget import spending
from domsieve.snapshot.page import Snapshot

_PARTS = re.compile(r" [|•·»«:—–-]+ | ?[|»«] ?")
_PERMALINK = " \t#¶§🔗"
_MOST_HEADINGS = 20
_LEAST_TITLING = 20  # characters
_LEAST_ALIKE, _MOST_ALIKE = 50, 90  # similarity in percent. Guesses that worked on the development sites


def headings(elements: Elements) -> list[tuple[int, str]]:
    """Return the shown ``h1`` elements and their texts."""
    shown = []
    for node in elements.tagged("h1")[:_MOST_HEADINGS]:
        text = elements.shown_text(node, LONGEST_TITLE).rstrip(_PERMALINK)
        if text:
            shown.append((node, text))
    return shown


def document_title(elements: Elements) -> str:
    """Return the text of the ``title`` element, empty without one."""
    for node in elements.tagged("title"):
        if text := elements.text(node, LONGEST_TITLE):
            return text
    return ""


def folded_title(text: str) -> str:
    """Return a title for comparisons: only letters and digits, in lower case."""
    return " ".join("".join(c if c.isalnum() else " " for c in text.casefold()).split())


def choose_title(elements: Elements, claims: Claims) -> Claim:
    """Return the title of the page and its source, empty strings if there is none.

    The title is a heading whose text is part of the metadata or of the ``title`` element, unless it is the name of
    the site. Otherwise it is the title in the metadata without the name of the site, unless the only heading is a
    variant of that.
    """
    shown = headings(elements)
    whole = document_title(elements)
    stated = [claim for claim in claims.of("title") if not claim[1].startswith("json-ld WebPage")]
    if whole:
        stated.append((whole, "title"))
    site = _site_names(elements, claims)
    held = [(node, text) for node, text in shown if _is_held(text, stated) and folded_title(text) not in site]
    if held:
        first = folded_title(_parts(whole)[0]) if whole else ""
        begun = [text for _, text in held if first and folded_title(text).startswith(first)]
        return (begun or [held[0][1]])[0], "h1"
    best, source = _stated_title(stated, site)
    if shown:
        from rapidfuzz import fuzz  # imported late, because few pages need it

        heading = shown[0][1]
        own = folded_title(heading)
        alike = max(
            (fuzz.ratio(own, folded_title(part)) for text, _ in stated for part in (text, _parts(text)[0])),
            default=0,
        )
        if not best or (len(shown) == 1 and own not in site and _LEAST_ALIKE <= alike <= _MOST_ALIKE):
            return heading, "h1"
    return best, source


def _site_names(elements: Elements, claims: Claims) -> set[str]:
    """Return possible names of the site, folded: those in its metadata, and the last part of the ``title``."""
    names = [text for field in ("site_name", "organization", "publisher") for text, _ in claims.of(field)]
    folded = [folded_title(part) for part in _parts(document_title(elements))]
    if len(folded) > 1 and len(folded[-1]) < len("".join(folded[:-1])):
        names.append(folded[-1])
    return {folded_title(name) for name in names} - {"", folded[0]}


def _is_held(heading: str, stated: list[Claim]) -> bool:
    own = f" {folded_title(heading)} "
    return own != "  " and any(own in f" {folded_title(text)} " for text, _ in stated)


def _stated_title(stated: list[Claim], site: set[str]) -> Claim:
    """Return the first stated title without the name of the site."""
    for text, source in stated:
        parts = [part for part in _parts(text) if folded_title(part) not in site]
        if parts:
            return parts[0], source
    return stated[0] if stated else ("", "")


def _parts(text: str) -> list[str]:
    return [part for part in _PARTS.split(text) if part] or [text]


def title_node(elements: Elements, title: str) -> int:
    """Return the heading with the text of the title, else another text with it, else the first ``h1``, else 0."""
    own = folded_title(title)
    shown = headings(elements)
    for node, text in shown:
        if folded_title(text) == own:
            return node
    for node in elements.tagged("h2", "h3")[:_MOST_HEADINGS]:
        if own and folded_title(elements.shown_text(node, LONGEST_TITLE)) == own:
            return node
    return _titling_text(elements) or (shown[0][0] if shown else 0)


def _titling_text(elements: Elements) -> int:
    """Return the first shown text that begins the ``title`` element and is longer than the name of a site; else 0."""
    whole = document_title(elements)
    start = whole[:_LEAST_TITLING]
    for node in elements.shown.tolist() if len(start) == _LEAST_TITLING else []:
        text = clean_text(elements.page.text_of(node), LONGEST_TITLE)
        if text.startswith(start) and folded_title(whole).startswith(folded_title(text)):
            return int(node)
    return 0


@cached_per_page
def claims_of(page: Snapshot) -> Claims:
    """Return the explicit statements in the markup of a page."""
    elements, claims = elements_of(page), Claims()
    claim_links(elements, claims)
    claim_meta_tags(elements, claims)
    claim_json_ld(elements, claims, plain_address(page.provenance.final_url))
    claim_microdata(elements, claims)
    return claims


@cached_per_page
def title_of(page: Snapshot) -> Claim:
    """Return the title, cleaned, and its source."""
    title, source = choose_title(elements_of(page), claims_of(page))
    return clean_text(title, LONGEST_TITLE), source


@cached_per_page
def places_of(page: Snapshot) -> Places:
    """Return the distances of nodes from the title."""
    elements = elements_of(page)
    return Places(elements, title_node(elements, title_of(page)[0]))


def read_title(page: Snapshot) -> str:
    """Return the title of a page, as `read_metadata` does, without reading the rest.

    Raises
    ------
    BudgetError : the page exceeded its budget.
    """
    with spending("metadata", page.provenance.url):
        return title_of(page)[0]


TITLE_REASON = "the title of the page"
"""Reason in the verdict for nodes that are kept as the title."""
_FINAL = frozenset((*HIDING_REASONS[1:], *WIDGET_REASONS))  # nodes dropped for these reasons stay dropped
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


def _final(verdict: Verdict) -> Bools:
    """Return which of the N nodes stay dropped."""
    by_reason = [reason in _FINAL or reason.startswith(DROPPED_BY_KIND) for reason in verdict.reasons]
    return np.array(by_reason, np.bool_)[verdict.reason]


def restore_title(page: Snapshot, verdict: Verdict) -> Verdict:
    """Return the verdict with the heading kept that is the title in the page's metadata; see `keep_title`.

    Verdicts of method ``"none"``, of mode ``"paper"`` and of the complement of a region are returned unchanged.
    """
    if not verdict.may_be_refined:
        return verdict
    main = np.flatnonzero(has_tag(page, "h1"))
    if verdict.kept[main].all() or not _may_be_restored(page, verdict, main).any():
        return verdict
    return _with_title(page, verdict, read_title(page))


def _may_be_restored(page: Snapshot, verdict: Verdict, nodes: Ints) -> Bools:
    """Return which headings have text of which nothing is kept, and not all is dropped for good."""
    text = page.text >= 0
    kept, open_ = (counted_before(text & column) for column in (verdict.kept, ~_final(verdict)))
    end = page.end[nodes]
    return np.asarray((kept[end] == kept[nodes]) & (open_[end] > open_[nodes]))


def keep_title(page: Snapshot, verdict: Verdict, metadata: Metadata) -> Verdict:
    """Return the verdict with the main heading kept that is the title of the page.

    The verdict is unchanged if it keeps no text at all or already keeps a heading with this text, if no ``h1`` has
    this text, and if that ``h1`` is hidden, a page widget, or in a block of a dropped type.

    Parameters
    ----------
    page : the page.
    verdict : verdict of a method on this page.
    metadata : metadata of the page.
    """
    return _with_title(page, verdict, metadata.title)


def _with_title(page: Snapshot, verdict: Verdict, wanted: str) -> Verdict:
    title = folded_title(wanted)
    text = page.text >= 0
    if not title or not (verdict.kept & text).any():
        return verdict
    elements = elements_of(page)
    shown, final = text & ~never_shown(page), _final(verdict)
    found: list[int] = []
    for node in elements.tagged(*_HEADINGS):
        if folded_title(elements.shown_text(node, LONGEST_TITLE)) != title:
            continue
        inside = np.flatnonzero(shown[node : page.end[node]]) + node
        if verdict.kept[inside].any():
            return verdict
        if not found and elements.tag(node) == "h1":
            candidates = inside[~final[inside]].tolist()
            found = [n for n in candidates if page.text_of(n).strip() not in PERMALINK_MARKS]
    if not found:
        return verdict
    kept, score, reason = verdict.kept.copy(), verdict.score.copy(), verdict.reason.copy()
    kept[found] = True
    kept |= prune(kept, page.end)
    score[found] = 1
    reason[found] = len(verdict.reasons)
    return replace(verdict, kept=kept, score=score, reason=reason, reasons=(*verdict.reasons, TITLE_REASON))
