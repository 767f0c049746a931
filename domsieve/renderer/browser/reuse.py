"""Make a tab as good as new for the next page of its site.

Pages of a site share a context, hence cookies, storage and cache. What belongs to a tab alone must not reach the next
page, which would else be another one when it is captured second: the document with all that it runs, storage of the
session, the name of the window, the history. Chrome keeps no page that was left (``--disable-back-forward-cache``).

Imports, of the project, the seam and the tab.
"""

import asyncio
from collections.abc import Set
from typing import Any

from domsieve.renderer.browser.connection import Params, Session
from domsieve.renderer.browser.tab import Tab

BLANK = "about:blank"
_SCRIPTS = "Emulation.setScriptExecutionDisabled"
_WEB = ("http:", "https:")


async def empty(tab: Tab, origins: Set[str]) -> bool:
    """Return whether a tab was made as good as new; one that was not is of no use.

    Parameters
    ----------
    origins : of all documents that were in it and in its frames since it was new.

    Raises
    ------
    CommandError : the page is gone.
    """
    session = tab.session
    # From here on nothing of the page runs, not even what it does when it is left.
    await session.send(_SCRIPTS, {"value": True})
    tree = await session.send("Page.getFrameTree")
    here = {origin for origin in _origins(tree["frameTree"]) if origin.startswith(_WEB)}
    if {origin for origin in origins if origin.startswith(_WEB)} - here:
        return False  # only through a frame of its own is the session's storage of an origin to be had
    stores = [{"storageId": {"securityOrigin": origin, "isLocalStorage": False}} for origin in sorted(here)]
    frame_id = tree["frameTree"]["frame"]["id"]
    # Scripts are on again for a document that is being left, so it must not listen to that any more.
    await asyncio.gather(
        *(session.send("DOMStorage.clear", store) for store in stores),
        session.send("Page.setDocumentContent", {"frameId": frame_id, "html": ""}),
    )
    await session.send("Page.setWebLifecycleState", {"state": "frozen"})
    await session.send("Page.navigate", {"url": BLANK})
    await blank_is_there(session)
    # Chrome collects what pages leave when a limit is reached that grows with it: a tab would hold several of them.
    await session.send("HeapProfiler.collectGarbage")
    await asyncio.gather(
        session.send(_SCRIPTS, {"value": False}),
        session.send("Page.setWebLifecycleState", {"state": "active"}),
        session.send("Page.resetNavigationHistory"),
        session.send("Runtime.evaluate", {"expression": "name = ''"}),
    )
    return True


async def blank_is_there(session: Session) -> None:
    """Return when an empty page has arrived and is loaded, so that it tells nothing more of itself."""
    news = asyncio.Event()

    def hear(_: Params) -> None:
        news.set()

    events = ("Page.frameNavigated", "Page.loadEventFired")
    for event in events:
        session.on(event, hear)
    try:
        while True:
            news.clear()
            here = await session.send("Page.getFrameTree")
            if here["frameTree"]["frame"]["url"] == BLANK:
                state = await session.send("Runtime.evaluate", {"expression": "document.readyState"})
                if state["result"].get("value") == "complete":
                    return
            await news.wait()
    finally:
        for event in events:
            session.off(event, hear)


def _origins(tree: dict[str, Any]) -> set[str]:
    found, waiting = set(), [tree]
    while waiting:
        node = waiting.pop()
        found.add(node["frame"].get("securityOrigin", ""))
        waiting += node.get("childFrames", ())
    return found
