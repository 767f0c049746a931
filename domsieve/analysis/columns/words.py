"""Words of all texts of a batch as hashes, without a Python object per word.

A word is a maximal run of letters and digits after NFKC and lower-casing; numbers stay, nothing is stemmed.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, groupby

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import Batch, Ints
from domsieve.analysis.columns.hash import U64, span_hashes
from domsieve.analysis.columns.tables import grouping, ranges, sorted_set

_BLANK = ord(" ")
# Upper case to lower, all other ASCII but letters and digits to a blank.
_FOLD = bytes(c if c >= 128 else ord(chr(c).lower()) if chr(c).isalnum() else _BLANK for c in range(256))
_FOLD_LINES = _FOLD[: ord("\n")] + b"\n" + _FOLD[ord("\n") + 1 :]
_LONG = 1_000  # characters in which marks cost nothing, in whatever order
_GAPS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """The words of the T strings of a batch: string s has the words ``start[s] .. stop[s] - 1``.

    Word w is ``data[begin[w]:close[w]]``, UTF-8 in canonical form.
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
        """Return the words of each of these strings, in order: which of `string` each belongs to, and the word."""
        word, which = ranges(self.start[string], self.stop[string] - self.start[string])
        return which, word

    def distinct(self) -> tuple[list[str], Ints]:
        """Return each word once, and which of these each of the words is."""
        same = grouping(self.hashes(np.arange(self.begin.size)))
        data, sample = self.data.tobytes(), same.sample
        spans = zip(self.begin[sample].tolist(), self.close[sample].tolist(), strict=True)
        return [str(data[a:b], "utf-8", "replace") for a, b in spans], same.code


def fold(text: str) -> str:
    """Return `text` with its words in canonical form, single blanks between them."""
    if not text.isascii():
        return _GAPS.sub(" ", _normal(text).lower())
    folded = text.encode().translate(_FOLD).decode()
    words = " ".join(folded.split())
    if not words:
        return " " if text else ""
    return f"{' ' * folded.startswith(' ')}{words}{' ' * folded.endswith(' ')}"


def folded(texts: Sequence[str]) -> list[str]:
    """Return the words of each text in canonical form, single blanks between them and none around."""
    # What is ASCII is folded at once, each text a line.
    lines = "\n".join([text.replace("\n", " ") for text in texts if text.isascii()])
    plain = iter(lines.encode().translate(_FOLD_LINES).decode().split("\n"))
    return [" ".join((next(plain) if text.isascii() else fold(text)).split()) for text in texts]


def _normal(text: str) -> str:
    """Return `text` in the normal form NFKC, in linear time but for sorting marks.

    Python itself takes time quadratic in the combining marks behind one letter: seconds for 30,000 of them. It
    takes linear time when they are in order, so those of long texts are brought in order first.
    """
    if len(text) > _LONG and not text.isascii():
        parts = {character: unicodedata.normalize("NFKD", character) for character in set(text)}
        rank = {mark: unicodedata.combining(mark) for part in parts.values() for mark in part}
        runs = groupby("".join(map(parts.__getitem__, text)), key=lambda character: rank[character] > 0)
        text = "".join(
            chain.from_iterable(sorted(run, key=rank.__getitem__) if marks else run for marks, run in runs)
        )
    return unicodedata.normalize("NFKC", text)


def words_of(batch: Batch, wanted: NDArray[np.bool_]) -> Words:
    """Return the words of the wanted strings (T,), none for the others; O(bytes)."""
    lengths = np.diff(batch.strings.offsets).astype(np.int64)
    data = batch.strings.blob[np.repeat(wanted, lengths)]
    cuts = np.concatenate(([0], np.cumsum(np.where(wanted, lengths, 0))))
    if data.size and int(data.max()) >= 128:
        data, cuts = _ascii_or_folded(data, cuts)
    data = np.frombuffer(data.tobytes().translate(_FOLD), np.uint8)
    inside = np.zeros(data.size + 2, np.bool_)
    np.not_equal(data, _BLANK, out=inside[1:-1])
    starts, stops = inside[1:] & ~inside[:-1], inside[:-1] & ~inside[1:]
    # Where two strings meet, no word goes on.
    starts[cuts] = inside[cuts + 1]
    stops[cuts] = inside[cuts]
    begin, close = np.flatnonzero(starts), np.flatnonzero(stops)
    first = np.searchsorted(begin, cuts)
    return Words(data, begin, close, first[:-1], first[1:])


def _ascii_or_folded(data: NDArray[np.uint8], cuts: Ints) -> tuple[NDArray[np.uint8], Ints]:
    """Return `data` with the stretches between blanks that are not ASCII folded, and its strings' new cuts."""
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
