"""The options of commands that record what they render into an archive."""

import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from domsieve.commands.capture_options import Capture
from domsieve.commands.console import count, say

if TYPE_CHECKING:
    from domsieve.archive.recording import Recording
    from domsieve.renderer.protocol import PageSource
    from domsieve.snapshot.index import PageRecord

Archive = Annotated[
    Path | None,
    typer.Option("--archive", help="Also record all traffic of the pages in this WACZ file."),
]
ArchiveCredentials = Annotated[
    bool,
    typer.Option("--archive-credentials", help="Also record the headers and cookies that you give."),
]


def recorded(capture: Capture, *, archive: Path | None, credentials: bool) -> Capture:
    """Return how URLs are rendered when they are recorded, too.

    Raises
    ------
    UsageError : the options do not go together.
    """
    from domsieve.errors import UsageError

    if credentials and archive is None:
        raise UsageError("--archive-credentials is about what --archive writes; give both.")
    if archive is None:
        return capture
    if capture.replay:
        raise UsageError("--archive records the network, and --from does without; give one of them.")
    return replace(capture, options=replace(capture.options, record=True, record_credentials=credentials))


@contextlib.contextmanager
def archive_of(path: Path | None) -> Iterator["Recording | None"]:
    """Lend the archive of a run, and finish it when nothing was raised."""
    if path is None:
        yield None
        return
    from domsieve.archive.recording import Recording
    from domsieve.tasks.recording import lacks

    with Recording(path) as recording:
        if recording.pages:
            say(f"{path}: {count(recording.pages, 'page')} from an earlier run.")
        yield recording
        recording.finish()
        if not recording.pages:
            say(f"{path}: no page was recorded, so it is not written.")
            return
        missing = lacks(recording)
        say(f"{path}: {count(recording.pages, 'page')}" + (f"; incomplete: {missing}" if missing else ""))


@contextlib.asynccontextmanager
async def source_of(capture: Capture, recording: "Recording | None") -> "AsyncIterator[PageSource]":
    """Lend what renders, and records if there is an archive of the run."""
    async with capture.renderer() as renderer:
        if recording is None:
            yield renderer
            return
        from domsieve.tasks.recording import RecordedSource

        yield RecordedSource(renderer, recording, capture.egress)


def may_use(recording: "Recording | None") -> "Callable[[PageRecord], bool]":
    """Return what says whether a capture of the cache may be used: all, or those of the unfinished archive."""
    if recording is None:
        return lambda _: True
    from domsieve.tasks.recording import is_recorded

    return lambda record: is_recorded(record, recording)
