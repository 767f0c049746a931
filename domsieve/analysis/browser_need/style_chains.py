"""Chains of a source: what style sheets can tell its elements apart by, from the root down.

The chain of an element is its tag and those of its ancestors, each with the classes, the id and the attributes that
a selector mentions, with inline style, and with its position if a rule that may hide it looks at positions. Style
sheets treat elements with equal chains alike, so a text whose chain was seen visible on a rendered page is visible.
"""

from collections.abc import Set as AbstractSet
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.browser_need.selector_names import ANY, AttributeTest, SelectorNames
from domsieve.analysis.columns.batch import Bools, Ints
from domsieve.analysis.columns.hash import U64, combine, hash_of, hashes_of
from domsieve.analysis.columns.page_columns import page_texts
from domsieve.analysis.columns.visible import never_shown
from domsieve.analysis.compare.raw_visibility import WhenRendered
from domsieve.budget import check, spending
from domsieve.snapshot.page import Kind, Snapshot
from domsieve.snapshot.strings import Interner

# The browser's own style sheet, or an attribute by itself, hides text by these.
_ALWAYS = frozenset(
    (
        "hidden",
        "open",
        "popover",
        "style",
        "inert",
        "color",
        "bgcolor",
        "background",
        "size",
        "face",
        "rows",
        "dir",
    )
)
# Values that rarely decide and differ on every page count only by whether they are there.
_LONGEST_VALUE = 200
_STEP, _ALL_BITS = 0x9E3779B97F4A7C15, (1 << 64) - 1
UNKNOWABLE = np.uint64(0)
"""The chain of elements of which nothing can be known, because a rule looks at what is in them."""


def style_chains(page: Snapshot, names: SelectorNames) -> U64:
    """Return the chain of each of the N nodes of a source, uint64 (N,), in O(N); `UNKNOWABLE` for some.

    The chain of a text is that of the element around it.
    """
    with spending("chains", page.provenance.url):
        return _chains(page, names)


def _chains(page: Snapshot, names: SelectorNames) -> U64:
    label, by_position, by_content = _labels(page, names)
    if by_position.any():
        label = _with_positions(page, label, by_position)
    parent = page.parent.astype(np.int64)
    chain = np.zeros(len(page), np.uint64)
    depth = _depths(page)
    order = np.argsort(depth, kind="stable")
    first = np.searchsorted(depth[order], np.arange(depth.max() + 2))
    is_element = page.kind == Kind.ELEMENT
    chain[0] = hash_of("#document")
    for level in range(1, first.size - 1):
        check()
        nodes = order[first[level] : first[level + 1]]
        above = chain[parent[nodes]]
        own = np.where(is_element[nodes], combine(above, label[nodes]), above)
        lost = by_content[nodes] | (above == UNKNOWABLE)
        chain[nodes] = np.where(lost, UNKNOWABLE, own)
    return chain


def _depths(page: Snapshot) -> Ints:
    """Return the number of ancestors of each node: of the subtrees that have begun, those that have not ended."""
    here = np.arange(len(page))
    ends = np.bincount(page.end, minlength=len(page) + 1)
    return here - np.cumsum(ends)[:-1]


def _labels(page: Snapshot, names: SelectorNames) -> tuple[U64, Bools, Bools]:
    """Return the label of each element, and which elements match a name in `by_position` and in `by_content`."""
    tags, strings = page.tags.to_list(), page.strings.to_list()
    label = hashes_of(tags)[page.tag]
    by_position, by_content = _tagged(page, tags, names.by_position), _tagged(page, tags, names.by_content)
    starts = page.attr_start.tolist()
    attr_name, attr_value = page.attr_name.tolist(), page.attr_value.tolist()
    tests: dict[str, list[AttributeTest]] = {}
    for test in sorted(names.attributes):
        tests.setdefault(test.name, []).append(test)
    marked: list[int] = []
    told: list[str] = []
    nodes = np.flatnonzero(np.diff(page.attr_start)).tolist()
    for node in nodes:
        parts: list[str] = []
        for at in range(starts[node], starts[node + 1]):
            name, value = strings[attr_name[at]], strings[attr_value[at]]
            if name == "class":
                kinds = value.split()
                parts += sorted(
                    {f".{kind}" for kind in kinds if not names.is_complete or kind in names.classes}
                )
                by_position[node] |= _is_named(".", kinds, names.by_position)
                by_content[node] |= _is_named(".", kinds, names.by_content)
            elif name == "id":
                if not names.is_complete or value in names.ids:
                    parts.append(f"#{value}")
                by_position[node] |= _is_named("#", (value,), names.by_position)
                by_content[node] |= _is_named("#", (value,), names.by_content)
            if name in _ALWAYS or not names.is_complete:
                parts.append(f"[{name}={value[:_LONGEST_VALUE]}]")
            parts += [
                f"[{name}{test.operator}{test.value}]{test.label(value)}" for test in tests.get(name, ())
            ]
        if parts:
            marked.append(node)
            told.append(" ".join(parts))
    if marked:
        label[marked] = combine(label[marked], hashes_of(told))
    return label, by_position, by_content


