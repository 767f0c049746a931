"""Interned strings of one page: one UTF-8 blob and the offsets of its entries.

A column of a Snapshot holds ids into such a table. Keeping the bytes in one array, instead of one Python
string per entry, is what makes a stored page readable without a Python object per node, and lets the analysis
hash words straight from the bytes. Imports nothing of the project but its errors.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, count, pairwise

import numpy as np
from numpy.typing import NDArray

from domsieve.errors import InvalidSnapshotError


@dataclass(frozen=True, slots=True, eq=False)
class StringTable:
    """T distinct strings, addressed by id 0 .. T-1.

    Parameters
    ----------
    blob : uint8, the UTF-8 bytes of all strings, one after another.
    offsets : int32, shape (T + 1,), entry i is ``blob[offsets[i]:offsets[i + 1]]``.

    Raises
    ------
    InvalidSnapshotError : offsets do not cut the blob into pieces.
    """

    blob: NDArray[np.uint8]
    offsets: NDArray[np.int32]

    def __post_init__(self) -> None:
        offsets, blob = self.offsets, self.blob
        if offsets.ndim != 1 or not offsets.size or offsets[0] != 0 or offsets[-1] != blob.size:
            raise InvalidSnapshotError(
                "Column 'strings.offsets' does not span the blob; the page must be captured again."
            )
        if offsets.size > 1 and (offsets[1:] < offsets[:-1]).any():
            raise InvalidSnapshotError(
                "Column 'strings.offsets' is not ascending; the page must be captured again."
            )
        blob.flags.writeable = False
        offsets.flags.writeable = False

    @classmethod
    def from_strings(cls, strings: Iterable[str]) -> "StringTable":
        """Return the table of `strings` in their order; lone surrogates become U+FFFD."""
        texts = list(strings)
        whole = "".join(texts)
        if whole.isascii():
            blob, sizes = whole.encode(), map(len, texts)
        else:
            try:
                encoded = [text.encode() for text in texts]
            except UnicodeEncodeError:
                paired = (
                    text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for text in texts
                )
                encoded = [text.encode() for text in paired]
            blob, sizes = b"".join(encoded), map(len, encoded)
        offsets = np.fromiter(accumulate(sizes, initial=0), np.int32, len(texts) + 1)
        return cls(np.frombuffer(blob, np.uint8), offsets)

    def __len__(self) -> int:
        return self.offsets.size - 1

    def __getitem__(self, index: int) -> str:
        if not 0 <= index < len(self):
            raise IndexError(index)
        return str(self.blob[self.offsets[index] : self.offsets[index + 1]].tobytes(), "utf-8", "replace")

    def __iter__(self) -> Iterator[str]:
        return iter(self.to_list())

    def to_list(self) -> list[str]:
        """Return all T strings, decoded in one go."""
        data, cuts = self.blob.tobytes(), self.offsets.tolist()
        if data.isascii():
            text = data.decode("ascii")
            return [text[a:b] for a, b in pairwise(cuts)]
        return [str(data[a:b], "utf-8", "replace") for a, b in pairwise(cuts)]

    def take(self, ids: Iterable[int]) -> list[str]:
        """Return the strings of `ids`; cheaper than `to_list` for a few."""
        at = np.array(list(ids), np.int64)
        if not at.size:
            return []
        data = self.blob.data  # a view: few strings of a large table cost no copy of it
        spans = zip(self.offsets[at].tolist(), self.offsets[at + 1].tolist(), strict=True)
        return [str(data[a:b], "utf-8", "replace") for a, b in spans]


class Interner:
    """Gives each distinct string the next id; the other end is `table`."""

    def __init__(self) -> None:
        self._ids: defaultdict[str, int] = defaultdict(count().__next__)

    def __call__(self, text: str) -> int:
        """Return the id of `text`."""
        return self._ids[text]

    def ids(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """Return the ids of `texts`, int32 of their number; far quicker than one call for each."""
        return np.fromiter(map(self._ids.__getitem__, texts), np.int32, len(texts))

    def table(self) -> StringTable:
        """Return the strings interned so far, in order of their ids."""
        return StringTable.from_strings(self._ids)
