"""The pages of one job: rendered by the browsers of its worker, or only fetched, through the same guard."""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from domsieve.errors import DomsieveError, PolicyError
from domsieve.options import Budget, CaptureOptions
from domsieve.renderer.network.egress import Egress
from domsieve.renderer.network.proxy import Proxy
from domsieve.renderer.protocol import Outcome, PageSource, Reconsidering, Rendering
from domsieve.renderer.sampling.events import SiteOpened
from domsieve.service.jobs.job_values import SiteQuota
from domsieve.snapshot.page import Snapshot
from domsieve.snapshot.store import PageStore
from domsieve.tasks.render_modes import LoadReason, load_reason, source_through
from domsieve.tasks.targets import site_of

_LONGEST_DELAY_S = 10.0  # a guess: at 20 pages, the default, this already takes over three minutes


class PageRenderer(Protocol):
    """Renders pages for jobs; `Supervisor` is the implementation."""

    egress: Egress
    concurrency: int

    async def render(
        self,
        url: str,
        *,
        site: str | None = None,
        options: CaptureOptions | None = None,
        budget: Budget | None = None,
        proxy: Proxy | None = None,
    ) -> Rendering:
        """Return the page at `url`."""
        ...


@dataclass(slots=True)
class LoadCounts:
    """How many pages the jobs of a worker have loaded, by whether they were rendered, and why.

    Parameters
    ----------
    counts : numbers by whether pages were rendered, and by reason.
    """

    counts: Counter[tuple[bool, LoadReason]] = field(default_factory=Counter)

    def add(self, page: Snapshot) -> None:
        """Count a page."""
        self.counts[page.has_layout, load_reason(page)] += 1

    def rows(self) -> list[tuple[str, str, int]]:
        """Return ``"rendered"`` or ``"fetched"``, a reason and a number of pages for each kind, sorted."""
        return sorted(
            ("rendered" if is_rendered else "fetched", reason, number)
            for (is_rendered, reason), number in self.counts.items()
        )


class JobBrowsers:
    """Renders the pages of a job by the browsers of its worker, unless `closed` has a sentence that says why not.

    Parameters
    ----------
    browsing : renders pages.
    context : begins the names of the browser contexts, so that jobs of different clients share none.
    options, budget : how pages are rendered, and the limits of one page.
    proxy : counts the traffic of the job; None for that of all.
    """

    def __init__(
        self,
        browsing: PageRenderer,
        context: str,
        options: CaptureOptions,
        budget: Budget,
        proxy: Proxy | None,
    ) -> None:
        self.closed = ""
        self._browsing, self._context, self._proxy = browsing, context, proxy
        self._options, self._budget = options, budget

    async def render(self, url: str, *, site: str | None = None) -> Rendering:
        if self.closed:
            raise PolicyError(self.closed, reason="quota")
        return await self._browsing.render(
            url,
            site=f"{self._context} {site or site_of(url)}",
            options=self._options,
            budget=self._budget,
            proxy=self._proxy,
        )

    async def render_many(self, urls: Iterable[str]) -> AsyncIterator[Outcome]:
        async for outcome in _one_by_one(self, urls):
            yield outcome


