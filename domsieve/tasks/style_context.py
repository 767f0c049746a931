"""The style sheets of a fetched page: fetched once per run, and their rules that may hide text."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from domsieve.analysis.browser_need.hiding_rules import (
    UNKNOWN_SHEETS,
    HidingRules,
    imported_sheets,
    style_links,
)
from domsieve.files import digest_of
from domsieve.snapshot.page import Snapshot
from domsieve.urls import join_url

MOST_SHEET_BYTES = 2_000_000
_MOST_SHEETS = 40
_MOST_KEPT = 500
_MOST_KEPT_BYTES = 32_000_000  # of style sheets of a site
_DEPTH = 3

FetchFile = Callable[[str], Awaitable[bytes | None]]


@dataclass(frozen=True, slots=True)
class StyleContext:
    """The style sheets of a page.

    Parameters
    ----------
    key : hash of the contents of all style sheets; pages with equal keys are styled alike.
    rules : their rules that may hide text.
    """

    key: str
    rules: HidingRules


class StyleSheets:
    """Returns the style contexts of pages; each style sheet is fetched once.

    Parameters
    ----------
    fetch : returns a style sheet, or None if it cannot be fetched.
    """

    def __init__(self, fetch: FetchFile) -> None:
        self._fetch = fetch
        self._sheets: dict[str, asyncio.Future[bytes | None]] = {}
        self._contexts: dict[str, StyleContext] = {}
        self._bytes = 0

    async def context(self, page: Snapshot, styles: tuple[bytes, ...]) -> StyleContext:
        """Return the style context of a page.

        If a style sheet cannot be read, every tag, class, id and attribute of the page counts.

        Parameters
        ----------
        page : the parsed source.
        styles : the content of its ``style`` elements.
        """
        wanted = style_links(page)
        base = page.provenance.final_url
        found: dict[str, bytes | None] = {}
        await self._add([*wanted, *_imports(styles, base)], found, _DEPTH)
        inline = [digest_of(style) for style in styles]
        # Copies of a style sheet under several addresses are one; of those that cannot be read, only these are known.
        linked = [f"? {url}" if sheet is None else digest_of(sheet) for url, sheet in found.items()]
        key = digest_of(repr((linked, inline)).encode("utf-8", "replace"))
        if key not in self._contexts:
            if len(self._contexts) >= _MOST_KEPT:
                self._contexts.clear()
            sheets = [sheet for sheet in found.values() if sheet is not None]
            rules = UNKNOWN_SHEETS
            if len(sheets) == len(found):
                rules = await asyncio.to_thread(HidingRules.of, [*sheets, *styles])
            self._contexts[key] = StyleContext(key, rules)
        return self._contexts[key]

    async def _add(self, urls: list[str], found: dict[str, bytes | None], depth: int) -> None:
        new = [url for url in dict.fromkeys(urls) if url not in found]
        for url in new[_MOST_SHEETS:]:
            found[url] = None
        new = new[:_MOST_SHEETS]
        sheets = await asyncio.gather(*map(self._sheet, new))
        found |= dict(zip(new, sheets, strict=True))
        for url, sheet in zip(new, sheets, strict=True):
            imported = _imports((sheet or b"",), url)
            if imported and (depth == 0 or len(found) >= _MOST_SHEETS):
                found[url] = None
            elif imported:
                await self._add(imported, found, depth - 1)

    async def _sheet(self, url: str) -> bytes | None:
        if url not in self._sheets:
            if len(self._sheets) >= _MOST_KEPT or self._bytes >= _MOST_KEPT_BYTES:
                self._sheets.clear()
                self._bytes = 0
            self._sheets[url] = asyncio.ensure_future(self._read(url))
        return await self._sheets[url]

    async def _read(self, url: str) -> bytes | None:
        sheet = await self._fetch(url)
        self._bytes += len(sheet or b"")
        return sheet


def _imports(sheets: tuple[bytes, ...], base: str) -> list[str]:
    links = (
        join_url(base, link) for sheet in sheets if b"@import" in sheet for link in imported_sheets(sheet)
    )
    return [link for link in links if link]
