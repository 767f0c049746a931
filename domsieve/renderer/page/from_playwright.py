"""A Snapshot of a page that somebody else has opened with Playwright, and that stays as it is.

Nothing of the page is changed: its scripts go on, and it is not waited for. Imports the Snapshot, the conversion, the
errors and, for types only, Playwright.
"""

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, overload

import msgspec

from domsieve.errors import BrowserError, UsageError
from domsieve.options import Budget
from domsieve.renderer.page.capture import STYLE_NAMES
from domsieve.renderer.page.convert import Capture, convert
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
    """Return a Snapshot of a page of Chrome as it is now; to be awaited where Playwright's own calls are.

    The page is neither changed nor waited for, and what it may reach is a matter of who opened it: no guard of ours
    stood before it. Frames that Chrome keeps in processes of their own, as it does with those of other sites, are
    left out, and the Snapshot then says that it is incomplete. No cache gives it in answer to a URL.

    Parameters
    ----------
    page : as Playwright's ``sync_api`` or ``async_api`` gives it, or a crawler that uses one of them.

    Raises
    ------
    UsageError : it is no page of Playwright's, or its browser is no Chrome.
    BrowserError : the page is closed, has crashed, or was left meanwhile.
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
            answer = session.send(*_COMMAND)
        finally:
            session.detach()
    except Error as error:
        raise _explained(page, error) from error
    return _snapshot(page, answer, product, captured_at)


async def _later(page: Any) -> Snapshot:
    from playwright.async_api import Error

    captured_at = _time()
    try:
        session = await page.context.new_cdp_session(page)
        try:
            product = (await session.send("Browser.getVersion"))["product"]
            answer = await session.send(*_COMMAND)
        finally:
            await session.detach()
    except Error as error:
        raise _explained(page, error) from error
    return await asyncio.to_thread(_snapshot, page, answer, product, captured_at)


_COMMAND = ("DOMSnapshot.captureSnapshot", {"computedStyles": [*STYLE_NAMES], "includePaintOrder": True})


def _time() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _snapshot(page: Any, answer: object, product: str, captured_at: str) -> Snapshot:
    # By way of text, as styles are read from it, and in which half surrogate pairs are mended.
    text = msgspec.json.encode(_whole(answer))
    taken = msgspec.json.decode(text, type=Capture)
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
    """Return an answer without half surrogate pairs, which pages may contain; only its strings can have them."""
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
