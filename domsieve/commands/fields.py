"""Commands that learn the fields of a site from examples, and that write the fields of pages."""

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from domsieve.budget import spending_on_site
from domsieve.commands.capture_options import (
    AsJson,
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
    EXIT_DRIFT,
    FailedPages,
    check_place,
    count,
    finish,
    open_cache,
    print_json,
    progress,
    say,
    say_error,
)
from domsieve.commands.fetching import fetch
from domsieve.declaration import declared
from domsieve.options import Scope
from domsieve.types import RecordFormat

if TYPE_CHECKING:
    from domsieve.analysis.fields.examples import Example
    from domsieve.analysis.fields.fields_model import FieldsModel
    from domsieve.analysis.writers.field_tables import FieldSheet
    from domsieve.tasks.pages import Page
    from domsieve.tasks.targets import Word

_MOST_BYTES = 50_000_000
Include = Annotated[
    list[str] | None, typer.Option(metavar="PATTERN", help=declared(Scope)["include"].option.help)
]
Exclude = Annotated[
    list[str] | None, typer.Option(metavar="PATTERN", help=declared(Scope)["exclude"].option.help)
]


@rendering
def learn(
    targets: "Sequence[Word]",
    *,
    examples: Annotated[
        Path, typer.Option(metavar="FILE", help="JSON lines: a page and the values of its fields each.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="File of the model.")],
    include: Include = None,
    exclude: Exclude = None,
    raw: RawOption = False,
    keep_errors: KeepErrors = False,
    as_json: AsJson = False,
    cache: Cache = None,
    capture: Capture,
) -> None:
    """Learn the fields of a site from one to three example pages and other pages of the site."""
    from domsieve.analysis.fields.fields_model import model_facts, save_fields_model
    from domsieve.tasks.field_extraction import learn_from
    from domsieve.tasks.pages import readable
    from domsieve.tasks.targets import find_targets, within

    check_place("--output", output)
    scope = Scope(include=tuple(include or ()), exclude=tuple(exclude or ()))
    given = _examples(examples)
    words = [str(examples.parent / one.page) if one.is_file else one.page for one in given]
    capture = capture.adapted()
    with open_cache(cache) as store:
        found = [find_targets([word], store)[:1] for word in words]
        fetched = fetch(
            [*(target for one in found for target in one), *within(find_targets(targets, store), scope)],
            store,
            capture,
        )
        pages = readable(fetched, store, raw=raw, keep_errors=keep_errors)
        by_label: dict[str, Page] = {}
        for page in pages:
            by_label.setdefault(page.label, page)
        own = {number: by_label[word] for number, word in enumerate(words) if word in by_label}
        names = {page.name for page in own.values()}
        others = [page for page in pages if page.name not in names and page.label not in words]
        failed = FailedPages(fetched.failed)
        model = learn_from(given, own, others, failed=failed)
    save_fields_model(model, output)
    facts = {"model": str(output), **model_facts(model)}
    if as_json:
        print_json(facts)
    else:
        typer.echo(_described(model, output))
    finish(model.pages, failed.count)


def _examples(path: Path) -> "list[Example]":
    from domsieve.analysis.fields.examples import parse_examples
    from domsieve.errors import UsageError

    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.", parameter="examples") from error
    if len(data) > _MOST_BYTES:
        raise UsageError(f"{path} has more than {_MOST_BYTES:,} bytes.", parameter="examples")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise UsageError(f"{path}, line {line} is not UTF-8.", parameter="examples") from error
    return parse_examples(text, name=str(path))


def _described(model: "FieldsModel", output: Path) -> str:
    """Return what was learned, for people."""
    what = "records" if model.records else "pages"
    lines = [f"{output}: {count(model.examples, 'example')}, {count(model.pages, 'page')}"]
    for name, learned in model.fields.items():
        lines.append(f"{name}: found in {learned.found:,} of {learned.pages:,} {what}")
        lines += [f"  {one.weight:.2f}  {one}" for one in learned.descriptions]
    return "\n".join(lines)


@rendering
def extract(
    targets: "Sequence[Word]",
    *,
    model: Annotated[
        Path | None,
        typer.Option(help="Model written by `fields learn`; without one, pages are read as product pages."),
    ] = None,
    output_format: Annotated[RecordFormat, typer.Option("--format", help="Output format.")] = "jsonl",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File for all results.")] = None,
    fail_on_drift: Annotated[
        bool, typer.Option("--fail-on-drift", help="End with exit code 7 if a field breaks.")
    ] = False,
    include: Include = None,
    exclude: Exclude = None,
    raw: RawOption = False,
    url: Annotated[str | None, typer.Option(help="Address of the page, if you give one file.")] = None,
    select: Select = None,
    drop: Drop = None,
    keep_errors: KeepErrors = False,
    cache: Cache = None,
    capture: Capture,
) -> None:
    """Write the fields of pages that were learned from examples, or those of the product of each page."""
    from domsieve.analysis.fields.alarm import FieldWatch
    from domsieve.analysis.fields.fields_model import load_fields_model
    from domsieve.analysis.writers.formats import write_fields
    from domsieve.errors import DomsieveError, UsageError
    from domsieve.files import write_file
    from domsieve.tasks.field_extraction import PRODUCT_FIELDS, extract_fields
    from domsieve.tasks.output import OUTPUT_FILE
    from domsieve.tasks.pages import readable
    from domsieve.tasks.targets import find_targets, within

    check_place("--output", output)
    scope = Scope(include=tuple(include or ()), exclude=tuple(exclude or ()))
    if output_format == "parquet" and not output:
        raise UsageError("Parquet is a binary format; give --output.")
    write_fields([], output_format)  # a missing library for Parquet is reported before the work
    if model is None and fail_on_drift:
        raise UsageError("--fail-on-drift compares pages with a model; give --model.")
    learned = None if model is None else load_fields_model(model)
    selection = selection_of(select, drop)
    watch = None if learned is None else FieldWatch(learned)
    sheets: list[FieldSheet] = []
    capture = capture.adapted()
    with ExitStack() as stack, open_cache(cache) as store:
        fetched = fetch(within(find_targets(targets, store), scope), store, capture)
        failed = FailedPages(fetched.failed)
        pages = readable(
            fetched,
            store,
            raw=raw,
            keep_errors=keep_errors,
            selection=selection,
            url=url_of_file(url, fetched.targets),
        )
        bar = stack.enter_context(progress("extracting", total=len(pages)))
        for page, result in extract_fields(pages, learned, watch):
            bar.advance()
            if isinstance(result, DomsieveError):
                failed(page, result)
                continue
            sheets.append(result)
    if sheets:
        with spending_on_site("write", pages=len(sheets)):
            data = write_fields(sheets, output_format)
        if output:
            write_file(output, data, what=OUTPUT_FILE)
        else:
            sys.stdout.write(data.decode())
    rows = [row for sheet in sheets for row in sheet.rows]
    of = count(len(rows), "record" if learned is not None and learned.records else "page")
    for name in PRODUCT_FIELDS if learned is None else learned.fields:
        number = sum(name in row and row[name].value is not None for row in rows)
        say(f"{name}: found in {number:,} of {of}")
    alarms = [] if watch is None else watch.alarms()
    for alarm in alarms:
        say_error(f"{model}: {alarm}. Learn the fields again.")
    finish(len(sheets), failed.count)
    if alarms and fail_on_drift:
        raise typer.Exit(EXIT_DRIFT)
