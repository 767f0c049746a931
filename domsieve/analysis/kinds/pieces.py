"""Strings of a page side by side in one row of bytes, so that a look for a word is one search through all of them.

Imports the columns and the Snapshot.
"""

from collections.abc import Iterable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import Ints
from domsieve.analysis.columns.hash import U64, span_hashes
from domsieve.analysis.columns.tables import ranges, sorted_set, stretch_sums
from domsieve.budget import check
from domsieve.snapshot.strings import StringTable

_BLANK = 32  # bytes up to this one are white space and controls
_LETTER = np.array([byte >= 128 or chr(byte).isalpha() for byte in range(256)], np.bool_)
_LOWER = np.array([ord(chr(byte).lower()) if byte < 128 else byte for byte in range(256)], np.uint8)


class Pieces:
    """The beginnings of S strings, with a zero byte behind each.

    Parameters
    ----------
    strings : where they are.
    ids : int64 (S,), which of them.
    longest : bytes of each that are read.

    Attributes
    ----------
    data : uint8, the bytes as they stand.
    first : int64 (S,), where each begins.
    """

    def __init__(self, strings: StringTable, ids: Ints, *, longest: int) -> None:
        start = strings.offsets[ids].astype(np.int64)
        whole = strings.offsets[ids + 1] - start
        size = np.minimum(whole, longest)
        at, _ = ranges(start, size + 1)
        self._beyond = whole - size
        self.first = np.cumsum(size + 1) - size - 1
        room = max(strings.blob.size - 1, 0)
        self.data = (
            np.zeros(at.size, np.uint8) if not strings.blob.size else strings.blob[np.minimum(at, room)]
        )
        self.data[self.first + size] = 0

    @cached_property
    def lower(self) -> NDArray[np.uint8]:
        """The bytes with ASCII in lower case."""
        return _LOWER[self.data]

    @cached_property
    def letter(self) -> NDArray[np.bool_]:
        """Which bytes are letters, or part of one that is not ASCII."""
        return _LETTER[self.data]

    @cached_property
    def _bytes(self) -> bytes:
        return self.lower.tobytes()

    def letters(self) -> Ints:
        """Return how many characters each has that are not blank; of what is longer, a byte more is one more."""
        # Bytes that go on with a character of several bytes begin with the bits 10.
        solid = (self.data > _BLANK) & ((self.data & 0xC0) != 0x80)
        return np.asarray(stretch_sums(solid, np.append(self.first, self.data.size)) + self._beyond)

    def holding(self, words: Iterable[bytes]) -> Ints:
        """Return which of them hold one of the words, given in lower case; ascending."""
        found: list[int] = []
        for word in words:
            at = self._bytes.find(word)
            while at >= 0:
                check()
                found.append(at)
                at = self._bytes.find(b"\0", at)
                at = self._bytes.find(word, at) if at >= 0 else -1
        places = np.array(found, np.int64)
        return sorted_set(np.searchsorted(self.first, places, side="right") - 1)

    def holding_both(self, stems: Iterable[bytes], words: tuple[bytes, ...]) -> Ints:
        """Return which of them hold one of the words; a stem is in each of these, so that few are looked through."""
        ends = np.append(self.first[1:], self.data.size)
        found = self.holding(stems)
        texts = [self._bytes[self.first[i] : ends[i]] for i in found.tolist()]
        return found[np.array([any(word in text for word in words) for text in texts], np.bool_)]

    def beginnings(self, most: int) -> U64:
        """Return the hash of how the first word of each begins, of `most` bytes in lower case; 0 without a word."""
        found = np.zeros(self.first.size, np.uint64)
        at, gaps = np.flatnonzero(self.letter), np.flatnonzero(~self.letter)
        begin = np.append(at, self.data.size)[np.searchsorted(at, self.first)]
        worded = np.flatnonzero(begin < np.append(self.first[1:], self.data.size))
        begin = begin[worded]
        close = np.minimum(begin + most, gaps[np.searchsorted(gaps, begin)])  # a gap is behind each string
        found[worded] = span_hashes(self.lower, begin, close)
        return found
