"""String tables: the distinct strings of a page as one UTF-8 blob with offsets.

The columns of a Snapshot hold ids into such a table. Because the bytes are one array, a stored page is read without
creating a Python object per node, and the analysis hashes words straight from the bytes.
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
    """T distinct strings with the ids 0 to T - 1.

    Parameters
    ----------
    blob : uint8 (B,), the UTF-8 bytes of all strings, concatenated.
    offsets : int32 (T + 1,), ascending from 0 to B; string i is ``blob[offsets[i]:offsets[i + 1]]``.

    Raises
    ------
    InvalidSnapshotError : the offsets do not divide the blob.
    """

    blob: NDArray[np.uint8]
    offsets: NDArray[np.int32]

    def __post_init__(self) -> None:
        offsets, blob = self.offsets, self.blob
        if offsets.ndim != 1 or not offsets.size or offsets[0] != 0 or offsets[-1] != blob.size:
            raise InvalidSnapshotError(
                "Column 'strings.offsets' does not span the blob; capture the page again."
            )
        if offsets.size > 1 and (offsets[1:] < offsets[:-1]).any():
            raise InvalidSnapshotError("Column 'strings.offsets' is not ascending; capture the page again.")
        blob.flags.writeable = False
        offsets.flags.writeable = False

    @classmethod
    def from_strings(cls, strings: Iterable[str]) -> "StringTable":
        """Return a table of `strings` in the given order; lone surrogates become U+FFFD."""
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
        """Return all T strings."""
        data, offsets = self.blob.tobytes(), self.offsets.tolist()
        if data.isascii():
            text = data.decode("ascii")
            return [text[a:b] for a, b in pairwise(offsets)]
        return [str(data[a:b], "utf-8", "replace") for a, b in pairwise(offsets)]

    def take(self, ids: Iterable[int]) -> list[str]:
        """Return the strings with the given ids; faster than `to_list` for a few of them."""
        indices = np.array(list(ids), np.int64)
        if not indices.size:
            return []
        data = self.blob.data  # a view, so that a few strings of a large table do not copy it
        spans = zip(self.offsets[indices].tolist(), self.offsets[indices + 1].tolist(), strict=True)
        return [str(data[a:b], "utf-8", "replace") for a, b in spans]


class Interner:
    """Assigns consecutive ids to distinct strings; `table` returns them as a `StringTable`."""

    def __init__(self) -> None:
        self._ids: defaultdict[str, int] = defaultdict(count().__next__)

    def __call__(self, text: str) -> int:
        """Return the id of `text`."""
        return self._ids[text]

    def ids(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """Return the ids of `texts` as int32 ``(len(texts),)``; much faster than one call per text."""
        return np.fromiter(map(self._ids.__getitem__, texts), np.int32, len(texts))

    def table(self) -> StringTable:
        """Return the table of all strings interned so far."""
        return StringTable.from_strings(self._ids)
