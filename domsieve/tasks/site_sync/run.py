"""A run: visit the site, decide what changed, and write the folder."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from domsieve.analysis.browser_need.site_evidence import Lesson, SiteEvidence
from domsieve.analysis.changes.comparison import first_version
from domsieve.analysis.changes.passages import Passage, change_of
from domsieve.analysis.compare.comparison import compare_loads, without_rotating
from domsieve.analysis.page_flags.flags import page_marks
from domsieve.analysis.writers.formats import PAGE_FORMATS
from domsieve.errors import DomsieveError, PageError
from domsieve.files import digest_of
from domsieve.renderer.protocol import PageSource
from domsieve.snapshot.fault import check_fault, fault_of
from domsieve.snapshot.index import PageRecord
from domsieve.snapshot.page import Snapshot
from domsieve.snapshot.store import PageStore
from domsieve.tasks.adaptive_source import StoredEvidence, path_prefix
from domsieve.tasks.file_names import GONE, file_names
from domsieve.tasks.page_folder import PageFolder
from domsieve.tasks.renderer_factory import CaptureSetup
from domsieve.tasks.site_sync.change_log import ChangeLog
from domsieve.tasks.site_sync.content import (
    Cleaner,
    Content,
    all_text,
    file_content,
    known_share,
    loaded_of,
    template_of,
)
from domsieve.tasks.site_sync.crawling import Crawl, Reporter, SiteVisit
from domsieve.tasks.site_sync.deciding import (
    Version,
    has_new_layout,
    moved_pages,
    numbers_of_page,
    numbers_of_site,
)
from domsieve.tasks.site_sync.state import Kept, Loaded, Memory, State, SyncPage
from domsieve.tasks.site_sync.values import FailedPage, PageChange, SyncedPage, SyncResult
from domsieve.tasks.site_sync.visiting import CheckingSource, RunLimits

_MISSING = (404, 410)
_GONE_AFTER = 2
"""Successive runs in which a page must be missing."""
_RESUMED_WITHIN = timedelta(days=1)
"""Captures of a run that was ended are used by the next one if they are not older."""
_WALLS = frozenset({"robot_wall", "consent_wall", "login_wall"})


@dataclass(slots=True)
class _New:
    """A page that is seen for the first time, with its content and its passages."""

    content: Content
    passages: tuple[Passage, ...]
    record: PageRecord


class SiteSync:
    """A run on a folder.

    Parameters
    ----------
    folder : the folder, open.
    state : what the folder remembers; before the first run, only the settings.
    store : the captures.
    factory : makes the renderer, and has the guard of all connections.
    delay : time between two pages; None means the usual one.
    concurrency : number of pages that are loaded at the same time.
    report : is told how the run goes on.
    limits : what the run may load.
    now : returns the time.
    """

    def __init__(
        self,
        folder: PageFolder,
        state: State,
        store: PageStore,
        factory: CaptureSetup,
        *,
        delay: timedelta | None,
        concurrency: int,
        report: Reporter,
        limits: RunLimits,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._folder, self._memory, self._store, self._factory = folder, Memory(folder), store, factory
        self._state, self._settings = state, state.settings
        self._report = report
        self._at = now().astimezone(UTC).isoformat(timespec="seconds")
        self._run = self._state.run + 1
        self._cleaner = Cleaner(
            {how: self._memory.model(name) for how, (name, _) in self._state.models.items()}
        )
        self._changes: list[PageChange] = []
        self._kept: list[str] = []
        self._layout_changed = False
        self._visit = SiteVisit(
            self._state,
            store,
            factory,
            delay=delay,
            concurrency=concurrency,
            report=report,
            limits=limits,
        )

    async def run(self) -> SyncResult:
        """Do the run, and return what it found.

        Raises
        ------
        DomsieveError : the first page of the site cannot be loaded, or the folder cannot be used.
        """
        async with self._visit.sources() as (loader, checking, source):
            crawl = await self._visit.crawl(checking, source)
            await self._visit.visit_rest(checking, crawl)
            await self._decide(crawl, loader, checking)
            lies = checking.visits.audited & {change.url for change in self._changes}
            if lies and self._state.trusts_validators:
                self._report.said(
                    f"{min(lies)}: it changed, although its server says otherwise; from now on all pages are fetched."
                )
                self._state.trusts_validators = checking.trusts_validators = False
                believed = checking.visits.believed()
                again = Crawl(site=crawl.site)
                await self._visit.visit(checking, again, believed)
                await self._decide(again, loader, checking)
                crawl.failed |= again.failed
                crawl.limit = crawl.limit or again.limit
        self._update_checked(checking, crawl)
        self._find_missing(checking, crawl)
        return self._finish(crawl, checking)

    # Deciding

    async def _decide(self, crawl: Crawl, loader: PageSource, checking: CheckingSource) -> None:
        """Decide what changed on the loaded pages, and note it."""
        self._learn_missing_models(crawl)
        versions, new = self._versions(crawl, checking)
        if has_new_layout((version.share for version in versions), pages=len(self._state.pages)):
            self._relearn(crawl, versions, new)
        known = self._state.known
        for version in versions:
            self._comparing(version, known, crawl)
        await self._load_again([v for v in versions if v.compared.changes], loader, crawl)
        versions = [version for version in versions if version.url not in crawl.failed]
        site_numbers = numbers_of_site(versions, lambda: self._all_passages(versions))
        remembered = set(site_numbers)
        for version in versions:
            remembered |= version.compared.rotating
            if version.compared.numbers:
                version.page.numbers, always = numbers_of_page(version.page, version.compared, run=self._run)
                version.page.known = [*dict.fromkeys([*version.page.known, *sorted(always)])]
                if always or site_numbers:
                    self._comparing(version, {*known, *site_numbers}, crawl)
        self._state.remember(remembered)
        missing = {
            url: self._memory.kept(page.passages).passages
            for url, page in self._state.pages.items()
            if url not in crawl.loaded
            and url not in checking.visits.unchanged
            and url not in crawl.failed
            and (crawl.is_complete or url in checking.visits.missing)
        }
        was = moved_pages(missing, {url: one.passages for url, one in new.items()})
        for version in versions:
            self._apply(version, crawl.loaded[version.url], checking)
        self._apply_new(new, was, checking)

    def _versions(self, crawl: Crawl, checking: CheckingSource) -> tuple[list[Version], dict[str, _New]]:
        versions: list[Version] = []
        new: dict[str, _New] = {}
        self._report.stage("comparing", len(crawl.loaded))
        for url, record in [*crawl.loaded.items()]:
            self._report.advanced()
            page = self._state.pages.get(url)
            try:
                snapshot = self._store.get(record.page_id)
                if page is None:
                    content = self._cleaner.content(snapshot, url=url)
                    new[url] = _New(content, first_version(content.passages, address=url), record)
                    continue
                kept = self._memory.kept(page.passages)
                old = self._captured(page.capture)
                self._check_walls(snapshot, old, url)
                is_same_way = old is not None and loaded_of(old) == loaded_of(snapshot)
                before = (old, kept) if old is not None and is_same_way else None
                content = self._cleaner.content(snapshot, before=before, url=url)
                version = Version(url, page, kept.passages, content)
                if old is not None and is_same_way:
                    share = content.verdict.known_share if self._cleaner.models.get(page.loaded) else None
                    version.share = known_share(snapshot, old) if share is None else share
                elif old is not None:
                    version.texts = all_text(old), all_text(snapshot)
                versions.append(version)
            except DomsieveError as error:
                self._visit.failed(url, error, None, checking, crawl)
        return versions, new

    def _check_walls(self, page: Snapshot, old: Snapshot | None, url: str) -> None:
        """Raise `PageError` if a page shows a wall instead of its content."""
        walls = {mark.kind for mark in page_marks(page)} & _WALLS
        if walls and old is not None and not walls & {mark.kind for mark in page_marks(old)}:
            what = min(walls).replace("_", " ")
            raise PageError(f"It looks like a {what}, and did not before.", url=url, retry=True)

    def _learn_missing_models(self, crawl: Crawl) -> None:
        """Learn a model of pages that were loaded in one way, if there are enough for the first time."""
        for how in ("rendered", "fetched"):
            if how in self._cleaner.models:
                continue
            ids = [page.capture for url, page in self._state.pages.items() if url not in crawl.loaded]
            ids += [record.page_id for record in crawl.loaded.values()]
            self._learn(how, lambda: self._snapshots(how, ids))  # noqa: B023 (called at once)

    def _learn(self, how: Loaded, pages: Callable[[], Iterable[Snapshot]]) -> None:
        model = self._cleaner.learn(how, pages())
        self._state.models.pop(how, None)
        if model is not None:
            self._state.models[how] = (self._memory.keep_model(model), model.learned)

    def _snapshots(self, how: Loaded, ids: Iterable[str]) -> Iterator[Snapshot]:
        for page_id in ids:
            page = self._captured(page_id)
            if page is not None and loaded_of(page) == how and not fault_of(page):
                yield page

    def _captured(self, page_id: str) -> Snapshot | None:
        try:
            return self._store.get(page_id)
        except DomsieveError:
            return None

    def _relearn(self, crawl: Crawl, versions: list[Version], new: dict[str, _New]) -> None:
        """Learn a site with a new layout anew, and clean its pages again, to be compared as texts."""
        self._layout_changed = True
        self._report.said(
            "The layout of the site changed: it is learned anew, and pages are compared as texts."
        )
        ids = [record.page_id for record in crawl.loaded.values()]
        for how in {loaded_of(version.content.snapshot) for version in versions}:
            self._learn(how, lambda: self._snapshots(how, ids))  # noqa: B023 (called at once)
        for version in versions:
            page = version.content.snapshot
            with suppress(DomsieveError):
                version.content = self._cleaner.content(page, url=version.url)
                old = self._captured(version.page.capture)
                if old is not None:
                    version.texts = all_text(old), all_text(page)
        for url, one in new.items():
            with suppress(DomsieveError):
                content = self._cleaner.content(one.content.snapshot, url=url)
                new[url] = _New(content, first_version(content.passages, address=url), one.record)

    def _comparing(self, version: Version, known: Iterable[str], crawl: Crawl) -> None:
        try:
            version.compare(known)
        except DomsieveError as error:
            crawl.failed[version.url] = error

    async def _load_again(self, versions: list[Version], loader: PageSource, crawl: Crawl) -> None:
        """Load pages that seem changed a second time, and compare them with what differs between the loads."""
        of = {version.url: version for version in versions}
        self._report.stage("confirming", len(of))
        async with aclosing(self._visit.politely(loader, [*of])) as outcomes:
            async for url, outcome in outcomes:
                self._report.advanced()
                version = of[url]
                try:
                    if isinstance(outcome, DomsieveError):
                        raise outcome
                    check_fault(outcome.snapshot)
                    self._confirm(version, outcome.snapshot)
                except DomsieveError as error:
                    crawl.failed[url] = error

    def _confirm(self, version: Version, second: Snapshot) -> None:
        first = version.content
        if version.texts is not None:
            version.second_text = all_text(second)
        elif loaded_of(second) == loaded_of(first.snapshot):
            before = first.snapshot, Kept.of(first.passages, first.verdict.kept)
            version.second = self._cleaner.content(second, before=before, url=version.url).passages
            if self._settings.format != "chunks":  # passages know by themselves what rotates
                blocks = compare_loads(second, first.snapshot).blocks
                version.content = replace(first, verdict=without_rotating(first.verdict, blocks))
        version.compare(self._state.known)

    def _all_passages(self, versions: Iterable[Version]) -> Iterator[Iterable[Passage]]:
        now = {version.url: version.content.passages for version in versions}
        for url, page in self._state.pages.items():
            yield now[url] if url in now else self._memory.kept(page.passages).passages

    # Noting and writing

    def _apply(self, version: Version, record: PageRecord, checking: CheckingSource) -> None:
        """Note what became of a known page, and write its file if it changed."""
        page, content, compared = version.page, version.content, version.compared
        page.missing = 0
        self._note_capture(page, content, record, compared.passages, version.url, checking)
        if not compared.changes:
            return
        page.last_changed = self._at
        self._write(page, content, compared.passages)
        self._changes.append(
            PageChange(
                run=self._run,
                at=self._at,
                kind="changed",
                url=version.url,
                title=_title(compared.passages),
                file=page.file,
                passages=compared.changes,
            )
        )

    def _apply_new(self, new: dict[str, _New], was: dict[str, str], checking: CheckingSource) -> None:
        pages = self._state.pages
        taken = {(url, 1): page.file for url, page in pages.items()}
        names = file_names(
            [*taken, *((url, 1) for url in new)],
            ending=PAGE_FORMATS[self._settings.format].ending,
            taken=taken,
        )
        for url, one in new.items():
            passages, old = one.passages, pages.pop(was[url]) if url in was else None
            if old is not None:
                passages = self._memory.kept(old.passages).passages
            page = SyncPage(
                file=names[url, 1],
                first_seen=old.first_seen if old else self._at,
                last_changed=old.last_changed if old else self._at,
                content_hash="",
                passages="",
                capture="",
                loaded="fetched",
            )
            self._note_capture(page, one.content, one.record, passages, url, checking)
            self._write(page, one.content, passages)
            if old is not None and not self._folder.remove(old.file, content_hash=old.content_hash):
                self._kept.append(old.file)
            pages[url] = page
            changes = () if old else tuple(change_of("added", old=None, new=passage) for passage in passages)
            self._changes.append(
                PageChange(
                    run=self._run,
                    at=self._at,
                    kind="moved" if old else "added",
                    url=url,
                    title=_title(passages),
                    file=page.file,
                    was=was.get(url, ""),
                    passages=changes,
                )
            )

    def _note_capture(
        self,
        page: SyncPage,
        content: Content,
        record: PageRecord,
        passages: tuple[Passage, ...],
        url: str,
        checking: CheckingSource,
    ) -> None:
        page.passages = self._memory.keep(Kept.of(passages, content.verdict.kept))
        page.capture, page.loaded = record.page_id, loaded_of(content.snapshot)
        page.source_hash = record.source_digest or None
        page.template = template_of(content.snapshot)
        expected = content.verdict.expected_f1
        page.expected_f1 = None if expected is None else round(expected, 3)
        page.listed_at = checking.changed_at.get(url, "")
        page.files = checking.visits.files.get(url)

    def _write(self, page: SyncPage, content: Content, passages: tuple[Passage, ...]) -> None:
        data = file_content(content, passages, self._settings.format)
        outcome = self._folder.write(page.file, data, content_hash=page.content_hash or None)
        if outcome == "kept":
            self._kept.append(page.file)
            page.content_hash = page.content_hash or digest_of(data)
        else:
            page.content_hash = digest_of(data)

    def _update_checked(self, checking: CheckingSource, crawl: Crawl) -> None:
        """Note the validators of all responses, and which pages need a browser."""
        for url, answer in checking.visits.answers.items():
            page = self._state.pages.get(url)
            if page is None or url in crawl.failed:
                continue
            page.etag, page.last_modified = (
                answer.etag or page.etag,
                answer.last_modified or page.last_modified,
            )
            if answer.source is not None:
                page.source_hash = digest_of(answer.source)
                page.etag, page.last_modified = answer.etag, answer.last_modified
        for url in checking.visits.unchanged:
            self._state.pages[url].missing = 0
            self._state.pages[url].listed_at = checking.changed_at.get(url, "")
        options = self._factory.options
        if options.render != "auto":
            for url in crawl.loaded:
                if url in self._state.pages:
                    self._state.pages[url].needs_browser = options.render == "always"
            return
        entries = StoredEvidence(self._store, options, seed=0).entries(crawl.site)
        evidence = SiteEvidence.of(entries)
        enough = {one.url for one in entries if isinstance(one, Lesson) and one.outcome == "enough"}
        for url in crawl.loaded:
            page = self._state.pages.get(url)
            if page is not None:
                is_enough = url in enough and not evidence.prefix(path_prefix(url)).needs_browser
                page.needs_browser = page.loaded == "rendered" and not is_enough

    def _find_missing(self, checking: CheckingSource, crawl: Crawl) -> None:
        """Count the runs in which pages were missing, and move the files of those that are gone."""
        seen = {*crawl.loaded, *crawl.failed, *checking.visits.unchanged} - checking.visits.missing
        for url, page in [*self._state.pages.items()]:
            if url in seen or not (crawl.is_complete or url in checking.visits.missing):
                continue
            page.missing += 1
            if page.missing < _GONE_AFTER:
                self._report.said(
                    f"{url} is missing; it counts as gone if it is missing in the next run, too."
                )
                continue
            if self._folder.move(page.file, f"{GONE}/{page.file}", content_hash=page.content_hash) == "kept":
                self._kept.append(page.file)
            passages = self._memory.kept(page.passages).passages
            self._changes.append(
                PageChange(
                    run=self._run,
                    at=self._at,
                    kind="gone",
                    url=url,
                    title=_title(passages),
                    file=f"{GONE}/{page.file}",
                    passages=tuple(change_of("removed", old=one, new=None) for one in passages),
                )
            )
            del self._state.pages[url]

    def _restore_files(self) -> None:
        """Write files again that are lost, or that an ended run has left."""
        for url, page in self._state.pages.items():
            data = self._folder.read(page.file)
            if data is not None and digest_of(data) == page.content_hash:
                continue
            if self._folder.state(page.file, page.content_hash) == "edited":
                continue
            snapshot = self._captured(page.capture)
            if snapshot is not None:
                kept = self._memory.kept(page.passages)
                content = self._cleaner.content(snapshot, before=(snapshot, kept), url=url)
                self._write(page, content, kept.passages)

    def _finish(self, crawl: Crawl, checking: CheckingSource) -> SyncResult:
        state = self._state
        self._restore_files()
        changes = sorted(self._changes, key=lambda change: (change.url, change.kind))
        ChangeLog(self._folder).add(changes, source=self._settings.source, finished_run=state.run)
        state.run = self._run
        state.finished = datetime.now(UTC).isoformat(timespec="seconds")
        self._memory.write(state)
        self._folder.finish(state.entries())
        self._memory.forget_unused(state)
        used = {page.capture for page in state.pages.values()}
        self._store.remove([one.page_id for one in self._store.each_record() if one.page_id not in used])
        touched = {change.url for change in changes}
        visited = {*crawl.loaded, *checking.visits.unchanged} if crawl.limit else state.pages.keys()
        return SyncResult(
            run=self._run,
            changes=changes,
            unchanged=[
                SyncedPage(url, page.file)
                for url, page in sorted(state.pages.items())
                if url in visited - touched and url not in crawl.failed and not page.missing
            ],
            failed=[FailedPage(url, error) for url, error in sorted(crawl.failed.items())],
            kept=sorted({*self._kept}),
            layout_changed=self._layout_changed,
            is_complete=crawl.is_complete,
            limit=crawl.limit,
        )


def _title(passages: tuple[Passage, ...]) -> str:
    """Return the first heading of a page; the first words if it has none."""
    for passage in passages:
        if passage.headings:
            return passage.headings[0]
    return " ".join(passages[0].text.split()[:8]) if passages else ""
