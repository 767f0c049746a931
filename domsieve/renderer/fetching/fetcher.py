"""Fetch pages as the browser's navigation would, but without a browser, and parse their source.

All traffic goes through a filtering proxy of the same egress guard as that of the browser: names are resolved once,
and each connection and each redirect is judged. One page has the budget of time and bytes of a rendered page. A page
that exceeds it is cut, and its Snapshot says so. The Snapshot has the producer ``"raw"`` and the option ``fetched``,
so it can never be taken for a rendered page.
"""

import asyncio
import ssl
import time
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

import msgspec

from domsieve.archive.http_exchange import Fields
from domsieve.budget import spending
from domsieve.errors import ContentError, DomsieveError, NavigationError, PolicyError
from domsieve.options import Budget, CaptureOptions
from domsieve.renderer.browser.opening import storage_state
from domsieve.renderer.fetching._connection import ClosedError, Connection, Response
from domsieve.renderer.fetching.cookies import CookieJar
from domsieve.renderer.fetching.known_sources import KnownSource, KnownSources
from domsieve.renderer.fetching.navigation_headers import check_header, conditions_of, navigation_headers
from domsieve.renderer.fetching.request_address import RequestAddress
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.renderer.net_errors import explained
from domsieve.renderer.network.egress import NO_PLACE, Egress, place_of
from domsieve.renderer.network.proxy import Proxy
from domsieve.renderer.protocol import Outcome, Rendering
from domsieve.snapshot.cut import Cut
from domsieve.snapshot.fault import HTML_TYPES
from domsieve.snapshot.page import Provenance, Scalar, validator
from domsieve.urls import has_web_scheme

_MOST_REDIRECTS = 20  # as in Chrome
_REDIRECTING = (301, 302, 303, 307, 308)
_NOT_MODIFIED, _FORBIDDEN, _FIRST_ERROR = 304, 403, 400
_MOST_IDLE = 64
_MOST_JARS = 1_000
_SMALL_LIMIT_S = 10.0


@dataclass(slots=True)
class _Load:
    """One page while it is fetched.

    Parameters
    ----------
    address : the address that is requested now.
    jar : the cookies of its site.
    response : the response, as far as it has arrived.
    requests, transferred_bytes : number and size of what was requested so far.
    conditions : header fields of a conditional request.
    conditional_at : the only address that gets the conditions, after redirects; None for every one.
    """

    address: RequestAddress
    jar: CookieJar
    response: Response
    requests: int = 0
    transferred_bytes: int = 0
    conditions: Fields = ()
    conditional_at: str | None = None

    @property
    def is_conditional(self) -> bool:
        """Whether the address that is requested now gets the conditions."""
        here = self.address.url.partition("#")[0]
        return bool(self.conditions) and self.conditional_at in (None, here)

    @property
    def is_unchanged(self) -> bool:
        """Whether the response says that the page has not changed."""
        return self.is_conditional and self.response.status == _NOT_MODIFIED


@dataclass(frozen=True, slots=True)
class Checked:
    """The response to a conditional request.

    Parameters
    ----------
    status : HTTP status; 304 if the page has not changed.
    source : the decompressed body; None if there is none or it is not whole.
    etag, last_modified : validators of the response; None if it has none.
    """

    status: int
    source: bytes | None
    etag: str | None
    last_modified: str | None


