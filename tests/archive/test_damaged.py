"""Damaged archives: each whole record is read, the rest is told."""

import gzip
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from domsieve.archive._decompression import ArchiveLimits
from domsieve.errors import ContentError
from tests.archive.made import answer, numbers, packed, page_record, read, record, url_of, written
from tests.command import page

RECORDS = [page_record(number) for number in range(1, 7)]
MEMBERS = [gzip.compress(one, mtime=0) for one in RECORDS]
THIRD = len(RECORDS[0] + RECORDS[1])
THIRD_MEMBER = len(MEMBERS[0] + MEMBERS[1])


def with_third(records: list[bytes], third: bytes) -> bytes:
    return b"".join([*records[:2], third, *records[3:]])


def flipped(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 255]) + data[place + 1 :]


PLAIN = {
    "a length that is too long": page_record(3, length=700),
    "a length beyond the next records": page_record(3, length=1_500),
    "a length beyond the end": page_record(3, length=10**12),
    "a length beyond all numbers": page_record(3, length=10**30),
    "a length that is too short": page_record(3, length=100),
    "no length": page_record(3, length=""),
    "a length below zero": page_record(3, length=-1),
    "two lengths": page_record(3, "Content-Length: 5"),
    "no sign": RECORDS[2].replace(b"WARC/1.0", b"WXRC/1.0"),
    "an unknown version": RECORDS[2].replace(b"WARC/1.0", b"WARC/7.0"),
    "a head without end": RECORDS[2][:60] + b"x" * 100_000,
    "a record that breaks off": RECORDS[2][:300],
    "a record that breaks off in a line": RECORDS[2][:-9],
    "words in between": b"words between records\r\n\r\n",
    "zeros in between": bytes(5_000),
    "no answer": RECORDS[2].replace(b"HTTP/1.1", b"HTXP/1.1"),
}


@pytest.mark.parametrize("case", PLAIN)
def test_the_others_are_read(case: str, tmp_path: Path) -> None:
    pages, damaged = read(written(tmp_path, with_third(RECORDS, PLAIN[case])))
    assert numbers(pages) == [1, 2, 4, 5, 6]
    assert [one.label for one in damaged] == [f"{tmp_path}/crawl.warc, byte {THIRD:,}"]
    pages, damaged = read(written(tmp_path, with_third(MEMBERS, gzip.compress(PLAIN[case]))))
    assert numbers(pages) == [1, 2, 4, 5, 6]
    assert [one.label for one in damaged] == [f"{tmp_path}/crawl.warc, byte {THIRD_MEMBER:,}"]


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "flipped": lambda data: flipped(data, 60),
    "flipped in its head": lambda data: flipped(data, 1),
    "flipped in its checksum": lambda data: flipped(data, len(data) - 6),
    "flipped in its size": lambda data: flipped(data, len(data) - 1),
    "cut": lambda data: data[:-40],
    "cut at its front": lambda data: data[15:],
    "not packed": lambda _: RECORDS[2],
    "words": lambda _: b"words between members",
    "its head alone": lambda data: data[:10],
    "signs of members": lambda data: data[:10] * 50,
}


@pytest.mark.parametrize("case", PACKED)
def test_members_beside_a_damaged_one_are_read(case: str, tmp_path: Path) -> None:
    pages, damaged = read(written(tmp_path, with_third(MEMBERS, PACKED[case](MEMBERS[2]))))
    assert numbers(pages) == [1, 2, 4, 5, 6]
    assert [one.label for one in damaged] == [f"{tmp_path}/crawl.warc, byte {THIRD_MEMBER:,}"]


@pytest.mark.parametrize("place", [0, 1, 2, 3, 20])
def test_a_damaged_beginning_hides_nothing(place: int, tmp_path: Path) -> None:
    data = flipped(b"".join(MEMBERS), place)
    for name in ("a.warc.gz", "a.warc"):
        pages, damaged = read(written(tmp_path, data, name))
        assert (numbers(pages), len(damaged)) == ([2, 3, 4, 5, 6], 1)
    pages, damaged = read(written(tmp_path, flipped(b"".join(RECORDS), place)))
    assert 2 in numbers(pages[-5:])


def test_in_a_single_member_what_stands_before_the_damage_is_read(tmp_path: Path) -> None:
    data = gzip.compress(b"".join(RECORDS), 0, mtime=0)
    behind = len(RECORDS[0] + RECORDS[1] + RECORDS[2])
    pages, damaged = read(written(tmp_path, data[: behind + 100], "a.warc.gz"))
    assert (numbers(pages), len(damaged)) == ([1, 2, 3], 1)
    broken = data[: behind + 100] + b"\xff" * 40 + data[behind + 140 :]
    pages, damaged = read(written(tmp_path, broken, "a.warc.gz"))
    assert {1, 2, 3} <= {int(one.url.rpartition("/")[2]) for one in pages}
    assert damaged


def test_neighbouring_damages_are_told_once(tmp_path: Path) -> None:
    broken = [gzip.compress(page_record(number, length=9_999)) for number in range(9)]
    pages, damaged = read(written(tmp_path, b"".join([*MEMBERS[:2], *broken, *MEMBERS[2:]])))
    assert numbers(pages) == [1, 2, 3, 4, 5, 6]
    assert [one.label.rpartition(" ")[2] for one in damaged] == [f"{THIRD_MEMBER:,}"]


