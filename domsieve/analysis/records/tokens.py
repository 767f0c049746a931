"""A page as a string of tags and texts, the way IEPAD reads it (Chang, Lui: WWW 2001).

Imports the columns.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from domsieve.analysis.columns.batch import Batch, Ints
from domsieve.analysis.columns.body import in_body, worded
from domsieve.analysis.columns.names import TagIs
from domsieve.analysis.columns.visible import visible_nodes
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
    """n tokens of one page.

    Parameters
    ----------
    token : (n,), 0 for content between tags, else ``2 * tag + 1`` for a start tag and ``2 * tag + 2`` for its end.
    first, stop : (n,), the nodes ``first .. stop`` that begin with the token; none for an end tag.
    """

    token: Ints
    first: Ints
    stop: Ints


def page_tokens(batch: Batch, *, encoding: Encoding) -> Tokens:
    """Return the tokens of one page: a start and an end tag for each element, and T for content between tags.

    Content is a visible text that is not blank, an image or a form control. With ``"block"`` only block-level
    elements make tags; all between two of them is one T, which covers the text-level elements around the content
    as well. Void elements have no end tag.
    """
    page = batch.pages[0]
    looked_at = in_body(batch) & visible_nodes(batch)
    block = (batch.tag_is & TagIs.BLOCK) != 0
    tagged = looked_at & batch.elements() & (block | (encoding == "all"))
    tags = page.tags.to_list()
    void = np.array([name in _VOID for name in tags])[page.tag]
    replaced = (batch.tag_is & (TagIs.IMAGE | TagIs.CONTROL)) != 0
    content = looked_at & ~tagged & np.where(page.kind == Kind.TEXT, worded(page), replaced)
    starts = np.flatnonzero(tagged)
    ends = starts[~void[starts]]
    # Where several tags stand between two nodes, end tags come first, inner ones before outer ones.
    at = np.concatenate((starts, page.end[ends]))
    rank = np.concatenate((np.ones(starts.size, np.int64), np.zeros(ends.size, np.int64)))
    order = np.lexsort((np.concatenate((starts, -ends)), rank, at))
    tag = np.concatenate((2 * page.tag[starts] + 1, 2 * page.tag[ends] + 2))[order].astype(np.int64)
    opens, at = rank[order] == 1, at[order]
    # Content between two tags, before the first and behind the last is one T each.
    low = np.concatenate(([0], at + opens))
    high = np.concatenate((at, [len(page)]))
    before = np.concatenate(([0], np.cumsum(content)))
    filled = before[high] > before[low]
    low[0], high[-1] = (np.flatnonzero(content)[[0, -1]] + (0, 1)) if content.any() else (0, 0)
    token = np.zeros(2 * at.size + 1, np.int64)
    first, stop = np.empty_like(token), np.empty_like(token)
    token[1::2], first[1::2], stop[1::2] = tag, at, at + opens
    first[0::2], stop[0::2] = low, high
    there = np.ones(token.size, np.bool_)
    there[0::2] = filled
    return Tokens(token[there], first[there], stop[there])
