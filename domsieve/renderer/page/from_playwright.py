"""Capture a page that the caller has opened with Playwright, without changing it."""

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, overload

import msgspec

from domsieve.errors import BrowserError, UsageError
from domsieve.options import Budget
from domsieve.renderer.page._convert import Capture, convert
from domsieve.renderer.page.capture import STYLE_NAMES, xml_frames
from domsieve.snapshot.cut import Cut
from domsieve.snapshot.page import Provenance, Snapshot

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from playwright import async_api, sync_api


@overload
def capture(page: "sync_api.Page") -> Snapshot: ...
@overload
def capture(page: "async_api.Page") -> "Coroutine[Any, Any, Snapshot]": ...
def capture(page: "sync_api.Page | async_api.Page") -> "Snapshot | Coroutine[Any, Any, Snapshot]":
    """Return a Snapshot of a page of Chrome as it is now; for a page of ``async_api``, await the result.

    The call does not wait for the page and does not change it. The egress guard has not checked what it loaded.
    Frames that Chrome runs in other processes, like those of other sites, are left out; the Snapshot then says that
    it is incomplete. The cache never returns such a Snapshot for a URL.

    Parameters
    ----------
    page : a page of Playwright's ``sync_api`` or ``async_api``, or of a crawler that uses one of them.

    Raises
    ------
    UsageError : it is not a page of Playwright, or its browser is not Chrome.
    BrowserError : the page is closed, has crashed, or has navigated meanwhile.
    """
    room = type(page).__module__.partition("._generated")[0]
    if room == "playwright.async_api":
        return _later(page)
    if room == "playwright.sync_api":
        return _now(page)
    raise UsageError(
        f"page is {page!r}; give a page of Playwright, of its sync_api or its async_api.", parameter="page"
    )


def _now(page: Any) -> Snapshot:
    from playwright.sync_api import Error

    captured_at = _time()
    try:
        session = page.context.new_cdp_session(page)
        try:
            product = session.send("Browser.getVersion")["product"]
            tree = session.send("Page.getFrameTree")
            answer = session.send(*_COMMAND)
        finally:
            session.detach()
    except Error as error:
        raise _explained(page, error) from error
    return _snapshot(page, answer, tree, product, captured_at)


async def _later(page: Any) -> Snapshot:
    from playwright.async_api import Error

    captured_at = _time()
    try:
        session = await page.context.new_cdp_session(page)
        try:
            product = (await session.send("Browser.getVersion"))["product"]
            tree = await session.send("Page.getFrameTree")
            answer = await session.send(*_COMMAND)
        finally:
            await session.detach()
    except Error as error:
        raise _explained(page, error) from error
    return await asyncio.to_thread(_snapshot, page, answer, tree, product, captured_at)


_COMMAND = ("DOMSnapshot.captureSnapshot", {"computedStyles": [*STYLE_NAMES], "includePaintOrder": True})


def _time() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _snapshot(page: Any, answer: object, tree: Any, product: str, captured_at: str) -> Snapshot:
    # Encoded as text first, because styles are parsed from text, and lone surrogates are replaced in it.
    text = msgspec.json.encode(_whole(answer))
    taken = msgspec.json.decode(text, type=Capture)
    taken.xml = xml_frames(tree["frameTree"])
    most = Budget().nodes
    columns, is_cut = convert(taken, STYLE_NAMES, max_nodes=most)
    cuts = [Cut("nodes", f"the first {most:,} were kept")] if is_cut else []
    if missing := max(0, len(page.frames) - len(taken.documents)):
        cuts.append(Cut("frames", f"{missing} in processes of their own are left out"))
    size = page.viewport_size
    provenance = Provenance(
        url=page.url,
        final_url=taken.url,
        producer="rendered",
        encoding=taken.encoding,
        captured_at=captured_at,
        browser=product,
        build="headless-shell" if product.startswith("Headless") else "full",
        driver="playwright",
        options={
            "opened_by": "caller",
            "viewport_px": f"{size['width']}x{size['height']}" if size else None,
        },
        complete=not cuts,
        reasons=tuple(map(str, cuts)),
    )
    return Snapshot(**columns, provenance=provenance)


def _whole(value: Any) -> Any:
    """Return a result without lone surrogates, which strings of pages may contain."""
    if isinstance(value, dict) and "strings" in value:
        strings = [
            text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            for text in value["strings"]
        ]
        return value | {"strings": strings}
    return value


def _explained(page: Any, error: Exception) -> UsageError | BrowserError:
    said = str(error).partition("\n")[0]
    if "Chromium" in said:
        return UsageError(f"page is of another browser than Chrome: {said}", parameter="page")
    return BrowserError(f"The page cannot be captured: {said}", url=page.url)
