"""One open page: commands to it, and calls of our own script beside the page's scripts.

Imports, of the project, the seam only.
"""

import asyncio
import contextlib
from pathlib import Path
from typing import Any, TypeVar

from domsieve.renderer.browser.connection import CommandError, Session

T = TypeVar("T")

_WORLD = "domsieve"
_SCRIPT = Path(__file__).with_name("tab.js").read_text("utf-8")


class Tab:
    """An open page and the conversation with it.

    Parameters
    ----------
    session : the conversation.
    target_id : the browser's name for the page.

    Attributes
    ----------
    pages : opened in it, one after the other.
    """

    def __init__(self, session: Session, target_id: str) -> None:
        self.session = session
        self.target_id = target_id
        self.pages = 0
        self._world: tuple[str, int] | None = None
        self._answers: set[asyncio.Task[None]] = set()
        session.on("Page.javascriptDialogOpening", self._dismiss)

    @property
    def is_open(self) -> bool:
        """Whether the page is there."""
        return self.session.is_open

    async def send(self, method: str, params: dict[str, Any] | None = None, *, limit_s: float) -> Any:
        """Return the answer to a command.

        Raises
        ------
        TimeoutError : no answer within `limit_s` seconds.
        CommandError : the browser refused, or the page is gone.
        """
        async with asyncio.timeout(limit_s):
            return await self.session.send(method, params)

    async def ask(self, method: str, params: dict[str, Any], kind: type[T], *, limit_s: float) -> T:
        """Return the answer to a command, decoded to `kind`; see `send`."""
        async with asyncio.timeout(limit_s):
            return await self.session.ask(method, params, kind)

    async def call(self, frame_id: str, loader_id: str, function: str, *, limit_s: float) -> Any:
        """Return the result of a call of ``tab.js``, made where the page's scripts cannot interfere.

        Parameters
        ----------
        frame_id : the page's main frame.
        loader_id : the document that is meant; another one has another world.
        function : the call, such as ``"quiet(300, 5000)"``.

        Raises
        ------
        TimeoutError : the page does not answer within `limit_s` seconds.
        CommandError : it has navigated, or is gone.
        """
        async with asyncio.timeout(limit_s):
            if self._world is None or self._world[0] != loader_id:
                world = await self.session.send(
                    "Page.createIsolatedWorld", {"frameId": frame_id, "worldName": _WORLD}
                )
                await self._evaluate(_SCRIPT, world["executionContextId"])
                self._world = loader_id, world["executionContextId"]
            return await self._evaluate(f"domsieve.{function}", self._world[1])

    async def _evaluate(self, expression: str, context_id: int) -> Any:
        answer = await self.session.send(
            "Runtime.evaluate",
            {"expression": expression, "contextId": context_id, "awaitPromise": True, "returnByValue": True},
        )
        return answer["result"].get("value")

    def _dismiss(self, event: dict[str, Any]) -> None:
        """Answer a question of the page with no, but for whether it may be left."""
        answer = asyncio.create_task(self._answer(event.get("type") == "beforeunload"))
        self._answers.add(answer)
        answer.add_done_callback(self._answers.discard)

    async def _answer(self, accept: bool) -> None:
        with contextlib.suppress(CommandError):  # answered, or gone
            await self.session.send("Page.handleJavaScriptDialog", {"accept": accept})
