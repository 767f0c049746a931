"""Unpack compressed files and HTTP bodies, up to a limit of bytes.

Truncated or damaged data is unpacked as far as possible, and the result has a `Cut`.
"""

import zlib
from collections.abc import Iterator
from pathlib import Path

import zstandard

from domsieve.archive._decompression import DEFAULT_LIMITS
from domsieve.budget import check
from domsieve.snapshot.cut import Cut

PACKED_SUFFIXES = (".gz", ".zst", ".br")
"""Suffixes of compressed files."""

_GZIP, _ZSTD = b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd"
_AT_ONCE = 65_536
_WIDEST_WINDOW = 1 << 27
_SAME = {"x-gzip": "gzip"}
_LOOKED_AT = 200
_BEFORE_MARKUP = b"\xef\xbb\xbf \t\r\n\f"
_ZLIB_METHOD, _ZLIB_CHECK = 8, 31


def unpacked(source: bytes, path: Path) -> tuple[bytes, list[Cut]]:
    """Return the unpacked content of a file, and what was cut from it; other content is returned unchanged.

    A file may unpack to as much as the body of a record of its size, see `ArchiveLimits`.

    Gzip and Zstandard are recognised by their first bytes. Brotli has no magic bytes, and is recognised by the
    suffix.

    Parameters
    ----------
    source : content of the file.
    path : the file, for its suffix.
    """
    most_bytes = DEFAULT_LIMITS.body_bytes(len(source))
    if source.startswith(_GZIP):
        return _whole("gzip file", _gunzipped(source), most_bytes)
    if source.startswith(_ZSTD):
        return _whole("Zstandard file", _of_zstd(source), most_bytes)
    if path.suffix.lower() == ".br":
        return _whole("Brotli file", _of_brotli(source), most_bytes)
    return source, []


def decoded(body: bytes, coding: str, most_bytes: int) -> tuple[bytes, list[Cut]]:
    """Return the body of an HTTP response without one content coding, and what was cut from it.

    Recorders may decode a body and leave the header unchanged. Such a body is returned unchanged, and so is one with
    an unknown coding.

    Parameters
    ----------
    body : the encoded body.
    coding : name of the coding in ``Content-Encoding``, in lower case.
    most_bytes : maximum size of the decoded body.
    """
    coding = _SAME.get(coding, coding) if body else ""
    if coding == "gzip" and body.startswith(_GZIP):
        return _whole("gzip body", _gunzipped(body), most_bytes)
    if coding == "zstd" and body.startswith(_ZSTD):
        return _whole("Zstandard body", _of_zstd(body), most_bytes)
    if coding not in {"br", "deflate"}:
        return body, []
    name, parts = ("Brotli", _of_brotli) if coding == "br" else ("deflate", _inflated)
    text, cuts = _whole(f"{name} body", parts(body), most_bytes)
    # These two codings have no magic bytes, so a decoded body is recognised by its markup.
    is_markup = body[:_LOOKED_AT].lstrip(_BEFORE_MARKUP).startswith(b"<")
    return (body, []) if cuts and is_markup else (text, cuts)


def _whole(name: str, parts: Iterator[bytes], most_bytes: int) -> tuple[bytes, list[Cut]]:
    held: list[bytes] = []
    size = 0
    try:
        for part in parts:
            check()
            held.append(part)
            size += len(part)
            if size > most_bytes:
                cut = Cut("bytes", f"the {name} holds more than {most_bytes:,} bytes")
                return b"".join(held)[:most_bytes], [cut]
    except _BrokenError as error:
        return b"".join(held), [Cut("document", f"the {name} {error}")]
    return b"".join(held), []


class _BrokenError(Exception):
    """Compressed data is damaged or truncated; the message ends a sentence."""


def _gunzipped(source: bytes) -> Iterator[bytes]:
    reader = zlib.decompressobj(zlib.MAX_WBITS | 16)
    is_begun = False
    for start in range(0, len(source), _AT_ONCE):
        rest = source[start : start + _AT_ONCE]
        while rest:
            if not is_begun:  # a file may have several members, and zeros that pad a block after them
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


def _inflated(source: bytes) -> Iterator[bytes]:
    """Yield the content of deflated data, with a zlib header as in the standard, or without."""
    head = int.from_bytes(source[:2], "big")
    is_zlib = source[:1] and source[0] & 15 == _ZLIB_METHOD and head % _ZLIB_CHECK == 0
    reader = zlib.decompressobj(zlib.MAX_WBITS if is_zlib else -zlib.MAX_WBITS)
    for start in range(0, len(source), _AT_ONCE):
        rest = source[start : start + _AT_ONCE]
        while rest and not reader.eof:
            try:
                yield reader.decompress(rest, _AT_ONCE)
            except zlib.error as error:
                raise _BrokenError("is damaged") from error
            rest = reader.unconsumed_tail
    if source and not reader.eof:
        raise _BrokenError("breaks off")


def _of_zstd(source: bytes) -> Iterator[bytes]:
    reader = zstandard.ZstdDecompressor(max_window_size=_WIDEST_WINDOW).stream_reader(
        source, read_across_frames=True
    )
    size = 0
    try:
        declared = zstandard.frame_content_size(source)  # -1 if the frame does not declare it
        while part := reader.read(_AT_ONCE):
            size += len(part)
            yield part
    except zstandard.ZstdError as error:
        raise _BrokenError("is damaged") from error
    if size < (1 if declared < 0 else declared):
        raise _BrokenError("breaks off")


def _of_brotli(source: bytes) -> Iterator[bytes]:
    import brotli  # imported late: rarely needed

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
