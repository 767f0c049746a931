"""Compressed streams (gzip, Zstandard) read within limits, and again from checkpoints."""

import zlib
from bisect import bisect_right
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import zstandard

from domsieve.archive.stored_page import Source, Window
from domsieve.budget import check


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveLimits:
    """Limits for reading an archive; what exceeds them is skipped and reported.

    A compressed stretch is a gzip member, a Zstandard frame or a file in a WACZ file. The body of a record has
    the same limits: its size on disk is that of the record.

    Parameters
    ----------
    page_bytes : size of one page, compressed and unpacked.
    records : number of records in one archive.
    expansion_ratio : how many times its own size a compressed stretch may unpack to; ordinary pages stay below 50.
    free_bytes : size that any stretch may unpack to, whatever its ratio, so that small, redundant ones are read.
    free_stretches : how many stretches may use all of `free_bytes` before the ratio limits the whole archive.
    readings : bytes read in a damaged archive in search of whole records, as a multiple of its size.
    """

    page_bytes: int = 50_000_000
    records: int = 10_000_000
    expansion_ratio: int = 100
    free_bytes: int = 10_000_000
    free_stretches: int = 100
    readings: int = 50

    def unpacked_bytes(self, size: int) -> int:
        """Return the number of bytes that an archive of `size` bytes may unpack to."""
        return self.free_stretches * self.free_bytes + self.expansion_ratio * size

    def stretch_bytes(self, size: int) -> int:
        """Return the number of bytes that a stretch of `size` bytes on disk may unpack to."""
        return self.free_bytes + self.expansion_ratio * size

    def body_bytes(self, size: int) -> int:
        """Return the number of bytes that a body or a file of `size` bytes on disk may unpack to."""
        return min(self.page_bytes, self.stretch_bytes(size))


DEFAULT_LIMITS = ArchiveLimits()
"""The default limits, far above what ordinary archives need."""


GZIP, RAW_DEFLATE = zlib.MAX_WBITS | 16, -zlib.MAX_WBITS
GZIP_SIGN = b"\x1f\x8b\x08"
_STEPS = (65_536, 1_024, 32, 1)
"""Bytes to unpack per call; after each damage the next smaller step is tried."""
_FIRST_SPACING = 1_000_000
_MOST_MARKS = 1_000  # a mark takes 40 kB


class InflateError(Exception):
    """A compressed stream is damaged, truncated or too large; the message ends a sentence, such as "is damaged"."""


@dataclass(frozen=True, slots=True)
class _Mark:
    """A place in a stream: the bytes up to offset `packed` unpack to `plain` bytes."""

    start: int
    plain: int
    packed: int
    inflater: Any


class Marks:
    """Marks in all long streams of a source, in bounded number."""

    def __init__(self) -> None:
        self._of_stream: dict[int, list[_Mark]] = {}
        self._number = 0
        self.spacing = _FIRST_SPACING

    def add(self, mark: _Mark) -> None:
        """Add a mark; if there are too many, drop every second one and double the spacing."""
        known = self._of_stream.setdefault(mark.start, [])
        if known and known[-1].plain >= mark.plain:
            return
        known.append(mark)
        self._number += 1
        if self._number > _MOST_MARKS:
            self.spacing *= 2
            thinned = {start: marks[1::2] for start, marks in self._of_stream.items()}
            self._of_stream = {start: marks for start, marks in thinned.items() if marks}
            self._number = sum(map(len, self._of_stream.values()))

    def before(self, start: int, plain: int) -> _Mark | None:
        """Return the last mark at or before the unpacked offset `plain` in the stream at `start`."""
        known = self._of_stream.get(start)
        number = bisect_right(known, plain, key=lambda mark: mark.plain) if known else 0
        return known[number - 1] if known and number else None


def check_expansion(plain: int, packed: int, limits: ArchiveLimits) -> None:
    """Check the size that a compressed stretch has unpacked to.

    Parameters
    ----------
    plain, packed : numbers of unpacked and of compressed bytes.
    limits : the limits.

    Raises
    ------
    InflateError : `plain` is above the limit.
    """
    if plain > limits.stretch_bytes(packed):
        raise InflateError(f"unpacks to more than {limits.expansion_ratio} times its size")


