"""The protocol of page sources: a renderer, or a replay of stored snapshots, turns URLs into Snapshots."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from domsieve.archive.http_exchange import Recorded
from domsieve.errors import DomsieveError
from domsieve.snapshot.page import Snapshot

SCREENSHOT, DATA = "screenshot.json", "data.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendering:
    """One rendered page.

    Parameters
    ----------
    snapshot : the page as columns; complete, or with the reasons why not.
    source : body of the main response of the same navigation, decompressed; None when it was not to be had.
    source_reason : why `source` is None, else empty.
    source_url : where the source came from, after redirects.
    extras : what is kept beside the page under names, such as its screenshot; empty when none was asked for.
    unscripted : the source as the browser shows it without scripts; None when that was not asked for or failed.
    recorded : what the page asked for and was answered; None when that was not asked for.
    """

    snapshot: Snapshot
    source: bytes | None
    source_reason: str = ""
    source_url: str = ""
    extras: Mapping[str, bytes] = field(default_factory=dict)
    unscripted: "Rendering | None" = None
    recorded: Recorded | None = None


Outcome = tuple[str, Rendering | DomsieveError]


class PageSource(Protocol):
    """Anything that turns a URL into a page."""

    async def render(self, url: str, *, site: str | None = None) -> Rendering:
        """Return the page at `url`; pages with an equal `site` may share cookies and cache."""
        ...

    def render_many(self, urls: Iterable[str]) -> AsyncIterator[Outcome]:
        """Yield each of `urls` with its page or its error, as they are finished."""
        ...


class ReplaySource:
    """A source that serves pages captured before.

    Parameters
    ----------
    load : returns the stored page of a URL or raises an error of the project's tree.
    """

    def __init__(self, load: Callable[[str], Rendering]) -> None:
        self._load = load

    async def render(self, url: str, *, site: str | None = None) -> Rendering:  # noqa: ARG002
        """Return the stored page of `url`."""
        return self._load(url)

    async def render_many(self, urls: Iterable[str]) -> AsyncIterator[Outcome]:
        """Yield each of `urls` in order with its stored page or the error of loading it."""
        for url in urls:
            try:
                yield url, self._load(url)
            except DomsieveError as error:
                yield url, error
