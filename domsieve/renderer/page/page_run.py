"""Render one page under one budget: open, navigate, settle, capture, close; and show its raw source."""

import asyncio
import base64
import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from domsieve.errors import ContentError, NavigationError, PolicyError
from domsieve.options import Budget, CaptureOptions
from domsieve.renderer._limits import Limits
from domsieve.renderer.browser.browser import RunningBrowser
from domsieve.renderer.browser.connection import CommandError, Params
from domsieve.renderer.browser.contexts import Lease
from domsieve.renderer.browser.tab import Tab
from domsieve.renderer.net_errors import explained
from domsieve.renderer.page._convert import Capture, convert, document_only
from domsieve.renderer.page._page_events import PageEvents
from domsieve.renderer.page.capture import (
    STYLE_NAMES,
    Body,
    capture_document,
    fetch_source,
    no_screenshot,
    stop,
    take_extras,
    to_json,
)
from domsieve.renderer.page.recorder import recording
from domsieve.renderer.page.settle import settle
from domsieve.renderer.protocol import DATA, SCREENSHOT, Rendering
from domsieve.snapshot.cut import Cut
from domsieve.snapshot.page import Provenance, Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """The raw source of a navigation.

    Parameters
    ----------
    url : its address after redirects, the base for its style sheets and images.
    source : the body of the response.
    content_type : the Content-Type header.
    """

    url: str
    source: bytes
    content_type: str


class Stage:
    """A tab that shows a given source; what the source loads comes from its servers as usual."""

    def __init__(self, tab: Tab, original: Original) -> None:
        self._tab = tab
        self._original = original
        self._frame_id = ""
        self._answers: set[asyncio.Task[None]] = set()

    async def prepare(self, *, limit_s: float) -> None:
        """Turn scripts off, and respond to the next navigation with the source."""
        self._tab.session.on("Fetch.requestPaused", self._pause)
        await self._tab.send("Emulation.setScriptExecutionDisabled", {"value": True}, limit_s=limit_s)
        documents = {"urlPattern": "*", "resourceType": "Document", "requestStage": "Request"}
        await self._tab.send("Fetch.enable", {"patterns": [documents]}, limit_s=limit_s)

    def _pause(self, event: dict[str, Any]) -> None:
        answer = asyncio.create_task(self._answer(event))
        self._answers.add(answer)
        answer.add_done_callback(self._answers.discard)

    async def _answer(self, event: dict[str, Any]) -> None:
        number = {"requestId": event["requestId"]}
        with contextlib.suppress(CommandError):  # the page is gone
            if not self._frame_id:
                self._frame_id = event["frameId"]
                headers = [{"name": "Content-Type", "value": self._original.content_type or "text/html"}]
                body = base64.b64encode(self._original.source).decode()
                answer = {"responseCode": 200, "responseHeaders": headers, "body": body}
                await self._tab.session.send("Fetch.fulfillRequest", {**number, **answer})
            elif event["frameId"] == self._frame_id:  # a refresh to a version for browsers without scripts
                await self._tab.session.send("Fetch.failRequest", {**number, "errorReason": "Aborted"})
            else:
                await self._tab.session.send("Fetch.continueRequest", number)


_WEB = ("http", "https")
_FIXED_TIME = Path(__file__).with_name("fixed_time.js").read_text("utf-8").partition("\n")[2]
_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
# Commands to a crashed page may fail before the event of the crash arrives.
_CRASH_NEWS_S = 0.1
_FORBIDDEN = 403
# A page that is closed while another process takes it over needs seconds to close.
_SWAP_LIMIT_S = 0.5
# A larger page may leave much in its process for a while, which would count as memory of the next page.
_SMALL_BYTES = 5_000_000
_SMALL_NODES = 30_000
_REDIRECTS = "net::ERR_TOO_MANY_REDIRECTS"
# Chrome's error for a connection that the proxy could not open.
_UNSAID = ("net::ERR_EMPTY_RESPONSE", "net::ERR_TUNNEL_CONNECTION_FAILED")
_RETRY_HELPS = ("CONNECTION", "TIMED_OUT", "EMPTY_RESPONSE", "NETWORK_CHANGED", "ADDRESS_UNREACHABLE")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageJob:
    """A request to the renderer for one page.

    Parameters
    ----------
    url : the address.
    site : pages with equal sites and options share cookies and cache.
    options, budget : the options and the budget of this page.
    original : a source to show without scripts instead of opening the page; None to open the page.
    time : the time that its scripts see, UTC in ISO 8601; empty for the real time.
    """

    url: str
    site: str
    options: CaptureOptions
    budget: Budget
    original: Original | None = None
    time: str = ""


