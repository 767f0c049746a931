"""What a person reaches by the keyboard alone."""

from typing import Any

from playwright.async_api import Page

_CONTROLS = """() => {
    const controls = [...document.querySelectorAll(
        'a[href], button, input, select, textarea, summary, [role=button], [role=tab], [role=option], [tabindex="0"]'
    )].filter((node) => node.checkVisibility({ visibilityProperty: true }) && !node.disabled)
    const inView = (node) => node.getBoundingClientRect().width > 0 && !node.closest('[inert], [aria-hidden=true]')
    // One of a group is in the tab order; arrow keys lead to the others.
    const grouped = (node) => node.matches('[role=option], [role=tab], [role=radio], [type=radio], [tabindex="-1"]')
    window.awaited = new Set(controls.filter((node) => inView(node) && !grouped(node)))
    document.activeElement.blur()
    return awaited.size
}"""
_REACHED = """() => {
    awaited.delete(document.activeElement)
    return awaited.size
}"""
_MISSED = "() => [...awaited].map((node) => node.outerHTML.slice(0, 120))"


async def not_reached(page: Page) -> list[Any]:
    """Return the controls of a page that the Tab key does not lead to, as HTML; of groups, one need be reached."""
    left = await page.evaluate(_CONTROLS)
    assert left > 0
    for _ in range(2 * left + 20):
        await page.keyboard.press("Tab")
        left = await page.evaluate(_REACHED)
        if not left:
            break
    return list(await page.evaluate(_MISSED))
