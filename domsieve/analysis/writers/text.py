"""Write the kept text of a page as a reader sees it."""

import re
from itertools import chain

import numpy as np

from domsieve.analysis.columns.flow import boundaries, text_flow
from domsieve.analysis.columns.invisible import visible_page
from domsieve.analysis.verdict import Verdict
from domsieve.budget import spending
from domsieve.snapshot.page import Snapshot

# Bytes that never occur in UTF-8 represent boundaries and preformatted text until white space is collapsed.
_CELL, _LINE, _PRE = b"\xfe", b"\xff", b"\xfd"
_MARKS = (b"", b" ", _CELL, _LINE, _LINE)  # by gap
# Control characters are removed as well, because terminals obey them.
_FLAT = bytes.maketrans(bytes([*range(32), 127]), b" " * 33)
_CONTROLS = bytes([*range(9), *range(14, 32), 127])
_PRE_SPACES = bytes.maketrans(b"\x0b\x0c\r", b"  \n")
_FINAL = bytes.maketrans(_CELL + _LINE, b"\t\n")
_DROPPED = b"\0"
_C1 = re.compile(rb"\xc2[\x80-\x9f]")
_PRE_RUN = re.compile(rb"\xfd+")


def write_text(page: Snapshot, verdict: Verdict) -> str:
    """Return the kept text of a page, with one line per block.

    Line breaks start a new line as well; table cells are separated by tabs. Outside of ``pre`` white space is
    collapsed and there are no blank lines. No-break spaces become spaces, and control characters are removed, like
    invisible ones that can carry text. Text of pseudo-elements and of form controls is not included. The result ends
    in a newline unless it is empty.

    Parameters
    ----------
    page : the page.
    verdict : verdict of a method on this page.

    Raises
    ------
    BudgetError : the page exceeded its budget.
    """
    with spending("write", page.provenance.url):
        return _text(visible_page(page, verdict.kept), verdict)


def _text(page: Snapshot, verdict: Verdict) -> str:
    flow = text_flow(page, verdict.kept, boundaries(page))
    ids = page.text[flow.node]
    data, offsets = page.strings.blob.tobytes(), page.strings.offsets
    pieces = [data[a:b] for a, b in zip(offsets[ids].tolist(), offsets[ids + 1].tolist(), strict=True)]
    marks = [_MARKS[gap] for gap in flow.gap.tolist()]
    preformatted = []
    lines = flow.lines.tolist()
    for i in np.flatnonzero(flow.pre).tolist():
        content = _clean(pieces[i]).replace(b"\r\n", b"\n").translate(_PRE_SPACES, _CONTROLS)
        preformatted.append(b"\n" * lines[i] + content)
        pieces[i] = _PRE
        if lines[i]:
            marks[i] = b""
    text = _collapse(_clean(b"".join(chain.from_iterable(zip(marks, pieces, strict=True)))))
    if preformatted:
        text = _fill(text, preformatted)
    return str(text, "utf-8", "replace")


def _clean(text: bytes) -> bytes:
    return _C1.sub(b"", text.replace(b"\xc2\xa0", b" ")) if b"\xc2" in text else text


def _collapse(text: bytes) -> bytes:
    """Return `text` with each run of white space and marks replaced by its highest mark, and none at the start."""
    data = np.frombuffer(_LINE + text.translate(_FLAT) + _LINE, np.uint8)
    blank = (data == ord(" ")) | (data >= ord(_CELL))
    later = np.flatnonzero(blank[1:] & blank[:-1]) + 1
    collapsed = data.copy()
    if later.size:
        runs = np.concatenate(([0], np.flatnonzero(np.diff(later) > 1) + 1))
        head = later[runs] - 1
        collapsed[head] = np.maximum(data[head], np.maximum.reduceat(data[later], runs))
        collapsed[later] = ord(_DROPPED)
    collapsed[0] = ord(_DROPPED)
    return collapsed.tobytes().translate(_FINAL, _DROPPED)


def _fill(text: bytes, preformatted: list[bytes]) -> bytes:
    """Return `text` with the preformatted pieces inserted, without blank lines around them."""
    rest = iter(preformatted)
    whole = [
        _PRE_RUN.sub(lambda run: b"".join(next(rest, b"") for _ in run[0]), line).strip(b"\n").rstrip()
        for line in text.split(b"\n")
    ]
    return b"".join(line + b"\n" for line in whole if line)
