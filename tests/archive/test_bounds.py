"""Archives that hold too much, or say so."""

import gzip
import io
import struct
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import brotli
import pytest
import zstandard

from domsieve.archive import _wacz as wacz
from domsieve.archive._decompression import ArchiveLimits
from domsieve.archive.responses import Answers
from domsieve.errors import TargetError
from domsieve.snapshot.store import PageStore
from domsieve.tasks.pages import readable
from domsieve.tasks.targets import Fetched, find_targets
from tests.archive.made import answer, noise, numbers, packed, page_record, read, record, url_of, written
from tests.archive.test_reading import zipped

SMALL = ArchiveLimits(page_bytes=50_000, free_bytes=100_000, expansion_ratio=20)
BOMB = record(answer(bytes(3_000_000)), url=url_of(9))


def test_a_bomb_is_skipped_and_the_others_are_read(tmp_path: Path) -> None:
    data = packed([page_record(1), BOMB, page_record(2)])
    pages, (only,) = read(written(tmp_path, data, "a.warc.gz"), SMALL)
    assert numbers(pages) == [1, 2]
    assert "20 times" in only.message
    pages, damaged = read(written(tmp_path, data, "a.warc.gz"))
    assert (len(pages), damaged) == (3, [])


def test_a_bomb_in_a_single_member_ends_it(tmp_path: Path) -> None:
    data = gzip.compress(page_record(1) + page_record(2) + BOMB + page_record(3))
    pages, damaged = read(written(tmp_path, data, "a.warc.gz"), SMALL)
    assert (numbers(pages), len(damaged)) == ([1, 2], 1)


def test_a_bomb_of_blank_lines_is_skipped(tmp_path: Path) -> None:
    blanks = gzip.compress(b"\r\n" * 2_000_000)
    data = packed([page_record(1)]) + blanks + packed([page_record(2)])
    pages, damaged = read(written(tmp_path, data, "a.warc.gz"), SMALL)
    assert (numbers(pages), len(damaged)) == ([1, 2], 1)


def test_a_bomb_in_a_zip_file_ends_its_archive(tmp_path: Path) -> None:
    files = [("archive/a.warc", page_record(1) + BOMB + page_record(2)), ("archive/b.warc", page_record(3))]
    pages, damaged = read(written(tmp_path, zipped(files, zipfile.ZIP_DEFLATED), "a.wacz"), SMALL)
    assert (numbers(pages), len(damaged)) == ([1, 3], 1)


def test_a_bomb_in_a_body_is_cut(tmp_path: Path) -> None:
    bomb = answer(gzip.compress(b"<p>" + b"moss " * 1_000_000), "Content-Encoding: gzip")
    (only,), _ = read(written(tmp_path, record(bomb)), SMALL)
    body = only.load()
    assert (len(body.source), [cut.kind for cut in body.cuts]) == (50_000, ["bytes"])


TIGHT = ArchiveLimits(free_bytes=100_000, expansion_ratio=20, free_stretches=3)
CODINGS: dict[str, Callable[[bytes], bytes]] = {
    "br": brotli.compress,
    "deflate": zlib.compress,
    "gzip": gzip.compress,
    "zstd": zstandard.compress,
}


def coded_bombs(coding: str, number: int, *, layers: int = 1) -> list[bytes]:
    """Return records of bodies of 3 MB that are coded to a few hundred bytes or less."""
    body = bytes(3_000_000)
    for _ in range(layers):
        body = CODINGS[coding](body)
    coded = answer(body, f"Content-Encoding: {', '.join([coding] * layers)}")
    return [record(coded, url=url_of(one), number=one) for one in range(1, number + 1)]


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("coding", CODINGS)
def test_a_body_unpacks_to_no_more_than_its_record_may(tmp_path: Path, coding: str, layers: int) -> None:
    for data in (packed(coded_bombs(coding, 1, layers=layers)), coded_bombs(coding, 1, layers=layers)[0]):
        path = written(tmp_path, data, "a.warc.gz" if data.startswith(b"\x1f") else "a.warc")
        (only,), _ = read(path, TIGHT)
        body = only.load()
        assert 100_000 < len(body.source) <= TIGHT.stretch_bytes(len(data))
        assert [cut.kind for cut in body.cuts] == ["bytes"]


@pytest.mark.parametrize("coding", CODINGS)
def test_all_bodies_unpack_to_no_more_than_their_archive_may(tmp_path: Path, coding: str) -> None:
    data = packed([*coded_bombs(coding, 20), page_record(21)])
    pages, damaged = read(written(tmp_path, data, "a.warc.gz"), TIGHT)
    sizes = [len(page.source) for page in pages]
    assert sum(sizes[:20]) <= TIGHT.unpacked_bytes(len(data))
    assert sizes[0] > 100_000
    assert [len(page.source) for page in pages] == sizes  # also when read again
    assert (numbers(pages[20:]), damaged) == ([21], [])


@pytest.mark.parametrize("coding", CODINGS)
def test_replayed_bodies_have_the_same_limits(tmp_path: Path, coding: str) -> None:
    data = packed(coded_bombs(coding, 20))
    answers = Answers(written(tmp_path, data, "a.warc.gz"), TIGHT)
    turns = answers.turns("")
    bodies = [turns.next("GET", url_of(number), b"", "") for number in range(1, 21)]
    sizes = [len(body.body) for body in bodies if body]
    assert sizes[0] > 100_000
    assert sum(sizes) <= TIGHT.unpacked_bytes(len(data))


