"""White space between text nodes: which of them share a line, and what separates them.

A new line starts where a block starts or ends, and a new column where a table cell does. With layout the computed
``display`` decides what is a block, otherwise the tag. Each kind of boundary is one cumulative count over the nodes,
so the gaps of all text nodes take a few array operations.

All methods and writers get their white space from here. A method decides only which words are kept; the page decides
what separates two kept words.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import Bools, Ints, below, cached_per_page, prune
from domsieve.analysis.columns.formulas import CONTAINER, drawn_nodes
from domsieve.analysis.columns.page_columns import has_tag, in_tag, page_texts
from domsieve.analysis.columns.visible import shown_nodes
from domsieve.snapshot.page import Kind, Snapshot

# What separates two text nodes, or what an element puts around itself. The larger number wins.
NONE, SPACE, CELL, BREAK, BLOCK = range(5)


def word_set(text: str) -> frozenset[str]:
    """Return the set of words in `text`, which are separated by white space."""
    return frozenset(text.split())


_BY_TAG = {
    **dict.fromkeys(
        word_set(
            "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset "
            "figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html iframe legend "
            "li listing main menu nav ol optgroup option p plaintext pre search section summary table tbody "
            "tfoot thead tr ul xmp"
        ),
        BLOCK,
    ),
    **dict.fromkeys(word_set("audio button input meter object progress select textarea video"), SPACE),
    **dict.fromkeys(("td", "th"), CELL),
    "br": BREAK,
}
_FORMULA = BLOCK + 1  # a formula on a line of its own, or a part of any formula
_BY_DISPLAY = {
    **dict.fromkeys(
        word_set("contents inline math none ruby ruby-base ruby-text table-column table-column-group"), NONE
    ),
    "block math": _FORMULA,
    **dict.fromkeys(word_set("inline-block inline-flex inline-grid inline-table"), SPACE),
    "table-cell": CELL,
}
_PRE_TAGS = frozenset(["pre", "listing", "plaintext", "textarea", "xmp"])
_SILENT_TAGS = "input", "textarea"  # their content is a value, not text
_TOUCHING_PX = 1.0  # a guess: less than the narrowest space, more than rounding errors of boxes
_FIRST_WITHOUT_SPACES = "\u2e80"  # East Asian scripts, which have no spaces between words, start here
# Characters that are written without a space after them, and before them.
_OPENING = frozenset("([{<‹«„‚¿¡$#@/-–—'\"“‘ \t\n\r\f\u00a0")
_CLOSING = frozenset(")]}>›»“”’'\".,:;!?%…/-–— \t\n\r\f\u00a0")


@dataclass(frozen=True, slots=True, eq=False)
class Flow:
    """M text nodes in document order: those with words, and blank preformatted ones next to them.

    Parameters
    ----------
    node : int64 (M,), the text nodes.
    gap : uint8 (M,), what separates each node from the one before, `NONE` to `BLOCK`; `BLOCK` for the first.
    pre : bool (M,), whether the text is preformatted, so that its white space must be kept.
    lines : int64 (M,), how many lines end between this text and the one before, if both are in the same preformatted
        block; otherwise 0. Newlines inside the texts are not counted.
    """

    node: NDArray[np.int64]
    gap: NDArray[np.uint8]
    pre: NDArray[np.bool_]
    lines: NDArray[np.int64]


@cached_per_page
def boundaries(page: Snapshot) -> NDArray[np.uint8]:
    """Return what each of N nodes puts around itself, `NONE` to `BLOCK`; `NONE` for nodes that are not elements."""
    by_tag = np.array([_BY_TAG.get(name, NONE) for name in page.tags.to_list()], np.uint8)
    around = by_tag[page.tag]
    by_row = by_style_row(page, "display", lambda value: _BY_DISPLAY.get(value, BLOCK))
    if by_row is not None:
        boxed = page.style >= 0
        # An element that is not rendered is judged by its tag. One without a box around others that have one
        # (`display: contents`) separates nothing.
        around = np.where(boxed & (around != BREAK), by_row[page.style], around * (boxed | ~page.rendered()))
        formula, is_math, end = around == _FORMULA, has_tag(page, "math"), page.end.astype(np.int64)
        around[formula] = np.where(is_math[formula], BLOCK, NONE)
        # The rows of a matrix are in the line; those of a formula on lines of its own are lines.
        in_math = below(is_math, end)
        around[in_math & ~is_math & (around > SPACE)] = SPACE
        around[below(is_math & formula, end) & has_tag(page, "mtr")] = BREAK
        # What draws a formula separates nothing, nor does what has its MathML.
        around[in_tag(page, CONTAINER) & ~has_tag(page, CONTAINER) & ~in_math] = NONE
    over_other = has_tag(page, "mfrac")[np.maximum(page.parent, 0)]  # fractions: 1/2 is not 12
    around[over_other] = np.maximum(around[over_other], SPACE)
    around[page.kind != Kind.ELEMENT] = NONE
    return around


def text_flow(page: Snapshot, chosen: NDArray[np.bool_], around: NDArray[np.uint8]) -> Flow:
    """Return the chosen text nodes and what separates them.

    Generated content and values of form controls are never part of the result. White space next to a chosen text
    becomes a space, or is kept unchanged where it is preformatted. Text that is left out between two chosen texts
    leaves a space, unless there is punctuation such as a comma or a bracket.

    Parameters
    ----------
    chosen : (N,), the nodes to keep; only text nodes with words count.
    around : (N,), the result of `boundaries`.
    """
    heard, texts, blank, pre = heard_texts(page)
    if page.has_layout:
        holds = prune(chosen & (page.kind == Kind.TEXT), page.end)
        around = np.where(
            (page.rendered() | prune(chosen, page.end)) & ~_is_elsewhere(page, holds), around, NONE
        )
    at = _written(chosen[heard] & ~blank, blank & pre, heard, page, around)
    node = heard[at]
    gap = np.full(node.size, BLOCK, np.uint8)
    between = gap[1:]
    between[:] = NONE
    if (boxes := _crossed(around == SPACE, page, node)).any():
        between[boxes & ~_touching(page, node) if page.has_layout else boxes] = SPACE
    for kind in (CELL, BREAK, BLOCK):
        between[_crossed(around == kind, page, node)] = kind
    if (apart := np.flatnonzero((np.diff(at) > 1) & (between == NONE))).size:
        seen = shown_nodes(page)[heard]
        white = blank & ~pre & (np.diff(page.strings.offsets) > 0)[page.text[heard]]
        spaces, words = (np.concatenate(([0], np.cumsum(kind & seen))) for kind in (white, ~blank))
        after, until = at[apart] + 1, at[apart + 1]
        between[apart[spaces[until] > spaces[after]]] = SPACE
        for i in apart[words[until] > words[after]].tolist():
            if _are_apart(texts[at[i]], texts[at[i + 1]]):
                between[i] = SPACE
    return Flow(node, gap, pre[at], _lines(page, node, pre[at], around))


def _is_elsewhere(page: Snapshot, holds: Bools) -> Bools:
    """Return which nodes are in boxes out of the flow that hold no text: what is around these goes on in one line."""
    placed = by_style_row(page, "position", lambda value: value in {"absolute", "fixed"})
    if placed is None:
        return np.zeros(len(page), np.bool_)
    is_out = (page.style >= 0) & (page.kind == Kind.ELEMENT) & (placed[page.style] > 0)
    return below(is_out & ~holds, page.end.astype(np.int64))


@cached_per_page
def heard_texts(page: Snapshot) -> tuple[Ints, list[str], Bools, Bools]:
    """Return the text nodes that are part of the page's text, with their texts, and which are blank or preformatted.

    Left out are generated content and values of form controls.
    """
    texts = page_texts(page)
    at = np.flatnonzero(~_silent(page)[texts.node])
    node = texts.node[at]
    text = texts.text if at.size == texts.node.size else [texts.text[i] for i in at.tolist()]
    return node, text, texts.is_blank[at], _preformatted(page, node)


def _written(words: Bools, blank: Bools, heard: Ints, page: Snapshot, around: NDArray[np.uint8]) -> Ints:
    """Return which of the `heard` (H,) texts to write: those of `words`, and `blank` ones next to them in a block."""
    at = np.flatnonzero(words)
    if at.size and blank.any():
        # A blank text is kept if there are words before or after it in the same block.
        block = np.concatenate(([0], np.cumsum(_crossed((around == CELL) | (around == BLOCK), page, heard))))
        after = np.searchsorted(at, np.arange(heard.size))
        neighbours = at[np.maximum(after - 1, 0)], at[np.minimum(after, at.size - 1)]
        at = np.flatnonzero(
            words | (blank & ((block[neighbours[0]] == block) | (block[neighbours[1]] == block)))
        )
    return at


def _are_apart(before: str, after: str) -> bool:
    """Return whether two texts need a space between them when the text between them is left out."""
    last, first = before[-1], after[0]
    return last not in _OPENING and first not in _CLOSING and max(last, first) < _FIRST_WITHOUT_SPACES


def _lines(page: Snapshot, node: Ints, pre: Bools, around: NDArray[np.uint8]) -> Ints:
    """Return how many lines end before each of the M nodes, inside a preformatted block.

    Each ``br`` ends a line. So does the start or end of a block, unless a ``br`` has just ended the line.
    """
    lines = np.zeros(node.size, np.int64)
    first = np.flatnonzero(pre[1:] & pre[:-1])
    if not first.size:
        return lines
    verbatim = _preformatted(page, np.arange(len(page)))
    roots = verbatim & ~verbatim[page.parent] & (page.kind == Kind.ELEMENT)
    first = first[~_crossed(roots, page, node)[first]]
    breaks = np.flatnonzero(around == BREAK)
    blocks = np.flatnonzero(around == BLOCK)
    # Half a step earlier, so that a block ends before the node that follows it.
    borders = np.sort(np.concatenate((blocks, page.end[blocks] - 0.5)))
    a, b = node[first], node[first + 1]
    before, after = np.searchsorted(breaks, a), np.searchsorted(breaks, b)
    next_break = np.append(breaks, len(page))[before]
    next_border = np.append(borders, len(page))[np.searchsorted(borders, a, side="right")]
    lines[first + 1] = after - before + (next_border < np.minimum(next_break, b))
    return lines


def _crossed(marked: NDArray[np.bool_], page: Snapshot, node: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether a marked element starts or ends between each of the M nodes and the next, shape (M - 1,)."""
    start = np.flatnonzero(marked)
    if not start.size:
        return np.zeros(max(node.size - 1, 0), np.bool_)
    events = np.bincount(np.concatenate((start, page.end[start])), minlength=len(page) + 1)
    crossed: NDArray[np.bool_] = np.diff(np.cumsum(events)[node]) > 0
    return crossed


