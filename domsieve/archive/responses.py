"""Find the recorded response to a request, to replay pages from an archive.

A request is identified by method, address, digest of its body and range. The n-th equal request of a page gets the
n-th response recorded for the page; further ones get the last. If there is no match, a request may also match one
that differs only in times and random numbers, as used against caches. Nothing else is guessed: a request that was not
recorded has no response.

Records by other programs may not name their page, or belong to another page whose responses the browser had cached.
They are searched when the page itself has no match.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import cast, get_args
from urllib.parse import urldefrag

from domsieve.archive._decompression import DEFAULT_LIMITS, ArchiveLimits, InflateError
from domsieve.archive._digests import Differing
from domsieve.archive._records import READ_KINDS, BrokenRecordError, Damage, RecordHead, content_of, records
from domsieve.archive._segments import Archive, Place
from domsieve.archive._wacz import ZipError, differing_files
from domsieve.archive._writing import OUTCOME_TYPE
from domsieve.archive.http_exchange import Fields, Head, Outcome, fields_of, head_of
from domsieve.archive.reading import (
    Revisits,
    address_of,
    keys_of_original,
    listed_pages,
    read_archive,
    sources,
    wanted_keys,
)
from domsieve.archive.stored_page import DamagedPart, StoredPage
from domsieve.errors import TargetError
from domsieve.urls import without_credentials

ANY_PAGE = ""
"""Page id of records that do not name their page."""

_KINDS = READ_KINDS | {"request", "metadata"}
_REQUEST = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,40}) ")
_RANGE = re.compile(rb"\r?\nrange:[ \t]{0,9}([^\r\n]{0,200})", re.IGNORECASE)
# Parts of a request that differ between runs of a page: times, random numbers, names made of these.
_PASSING = re.compile(
    r"[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}"
    r"|----WebKitFormBoundary[0-9A-Za-z]{16}"
    r"|\d[\d.]{7,}"
)
_GOING_AROUND = re.compile(
    r"([?&](?:_|_t|cb|cache_?bust(?:er)?|nocache|rand|random|rnd|ts|timestamp)=)[^&]*", re.IGNORECASE
)
_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True)
class Answer:
    """A recorded response.

    Parameters
    ----------
    outcome : how the exchange ended, see `Outcome`.
    status, reason : status line; 0 and empty without a response.
    headers : headers, except those about codings.
    body : body without codings, as far as it arrived.
    asked_at : UTC time of the request, ISO 8601; empty if unknown.
    """

    outcome: Outcome
    status: int = 0
    reason: str = ""
    headers: Fields = ()
    body: bytes = b""
    asked_at: str = ""


@dataclass(frozen=True, slots=True)
class ArchivedPage:
    """An entry in the list of pages of an archive.

    Parameters
    ----------
    page_id : id of the page in the archive; `ANY_PAGE` if its records do not name it.
    url : address of the page.
    captured_at : UTC time of the capture, ISO 8601; empty if unknown.
    """

    page_id: str
    url: str
    captured_at: str


@dataclass(slots=True)
class _Entry:
    """Place of a response in an archive, and how the exchange ended."""

    archive: Archive
    place: Place | None
    asked_at: str
    outcome: Outcome = "whole"
    content: "tuple[Archive, Place] | None" = None  # record with the body of a revisit


Key = tuple[str, str, str, str]
"""Identity of a request: method, address, digest of the body and range."""


@dataclass(slots=True)
class _OfPage:
    exact: dict[Key, list[_Entry]] = field(default_factory=dict)
    loose: dict[Key, list[_Entry]] = field(default_factory=dict)


class Answers:
    """Index of all responses in an archive; the archive is read once to build it.

    Parameters
    ----------
    path : the archive, WARC or WACZ.
    limits : limits on what is read.

    Attributes
    ----------
    digest : SHA-256 digest of the whole file.
    pages : the pages that the archive lists; if it lists none, all HTML responses.
    hosts : all requested hosts, as written in the addresses.
    anywhere : responses of all pages, by request.
    damages : parts of the archive that cannot be read.

    Raises
    ------
    TargetError : the archive cannot be read, or contains no page.
    """

    def __init__(self, path: Path, limits: ArchiveLimits = DEFAULT_LIMITS) -> None:
        self.path = path
        self.digest = _digest_of(path)
        self.hosts: set[str] = set()
        self.anywhere: dict[Key, list[_Entry]] = {}
        self.damages: list[DamagedPart] = []
        self._limits = limits
        self._pages: dict[str, _OfPage] = {}
        self._differing = Differing(path)
        self._read()
        for file in differing_files(path, limits):
            self._differing.tell_file(file)
        self._differing.end()
        listed = {page.url: page for page in self._listed()}  # the last of each address
        self.pages = [*listed.values()] or [
            ArchivedPage(ANY_PAGE, page.url, page.captured_at)
            for page in read_archive(path, limits, compares=False)
            if isinstance(page, StoredPage)
        ]
        self._by_url = {page.url: page for page in reversed(self.pages)}
        if not self.pages:
            raise TargetError(f"The archive {path} contains no page.")

    def page(self, url: str) -> ArchivedPage | None:
        """Return the page with an address, or None if the archive does not list it."""
        address = without_credentials(url)
        return self._by_url.get(address) or self._by_url.get(urldefrag(address).url)

    def turns(self, page_id: str) -> "Turns":
        """Return an object that answers the requests of a page, beginning with the first response to each."""
        return Turns(self, [self._pages[name] for name in (page_id, ANY_PAGE) if name in self._pages])

    def load(self, entry: _Entry) -> Answer:
        """Read a response; a damaged one counts as failed."""
        outcome = entry.outcome
        if entry.place is None:
            return Answer(outcome, asked_at=entry.asked_at)
        try:
            content = content_of(entry.archive, entry.place)
            head = head_of(content.data)
            if head is None:
                return Answer("failed")
            original = content_of(*entry.content) if entry.content else content
        except (BrokenRecordError, InflateError):
            return Answer("failed")
        first = head_of(original.data) or Head(0, {}, 0)
        body, _ = original.body(first, is_cut=True)
        reason, fields = fields_of(content.data[: head.end])
        return Answer(outcome, head.status, reason, fields, body, entry.asked_at)

    def _read(self) -> None:
        waiting: Revisits[_Entry, tuple[Archive, Place]] = Revisits()
        archives: list[Archive] = []
        for name, source in sources(self.path, self._limits):
            if isinstance(source, ZipError):
                self.damages.append(DamagedPart(f"{self.path}, {name}".removesuffix(", "), f"It {source}."))
                continue
            archive = Archive(source, self._limits)
            archives.append(archive)
            self._read_one(archive, name, waiting)
        if len(waiting):
            for archive in archives:
                for head in records(archive):
                    url = (
                        ""
                        if isinstance(head, Damage)
                        else address_of(head.headers.get("warc-target-uri", ""))
                    )
                    if isinstance(head, RecordHead) and head.kind == "response" and url:
                        waiting.meet((archive, head.place), keys_of_original(head, url))
            for entry, original in waiting.resolved():
                entry.content = original

    def _read_one(
        self, archive: Archive, name: str, waiting: "Revisits[_Entry, tuple[Archive, Place]]"
    ) -> None:
        answers: dict[str, tuple[RecordHead, str, _Entry]] = {}
        requests: dict[str, tuple[str, str, _Entry]] = {}
        for head in records(archive, _KINDS, is_compared=lambda head: head.kind in READ_KINDS):
            if isinstance(head, Damage):
                self.damages.append(
                    DamagedPart(f"{self.path}, {name}{head.place}", f"Skipped: {head.reason}.")
                )
                continue
            headers = head.headers
            url = address_of(headers.get("warc-target-uri", ""))
            about = headers.get("warc-concurrent-to", "").strip()
            if not url:
                continue
            if head.differs_from:
                self._differing.tell(f"{name}{head.place}", url, head.differs_from)
            if head.kind in {"response", "revisit"} and head_of(head.beginning):
                entry = _Entry(archive, head.place, headers.get("warc-date", ""))
                if headers.get("warc-truncated"):
                    entry.outcome = "cut"
                if head.kind == "revisit":
                    waiting.add(entry, wanted_keys(head, url, address_of))
                answers[headers.get("warc-record-id", "").strip() or str(head.place)] = head, url, entry
            elif head.kind == "request" and (key := self._key(archive, head, url)):
                if known := answers.pop(about, None):
                    entry = known[2]
                else:
                    entry = _Entry(archive, None, headers.get("warc-date", ""), "failed")
                    if about:  # the response is damaged, or in another file
                        continue
                page_id = headers.get("warc-page-id", ANY_PAGE)
                requests[headers.get("warc-record-id", "").strip()] = page_id, url, entry
                self._add(page_id, key, self._loose(archive, head, key), entry)
            elif (
                head.kind == "metadata" and headers.get("content-type") == OUTCOME_TYPE and about in requests
            ):
                outcome = _outcome(head.beginning)
                if outcome:
                    requests[about][2].outcome = outcome
        for head, url, entry in answers.values():  # responses without a request record
            key = ("GET", urldefrag(url).url, "", "")
            self._add(head.headers.get("warc-page-id", ANY_PAGE), key, loosely(key, b""), entry)

    def _add(self, page_id: str, key: Key, loose: Key, entry: _Entry) -> None:
        of_page = self._pages.setdefault(page_id, _OfPage())
        of_page.exact.setdefault(key, []).append(entry)
        of_page.loose.setdefault(loose, []).append(entry)
        self.anywhere.setdefault(key, []).append(entry)
        self.hosts.add(host_of(key[1]))

    def _key(self, archive: Archive, head: RecordHead, url: str) -> Key | None:
        method = _REQUEST.match(head.beginning)
        if method is None:
            return None
        content = head.beginning
        end = _end_of_head(content)
        wanted = _RANGE.search(content[:end])
        body = self._body(archive, head)
        name = method[1].decode()
        return request_key(name, url, body, wanted[1].decode("latin-1").strip() if wanted else "")

    def _loose(self, archive: Archive, head: RecordHead, key: Key) -> Key:
        return loosely(key, self._body(archive, head) if key[2] else b"")

    def _body(self, archive: Archive, head: RecordHead) -> bytes:
        content = head.beginning
        length = head.headers.get("content-length", "")
        if length.isdecimal() and len(length) < 15 and int(length) > len(content):
            try:
                content = content_of(archive, head.place).data
            except (BrokenRecordError, InflateError):
                return b""
        return content[_end_of_head(content) :]

    def _listed(self) -> Iterator[ArchivedPage]:
        """Yield the entries in the list of pages of a WACZ file."""
        for url, page in listed_pages(self.path, self._limits):
            page_id = str(page.get("id", ""))
            yield ArchivedPage(page_id if page_id in self._pages else ANY_PAGE, url, _date(page.get("ts")))


class Turns:
    """Answers the requests of one page, giving equal requests their recorded responses in turn."""

    def __init__(self, answers: Answers, places: Sequence[_OfPage]) -> None:
        self._answers, self._places = answers, places
        self._asked: Counter[Key] = Counter()

    def next(self, method: str, url: str, body: bytes, wanted_range: str) -> Answer | None:
        """Return the response to a request, or None if there is none; reads from disk.

        Parameters
        ----------
        method : HTTP method.
        url : requested address.
        body : body of the request.
        wanted_range : value of the ``Range`` header, empty without one.
        """
        key = request_key(method, url, body, wanted_range)
        loose = loosely(key, body)
        candidates = [(place.exact.get(key), key) for place in self._places]
        candidates += [(place.loose.get(loose), loose) for place in self._places]
        for entries, by in (*candidates, (self._answers.anywhere.get(key), key)):
            if entries:
                number = self._asked[by]
                self._asked[by] += 1
                return self._answers.load(entries[min(number, len(entries) - 1)])
        return None


def request_key(method: str, url: str, body: bytes, wanted_range: str) -> Key:
    """Return the identity of a request."""
    digest = hashlib.sha256(body).hexdigest() if body else ""
    return method.upper(), urldefrag(url).url, digest, wanted_range


def loosely(key: Key, body: bytes) -> Key:
    """Return the identity of a request without times and random numbers.

    Parameters
    ----------
    key : identity of the request, see `request_key`.
    body : body of the request.
    """
    method, url, _, wanted_range = key
    path, mark, query = url.partition("?")
    plain = _PASSING.sub("#", _GOING_AROUND.sub(r"\1#", mark + query))
    text = _PASSING.sub("#", body.decode("latin-1"))
    digest = hashlib.sha256(text.encode()).hexdigest() if text else ""
    return method, path + plain, digest, wanted_range


def host_of(url: str) -> str:
    """Return the host of an address in lower case, without port; IPv6 addresses keep their brackets."""
    place = url.partition("://")[2].partition("/")[0].partition("?")[0].rpartition("@")[2].lower()
    return place if place.endswith("]") else place.rpartition(":")[0] if ":" in place else place


def _end_of_head(content: bytes) -> int:
    end = content.find(b"\r\n\r\n")
    return len(content) if end < 0 else end + 4


def _outcome(content: bytes) -> Outcome | None:
    fields: Mapping[str, str] = dict(fields_of(b"\r\n" + content)[1])
    outcome = fields.get("outcome", "")
    return cast(Outcome, outcome) if outcome in get_args(Outcome) else None


def _date(value: object) -> str:
    try:
        date = datetime.fromisoformat(str(value)[:40])
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).astimezone(UTC).isoformat()
    except (ValueError, OverflowError):  # years 1 and 9999 can overflow when converted to UTC
        return ""


def _digest_of(path: Path) -> str:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while data := file.read(_AT_ONCE):
                digest.update(data)
    except OSError as error:
        raise TargetError(f"The archive {path} cannot be read: {error.strerror}.") from error
    return f"sha256:{digest.hexdigest()}"
