"""Archives as runs of unpacked bytes, each of whole records: what a reader of records is given.

An archive is plain, or packed by gzip with a member for each record, for some, or for all; a record may even lie in
several members. A run ends where a member with a new record begins, so that a record whose length is a lie cannot
reach into the next, and where the archive is damaged.
"""

from bisect import bisect_right
from typing import NamedTuple

from domsieve.archive.inflating import GZIP, GZIP_SIGN, InflateError, Inflating, Marks
from domsieve.archive.limits import ArchiveLimits
from domsieve.archive.source import ReadOverError, Source, Window

RECORD_SIGN = b"WARC/"
_AT_ONCE = 65_536
_LINE_ENDS = b"\r\n"
_PEEKED = 64


class Place(NamedTuple):
    """Where something stands in an archive.

    Parameters
    ----------
    start : bytes before it, or before the gzip member that it lies in.
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


class GzipRun(Run):
    """A run of an archive that is packed by gzip."""

    def __init__(self, window: Window, place: Place, limits: ArchiveLimits, marks: Marks) -> None:
        super().__init__(window, place)
        self._limits, self._marks = limits, marks
        self._member: Inflating | None = None
        self._is_over = False
        # Where in the run its members begin; the first, before it.
        self._begins = [-place.skip]
        self._starts = [place.start]

    def place_of(self, position: int) -> Place:
        """Return where in the archive a byte stands that `position` bytes of the run stand before."""
        number = bisect_right(self._begins, position) - 1
        return Place(self._starts[number], position - self._begins[number])

    def _part(self, count: int) -> bytes:
        while not self._is_over:
            if self._member is None:
                self._member = self._at(self._place.start, skip=self._place.skip)
            if part := self._member.read(count):
                return part
            self._go_on(self._member.packed)
        return b""

    def _at(self, start: int, *, skip: int = 0) -> Inflating:
        self.damaged_from = start
        return Inflating(self._window, start, GZIP, limits=self._limits, marks=self._marks, skip=skip)

    def _go_on(self, packed: int) -> None:
        """Go on behind a member, if what is there belongs to the same run."""
        self._is_over = True
        while (data := self._window.at(packed)) and not data.strip(b"\0"):
            packed += len(data)
        if not data:
            return
        start = packed + len(data) - len(data.lstrip(b"\0"))
        if begins_record(self._window, start, self._limits) is not False:
            self.following = Place(start)
            return
        self._member = self._at(start)
        self._begins.append(self._given)
        self._starts.append(start)
        self._is_over = False


def begins_record(window: Window, start: int, limits: ArchiveLimits) -> bool | None:
    """Return whether a gzip member that begins here begins with a record; None where there is no member."""
    if window.at(start)[:1] != GZIP_SIGN[:1]:
        return None
    try:
        member = Inflating(window, start, GZIP, limits=limits, marks=Marks(), salvages=False)
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
    """

    def __init__(self, source: Source, limits: ArchiveLimits) -> None:
        self.source, self.limits = source, limits
        self._marks = Marks()
        self.is_packed = self._seems_packed()

    def __getstate__(self) -> tuple[Source, ArchiveLimits, bool]:
        # What was seen of it is of this process.
        return self.source, self.limits, self.is_packed

    def __setstate__(self, state: tuple[Source, ArchiveLimits, bool]) -> None:
        self.source, self.limits, self.is_packed = state
        self._marks = Marks()

    def _seems_packed(self) -> bool:
        try:
            head = self.source.read_at(0, _PEEKED)
            if head.startswith(GZIP_SIGN) or head.lstrip(_LINE_ENDS).startswith(RECORD_SIGN):
                return head.startswith(GZIP_SIGN)
            return self.member_behind(-1, self.window()) is not None
        except (InflateError, ReadOverError):
            return False

    def window(self) -> Window:
        """Return what reads through the archive, and over again where it is damaged, as far as the limits go."""
        limits, size = self.limits, self.source.size
        most_unpacked = limits.free_stretches * limits.free_bytes + limits.expansion_ratio * size
        return Window(self.source, (limits.free_bytes + limits.readings * size, most_unpacked))

    def run(self, place: Place, window: Window | None = None) -> Run:
        """Return the run from a place on."""
        window = window or Window(self.source)
        if self.is_packed:
            return GzipRun(window, place, self.limits, self._marks)
        return Run(window, place)

    def member_behind(self, start: int, window: Window) -> Place | None:
        """Return the first gzip member behind a damaged one that begins with a record; None without one."""
        place = start + 1
        try:
            while data := window.at(place, least=len(GZIP_SIGN)):
                found = data.find(GZIP_SIGN)
                if found < 0:  # the sign may stand across the end of the block
                    place += max(len(data) - len(GZIP_SIGN) + 1, 1)
                    continue
                place += found
                if begins_record(window, place, self.limits):
                    return Place(place)
                place += 1
        except InflateError:  # the source itself is packed, and damaged
            pass
        return None
