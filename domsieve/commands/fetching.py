"""Fetching what a command works on, with a line on stderr for each page."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING

from domsieve.commands.archive_options import may_use, source_of
from domsieve.commands.capture_options import Capture
from domsieve.commands.console import advice, count, say, say_error, say_some
from domsieve.commands.progress import Bar, progress
from domsieve.commands.replaying import say_unknown

if TYPE_CHECKING:
    from domsieve.archive.recording import Recording
    from domsieve.errors import DomsieveError
    from domsieve.renderer.sampling.sitemap import Listing
    from domsieve.snapshot.index import PageRecord
    from domsieve.snapshot.store import PageStore
    from domsieve.tasks.targets import Fetched, Target


def fetch(
    targets: "Sequence[Target]", store: "PageStore", capture: Capture, recording: "Recording | None" = None
) -> "Fetched":
    """Return the targets with a capture of every URL, or why there is none; render what is not cached.

    With a recording, what that one does not have is rendered.
    """
    from domsieve.tasks.targets import DamagedTarget, Fetched, UrlTarget

    if any(isinstance(target, UrlTarget) for target in targets):
        fetched = _fetched(targets, store, capture, recording)
        say_unknown(capture.replay)
    else:
        fetched = Fetched(list(targets))
    damaged = {target.label: target.error for target in fetched.targets if isinstance(target, DamagedTarget)}
    say_some(
        [f"{label}: {error.message}" for label, error in damaged.items()],
        more="further parts of archives or lines of lists cannot be read.",
    )
    return Fetched(fetched.targets, {**fetched.outcomes, **damaged})


def _fetched(
    targets: "Sequence[Target]", store: "PageStore", capture: Capture, recording: "Recording | None"
) -> "Fetched":
    import asyncio

    from domsieve.tasks.fetching import fetch_targets
    from domsieve.tasks.targets import UrlTarget

    for target in targets:
        # What the user asks for may be private; what it leads to may not.
        if isinstance(target, UrlTarget) and not target.listed_by:
            capture.egress.name(target.url)

    async def fetched(bar: Bar) -> "Fetched":
        async with AsyncExitStack() as stack:
            replay = capture.replay
            return await fetch_targets(
                partial(source_of, capture, recording),
                targets,
                store,
                _Lines(bar),
                options=capture.options,
                since=capture.since,
                egress=await stack.enter_async_context(replay.egress()) if replay else capture.egress,
                concurrency=capture.concurrency,
                delay=capture.delay,
                is_polite=replay is None,  # else no server is to be spared
                may_use=may_use(recording),
            )

    with progress("rendering") as bar:
        return asyncio.run(fetched(bar))


class _Lines:
    """Print to stderr what happens."""

    def __init__(self, bar: Bar) -> None:
        self._bar = bar
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
            cut = "".join(f"; cut: {reason}" for reason in outcome.reasons)
            say(f"{number} {count(outcome.nodes, 'node')}{cut}")

    def listed(self, url: str, listing: "Listing") -> None:
        self._done += 1
        self._bar.advance()
        rest = f"; {count(listing.unread, 'further sitemap')} not read" if listing.unread else ""
        say(f"[{self._done}/{self._pages}] {url} lists {count(len(listing.pages), 'page')}{rest}")
