"""Captures that only name an earlier one with the same content, and where in their archive that is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from domsieve.archive.records import RecordHead

Revisit = TypeVar("Revisit")
Original = TypeVar("Original")
Key = tuple[str, ...]


def keys_of_original(head: RecordHead, url: str) -> list[Key]:
    """Return what a record may be named by, the most certain first."""
    said = head.headers
    return [
        ("id", said.get("warc-record-id", "").strip()),
        ("date", url, said.get("warc-date", "")),
        ("digest", said.get("warc-payload-digest", "")),
        ("url", url),
    ]


def wanted_keys(head: RecordHead, url: str, url_of: Callable[[str], str]) -> list[Key]:
    """Return what a revisit names its original by, the most certain first.

    Parameters
    ----------
    head : the revisit.
    url : its own address.
    url_of : reads an address as it stands in a head.
    """
    said = head.headers
    keys: list[Key] = [("id", said.get("warc-refers-to", "").strip())]
    named = url_of(said.get("warc-refers-to-target-uri", ""))
    if date := said.get("warc-refers-to-date", ""):
        keys.append(("date", named or url, date))
    keys.append(("digest", said.get("warc-payload-digest", "")))
    if "not-modified" in said.get("warc-profile", ""):
        keys.append(("url", named or url))
    return [key for key in keys if all(key[1:])]


@dataclass(slots=True)
class _Waiting(Generic[Revisit, Original]):
    """A revisit, and the best original so far with the number of the key that it was found by."""

    revisit: Revisit
    rank: int
    original: Original | None = None


class Revisits(Generic[Revisit, Original]):
    """Revisits that wait for their originals: what is held grows with them, not with the archive."""

    def __init__(self) -> None:
        self._waiting: list[_Waiting[Revisit, Original]] = []
        self._by_key: dict[Key, list[tuple[int, _Waiting[Revisit, Original]]]] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, revisit: Revisit, keys: list[Key]) -> None:
        """Let a revisit wait for an original: the first record that has the first of its keys that any record has."""
        waiting: _Waiting[Revisit, Original] = _Waiting(revisit, len(keys))
        self._waiting.append(waiting)
        for rank, key in enumerate(keys):
            self._by_key.setdefault(key, []).append((rank, waiting))

    def meet(self, original: Original, keys: list[Key]) -> None:
        """Take a record for the original of those that wait for one of its keys."""
        for key in keys:
            for rank, waiting in self._by_key.pop(key, ()):
                if rank < waiting.rank:
                    waiting.rank, waiting.original = rank, original

    def resolved(self) -> list[tuple[Revisit, Original | None]]:
        """Return the revisits in their order, each with its original, None where there was none."""
        return [(waiting.revisit, waiting.original) for waiting in self._waiting]
