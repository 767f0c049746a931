"""Tokens of the names that the authors of a page gave its elements: classes, ids, roles, types of things.

A name such as ``articleBody related-posts`` has the tokens ``articlebody``, ``related-posts``, ``article``, ``body``,
``related`` and ``posts``. Imports the columns and the characters.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from domsieve.analysis.columns.attributes import AttributeIndex
from domsieve.analysis.columns.batch import Bools, Ints, counted_before, distinct
from domsieve.analysis.columns.hash import U64, hashes_of
from domsieve.analysis.columns.tables import ranges
from domsieve.budget import check
from domsieve.snapshot.page import Snapshot

_NAMES = ("class", "id", "role", "itemprop", "itemtype", "aria-label", "rel")
_PART = re.compile(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}(?![a-z])")
_MOST_CHARACTERS, _MOST_TOKENS = 200, 24
_MOST_NAMES = 4_096  # that are remembered; pages share many


@dataclass(frozen=True, slots=True, eq=False)
class NameTokens:
    """The K tokens of the names of elements of a page, in ascending order of their elements.

    Parameters
    ----------
    node : int64 (K,), the element of each.
    token : uint64 (K,), its hash.
    """

    node: Ints
    token: U64

    @classmethod
    def of(cls, page: Snapshot, attributes: AttributeIndex, among: Bools) -> "NameTokens":
        """Return the tokens of those elements that are `among` (N,) the ones asked for.

        O(A), and a short loop over the distinct names.
        """
        node, value = attributes.strings(*_NAMES)
        node, value = node[among[node]], value[among[node]]
        names, which = distinct(value, len(page.strings))
        check()
        tokens = [tokens_of(text[:_MOST_CHARACTERS]) for text in page.strings.take(names.tolist())]
        count = np.array([len(one) for one in tokens], np.int64)
        flat = hashes_of([token for one in tokens for token in one])
        first = counted_before(count)
        at, of = ranges(first[which], count[which])
        return cls(node[of], flat[at])


@lru_cache(maxsize=_MOST_NAMES)
def tokens_of(name: str) -> tuple[str, ...]:
    """Return the tokens of a name, each once: its words, and the parts of each."""
    whole = name.lower().split()
    # Most names are words in lower case already, without parts.
    if len(whole) == 1 and name.islower() and name.isalpha():
        return (whole[0],)
    return (*dict.fromkeys((*whole, *[part.lower() for part in _PART.findall(name)])),)[:_MOST_TOKENS]
