"""Commands that look after the cache and the browser."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from domsieve.commands.capture_options import AsJson, BrowserOption, Cache
from domsieve.commands.console import EXIT_STORAGE, failures, open_cache, print_json, print_line, say


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
    page: Annotated[str, typer.Argument(help="Id of a page, or its beginning.")],
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
        typer.Option("--repair", help="Put right what can be put right."),
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
        say(f"{len(store.records())} pages, {len(problems)} problems")
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
        say(f"{len(ids)} pages removed")


def doctor(
    *,
    browser: BrowserOption = None,
    cache: Cache = None,
    as_json: AsJson = False,
) -> None:
    """Say which Chrome is used, where the cache lies, and whether both work."""
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
