"""Load the pages of a site that may have changed, after asking the server whether they have."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from domsieve.errors import DomsieveError, NavigationError, PageError
from domsieve.files import digest_of
from domsieve.renderer.fetching.fetcher import Checked, Fetcher
from domsieve.renderer.protocol import Outcome, PageSource, Rendering
from domsieve.snapshot.page import Snapshot
from domsieve.tasks.site_sync.state import SyncFile, SyncPage
from domsieve.tasks.targets import site_of

AUDIT_RUNS = 20
"""In so many runs, every page that validators call unchanged is fetched once: 5 % of them in each run."""
_MOST_FILES = 100
"""Pages that load more files are rendered in each run. A guess."""
_NOT_MODIFIED, _MISSING, _FIRST_ERROR = 304, (404, 410), 400


class LazyRenderer:
    """A renderer that starts when the first page is rendered; an asynchronous context manager.

    Parameters
    ----------
    open_renderer : opens the renderer.
    """

    def __init__(self, open_renderer: Callable[[], AbstractAsyncContextManager[PageSource]]) -> None:
        self._open = open_renderer
        self._stack = AsyncExitStack()
        self._opening = asyncio.Lock()
        self._renderer: PageSource | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # The sources that share it leave earlier, and only its owner closes it.
        pass

    async def close(self) -> None:
        """End the renderer, if it was started."""
        await self._stack.aclose()

    async def render(self, url: str, *, site: str | None = None) -> Rendering:
        """Render a page; see `Renderer.render`."""
        async with self._opening:
            if self._renderer is None:
                self._renderer = await self._stack.enter_async_context(self._open())
        return await self._renderer.render(url, site=site)

    async def render_many(self, urls: Iterable[str]) -> AsyncGenerator[Outcome]:
        """Render pages one after another; yield each URL with its page or its error."""
        for url in urls:
            yield url, await _or_error(self.render(url))


class RunLimits:
    """The limits of a run; this one has none."""

    def request(self) -> None:
        """Count a request for a page.

        Raises
        ------
        PolicyError : no more are allowed; its reason is ``"quota"``.
        """

    def load(self) -> None:
        """Count a page that is about to be loaded; see `request`."""

    def loaded(self, page: Snapshot) -> None:
        """Take a page that was loaded."""


class SameWaySource:
    """Loads pages as they were loaded before: rendered ones are rendered again.

    Parameters
    ----------
    source : decides for pages that are new, or were fetched.
    renderer : renders pages.
    pages : what is known about pages.
    limits : of the run.
    visitor : rendered pages share cookies and the browser's cache only with pages of the same visitor.
    """

    def __init__(
        self,
        source: PageSource,
        renderer: PageSource,
        pages: Mapping[str, SyncPage],
        limits: RunLimits,
        *,
        visitor: str = "",
    ) -> None:
        self._source, self._renderer, self._pages = source, renderer, pages
        self._limits, self._visitor = limits, visitor

    async def render(self, url: str, *, site: str | None = None) -> Rendering:
        """Load a page."""
        self._limits.load()
        known, source = self._pages.get(url), self._source
        if known is not None and known.loaded == "rendered":
            source = self._renderer
            site = f"{site or site_of(url)} {self._visitor}".strip()
        with _cut_off_by(self._limits):
            rendering = await source.render(url, site=site)
        self._limits.loaded(rendering.snapshot)
        return rendering

    async def render_many(self, urls: Iterable[str]) -> AsyncGenerator[Outcome]:
        """Load pages one after another; yield each URL with its page or its error."""
        for url in urls:
            yield url, await _or_error(self.render(url))


@dataclass(slots=True)
class Visits:
    """What servers said about known pages in a run, by address.

    Parameters
    ----------
    unchanged : pages that need not be loaded, with the reason: ``"listed"``, ``"validators"``, ``"same bytes"``, or
        ``"files"`` for pages that need a browser and load the same files as before.
    answers : the responses to requests.
    audited : pages that were loaded although the server called them unchanged, because their source has changed, or
        because they need a browser.
    missing : pages that are not there.
    files : of rendered pages, what they depend on.
    """

    unchanged: dict[str, str] = field(default_factory=dict)
    answers: dict[str, Checked] = field(default_factory=dict)
    audited: set[str] = field(default_factory=set)
    missing: set[str] = field(default_factory=set)
    files: dict[str, list[SyncFile] | None] = field(default_factory=dict)

    def believed(self) -> list[str]:
        """Return the pages of which only the server says that they have not changed."""
        return [url for url, why in self.unchanged.items() if why != "same bytes"]


class CheckingSource:
    """Asks whether known pages have changed, and loads only those that may have.

    Unchanged pages are returned as they were captured. Of the pages that a sitemap or validators call unchanged, one
    in `AUDIT_RUNS` is fetched whole, another one in each run.

    Parameters
    ----------
    source : loads pages.
    fetcher : asks servers.
    pages : what is known about pages.
    capture : returns the capture with an id.
    run : number of the run, which decides what is audited.
    trusts_validators : whether sitemaps and validators are believed.
    always : whether all pages are loaded.
    limits : of the run.
    """

    def __init__(
        self,
        source: PageSource,
        fetcher: Fetcher,
        pages: Mapping[str, SyncPage],
        capture: Callable[[str], Snapshot],
        *,
        run: int,
        trusts_validators: bool,
        always: bool,
        limits: RunLimits,
    ) -> None:
        self._source, self._fetcher, self._limits = source, fetcher, limits
        self._pages, self._capture = pages, capture
        self._run, self._always = run, always
        self.trusts_validators = trusts_validators
        self.changed_at: Mapping[str, str] = {}
        self.visits = Visits()
        self._file_answers: dict[tuple[str, str, str], tuple[int, str]] = {}

    def known(self, url: str) -> Rendering | None:
        """Return the capture of a page that has not changed, as a sitemap says; None if a request has to be made."""
        page = self._pages.get(url)
        if page is None or not self._is_listed(url, page) or self._is_due(url):
            return None
        return self._unchanged(url, page, "listed")

    async def render(self, url: str, *, site: str | None = None) -> Rendering:
        """Return a page, as it was captured before or loaded now.

        Raises
        ------
        PageError : the page is not there.
        DomsieveError : it cannot be loaded.
        """
        self._limits.request()
        with _cut_off_by(self._limits):
            return await self._current(url, site)

    async def _current(self, url: str, site: str | None) -> Rendering:
        page = self._pages.get(url)
        if page is not None and not self._always:
            why = await self._asked(url, page)
            unchanged = self._unchanged(url, page, why) if why else None
            if unchanged:
                return unchanged
        elif page is None and self._pages and not self._always:
            # Links that lead nowhere are there in every run, and must not start a browser.
            await self._answer(url, None, None)
        return await self._source.render(url, site=site)

    async def render_many(self, urls: Iterable[str]) -> AsyncGenerator[Outcome]:
        """Return pages one after another; yield each URL with its page or its error."""
        for url in urls:
            yield url, await _or_error(self.render(url))

    async def _asked(self, url: str, page: SyncPage) -> str:
        """Return why a page has not changed; empty if it may have."""
        is_listed = self._is_listed(url, page)
        if is_listed and not self._is_due(url):
            return "listed"
        trusts = self.trusts_validators
        answer = await self._answer(
            url, page.etag if trusts else None, page.last_modified if trusts else None
        )
        if answer.status == _NOT_MODIFIED and not self._is_due(url):
            return await self._unless_drawn(url, page, "validators")
        claimed = is_listed or answer.status == _NOT_MODIFIED
        if answer.status == _NOT_MODIFIED:
            answer = await self._answer(url, None, None)
        if answer.source is not None and digest_of(answer.source) == page.source_hash:
            return await self._unless_drawn(url, page, "same bytes")
        if claimed:
            self.visits.audited.add(url)
        return ""

    async def _unless_drawn(self, url: str, page: SyncPage, why: str) -> str:
        """Return `why`; for a page that needs a browser, empty if a file that it loads may have changed."""
        if not page.needs_browser:
            return why
        if page.files is None or len(page.files) > _MOST_FILES or not self.trusts_validators:
            return ""
        # All are requested, so that the content of those without validators is known in the next run.
        if not all([await self._is_same(file) for file in page.files]):
            return ""
        if self._is_due(url):
            self.visits.audited.add(url)
            return ""
        return "files"

    async def _is_same(self, file: SyncFile) -> bool:
        self._limits.request()
        has_validators = bool(file.etag or file.last_modified)
        key = file.url, file.etag, file.last_modified
        if key not in self._file_answers:
            try:
                answer = await self._fetcher.check(
                    file.url, etag=file.etag or None, last_modified=file.last_modified or None
                )
            except DomsieveError:
                return False
            digest = digest_of(answer.source) if answer.source is not None else ""
            self._file_answers[key] = answer.status, digest
        status, digest = self._file_answers[key]
        if has_validators:
            return status == _NOT_MODIFIED
        return status == file.status and bool(digest) and digest == file.digest

    def note_files(self, url: str, rendering: Rendering) -> None:
        """Note what a page depends on that was loaded now."""
        if rendering.files is None:
            self.visits.files[url] = None
            return
        files: list[SyncFile] = []
        for file in rendering.files:
            last_modified = "" if file.etag else file.last_modified
            # Content as it was before the page was rendered: if it has changed since, the next run renders again.
            _, digest = self._file_answers.get((file.url, file.etag, last_modified), (0, ""))
            files.append(SyncFile(file.url, file.status, file.etag, last_modified, digest))
        self.visits.files[url] = files

    async def _answer(self, url: str, etag: str | None, last_modified: str | None) -> Checked:
        answer = await self._fetcher.check(url, etag=etag, last_modified=last_modified)
        if answer.status in _MISSING:
            self.visits.missing.add(url)
            raise PageError(f"It is no longer there (HTTP {answer.status}).", url=url)
        if answer.status >= _FIRST_ERROR:
            raise NavigationError(f"The server answers with HTTP {answer.status}.", url=url, retry=True)
        self.visits.answers[url] = answer
        return answer

    def _is_listed(self, url: str, page: SyncPage) -> bool:
        if self._always or page.needs_browser or not self.trusts_validators:
            return False
        return bool(page.listed_at) and self.changed_at.get(url) == page.listed_at

    def _is_due(self, url: str) -> bool:
        return is_audited(url, run=self._run)

    def _unchanged(self, url: str, page: SyncPage, why: str) -> Rendering | None:
        try:
            snapshot = self._capture(page.capture)
        except DomsieveError:
            return None  # the capture is lost: load the page
        self.visits.unchanged[url] = why
        return Rendering(snapshot=snapshot, source=None, source_reason="it has not changed")


def is_audited(url: str, *, run: int) -> bool:
    """Return whether a page is fetched whole in a run, although validators call it unchanged."""
    rank = hashlib.blake2b(url.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(rank, "big") % AUDIT_RUNS == run % AUDIT_RUNS


@contextmanager
def _cut_off_by(limits: RunLimits) -> Iterator[None]:
    """Say that a limit was reached instead of the error that a page has for that reason."""
    try:
        yield
    except DomsieveError:
        limits.request()
        raise


async def _or_error(loading: Awaitable[Rendering]) -> Rendering | DomsieveError:
    try:
        return await loading
    except DomsieveError as error:
        return error
