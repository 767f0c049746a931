"""Words of all texts of a batch as hashes, without a Python object per word (SST section 9.14, `w:`).

A word is a maximal run of letters and digits after NFKC and lower-casing; numbers stay, nothing is stemmed.
"""

import re
import unicodedata
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis._batch import Batch
from analysis._hash import U64, span_hashes

# Upper case to lower, everything but ASCII letters and digits to a blank.
_FOLD = np.array([ord(chr(c).lower()) if chr(c).isalnum() and c < 128 else 32 for c in range(256)], np.uint8)
_GAPS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """The words of the T strings of a batch: string s has ``word[start[s]:stop[s]]``."""

    word: U64
    start: NDArray[np.int64]
    stop: NDArray[np.int64]


def fold(text: str) -> str:
    """Return `text` with its words in canonical form, single blanks between them."""
    return _GAPS.sub(" ", unicodedata.normalize("NFKC", text).lower())


def words_of(batch: Batch, wanted: NDArray[np.bool_]) -> Words:
    """Return the words of the wanted strings (T,), none for the others; O(bytes)."""
    blob, offsets = batch.strings.blob, batch.strings.offsets.astype(np.int64)
    wide = np.concatenate(([0], np.cumsum(blob >= 128)))
    is_wide = wanted & (wide[offsets[1:]] > wide[offsets[:-1]])
    folded = _FOLD[blob]
    foreign = np.flatnonzero(is_wide)
    texts = [fold(text).encode("utf-8", "replace") for text in batch.strings.take(foreign.tolist())]
    data = np.concatenate([folded, np.frombuffer(b" " + b" ".join(texts), np.uint8)])
    # Strings that are not ASCII are read from their folded copies behind the blob.
    begin, close = offsets[:-1].copy(), offsets[1:].copy()
    if texts:
        lengths = np.array([len(t) for t in texts], np.int64)
        close[foreign] = folded.size + np.cumsum(lengths + 1)
        begin[foreign] = close[foreign] - lengths
    inside = data != 32
    cut = np.zeros(data.size + 1, np.bool_)
    cut[begin] = True
    cut[close] = True
    is_start = inside & (cut[:-1] | np.concatenate(([True], ~inside[:-1])))
    is_stop = inside & (cut[1:] | np.concatenate((~inside[1:], [True])))
    starts, stops = np.flatnonzero(is_start), np.flatnonzero(is_stop) + 1
    words = span_hashes(data, starts, stops)
    first, last = np.searchsorted(starts, begin), np.searchsorted(starts, close)
    last = np.where(wanted, last, first)
    return Words(words, first, last)
