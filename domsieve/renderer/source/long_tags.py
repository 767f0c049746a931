"""Source whose tags have no more attributes than a parser takes quickly. Imports the budget."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice

from domsieve.budget import check

MOST_ATTRIBUTES = 4096
"""Attributes of a tag that are read: libxml2 and lxml take time quadratic in them, seconds for 20,000."""

_START = re.compile(rb"<[A-Za-z]")
_NAME = re.compile(rb"<[^\s/>]++")
_ATTRIBUTE = re.compile(rb"[^\s/>=]++(?:\s*+=\s*+(?:(\"[^\"]*+\"|'[^']*+')|[^\s>\"'][^\s>]*+)?)?")
_TAG = re.compile(
    rb"<[^\s/>]++(?:[\s/=]++|[^\s/>=]++(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s>\"'][^\s>]*+)?+)?+)*+"
)
# How often a byte may be looked at, as one that may belong to several tags; in honest pages once.
_LOOKS, _LOOKS_AT_ANY = 4, 1_000_000


def with_few_attributes(data: bytes) -> tuple[bytes, list[str]]:
    """Return a document without what stands behind the first 4,096 attributes of a tag, and why it is shorter.

    Every ``<`` with a letter may begin a tag, also one that stands in a comment or in a value of another: only the
    parser knows, and no tag that it sees may be overlooked. O(bytes), unless something is cut.
    """
    reasons: list[str] = []
    while True:
        pieces: list[bytes] = []
        cut = looked = 0
        scans: list[_Scan] = []
        for found in _START.finditer(data):
            check()
            start = found.start()
            scans = [scan for scan in scans if scan.end > start]
            if start < cut or any(scan.goes_on_at(start) for scan in scans):
                continue
            if looked > _LOOKS * len(data) + _LOOKS_AT_ANY:
                reasons.append(
                    f"What stands behind {start:,} bytes was not read: its tags stand in each other."
                )
                data = data[:start]
                break
            scans.append(scan := _Scan(data, start))
            looked += scan.end - start
            last = scan.last_to_read() if scan.end - start > 2 * MOST_ATTRIBUTES else None
            if last is not None:
                pieces.append(data[cut:last])
                cut = scan.end
        if not cut:
            return data, reasons
        reasons = [f"Of a tag only the first {MOST_ATTRIBUTES} attributes were read."]
        data = b"".join((*pieces, data[cut:]))


class _Scan:
    """A tag that begins at `start`, if one does, up to its `end`."""

    def __init__(self, data: bytes, start: int) -> None:
        self._data, self._start = data, start
        found = _TAG.match(data, start)
        self.end = found.end() if found else start
        self._values: tuple[list[int], list[int]] | None = None

    def goes_on_at(self, place: int) -> bool:
        """Return whether a place is in the tag and in no quotes: what would begin there ends as this tag does."""
        if self._values is None:
            spans = [found.span(1) for found in self._attributes() if found[1]]
            self._values = [start for start, _ in spans], [end for _, end in spans]
        starts, ends = self._values
        at = bisect_right(starts, place) - 1
        return at < 0 or place >= ends[at]

    def last_to_read(self) -> int | None:
        """Return where the last attribute that is read ends, None when there is no further one."""
        few = [found.end() for found in islice(self._attributes(), MOST_ATTRIBUTES + 1)]
        return few[MOST_ATTRIBUTES - 1] if len(few) > MOST_ATTRIBUTES else None

    def _attributes(self) -> Iterator[re.Match[bytes]]:
        name = _NAME.match(self._data, self._start)
        return _ATTRIBUTE.finditer(self._data, name.end() if name else self._start, self.end)
