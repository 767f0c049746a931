"""Record the requests and responses of a page, its frames and its workers, by the events of the browser.

Nothing is between the page and its servers. Headers come with events while the page loads. Bodies are requested from
the browser after the capture, so that recording does not influence loading. If possible, Chrome keeps bodies outside
of the process of the page (``enableDurableMessages``). Otherwise bodies of earlier documents and of blobs are lost.
"""

import asyncio
import base64
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial

from domsieve.archive.http_exchange import Exchange, Fields, Outcome, Recorded
from domsieve.options import Budget, CaptureOptions
from domsieve.renderer.browser.connection import CommandError, Connection, Params, Session
from domsieve.renderer.browser.opening import storage_state
from domsieve.renderer.browser.tab import Tab
from domsieve.renderer.page.capture import Body
from domsieve.urls import without_credentials

_WEB = ("http:", "https:")
_AT_ONCE = 8
_DOCUMENT = "Document"
_POST_BYTES = 65_536
_NO_BODY = frozenset({204, 205, 304})
_NOT_MODIFIED = 304
_REVEALING = frozenset({"authorization", "proxy-authorization"})
_OF_THE_GUARD = "proxy-connection"  # headers for the proxy, not for the server
_COOKIE, _SET_COOKIE = "cookie", "set-cookie"
_SHARED = "shared_worker"
_COUNTED = {
    "Network.webSocketCreated": "web sockets",
    "Network.webTransportCreated": "web transports",
    "Network.directTCPSocketCreated": "direct sockets",
}
_SHARED_WORKERS = "workers that pages share"


@dataclass(slots=True)
class _Asked:
    """One request, or one hop of a redirect, as far as it is known from events."""

    session: Session
    number: str
    request: Params
    kind: str
    at: float
    has_extra: bool = True  # whether extra events contain the real headers
    response: Params = field(default_factory=dict)
    received: int = 0
    is_cached: bool = False
    is_redirect: bool = False
    is_over: bool = False
    fault: str = ""
    saved: tuple[Outcome, bytes] | None = None  # saved before the page was left

    @property
    def key(self) -> tuple[str, str, str, str]:
        request = self.request
        headers = {name.lower(): value for name, value in request["headers"].items()}
        return request["method"], request["url"], str(request.get("postData")), headers.get("range", "")


