"""The site of the documentation, in Chrome: for screen readers, weak eyes and keyboards."""

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Literal, TypeVar

import pytest
from playwright.async_api import Page, async_playwright

from domsieve.renderer.browser.playwright_driver import find_browser, launch_options
from tests.axe import AXE, FIND, WITHOUT_AXE
from tests.keyboard import not_reached

pytestmark = [pytest.mark.browser, pytest.mark.slow]

T = TypeVar("T")
REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = ("-m", "sphinx", "-W", "-q", "-b", "html", "-c", "tools/docs_site", "-d", str(folder / "trees"))
    subprocess.run([sys.executable, *command, ".", str(folder / "html")], cwd=REPOSITORY, check=True)
    return folder / "html"


def visit(work: Callable[[Page], Awaitable[T]], *, theme: Literal["light", "dark"], width: int) -> T:
    """Return what the work finds in a window that reaches no host."""

    async def run() -> T:
        async with async_playwright() as playwright:
            options = launch_options(await find_browser(playwright))
            options["args"] = [*options.get("args", ()), "--host-resolver-rules=MAP * ~NOTFOUND"]
            browser = await playwright.chromium.launch(**options)
            context = await browser.new_context(viewport={"width": width, "height": 800}, color_scheme=theme)
            found = await work(await context.new_page())
            await browser.close()
            return found

    return asyncio.run(run())


@pytest.mark.skipif(not AXE.is_file(), reason=WITHOUT_AXE)
@pytest.mark.parametrize(("theme", "width"), [("light", 1200), ("dark", 390)])
def test_every_page_is_read_by_everybody(site: Path, theme: Literal["light", "dark"], width: int) -> None:
    start = site / "index.html"  # it leads to the first page
    files = sorted(file for file in site.rglob("*.html") if file != start)

    async def broken(page: Page) -> dict[str, Any]:
        found = {}
        for file in files:
            await page.goto(file.as_uri())
            await page.add_script_tag(path=str(AXE))
            found[file.name] = await page.evaluate(f"({FIND})()")
        return found

    found = visit(broken, theme=theme, width=width)
    assert len(found) > 40
    assert {name: rules for name, rules in found.items() if rules} == {}


@pytest.mark.parametrize("width", [1200, 390])
@pytest.mark.parametrize(
    "name", ["docs/index.html", "docs/cli.html", "docs/capabilities.html", "search.html"]
)
def test_everything_is_reached_by_keyboard(site: Path, name: str, width: int) -> None:
    async def missed(page: Page) -> list[Any]:
        await page.goto((site / name).as_uri())
        return await not_reached(page)

    assert visit(missed, theme="light", width=width) == []
