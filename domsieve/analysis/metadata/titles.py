"""Choose the title of a page from its headings, its metadata and its ``title`` element."""

import re

from domsieve.analysis.metadata.elements import Elements
from domsieve.analysis.metadata.values import LONGEST_TITLE, Claim, Claims

_PARTS = re.compile(r" [|•·»«:—–-]+ | ?[|»«] ?")
_PERMALINK = " \t#¶§🔗"
_MOST_HEADINGS = 20
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
    """Return the heading with the text of the title, or else the first ``h1``; 0 if there is none."""
    own = folded_title(title)
    shown = headings(elements)
    for node, text in shown:
        if folded_title(text) == own:
            return node
    for node in elements.tagged("h2", "h3")[:_MOST_HEADINGS]:
        if own and folded_title(elements.shown_text(node, LONGEST_TITLE)) == own:
            return node
    return shown[0][0] if shown else 0
