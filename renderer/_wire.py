"""Conversations with the browser in the Chrome DevTools Protocol, decoded without a Python object per value.

Playwright's own CDP sessions hand every number of an answer through Python code that looks for handles, which
makes a DOM snapshot four times as dear as its decoding. Here a message travels through Playwright as one
string instead (``Target.sendMessageToTarget``) and is decoded once, into the fields that are wanted.

Imports Playwright and, of the project, only ``snapshot``.
"""

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec
from playwright.async_api import Browser, CDPSession
from playwright.async_api import Error as PlaywrightError

Params = Mapping[str, object]
Listener = Callable[[str, msgspec.Raw], None]
T = TypeVar("T")


class TargetLostError(Exception):
    """The other side is gone: page closed, renderer crashed, browser ended."""


class CommandError(Exception):
    """The browser refused a command."""


class _Fault(msgspec.Struct):
    message: str


class _Message(msgspec.Struct):
    id: int | None = None
    method: str | None = None
    params: msgspec.Raw = msgspec.Raw(b"{}")
    result: msgspec.Raw = msgspec.Raw(b"{}")
    error: _Fault | None = None


_decode_message = msgspec.json.Decoder(_Message).decode


def decode(data: msgspec.Raw, kind: type[T]) -> T:
    """Return the JSON `data` as `kind`; half surrogate pairs, which pages may contain, become U+FFFD."""
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.DecodeError:
        lenient = json.dumps(json.loads(bytes(data)), ensure_ascii=False)
        whole = lenient.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return msgspec.json.decode(whole, type=kind)


class Session:
    """One conversation with one target; `Wire.attach` makes them."""

    def __init__(self, browser: CDPSession, session_id: str, listener: Listener) -> None:
        self._browser = browser
        self._id = session_id
        self._listener = listener
        self._answers: dict[int, asyncio.Future[_Message]] = {}
        self._last = 0
        self._lost = False

    async def send(self, method: str, params: Params | None = None, *, limit_s: float) -> msgspec.Raw:
        """Return the answer to a command, to be read with `decode`.

        Raises
        ------
        TimeoutError : no answer within `limit_s` seconds.
        CommandError : the browser refused.
        TargetLostError : the target is gone.
        """
        if self._lost:
            raise TargetLostError(method)
        self._last += 1
        number = self._last
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        message = msgspec.json.encode({"id": number, "method": method, "params": params or {}}).decode()
        try:
            async with asyncio.timeout(limit_s):
                await self._browser.send(
                    "Target.sendMessageToTarget", {"sessionId": self._id, "message": message}
                )
                got: _Message = await answer
        except PlaywrightError as error:
            raise TargetLostError(method) from error
        finally:
            self._answers.pop(number, None)
        if got.error:
            raise CommandError(f"{method}: {got.error.message}")
        return got.result

    def receive(self, text: str) -> None:
        """Take one message of the target."""
        message = _decode_message(text)
        if message.id is None:
            self._listener(message.method or "", message.params)
        elif (answer := self._answers.get(message.id)) and not answer.done():
            answer.set_result(message)

    def lose(self) -> None:
        """End the conversation: commands under way fail, and so do later ones."""
        self._lost = True
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(TargetLostError("the target is gone"))


class Wire:
    """All conversations with one browser; `open_wire` makes it."""

    def __init__(self, session: CDPSession) -> None:
        self._session = session
        self._sessions: dict[str, Session] = {}
        session.on("Target.receivedMessageFromTarget", self._receive)
        session.on("Target.detachedFromTarget", self._detach)

    async def ask(self, method: str, params: dict[str, Any] | None = None, *, limit_s: float) -> Any:
        """Return the browser's own answer to a command.

        Raises
        ------
        TimeoutError : no answer within `limit_s` seconds.
        TargetLostError : the browser is gone.
        """
        try:
            async with asyncio.timeout(limit_s):
                return await self._session.send(method, params)
        except PlaywrightError as error:
            raise TargetLostError(method) from error

    async def attach(self, target_id: str, listener: Listener, *, limit_s: float) -> Session:
        """Return a conversation with a target whose events go to `listener`."""
        answer = await self.ask(
            "Target.attachToTarget", {"targetId": target_id, "flatten": False}, limit_s=limit_s
        )
        session = self._sessions[answer["sessionId"]] = Session(self._session, answer["sessionId"], listener)
        return session

    def lose(self) -> None:
        """End all conversations, because the browser is gone."""
        for session in self._sessions.values():
            session.lose()
        self._sessions.clear()

    def _receive(self, event: dict[str, Any]) -> None:
        if session := self._sessions.get(event["sessionId"]):
            session.receive(event["message"])

    def _detach(self, event: dict[str, Any]) -> None:
        if session := self._sessions.pop(event["sessionId"], None):
            session.lose()


async def open_wire(browser: Browser, *, limit_s: float) -> Wire:
    """Return a wire to a running browser."""
    async with asyncio.timeout(limit_s):
        return Wire(await browser.new_browser_cdp_session())
