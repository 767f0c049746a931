"""Pages that can be read: from the cache, files, archives and HTML."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from domsieve.archive.stored_page import StoredPage
from domsieve.budget import Meter
from domsieve.errors import ContentError, DomsieveError, PageError, UsageError
from domsieve.options import CaptureOptions
from domsieve.renderer.fetching.known_sources import KnownSource
from domsieve.renderer.html_parser.content import PageOrigin, file_origin, source_origin
from domsieve.renderer.html_parser.parser import parse_html, parse_html_file, read_html_file
from domsieve.renderer.protocol import DATA, SCREENSHOT, Rendering
from domsieve.renderer.sampling.frontier import missing_addresses
from domsieve.sanitize import utf8
from domsieve.snapshot.fault import check_fault, fault_of
from domsieve.snapshot.index import PageRecord
from domsieve.snapshot.page import PIXELS, Snapshot
from domsieve.snapshot.pixels import has_pixels, with_seen_texts, without_pixels
from domsieve.snapshot.store import PageStore
from domsieve.tasks.file_names import PageKey
from domsieve.tasks.sites import RAW, Placed, placed, read_stored
from domsieve.tasks.targets import (
    ArchiveTarget,
    CacheTarget,
    DamagedTarget,
    Fetched,
    FileTarget,
    PipedTarget,
    is_doubtful,
    site_of,
)
from domsieve.types import HiddenText
from domsieve.urls import without_credentials

if TYPE_CHECKING:
    from domsieve.analysis.selection.selection import Selection

STDIN = "stdin"
"""The label of a page from standard input."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page that can be read without a browser, any number of times.

    Parameters
    ----------
    label : URL or path, for messages.
    name : the address, which files of results are named after; for a page from disk its path below the folder that
        all of them are in.
    site : a host name or a folder; pages with equal sites are learned from together.
    load : reads the page; raises a `DomsieveError` if that fails.
    keep_errors : whether to use the page even if it counts as failed, like an error page of a server.
    keys : pages that share a key are the same page under different names, and are learned from once.
    hidden : how hidden text of the page is found. With ``"pixels"``, a page that was captured without pictures cannot
        be read. Otherwise, what pictures say is left out, so that results are the same with and without it.
    missing : returns what the site of a Snapshot shows at an address without a page; None if that is not known.
    meter : the cost of its analysis so far, in all steps together.
    capture : the number of the capture among those of equal names, from 1.
    """

    label: str
    name: str
    site: str
    load: Callable[[], Snapshot]
    keep_errors: bool = False
    keys: tuple[str, ...] = ()
    hidden: HiddenText = "layout"
    missing: Callable[[Snapshot], Snapshot | None] = lambda _: None
    meter: Meter = field(default_factory=Meter, compare=False, repr=False)
    capture: int = field(default=1, kw_only=True)

    @property
    def key(self) -> PageKey:
        """What identifies the page in a folder of results."""
        return utf8(without_credentials(self.name)), self.capture

    def read(self) -> Snapshot:
        """Return the Snapshot of the page.

        Raises
        ------
        PageError : it counts as failed, and `keep_errors` is False; or nothing of it was captured, and
            `hidden` needs pictures.
        UsageError : no pictures of it were taken, and `hidden` needs them.
        DomsieveError : it cannot be read.
        """
        page = self.load()
        if not self.keep_errors:
            check_fault(page)
        if self.hidden != "pixels":
            return without_pixels(page)
        if not has_pixels(page):
            if PIXELS in page.provenance.options:
                reasons = "; ".join(page.provenance.reasons)
                raise PageError(
                    f"Its hidden text cannot be found by pixels. {reasons}", url=page.provenance.url
                )
            raise no_pixels(self.label)
        return with_seen_texts(page)

    def at_work(self, stage: str) -> AbstractContextManager[None]:
        """Return a context manager that counts the work on the page inside it.

        Raises
        ------
        BudgetError : the page has used its budget; raised on entering, inside or on leaving.
        """
        self.meter.url = self.meter.url or self.label
        return self.meter.running(stage)


def no_pixels(label: str) -> UsageError:
    """Return the error of a page whose hidden text is to be found by pixels, but of which there are no pictures."""
    return UsageError(
        f"hidden is 'pixels', but no pictures of {label or 'this page'} were taken. That is possible only while a "
        "page is rendered: give its address, or render it with `--hidden pixels`.",
        parameter="hidden",
    )


def fault_in(record: PageRecord, store: PageStore) -> PageError | None:
    """Return why a captured page counts as failed; None if it does not."""
    try:
        check_fault(store.get(record.page_id))
    except PageError as error:
        return error
    return None


def keep(rendering: Rendering, site: str, store: PageStore) -> PageRecord:
    """Store a rendered page with its raw source and its extras, such as a screenshot."""
    if rendering.unscripted is not None:
        store.put(rendering.unscripted.snapshot, source=rendering.source, site=site)
    return store.put(rendering.snapshot, source=rendering.source, site=site, extras=rendering.extras)


def cached(
    url: str,
    store: PageStore,
    options: CaptureOptions,
    *,
    since: datetime | None = None,
    may_use: Callable[[PageRecord], bool] = lambda _: True,
) -> PageRecord | None:
    """Return the newest complete capture of `url` with these options and the extras that they ask for, or None.

    With ``render="never"``, only pages that were fetched are returned, and with ``"auto"`` also those if there is no
    rendered one, without doubtful ones. Captures made before `since`, a time with a zone, are too old. `may_use` may
    refuse others.
    """
    found: list[PageRecord | None] = []
    if options.render != "never":
        found.append(store.find(url, producer="rendered", options=options.canonical()))
    if options.render != "always":
        found.append(store.find(url, producer="raw", options=options.canonical_fetched()))
    wanted = {SCREENSHOT} if options.screenshot else {DATA} if options.both_versions else set()
    for record in found:
        if record is None or not record.complete:
            continue
        if since is not None and datetime.fromisoformat(record.captured_at) < since:
            continue
        if is_doubtful(record, store):
            continue
        if wanted <= {*store.extra_names(record)} and may_use(record):
            return record
    return None


def known_source(url: str, store: PageStore, options: CaptureOptions) -> KnownSource | None:
    """Return the source of the newest complete capture of `url` with these options; None without validators."""
    found = [
        store.find(url, producer="raw", options=options.canonical_fetched()),
        store.find(url, producer="rendered", options=options.canonical()),
    ]
    usable = [record for record in found if record and record.complete and record.source_digest]
    if not usable:
        return None
    record = max(usable, key=lambda record: record.captured_at)
    try:
        page = store.get(record.page_id)
        source = store.source(record)
    except DomsieveError:
        return None  # the file is damaged or gone: load the page
    origin = page.provenance
    if not (origin.etag or origin.last_modified) or origin.status is None or fault_of(page):
        return None
    return KnownSource(
        source=source,
        final_url=origin.final_url,
        status=origin.status,
        content_type=origin.content_type,
        etag=origin.etag,
        last_modified=origin.last_modified,
        captured_at=origin.captured_at,
    )


def unscripted(record: PageRecord, store: PageStore) -> PageRecord | None:
    """Return the capture of the same source without scripts; None if there is none."""
    options = store.get(record.page_id).provenance.options | {"scripts": False}
    twin = store.find(record.url, producer="unscripted", options=options, build=record.build)
    return twin if twin is not None and twin.source_digest == record.source_digest else None


def site_records(site: str, store: PageStore, options: CaptureOptions) -> list[PageRecord]:
    """Return the newest complete capture of each URL of a site that was made with these options."""
    newest: dict[str, PageRecord] = {}
    for record in store.records(site=site):
        found = cached(record.url, store, options)
        if found is not None:
            newest[record.url] = found
    return list(newest.values())


def known_pages(site: str, store: PageStore, options: CaptureOptions, *, raw: bool = False) -> "list[Page]":
    """Return the cached pages of a site that a page of it is learned from together with.

    Parameters
    ----------
    site : the site of a `Page`. If it is one of raw pages, rendered pages are read from their sources. Otherwise
        pages that were only fetched are among them, with the site of raw pages.
    options : how pages are captured.
    raw : whether to read the raw source of rendered pages.
    """
    records = site_records(site.removesuffix(f" {RAW}"), store, options)
    return pages_like(records, site, store, raw=raw)


def pages_like(
    records: Iterable[PageRecord], site: str, store: PageStore, *, raw: bool = False
) -> "list[Page]":
    """Return the pages among some of a site that a page of it is learned from together with; see `known_pages`."""
    if site.endswith(f" {RAW}"):
        return [replace(from_record(one, store, raw=True), site=site) for one in records if one.source_digest]
    return [from_record(one, store, raw=raw) for one in records if one.producer in {"rendered", "raw"}]


def readable(
    fetched: Fetched,
    store: PageStore,
    *,
    raw: bool,
    keep_errors: bool = False,
    url: str = "",
    selection: "Selection | None" = None,
) -> list[Page]:
    """Return the targets as pages with distinct keys, without those that failed or are damaged.

    Parameters
    ----------
    raw : whether to read the raw source of rendered pages.
    keep_errors : whether to use pages that count as failed.
    url : the address of the page in the file, if the only target is a file.
    selection : the parts of each page to work on; None for the whole page.
    """
    pages: list[Page] = []
    files = [target for target in fetched.targets if isinstance(target, FileTarget | PipedTarget)]
    places = iter(placed([_origin(file, url) for file in files]))
    paths = iter(_paths(files))
    for target in fetched.targets:
        if isinstance(target, FileTarget | PipedTarget):
            pages.append(replace(from_file(target, next(places)), name=next(paths)))
            continue
        if isinstance(target, ArchiveTarget):
            pages.append(from_archive(target.page))
            continue
        if isinstance(target, DamagedTarget):
            continue
        record = target.record if isinstance(target, CacheTarget) else fetched.outcomes[target.url]
        if not isinstance(record, DomsieveError):
            pages.append(from_record(record, store, raw=raw))
    return [with_selection(replace(page, keep_errors=keep_errors), selection) for page in numbered(pages)]


def with_selection(page: Page, selection: "Selection | None") -> Page:
    """Return the page reduced to the selected parts; it counts as failed if `select` matches nothing."""
    if not selection:
        return page
    return replace(page, load=lambda: selection.of(page.load()))


def from_record(record: PageRecord, store: PageStore, *, raw: bool = False) -> Page:
    """Return a page of the cache."""

    def load() -> Snapshot:
        page = store.get(record.page_id)
        return _raw_twin(page, record, store) if raw and page.has_layout else page

    keys = (f"{record.producer} {record.url}",)
    return Page(
        record.url,
        record.url,
        record.site if record.producer != "raw" else f"{record.site} {RAW}",
        load,
        keys=keys,
        missing=lambda page: missing_page(page, store),
    )


def from_file(file: FileTarget | PipedTarget, place: Placed) -> Page:
    """Return a page from disk or standard input."""
    if isinstance(file, PipedTarget):
        address = place.address or STDIN
        load = partial(parse_html_file, file.source, Path(STDIN), url=address)
        return Page(STDIN, STDIN, place.site, load, keys=place.keys)
    load = partial(read_html_file, file.path, url=place.address or None)
    return Page(str(file.path), str(file.path), place.site, load, keys=place.keys)


def from_archive(page: StoredPage) -> Page:
    """Return a page of an archive."""
    site = f"{site_of(page.url)} {RAW}"
    return Page(page.label, page.url, site, partial(read_stored, page), keys=(f"raw {page.url}",))


def from_html(html: str, *, url: str = "", keep_errors: bool = False) -> Page:
    """Return a page given as HTML, with its address if that is known. It is parsed once."""
    source = html.encode("utf-8", "replace")

    @cache
    def load() -> Snapshot:
        return parse_html(source, url=url, encoding="utf-8")

    return Page(url, "page", f"{site_of(url)} {RAW}", load, keep_errors)


def missing_page(page: Snapshot, store: PageStore) -> Snapshot | None:
    """Return the page that the site showed at a made-up address when it was sampled; None if it was not sampled."""
    origin = page.provenance
    if origin.producer == "unscripted":
        return None
    for url in missing_addresses(origin.url):
        found = store.find(url, producer=origin.producer, options=origin.options)
        if found is not None and found.url != origin.url and found.complete:
            model = store.get(found.page_id)
            return None if fault_of(model) else model
    return None


def numbered(pages: Iterable[Page]) -> list[Page]:
    """Return the pages with numbers, so that those of equal names, such as captures of one address, have own keys."""
    captures: Counter[str] = Counter()
    found: list[Page] = []
    for page in pages:
        captures[page.key[0]] += 1
        found.append(replace(page, capture=captures[page.key[0]]))
    return found


def _paths(files: Sequence[FileTarget | PipedTarget]) -> list[str]:
    """Return the path of each file below the folder that all of them are in."""
    folders = {file.folder: file.folder.resolve() for file in files if isinstance(file, FileTarget)}
    common = os.path.commonpath(folders.values()) if folders else ""
    return [
        STDIN
        if isinstance(file, PipedTarget)
        else (folders[file.folder] / file.path.relative_to(file.folder)).relative_to(common).as_posix()
        for file in files
    ]


def _origin(file: FileTarget | PipedTarget, url: str) -> tuple[str, Callable[[], PageOrigin | None]]:
    """Return the folder of a file, and a function that returns the origin that its source states."""
    if isinstance(file, PipedTarget):
        return STDIN, partial(source_origin, file.source, url=url)
    return str(file.folder), partial(file_origin, file.path, url=url)


def _raw_twin(page: Snapshot, record: PageRecord, store: PageStore) -> Snapshot:
    if not record.source_digest:
        raise ContentError(
            "No raw source is stored for this page; render it again.", url=record.url, stage="read"
        )
    origin = page.provenance
    raw = parse_html(store.source(record), url=origin.final_url, content_type=origin.content_type)
    return replace(raw, provenance=msgspec.structs.replace(raw.provenance, status=origin.status))
