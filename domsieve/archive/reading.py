"""The pages of archives: read one after another, each found again by its offset."""

import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import urldefrag

from domsieve.archive._decompression import DEFAULT_LIMITS, ArchiveLimits, InflateError
from domsieve.archive._digests import Differing
from domsieve.archive._records import BrokenRecordError, Damage, RecordHead, content_of, no_record, records
from domsieve.archive._segments import Archive, Place
from domsieve.archive._wacz import ZipError, archives_in, differing_files, member_of
from domsieve.archive.http_exchange import body_of, head_of
from domsieve.archive.stored_page import Body, DamagedPart, FileSource, Source, StoredPage
from domsieve.errors import ContentError
from domsieve.snapshot.cut import Cut, CutKind
from domsieve.snapshot.fault import HTML_TYPES
from domsieve.urls import join_url, split_url

Revisit = TypeVar("Revisit")
Original = TypeVar("Original")
Key = tuple[str, ...]


def keys_of_original(head: RecordHead, url: str) -> list[Key]:
    """Return the keys by which revisits can refer to a record, the most reliable first."""
    headers = head.headers
    return [
        ("id", headers.get("warc-record-id", "").strip()),
        ("date", url, headers.get("warc-date", "")),
        ("digest", headers.get("warc-payload-digest", "")),
        ("url", url),
    ]


def wanted_keys(head: RecordHead, url: str, url_of: Callable[[str], str]) -> list[Key]:
    """Return the keys of the original that a revisit refers to, the most reliable first.

    Parameters
    ----------
    head : the revisit.
    url : address of the revisit.
    url_of : parses the address in a header, see `address_of`.
    """
    headers = head.headers
    keys: list[Key] = [("id", headers.get("warc-refers-to", "").strip())]
    original_url = url_of(headers.get("warc-refers-to-target-uri", ""))
    if date := headers.get("warc-refers-to-date", ""):
        keys.append(("date", original_url or url, date))
    keys.append(("digest", headers.get("warc-payload-digest", "")))
    if "not-modified" in headers.get("warc-profile", ""):
        keys.append(("url", original_url or url))
    return [key for key in keys if all(key[1:])]


@dataclass(slots=True)
class _Waiting(Generic[Revisit, Original]):
    """A revisit with the best original so far; `rank` is the index of the key that matched."""

    revisit: Revisit
    rank: int
    original: Original | None = None


class Revisits(Generic[Revisit, Original]):
    """Matches revisits with their originals; memory grows with the number of revisits, not of records."""

    def __init__(self) -> None:
        self._waiting: list[_Waiting[Revisit, Original]] = []
        self._by_key: dict[Key, list[tuple[int, _Waiting[Revisit, Original]]]] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, revisit: Revisit, keys: list[Key]) -> None:
        """Add a revisit; its original is the first record with the most reliable key that any record has."""
        waiting: _Waiting[Revisit, Original] = _Waiting(revisit, len(keys))
        self._waiting.append(waiting)
        for rank, key in enumerate(keys):
            self._by_key.setdefault(key, []).append((rank, waiting))

    def meet(self, original: Original, keys: list[Key]) -> None:
        """Offer a record as original to all revisits that refer to one of its keys."""
        for key in keys:
            for rank, waiting in self._by_key.pop(key, ()):
                if rank < waiting.rank:
                    waiting.rank, waiting.original = rank, original

    def resolved(self) -> list[tuple[Revisit, Original | None]]:
        """Return the revisits in the order they were added, each with its original or None."""
        return [(waiting.revisit, waiting.original) for waiting in self._waiting]


logger = logging.getLogger("domsieve")

_LONGEST_URL = 8_192
_LONGEST_DATE = 40
_FIRST_PAGE, _FIRST_REDIRECT, _NOT_MODIFIED, _FIRST_ERROR = 200, 300, 304, 400
_PAGE_LISTS = ("pages/pages.jsonl", "pages/extraPages.jsonl")
_MARKUP = (b"<!doctype html", b"<html", b"<head", b"<body", b"<title", b"<!--")
_BLANKS = b"\xef\xbb\xbf \t\r\n\f"


