"""A page as a string of tag and text tokens, and the maximal repeats in it (Chang, Lui; WWW 2001)."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from domsieve.analysis.columns.batch import Batch, Ints, TagIs
from domsieve.analysis.columns.visible import in_body, visible_nodes, worded
from domsieve.snapshot.page import Kind

Encoding = Literal["block", "all"]
TEXT = 0
_VOID = frozenset(
    [
        *("area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img", "input", "link"),
        *("meta", "param", "source", "track", "wbr"),
    ]
)


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """The n tokens of one page.

    Parameters
    ----------
    token : (n,), 0 for content between tags, ``2 * tag + 1`` for a start tag, ``2 * tag + 2`` for an end tag.
    first, stop : (n,), the nodes ``first .. stop`` that begin in the token; an empty range for end tags.
    """

    token: Ints
    first: Ints
    stop: Ints


def page_tokens(batch: Batch, *, encoding: Encoding) -> Tokens:
    """Return the tokens of one page: a start and an end tag for each element, and T for content between tags.

    Content is a visible text that is not blank, an image or a form control. Void elements have no end tag.

    Parameters
    ----------
    batch : a batch of one page.
    encoding : ``"all"``: every element is a token. ``"block"``: only block-level elements are; everything between two
        of their tags is one T, including the inline elements around the content.
    """
    page = batch.pages[0]
    candidates = in_body(batch) & visible_nodes(batch)
    block = (batch.tag_is & TagIs.BLOCK) != 0
    tagged = candidates & batch.elements() & (block | (encoding == "all"))
    tags = page.tags.to_list()
    void = np.array([name in _VOID for name in tags])[page.tag]
    replaced = (batch.tag_is & (TagIs.IMAGE | TagIs.CONTROL)) != 0
    content = candidates & ~tagged & np.where(page.kind == Kind.TEXT, worded(page), replaced)
    starts = np.flatnonzero(tagged)
    ends = starts[~void[starts]]
    # If there are several tags between two nodes, end tags come first, inner ones before outer ones.
    at = np.concatenate((starts, page.end[ends]))
    rank = np.concatenate((np.ones(starts.size, np.int64), np.zeros(ends.size, np.int64)))
    order = np.lexsort((np.concatenate((starts, -ends)), rank, at))
    tag = np.concatenate((2 * page.tag[starts] + 1, 2 * page.tag[ends] + 2))[order].astype(np.int64)
    opens, at = rank[order] == 1, at[order]
    # Content between two tags, before the first tag and after the last tag is one T each.
    low = np.concatenate(([0], at + opens))
    high = np.concatenate((at, [len(page)]))
    before = np.concatenate(([0], np.cumsum(content)))
    filled = before[high] > before[low]
    low[0], high[-1] = (np.flatnonzero(content)[[0, -1]] + (0, 1)) if content.any() else (0, 0)
    token = np.zeros(2 * at.size + 1, np.int64)
    first, stop = np.empty_like(token), np.empty_like(token)
    token[1::2], first[1::2], stop[1::2] = tag, at, at + opens
    first[0::2], stop[0::2] = low, high
    present = np.ones(token.size, np.bool_)
    present[0::2] = filled
    return Tokens(token[present], first[present], stop[present])


@dataclass(frozen=True, slots=True, eq=False)
class Repeats:
    """M maximal repeats of a string of n tokens, sorted by length, then by place in the suffix array.

    Parameters
    ----------
    order : (n,), the suffix array: starts of the suffixes in lexicographic order.
    length : (M,), number of tokens of each pattern.
    first, last : (M,), pattern m occurs at the positions ``order[first[m]:last[m]]``, which are not sorted.
    """

    order: Ints
    length: Ints
    first: Ints
    last: Ints

    def positions(self, pattern: int) -> Ints:
        """Return the positions of a pattern, ascending; its occurrences may overlap."""
        return np.sort(self.order[self.first[pattern] : self.last[pattern]])


def maximal_repeats(tokens: Ints, *, least_length: int = 1, least_count: int = 2) -> Repeats:
    """Return the maximal repeats of a token string, in O(n log² n).

    A repeat is maximal if not all of its occurrences follow the same token, and not all are followed by the same
    token; the ends of the string differ from every token. There are fewer than n repeats, but the number of their
    occurrences may be quadratic.

    Parameters
    ----------
    tokens : (n,), non-negative numbers.
    least_length : minimum number of tokens of a repeat.
    least_count : minimum number of occurrences.
    """
    order, common = suffix_array(tokens)
    before = np.where(order > 0, tokens[order - 1], -1)
    # The suffixes of an interval have different left neighbours if there is a change between any two of them.
    changes = np.concatenate(([0], np.cumsum(before[1:] != before[:-1]))) if order.size else order
    intervals = _intervals(common, least_length, least_count)
    length, first, last = np.array(intervals, np.int64).reshape(-1, 3).T
    varied = changes[last - 1] > changes[first]
    rank = np.lexsort((first[varied], length[varied]))
    return Repeats(order, length[varied][rank], first[varied][rank], last[varied][rank])


def suffix_array(tokens: Ints) -> tuple[Ints, Ints]:
    """Return the suffix array of a token string, and the lengths of common prefixes of neighbouring suffixes.

    Both are (n,); entry i of the second is the length of the longest common prefix of suffixes i - 1 and i, and 0 for
    the first. The method is prefix doubling: after step s, ranks compare 2^s tokens.
    """
    n = tokens.size
    ranks = [np.unique(tokens, return_inverse=True)[1].astype(np.int64)] if n else []
    order = np.argsort(ranks[0], kind="stable") if n else np.zeros(0, np.int64)
    while n and int(ranks[-1][order[-1]]) < n - 1:
        rank, step = ranks[-1], 1 << (len(ranks) - 1)
        pair = rank * (n + 1)
        pair[:-step] += rank[step:] + 1
        order = np.argsort(pair, kind="stable")
        ordered = pair[order]
        fresh = np.empty(n, np.int64)
        fresh[order] = np.concatenate(([0], np.cumsum(ordered[1:] != ordered[:-1])))
        ranks.append(fresh)
    common = np.zeros(n, np.int64)
    left, right = order[:-1].copy(), order[1:].copy()
    for level in reversed(range(len(ranks))):
        inside = (left < n) & (right < n)
        equal = inside.copy()
        equal[inside] = ranks[level][left[inside]] == ranks[level][right[inside]]
        # Equal ranks near the end of the string still mean as many equal tokens, because shorter suffixes have other
        # ranks.
        moved = equal * (1 << level)
        common[1:] += moved
        left += moved
        right += moved
    return order, common


def _intervals(common: Ints, least_length: int, least_count: int) -> list[tuple[int, int, int]]:
    """Return prefix length, first and one past the last suffix of each maximal interval with a common prefix."""
    intervals: list[tuple[int, int, int]] = []
    lengths, starts = [0], [0]
    for i, length in enumerate([*common.tolist()[1:], 0], 1):
        start = i - 1
        while lengths[-1] > length:
            own, start = lengths.pop(), starts.pop()
            if own >= least_length and i - start >= least_count:
                intervals.append((own, start, i))
        if lengths[-1] < length:
            lengths.append(length)
            starts.append(start)
    return intervals
