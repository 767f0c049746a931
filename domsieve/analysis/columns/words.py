"""Characters and words of all texts of a batch, as arrays and hashes, without a Python object per word."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntFlag, auto
from functools import cache
from itertools import chain, groupby

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import Batch, Bools, Ints
from domsieve.analysis.columns.hash import U64, span_hashes
from domsieve.analysis.columns.tables import grouping, ranges, sorted_set

_PLANE = 1 << 16
WORDS_PER_SINGLE = 0.625
"""A word has about 1.6 characters in scripts without spaces; multiples of 1/8 add up exactly."""


class CharIs(IntFlag):
    """Classes of characters, as bits."""

    WORD = auto()
    SINGLE = auto()  # counts as a word by itself
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
"""First and last code point of each range whose characters count as words by themselves."""
_WITHIN = [(a, b) for a, b in SINGLES if b < _PLANE]
_BEYOND = [(a, b) for a, b in SINGLES if a >= _PLANE]


@dataclass(frozen=True, slots=True, eq=False)
class Characters:
    """The C characters of T texts, those of text t from ``first[t]`` to ``first[t + 1] - 1``.

    Parameters
    ----------
    folded : uint16 (C,), the characters in lower case; 0xFFFF outside of the Basic Multilingual Plane.
    kind : uint16 (C,), bits of `CharIs`.
    first : int64 (T + 1,), the first character of each text.
    begin, close : int64 (W,), word w has the characters ``begin[w] .. close[w] - 1``; ascending.
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
        """Return the number of `marked` (C,) characters in each text, shape (T,)."""
        before = np.zeros(marked.size + 1, np.int64)
        np.cumsum(marked, out=before[1:])
        return np.diff(before[self.first])

    def having(self, kind: CharIs) -> Ints:
        """Return the number of characters of these classes in each text, shape (T,)."""
        return self.count((self.kind & kind) != 0)

    @property
    def words(self) -> Ints:
        """Number of words in each text, shape (T,)."""
        return np.diff(np.searchsorted(self.begin, self.first))

    def years(self) -> Ints:
        """Return how many words in each text are numbers from 1900 to 2099, shape (T,)."""
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
    """Return the class of each character of the Basic Multilingual Plane, and its lower case."""
    kinds, lower = np.zeros(_PLANE, np.uint16), np.arange(_PLANE, dtype=np.uint16)
    untested = np.ones(_PLANE, np.bool_)
    for a, b, kind in _ALIKE:
        kinds[a : b + 1] = kind
        untested[a : b + 1] = False
    untested[-1] = False
    codes = np.flatnonzero(untested)
    chars = [*map(chr, codes.tolist())]
    for kind, test in _TESTS.items():
        kinds[codes[np.fromiter(map(test, chars), np.bool_, len(chars))]] |= np.uint16(kind)
    kinds[ord("_")] |= np.uint16(CharIs.WORD)
    capital = np.flatnonzero(kinds & CharIs.UPPER).tolist()
    # A few capitals become two characters in lower case. They are kept as they are.
    lower[capital] = [ord(low) if len(low := chr(c).lower()) == 1 else c for c in capital]
    for a, b in _WITHIN:
        kinds[a : b + 1] |= np.uint16(CharIs.WORD | CharIs.SINGLE)
    for kind, members in _SETS.items():
        kinds[[ord(char) for char in members]] |= np.uint16(kind)
    return kinds, lower


# Long ranges of one class. Testing each of their characters would delay the first page of every process.
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


_BLANK = ord(" ")
# Upper case to lower case, and ASCII other than letters and digits to a space.
_FOLD = bytes(c if c >= 128 else ord(chr(c).lower()) if chr(c).isalnum() else _BLANK for c in range(256))
_FOLD_LINES = _FOLD[: ord("\n")] + b"\n" + _FOLD[ord("\n") + 1 :]
_LONG = 1_000  # up to this many characters, combining marks in any order cost next to nothing
_GAPS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """The W words in the T strings of a batch.

    Parameters
    ----------
    data : uint8, the words in canonical form, as UTF-8.
    begin, close : (W,), word w is ``data[begin[w]:close[w]]``.
    start, stop : (T,), string s has the words ``start[s] .. stop[s] - 1``.
    """

    data: NDArray[np.uint8]
    begin: Ints
    close: Ints
    start: Ints
    stop: Ints

    def hashes(self, words: Ints) -> U64:
        """Return the hash of each of these words."""
        return span_hashes(self.data, self.begin[words], self.close[words])

    def within(self, string: Ints) -> tuple[Ints, Ints]:
        """Return the words of these strings, in order.

        Returns
        -------
        which, word : for each word, the position in `string` that it belongs to, and the index of the word.
        """
        word, which = ranges(self.start[string], self.stop[string] - self.start[string])
        return which, word

    def distinct(self) -> tuple[list[str], Ints]:
        """Return the distinct words, and the index of each of the W words among them."""
        same = grouping(self.hashes(np.arange(self.begin.size)))
        data, sample = self.data.tobytes(), same.sample
        spans = zip(self.begin[sample].tolist(), self.close[sample].tolist(), strict=True)
        return [str(data[a:b], "utf-8", "replace") for a, b in spans], same.code


