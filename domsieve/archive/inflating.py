"""One compressed stream, read forward and, where it is long, again from marks within.

Archives are made of short streams, one for each record. One that was compressed whole has a single long one: while it
is read the first time, copies of the decompressor are kept along the way, so that a page in the middle can be read
again without all that stands before it. Imports the budget.
"""

import zlib
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

from domsieve.archive.limits import ArchiveLimits
from domsieve.archive.source import Source, Window
from domsieve.budget import check

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