def _touching(page: Snapshot, node: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether each text is on one line with the next, without room for a space, shape (M - 1,)."""
    # Chrome reports boxes up to the largest float32, so that sums of them would overflow.
    x, y, width, height = page.box[node].astype(np.float64).T
    apart_x = np.maximum(x[1:] - (x + width)[:-1], x[:-1] - (x + width)[1:])
    apart_y = np.maximum(y[1:] - (y + height)[:-1], y[:-1] - (y + height)[1:])
    in_fraction = in_tag(page, "mfrac")[node[1:]]  # their lines are close
    touching: NDArray[np.bool_] = (apart_x < _TOUCHING_PX) & (apart_y < 0) & ~in_fraction
    return touching


def _silent(page: Snapshot) -> NDArray[np.bool_]:
    silent = (page.kind == Kind.PSEUDO) | drawn_nodes(page)
    silent |= has_tag(page, *_SILENT_TAGS)
    # MathJax 4 has spaces where a formula may go on in another line.
    if (gap := in_tag(page, "mjx-break")).any():
        blank = page_texts(page).node[page_texts(page).is_blank]
        silent[blank] |= gap[blank]
    return below(silent, page.end.astype(np.int64)) if silent.any() else silent


def _preformatted(page: Snapshot, node: NDArray[np.int64]) -> NDArray[np.bool_]:
    marked = np.array([name in _PRE_TAGS for name in page.tags.to_list()])[page.tag]
    by_tag = below(marked, page.end.astype(np.int64))[node] if marked.any() else marked[node]
    by_row = by_style_row(page, "white-space", lambda value: "pre" in value or "break-spaces" in value)
    if by_row is None:
        return by_tag
    return np.where(page.style[node] >= 0, by_row[page.style[node]] > 0, by_tag)


def by_style_row(page: Snapshot, name: str, value: Callable[[str], int]) -> NDArray[np.uint8] | None:
    """Return a number for each of the S style rows, computed from one CSS property.

    Parameters
    ----------
    name : the property.
    value : returns the number, from 0 to 255, for a computed value; called once for each distinct value.

    Returns
    -------
    uint8 (S,), or None if the property was not captured.
    """
    if not page.styles.size or name not in page.style_names:
        return None
    ids = page.styles[:, page.style_names.index(name)].tolist()
    known = {i: value(page.strings[i]) for i in dict.fromkeys(ids)}
    return np.array([known[i] for i in ids], np.uint8)
