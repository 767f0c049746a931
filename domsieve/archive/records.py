"""The records of an archive: every whole one, and the stretches that hold none.

FastWARC cuts a run into records and reads their heads. What it cannot is here: it ends at the first damage, so the
search for the next whole record is ours, and so is the decision whether the record before it was whole.
"""

import re
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from domsieve.archive.decompression import InflateError
from domsieve.archive.digests import check_of
from domsieve.archive.segments import Archive, Place, Run
from domsieve.archive.stored_page import ReadOverError
from domsieve.budget import check

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
"""Records that may be pages."""


class RecordHead(NamedTuple):
    """A record without all of its content.

    Parameters
    ----------
    place : where it begins.
    kind : ``"response"``, ``"revisit"``, ...
    headers : by their names in lower case, the first of each.
    beginning : of the content, at most 64 kB.
    differs_from : the digest that its bytes do not match, such as SHA-1; empty where they match, or are not compared.
    """

    place: Place
    kind: str
    headers: dict[str, str]
    beginning: bytes
    differs_from: str = ""


@dataclass(frozen=True, slots=True)
class Damage:
    """A stretch of an archive that holds no whole record.

    Parameters
    ----------
    place : where it begins.
    reason : what is wrong, as a part of a sentence.
    """

    place: Place
    reason: str


class BrokenRecordError(Exception):
    """No whole record stands where one was; the text ends a sentence."""


def no_record(_: RecordHead) -> bool:
    """Return False."""
    return False


def records(
    archive: Archive,
    kinds: Set[str] = READ_KINDS,
    *,
    is_compared: Callable[[RecordHead], bool] = no_record,
) -> Iterator[RecordHead | Damage]:
    """Yield all whole records of an archive in their order, and one `Damage` for each stretch between them.

    Parameters
    ----------
    kinds : of records whose beginnings are read.
    is_compared : says whether a record of these kinds is compared with its digest, for which all of it is read.
    """
    return iter(_Reading(archive, kinds, is_compared))


def content_of(archive: Archive, place: Place) -> bytes:
    """Return the content of the record at a place, the beginning of what is longer than a page may be.

    Raises
    ------
    BrokenRecordError : there is none any more.
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
            return b"".join(held)
    except OSError:
        pass
    finally:
        run.release()
    raise BrokenRecordError(run.damage or "holds another record than before")


class _Reading:
    """An archive that is read from its beginning to its end."""

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
                place, "there is too much to read in search of whole records; the rest is left out"
            )
        except InflateError as error:  # of the source that it lies in
            self._note(self._next or Place(0), f"the stretch it lies in {error}")
        if self._bad:
            yield self._bad

    def _run(self, place: Place) -> Iterator[RecordHead | Damage]:
        """Yield the records of a run, and decide where the next begins."""
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
                            f"it holds more than {self._archive.limits.records:,} records; the rest is left out",
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
            # Alone in its member, it is what is damaged; else it may well stand before that.
            if last and (
                last[0].place.start != run.damaged_from or (last[0].place.skip and self._end(*last))
            ):
                yield from self._whole(last[0])
                last = None
            start = last[0].place if last else broken[0] if broken else Place(run.damaged_from)
            self._note(start, f"the compressed stretch {run.damage}")
            self._next = self._archive.member_behind(run.damaged_from, self._window)
        elif broken and last:
            # What stands behind it is no record. Either that is damaged, or its own length is a lie.
            end = self._end(*last)
            if end:
                yield from self._whole(last[0])
            self._note(end or last[0].place, _NO_RECORD if end else "the length of a record is wrong")
            self._next = self._search(end or _behind(last[0].place))
        elif broken:
            self._note(*broken)
            self._next = self._search(_behind(broken[0]))
        else:
            if last:
                yield from self._whole(last[0])
            self._next = run.following

    def _rest(self, record: "WarcRecord", head: RecordHead) -> tuple[RecordHead, int]:
        """Read what is left of a record; return its head, with what was found out, and how much that was."""
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
        """Yield a record, and before it the damage that it ends."""
        if self._bad:
            yield self._bad
            self._bad = None
        self._records += 1
        yield head

    def _note(self, place: Place, reason: str) -> None:
        self._bad = self._bad or Damage(place, reason)

    def _end(self, head: RecordHead, length: int) -> Place | None:
        """Return where a record ends, None unless what ends a record stands there."""
        run = self._archive.run(head.place, self._window)
        seen = b""
        while not (blank := _HEAD_END.search(seen)):
            part = run.read(_AT_ONCE)
            if not part or len(seen) > _LONGEST_HEAD:
                return None
            seen += part
        end = blank.end() + length
        behind, passed = seen[end:], len(seen)
        # A byte more, so that the run has come to what stands behind it, be it another member.
        while len(behind) <= len(_RECORD_END) and (part := run.read(_AT_ONCE)):
            check()
            behind += part[max(end - passed, 0) :]
            passed += len(part)
        return run.place_of(end + len(_RECORD_END)) if behind.startswith(_RECORD_END) else None

    def _search(self, place: Place) -> Place | None:
        """Return where the next record seems to begin, from a place on; None where there is no other."""
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


def _behind(place: Place) -> Place:
    """Return the place a byte further on, in the same member."""
    return Place(place.start, place.skip + 1)


def _cut(run: Run) -> Iterator["WarcRecord"]:
    from fastwarc.warc import ArchiveIterator  # needed by few

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
    """Return the length of a record's content, None where its head does not give one."""
    said = record.headers.get_multiple("Content-Length")
    value = said[0].strip() if len(said) == 1 else ""
    if not (value.isascii() and value.isdecimal() and len(value) <= _LONGEST_LENGTH):
        return None
    return int(value) if int(value) == record.content_length else None
