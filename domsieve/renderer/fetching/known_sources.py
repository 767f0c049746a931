"""Sources of earlier captures, to request pages only if they have changed, and which servers can be believed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from domsieve.renderer.network.egress import place_of

_CHECKED = 20
"""Of so many pages that a server calls unchanged, one is transferred all the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownSource:
    """The source of an earlier capture of a page.

    Parameters
    ----------
    source : the decompressed body.
    final_url : its address, after redirects.
    status, content_type : of the response.
    etag, last_modified : validators of the response; one of them may be empty.
    captured_at : UTC time of the capture, ISO 8601.
    """

    source: bytes
    final_url: str
    status: int
    content_type: str
    etag: str
    last_modified: str
    captured_at: str


class KnownSources:
    """Finds the sources of earlier captures.

    Some servers call pages unchanged that have changed. So one of 20 such pages, another one after each capture, is
    transferred all the same. If its source differs, nothing is believed of this server any more, and the pages that
    were believed to be unchanged have to be loaded again.

    Parameters
    ----------
    find : returns the source of the latest capture of a URL, or None.
    """

    def __init__(self, find: Callable[[str], KnownSource | None] = lambda _: None) -> None:
        self._find = find
        self._believed: dict[tuple[str, int] | None, list[str]] = {}
        self._liars: set[tuple[str, int] | None] = set()

    def of(self, url: str) -> KnownSource | None:
        """Return the source of an earlier capture to ask for; None if there is none, or its server lies."""
        return None if place_of(url) in self._liars else self._find(url)

    def is_due(self, url: str, known: KnownSource) -> bool:
        """Return whether a page is transferred to check its server, which calls it unchanged."""
        text = f"{known.captured_at}\0{url}".encode("utf-8", "replace")
        is_due = int.from_bytes(blake2b(text, digest_size=8).digest()) % _CHECKED == 0
        if not is_due:
            self._believed.setdefault(place_of(url), []).append(url)
        return is_due

    def distrust(self, url: str) -> None:
        """Believe the server of a page no longer."""
        self._liars.add(place_of(url))

    def doubtful(self, among: Sequence[str] | None = None) -> list[str]:
        """Return the pages that servers were wrongly believed to have left unchanged, each once, and forget them.

        Parameters
        ----------
        among : only these URLs; None for all.
        """
        chosen = None if among is None else {*among}
        found: dict[str, None] = {}
        for server, urls in self._believed.items():
            if server in self._liars:
                found |= dict.fromkeys(url for url in urls if chosen is None or url in chosen)
                self._believed[server] = [url for url in urls if url not in found]
        return [*found]
