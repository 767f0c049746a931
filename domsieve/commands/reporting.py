"""The command that shows what every method makes of pages."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from domsieve.commands.capture_options import Cache, Capture, KeepErrors, Targets, fetch, rendering_all
from domsieve.commands.console import check_place, explained, finish, open_cache, say

if TYPE_CHECKING:
    from domsieve.errors import DomsieveError
    from domsieve.tasks import Page, Reported


@rendering_all
def report(
    targets: Targets,
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="The HTML file.")],
    keep_errors: KeepErrors = False,
    cache: Cache = None,
    capture: Capture,
) -> None:
    """Write one HTML file that shows what each method keeps of pages and why."""
    from domsieve.errors import DomsieveError
    from domsieve.files import write_file
    from domsieve.tasks import (
        OUTPUT_FILE,
        find_targets,
        from_record,
        of_record,
        reported,
        site_records,
    )
    from domsieve.tasks import report as write_report

    check_place("--output", output)

    def tell(page: "Page", error: "DomsieveError") -> None:
        say(f"{page.label}: {explained(error)}")

    with open_cache(cache) as store:
        found = find_targets(targets, store)
        outcomes = fetch(found, store, capture)
        failed = sum(isinstance(outcome, DomsieveError) for outcome in outcomes.values())
        pages = reported(found, outcomes, store, keep_errors=keep_errors)

        def siblings(site: str) -> "list[Reported]":
            records = site_records(site, store, replace(capture.options, screenshot=False))
            return [of_record(from_record(record, store), record, store) for record in records]

        data, done = write_report(pages, siblings=siblings, failed=tell)
    write_file(output, data, what=OUTPUT_FILE)
    say(f"{output}: {done} pages, {len(data):,} bytes")
    finish(done, failed + len(pages) - done)