class Inflating:
    """Reader of one compressed stream.

    Parameters
    ----------
    window : reads the source.
    start : offset of the stream in the source.
    form : `GZIP` or `RAW_DEFLATE`.
    limits : limits on the unpacked size.
    marks : the marks of the source.
    skip : number of unpacked bytes to skip.
    salvages : recover the bytes directly before a damage, which requires reading again.

    Attributes
    ----------
    plain : number of bytes unpacked so far.
    packed : offset in the source of what comes next; at the end, where the stream ends.
    ended : the stream ended properly.

    Raises
    ------
    InflateError : the stream is damaged, truncated or too large; also raised by `read`.
    """

    def __init__(
        self,
        window: Window,
        start: int,
        form: int,
        *,
        limits: ArchiveLimits,
        marks: Marks,
        skip: int = 0,
        salvages: bool = True,
    ) -> None:
        self._window, self._form, self._limits, self._marks = window, form, limits, marks
        self.start = start
        self._steps = iter(_STEPS if salvages else _STEPS[:1])
        self._at_once = next(self._steps)
        self.plain, self.packed, self._marked, self.ended = 0, start, 0, False
        self._begin(skip)

    def read(self, count: int) -> bytes:
        """Return up to `count` unpacked bytes; empty only at the end."""
        while not self.ended:
            check()
            count = min(count, self._at_once)
            if self.plain - self._marked >= self._marks.spacing:
                self._marked = self.plain
                self._marks.add(_Mark(self.start, self.plain, self.packed, self._inflater.copy()))
            data = self._window.at(self.packed)
            if not data:
                raise InflateError("breaks off")
            try:
                part: bytes = self._inflater.decompress(data, count)
            except zlib.error as error:
                if (step := next(self._steps, 0)) == 0:
                    raise InflateError("is damaged") from error
                # A failing call loses what it unpacked before the damage; with smaller steps that is less.
                self._at_once = _STEPS[0]
                self._begin(self.plain)
                self._at_once = step
                continue
            rest = self._inflater.unconsumed_tail or self._inflater.unused_data
            self.packed += len(data) - len(rest)
            self.plain += len(part)
            self._window.count_unpacked(len(part))
            self.ended = self._inflater.eof
            check_expansion(self.plain, self.packed - self.start, self._limits)
            if part:
                return part
        return b""

    def _begin(self, skip: int) -> None:
        """Restart at the unpacked offset `skip`, or at the end if that comes first."""
        mark = self._marks.before(self.start, skip)
        self.plain, self.packed = (mark.plain, mark.packed) if mark else (0, self.start)
        self._inflater = mark.inflater.copy() if mark else zlib.decompressobj(self._form)
        self._marked = self.plain
        self.ended = False
        while self.plain < skip and self.read(skip - self.plain):
            pass


class InflatedSource:
    """The unpacked content of a deflated source; sequential reading is fastest.

    Parameters
    ----------
    packed : the compressed bytes.
    limits : limits on the unpacked size.
    """

    def __init__(self, packed: Source, limits: ArchiveLimits) -> None:
        self._packed, self._limits = packed, limits
        self._marks = Marks()
        self._stream: Inflating | None = None

    @property
    def size(self) -> int:
        """Size on disk (compressed), in bytes."""
        return self._packed.size

    def read_at(self, place: int, count: int) -> bytes:
        """Return up to `count` bytes from the unpacked offset `place`; empty only at the end.

        Raises
        ------
        InflateError : the content is damaged before that offset, or too large.
        """
        stream = self._stream
        if stream is None or stream.plain != place:
            window = Window(self._packed)
            self._stream = None
            stream = Inflating(window, 0, RAW_DEFLATE, limits=self._limits, marks=self._marks, skip=place)
            if stream.plain != place:
                return b""
        part = stream.read(count)
        self._stream = stream
        return part