async def render_page(running: RunningBrowser, lease: Lease, job: PageJob, *, limits: Limits) -> Rendering:
    """Render a page, completely or cut.

    Raises
    ------
    PolicyError : its address, or one that it redirects to, may not be reached.
    NavigationError : no document arrived.
    ContentError : the response is not HTML.
    TimeoutError, CommandError : the browser is not usable.
    """
    async with asyncio.timeout(limits.open_s):
        if job.options.cookies:
            await lease.set_cookies(job.url)
        tab = await lease.open_tab()
        if job.time:
            await tab.session.send("Page.addScriptToEvaluateOnNewDocument", {"source": _fixed(job.time)})
    run = _PageRun(job, tab, limits, running, lease)
    try:
        async with recording(running.connection, tab, job.options, job.budget) as recorder:
            rendering = await run.render()
            if recorder:
                recorded = await recorder.collect(limit_s=limits.record_s)
                rendering = replace(rendering, recorded=recorded)
        return rendering
    finally:
        run.leave()
        if running.is_alive:
            try:
                async with asyncio.timeout(limits.close_s):
                    await lease.take_back(tab, run.left_behind)
            except TimeoutError:
                lease.broken = True


def _fixed(time: str) -> str:
    """Return a script that sets the time of a page to an ISO time."""
    milliseconds = round(datetime.fromisoformat(time).timestamp() * 1000)
    return _FIXED_TIME.replace("START", str(milliseconds))


