"""Archives packed by Zstandard: frames of records, dictionaries, damage, bombs, and long frames."""

import pickle
import random
import struct
from pathlib import Path

import pytest
import zstandard

from domsieve.archive import _decompression as decompression
from domsieve.archive._decompression import ArchiveLimits
from tests.archive.made import answer, noise, numbers, page_record, read, record, url_of, written
from tests.archive.test_bounds import BOMB, SMALL
from tests.archive.test_damaged import flipped, mutated
from tests.archive.test_reading import zipped
from tests.command import page, result_files, run

NAME = "a.warc.zst"
RECORDS = [page_record(number) for number in range(1, 7)]
_TRAINED = zstandard.train_dictionary(2_000, [page_record(number) for number in range(200)])


def frames(records: list[bytes], dictionary: zstandard.ZstdCompressionDict | None = None) -> list[bytes]:
    """Return records with a frame for each."""
    packer = zstandard.ZstdCompressor(dict_data=dictionary, write_checksum=True)
    return [packer.compress(one) for one in records]


def skipped(data: bytes, variant: int = 0) -> bytes:
    """Return a frame that holds no data of the archive."""
    return struct.pack("<II", 0x184D2A50 + variant, len(data)) + data


def dictionary_frame(data: bytes) -> bytes:
    return skipped(data, 13)


FRAMES = frames(RECORDS)
TRAINED = _TRAINED.as_bytes()
WITH_DICTIONARY = frames(RECORDS, _TRAINED)
OF_WORDS = RECORDS[0] * 2
ALL = [1, 2, 3, 4, 5, 6]

FORMS = {
    "a frame for each record": b"".join(FRAMES),
    "a frame without size and checksum": zstandard.ZstdCompressor(write_content_size=False).compress(
        b"".join(RECORDS)
    ),
    "one frame for all": zstandard.compress(b"".join(RECORDS)),
    "several frames for a record": b"".join(
        zstandard.compress(one[start : start + 150]) for one in RECORDS for start in range(0, len(one), 150)
    ),
    "empty frames": b"".join(one + zstandard.compress(b"") for one in FRAMES),
    "frames without data": skipped(b"") + b"".join(one + skipped(b"about it", 4) * 2 for one in FRAMES),
    "a dictionary": dictionary_frame(TRAINED) + b"".join(WITH_DICTIONARY),
    "a packed dictionary": dictionary_frame(zstandard.compress(TRAINED)) + b"".join(WITH_DICTIONARY),
    "a dictionary of words": dictionary_frame(OF_WORDS)
    + b"".join(frames(RECORDS, zstandard.ZstdCompressionDict(OF_WORDS))),
    "a dictionary that frames do without": dictionary_frame(TRAINED) + b"".join(FRAMES),
}


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_are_read(form: str, tmp_path: Path) -> None:
    path = written(tmp_path, FORMS[form], NAME)
    pages, damaged = read(path)
    assert (numbers(pages), damaged) == (ALL, [])
    assert numbers(pages[::-1]) == ALL[::-1]
    assert numbers([pickle.loads(pickle.dumps(one)) for one in pages]) == ALL
    packed = written(tmp_path, zipped([(f"archive/{NAME}", FORMS[form])]), "a.wacz")
    assert numbers(read(packed)[0]) == ALL


def test_the_command_line_knows_it_by_its_name(tmp_path: Path) -> None:
    written(tmp_path, FORMS["a dictionary"], NAME)
    done = run("clean", tmp_path, "--output-dir", tmp_path / "out", cache=tmp_path / "cache")
    assert (done.exit_code, len(result_files(tmp_path / "out"))) == (0, 6)


DAMAGES = {
    "flipped": flipped(FRAMES[2], 60),
    "flipped in its sign": flipped(FRAMES[2], 1),
    "flipped in its head": flipped(FRAMES[2], 4),
    "flipped in its checksum": flipped(FRAMES[2], len(FRAMES[2]) - 1),
    "cut": FRAMES[2][:-40],
    "cut in its head": FRAMES[2][:5],
    "not packed": RECORDS[2],
    "words": b"words between frames",
    "signs of frames": FRAMES[2][:4] * 50,
    "a dictionary that nobody has": WITH_DICTIONARY[2],
    "a wrong length": zstandard.compress(page_record(3, length=9_999)),
}


@pytest.mark.parametrize("case", DAMAGES)
def test_frames_beside_a_damaged_one_are_read(case: str, tmp_path: Path) -> None:
    pages, (only,) = read(written(tmp_path, b"".join([*FRAMES[:2], DAMAGES[case], *FRAMES[3:]]), NAME))
    assert numbers(pages) == [1, 2, 4, 5, 6]
    assert only.label.endswith(f"{NAME}, byte {len(FRAMES[0] + FRAMES[1]):,}")


def test_a_damaged_beginning_hides_nothing(tmp_path: Path) -> None:
    for place in (0, 1, 3, 5, 20):
        pages, damaged = read(written(tmp_path, flipped(b"".join(FRAMES), place), NAME))
        assert (numbers(pages), len(damaged)) == ([2, 3, 4, 5, 6], 1)


