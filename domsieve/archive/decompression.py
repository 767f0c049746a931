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
    """What is read of an archive at most; the rest is left out, and that is told.

    Parameters
    ----------
    page_bytes : of one page, packed as it came and unpacked.
    records : of one archive.
    expansion_ratio : how many times its own size a packed stretch may unpack to; honest pages stay below 50.
    free_bytes : what any packed stretch may unpack to, so that small ones of great redundancy pass.
    free_stretches : how many of them may, before the ratio is that of the whole archive.
    readings : how often a damaged archive is read over in search of whole records, as a multiple of its size.
    """

    page_bytes: int = 50_000_000
    records: int = 10_000_000
    expansion_ratio: int = 100
    free_bytes: int = 10_000_000
    free_stretches: int = 100
    readings: int = 50

    def unpacked_bytes(self, size: int) -> int:
        """Return what an archive of so many bytes may unpack to."""
        return self.free_stretches * self.free_bytes + self.expansion_ratio * size


USUAL_LIMITS = ArchiveLimits()
"""What no honest archive meets."""


GZIP, RAW_DEFLATE = zlib.MAX_WBITS | 16, -zlib.MAX_WBITS
GZIP_SIGN = b"\x1f\x8b\x08"
_STEPS = (65_536, 1_024, 32, 1)
"""Bytes that are unpacked at once: fewer each time the stream turns out to be damaged."""
_FIRST_SPACING = 1_000_000
_MOST_MARKS = 1_000  # of 40 kB each


class InflateError(Exception):
    """A compressed stream that is damaged, breaks off, or holds too much; the text ends a sentence."""


@dataclass(frozen=True, slots=True)
class _Mark:
    """A place in a stream: `plain` bytes of it were unpacked from what stands before `packed`."""

    start: int
    plain: int
    packed: int
    inflater: Any


class Marks:
    """The marks of all long streams of a source."""

    def __init__(self) -> None:
        self._of_stream: dict[int, list[_Mark]] = {}
        self._number = 0
        self.spacing = _FIRST_SPACING

    def add(self, mark: _Mark) -> None:
        """Keep a mark; of too many, every second is forgotten."""
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
        """Return the last mark of a stream up to a place in it."""
        known = self._of_stream.get(start)
        number = bisect_right(known, plain, key=lambda mark: mark.plain) if known else 0
        return known[number - 1] if known and number else None


def check_expansion(plain: int, packed: int, limits: ArchiveLimits) -> None:
    """Raise `InflateError` where a stretch has unpacked to more than it may."""
    if plain > limits.free_bytes + limits.expansion_ratio * packed:
        raise InflateError(f"unpacks to more than {limits.expansion_ratio} times its size")


class Inflating:
    """A compressed stream that is being read.

    Parameters
    ----------
    window : what holds it.
    start : where it begins.
    form : `GZIP` or `RAW_DEFLATE`.
    limits : what it may unpack to.
    marks : those of the source.
    skip : unpacked bytes that are not wanted.
    salvages : whether what stands right before a damage is wanted, which costs reading anew.

    Attributes
    ----------
    plain : unpacked bytes so far.
    packed : where what comes next is packed; at the end, where the stream ends.
    ended : whether it has ended as it should.

    Raises
    ------
    InflateError : the stream is damaged, breaks off, or unpacks to too much, also while it is read.
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
        """Return up to `count` unpacked bytes; none at the end only."""
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
                # What it had unpacked before the damage is lost; in small steps it is not.
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
        """Begin again, `skip` unpacked bytes from the start, or behind the end."""
        mark = self._marks.before(self.start, skip)
        self.plain, self.packed = (mark.plain, mark.packed) if mark else (0, self.start)
        self._inflater = mark.inflater.copy() if mark else zlib.decompressobj(self._form)
        self._marked = self.plain
        self.ended = False
        while self.plain < skip and self.read(skip - self.plain):
            pass


class InflatedSource:
    """What a compressed stretch of another source holds, as a source; best read forward.

    Parameters
    ----------
    packed : the other source, which the stretch fills.
    limits : what it may unpack to.
    """

    def __init__(self, packed: Source, limits: ArchiveLimits) -> None:
        self._packed, self._limits = packed, limits
        self._marks = Marks()
        self._stream: Inflating | None = None

    @property
    def size(self) -> int:
        """What is read of the disk for all of it, in bytes."""
        return self._packed.size

    def read_at(self, place: int, count: int) -> bytes:
        """Return up to `count` bytes from `place` on; none at the end only.

        Raises
        ------
        InflateError : the stretch is damaged before that place, or unpacks to too much.
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
_SPARED = 1_000_000


