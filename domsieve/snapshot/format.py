"""The file format of a Snapshot: the same page gives the same bytes, and damage is detected.

    magic 6 | version 1 | digest of the base 16 | zstd frame with checksum    (sizes in bytes)

The frame holds the payload: length of the header (4 bytes), header (msgpack), plain pack, delta pack, bytes of
the tag names, bytes of the strings. A pack is a group of integer columns, concatenated and stored as byte planes:
first the lowest byte of every value, then the next. The plain pack holds columns of small numbers, the delta pack
the differences of columns that grow or repeat. For numpy each pack is a single column, so reading a page takes few
calls. Boxes are stored for nodes with layout only, in 1/64 px, Chrome's own unit, or as the bits of the floats where
that would not be exact.

Pages of one site have most of their strings in common. A page can therefore be written against a base, the payload
of another page, which zstd uses as a dictionary; it can then only be read with that base.
"""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Annotated, Any

import msgspec
import numpy as np
import zstandard
from numpy.typing import NDArray

from domsieve.errors import DamagedFileError, FormatVersionError, InvalidSnapshotError
from domsieve.files import digest_of
from domsieve.snapshot.page import Kind, Provenance, Snapshot
from domsieve.snapshot.strings import StringTable

FORMAT_VERSION = 1
_MAGIC = b"\x89DSNAP"
_BASE = slice(len(_MAGIC) + 1, len(_MAGIC) + 17)
_NO_BASE = bytes(16)
_LEVEL = 9  # higher levels take several times as long for files that are 5 % smaller
_LARGEST_PAYLOAD = 1 << 31
_UNITS_PER_PX = 64

_Size = Annotated[int, msgspec.Meta(ge=0)]
_Width = Annotated[int, msgspec.Meta(ge=1, le=4)]


class _Header(msgspec.Struct, array_like=True, kw_only=True):
    provenance: Provenance
    style_names: tuple[str, ...]
    nodes: _Size
    texts: _Size
    boxes: _Size
    attributes: _Size
    style_rows: _Size
    tags: _Size
    strings: _Size
    tag_bytes: _Size
    string_bytes: _Size
    in_units: bool
    plain_width: _Width
    delta_width: _Width

    def plain_sizes(self) -> list[int]:
        return [self.nodes] * 5

    def delta_sizes(self) -> list[int]:
        styles = self.style_rows * len(self.style_names)
        return [
            self.texts,
            self.attributes,
            self.attributes,
            self.nodes + 1,
            self.boxes,
            4 * self.boxes,
            styles,
            self.tags + 1,
            self.strings + 1,
        ]


class Base:
    """The payload of one page as a compression dictionary for other pages of the site.

    Parameters
    ----------
    payload : result of `payload_of` for a page of the site.
    """

    __slots__ = ("dictionary", "digest")

    def __init__(self, payload: bytes) -> None:
        self.digest = digest_of(payload)
        self.dictionary = zstandard.ZstdCompressionDict(payload, dict_type=zstandard.DICT_TYPE_RAWCONTENT)


def encode(page: Snapshot, *, base: Base | None = None) -> bytes:
    """Return the bytes of the file of a page; equal pages and bases give equal bytes.

    Parameters
    ----------
    page : the page.
    base : the compression dictionary; the file can only be read with the same base. None needs no dictionary.
    """
    compressor = zstandard.ZstdCompressor(
        level=_LEVEL, dict_data=base.dictionary if base else None, write_checksum=True
    )
    digest = bytes.fromhex(base.digest) if base else _NO_BASE
    return b"".join((_MAGIC, bytes([FORMAT_VERSION]), digest, compressor.compress(payload_of(page))))


