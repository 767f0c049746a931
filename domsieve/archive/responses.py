"""The answers of an archive by what was asked: which one the n-th equal request of a page gets.

A request is known by its method, its address and a digest of its body; the n-th gets the n-th answer that was
recorded for the page, and what is asked more often the last one. A request that differs from all of these in no more
than times and random numbers, as those that go around caches do, is taken for the one it most likely is. There is no
other guessing: what was not recorded has no answer.

Records of archives by other programs may not say of which page they are, or be of another page whose answers the
browser had kept. What a page lacks is looked for among these.

Imports how records are read, and the errors.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import cast, get_args
from urllib.parse import urldefrag

from domsieve.archive.decompression import USUAL_LIMITS, ArchiveLimits, InflateError
from domsieve.archive.digests import Differing
from domsieve.archive.http_exchange import Fields, Outcome, body_of, fields_of, head_of
from domsieve.archive.reading import (
    Revisits,
    address_of,
    keys_of_original,
    read_archive,
    sources,
    wanted_keys,
)
from domsieve.archive.records import READ_KINDS, BrokenRecordError, Damage, RecordHead, content_of, records
from domsieve.archive.segments import Archive, Place
from domsieve.archive.stored_page import DamagedPart, StoredPage
from domsieve.archive.wacz import ZipError, differing_files, member_of
from domsieve.archive.writing import OUTCOME_TYPE
from domsieve.errors import TargetError
from domsieve.urls import without_credentials

ANY_PAGE = ""
"""Stands for the page of records that do not say of which they are."""

_KINDS = READ_KINDS | {"request", "metadata"}
_REQUEST = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,40}) ")
_RANGE = re.compile(rb"\r?\nrange:[ \t]{0,9}([^\r\n]{0,200})", re.IGNORECASE)
# What differs from one run of a page to the next: times, random numbers, names made of these.
_PASSING = re.compile(
    r"[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}"
    r"|----WebKitFormBoundary[0-9A-Za-z]{16}"
    r"|\d[\d.]{7,}"
)
_GOING_AROUND = re.compile(
    r"([?&](?:_|_t|cb|cache_?bust(?:er)?|nocache|rand|random|rnd|ts|timestamp)=)[^&]*", re.IGNORECASE
)
_PAGES = "pages/pages.jsonl"
_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, as the archive holds it.

    Parameters
    ----------
    outcome : how it ended.
    status, reason : of HTTP; 0 and empty without an answer.
    headers : of the answer, but for those about codings, which are undone.
    body : what came of it.
    asked_at : UTC time, ISO 8601; empty where that is not known.
    """

    outcome: Outcome
    status: int = 0
    reason: str = ""
    headers: Fields = ()
    body: bytes = b""
    asked_at: str = ""


@dataclass(frozen=True, slots=True)
class ArchivedPage:
    """A page that an archive lists.

    Parameters
    ----------
    page_id : names it within the archive; `ANY_PAGE` for those of other programs that do not.
    url : its address.
    captured_at : UTC time, ISO 8601; empty where that is not known.
    """

    page_id: str
    url: str
    captured_at: str


@dataclass(slots=True)
class _Entry:
    """Where an answer stands, and how it ended."""

    archive: Archive
    place: Place | None
    asked_at: str
    outcome: Outcome = "whole"
    content: "tuple[Archive, Place] | None" = None  # of a revisit, where its body is


Key = tuple[str, str, str, str]
"""Method, address, digest of the body and range."""


@dataclass(slots=True)
class _OfPage:
    exact: dict[Key, list[_Entry]] = field(default_factory=dict)
    loose: dict[Key, list[_Entry]] = field(default_factory=dict)


