"""Files of pages that are compressed with gzip, Zstandard or Brotli, read as far as a limit of bytes goes.

What breaks off or is damaged is read as far as it goes. Imports what a cut is.
"""

import zlib
from collections.abc import Iterator
from pathlib import Path

import zstandard

from domsieve.budget import check
from domsieve.snapshot import Cut

PACKED_SUFFIXES = (".gz", ".zst", ".br")
"""Endings of compressed files."""

MOST_BYTES = 50_000_000
"""What a file may hold when it is unpacked; no page that a browser shows is as large."""

_GZIP, _ZSTD = b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"
_AT_ONCE = 65_536
_WIDEST_WINDOW = 1 << 27


def unpacked(source: bytes, path: Path) -> tuple[bytes, list[Cut]]:
    """Return what a file holds, unpacked if it is compressed, and what was cut from it.

    Gzip and Zstandard are known by their first bytes, Brotli, which has none of its own, by the file's ending.
    """
    if source.startswith(_GZIP):
        return _whole("gzip", _gunzipped(source))
    if source.startswith(_ZSTD):
        return _whole("Zstandard", _of_zstd(source))
    if path.suffix.lower() == ".br":
        return _whole("Brotli", _of_brotli(source))
    return source, []


def _whole(name: str, parts: Iterator[bytes]) -> tuple[bytes, list[Cut]]:
    held: list[bytes] = []
    size = 0
    try:
        for part in parts:
            check()
            held.append(part)
            size += len(part)
            if size > MOST_BYTES:
                cut = Cut("bytes", f"the {name} file holds more than {MOST_BYTES:,} bytes")
                return b"".join(held)[:MOST_BYTES], [cut]
    except _BrokenError as error:
        return b"".join(held), [Cut("document", f"the {name} file {error}")]
    return b"".join(held), []


class _BrokenError(Exception):
    """A compressed file that is damaged or breaks off."""


def _gunzipped(source: bytes) -> Iterator[bytes]:
    reader = zlib.decompressobj(zlib.MAX_WBITS | 16)
    is_begun = False
    for start in range(0, len(source), _AT_ONCE):
        rest = source[start : start + _AT_ONCE]
        while rest:
            if not is_begun:  # a file may have several members, with zeros that fill a block behind them
                rest = rest.lstrip(b"\0")
                is_begun = bool(rest)
                continue
            try:
                part = reader.decompress(rest, _AT_ONCE)
            except zlib.error as error:
                raise _BrokenError("is damaged") from error
            rest = reader.unused_data or reader.unconsumed_tail
            if reader.eof:
                reader, is_begun = zlib.decompressobj(zlib.MAX_WBITS | 16), False
            yield part
    if is_begun:
        raise _BrokenError("breaks off")


def _of_zstd(source: bytes) -> Iterator[bytes]:
    reader = zstandard.ZstdDecompressor(max_window_size=_WIDEST_WINDOW).stream_reader(
        source, read_across_frames=True
    )
    size = 0
    try:
        promised = zstandard.frame_content_size(source)  # -1 where the frame does not say
        while part := reader.read(_AT_ONCE):
            size += len(part)
            yield part
    except zstandard.ZstdError as error:
        raise _BrokenError("is damaged") from error
    if size < max(promised, 1):
        raise _BrokenError("breaks off")


def _of_brotli(source: bytes) -> Iterator[bytes]:
    import brotli  # read by few

    reader = brotli.Decompressor()
    rest = source
    try:
        while not reader.is_finished():
            part = reader.process(rest, output_buffer_limit=_AT_ONCE)
            rest = b""
            if not part and reader.can_accept_more_data() and not reader.is_finished():
                raise _BrokenError("breaks off")
            yield part
    except brotli.error as error:
        raise _BrokenError("is damaged") from error
