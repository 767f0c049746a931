"""Archives as segments of unpacked bytes, each of whole records, for gzip and Zstandard alike."""

from bisect import bisect_right
from typing import NamedTuple, Protocol

from zstandard import ZstdCompressionDict

from domsieve.archive.decompression import (
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
    """A packed stretch that is being read; see `Inflating`."""

    start: int
    plain: int
    packed: int
    ended: bool

    def read(self, count: int) -> bytes:
        """Return up to `count` unpacked bytes; none at the end only."""
        ...


class Packing(Protocol):
    """How the members of an archive are packed."""

    @property
    def name(self) -> str:
        """``"gzip"`` or ``"zstd"``."""
        ...

    @property
    def sign(self) -> bytes:
        """What a member begins with."""
        ...

    def member(self, window: Window, start: int, *, skip: int = 0) -> Member:
        """Return the member that begins at a place, read from an unpacked place in it.

        Raises
        ------
        InflateError : it is damaged, breaks off, or unpacks to too much, also while it is read.
        """
        ...

    def glimpse(self, window: Window, start: int) -> Member:
        """Return the member that begins at a place, of which a few bytes are wanted; raises as `member`."""
        ...

    def behind_gap(self, window: Window, place: int) -> int:
        """Return where the next member stands behind one, or the end of the archive; raises as `member`."""
        ...

    def release(self, member: Member) -> None:
        """Hear that a member is read no more."""
        ...


class GzipPacking:
    """Members of gzip."""

    name, sign = "gzip", GZIP_SIGN

    def __init__(self, limits: ArchiveLimits) -> None:
        self._limits = limits
        self._marks = Marks()

    def member(self, window: Window, start: int, *, skip: int = 0) -> Inflating:
        """Return the member that begins at a place."""
        return Inflating(window, start, GZIP, limits=self._limits, marks=self._marks, skip=skip)

    def glimpse(self, window: Window, start: int) -> Inflating:
        """Return the member that begins at a place, without what costs more."""
        return Inflating(window, start, GZIP, limits=self._limits, marks=Marks(), salvages=False)

    def behind_gap(self, window: Window, place: int) -> int:
        """Return what stands behind zeros, which may fill a block."""
        while (data := window.at(place)) and not data.strip(b"\0"):
            place += len(data)
        return place + len(data) - len(data.lstrip(b"\0"))

    def release(self, member: Member) -> None:
        """Do nothing: marks are kept."""


class ZstdPacking:
    """Frames of Zstandard, with the dictionary that the archive begins with.

    Parameters
    ----------
    source : the archive.
    limits : what is read of it.
    """

    name, sign = "zstd", FRAME_SIGN

    def __init__(self, source: Source, limits: ArchiveLimits) -> None:
        self._source, self._limits = source, limits
        self._spared = SparedFrame()
        self._dictionary: ZstdCompressionDict | None = None
        self._is_read = False

    def member(self, window: Window, start: int, *, skip: int = 0) -> ZstdFrame:
        """Return the frame that begins at a place, or behind what is skipped there."""
        return self._spared.take(start, skip) or self._frame(window, start, skip)

    def glimpse(self, window: Window, start: int) -> ZstdFrame:
        """Return the frame that begins at a place."""
        return self._frame(window, start, 0)

    def behind_gap(self, window: Window, place: int) -> int:
        """Return what stands behind frames that hold no data."""
        return behind_skipped(window, place)

    def release(self, member: Member) -> None:
        """Keep a long frame for the next page in it."""
        if isinstance(member, ZstdFrame):
            self._spared.keep(member)

    def _frame(self, window: Window, start: int, skip: int) -> ZstdFrame:
        if not self._is_read:
            self._dictionary = dictionary_of(Window(self._source), self._limits)
            self._is_read = True
        return ZstdFrame(window, start, self._dictionary, limits=self._limits, skip=skip)


def packing_named(name: str, source: Source, limits: ArchiveLimits) -> Packing | None:
    """Return the packing of that name for an archive; None where it has none."""
    return GzipPacking(limits) if name == "gzip" else ZstdPacking(source, limits) if name == "zstd" else None


RECORD_SIGN = b"WARC/"
_AT_ONCE = 65_536
_LINE_ENDS = b"\r\n"
_PEEKED = 64


class Place(NamedTuple):
    """Where something stands in an archive.

    Parameters
    ----------
    start : bytes before it, or before the packed member that it lies in.
    skip : unpacked bytes before it in that member.
    """

    start: int
    skip: int = 0

    def __str__(self) -> str:
        return f"byte {self.start:,}" + (f", {self.skip:,} unpacked" if self.skip else "")


class Run:
    """Unpacked bytes from a place on; readers of files take it for one.

    Attributes
    ----------
    following : where the next run begins; None at the end of the archive, and where it is not known.
    damage : why the run ends before the archive does; empty where it does not.
    damaged_from : the beginning of the damaged member.
    """

    def __init__(self, window: Window, place: Place) -> None:
        self._window = window
        self._place = place
        self._from = sum(place)  # what a plain archive skips, it has not packed
        self._given = 0
        self.following: Place | None = None
        self.damage = ""
        self.damaged_from = place.start

    def read(self, count: int = -1) -> bytes:
        """Return up to `count` bytes, or some; none at the end only."""
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
        """Refuse: readers of files have this, those of records do without."""
        raise OSError("a run is read forward only")

    def close(self) -> None:
        """Do nothing; nothing is open."""

    def release(self) -> None:
        """Hear that nothing more is read."""

    def tell(self) -> int:
        """Return how many bytes were read."""
        return self._given

    def place_of(self, position: int) -> Place:
        """Return where in the archive a byte stands that `position` bytes of the run stand before."""
        return Place(self._from + position)  # where nothing is packed, nothing is skipped

    def _part(self, count: int) -> bytes:
        part = self._window.at(self._from + self._given)[:count]
        self._window.count_unpacked(len(part))
        return part


class PackedRun(Run):
    """A run of an archive that is packed."""

    def __init__(self, window: Window, place: Place, packing: Packing) -> None:
        super().__init__(window, place)
        self._packing = packing
        self._member: Member | None = None
        self._is_over = False
        # Where in the run its members begin; the first, before it.
        self._begins = [-place.skip]
        self._starts = [place.start]

    def place_of(self, position: int) -> Place:
        """Return where in the archive a byte stands that `position` bytes of the run stand before."""
        number = bisect_right(self._begins, position) - 1
        return Place(self._starts[number], position - self._begins[number])

    def release(self) -> None:
        """Hear that nothing more is read."""
        if self._member:
            self._packing.release(self._member)

    def _part(self, count: int) -> bytes:
        while not self._is_over:
            if self._member is None:
                self._member = self._at(self._place.start, skip=self._place.skip)
            if part := self._member.read(count):
                return part
            self._go_on(self._member.packed)
        return b""

    def _at(self, start: int, *, skip: int = 0) -> Member:
        self.damaged_from = start
        return self._packing.member(self._window, start, skip=skip)

    def _go_on(self, packed: int) -> None:
        """Go on behind a member, if what is there belongs to the same run."""
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
    """Return whether a packed member that begins here begins with a record; None where there is no member."""
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
    """An archive that can be read from any place.

    Parameters
    ----------
    source : its bytes.
    limits : what is read of it.

    Attributes
    ----------
    packing : how its members are packed; None where nothing is.
    """

    def __init__(self, source: Source, limits: ArchiveLimits) -> None:
        self.source, self.limits = source, limits
        self.packing = self._packing()

    def __getstate__(self) -> tuple[Source, ArchiveLimits, str]:
        # What was seen of it is of this process.
        return self.source, self.limits, self.packing.name if self.packing else ""

    def __setstate__(self, state: tuple[Source, ArchiveLimits, str]) -> None:
        self.source, self.limits, name = state
        self.packing = packing_named(name, self.source, self.limits)

    def _packing(self) -> Packing | None:
        """Return how it is packed, as its beginning says, or else the first member in it."""
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
        """Return what reads through the archive, and over again where it is damaged, as far as the limits go."""
        limits, size = self.limits, self.source.size
        most_unpacked = limits.unpacked_bytes(size)
        return Window(self.source, (limits.free_bytes + limits.readings * size, most_unpacked))

    def run(self, place: Place, window: Window | None = None) -> Run:
        """Return the run from a place on."""
        window = window or Window(self.source)
        return PackedRun(window, place, self.packing) if self.packing else Run(window, place)

    def member_behind(self, start: int, window: Window) -> Place | None:
        """Return the first member behind a damaged one that begins with a record; None without one."""
        return _member_behind(self.packing, start, window) if self.packing else None


def _member_behind(packing: Packing, start: int, window: Window) -> Place | None:
    place, sign = start + 1, packing.sign
    try:
        while data := window.at(place, least=len(sign)):
            found = data.find(sign)
            if found < 0:  # the sign may stand across the end of the block
                place += max(len(data) - len(sign) + 1, 1)
                continue
            place += found
            if begins_record(window, place, packing):
                return Place(place)
            place += 1
    except InflateError:  # the source itself is packed, and damaged
        pass
    return None
