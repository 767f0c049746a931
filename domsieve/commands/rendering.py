"""Commands that render pages into the cache."""

import shlex
from collections.abc import Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from domsieve.commands.capture_options import (
    AsJson,
    Cache,
    Capture,
    HiddenCapture,
    rendering,
    rendering_every_page,
)
from domsieve.commands.console import (
    check_place,
    finish,
    open_cache,
    print_json,
    print_line,
    progress,
    say,
    say_error,
    say_failed,
)
from domsieve.commands.declared_options import having
from domsieve.commands.fetching import (
    Archive,
    ArchiveCredentials,
    archive_of,
    fetch,
    may_use,
    recorded,
    source_of,
)
from domsieve.commands.input_words import say_unknown
from domsieve.options import Scope
from domsieve.types import PageFormat
from domsieve.urls import meant

if TYPE_CHECKING:
    from domsieve.archive.recording import Recording
    from domsieve.commands.cleaning import Writing
    from domsieve.snapshot.index import PageRecord
    from domsieve.snapshot.store import PageStore
    from domsieve.tasks.output import ResultFolder
    from domsieve.tasks.targets import Word


@rendering_every_page
def render(
    targets: "Sequence[Word]",
    *,
    archive: Archive = None,
    archive_credentials: ArchiveCredentials = False,
    cache: Cache = None,
    hidden: HiddenCapture = "layout",
    as_json: AsJson = False,
    capture: Capture,
) -> None:
    """Render URLs and keep the pages in the cache."""
    from domsieve.errors import DomsieveError, TargetError
    from domsieve.tasks.pages import fault_in
    from domsieve.tasks.targets import DamagedTarget, UrlTarget, find_targets

    capture = recorded(capture.for_hidden(hidden), archive=archive, credentials=archive_credentials)
    with open_cache(cache) as store, archive_of(archive) as recording:
        found = find_targets(targets, store)
        if not all(isinstance(target, DamagedTarget | UrlTarget) for target in found):
            raise TargetError("Only URLs can be rendered; files and cached pages are cleaned as they are.")
        outcomes = fetch(found, store, capture, recording).outcomes
        faults = {
            url: outcome if isinstance(outcome, DomsieveError) else fault_in(outcome, store)
            for url, outcome in outcomes.items()
        }
    for url, outcome in outcomes.items():
        fault = faults[url]
        known = {} if isinstance(outcome, DomsieveError) else asdict(outcome)
        if known and fault:
            say_failed(url, fault)
        if as_json:
            why = {"error": fault.message, "retry": fault.retry} if fault else {}
            print_json({"url": url, **known, **why})
        elif known and not fault:
            print_line(f"{known['page_id'][:12]} {url}")
    failed = sum(fault is not None for fault in faults.values())
    finish(len(outcomes) - failed, failed)


