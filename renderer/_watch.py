"""What happens to one page while it loads, told by the browser's events, held against its budget.

Imports nothing of the project but its wire and options.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from math import inf
from typing import Any

import msgspec

from renderer._options import Budget
from renderer._wire import decode

# The measured policy: requests of these kinds can still bring content ...
_CONTENT_KINDS = frozenset({"Document", "Script", "Stylesheet", "XHR", "Fetch"})
_DATA_KINDS = frozenset({"XHR", "Fetch"})
# ... unless they stay open, as long polls do,
_IN_FLIGHT_LIMIT_S = 2.0
# or come again and again, as polls do.
_CALLS_THAT_COUNT = 3
_DATA_STILL_S = 0.3
_INTERACTIVE_LIMIT_S = 3.0
# A page may redirect itself; one that goes on is no page to wait for.
_NAVIGATION_LIMIT = 6


class Response(msgspec.Struct, frozen=True, rename="camel"):
    """Main response of a navigation."""

    url: str = ""
    status: int | None = None
    mime_type: str = ""
    headers: dict[str, Any] = {}

    @property
    def content_type(self) -> str:
        """The Content-Type header, empty when there was none."""
        return next(
            (str(value) for name, value in self.headers.items() if name.lower() == "content-type"), ""
        )


class _Request(msgspec.Struct):
    url: str


class _RequestEvent(msgspec.Struct, rename="camel"):
    request_id: str
    request: _Request
    type: str = "Other"


class _ResponseEvent(msgspec.Struct, rename="camel"):
    request_id: str
    loader_id: str
    response: msgspec.Raw
    frame_id: str = ""


class _DataEvent(msgspec.Struct, rename="camel"):
    data_length: int


class _EndEvent(msgspec.Struct, rename="camel"):
    request_id: str
    encoded_data_length: float = 0.0


class _Frame(msgspec.Struct, rename="camel"):
    loader_id: str
    parent_id: str | None = None


class _FrameEvent(msgspec.Struct):
    frame: _Frame


class Watch:
    """The state of one page's loading.

    Parameters
    ----------
    frame_id : the page's own frame.
    budget : what the page may cost.
    on_cut : called once, when something else than time is used up.
    """

    def __init__(self, frame_id: str, budget: Budget, on_cut: Callable[[], None]) -> None:
        self.frame_id = frame_id
        self.budget = budget
        self.on_cut = on_cut
        self.cut_reason = ""
        self.requests = 0
        self.received_bytes = 0
        self.transferred_bytes = 0
        self.frames = 0
        self.navigations = 0
        self.loader_id = ""
        self.committed_at = inf
        self.interactive = False
        self.loaded = False
        self.response = Response()
        self._responses: dict[str, Response] = {}
        self._now = asyncio.get_running_loop().time
        self._in_flight: dict[str, tuple[str, float]] = {}
        self._calls: Counter[str] = Counter()
        self._data_at = -inf
        self._idle_at = -inf
        self._event = asyncio.Event()
        self._handlers: dict[str, Callable[[msgspec.Raw], None]] = {
            "Network.requestWillBeSent": self._request,
            "Network.responseReceived": self._respond,
            "Network.dataReceived": self._receive,
            "Network.loadingFinished": self._finish,
            "Network.loadingFailed": self._finish,
            "Page.frameAttached": self._attach_frame,
            "Page.frameNavigated": self._navigate,
            "Page.domContentEventFired": self._be_interactive,
            "Page.loadEventFired": self._load,
        }

    def __call__(self, method: str, params: msgspec.Raw) -> None:
        """Take one event."""
        if (handler := self._handlers.get(method)) and not self.cut_reason:
            handler(params)
            self._event.set()

    def cut(self, reason: str) -> None:
        """End the loading; the first reason counts."""
        if not self.cut_reason:
            self.cut_reason = reason
            self.on_cut()

    async def change(self, limit_s: float) -> None:
        """Wait for the next event, at most `limit_s` seconds."""
        self._event.clear()
        try:
            async with asyncio.timeout(limit_s if limit_s < inf else None):
                await self._event.wait()
        except TimeoutError:
            pass

    def busy_for(self) -> float:
        """Return for how many seconds the page will not be settled if nothing happens; 0 when it may be."""
        now = self._now()
        waits = [0.0, self._data_at + _DATA_STILL_S - now]
        if not self.loaded:
            waits.append(self.committed_at + _INTERACTIVE_LIMIT_S - now if self.interactive else inf)
        waits += [
            since + _IN_FLIGHT_LIMIT_S - now
            for kind, since in self._in_flight.values()
            if kind in _CONTENT_KINDS
        ]
        return max(waits)

    def idle_s(self) -> float:
        """Return for how many seconds no request has been under way."""
        return 0.0 if self._in_flight else self._now() - self._idle_at

    def _request(self, params: msgspec.Raw) -> None:
        event = decode(params, _RequestEvent)
        url = event.request.url
        if url.startswith("data:"):
            return
        self.requests += 1
        self._calls[url] += 1
        if self._calls[url] <= _CALLS_THAT_COUNT or event.type not in _DATA_KINDS:
            self._in_flight[event.request_id] = (event.type, self._now())
        if self.requests > self.budget.requests:
            self.cut(f"requests: the budget of {self.budget.requests} is used up")

    def _respond(self, params: msgspec.Raw) -> None:
        event = decode(params, _ResponseEvent)
        if event.request_id != event.loader_id or event.frame_id != self.frame_id:
            return
        response = self._responses[event.loader_id] = decode(event.response, Response)
        if not self.navigations:
            self.response = response

    def _receive(self, params: msgspec.Raw) -> None:
        self.received_bytes += decode(params, _DataEvent).data_length
        if self.received_bytes > self.budget.received_bytes:
            self.cut(f"bytes: the budget of {self.budget.received_bytes:,} is used up")

    def _finish(self, params: msgspec.Raw) -> None:
        event = decode(params, _EndEvent)
        self.transferred_bytes += int(event.encoded_data_length)
        kind, _ = self._in_flight.pop(event.request_id, ("", 0.0))
        if kind in _DATA_KINDS:
            self._data_at = self._now()
        if kind and not self._in_flight:
            self._idle_at = self._now()

    def _attach_frame(self, _: msgspec.Raw) -> None:
        self.frames += 1
        if self.frames > self.budget.frames:
            self.cut(f"frames: the budget of {self.budget.frames} is used up")

    def _navigate(self, params: msgspec.Raw) -> None:
        frame = decode(params, _FrameEvent).frame
        if frame.parent_id is not None:
            return
        self.navigations += 1
        self.loader_id = frame.loader_id
        self.response = self._responses.get(frame.loader_id, Response())
        self.committed_at = self._now()
        self.interactive = self.loaded = False
        self.frames = 0
        self._in_flight.clear()

    def _be_interactive(self, _: msgspec.Raw) -> None:
        self.interactive = True
        if self.navigations > _NAVIGATION_LIMIT:
            self.cut(f"unstable: the page loaded itself anew {self.navigations - 1} times")

    def _load(self, _: msgspec.Raw) -> None:
        self.loaded = self.interactive = True