def _tagged(page: Snapshot, tags: list[str], wanted: AbstractSet[str]) -> Bools:
    chosen = np.array([ANY in wanted or tag in wanted for tag in tags], np.bool_)
    return np.asarray(chosen[page.tag] & (page.kind == Kind.ELEMENT))


def _is_named(mark: str, names: "list[str] | tuple[str, ...]", wanted: AbstractSet[str]) -> bool:
    return bool(wanted) and any(f"{mark}{name}" in wanted for name in names)


def _with_positions(page: Snapshot, label: U64, by_position: Bools) -> U64:
    """Return the labels with the siblings before and the number of siblings after each of some elements."""
    elements = np.flatnonzero(page.kind == Kind.ELEMENT)
    parent = page.parent[elements]
    order = elements[np.argsort(parent, kind="stable")]  # siblings side by side, in document order
    placed = label.copy()
    before, last = 1, -1
    above, marked, own = page.parent[order].tolist(), by_position[order].tolist(), label[order].tolist()
    history = np.zeros(order.size, np.uint64)
    for number in range(order.size):
        if above[number] != last:
            before, last = 1, above[number]
        if marked[number]:
            history[number] = before
        before = (before * _STEP + own[number]) & _ALL_BITS
    chosen = by_position[order]
    places = combine(history[chosen], _after(page.parent[order])[chosen])
    placed[order[chosen]] = combine(label[order[chosen]], places)
    return placed


def _after(parent: NDArray[np.int32]) -> U64:
    """Return how many equal values follow each value, where equal values are side by side."""
    ends = np.searchsorted(parent, parent, side="right")
    return (ends - np.arange(parent.size) - 1).astype(np.uint64)


def seen_chains(chain: U64, rendered: NDArray[np.uint8]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the chains of texts that were seen visible, and of those that were seen hidden, each sorted.

    Parameters
    ----------
    chain : (N,), the chains of a source.
    rendered : (N,), the `WhenRendered` of its nodes.
    """
    shown = np.unique(chain[(rendered == WhenRendered.SHOWN) & (chain != UNKNOWABLE)])
    hidden = np.unique(chain[rendered == WhenRendered.HIDDEN])
    return tuple(shown.tolist()), tuple(hidden.tolist())


def unseen_texts(page: Snapshot, chain: U64, visible: AbstractSet[int]) -> Bools:
    """Return which of the N nodes are texts with words of which it is not known that they are visible.

    Parameters
    ----------
    chain : (N,), the chains of the page.
    visible : the chains that were seen visible, and never hidden.
    """
    texts = page_texts(page)
    nodes = texts.node[~texts.is_blank]
    known = np.array([number in visible for number in chain[nodes].tolist()], np.bool_)
    unseen = np.zeros(len(page), np.bool_)
    unseen[nodes[~known]] = True
    return unseen & ~never_shown(page)


def without_texts(page: Snapshot, texts: Bools) -> Snapshot:
    """Return a page with some of its text nodes emptied.

    Parameters
    ----------
    texts : (N,), the text nodes to empty.
    """
    if not texts.any():
        return page
    interner = Interner()
    ids = interner.ids([*page.strings.to_list(), ""])
    text = page.text.copy()
    text[texts] = len(page.strings)

    def renumbered(column: NDArray[np.int32]) -> NDArray[np.int32]:
        return np.where(column < 0, -1, ids[column]).astype(np.int32)

    return replace(
        page,
        strings=interner.table(),
        text=renumbered(text),
        attr_name=renumbered(page.attr_name),
        attr_value=renumbered(page.attr_value),
    )