def test_a_large_page_is_cut(tmp_path: Path) -> None:
    large = [
        record(answer(b"<p>" + noise(1, 60_000))),
        record(noise(2, 60_000), kind="resource", form="text/html"),
    ]
    for one in large:
        pages, damaged = read(written(tmp_path, one + page_record(2)), SMALL)
        body = pages[0].load()
        assert (len(body.source), [cut.kind for cut in body.cuts]) == (50_000, ["bytes"])
        assert (numbers(pages[1:]), damaged) == ([2], [])


def test_a_page_that_was_truncated_says_so(tmp_path: Path) -> None:
    for why, kind in (
        ("length", "bytes"),
        ("time", "time"),
        ("disconnect", "document"),
        ("\u202e", "document"),
    ):
        content = answer(b"<p>words", "Content-Length: 900")
        (only,), _ = read(written(tmp_path, record(content, f"WARC-Truncated: {why}")))
        (cut,) = only.load().cuts
        assert cut.kind == kind
        assert cut.detail.isprintable()
    (only,), _ = read(written(tmp_path, record(answer(b"<p>words"), "WARC-Segment-Number: 1")))
    assert [cut.kind for cut in only.load().cuts] == ["document"]


def test_an_archive_has_so_many_records(tmp_path: Path) -> None:
    data = b"".join(page_record(number) for number in range(1, 9))
    pages, (only,) = read(written(tmp_path, data), ArchiveLimits(records=5))
    assert numbers(pages) == [1, 2, 3, 4, 5]
    assert "more than 5 records" in only.message
    assert read(written(tmp_path, data), ArchiveLimits(records=8))[1] == []


def test_pages_of_an_archive_are_not_held(tmp_path: Path) -> None:
    number, size = 200, 40_000
    path = tmp_path / "a.warc.gz"
    with path.open("wb") as file:
        for one in range(number):
            source = b"<p>" + noise(one, size // 2).hex().encode()
            file.write(packed([record(answer(source), url=url_of(one), number=one)]))
    with PageStore(tmp_path / "cache") as store:
        readable(Fetched(find_targets([str(path)], store)), store, raw=False)  # loads what is needed
        tracemalloc.start()
        try:
            pages = readable(Fetched(find_targets([str(path)], store)), store, raw=False)
            for page in pages:
                page.load()
            held, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert len(pages) == number
    assert held < 3_000 * number
    assert most - held < 50 * size


def test_names_in_zip_files_lead_nowhere(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    names = [
        "../../outside.warc",
        "/etc/outside.warc",
        "C:\\outside.warc",
        "a\x1b[2J.warc",
        "archive/../../x.warc",
    ]
    data = zipped([(name, page_record(number)) for number, name in enumerate(names, 1)])
    pages, damaged = read(written(folder, data, "a.wacz"))
    assert (sorted(numbers(pages)), damaged) == ([1, 2, 3, 4, 5], [])
    assert [path.name for path in tmp_path.rglob("*")] == ["in", "a.wacz"]


def test_entries_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    data = bytearray(
        zipped([("a.warc", page_record(1)), ("b.warc", page_record(2)), ("c.warc", page_record(3))])
    )
    directory = data.find(b"PK\x01\x02")
    second = data.find(b"PK\x01\x02", directory + 1)
    data[directory + 8] |= 1  # encrypted
    data[second + 10] = 12  # bzip2
    pages, damaged = read(written(tmp_path, bytes(data), "a.wacz"))
    assert numbers(pages) == [3]
    assert [one.label.rpartition("/")[2] for one in damaged] == ["a.wacz, a.warc", "a.wacz, b.warc"]
    data[directory + 42 : directory + 46] = struct.pack("<I", 5)  # where it lies
    assert len(read(written(tmp_path, bytes(data), "a.wacz"))[1]) == 2


def test_entries_in_each_other_are_refused(tmp_path: Path) -> None:
    data = bytearray(zipped([(f"{number}.warc", page_record(1)) for number in range(5)]))
    place = data.find(b"PK\x01\x02")
    while place >= 0:  # each says that it is nearly all of the file
        data[place + 20 : place + 28] = struct.pack("<II", len(data) - 200, len(data) - 200)
        data[place + 42 : place + 46] = bytes(4)
        place = data.find(b"PK\x01\x02", place + 1)
    pages, (only,) = read(written(tmp_path, bytes(data), "a.wacz"))
    assert pages == []
    assert "overlap" in only.message


def test_a_list_of_files_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as file:
        for number in range(200):
            file.writestr(f"x/{number}", b"")
        file.writestr("a.warc", page_record(1))
    path = written(tmp_path, held.getvalue(), "a.wacz")
    assert numbers(read(path)[0]) == [1]
    monkeypatch.setattr(wacz, "_LARGEST_DIRECTORY", 5_000)
    pages, (only,) = read(path)
    assert (pages, "lists more files" in only.message) == ([], True)


def test_damaged_zip_files_do_no_harm(tmp_path: Path) -> None:
    data = zipped([("archive/a.warc", page_record(1))], zipfile.ZIP_DEFLATED)
    for place in range(0, len(data), 2):
        changed = data[:place] + bytes([data[place] ^ 255]) + data[place + 1 :]
        for one in read(written(tmp_path, changed, "a.wacz"))[0]:
            assert one.url


def test_an_archive_that_is_not_there_is_named(tmp_path: Path) -> None:
    for name in ("no.warc", "no.wacz"):
        with pytest.raises(TargetError, match=name):
            read(tmp_path / name)
