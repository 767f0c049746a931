"""Tokens of class names, ids, roles and words of a block, hashed into tables of learned weights."""

import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.auto.block_features import Named, Row, shifted
from domsieve.analysis.auto.context_features import Around, MeasuredBlocks
from domsieve.analysis.columns.batch import F64, Bools, Ints, counted_before, distinct
from domsieve.analysis.columns.hash import U64, combine, hash_of, hashes_of
from domsieve.analysis.columns.page_columns import AttributeIndex
from domsieve.analysis.columns.tables import ranges
from domsieve.budget import check
from domsieve.snapshot.page import Snapshot

_NAMES = ("class", "id", "role", "itemprop", "itemtype", "aria-label", "rel")
_PART = re.compile(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}(?![a-z])")
_MOST_CHARACTERS, _MOST_TOKENS = 200, 24  # of one name; they bound the work
_MOST_NAMES = 4_096  # cached names; many are on every page of a site


@dataclass(frozen=True, slots=True, eq=False)
class NameTokens:
    """The K tokens of the names of elements of a page.

    Parameters
    ----------
    node : int64 (K,), the element of each token, ascending.
    token : uint64 (K,), the hash of each token.
    """

    node: Ints
    token: U64

    @classmethod
    def of(cls, page: Snapshot, attributes: AttributeIndex, among: Bools) -> "NameTokens":
        """Return the tokens of the elements that are `among` (N,) the chosen ones, in O(attributes)."""
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
    """Return the distinct tokens of a name: its words, then the parts of its words."""
    whole = name.lower().split()
    # Most names are one lower-case word, which has no parts.
    if len(whole) == 1 and name.islower() and name.isalpha():
        return (whole[0],)
    return (*dict.fromkeys((*whole, *[part.lower() for part in _PART.findall(name)])),)[:_MOST_TOKENS]


BUCKETS = 1 << 18
"""Size of the tables of weights; the hash of a token is its place there."""
TOKEN_UNIT = 1 << 10
"""Weights of tokens are in units of 1/`TOKEN_UNIT` of a logit."""
NEAR_LEVELS = 3
"""The names of this many levels of ancestors have weights of their own."""
_FAR, _NEAR, _WORD, _FIRST, _LAST, _WHOLE = (
    hash_of(f"auto:{name}") for name in ("far", "near", "word", "first", "last", "whole")
)
_MOST_WORDS, _WHOLE_WORDS = 32, 6  # the model was learned with these
_LEVELS = (0, 1, 2, 3, 4)
_STEPS = (-1, 1, -2, 2)
_AROUND = (1, 2, 4, 6)
_LEAST_WORDS = 0.125  # words are counted in eighths; avoids a division by 0


@dataclass(frozen=True, slots=True, eq=False)
class TokenWeights:
    """The weights of the tokens of names and of texts, (BUCKETS,) each, in units of 1/`TOKEN_UNIT`."""

    names: NDArray[np.int16]
    texts: NDArray[np.int16]


@dataclass(frozen=True, slots=True, eq=False)
class BlockTokens:
    """K tokens of the B blocks of a page.

    Parameters
    ----------
    block : int64 (K,), the block of each token.
    bucket : int64 (K,), its place in the table of weights, below `BUCKETS`.
    value : float64 (K,), the factor of its weight.
    """

    block: Ints
    bucket: Ints
    value: F64

    def scores(self, weights: NDArray[np.int16], number: int) -> F64:
        """Return the weighted sum over the tokens of each of `number` blocks; `weights` has shape (BUCKETS,)."""
        return np.bincount(self.block, weights[self.bucket] * self.value, number).astype(np.float64)


def _text_tokens(blocks: MeasuredBlocks) -> BlockTokens:
    """Return the tokens of the words of each block: its first 32, the first, the last, and a short block as a whole.

    The first 32 words count one over the square root of their number, so that long blocks do not outweigh short ones.
    """
    number = len(blocks)
    block, hashes = blocks.word_hashes
    many = np.bincount(block, minlength=number)
    first = np.cumsum(many) - many
    used = np.flatnonzero(np.arange(block.size) - first[block] < _MOST_WORDS)
    worded = np.flatnonzero(many)
    whole = np.flatnonzero((many <= _WHOLE_WORDS) & (blocks.key != 0))
    last = first[worded] + many[worded] - 1
    return BlockTokens(
        np.concatenate((block[used], worded, worded, whole)),
        np.concatenate(
            (
                _buckets(_WORD, hashes[used]),
                _buckets(_FIRST, hashes[first[worded]]),
                _buckets(_LAST, hashes[last]),
                _buckets(_WHOLE, blocks.key[whole]),
            )
        ),
        np.concatenate(
            (1 / np.sqrt(np.minimum(many[block[used]], _MOST_WORDS)), np.ones(2 * worded.size + whole.size))
        ),
    )


