"""Read the records of an archive: every complete record, and the stretches without one.

FastWARC splits a run into records and parses their heads, but stops at the first damage. This module finds the next
complete record after it, and decides whether the record before it was complete.
"""

import re
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from domsieve.archive._decompression import InflateError
from domsieve.archive._digests import check_of
from domsieve.archive._segments import Archive, Place, Run
from domsieve.archive.http_exchange import Head, body_of
from domsieve.archive.stored_page import ReadOverError
from domsieve.budget import check
from domsieve.snapshot.cut import Cut

if TYPE_CHECKING:
    from fastwarc.warc import WarcRecord

_SIGN = re.compile(rb"WARC/\d\.\d{1,3}\r?\n")
_LONGEST_SIGN = 14
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_RECORD_END = b"\r\n\r\n"
_LONGEST_HEAD = 65_536
_AT_ONCE = 65_536
_LONGEST_LENGTH = 15  # digits
_NO_RECORD = "no record begins here"
READ_KINDS = frozenset(("response", "revisit", "resource"))
"""Types of records that can be pages."""


class RecordHead(NamedTuple):
    """Head and beginning of a record.

    Parameters
    ----------
    place : where the record begins.
    kind : type of the record: ``"response"``, ``"revisit"``, …
    headers : by name in lower case; the first value of each.
    beginning : the first bytes of the content, at most 64 kB.
    differs_from : name of the digest that the content does not match, such as ``"SHA-1"``; empty if it matches or
        was not compared.
    """

    place: Place
    kind: str
    headers: dict[str, str]
    beginning: bytes
    differs_from: str = ""


@dataclass(frozen=True, slots=True)
class Damage:
    """A stretch of an archive without a complete record.

    Parameters
    ----------
    place : where the stretch begins.
    reason : what is wrong, as a clause without full stop.
    """

    place: Place
    reason: str


class BrokenRecordError(Exception):
    """A record that was found before can no longer be read; the message continues "Its record …"."""


def no_record(_: RecordHead) -> bool:
    """Return False: compare no record with its digest."""
    return False


def records(
    archive: Archive,
    kinds: Set[str] = READ_KINDS,
    *,
    is_compared: Callable[[RecordHead], bool] = no_record,
) -> Iterator[RecordHead | Damage]:
    """Yield all complete records of an archive in order, and a `Damage` for each stretch without one.

    Parameters
    ----------
    archive : the archive.
    kinds : types of records whose `beginning` is read.
    is_compared : decides for a record of these types whether to read all of it and compare it with its digest.
    """
    return iter(_Reading(archive, kinds, is_compared))


class Content(NamedTuple):
    """Content of a record.

    Parameters
    ----------
    data : the bytes, truncated to the maximum size of a page.
    archive, place : the record.
    stored_bytes : size of the record on disk.
    """

    data: bytes
    archive: Archive
    place: Place
    stored_bytes: int

    def body(self, head: Head, *, is_cut: bool) -> tuple[bytes, list[Cut]]:
        """Return the body without codings, within the limits of the archive, and the reasons why it is incomplete.

        Parameters
        ----------
        head : head of the response in the record.
        is_cut : the end of the body is known to be missing, which is not reported again.
        """
        archive, packed = self.archive, self.data[head.end :]
        most_bytes = archive.body_bytes(self.place, self.stored_bytes)
        body, cuts = body_of(
            packed,
            head.headers,
            most_bytes=archive.limits.page_bytes,
            most_decoded_bytes=most_bytes,
            is_cut=is_cut,
        )
        if "content-encoding" in head.headers:
            archive.count_body(self.place, most_bytes, size=len(body))
        return body, cuts


def content_of(archive: Archive, place: Place) -> Content:
    """Return the content of the record at `place`.

    Raises
    ------
    BrokenRecordError : the file has changed, and there is no complete record any more.
    """
    run = archive.run(place)
    try:
        for record in _cut(run):
            held: list[bytes] = []
            rest = min(record.content_length, archive.limits.page_bytes + _LONGEST_HEAD)
            while rest and (part := record.reader.read(min(rest, _AT_ONCE))):
                check()
                held.append(part)
                rest -= len(part)
            if rest or _length(record) is None:
                break
            return Content(b"".join(held), archive, place, run.stored_bytes)
    except OSError:
        pass
    finally:
        run.release()
    raise BrokenRecordError(run.damage or "is no longer in the archive")