@rendering
@having(Scope, "scope")
def site(
    url: Annotated[str, typer.Argument(help="A page of the site.")],
    *,
    pages: Annotated[
        int | None, typer.Option(min=1, help="Number of different pages [default: 100].")
    ] = None,
    every_page: Annotated[
        bool, typer.Option("--all", help="Every page that is found, instead of a sample.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of the random sample.")] = 0,
    archive: Archive = None,
    archive_credentials: ArchiveCredentials = False,
    cache: Cache = None,
    hidden: HiddenCapture = "layout",
    output_dir: Annotated[
        Path | None, typer.Option(help="Also clean the pages, into a folder with a file per page.")
    ] = None,
    output_format: Annotated[
        PageFormat | None, typer.Option("--format", help="Format of these files [default: text].")
    ] = None,
    as_json: AsJson = False,
    scope: Scope,
    capture: Capture,
) -> None:
    """Render a random sample of the pages of a site, or all of them, into the cache."""
    from domsieve.analysis.writers.formats import PAGE_FORMATS
    from domsieve.errors import TargetError, UsageError
    from domsieve.renderer.sampling.events import PageDone, PageFailed
    from domsieve.tasks.output import ResultFolder
    from domsieve.tasks.sampling import describe, sample

    if every_page and pages is not None:
        raise UsageError("Give either --pages or --all.")
    if "://" not in url:
        raise TargetError(f"{url} is not the address of a site.{meant(url)}")
    capture = recorded(capture.for_hidden(hidden), archive=archive, credentials=archive_credentials).adapted()
    if output_format and not output_dir:
        raise UsageError("--format is about the files that --output-dir writes; give both.")
    check_place("--output-dir", output_dir, is_folder=True)
    done, failed, kept_as = 0, 0, ""
    records: list[PageRecord] = []

    # The start page may be private, but not addresses that it redirects to.
    egress = capture.egress
    egress.name(url)

    async def run(store: "PageStore", recording: "Recording | None") -> None:
        nonlocal done, failed, kept_as
        store.create()
        async with AsyncExitStack() as stack:
            bar = stack.enter_context(progress("rendering"))
            wanted = None if every_page else pages or 100
            bar.set_total(wanted or 0)
            renderer = await stack.enter_async_context(source_of(capture, recording, store, seed=seed))
            replay = capture.replay
            files = await stack.enter_async_context(replay.egress()) if replay else egress
            async for event, record in sample(
                renderer,
                url,
                store,
                options=capture.options,
                pages=wanted,
                seed=seed,
                scope=scope,
                delay=timedelta() if replay else capture.delay,  # an archive needs no delays
                concurrency=min(capture.concurrency, 8),
                since=capture.since,
                egress=files,
                may_use=may_use(recording),
            ):
                (say_error if isinstance(event, PageFailed) else say)(describe(event))
                failed += isinstance(event, PageFailed)
                if record is None or not isinstance(event, PageDone):
                    continue
                done += 1
                records.append(record)
                bar.set_total(event.expected)
                bar.advance()
                kept_as = record.site
                if as_json:
                    origin = event.rendering.snapshot.provenance
                    is_rendered = record.producer == "rendered"
                    print_json({**asdict(record), "rendered": is_rendered, "reason": origin.reason})
                else:
                    print_line(f"{record.page_id[:12]} {record.url}")

    with ExitStack() as stack, open_cache(cache) as store:
        entry = PAGE_FORMATS[output_format or "text"]
        folder = stack.enter_context(ResultFolder(output_dir, entry)) if output_dir else None
        with archive_of(archive) as recording:
            import asyncio

            asyncio.run(run(store, recording))
        say_unknown(capture.replay)
        if folder:
            say(f"The files of {folder.root} are written now: the method learns from all pages.")
            writing = _clean(records, store, capture, folder, output_format or "text")
            done, failed = writing.done, failed + writing.failed.count
    if kept_as and not output_dir:
        same = " --hidden pixels" if hidden == "pixels" else ""
        if cache is not None:
            same += f" --cache {shlex.quote(str(cache))}"
        say(f"Next: domsieve clean {kept_as} --output-dir clean{same}")
    finish(done, failed)


def _clean(
    records: "Sequence[PageRecord]",
    store: "PageStore",
    capture: Capture,
    folder: "ResultFolder",
    form: PageFormat,
) -> "Writing":
    """Clean the pages of a sample, which the method learns from together with other known pages of the site."""
    from domsieve.commands.cleaning import Writing
    from domsieve.tasks.page_cleaning import clean
    from domsieve.tasks.pages import from_record, known_pages, numbered

    pages = numbered(from_record(record, store) for record in records)
    folder.expect(page.key for page in pages)
    writing = Writing(form)
    with progress("cleaning", total=len(pages)) as bar:
        for page, result in clean(
            pages,
            hidden="pixels" if capture.options.pixels else "layout",
            siblings=lambda site: known_pages(site, store, capture.options),
        ):
            bar.advance()
            writing.write(page, result, folder)
    writing.report()
    say(folder.summary())
    return writing
