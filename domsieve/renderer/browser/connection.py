"""The seam below the page: a connection that sends commands to a browser and hears events of its targets.

All above it (contexts, tabs, the life of a page, capture) is one code; the drivers below it differ in how messages
of the Chrome DevTools Protocol travel. Answers are decoded once, into the fields that are wanted: one of a DOM
snapshot has some megabytes.

Imports nothing of the project.
"""

import asyncio
import contextlib
import json
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

import msgspec

from domsieve.types import DriverName

T = TypeVar("T")
Params = dict[str, Any]
Handler = Callable[[Params], None]

# Decoding a larger one would hold up the events of other pages, for seconds when a page has 100,000 nodes.
_LARGE_BYTES = 100_000


class CommandError(Exception):
    """The browser refused a command, or what it was meant for is gone.

    Attributes
    ----------
    message : what the browser said.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Session(ABC):
    """A conversation with one target: a page, or the browser itself."""

    def __init__(self) -> None:
        self._listeners: defaultdict[str, list[Handler]] = defaultdict(list)
        self._on_close: list[Callable[[], None]] = []
        self.is_open = True

    @abstractmethod
    async def ask(self, method: str, params: Params | None, kind: type[T]) -> T:
        """Return the answer to a command, decoded to `kind`.

        Raises
        ------
        CommandError : the browser refused, or the target is gone.
        """

    async def send(self, method: str, params: Params | None = None) -> Any:
        """Return the answer to a command as plain values; see `ask`."""
        return await self.ask(method, params, object)

    def on(self, event: str, handler: Handler) -> None:
        """Call `handler` with the parameters of each such event."""
        self._listeners[event].append(handler)

    def off(self, event: str, handler: Handler) -> None:
        """Call it no more."""
        self._listeners[event].remove(handler)

    def on_lost(self, handler: Callable[[], None]) -> None:
        """Call `handler` when the target is gone; at once if it is."""
        if self.is_open:
            self._on_close.append(handler)
        else:
            handler()

    def off_lost(self, handler: Callable[[], None]) -> None:
        """Call it no more."""
        if handler in self._on_close:
            self._on_close.remove(handler)

    def lose(self) -> None:
        """Take note that the target is gone; commands under way fail."""
        self.is_open = False
        mourners, self._on_close = self._on_close, []
        for handler in mourners:
            handler()


class Connection(ABC):
    """A browser under way, as a driver started it.

    Attributes
    ----------
    driver : the driver's name.
    root : the conversation with the browser itself; lost with it.
    pid : number of its process.
    is_flat : whether each conversation travels by itself, and not in that of its parent.
    """

    driver: DriverName
    is_flat: bool
    root: Session
    pid: int

    @abstractmethod
    async def attach(self, target_id: str) -> Session:
        """Return a new conversation with a page.

        Raises
        ------
        CommandError : there is no such page.
        """

    @contextlib.asynccontextmanager
    async def following(
        self, session: Session, take: Callable[[Session, Params], None]
    ) -> AsyncIterator[None]:
        """Attach, while a block of code runs, to what a page starts in threads and processes of their own: workers.

        Parameters
        ----------
        session : the conversation with the page, or with a worker that starts others.
        take : called with a new conversation with each, and what the browser says of it. It waits until it is told
            to run (``Runtime.runIfWaitingForDebugger``).

        Raises
        ------
        CommandError : on entering, the page is gone.
        """

        def meet(event: Params) -> None:
            take(self._child(session, event["sessionId"]), event["targetInfo"])

        handlers = {
            "Target.attachedToTarget": meet,
            "Target.detachedFromTarget": self._detach,
            "Target.receivedMessageFromTarget": self._carry,
        }
        for event, handler in handlers.items():
            session.on(event, handler)
        try:
            await session.send("Target.setAutoAttach", self._attaching(True))
            yield
        finally:
            with contextlib.suppress(CommandError):
                await session.send("Target.setAutoAttach", self._attaching(False))
            for event, handler in handlers.items():
                session.off(event, handler)

    def _attaching(self, is_wanted: bool) -> Params:
        return {"autoAttach": is_wanted, "waitForDebuggerOnStart": is_wanted, "flatten": self.is_flat}

    @abstractmethod
    def _child(self, parent: Session, session_id: str) -> Session:
        """Return a new conversation that the browser has begun by itself."""

    @abstractmethod
    def _detach(self, event: Params) -> None:
        """Take note that a conversation has ended."""

    @abstractmethod
    def _carry(self, event: Params) -> None:
        """Hand a message on to the conversation that it belongs to, where others carry it."""

    @abstractmethod
    async def close(self) -> None:
        """End the browser and what the driver started for it, by force if they do not answer."""

    @property
    def is_open(self) -> bool:
        """Whether the browser answers, as far as is known."""
        return self.root.is_open


async def browser_pid(root: Session) -> int:
    """Return the number of the browser's process; what was started may be a script that starts the browser.

    Parameters
    ----------
    root : the conversation with the browser itself.

    Raises
    ------
    CommandError : the browser refused, or is gone.
    """
    processes = await root.send("SystemInfo.getProcessInfo")
    return next(int(entry["id"]) for entry in processes["processInfo"] if entry["type"] == "browser")


class _Fault(msgspec.Struct):
    message: str = ""
    data: Any = None


_NOTHING = msgspec.Raw(b"{}")


class Message(msgspec.Struct):
    """One message of the browser; what it carries is decoded only when somebody wants it."""

    id: int | None = None
    method: str = ""
    session_id: str = msgspec.field(default="", name="sessionId")
    params: msgspec.Raw = _NOTHING
    result: msgspec.Raw = _NOTHING
    error: _Fault | None = None


class MessageSession(Session):
    """A session whose messages are JSON.

    Parameters
    ----------
    session_id : the browser's name for it; empty for the browser's own.
    """

    def __init__(self, session_id: str = "") -> None:
        super().__init__()
        self.session_id = session_id
        self._numbers = 0
        self._waiting: dict[int, asyncio.Future[msgspec.Raw]] = {}

    @abstractmethod
    async def write(self, message: Params) -> None:
        """Send a message to the target.

        Raises
        ------
        CommandError : it cannot be reached.
        """

    async def ask(self, method: str, params: Params | None, kind: type[T]) -> T:
        """Return the answer to a command; see `Session.ask`."""
        if not self.is_open:
            raise CommandError(f"{method}: the target is gone.")
        self._numbers += 1
        number = self._numbers
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            await self.write({"id": number, "method": method, "params": params or {}})
            result = await answer
        except CommandError as error:
            raise CommandError(f"{method}: {error.message}") from None
        finally:
            self._waiting.pop(number, None)
            answer.cancel()
        if memoryview(result).nbytes > _LARGE_BYTES:
            return await asyncio.to_thread(decode, result, kind)
        return decode(result, kind)

    def receive(self, message: Message) -> None:
        """Take a message of the target."""
        if message.id is None:
            if handlers := self._listeners.get(message.method):
                params = decode(message.params, dict[str, Any])
                for handler in [*handlers]:
                    handler(params)
            return
        answer = self._waiting.pop(message.id, None)
        if answer is None or answer.done():
            return
        if message.error:
            answer.set_exception(CommandError(message.error.message))
        else:
            answer.set_result(message.result)

    def lose(self) -> None:
        """Take note that the target is gone; commands under way fail."""
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(CommandError("the target is gone."))
        super().lose()


def decode(text: str | bytes | msgspec.Raw, kind: type[T]) -> T:
    """Return the JSON `text` as `kind`; half surrogate pairs, which pages may contain, become U+FFFD."""
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        loose = json.dumps(json.loads(text if isinstance(text, str) else bytes(text)), ensure_ascii=False)
        whole = loose.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return msgspec.json.decode(whole, type=kind)