class _PageRun:
    """The rendering of one page."""

    def __init__(
        self,
        job: PageJob,
        tab: Tab,
        limits: Limits,
        running: RunningBrowser,
        lease: Lease,
    ) -> None:
        self.url = job.url
        self.original = job.original
        self.tab = tab
        self.options = job.options
        self.budget = budget = job.budget
        self.running = running
        self.proxy = lease.proxy
        self.limits = limits
        self.clock = limits.clock
        self.limit_s = budget.time.total_seconds()
        self.watch = PageEvents(budget, self._end_loading, limits.timeouts)
        self.loader_id = ""
        self.timings_ms: dict[str, float] = {}
        self.has_crashed = False
        self.left_behind: set[str] | None = None  # origins, if the tab can be used again
        self._loading: asyncio.Timeout | None = None
        for event, handler in self.watch.handlers.items():
            tab.session.on(event, handler)
        tab.session.on("Inspector.targetCrashed", self._crash)
        tab.session.on_lost(self._end_loading)  # lasts as long as the browser, so nothing may wait for it

    def leave(self) -> None:
        """Remove all event handlers of the page."""
        session = self.tab.session
        for event, handler in self.watch.handlers.items():
            session.off(event, handler)
        session.off("Inspector.targetCrashed", self._crash)
        session.off_lost(self._end_loading)

    def _crash(self, _: Params) -> None:
        self.has_crashed = True
        killed = self.running.memory.verdict()
        if killed:
            self.watch.cut(killed.kind, killed.detail)
        else:
            self.watch.cut("crash", "the page's process ended")

    def _end_loading(self) -> None:
        if self._loading and not self._loading.expired():
            self._loading.reschedule(asyncio.get_running_loop().time())
            self._loading = None

    async def render(self) -> Rendering:
        """Render the page."""
        captured_at = datetime.now(UTC).isoformat(timespec="seconds")
        watch = self.watch
        end = self.clock.time() + self.limit_s
        while True:
            await self._load(end)
            if watch.is_error_page or watch.response(watch.loader_id).status == _FORBIDDEN:
                self._check_refused(watch.arrived_url)
            if watch.is_error_page and not watch.cut_by:
                raise NavigationError(
                    "The page redirected to an address that does not respond.", url=self.url
                )
            navigations = watch.navigations
            capture, body, cut, source_reason = await self._capture(end)
            if not capture and not self.running.is_alive:
                raise CommandError(f"The browser is gone. {cut or ''}")
            # A page that navigated during its capture is captured again.
            if watch.navigations == navigations or watch.cut_by:
                break
        elsewhere = self._left_the_web(capture) if capture else None
        extras = await self._extras(end) if self.options.extras and not self.original else {}
        cuts = [known for known in (watch.cut_by, cut, elsewhere) if known]
        names = (*STYLE_NAMES, *capture.added) if capture else STYLE_NAMES
        with self._timed("convert"):
            if capture:
                columns, is_cut = await asyncio.to_thread(
                    convert, capture, names, max_nodes=self.budget.nodes
                )
                if is_cut:
                    cuts.append(Cut("nodes", f"the first {self.budget.nodes:,} were kept"))
            else:
                columns = document_only(names)
        is_small = watch.received_bytes < _SMALL_BYTES and len(columns["parent"]) < _SMALL_NODES
        if not cuts and is_small and not self.original and not self.options.extras:
            self.left_behind = watch.document_origins
        response = watch.response(watch.loader_id or self.loader_id)
        encoding = capture.encoding if capture else ""
        identity = self.running.identity
        provenance = Provenance(
            url=self.url,
            final_url=capture.url if capture else response.url or self.url,
            producer="unscripted" if self.original else "rendered",
            status=response.status,
            content_type=response.content_type,
            encoding=encoding,
            captured_at=captured_at,
            browser=f"{identity.product}/{identity.version}",
            build=identity.build,
            driver=self.running.connection.driver,
            options=self.options.canonical() | ({"scripts": False} if self.original else {}),
            complete=not cuts,
            reasons=tuple(map(str, cuts)),
            timings_ms=self.timings_ms,
            requests=watch.requests,
            transferred_bytes=watch.transferred_bytes,
            etag=response.etag,
            last_modified=response.last_modified,
            refused=self.proxy.refusals(watch.origins),
            missing_pictures=watch.missing_pictures,
        )
        return Rendering(
            snapshot=Snapshot(**columns, provenance=provenance),
            source=body.to_bytes(encoding, response.content_type) if body else None,
            source_reason=source_reason,
            source_url=response.url or self.url,
            extras=extras,
            files=watch.files,
        )

    def _left_the_web(self, capture: Capture) -> Cut | None:
        """Return a cut if the page has navigated to a document that it made itself, such as a blob; else None.

        Raises
        ------
        NavigationError : it has navigated to an empty page, so that nothing is left.
        """
        scheme = capture.url.partition(":")[0]
        if scheme in _WEB:
            return None
        if scheme == "about":
            raise NavigationError(
                f"The page redirected to {capture.url}, which is an empty page.",
                url=self.url,
                stage="navigate",
            )
        return Cut("document", f"the page redirected to a {scheme}: address of its own")

    async def _extras(self, end: float) -> dict[str, bytes]:
        if self.has_crashed or not self.watch.navigations:
            reason = self.watch.cut_by or "no document arrived"
            return {SCREENSHOT: to_json(no_screenshot(str(reason))), DATA: to_json([])}
        left_s = end - self.clock.time()
        with self._timed("extras"):
            return await take_extras(
                self.tab,
                self.watch,
                screenshot=self.options.screenshot,
                limit_s=max(left_s, self.limits.extras_s),
            )

    async def _load(self, end: float) -> None:
        """Navigate, unless that has been done, and settle until the time `end`; the watch has any cut."""
        stage = "opening"
        try:
            async with self.clock.deadline(end) as self._loading:
                if not self.loader_id:
                    if self.original:
                        await Stage(self.tab, self.original).prepare(limit_s=self.limit_s)
                    stage = "waiting for the server"
                    with self._timed("navigate"):
                        await self._navigate()
                stage = "loading"
                with self._timed("settle"):
                    await settle(
                        self.tab,
                        self.watch,
                        self.options,
                        limit_s=self.limit_s,
                        scripts=not self.original,
                    )
        except TimeoutError:
            self._loading = None
            self.watch.cut("time", f"{self.limit_s:g} s are used up while {stage}")
        except CommandError:
            await asyncio.sleep(_CRASH_NEWS_S)
            if not self.has_crashed:
                raise
        finally:
            self._loading = None

    async def _capture(self, end: float) -> tuple[Capture | None, Body | None, Cut | None, str]:
        """Return the DOM snapshot and the source, or why they are missing."""
        watch = self.watch
        with self._timed("capture"):
            if watch.cut_by and not self.has_crashed:
                watch.give_up()
                await stop(self.tab, limit_s=self.limits.stop_s)
            if self.has_crashed or watch.is_error_page or not watch.navigations:
                return None, None, None, "no document arrived"
            left_s = end - self.clock.time()
            (capture, cut), (body, source_reason) = await asyncio.gather(
                capture_document(
                    self.tab,
                    watch,
                    max_nodes=self.budget.nodes,
                    left_s=left_s,
                    least_s=self.limits.capture_s,
                    scripts=not (watch.cut_by or self.original),
                    pixels=self.options.pixels,
                    withheld=frozenset(frame for url, frame in watch.sheets if self.proxy.is_withheld(url)),
                ),
                fetch_source(self.tab, watch, limit_s=max(left_s, self.limits.capture_s)),
            )
        return capture, body, cut, source_reason

    async def _navigate(self) -> None:
        try:
            url = self.original.url if self.original else self.url
            answer = await self.tab.send("Page.navigate", {"url": url}, limit_s=self.limit_s)
        except CommandError as error:
            if not self.tab.is_open or self.has_crashed:
                raise
            raise NavigationError(f"The browser cannot open it: {error.message}", url=self.url) from error
        self.loader_id = answer.get("loaderId", "")
        fault = answer.get("errorText", "")
        response = self.watch.response(self.loader_id)
        if (fault or response.status == _FORBIDDEN) and self.proxy.refusal(self.watch.document_url):
            await self._let_arrive()
            self._check_refused(self.watch.document_url)
        if fault in _UNSAID:
            fault = self.proxy.failure(self.watch.document_url) or fault
        if answer.get("isDownload"):
            self.watch.cut("download", f"a file of type {response.content_type or 'unknown'}, not loaded")
        elif fault == _REDIRECTS:
            self.watch.cut("redirects", "the server redirects without end")
        elif response.status in (204, 205):
            raise ContentError(f"The server has no content for it (HTTP {response.status}).", url=self.url)
        elif fault and not self.has_crashed:
            raise NavigationError(
                f"No document arrived: {explained(fault)}.",
                url=self.url,
                stage="navigate",
                retry=any(name in fault for name in _RETRY_HELPS),
                timed_out="TIMED_OUT" in fault,
            )
        elif response.mime_type and response.mime_type not in _HTML_TYPES:
            await self._let_arrive()
            message = f"The address holds {response.mime_type}, not an HTML page."
            raise ContentError(message, reason="type", url=self.url)

    async def _let_arrive(self) -> None:
        """Wait until an unwanted document has replaced the page; it need not load completely."""
        self._loading = None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_SWAP_LIMIT_S):
                while not self.watch.loaded:
                    await self.watch.news(_SWAP_LIMIT_S)

    def _check_refused(self, asked: str) -> None:
        """Raise an error if the address that the page navigated to may not be reached."""
        if asked and (refusal := self.proxy.refusal(asked)):
            where = "" if asked == self.url else f"It redirected to {asked}: "
            raise PolicyError(
                f"{where}{refusal.message}", reason=refusal.reason, url=self.url, stage="navigate"
            )

    @contextlib.contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            spent_ms = (time.perf_counter() - start) * 1000
            self.timings_ms[stage] = round(self.timings_ms.get(stage, 0.0) + spent_ms, 1)
