"""Pages as forests of element nodes: the normalised trees of which style trees are made (SST section 8).

What is never shown is dropped, inline markup is unwrapped, and elements of little height become virtual
leaves that carry features. All pages of a batch are normalised together, in columns.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis._batch import Batch
from analysis._hash import U64, combine, hash_of, hashes_of
from analysis._styles import StyleLevel, presentation_styles
from analysis._visible import visible_nodes
from snapshot import Kind

_INLINE = hashes_of(
    [
        "abbr",
        "acronym",
        "b",
        "bdi",
        "bdo",
        "big",
        "cite",
        "code",
        "del",
        "dfn",
        "em",
        "font",
        "i",
        "ins",
        "kbd",
        "mark",
        "nobr",
        "q",
        "s",
        "samp",
        "small",
        "span",
        "strike",
        "strong",
        "sub",
        "sup",
        "tt",
        "u",
        "var",
    ]
)
_BREAKS = hashes_of(["br", "wbr"])
_HTML, _BODY = hash_of("html"), hash_of("body")
_BLOCKS = hashes_of(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "center",
        "dd",
        "details",
        "dialog",
        "dir",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hgroup",
        "hr",
        "iframe",
        "legend",
        "li",
        "main",
        "menu",
        "nav",
        "ol",
        "p",
        "pre",
        "search",
        "section",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
    ]
)
TEXT_LABEL = hash_of("#text")


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """The element nodes of P pages: 0 .. P-1 are virtual roots; the others follow in document order.

    Parameters
    ----------
    node : int64 (M,), node of the batch, -1 for virtual roots.
    page : int32 (M,), page of the batch.
    parent : int64 (M,), forest node, -1 for virtual roots.
    label : uint64 (M,), hash of (tag, display attributes).
    leaf : bool (M,), whether the node carries features instead of children.
    owner : int64 (N,), for each shown node of the batch that lies in a leaf that leaf, else -1.
    shown : bool (N,), visibility of the nodes of the batch.
    holder : int64 (N,), nearest element around each node of the batch that was not unwrapped, -1 without one.
    """

    node: NDArray[np.int64]
    page: NDArray[np.int32]
    parent: NDArray[np.int64]
    label: U64
    leaf: NDArray[np.bool_]
    owner: NDArray[np.int64]
    shown: NDArray[np.bool_]
    holder: NDArray[np.int64]


def plant(batch: Batch, *, level: StyleLevel, flatten_inline: bool, leaf_height: int) -> Forest:
    """Return the forest of a batch; O(N) but for pointer chases through unwrapped elements.

    Parameters
    ----------
    level : presentation style that, with the tag, makes the label of an element node.
    flatten_inline : unwrap inline markup without block content and drop line breaks; off in paper mode.
    leaf_height : elements whose subtree is at most this high are leaves: 1 for SST, 2 for CST.
    """
    shown = visible_nodes(batch)
    tag = batch.tag_hash[batch.tag]
    element = batch.elements() & shown & (tag != _HTML)
    if flatten_inline:
        element &= ~np.isin(batch.tag_hash, _BREAKS)[batch.tag]
        element &= ~(np.isin(batch.tag_hash, _INLINE)[batch.tag] & ~_holds_block(batch))
    text = (batch.kind == Kind.TEXT) & shown & _has_ink(batch)
    text[text] = batch.kind[batch.parent[text]] != Kind.PSEUDO
    up = _nearest(batch.parent, element)
    internal = _internal(up, element, leaf_height)
    planted = element & ((up < 0) | internal[up])
    loose = text & ((up < 0) | internal[up])
    candidates = np.flatnonzero(planted | loose)
    loose_here = loose[candidates]
    above = up[candidates]
    # Texts that follow each other below one parent are one run, and the run is one pseudo child.
    same = np.zeros(candidates.size, np.bool_)
    same[1:] = loose_here[1:] & loose_here[:-1] & (above[1:] == above[:-1])
    if candidates.size:
        same[1:] &= batch.page[candidates[1:]] == batch.page[candidates[:-1]]
    node = candidates[~same]
    index = np.full(batch.kind.size, -1, np.int64)
    pages = len(batch.pages)
    index[candidates] = pages + np.cumsum(~same) - 1
    page = batch.page[node]
    parent = np.where(up[node] < 0, page, index[up[node]])
    styles = presentation_styles(batch, level)
    labels = np.where(
        loose[node], TEXT_LABEL, combine(tag[node], np.where(tag[node] == _BODY, np.uint64(0), styles[node]))
    )
    return Forest(
        node=np.concatenate((np.full(pages, -1, np.int64), node)),
        page=np.concatenate((np.arange(pages, dtype=np.int32), page)),
        parent=np.concatenate((np.full(pages, -1, np.int64), parent)),
        label=np.concatenate((np.zeros(pages, np.uint64), labels)),
        leaf=np.concatenate((np.zeros(pages, np.bool_), ~internal[node])),
        owner=_owners(batch, index, planted | loose, shown, internal),
        shown=shown,
        holder=up,
    )


def _owners(
    batch: Batch,
    index: NDArray[np.int64],
    planted: NDArray[np.bool_],
    shown: NDArray[np.bool_],
    internal: NDArray[np.bool_],
) -> NDArray[np.int64]:
    """Return the leaf that takes the features of each shown node, -1 where an internal element is above."""
    above = _nearest(batch.parent, planted)
    nearest = np.where(planted, np.arange(batch.kind.size), above)
    owner = np.where((nearest >= 0) & shown, index[nearest], -1)
    owner[(nearest >= 0) & internal[nearest]] = -1
    return owner


def _has_ink(batch: Batch) -> NDArray[np.bool_]:
    """Return which nodes have a text that is not blank."""
    ink = np.concatenate(([0], np.cumsum(batch.strings.blob > 32)))
    offsets = batch.strings.offsets
    inked = ink[offsets[1:]] > ink[offsets[:-1]]
    return np.append(inked, False)[batch.text]


def _holds_block(batch: Batch) -> NDArray[np.bool_]:
    blocks = np.concatenate(([0], np.cumsum(np.isin(batch.tag_hash, _BLOCKS)[batch.tag] & batch.elements())))
    return blocks[batch.end] > blocks[1:]


def _nearest(parent: NDArray[np.int64], kept: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the nearest kept proper ancestor of each node, -1 without one."""
    up = parent.copy()
    # Pointer doubling: each round passes twice as many unwrapped ancestors as the last.
    jump = np.where(kept, np.arange(parent.size), parent)
    todo = np.flatnonzero((up >= 0) & ~kept[up])
    while todo.size:
        up[todo] = jump[up[todo]]
        todo = todo[(up[todo] >= 0) & ~kept[up[todo]]]
        if todo.size:
            jump = np.where(jump >= 0, jump[jump], -1)
    return up


def _internal(up: NDArray[np.int64], element: NDArray[np.bool_], leaf_height: int) -> NDArray[np.bool_]:
    """Return which elements have an element descendant more than `leaf_height` levels below."""
    internal = np.zeros(element.size, np.bool_)
    above = np.flatnonzero(element)
    for _ in range(leaf_height + 1):
        above = up[above]
        above = np.unique(above[above >= 0])
    internal[above] = True
    return internal
