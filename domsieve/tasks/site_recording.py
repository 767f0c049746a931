"""Record pages to an archive while they are rendered."""

from collections.abc import AsyncIterator, Iterable

from domsieve.archive.http_exchange import Recorded
from domsieve.archive.recording import Recording
from domsieve.renderer.network.egress import Egress
from domsieve.renderer.protocol import Outcome, PageSource, Rendering
from domsieve.snapshot.index import PageRecord
from domsieve.snapshot.page import Snapshot

_LOOKED_AT = 1_000
_LONGEST_TITLE = 500


class RecordedSource:
    """A source of pages that adds the requests and responses of each page to an archive.

    Parameters
    ----------
    source : the renderer, with options that record.
    recording : the archive.
    egress : fetches robots.txt and sitemaps, which are recorded as well.
    """

    def __init__(self, source: PageSource, recording: Recording, egress: Egress) -> None:
        self._source, self._recording = source, recording
        egress.heard = recording.add_file

    async def render(self, url: str, *, site: str | None = None) -> Rendering:
        """Render and record a page."""
        page = await self._source.render(url, site=site)
        add_page(page, self._recording)
        return page

    async def render_many(self, urls: Iterable[str]) -> AsyncIterator[Outcome]:
        """Render and record pages; yield each URL with its page or its error."""
        async for url, outcome in self._source.render_many(urls):
            if isinstance(outcome, Rendering):
                add_page(outcome, self._recording)
            yield url, outcome


def add_page(page: Rendering, recording: Recording) -> None:
    """Add the requests and responses of a page to an archive."""
    origin = page.snapshot.provenance
    recording.add(
        origin.url,
        page.recorded or Recorded(),
        captured_at=origin.captured_at,
        title=_title(page.snapshot),
        status=origin.status,
    )


def is_recorded(record: PageRecord, recording: Recording) -> bool:
    """Return whether the archive was recorded while this capture was made."""
    return recording.has(record.url, record.captured_at)


def lacks(recording: Recording) -> str:
    """Return what is missing in an archive, for people; empty if it is complete."""
    return ", ".join(f"{number:,} {what}" for what, number in recording.missing.items())


def _title(page: Snapshot) -> str:
    for node in range(min(len(page), _LOOKED_AT)):
        if page.tag_name(node) == "title" and node + 1 < len(page) and page.parent[node + 1] == node:
            return " ".join(page.text_of(node + 1).split())[:_LONGEST_TITLE]
    return ""