def read_archive(
    path: Path, limits: ArchiveLimits = DEFAULT_LIMITS, *, compares: bool = True
) -> Iterator[StoredPage | DamagedPart]:
    """Yield the pages of an archive, and the parts that cannot be read; revisits come last.

    The archive is read once, and once more if it has revisits. Memory does not grow with its size. Pages, and files
    in a WACZ file, that do not match their digests are yielded all the same; a warning is logged.

    Parameters
    ----------
    path : the archive.
    limits : limits on what is read.
    compares : compare records and files with their digests.

    Raises
    ------
    TargetError : the file cannot be read.
    """
    return iter(_Pages(path, limits, compares=compares))


def listed_pages(path: Path, limits: ArchiveLimits) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the address and the entry of each page that a WACZ file lists; none for other files.

    Raises
    ------
    TargetError : the file cannot be read.
    """
    if path.suffix.lower() != ".wacz":
        return
    for name in _PAGE_LISTS:
        for line in member_of(path, name, limits).splitlines():
            try:
                entry = json.loads(line)
            except (ValueError, RecursionError):  # deeply nested lists
                continue
            if isinstance(entry, dict) and (url := address_of(str(entry.get("url", "")))):
                yield url, entry


def sources(path: Path, limits: ArchiveLimits) -> Iterator[tuple[str, Source | ZipError]]:
    """Yield the archives in a WARC or WACZ file.

    Parameters
    ----------
    path : the file.
    limits : limits on what is read.

    Yields
    ------
    Prefix for places in messages about the archive, and its bytes or the error why they cannot be read.

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
    """Where to find the content of a page.

    Parameters
    ----------
    archive, place : the record.
    is_http : the content is an HTTP response with a head.
    cuts : what is missing according to the record.
    """

    archive: Archive
    place: Place
    is_http: bool
    cuts: tuple[Cut, ...]

    def body(self, label: str) -> Body:
        """Read and return the content.

        Raises
        ------
        ContentError : the record can no longer be read, or contains no HTTP response.
        """
        try:
            content = content_of(self.archive, self.place)
        except (BrokenRecordError, InflateError) as error:
            raise ContentError(f"Its record {error}.", url=label, stage="read") from error
        most_bytes = self.archive.limits.page_bytes
        if not self.is_http:
            more = [Cut("bytes", f"it holds more than {most_bytes:,} bytes")] * (
                len(content.data) > most_bytes
            )
            return Body(content.data[:most_bytes], {}, (*self.cuts, *more))
        head = head_of(content.data)
        if head is None:
            raise ContentError("Its record contains no HTTP response.", url=label, stage="read")
        source, cuts = content.body(head, is_cut=bool(self.cuts))
        return Body(source, head.headers, (*self.cuts, *cuts))