class JobPages:
    """The source of pages of one job.

    Parameters
    ----------
    source : renders pages, or fetches them.
    browsers : the browsers behind it.
    loads : counts the pages.
    egress : the guard of all connections of the job.
    quota : the limits of the job; None for no limits.
    """

    def __init__(
        self,
        source: PageSource,
        browsers: JobBrowsers,
        loads: LoadCounts,
        *,
        egress: Egress,
        quota: SiteQuota | None,
    ) -> None:
        self.egress = egress
        self._source, self._browsers, self._loads, self._quota = source, browsers, loads, quota
        self._opened = 0

    async def render(self, url: str, *, site: str | None = None) -> Rendering:
        """Return the page at `url`; a page that is fetched and then rendered counts once.

        Raises
        ------
        PolicyError : the job may open no more pages, or was cut off while it loaded this one.
        DomsieveError : it can neither be rendered nor fetched.
        """
        self._check_bytes()
        if self._quota and self._opened >= self._quota.pages:
            raise PolicyError(self._quota.sentence("pages"), reason="quota")
        self._opened += 1
        try:
            rendering = await self._source.render(url, site=site)
        except DomsieveError:
            self._check_bytes()
            raise
        # What had not come of it when the limit was reached never came, and what was captured may look whole.
        self._check_bytes()
        self._loads.add(rendering.snapshot)
        return rendering

    def _check_bytes(self) -> None:
        if self._quota and self.egress.is_used_up:
            raise PolicyError(self._quota.sentence("bytes"), reason="quota")

    async def render_many(self, urls: Iterable[str]) -> AsyncIterator[Outcome]:
        """Yield each of `urls` in order with its page or its error."""
        async for outcome in _one_by_one(self, urls):
            yield outcome

    async def again(self, among: Sequence[str] | None = None) -> AsyncIterator[Outcome]:
        """Render the fetched pages that a later page has made doubtful, and yield them; see `Reconsidering`."""
        if not isinstance(self._source, Reconsidering):
            return
        async for url, outcome in self._source.again(among):
            if isinstance(outcome, DomsieveError):
                yield url, outcome
            elif self._quota and self.egress.is_used_up:
                yield url, PolicyError(self._quota.sentence("bytes"), reason="quota")
            else:
                self._loads.add(outcome.snapshot)
                yield url, outcome

    async def doubtful(self, sentence: str) -> AsyncIterator[Outcome]:
        """Render nothing any more, and yield the pages that `again` would render, with an error.

        Parameters
        ----------
        sentence : why the job ended.
        """
        self._browsers.closed = sentence
        async for outcome in self.again():
            yield outcome


def check_delay(opened: SiteOpened, url: str) -> None:
    """Raise `PolicyError` if a site wants robots to wait so long that a job would hold its place in vain."""
    if opened.delay.total_seconds() > _LONGEST_DELAY_S:
        raise PolicyError(
            f"The site asks robots to wait {opened.delay.total_seconds():g} s between two pages; "
            f"this service waits {_LONGEST_DELAY_S:g} s at most.",
            reason="delay",
            url=url,
        )


async def _one_by_one(source: PageSource, urls: Iterable[str]) -> AsyncIterator[Outcome]:
    for url in urls:
        try:
            yield url, await source.render(url)
        except DomsieveError as error:
            yield url, error


@asynccontextmanager
async def job_pages(
    browsing: PageRenderer,
    loads: LoadCounts,
    options: CaptureOptions,
    budget: Budget,
    *,
    client: str,
    context: str,
    pages: Callable[[], PageStore],
    since: datetime | None = None,
    seed: int = 0,
    proxy: Proxy | None = None,
    quota: SiteQuota | None = None,
) -> AsyncIterator[JobPages]:
    """Open the source of the pages of a job.

    Parameters
    ----------
    browsing : renders pages, and has the guard of all connections.
    loads : counts the pages.
    options, budget : how pages are captured, and the limits of one page.
    client : the client of the job. What pages of other clients have shown of a site does not count, because it would
        tell that they were there.
    context : begins the names of browser contexts.
    pages : returns the page store.
    since : what older pages have shown does not count; None for all.
    seed : decides which pages are audited.
    proxy : counts the traffic of the job; None for that of all.
    quota : the limits of the job; None for no limits.
    """
    browsers = JobBrowsers(browsing, context, options, budget, proxy)
    egress = proxy.egress if proxy else browsing.egress

    @asynccontextmanager
    async def opened() -> AsyncIterator[PageSource]:
        yield browsers

    modes = source_through(
        egress,
        options,
        budget,
        open_renderer=opened,
        concurrency=browsing.concurrency,
        store=pages() if options.render == "auto" else None,
        owner=client,
        seed=seed,
        since=since,
    )
    async with modes as source:
        yield JobPages(source, browsers, loads, egress=egress, quota=quota)
