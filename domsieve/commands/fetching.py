"""Fetch the targets of a command, and record them to an archive, with a line on stderr for each page."""

import contextlib
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from domsieve.commands.capture_options import Capture
from domsieve.commands.console import Bar, advice, count, progress, say, say_error, say_some
from domsieve.commands.input_words import say_unknown

if TYPE_CHECKING:
    from domsieve.archive.recording import Recording
    from domsieve.errors import DomsieveError
    from domsieve.renderer.protocol import PageSource
    from domsieve.renderer.sampling.sitemap import Listing
    from domsieve.snapshot.index import PageRecord
    from domsieve.snapshot.store import PageStore
    from domsieve.tasks.targets import Fetched, Target

Archive = Annotated[
    Path | None,
    typer.Option("--archive", help="Also record all traffic of the pages in this WACZ file."),
]
ArchiveCredentials = Annotated[
    bool,
    typer.Option("--archive-credentials", help="Also record the headers and cookies that you give."),
]


def recorded(capture: Capture, *, archive: Path | None, credentials: bool) -> Capture:
    """Return the options for rendering that also records.

    Raises
    ------
    UsageError : the options contradict each other.
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
    """Provide the archive of a run, and finish it unless there was an error."""
    if path is None:
        yield None
        return
    from domsieve.archive.recording import Recording
    from domsieve.tasks.site_recording import lacks

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
async def source_of(
    capture: Capture, recording: "Recording | None", store: "PageStore", *, seed: int = 0
) -> "AsyncIterator[PageSource]":
    """Provide the source of pages, which also records if there is an archive."""
    async with capture.source(store, seed=seed) as renderer:
        if recording is None:
            yield renderer
            return
        from domsieve.tasks.site_recording import RecordedSource

        yield RecordedSource(renderer, recording, capture.egress)


def may_use(recording: "Recording | None") -> "Callable[[PageRecord], bool]":
    """Return a function that decides whether a cached capture may be used: all, or only those in the archive."""
    if recording is None:
        return lambda _: True
    from domsieve.tasks.site_recording import is_recorded

    return lambda record: is_recorded(record, recording)


def fetch(
    targets: "Sequence[Target]",
    store: "PageStore",
    capture: Capture,
    recording: "Recording | None" = None,
    *,
    tell_cuts: bool = True,
) -> "Fetched":
    """Return the targets with a capture or an error for every URL; render those that are not cached.

    With a recording, pages that it does not contain are rendered. `tell_cuts` says on stderr what is missing in a
    capture; a command that says it of all its pages does not need that.
    """
    from domsieve.tasks.targets import DamagedTarget, Fetched, UrlTarget

    if any(isinstance(target, UrlTarget) for target in targets):
        store.create()  # a folder that cannot be written to is noticed before the work
        fetched = _fetched(targets, store, capture, recording, tell_cuts)
        say_unknown(capture.replay)
    else:
        fetched = Fetched(list(targets))
    damaged = {target.label: target.error for target in fetched.targets if isinstance(target, DamagedTarget)}
    say_some(
        [f"{label}: {error.message}{advice(error)}" for label, error in damaged.items()],
        more="further parts of archives or lines of lists cannot be read.",
    )
    return Fetched(fetched.targets, {**fetched.outcomes, **damaged})


def _fetched(
    targets: "Sequence[Target]",
    store: "PageStore",
    capture: Capture,
    recording: "Recording | None",
    tell_cuts: bool,
) -> "Fetched":
    import asyncio

    from domsieve.tasks.target_fetching import fetch_targets
    from domsieve.tasks.targets import UrlTarget

    for target in targets:
        # Targets of the user may be private, but not addresses that they redirect to or that lists have.
        if isinstance(target, UrlTarget) and target.may_be_private:
            capture.egress.name(target.url)

    async def fetched(bar: Bar) -> "Fetched":
        async with AsyncExitStack() as stack:
            replay = capture.replay
            return await fetch_targets(
                partial(source_of, capture, recording, store),
                targets,
                store,
                _Lines(bar, tell_cuts=tell_cuts),
                options=capture.options,
                since=capture.since,
                egress=await stack.enter_async_context(replay.egress()) if replay else capture.egress,
                concurrency=capture.concurrency,
                delay=capture.delay,
                is_polite=replay is None,  # an archive needs no delays
                may_use=may_use(recording),
            )

    with progress("rendering") as bar:
        return asyncio.run(fetched(bar))


class _Lines:
    """Reports events on stderr."""

    def __init__(self, bar: Bar, *, tell_cuts: bool) -> None:
        self._bar, self._tell_cuts = bar, tell_cuts
        self._done = self._pages = 0

    def waiting(self, pages: int) -> None:
        self._pages += pages
        self._bar.expect(pages)

    def rendered(self, url: str, outcome: "PageRecord | DomsieveError") -> None:
        from domsieve.errors import DomsieveError

        self._done += 1
        self._bar.advance()
        number = f"[{self._done}/{self._pages}] {url}"
        if isinstance(outcome, DomsieveError):
            say_error(f"{number} failed: {outcome.message}{advice(outcome)}")
        else:
            cut = "".join(f"; cut: {reason}" for reason in outcome.reasons if self._tell_cuts)
            say(f"{number} {count(outcome.nodes, 'node')}{cut}")

    def listed(self, url: str, listing: "Listing") -> None:
        self._done += 1
        self._bar.advance()
        rest = f"; {count(listing.unread, 'further sitemap')} not read" if listing.unread else ""
        say(f"[{self._done}/{self._pages}] {url} lists {count(len(listing.pages), 'page')}{rest}")
