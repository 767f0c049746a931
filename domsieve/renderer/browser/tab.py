"""One open page: commands to it, and calls of our own script beside the page's scripts.

Imports Playwright only.
"""

import asyncio
from pathlib import Path
from typing import Any

from playwright.async_api import CDPSession, Page

_WORLD = "domsieve"
_SCRIPT = Path(__file__).with_name("tab.js").read_text("utf-8")


class Tab:
    """An open page and its session.

    Parameters
    ----------
    page : Playwright's handle.
    session : Playwright's CDP session with it.
    """

    def __init__(self, page: Page, session: CDPSession) -> None:
        self.page = page
        self.session = session
        self._world: tuple[str, int] | None = None

    async def send(self, method: str, params: dict[str, Any] | None = None, *, limit_s: float) -> Any:
        """Return the answer to a command.

        Raises
        ------
        TimeoutError : no answer within `limit_s` seconds.
        playwright.async_api.Error : the browser refused, or the page is gone.
        """
        async with asyncio.timeout(limit_s):
            return await self.session.send(method, params)

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
        playwright.async_api.Error : it has navigated, or is gone.
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
