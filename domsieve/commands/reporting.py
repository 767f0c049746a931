"""The command that writes reports about methods on pages."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from domsieve.commands.capture_options import Cache, Capture, KeepErrors, rendering_all
from domsieve.commands.console import (
    FailedPages,
    check_place,
    count,
    finish,
    open_cache,
    say,
)
from domsieve.commands.fetching import fetch

if TYPE_CHECKING:
    from domsieve.tasks.page_report import Reported
    from domsieve.tasks.targets import Word


@rendering_all
def report(
    targets: "Sequence[Word]",
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="The HTML file.")],
    model: Annotated[
        Path | None,
        typer.Option(help="Model written by `fields learn`, whose values are shown on the pages."),
    ] = None,
    keep_errors: KeepErrors = False,
    cache: Cache = None,
    capture: Capture,
) -> None:
    """Write one HTML file that shows what each method keeps of pages and why."""
    from domsieve.analysis.fields.fields_model import load_fields_model
    from domsieve.files import write_file
    from domsieve.tasks.output import OUTPUT_FILE
    from domsieve.tasks.page_report import of_record, reported
    from domsieve.tasks.page_report import report as write_report
    from domsieve.tasks.pages import from_record, site_records
    from domsieve.tasks.targets import find_targets

    check_place("--output", output)
    learned = None if model is None else load_fields_model(model)

    with open_cache(cache) as store:
        fetched = fetch(find_targets(targets, store), store, capture)
        failed = fetched.failed
        pages = reported(fetched, store, keep_errors=keep_errors)

        def siblings(site: str) -> "list[Reported]":
            records = site_records(site, store, replace(capture.options, screenshot=False))
            return [of_record(from_record(record, store), record, store) for record in records]

        data, done = write_report(pages, siblings=siblings, failed=FailedPages(), model=learned)
    write_file(output, data, what=OUTPUT_FILE)
    say(f"{output}: {count(done, 'page')}, {count(len(data), 'byte')}")
    finish(done, failed + len(pages) - done)
