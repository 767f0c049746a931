"""The interface of drivers: a connection that sends commands to a browser and receives the events of its targets.

Everything above (contexts, tabs, pages, capture) is the same for all drivers, which differ only in how they transport
messages of the Chrome DevTools Protocol. Responses are decoded only once, and only into the fields that are needed,
because a DOM snapshot has several megabytes.
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

# Decoding a larger one would delay the events of other pages, by seconds for a page of 100,000 nodes.
_LARGE_BYTES = 100_000


class CommandError(Exception):
    """The browser refused a command, or the target is gone.

    Attributes
    ----------
    message : the message of the browser.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Session(ABC):
    """A session with one target: a page, a worker, or the browser itself."""

    def __init__(self) -> None:
        self._listeners: defaultdict[str, list[Handler]] = defaultdict(list)
        self._on_close: list[Callable[[], None]] = []
        self.is_open = True

    @abstractmethod
    async def ask(self, method: str, params: Params | None, kind: type[T]) -> T:
        """Send a command and return the response, decoded to `kind`.

        Raises
        ------
        CommandError : the browser refused, or the target is gone.
        """

    async def send(self, method: str, params: Params | None = None) -> Any:
        """Send a command and return the response as plain values; see `ask`."""
        return await self.ask(method, params, object)

    def on(self, event: str, handler: Handler) -> None:
        """Call `handler` with the parameters of each event of this name."""
        self._listeners[event].append(handler)

    def off(self, event: str, handler: Handler) -> None:
        """Remove a handler."""
        self._listeners[event].remove(handler)

    def on_lost(self, handler: Callable[[], None]) -> None:
        """Call `handler` when the target is lost, or at once if it already is."""
        if self.is_open:
            self._on_close.append(handler)
        else:
            handler()

    def off_lost(self, handler: Callable[[], None]) -> None:
        """Remove a handler for the loss of the target."""
        if handler in self._on_close:
            self._on_close.remove(handler)

    def lose(self) -> None:
        """Take note that the target is gone; commands under way fail."""
        self.is_open = False
        mourners, self._on_close = self._on_close, []
        for handler in mourners:
            handler()


class Connection(ABC):
    """A connection to a running browser.

    Attributes
    ----------
    driver : the name of the driver.
    root : the session with the browser itself.
    pid : process ID of the browser.
    is_flat : whether sessions are independent, and not inside the session of their parent.
    """

    driver: DriverName
    is_flat: bool
    root: Session
    pid: int

    @abstractmethod
    async def attach(self, target_id: str) -> Session:
        """Open a new session with a page.

        Raises
        ------
        CommandError : there is no such page.
        """

    @contextlib.asynccontextmanager
    async def following(
        self, session: Session, take: Callable[[Session, Params], None]
    ) -> AsyncIterator[None]:
        """Attach to the workers that a page starts while a block of code runs.

        Parameters
        ----------
        session : the session with the page, or with a worker that starts others.
        take : called with a new session with each worker and the information of the browser about it. The worker
            waits for the command ``Runtime.runIfWaitingForDebugger``.

        Raises
        ------
        CommandError : on entering: the page is gone.
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
        """Return the session object for a session that the browser opened."""

    @abstractmethod
    def _detach(self, event: Params) -> None:
        """Handle the end of a session."""

    @abstractmethod
    def _carry(self, event: Params) -> None:
        """Pass a message to its session, for drivers with sessions inside sessions."""

    @abstractmethod
    async def close(self) -> None:
        """Close the browser and the processes of the driver; kill them if they do not respond."""

    @property
    def is_open(self) -> bool:
        """Whether the connection is open, as far as is known."""
        return self.root.is_open


async def browser_pid(root: Session) -> int:
    """Return the process ID of the browser. The program that was started may be a script that starts the browser.

    Parameters
    ----------
    root : the session with the browser itself.

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
    """A message of the browser; its content is decoded on demand."""

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
    session_id : the ID of the session; empty for that of the browser itself.
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
        """Send a command and return the response; see `Session.ask`."""
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
        """Handle a message of the target."""
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
    """Decode JSON to `kind`; lone surrogates, which pages may contain, become U+FFFD."""
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        loose = json.dumps(json.loads(text if isinstance(text, str) else bytes(text)), ensure_ascii=False)
        whole = loose.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return msgspec.json.decode(whole, type=kind)
