"""What the style sheets of an open page mention, for what pictures of a page cannot show as readers see it."""

import asyncio
import re
from collections.abc import Collection, Iterable, Sequence
from itertools import chain, pairwise
from typing import Any, NamedTuple

from domsieve.renderer.page.pixels._common_css import (
    COMMON_PROPERTIES,
    COMMON_RULES,
    COMMON_SELECTORS,
    RARE_FUNCTIONS,
)
from domsieve.renderer.page.pixels._css_text import uncommented, unescaped
from domsieve.renderer.page.pixels._page import OpenPage
from domsieve.renderer.page.pixels.pixel_capture import PixelCapture

# A guess: servers that are still asked for sheets answer in this time.
_RELOAD_S = 2.0
# More characters than these are not read: the sheets may mention anything.
_MOST_CHARACTERS = 20_000_000
PICTURED_PARTS = "pictures of parts of elements"
"""`mentioned` says so if there may be some, other than of those parts that captures have."""
SCRIPTING_QUERIES = "queries of scripting"
"""`mentioned` says so if there may be any: conditions on whether scripts are on."""
_SCRIPTING_QUERY = re.compile(r"\(\s*+scripting\s*+[:)]")
# Pseudo-elements: https://www.w3.org/TR/selectors-4/#pseudo-element-syntax
_PART = re.compile(r"::([a-z-]+)|:(first-line|first-letter)")
_CAPTURED = frozenset({"before", "after", "marker", "part", "slotted"})
# These have no pictures, or are of other browsers.
_PLAIN = "selection", "placeholder", "-webkit-scrollbar", "-moz-", "-ms-"
_PICTURES = "url(", "image-set(", "var("
# Names of CSS wherever they may be one. What the browser does not know is none.
_PROPERTY = re.compile(r"(?<![\w@.#:&-])(?:-webkit-)?([a-z][a-z-]*+)\s*+:(?!:)")
_SELECTOR = re.compile(r"(::?[a-z][a-z-]*+)")
_RULE = re.compile(r"@([a-z][a-z-]*+)")
_SHOWN = re.compile(r"(?<![\w-])(?:display|content-visibility)\s*+:")
# What makes letters transparent, and may be forbidden.
_FORCED = re.compile(
    r"(?:background|clip|color|fill|overflow|shadow|stroke)[a-z-]{0,30}+\s*+:[^;{}!]{0,999}+!\s*+important"
)
_FUNCTION = re.compile(r"(?<![\w-])(?:-webkit-)?([a-z][a-z-]*+)\(")
# More names than these are not looked up: no page needs them.
_MOST_NAMES = 20_000


class Mentioned(NamedTuple):
    """What `mentioned` finds.

    Attributes
    ----------
    words : which of the words occur.
    doubt : what they have that pictures may not follow, since hardly any page has it; "" if there is nothing.
    """

    words: frozenset[str]
    doubt: str


