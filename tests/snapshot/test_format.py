"""The file format: nothing is lost, equal pages give equal bytes, damage is noticed."""

import os
import subprocess
import sys

import numpy as np
import pytest
import zstandard
from hypothesis import given, settings

from domsieve.errors import DamagedFileError, FormatVersionError, StorageError
from domsieve.snapshot.format import Base, base_of, decode, encode, payload_of
from domsieve.snapshot.page import Snapshot
from tests.snapshot.pages import changed, made_up, snapshots

PAGE = made_up(3, 300)
DATA = encode(PAGE)
BASE = Base(payload_of(made_up(4, 300)))


def same(a: Snapshot, b: Snapshot) -> bool:
    return a.digest() == b.digest() and a.provenance == b.provenance


@settings(max_examples=150, deadline=None)
@given(snapshots)
def test_a_page_comes_back_as_it_was(page: Snapshot) -> None:
    assert same(decode(encode(page)), page)
    assert same(decode(encode(page, base=BASE), base=BASE), page)


@settings(max_examples=30, deadline=None)
@given(snapshots)
def test_reading_and_writing_again_gives_the_same_bytes(page: Snapshot) -> None:
    data = encode(page)
    assert encode(decode(data)) == data
    against = encode(page, base=BASE)
    assert encode(decode(against, base=BASE), base=BASE) == against


@pytest.mark.parametrize(
    "value", [-0.0, 1e30, -1e30, 1e-40, 33_554_433 / 64, 0.1, 2_147_483_648 / 64, -33_554_432.0]
)
def test_boxes_are_kept_to_the_bit(value: float) -> None:
    box = PAGE.box.copy()
    box[np.flatnonzero(PAGE.style >= 0)[5], 1] = value
    page = changed(PAGE, box=box)
    assert decode(encode(page)).box.tobytes() == page.box.tobytes()


def test_columns_of_a_page_that_was_read_cannot_be_written_to() -> None:
    page = decode(DATA)
    for column in (page.parent, page.box, page.strings.blob, page.styles):
        assert not column.flags.writeable


def test_a_large_page_comes_back_as_it_was() -> None:
    page = made_up(5, 20_000)
    assert same(decode(encode(page)), page)


def test_every_flipped_bit_is_noticed() -> None:
    for place in range(len(DATA)):
        damaged = bytearray(DATA)
        damaged[place] ^= 1 << place % 8
        outcome = _read(bytes(damaged))
        # Some bits of the frame's header mean nothing.
        assert "a.dsnap" in outcome if isinstance(outcome, str) else same(outcome, PAGE), place


def _read(data: bytes) -> Snapshot | str:
    try:
        return decode(data, source="a.dsnap")
    except StorageError as error:
        return str(error)


def test_every_truncation_is_noticed() -> None:
    for size in range(0, len(DATA), 7):
        with pytest.raises(DamagedFileError, match=r"a\.dsnap"):
            decode(DATA[:size], source="a.dsnap")
    with pytest.raises(DamagedFileError):
        decode(DATA + b"more")


def test_another_file_or_version_is_refused_as_such() -> None:
    with pytest.raises(DamagedFileError, match="not the file of a page"):
        decode(b"<!doctype html><title>This is something else</title>")
    with pytest.raises(FormatVersionError, match="version 2"):
        decode(DATA[:6] + b"\x02" + DATA[7:])


def test_a_payload_that_makes_no_sense_is_damage() -> None:
    payload = payload_of(PAGE)
    for made in (b"", b"\xff\xff\xff\xff", payload[:-1], payload[:4] + b"\xc1" + payload[5:], payload + b"x"):
        frame = zstandard.ZstdCompressor(write_checksum=True).compress(made)
        with pytest.raises(DamagedFileError):
            decode(DATA[:23] + frame)


def test_a_header_of_lists_without_end_is_damage() -> None:
    payload = payload_of(PAGE)
    size = int.from_bytes(payload[:4], "little")
    deep = b"\x91" * 100_000 + b"\x00"
    for header in (deep, b"\x9f" + payload[5 : 4 + size] + deep):
        made = len(header).to_bytes(4, "little") + header + payload[4 + size :]
        with pytest.raises(DamagedFileError):
            decode(DATA[:23] + zstandard.ZstdCompressor(write_checksum=True).compress(made))


def test_a_page_written_against_a_base_needs_that_base() -> None:
    page = made_up(4, 301)
    data = encode(page, base=BASE)
    assert base_of(data) == BASE.digest
    assert base_of(DATA) == ""
    assert len(data) < len(encode(page)) / 2
    for wrong in (None, Base(payload_of(PAGE))):
        with pytest.raises(DamagedFileError, match=BASE.digest):
            decode(data, base=wrong)
    assert same(decode(DATA, base=BASE), PAGE)


def test_processes_with_different_hash_seeds_write_the_same_bytes() -> None:
    program = (
        "import hashlib; from domsieve.snapshot.format import encode; from tests.snapshot.pages import made_up; "
        "print(hashlib.sha256(encode(made_up(3, 300))).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1