def test_without_its_dictionary_an_archive_is_told_to_need_it(tmp_path: Path) -> None:
    pages, (only,) = read(written(tmp_path, b"".join(WITH_DICTIONARY), NAME))
    assert pages == []
    assert only.message == (
        "Skipped: the compressed stretch needs a dictionary that the archive does not have."
    )


@pytest.mark.parametrize(
    ("dictionary", "said"),
    [
        (dictionary_frame(TRAINED[:20]), "damaged"),
        (dictionary_frame(zstandard.compress(TRAINED)[:-9]), "damaged"),
        (dictionary_frame(zstandard.compress(bytes(20_000_000))), "too large"),
        (struct.pack("<II", 0x184D2A5D, 4_000_000_000), "too large"),
        (struct.pack("<II", 0x184D2A5D, 9_000_000), "breaks off"),
        (skipped(b"") * 2_000, "has no data"),
    ],
)
def test_what_is_wrong_with_a_dictionary_is_told(dictionary: bytes, said: str, tmp_path: Path) -> None:
    pages, (only,) = read(written(tmp_path, dictionary + b"".join(WITH_DICTIONARY), NAME))
    assert pages == []
    assert said in only.message


@pytest.mark.parametrize(
    "data", [decompression.FRAME_SIGN, b"\x5d\x2a\x4d\x18", zstandard.compress(b"x"), skipped(b"")]
)
def test_what_is_no_archive_is_told(data: bytes, tmp_path: Path) -> None:
    pages, damaged = read(written(tmp_path, data, NAME))
    assert (pages, len(damaged)) == ([], 1)


def test_300_damaged_archives_lose_nothing_that_is_whole(tmp_path: Path) -> None:
    chance = random.Random(18)
    damages = 0
    for number in range(300):
        data, whole = mutated(chance, [*FRAMES])
        pages, damaged = read(written(tmp_path, data, NAME))
        damages += len(damaged)
        sources = {one.source for one in pages}
        assert {page(whole_one + 1).encode() for whole_one in whole} <= sources, number
    assert damages > 200


class TestBombs:
    """Frames that unpack to too much."""

    def test_one_is_skipped_and_the_others_are_read(self, tmp_path: Path) -> None:
        data = b"".join(frames([page_record(1), BOMB, page_record(2)]))
        pages, (only,) = read(written(tmp_path, data, NAME), SMALL)
        assert numbers(pages) == [1, 2]
        assert "20 times" in only.message
        pages, damaged = read(written(tmp_path, data, NAME))
        assert (len(pages), damaged) == (3, [])

    def test_a_block_that_repeats_a_byte_is_unpacked_alone(self, tmp_path: Path) -> None:
        # Four bytes are 128 kB each: 800 kB would be 26 GB.
        block = (decompression._LARGEST_BLOCK << 3 | 1 << 1).to_bytes(3, "little") + b"\n"
        bomb = decompression.FRAME_SIGN + b"\x00\x58" + block * 200_000
        pages, (only,) = read(written(tmp_path, FRAMES[0] + bomb + FRAMES[1], NAME), SMALL)
        assert numbers(pages) == [1, 2]
        assert "20 times" in only.message

    def test_blocks_larger_than_any_are_damage(self, tmp_path: Path) -> None:
        block = (decompression._LARGEST_BLOCK + 1 << 3 | 1 << 1).to_bytes(3, "little") + b"\n"
        bomb = decompression.FRAME_SIGN + b"\x00\x78" + block
        pages, (only,) = read(written(tmp_path, bomb + b"".join(FRAMES), NAME))
        assert numbers(pages) == ALL
        assert "is damaged" in only.message

    def test_a_large_page_is_cut(self, tmp_path: Path) -> None:
        large = zstandard.compress(record(answer(b"<p>" + noise(1, 60_000)), url=url_of(9)))
        pages, damaged = read(written(tmp_path, large + FRAMES[1], NAME), SMALL)
        body = pages[0].load()
        assert (len(body.source), [cut.kind for cut in body.cuts]) == (50_000, ["bytes"])
        assert (numbers(pages[1:]), damaged) == ([2], [])


def test_pages_of_a_long_frame_are_read_in_one_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decompression, "_SPARED", 1_000)
    sources = [b"<p>" + noise(number, 9_000).hex().encode() for number in range(60)]
    records = [record(answer(one), url=url_of(number), number=number) for number, one in enumerate(sources)]
    whole = b"".join(records)
    pages, _ = read(written(tmp_path, zstandard.compress(whole), NAME), ArchiveLimits())
    unpacked = 0
    feed = decompression.ZstdFrame._feed

    def counted(self: decompression.ZstdFrame, count: int) -> bytes:
        nonlocal unpacked
        part = feed(self, count)
        unpacked += len(part)
        return part

    monkeypatch.setattr(decompression.ZstdFrame, "_feed", counted)
    assert [one.source for one in pages] == sources
    assert unpacked < 2 * len(whole)
    assert pages[3].source == sources[3]  # what stands before is read again
