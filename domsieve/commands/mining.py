"""The command that writes the records of pages, such as products or search results."""

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from domsieve.budget import spending_on_site
from domsieve.commands.capture_options import (
    Cache,
    Capture,
    Drop,
    KeepErrors,
    Select,
    rendering,
    selection_of,
    url_of_file,
)
from domsieve.commands.cleaning import RawOption
from domsieve.commands.console import (
    FailedPages,
    check_place,
    count,
    finish,
    open_cache,
    progress,
    say,
    say_kept,
)
from domsieve.commands.fetching import fetch
from domsieve.commands.method_options import MiningMethodOption, ParamOption, params_of
from domsieve.types import FIELD_NAMES, FieldName, RecordFormat

if TYPE_CHECKING:
    from domsieve.analysis.writers.record_tables import RecordSheet
    from domsieve.tasks.targets import Word


_FIELDS = f"{', '.join(FIELD_NAMES[:-1])} or {FIELD_NAMES[-1]}"


def _named(words: str | None) -> list[FieldName]:
    """Return the fields in a list of names, each once.

    Raises
    ------
    typer.BadParameter : a name is unknown.
    """
    if words is None:
        return []
    named = [word.strip() for word in words.split(",")]
    for name in named:
        if name not in FIELD_NAMES:
            raise typer.BadParameter(
                f"'{name}' is not one of {', '.join(map(repr, FIELD_NAMES))}.", param_hint="'--fields'"
            )
    return [known for name in dict.fromkeys(named) for known in FIELD_NAMES if known == name]


@rendering
def records(
    targets: "Sequence[Word]",
    *,
    method: MiningMethodOption = "wobm",
    param: ParamOption = None,
    fields: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help=f"Only these fields, separated by commas: {_FIELDS}."),
    ] = None,
    output_format: Annotated[RecordFormat, typer.Option("--format", help="Output format.")] = "csv",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File for all records.")] = None,
    output_dir: Annotated[Path | None, typer.Option(help="Folder for one file per page.")] = None,
    raw: RawOption = False,
    url: Annotated[str | None, typer.Option(help="Address of the page, if you give one file.")] = None,
    select: Select = None,
    drop: Drop = None,
    keep_errors: KeepErrors = False,
    as_json: Annotated[bool, typer.Option("--json", help="Same as --format jsonl.")] = False,
    cache: Cache = None,
    capture: Capture,
) -> None:
    """Find the records of pages and write their fields: texts, links and images."""
    from domsieve.analysis.writers.formats import RECORD_FORMATS, write_records
    from domsieve.errors import DomsieveError, UsageError
    from domsieve.files import write_file
    from domsieve.tasks.output import OUTPUT_FILE, ResultFolder
    from domsieve.tasks.pages import readable
    from domsieve.tasks.record_mining import mine
    from domsieve.tasks.targets import find_targets

    if output and output_dir:
        raise UsageError("Give either --output or --output-dir.")
    check_place("--output", output)
    check_place("--output-dir", output_dir, is_folder=True)
    form = "jsonl" if as_json else output_format
    if form == "parquet" and not (output or output_dir):
        raise UsageError("Parquet is a binary format; give --output or --output-dir.")
    names = _named(fields)
    params = params_of(method, param)
    entry = RECORD_FORMATS[form]
    write_records([], form)  # a missing library for Parquet is reported before the work
    sheets: list[RecordSheet] = []
    selection = selection_of(select, drop)
    capture = capture.adapted()
    with ExitStack() as stack, open_cache(cache) as store:
        folder = stack.enter_context(ResultFolder(output_dir, entry)) if output_dir else None
        fetched = fetch(find_targets(targets, store), store, capture)
        failed = FailedPages(fetched.failed)
        done = 0
        pages = readable(
            fetched,
            store,
            raw=raw,
            keep_errors=keep_errors,
            selection=selection,
            url=url_of_file(url, fetched.targets),
        )
        if folder:
            folder.expect(page.key for page in pages)
        bar = stack.enter_context(progress("finding records", total=len(pages)))
        for page, result in mine(pages, method=method, params=params, fields=names):
            bar.advance()
            if isinstance(result, DomsieveError):
                failed(page, result)
                continue
            done += 1
            found = f"{count(len(result.records), 'record')} in {count(len(result.tables), 'region')}"
            say(f"{page.label}: {found}")
            for table in result.tables:
                if table.left_out:
                    too_many = f"region {table.region + 1} has too many columns"
                    say(f"{page.label}: {too_many}; {count(table.left_out, 'value')} dropped")
            if folder:
                say_kept(folder.write(page.key, write_records([result], form), result.origin))
            else:
                sheets.append(result)
    if done and not folder:
        with spending_on_site("write", pages=len(sheets)):
            data = write_records(sheets, form)
        if output:
            write_file(output, data, what=OUTPUT_FILE)
        else:
            sys.stdout.write(data.decode())
        if len(sheets) > 1 and (regions := sum(len(sheet.tables) for sheet in sheets)) > 1:
            say(
                f"One table has the records of {count(regions, 'region')}; page and region tell them apart, and "
                "--output-dir writes a file per page."
            )
    if folder:
        say(folder.summary())
    finish(done, failed.count)
