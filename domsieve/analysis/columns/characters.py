"""What the characters of texts are, and where their words begin, over all texts of a page at once.

A word is a maximal run of letters, digits and underscores. Scripts that part no words are counted by characters:
an ideograph, a kana or a letter of Thai, Lao, Khmer or Burmese is a word of its own. Imports the hashes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntFlag, auto
from functools import cache

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import Bools, Ints
from domsieve.analysis.columns.hash import U64, span_hashes

_PLANE = 1 << 16


class CharIs(IntFlag):
    """Sets that a character may be in."""

    WORD = auto()
    SINGLE = auto()  # a word of its own
    UPPER = auto()
    LOWER = auto()
    DIGIT = auto()
    BLANK = auto()
    MARK = auto()
    COMMA = auto()
    END = auto()
    COLON = auto()
    QUESTION = auto()
    ARROW = auto()
    MONEY = auto()
    RIGHTS = auto()


_SETS = {
    CharIs.MARK: ".,;:!?。、，！？；：…",
    CharIs.COMMA: ",、，",
    CharIs.END: ".!?。！？…\"”'’",
    CharIs.COLON: ":：",
    CharIs.QUESTION: "?？",
    CharIs.ARROW: "|»›>→«‹<←·•/",
    CharIs.MONEY: "$€£¥₹₽₩￥",
    CharIs.RIGHTS: "©®",
}
SINGLES = (
    *((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3005, 0x3007), (0x3040, 0x30FF)),
    *((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0xFF66, 0xFF9F), (0x20000, 0x3FFFF)),
)
"""The first and the last character of each stretch whose characters are words of their own."""
_WITHIN = [(a, b) for a, b in SINGLES if b < _PLANE]
_BEYOND = [(a, b) for a, b in SINGLES if a >= _PLANE]


@dataclass(frozen=True, slots=True, eq=False)
class Characters:
    """The C characters of T texts, those of text t from ``first[t]`` to ``first[t + 1] - 1``.

    Parameters
    ----------
    folded : uint16 (C,), the characters in lower case; those beyond the basic plane are 0xFFFF.
    kind : uint16 (C,), bits of `CharIs`.
    first : int64 (T + 1,).
    begin, close : int64 (W,), word w is ``begin[w] .. close[w] - 1``; words ascend.
    """

    folded: NDArray[np.uint16]
    kind: NDArray[np.uint16]
    first: Ints
    begin: Ints
    close: Ints

    @classmethod
    def of(cls, texts: Sequence[str]) -> "Characters":
        """Return the characters of the texts; O(characters)."""
        codes = np.frombuffer("\n".join((*texts, "")).encode("utf-32-le", "surrogatepass"), "<u4")
        first = np.zeros(len(texts) + 1, np.int64)
        np.cumsum([len(text) + 1 for text in texts], out=first[1:])
        plane = np.minimum(codes, _PLANE - 1).astype(np.uint16)
        kinds, lower = _tables()
        kind = kinds[plane]
        if codes.size and codes.max() >= _PLANE:
            for a, b in _BEYOND:
                kind[(codes >= a) & (codes <= b)] = CharIs.WORD | CharIs.SINGLE
        word, single = (kind & CharIs.WORD) != 0, (kind & CharIs.SINGLE) != 0
        starts, ends = word.copy(), word.copy()
        joined = word[1:] & word[:-1] & ~(single[1:] | single[:-1])
        starts[1:] &= ~joined
        ends[:-1] &= ~joined
        return cls(lower[plane], kind, first, np.flatnonzero(starts), np.flatnonzero(ends) + 1)

    def count(self, marked: Bools) -> Ints:
        """Return how many `marked` (C,) characters each text has, shape (T,)."""
        before = np.zeros(marked.size + 1, np.int64)
        np.cumsum(marked, out=before[1:])
        return np.diff(before[self.first])

    def having(self, kind: CharIs) -> Ints:
        """Return how many characters of one of the kinds each text has, shape (T,)."""
        return self.count((self.kind & kind) != 0)

    @property
    def words(self) -> Ints:
        """Number of words of each text, shape (T,)."""
        return np.diff(np.searchsorted(self.begin, self.first))

    def years(self) -> Ints:
        """Return how many words of each text are numbers from 1900 to 2099, shape (T,)."""
        four = self.begin[self.close - self.begin == _YEAR_DIGITS]
        digits = self.folded[four[:, None] + np.arange(_YEAR_DIGITS)]
        number = digits.astype(np.int64) - ord("0")
        value = number @ np.array([1000, 100, 10, 1])
        years = ((number >= 0) & (number < 10)).all(axis=1) & (value >= _YEARS[0]) & (value < _YEARS[1])
        return np.diff(np.searchsorted(four[years], self.first))

    def hashes(self) -> U64:
        """Return the hash of each of the W words in lower case."""
        data = self.folded.astype("<u2", copy=False).view(np.uint8)
        return span_hashes(data, 2 * self.begin, 2 * self.close)


_YEAR_DIGITS, _YEARS = 4, (1900, 2100)


def kinds_of(characters: str) -> NDArray[np.uint16]:
    """Return the bits of `CharIs` of each character."""
    codes = np.frombuffer(characters.encode("utf-32-le", "surrogatepass"), "<u4")
    kinds: NDArray[np.uint16] = _tables()[0][np.minimum(codes, _PLANE - 1)]
    return kinds


@cache
def _tables() -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
    """Return the kinds of all characters of the basic plane, and each in lower case."""
    kinds, lower = np.zeros(_PLANE, np.uint16), np.arange(_PLANE, dtype=np.uint16)
    looked_at = np.ones(_PLANE, np.bool_)
    for a, b, kind in _ALIKE:
        kinds[a : b + 1] = kind
        looked_at[a : b + 1] = False
    looked_at[-1] = False
    codes = np.flatnonzero(looked_at)
    chars = [*map(chr, codes.tolist())]
    for kind, test in _TESTS.items():
        kinds[codes[np.fromiter(map(test, chars), np.bool_, len(chars))]] |= np.uint16(kind)
    kinds[ord("_")] |= np.uint16(CharIs.WORD)
    capital = np.flatnonzero(kinds & CharIs.UPPER).tolist()
    # Some capitals have two letters in lower case; they stay.
    lower[capital] = [ord(low) if len(low := chr(c).lower()) == 1 else c for c in capital]
    for a, b in _WITHIN:
        kinds[a : b + 1] |= np.uint16(CharIs.WORD | CharIs.SINGLE)
    for kind, members in _SETS.items():
        kinds[[ord(char) for char in members]] |= np.uint16(kind)
    return kinds, lower


# Long stretches of one kind, so that a program's first page need not wait for tests of each character.
_ALIKE = (
    *((a, b, CharIs.WORD) for a, b in ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3))),
    (0xD800, 0xF8FF, CharIs(0)),  # surrogates and private use
)
_TESTS = {
    CharIs.WORD: str.isalnum,
    CharIs.DIGIT: str.isdigit,
    CharIs.UPPER: str.isupper,
    CharIs.LOWER: str.islower,
    CharIs.BLANK: str.isspace,
}