class Fetcher:
    """Fetches pages without a browser; an asynchronous context manager.

    Parameters
    ----------
    options : User-Agent, headers, cookies, storage state and language are sent as a browser would send them.
    budget : the limits of one page: `time` and `received_bytes`, which counts after decompression.
    egress : where connections may go; give that of the renderer. None means public addresses only.
    concurrency : number of pages that are fetched at the same time.
    browser : product and version of the browser whose User-Agent is sent, unless the options have one.
    reason : why pages are only fetched, for their provenance.
    known : sources of earlier captures; those that have not changed are not transferred again.

    Raises
    ------
    UsageError : on entering: the storage-state file cannot be read, or a header is not valid.
    """

    def __init__(
        self,
        options: CaptureOptions | None = None,
        budget: Budget | None = None,
        *,
        egress: Egress | None = None,
        concurrency: int = 8,
        browser: str = "",
        reason: str = "",
        known: KnownSources | None = None,
    ) -> None:
        self.browser = browser
        self.known = known or KnownSources()
        self._reason = reason
        self._options = options or CaptureOptions()
        self._budget = budget or Budget()
        self._egress = egress or Egress()
        self._concurrency = concurrency
        self._slots = asyncio.Semaphore(concurrency)
        self._proxy = Proxy(self._egress)
        self._idle: deque[tuple[str, Connection]] = deque()
        self._jars: dict[str, CookieJar] = {}
        self._tls: ssl.SSLContext | None = self._egress.tls
        self._recorded: dict[str, Scalar] = {}

    async def __aenter__(self) -> Self:
        for name, value in self._options.headers:
            check_header(name, value)
        self._recorded = self._options.canonical_fetched()
        await self._proxy.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._idle:
            self._idle.pop()[1].close()
        await self._proxy.close()

    async def render(self, url: str, *, site: str | None = None, whole: bool = False) -> Rendering:
        """Fetch a page and parse its source. If it exceeds its budget, it is cut, and the Snapshot has the reasons.

        Parameters
        ----------
        url : http or https. The fragment is not sent.
        site : pages with equal sites share cookies; None means the host and port.
        whole : whether the page is transferred even if its source is known and has not changed.

        Raises
        ------
        PolicyError : the scheme is not http or https, or the address, or one that it redirects to, may not be
            reached.
        NavigationError : no document arrived.
        ContentError : the response is not HTML.
        BudgetError : parsing the page exceeded the budget of its analysis.
        """
        address = _address(url)
        captured_at = datetime.now(UTC).isoformat(timespec="seconds")
        jar = self._jar(site or address.place)
        jar.give(address, self._options.cookies)
        load = _Load(address, jar, Response())
        known = None if whole else self.known.of(url)
        if known:
            load.conditions = conditions_of(known.etag, known.last_modified)
            load.conditional_at = known.final_url.partition("#")[0]
        is_checked = False
        cuts: list[Cut] = []
        start = time.perf_counter()
        async with self._slots:
            limit_s = self._budget.time.total_seconds()
            try:
                async with asyncio.timeout(limit_s):
                    cuts += await self._follow(load)
                    if known and load.is_unchanged:
                        is_checked = self.known.is_due(url, known)
                        if is_checked:
                            load.conditions = ()
                            cuts += await self._follow(load)
            except TimeoutError:
                stage = "loading" if load.response.status else "waiting for the server"
                cuts.append(Cut("time", f"{limit_s:g} s are used up while {stage}"))
            except NavigationError as error:
                raise self._explained(error, load.address.url, url) from error
        fetched_ms = round((time.perf_counter() - start) * 1000, 1)
        reason = self._reason
        if known and load.is_unchanged:
            load.response = _unchanged(load.response, known)
            told = f"unchanged since {known.captured_at}, as the server says"
            reason = f"{reason}; {told}" if reason else told
        self._check(load, url)
        origin = Provenance(
            url=url,
            final_url=load.address.url,
            producer="raw",
            status=load.response.status or None,
            content_type=load.response.headers.get("content-type", ""),
            captured_at=captured_at,
            options=self._recorded,
            timings_ms={"fetch": fetched_ms},
            requests=load.requests,
            transferred_bytes=load.transferred_bytes,
            etag=validator(load.response.headers.get("etag", "")),
            last_modified=validator(load.response.headers.get("last-modified", "")),
            reason=reason,
        )
        done = await asyncio.to_thread(_parsed, load.response, origin, cuts, self._budget.received_bytes)
        if is_checked and known and not cuts and done.source != known.source:
            self.known.distrust(url)
        return done

    async def render_many(self, urls: Iterable[str]) -> AsyncGenerator[Outcome]:
        """Fetch pages; yield each URL with its page or its error, in their order."""
        waiting = iter(urls)
        tasks: deque[asyncio.Task[Outcome]] = deque()
        try:
            while True:
                while len(tasks) < self._concurrency and (url := next(waiting, None)) is not None:
                    tasks.append(asyncio.create_task(self._outcome(url)))
                if not tasks:
                    return
                yield await tasks[0]
                tasks.popleft()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def again(self, among: Sequence[str] | None = None) -> AsyncGenerator[Outcome]:
        """Fetch the pages again that a server wrongly called unchanged, and yield them; see `Reconsidering`."""
        for url in self.known.doubtful(among):
            yield await self._outcome(url)

    async def file(self, url: str, *, most_bytes: int, site: str) -> bytes | None:
        """Return a small file of a page, such as a style sheet; None if it cannot be fetched completely.

        If the server answers with an error, the content is empty, because browsers do not use such a file.

        Parameters
        ----------
        url : http or https.
        most_bytes : maximum size, after decompression.
        site : the site of the page, whose cookies are sent.
        """
        address = RequestAddress.of(url)
        if address is None:
            return None
        load = _Load(address, self._jar(site), Response())
        try:
            async with self._slots, asyncio.timeout(_SMALL_LIMIT_S):
                cuts = await self._follow(load, most_bytes=most_bytes)
        except (TimeoutError, DomsieveError):
            return None
        if load.response.status >= _FIRST_ERROR:
            return b""
        if cuts or not load.response.is_whole:
            return None
        body, cuts = load.response.decoded(most_bytes)
        return None if cuts else body

    async def check(
        self, url: str, *, etag: str | None = None, last_modified: str | None = None, site: str | None = None
    ) -> Checked:
        """Request a page on the condition that it has changed; its source is not parsed.

        Parameters
        ----------
        url : http or https. The fragment is not sent.
        etag, last_modified : validators of an earlier response; without any, the page is requested as usual.
        site : see `render`.

        Raises
        ------
        PolicyError, NavigationError : see `render`.
        """
        address = _address(url)
        jar = self._jar(site or address.place)
        jar.give(address, self._options.cookies)
        load = _Load(address, jar, Response(), conditions=conditions_of(etag, last_modified))
        async with self._slots:
            try:
                async with asyncio.timeout(self._budget.time.total_seconds()):
                    cuts = await self._follow(load)
            except TimeoutError as error:
                message = f"No document arrived: {self._budget.time.total_seconds():g} s are used up."
                raise NavigationError(message, url=url, retry=True, timed_out=True) from error
            except NavigationError as error:
                raise self._explained(error, load.address.url, url) from error
        response = load.response
        source, more = (None, []) if cuts else response.decoded(self._budget.received_bytes)
        headers = response.headers
        return Checked(
            response.status,
            None if more else source,
            headers.get("etag") or None,
            headers.get("last-modified") or None,
        )

    async def _outcome(self, url: str) -> Outcome:
        try:
            return url, await self.render(url)
        except DomsieveError as error:
            return url, error

    async def _follow(self, load: _Load, *, most_bytes: int | None = None) -> list[Cut]:
        """Request a page and follow its redirects; return why it is cut, if it is."""
        most_bytes = self._budget.received_bytes if most_bytes is None else most_bytes
        for _ in range(_MOST_REDIRECTS + 1):
            load.response = Response()
            await self._request(load, most_bytes)
            response = load.response
            load.transferred_bytes += response.size
            lines = [value for name, value in response.fields if name.lower() == "set-cookie"]
            load.jar.set_by(load.address, lines)
            goal = next((value for name, value in response.fields if name.lower() == "location"), "")
            if response.status not in _REDIRECTING or not goal:
                return [] if response.is_whole else [_broken_off(response, most_bytes)]
            there = load.address.joined(goal)
            if there is None:
                raise NavigationError("net::ERR_UNSAFE_REDIRECT")
            load.address = there
        load.response = Response()
        return [Cut("redirects", "the server redirects without end")]

    async def _request(self, load: _Load, most_bytes: int) -> None:
        address = load.address
        key = f"{address.scheme}://{address.place}"
        load.requests += 1
        while True:
            connection = self._kept(key)
            is_kept = connection is not None
            if connection is None:
                connection = await self._connected(address)
            try:
                headers = navigation_headers(
                    address,
                    self._options,
                    browser=self.browser,
                    cookies=load.jar.header(address),
                    conditions=load.conditions if load.is_conditional else (),
                )
                await connection.get(address, headers, load.response, most_bytes=most_bytes)
            except ClosedError:
                connection.close()
                if is_kept:
                    continue
                raise NavigationError("net::ERR_EMPTY_RESPONSE", retry=True) from None
            except BaseException:
                connection.close()
                raise
            if connection.is_kept:
                self._keep(key, connection)
            else:
                connection.close()
            if load.response.status == _FORBIDDEN and self._proxy.refusal(address.url):
                raise NavigationError("net::ERR_BLOCKED_BY_ADMINISTRATOR")
            return

    async def _connected(self, address: RequestAddress) -> Connection:
        if self._tls is None:
            self._tls = ssl.create_default_context()
        return await Connection.open(address, self._proxy.port, self._tls)

    def _kept(self, key: str) -> Connection | None:
        for entry in reversed(self._idle):
            if entry[0] == key:
                self._idle.remove(entry)
                return entry[1]
        return None

    def _keep(self, key: str, connection: Connection) -> None:
        self._idle.append((key, connection))
        if len(self._idle) > _MOST_IDLE:
            self._idle.popleft()[1].close()

    def _jar(self, site: str) -> CookieJar:
        if site not in self._jars:
            if len(self._jars) >= _MOST_JARS:
                del self._jars[next(iter(self._jars))]
            jar = self._jars[site] = CookieJar()
            jar.add(storage_state(self._options).get("cookies", ()))
        return self._jars[site]

    def _explained(self, error: NavigationError, reached: str, url: str) -> DomsieveError:
        """Return the error of a page; if the guard refused the connection, its own."""
        if refusal := self._proxy.refusal(reached):
            where = "" if place_of(reached) == place_of(url) else f"It redirected to {reached}: "
            return PolicyError(f"{where}{refusal.message}", reason=refusal.reason, url=url, stage="navigate")
        fault = error.message
        if "EMPTY_RESPONSE" in fault or "TUNNEL" in fault:
            fault = self._proxy.failure(reached) or fault
        return NavigationError(
            f"No document arrived: {explained(fault)}.",
            url=url,
            stage="navigate",
            retry=error.retry,
            timed_out="TIMED_OUT" in fault,
        )

    def _check(self, load: _Load, url: str) -> None:
        """Raise `ContentError` if the response is not a page."""
        status = load.response.status
        if status in (204, 205):
            raise ContentError(f"The server has no content for it (HTTP {status}).", url=url)
        kind = load.response.headers.get("content-type", "").partition(";")[0].strip().lower()
        disposition = load.response.headers.get("content-disposition", "").lower()
        if disposition.lstrip().startswith("attachment") or ("/" in kind and kind not in HTML_TYPES):
            named = kind if "/" in kind else "a file"
            raise ContentError(f"The address holds {named[:100]}, not an HTML page.", reason="type", url=url)