class Recorder:
    """Records one page; `recording` creates it.

    Parameters
    ----------
    tab : the page.
    options : their headers and cookies are left out of the recording.
    budget : limits what the page may load, and so what the browser must keep.
    """

    def __init__(self, connection: Connection, tab: Tab, options: CaptureOptions, budget: Budget) -> None:
        self._connection, self._tab = connection, tab
        self._context, self._frame, self._is_heard = "", "", False
        self._options = options
        most = 2 * budget.received_bytes
        self._buffers = {
            "enableDurableMessages": True,
            "maxTotalBufferSize": most,
            "maxResourceBufferSize": budget.received_bytes,
            "maxPostDataSize": _POST_BYTES,
        }
        self._asked: list[_Asked] = []
        self._latest: dict[str, _Asked] = {}
        self._sent: dict[str, list[Params]] = {}
        self._came: dict[str, list[Params]] = {}
        self._missing: Counter[str] = Counter()
        self._sessions: list[tuple[Session, dict[str, Callable[[Params], None]]]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._follows = contextlib.AsyncExitStack()

    async def begin(self) -> None:
        """Start recording.

        Raises
        ------
        CommandError : the page is gone.
        """
        session, root = self._tab.session, self._connection.root
        self._listen(session)
        _, _, target = await asyncio.gather(
            self._enable(session),
            self._follow(session),
            root.send("Target.getTargetInfo", {"targetId": self._tab.target_id}),
        )
        self._context = target["targetInfo"].get("browserContextId", "")
        root.on("Target.targetCreated", self._meet_shared)
        self._is_heard = True

    async def end(self) -> None:
        """Stop recording."""
        if self._is_heard:
            self._connection.root.off("Target.targetCreated", self._meet_shared)
        for task in self._tasks:
            task.cancel()
        with contextlib.suppress(CommandError):
            await self._follows.aclose()
        for session, handlers in self._sessions:
            for event, handler in handlers.items():
                session.off(event, handler)

    async def collect(self, *, limit_s: float) -> Recorded:
        """Return the recording, with the bodies that the browser returns within `limit_s` seconds."""
        told, seen = [], set()
        for asked in self._asked:
            # A replay has no cache, so responses from the cache are recorded as well, but each only once.
            if not (asked.is_cached and asked.key in seen):
                told.append(asked)
            seen.add(asked.key)
        bodies: dict[int, tuple[Outcome, bytes]] = {}
        posts: dict[int, bytes] = {}
        free = asyncio.Semaphore(_AT_ONCE)

        async def fetch(place: int, asked: _Asked) -> None:
            async with free:
                posts[place] = await _post_of(asked)
                bodies[place] = asked.saved or await _body_of(asked, self._status(asked))

        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                await asyncio.gather(*(fetch(place, asked) for place, asked in enumerate(told)))
        exchanges = [
            self._exchange(asked, posts.get(place, b""), *bodies.get(place, ("lost", b"")))
            for place, asked in enumerate(told)
        ]
        return Recorded(exchanges=tuple(exchanges), missing=tuple(sorted(self._missing.items())))

    # Events.

    def _listen(self, session: Session) -> None:
        handlers: dict[str, Callable[[Params], None]] = {
            "Network.requestWillBeSent": partial(self._ask, session),
            "Network.requestWillBeSentExtraInfo": partial(_note, self._sent),
            "Network.responseReceived": partial(self._answer, session),
            "Network.responseReceivedExtraInfo": partial(_note, self._came),
            "Network.requestServedFromCache": self._find_cached,
            "Network.dataReceived": self._receive,
            "Network.loadingFinished": self._finish,
            "Network.loadingFailed": self._fail,
            **{event: partial(self._count, what) for event, what in _COUNTED.items()},
        }
        for event, handler in handlers.items():
            session.on(event, handler)
        self._sessions.append((session, handlers))

    async def _enable(self, session: Session) -> None:
        try:
            await session.send("Network.enable", self._buffers)
        except CommandError:  # not in older browsers, and not for workers
            plain = {name: value for name, value in self._buffers.items() if name != "enableDurableMessages"}
            await session.send("Network.enable", plain)

    async def _follow(self, session: Session) -> None:
        await self._follows.enter_async_context(self._connection.following(session, self._meet))

    def _meet(self, session: Session, _: Params) -> None:
        """Record a worker, and let it run."""
        self._listen(session)
        self._do(self._start(session))

    async def _start(self, session: Session) -> None:
        await asyncio.gather(
            self._enable(session),
            self._follow(session),
            session.send("Runtime.runIfWaitingForDebugger"),
            return_exceptions=True,
        )

    def _meet_shared(self, event: Params) -> None:
        """Record the requests of a shared worker from now on."""
        target = event["targetInfo"]
        if target["type"] == _SHARED and target.get("browserContextId", "") == self._context:
            self._missing[_SHARED_WORKERS] += 1
            self._do(self._start_shared(target["targetId"]))

    async def _start_shared(self, target_id: str) -> None:
        with contextlib.suppress(CommandError):
            session = await self._connection.attach(target_id)
            self._listen(session)
            await self._enable(session)

    def _do(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _ask(self, session: Session, event: Params) -> None:
        number, before = event["requestId"], self._latest.get(event["requestId"])
        if not event["request"]["url"].startswith(_WEB):
            return
        if before and "redirectResponse" in event:
            before.response, before.is_redirect, before.is_over = event["redirectResponse"], True, True
            before.has_extra = event.get("redirectHasExtraInfo", True)
        elif before:  # reported by the page and by its worker
            return
        if event.get("type") == _DOCUMENT and number == event.get("loaderId") and not before:
            self._frame = self._frame or event.get("frameId", "")
            if self._asked and event.get("frameId", "") == self._frame:
                self._do(self._save([*self._asked]))
        asked = _Asked(
            session, number, event["request"], event.get("type", "Other"), event.get("wallTime", 0.0)
        )
        self._latest[number] = asked
        self._asked.append(asked)

    async def _save(self, asked: Sequence[_Asked]) -> None:
        """Save the bodies of a page that is about to be left, because the browser may drop them."""
        for one in asked:
            if one.is_over and not one.saved and not one.fault:
                outcome, body = await _body_of(one, self._status(one))
                if outcome == "whole":
                    one.saved = outcome, body

    def _answer(self, session: Session, event: Params) -> None:
        if asked := self._latest.get(event["requestId"]):
            asked.session, asked.response = session, event["response"]
            asked.has_extra = event.get("hasExtraInfo", True)
            asked.is_cached |= bool(event["response"].get("fromDiskCache"))

    def _find_cached(self, event: Params) -> None:
        if asked := self._latest.get(event["requestId"]):
            asked.is_cached = True

    def _receive(self, event: Params) -> None:
        if asked := self._latest.get(event["requestId"]):
            # For a blob, the browser reports only the encoded length.
            asked.received += max(event["dataLength"], event["encodedDataLength"])

    def _finish(self, event: Params) -> None:
        if asked := self._latest.get(event["requestId"]):
            asked.is_over = True
            if asked.kind == _DOCUMENT:  # it may redirect at once
                self._do(self._save([asked]))

    def _fail(self, event: Params) -> None:
        if asked := self._latest.get(event["requestId"]):
            asked.is_over, asked.fault = True, event.get("errorText", "") or "net::ERR_FAILED"

    def _count(self, what: str, _: Params) -> None:
        self._missing[what] += 1

    # The results.

    def _extra(self, told: dict[str, list[Params]], asked: _Asked) -> Params:
        """Return the event with the real headers; these events come in the order of hops, before or after them."""
        if not asked.has_extra:
            return {}
        hops = [one for one in self._asked if one.number == asked.number and one.has_extra]
        place, known = hops.index(asked), told.get(asked.number, [])
        return known[place] if place < len(known) else {}

    def _status(self, asked: _Asked) -> int:
        return int(asked.response.get("status") or self._extra(self._came, asked).get("statusCode", 0))

    def _exchange(self, asked: _Asked, post: bytes, outcome: Outcome, body: bytes) -> Exchange:
        came, sent = self._extra(self._came, asked), self._extra(self._sent, asked)
        status, response = self._status(asked), asked.response
        if came.get("statusCode") == _NOT_MODIFIED != status:
            came = {}  # the browser had the body in its cache, and says so
        headers = _headers(came or response)
        options = self._options
        request_headers = tuple((sent or asked.request)["headers"].items())
        if not options.record_credentials:
            request_headers, headers = _without_credentials(request_headers, headers, options)
        url = without_credentials(asked.request["url"])
        return Exchange(
            url=url,
            method=asked.request["method"],
            kind=asked.kind,
            asked_at=_date(asked.at),
            request_headers=tuple(
                (name, value) for name, value in request_headers if not name.startswith(":")
            ),
            request_body=post,
            outcome=outcome,
            fault=asked.fault,
            status=status,
            reason=response.get("statusText", ""),
            headers=headers,
            body=body,
        )


@contextlib.asynccontextmanager
async def recording(
    connection: Connection, tab: Tab, options: CaptureOptions, budget: Budget
) -> AsyncIterator[Recorder | None]:
    """Record a page while a block of code runs, if its options say so.

    Raises
    ------
    CommandError : the page is gone.
    """
    if not options.record:
        yield None
        return
    recorder = Recorder(connection, tab, options, budget)
    try:
        await recorder.begin()
        yield recorder
    finally:
        await recorder.end()


def with_more(recorded: Recorded | None, more: Recorded | None) -> Recorded | None:
    """Return the recording of a page together with the other requests of a second one."""
    if recorded is None or more is None:
        return recorded or more
    known = {(one.method, one.url, one.request_body) for one in recorded.exchanges}
    others = (one for one in more.exchanges if (one.method, one.url, one.request_body) not in known)
    missing = Counter(dict(recorded.missing)) | Counter(dict(more.missing))
    return Recorded(exchanges=(*recorded.exchanges, *others), missing=tuple(sorted(missing.items())))


def _note(among: dict[str, list[Params]], event: Params) -> None:
    among.setdefault(event["requestId"], []).append(event)


async def _post_of(asked: _Asked) -> bytes:
    """Return the body of a request; empty if the browser no longer has it."""
    request = asked.request
    if not request.get("hasPostData"):
        return b""
    entries = request.get("postDataEntries", [])
    if "postData" in request and entries and all("bytes" in entry for entry in entries):
        return b"".join(base64.b64decode(entry["bytes"]) for entry in entries)
    try:
        answer = await asked.session.send("Network.getRequestPostData", {"requestId": asked.number})
    except CommandError:
        return b""
    text: str = answer["postData"]
    return base64.b64decode(text) if answer.get("base64Encoded") else text.encode("utf-8", "replace")


async def _body_of(asked: _Asked, status: int) -> tuple[Outcome, bytes]:
    """Return how an exchange ended, and the body of the response."""
    if asked.fault:
        return "failed", await _begun(asked) if status else b""
    if not status:
        return "unanswered", b""
    if asked.is_redirect or status in _NO_BODY or asked.request["method"] in {"HEAD", "OPTIONS"}:
        return "whole", b""
    if not asked.is_over and asked.response:
        return "cut", await _begun(asked)
    try:
        answer = await asked.session.send("Network.getResponseBody", {"requestId": asked.number})
    except CommandError:
        return ("lost" if asked.received or not asked.is_over else "whole"), b""
    body = Body(answer["body"], answer["base64Encoded"])
    data = body.to_bytes(asked.response.get("charset") or "UTF-8", "charset=utf-8")
    return ("lost" if asked.received and not data else "whole"), data


async def _begun(asked: _Asked) -> bytes:
    """Return the part of an unfinished body that has arrived."""
    try:
        answer = await asked.session.send("Network.streamResourceContent", {"requestId": asked.number})
    except CommandError:
        return b""
    return base64.b64decode(answer.get("bufferedData", ""))


def _headers(came: Params) -> Fields:
    """Return the headers of a response; repeated ones are separate."""
    if text := came.get("headersText"):
        lines = (line.partition(":") for line in text.split("\r\n")[1:] if ":" in line)
        return tuple((name.strip(), value.strip()) for name, _, value in lines)
    return tuple(
        (name, line)
        for name, value in came.get("headers", {}).items()
        if not name.startswith(":")
        for line in value.split("\n")
    )


def _without_credentials(
    sent: Iterable[tuple[str, str]], came: Fields, options: CaptureOptions
) -> tuple[Fields, Fields]:
    """Return headers without those of the options."""
    state = storage_state(options).get("cookies", ())
    cookies = {name for name, _ in options.cookies} | {cookie["name"] for cookie in state}
    given = _REVEALING | {name.lower() for name, _ in options.headers} | ({_COOKIE} if cookies else set())
    return (
        tuple((name, value) for name, value in sent if name.lower() not in given),
        tuple(
            (name, value)
            for name, value in came
            if not (name.lower() == _SET_COOKIE and value.partition("=")[0].strip() in cookies)
        ),
    )


def _date(seconds: float) -> str:
    date = datetime.fromtimestamp(seconds, UTC) if seconds else datetime.now(UTC)
    return date.isoformat(timespec="milliseconds").replace("+00:00", "Z")
