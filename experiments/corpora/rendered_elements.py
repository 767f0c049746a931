"""Routes of sites that scripts draw, chosen by a seeded rule for what stands in their main element.

What stands there is read in a browser of its own, opened with plain Playwright, so that nothing that is measured has
a part in the truth: the element's HTML without what is not shown, and its ``innerText``. No other host has a name.
"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lxml.html
import numpy as np
from lxml import etree
from numpy.typing import NDArray
from playwright.async_api import Page, async_playwright

from domsieve.errors import TargetError
from domsieve.renderer.browser.discovery import Browser
from domsieve.renderer.browser.playwright_driver import browser_in_use, launch_options
from domsieve.snapshot.page import Snapshot
from experiments.corpora.javascript_sites import Route, read_routes, serve_corpus
from experiments.corpora.main_elements import KINDS, rank
from experiments.corpora.selecting import select_inside

PER_KIND, LOOKED_AT = 6, 30
"""So many routes of each kind are drawn from each corpus, among the first that are looked at."""

_STEP_S, _SAME, _LONGEST_S = (
    0.25,
    4,
    180.0,
)  # taken when it has been the same for a second; machines may be busy
_NO_NAMES = "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"
_READ = """
selector => {
  const found = [...document.querySelectorAll(selector)];
  const roots = found.filter(one => !found.some(other => other !== one && other.contains(one)));
  const text = roots.map(root => root.innerText).join("\\n");
  for (const root of roots)
    for (const element of root.querySelectorAll("*"))
      if (!element.checkVisibility() && getComputedStyle(element).display !== "contents")
        element.dataset.unseen = "";
  for (const root of roots)
    for (const element of root.querySelectorAll("[data-unseen]"))
      element.setAttribute("hidden", "");
  return {html: roots.map(root => root.outerHTML).join(""), text};
}
"""


@dataclass(frozen=True, slots=True, eq=False)
class RenderedPage:
    """A route of a site.

    Parameters
    ----------
    name : its corpus and its name in it.
    page : as rendered; N nodes.
    inside : bool (N,), which of them lie in the main element.
    html : the main element as a browser shows it.
    text : its text as a browser says it.
    kinds : what it was drawn for.
    """

    name: str
    page: Snapshot
    inside: NDArray[np.bool_]
    html: str
    text: str
    kinds: tuple[str, ...]

    def main(self) -> etree._Element:
        """Return the main element, or several of them in one."""
        return _parsed(self.html)


def draw_routes(corpus: Path, node_modules: Path, kept: Path) -> list[RenderedPage]:
    """Return the routes drawn from a corpus, in the order in which they were looked at.

    Parameters
    ----------
    kept : folder of the page store of the corpus.

    Raises
    ------
    TargetError : the corpus cannot be served, or a route cannot be rendered or shows nothing.
    """
    selector = json.loads((corpus / "manifest.json").read_text("utf-8"))["main_selector"]
    routes = sorted(
        read_routes(corpus, node_modules, kept), key=lambda route: rank(f"{corpus.name}/{route.name}")
    )[:LOOKED_AT]
    with serve_corpus(corpus, node_modules) as address:
        urls = [address + route.name for route in routes]
        shown = asyncio.run(_read(urls, selector, browser_in_use()))
    left = dict.fromkeys(KINDS, PER_KIND)
    drawn = []
    for route, seen in zip(routes, shown, strict=True):
        main = _parsed(seen["html"])
        kinds = tuple(kind for kind, path in KINDS.items() if left[kind] and main.xpath(path))
        for kind in kinds:
            left[kind] -= 1
        if kinds:
            drawn.append(_page(corpus.name, route, selector, seen, kinds))
    return drawn


def _page(
    corpus: str, route: Route, selector: str, seen: dict[str, str], kinds: tuple[str, ...]
) -> RenderedPage:
    inside = select_inside(route.page, [selector])
    return RenderedPage(f"{corpus}/{route.name}", route.page, inside, seen["html"], seen["text"], kinds)


def _parsed(html: str) -> etree._Element:
    element: etree._Element = lxml.html.fragment_fromstring(html, create_parent="div")
    return element


async def _read(urls: Sequence[str], selector: str, found: Browser) -> list[dict[str, Any]]:
    options = launch_options(found)
    options["args"].append(_NO_NAMES)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(**options)
        shown = []
        for url in urls:
            # Another document for each: of many routes only the part behind "#" differs.
            page = await browser.new_page(viewport={"width": 1280, "height": 800})
            shown.append(await _shown(page, url, selector))
            await page.close()
        await browser.close()
    return shown


async def _shown(page: Page, url: str, selector: str) -> dict[str, Any]:
    await page.goto(url, wait_until="load", timeout=_LONGEST_S * 1000)
    last, same = "", 0
    for _ in range(int(_LONGEST_S / _STEP_S)):
        text = await page.evaluate(
            "selector => [...document.querySelectorAll(selector)].map(one => one.innerText).join()", selector
        )
        same = same + 1 if text == last else 0
        last = text
        if text.strip() and same >= _SAME:
            seen: dict[str, Any] = await page.evaluate(_READ, selector)
            return seen
        await asyncio.sleep(_STEP_S)
    raise TargetError(f"Nothing of '{selector}' is shown within {_LONGEST_S:.0f} s.", url=url)
