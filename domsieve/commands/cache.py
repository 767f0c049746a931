"""Commands that manage the cache, and check the browser."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from domsieve.commands.capture_options import AsJson, BrowserOption, Cache
from domsieve.commands.console import (
    EXIT_STORAGE,
    count,
    failures,
    open_cache,
    print_json,
    print_line,
    say,
)

if TYPE_CHECKING:
    from domsieve.snapshot.index import PageRecord
    from domsieve.snapshot.store import PageStore

_MEGABYTE = 1_000_000
_AT_ONCE = 1_000  # number of pages that are removed together


def cache_list(
    site: Annotated[str | None, typer.Argument(help="Only pages of this host.")] = None,
    *,
    cache: Cache = None,
    as_json: AsJson = False,
) -> None:
    """List the captured pages."""
    with failures(), open_cache(cache) as store:
        for record in store.each_record(site=site and site.lower()):
            if as_json:
                print_json(asdict(record))
            else:
                mark = "" if record.complete else " incomplete"
                print_line(
                    f"{record.page_id[:12]} {record.nodes:>8,} nodes {record.bytes:>9,} B {record.url}{mark}"
                )


def cache_show(
    page: Annotated[str, typer.Argument(help="Id of a page, or its first characters.")],
    *,
    cache: Cache = None,
    as_json: AsJson = False,
) -> None:
    """Show where a captured page came from and what it holds."""
    from msgspec import to_builtins

    with failures(), open_cache(cache) as store:
        record = store.resolve(page)
        facts = {**asdict(record), "provenance": to_builtins(store.get(record.page_id).provenance)}
        typer.echo(json.dumps(facts, ensure_ascii=False, indent=None if as_json else 2, default=str))


def cache_verify(
    *,
    repair: Annotated[
        bool,
        typer.Option("--repair", help="Repair what can be repaired."),
    ] = False,
    cache: Cache = None,
    as_json: AsJson = False,
) -> None:
    """Check every file of the cache; exit code 5 when something is wrong."""
    with failures(), open_cache(cache, repair=repair) as store:
        problems = store.verify(repair=repair)
        for problem in problems:
            if as_json:
                print_json(asdict(problem))
            else:
                print_line(str(problem))
        say(f"{count(store.count(), 'page')}, {count(len(problems), 'problem')}")
        if not all(problem.harmless for problem in problems):
            raise typer.Exit(EXIT_STORAGE)


def cache_remove(
    pages: Annotated[list[str], typer.Argument(help="Ids of pages, or hosts of sites.")],
    *,
    cache: Cache = None,
) -> None:
    """Remove captured pages."""
    with failures(), open_cache(cache) as store:
        found = [store.records(site=page.lower()) or [store.resolve(page)] for page in pages]
        ids = {record.page_id for records in found for record in records}
        store.remove(sorted(ids))
        say(f"{count(len(ids), 'page')} removed")


def cache_prune(
    *,
    keep_days: Annotated[
        int | None, typer.Option(min=0, max=36_500, help="Remove captures that are older than so many days.")
    ] = None,
    keep_megabytes: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=1_000_000_000,
            help="Remove the oldest captures until the others take no more than this on the disk.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be removed, and remove nothing.")
    ] = False,
    cache: Cache = None,
    as_json: AsJson = False,
) -> None:
    """Remove old captures, or the oldest where the cache has become too large."""
    from domsieve.errors import UsageError

    with failures():
        if keep_days is None and keep_megabytes is None:
            raise UsageError("Say what to keep: give --keep-days, --keep-megabytes, or both.")
        with open_cache(cache) as store:
            pages, removed, size = store.count(), 0, 0
            outdated = _outdated(store, keep_days, keep_megabytes)
            while some := list(islice(outdated, _AT_ONCE)):
                for record, held in some:
                    if as_json:
                        print_json({**asdict(record), "size_bytes": held})
                    else:
                        day = record.captured_at[:10]
                        print_line(f"{record.page_id[:12]} {day} {held:>11,} B {record.url}")
                removed, size = removed + len(some), size + sum(held for _, held in some)
                if not dry_run:
                    store.remove([record.page_id for record, _ in some])
            if not dry_run:
                store.drop_bases()
        done = "would be removed" if dry_run else "removed"
        say(f"{count(removed, 'page')} with {count(size, 'byte')} {done}, {pages - removed:,} kept")


def _outdated(
    store: "PageStore", keep_days: int | None, keep_megabytes: int | None
) -> "Iterator[tuple[PageRecord, int]]":
    """Yield the pages to remove with their sizes in bytes, oldest first. They may be removed while iterating."""
    since = "" if keep_days is None else (datetime.now(UTC) - timedelta(days=keep_days)).isoformat()
    most = None if keep_megabytes is None else keep_megabytes * _MEGABYTE
    held = 0 if most is None else sum(store.size(record.page_id) for record in store.each_record())
    for record in store.oldest_first():
        if record.captured_at >= since and (most is None or held <= most):
            return
        size = store.size(record.page_id)
        held -= size
        yield record, size


def doctor(
    *,
    browser: BrowserOption = None,
    cache: Cache = None,
    as_json: AsJson = False,
) -> None:
    """Check Chrome and the cache, and say where they are."""
    from domsieve.renderer.browser.playwright_driver import browser_in_use

    with failures(), open_cache(cache) as store:
        facts = {
            "browser": str(browser_in_use(browser)),
            "cache": str(store.root),
            "pages": store.count(),
        }
        if as_json:
            print_json(facts)
        else:
            typer.echo("\n".join(f"{name}: {value}" for name, value in facts.items()))