class Answers:
    """The answers of an archive; read once for where each stands.

    Parameters
    ----------
    path : the archive, WARC or WACZ.
    limits : what is read of it.

    Attributes
    ----------
    digest : of the whole file.
    pages : those that it lists; of an archive that lists none, all answers that are HTML.
    hosts : all that were asked, as they stand in addresses.
    anywhere : where the answers of all pages stand.
    damages : what of it cannot be read.

    Raises
    ------
    TargetError : it cannot be read, or contains no page.
    """

    def __init__(self, path: Path, limits: ArchiveLimits = USUAL_LIMITS) -> None:
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
        """Return the page of an address, None where the archive lists none."""
        address = without_credentials(url)
        return self._by_url.get(address) or self._by_url.get(urldefrag(address).url)

    def turns(self, page_id: str) -> "Turns":
        """Return what answers the requests of a page, from its first one on."""
        return Turns(self, [self._pages[name] for name in (page_id, ANY_PAGE) if name in self._pages])

    def load(self, entry: _Entry) -> Answer:
        """Return an answer; one that is damaged counts as failed."""
        outcome = entry.outcome
        if entry.place is None:
            return Answer(outcome, asked_at=entry.asked_at)
        try:
            content = content_of(entry.archive, entry.place)
            head = head_of(content)
            if head is None:
                return Answer("failed")
            body, headers = content[head.end :], head.headers
            if entry.content:
                original = content_of(*entry.content)
                first = head_of(original)
                body, headers = (original[first.end :], first.headers) if first else (original, {})
        except (BrokenRecordError, InflateError):
            return Answer("failed")
        body, _ = body_of(body, headers, most_bytes=self._limits.page_bytes, is_cut=True)
        reason, fields = fields_of(content[: head.end])
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
            said = head.headers
            url = address_of(said.get("warc-target-uri", ""))
            about = said.get("warc-concurrent-to", "").strip()
            if not url:
                continue
            if head.differs_from:
                self._differing.tell(f"{name}{head.place}", url, head.differs_from)
            if head.kind in {"response", "revisit"} and head_of(head.beginning):
                entry = _Entry(archive, head.place, said.get("warc-date", ""))
                if said.get("warc-truncated"):
                    entry.outcome = "cut"
                if head.kind == "revisit":
                    waiting.add(entry, wanted_keys(head, url, address_of))
                answers[said.get("warc-record-id", "").strip() or str(head.place)] = head, url, entry
            elif head.kind == "request" and (key := self._key(archive, head, url)):
                if known := answers.pop(about, None):
                    entry = known[2]
                else:
                    entry = _Entry(archive, None, said.get("warc-date", ""), "failed")
                    if about:  # of an answer that stands elsewhere, or is damaged
                        continue
                page_id = said.get("warc-page-id", ANY_PAGE)
                requests[said.get("warc-record-id", "").strip()] = page_id, url, entry
                self._add(page_id, key, self._loose(archive, head, key), entry)
            elif head.kind == "metadata" and said.get("content-type") == OUTCOME_TYPE and about in requests:
                outcome = _outcome(head.beginning)
                if outcome:
                    requests[about][2].outcome = outcome
        for head, url, entry in answers.values():  # those without a request
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
                content = content_of(archive, head.place)
            except (BrokenRecordError, InflateError):
                return b""
        return content[_end_of_head(content) :]

    def _listed(self) -> Iterator[ArchivedPage]:
        """Yield the pages that a WACZ file lists."""
        text = member_of(self.path, _PAGES, self._limits) if self.path.suffix.lower() == ".wacz" else b""
        for line in text.splitlines():
            try:
                page = json.loads(line)
            except (ValueError, RecursionError):  # lists in lists in lists
                continue
            url = address_of(str(page.get("url", ""))) if isinstance(page, dict) else ""
            if url:
                page_id = str(page.get("id", ""))
                yield ArchivedPage(
                    page_id if page_id in self._pages else ANY_PAGE, url, _date(page.get("ts"))
                )


class Turns:
    """Whose turn it is among the answers to equal requests of one page."""

    def __init__(self, answers: Answers, places: Sequence[_OfPage]) -> None:
        self._answers, self._places = answers, places
        self._asked: Counter[Key] = Counter()

    def next(self, method: str, url: str, body: bytes, wanted_range: str) -> Answer | None:
        """Return the answer to a request, None where there is none; it takes time, for it is read from the disk."""
        key = request_key(method, url, body, wanted_range)
        loose = loosely(key, body)
        found = [(place.exact.get(key), key) for place in self._places]
        found += [(place.loose.get(loose), loose) for place in self._places]
        for entries, by in (*found, (self._answers.anywhere.get(key), key)):
            if entries:
                number = self._asked[by]
                self._asked[by] += 1
                return self._answers.load(entries[min(number, len(entries) - 1)])
        return None


def request_key(method: str, url: str, body: bytes, wanted_range: str) -> Key:
    """Return what a request is known by."""
    digest = hashlib.sha256(body).hexdigest() if body else ""
    return method.upper(), urldefrag(url).url, digest, wanted_range


def loosely(key: Key, body: bytes) -> Key:
    """Return what a request is known by when times and random numbers do not count."""
    method, url, _, wanted_range = key
    path, mark, query = url.partition("?")
    plain = _PASSING.sub("#", _GOING_AROUND.sub(r"\1#", mark + query))
    text = _PASSING.sub("#", body.decode("latin-1"))
    digest = hashlib.sha256(text.encode()).hexdigest() if text else ""
    return method, path + plain, digest, wanted_range


def host_of(url: str) -> str:
    """Return host of an address in lower case, with brackets where it has them and without port."""
    place = url.partition("://")[2].partition("/")[0].partition("?")[0].rpartition("@")[2].lower()
    return place if place.endswith("]") else place.rpartition(":")[0] if ":" in place else place


def _end_of_head(content: bytes) -> int:
    end = content.find(b"\r\n\r\n")
    return len(content) if end < 0 else end + 4


def _outcome(content: bytes) -> Outcome | None:
    said: Mapping[str, str] = dict(fields_of(b"\r\n" + content)[1])
    found = said.get("outcome", "")
    return cast(Outcome, found) if found in get_args(Outcome) else None


def _date(value: object) -> str:
    try:
        date = datetime.fromisoformat(str(value)[:40])
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).astimezone(UTC).isoformat()
    except (ValueError, OverflowError):  # the first and last day of all have no UTC in every zone
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
