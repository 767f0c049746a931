"""The call that visits a site."""

from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Unpack

from domsieve.budget import budgeted
from domsieve.declaration import wrong
from domsieve.errors import DomsieveError, PolicyError
from domsieve.library._fetch_options import FetchOptions, with_way_out
from domsieve.library._running import run_coroutine
from domsieve.library.inputs import url_of
from domsieve.library.parameters import FetchKeywords, SiteKeywords, given, takes
from domsieve.library.site_results import SiteProgress, SiteResult
from domsieve.options import Scope
from domsieve.renderer.sampling.events import PageAgain, PageDone, PageFailed, SampleEnded
from domsieve.snapshot.index import PageRecord
from domsieve.snapshot.store import PageStore
from domsieve.tasks.render_modes import page_source
from domsieve.tasks.renderer_factory import RendererFactory
from domsieve.tasks.sampling import describe, sample

_MOST_AT_ONCE = 8


@takes(SiteKeywords)
def site(url: str, **how: Unpack[SiteKeywords]) -> SiteResult:
    """Visit a random sample of the pages of a site, or all of them, and return their Snapshots.

    The visit is polite: it obeys robots.txt and waits between two pages.

    Parameters
    ----------
    url : a page of the site, http or https.
    pages : number of different pages, 1 or more; None means every page that is found.
    seed : seed of the random sample.
    include, exclude, depth : see `domsieve.options.Scope`.
    progress : called with a `SiteProgress` after each step; None for no reports.
    cache, capture, network : see `clean`. With a cache, an interrupted visit continues when it is started again.

    Raises
    ------
    UsageError, StorageError, BrowserNotFoundError : see `clean`.
    DomsieveError : the first page of the site cannot be loaded.
    """
    return run_coroutine(_site(url, given("site", SiteKeywords, how)))


@takes(SiteKeywords)
async def site_async(url: str, **how: Unpack[SiteKeywords]) -> SiteResult:
    """Do the same as `site`, with the same parameters, without blocking the event loop."""
    return await _site(url, given("site_async", SiteKeywords, how))


async def _site(url: str, values: dict[str, Any]) -> SiteResult:
    start = url_of(url)
    pages, seed, progress = values["pages"], values["seed"], values["progress"]
    if pages is not None and (not isinstance(pages, int) or isinstance(pages, bool) or pages < 1):
        raise wrong("pages", pages, "give a number from 1, or None for all pages")
    if not isinstance(seed, int):
        raise wrong("seed", seed, "give a whole number")
    if progress is not None and not callable(progress):
        raise wrong("progress", progress, "give a function that takes a SiteProgress")
    scope = Scope(**{name: values[name] for name in ("include", "exclude", "depth")})
    fetching = FetchOptions.of(**{name: values[name] for name in FetchKeywords.__annotations__}).adapted()
    factory = RendererFactory.of(fetching.options, fetching.network)
    records: dict[str, PageRecord] = {}
    failed: dict[str, DomsieveError] = {}
    ended, expected = "", pages or 0
    with _store(fetching.cache) as store, budgeted(fetching.network.analysis_budget):
        async with AsyncExitStack() as stack:
            source = await stack.enter_async_context(page_source(factory, store=store, seed=seed))
            events = sample(
                source,
                start,
                store,
                options=fetching.options,
                pages=pages,
                seed=seed,
                scope=scope,
                delay=None,
                concurrency=min(factory.concurrency, _MOST_AT_ONCE),
                since=None,
                egress=factory.egress,
            )
            stack.push_async_callback(events.aclose)
            try:
                async for event, record in events:
                    about, error = "", None
                    if isinstance(event, PageDone):
                        about, expected = event.url, event.expected
                    elif isinstance(event, PageFailed):
                        about, error = event.url, event.error
                        failed[about] = error
                    elif isinstance(event, SampleEnded):
                        ended = event.reason
                    if record is not None and isinstance(event, PageDone | PageAgain):
                        records[event.url] = record
                    if progress:
                        progress(SiteProgress(describe(event), about, len(records), expected, error))
            except PolicyError as error:
                with_way_out(error)
                raise
        return SiteResult([store.get(record.page_id) for record in records.values()], failed, ended)


@contextmanager
def _store(cache: Path | None) -> Iterator[PageStore]:
    if cache is not None:
        with PageStore(cache) as store:
            store.create()
            yield store
        return
    with TemporaryDirectory(prefix="domsieve-") as folder, PageStore(Path(folder)) as store:
        yield store
