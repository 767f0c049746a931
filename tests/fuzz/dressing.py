"""Snapshots for fuzz tests: documents as the reader makes them, and with the layout of a browser made up for them."""

import dataclasses
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import Kind, Snapshot
from domsieve.snapshot.strings import Interner
from tests.analysis.pages import _DISPLAY
from tests.fuzz.documents import URL

# Values of computed styles, the usual one first.
_VALUES: Mapping[str, Sequence[str]] = {
    "display": (
        *("block", "block", "inline", "inline", "inline-block", "flex", "contents", "table", "table-row"),
        *("table-cell", "list-item", "ruby-text", "none", "-x-\u202e", ""),
    ),
    "position": ("static", "static", "static", "relative", "absolute", "fixed", "sticky", "x"),
    "float": ("none", "left"),
    "text-align": ("start", "center"),
    "font-size": ("16px", "16px", "12px", "1px", "0px", "1e-7px", "99999999999999999999px", "-", ""),
    "font-weight": ("400", "700", "1e9", "bold"),
    "background-color": (
        *("rgba(0, 0, 0, 0)", "rgba(0, 0, 0, 0)", "rgb(255, 255, 255)", "rgb(0, 0, 0)"),
        *("rgba(1, 2, 3, 0.5)", "color(srgb 1 1 1)", "rgb(", "rgb(1, 2, 3, 4, 5)"),
    ),
    "background-image": ("none", "none", 'url("x")', "linear-gradient(red, blue)"),
    "border-top": ("0px none rgb(0, 0, 0)", "2px dashed rgb(255, 0, 0)", "", "x y z"),
    "white-space": ("normal", "normal", "normal", "pre", "pre-wrap", "pre-line", "nowrap", "break-spaces"),
    "visibility": ("visible", "visible", "visible", "visible", "hidden", "collapse"),
    "color": ("rgb(0, 0, 0)", "rgb(0, 0, 0)", "rgb(255, 255, 255)", "rgba(0, 0, 0, 0)", "oklch(1 2 3)", ""),
    "font-family": ("serif", '"A", b', ""),
    "opacity": ("1", "1", "1", "0.01", "0", "-1", "2", "x"),
    "overflow-x": ("visible", "visible", "hidden", "clip", "auto"),
    "overflow-y": ("visible", "visible", "hidden", "scroll"),
    "clip": ("auto", "auto", "rect(0px, 0px, 0px, 0px)", "rect(auto)"),
    "clip-path": ("none", "none", "inset(50%)", "circle(0px)", "polygon("),
    "background-clip": ("border-box", "text"),
}
_OTHERS = [values for name, values in _VALUES.items() if name != "display"]
_NEVER_SHOWN = frozenset({"head", "script", "style", "template", "noscript", "title"})
_EDGES = np.array([0, 0.5, 1, 10, 100, 800, 1280, 20_000, -5_000, 3e38, -3e38, 1e-30], np.float32)
_KINDS = {
    "x-shadow-root": ("#shadow-root", Kind.SHADOW_ROOT),
    "x-document": ("#document", Kind.DOCUMENT),
    "x-before": ("::before", Kind.PSEUDO),
}


def read(source: bytes, layout: int = 0, *, url: str = URL) -> Snapshot:
    """Return a document as the reader makes it (`layout` 0), or as a page with a layout made up from that seed.

    Odd layouts show all as browsers do, a box below another, every other of them even what no browser shows without a
    style sheet; even layouts have anything.
    """
    page = parse_html(source, url=url)
    return dressed(page, layout) if layout else page


def dressed(page: Snapshot, seed: int) -> Snapshot:
    """Return a raw page as if a browser had laid it out; `x-shadow-root` and its kin become what they are named.

    A page and a longer one that begins with it begin with the same layout, so that work grows with size alone.
    """
    for_style, for_row, for_unboxed, for_inside, for_box, for_paint = (
        np.random.default_rng([seed, column]) for column in range(6)
    )
    calm = seed % 2 == 1
    n = len(page)
    strings, tags = Interner(), Interner()
    strings.ids(page.strings.to_list())
    names = page.tags.to_list()
    kind = page.kind.copy()
    for name, (_, meant) in _KINDS.items():
        if name in names:
            kind[page.tag == names.index(name)] = meant
    tag = tags.ids([_KINDS.get(name, (name,))[0] for name in names])[page.tag]
    if calm:  # the display that browsers give each tag; a text has that of its element
        displays = [_DISPLAY.get(name, "block") for name in names]
        known = sorted(set(displays))
        row = np.array([known.index(display) for display in displays])[page.tag]
        row = np.where(kind == Kind.TEXT, row[page.parent], row)
        styles = [[display, *(values[0] for values in _OTHERS)] for display in known]
    else:
        row = for_row.integers(0, 12, n)
        styles = [
            [values[int(for_style.integers(len(values)))] for values in _VALUES.values()] for _ in range(12)
        ]
    hidden = np.array([name in _NEVER_SHOWN and seed % 4 == 1 for name in names])
    boxed = ~hidden[page.tag] & (for_unboxed.random(n) < (1.0 if calm else 0.8))
    inside_too = calm | (for_inside.random(n) < 0.9)
    boxed[0] &= calm
    for node in range(1, n):  # what is in an element that is not rendered is not either, mostly
        if not boxed[page.parent[node]] and inside_too[node] and page.parent[node]:
            boxed[node] = False
    box = (
        np.stack((np.zeros(n), np.arange(n) * 20.0, np.full(n, 800.0), np.full(n, 20.0)), 1).astype(
            np.float32
        )
        if calm
        else _EDGES[for_box.integers(0, _EDGES.size, (n, 4))]
    )
    box[~boxed] = np.nan
    return dataclasses.replace(
        page,
        kind=kind,
        tag=tag.astype(np.int32),
        style=np.where(boxed, row, -1).astype(np.int32),
        box=box,
        paint=np.where(boxed, for_paint.integers(0, n, n), -1).astype(np.int32),
        style_names=tuple(_VALUES),
        styles=strings.ids([value for row in styles for value in row]).reshape(len(styles), len(_VALUES)),
        tags=tags.table(),
        strings=strings.table(),
        provenance=msgspec.structs.replace(page.provenance, producer="rendered"),
    )