def decode(data: bytes, *, source: str = "", base: Base | None = None) -> Snapshot:
    """Return the page that is encoded in `data`.

    Parameters
    ----------
    data : content of the file, as returned by `encode`.
    source : name of the file, for error messages.
    base : the base that the page was encoded with, if any; see `base_of`.

    Raises
    ------
    DamagedFileError : the content is damaged, or `base` is missing or not the right one.
    FormatVersionError : the file has an unknown format version.
    """
    needed = base_of(data, source=source)
    if needed and (base is None or base.digest != needed):
        raise DamagedFileError(f"The page in {source or 'a file'} cannot be read without the base {needed}.")
    try:
        frame = memoryview(data)[_BASE.stop :]
        if zstandard.frame_content_size(frame) > _LARGEST_PAYLOAD:
            raise ValueError("too large")
        dictionary = base.dictionary if base and needed else None
        decompressor = zstandard.ZstdDecompressor(dict_data=dictionary)
        return _page(decompressor.decompress(frame, allow_extra_data=False))
    except (
        ValueError,
        zstandard.ZstdError,
        msgspec.MsgspecError,
        InvalidSnapshotError,
        MemoryError,  # a huge size in a damaged header
        RecursionError,  # deeply nested lists
    ) as error:
        raise DamagedFileError(
            f"The page in {source or 'a file'} is damaged ({error}); remove it and capture the page again."
        ) from error


def base_of(data: bytes, *, source: str = "") -> str:
    """Return the digest of the base that `data` was encoded with, in hex; empty if there was none.

    Parameters
    ----------
    data : content of the file, as returned by `encode`.
    source : name of the file, for error messages.

    Raises
    ------
    DamagedFileError : `data` is not the file of a page.
    FormatVersionError : the file has an unknown format version.
    """
    if len(data) <= _BASE.stop or not data.startswith(_MAGIC):
        raise DamagedFileError(f"{source or 'A file'} is not the file of a page; remove it.")
    version = data[len(_MAGIC)]
    if version != FORMAT_VERSION:
        raise FormatVersionError(
            f"{source or 'A file'} has format version {version}, but this program reads {FORMAT_VERSION}; "
            "use the program that wrote it, or capture the page again."
        )
    return "" if data[_BASE] == _NO_BASE else data[_BASE].hex()


def payload_of(page: Snapshot) -> bytes:
    """Return the uncompressed content of the file of a page, which can be the `Base` of similar pages."""
    boxed = page.style >= 0
    text = page.text[page.kind == Kind.TEXT]
    here = np.arange(len(page), dtype=np.int32)
    box, in_units = _integers(page.box[boxed])
    plain, plain_width = _pack((here - page.parent, page.end - here, page.kind, page.tag, page.style + 1))
    delta, delta_width = _pack_differences(
        (
            text,
            page.attr_name,
            page.attr_value,
            page.attr_start,
            page.paint[boxed],
            box.T.ravel(),
            page.styles.T.ravel(),
            page.tags.offsets,
            page.strings.offsets,
        )
    )
    header = msgspec.msgpack.encode(
        _Header(
            provenance=page.provenance,
            style_names=page.style_names,
            nodes=len(page),
            texts=text.size,
            boxes=len(box),
            attributes=page.attr_name.size,
            style_rows=len(page.styles),
            tags=len(page.tags),
            strings=len(page.strings),
            tag_bytes=page.tags.blob.size,
            string_bytes=page.strings.blob.size,
            in_units=in_units,
            plain_width=plain_width,
            delta_width=delta_width,
        )
    )
    size = len(header).to_bytes(4, "little")
    return b"".join((size, header, plain, delta, page.tags.blob.tobytes(), page.strings.blob.tobytes()))