def _buckets(salt: np.uint64, keys: U64) -> Ints:
    return (combine(np.full(keys.shape, salt), keys) % np.uint64(BUCKETS)).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class PageTokens:
    """The tokens of the B blocks of a page, before weights are applied.

    Parameters
    ----------
    text : the tokens of their words.
    node : int64 (K,), the element of each token of a name.
    far, near : int64 (K,), the bucket of each token as the name of any ancestor, and of one of the nearest.
    around : the ancestors of the blocks.
    words : float64 (B,), the number of words of each block.
    path, likeness : int64 (B,), equal for blocks with the same path, and for similar blocks (`likeness_of`).
    """

    text: BlockTokens
    node: Ints
    far: Ints
    near: Ints
    around: Around
    words: F64
    path: Ints
    likeness: Ints

    @classmethod
    def of(cls, blocks: MeasuredBlocks, around: Around, names: NameTokens, likeness: Ints) -> "PageTokens":
        """Return the tokens of the blocks of a page, in O(tokens)."""
        far, near = _buckets(_FAR, names.token), _buckets(_NEAR, names.token)
        return cls(
            _text_tokens(blocks), names.node, far, near, around, blocks.words, blocks.path_code, likeness
        )

    def names(self) -> BlockTokens:
        """Return the tokens of the names of all ancestors of each block, with those of the nearest in both forms."""
        nodes = self.around.node
        first = np.searchsorted(self.node, np.arange(int(nodes.max(initial=0)) + 2))
        level, block = np.nonzero(nodes > 0)
        node = nodes[level, block]
        at, of = ranges(first[node], first[node + 1] - first[node])
        close = level[of] < NEAR_LEVELS
        return BlockTokens(
            np.concatenate((block[of], block[of][close])),
            np.concatenate((self.far[at], self.near[at][close])),
            np.ones(at.size + int(close.sum())),
        )

    def figures(self, weights: TokenWeights) -> dict[str, dict[str, Row]]:
        """Return the features of the blocks by group and name, in O(levels * B + tokens)."""
        around, number = self.around, self.words.size
        nodes = int(around.node.max(initial=0)) + 1
        shown = self.node < nodes
        node = self.node[shown]
        far = np.bincount(node, weights.names[self.far[shown]], nodes).astype(np.float64)
        near = np.bincount(node, weights.names[self.near[shown]], nodes).astype(np.float64)
        far[0] = near[0] = 0
        levels = far[around.node]
        path, close = levels.sum(axis=0), near[around.node[:NEAR_LEVELS]].sum(axis=0)
        names: dict[str, Row] = {
            "names far": path,
            "names near": close,
            "names least": levels.min(axis=0),
            "names most": levels.max(axis=0),
            **{f"{wanted} above: names": levels[around.level(wanted)] for wanted in _LEVELS},
        }
        text = self.text.scores(weights.texts, number)
        return {
            "names": {**names, **dict(self._around("names", path + close))},
            "words": {**dict(self._around("text", text)), **dict(self._alike(text))},
        }

    def _alike(self, text: F64) -> Named:
        for name, code in (("path", self.path), ("likeness", self.likeness)):
            whole = np.maximum(np.bincount(code, self.words), _LEAST_WORDS)
            yield f"mean text of {name}", (np.bincount(code, self.words * text) / whole)[code]

    def _around(self, kind: str, score: F64) -> Named:
        """Yield the score of each block, of its neighbours, and the means over its ancestors and over the page."""
        yield kind, score
        for step in _STEPS:
            yield f"{step:+d}: {kind}", shifted(score, step)
        words = np.concatenate(([0.0], np.cumsum(self.words)))
        scores = np.concatenate(([0.0], np.cumsum(self.words * score)))
        for wanted in _AROUND:
            whole = np.maximum(self.around.held(words, wanted), _LEAST_WORDS)
            yield f"{wanted} above: mean {kind}", self.around.held(scores, wanted) / whole
        yield f"page {kind}", scores[-1] / max(words[-1], _LEAST_WORDS)
