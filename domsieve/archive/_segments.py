"""Archives as segments of unpacked bytes, each of whole records, for gzip and Zstandard alike."""

from bisect import bisect_right
from typing import NamedTuple, Protocol

from zstandard import ZstdCompressionDict

from domsieve.archive._decompression import (
    FRAME_SIGN,
    GZIP,
    GZIP_SIGN,
    ArchiveLimits,
    InflateError,
    Inflating,
    Marks,
    SparedFrame,
    ZstdFrame,
    behind_skipped,
    dictionary_of,
    seems_zstd,
)
from domsieve.archive.stored_page import ReadOverError, Source, Window


class Member(Protocol):
    """Reader of a gzip member or Zstandard frame; see `Inflating` for the attributes."""

    start: int
    plain: int
    packed: int
    ended: bool

    def read(self, count: int) -> bytes:
        """Return up to `count` unpacked bytes; empty only at the end."""
        ...


class Packing(Protocol):
    """Compression format of an archive."""

    @property
    def name(self) -> str:
        """``"gzip"`` or ``"zstd"``."""
        ...

    @property
    def sign(self) -> bytes:
        """The magic bytes at the start of a member."""
        ...

    def member(self, window: Window, start: int, *, skip: int = 0) -> Member:
        """Return a reader of the member at offset `start`, after its first `skip` unpacked bytes.

        Raises
        ------
        InflateError : the member is damaged, truncated or too large; also raised by its `read`.
        """
        ...

    def glimpse(self, window: Window, start: int) -> Member:
        """Return a cheap reader for the first few bytes of the member at `start`; raises like `member`."""
        ...

    def behind_gap(self, window: Window, place: int) -> int:
        """Return the offset of the next member at or after `place`, or the end; raises like `member`."""
        ...

    def release(self, member: Member) -> None:
        """Hand back a reader that is no longer needed."""
        ...


class GzipPacking:
    """Archives of gzip members."""

    name, sign = "gzip", GZIP_SIGN

    def __init__(self, limits: ArchiveLimits) -> None:
        self._limits = limits
        self._marks = Marks()

    def member(self, window: Window, start: int, *, skip: int = 0) -> Inflating:
        """Return a reader of the member at `start`."""
        return Inflating(window, start, GZIP, limits=self._limits, marks=self._marks, skip=skip)

    def glimpse(self, window: Window, start: int) -> Inflating:
        """Return a reader without marks and without recovery of damaged data."""
        return Inflating(window, start, GZIP, limits=self._limits, marks=Marks(), salvages=False)

    def behind_gap(self, window: Window, place: int) -> int:
        """Return the offset after the zeros that pad a block."""
        while (data := window.at(place)) and not data.strip(b"\0"):
            place += len(data)
        return place + len(data) - len(data.lstrip(b"\0"))

    def release(self, member: Member) -> None:
        """Do nothing: the marks are kept anyway."""


class ZstdPacking:
    """Archives of Zstandard frames, with an optional dictionary at the start.

    Parameters
    ----------
    source : the archive.
    limits : limits on the unpacked size.
    """

    name, sign = "zstd", FRAME_SIGN

    def __init__(self, source: Source, limits: ArchiveLimits) -> None:
        self._source, self._limits = source, limits
        self._spared = SparedFrame()
        self._dictionary: ZstdCompressionDict | None = None
        self._is_read = False

    def member(self, window: Window, start: int, *, skip: int = 0) -> ZstdFrame:
        """Return a reader of the frame at `start`, or of the first one after skippable frames."""
        return self._spared.take(start, skip) or self._frame(window, start, skip)

    def glimpse(self, window: Window, start: int) -> ZstdFrame:
        """Return a new reader of the frame at `start`."""
        return self._frame(window, start, 0)

    def behind_gap(self, window: Window, place: int) -> int:
        """Return the offset after skippable frames."""
        return behind_skipped(window, place)

    def release(self, member: Member) -> None:
        """Keep the reader of a long frame for later pages in it."""
        if isinstance(member, ZstdFrame):
            self._spared.keep(member)

    def _frame(self, window: Window, start: int, skip: int) -> ZstdFrame:
        if not self._is_read:
            self._dictionary = dictionary_of(Window(self._source), self._limits)
            self._is_read = True
        return ZstdFrame(window, start, self._dictionary, limits=self._limits, skip=skip)


