"""Commands that look after the cache and the browser."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
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
    from domsieve.snapshot import PageRecord, PageStore

_MEGABYTE = 1_000_000


def cache_list(
    site: Annotated[str | None, typer.Argument(help="Only pages of this host.")] = None,
    *,
    cache: Cache = None,
    as_json: AsJson = False,
) -> None:
    """List the captured pages."""
    with failures(), open_cache(cache) as store:
        for record in store.records(site=site and site.lower()):
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
        say(f"{count(len(store.records()), 'page')}, {count(len(problems), 'problem')}")
        if problems:
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
            raise UsageError("Say what is to be kept: give --keep-days, --keep-megabytes, or both.")
        with open_cache(cache) as store:
            pages = len(store.records())
            removed = [*_outdated(store, keep_days, keep_megabytes)]
            for record, size in removed:
                if as_json:
                    print_json({**asdict(record), "size_bytes": size})
                else:
                    print_line(f"{record.page_id[:12]} {record.captured_at[:10]} {size:>11,} B {record.url}")
            if not dry_run:
                store.remove([record.page_id for record, _ in removed])
                store.drop_bases()
        size = sum(size for _, size in removed)
        done = "would be removed" if dry_run else "removed"
        say(f"{count(len(removed), 'page')} with {count(size, 'byte')} {done}, {pages - len(removed):,} kept")


def _outdated(
    store: "PageStore", keep_days: int | None, keep_megabytes: int | None
) -> "Iterator[tuple[PageRecord, int]]":
    """Yield what is not kept with the bytes that it takes, oldest first."""
    records = sorted(store.records(), key=lambda record: (record.captured_at, record.page_id))
    sizes = {record.page_id: store.size(record.page_id) for record in records}
    since = "" if keep_days is None else (datetime.now(UTC) - timedelta(days=keep_days)).isoformat()
    most = None if keep_megabytes is None else keep_megabytes * _MEGABYTE
    held = sum(sizes.values())
    for record in records:
        if record.captured_at >= since and (most is None or held <= most):
            return
        held -= sizes[record.page_id]
        yield record, sizes[record.page_id]


def doctor(
    *,
    browser: BrowserOption = None,
    cache: Cache = None,
    as_json: AsJson = False,
) -> None:
    """Check Chrome and the cache, and say where they are."""
    from domsieve.renderer import browser_in_use

    with failures(), open_cache(cache) as store:
        facts = {
            "browser": str(browser_in_use(browser)),
            "cache": str(store.root),
            "pages": len(store.records()),
        }
        if as_json:
            print_json(facts)
        else:
            typer.echo("\n".join(f"{name}: {value}" for name, value in facts.items()))
