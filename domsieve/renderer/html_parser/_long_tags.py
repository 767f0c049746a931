"""Limit the number of attributes per tag, because parsers take quadratic time for them."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from domsieve.budget import check

MOST_ATTRIBUTES = 4096
"""Maximum number of attributes of a tag: libxml2 and lxml take quadratic time, which is seconds for 20,000."""

_LEAST_BYTES = 2 * MOST_ATTRIBUTES  # of a tag with more
_MOST_BLANKS = 8  # bytes searched before a quote

_START = re.compile(rb"<[A-Za-z]")
_NAME = re.compile(rb"<[^\s/>]++")
_ATTRIBUTE = re.compile(rb"[^\s/>=]++(?:\s*+=\s*+(?:(\"[^\"]*+\"|'[^']*+')|[^\s>\"'][^\s>]*+)?)?")
_TAG = re.compile(
    rb"<[^\s/>]++(?:[\s/=]++|[^\s/>=]++(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s>\"'][^\s>]*+)?+)?+)*+"
)
# How often a byte may be scanned, because it may belong to several tags; once in ordinary pages.
_LOOKS, _LOOKS_AT_ANY = 4, 1_000_000


def with_few_attributes(data: bytes) -> tuple[bytes, list[str]]:
    """Cut every tag after its first 4,096 attributes; return the document and the reasons why it is shorter.

    Every ``<`` before a letter may begin a tag, even in a comment or an attribute value: only the parser knows, and
    no tag that it sees may be missed. Takes linear time, unless something is cut.
    """
    reasons: list[str] = []
    if _scanned(data, *_may_be_long(data)).is_whole:
        return data, reasons
    while True:
        scanned = _scanned(data, (found.start() for found in _START.finditer(data)), 0)
        if scanned.stop is not None:
            reasons.append(
                f"What stands behind {scanned.stop:,} bytes was not read: its tags stand in each other."
            )
            data = data[: scanned.stop]
        if not scanned.cut:
            return data, reasons
        reasons = [f"Of a tag only the first {MOST_ATTRIBUTES} attributes were read."]
        data = b"".join((*scanned.pieces, data[scanned.cut :]))


@dataclass(frozen=True, slots=True)
class _Scanned:
    """The parts of a document to keep; after `cut`, everything up to `stop` (or the end, for None) is left out."""

    pieces: list[bytes]
    cut: int
    stop: int | None

    @property
    def is_whole(self) -> bool:
        return not self.cut and self.stop is None


def _may_be_long(data: bytes) -> tuple[list[int], int]:
    """Return where tags may begin that have too many attributes, and an upper bound of the bytes of all others.

    A tag ends at the first ``>`` outside of attribute values. Inside a value, the last quote before the ``>`` opens
    the value and follows a ``=``. If it does not, the ``>`` certainly ends a tag.
    """
    codes = np.frombuffer(data or b" ", np.uint8)
    start = np.flatnonzero(codes[:-1] == ord("<"))
    letter = codes[start + 1] | 32  # in lower case
    start = start[(letter >= ord("a")) & (letter <= ord("z"))]
    end = np.flatnonzero(codes == ord(">"))
    for quote in b"\"'":
        end = end[~_opened_before(codes, end, np.flatnonzero(codes == quote))]
    size = np.append(end, codes.size)[np.searchsorted(end, start)] + 1 - start
    is_long = size > _LEAST_BYTES
    return start[is_long].tolist(), int(size[~is_long].sum())


def _opened_before(
    codes: NDArray[np.uint8], place: NDArray[np.intp], quote: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Return at which positions the last quote may open a value."""
    if not quote.size:
        return np.zeros(place.size, np.bool_)
    last = np.searchsorted(quote, place) - 1
    before = quote[last] - 1
    for _ in range(_MOST_BLANKS):
        blank = np.flatnonzero((codes[before] <= ord(" ")) & (before > 0))
        if not blank.size:
            break
        before[blank] -= 1
    opens = (codes[before] == ord("=")) | (codes[before] <= ord(" "))
    return np.asarray(opens & (last >= 0))


def _scanned(data: bytes, starts: Iterable[int], looked: int) -> _Scanned:
    """Return the parts to keep of a document whose tags may begin at `starts`; `looked` bytes were scanned before."""
    pieces: list[bytes] = []
    cut = 0
    scans: list[_Scan] = []
    for start in starts:
        check()
        scans = [scan for scan in scans if scan.end > start]
        if start < cut or any(scan.goes_on_at(start) for scan in scans):
            continue
        if looked > _LOOKS * len(data) + _LOOKS_AT_ANY:
            return _Scanned(pieces, cut, start)
        scans.append(scan := _Scan(data, start))
        looked += scan.end - start
        last = scan.last_to_read() if scan.end - start > _LEAST_BYTES else None
        if last is not None:
            pieces.append(data[cut:last])
            cut = scan.end
    return _Scanned(pieces, cut, None)


class _Scan:
    """A possible tag from `start` to `end`."""

    def __init__(self, data: bytes, start: int) -> None:
        self._data, self._start = data, start
        found = _TAG.match(data, start)
        self.end = found.end() if found else start
        self._values: tuple[list[int], list[int]] | None = None

    def goes_on_at(self, place: int) -> bool:
        """Return whether a position is in the tag, outside of quotes; a tag there would end where this one does."""
        if self._values is None:
            spans = [found.span(1) for found in self._attributes() if found[1]]
            self._values = [start for start, _ in spans], [end for _, end in spans]
        starts, ends = self._values
        at = bisect_right(starts, place) - 1
        return at < 0 or place >= ends[at]

    def last_to_read(self) -> int | None:
        """Return where the last attribute to keep ends; None if there are no more attributes."""
        few = [found.end() for found in islice(self._attributes(), MOST_ATTRIBUTES + 1)]
        return few[MOST_ATTRIBUTES - 1] if len(few) > MOST_ATTRIBUTES else None

    def _attributes(self) -> Iterator[re.Match[bytes]]:
        name = _NAME.match(self._data, self._start)
        return _ATTRIBUTE.finditer(self._data, name.end() if name else self._start, self.end)