def packing_named(name: str, source: Source, limits: ArchiveLimits) -> Packing | None:
    """Return the packing called ``"gzip"`` or ``"zstd"`` for an archive, None for other names."""
    return GzipPacking(limits) if name == "gzip" else ZstdPacking(source, limits) if name == "zstd" else None


RECORD_SIGN = b"WARC/"
_AT_ONCE = 65_536
_LINE_ENDS = b"\r\n"
_PEEKED = 64


class Place(NamedTuple):
    """A position in an archive.

    Parameters
    ----------
    start : offset in the file; in compressed archives, of the member.
    skip : offset in the unpacked content of that member.
    """

    start: int
    skip: int = 0

    def __str__(self) -> str:
        return f"byte {self.start:,}" + (f", {self.skip:,} unpacked" if self.skip else "")


class Run:
    """File-like reader of the unpacked bytes from a place to the end of the run.

    Attributes
    ----------
    following : where the next run begins; None at the end of the archive, or if it is not known.
    damage : the damage that ends the run early, empty without one.
    damaged_from : offset of the damaged member.
    """

    def __init__(self, window: Window, place: Place) -> None:
        self._window = window
        self._place = place
        self._from = sum(place)  # without compression, `skip` is an offset in the file, too
        self._given = 0
        self.following: Place | None = None
        self.damage = ""
        self.damaged_from = place.start

    def read(self, count: int = -1) -> bytes:
        """Return up to `count` bytes, for a negative count as many as are convenient; empty only at the end."""
        if self.damage:
            return b""
        try:
            part = self._part(count if 0 <= count < _AT_ONCE else _AT_ONCE)
        except InflateError as error:
            self.damage = str(error)
            return b""
        self._given += len(part)
        return part

    def seek(self, _offset: int, _whence: int = 0) -> int:
        """Raise `OSError`; the file protocol requires this method, but readers of records do not use it."""
        raise OSError("a run is read forward only")

    def close(self) -> None:
        """Do nothing, because no file is open."""

    def release(self) -> None:
        """Hand back the run when it is no longer needed."""

    def tell(self) -> int:
        """Return the number of bytes read so far."""
        return self._given

    @property
    def stored_bytes(self) -> int:
        """Number of bytes in the archive that what was read takes up."""
        return self._given

    def place_of(self, position: int) -> Place:
        """Return the place in the archive of the byte at offset `position` of the run."""
        return Place(self._from + position)

    def _part(self, count: int) -> bytes:
        part = self._window.at(self._from + self._given)[:count]
        self._window.count_unpacked(len(part))
        return part


class PackedRun(Run):
    """A run in a compressed archive."""

    def __init__(self, window: Window, place: Place, packing: Packing) -> None:
        super().__init__(window, place)
        self._packing = packing
        self._member: Member | None = None
        self._first_packed = 0
        self._is_over = False
        # Offsets of the members in the run (the first may be negative) and in the file.
        self._begins = [-place.skip]
        self._starts = [place.start]

    @property
    def stored_bytes(self) -> int:
        """Number of compressed bytes that what was read takes up."""
        return self._member.packed - self._first_packed if self._member else 0

    def place_of(self, position: int) -> Place:
        """Return the place in the archive of the byte at offset `position` of the run."""
        number = bisect_right(self._begins, position) - 1
        return Place(self._starts[number], position - self._begins[number])

    def release(self) -> None:
        """Hand back the run when it is no longer needed."""
        if self._member:
            self._packing.release(self._member)

    def _part(self, count: int) -> bytes:
        while not self._is_over:
            if self._member is None:
                self._member = self._at(self._place.start, skip=self._place.skip)
                self._first_packed = self._member.packed if self._place.skip else self._place.start
            if part := self._member.read(count):
                return part
            self._go_on(self._member.packed)
        return b""

    def _at(self, start: int, *, skip: int = 0) -> Member:
        self.damaged_from = start
        return self._packing.member(self._window, start, skip=skip)

    def _go_on(self, packed: int) -> None:
        """Continue after a member, if the next one belongs to the same run."""
        self._is_over = True
        self.damaged_from = packed
        start = self._packing.behind_gap(self._window, packed)
        if not self._window.at(start):
            return
        if begins_record(self._window, start, self._packing) is not False:
            self.following = Place(start)
            return
        self._member = self._at(start)
        self._begins.append(self._given)
        self._starts.append(start)
        self._is_over = False


