"""A source of pages that renders only where renderings of the same site have shown that a browser adds something.

Pages of a site are decided one after another, in the order in which they were requested, and each decision depends on
those before only. So neither timing nor concurrency changes a decision. Pages of prefixes that are rendered in any
case, and all fetches, run side by side.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import TracebackType
from typing import Protocol, Self
from urllib.parse import urlsplit

import msgspec

from domsieve.analysis.browser_need.site_evidence import (
    MOST_IN_VAIN_OF_SITE,
    Entry,
    Fetched,
    Lesson,
    SiteEvidence,
    is_audited,
    url_rank,
)
from domsieve.analysis.browser_need.source_parts import source_parts
from domsieve.analysis.browser_need.style_chains import (
    hidden_by_chain,
    lettered,
    unseen_texts,
    without_texts,
)
from domsieve.analysis.columns.batch import Bools
from domsieve.errors import BudgetError, ContentError, DomsieveError, NavigationError
from domsieve.files import digest_of
from domsieve.options import CaptureOptions
from domsieve.renderer.fetching.fetcher import Fetcher
from domsieve.renderer.protocol import Outcome, PageSource, Rendering
from domsieve.snapshot.fault import fault_of
from domsieve.snapshot.store import PageStore
from domsieve.snapshot.stored_files import capture_key
from domsieve.tasks.fetched_source import (
    MAY_HIDE,
    FetchedSource,
    lesson_of,
    looked_at,
    nothing_learned,
    styles_learned,
)
from domsieve.tasks.style_context import MOST_SHEET_BYTES, StyleSheets
from domsieve.tasks.targets import doubt, site_of

_VERSION = 5
"""Increased whenever the same versions of a page would give another lesson."""

_NEW_SHEETS, _NEW_SCRIPTS = "its style sheets are new", "its scripts are new"
_ROUTE = "a route after # needs a browser"
# Errors that rendering the page would only repeat.
_HOPELESS = ("NAME_NOT_RESOLVED", "CONNECTION_REFUSED", "ADDRESS_UNREACHABLE", "CONNECTION_TIMED_OUT")


class EvidenceMemory(Protocol):
    """Remembers the evidence on sites between runs."""

    def entries(self, site: str) -> list[Entry]:
        """Return the entries of a site in their order."""
        ...

    def add(self, site: str, entry: Entry) -> None:
        """Add an entry."""
        ...


class NoMemory:
    """Remembers nothing, for calls without a cache."""

    def entries(self, site: str) -> list[Entry]:  # noqa: ARG002
        """Return no entries."""
        return []

    def add(self, site: str, entry: Entry) -> None:
        """Forget the entry."""


_ENTRY = msgspec.msgpack.Decoder(tuple[str, msgspec.Raw])


class StoredEvidence:
    """Remembers the evidence in a cache.

    Parameters
    ----------
    store : the cache.
    options : how pages are captured; evidence for other options does not count.
    seed : the seed of comparisons and audits; evidence for other seeds does not count.
    since : older evidence does not count; None uses all.
    owner : whose evidence it is; that of others does not count.
    """

    def __init__(
        self,
        store: PageStore,
        options: CaptureOptions,
        *,
        seed: int,
        since: datetime | None = None,
        owner: str = "",
    ) -> None:
        self._store, self._since = store, since
        self._fetched = capture_key(options.canonical_fetched())
        shaping = [capture_key(options.canonical()), self._fetched]
        self._kind = digest_of(msgspec.json.encode((_VERSION, seed, shaping, *([owner] if owner else []))))

    def entries(self, site: str) -> list[Entry]:
        """Return the entries of a site in their order."""
        return self._entries(site, self._since)

    def _entries(self, site: str, since: datetime | None) -> list[Entry]:
        found: list[Entry] = []
        for data in self._store.evidence(site, self._kind, since=since):
            kind, content = _ENTRY.decode(data)
            decode = msgspec.msgpack.decode
            found.append(decode(content, type=Lesson) if kind == "lesson" else decode(content, type=Fetched))
        return found

    def add(self, site: str, entry: Entry) -> None:
        """Add an entry. Fetched pages of any run that it makes doubtful are no longer taken from the cache."""
        kind = "lesson" if isinstance(entry, Lesson) else "fetched"
        if isinstance(entry, Lesson) and entry.is_surprise:
            # First, so that a process that is killed now leaves pages that are loaded once more.
            urls = SiteEvidence.of(self._entries(site, None)).add(entry)
            doubt(urls, self._fetched, site, self._store)
        self._store.add_evidence(site, self._kind, msgspec.msgpack.encode((kind, entry)))


@dataclass(slots=True)
class _Site:
    """A site in this run.

    Parameters
    ----------
    evidence : what is known about it.
    browser : the browser that pages are fetched as; the same for the whole run, so that timing cannot change it.
    last : is set when the page that was requested last is decided.
    told : what was reported about its prefixes.
    suspects : fetched pages that have to be rendered after all.
    """

    evidence: SiteEvidence
    browser: str = ""
    last: asyncio.Event | None = None
    told: dict[str, str] = field(default_factory=dict)
    suspects: dict[str, str] = field(default_factory=dict)


class AdaptiveSource:
    """Renders pages, or fetches them where a browser adds nothing; an asynchronous context manager.

    The snapshots say in `Provenance.reason` why they were rendered or only fetched. Text of fetched pages of which it
    is not known that it is visible is dropped; if it belongs to the content, the page is rendered instead.

    Parameters
    ----------
    open_renderer : opens the renderer; called when the first page is rendered.
    fetcher : fetches pages; an open context manager.
    memory : remembers what was learned.
    seed : decides which pages are audited.
    report : called with a site, a prefix and a sentence when it is decided how pages of the prefix are loaded.
    """

    def __init__(
        self,
        open_renderer: Callable[[], AbstractAsyncContextManager[PageSource]],
        fetcher: Fetcher,
        memory: EvidenceMemory,
        *,
        seed: int = 0,
        report: Callable[[str, str, str], None] = lambda *_: None,
    ) -> None:
        self._open = open_renderer
        self._fetcher = fetcher
        self._memory = memory
        self._seed = seed
        self._report = report
        self._stack = AsyncExitStack()
        self._opening = asyncio.Lock()
        self._renderer: PageSource | None = None
        self._sites: dict[str, _Site] = {}
        self._sheets: dict[str, StyleSheets] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    async def render(self, url: str, *, site: str | None = None) -> Rendering:
        """Return a page, rendered or fetched.

        Raises
        ------
        DomsieveError : it can neither be rendered nor fetched; see `Renderer.render`.
        """
        name = site_of(url)
        if "/" in urlsplit(url).fragment:
            return await self._rendered(url, site, _ROUTE)
        prefix = path_prefix(url)
        known = self._site(name)
        # Requested at once, although the page may have to wait for its turn.
        early = None
        if known.evidence.is_static(prefix) and not known.evidence.is_rendered(url, prefix, seed=self._seed):
            early = asyncio.ensure_future(self._fetched(url, site, known, prefix))
        try:
            async with _turn(known):
                if not known.evidence.is_rendered(url, prefix, seed=self._seed):
                    return await self._decided(url, site, name, prefix, early)
        finally:
            if early:
                await _dropped(early)
        return await self._rendered(url, site, _why_always(known.evidence, prefix))

    async def render_many(self, urls: Iterable[str]) -> AsyncGenerator[Outcome]:
        """Return pages; yield each URL with its page or its error as soon as it is finished.

        The order of the URLs changes no decision: of each prefix, the pages with the lowest hash are compared. If a
        comparison shows that pages have to be rendered that were already yielded, they are yielded once more.
        """
        wanted = sorted(dict.fromkeys(urls), key=lambda url: url_rank(url, seed=self._seed))
        tasks = {asyncio.create_task(self._outcome(url)) for url in wanted[:_AT_ONCE]}
        rest = iter(wanted[_AT_ONCE:])
        try:
            while tasks:
                done, tasks = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    if (url := next(rest, None)) is not None:
                        tasks.add(asyncio.create_task(self._outcome(url)))
                    yield task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        async for outcome in self.again(wanted):
            yield outcome

    async def again(self, among: Sequence[str] | None = None) -> AsyncIterator[Outcome]:
        """Load the pages again that a later comparison, or a lie of their server, has made doubtful; yield them.

        Parameters
        ----------
        among : only these URLs; None for all.
        """
        for url in self._fetcher.known.doubtful(among):
            yield await self._outcome(url)
        chosen = None if among is None else {*among}
        for known in [*self._sites.values()]:
            for url in [url for url in known.suspects if chosen is None or url in chosen]:
                reason = known.suspects.pop(url)
                try:
                    yield url, await self._rendered(url, None, reason)
                except DomsieveError as error:
                    yield url, error

    async def _outcome(self, url: str) -> Outcome:
        try:
            return url, await self.render(url)
        except DomsieveError as error:
            return url, error

    def _site(self, name: str) -> _Site:
        if name not in self._sites:
            if len(self._sites) >= _MOST_SITES:
                self._forget()
            evidence = SiteEvidence.of(self._memory.entries(name))
            self._sites[name] = _Site(evidence, evidence.browser)
        return self._sites[name]

    def _forget(self) -> None:
        """Forget the sites that no page waits for; the memory still has what they have shown."""
        for name, known in [*self._sites.items()]:
            if not known.suspects and (known.last is None or known.last.is_set()):
                del self._sites[name]
                self._sheets.pop(name, None)

    async def _rendered(self, url: str, site: str | None, reason: str) -> Rendering:
        async with self._opening:
            if self._renderer is None:
                self._renderer = await self._stack.enter_async_context(self._open())
        return _with_reason(await self._renderer.render(url, site=site), reason)

    async def _fetched(self, url: str, site: str | None, known: _Site, prefix: str) -> FetchedSource:
        """Fetch a page and look at its source.

        Raises
        ------
        DomsieveError : rendering it would have the same result.
        """
        self._fetcher.browser = known.browser
        # A rendering is not compared with a source that may be old.
        whole = not known.evidence.is_static(prefix) or is_audited(url, seed=self._seed)
        try:
            raw = await self._fetcher.render(url, site=site, whole=whole)
        except NavigationError as error:
            if any(name in error.message for name in _HOPELESS):
                raise
            return FetchedSource(signs=(f"it cannot be fetched: {error.message.removesuffix('.')}",))
        except ContentError as error:
            if error.reason == "type":
                raise
            return FetchedSource(signs=(f"it cannot be fetched: {error.message.removesuffix('.')}",))
        except BudgetError as error:
            return FetchedSource(signs=(error.message.removesuffix("."),))
        if fault := fault_of(raw.snapshot):
            return FetchedSource(raw, (fault.detail.removesuffix("."),))
        styles = source_parts(raw.source or b"").styles
        context = await self._style_sheets(url, site).context(raw.snapshot, styles)
        try:
            return await asyncio.to_thread(looked_at, raw, context)
        except BudgetError as error:
            return FetchedSource(signs=(error.message.removesuffix("."),))

    def _style_sheets(self, url: str, site: str | None) -> StyleSheets:
        name = site or site_of(url)
        if name not in self._sheets:
            if len(self._sheets) >= _MOST_SHEETS:
                del self._sheets[next(iter(self._sheets))]

            async def fetch(sheet: str) -> bytes | None:
                return await self._fetcher.file(sheet, most_bytes=MOST_SHEET_BYTES, site=name)

            self._sheets[name] = StyleSheets(fetch)
        return self._sheets[name]

    async def _decided(
        self,
        url: str,
        site: str | None,
        name: str,
        prefix: str,
        early: "asyncio.Future[FetchedSource] | None",
    ) -> Rendering:
        known = self._site(name)
        evidence = known.evidence
        source = await (early or self._fetched(url, site, known, prefix))
        is_static = evidence.is_static(prefix)
        try:
            if source.chains and not source.signs and (source.depends or not is_static):
                await asyncio.to_thread(source.look_closer)
            reason, unseen = await asyncio.to_thread(self._judged, evidence, url, prefix, source)
        except BudgetError as error:
            source = FetchedSource(signs=(error.message.removesuffix("."),))
            reason, unseen = source.signs[0], None
        if reason is None and source.rendering and unseen is not None:
            why = _why_static(evidence, prefix)
            self._tell(known, name, prefix, why)
            self._learn(known, name, Fetched(url=url, prefix=prefix))
            page = without_texts(source.rendering.snapshot, unseen)
            unchanged = page.provenance.reason
            return _with_reason(
                replace(source.rendering, snapshot=page), f"{why}; {unchanged}" if unchanged else why
            )
        rendering = await self._rendered(url, site, reason or "")
        learn = lesson_of
        if is_static and source.signs:
            learn = nothing_learned
        elif reason == MAY_HIDE:
            learn = styles_learned
        lesson = await asyncio.to_thread(learn, url, prefix, source, rendering.snapshot)
        if lesson:
            if reason in (_NEW_SHEETS, _NEW_SCRIPTS):
                had_signs = lesson.had_signs or lesson.outcome != "enough"
                lesson = msgspec.structs.replace(lesson, had_signs=had_signs, in_vain=True)
            self._learn(known, name, lesson)
            if evidence.prefix(prefix).needs_browser or evidence.is_varied(prefix):
                self._tell(known, name, prefix, _why_always(evidence, prefix))
        return rendering

    def _judged(
        self, evidence: SiteEvidence, url: str, prefix: str, source: FetchedSource
    ) -> tuple[str | None, Bools | None]:
        """Return why a page has to be rendered; or None, and the texts of it that may be hidden.

        Raises
        ------
        BudgetError : the page exceeded its budget.
        """
        if source.signs:
            return source.signs[0], None
        if not evidence.is_static(prefix):
            number = evidence.prefix(prefix).enough + 1
            return f"compared: {number} of {evidence.compared} pages of {_shown(prefix)}", None
        if evidence.is_due(url, prefix, seed=self._seed):
            return "audited: renderings have shown that it needs no browser, and this is checked", None
        seen = evidence.seen(source.context.key) if source.context else None
        if seen is None:
            return _NEW_SHEETS, None
        if source.rendering is None or source.chains is None:
            return "its source could not be read", None
        if not source.scripts <= evidence.scripts:
            return _NEW_SCRIPTS, None
        if not source.chains.boxes <= seen.boxes:
            return MAY_HIDE, None
        page = source.rendering.snapshot
        unseen = unseen_texts(page, source.chains, seen)
        # What was always seen hidden is dropped, as from a rendered page.
        hidden = hidden_by_chain(page, source.chains, seen)
        if source.depends_on(unseen & lettered(page) & ~hidden, hidden=hidden):
            return MAY_HIDE, None
        return None, unseen

    def _learn(self, known: _Site, name: str, entry: Entry) -> None:
        suspects = known.evidence.add(entry)
        self._memory.add(name, entry)
        if suspects:
            self._report(
                name, entry.prefix, f"rendered again: {entry.url} needs a browser, and nothing says so"
            )
        known.suspects |= dict.fromkeys(suspects, f"another page of {_shown(entry.prefix)} needs a browser")

    def _tell(self, known: _Site, name: str, prefix: str, sentence: str) -> None:
        kind = sentence.partition(":")[0]
        if known.told.get(prefix) != kind:
            known.told[prefix] = kind
            self._report(name, prefix, sentence)


_AT_ONCE = 16
_MOST_SITES, _MOST_SHEETS = 10_000, 16  # sites that are known at a time, and sites whose style sheets are


@asynccontextmanager
async def _turn(site: _Site) -> AsyncIterator[None]:
    """Wait until all pages of the site that were requested before are decided."""
    before, done = site.last, asyncio.Event()
    site.last = done
    try:
        if before:
            await before.wait()
        yield
    finally:
        done.set()


async def _dropped(early: "asyncio.Future[FetchedSource]") -> None:
    """End a fetch that is not needed, and ignore its result."""
    if not early.done():
        early.cancel()
    await asyncio.gather(early, return_exceptions=True)


def path_prefix(url: str) -> str:
    """Return the part of a site that a page belongs to: the first step of its path, ``/`` for pages at the top."""
    first, more, _ = urlsplit(url).path.removeprefix("/").partition("/")
    return f"/{first}" if more else "/"


def _shown(prefix: str) -> str:
    return prefix if prefix.endswith("/") else f"{prefix}/"


def _why_static(evidence: SiteEvidence, prefix: str) -> str:
    known = evidence.prefix(prefix)
    compared = f"{known.enough} of {known.enough + known.needed} compared pages"
    return f"static: {compared} of {_shown(prefix)} need no browser"


def _why_always(evidence: SiteEvidence, prefix: str) -> str:
    known = evidence.prefix(prefix)
    if not known.needs_browser and evidence.in_vain >= MOST_IN_VAIN_OF_SITE:
        return f"too varied: of {evidence.in_vain} pages of the site in a row, the style sheets were new"
    if not known.needs_browser:
        return f"too varied: the last {known.in_vain} pages of {_shown(prefix)} had to be rendered"
    if not known.is_drawn:
        return f"not alike: {known.surprises} pages of {_shown(prefix)} needed a browser, and nothing said so"
    compared = f"{known.needed} of {known.enough + known.needed} compared pages"
    return f"drawn by scripts: {compared} of {_shown(prefix)} need a browser"


def _with_reason(rendering: Rendering, reason: str) -> Rendering:
    page = rendering.snapshot
    return replace(
        rendering, snapshot=replace(page, provenance=msgspec.structs.replace(page.provenance, reason=reason))
    )
