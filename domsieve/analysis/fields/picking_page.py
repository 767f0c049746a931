"""A page as an HTML document of its own in which a person clicks values, to teach fields.

The document loads nothing, and its policy lets it run our script only, identified by its hash. It tells the window
around it the text that is clicked. Captured text is escaped.
"""

import base64
import hashlib
from collections.abc import Iterator
from html import escape
from pathlib import Path

import numpy as np

from domsieve.analysis.columns.batch import Ints
from domsieve.analysis.columns.page_blocks import PageBlocks, page_blocks
from domsieve.analysis.columns.page_columns import page_texts
from domsieve.analysis.fields.value_kinds import flat
from domsieve.sanitize import plain
from domsieve.snapshot.page import Snapshot

MOST_TEXTS = 3_000
"""Maximum number of texts of the document."""
_LONGEST = 2_000  # characters of a text
_SCRIPT = (Path(__file__).parent / "picking.js").read_text(encoding="utf-8")
_STYLE = (Path(__file__).parent / "picking.css").read_text(encoding="utf-8")
_SIZES = ((24.0, "large"), (17.5, "larger"), (13.5, ""), (0.0, "small"))


def picking_page(page: Snapshot) -> bytes:
    """Return the document, which has a button for each visible text of the page, in document order.

    Blocks side by side are in one line. Sizes and weights of letters are roughly those of the page.

    Raises
    ------
    BudgetError : the page has exceeded its budget.
    """
    blocks = page_blocks(page)
    policy = (
        f"default-src 'none'; style-src {_hash(_STYLE)}; script-src {_hash(_SCRIPT)}; base-uri 'none'; "
        "form-action 'none'"
    )
    shown = np.flatnonzero(blocks.hidden[blocks.block] == 0)[:MOST_TEXTS]
    rest = len(shown) == MOST_TEXTS and "<p>The rest of the page is not shown.</p>"
    lines = "".join(_lines(page, blocks, shown))
    return (
        '<!DOCTYPE html>\n<html lang="und"><head><meta charset="utf-8"><title>Values of the page</title>\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{_STYLE}</style></head>\n<body><main>\n<h1>Texts of the page</h1>\n{lines}{rest or ''}</main>"
        f"<script>{_SCRIPT}</script></body></html>\n"
    ).encode("utf-8", "replace")


def _lines(page: Snapshot, blocks: PageBlocks, shown: Ints) -> Iterator[str]:
    texts = page_texts(page).of(blocks.node[shown])
    bottom, is_open, before = -np.inf, False, -1
    for at, text in zip(shown.tolist(), texts, strict=True):
        if not any(map(str.isalnum, text)):
            continue
        block = int(blocks.block[at])
        _, y, _, height = blocks.box[block]
        if block != before and not (page.has_layout and y + height / 2 < bottom):
            yield "</div>\n<div>" if is_open else "<div>"
            is_open, bottom = True, y + height if page.has_layout else -np.inf
        before = block
        looks = " ".join(_looks(page, int(page.parent[blocks.node[at]])))
        said = f' class="{looks}"' if looks else ""
        yield f'<button type="button" dir="auto"{said}>{escape(plain(flat(text)[:_LONGEST]))}</button>'
    if is_open:
        yield "</div>\n"


def _looks(page: Snapshot, element: int) -> Iterator[str]:
    """Yield the classes for the size and weight of the letters of an element, and for struck text."""
    if not page.has_layout or page.style[element] < 0:
        return
    row = page.styles[int(page.style[element])]

    def value(name: str) -> str:
        if name not in page.style_names:
            return ""
        return page.strings[int(row[page.style_names.index(name)])]

    size = value("font-size").removesuffix("px")
    size_px = float(size) if size.replace(".", "", 1).isdecimal() else 16.0
    if name := next(name for least, name in _SIZES if size_px >= least):
        yield name
    if value("font-weight").isdecimal() and int(value("font-weight")) >= 600:
        yield "bold"
    if "line-through" in value("text-decoration-line"):
        yield "struck"


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