def fold(text: str) -> str:
    """Return `text` with its words in canonical form and everything between them replaced by one space."""
    if not text.isascii():
        return _GAPS.sub(" ", _normal(text).lower())
    folded = text.encode().translate(_FOLD).decode()
    words = " ".join(folded.split())
    if not words:
        return " " if text else ""
    return f"{' ' * folded.startswith(' ')}{words}{' ' * folded.endswith(' ')}"


def folded(texts: Sequence[str]) -> list[str]:
    """Return the words of each text in canonical form, separated by single spaces."""
    # All ASCII texts are folded in one call, one per line.
    lines = "\n".join([text.replace("\n", " ") for text in texts if text.isascii()])
    plain = iter(lines.encode().translate(_FOLD_LINES).decode().split("\n"))
    return [" ".join((next(plain) if text.isascii() else fold(text)).split()) for text in texts]


def _normal(text: str) -> str:
    """Return `text` in the normal form NFKC, in O(n log n).

    Python takes quadratic time in the number of combining marks after one letter: seconds for 30,000 of them. If they
    are in canonical order, it takes linear time, so the marks of long texts are sorted first.
    """
    if len(text) > _LONG and not text.isascii():
        parts = {character: unicodedata.normalize("NFKD", character) for character in set(text)}
        if not any(unicodedata.combining(part[0]) for part in parts.values()):
            return unicodedata.normalize("NFKC", text)  # no runs of marks
        rank = {mark: unicodedata.combining(mark) for part in parts.values() for mark in part}
        runs = groupby("".join(map(parts.__getitem__, text)), key=lambda character: rank[character] > 0)
        text = "".join(
            chain.from_iterable(sorted(run, key=rank.__getitem__) if marks else run for marks, run in runs)
        )
    return unicodedata.normalize("NFKC", text)


def words_of(batch: Batch, wanted: NDArray[np.bool_]) -> Words:
    """Return the words of the `wanted` (T,) strings, and no words for the others; O(bytes)."""
    lengths = np.diff(batch.strings.offsets).astype(np.int64)
    data = batch.strings.blob[np.repeat(wanted, lengths)]
    cuts = np.concatenate(([0], np.cumsum(np.where(wanted, lengths, 0))))
    if data.size and int(data.max()) >= 128:
        data, cuts = _ascii_or_folded(data, cuts)
    data = np.frombuffer(data.tobytes().translate(_FOLD), np.uint8)
    inside = np.zeros(data.size + 2, np.bool_)
    np.not_equal(data, _BLANK, out=inside[1:-1])
    starts, stops = inside[1:] & ~inside[:-1], inside[:-1] & ~inside[1:]
    # A word ends where its string ends.
    starts[cuts] = inside[cuts + 1]
    stops[cuts] = inside[cuts]
    begin, close = np.flatnonzero(starts), np.flatnonzero(stops)
    first = np.searchsorted(begin, cuts)
    return Words(data, begin, close, first[:-1], first[1:])


def _ascii_or_folded(data: NDArray[np.uint8], cuts: Ints) -> tuple[NDArray[np.uint8], Ints]:
    """Return `data` with its non-ASCII words folded, and where its strings start then."""
    wide = np.flatnonzero(data >= 128)
    blank = np.flatnonzero(data <= _BLANK)
    edges = np.concatenate(([-1], blank, [data.size]))
    after = np.searchsorted(edges, wide)
    string = np.searchsorted(cuts, wide, side="right")
    begin = sorted_set(np.maximum(edges[after - 1] + 1, cuts[string - 1]))
    close = sorted_set(np.minimum(edges[after], cuts[string]))
    folded = cache(lambda part: fold(str(part, "utf-8", "replace")).encode("utf-8", "replace"))
    raw = data.tobytes()
    parts = [folded(raw[a:b]) for a, b in zip(begin.tolist(), close.tolist(), strict=True)]
    plain = [raw[a:b] for a, b in zip([0, *close.tolist()], [*begin.tolist(), len(raw)], strict=True)]
    whole = b"".join(chain.from_iterable(zip(plain, [*parts, b""], strict=True)))
    grown = np.concatenate(([0], np.cumsum(np.array([len(part) for part in parts]) - (close - begin))))
    return np.frombuffer(whole, np.uint8), cuts + grown[np.searchsorted(begin, cuts)]
