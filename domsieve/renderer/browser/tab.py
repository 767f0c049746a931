"""One open page: send commands, call our script in an isolated world, and reset it for the next page."""

import asyncio
import contextlib
from collections.abc import Iterator, Set
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeVar

from domsieve.renderer.browser.connection import CommandError, Params, Session

T = TypeVar("T")

_WORLD = "domsieve"
# What the scripts of all isolated worlds share. No page knows the name by which these know what they have changed.
SHARED = Path(__file__).with_name("dom.js").read_text("utf-8").replace("SECRET_NAME", f"x{token_hex(8)}")
_SCRIPT = SHARED + "".join(
    Path(__file__).with_name(name).read_text("utf-8") for name in ("tab.js", "tab_pictures.js")
)


class Tab:
    """An open page and the session with it.

    Parameters
    ----------
    session : the session.
    target_id : the target ID of the page.

    Attributes
    ----------
    pages : number of pages that were opened in it, one after another.
    """

    def __init__(self, session: Session, target_id: str) -> None:
        self.session = session
        self.target_id = target_id
        self.pages = 0
        self._world: tuple[str, int] | None = None
        self._added: set[str] = set()
        self._answers: set[asyncio.Task[None]] = set()
        session.on("Page.javascriptDialogOpening", self._dismiss)

    @property
    def is_open(self) -> bool:
        """Whether the page exists."""
        return self.session.is_open

    async def send(self, method: str, params: dict[str, Any] | None = None, *, limit_s: float) -> Any:
        """Send a command and return the response.

        Raises
        ------
        TimeoutError : there is no response within `limit_s` seconds.
        CommandError : the browser refused, or the page is gone.
        """
        async with asyncio.timeout(limit_s):
            return await self.session.send(method, params)

    async def ask(self, method: str, params: dict[str, Any], kind: type[T], *, limit_s: float) -> T:
        """Send a command and return the response, decoded to `kind`; see `send`."""
        async with asyncio.timeout(limit_s):
            return await self.session.ask(method, params, kind)

    async def call(
        self, frame_id: str, loader_id: str, function: str, *, limit_s: float, script: str = ""
    ) -> Any:
        """Call a function of ``tab.js`` in an isolated world, where scripts of the page cannot interfere.

        Parameters
        ----------
        frame_id : the main frame of the page.
        loader_id : the document; each document has its own world.
        function : the call, such as ``"quiet(300, 5000)"``.
        script : what adds the function to those of ``tab.js``, if it is none of these.

        Raises
        ------
        TimeoutError : the page does not respond within `limit_s` seconds.
        CommandError : the page has navigated, or is gone.
        """
        async with asyncio.timeout(limit_s):
            world = await self._world_of(frame_id, loader_id)
            if script and script not in self._added:
                await self._evaluate(script, world)
                self._added.add(script)
            return (await self._evaluate(f"domsieve.{function}", world)).get("value")

    async def node_id(self, frame_id: str, loader_id: str, function: str, *, limit_s: float) -> int:
        """Return the browser's id of the element that a function of ``tab.js`` returns; as `call` else."""
        async with asyncio.timeout(limit_s):
            world = await self._world_of(frame_id, loader_id)
            element = await self._evaluate(f"domsieve.{function}", world, by_value=False)
            answer = await self.session.send("DOM.describeNode", {"objectId": element.get("objectId", "")})
            return int(answer["node"]["backendNodeId"])

    async def _world_of(self, frame_id: str, loader_id: str) -> int:
        """Return the isolated world of a document, with our script in it."""
        if self._world is None or self._world[0] != loader_id:
            world = await self.session.send(
                "Page.createIsolatedWorld", {"frameId": frame_id, "worldName": _WORLD}
            )
            await self._evaluate(_SCRIPT, world["executionContextId"])
            self._world, self._added = (loader_id, world["executionContextId"]), set()
        return self._world[1]

    async def _evaluate(self, expression: str, context_id: int, *, by_value: bool = True) -> dict[str, Any]:
        answer = await self.session.send(
            "Runtime.evaluate",
            {
                "expression": expression,
                "contextId": context_id,
                "awaitPromise": True,
                "returnByValue": by_value,
            },
        )
        found: dict[str, Any] = answer["result"]
        return found

    def _dismiss(self, event: dict[str, Any]) -> None:
        """Dismiss a dialog of the page, but allow that the page is left."""
        answer = asyncio.create_task(self._answer(event.get("type") == "beforeunload"))
        self._answers.add(answer)
        answer.add_done_callback(self._answers.discard)

    async def _answer(self, accept: bool) -> None:
        with contextlib.suppress(CommandError):  # already dismissed, or the page is gone
            await self.session.send("Page.handleJavaScriptDialog", {"accept": accept})