class ZstdFrame:
    """A frame that is being read, with what is skipped before it.

    Parameters
    ----------
    window : what holds it.
    start : where it begins.
    dictionary : that of the archive, None without one.
    limits : what it may unpack to.
    skip : unpacked bytes that are not wanted.

    Attributes
    ----------
    plain : unpacked bytes so far.
    packed : where what comes next is packed; at the end, where the frame ends.
    ended : whether it has ended as it should.

    Raises
    ------
    InflateError : the frame is damaged, breaks off, or unpacks to too much, also while it is read.
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
        # What was unpacked last, and how much before it.
        self._text, self._before = b"", 0
        self._is_last = False
        head = window.at(self.packed, least=_LONGEST_HEAD)[:_LONGEST_HEAD]
        if not head.startswith(FRAME_SIGN):
            raise InflateError("breaks off" if FRAME_SIGN.startswith(head) else "is damaged")
        try:
            facts = zstandard.get_frame_parameters(head)
            size = zstandard.frame_header_size(head)
            # A decompressor holds the state of one frame; two that are read in turns need two.
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
        """Return up to `count` unpacked bytes; none at the end only."""
        while not self.ended:
            check()
            behind = self.plain - self._before
            if part := self._text[behind : behind + count]:
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
        """Return whether the unpacked place is still held, or not yet come to."""
        return self._before <= place and not self.ended

    def skip_to(self, place: int) -> None:
        """Go on from an unpacked place that is reached, or from the end if that comes before it."""
        self.plain = min(place, self._before + len(self._text))
        while self.plain < place and self.read(place - self.plain):
            pass

    def _read_block(self) -> None:
        head = self._window.at(self.packed, least=_BLOCK_HEAD)[:_BLOCK_HEAD]
        if len(head) < _BLOCK_HEAD:
            raise InflateError("breaks off")
        said = int.from_bytes(head, "little")
        self._is_last, kind, size = bool(said & 1), said >> 1 & 3, said >> 3
        if size > _LARGEST_BLOCK:
            raise InflateError("is damaged")
        parts = [self._feed(_BLOCK_HEAD), self._feed(1 if kind == _RLE else size)]
        if self._is_last:
            parts.append(self._feed(_CHECKSUM if self._has_checksum else 0))
            if not self._inflater.eof:
                raise InflateError("is damaged")
        # What is read of a record goes beyond its end; whoever reads the next one begins before that.
        kept = self._text[-_LARGEST_BLOCK:]
        self._before += len(self._text) - len(kept)
        self._text = kept + b"".join(parts)

    def _feed(self, count: int) -> bytes:
        """Return what comes of the next packed bytes, which are of one block at most."""
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
    """A long frame that was read as far as a page in it, for the pages behind that one; at most one is held.

    Frames have no other marks: the state of a decompressor cannot be copied.
    """

    def __init__(self) -> None:
        self._held: list[ZstdFrame] = []

    def keep(self, frame: ZstdFrame) -> None:
        """Hold a frame that is read no more."""
        if frame.plain > _SPARED and not frame.ended:
            self._held[:] = [frame]

    def take(self, start: int, place: int) -> ZstdFrame | None:
        """Return the frame that begins at `start` if it can be read from an unpacked place; it is held no more."""
        with suppress(IndexError):  # another thread may have taken it
            frame = self._held.pop()
            if frame.start == start and place and frame.reaches(place):
                frame.skip_to(place)
                return frame
        return None


def seems_zstd(head: bytes) -> bool:
    """Return whether an archive that begins so is packed by Zstandard."""
    return head.startswith(FRAME_SIGN) or _is_skipped(head)


def behind_skipped(window: Window, start: int) -> int:
    """Return where the first frame stands that holds data, from a place on; the end of the archive without one.

    Raises
    ------
    InflateError : what is skipped breaks off, or there is too much of it.
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
    """Return the dictionary that an archive begins with, None without one; it may be packed itself.

    Raises
    ------
    InflateError : it is damaged, breaks off, or is larger than any.
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
