"""What can be seen of a page with and without scripts, gathered by Playwright and a script of its own."""

from collections import Counter
from collections.abc import Sequence

from playwright.async_api import Page, async_playwright

from domsieve.renderer.browser.playwright_driver import find_browser, launch_options

# The nearest element that is no inline box tells texts apart; the tests of hiding are the plain ones.
GATHER = """() => {
  const seen = (element, left) => {
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return false;
    for (let e = element; e; e = e.parentElement) {
      const { width, height, right } = e.getBoundingClientRect();
      const { overflow, overflowX, display } = getComputedStyle(e);
      if (overflowX === 'hidden' && display !== 'inline' && left >= right) return false;
      if (overflow !== 'visible' && display !== 'inline' && (width <= 1 || height <= 1)) return false;
    }
    return true;
  };
  const holder = element => {
    while (element.parentElement && getComputedStyle(element).display === 'inline') element = element.parentElement;
    return element;
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
  let text = '', last = null;
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node.nodeName === 'BR') text += ' ';
    if (node.nodeType !== 3) continue;
    const range = new Range();
    range.selectNodeContents(node);
    const { left, right, bottom } = range.getBoundingClientRect();
    if (!range.getClientRects().length || right <= 0 || bottom <= 0 || !seen(node.parentElement, left)) continue;
    const block = holder(node.parentElement);
    text += (block === last ? '' : ' ') + node.data;
    last = block;
  }
  return text;
}"""


def count(text: str) -> Counter[str]:
    """Count the words of a text: runs of letters and digits, in lower case."""
    return Counter("".join(c if c.isalnum() else " " for c in text.lower()).split())


async def gather(urls: Sequence[str], *, wait_ms: int = 800) -> dict[str, tuple[Counter[str], Counter[str]]]:
    """Return the words that are seen of each page, without scripts and with them.

    A page is done when it loads nothing more, and shows the same after `wait_ms` as before.
    """
    found: dict[str, list[Counter[str]]] = {url: [] for url in urls}
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(**launch_options(await find_browser(playwright)))
        for scripts in (False, True):
            for url in urls:  # a page of its own, since a route behind # loads nothing anew
                page = await browser.new_page(
                    java_script_enabled=scripts, viewport={"width": 1280, "height": 800}
                )
                await page.goto(url, wait_until="networkidle" if scripts else "load")
                words = await _words(page)
                while scripts:
                    await page.wait_for_timeout(wait_ms)
                    before, words = words, await _words(page)
                    if words == before:
                        break
                found[url].append(words)
                await page.close()
        await browser.close()
    return {url: (raw, rendered) for url, (raw, rendered) in found.items()}


async def _words(page: Page) -> Counter[str]:
    return count(" ".join([await frame.evaluate(GATHER) for frame in page.frames]))