def _page(payload: bytes) -> Snapshot:
    start = 4 + int.from_bytes(payload[:4], "little")
    header = msgspec.msgpack.decode(payload[4:start], type=_Header)
    plain_sizes, delta_sizes = header.plain_sizes(), header.delta_sizes()
    plain_bytes, delta_bytes = sum(plain_sizes) * header.plain_width, sum(delta_sizes) * header.delta_width
    sizes = (start, plain_bytes, delta_bytes, header.tag_bytes, header.string_bytes)
    if sum(sizes) != len(payload):
        raise ValueError("the sizes of its parts do not add up")
    _, plain, delta, tag_blob, string_blob = _cut(np.frombuffer(payload, np.uint8), sizes)

    distance, size, kind, tag, style = _cut(_unpack(plain, header.plain_width).view(np.int32), plain_sizes)
    text, attr_name, attr_value, attr_start, paint, box, styles, tag_offsets, string_offsets = _cut(
        _unpack_differences(delta, header.delta_width), delta_sizes
    )
    here = np.arange(header.nodes, dtype=np.int32)
    style = style - np.int32(1)
    boxed = np.flatnonzero(style >= 0)
    return Snapshot(
        parent=here - distance,
        end=here + size,
        kind=kind.astype(np.uint8),
        tag=tag,
        text=_spread(text, header.nodes, np.flatnonzero(kind == int(Kind.TEXT)), -1),
        style=style,
        box=_spread(_floats(box, in_units=header.in_units), header.nodes, boxed, np.nan),
        paint=_spread(paint, header.nodes, boxed, -1),
        attr_start=attr_start,
        attr_name=attr_name,
        attr_value=attr_value,
        tags=StringTable(tag_blob, tag_offsets),
        strings=StringTable(string_blob, string_offsets),
        style_names=header.style_names,
        styles=np.ascontiguousarray(styles.reshape(len(header.style_names), header.style_rows).T),
        provenance=header.provenance,
    )


def _cut(values: NDArray[Any], sizes: Sequence[int]) -> list[NDArray[Any]]:
    return [values[a:b] for a, b in pairwise(accumulate(sizes, initial=0))]


def _spread(values: NDArray[Any], size: int, places: NDArray[np.intp], elsewhere: float) -> NDArray[Any]:
    if len(values) != places.size:
        raise ValueError("the lengths of its columns do not match")
    column = np.full((size, *values.shape[1:]), elsewhere, values.dtype)
    column[places] = values
    return column


def _pack(columns: Sequence[NDArray[Any]]) -> tuple[bytes, int]:
    """Return the byte planes of columns of non-negative numbers, and the number of planes."""
    values = np.concatenate(columns, dtype="<u4", casting="unsafe")
    width = max(1, -(-int(values.max(initial=0)).bit_length() // 8))
    return values.view(np.uint8).reshape(-1, 4)[:, :width].T.tobytes(), width


def _unpack(planes: NDArray[np.uint8], width: int) -> NDArray[np.uint32]:
    values = np.zeros((planes.size // width, 4), np.uint8)
    for i, plane in enumerate(planes.reshape(width, -1)):
        values[:, i] = plane
    return values.view("<u4")[:, 0]


def _pack_differences(columns: Sequence[NDArray[np.int32]]) -> tuple[bytes, int]:
    """Return the packed differences, with the sign in the lowest bit; modulo 2**32, so nothing overflows."""
    difference = np.diff(np.concatenate(columns).view(np.uint32), prepend=np.uint32(0)).view(np.int32)
    return _pack([(difference << 1) ^ (difference >> 31)])


def _unpack_differences(planes: NDArray[np.uint8], width: int) -> NDArray[np.int32]:
    values = _unpack(planes, width)
    values = (values >> np.uint32(1)) ^ -(values & np.uint32(1))
    return np.cumsum(values.view(np.int32), dtype=np.int32)


def _integers(box: NDArray[np.float32]) -> tuple[NDArray[np.int32], bool]:
    """Return boxes in 1/64 px and True if that is exact to the bit, otherwise the bits of the floats and False."""
    with np.errstate(invalid="ignore"):
        units = np.rint(box.astype(np.float64) * _UNITS_PER_PX).astype(np.int32)
    if _floats(units.T.ravel(), in_units=True).tobytes() == box.tobytes():
        return units, True
    return box.view(np.int32), False


def _floats(values: NDArray[np.int32], *, in_units: bool) -> NDArray[np.float32]:
    box = values.reshape(4, -1).T
    return box.astype(np.float32) / np.float32(_UNITS_PER_PX) if in_units else box.view(np.float32)
