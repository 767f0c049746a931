"""The pages of archives: read one after another, each found again by its offset."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Generic, Literal, TypeVar

from domsieve.archive.decompression import USUAL_LIMITS, ArchiveLimits, InflateError
from domsieve.archive.digests import Differing
from domsieve.archive.http_exchange import body_of, head_of
from domsieve.archive.records import BrokenRecordError, Damage, RecordHead, content_of, no_record, records
from domsieve.archive.segments import Archive, Place
from domsieve.archive.stored_page import Body, DamagedPart, FileSource, Source, StoredPage
from domsieve.archive.wacz import ZipError, archives_in, differing_files
from domsieve.errors import ContentError
from domsieve.snapshot.cut import Cut, CutKind
from domsieve.snapshot.fault import HTML_TYPES
from domsieve.urls import split_url

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


logger = logging.getLogger("domsieve")

_LONGEST_URL = 8_192
_LONGEST_DATE = 40
_FIRST_PAGE, _FIRST_REDIRECT, _NOT_MODIFIED, _FIRST_ERROR = 200, 300, 304, 400
_MARKUP = (b"<!doctype html", b"<html", b"<head", b"<body", b"<title", b"<!--")
_BLANKS = b"\xef\xbb\xbf \t\r\n\f"


def read_archive(
    path: Path, limits: ArchiveLimits = USUAL_LIMITS, *, compares: bool = True
) -> Iterator[StoredPage | DamagedPart]:
    """Yield the pages of an archive, and what of it cannot be read; revisits last.

    It is read once, and once more if it has revisits; little of it is held at a time. Pages whose bytes do not match
    their digests are told by warnings, and so are files of a WACZ file.

    Parameters
    ----------
    path : the archive.
    limits : what is read of it.
    compares : whether bytes are compared with their digests.

    Raises
    ------
    TargetError : the file cannot be read.
    """
    return iter(_Pages(path, limits, compares=compares))


def sources(path: Path, limits: ArchiveLimits) -> Iterator[tuple[str, Source | ZipError]]:
    """Yield the archives in a file: how messages begin that are about each, and its bytes.

    Raises
    ------
    TargetError : the file cannot be read.
    """
    if path.suffix.lower() != ".wacz":
        yield "", FileSource.of(path)
        return
    try:
        for name, source in archives_in(path, limits):
            yield f"{name}, ", source
    except ZipError as error:
        yield "", error


@dataclass(frozen=True, slots=True)
class _Original:
    """Where the content of a page stands.

    Parameters
    ----------
    archive, place : the record.
    is_http : whether it is an answer of HTTP, which has a head of its own.
    cuts : what its record says is missing.
    """

    archive: Archive
    place: Place
    is_http: bool
    cuts: tuple[Cut, ...]

    def body(self, label: str) -> Body:
        """Return what it holds."""
        try:
            content = content_of(self.archive, self.place)
        except (BrokenRecordError, InflateError) as error:
            raise ContentError(f"Its record {error}.", url=label, stage="read") from error
        most_bytes = self.archive.limits.page_bytes
        if not self.is_http:
            more = [Cut("bytes", f"it holds more than {most_bytes:,} bytes")] * (len(content) > most_bytes)
            return Body(content[:most_bytes], {}, (*self.cuts, *more))
        head = head_of(content)
        if head is None:
            raise ContentError("Its record contains no HTTP response.", url=label, stage="read")
        source, cuts = body_of(
            content[head.end :], head.headers, most_bytes=most_bytes, is_cut=bool(self.cuts)
        )
        return Body(source, head.headers, (*self.cuts, *cuts))


class _Pages:
    """The pages of one file."""

    def __init__(self, path: Path, limits: ArchiveLimits, *, compares: bool) -> None:
        self._path, self._limits, self._compares = path, limits, compares
        self._differing = Differing(path)
        self._revisits: Revisits[tuple[StoredPage, str], tuple[StoredPage | None, _Original]] = Revisits()
        self._pages = self._others = self._records = self._damages = 0

    def __iter__(self) -> Iterator[StoredPage | DamagedPart]:
        archives: list[tuple[str, Archive]] = []
        for name, source in sources(self._path, self._limits):
            if isinstance(source, ZipError):
                yield self._damaged(name, f"It {source}.")
                continue
            archives.append((name, Archive(source, self._limits)))
            is_compared = partial(_is_page, archive=archives[-1][1]) if self._compares else no_record
            for item in records(archives[-1][1], is_compared=is_compared):
                if isinstance(item, Damage):
                    yield self._damaged(f"{name}{item.place}", f"Skipped: {item.reason}.")
                    continue
                self._records += 1
                if item.differs_from:
                    url = address_of(item.headers.get("warc-target-uri", ""))
                    self._differing.tell(f"{name}{item.place}", url, item.differs_from)
                page = self._page(item, archives[-1][1], f"{name}{item.place}")
                if page is not None:
                    yield page
        yield from self._revisited([archive for _, archive in archives])
        if not self._records and not self._damages:
            yield self._damaged("", "It holds no record of an archive.")
        if self._compares:
            for file in differing_files(self._path, self._limits):
                self._differing.tell_file(file)
        self._differing.end()
        found, others, differing = self._pages, self._others, self._differing.records
        more = f", {others:,} other answer{'s' * (others != 1)}" if others else ""
        more += f", {differing:,} with a wrong digest" if differing else ""
        logger.info("%s: %s page%s%s", self._path, f"{found:,}", "s" * (found != 1), more)

    def _damaged(self, place: str, message: str) -> DamagedPart:
        self._damages += 1
        where = place.removesuffix(", ")
        return DamagedPart(f"{self._path}, {where}" if where else str(self._path), message)

    def _page(self, head: RecordHead, archive: Archive, where: str) -> StoredPage | DamagedPart | None:
        """Return the page that a record is; None for one that is none, and for revisits, which wait."""
        page = _page_of(head, archive)
        if page == "broken":
            return self._damaged(where, "Skipped: it holds no answer of HTTP.")
        self._others += page == "other"
        if not isinstance(page, StoredPage):
            return None
        if head.kind == "revisit":
            self._revisits.add((page, where), wanted_keys(head, page.url, address_of))
            return None
        self._pages += 1
        return page

    def _revisited(self, archives: list[Archive]) -> Iterator[StoredPage | DamagedPart]:
        """Yield the revisits whose originals are pages."""
        if not self._revisits:
            return
        for archive in archives:
            for head in records(archive):
                if isinstance(head, Damage) or head.kind not in {"response", "resource"}:
                    continue
                if url := address_of(head.headers.get("warc-target-uri", "")):
                    page = _page_of(head, archive)
                    found = page if isinstance(page, StoredPage) else None
                    self._revisits.meet((found, _original(head, archive)), keys_of_original(head, url))
        for (revisit, where), known in self._revisits.resolved():
            if known is None:
                yield self._damaged(
                    where,
                    f"Skipped: {revisit.url} was captured before, and that capture is not in this archive.",
                )
            elif (first := known[0]) is not None:
                own = revisit.status not in {None, _NOT_MODIFIED}
                self._pages += 1
                yield replace(
                    revisit,
                    status=revisit.status if own else first.status,
                    content_type=first.content_type,
                    load=partial(known[1].body, revisit.label),
                )


def _page_of(head: RecordHead, archive: Archive) -> StoredPage | Literal["other", "broken"] | None:
    """Return the page that a record is, or may be if it is a revisit.

    ``"other"`` is an answer that is no page, ``"broken"`` one that is none of HTTP; None is no answer at all.
    """
    url = address_of(head.headers.get("warc-target-uri", ""))
    if not url or head.kind not in {"response", "resource", "revisit"}:
        return None
    kind = head.headers.get("content-type", "")
    if head.kind == "resource":
        return _stored(head, url, None, kind, archive) if kind and _may_be_page(None, kind) else "other"
    answer = head_of(head.beginning)
    if answer is None:
        if head.kind == "revisit":
            return _stored(head, url, None, "", archive)
        return "broken" if kind.lower().startswith("application/http") else None
    content_type = _type(head, answer.headers)
    if not _may_be_page(answer.status, content_type, is_revisit=head.kind == "revisit"):
        return "other"
    if not content_type and head.kind == "response":
        beginning, _ = body_of(
            head.beginning[answer.end :], answer.headers, most_bytes=len(head.beginning), is_cut=True
        )
        if not beginning.lstrip(_BLANKS).lower().startswith(_MARKUP):
            return "other"
    return _stored(head, url, answer.status, content_type, archive)


def _is_page(head: RecordHead, archive: Archive) -> bool:
    return isinstance(_page_of(head, archive), StoredPage)


def _stored(
    head: RecordHead, url: str, status: int | None, content_type: str, archive: Archive
) -> StoredPage:
    date = _date(head.headers.get("warc-date", ""))
    return StoredPage(url, url, status, content_type, date, partial(_original(head, archive).body, url))


def _original(head: RecordHead, archive: Archive) -> _Original:
    return _Original(archive, head.place, head.kind != "resource", _cuts(head))


def _type(head: RecordHead, headers: dict[str, str]) -> str:
    """Return the type of an answer, as its head gives it, or as whoever recorded it found it to be."""
    return headers.get("content-type", "") or head.headers.get("warc-identified-payload-type", "")


def _may_be_page(status: int | None, content_type: str, *, is_revisit: bool = False) -> bool:
    """Return whether what is known of an answer lets it be a page, be it one of an error."""
    if status is not None and status < _FIRST_ERROR:
        if status < _FIRST_PAGE or (status >= _FIRST_REDIRECT and not is_revisit):
            return False
        if status >= _FIRST_REDIRECT and status != _NOT_MODIFIED:
            return False
    return not content_type or content_type.partition(";")[0].strip().lower() in HTML_TYPES


def address_of(text: str) -> str:
    """Return the address that a head names, empty where it is none of a page."""
    url = text.strip()
    if url.startswith("<") and url.endswith(">"):
        url = url[1:-1]
    if len(url) > _LONGEST_URL or not url.isprintable():
        return ""
    parts = split_url(url)
    if parts is None or parts.scheme not in {"http", "https"}:
        return ""
    try:
        return url if parts.hostname and parts.port != 0 else ""
    except ValueError:  # the port is no number
        return ""


def _date(text: str) -> str:
    try:
        date = datetime.fromisoformat(text[:_LONGEST_DATE])
        date = date if date.tzinfo else date.replace(tzinfo=UTC)
        return date.astimezone(UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError):  # the first and last day of all have no UTC in every zone
        return ""


def _cuts(head: RecordHead) -> tuple[Cut, ...]:
    """Return what a record says that is missing of its content."""
    cuts: list[Cut] = []
    if why := head.headers.get("warc-truncated", "").strip().lower():
        said = why if why.isalpha() and len(why) < 20 else "it does not say why"
        kind: CutKind = "bytes" if why == "length" else "time" if why == "time" else "document"
        cuts.append(Cut(kind, f"the archive holds only its beginning ({said})"))
    if head.headers.get("warc-segment-number"):
        cuts.append(Cut("document", "the archive holds it in pieces, of which the first is read"))
    return tuple(cuts)
