"""Divide pages into shards. Shards are named by their content, and stored on disk until they are needed."""

import hashlib
import pickle
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import IO, Any, Self

from domsieve.bulk.page_list import Member


@dataclass(frozen=True, slots=True)
class Shard:
    """Pages that are processed together.

    Parameters
    ----------
    name : its name; equal for equal pages at the same position of the plan.
    pages : number of its pages.
    sites : their sites, in order.
    packed : its content, pickled `Member`s or values for the job. The worker unpacks it, so that an error of
        unpacking is an error of this shard.
    """

    name: str
    pages: int
    sites: tuple[str, ...]
    packed: bytes

    @classmethod
    def of(cls, name: str, content: Sequence[Any], sites: Iterable[str]) -> Self:
        """Return a shard with this content."""
        packed = pickle.dumps(tuple(content), protocol=pickle.HIGHEST_PROTOCOL)
        return cls(name, len(content), tuple(sites), packed)

    def content(self) -> tuple[Any, ...]:
        """Return the content, unpacked."""
        found: tuple[Any, ...] = pickle.loads(self.packed)
        return found


@dataclass(frozen=True, slots=True)
class _Place:
    name: str
    pages: int
    sites: tuple[str, ...]
    start: int
    size: int


class _InFile:
    """What is in a temporary file until the end of a block of code; `fill` writes it."""

    def __init__(self, fill: Callable[[], None]) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile(prefix="domsieve-")  # noqa: SIM115 (closed at the end)
        try:
            fill()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


class Counted(_InFile):
    """Pages on disk, so that their number is known before they are divided into shards; a context manager.

    Parameters
    ----------
    members : the pages; the iterable is read once, at once.
    """

    def __init__(self, members: Iterable[Member]) -> None:
        self._count = 0
        super().__init__(partial(self._take, members))

    def _take(self, members: Iterable[Member]) -> None:
        for member in members:
            pickle.dump(member, self._file, protocol=pickle.HIGHEST_PROTOCOL)
            self._count += 1

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Member]:
        self._file.seek(0)
        for _ in range(self._count):
            member: Member = pickle.load(self._file)
            yield member


MOST_PER_SHARD = 500
_FEWEST_PER_SHARD = 10  # a shard costs about as much as a page: a file is written, and flushed
_SHARDS_PER_WORKER = 8  # so that no worker has much left when the others have ended


def pages_per_shard(pages: int, workers: int | None) -> int:
    """Return the number of pages of a shard so that all workers have work; the most if their number is not known."""
    if workers is None:
        return MOST_PER_SHARD
    return min(max(ceil(pages / (workers * _SHARDS_PER_WORKER)), _FEWEST_PER_SHARD), MOST_PER_SHARD)


class Plan(_InFile):
    """The shards of a run, on disk until they are needed; a context manager.

    Only the names and the sites of shards are in memory.

    Parameters
    ----------
    members : the pages; the iterable is read once, at once.
    per_shard : maximum number of pages of a shard.
    """

    def __init__(self, members: Iterable[Member], *, per_shard: int) -> None:
        self.per_shard = per_shard
        self._places: list[_Place] = []
        self._names: dict[str, str] = {}
        super().__init__(partial(self._take, members, per_shard))

    def __len__(self) -> int:
        return len(self._places)

    @property
    def pages(self) -> int:
        """Number of pages in all shards."""
        return sum(place.pages for place in self._places)

    @property
    def names(self) -> list[str]:
        """The names of the shards, in order."""
        return [place.name for place in self._places]

    def pages_of(self, names: Iterable[str]) -> int:
        """Return the number of pages in the shards with these names."""
        wanted = {*names}
        return sum(place.pages for place in self._places if place.name in wanted)

    def sites(self) -> dict[str, list[str]]:
        """Return, for each site, the names of the shards with its pages, in order."""
        found: dict[str, list[str]] = {}
        for place in self._places:
            for site in place.sites:
                found.setdefault(site, []).append(place.name)
        return found

    def shards(self, names: Iterable[str]) -> Iterator[Shard]:
        """Yield shards by their names, in the order of the plan."""
        wanted = {*names}
        for place in self._places:
            if place.name in wanted:
                self._file.seek(place.start)
                yield Shard(place.name, place.pages, place.sites, self._file.read(place.size))

    def _take(self, members: Iterable[Member], per_shard: int) -> None:
        held: list[Member] = []
        for member in members:
            held.append(member)
            if len(held) == per_shard:
                self._add(held)
                held = []
        if held:
            self._add(held)

    def _add(self, members: list[Member]) -> None:
        digest = hashlib.blake2b(digest_size=6)
        for member in members:
            digest.update(f"{member.site}\0{member.label}\0".encode("utf-8", "surrogateescape"))
        # Each name once, even if many shards contain the site.
        sites = [self._names.setdefault(m.site, m.site) for m in {m.site: m for m in members}.values()]
        shard = Shard.of(f"part-{len(self._places):06d}-{digest.hexdigest()}", members, sites)
        start = self._file.seek(0, 2)
        self._file.write(shard.packed)
        self._places.append(_Place(shard.name, shard.pages, shard.sites, start, len(shard.packed)))