FRAME_SIGN = b"\x28\xb5\x2f\xfd"
_DICTIONARY_SIGN = b"\x5d\x2a\x4d\x18"
_SKIPPED_SIGN, _SKIPPED_HEAD = b"\x2a\x4d\x18", 8
_MOST_SKIPPED = 1_000  # in a row
_LONGEST_HEAD, _BLOCK_HEAD, _CHECKSUM = 18, 3, 4
_RLE = 1
_LARGEST_BLOCK = 131_072
_WIDEST_WINDOW = 1 << 27
_SPARED = 1_000_000  # shorter frames are quickly read again


class ZstdFrame:
    """Reader of one frame and the skippable frames before it.

    Parameters
    ----------
    window : reads the source.
    start : offset in the source.
    dictionary : the dictionary of the archive, if any.
    limits : limits on the unpacked size.
    skip : number of unpacked bytes to skip.

    Attributes
    ----------
    plain : number of bytes unpacked so far.
    packed : offset in the source of what comes next; at the end, where the frame ends.
    ended : the frame ended properly.

    Raises
    ------
    InflateError : the frame is damaged, truncated or too large; also raised by `read`.
    """

    def __init__(
        self,
        window: Window,
        start: int,
        dictionary: zstandard.ZstdCompressionDict | None,
        *,
        limits: ArchiveLimits,
        skip: int = 0,
    ) -> None:
        self._window, self._limits = window, limits
        self.start, self.plain, self.ended = start, 0, False
        self.packed = behind_skipped(window, start)
        # The bytes unpacked last, and the number of bytes before them.
        self._text, self._before = b"", 0
        self._is_last = False
        head = window.at(self.packed, least=_LONGEST_HEAD)[:_LONGEST_HEAD]
        if not head.startswith(FRAME_SIGN):
            raise InflateError("breaks off" if FRAME_SIGN.startswith(head) else "is damaged")
        try:
            facts = zstandard.get_frame_parameters(head)
            size = zstandard.frame_header_size(head)
            # A decompressor has the state of one frame; two frames that are read alternately need two.
            self._inflater = zstandard.ZstdDecompressor(
                dict_data=dictionary, max_window_size=_WIDEST_WINDOW
            ).decompressobj()
        except zstandard.ZstdError as error:
            raise InflateError("is damaged" if len(head) == _LONGEST_HEAD else "breaks off") from error
        if facts.dict_id and (dictionary is None or dictionary.dict_id() != facts.dict_id):
            raise InflateError("needs a dictionary that the archive does not have")
        self._has_checksum = facts.has_checksum
        self._feed(size)
        self.skip_to(skip)

    def read(self, count: int) -> bytes:
        """Return up to `count` unpacked bytes; empty only at the end."""
        while not self.ended:
            check()
            offset = self.plain - self._before
            if part := self._text[offset : offset + count]:
                self.plain += len(part)
                self._window.count_unpacked(len(part))
                return part
            if self._is_last:
                self.ended = True
                break
            self._read_block()
            check_expansion(self.plain, self.packed - self.start, self._limits)
        return b""

    def reaches(self, place: int) -> bool:
        """Return whether reading can continue at the unpacked offset `place`."""
        return self._before <= place and not self.ended

    def skip_to(self, place: int) -> None:
        """Continue at the unpacked offset `place`, see `reaches`, or at the end if that comes first."""
        self.plain = min(place, self._before + len(self._text))
        while self.plain < place and self.read(place - self.plain):
            pass

    def _read_block(self) -> None:
        head = self._window.at(self.packed, least=_BLOCK_HEAD)[:_BLOCK_HEAD]
        if len(head) < _BLOCK_HEAD:
            raise InflateError("breaks off")
        header = int.from_bytes(head, "little")
        self._is_last, kind, size = bool(header & 1), header >> 1 & 3, header >> 3
        if size > _LARGEST_BLOCK:
            raise InflateError("is damaged")
        parts = [self._feed(_BLOCK_HEAD), self._feed(1 if kind == _RLE else size)]
        if self._is_last:
            parts.append(self._feed(_CHECKSUM if self._has_checksum else 0))
            if not self._inflater.eof:
                raise InflateError("is damaged")
        # Reading a record goes beyond its end, so the next reader starts at an earlier offset.
        kept = self._text[-_LARGEST_BLOCK:]
        self._before += len(self._text) - len(kept)
        self._text = kept + b"".join(parts)

    def _feed(self, count: int) -> bytes:
        """Unpack the next `count` compressed bytes, at most one block."""
        parts: list[bytes] = []
        while count:
            data = self._window.at(self.packed)[:count]
            if not data:
                raise InflateError("breaks off")
            try:
                parts.append(self._inflater.decompress(data))
            except zstandard.ZstdError as error:
                raise InflateError("is damaged") from error
            self.packed += len(data)
            count -= len(data)
        return b"".join(parts)


