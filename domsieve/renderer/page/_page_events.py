"""Follow the loading of one page by the events of the browser, and check its budget."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import chain
from math import inf
from typing import Any, TypeVar

from domsieve.options import Budget
from domsieve.renderer._limits import Timeouts
from domsieve.renderer.protocol import LoadedFile
from domsieve.snapshot.cut import Cut, CutKind
from domsieve.snapshot.page import validator

# Requests of these kinds can bring content, unless they are repeated like polls. See `Timeouts` for the measurements.
_CONTENT_KINDS = frozenset({"Document", "Script", "Stylesheet", "XHR", "Fetch"})
_DATA_KINDS = frozenset({"XHR", "Fetch"})
# What an application needs before anything is visible.
_DRAWING_KINDS = frozenset({"Script", "Stylesheet"})
# What a page depends on; style sheets and pictures change no text.
_FILE_KINDS = frozenset({"Document", "Script", "XHR", "Fetch"})
_LIVE_KINDS = frozenset({"EventSource", "WebSocket"})
_PICTURE, _MEDIA = "Image", "Media"
# A server says so that it has no such file. Other errors, from the second on, may be gone when a reader comes.
_NO_FILE, _FIRST_ERROR = frozenset({204, 404, 410}), 400
_MOST_PICTURES, _LONGEST_PICTURE = 200, 1_000
_CALLS_THAT_COUNT = 3
# A page may redirect itself, but not without end.
_NAVIGATION_LIMIT = 4
_LOOK_S = 0.05
# Texts that scripts fetch and that contain nothing for readers.
_PROGRAMS = frozenset({"text/css", "text/javascript"})

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Response:
    """The main response of a navigation, or a response with data.

    Parameters
    ----------
    has_scripts : whether its page may run scripts; see `allows_scripts`.
    """

    url: str = ""
    status: int | None = None
    mime_type: str = ""
    content_type: str = ""
    etag: str = ""
    last_modified: str = ""
    has_scripts: bool = True


def allows_scripts(policies: str) -> bool:
    """Return whether headers ``Content-Security-Policy`` let a page run scripts: no sandbox of theirs forbids it.

    Of each policy, the first sandbox counts: https://www.w3.org/TR/CSP3/#parse-serialized-policy.
    """
    for policy in policies.replace("\n", ",").split(","):
        directives = [one.lower().split() for one in policy.split(";")]
        sandboxes = [one for one in directives if one[:1] == ["sandbox"]]
        if sandboxes and "allow-scripts" not in sandboxes[0]:
            return False
    return True


def carries_data(kind: str, mime_type: str) -> bool:
    """Return whether a response may contain words of the page: JSON, or text that a script fetched.

    Parameters
    ----------
    kind : the browser's name for the type of the request.
    mime_type : MIME type of the response.
    """
    if "json" in mime_type:
        return kind in _DATA_KINDS or kind == "Script"
    is_text = mime_type.startswith("text/") or mime_type.endswith(("xml", "yaml"))
    return kind in _DATA_KINDS and is_text and mime_type not in _PROGRAMS


class PageEvents:
    """The state of a page while it loads.

    Parameters
    ----------
    budget : the limits of the page.
    on_cut : called once, when loading must stop.
    timeouts : how long to wait for the page.
    """

    def __init__(self, budget: Budget, on_cut: Callable[[], None], timeouts: Timeouts) -> None:
        self.budget = budget
        self.on_cut = on_cut
        self.timeouts = timeouts
        self.cut_by: Cut | None = None
        self.requests = 0
        self.received_bytes = 0
        self.transferred_bytes = 0
        self.data: dict[str, Response] = {}
        self._files: dict[str, LoadedFile] = {}
        self._depends_on_more = False
        self._shown: dict[str, str] = {}  # the addresses of pictures by their requests
        self._played: dict[str, str] = {}  # the addresses of videos and sounds by theirs
        self._framed: dict[str, str] = {}  # the frames of documents by their requests
        # The requests of style sheets that do not apply when they are asked for, such as those for printing.
        self._idle_sheets: dict[str, tuple[str, str]] = {}  # each with its address and its frame
        self._pictures_found: dict[str, bool] = {}
        # The requests of style sheets, scripts and clip paths (`clip-path`) without which browsers do not paint.
        self._blocking: dict[str, str] = {}  # each with its frame
        self.sheets: set[tuple[str, str]] = set()  # the addresses of style sheets and their frames
        # The addresses of style sheets by their requests, with those that they were redirected to.
        self._sheet_urls: dict[str, list[str]] = {}
        self._sheets_found: set[str] = set()
        self.document_url = ""  # of the latest navigation, including redirects
        self.arrived_url = ""  # of the current document, or of one that failed
        self.origins: set[str] = set()  # of all requests
        self.document_origins: set[str] = set()  # of the page and its frames, and of earlier documents
        self.frames = 0
        self.navigations = 0
        self.frame_id = ""
        self._main_frame = ""
        self.loader_id = ""
        self.is_error_page = False
        self.committed_at = inf
        self.interactive = False
        self.loaded = False
        self._responses: dict[str, Response] = {}
        # The address of the document of each frame, and its header `Refresh`.
        self._refreshes: dict[str, tuple[str, str]] = {}
        self._now = asyncio.get_running_loop().time
        self._in_flight: dict[str, tuple[str, float]] = {}
        self._given_up: dict[str, tuple[str, float]] = {}
        self._has_given_up = False
        self.has_late_frames = False  # whether any frame got its document after loading was stopped
        self.has_late_pictures = False  # whether any picture was asked for then
        self.is_left_out = False  # whether what is asked for now does not count
        self._answered: set[str] = set()
        self.drawing_at = -inf  # when the last script or style sheet arrived that the page waits for
        self._known: set[str] = set()  # requests of this page; others belong to an earlier one
        self._calls: Counter[str] = Counter()
        self._data_at = -inf
        self._idle_at = -inf
        self._news = asyncio.Event()
        self.handlers: dict[str, Callable[[dict[str, Any]], None]] = {
            "Network.requestWillBeSent": self._request,
            "Network.webSocketCreated": self._open_socket,
            "Network.responseReceived": self._respond,
            "Network.dataReceived": self._receive,
            "Network.loadingFinished": self._finish,
            "Network.loadingFailed": self._fail,
            "Page.frameAttached": self._attach_frame,
            "Page.frameNavigated": self._navigate,
            "Page.domContentEventFired": self._be_interactive,
            "Page.loadEventFired": self._load,
        }

    def response(self, loader_id: str) -> Response:
        """Return the main response of a navigation; an empty one if there was none."""
        return self._responses.get(loader_id, Response())

    @property
    def has_scripts(self) -> bool:
        """Whether the page may run scripts; timers need that, even those of domsieve."""
        return self.response(self.loader_id).has_scripts

    @property
    def files(self) -> tuple[LoadedFile, ...] | None:
        """What the page depends on; see `Rendering`."""
        return None if self._depends_on_more else tuple(dict.fromkeys(self._files.values()))

    @property
    def refreshes(self) -> dict[str, list[str]]:
        """The headers `Refresh` of the documents in all frames, by their addresses."""
        found: dict[str, list[str]] = {}
        for url, refresh in self._refreshes.values():
            found.setdefault(url, []).append(refresh)
        return found

    @property
    def missing_pictures(self) -> tuple[str, ...]:
        """Addresses of pictures that the server does not have, sorted; see `Provenance`."""
        missing = (url for url, is_found in self._pictures_found.items() if not is_found)
        return tuple(sorted(url for url in missing if len(url) <= _LONGEST_PICTURE)[:_MOST_PICTURES])

    def cut(self, kind: CutKind, detail: str) -> None:
        """Stop loading; only the first reason is kept."""
        if not self.cut_by:
            self.cut_by = Cut(kind, detail)
            self.on_cut()

    async def news(self, limit_s: float) -> None:
        """Wait for an event after which the page may have settled, at most `limit_s` seconds."""
        self._news.clear()
        try:
            async with asyncio.timeout(limit_s if limit_s < inf else None):
                await self._news.wait()
        except TimeoutError:
            pass

    def busy_for(self) -> float:
        """Return for how many more seconds the page cannot be settled if nothing happens; 0 if it may be."""
        now, timeouts = self._now(), self.timeouts
        waits = [0.0, self._data_at + timeouts.still_s - now]
        if not self.loaded:
            waits.append(self.committed_at + timeouts.interactive_s - now if self.interactive else inf)
        waits += [
            since + timeouts.in_flight_s - now
            for kind, since in self._in_flight.values()
            if kind in _CONTENT_KINDS
        ]
        return max(waits)

    def is_undrawn(self) -> bool:
        """Return whether the page is not loaded, and scripts or style sheets are still loading.

        Those without a response for a long time do not count, because they may never get one.
        """
        since = self._now() - self.timeouts.in_flight_s
        return not self.loaded and any(
            kind in _DRAWING_KINDS and (begun > since or number in self._answered)
            for number, (kind, begun) in self._in_flight.items()
        )

    def idle_s(self) -> float:
        """Return for how many seconds there has been no pending request."""
        return 0.0 if self._in_flight else self._now() - self._idle_at

    @property
    def awaited_pictures(self) -> dict[str, bool]:
        """The addresses of pictures that have not come, and whether the page surely shows them.

        It does if they have begun to arrive, or were asked for since scripts are off.
        """
        return {
            self._shown[one]: one in self._answered or one not in self._given_up
            for one in self._pending
            if one in self._shown
        }

    @property
    def awaited_media(self) -> frozenset[str]:
        """The addresses of videos and sounds that have not come as a whole."""
        return self._late(self._played)

    async def arrive(self, limit_s: float) -> bool:
        """Wait for what is shown and was asked for since loading was stopped; return whether all of it has come."""

        def has_come() -> bool:
            late = self._in_flight.keys() - self._given_up
            return all(late.isdisjoint(some) for some in (self._shown, self._framed, self._blocking))

        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                while not has_come():  # noqa: ASYNC110 (of a few requests)
                    await asyncio.sleep(_LOOK_S)
        return has_come()

    @property
    def awaited_frames(self) -> frozenset[str]:
        """The frames whose document has not come."""
        return self._late(self._framed)

    @property
    def idle_sheets(self) -> frozenset[tuple[str, str]]:
        """The addresses and frames of style sheets that have not come, and did not apply when they were asked for."""
        return self._late(self._idle_sheets)

    @property
    def lost_sheets(self) -> frozenset[str]:
        """The addresses of style sheets that no server has sent until now."""
        return frozenset(chain.from_iterable(self._sheet_urls.values())) - self._sheets_found

    @property
    def unpainted(self) -> frozenset[str]:
        """The frames for which something has not come without which browsers do not paint."""
        return self._late(self._blocking)

    def _late(self, known: Mapping[str, T]) -> frozenset[T]:
        """Return what is known of the requests that have not come."""
        pending = self._pending
        return frozenset(one for number, one in known.items() if number in pending)

    @property
    def _pending(self) -> dict[str, tuple[str, float]]:
        """The requests that have not come, also those that were given up."""
        return self._given_up | self._in_flight

    def give_up(self) -> None:
        """Note that what is still loading will not come, before loading is stopped."""
        self._given_up |= self._in_flight
        self._has_given_up = True

    def _request(self, event: dict[str, Any]) -> None:
        if self.is_left_out:
            return
        url, kind = event["request"]["url"], event.get("type", "Other")
        self._known.add(event["requestId"])
        if url.startswith("data:"):
            return
        self.requests += 1
        self.origins.add(_origin(url))
        if event["requestId"] == event.get("loaderId") and kind == "Document":
            self._main_frame = self._main_frame or event.get("frameId", "")
            if event.get("frameId", "") == self._main_frame:
                self.document_url = url
        if kind == _PICTURE:
            self.has_late_pictures |= self._has_given_up
            self._shown.setdefault(event["requestId"], url)  # after a redirect, the page still has the first
        if kind == _MEDIA:
            self._played.setdefault(event["requestId"], url)
        if kind == "Document" and event.get("frameId", "") != self._main_frame:
            self._framed[event["requestId"]] = event.get("frameId", "")
        # Sheets for other media and what is only fetched in advance have the lowest priority.
        is_low = event["request"].get("initialPriority", "") == "VeryLow"
        if kind == "Stylesheet":
            self.sheets.add((url, event.get("frameId", "")))
            self._sheet_urls.setdefault(event["requestId"], []).append(url)
            if is_low:
                self._idle_sheets.setdefault(event["requestId"], (url, event.get("frameId", "")))
        may_block = kind in {"Stylesheet", "Other"} and not is_low
        if may_block or event.get("renderBlockingBehavior") == "Blocking":
            self._blocking[event["requestId"]] = event.get("frameId", "")
        is_sent = kind in _FILE_KINDS and event["request"].get("method", "GET") != "GET"
        self._depends_on_more |= is_sent or kind in _LIVE_KINDS
        self._calls[url] += 1
        if kind in _DATA_KINDS and self._calls[url] > _CALLS_THAT_COUNT:
            kind = "Poll"
        self._in_flight[event["requestId"]] = (kind, self._now())
        if self.requests > self.budget.requests:
            self.cut("requests", f"the budget of {self.budget.requests:,} is used up")

    def _open_socket(self, event: dict[str, Any]) -> None:
        self._depends_on_more = True
        if len(self.origins) < self.budget.requests:
            self.origins.add(_origin(event["url"]))

    def _respond(self, event: dict[str, Any]) -> None:
        response = event["response"]
        self._answered.add(event["requestId"])
        headers = {name.lower(): value for name, value in response["headers"].items()}
        etag, last_modified = (validator(headers.get(name, "")) for name in ("etag", "last-modified"))
        if event["requestId"] != self.loader_id and event.get("type", "") in _FILE_KINDS:
            url = response["url"]
            self._files[event["requestId"]] = LoadedFile(url, response["status"], etag, last_modified)
        if response["status"] < _FIRST_ERROR:
            self._sheets_found.update(self._sheet_urls.get(event["requestId"], ()))
        picture = self._shown.get(event["requestId"], "")
        if picture and event.get("type", "") == _PICTURE:
            is_found = response["status"] not in _NO_FILE or response["mimeType"].startswith("image/")
            self._pictures_found[picture] = is_found or self._pictures_found.get(picture, False)
        if event["requestId"] != event["loaderId"]:  # not a document
            if carries_data(event.get("type", ""), response["mimeType"]):
                self.data[event["requestId"]] = Response(
                    response["url"], response["status"], response["mimeType"]
                )
            return
        self._refreshes[event.get("frameId", "")] = response["url"], headers.get("refresh", "")
        self._responses[event["loaderId"]] = Response(
            response["url"],
            response["status"],
            response["mimeType"],
            headers.get("content-type", ""),
            etag,
            last_modified,
            allows_scripts(headers.get("content-security-policy", "")),
        )

    def _receive(self, event: dict[str, Any]) -> None:
        if event["requestId"] not in self._known:
            return
        self.received_bytes += event["dataLength"]
        if self.received_bytes > self.budget.received_bytes:
            self.cut("bytes", f"the budget of {self.budget.received_bytes:,} is used up")

    def _finish(self, event: dict[str, Any]) -> None:
        if event["requestId"] in self._known:
            self.transferred_bytes += int(event.get("encodedDataLength", 0))
        kind, _ = self._in_flight.pop(event["requestId"], ("", 0.0))
        if kind in _DRAWING_KINDS and not self.loaded:
            self.drawing_at = self._now()
        if kind in _DATA_KINDS:
            self._data_at = self._now()
        if kind and not self._in_flight:
            self._idle_at = self._now()
        if kind in _CONTENT_KINDS and self.interactive:
            self._news.set()

    def _fail(self, event: dict[str, Any]) -> None:
        self._finish(event)
        # In this case the browser sends no event that the document is parsed or loaded.
        if event["requestId"] == self.loader_id and not event.get("canceled"):
            self.cut("document", f"it broke off ({event.get('errorText', 'no reason given')})")

    def _attach_frame(self, _: dict[str, Any]) -> None:
        self.frames += 1
        if self.frames > self.budget.frames:
            self.cut("frames", f"the budget of {self.budget.frames:,} is used up")

    def _navigate(self, event: dict[str, Any]) -> None:
        frame = event["frame"]
        self.document_origins.add(frame.get("securityOrigin", ""))
        if "parentId" in frame:
            self.has_late_frames |= self._has_given_up and "unreachableUrl" not in frame
            return
        self.navigations += 1
        self.frame_id, self.loader_id = frame["id"], frame["loaderId"]
        self.is_error_page = "unreachableUrl" in frame
        self.arrived_url = frame.get("unreachableUrl") or frame.get("url", "")
        self.committed_at = self._idle_at = self._now()
        self.interactive = self.loaded = False
        self.frames = 0
        self.data = {}
        self._files, self._depends_on_more = {}, False
        self._pictures_found = {}
        self.drawing_at = -inf
        self._given_up = {}
        self._in_flight = {
            number: request for number, request in self._in_flight.items() if number == self.loader_id
        }
        self._news.set()

    def _be_interactive(self, _: dict[str, Any]) -> None:
        self.interactive = True
        self._news.set()
        if self.navigations > _NAVIGATION_LIMIT:
            self.cut("unstable", f"the page loaded itself anew {self.navigations - 1} times")

    def _load(self, _: dict[str, Any]) -> None:
        self.loaded = self.interactive = True
        self._news.set()


def _origin(url: str) -> str:
    return "/".join(url.split("/", 3)[:3])