def _unchanged(response: Response, known: KnownSource) -> Response:
    """Return the response that a page would have had that has not changed, with the newest validators."""
    validators = {"etag": known.etag, "last-modified": known.last_modified}
    validators |= {name: response.headers[name] for name in validators if name in response.headers}
    headers = {**validators, "content-type": known.content_type}
    return Response(known.status, headers, body=[known.source], is_whole=True)


def _parsed(response: Response, origin: Provenance, cuts: Sequence[Cut], most_bytes: int) -> Rendering:
    with spending("parse", origin.url):
        source, more = response.decoded(most_bytes)
        cuts = [*cuts, *(more if not cuts else ())]
        page = parse_html(source, url=origin.final_url, content_type=origin.content_type)
    reasons = (*map(str, cuts), *page.provenance.reasons)
    provenance = msgspec.structs.replace(
        origin,
        content_type=page.provenance.content_type,
        encoding=page.provenance.encoding,
        complete=not reasons,
        reasons=reasons,
    )
    return Rendering(
        snapshot=replace(page, provenance=provenance), source=source, source_url=origin.final_url
    )


def _broken_off(response: Response, most_bytes: int) -> Cut:
    if response.is_too_long:
        return Cut("bytes", f"the budget of {most_bytes:,} is used up")
    return Cut("document", f"it breaks off after {response.size:,} bytes")


def _address(url: str) -> RequestAddress:
    if not has_web_scheme(url.strip()):
        raise PolicyError("Only http and https are opened.", reason="scheme", url=url)
    address = RequestAddress.of(url)
    if address is None:
        raise NavigationError(NO_PLACE, url=url)
    return address