async def mentioned(
    page: OpenPage,
    capture: PixelCapture,
    words: Collection[str],
    otherwise: Collection[str],
    lost: Collection[str],
) -> Mentioned:
    """Return which of some words occur in the style sheets of a page or in attributes of its elements.

    The sheets of all frames and of all shadow trees are read, also those that scripts have made or changed.

    Parameters
    ----------
    words : names of CSS, in lower case.
    otherwise : those that count as found if the browser cannot load a sheet again, or if the sheets are too long.
    lost : the addresses of sheets that no server has sent, which therefore mention nothing.
    """
    session, besides = page.session, [_attributes(capture), *await page.ask_all("besides")]
    inline = [_attributes(capture, "style"), *chain(*await page.ask_all("animated"))]
    headers: list[dict[str, Any]] = []

    def take(event: dict[str, Any]) -> None:
        headers.append(event["header"])

    session.on("CSS.styleSheetAdded", take)
    try:
        await session.send("DOM.enable")
        opening = asyncio.ensure_future(session.send("CSS.enable"))
        # The browser loads sheets again that it must not keep.
        if not (await asyncio.wait([opening], timeout=_RELOAD_S))[0]:
            await session.send("Page.stopLoading")
        await opening
        if sum(header["length"] for header in headers) > _MOST_CHARACTERS:
            return Mentioned(frozenset(otherwise), "style sheets are too long to be read")
        names = [{"styleSheetId": header["styleSheetId"]} for header in headers]
        sheets = await asyncio.gather(*(session.send("CSS.getStyleSheetText", name) for name in names))
    finally:
        session.off("CSS.styleSheetAdded", take)
        await asyncio.gather(session.send("CSS.disable"), session.send("DOM.disable"))
    own = _plain(sheet["text"] for sheet in sheets)
    plain = own + _plain(besides)
    found = {word for word in words if any(word in text for text in plain)}
    if any(map(_has_pictured_parts, plain)):
        found.add(PICTURED_PARTS)
    if any(map(_SCRIPTING_QUERY.search, plain)):
        found.add(SCRIPTING_QUERIES)
    if any([header.get("loadingFailed") and not await page.is_empty(header, lost) for header in headers]):
        return Mentioned(frozenset({*found, *otherwise}), "style sheets cannot be read")
    styles = own + _plain(inline)
    rare = await _rare(page, styles) or ["display in @keyframes"] * any(map(_shows, styles))
    rare = rare or ["important styles of letters in @layer"] * any(map(_forces, own))
    return Mentioned(frozenset(found), f"hardly any page has {rare[0]}" if rare else "")


def _plain(texts: Iterable[str]) -> list[str]:
    """Return texts in lower case without escapes, with and without comments: attributes may have none."""
    return [unescaped(one).lower() for text in texts for one in {text, uncommented(text)}]


async def _rare(page: OpenPage, texts: Sequence[str]) -> list[str]:
    """Return which names of CSS occur in style sheets that the browser knows, but hardly any page has."""
    ways = (_PROPERTY.findall, _SELECTOR.findall, _RULE.findall, _FUNCTION.findall)
    properties, selectors, rules, functions = (
        {name for text in texts for name in found(text)} for found in ways
    )
    rare = (properties - COMMON_PROPERTIES, selectors - COMMON_SELECTORS, rules - COMMON_RULES)
    known = await page.call(0, "known", *(sorted(names)[:_MOST_NAMES] for names in rare))
    return [*known, *(f"{name}()" for name in sorted(functions & RARE_FUNCTIONS))]


def _shows(css: str) -> bool:
    """Return whether key frames change whether elements are shown at all."""
    for rule in css.split("keyframes")[1:]:
        depth = 0
        for piece in rule.split("}"):
            depth += piece.count("{") - 1
            if _SHOWN.search(piece):
                return True
            if depth <= 0:
                break
    return False


def _forces(css: str) -> bool:
    """Return whether a layer has important styles of letters, which no style sheet beats that comes later."""
    if any("layer" in rule.partition(";")[0] for rule in css.split("@import")[1:]):
        return True
    for rule in css.split("@layer")[1:]:
        names, _, block = rule.partition("{")
        depth = 1 if ";" not in names else 0
        for piece in block.split("}") if depth else ():
            if _FORCED.search(piece):
                return True
            depth += piece.count("{") - 1
            if depth <= 0:
                break
    return False


def _has_pictured_parts(css: str) -> bool:
    is_part = False
    for before, inside in pairwise(css.split("{")):
        is_nested = is_part and "}" not in before  # in a rule like `@media`, of the same part
        names = {name for pair in _PART.findall(before.rpartition("}")[2]) for name in pair if name}
        is_part = is_nested or any(not name.startswith(_PLAIN) for name in names - _CAPTURED)
        if is_part and any(word in inside.partition("}")[0] for word in _PICTURES):
            return True
    return False


def _attributes(capture: PixelCapture, name: str = "") -> str:
    """Return the values of all attributes of a page, or of those with one name."""
    found: set[int] = set()
    for document in capture.documents:
        pairs = chain.from_iterable(
            zip(flat[::2], flat[1::2], strict=True) for flat in document.nodes.attributes
        )
        found.update(value for key, value in pairs if not name or capture.strings[key].lower() == name)
    return "\n".join(capture.strings[number] for number in sorted(found) if number >= 0)