class SparedFrame:
    """Keeps the last long frame that was partly read, so that later pages in it need not start over.

    Unlike gzip streams, frames have no marks, because the state of a Zstandard decompressor cannot be copied.
    """

    def __init__(self) -> None:
        self._held: list[ZstdFrame] = []

    def keep(self, frame: ZstdFrame) -> None:
        """Keep a frame that its reader no longer needs, if it is long and not read to the end."""
        if frame.plain > _SPARED and not frame.ended:
            self._held[:] = [frame]

    def take(self, start: int, place: int) -> ZstdFrame | None:
        """Remove and return the kept frame if it begins at `start` and can continue at offset `place`."""
        with suppress(IndexError):  # another thread may have taken it
            frame = self._held.pop()
            if frame.start == start and place and frame.reaches(place):
                frame.skip_to(place)
                return frame
        return None


def seems_zstd(head: bytes) -> bool:
    """Return whether an archive that begins with `head` is compressed with Zstandard."""
    return head.startswith(FRAME_SIGN) or _is_skipped(head)


def behind_skipped(window: Window, start: int) -> int:
    """Return the offset of the first frame with data at or after `start`, or the end of the archive.

    Raises
    ------
    InflateError : a skippable frame is truncated, or there are too many.
    """
    place = start
    for _ in range(_MOST_SKIPPED):
        head = window.at(place, least=_SKIPPED_HEAD)[:_SKIPPED_HEAD]
        if not _is_skipped(head):
            return place
        check()
        place += _SKIPPED_HEAD + int.from_bytes(head[4:], "little")
        if len(head) < _SKIPPED_HEAD or not window.at(place - 1):
            raise InflateError("breaks off")
    raise InflateError("has no data")


def dictionary_of(window: Window, limits: ArchiveLimits) -> zstandard.ZstdCompressionDict | None:
    """Return the dictionary at the beginning of an archive, or None; the dictionary may itself be compressed.

    Raises
    ------
    InflateError : the dictionary is damaged, truncated or too large.
    """
    head = window.at(0, least=_SKIPPED_HEAD)[:_SKIPPED_HEAD]
    if not head.startswith(_DICTIONARY_SIGN) or len(head) < _SKIPPED_HEAD:
        return None
    end = _SKIPPED_HEAD + int.from_bytes(head[4:], "little")
    if end > limits.free_bytes:
        raise InflateError("has a dictionary that is too large")
    held = bytearray()
    while len(held) < end - _SKIPPED_HEAD and (data := window.at(_SKIPPED_HEAD + len(held))):
        held += data[: end - _SKIPPED_HEAD - len(held)]
    if len(held) < end - _SKIPPED_HEAD:
        raise InflateError("breaks off")
    if held.startswith(FRAME_SIGN):
        frame = ZstdFrame(window, _SKIPPED_HEAD, None, limits=limits)
        held.clear()
        while part := frame.read(_LARGEST_BLOCK):
            held += part
            if len(held) > limits.free_bytes:
                raise InflateError("has a dictionary that is too large")
    try:
        return zstandard.ZstdCompressionDict(bytes(held))
    except zstandard.ZstdError as error:
        raise InflateError("has a damaged dictionary") from error


def _is_skipped(head: bytes) -> bool:
    return head[1:4] == _SKIPPED_SIGN and head[0] & 0xF0 == 0x50