class _Reading:
    """One pass through an archive."""

    def __init__(self, archive: Archive, kinds: Set[str], is_compared: Callable[[RecordHead], bool]) -> None:
        self._archive = archive
        self._kinds, self._is_compared = kinds, is_compared
        self._window = archive.window()
        self._next: Place | None = Place(0)
        self._bad: Damage | None = None
        self._records = 0

    def __iter__(self) -> Iterator[RecordHead | Damage]:
        try:
            while self._next is not None:
                yield from self._run(self._next)
        except ReadOverError:
            place = self._bad.place if self._bad else self._next or Place(0)
            self._bad = Damage(
                place, "finding whole records would take too much reading; the rest is left out"
            )
        except InflateError as error:  # the archive is compressed in a WACZ file
            self._note(self._next or Place(0), f"the compressed stretch around it {error}")
        if self._bad:
            yield self._bad

    def _run(self, place: Place) -> Iterator[RecordHead | Damage]:
        """Yield the records of a run, and set `_next` to where the next run begins."""
        run = self._archive.run(place, self._window)
        last: tuple[RecordHead, int] | None = None
        broken: tuple[Place, str] | None = None
        try:
            for record in _cut(run):
                check()
                if last:
                    yield from self._whole(last[0])
                    last = None
                    if self._records >= self._archive.limits.records:
                        self._note(
                            run.place_of(record.stream_pos),
                            f"it has more than {self._archive.limits.records:,} records; the rest is left out",
                        )
                        self._next = None
                        return
                head = _head(record, run, self._kinds)
                length = _length(record)
                head, rest = self._rest(record, head)
                if length is None:
                    broken = head.place, "the head of a record is damaged"
                    break
                if len(head.beginning) + rest < length:
                    broken = head.place, "a record breaks off"
                    break
                last = head, length
        except OSError:
            broken = (last[0].place, "") if last else (place, _NO_RECORD)
        if run.damage:
            # A record alone in its member is the damaged part; otherwise it may be complete, before the damage.
            if last and (
                last[0].place.start != run.damaged_from or (last[0].place.skip and self._end(*last))
            ):
                yield from self._whole(last[0])
                last = None
            start = last[0].place if last else broken[0] if broken else Place(run.damaged_from)
            self._note(start, f"the compressed stretch {run.damage}")
            self._next = self._archive.member_behind(run.damaged_from, self._window)
        elif broken and last:
            # No record follows: either the next one is damaged, or the length of this one is wrong.
            end = self._end(*last)
            if end:
                yield from self._whole(last[0])
            self._note(end or last[0].place, _NO_RECORD if end else "the length of a record is wrong")
            self._next = self._search(end or _next_byte(last[0].place))
        elif broken:
            self._note(*broken)
            self._next = self._search(_next_byte(broken[0]))
        else:
            if last:
                yield from self._whole(last[0])
            self._next = run.following

    def _rest(self, record: "WarcRecord", head: RecordHead) -> tuple[RecordHead, int]:
        """Read the rest of a record; return its head with `differs_from` set, and the number of bytes read."""
        compared = head.kind in self._kinds and self._is_compared(head)
        digest = (
            check_of(head.kind, head.headers, head.beginning, most_bytes=self._archive.limits.page_bytes)
            if compared
            else None
        )
        if digest is None:
            return head, record.reader.consume()
        digest.add(head.beginning)
        rest = 0
        while part := record.reader.read(_AT_ONCE):
            check()
            digest.add(part)
            rest += len(part)
        return head._replace(differs_from=digest.said.name if digest.differs() else ""), rest

    def _whole(self, head: RecordHead) -> Iterator[RecordHead | Damage]:
        """Yield the pending damage, if any, and then a record."""
        if self._bad:
            yield self._bad
            self._bad = None
        self._records += 1
        yield head

    def _note(self, place: Place, reason: str) -> None:
        self._bad = self._bad or Damage(place, reason)

    def _end(self, head: RecordHead, length: int) -> Place | None:
        """Return where a record ends, or None if there is no end of a record at that place."""
        run = self._archive.run(head.place, self._window)
        seen = b""
        while not (blank := _HEAD_END.search(seen)):
            part = run.read(_AT_ONCE)
            if not part or len(seen) > _LONGEST_HEAD:
                return None
            seen += part
        end = blank.end() + length
        following, passed = seen[end:], len(seen)
        # One more byte, so that the run has reached what follows, which may be in another member.
        while len(following) <= len(_RECORD_END) and (part := run.read(_AT_ONCE)):
            check()
            following += part[max(end - passed, 0) :]
            passed += len(part)
        return run.place_of(end + len(_RECORD_END)) if following.startswith(_RECORD_END) else None

    def _search(self, place: Place) -> Place | None:
        """Return the next place, from `place` on, where a record seems to begin; None if there is none."""
        run = self._archive.run(place, self._window)
        passed, seen = 0, b""
        while part := run.read(_AT_ONCE):
            check()
            seen += part
            if found := _SIGN.search(seen):
                return run.place_of(passed + found.start())
            kept = min(len(seen), _LONGEST_SIGN)
            passed += len(seen) - kept
            seen = seen[len(seen) - kept :]
        if run.damage and self._archive.packing:
            return self._archive.member_behind(run.damaged_from, self._window)
        return run.following


def _next_byte(place: Place) -> Place:
    """Return the place one byte later in the same member."""
    return Place(place.start, place.skip + 1)


def _cut(run: Run) -> Iterator["WarcRecord"]:
    from fastwarc.warc import ArchiveIterator  # imported late: most commands read no archive

    return iter(
        ArchiveIterator(
            run,
            parse_http=False,
            max_header_len=_LONGEST_HEAD,
            stream_detect=False,
        )
    )


def _head(record: "WarcRecord", run: Run, kinds: Set[str]) -> RecordHead:
    headers: dict[str, str] = {}
    for name, value in record.headers.to_tuples():
        headers.setdefault(name.lower(), value)
    kind = headers.get("warc-type", "").lower()
    beginning = b""
    if kind in kinds:
        while len(beginning) < _LONGEST_HEAD and (part := record.reader.read(_LONGEST_HEAD - len(beginning))):
            beginning += part
    return RecordHead(run.place_of(record.stream_pos), kind, headers, beginning)


def _length(record: "WarcRecord") -> int | None:
    """Return the length of a record's content, or None if its head does not give a valid one."""
    values = record.headers.get_multiple("Content-Length")
    value = values[0].strip() if len(values) == 1 else ""
    if not (value.isascii() and value.isdecimal() and len(value) <= _LONGEST_LENGTH):
        return None
    return int(value) if int(value) == record.content_length else None
