"""How an archive is packed, by gzip or by Zstandard: what a reader of its members need not tell apart.

Imports how members of either kind are unpacked.
"""

from typing import Protocol

from zstandard import ZstdCompressionDict

from domsieve.archive.inflating import GZIP, GZIP_SIGN, Inflating, Marks
from domsieve.archive.limits import ArchiveLimits
from domsieve.archive.source import Source, Window
from domsieve.archive.zstd_frames import FRAME_SIGN, SparedFrame, ZstdFrame, behind_skipped, dictionary_of


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
