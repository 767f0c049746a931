"""The command that follows a site."""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self

import msgspec
import typer

from domsieve.commands.capture_options import AsJson, Capture, syncing
from domsieve.commands.console import (
    EXIT_CHANGED,
    Bar,
    check_place,
    count,
    finish,
    print_json,
    print_line,
    progress,
    say,
    say_failed,
    say_more,
)
from domsieve.commands.declared_options import having
from domsieve.options import Scope
from domsieve.types import SyncFormat

if TYPE_CHECKING:
    from domsieve.renderer.sampling.events import SampleEvent
    from domsieve.tasks.renderer_factory import RendererFactory
    from domsieve.tasks.site_sync.state import SyncSettings
    from domsieve.tasks.site_sync.values import SyncResult

_SHOWN = {"added": "new", "changed": "changed", "moved": "moved", "gone": "gone"}


@syncing
@having(Scope, "scope")
def sync(
    ctx: typer.Context,
    source: Annotated[str, typer.Argument(help="A page of the site, or the folder of an earlier run.")],
    *,
    output_dir: Annotated[Path | None, typer.Option(help="Folder for the pages of the site.")] = None,
    output_format: Annotated[
        SyncFormat | None,
        typer.Option("--format", help="What the files hold, in all runs [default: markdown]."),
    ] = None,
    pages: Annotated[
        int | None, typer.Option(min=1, help="Maximum number of pages [default: 10,000].")
    ] = None,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with code 6 if anything changed.")
    ] = False,
    as_json: AsJson = False,
    scope: Scope,
    capture: Capture,
) -> None:
    """Keep a folder in step with a site, and tell what changed in its content."""
    import asyncio

    from domsieve.errors import UsageError
    from domsieve.tasks.site_sync.syncing import place_of, sync_folder

    if capture.since is not None:
        raise UsageError("--refresh and --max-age are about the cache, which sync does not use.")
    if capture.replay:
        raise UsageError("--from is an archive, which does not change; give an address.")
    capture = capture.adapted()
    check_place("--output-dir", output_dir, is_folder=True)
    folder, given, chosen = place_of(
        source,
        output_dir,
        format=output_format,
        include=tuple(scope.include) or None,
        exclude=tuple(scope.exclude) or None,
        depth=scope.depth if _is_given(ctx, "depth") else None,
        pages=pages,
    )

    def factory(settings: "SyncSettings") -> "RendererFactory":
        # The address was typed by the user, so it may be private; what it redirects to may not.
        capture.egress.name(settings.source)
        return capture.factory

    with _Lines() as report:
        result = asyncio.run(
            sync_folder(
                folder,
                given,
                factory,
                chosen=chosen,
                delay=capture.delay,
                concurrency=capture.concurrency,
                report=report,
            )
        )
    for change in result.changes:
        if as_json:
            print_json(msgspec.to_builtins(change))
        else:
            before = f" (before: {change.was})" if change.was else ""
            what = f" ({count(len(change.passages), 'passage')})" if change.kind == "changed" else ""
            print_line(f"{_SHOWN[change.kind]} {change.url}{before}{what}")
    for file in result.kept:
        say(f"{folder / file}: you edited or added this file, so it was left as it is.")
    for page in result.failed:
        say_failed(page.url, page.error)
    say(_summary(result, folder))
    finish(len(result.changes) + len(result.unchanged), len(result.failed))
    if exit_code and result.changes:
        raise typer.Exit(EXIT_CHANGED)


def _is_given(ctx: typer.Context, option: str) -> bool:
    source = ctx.get_parameter_source(option)
    return source is not None and source.name != "DEFAULT"


def _summary(result: "SyncResult", folder: Path) -> str:
    kinds = (
        ("new", result.added),
        ("changed", result.changed),
        ("moved", result.moved),
        ("gone", result.gone),
    )
    parts = [f"{len(changes):,} {name}" for name, changes in kinds if changes]
    parts.append(f"{len(result.unchanged):,} unchanged")
    more = "" if result.is_complete else " Not all pages were visited."
    return f"{folder}: {', '.join(parts)}.{more}"


class _Lines:
    """Reports on stderr; a context manager."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._bar: Bar | None = None

    def __enter__(self) -> Self:
        self._bar = self._stack.enter_context(progress("visiting"))
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def visited(self, event: "SampleEvent") -> None:
        from domsieve.renderer.sampling.events import PageDone
        from domsieve.tasks.sampling import describe

        say_more(describe(event))
        if isinstance(event, PageDone) and self._bar:
            self._bar.set_total(event.number + event.waiting)
            self._bar.advance()

    def said(self, sentence: str) -> None:
        say(sentence)

    def stage(self, what: str, pages: int) -> None:
        self._stack.close()
        self._bar = self._stack.enter_context(progress(what, total=pages))

    def advanced(self) -> None:
        if self._bar:
            self._bar.advance()
