"""Commands to the browser in the Chrome DevTools Protocol, each under a deadline.

Playwright hands every number of an answer through Python code that looks for handles, which makes a DOM
snapshot four times as dear as its decoding. Large answers therefore travel through Playwright as one string
(``Target.sendMessageToTarget``) and are decoded once, into the fields that are wanted. For small answers and
events its ordinary sessions are cheaper.

Imports Playwright and, of the project, only ``snapshot``.
"""

import asyncio
import json
from typing import Any, Generic, TypeVar

import msgspec
from playwright.async_api import Browser, CDPSession
from playwright.async_api import Error as PlaywrightError

T = TypeVar("T")


class _Fault(msgspec.Struct):
    message: str


class _Answer(msgspec.Struct, Generic[T]):
    result: T | None = None
    error: _Fault | None = None


class Wire:
    """The browser's own session; `open_wire` makes it."""

    def __init__(self, session: CDPSession) -> None:
        self._session = session
        self._answers: dict[str, asyncio.Future[str]] = {}
        session.on("Target.receivedMessageFromTarget", self._receive)
        session.on("Target.detachedFromTarget", self._detach)

    async def ask(self, method: str, params: dict[str, Any] | None = None, *, limit_s: float) -> Any:
        """Return the browser's answer to a command.

        Raises
        ------
        TimeoutError : no answer within `limit_s` seconds.
        playwright.async_api.Error : the browser refused or is gone.
        """
        async with asyncio.timeout(limit_s):
            return await self._session.send(method, params)

    async def ask_page(
        self, target_id: str, method: str, params: dict[str, Any], kind: type[T], *, limit_s: float
    ) -> T:
        """Return a page's large answer to a command that needs no domain enabled.

        Parameters
        ----------
        target_id : the page.
        kind : what the answer is decoded to.

        Raises
        ------
        TimeoutError : no answer within `limit_s` seconds.
        playwright.async_api.Error : the browser refused, or the page is gone.
        """
        message = json.dumps({"id": 1, "method": method, "params": params})
        async with asyncio.timeout(limit_s):
            attached = await self._session.send(
                "Target.attachToTarget", {"targetId": target_id, "flatten": False}
            )
            session_id = attached["sessionId"]
            answer = self._answers[session_id] = asyncio.get_running_loop().create_future()
            try:
                await self._session.send(
                    "Target.sendMessageToTarget", {"sessionId": session_id, "message": message}
                )
                text = await answer
            finally:
                del self._answers[session_id]
        # Decoding holds up the events of other pages, for seconds when a page has 100,000 nodes.
        got: Any = await asyncio.to_thread(decode, text, _Answer[kind])  # type: ignore[valid-type]
        if got.error:
            raise PlaywrightError(f"{method}: {got.error.message}")
        result: T = got.result
        return result

    def lose(self) -> None:
        """Fail the commands under way, because the browser is gone."""
        for answer in self._answers.values():
            _fail(answer)

    def _receive(self, event: dict[str, Any]) -> None:
        answer = self._answers.get(event["sessionId"])
        if answer and not answer.done():
            answer.set_result(event["message"])

    def _detach(self, event: dict[str, Any]) -> None:
        if answer := self._answers.get(event["sessionId"]):
            _fail(answer)


def _fail(answer: asyncio.Future[str]) -> None:
    if not answer.done():
        answer.set_exception(PlaywrightError("The page is gone."))


async def open_wire(browser: Browser, *, limit_s: float) -> Wire:
    """Return the session of a running browser."""
    async with asyncio.timeout(limit_s):
        return Wire(await browser.new_browser_cdp_session())


def decode(text: str, kind: type[T]) -> T:
    """Return the JSON `text` as `kind`; half surrogate pairs, which pages may contain, become U+FFFD."""
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        loose = json.dumps(json.loads(text), ensure_ascii=False)
        whole = loose.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return msgspec.json.decode(whole, type=kind)