BLANK = "about:blank"
_SCRIPTS = "Emulation.setScriptExecutionDisabled"
_WEB = ("http:", "https:")
# Timers have numbers from 1. A page that started more than we can end in a moment is not worth its tab.
_END_TIMERS = """(() => {
    const last = setTimeout(() => {});
    if (last > 100_000) return false;
    for (let timer = last; timer > 0; timer--) clearTimeout(timer);
    return true;
})()"""


async def empty(tab: Tab, origins: Set[str]) -> bool:
    """Reset a tab for another page; return whether that worked. If not, the tab must be closed.

    Parameters
    ----------
    origins : origins of all documents that were in the tab and its frames since it was new.

    Raises
    ------
    CommandError : the page is gone.
    """
    session = tab.session
    # From here on no script of the page runs, not even handlers of leaving it.
    await session.send(_SCRIPTS, {"value": True})
    tree = await session.send("Page.getFrameTree")
    here = {origin for origin in _origins(tree["frameTree"]) if origin.startswith(_WEB)}
    if {origin for origin in origins if origin.startswith(_WEB)} - here:
        return False  # the session storage of an origin is accessible only through a frame of that origin
    stores = [{"storageId": {"securityOrigin": origin, "isLocalStorage": False}} for origin in sorted(here)]
    frame_id = tree["frameTree"]["frame"]["id"]
    # Scripts are on again while a document is left, so it must have no handlers of leaving. A frame may store
    # something while it is removed, so the stores are cleared again; those of removed frames are out of reach then.
    await asyncio.gather(
        *(session.send("DOMStorage.clear", store) for store in stores),
        session.send("Page.setDocumentContent", {"frameId": frame_id, "html": ""}),
    )
    world = await session.send("Page.createIsolatedWorld", {"frameId": frame_id})
    ended = await session.send(
        "Runtime.evaluate",
        {"expression": _END_TIMERS, "contextId": world["executionContextId"], "returnByValue": True},
    )
    if ended["result"].get("value") is not True:
        return False
    await asyncio.gather(
        *(_clear_again(session, store) for store in stores),
        session.send("Page.setWebLifecycleState", {"state": "frozen"}),
    )
    await session.send("Page.navigate", {"url": BLANK})
    await blank_is_there(session)
    # Chrome collects garbage at a limit that grows, so a tab would otherwise keep the remains of several pages.
    await session.send("HeapProfiler.collectGarbage")
    await asyncio.gather(
        session.send(_SCRIPTS, {"value": False}),
        session.send("Page.setWebLifecycleState", {"state": "active"}),
        session.send("Page.resetNavigationHistory"),
        session.send("Runtime.evaluate", {"expression": "name = ''"}),
    )
    return True


async def _clear_again(session: Session, store: Params) -> None:
    with contextlib.suppress(CommandError):
        await session.send("DOMStorage.clear", store)


async def blank_is_there(session: Session) -> None:
    """Wait until an empty page is loaded and sends no more events."""
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
    return {frame.get("securityOrigin", "") for frame in frames_of(tree)}


def frames_of(tree: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the frames of a result of ``Page.getFrameTree``."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node["frame"]
        waiting += node.get("childFrames", ())