def begins_record(window: Window, start: int, packing: Packing) -> bool | None:
    """Return whether the content of the member at `start` begins with a record; None if there is no member."""
    if window.at(start)[:1] != packing.sign[:1]:
        return None
    try:
        member = packing.glimpse(window, start)
        head = b""
        while len(head) < _PEEKED and (part := member.read(_PEEKED - len(head))):
            head += part
    except InflateError:
        return None
    return head.lstrip(_LINE_ENDS).startswith(RECORD_SIGN)


class Archive:
    """An archive with random access. Can be pickled.

    Parameters
    ----------
    source : the bytes.
    limits : limits on what is read.

    Attributes
    ----------
    packing : the compression format, None for an archive that is not compressed.
    """

    def __init__(self, source: Source, limits: ArchiveLimits) -> None:
        self.source, self.limits = source, limits
        self.packing = self._packing()
        self._bodies: dict[Place, int] = {}
        self._bodies_bytes = 0

    def __getstate__(self) -> tuple[Source, ArchiveLimits, str]:
        # Marks and decompressors belong to this process.
        return self.source, self.limits, self.packing.name if self.packing else ""

    def __setstate__(self, state: tuple[Source, ArchiveLimits, str]) -> None:
        self.source, self.limits, name = state
        self.packing = packing_named(name, self.source, self.limits)
        self._bodies, self._bodies_bytes = {}, 0

    def _packing(self) -> Packing | None:
        """Return the compression format, judged by the first bytes or else by the first member anywhere."""
        try:
            head = self.source.read_at(0, _PEEKED)
            if head.startswith(GZIP_SIGN):
                return GzipPacking(self.limits)
            if seems_zstd(head):
                return ZstdPacking(self.source, self.limits)
            if head.lstrip(_LINE_ENDS).startswith(RECORD_SIGN):
                return None
            for packing in (GzipPacking(self.limits), ZstdPacking(self.source, self.limits)):
                if _member_behind(packing, -1, self.window()):
                    return packing
        except (InflateError, ReadOverError):
            pass
        return None

    def window(self) -> Window:
        """Return a window for one pass through the archive, with limits for repeated reading of damaged parts."""
        limits, size = self.limits, self.source.size
        most_unpacked = limits.unpacked_bytes(size)
        return Window(self.source, (limits.free_bytes + limits.readings * size, most_unpacked))

    def body_bytes(self, place: Place, stored_bytes: int) -> int:
        """Return the number of bytes that the body of the record at `place` may unpack to.

        All bodies together may unpack to as much as the archive. A body that was read before keeps its limit, so
        reading it again gives the same bytes.

        Parameters
        ----------
        place : the record.
        stored_bytes : size of the record on disk.
        """
        if place in self._bodies:
            return self._bodies[place]
        rest = self.limits.unpacked_bytes(self.source.size) - self._bodies_bytes
        return min(self.limits.body_bytes(stored_bytes), max(rest, 0))

    def count_body(self, place: Place, most_bytes: int, *, size: int) -> None:
        """Count the `size` bytes that the body of the record at `place` was unpacked to, with its limit."""
        if place not in self._bodies:
            self._bodies[place] = most_bytes
            self._bodies_bytes += size

    def run(self, place: Place, window: Window | None = None) -> Run:
        """Return the run that begins at `place`.

        Parameters
        ----------
        place : where to begin.
        window : reads the source; None for a new window without limits.
        """
        window = window or Window(self.source)
        return PackedRun(window, place, self.packing) if self.packing else Run(window, place)

    def member_behind(self, start: int, window: Window) -> Place | None:
        """Return the first member after `start` that begins with a record, or None."""
        return _member_behind(self.packing, start, window) if self.packing else None


def _member_behind(packing: Packing, start: int, window: Window) -> Place | None:
    place, sign = start + 1, packing.sign
    try:
        while data := window.at(place, least=len(sign)):
            found = data.find(sign)
            if found < 0:  # the sign may span the end of the block
                place += max(len(data) - len(sign) + 1, 1)
                continue
            place += found
            if begins_record(window, place, packing):
                return Place(place)
            place += 1
    except InflateError:  # the archive is compressed in a WACZ file, and damaged there
        pass
    return None