class _Pages:
    """Iterates over the pages of one file."""

    def __init__(self, path: Path, limits: ArchiveLimits, *, compares: bool) -> None:
        self._path, self._limits, self._compares = path, limits, compares
        self._differing = Differing(path)
        self._revisits: Revisits[tuple[StoredPage, str], tuple[StoredPage | None, _Original]] = Revisits()
        self._pages = self._others = self._records = self._damages = 0
        # The pages that the archive lists, and where they redirect to; None if it lists none.
        self._listed = {urldefrag(url).url for url, _ in listed_pages(path, limits)} or None

    def __iter__(self) -> Iterator[StoredPage | DamagedPart]:
        yield from self._read()
        if self._listed and not self._pages:  # its list is of other addresses
            self._listed, self._others, self._compares = None, 0, False
            yield from (item for item in self._read() if isinstance(item, StoredPage))
        self._differing.end()
        pages, others, differing = self._pages, self._others, self._differing.records
        more = f", {others:,} other answer{'s' * (others != 1)}" if others else ""
        more += f", {differing:,} with a wrong digest" if differing else ""
        logger.info("%s: %s page%s%s", self._path, f"{pages:,}", "s" * (pages != 1), more)

    def _read(self) -> Iterator[StoredPage | DamagedPart]:
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
            yield self._damaged("", "It contains no archive records.")
        if self._compares:
            for file in differing_files(self._path, self._limits):
                self._differing.tell_file(file)

    def _damaged(self, place: str, message: str) -> DamagedPart:
        self._damages += 1
        where = place.removesuffix(", ")
        return DamagedPart(f"{self._path}, {where}" if where else str(self._path), message)

    def _page(self, head: RecordHead, archive: Archive, where: str) -> StoredPage | DamagedPart | None:
        """Return the page in a record; None if there is none, and for revisits, which are added to `_revisits`."""
        self._note_redirect(head)
        page = _page_of(head, archive)
        if page == "broken":
            return self._damaged(where, "Skipped: it contains no HTTP response.")
        if isinstance(page, StoredPage) and not self._was_visited(head, page.url):
            page = "other"
        self._others += page == "other"
        if not isinstance(page, StoredPage):
            return None
        if head.kind == "revisit":
            self._revisits.add((page, where), wanted_keys(head, page.url, address_of))
            return None
        self._pages += 1
        return page

    def _was_visited(self, head: RecordHead, url: str) -> bool:
        """Return whether a browser opened an address as a page, and not as a frame, a script or a picture of one."""
        if self._listed is not None:
            return urldefrag(url).url in self._listed
        # Browsers that record say what they loaded a file for.
        return head.headers.get("warc-resource-type", "").strip().lower() in {"", "document"}

    def _note_redirect(self, head: RecordHead) -> None:
        """Count the address that a listed page redirects to as listed."""
        url = address_of(head.headers.get("warc-target-uri", ""))
        if self._listed is None or head.kind != "response" or urldefrag(url).url not in self._listed:
            return
        answer = head_of(head.beginning)
        if answer and _FIRST_REDIRECT <= answer.status < _FIRST_ERROR:
            target = join_url(url, answer.headers.get("location", ""))
            self._listed.add(urldefrag(target or url).url)

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
                    stored = page if isinstance(page, StoredPage) else None
                    self._revisits.meet((stored, _original(head, archive)), keys_of_original(head, url))
        for (revisit, where), match in self._revisits.resolved():
            if match is None:
                yield self._damaged(
                    where,
                    f"Skipped: it refers to an earlier capture of {revisit.url} that is not in this archive.",
                )
            elif (first := match[0]) is not None:
                own = revisit.status not in {None, _NOT_MODIFIED}
                self._pages += 1
                yield replace(
                    revisit,
                    status=revisit.status if own else first.status,
                    content_type=first.content_type,
                    load=partial(match[1].body, revisit.label),
                )


def _page_of(head: RecordHead, archive: Archive) -> StoredPage | Literal["other", "broken"] | None:
    """Return the page in a record; for a revisit, a page that may turn out not to be one.

    ``"other"`` is a response that is not a page, ``"broken"`` a response that is not HTTP; None is not a response.
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
    """Return the content type of a response from its head, or else as identified by the recorder."""
    return headers.get("content-type", "") or head.headers.get("warc-identified-payload-type", "")


def _may_be_page(status: int | None, content_type: str, *, is_revisit: bool = False) -> bool:
    """Return whether a response can be a page (including error pages), judged by status and content type."""
    if status is not None and status < _FIRST_ERROR:
        if status < _FIRST_PAGE or (status >= _FIRST_REDIRECT and not is_revisit):
            return False
        if status >= _FIRST_REDIRECT and status != _NOT_MODIFIED:
            return False
    return not content_type or content_type.partition(";")[0].strip().lower() in HTML_TYPES


def address_of(text: str) -> str:
    """Return the address in a header, or an empty string if it is not a valid web address."""
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
    except ValueError:  # the port is not a number
        return ""


def _date(text: str) -> str:
    try:
        date = datetime.fromisoformat(text[:_LONGEST_DATE])
        date = date if date.tzinfo else date.replace(tzinfo=UTC)
        return date.astimezone(UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError):  # years 1 and 9999 can overflow when converted to UTC
        return ""


def _cuts(head: RecordHead) -> tuple[Cut, ...]:
    """Return what is missing from the content, according to the record."""
    cuts: list[Cut] = []
    if reason := head.headers.get("warc-truncated", "").strip().lower():
        detail = reason if reason.isalpha() and len(reason) < 20 else "it does not say why"
        kind: CutKind = "bytes" if reason == "length" else "time" if reason == "time" else "document"
        cuts.append(Cut(kind, f"the archive holds only its beginning ({detail})"))
    if head.headers.get("warc-segment-number"):
        cuts.append(Cut("document", "the archive holds it in pieces, of which the first is read"))
    return tuple(cuts)
