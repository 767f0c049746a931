"""Stable 64-bit hashes of strings and sequences, over whole arrays at once.

Every key of a site model is such a hash: it is the same on every machine and in every process, so partial
models merge by adding rows of equal key, and no table of strings has to be kept. Hashes are polynomials modulo
2**64 in an odd base, finished by the mixer of SplitMix64. Among n keys two differing ones collide with
probability about n**2 / 2**65: 1e-7 for a million.
"""

import numpy as np
from numpy.typing import NDArray

from snapshot import StringTable

U64 = NDArray[np.uint64]

_BASE = np.uint64(0x9E3779B97F4A7C15)
_INVERSE = np.uint64(pow(int(_BASE), -1, 1 << 64))


def mix(values: U64) -> U64:
    """Return SplitMix64's finisher of each value: every input bit reaches every output bit."""
    with np.errstate(over="ignore"):
        values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def combine(first: U64 | np.uint64, second: U64 | np.uint64) -> U64:
    """Return a hash of the ordered pairs (first, second), element by element."""
    with np.errstate(over="ignore"):  # a scalar warns where an array wraps in silence
        return mix(np.asarray(first * _BASE + second + np.uint64(0x632BE59BD9B4E019)))


def span_hashes(data: NDArray[np.uint8], start: NDArray[np.int64], stop: NDArray[np.int64]) -> U64:
    """Return the hash of each byte run ``data[start[i]:stop[i]]``, in O(bytes + runs)."""
    powers = np.full(data.size + 1, _BASE, np.uint64)
    powers[0] = 1
    np.cumprod(powers, out=powers)
    sums = np.zeros(data.size + 1, np.uint64)
    np.cumsum((data.astype(np.uint64) + np.uint64(1)) * powers[:-1], out=sums[1:])
    inverse = np.full(data.size + 1, _INVERSE, np.uint64)
    inverse[0] = 1
    np.cumprod(inverse, out=inverse)
    return mix((sums[stop] - sums[start]) * inverse[start] + (stop - start).astype(np.uint64))


def string_hashes(table: StringTable) -> U64:
    """Return the hash of each of the T strings of `table`."""
    offsets = table.offsets.astype(np.int64)
    return span_hashes(table.blob, offsets[:-1], offsets[1:])


def hash_of(text: str) -> np.uint64:
    """Return the hash that `string_hashes` gives `text`."""
    return np.uint64(string_hashes(StringTable.from_strings([text]))[0])


def hashes_of(texts: list[str]) -> U64:
    """Return the hash of each text."""
    return string_hashes(StringTable.from_strings(texts))
