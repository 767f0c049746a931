"""The page of changes that sync writes, in Chrome: for screen readers, weak eyes and keyboards."""

import asyncio
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.async_api import async_playwright

from domsieve.analysis.changes.passages import PassageChange
from domsieve.renderer.browser.playwright_driver import find_browser, launch_options
from domsieve.tasks.site_sync.changes_page import page_of
from domsieve.tasks.site_sync.values import PageChange
from tests.axe import AXE, FIND, WITHOUT_AXE

pytestmark = pytest.mark.browser

AT = "2026-01-02T03:04:05+00:00"
PASSAGES = (
    PassageChange(
        kind="edited",
        id="a",
        headings=("Guide", "Install"),
        old="Run the old command.",
        new="Run the new one.",
    ),
    PassageChange(kind="added", id="b", headings=("Guide",), new="A new passage " * 8),
    PassageChange(kind="removed", id="c", headings=(), old="Gone text " * 6),
    PassageChange(kind="moved", id="d", headings=("Guide",), old="Moved text.", new="Moved text."),
)
CHANGES = [
    PageChange(run=1, at=AT, kind="added", url="https://a.example/", file="index.md", title="Start"),
    PageChange(
        run=2, at=AT, kind="changed", url=f"https://a.example/{'x' * 90}", file="a.md", passages=PASSAGES
    ),
    PageChange(
        run=2, at=AT, kind="moved", url="https://a.example/b", was="https://a.example/old", file="b.md"
    ),
    PageChange(run=2, at=AT, kind="gone", url="https://a.example/c", file="c.md", passages=PASSAGES[2:3]),
]


@pytest.mark.skipif(not AXE.is_file(), reason=WITHOUT_AXE)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_changes_are_read_by_everybody_and_opened_by_keyboard(
    tmp_path: Path, theme: Literal["light", "dark"]
) -> None:
    file = tmp_path / "changes.html"
    file.write_text(page_of(CHANGES, source="https://a.example/"), "utf-8")

    async def visit() -> tuple[Any, int, list[bool]]:
        async with async_playwright() as playwright:
            options = launch_options(await find_browser(playwright))
            options["args"] = [*options.get("args", ()), "--host-resolver-rules=MAP * ~NOTFOUND"]
            browser = await playwright.chromium.launch(**options)
            # The policy of the page allows no script, and axe is one.
            context = await browser.new_context(
                viewport={"width": 390, "height": 844}, color_scheme=theme, bypass_csp=True
            )
            page = await context.new_page()
            await page.goto(file.as_uri())
            await page.evaluate(AXE.read_text(encoding="utf-8"))
            found = await page.evaluate(FIND)
            wide = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
            opened = []
            for _ in range(2):
                await page.focus("summary")
                await page.keyboard.press("Enter")
                opened.append(await page.evaluate("document.querySelector('details').open"))
            await browser.close()
            return found, wide, opened

    found, wide, opened = asyncio.run(visit())
    assert found == []
    assert wide <= 0
    assert opened == [False, True]