@pytest.mark.parametrize(
    "data",
    [b"", b"no archive", bytes(3_000), b"\x1f\x8b\x08", gzip.compress(b"x"), b"PK\x03\x04"],
    # Of data that holds the time every process would make another name.
    ids=["empty", "words", "zeros", "a head of gzip", "gzip", "a head of zip"],
)
@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz", "a.wacz"])
def test_what_is_no_archive_is_told(data: bytes, name: str, tmp_path: Path) -> None:
    pages, damaged = read(written(tmp_path, data, name))
    assert (pages, len(damaged)) == ([], 1)


def test_a_record_in_a_page_is_no_record(tmp_path: Path) -> None:
    body = b"<pre>\r\n\r\n" + page_record(9) + b"</pre>"
    data = RECORDS[0] + record(answer(body), url=url_of(2)) + RECORDS[2]
    pages, damaged = read(written(tmp_path, data))
    assert ([one.url for one in pages], damaged) == ([url_of(1), url_of(2), url_of(3)], [])


def mutated(chance: random.Random, parts: list[bytes]) -> tuple[bytes, set[int]]:
    """Return the parts with some bytes changed, and the numbers of those that were not touched."""
    data = b"".join(parts)
    ends = [sum(map(len, parts[: number + 1])) for number in range(len(parts))]
    start = chance.randrange(len(data))
    end = min(start + chance.choice((1, 3, 30, 250, 2_000)), len(data))
    kind = chance.choice(("flip", "noise", "zero", "cut", "delete", "insert", "repeat", "length"))
    if kind == "length" and (found := data.find(b"Content-Length: ", start)) >= 0:
        start, end = found + 16, found + 19
    new = {
        "flip": bytes(byte ^ 255 for byte in data[start:end]),
        "noise": chance.randbytes(end - start),
        "zero": bytes(end - start),
        "insert": chance.randbytes(end - start) + data[start:end],
        "repeat": data[start:end] * 2,
        "length": chance.choice((b"1", b"99", b"999", b"99999", b"-5", b"")),
    }.get(kind, b"")
    rest = b"" if kind == "cut" else data[end:]
    inside = start if kind in {"insert", "repeat"} else end
    whole = {
        number
        for number, (last, part) in enumerate(zip(ends, parts, strict=True))
        if last <= start or (last - len(part) >= inside and kind != "cut")
    }
    return data[:start] + new + rest, whole


def test_500_damaged_archives_lose_nothing_that_is_whole(tmp_path: Path) -> None:
    chance = random.Random(17)
    damages = 0
    for number in range(500):
        form = number % 3
        parts = [
            [*RECORDS],
            [gzip.compress(one, chance.choice((0, 1, 9)), mtime=0) for one in RECORDS],
            [gzip.compress(b"".join(RECORDS), chance.choice((0, 1, 9)), mtime=0)],
        ][form]
        data, whole = mutated(chance, parts)
        pages, damaged = read(written(tmp_path, data, "a.warc.gz" if form else "a.warc"))
        damages += len(damaged)
        sources = set()
        for one in pages:
            try:
                sources.add(one.source)
            except ContentError:  # the damage is in the answer
                continue
        if form < 2:
            assert {page(whole_one + 1).encode() for whole_one in whole} <= sources, number
    assert damages > 300


def test_searching_for_whole_records_has_an_end(tmp_path: Path) -> None:
    # Each record claims all that stands behind it, so that all of it is read for each.
    data = b"".join(page_record(number, length=10**9) for number in range(2_000))
    pages, damaged = read(written(tmp_path, data), ArchiveLimits(readings=3, free_bytes=1))
    assert (pages, len(damaged)) == ([], 1)
    pages, (only,) = read(written(tmp_path, RECORDS[0] + data), ArchiveLimits(readings=3, free_bytes=1))
    assert numbers(pages) == [1]
    assert only.label.endswith(f"byte {len(RECORDS[0]):,}")
    assert only.message.endswith("the rest is left out.")


def test_archives_without_gzip_are_read_whatever_they_hold(tmp_path: Path) -> None:
    body = b"<p>" + MEMBERS[0] * 3
    pages, damaged = read(written(tmp_path, packed([record(answer(body))]) + MEMBERS[1]))
    assert ([one.source for one in pages], damaged) == ([body, page(2).encode()], [])


def test_an_address_that_ends_like_a_bracket_stays_whole(tmp_path: Path) -> None:
    for url, read_as in (
        ("http://moss.example/>", "http://moss.example/>"),
        ("<http://a.example/>", "http://a.example/"),
    ):
        (one,), _ = read(written(tmp_path, record(answer(b"<p>Words."), url=url)))
        assert one.url == read_as


@pytest.mark.parametrize("date", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_days_that_have_no_utc_are_no_dates(date: str, tmp_path: Path) -> None:
    data = RECORDS[0].replace(b"2026-11-22T10:20:30Z", date.encode())
    (one,), damaged = read(written(tmp_path, data))
    assert (one.captured_at, one.source, damaged) == ("", page(1).encode(), [])
