"""Stable 64-bit hashes of strings and sequences, for whole arrays at once.

The keys of site models are such hashes. They are the same on every machine and in every process, so partial models
merge by adding rows of equal key, and no strings have to be stored. A string is read eight bytes at a time; each
piece, and the sum of the pieces, goes through the finalizer of SplitMix64. With n keys the probability of a collision
is about n**2 / 2**65: less than 1e-7 for a million.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from domsieve.snapshot.strings import StringTable

U64 = NDArray[np.uint64]

_BASE = np.uint64(0x9E3779B97F4A7C15)
_PIECE = 8


def mix(values: U64) -> U64:
    """Apply the finalizer of SplitMix64 to each value, so that every input bit affects every output bit."""
    mixed = values >> np.uint64(30)
    mixed ^= values
    # In place, because allocating new arrays costs more than the arithmetic.
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed


def combine(first: U64 | np.uint64, second: U64 | np.uint64) -> U64:
    """Return a hash of the ordered pairs (first, second), element by element."""
    with np.errstate(over="ignore"):  # scalars warn on overflow, arrays do not
        return mix(np.asarray(first * _BASE + second + np.uint64(0x632BE59BD9B4E019)))


def span_hashes(data: NDArray[np.uint8], start: NDArray[np.int64], stop: NDArray[np.int64]) -> U64:
    """Return the hash of each slice ``data[start[i]:stop[i]]``, in O(bytes + slices)."""
    padded = np.concatenate((data, np.zeros(_PIECE, np.uint8)))
    # The eight bytes from each position on as one number.
    pieces = np.ndarray((data.size + 1,), np.dtype("<u8"), padded, strides=(1,))
    length = stop - start
    hashes = _cut(pieces[start], length)
    hashes += length.astype(np.uint64) * _BASE
    long = np.flatnonzero(length > _PIECE)
    if long.size:
        more = (length[long] - 1) // _PIECE
        first = np.cumsum(more) - more
        rank = np.arange(1, int(more.sum()) + 1) - np.repeat(first, more)
        at = np.repeat(start[long], more) + rank * _PIECE
        rest = _cut(pieces[at], np.repeat(stop[long], more) - at)
        rest += rank.astype(np.uint64) * _BASE
        hashes[long] += np.add.reduceat(mix(rest), first)
    return mix(hashes)


def _cut(pieces: U64, length: NDArray[np.int64]) -> U64:
    """Return the first `length` bytes of each piece, at most eight, shifted to its high end."""
    spare = np.uint64(_PIECE) - np.clip(length, 1, _PIECE).astype(np.uint64)
    pieces <<= spare << np.uint64(3)
    pieces[length == 0] = 0  # a shift by the full width is undefined
    return pieces


def string_hashes(table: StringTable) -> U64:
    """Return the hash of each of the T strings of `table`."""
    offsets = table.offsets.astype(np.int64)
    return span_hashes(table.blob, offsets[:-1], offsets[1:])


def hash_of(text: str) -> np.uint64:
    """Return the hash that `string_hashes` gives `text`."""
    return np.uint64(hashes_of([text])[0])


def hashes_of(texts: Sequence[str]) -> U64:
    """Return the hash of each text."""
    return string_hashes(StringTable.from_strings(texts))
