"""What the style sheets of an open page mention, for what pictures of a page cannot show as readers see it."""

import asyncio
import re
from collections.abc import Collection
from itertools import chain, pairwise
from typing import Any

from domsieve.renderer.page.pixels._css_text import uncommented, unescaped
from domsieve.renderer.page.pixels._page import OpenPage
from domsieve.renderer.page.pixels.pixel_capture import PixelCapture

# A guess: servers that are still asked for sheets answer in this time.
_RELOAD_S = 2.0
# More characters than these are not read: the sheets may mention anything.
_MOST_CHARACTERS = 20_000_000
PICTURED_PARTS = "pictures of parts of elements"
"""`mentioned` says so if there may be some, other than of those parts that captures have."""
STYLE_QUERIES = "queries of styles"
"""`mentioned` says so if there may be any: conditions that custom properties fulfil, which animations may change."""
SCRIPTING_QUERIES = "queries of scripting"
"""`mentioned` says so if there may be any: conditions on whether scripts are on."""
_STYLE_QUERY = re.compile(r"(?<![\w-])style\(")
_SCRIPTING_QUERY = re.compile(r"\(\s*+scripting\s*+[:)]")
# Pseudo-elements: https://www.w3.org/TR/selectors-4/#pseudo-element-syntax
_PART = re.compile(r"::([a-z-]+)|:(first-line|first-letter)")
_CAPTURED = frozenset({"before", "after", "marker", "part", "slotted"})
# These have no pictures, or are of other browsers.
_PLAIN = "selection", "placeholder", "-webkit-scrollbar", "-moz-", "-ms-"
_PICTURES = "url(", "image-set(", "var("


async def mentioned(
    page: OpenPage,
    capture: PixelCapture,
    words: Collection[str],
    otherwise: Collection[str],
    lost: Collection[str],
) -> frozenset[str]:
    """Return which of some words occur in the style sheets of a page or in attributes of its elements.

    The sheets of all frames and of all shadow trees are read, also those that scripts have made or changed.

    Parameters
    ----------
    words : names of CSS, in lower case.
    otherwise : those that count as found if the browser cannot load a sheet again, or if the sheets are too long.
    lost : the addresses of sheets that no server has sent, which therefore mention nothing.
    """
    session, texts = page.session, [_attributes(capture), *await page.ask_all("besides")]
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
            return frozenset(otherwise)
        names = [{"styleSheetId": header["styleSheetId"]} for header in headers]
        sheets = await asyncio.gather(*(session.send("CSS.getStyleSheetText", name) for name in names))
        texts += [sheet["text"] for sheet in sheets]
    finally:
        session.off("CSS.styleSheetAdded", take)
        await asyncio.gather(session.send("CSS.disable"), session.send("DOM.disable"))
    # What are comments is clear in style sheets, but not in attributes.
    plain = [unescaped(one).lower() for text in texts for one in {text, uncommented(text)}]
    found = {word for word in words if any(word in text for text in plain)}
    if any(map(_has_pictured_parts, plain)):
        found.add(PICTURED_PARTS)
    if any(map(_STYLE_QUERY.search, plain)):
        found.add(STYLE_QUERIES)
    if any(map(_SCRIPTING_QUERY.search, plain)):
        found.add(SCRIPTING_QUERIES)
    if any([header.get("loadingFailed") and not await page.is_empty(header, lost) for header in headers]):
        found.update(otherwise)
    return frozenset(found)


def _has_pictured_parts(css: str) -> bool:
    is_part = False
    for before, inside in pairwise(css.split("{")):
        is_nested = is_part and "}" not in before  # in a rule like `@media`, of the same part
        names = {name for pair in _PART.findall(before.rpartition("}")[2]) for name in pair if name}
        is_part = is_nested or any(not name.startswith(_PLAIN) for name in names - _CAPTURED)
        if is_part and any(word in inside.partition("}")[0] for word in _PICTURES):
            return True
    return False


def _attributes(capture: PixelCapture) -> str:
    """Return the values of all attributes of a page."""
    found: set[int] = set()
    for document in capture.documents:
        found.update(chain.from_iterable(flat[1::2] for flat in document.nodes.attributes))
    return "\n".join(capture.strings[number] for number in sorted(found) if number >= 0)
