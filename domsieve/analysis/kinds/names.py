"""What tags and attributes call the elements of a page: the words of classes, ids, roles, types and labels, as bits.

Each distinct value is cut into words once, all values together: at what is no letter, and where a capital follows a
small letter. Imports the hashes and the words.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import Ints, distinct
from domsieve.analysis.columns.hash import U64, combine, hashes_of, span_hashes
from domsieve.analysis.kinds.name_words import ANYWHERE, GROUPS, WORDS, Group
from domsieve.analysis.kinds.pieces import Pieces
from domsieve.snapshot.page import Kind, Snapshot

Bits = NDArray[np.uint64]
_LONGEST = 500  # bytes of a value
_CAPITAL = np.array([byte < 128 and chr(byte).isupper() for byte in range(256)], np.bool_)
_ELEMENT = int(Kind.ELEMENT)


def _bits_of(words: Mapping[Group, Mapping[int, str]]) -> dict[tuple[Group, str], int]:
    """Return the bits of each word in its group."""
    bits: dict[tuple[Group, str], int] = {}
    for group, sets in words.items():
        for bit, members in sets.items():
            for word in members.split():
                bits[group, word] = bits.get((group, word), 0) | int(bit)
    return bits


def _hashed(bits: Mapping[tuple[Group, str], int]) -> tuple[U64, Bits]:
    """Return the hash of each word in its group, ascending, and its bits."""
    hashes = combine(hashes_of([word for _, word in bits]), np.array([group for group, _ in bits], np.uint64))
    order = np.argsort(hashes)
    return hashes[order], np.array(list(bits.values()), np.uint64)[order]


_HASHES, _BITS = _hashed(_bits_of(WORDS))
_TAGS = {word: bits for (group, word), bits in _bits_of(WORDS).items() if group == Group.TAG}


def _look_up(hashes: U64, group: NDArray[np.uint64] | np.uint64) -> Bits:
    hashes = combine(hashes, group)
    at = np.minimum(np.searchsorted(_HASHES, hashes), _HASHES.size - 1)
    return np.where(_HASHES[at] == hashes, _BITS[at], np.uint64(0))


class Names:
    """What the elements of a page are called; made in O(N + attributes + the bytes of their values).

    Attributes
    ----------
    said : uint64 (N,), for each node the bits of `Says` that its tag and attributes say, 0 for what is no element.
    """

    def __init__(self, page: Snapshot) -> None:
        self._page = page
        self._owner = np.repeat(np.arange(len(page)), np.diff(page.attr_start))
        ids, self._name = distinct(page.attr_name.astype(np.int64), len(page.strings))
        self._spelt = {name: number for number, name in enumerate(page.strings.take(ids.tolist()))}
        self.said = np.array([_TAGS.get(tag, 0) for tag in page.tags], np.uint64)[page.tag]
        self._add_attributes()
        self.said[page.kind != _ELEMENT] = 0
        self._at = np.flatnonzero(self.said)
        self._bits = self.said[self._at]

    def called(self, *bits: int) -> Ints:
        """Return the elements that are called all of this; one of several bits given as one is enough for it."""
        chosen = (self._bits & np.uint64(bits[0])) != 0
        for bit in bits[1:]:
            chosen &= (self._bits & np.uint64(bit)) != 0
        return np.asarray(self._at[chosen])

    def are(self, nodes: Ints, bits: int) -> NDArray[np.bool_]:
        """Return which of the nodes are called one of these."""
        return np.asarray((self.said[nodes] & np.uint64(bits)) != 0)

    def values(self, name: str) -> tuple[Ints, Ints]:
        """Return the nodes with an attribute, and the string that is its value."""
        at = np.flatnonzero(self._name == self._spelt.get(name, -1))
        return self._owner[at], self._page.attr_value[at].astype(np.int64)

    def _add_attributes(self) -> None:
        groups = np.array([GROUPS.get(name, 0) for name in self._spelt], np.int64)
        group = groups[self._name] if groups.size else self._name
        at = np.flatnonzero(group)
        if not at.size:
            return
        room, strings = len(Group) + 1, self._page.strings
        value = self._page.attr_value[at].astype(np.int64)
        pairs, pair = distinct(value * room + group[at], len(strings) * room)
        bits = _said_by(Pieces(strings, pairs // room, longest=_LONGEST), pairs % room)[pair]
        owner = self._owner[at]
        first = np.flatnonzero(np.diff(owner, prepend=-1))
        self.said[owner[first]] |= np.bitwise_or.reduceat(bits, first)


def _said_by(values: Pieces, group: Ints) -> Bits:
    """Return what each of the values says by its words, and by what it holds."""
    bits = np.zeros(group.size, np.uint64)
    letter, capital = values.letter, _CAPITAL[values.data]
    starts = letter.copy()
    starts[1:] &= ~letter[:-1] | (capital[1:] & ~capital[:-1])
    begin = np.flatnonzero(starts)
    if begin.size:
        gaps = np.flatnonzero(~letter)  # one at least behind each value
        close = np.minimum(np.append(begin[1:], values.data.size), gaps[np.searchsorted(gaps, begin)])
        owner = np.searchsorted(values.first, begin, side="right") - 1
        found = _look_up(span_hashes(values.lower, begin, close), group[owner].astype(np.uint64))
        first = np.flatnonzero(np.diff(owner, prepend=-1))
        bits[owner[first]] = np.bitwise_or.reduceat(found, first)
    part, bit, wanted = ANYWHERE
    for value in values.holding((part,)).tolist():
        if group[value] in wanted:
            bits[value] |= np.uint64(bit)
    return bits
