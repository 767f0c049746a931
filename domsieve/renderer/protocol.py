"""The protocol of page sources: a renderer, or a replay of stored snapshots, turns URLs into Snapshots."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from domsieve.archive.http_exchange import Recorded
from domsieve.errors import DomsieveError
from domsieve.snapshot.page import Snapshot

SCREENSHOT, DATA = "screenshot.json", "data.json"


@dataclass(frozen=True, slots=True)
class LoadedFile:
    """A file that a page loaded: a script, data that a script requested, or a frame.

    Parameters
    ----------
    url : its address, after redirects.
    status : HTTP status of the response.
    etag, last_modified : validators of the response; empty if it has none.
    """

    url: str
    status: int
    etag: str = ""
    last_modified: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendering:
    """One rendered page.

    Parameters
    ----------
    snapshot : the page as columns; complete, or with the reasons why it is not.
    source : body of the main response of the same navigation, decompressed; None if it is not available.
    source_reason : why `source` is None; else empty.
    source_url : address of the source, after redirects.
    extras : other things to store with the page, by name, such as its screenshot; empty if none were requested.
    unscripted : the source as the browser shows it without scripts; None if that was not requested or failed.
    recorded : the requests and responses of the page; None if they were not requested.
    files : what a rendered page depends on besides its source; None if that is not known, because the page was not
        rendered, sent data, or has live connections.
    """

    snapshot: Snapshot
    source: bytes | None
    source_reason: str = ""
    source_url: str = ""
    extras: Mapping[str, bytes] = field(default_factory=dict)
    unscripted: "Rendering | None" = None
    recorded: Recorded | None = None
    files: tuple[LoadedFile, ...] | None = None


Outcome = tuple[str, Rendering | DomsieveError]


class PageSource(Protocol):
    """Anything that turns a URL into a page."""

    async def render(self, url: str, *, site: str | None = None) -> Rendering:
        """Render a page; pages with equal `site` may share cookies and cache."""
        ...

    def render_many(self, urls: Iterable[str]) -> AsyncIterator[Outcome]:
        """Render pages; yield each URL with its page or its error as soon as it is finished."""
        ...


@runtime_checkable
class Reconsidering(Protocol):
    """A source that may have to render pages again that it has already returned."""

    def again(self, among: Sequence[str] | None = None) -> AsyncIterator[Outcome]:
        """Yield these pages, each once, with their renderings or errors.

        Parameters
        ----------
        among : only these URLs; None for all.
        """
        ...


class ReplaySource:
    """A source of stored pages.

    Parameters
    ----------
    load : returns the stored page of a URL or raises a `DomsieveError`.
    """

    def __init__(self, load: Callable[[str], Rendering]) -> None:
        self._load = load

    async def render(self, url: str, *, site: str | None = None) -> Rendering:  # noqa: ARG002
        """Return the stored page of `url`."""
        return self._load(url)

    async def render_many(self, urls: Iterable[str]) -> AsyncIterator[Outcome]:
        """Yield each URL, in order, with its stored page or the error of loading it."""
        for url in urls:
            try:
                yield url, self._load(url)
            except DomsieveError as error:
                yield url, error
